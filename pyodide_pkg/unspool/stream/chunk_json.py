"""Chunks out of JSON data, as `to_wire` writes them. No IO, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard, cast, get_args

from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    StreamTruncatedError,
    UnspoolError,
    WireError,
)
from unspool.messages import FINISH_REASONS
from unspool.messages.from_json import (
    mapping,
    origin_of,
    part_of,
    replay_of,
    text,
    text_or_none,
    usage_of,
    wrong,
)
from unspool.stream import chunks

_CHUNK_TYPES = {kind.type for kind in get_args(chunks.Chunk)}
_ERRORS: dict[str, type[UnspoolError]] = {
    "INVALID_OPTIONS": ConfigError,
    "MISSING_CREDENTIAL": ConfigError,
    "INVALID_CREDENTIAL": ConfigError,
    "UNSUPPORTED": ConfigError,
    "NO_ADAPTER": ConfigError,
    "DUPLICATE_ADAPTER": ConfigError,
    "NETWORK": NetworkError,
    "TIMEOUT": RequestTimeoutError,
    "SSE_EVENT_TOO_LARGE": WireError,
    "BODY_TOO_LARGE": WireError,
    "PROTOCOL": WireError,
    "TOOL_ARGUMENTS_INVALID": WireError,
    "STREAM_TRUNCATED": StreamTruncatedError,
}
"""Classes of the codes that may end a stream; all others are of providers."""


def is_chunk(data: Any) -> bool:
    """Tell whether data stands for one of our chunks, and not for an event of a provider's."""
    kind = cast("Mapping[str, Any]", data).get("type") if isinstance(data, Mapping) else None
    return isinstance(kind, str) and kind in _CHUNK_TYPES


def is_index(value: object) -> TypeGuard[int]:
    """Tell whether a value can number a block: a whole number, not so long that no error could name it."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53


def chunk_of(data: Mapping[str, Any], where: str) -> chunks.Chunk:
    """Read a chunk as `to_wire` writes it.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    kind = data.get("type")
    if kind == chunks.UsageReport.type:
        return chunks.UsageReport(usage_of(data.get("usage"), f"{where}.usage"))
    if kind == chunks.Finish.type:
        return _finish_of(data, where)
    index = data.get("index")
    if not is_index(index):
        raise wrong(f"{where}.index", "a whole number")
    match kind:
        case chunks.BlockStart.type:
            return chunks.BlockStart(
                index, text(data, "kind", where), text_or_none(data, "id", where), text_or_none(data, "name", where)
            )
        case chunks.TextDelta.type:
            return chunks.TextDelta(index, text(data, "text", where))
        case chunks.ReasoningDelta.type:
            return chunks.ReasoningDelta(index, text(data, "text", where))
        case chunks.ToolArgumentsDelta.type:
            return chunks.ToolArgumentsDelta(index, text(data, "text", where))
        case chunks.BlockEnd.type:
            part = data.get("part")
            return chunks.BlockEnd(
                index,
                replay=replay_of(data.get("replay"), f"{where}.replay"),
                part=None if part is None else part_of(part, f"{where}.part"),
            )
        case _:
            raise wrong(f"{where}.type", "the type of a chunk")


def error_of(data: Any, where: str, *, aborted: bool = False) -> UnspoolError:
    """Read the error of a stream's end, as `UnspoolError.to_wire` writes it, without what had arrived before it.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    told = mapping(data, where)
    message = text_or_none(told, "message", where)
    if aborted:
        return CallCancelledError() if message is None else CallCancelledError(message)
    code = text_or_none(told, "code", where) or "PROVIDER"
    kind = _ERRORS.get(code, ProviderError)
    error = kind.__new__(kind)
    if isinstance(error, ProviderError):
        error.raw = None
    UnspoolError.__init__(
        error,
        code,
        "The model failed." if message is None else message,
        retryable=told.get("retryable") is True,
        retry_after_s=_seconds_or_none(told, "retryAfterS", where),
        status=_whole_or_none(told, "status", where),
        request_id=text_or_none(told, "requestId", where),
    )
    return error


def _seconds_or_none(data: Mapping[str, Any], name: str, where: str) -> float | None:
    value = data.get(name)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise wrong(f"{where}.{name}", "a number of seconds")
    return value


def _whole_or_none(data: Mapping[str, Any], name: str, where: str) -> int | None:
    value = data.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise wrong(f"{where}.{name}", "a whole number")
    return value


def _finish_of(data: Mapping[str, Any], where: str) -> chunks.Finish:
    reason = data.get("reason")
    if reason not in FINISH_REASONS:
        raise wrong(f"{where}.reason", "a finish reason")
    raw, origin, metadata = text_or_none(data, "rawReason", where), data.get("origin"), data.get("metadata")
    error: UnspoolError | None = None
    if reason in ("error", "aborted"):
        told = data.get("error")
        error = error_of({} if told is None else told, f"{where}.error", aborted=reason == "aborted")
    return chunks.Finish(
        reason,
        raw,
        error,
        origin=None if origin is None else origin_of(origin, f"{where}.origin"),
        metadata=None if metadata is None else mapping(metadata, f"{where}.metadata"),
    )
