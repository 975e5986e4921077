"""BlockAssembler: chunks in, the message so far out. No IO, no clock."""

from __future__ import annotations

from typing import Any, cast

from unspool.errors import WireError
from unspool.messages import (
    FinishReason,
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    Usage,
)
from unspool.stream.chunks import (
    DELTA_KINDS,
    DELTAS,
    BlockEnd,
    BlockStart,
    Chunk,
    Delta,
    Finish,
    UsageReport,
    not_a_chunk,
)

_CUT: tuple[FinishReason, ...] = ("length", "content_filter", "error", "aborted")


class _Block:
    __slots__ = ("id", "kind", "name", "open", "pieces", "replay", "whole")

    def __init__(self, start: BlockStart) -> None:
        self.kind: str = start.kind
        self.id = start.id
        self.name = start.name
        self.pieces: list[str] = []
        self.open = True
        self.replay: Replay | None = None
        self.whole: Part | None = None

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]  # so that asking again costs only what is new
        return self.pieces[0] if self.pieces else ""

    def end(self, end: BlockEnd) -> None:
        self.open = False
        self.replay = end.replay
        self.whole = end.part

    def part(self, cut: bool) -> Part | None:
        """Give the block as far as it has come; None when there is nothing to show or to send back."""
        if self.whole is not None:
            return self.whole
        text, replay = self.text, self.replay
        if self.kind == "tool_call":
            return ToolCall(self.id or "", self.name or "", text, truncated=cut or self.open, replay=replay)
        if not text and replay is None:
            return None
        match self.kind:
            case "text":
                return TextPart(text, replay=replay)
            case "reasoning":
                return ReasoningPart(text, replay=replay)
            case "refusal":
                return RefusalPart(text, replay=replay)
            case _:
                return None


class BlockAssembler:
    """Collects the chunks of one response. What it holds is bounded by whoever made the chunks (`ResponseMachine`)."""

    __slots__ = ("_blocks", "_finish", "_usage")

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._usage: Usage | None = None
        self._finish: Finish | None = None

    def feed(self, chunk: Chunk) -> None:
        """Take the next chunk. A `Finish` with an error has the message put into `error.partial`, if nothing is there.

        Args:
            chunk: the next one of the response.
        Raises:
            WireError: PROTOCOL when the chunk belongs to a block that has not begun.
        After an error:
            Unchanged.
        """
        if isinstance(chunk, DELTAS):
            self._block(chunk).pieces.append(chunk.text)
        elif isinstance(chunk, BlockEnd):
            self._block(chunk).end(chunk)
        elif isinstance(chunk, BlockStart):
            self._blocks[chunk.index] = _Block(chunk)
        elif isinstance(chunk, UsageReport):
            self._usage = chunk.usage
        elif not isinstance(cast(Any, chunk), Finish):
            raise not_a_chunk(chunk)
        else:
            self._finish = chunk
            if chunk.error is not None and chunk.error.partial is None:
                chunk.error.partial = self.message()

    def _block(self, chunk: BlockEnd | Delta) -> _Block:
        block = self._blocks.get(chunk.index)
        if block is None:
            raise WireError(
                "PROTOCOL", f"Chunks out of order: {chunk.type} for block {chunk.index}, which is not open."
            )
        return block

    def blocks(self) -> tuple[Part, ...]:
        """Give the blocks as far as they have come, as `message` does.

        Raises:
            WireError: PROTOCOL while a block is open that only its provider understands: it has no partial form.
        """
        for index, block in self._blocks.items():
            if block.open and block.kind not in DELTA_KINDS:
                raise WireError("PROTOCOL", f"The block {index} of kind {block.kind!r} has not ended.")
        return self.message().parts

    def message(self) -> Message:
        """Give the message as far as it has come.

        Returns:
            Parts in the order in which they began; empty texts that nothing must be sent back of, and blocks without a
            partial form that are open, are left out. Before the terminal chunk `finish_reason` is None. A tool call is
            `truncated` while its block is open, and for good when the response was cut: by the token limit, a content
            filter, an error or its caller.
        """
        finish = self._finish
        cut = finish is not None and finish.reason in _CUT
        parts = (block.part(cut) for block in self._blocks.values())
        return Message(
            "assistant",
            [part for part in parts if part is not None],
            finish_reason=finish.reason if finish else None,
            raw_finish_reason=finish.raw_reason if finish else None,
            usage=self._usage,
            origin=finish.origin if finish else None,
            metadata=finish.metadata if finish else None,
        )
