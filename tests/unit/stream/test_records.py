"""Compact records of a stream: the seed's "compact Assistant stream records"."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.message_values import TEXTS, responses

from unspool.errors import CallCancelledError, ConfigError, ProviderError, WireError
from unspool.messages import Image, Message, ProviderPart, Replay, Usage
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
from unspool.stream.records import MAX_RUN, Record, RecordWriter, TimedChunk, expand_records

TIMES = st.one_of(
    st.integers(-(2**53), 2**53),
    st.integers(0, 10**6),
    st.floats(0, 1e6).filter(lambda time: time == 0 or time > 1e-9),
    st.floats(-(2.0**53), 2.0**53).filter(lambda time: time == 0 or abs(time) > 1e-9),
    st.integers(0, 10**8).map(lambda tenths: tenths / 10),
)


def written(timed: list[TimedChunk]) -> list[Record]:
    writer = RecordWriter()
    records: list[Record] = []
    for chunk, at in timed:
        records += writer.feed(chunk, at)
    return records + writer.finish()


def told(timed: list[TimedChunk]) -> list[Any]:
    """What can be compared: errors are equal in their class and wire form."""
    return [(chunk.to_wire(), type(chunk.error) if isinstance(chunk, Finish) else None, at) for chunk, at in timed]


def stored(records: list[Record]) -> list[Record]:
    return json.loads(json.dumps(records))


STREAM: list[TimedChunk] = [
    (BlockStart(0, "reasoning"), 100),
    (ReasoningDelta(0, "be"), 110),
    (ReasoningDelta(0, "cause"), 125),
    (BlockEnd(0, replay=Replay("anthropic", {"signature": "x"})), 126),
    (BlockStart(1, "text"), 126),
    (TextDelta(1, "Hel"), 130.5),
    (TextDelta(1, ""), 130.75),
    (TextDelta(1, "lo"), 129),
    (BlockEnd(1), 131),
    (UsageReport(Usage(1, 2)), 132),
    (Finish("stop", "end_turn"), 132),
]


def test_form() -> None:
    """This is stored: it must not change unnoticed. As zigzag, 15 is 30; 25 and -175 hundredths are 50 and 349."""
    assert stored(written(STREAM)) == [
        {"type": "chunk", "at": 100, "chunk": {"type": "block-start", "index": 0, "kind": "reasoning"}},
        {"type": "run", "of": "reasoning-delta", "index": 0, "at": 110, "text": "because", "cuts": "CF", "times": "e"},
        {
            "type": "chunk",
            "at": 126,
            "chunk": {
                "type": "block-end",
                "index": 0,
                "replay": {"type": "replay", "adapter": "anthropic", "data": {"signature": "x"}},
            },
        },
        {"type": "chunk", "at": 126, "chunk": {"type": "block-start", "index": 1, "kind": "text"}},
        {
            "type": "run",
            "of": "text-delta",
            "index": 1,
            "at": 130.5,
            "decimals": 2,
            "text": "Hello",
            "cuts": "DAC",
            "times": "yB9K",
        },
        {"type": "chunk", "at": 131, "chunk": {"type": "block-end", "index": 1}},
        {
            "type": "chunk",
            "at": 132,
            "chunk": {"type": "usage", "usage": {"type": "usage", "inputTokens": 1, "outputTokens": 2}},
        },
        {"type": "chunk", "at": 132, "chunk": {"type": "finish", "reason": "stop", "rawReason": "end_turn"}},
    ]


@st.composite
def timed_responses(draw: st.DrawFn) -> list[TimedChunk]:
    chunks = draw(responses(whole=draw(st.booleans())))
    return [(chunk, draw(TIMES)) for chunk in chunks]


@given(timed_responses())
def test_expansion_gives_the_stream(timed: list[TimedChunk]) -> None:
    """Chunks, token boundaries and times, exactly."""
    timed = [(_joined(chunk), at) for chunk, at in timed]
    records = written(timed)
    assert told(list(expand_records(records))) == told(timed)


@given(timed_responses())
def test_expansion_after_json(timed: list[TimedChunk]) -> None:
    """Also of halves of surrogate pairs that stand in two deltas; those within one are one character after JSON."""
    timed = [(_joined(chunk), at) for chunk, at in timed]
    assert told(list(expand_records(stored(written(timed))))) == told(timed)


def _joined(chunk: Chunk) -> Chunk:
    if isinstance(chunk, TextDelta | ReasoningDelta | ToolArgumentsDelta):
        return type(chunk)(chunk.index, json.loads(json.dumps(chunk.text)))
    return chunk


def test_halves_of_surrogate_pairs() -> None:
    """Servers that write JSON in ASCII may cut an emoji in two (`ResponseMachine` puts it together again)."""
    texts = ["a\ud83d", "", "\ude00b", "\ud83d\ude00", "\ud83d", "\ud83d", "x", "\ude00"]
    timed: list[TimedChunk] = [(BlockStart(0, "text"), 0), *((TextDelta(0, text), 1) for text in texts)]
    (_, *expanded) = expand_records(stored(written(timed)))
    assert [chunk.text for chunk, _ in expanded if isinstance(chunk, TextDelta)] == [*texts[:3], "😀", *texts[4:]]


@given(timed_responses(), st.data())
def test_records_do_not_depend_on_when_they_are_asked_for(timed: list[TimedChunk], data: st.DataObject) -> None:
    """A writer that is asked for the rest in between starts new runs, and loses nothing."""
    timed = [(_joined(chunk), at) for chunk, at in timed]
    writer = RecordWriter()
    records: list[Record] = []
    for chunk, at in timed:
        records += writer.feed(chunk, at)
        if data.draw(st.booleans()):
            records += writer.finish()
    records += writer.finish()
    assert told(list(expand_records(records))) == told(timed)


@given(st.lists(TIMES, min_size=1))
@example([0.1, 0.2, 0.30000000000000004])
@example([1764533620123.4567, 1764533620123.4568, 1764533620143.001])
@example([5.0, 5, 5.5])
@example([1e-7, 2.5e-7, 1e15])
@example([2**53, -(2**53), 0])
@example([3, 2, 1])
@example([-0.0, 0.0])
def test_times_are_exact(times: list[float]) -> None:
    timed: list[TimedChunk] = [(BlockStart(0, "text"), 0), *((TextDelta(0, "x"), at) for at in times)]
    (_, *expanded) = expand_records(stored(written(timed)))
    assert [at for _, at in expanded] == times
    assert all(isinstance(at, int) == (at == int(at)) for _, at in expanded)


def test_runs_are_of_one_block_and_one_type() -> None:
    timed: list[TimedChunk] = [
        (BlockStart(0, "tool_call", "a", "f"), 1),
        (BlockStart(1, "tool_call", "b", "g"), 1),
        (ToolArgumentsDelta(0, "{"), 2),
        (ToolArgumentsDelta(0, "}"), 3),
        (ToolArgumentsDelta(1, "{"), 4),
        (ToolArgumentsDelta(0, " "), 5),
    ]
    assert [(run["index"], run["text"], run["at"]) for run in written(timed)[2:]] == [
        (0, "{}", 2),
        (1, "{", 4),
        (0, " ", 5),
    ]


def test_runs_are_bounded() -> None:
    """What a writer holds does not grow with the stream."""
    count = 2 * MAX_RUN + 1
    timed: list[TimedChunk] = [(BlockStart(0, "text"), 0), *((TextDelta(0, "ab"), at) for at in range(count))]
    records = written(timed)
    assert [len(run["cuts"]) for run in records[1:]] == [MAX_RUN, MAX_RUN, 1]
    assert told(list(expand_records(records))) == told(timed)


def test_records_cannot_be_changed_and_hold_nothing_of_the_caller() -> None:
    metadata: dict[str, Any] = {"k": [1]}
    writer = RecordWriter()
    [record] = writer.feed(Finish("stop", metadata=metadata), 1)
    metadata["k"].append(2)
    assert record["chunk"]["metadata"] == {"k": [1]}
    with pytest.raises(TypeError):
        record["at"] = 5  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


def test_errors_keep_their_class_and_not_the_message_so_far() -> None:
    """That is what the records tell anyway."""
    error = ProviderError("RATE_LIMIT", "slow", retryable=True, retry_after_s=2.5, status=429, request_id="r")
    error.partial = Message("assistant", "x" * 1000)
    error.text = "x"
    records = written([(Finish("error", "busy", error), 1)])
    assert len(json.dumps(records)) < 250
    [(finish, _)] = expand_records(stored(records))
    assert isinstance(finish, Finish)
    again = finish.error
    assert isinstance(again, ProviderError)
    assert (again.code, again.message, again.retryable, again.retry_after_s, again.status, again.request_id) == (
        "RATE_LIMIT",
        "slow",
        True,
        2.5,
        429,
        "r",
    )
    assert (again.partial, again.raw, str(again)) == (None, None, "RATE_LIMIT: slow")
    [(finish, _)] = expand_records(written([(Finish("aborted", error=CallCancelledError("why")), 1)]))
    assert isinstance(finish, Finish)
    assert isinstance(finish.error, CallCancelledError)
    assert finish.error.message == "why"


@pytest.mark.parametrize(
    "at",
    [float("nan"), float("inf"), -float("inf"), 2**53 + 1, 1e300, 1e-40, True, None, "5", 10**400, 1 + 2j],
    ids=str,
)
def test_wrong_times_change_nothing(at: Any) -> None:
    writer = RecordWriter()
    writer.feed(BlockStart(0, "text"), 0)
    for chunk in (TextDelta(0, "a"), BlockEnd(0), Finish("stop")):
        with pytest.raises(ConfigError) as caught:
            writer.feed(chunk, at)
        assert caught.value.code == "INVALID_OPTIONS"
    writer.feed(TextDelta(0, "b"), 1)
    assert [record["text"] for record in writer.finish()] == ["b"]


def test_chunks_out_of_order_are_refused() -> None:
    """What is written can be read."""
    writer = RecordWriter()
    with pytest.raises(WireError) as caught:
        writer.feed(TextDelta(0, "a"), 0)
    assert caught.value.code == "PROTOCOL"
    writer.feed(Finish("stop"), 1)
    with pytest.raises(WireError):
        writer.feed(UsageReport(Usage()), 2)
    assert writer.finish() == []


def test_chunk_without_json_form_is_refused() -> None:
    writer = RecordWriter()
    with pytest.raises(ConfigError):
        writer.feed(Finish("stop", metadata={"k": b"x"}), 1)
    assert len(writer.feed(Finish("stop"), 1)) == 1


GOOD = stored(written(STREAM))


@pytest.mark.parametrize(
    ("place", "change", "says"),
    [
        (1, {"of": "text"}, "records[1].of"),
        (1, {"of": ["text-delta"]}, "records[1].of"),
        (1, {"of": "text-delta"}, "out of order"),
        (1, {"index": 1}, "out of order"),
        (1, {"index": "0"}, "records[1].index"),
        (1, {"index": True}, "records[1].index"),
        (1, {"index": 2**60}, "records[1].index"),
        (1, {"at": "110"}, "records[1].at"),
        (1, {"at": float("nan")}, "records[1].at"),
        (1, {"at": 1.5}, "records[1].at"),
        (1, {"at": 2**60}, "records[1].at"),
        (1, {"at": None}, "records[1].at"),
        (1, {"decimals": -1}, "records[1].decimals"),
        (1, {"decimals": 33}, "records[1].decimals"),
        (1, {"decimals": 1.0}, "records[1].decimals"),
        (1, {"text": "becaus"}, "records[1].cuts"),
        (1, {"text": "because!"}, "records[1].cuts"),
        (1, {"text": None}, "records[1].text"),
        (1, {"cuts": "C"}, "records[1].cuts"),
        (1, {"cuts": "CFA"}, "records[1].times"),
        (1, {"cuts": "C!"}, "records[1].cuts"),
        (1, {"cuts": ""}, "records[1].cuts"),
        (1, {"cuts": [2, 5]}, "records[1].cuts"),
        (1, {"times": ""}, "records[1].times"),
        (1, {"times": "ee"}, "records[1].times"),
        (1, {"times": "g"}, "records[1].times"),
        (1, {"times": None}, "records[1].times"),
        (1, {"times": "g" * 11 + "B"}, "records[1].times"),
        (1, {"extra": 1}, "records[1] is"),
        (1, {"type": "chunk"}, "records[1] is"),
        (1, {"type": ["run"]}, "records[1] is"),
        (0, {"chunk": {"type": "text-delta", "index": 0, "text": "x"}}, "records[0].chunk.type"),
        (0, {"chunk": {"type": "nonsense", "index": 0}}, "records[0].chunk.type"),
        (0, {"chunk": "block-start"}, "records[0].chunk"),
        (0, {"chunk": {"type": "block-start", "index": 0}}, "records[0].chunk.kind"),
        (0, {"at": False}, "records[0].at"),
        (0, {"text": ""}, "records[0] is"),
        (9, {"chunk": {"type": "finish", "reason": "error"}}, "out of order"),
    ],
    ids=str,
)
def test_malformed_records_are_refused(place: int, change: dict[str, Any], says: str) -> None:
    records: list[Any] = copy.deepcopy(GOOD)
    if place == 9:
        records.append({"type": "chunk", "at": 1, **change})
    else:
        records[place] |= change
    with pytest.raises(WireError) as caught:
        list(expand_records(records))
    assert caught.value.code == "PROTOCOL"
    assert says in caught.value.message


@pytest.mark.parametrize("record", [None, 5, "run", [], {}, {"type": "run"}, {"type": "chunk", "at": 1}])
def test_what_is_no_record(record: Any) -> None:
    with pytest.raises(WireError) as caught:
        list(expand_records([record]))
    assert caught.value.code == "PROTOCOL"


def test_records_of_half_a_stream() -> None:
    """A program that was stopped leaves such a list."""
    for end in range(len(GOOD)):
        assert told(list(expand_records(GOOD[:end]))) == told(STREAM)[: sum(1 for _ in expand_records(GOOD[:end]))]


def test_a_missing_record_is_noticed() -> None:
    for place in (0, 2, 3, 5):
        with pytest.raises(WireError):
            list(expand_records(GOOD[:place] + GOOD[place + 1 :]))


def test_work_is_bounded() -> None:
    """A megabyte of cuts would be a hundred megabytes of chunks."""
    bomb: list[Any] = copy.deepcopy(GOOD)
    bomb[1] |= {"cuts": "A" * 100_000, "times": "A" * 99_999, "text": ""}
    with pytest.raises(WireError) as caught:
        list(expand_records(bomb, max_chunks=50_000))
    assert caught.value.code == "BODY_TOO_LARGE"
    assert sum(1 for _ in expand_records(bomb[:2])) == 100_001
    for member in ("cuts", "times"):  # no more is unpacked than tells that it is too much
        bomb[1] |= {"cuts": "A", "times": "A", member: "A" * 100_000 + "!"}
        with pytest.raises(WireError) as caught:
            list(expand_records(bomb, max_chunks=50_000))
        assert caught.value.code == ("BODY_TOO_LARGE" if member == "cuts" else "PROTOCOL")
    bomb[1] |= {"cuts": "A" * 100_000, "times": "A" * 99_999}
    with pytest.raises(WireError) as caught:
        list(expand_records(GOOD, max_chunks=len(STREAM) - 1))
    assert caught.value.code == "BODY_TOO_LARGE"
    assert sum(1 for _ in expand_records(GOOD, max_chunks=len(STREAM))) == len(STREAM)


@given(timed_responses(), st.data())
def test_anything_is_read_or_refused_with_a_code(timed: list[TimedChunk], data: st.DataObject) -> None:
    records: list[Any] = stored(written(timed))
    for record in records:
        name = data.draw(st.sampled_from(sorted(record)))
        if data.draw(st.booleans()):
            other = [None, 0, -1, 7, 2.5, "", "A", "gB", "text-delta", [], {}, {"type": "finish", "reason": "stop"}]
            record[name] = data.draw(st.sampled_from(other) | TEXTS)
    try:
        list(expand_records(records))
    except WireError as error:
        assert error.code in ("PROTOCOL", "BODY_TOO_LARGE")


def test_size() -> None:
    """The promise to whoever stores them: under 6 bytes a token beyond the text."""
    tokens = ["The", " quick", " brown", " fox", " jumps"] * 400
    times = [1_000.0 + 17.3 * number for number in range(len(tokens))]
    timed: list[TimedChunk] = [(BlockStart(0, "text"), 1_000.0)]
    timed += [(TextDelta(0, token), round(at, 1)) for token, at in zip(tokens, times, strict=True)]
    size = len(json.dumps(written(timed), separators=(",", ":")))
    assert size - len("".join(tokens)) < 6 * len(tokens)
    assert all(after > before for before, after in pairwise(times))


def test_whole_parts_travel() -> None:
    part = ProviderPart("web_search", Replay("anthropic", {"results": [{"url": "x"}]}))
    image = Image(b"\x89PNG\r\n\x1a\n")
    timed: list[TimedChunk] = [
        (BlockStart(0, "web_search"), 1),
        (BlockEnd(0, part=part), 2),
        (BlockStart(1, "image"), 3),
        (BlockEnd(1, part=image), 4),
    ]
    expanded = list(expand_records(stored(written(timed))))
    assert told(expanded) == told(timed)
    assert [chunk.part for chunk, _ in expanded if isinstance(chunk, BlockEnd)] == [part, image]
