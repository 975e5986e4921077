"""ChunkOrder: what may follow what in the chunks of one response. The machine keeps to it; tests check it with it."""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any, cast

from unspool.errors import UnspoolError, WireError
from unspool.messages import FINISH_REASONS, Origin, Usage
from unspool.messages.parts import ImmutablePart, Replay
from unspool.stream.chunks import (
    DELTAS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    UsageReport,
    not_a_chunk,
)

_MEMBERS: dict[type, dict[str, tuple[type, ...]]] = {
    BlockStart: {"index": (int,), "kind": (str,), "id": (str, NoneType), "name": (str, NoneType)},
    BlockEnd: {"index": (int,), "replay": (Replay, NoneType), "part": (ImmutablePart, NoneType)},
    UsageReport: {"usage": (Usage,)},
    Finish: {
        "reason": (str,),
        "raw_reason": (str, NoneType),
        "error": (UnspoolError, NoneType),
        "origin": (Origin, NoneType),
    },
}
"""What chunks hold. Applications make some as well, and a message must come of what has passed."""
_DELTA_KINDS: dict[type, tuple[str, ...]] = {
    TextDelta: ("text", "refusal"),
    ReasoningDelta: ("reasoning",),
    ToolArgumentsDelta: ("tool_call",),
}
_PART_TYPES: dict[str, tuple[str, ...]] = {
    "text": (),
    "reasoning": ("reasoning",),
    "refusal": (),
    "tool_call": (),
    "image": ("image",),
    "file": ("file",),
}
"""What a block's part may be, where its end brings one."""
_PROVIDER_PART_TYPES = ("provider", "image", "file", "text", "reasoning")
"""The same for the kinds of providers. No tool calls: their arguments come as deltas, and are checked."""


_CHUNKS = tuple(_MEMBERS)


class ChunkOrder:
    """Watches the chunks of one response go by."""

    __slots__ = ("_started", "finished", "open", "reported")

    def __init__(self) -> None:
        self.open: dict[int, str] = {}
        """Blocks that have begun and not ended, by index."""
        self.reported = False
        """Whether usage has been reported; no block may follow."""
        self.finished = False
        """Whether the terminal chunk has come; nothing may follow."""
        self._started: set[int] = set()

    @property
    def blocks(self) -> int:
        """How many blocks have begun."""
        return len(self._started)

    def accept(self, chunk: Chunk) -> None:
        """Let the next chunk pass.

        Args:
            chunk: the next one of the response.
        Raises:
            WireError: PROTOCOL when the chunk must not come here.
        After an error:
            Unchanged.
        """
        fault = self._fault(chunk)
        if fault is not None:
            raise WireError("PROTOCOL", f"Chunks out of order: {fault}.")

    def _fault(self, chunk: Chunk) -> str | None:
        if isinstance(chunk, DELTAS):
            kind = self.open.get(chunk.index)
            if kind is None or kind not in _DELTA_KINDS[type(chunk)]:
                return f"{chunk.type} for block {chunk.index}, which is {kind or 'not open'}"
            return None if isinstance(cast(Any, chunk.text), str) else f"{chunk.type} whose text is none"
        if not isinstance(cast(Any, chunk), _CHUNKS):
            raise not_a_chunk(chunk)
        if self.finished:
            return f"{chunk.type} after finish"
        member = _wrong_member(chunk)
        if member is not None:
            return f"{chunk.type} with a wrong {member}"
        if isinstance(chunk, Finish):
            if self.open:
                return f"finish while blocks {sorted(self.open)} are open"
            if (chunk.error is None) == (chunk.reason in ("error", "aborted")):
                return f"finish with reason {chunk.reason!r} and error {chunk.error!r}"
            self.finished = True
            return None
        if self.reported:
            return f"{chunk.type} after usage"
        if isinstance(chunk, BlockStart):
            if chunk.index in self._started:
                return f"block {chunk.index} begins twice"
            self._started.add(chunk.index)
            self.open[chunk.index] = chunk.kind
        elif isinstance(chunk, BlockEnd):
            if chunk.index not in self.open:
                return f"block {chunk.index} ends, but is not open"
            kind = self.open[chunk.index]
            if chunk.part is not None and chunk.part.type not in _PART_TYPES.get(kind, _PROVIDER_PART_TYPES):
                return f"block {chunk.index}, which is {kind}, ends with a part of type {chunk.part.type!r}"
            del self.open[chunk.index]
        else:
            if self.open:
                return f"usage while blocks {sorted(self.open)} are open"
            self.reported = True
        return None


def _wrong_member(chunk: Chunk) -> str | None:
    for kind, members in _MEMBERS.items():
        if isinstance(chunk, kind):
            wrong = (name for name, types in members.items() if not isinstance(getattr(chunk, name), types))
            return next(wrong, None) or ("reason" if getattr(chunk, "reason", "stop") not in FINISH_REASONS else None)
    return None


def check_order(chunks: Iterable[Chunk]) -> None:
    """Check the chunks of one whole response: well-formed blocks, usage before finish, exactly one finish, at the end.

    Args:
        chunks: all of them, in order.
    Raises:
        WireError: PROTOCOL, saying what is out of order or that the terminal chunk is missing.
    """
    order = ChunkOrder()
    for chunk in chunks:
        order.accept(chunk)
    if not order.finished:
        raise WireError("PROTOCOL", "Chunks out of order: the terminal chunk is missing.")
