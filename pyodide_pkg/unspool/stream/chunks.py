"""The provider-neutral chunks of one response: a closed union.

Order, kept by `ResponseMachine`: any number of blocks (`BlockStart`, deltas, `BlockEnd`; blocks may interleave, told
apart by `index`), then at most one `UsageReport`, then exactly one `Finish`, then nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from unspool.errors import UnspoolError
from unspool.messages import FinishReason, Usage
from unspool.tagged import Tagged

BlockKind = Literal["text", "reasoning", "refusal", "tool_call"]


class BlockStart(Tagged):
    """A block of content begins."""

    __slots__ = ("index", "kind", "id", "name")
    __match_args__ = ("index", "kind", "id", "name")
    type: ClassVar[Literal["block-start"]] = "block-start"

    def __init__(self, index: int, kind: BlockKind, id: str | None = None, name: str | None = None) -> None:
        self.index = index
        self.kind: BlockKind = kind
        self.id = id
        self.name = name


class TextDelta(Tagged):
    """More text of a text or refusal block."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["text-delta"]] = "text-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        self.text = text


class ReasoningDelta(Tagged):
    """More text of a reasoning block."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        self.text = text


class ToolArgumentsDelta(Tagged):
    """More raw JSON text of a tool call's arguments; may be cut anywhere."""

    __slots__ = ("index", "text")
    __match_args__ = ("index", "text")
    type: ClassVar[Literal["tool-arguments-delta"]] = "tool-arguments-delta"

    def __init__(self, index: int, text: str) -> None:
        self.index = index
        self.text = text


class BlockEnd(Tagged):
    """A block of content is over. A tool call may be executed only after a `Finish` that is neither error nor cut."""

    __slots__ = ("index",)
    __match_args__ = ("index",)
    type: ClassVar[Literal["block-end"]] = "block-end"

    def __init__(self, index: int) -> None:
        self.index = index


class UsageReport(Tagged):
    """What the response cost, as far as the provider says."""

    __slots__ = ("usage",)
    __match_args__ = ("usage",)
    type: ClassVar[Literal["usage"]] = "usage"

    def __init__(self, usage: Usage) -> None:
        self.usage = usage


class Finish(Tagged):
    """The one terminal chunk. `error` is set exactly when `reason` is "error" or "aborted"."""

    __slots__ = ("reason", "raw_reason", "error")
    __match_args__ = ("reason", "raw_reason", "error")
    type: ClassVar[Literal["finish"]] = "finish"

    def __init__(self, reason: FinishReason, raw_reason: str | None = None, error: UnspoolError | None = None) -> None:
        self.reason: FinishReason = reason
        self.raw_reason = raw_reason
        self.error = error


Delta = TextDelta | ReasoningDelta | ToolArgumentsDelta
DELTAS = (TextDelta, ReasoningDelta, ToolArgumentsDelta)
"""For `isinstance`, which takes longer for a union; it is asked at each chunk."""
Chunk = BlockStart | Delta | BlockEnd | UsageReport | Finish
