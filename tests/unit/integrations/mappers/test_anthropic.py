"""Anthropic's raw events. A, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.errors import ProviderError, StreamError
from unspool.integrations import anthropic


def start(index: Any, id: Any, input: Any = None, kind: str = "tool_use") -> dict[str, Any]:
    block = {"type": kind, "id": id, "name": "f", "input": {} if input is None else input}
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, piece: str) -> dict[str, Any]:
    inner = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": index, "delta": inner}


def stop(index: Any) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def over(reason: str | None) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}


TEXT = [
    {"type": "message_start", "message": {"id": "m", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "{"}},
    {"type": "content_block_stop", "index": 0},
]
END = {"type": "message_stop"}


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use", "mcp_tool_use"])
def test_call(kind: str) -> None:
    """A1 to A4, A5: correlated by index, exposed by id; text and pings are passed over."""
    events = [*TEXT, start(1, "t", kind=kind), delta(1, '{"a":'), delta(1, ""), delta(1, "[1]}"), stop(1)]
    played = play_all(anthropic, [*events, over("tool_use"), END])
    assert played.steps == [("start", "t"), ("update", "t"), ("update", "t"), ("update", "t"), ("complete", "t")]
    assert played.texts == [("t", '{"a":[1]}')]
    assert played.error is None
    assert played.diagnostics == []


def test_calls_complete_at_their_stop() -> None:
    """A3, S75."""
    session = anthropic()
    for event in (start(0, "t"), delta(0, "{}")):
        session.push_all(event)
    assert [update.type for update in session.push_all(stop(0))] == ["complete"]
    assert session.push_all(stop(0)) == []


def test_interleaved() -> None:
    played = play_all(
        anthropic,
        [start(0, "a"), start(1, "b"), delta(1, '{"b"'), delta(0, '{"a":1}'), stop(0), delta(1, ":2}"), stop(1)],
    )
    assert played.values == [("a", {"a": 1}), ("b", {"b": 2})]


def test_a_reused_index_is_another_call() -> None:
    played = play_all(anthropic, [start(0, "a"), delta(0, "{}"), stop(0), start(0, "b"), delta(0, "[]"), stop(0)])
    assert played.values == [("a", {}), ("b", [])]


@pytest.mark.parametrize("pieces", [[], [""], ["", " \n"]], ids=["none", "empty", "blank"])
@pytest.mark.parametrize("end", [[over("tool_use"), END], [END], []], ids=["reason", "stop", "nothing"])
def test_no_arguments(pieces: list[str], end: list[Any]) -> None:
    """S65: a tool without parameters."""
    events = [start(0, "t"), *(delta(0, piece) for piece in pieces), stop(0), *end]
    assert play_all(anthropic, events).texts == [("t", "{}")]


def test_a_call_without_arguments_completes_before_the_next_begins() -> None:
    played = play_all(anthropic, [start(0, "a"), stop(0), start(1, "b"), delta(1, "[]"), stop(1)])
    assert played.steps[:3] == [("start", "a"), ("complete", "a"), ("start", "b")]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
@pytest.mark.parametrize("pieces", [[], [""], ['{"path":"a.md","content":"abc']], ids=["none", "empty", "some"])
@pytest.mark.parametrize("stopped", [True, False])
def test_a_cut_call_is_never_complete(reason: str, pieces: list[str], stopped: bool) -> None:
    """A6, F37."""
    events = [start(0, "whole"), delta(0, "{}"), stop(0), start(1, "t"), *(delta(1, piece) for piece in pieces)]
    played = play_all(anthropic, [*events, *[stop(1)] * stopped, over(reason), END])
    assert [id for id, _ in played.texts] == ["whole"]
    assert played.error.code == "INCOMPLETE_JSON"
    assert played.error.id == "t"
    assert played.error.adapter == "anthropic"


def test_a_limit_after_the_calls_cuts_none() -> None:
    played = play_all(anthropic, [start(0, "t"), delta(0, "{}"), stop(0), *TEXT, over("max_tokens"), END])
    assert played.values == [("t", {})]
    assert played.error is None


@pytest.mark.parametrize("before", [[], TEXT, [start(0, "t"), delta(0, '{"a"')]], ids=["first", "text", "call"])
def test_error_event(before: list[Any]) -> None:
    """A4, F24: at the very first, after text, inside a call."""
    raw = {"type": "overloaded_error", "message": "Overloaded"}
    played = play_all(anthropic, [*before, {"type": "error", "error": raw}])
    assert isinstance(played.error, StreamError)
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "Overloaded")
    assert played.error.event_type == "error"
    assert played.texts == []
    cause = play(anthropic, [{"type": "error", "error": raw}]).error.__cause__
    assert isinstance(cause, ProviderError)
    assert cause.raw == raw


def test_the_whole_input_on_the_start() -> None:
    """A7: an imitation that sends no deltas."""
    played = play_all(anthropic, [start(0, "t", {"a": "é"}), stop(0), over("tool_use")])
    assert played.texts == [("t", '{"a":"é"}')]
    assert played.steps == [("start", "t"), ("complete", "t")]


def test_deltas_count_more_than_the_input_of_the_start() -> None:
    """A1."""
    played = play_all(anthropic, [start(0, "t", {"a": 1}), delta(0, '{"a":2}'), stop(0)])
    assert played.texts == [("t", '{"a":2}')]


def test_unknown_block() -> None:
    """S82, S106: text deltas are none of ours, pieces of calls are."""
    played = play_all(anthropic, [*TEXT, delta(7, "{}"), stop(7), start(0, None), delta(0, "{}"), stop(0)])
    assert played.steps == []
    assert played.unmatched == [None] * 3
    assert played.error is None


def test_a_piece_after_the_stop() -> None:
    """A3: the index is forgotten."""
    played = play_all(anthropic, [start(0, "a"), delta(0, "{}"), stop(0), delta(0, "x"), stop(0)])
    assert played.texts == [("a", "{}")]
    assert played.unmatched == [None]


def test_malformed_arguments() -> None:
    """S84: everything ends."""
    played = play_all(anthropic, [start(0, "a"), start(1, "b"), delta(1, "{]")])
    assert (played.error.code, played.error.id) == ("MISMATCHED_CLOSING", "b")
    assert played.error.event_type == "content_block_delta"


def test_helper_events_of_the_sdk_are_passed_over() -> None:
    """`messages.stream` gives a snapshot event beside each raw one."""
    snapshot = {"type": "input_json", "partial_json": "{}", "snapshot": {}}
    assert play_all(anthropic, [start(0, "t"), delta(0, "{}"), snapshot, stop(0)]).texts == [("t", "{}")]


def test_no_tool_events() -> None:
    """S105."""
    assert play_all(anthropic, [*TEXT, over("end_turn"), END]).diagnostics == [("NO_TOOL_EVENTS", None)]
