from __future__ import annotations

import pytest

from unspool.errors import CallCancelledError, WireError
from unspool.messages import (
    Image,
    Message,
    Origin,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    Usage,
)
from unspool.stream.assembler import BlockAssembler
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    UsageReport,
)

CHUNKS: list[Chunk] = [
    BlockStart(0, "reasoning"),
    ReasoningDelta(0, "because"),
    BlockEnd(0),
    BlockStart(1, "text"),
    TextDelta(1, "Hel"),
    TextDelta(1, "lo"),
    BlockEnd(1),
    BlockStart(2, "tool_call", "a", "f"),
    BlockStart(3, "tool_call", "b", "g"),
    ToolArgumentsDelta(3, "{"),
    ToolArgumentsDelta(2, '{"x":1}'),
    ToolArgumentsDelta(3, "}"),
    BlockEnd(2),
    BlockEnd(3),
    BlockStart(4, "refusal"),
    TextDelta(4, "no"),
    BlockEnd(4),
    UsageReport(Usage(1, 2, 3)),
    Finish("tool_calls", "tool_use"),
]


def fed(chunks: list[Chunk]) -> BlockAssembler:
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler


def test_whole_message() -> None:
    assert fed(CHUNKS).message() == Message(
        "assistant",
        [
            ReasoningPart("because"),
            TextPart("Hello"),
            ToolCall("a", "f", '{"x":1}'),
            ToolCall("b", "g", "{}"),
            RefusalPart("no"),
        ],
        finish_reason="tool_calls",
        raw_finish_reason="tool_use",
        usage=Usage(1, 2, 3),
    )


def test_message_at_any_time() -> None:
    """Asking does not disturb; before the end there is no finish reason."""
    assembler = BlockAssembler()
    texts = [assembler.message().text]
    for chunk in CHUNKS:
        assembler.feed(chunk)
        message = assembler.message()
        assert (message.finish_reason is None) == (not isinstance(chunk, Finish))
        texts.append(message.text)
    assert assembler.message() == fed(CHUNKS).message()
    assert texts[3:8] == ["", "", "Hel", "Hello", "Hello"]


def test_open_call_is_truncated_until_it_ends() -> None:
    """F37."""
    assembler = fed(CHUNKS[:13])  # the first call has ended, the second has not
    assert [(call.arguments, call.truncated) for call in assembler.message().tool_calls] == [
        ('{"x":1}', False),
        ("{}", True),
    ]


@pytest.mark.parametrize(
    "finish",
    [
        Finish("length"),
        Finish("content_filter"),
        Finish("error", error=WireError("PROTOCOL", "x")),
        Finish("aborted", error=CallCancelledError()),
    ],
    ids=lambda finish: finish.reason,
)
def test_calls_of_a_cut_response_are_truncated(finish: Finish) -> None:
    """F37: which call the cut hit is not known for sure."""
    message = fed([*CHUNKS[:-1], finish]).message()
    assert [call.truncated for call in message.tool_calls] == [True, True]


def test_error_gets_the_message_so_far() -> None:
    error = WireError("PROTOCOL", "x")
    assembler = fed([*CHUNKS[:5], BlockEnd(1), Finish("error", "oops", error)])
    assert error.partial == assembler.message()
    assert error.partial is not None
    assert (error.partial.text, error.partial.finish_reason, error.partial.raw_finish_reason) == (
        "Hel",
        "error",
        "oops",
    )


def test_what_the_error_already_holds_is_kept() -> None:
    before = Message("assistant", "before")
    error = WireError("PROTOCOL", "x")
    error.partial = before
    fed([Finish("error", error=error)])
    assert error.partial is before


def test_empty_texts_are_left_out_and_empty_calls_are_not() -> None:
    chunks: list[Chunk] = [
        BlockStart(0, "text"),
        BlockEnd(0),
        BlockStart(1, "reasoning"),
        BlockEnd(1),
        BlockStart(2, "tool_call"),
        BlockEnd(2),
        Finish("stop"),
    ]
    assert fed(chunks).message().parts == (ToolCall("", "", ""),)


@pytest.mark.parametrize("chunk", [TextDelta(0, "a"), BlockEnd(0)], ids=lambda chunk: chunk.type)
def test_chunk_of_no_block(chunk: Chunk) -> None:
    assembler = BlockAssembler()
    with pytest.raises(WireError, match="not open") as caught:
        assembler.feed(chunk)
    assert caught.value.code == "PROTOCOL"
    assert assembler.message().parts == ()


SIGNED = Replay("anthropic", {"signature": "x"})
SEARCH = ProviderPart("web_search", Replay("anthropic", {"results": []}))
PICTURE = Image("https://example.org/a.png")


def test_replay_state_and_whole_parts_stand_in_their_places() -> None:
    """F31: what a provider wants back is kept with the block that it belongs to, also where that has no text."""
    hidden = ReasoningPart("", redacted=True, replay=SIGNED)
    message = fed(
        [
            BlockStart(0, "reasoning"),
            ReasoningDelta(0, "hm"),
            BlockEnd(0, replay=SIGNED),
            BlockStart(1, "reasoning"),
            BlockEnd(1, part=hidden),
            BlockStart(2, "reasoning"),
            BlockEnd(2, replay=SIGNED),
            BlockStart(3, "web_search", "s"),
            BlockEnd(3, part=SEARCH),
            BlockStart(4, "image"),
            BlockEnd(4, part=PICTURE),
            BlockStart(5, "text"),
            BlockEnd(5, replay=SIGNED),
            BlockStart(6, "tool_call", "a", "f"),
            BlockEnd(6, replay=SIGNED),
            Finish("tool_calls", origin=Origin("anthropic", "m", "r"), metadata={"k": 1}),
        ]
    ).message()
    assert message == Message(
        "assistant",
        [
            ReasoningPart("hm", replay=SIGNED),
            hidden,
            ReasoningPart("", replay=SIGNED),
            SEARCH,
            PICTURE,
            TextPart("", replay=SIGNED),
            ToolCall("a", "f", "", replay=SIGNED),
        ],
        finish_reason="tool_calls",
        origin=Origin("anthropic", "m", "r"),
        metadata={"k": 1},
    )


def test_blocks_so_far() -> None:
    assembler = BlockAssembler()
    for chunk in CHUNKS:
        assembler.feed(chunk)
        assert assembler.blocks() == assembler.message().parts


@pytest.mark.parametrize("kind", ["web_search", "image", "file", "x"])
def test_block_without_partial_form_must_end(kind: str) -> None:
    """The seed: a plugin block that is never closed makes `blocks()` fail; the rest of the message is still there."""
    assembler = fed([BlockStart(0, "text"), TextDelta(0, "a"), BlockStart(1, kind)])
    with pytest.raises(WireError, match=kind) as caught:
        assembler.blocks()
    assert caught.value.code == "PROTOCOL"
    assert assembler.message().parts == (TextPart("a"),)
    assembler.feed(BlockEnd(1, part=SEARCH))
    assert assembler.blocks() == (TextPart("a"), SEARCH)


def test_block_that_was_cut_before_it_had_a_part() -> None:
    """`ResponseMachine` ends every block of a response that breaks."""
    assembler = fed([BlockStart(0, "image"), BlockEnd(0), Finish("error", error=WireError("PROTOCOL", "x"))])
    assert assembler.blocks() == ()
