"""Message chunks of LangChain. L, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import as_object, play, play_all

from unspool.integrations import langchain


def piece(index: int | None, id: str | None = None, name: str | None = None, args: str | None = None) -> dict[str, Any]:
    return {"type": "tool_call_chunk", "index": index, "id": id, "name": name, "args": args}


def message(*pieces: dict[str, Any], id: str | None = "run-1", reason: str | None = None) -> dict[str, Any]:
    metadata = {"finish_reason": reason} if reason else {}
    return {
        "type": "AIMessageChunk",
        "id": id,
        "content": "",
        "tool_call_chunks": list(pieces),
        "response_metadata": metadata,
    }


NOISE = [message(), {"type": "human", "content": "x"}, {"tool_call_chunks": None}, {}]


def test_calls() -> None:
    """L1 to L4: complete at the end of the events, in the order of their first pieces."""
    events = [
        *NOISE,
        message(piece(1, "a", "f", "")),
        message(piece(1, args='{"x":'), piece(2, "b", "g", "[")),
        message(piece(2, args="]")),
        message(piece(1, args="1}")),
        message(reason="tool_calls"),
    ]
    session = langchain()
    assert all(update.type != "complete" for event in events for update in session.push_all(event))
    played = play_all(langchain, events)
    assert played.steps == [
        *[("start", "a"), ("update", "a"), ("start", "b"), ("update", "b"), ("update", "b"), ("update", "a")],
        *[("complete", "a"), ("complete", "b")],
    ]
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.diagnostics == []


def test_pieces_without_a_call() -> None:
    """L2, S82: also one that has a name and no id."""
    played = play_all(langchain, [message(piece(3, args="{}")), message(piece(4, None, "f", "{}"))])
    assert played.steps == []
    assert len(played.unmatched) == 2


@pytest.mark.parametrize("args", [None, ""])
def test_no_arguments(args: str | None) -> None:
    """S65."""
    assert play_all(langchain, [message(piece(0, "a", "f", args))]).texts == [("a", "{}")]


def test_a_reused_index() -> None:
    """L5: a new id at the index of a call begins another one, whether or not the first has arguments."""
    events = [
        message(piece(0, "a", "f", "[1]")),
        message(piece(0, "b", "f", "[")),
        message(piece(0, None, None, "2]")),
        message(piece(0, "c", "f", "")),
        message(piece(0, "d", "f", "{}")),
    ]
    played = play_all(langchain, events)
    assert played.texts == [("a", "[1]"), ("b", "[2]"), ("c", "{}"), ("d", "{}")]
    assert played.diagnostics == []


def test_no_index() -> None:
    """L5: by the id; what has neither goes on with the call before."""
    events = [
        message(piece(None, "a", "f", '{"x"')),
        message(piece(None, "b", "g", "[")),
        message(piece(None, "a", None, ":1}")),
        message(piece(None, "b", None, "2")),
        message(piece(None, None, None, "]")),
    ]
    assert play_all(langchain, events).texts == [("a", '{"x":1}'), ("b", "[2]")]


def test_the_id_changes() -> None:
    """L1, F28: without a name it is no other call."""
    played = play_all(langchain, [message(piece(0, "A", "f", "")), message(piece(0, "B", None, '{"q":1}'))])
    assert played.texts == [("A", '{"q":1}')]
    assert played.unmatched == ["A"]


def test_id_and_name_in_every_chunk() -> None:
    """F27."""
    events = [message(piece(0, "a", "f", cut)) for cut in ("", '{"q":', "1}")]
    assert play_all(langchain, events).texts == [("a", '{"q":1}')]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
@pytest.mark.parametrize("args", ["", '{"path":"a.md","content":"abc', "{}"])
@pytest.mark.parametrize("name", ["finish_reason", "stop_reason", "stopReason", "done_reason"])
def test_a_cut_call_is_never_complete(reason: str, args: str, name: str) -> None:
    """F37."""
    last = message()
    last["response_metadata"] = {name: reason}
    played = play_all(langchain, [message(piece(0, "a", "f", args)), last])
    assert played.texts == []
    assert (played.error.code, played.error.id, played.error.adapter) == ("INCOMPLETE_JSON", "a", "langchain")


def test_a_cut_answer_leaves_the_calls_of_earlier_messages() -> None:
    """An agent's stream: the second message has no calls."""
    events = [
        message(piece(0, "a", "f", "{}"), id="run-1"),
        message(id="run-1", reason="tool_calls"),
        message(id="run-2", reason="length"),
    ]
    assert play_all(langchain, events).texts == [("a", "{}")]


def wrappings(chunk: Any) -> dict[str, Any]:
    about = {"langgraph_node": "model", "tags": []}
    return {
        "pair": (chunk, about),
        "list": [chunk, about],
        "mode": ("messages", (chunk, about)),
        "graphs": (("outer:1", "inner:2"), (chunk, about)),
        "root graph": ((), "messages", (chunk, about)),
        "server": {"event": "messages", "data": [chunk, about]},
        "part": ("messages", [chunk, about], None),
        "event": {"event": "on_chat_model_stream", "data": {"chunk": chunk}},
        "written": {"lc": 1, "type": "constructor", "id": ["langchain_core", "AIMessageChunk"], "kwargs": chunk},
    }


@pytest.mark.parametrize("way", wrappings(None))
@pytest.mark.parametrize("whole", [True, False])
def test_wrapped(way: str, whole: bool) -> None:
    """Chunks as LangGraph, its server and `astream_events` give them; objects in dicts as well."""
    chunks = [message(piece(0, "a", "f", "[1")), message(piece(0, args="]"))]
    events = [wrappings(chunk if whole else as_object(chunk))[way] for chunk in chunks]
    played = play_all(langchain, events) if whole else play(langchain, events)
    assert played.texts == [("a", "[1]")]


def test_what_is_not_a_model_is_passed_over() -> None:
    """A chain streams its model's chunks once more; states hold whole messages."""
    chunk = message(piece(0, "a", "f", "{}"))
    events = [
        {"event": "on_chain_stream", "data": {"chunk": chunk}},
        ("values", {"messages": [chunk]}),
        ("updates", {"model": {"messages": [chunk]}}),
        [],
        [[], []],
        [[[[[[chunk]]]]]],
    ]
    assert play_all(langchain, events).steps == []


def test_malformed_arguments() -> None:
    played = play(langchain, [message(piece(0, "a", "f", "x"))])
    assert (played.error.code, played.error.event_type) == ("INVALID_JSON", "tool_call_chunks")
