"""The provider-neutral chunks of one response: a closed union, and what can be asked of a single chunk.

Order, kept by `ResponseMachine`: any number of blocks (`BlockStart`, deltas, `BlockEnd`; blocks may interleave, told
apart by `index`), then at most one `UsageReport`, then exactly one `Finish`, then nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

from unspool.errors import ConfigError, UnspoolError
from unspool.messages import FinishReason, Image, Origin, Part, Replay, TextPart, Usage
from unspool.tagged import Tagged

__all__ = [
    "BlockEnd",
    "BlockKind",
    "BlockStart",
    "Chunk",
    "Delta",
    "Finish",
    "ReasoningDelta",
    "TextDelta",
    "ToolArgumentsDelta",
    "UsageReport",
    "chunk_has_visible_text",
    "is_token_delta",
    "is_visible_chunk",
]


def __dir__() -> list[str]:
    return sorted(__all__)


BlockKind = Literal["text", "reasoning", "refusal", "tool_call", "image", "file"]
DELTA_KINDS: tuple[BlockKind, ...] = ("text", "reasoning", "refusal", "tool_call")
"""Blocks that are made of deltas. Any other gets its part with its end."""
_OUR_KINDS = get_args(BlockKind)


def provider_kind(word: str, adapter: str) -> str:
    """Name a block that only its provider understands by the provider's word, marked where that is one of ours."""
    return f"{adapter}:{word}" if word in _OUR_KINDS else word


class BlockStart(Tagged):
    """A block of content begins. A kind that is none of `BlockKind` is one that only the provider understands."""

    __slots__ = ("index", "kind", "id", "name")
    __match_args__ = ("index", "kind", "id", "name")
    type: ClassVar[Literal["block-start"]] = "block-start"

    def __init__(self, index: int, kind: BlockKind | str, id: str | None = None, name: str | None = None) -> None:
        self.index = index
        """Tells the blocks of a response apart; from 0."""
        self.kind: BlockKind | str = kind
        """What it holds."""
        self.id = id
        """Of a tool call: what its result is sent back under."""
        self.name = name
        """Of a tool call: the tool."""


class TextDelta(Tagged):
    """More text of a text or refusal block."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["text-delta"]] = "text-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        """The block's."""
        self.text = text
        """May be empty, and cut anywhere."""


class ReasoningDelta(Tagged):
    """More text of a reasoning block."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        """The block's."""
        self.text = text
        """May be empty, and cut anywhere."""


class ToolArgumentsDelta(Tagged):
    """More raw JSON text of a tool call's arguments; may be cut anywhere."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["tool-arguments-delta"]] = "tool-arguments-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        """The block's."""
        self.text = text
        """May be empty, and cut anywhere."""


class BlockEnd(Tagged):
    """A block of content is over. A tool call may be executed only after a `Finish` that is neither error nor cut."""

    __slots__ = ("index", "replay", "part")
    __match_args__ = ("index",)
    type: ClassVar[Literal["block-end"]] = "block-end"

    def __init__(self, index: int, *, replay: Replay | None = None, part: Part | None = None) -> None:
        self.index = index
        """The block's."""
        self.replay = replay
        """What the provider wants back of this block in the next turn."""
        self.part = part
        """The whole block, where it is not made of deltas: a picture, hidden reasoning, a block of the provider's."""


class UsageReport(Tagged):
    """What the response cost, as far as the provider says."""

    __slots__ = ("usage",)
    __match_args__ = ("usage",)
    type: ClassVar[Literal["usage"]] = "usage"

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        """Of the whole response."""


class Finish(Tagged):
    """The one terminal chunk. `error` is set exactly when `reason` is "error" or "aborted"."""

    __slots__ = ("reason", "raw_reason", "error", "origin", "metadata")
    __match_args__ = ("reason", "raw_reason", "error")
    type: ClassVar[Literal["finish"]] = "finish"

    def __init__(
        self,
        reason: FinishReason,
        raw_reason: str | None = None,
        error: UnspoolError | None = None,
        *,
        origin: Origin | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.reason: FinishReason = reason
        """Why the response is over."""
        self.raw_reason = raw_reason
        """The same in the provider's own spelling; None when it gave none."""
        self.error = error
        """What went wrong; its `partial` holds the message as far as it came."""
        self.origin = origin
        """Who answered, as far as that is known."""
        self.metadata = metadata
        """What else the provider said of the answer, in its own words: filter results, citations; None without."""


Delta = TextDelta | ReasoningDelta | ToolArgumentsDelta
DELTAS = (TextDelta, ReasoningDelta, ToolArgumentsDelta)
"""For `isinstance`, which takes longer for a union; it is asked at each chunk."""
Chunk = BlockStart | Delta | BlockEnd | UsageReport | Finish


def not_a_chunk(value: object) -> ConfigError:
    """Say that something else stands where a chunk should. (Events of queries have names that chunks have, too.)"""
    kind = type(value)
    return ConfigError(
        "INVALID_OPTIONS", f"A chunk must be one of unspool.stream.chunks, not {kind.__module__}.{kind.__name__}."
    )


def is_token_delta(chunk: Chunk) -> bool:
    """Whether the chunk brings something that the model has just written, shown or not.

    Args:
        chunk: any chunk.
    """
    return isinstance(chunk, DELTAS) and bool(chunk.text)


def is_visible_chunk(chunk: Chunk) -> bool:
    """Whether a reader sees the chunk: text, a refusal, a tool call, a picture; not reasoning.

    After the first one a failed call is not tried again.

    Args:
        chunk: any chunk.
    """
    if isinstance(chunk, TextDelta):
        return bool(chunk.text)
    if isinstance(chunk, BlockStart):
        return chunk.kind == "tool_call"
    return isinstance(chunk, BlockEnd) and (isinstance(chunk.part, Image) or bool(_whole_text(chunk)))


def chunk_has_visible_text(chunk: Chunk) -> bool:
    """Whether the chunk brings text to show that is more than white space.

    Args:
        chunk: any chunk.
    """
    if isinstance(chunk, TextDelta):
        return bool(chunk.text.strip())
    return isinstance(chunk, BlockEnd) and bool(_whole_text(chunk).strip())


def _whole_text(end: BlockEnd) -> str:
    return end.part.text if isinstance(end.part, TextPart) else ""
