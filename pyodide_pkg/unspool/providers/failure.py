"""What went wrong, in our codes: an HTTP response with an error status, or an error object inside a stream. Pure.

Vendors agree on little but the HTTP statuses; their codes, types and messages are matched by what they have in common.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from unspool.errors import ProviderError, StreamError, WireError
from unspool.providers.fields import Fields, fields_of
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

MAX_LISTED = 10_000
"""Models of one endpoint; the longest lists known have some hundreds."""
_MESSAGE_CHARS = 500
_WAITS = ("retry_after", "retry_after_seconds", "retryDelay", "retry_after_ms")
"""How error bodies say how long to wait. Pages depend on them: `retry-after` is hidden from them by CORS (F52)."""

type Kind = tuple[str, bool]
"""A code of ours, and whether the same call may succeed later."""

_TELLING: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(r"context_(length|window)_exceeded|exceed_context_size|model_max_prompt_tokens"),
        ("CONTEXT_WINDOW_EXCEEDED", False),
    ),
    (
        re.compile(
            r"content_(filter|policy)|responsibleaipolicy|data_inspection|moderation|(bio|cyber)_policy|policy_violation"
        ),
        ("CONTENT_FILTERED", False),
    ),
    (re.compile(r"insufficient_(quota|balance|credits)|billing"), ("RATE_LIMIT", False)),
    (
        re.compile(r"model_not_found|deploymentnotfound|model_not_available|\binvalid_model\b"),
        ("MODEL_NOT_FOUND", False),
    ),
)
"""Codes and types of vendors that say more than the HTTP status."""

_GENERAL: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"invalid_api_key|api_key_invalid|authentication|unauthorized|permission"), ("AUTH", False)),
    (re.compile(r"rate_?limit|too_many_requests|resource_exhausted|throttl"), ("RATE_LIMIT", True)),
    (re.compile(r"overload|unavailable|capacity"), ("OVERLOADED", True)),
    (
        re.compile(r"invalid_(request|argument|prompt|base64)|image_|_image|bad_?request|validation"),
        ("INVALID_REQUEST", False),
    ),
    (re.compile(r"server_?error|internal|api_error|timeout"), ("PROVIDER", True)),
)
"""Those that say what the status says, for errors that have none; words, where there are no names either."""

_CONTEXT = re.compile(
    r"maximum context length|context (?:length|window|size|limit)[^.]{0,40}exceed"
    r"|exceeds?[^.]{0,40} context (?:length|window|size|limit)"
    r"|(?:prompt|input) is too long|too many (?:input |prompt )?tokens|maximum (?:prompt|model) length"
    r"|exceeds the maximum (?:input |number of )tokens|context overflow|reduce the length of the messages"
)
_NO_MODEL = re.compile(
    r"\bmodels?\b[^\n]{0,200}(?:not found|not exist|not available|no longer available|not a valid model)"
    r"|\bmodels/\S{1,200} is not supported|no such model"
    r"|not a valid model|invalid model\b|^model: \S+$"
)
_FILTERED = re.compile(r"blocked by (?:our |the )?content (?:filter|management|policy)|content management policy")
_HINT = re.compile(
    r"(?:try again|retry|wait)[^.\d]{0,30}(?:(\d{1,5})m(?!s) ?)?(\d{1,6}(?:\.\d{1,6})?) ?(ms|s\b|sec)", re.IGNORECASE
)
_STATED_ID = re.compile(r'"request_?[iI]d"\s*:\s*"([\w.:-]{1,200})"|request ID (req_\w{1,200})')
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s?")


def http_failure(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """Turn a response with an error status into an error.

    Args:
        status: HTTP status.
        headers: names in lower case.
        body: bounded and perhaps cut; JSON, HTML or anything.
    Returns:
        ProviderError with status, request id and waiting time where they are known.
    """
    text = body.decode("utf-8", "replace")
    error = _failure(f"The provider answered with status {status}", detail_in(text), status, headers)
    if error.request_id is None and (stated := _STATED_ID.search(text)):
        error.request_id = stated[1] or stated[2]  # pages see no header that the server does not expose to them (CORS)
    return error


def stream_failure(detail: Mapping[str, Any]) -> ProviderError:
    """Turn an error object found inside a response (see `error_detail`) into an error.

    The object may carry a status of its own: `status`, `status_code`, or a numeric `code`.
    """
    status: int | None = None
    for name in ("status_code", "status", "code"):
        value = detail.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            value = int(value)
        if isinstance(value, int) and 400 <= value <= 599:
            status = value
            break
    return _failure("The provider reported an error", detail, status, {})


def listed_in(body: object, items: object) -> list[Fields]:
    """Give the items of a body that lists models; no more than 10,000, since what is known of each is looked up.

    Raises:
        WireError: PROTOCOL when they are no list, with what the body says instead.
    """
    if not isinstance(items, list):
        said = excerpt(said_in(error_detail(body) or fields_of(body)))
        raise WireError("PROTOCOL", f"The answer lists no models{f', but says: {said}' if said else '.'}")
    return [fields_of(item) for item in cast("list[object]", items)[:MAX_LISTED]]


def detail_in(text: str) -> dict[str, Any]:
    """Give the error object that a text is: JSON, in a wrapper or bare, or words."""
    event = event_in(text)
    return error_detail(event) or cast("dict[str, Any]", event)


def event_in(text: str) -> object:
    """Give the JSON by which a text reports an error, which may be in a wrapper; else its words as an error object."""
    try:
        value: Any = strict_json.loads(text, duplicate_keys="last")
    except StreamError:
        value = None
    is_event = isinstance(value, dict) or error_detail(value) is not None
    return cast("object", value) if is_event else {"message": text}


def error_detail(value: object) -> dict[str, Any] | None:
    """Find the error object in a JSON value, in the shapes in which vendors wrap it.

    Returns:
        A dict with what was said (`message`, `code`, `type`, …), or None when the value reports no error.
    """
    if isinstance(value, list) and value:  # Google's endpoints wrap an error into a list
        value = cast("list[object]", value)[0]
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, Any]", value)
    error = members.get("error")
    if error and isinstance(error, dict):
        return cast("dict[str, Any]", error)
    if error:
        return {**members, "message": members.get("message") or error}
    if members.get("object") in ("error", "Error") or members.get("type") == "error":
        return members
    return None


def _failure(where: str, detail: Mapping[str, Any], status: int | None, headers: Mapping[str, str]) -> ProviderError:
    message = excerpt(said_in(detail), _MESSAGE_CHARS)
    inner = fields_of(detail.get("innererror"))
    named = [detail.get("code"), detail.get("type"), detail.get("status"), inner.get("code")]
    names = [name for name in named if isinstance(name, str) and name]
    code, retryable = _kind(" ".join(names).lower(), message.lower(), status)
    said = message or _data_in(detail, names) or "no message"
    if names and names[0].lower() not in said.lower():
        said = f"{said} ({excerpt(names[0], 80)})"
    return ProviderError(
        code,
        f"{where}: {said}",
        retryable=retryable,
        retry_after_s=_retry_after(headers, detail, message),
        status=status,
        request_id=_request_id(headers),
        raw=detail,
    )


def said_in(detail: Mapping[str, Any]) -> str:
    """Find the human-readable words of an error object; empty when there are none."""
    for name in ("message", "detail", "error_description", "errors", "title"):
        value: object = detail.get(name)
        for _ in range(4):  # `[{"message": …}]` and `{"detail": [{"msg": …}]}`, as web frameworks wrap them
            if isinstance(value, list):
                items = cast("list[object]", value)
                value = items[0] if items else None
            elif isinstance(value, dict):
                members = cast("dict[str, object]", value)
                value = members.get("message") or members.get("msg") or members.get("detail")
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _data_in(detail: Mapping[str, Any], names: Sequence[str]) -> str:
    """Give what an error object says in members that nobody knows, as it came; empty when it only has a name."""
    told = {
        name: value
        for name, value in detail.items()
        if value and value not in names and value not in ("error", "Error")
    }
    return excerpt(json.dumps(told, ensure_ascii=False, default=repr), _MESSAGE_CHARS) if told else ""


def _kind(names: str, message: str, status: int | None) -> Kind:
    for pattern, kind in _TELLING:
        if pattern.search(names):
            return kind
    if status in (None, 400, 413, 422, 500) and _CONTEXT.search(message):
        return "CONTEXT_WINDOW_EXCEEDED", False
    if status in (None, 400, 404, 422) and _NO_MODEL.search(message):
        return "MODEL_NOT_FOUND", False
    if status in (None, 400, 403, 451) and _FILTERED.search(message):
        return "CONTENT_FILTERED", False
    if status is not None:
        return _kind_of_status(status)
    for pattern, kind in _GENERAL:
        if pattern.search(names or message.replace(" ", "_")):
            return kind
    return "PROVIDER", False


def _kind_of_status(status: int) -> Kind:
    if status in (401, 403):
        return "AUTH", False
    if status in (402, 429):
        return "RATE_LIMIT", status == 429  # 402: no credit left
    if status in (498, 503, 529):  # 498: Groq's word for no capacity
        return "OVERLOADED", True
    if status >= 500 or status in (408, 409, 425):
        return "PROVIDER", status not in (501, 505)
    return ("INVALID_REQUEST" if status >= 400 else "PROVIDER"), False


def _request_id(headers: Mapping[str, str]) -> str | None:
    for name in ("x-request-id", "request-id", "apim-request-id", "x-amzn-requestid", "mistral-correlation-id"):
        value = headers.get(name)
        if value:
            return excerpt(value, 200)
    return None


def _retry_after(headers: Mapping[str, str], detail: Mapping[str, Any], message: str) -> float | None:
    match = _SECONDS.fullmatch(headers.get("retry-after-ms", "").strip())
    if match:
        return float(match[1]) / 1000
    stated = headers.get("retry-after", "").strip()
    match = _SECONDS.fullmatch(stated)
    if match:
        return float(match[1])
    if stated and headers.get("date"):
        seconds = _seconds_between(headers["date"], stated)
        if seconds is not None:
            return seconds
    details = detail.get("details")
    listed = cast("list[object]", details) if isinstance(details, list) else ()
    for holder in (detail, detail.get("metadata"), *listed):
        if isinstance(holder, Mapping):
            members = cast("Mapping[str, object]", holder)
            for name in _WAITS:
                value = members.get(name)
                match = _SECONDS.fullmatch(str(value)) if isinstance(value, int | float | str) else None
                if match:
                    return float(match[1]) / (1000 if name.endswith("_ms") else 1)
    hint = _HINT.search(message)
    if hint:
        return int(hint[1] or 0) * 60 + float(hint[2]) / (1000 if hint[3].lower() == "ms" else 1)
    return None


def _seconds_between(date: str, later: str) -> float | None:
    """Both on the server's clock, so that ours does not matter."""
    from email.utils import parsedate_to_datetime  # here, because it pulls in half of `email`

    try:
        return max(0.0, (parsedate_to_datetime(later) - parsedate_to_datetime(date)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
