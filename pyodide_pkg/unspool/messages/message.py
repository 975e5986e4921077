"""Messages of a conversation, what an answer cost and where it came from. Plain, immutable data: no IO, no clock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from unspool.errors import ConfigError
from unspool.frozen_json import INNER_DEPTH, FrozenDict, freeze_object
from unspool.immutable import Immutable
from unspool.messages.parts import (
    Image,
    ImmutablePart,
    MessagePart,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from unspool.messages.written_parts import noted
from unspool.tagged import Tagged

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "aborted"]
FINISH_REASONS: tuple[FinishReason, ...] = ("stop", "length", "tool_calls", "content_filter", "error", "aborted")

_set = object.__setattr__


class Usage(ImmutablePart):
    """Token counts of one response. A count the provider did not report is None."""

    __slots__ = ("input_tokens", "output_tokens", "total_tokens", "cached_input_tokens", "reasoning_tokens", "raw")
    type: ClassVar[Literal["usage"]] = "usage"
    input_tokens: int | None
    """All tokens of the request, cached ones included."""
    output_tokens: int | None
    """All tokens of the answer, reasoning included."""
    total_tokens: int | None
    """As the provider sums them up."""
    cached_input_tokens: int | None
    """Those of the request that the provider had in its cache."""
    reasoning_tokens: int | None
    """Those of the answer that were thinking."""
    raw: FrozenDict | None
    """The provider's own counts."""

    def __init__(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        total_tokens: int | None = None,
        *,
        cached_input_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        _set(self, "input_tokens", input_tokens)
        _set(self, "output_tokens", output_tokens)
        _set(self, "total_tokens", total_tokens)
        _set(self, "cached_input_tokens", cached_input_tokens)
        _set(self, "reasoning_tokens", reasoning_tokens)
        _set(self, "raw", None if raw is None else freeze_object(raw, "the raw usage", INNER_DEPTH))


class Origin(ImmutablePart):
    """Which adapter and model an answer came from."""

    __slots__ = ("adapter", "model", "response_id")
    __match_args__ = ("adapter", "model", "response_id")
    type: ClassVar[Literal["origin"]] = "origin"
    adapter: str
    """Name of the dialect (`Adapter.name`)."""
    model: str | None
    """The model that answered, as the provider names it."""
    response_id: str | None
    """The provider's id of the response."""

    def __init__(self, adapter: str, model: str | None = None, response_id: str | None = None) -> None:
        self._keep_text("adapter", adapter)
        _set(self, "model", model)
        _set(self, "response_id", response_id)


class Message(Immutable):
    """One message of a conversation.

    Build one with `SystemMessage`, `UserMessage`, `AssistantMessage` or `ToolMessage`; a call returns an assistant
    message. A message is immutable.
    """

    __slots__ = ("finish_reason", "metadata", "origin", "parts", "raw_finish_reason", "role", "usage")

    role: Role
    """Who speaks."""
    parts: tuple[Part, ...]
    """The content in order."""
    finish_reason: FinishReason | None
    """Why the response ended; None for messages that are not a response."""
    raw_finish_reason: str | None
    """The same in the provider's own spelling; None when the provider gave none."""
    usage: Usage | None
    """What the response cost; None when the provider did not say."""
    origin: Origin | None
    """Where a response came from; None for messages that are not a response."""
    metadata: FrozenDict
    """What else is known of it; JSON."""

    def __init__(
        self,
        role: Role,
        content: Content = (),
        *,
        finish_reason: FinishReason | None = None,
        raw_finish_reason: str | None = None,
        usage: Usage | None = None,
        origin: Origin | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a message together.

        Args:
            role: who speaks.
            content: text, a part, a message (another role's words at this place), or a sequence of these.
            finish_reason, raw_finish_reason, usage, origin: of a response.
            metadata: anything of JSON.
        Raises:
            ConfigError: INVALID_OPTIONS when the role, the reason or the content is none.
        """
        if role not in ROLES:
            raise ConfigError("INVALID_OPTIONS", f"The role of a message must be one of {', '.join(ROLES)}.")
        if finish_reason is not None and finish_reason not in FINISH_REASONS:
            raise ConfigError("INVALID_OPTIONS", f"A finish reason must be one of {', '.join(FINISH_REASONS)}.")
        if not isinstance(cast(Any, usage), Usage | None) or not isinstance(cast(Any, origin), Origin | None):
            raise ConfigError("INVALID_OPTIONS", "The usage of a message must be a Usage, and its origin an Origin.")
        _set(self, "role", role)
        _set(self, "parts", _parts_of(content))
        _set(self, "finish_reason", finish_reason)
        _set(self, "raw_finish_reason", raw_finish_reason)
        _set(self, "usage", usage)
        _set(self, "origin", origin)
        _set(self, "metadata", freeze_object(metadata, "metadata", INNER_DEPTH))

    @property
    def text(self) -> str:
        """The visible text, parts joined with nothing between them."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def reasoning(self) -> str:
        """The reasoning text, parts joined with nothing between them."""
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def refusal(self) -> str:
        """The refusal text, parts joined with nothing between them."""
        return "".join(part.text for part in self.parts if isinstance(part, RefusalPart))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls the model asks for, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def images(self) -> tuple[Image, ...]:
        """The images, in order."""
        return tuple(part for part in self.parts if isinstance(part, Image))

    def with_parts(self, content: Content) -> Message:
        """Give a message that differs in its content only.

        Args:
            content: as in the constructor.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        return Message(
            self.role,
            content,
            finish_reason=self.finish_reason,
            raw_finish_reason=self.raw_finish_reason,
            usage=self.usage,
            origin=self.origin,
            metadata=self.metadata,
        )

    def to_wire(self) -> dict[str, object]:
        """Give the message as JSON-safe data; absent fields are left out. `from_wire` reads it back."""
        wire: dict[str, object] = {"role": self.role, "parts": [part.to_wire() for part in self.parts]}
        if self.finish_reason is not None:
            wire["finishReason"] = self.finish_reason
        if self.raw_finish_reason is not None:
            wire["rawFinishReason"] = self.raw_finish_reason
        if self.usage is not None:
            wire["usage"] = self.usage.to_wire()
        if self.origin is not None:
            wire["origin"] = self.origin.to_wire()
        if self.metadata:
            wire["metadata"] = dict(self.metadata)
        return wire

    @staticmethod
    def from_wire(data: Mapping[str, Any]) -> Message:
        """Read a message that `to_wire` wrote, or `{"role", "content": text}`.

        Args:
            data: the JSON, parsed.
        Raises:
            ConfigError: INVALID_OPTIONS, naming the member at fault.
        """
        from unspool.messages.from_json import message_of  # here, because few read messages from JSON

        return message_of(data, "message")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # parts hold mappings

    def __repr__(self) -> str:
        ending = f", finish_reason={self.finish_reason!r}" if self.finish_reason else ""
        return noted(self, f"Message({self.role!r}, {list(self.parts)!r}{ending})")


Content = str | Part | Message | Sequence[str | Part | Message]


def _parts_of(content: Content) -> tuple[Part, ...]:
    given: Any = content
    pieces: Sequence[Any] = (given,) if isinstance(given, str | Tagged | Message) else given
    parts: list[Part] = []
    if isinstance(cast(Any, pieces), Sequence) and not isinstance(pieces, bytes | bytearray):
        for piece in pieces:
            if isinstance(piece, str):
                parts.append(TextPart(piece))
            elif isinstance(piece, Message):
                parts.append(MessagePart(piece))
            elif isinstance(piece, ImmutablePart):
                parts.append(cast(Part, piece))
            else:
                break
        else:
            return tuple(parts)
    raise ConfigError(
        "INVALID_OPTIONS", "The content of a message must be text, a part, a message, or a sequence of these."
    )


def unnested(messages: Iterable[Message]) -> list[Message]:
    """Give a conversation without messages inside messages, in order; words around an inner one keep their role.

    A message of the system inside another moves to the front, behind the system messages that are there: instructions
    stand above the conversation, wherever a prompt has them.

    Args:
        messages: the conversation.
    """
    given: Any = messages
    if isinstance(given, str | Message | Mapping) or not isinstance(given, Iterable):
        raise ConfigError("INVALID_OPTIONS", "A conversation must be a sequence of messages.")
    hoisted: list[Message] = []
    flat = _unnested(messages, hoisted)
    top = next((i for i, message in enumerate(flat) if message.role != "system"), len(flat))
    return [*flat[:top], *hoisted, *flat[top:]]


def _unnested(messages: Iterable[Message], hoisted: list[Message]) -> list[Message]:
    out: list[Message] = []
    for message in messages:
        if not isinstance(cast(Any, message), Message):
            raise ConfigError(
                "INVALID_OPTIONS",
                "A conversation must be made of messages, such as us.UserMessage(…); us.Message.from_wire reads dicts.",
            )
        if not any(isinstance(part, MessagePart) for part in message.parts):
            out.append(message)
            continue
        between: list[Part] = []
        for part in (*message.parts, None):
            if part is not None and not isinstance(part, MessagePart):
                between.append(part)
                continue
            if between:
                out.append(message.with_parts(between))
                between = []
            if part is not None:
                inner = _unnested([part.message], hoisted)
                (hoisted if part.message.role == "system" != message.role else out).extend(inner)
    return out


def content_id(content: Message | Iterable[Message]) -> str:
    """Name what a message or a conversation says, for caches: equal content has an equal name.

    Args:
        content: a message or a conversation.
    Returns:
        SHA-256 in hexadecimal. What a response was like (usage, origin, metadata, reason) and signatures do not count.
    """
    from hashlib import sha256

    messages = [content] if isinstance(content, Message) else content
    said = [[message.role, [_said(part) for part in message.parts]] for message in unnested(messages)]
    text = json.dumps(said, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _said(part: Part) -> dict[str, object]:
    if isinstance(part, ProviderPart):
        return part.to_wire()  # its replay state is all that it is
    if isinstance(part, ToolResult):
        inner = [_said(piece) for piece in part.parts]
        return {"type": part.type, "callId": part.call_id, "isError": part.is_error, "parts": inner}
    wire = part.to_wire()
    wire.pop("replay", None)
    return wire


def SystemMessage(content: Content) -> Message:
    """Instructions that stand above the conversation.

    Args:
        content: text, a part, a message, or a sequence of these.
    Raises:
        ConfigError: INVALID_OPTIONS when the content is none.
    """
    return Message("system", content)


def UserMessage(content: Content) -> Message:
    """What the user says.

    Args:
        content: text, a part, a message, or a sequence of these.
    Raises:
        ConfigError: INVALID_OPTIONS when the content is none.
    """
    return Message("user", content)


def AssistantMessage(content: Content) -> Message:
    """What the model said, for the history of a conversation.

    Args:
        content: text, a part, a message, or a sequence of these.
    Raises:
        ConfigError: INVALID_OPTIONS when the content is none.
    """
    return Message("assistant", content)


def ToolMessage(content: ToolResult | Sequence[ToolResult]) -> Message:
    """Results of tool calls, for the model to read.

    Args:
        content: one result or several.
    Raises:
        ConfigError: INVALID_OPTIONS when the content is none.
    """
    message = Message("tool", content)
    if not all(isinstance(part, ToolResult) for part in message.parts):
        raise ConfigError("INVALID_OPTIONS", "A tool message is made of results: us.ToolResult(call.id, content).")
    return message
