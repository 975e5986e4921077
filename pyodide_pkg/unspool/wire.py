"""The JSON-safe form of what crosses to JavaScript and back: messages and chunks in, events and errors out.

Events become JSON text without loss: integers that JavaScript cannot hold are refused, lone surrogates are escaped, NaN
is impossible. Errors become JSON text always: what has no exact form is told in words. No JavaScript object is touched.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, cast, get_args

from unspool.errors import BridgeError, ConfigError, OutputValidationError, ProviderError, UnspoolError
from unspool.messages import Message, Part, ReasoningPart, RefusalPart, TextPart, ToolCall, ToolResult, Usage
from unspool.schema import Schema
from unspool.schema.parts import is_array, is_object
from unspool.schema.types import path_text
from unspool.stream import chunks
from unspool.stream.nesting import is_deeper
from unspool.structured import strict_json
from unspool.structured.events import (
    FieldEnd,
    FieldStart,
    GenerationComplete,
    ObjectEnd,
    ObjectStart,
    Path,
    StringFieldDelta,
    StructuredEvent,
    TextDelta,
)
from unspool.structured.pool import StreamUpdate

MAX_SAFE_INTEGER = 2**53 - 1
"""JavaScript's `Number.MAX_SAFE_INTEGER`: beyond it, neighbouring integers fall together."""

# Any integer beyond the limit has at least 16 digits; most batches have none, and are searched at C speed.
_MANY_DIGITS = re.compile(r"[0-9]{16}")
_CHUNK_TYPES = {kind.type for kind in get_args(chunks.Chunk)}
_ROLES = ("system", "user", "assistant", "tool")


def event_json(event: StructuredEvent[Any], schema: Schema[Any] | None, before: Path = ()) -> str:
    """Write an event as JSON text.

    An end has its value only where the page cannot have it by now: strings came as deltas and containers as their
    parts, and sending them again at each level would cost their size as often.

    Args:
        event: one event of a query.
        schema: what the query asked for; writes the result.
        before: path of the event before it. The steps that its own path begins with as well are only counted, `keep`:
            a model that writes one long name and thousands of members below it would otherwise have the name sent
            thousands of times.
    Raises:
        BridgeError: UNSAFE_INTEGER, naming the member that JavaScript cannot hold; MODULE_ERROR when the application's
            own type cannot be written.
    """
    kind = event.type
    if isinstance(event, TextDelta):
        return f'{{"type":"{kind}","delta":{_quoted(event.delta)}}}'
    if isinstance(event, StringFieldDelta):
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"delta":{_quoted(event.delta)}}}'
    if isinstance(event, FieldStart):
        return f'{{"type":"{kind}",{_path_json(event.path, before)}}}'
    if isinstance(event, ObjectStart):
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"kind":"{event.kind}"}}'
    if isinstance(event, ObjectEnd):
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"kind":"{event.kind}"}}'
    if isinstance(event, FieldEnd):
        value = event.value
        if isinstance(value, str | dict | list) and value != "":
            return f'{{"type":"{kind}",{_path_json(event.path, before)}}}'
        text = _dumps(value)
        _refuse_unsafe(text, lambda: event.value, event.path)
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"value":{text}}}'
    if isinstance(event, GenerationComplete):
        fields = [f'"type":"{kind}","result":{_result_json(event.result, schema)}']
        if event.usage is not None:
            fields.append(f'"usage":{_dumps(plain(event.usage.to_wire()))}')
        if event.finish_reason is not None:
            fields.append(f'"finishReason":{_dumps(event.finish_reason)}')
        return "{" + ",".join(fields) + "}"
    return _dumps({"type": kind, "error": error_wire(event.error)})


def update_json(update: StreamUpdate) -> str:
    """Write an update of an incremental stream as JSON text, with the patches instead of the value they make.

    Raises:
        BridgeError: UNSAFE_INTEGER, naming the member that JavaScript cannot hold.
    """
    wire = update.to_wire()
    text = _dumps(wire)
    if _MANY_DIGITS.search(text):
        for patch in wire["changes"]:
            _refuse_unsafe(_dumps(patch.get("value")), lambda patch=patch: patch["value"], patch["path"])  # type: ignore[misc]
    return text


def error_wire(error: UnspoolError) -> dict[str, Any]:
    """Give an error as data that JSON and JavaScript can hold."""
    return {name: plain(value) for name, value in error.to_wire().items()}


def plain(value: Any) -> Any:
    """Give data as JSON that JavaScript holds exactly; what has no such form is told in words. Not for results."""
    if is_deeper(value):
        return "(nested too deep)"
    return _plain(value)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_SAFE_INTEGER else _digits(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_object(value):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return f"({type(value).__name__})"


def message_of(data: Any, where: str) -> Message:
    """Read a message of a conversation.

    Args:
        data: `{"role", "content": text}` or `{"role", "parts": […]}`, as `Message.to_wire` writes it.
        where: its place, for the error.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    members = _mapping(data, where)
    role = members.get("role")
    if role not in _ROLES:
        raise _wrong(f"{where}.role", f"one of {', '.join(_ROLES)}")
    content = members.get("content", members.get("parts"))
    if isinstance(content, str):
        return Message(role, content)
    if not is_array(content):
        raise _wrong(where, "a message with content or parts")
    return Message(role, [_part_of(part, f"{where}.parts[{i}]") for i, part in enumerate(content)])


def chunk_of(data: Mapping[str, Any], where: str) -> chunks.Chunk:
    """Read a chunk as `to_wire` writes it.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    index = data.get("index")
    if data["type"] in (chunks.UsageReport.type, chunks.Finish.type):
        return _ending_of(data, where)
    if not isinstance(index, int) or isinstance(index, bool):
        raise _wrong(f"{where}.index", "a whole number")
    match data["type"]:
        case chunks.BlockStart.type:
            kind = data.get("kind")
            if kind not in ("text", "reasoning", "refusal", "tool_call"):
                raise _wrong(f"{where}.kind", "text, reasoning, refusal or tool_call")
            return chunks.BlockStart(index, kind, _text_or_none(data, "id", where), _text_or_none(data, "name", where))
        case chunks.TextDelta.type:
            return chunks.TextDelta(index, _text(data, "text", where))
        case chunks.ReasoningDelta.type:
            return chunks.ReasoningDelta(index, _text(data, "text", where))
        case chunks.ToolArgumentsDelta.type:
            return chunks.ToolArgumentsDelta(index, _text(data, "text", where))
        case chunks.BlockEnd.type:
            return chunks.BlockEnd(index)
        case _:
            raise _wrong(f"{where}.type", "the type of a chunk")


def is_chunk(data: Any) -> bool:
    """Tell whether data stands for one of our chunks, and not for an event of a provider's."""
    kind = data.get("type") if is_object(data) else None
    return isinstance(kind, str) and kind in _CHUNK_TYPES


def _ending_of(data: Mapping[str, Any], where: str) -> chunks.Chunk:
    if data["type"] == chunks.UsageReport.type:
        usage = _mapping(data.get("usage"), f"{where}.usage")
        names = ("inputTokens", "outputTokens", "totalTokens", "cachedInputTokens", "reasoningTokens")
        counts = [usage.get(name) for name in names]
        if any(count is not None and (not isinstance(count, int) or isinstance(count, bool)) for count in counts):
            raise _wrong(f"{where}.usage", "counts of tokens")
        given, made, both, cached, thought = counts
        return chunks.UsageReport(
            Usage(given, made, both, cached_input_tokens=cached, reasoning_tokens=thought, raw=usage.get("raw"))
        )
    reason = data.get("reason")
    if reason not in ("stop", "length", "tool_calls", "content_filter", "error", "aborted"):
        raise _wrong(f"{where}.reason", "a finish reason")
    if reason in ("stop", "length", "tool_calls", "content_filter"):
        return chunks.Finish(reason, _text_or_none(data, "rawReason", where))
    told = _mapping(data.get("error") or {}, f"{where}.error")
    error = ProviderError(str(told.get("code", "PROVIDER")), str(told.get("message", "The model failed.")))
    return chunks.Finish("error", _text_or_none(data, "rawReason", where), error)


def _part_of(data: Any, where: str) -> Part:
    part = _mapping(data, where)
    match part.get("type"):
        case TextPart.type:
            return TextPart(_text(part, "text", where))
        case ReasoningPart.type:
            return ReasoningPart(_text(part, "text", where))
        case RefusalPart.type:
            return RefusalPart(_text(part, "text", where))
        case ToolCall.type:
            truncated = part.get("truncated") is True
            return ToolCall(
                _text(part, "id", where), _text(part, "name", where), _text(part, "arguments", where), truncated
            )
        case ToolResult.type:
            return ToolResult(_text(part, "callId", where), _text(part, "text", where), part.get("isError") is True)
        case _:
            raise _wrong(f"{where}.type", "text, reasoning, refusal, toolCall or toolResult")


def _mapping(data: Any, where: str) -> Mapping[str, Any]:
    if not is_object(data):
        raise _wrong(where, "an object")
    return data


def _text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise _wrong(f"{where}.{name}", "a text")
    return value


def _text_or_none(data: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if data.get(name) is None else _text(data, name, where)


def _wrong(where: str, wanted: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"{where} must be {wanted}.")


def _dumps(value: Any) -> str:
    # ASCII only: a lone surrogate survives as its escape, and JSON.parse gives back the same text.
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _path_json(path: Path, before: Path) -> str:
    keep = 0
    for step, known in zip(path, before, strict=False):
        if step is not known and step != known:
            break
        keep += 1
    steps = ",".join(_quoted(step) if isinstance(step, str) else str(step) for step in path[keep:])
    return f'"keep":{keep},"path":[{steps}]' if keep else f'"path":[{steps}]'


def _result_json(result: Any, schema: Schema[Any] | None) -> str:
    try:
        text = _dumps(result) if schema is None else schema.dump_json(result)
        _refuse_unsafe(text, lambda: strict_json.loads(text, max_bytes=len(text) * 4 + 1, duplicate_keys="last"), ())
    except BridgeError:
        raise
    except OutputValidationError:
        raise
    except Exception as error:  # a serializer of the application may raise anything
        reason = f"{type(error).__name__}: {error}"[:300]
        raise BridgeError("MODULE_ERROR", f"The result cannot be written as JSON ({reason}).") from error
    return text


def _refuse_unsafe(text: str, value: Callable[[], Any], base: Sequence[str | int]) -> None:
    if not _MANY_DIGITS.search(text):
        return
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value())]
    while todo:
        path, item = todo.pop()
        if is_object(item):
            todo.extend(((*path, key), member) for key, member in item.items())
        elif is_array(item):
            todo.extend(((*path, i), member) for i, member in enumerate(item))
        elif isinstance(item, int) and abs(item) > MAX_SAFE_INTEGER:
            where = path_text((*base, *path)) or "the answer"
            raise BridgeError(
                "UNSAFE_INTEGER",
                f"{where} is {_digits(item)}, which JavaScript cannot hold exactly; ask for text or a smaller number.",
            )


def _digits(value: int) -> str:
    # The length is taken from the bits: int to text is quadratic, and refused beyond 4,300 digits.
    if value.bit_length() > 128:
        return f"(an integer of {value.bit_length()} bits)"
    return str(value)
