"""What went wrong at Gemini, in our codes: error objects of Google's APIs, and reasons for which an answer ended. Pure.

Source: https://ai.google.dev/gemini-api/docs/troubleshooting; https://ai.google.dev/api/generate-content, FinishReason;
google/rpc/status.proto and error_details.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from unspool.errors import ProviderError, UnspoolError, WireError
from unspool.messages import FinishReason
from unspool.providers.fields import fields_of, list_of
from unspool.stream.excerpt import excerpt

_KEY = re.compile(r"\bapi key (?:not valid|expired|not found)|\bapi_key_(?:invalid|expired)", re.IGNORECASE)

REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "ESCALATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
}
"""Reasons of answers that are an answer, whole or cut. Every other one is a fault."""

_FAULTS: dict[str, tuple[str, bool, str]] = {
    "UNEXPECTED_TOOL_CALL": ("PROVIDER", True, "the model called a tool that it was not given"),
    "TOO_MANY_TOOL_CALLS": ("PROVIDER", False, "the model called tools of the provider too often"),
    "MALFORMED_RESPONSE": ("PROVIDER", True, "the model wrote something that is no answer"),
    "MISSING_THOUGHT_SIGNATURE": ("INVALID_REQUEST", False, "the conversation lacks a thought signature"),
    "PUP_LIMITED_DISABLED": ("AUTH", False, "the account is limited or disabled"),
    "NO_IMAGE": ("PROVIDER", True, "the model made no picture"),
    "IMAGE_OTHER": ("PROVIDER", True, "the model made no picture"),
    "OTHER": ("PROVIDER", True, "the provider does not say why"),
}


def reason_failure(reason: str, said: str) -> UnspoolError | None:
    """Give the error that a finish reason stands for; None when the answer is one.

    Args:
        reason: as the provider spells it. One that is not known is a fault: what is not known to be an answer is none.
        said: the provider's own words, if there are any.
    """
    if reason in REASONS:
        return None
    words = f" {excerpt(said)}" if said else ""
    if reason == "MALFORMED_FUNCTION_CALL":
        return WireError(
            "TOOL_ARGUMENTS_INVALID", f"The model wrote a tool call that cannot be read ({reason}).{words}"
        )
    code, retryable, why = _FAULTS.get(reason, ("PROVIDER", False, "a reason that is not known here"))
    return ProviderError(code, f"The answer broke off: {why} ({excerpt(reason, 80)}).{words}", retryable=retryable)


def block_failure(feedback: Mapping[str, Any]) -> ProviderError:
    """Turn a `promptFeedback` with a block reason into an error."""
    said = feedback.get("blockReasonMessage")
    words = f" {excerpt(said)}" if isinstance(said, str) and said else ""
    return ProviderError(
        "CONTENT_FILTERED",
        f"The provider blocked the prompt: {excerpt(str(feedback.get('blockReason')), 80)}.{words}",
        raw=feedback,
    )


def refined(error: ProviderError) -> ProviderError:
    """Say more precisely what an error of Google's APIs is than its status does.

    A wrong key comes with status 400, and a quota of the day with the same status as a quota of the minute.
    """
    detail = error.raw or {}
    reasons = [entry.get("reason") for entry in _entries(detail, "details")]
    if "API_KEY_INVALID" in reasons or (error.status in (None, 400) and _KEY.search(error.message)):
        error.code, error.retryable = "AUTH", False
    elif error.code == "RATE_LIMIT" and _is_daily(detail):
        error.retryable = False
    return error


def _is_daily(detail: Mapping[str, Any]) -> bool:
    return any(
        "PerDay" in str(violation.get("quotaId"))
        for entry in _entries(detail, "details")
        for violation in _entries(entry, "violations")
    )


def _entries(holder: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    return map(fields_of, list_of(holder.get(name)))
