"""Messages of a conversation and the parts they are made of. Plain data: no IO, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from unspool.errors import ConfigError
from unspool.tagged import Tagged

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "aborted"]


class Usage(Tagged):
    """Token counts of one response. A count the provider did not report is None."""

    __slots__ = ("input_tokens", "output_tokens", "total_tokens", "cached_input_tokens", "reasoning_tokens", "raw")
    type: ClassVar[Literal["usage"]] = "usage"

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
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.total_tokens = total_tokens
        self.cached_input_tokens = cached_input_tokens
        self.reasoning_tokens = reasoning_tokens
        self.raw = raw


class TextPart(Tagged):
    """Visible text."""

    __slots__ = ("text",)
    __match_args__ = ("text",)
    type: ClassVar[Literal["text"]] = "text"

    def __init__(self, text: str) -> None:
        self.text = text


class ReasoningPart(Tagged):
    """Thinking text that the provider chose to show; never part of the answer."""

    __slots__ = ("text",)
    __match_args__ = ("text",)
    type: ClassVar[Literal["reasoning"]] = "reasoning"

    def __init__(self, text: str) -> None:
        self.text = text


class RefusalPart(Tagged):
    """The model's own words for declining; never part of the answer."""

    __slots__ = ("text",)
    __match_args__ = ("text",)
    type: ClassVar[Literal["refusal"]] = "refusal"

    def __init__(self, text: str) -> None:
        self.text = text


class ToolCall(Tagged):
    """A call the model asks for."""

    __slots__ = ("id", "name", "arguments", "truncated")
    type: ClassVar[Literal["toolCall"]] = "toolCall"

    def __init__(self, id: str, name: str, arguments: str, truncated: bool = False) -> None:
        self.id = id
        self.name = name
        self.arguments = arguments
        """Raw JSON text, exactly as it was streamed."""
        self.truncated = truncated
        """True when the response ended inside the arguments: never execute such a call."""

    @property
    def args(self) -> Any:
        """The arguments as a value; empty or blank text counts as `{}`.

        Raises:
            StreamError: the code of the fault (INVALID_JSON, INCOMPLETE_JSON, …) when the text is not one JSON value.
        """
        from unspool.structured import strict_json  # here, because history is often built without ever parsing it

        return strict_json.loads(self.arguments) if self.arguments.strip() else {}


class ToolResult(Tagged):
    """What a tool answered, to be sent back."""

    __slots__ = ("call_id", "text", "is_error")
    type: ClassVar[Literal["toolResult"]] = "toolResult"

    def __init__(self, call_id: str, text: str, is_error: bool = False) -> None:
        self.call_id = call_id
        self.text = text
        self.is_error = is_error


Part = TextPart | ReasoningPart | RefusalPart | ToolCall | ToolResult


class Message:
    """One message of a conversation.

    Build one with `SystemMessage`, `UserMessage`, `AssistantMessage` or `ToolMessage`; a call returns an assistant
    message. Treat messages as immutable.
    """

    __slots__ = ("finish_reason", "metadata", "parts", "raw_finish_reason", "role", "usage")

    role: Role
    parts: tuple[Part, ...]
    """The content in order."""
    finish_reason: FinishReason | None
    """Why the response ended; None for messages that are not a response."""
    raw_finish_reason: str | None
    """The same in the provider's own spelling; None when the provider gave none."""
    usage: Usage | None
    metadata: Mapping[str, Any]

    def __init__(
        self,
        role: Role,
        content: str | Part | Sequence[str | Part] = (),
        *,
        finish_reason: FinishReason | None = None,
        raw_finish_reason: str | None = None,
        usage: Usage | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        pieces: Sequence[Any] = (content,) if isinstance(content, str | Tagged) else content
        if role not in ROLES:
            raise ConfigError("INVALID_OPTIONS", f"The role of a message must be one of {', '.join(ROLES)}.")
        if not isinstance(cast(Any, pieces), Sequence) or not all(
            isinstance(piece, str) or hasattr(piece, "type") for piece in pieces
        ):
            raise ConfigError(
                "INVALID_OPTIONS", "The content of a message must be text, a part, or a sequence of these."
            )
        self.role = role
        self.parts = tuple(TextPart(piece) if isinstance(piece, str) else piece for piece in pieces)
        self.finish_reason = finish_reason
        self.raw_finish_reason = raw_finish_reason
        self.usage = usage
        self.metadata = dict(metadata) if metadata else {}

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

    def to_wire(self) -> dict[str, object]:
        """Give the message as JSON-safe data; absent fields are left out."""
        wire: dict[str, object] = {"role": self.role, "parts": [part.to_wire() for part in self.parts]}
        if self.finish_reason is not None:
            wire["finishReason"] = self.finish_reason
        if self.raw_finish_reason is not None:
            wire["rawFinishReason"] = self.raw_finish_reason
        if self.usage is not None:
            wire["usage"] = self.usage.to_wire()
        if self.metadata:
            wire["metadata"] = dict(self.metadata)
        return wire

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.to_wire() == other.to_wire()

    __hash__ = None  # type: ignore[assignment]  # metadata is a dict

    def __repr__(self) -> str:
        ending = f", finish_reason={self.finish_reason!r}" if self.finish_reason else ""
        return f"Message({self.role!r}, {list(self.parts)!r}{ending})"


def SystemMessage(content: str | Part | Sequence[str | Part]) -> Message:
    """Instructions that stand above the conversation."""
    return Message("system", content)


def UserMessage(content: str | Part | Sequence[str | Part]) -> Message:
    """What the user says."""
    return Message("user", content)


def AssistantMessage(content: str | Part | Sequence[str | Part]) -> Message:
    """What the model said, for the history of a conversation."""
    return Message("assistant", content)


def ToolMessage(content: ToolResult | Sequence[ToolResult]) -> Message:
    """Results of tool calls, for the model to read."""
    return Message("tool", content)
