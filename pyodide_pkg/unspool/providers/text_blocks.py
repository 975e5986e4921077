"""TextBlocks: the numbers of an answer's blocks, and those of its blocks that follow each other. No IO, no clock."""

from __future__ import annotations

from typing import Literal

from unspool.messages import Part, Replay
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta

TextKind = Literal["text", "reasoning", "refusal"]


class TextBlocks:
    """Pieces of one kind that follow each other are one block."""

    __slots__ = ("_index", "_kind", "_next")

    def __init__(self) -> None:
        self._kind: TextKind | None = None  # of the open block, which is `_index`
        self._index = 0
        self._next = 0

    def __len__(self) -> int:
        return self._next

    def number(self) -> int:
        """Give the number of a new block, of whatever kind."""
        self._next += 1
        return self._next - 1

    def add(self, kind: TextKind, text: str, out: list[Chunk]) -> None:
        """Go on with the open block, or begin one; an empty text begins one, too."""
        if self._kind != kind:
            self.close(out)
            self._kind = kind
            self._index = self.number()
            out.append(BlockStart(self._index, kind))
        if text:
            out.append(ReasoningDelta(self._index, text) if kind == "reasoning" else TextDelta(self._index, text))

    def add_whole(self, kind: str, part: Part, out: list[Chunk]) -> None:
        """End the open block, and give one that comes whole: a picture, or a part of the provider's own."""
        self.close(out)
        index = self.number()
        out += (BlockStart(index, kind), BlockEnd(index, part=part))

    def close(self, out: list[Chunk], replay: Replay | None = None) -> None:
        """End the open block, if there is one."""
        if self._kind is not None:
            self._kind = None
            out.append(BlockEnd(self._index, replay=replay))
