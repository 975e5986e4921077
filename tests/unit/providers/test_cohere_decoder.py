"""The decoder by itself; whole responses are in tests/conformance/test_wire_cohere.py."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import FIXTURES, assembled, chunks_of

from unspool.errors import StreamError, WireError
from unspool.messages import Message, Origin
from unspool.providers import kept_chars
from unspool.providers.cohere_decoder import CohereDecoder
from unspool.stream import ResponseMachine, check_order
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ReasoningDelta, TextDelta, ToolArgumentsDelta
from unspool.structured import strict_json

START = {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}}
END = {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}


def event(type: str, index: int | None = None, **message: Any) -> dict[str, Any]:
    return {"type": type, "index": index, "delta": {"message": message}}


def decode(*events: Any) -> list[Chunk]:
    """All chunks of a response, in order."""
    decoder = CohereDecoder()
    chunks = [chunk for one in events for chunk in decoder.decode(one)] + decoder.finish()
    check_order(chunks)
    assert decoder.finish() == decoder.decode(START) == decoder.feed("", "{}") == []
    return chunks


def finish_of(*events: Any) -> Finish:
    finish = decode(*events)[-1]
    assert isinstance(finish, Finish)
    return finish


def test_chunks() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    chunks = decode(
        START,
        event("content-start", 0, content={"type": "thinking", "thinking": ""}),
        event("content-delta", 0, content={"thinking": "hm"}),
        event("content-end", 0),
        event("tool-plan-delta", tool_plan="Look."),
        event("content-start", 1, content={"type": "text", "text": ""}),
        event("content-delta", 1, content={"text": "a"}),
        event("tool-call-start", 0, tool_calls=call),
        event("tool-call-delta", 0, tool_calls={"function": {"arguments": "{}"}}),
        event("tool-call-end", 0),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    )
    assert [(type(chunk), getattr(chunk, "index", None)) for chunk in chunks] == [
        (BlockStart, 0),
        (ReasoningDelta, 0),
        (BlockEnd, 0),
        (BlockStart, 1),
        (ReasoningDelta, 1),
        (BlockEnd, 1),
        (BlockStart, 2),
        (TextDelta, 2),
        (BlockEnd, 2),
        (BlockStart, 3),
        (ToolArgumentsDelta, 3),
        (BlockEnd, 3),
        (Finish, None),
    ]
    replays = [chunk.replay and chunk.replay.data["type"] for chunk in chunks if isinstance(chunk, BlockEnd)]
    assert replays == ["thinking", "tool_plan", None, None]
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    assert finish.origin == Origin("cohere", None, "c1")


@pytest.mark.parametrize("odd", [5, "x", [1], {"a": 1}, None, True])
def test_odd_members_are_passed_over(odd: Any) -> None:
    """What says nothing is none: never an exception that is not ours."""
    assert finish_of(
        {"type": "message-start", "id": odd, "delta": odd},
        {"type": "content-start", "index": odd, "delta": {"message": odd}},
        {"type": "content-end", "index": odd},
        {"type": odd},
        {"type": "citation-end", "index": odd},
        {"type": "message-end", "delta": {"finish_reason": odd, "usage": odd, "error": None}},
    ).reason in ("stop", "error")


@pytest.mark.parametrize(
    "broken",
    [
        event("content-delta", 0, content={"text": 1}),
        event("content-delta", 0, content={"thinking": []}),
        event("tool-plan-delta", tool_plan={}),
        event("tool-call-start", 0),
        event("tool-call-start", 0, tool_calls=[{}, {}]),
        event("tool-call-start", 0, tool_calls={"id": "a", "function": None}),
        event("tool-call-delta", 0, tool_calls={}),
        event("tool-call-end", 0),
        event("tool-call-end"),
        ["odd"],
        7,
    ],
    ids=str,
)
def test_what_cannot_be_meant(broken: Any) -> None:
    finish = finish_of(START, event("content-delta", 0, content={"text": "a"}), broken, END)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"


def test_citation_nested_too_deep() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    finish = finish_of(START, event("citation-start", 0, citations={"sources": deep}), END)
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chars, "MAX_KEPT_CHARS", 500)
    decoder = CohereDecoder()
    cited = json.dumps(event("citation-start", 0, citations={"text": "x" * 200}))
    assert decoder.feed("", cited) == []
    [finish] = decoder.feed("", cited)
    assert isinstance(finish, Finish)
    assert finish.error is not None
    assert finish.error.code == "BODY_TOO_LARGE"
    assert len((finish.metadata or {})["citations"]) == 1


def test_data_that_is_no_json_changes_nothing() -> None:
    decoder = CohereDecoder()
    decoder.decode(START)
    with pytest.raises(StreamError):
        decoder.feed("content-delta", "{broken")
    assert isinstance(decoder.decode(END)[-1], Finish)


def test_a_whole_answer_inside_of_an_answer_is_not_read_again() -> None:
    whole = {"id": "c2", "message": {"content": [{"type": "text", "text": "again"}]}, "finish_reason": "COMPLETE"}
    chunks = decode(START, event("content-delta", 0, content={"text": "a"}), whole, END)
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["a"]


def test_unknown_reasons_and_calls() -> None:
    call = event("tool-call-start", 0, tool_calls={"id": "a", "function": {"name": "f", "arguments": "{}"}})
    assert finish_of(START, call, {"type": "message-end", "delta": {"finish_reason": "NEW"}}).reason == "tool_calls"
    limit = finish_of(START, call, {"type": "message-end", "delta": {"finish_reason": "ERROR_LIMIT"}})
    assert (limit.reason, limit.raw_reason) == ("length", "ERROR_LIMIT")


NAMES = ("text", "citations", "tool-plan", "interleaved-calls", "tool-listed", "error-in-end", "no-content-start")
BODIES = [(FIXTURES / "cohere" / f"{name}.sse").read_bytes() for name in NAMES]


@given(st.sampled_from(BODIES), st.integers(0, 2**32))
def test_events_in_any_order_end_well(body: bytes, seed: int) -> None:
    """Lost, repeated and swapped events: one terminal chunk, in order, and a message that can be stored."""
    rng = random.Random(seed)
    events = [event for event in body.split(b"\n\n") if event]
    events = [rng.choice(events) if rng.random() < 0.3 else one for one in events if rng.random() < 0.9]
    rng.shuffle(events)
    chunks = chunks_of(ResponseMachine(CohereDecoder(), content_type="text/event-stream"), [b"\n\n".join(events)])
    message = assembled(chunks)
    assert Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) == message


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "text", "COMPLETE"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["message", "id", "x"]), inner),
    max_leaves=5,
)
WORDS = "message-start content-start content-delta content-end tool-plan-delta tool-call-start tool-call-delta"
TYPES = st.sampled_from([*WORDS.split(), "tool-call-end", "citation-start", "message-end", "new"])
MESSAGES = st.dictionaries(st.sampled_from(["content", "tool_calls", "tool_plan", "citations"]), JSON)


def as_event(type: str, index: Any, message: Any) -> dict[str, Any]:
    return {"type": type, "index": index, "delta": {"message": message}}


EVENTS = st.builds(as_event, TYPES, st.integers(0, 1) | JSON, MESSAGES)


@given(st.lists(EVENTS | JSON, max_size=8))
def test_anything_ends_well(events: list[Any]) -> None:
    chunks = chunks_of(ResponseMachine(CohereDecoder(), content_type=None), [events])
    message = assembled(chunks)
    assert Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) == message
