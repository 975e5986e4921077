"""Pieces that a function gives, as chunks."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.contracts import Request
from unspool.errors import ProviderError, WireError
from unspool.local.function import PieceDecoder, open_function
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    MessagePart,
    Origin,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
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
from unspool.stream.order import check_order


def decode(*pieces: Any) -> list[Chunk]:
    decoder = PieceDecoder()
    chunks: list[Chunk] = []
    for piece in pieces:
        chunks += decoder.decode(piece)
    chunks += decoder.finish() if not chunks or not isinstance(chunks[-1], Finish) else []
    check_order(chunks)
    return chunks


def chat(finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def test_texts_are_one_block() -> None:
    assert decode("a", "", "b") == [
        BlockStart(0, "text"),
        TextDelta(0, "a"),
        TextDelta(0, "b"),
        BlockEnd(0),
        Finish("stop"),
    ]


def test_nothing_is_an_empty_answer() -> None:
    assert decode() == [Finish("stop")]


def test_chat_chunks_are_decoded_as_from_a_server() -> None:
    chunks = decode(chat(reasoning_content="hm"), chat(content="a"), chat("length"), {"usage": {"prompt_tokens": 1}})
    assert ReasoningDelta(0, "hm") in chunks
    assert chunks[-1] == Finish("length", "length")
    assert isinstance(chunks[-2], UsageReport)


def test_chat_chunks_that_do_not_end_are_cut() -> None:
    """F6: a source of dicts says itself when it is over; texts are over when they end."""
    finish = decode(chat(content="a"))[-1]
    assert isinstance(finish, Finish)
    assert finish.error is not None
    assert finish.error.code == "STREAM_TRUNCATED"


def test_texts_and_dicts_go_together() -> None:
    assert decode("a", chat("stop", content="b"))[-1] == Finish("stop", "stop")


def test_a_whole_completion() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "abc"}, "finish_reason": "stop"}]}
    assert TextDelta(0, "abc") in decode(whole)


def test_chunks_pass_and_open_blocks_are_ended() -> None:
    pieces = [BlockStart(0, "tool_call", "c1", "f"), ToolArgumentsDelta(0, "{}")]
    chunks = decode(*pieces)
    assert chunks == [*pieces, BlockEnd(0), Finish("tool_calls")]
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    assert assembler.message().tool_calls == (ToolCall("c1", "f", "{}"),)


def test_usage_comes_before_the_end_and_the_own_finish_wins() -> None:
    usage = UsageReport(Usage(1))
    assert decode("a", usage, Finish("content_filter"))[-2:] == [usage, Finish("content_filter")]
    assert decode(usage, "a")[-2:] == [usage, Finish("stop")]
    assert decode(BlockStart(0, "text"), BlockEnd(0), usage, Finish("length"))[-2:] == [usage, Finish("length")]


def test_nothing_follows_the_finish() -> None:
    decoder = PieceDecoder()
    assert isinstance(decoder.decode(Finish("stop"))[-1], Finish)
    decoder = PieceDecoder()
    decoder.decode({"error": {"message": "x"}})
    assert decoder.finish() == []


@pytest.mark.parametrize("piece", [5, None, b"bytes", ["a"], object()])
def test_other_pieces_are_refused(piece: Any) -> None:
    with pytest.raises(WireError, match="PROTOCOL"):
        PieceDecoder().decode(piece)


@pytest.mark.parametrize("pieces", [("a", BlockStart(0, "text")), (BlockStart(0, "text"), "a"), (BlockEnd(0), {})])
def test_blocks_do_not_mix_with_texts(pieces: tuple[Any, ...]) -> None:
    decoder = PieceDecoder()
    decoder.decode(pieces[0])
    with pytest.raises(WireError, match="PROTOCOL"):
        decoder.decode(pieces[1])


def test_server_sent_events_are_chat_events() -> None:
    decoder = PieceDecoder()
    assert TextDelta(0, "a") in decoder.feed("message", '{"choices":[{"delta":{"content":"a"}}]}')
    assert isinstance(decoder.feed("message", "[DONE]")[-1], Finish)


async def test_opening_a_function() -> None:
    request = Request("m", [UserMessage("Hi")])
    assert await (await open_function(lambda r: r.messages[0].text, request)).read() == ["Hi"]
    with pytest.raises(ProviderError) as caught:
        await open_function(lambda _: 1 / 0, request)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


# Messages and parts

REPLAY = Replay("a", {"id": "x"})
ANSWERS = [
    AssistantMessage("Hi"),
    AssistantMessage([]),
    AssistantMessage(["a", "b"]),
    AssistantMessage(["I look. ", ToolCall("c", "f", '{"x": 1}'), ToolCall("d", "f", "")]),
    AssistantMessage([ReasoningPart("Hm.", replay=REPLAY), TextPart("a", replay=REPLAY), RefusalPart("no")]),
    AssistantMessage([ReasoningPart("", redacted=True, replay=REPLAY), Image(b"\x89PNG\r\n\x1a\n", replay=REPLAY)]),
    AssistantMessage([ProviderPart("web_search", REPLAY), ToolCall("c", "f", "{}", replay=REPLAY)]),
    Message(
        "assistant",
        "a",
        finish_reason="length",
        raw_finish_reason="MAX_TOKENS",
        usage=Usage(9, 12),
        origin=Origin("gemini", "m", "r"),
        metadata={"k": [1]},
    ),
    Message("assistant", [ToolCall("c", "f", '{"x', truncated=True)], finish_reason="length"),
]


def assembled(*pieces: Any) -> Message:
    assembler = BlockAssembler()
    for chunk in decode(*pieces):
        assembler.feed(chunk)
    return assembler.message()


@pytest.mark.parametrize("message", ANSWERS, ids=range(len(ANSWERS)))
def test_a_message_is_given_as_it_is(message: Message) -> None:
    """Whole, as its JSON form, and its parts one by one."""
    for given in (message, message.to_wire()):
        got = assembled(given)
        assert got.parts == message.parts
        assert got.finish_reason == message.finish_reason or ("tool_calls" if message.tool_calls else "stop")
        for name in ("raw_finish_reason", "usage", "origin", "metadata"):
            assert getattr(got, name) == getattr(message, name)
    assert assembled(*message.parts).parts == message.parts


def test_the_reason_follows_from_the_parts() -> None:
    call = ToolCall("c", "f", "{}")
    assert assembled("Let me ", "see.", call, Usage(1, 2)) == Message(
        "assistant", ["Let me see.", call], finish_reason="tool_calls", usage=Usage(1, 2)
    )
    assert assembled({"role": "assistant", "content": "x"}) == Message("assistant", "x", finish_reason="stop")
    cut = assembled(ToolCall("c", "f", '{"x', truncated=True))
    assert (cut.finish_reason, cut.tool_calls[0].truncated) == ("length", True)
    assert assembled(AssistantMessage("x"), Finish("content_filter")).finish_reason == "content_filter"
    assert assembled(call, chat("length", content="x")).finish_reason == "length"


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (UserMessage("x"), "a user message"),
        ({"role": "user", "content": "x"}, "a user message"),
        (Message("assistant", "x", finish_reason="error"), "raising an error"),
        (ToolResult("c", "x"), "ToolResult"),
        (AssistantMessage(ToolResult("c", "x")), "'toolResult'"),
        (AssistantMessage(MessagePart(UserMessage("x"))), "'message'"),
        (AssistantMessage(File("a.txt")), "'file'"),
        (3.5, "us.format_value"),
        (b"x", "us.ToolCall"),
    ],
)
def test_what_is_no_answer_says_what_is(piece: Any, words: str) -> None:
    with pytest.raises(WireError) as caught:
        PieceDecoder().decode(piece)
    assert words in caught.value.message


def test_a_dict_that_is_a_value_says_how_to_give_one() -> None:
    finish = decode({"name": "Lima"})[-1]
    assert isinstance(finish, Finish) and finish.error is not None
    assert "us.format_value" in finish.error.message and "name" in finish.error.message


@pytest.mark.parametrize("part", [TextPart("x"), ToolCall("c", "f", "{}")])
def test_parts_do_not_mix_with_chunks(part: Part) -> None:
    decoder = PieceDecoder()
    decoder.decode(BlockStart(0, "text"))
    with pytest.raises(WireError, match="PROTOCOL"):
        decoder.decode(part)
