"""Messages and their parts out of JSON data, as `to_wire` writes them: each wrong member is named. No IO, no clock."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, cast

from unspool.errors import ConfigError
from unspool.messages.message import FINISH_REASONS, ROLES, Message, Origin, Usage
from unspool.messages.parts import (
    MAX_NESTING,
    File,
    Image,
    MessagePart,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
)

_CALL = '{"type": "toolCall", "id", "name", "arguments": JSON text}'
_RESULT = '{"type": "toolResult", "callId", "text"}'
_FOREIGN = {"tool_calls": _CALL, "function_call": _CALL, "tool_call_id": _RESULT}
_SHOWN = (TextPart.type, Image.type, File.type)
_COUNTS = ("inputTokens", "outputTokens", "totalTokens")


def message_of(data: Any, where: str, nesting: int = MAX_NESTING) -> Message:
    """Read a message of a conversation.

    Args:
        data: `{"role", "content": text or parts}` or `{"role", "parts": […]}`, as `Message.to_wire` writes it.
        where: its place, for the error.
        nesting: messages that may stand inside each other.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    members = mapping(data, where)
    role = members.get("role")
    if role not in ROLES:
        raise wrong(f"{where}.role", f"one of {', '.join(ROLES)}")
    _refuse_foreign(members, where)
    name = "content" if members.get("content") is not None or members.get("parts") is None else "parts"
    content, place = members.get(name), f"{where}.{name}"
    if isinstance(content, str):
        if role == "tool":
            raise wrong(place, f"a list of results in a tool message: {_RESULT}")
    elif content is None:
        raise wrong(where, "a message with content or parts")
    else:
        parts = _items(content, place, "a text, or a list of parts")
        content = [part_of(part, f"{place}[{i}]", nesting) for i, part in enumerate(parts)]
    reason = members.get("finishReason")
    if reason is not None and reason not in FINISH_REASONS:
        raise wrong(f"{where}.finishReason", "a finish reason")
    usage, origin, metadata = members.get("usage"), members.get("origin"), members.get("metadata")
    return Message(
        role,
        content,
        finish_reason=reason,
        raw_finish_reason=text_or_none(members, "rawFinishReason", where),
        usage=None if usage is None else usage_of(usage, f"{where}.usage"),
        origin=None if origin is None else origin_of(origin, f"{where}.origin"),
        metadata=None if metadata is None else mapping(metadata, f"{where}.metadata"),
    )


def usage_of(data: Any, where: str) -> Usage:
    """Read token counts.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    usage = mapping(data, where)
    counts = {name: usage.get(name) for name in (*_COUNTS, "cachedInputTokens", "reasoningTokens")}
    if any(count is not None and (not isinstance(count, int) or isinstance(count, bool)) for count in counts.values()):
        raise wrong(where, "counts of tokens")
    raw = usage.get("raw")
    return Usage(
        *(counts[name] for name in _COUNTS),
        cached_input_tokens=counts["cachedInputTokens"],
        reasoning_tokens=counts["reasoningTokens"],
        raw=None if raw is None else mapping(raw, f"{where}.raw"),
    )


def origin_of(data: Any, where: str) -> Origin:
    """Read where an answer came from.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    members = mapping(data, where)
    return Origin(
        text(members, "adapter", where),
        text_or_none(members, "model", where),
        text_or_none(members, "responseId", where),
    )


def replay_of(data: Any, where: str) -> Replay | None:
    """Read replay state; None where there is none.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    if data is None:
        return None
    members = mapping(data, where)
    return Replay(text(members, "adapter", where), mapping(members.get("data"), f"{where}.data"))


def part_of(data: Any, where: str, nesting: int = MAX_NESTING) -> Part:
    """Read a part.

    Raises:
        ConfigError: INVALID_OPTIONS, naming the member at fault.
    """
    part = mapping(data, where)
    replay = replay_of(part.get("replay"), f"{where}.replay")
    match part.get("type"):
        case TextPart.type:
            return TextPart(text(part, "text", where), replay=replay)
        case ReasoningPart.type:
            return ReasoningPart(text(part, "text", where), redacted=part.get("redacted") is True, replay=replay)
        case RefusalPart.type:
            return RefusalPart(text(part, "text", where), replay=replay)
        case Image.type:
            source = bytes_or_none(part, where) or text(part, "url", where)
            detail = cast(Any, text_or_none(part, "detail", where))
            media_type = text_or_none(part, "mediaType", where)
            return Image(source, media_type=media_type, detail=detail, replay=replay)
        case File.type:
            return File(
                text(part, "name", where),
                media_type=text_or_none(part, "mediaType", where),
                size_bytes=_count_or_none(part, "sizeBytes", where),
                path=text_or_none(part, "path", where),
                data=bytes_or_none(part, where),
            )
        case ToolCall.type:
            return ToolCall(
                text(part, "id", where),
                text(part, "name", where),
                text(part, "arguments", where),
                part.get("truncated") is True,
                replay=replay,
            )
        case ToolResult.type:
            content: Any = part.get("text")
            if not isinstance(content, str):
                items = _items(part.get("parts"), where, "a part with text or parts")
                content = [_shown_part(item, f"{where}.parts[{i}]") for i, item in enumerate(items)]
            return ToolResult(text(part, "callId", where), content, part.get("isError") is True)
        case ProviderPart.type if replay is not None:
            return ProviderPart(text(part, "kind", where), replay)
        case MessagePart.type:
            if nesting <= 0:
                raise wrong(where, "nested less deep")
            return MessagePart(message_of(part.get("message"), f"{where}.message", nesting - 1))
        case _:
            raise wrong(
                f"{where}.type",
                "text, reasoning, refusal, image, file, toolCall, toolResult, message, or provider with its replay",
            )


def _shown_part(data: Any, where: str) -> Part:
    """Read a part of a tool's result. Any other kind is refused before it is read: one may stand in the other."""
    if mapping(data, where).get("type") not in _SHOWN:
        raise wrong(f"{where}.type", "text, image or file")
    return part_of(data, where)


def mapping(data: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise wrong(where, "an object")
    return cast("Mapping[str, Any]", data)


def text(data: Mapping[str, Any], name: str, where: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise wrong(f"{where}.{name}", "a text")
    return value


def text_or_none(data: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if data.get(name) is None else text(data, name, where)


def bytes_or_none(data: Mapping[str, Any], where: str) -> bytes | None:
    if data.get("data") is None:
        return None
    try:
        return b64decode(text(data, "data", where), validate=True)
    except ValueError as error:
        raise wrong(f"{where}.data", "base64") from error


def wrong(where: str, wanted: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"{where} must be {wanted}.")


def _count_or_none(data: Mapping[str, Any], name: str, where: str) -> int | None:
    value = data.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise wrong(f"{where}.{name}", "a whole number, 0 or more")
    return value


def _items(data: Any, where: str, wanted: str) -> Sequence[Any]:
    if not isinstance(data, list | tuple):
        raise wrong(where, wanted)
    return cast("Sequence[Any]", data)


def _refuse_foreign(members: Mapping[str, Any], where: str) -> None:
    """Refuse what a message in OpenAI's words says beside its content: passed over, it would be lost."""
    for name, form in _FOREIGN.items():
        if members.get(name):
            raise ConfigError("INVALID_OPTIONS", f"{where}.{name} is not read; it is a part here: {form}.")
