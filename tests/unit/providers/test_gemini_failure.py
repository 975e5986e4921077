"""Errors of Google's APIs, as they are documented and as they have been seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.errors import ProviderError, UnspoolError
from unspool.providers.gemini import GeminiAdapter
from unspool.providers.gemini_failure import REASONS, block_failure, reason_failure


def failure(status: int, message: str, name: str, *details: Any, wrap: bool = False, **headers: str) -> ProviderError:
    error = {"error": {"code": status, "message": message, "status": name, "details": list(details)}}
    return GeminiAdapter().failure(status, headers, json.dumps([error] if wrap else error).encode())


KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}


def quota(id_: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id_}]}


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (failure(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", KEY), "AUTH", False),
        (failure(400, "API key expired. Please renew the API key.", "INVALID_ARGUMENT"), "AUTH", False),
        (failure(400, "Invalid JSON payload received.", "INVALID_ARGUMENT"), "INVALID_REQUEST", False),
        (
            failure(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"),
            "INVALID_REQUEST",
            False,
        ),
        (failure(401, "Request had invalid authentication credentials.", "UNAUTHENTICATED"), "AUTH", False),
        (failure(403, "Method doesn't allow unregistered callers.", "PERMISSION_DENIED"), "AUTH", False),
        (
            failure(
                404, "models/gemini-9 is not found for API version v1beta, or is not supported for x.", "NOT_FOUND"
            ),
            "MODEL_NOT_FOUND",
            False,
        ),
        (failure(404, "Requested entity was not found.", "NOT_FOUND"), "INVALID_REQUEST", False),
        (
            failure(
                400,
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                "INVALID_ARGUMENT",
            ),
            "CONTEXT_WINDOW_EXCEEDED",
            False,
        ),
        (failure(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"), "RATE_LIMIT", True),
        (failure(429, "Quota", "RESOURCE_EXHAUSTED", quota("RequestsPerMinute-FreeTier"), RETRY), "RATE_LIMIT", True),
        (failure(429, "Quota", "RESOURCE_EXHAUSTED", quota("RequestsPerDay-FreeTier"), RETRY), "RATE_LIMIT", False),
        (failure(500, "An internal error has occurred.", "INTERNAL"), "PROVIDER", True),
        (failure(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"), "OVERLOADED", True),
        (failure(504, "Deadline expired before operation could complete.", "DEADLINE_EXCEEDED"), "PROVIDER", True),
    ],
)
def test_status(error: ProviderError, code: str, retryable: bool) -> None:
    assert (error.code, error.retryable) == (code, retryable)
    assert error.status is not None
    assert error.raw is not None


def test_nothing_is_lost_when_a_code_is_refined() -> None:
    error = failure(429, "Quota", "RESOURCE_EXHAUSTED", quota("PerDay"), RETRY, wrap=True, **{"x-request-id": "r"})
    assert (error.status, error.request_id, error.retry_after_s) == (429, "r", 34.074824224)
    assert error.raw is not None
    assert error.raw["status"] == "RESOURCE_EXHAUSTED"
    assert "Quota" in error.message


@pytest.mark.parametrize(
    "body", [b"", b"<html><title>Error 404 (Not Found)!!1</title>", b"[", b'{"error":"x"}', b"[[]]"]
)
def test_bodies_that_are_no_error_object(body: bytes) -> None:
    error = GeminiAdapter().failure(404, {}, body)
    assert (error.code, error.status) == ("INVALID_REQUEST", 404)


@pytest.mark.parametrize("details", [None, 5, "x", {}, [None], [{"violations": 5}], [{"reason": []}]])
def test_details_that_are_none(details: Any) -> None:
    body = json.dumps({"error": {"code": 429, "message": "x", "details": details}}).encode()
    assert GeminiAdapter().failure(429, {}, body).code == "RATE_LIMIT"


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_reasons_of_answers(reason: str) -> None:
    assert reason_failure(reason, "") is None


@pytest.mark.parametrize(
    ("reason", "code", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", "TOOL_ARGUMENTS_INVALID", False),
        ("UNEXPECTED_TOOL_CALL", "PROVIDER", True),
        ("TOO_MANY_TOOL_CALLS", "PROVIDER", False),
        ("MALFORMED_RESPONSE", "PROVIDER", True),
        ("MISSING_THOUGHT_SIGNATURE", "INVALID_REQUEST", False),
        ("PUP_LIMITED_DISABLED", "AUTH", False),
        ("NO_IMAGE", "PROVIDER", True),
        ("OTHER", "PROVIDER", True),
        ("FINISH_REASON_UNSPECIFIED", "PROVIDER", False),
        ("SOMETHING_NEW", "PROVIDER", False),
    ],
)
def test_reasons_of_faults(reason: str, code: str, retryable: bool) -> None:
    """F32: none of them becomes a normal end."""
    error: UnspoolError | None = reason_failure(reason, "as it\nsays")
    assert error is not None
    assert (error.code, error.retryable) == (code, retryable)
    assert reason in error.message
    assert error.message.endswith("as it says")


def test_blocked_prompt() -> None:
    error = block_failure({"blockReason": "SAFETY", "blockReasonMessage": "Too rude."})
    assert (error.code, error.retryable) == ("CONTENT_FILTERED", False)
    assert "SAFETY" in error.message
    assert "Too rude." in error.message
