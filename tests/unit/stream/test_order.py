from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import CallCancelledError, WireError
from unspool.messages import File, Image, ProviderPart, ReasoningPart, Replay, TextPart, ToolCall, Usage
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
from unspool.stream.order import ChunkOrder, check_order

USAGE = UsageReport(Usage(1, 2))
STOP = Finish("stop")
REPLAY = Replay("anthropic", {})
HIDDEN = ReasoningPart("", redacted=True, replay=REPLAY)
PICTURE = Image("https://example.org/a.png")
SEARCH = ProviderPart("web_search", REPLAY)
CALL = ToolCall("a", "f", "{}")


@pytest.mark.parametrize(
    "chunks",
    [
        [STOP],
        [USAGE, STOP],
        [Finish("error", error=WireError("PROTOCOL", "x"))],
        [Finish("aborted", error=CallCancelledError())],
        [BlockStart(0, "text"), TextDelta(0, "a"), BlockEnd(0), USAGE, STOP],
        [BlockStart(0, "refusal"), TextDelta(0, "a"), BlockEnd(0), STOP],
        [BlockStart(0, "reasoning"), ReasoningDelta(0, "a"), BlockEnd(0), STOP],
        [
            BlockStart(5, "tool_call"),
            BlockStart(2, "tool_call"),
            ToolArgumentsDelta(5, "a"),
            ToolArgumentsDelta(2, "a"),
            BlockEnd(5),
            ToolArgumentsDelta(2, "b"),
            BlockEnd(2),
            STOP,
        ],
        [BlockStart(0, "reasoning"), BlockEnd(0, part=HIDDEN), STOP],
        [BlockStart(0, "image"), BlockEnd(0, part=PICTURE), STOP],
        [BlockStart(0, "image"), BlockEnd(0), STOP],
        [BlockStart(0, "file"), BlockEnd(0, part=File("a")), STOP],
        [BlockStart(0, "web_search"), BlockEnd(0, part=SEARCH), STOP],
        [BlockStart(0, "web_search"), BlockEnd(0, part=TextPart("a")), STOP],
        [BlockStart(0, "tool_call"), BlockEnd(0, replay=REPLAY), STOP],
    ],
    ids=str,
)
def test_in_order(chunks: list[Chunk]) -> None:
    check_order(chunks)


@pytest.mark.parametrize(
    ("chunks", "says"),
    [
        ([], "terminal chunk is missing"),
        ([BlockStart(0, "text"), BlockEnd(0), USAGE], "terminal chunk is missing"),
        ([STOP, STOP], "finish after finish"),
        ([STOP, USAGE], "usage after finish"),
        ([STOP, BlockStart(0, "text")], "block-start after finish"),
        ([USAGE, USAGE, STOP], "usage after usage"),
        ([USAGE, BlockStart(0, "text")], "block-start after usage"),
        ([BlockStart(0, "text"), STOP], "open"),
        ([BlockStart(0, "text"), USAGE], "open"),
        ([BlockStart(0, "text"), BlockStart(0, "text")], "begins twice"),
        ([BlockStart(0, "text"), BlockEnd(0), BlockStart(0, "text")], "begins twice"),
        ([BlockEnd(0)], "not open"),
        ([BlockStart(0, "text"), BlockEnd(0), BlockEnd(0)], "not open"),
        ([TextDelta(0, "a")], "not open"),
        ([BlockStart(0, "text"), BlockEnd(0), TextDelta(0, "a")], "not open"),
        ([BlockStart(0, "text"), TextDelta(1, "a")], "not open"),
        ([BlockStart(0, "reasoning"), TextDelta(0, "a")], "reasoning"),
        ([BlockStart(0, "text"), ReasoningDelta(0, "a")], "text"),
        ([BlockStart(0, "text"), ToolArgumentsDelta(0, "a")], "text"),
        ([BlockStart(0, "web_search"), TextDelta(0, "a")], "web_search"),
        ([BlockStart(0, "image"), TextDelta(0, "a")], "image"),
        ([BlockStart(0, "text"), BlockEnd(0, part=TextPart("a"))], "part of type 'text'"),
        ([BlockStart(0, "refusal"), BlockEnd(0, part=TextPart("a"))], "part of type 'text'"),
        ([BlockStart(0, "reasoning"), BlockEnd(0, part=TextPart("a"))], "part of type 'text'"),
        ([BlockStart(0, "image"), BlockEnd(0, part=File("a"))], "part of type 'file'"),
        # Arguments of tool calls are checked as they stream, so a call never comes whole.
        ([BlockStart(0, "tool_call"), BlockEnd(0, part=CALL)], "part of type 'toolCall'"),
        ([BlockStart(0, "web_search"), BlockEnd(0, part=CALL)], "part of type 'toolCall'"),
        ([Finish("error")], "error"),
        ([Finish("aborted")], "aborted"),
        ([Finish("stop", error=WireError("PROTOCOL", "x"))], "stop"),
    ],
)
def test_out_of_order(chunks: list[Chunk], says: str) -> None:
    with pytest.raises(WireError, match=says) as caught:
        check_order(chunks)
    assert caught.value.code == "PROTOCOL"


def test_a_refused_chunk_changes_nothing() -> None:
    order = ChunkOrder()
    order.accept(BlockStart(0, "text"))
    for chunk in (STOP, USAGE, BlockEnd(1), BlockStart(0, "text")):
        with pytest.raises(WireError):
            order.accept(chunk)
    assert (order.open, order.blocks, order.reported, order.finished) == ({0: "text"}, 1, False, False)
    order.accept(BlockEnd(0))
    order.accept(STOP)
    assert order.finished


_NOT: Any = object()  # no value of any member


@pytest.mark.parametrize(
    ("before", "chunk", "member"),
    [
        ([], BlockStart(_NOT, "text"), "index"),
        ([], BlockStart("0", "text"), "index"),  # type: ignore[arg-type]
        ([], BlockStart(0, _NOT), "kind"),
        ([], BlockStart(0, "tool_call", _NOT), "id"),
        ([], BlockStart(0, "tool_call", "a", _NOT), "name"),
        ([BlockStart(0, "text")], TextDelta(0, _NOT), "text"),
        ([BlockStart(0, "text")], TextDelta(0, b"a"), "text"),  # type: ignore[arg-type]
        ([BlockStart(0, "reasoning")], ReasoningDelta(0, _NOT), "text"),
        ([BlockStart(0, "tool_call")], ToolArgumentsDelta(0, {}), "text"),  # type: ignore[arg-type]
        ([BlockStart(0, "text")], BlockEnd(0, replay=_NOT), "replay"),
        ([BlockStart(0, "image")], BlockEnd(0, part=_NOT), "part"),
        ([], UsageReport(_NOT), "usage"),
        ([], Finish(_NOT), "reason"),
        ([], Finish("done"), "reason"),  # type: ignore[arg-type]
        ([], Finish("stop", _NOT), "raw_reason"),
        ([], Finish("error", error=_NOT), "error"),
        ([], Finish("error", error=ValueError()), "error"),  # type: ignore[arg-type]
        ([], Finish("stop", origin=_NOT), "origin"),
    ],
)
def test_members_of_a_wrong_type(before: list[Chunk], chunk: Chunk, member: str) -> None:
    """Middleware and functions make chunks of their own: what passes must be fit for a message."""
    order = ChunkOrder()
    for one in before:
        order.accept(one)
    state = (dict(order.open), order.blocks, order.reported, order.finished)
    with pytest.raises(WireError, match=member) as caught:
        order.accept(chunk)
    assert caught.value.code == "PROTOCOL"
    assert (order.open, order.blocks, order.reported, order.finished) == state
