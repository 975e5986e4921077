"""BlockAssembler: chunks in, the message so far out. No IO, no clock."""

from __future__ import annotations

from unspool.errors import WireError
from unspool.messages import FinishReason, Message, Part, ReasoningPart, RefusalPart, TextPart, ToolCall, Usage
from unspool.stream.chunks import DELTAS, BlockEnd, BlockKind, BlockStart, Chunk, Delta, Finish, UsageReport

_CUT: tuple[FinishReason, ...] = ("length", "content_filter", "error", "aborted")


class _Block:
    __slots__ = ("id", "kind", "name", "open", "pieces")

    def __init__(self, start: BlockStart) -> None:
        self.kind: BlockKind = start.kind
        self.id = start.id
        self.name = start.name
        self.pieces: list[str] = []
        self.open = True

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]  # so that asking again costs only what is new
        return self.pieces[0] if self.pieces else ""

    def part(self, cut: bool) -> Part:
        match self.kind:
            case "text":
                return TextPart(self.text)
            case "reasoning":
                return ReasoningPart(self.text)
            case "refusal":
                return RefusalPart(self.text)
            case "tool_call":
                return ToolCall(self.id or "", self.name or "", self.text, truncated=cut or self.open)


class BlockAssembler:
    """Collects the chunks of one response. What it holds is bounded by whoever made the chunks (`ResponseMachine`)."""

    __slots__ = ("_blocks", "_finish", "_usage")

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._usage: Usage | None = None
        self._finish: Finish | None = None

    def feed(self, chunk: Chunk) -> None:
        """Take the next chunk. A `Finish` with an error has the message put into `error.partial`, if nothing is there.

        Raises:
            WireError: PROTOCOL when the chunk belongs to a block that has not begun.
        After an error:
            Unchanged.
        """
        if isinstance(chunk, DELTAS):
            self._block(chunk).pieces.append(chunk.text)
        elif isinstance(chunk, BlockEnd):
            self._block(chunk).open = False
        elif isinstance(chunk, BlockStart):
            self._blocks[chunk.index] = _Block(chunk)
        elif isinstance(chunk, UsageReport):
            self._usage = chunk.usage
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

    def message(self) -> Message:
        """Give the message as far as it has come.

        Returns:
            Parts in the order in which they began, empty texts left out. Before the terminal chunk `finish_reason` is
            None. A tool call is `truncated` while its block is open, and for good when the response was cut: by the
            token limit, a content filter, an error or its caller.
        """
        finish = self._finish
        cut = finish is not None and finish.reason in _CUT
        return Message(
            "assistant",
            [block.part(cut) for block in self._blocks.values() if block.kind == "tool_call" or block.text],
            finish_reason=finish.reason if finish else None,
            raw_finish_reason=finish.raw_reason if finish else None,
            usage=self._usage,
        )
