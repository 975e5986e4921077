"""Questions to records: each answer is held against the same question put to the expanded stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.message_values import responses

from unspool.errors import WireError
from unspool.messages import Image, Usage
from unspool.stream import BlockAssembler, chunk_has_visible_text, is_token_delta, is_visible_chunk
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
from unspool.stream.record_readers import (
    assemble_records,
    chunks_of,
    first_token_time,
    first_visible_time,
    has_visible_content,
    has_visible_text,
    joined_text,
    last_chunk,
)
from unspool.stream.records import Record, RecordWriter, TimedChunk, expand_records

KINDS: list[type[Any]] = [
    BlockStart,
    TextDelta,
    ReasoningDelta,
    ToolArgumentsDelta,
    BlockEnd,
    UsageReport,
    Finish,
]
TEXTS = st.sampled_from(["", " ", "\n", "a", "bc", "é", "😀"])


def written(timed: list[TimedChunk]) -> list[Record]:
    writer = RecordWriter()
    records: list[Record] = []
    for chunk, at in timed:
        records += writer.feed(chunk, at)
    return json.loads(json.dumps(records + writer.finish()))


@st.composite
def timed_responses(draw: st.DrawFn) -> list[TimedChunk]:
    chunks = draw(responses(TEXTS, whole=draw(st.booleans())))
    return [(chunk, draw(st.integers(0, 9))) for chunk in chunks]


def assembled(chunks: list[Chunk]) -> BlockAssembler:
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler


def first(timed: list[TimedChunk], asked: Any) -> float | None:
    return next((at for chunk, at in timed if asked(chunk)), None)


@given(timed_responses())
def test_answers_are_those_of_the_expanded_stream(timed: list[TimedChunk]) -> None:
    records = written(timed)
    expanded = list(expand_records(records))
    assert first_token_time(records) == first(expanded, is_token_delta)
    assert first_visible_time(records) == first(expanded, is_visible_chunk)
    assert has_visible_content(records) == any(is_visible_chunk(chunk) for chunk, _ in expanded)
    assert has_visible_text(records) == any(chunk_has_visible_text(chunk) for chunk, _ in expanded)
    for kind in KINDS:
        those = [(chunk.to_wire(), at) for chunk, at in expanded if isinstance(chunk, kind)]
        assert [(chunk.to_wire(), at) for chunk, at in chunks_of(records, kind)] == those
        last: Any = last_chunk(records, kind)
        assert (last and (last[0].to_wire(), last[1])) == (those[-1] if those else None)


@given(timed_responses())
def test_assembly_gives_the_same_message(timed: list[TimedChunk]) -> None:
    """Blocks, usage, replay state, reasons, origin and metadata, from one delta for each run."""
    records = written(timed)
    ours, plain = assemble_records(records), assembled([chunk for chunk, _ in expand_records(records)])
    assert ours.message() == plain.message()
    for kind in ("text", "reasoning", "refusal"):
        assert joined_text(records, kind) == getattr(plain.message(), kind)
    try:
        blocks = plain.blocks()
    except WireError:
        with pytest.raises(WireError):
            ours.blocks()
    else:
        assert ours.blocks() == blocks


STREAM: list[TimedChunk] = [
    (BlockStart(0, "reasoning"), 1),
    (ReasoningDelta(0, ""), 2),
    (ReasoningDelta(0, "hm"), 3),
    (BlockEnd(0), 4),
    (BlockStart(1, "text"), 5),
    (TextDelta(1, ""), 6),
    (TextDelta(1, "  "), 7),
    (TextDelta(1, "Hi"), 8),
    (BlockEnd(1), 9),
    (UsageReport(Usage(1, 2)), 10),
    (Finish("stop"), 11),
]


def test_answers() -> None:
    records = written(STREAM)
    assert first_token_time(records) == 3
    assert first_visible_time(records) == 7
    assert has_visible_content(records)
    assert has_visible_text(records)
    assert last_chunk(records, Finish) == (Finish("stop"), 11)
    assert last_chunk(records, TextDelta) == (TextDelta(1, "Hi"), 8)
    assert last_chunk(records, ToolArgumentsDelta) is None
    assert list(chunks_of(records, TextDelta)) == [
        (TextDelta(1, ""), 6),
        (TextDelta(1, "  "), 7),
        (TextDelta(1, "Hi"), 8),
    ]
    assert (joined_text(records), joined_text(records, "reasoning"), joined_text(records, "refusal")) == (
        "  Hi",
        "hm",
        "",
    )
    assert assemble_records(records).message().usage == Usage(1, 2)


def test_nothing_to_see() -> None:
    for records in ([], written(STREAM[:4]), written([(Finish("stop"), 1)])):
        assert first_visible_time(records) is None
        assert not has_visible_content(records)
        assert not has_visible_text(records)
    assert first_token_time([]) is None
    white = written([*STREAM[:7]])
    assert has_visible_content(white)
    assert not has_visible_text(white)


@pytest.mark.parametrize(
    ("timed", "at"),
    [
        ([(BlockStart(0, "tool_call", "a", "f"), 5)], 5),
        ([(BlockStart(0, "image"), 5), (BlockEnd(0, part=Image("https://x.y/z")), 6)], 6),
    ],
)
def test_calls_and_pictures_are_seen(timed: list[TimedChunk], at: int) -> None:
    records = written(timed)
    assert first_visible_time(records) == at
    assert first_token_time(records) is None
    assert not has_visible_text(records)


def test_readers_stop_early() -> None:
    """What stands behind the answer is not looked at, nor what stands before the last chunk of a type."""
    records = written(STREAM)

    def until(place: int) -> Iterator[Any]:
        yield from records[:place]
        raise AssertionError("read too far")

    assert first_token_time(until(2)) == 3
    assert first_visible_time(until(5)) == 7
    assert has_visible_content(until(5))
    assert has_visible_text(until(5))
    assert next(chunks_of(until(5), TextDelta)) == (TextDelta(1, ""), 6)
    assert last_chunk([None, *records], Finish) == (Finish("stop"), 11)  # type: ignore[list-item]  # pyright: ignore


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"type": "run", "of": "text-delta", "index": 0, "at": 1, "text": "x", "cuts": 5},
        {"type": "run", "of": "text-delta", "index": 0, "at": "x", "text": "x", "cuts": "B"},
        {"type": "chunk", "at": 1, "chunk": {"type": "block-start", "index": 0}},
        {"type": "chunk", "at": "x", "chunk": {"type": "block-start", "index": 0, "kind": "tool_call"}},
    ],
    ids=str,
)
def test_malformed_records_have_a_code(record: Any) -> None:
    asked: list[Any] = [
        first_visible_time,
        lambda records: last_chunk(records, TextDelta) or last_chunk(records, BlockStart),
        lambda records: [*chunks_of(records, TextDelta), *chunks_of(records, BlockStart)],
    ]
    for ask in asked:
        with pytest.raises(WireError) as caught:
            ask([record])
        assert caught.value.code == "PROTOCOL"
