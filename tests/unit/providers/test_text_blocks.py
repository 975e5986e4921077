"""Which pieces are one block."""

from __future__ import annotations

from unspool.messages import ProviderPart, Replay
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta


def test_pieces_of_one_kind_are_one_block() -> None:
    texts = TextBlocks()
    out: list[Chunk] = []
    texts.add("reasoning", "a", out)
    texts.add("reasoning", "b", out)
    texts.add("text", "c", out)
    texts.close(out)
    texts.close(out)
    texts.add("refusal", "d", out)
    assert out == [
        BlockStart(0, "reasoning"),
        ReasoningDelta(0, "a"),
        ReasoningDelta(0, "b"),
        BlockEnd(0),
        BlockStart(1, "text"),
        TextDelta(1, "c"),
        BlockEnd(1),
        BlockStart(2, "refusal"),
        TextDelta(2, "d"),
    ]


def test_empty_text_that_something_belongs_to() -> None:
    replay = Replay("a", {})
    out: list[Chunk] = []
    texts = TextBlocks()
    texts.add("text", "", out)
    texts.close(out, replay)
    assert out == [BlockStart(0, "text"), BlockEnd(0, replay=replay)]


def test_other_blocks_are_numbered_among_them() -> None:
    out: list[Chunk] = []
    texts = TextBlocks()
    assert (len(texts), texts.number()) == (0, 0)
    texts.add("text", "a", out)
    assert (texts.number(), len(texts)) == (2, 3)
    assert out[0] == BlockStart(1, "text")


def test_whole_blocks_end_what_is_open() -> None:
    part = ProviderPart("search", Replay("a", {"x": 1}))
    out: list[Chunk] = []
    texts = TextBlocks()
    texts.add("text", "a", out)
    texts.add_whole("search", part, out)
    texts.add("text", "b", out)
    assert out[2:5] == [BlockEnd(0), BlockStart(1, "search"), BlockEnd(1, part=part)]
    assert out[5:] == [BlockStart(2, "text"), TextDelta(2, "b")]
