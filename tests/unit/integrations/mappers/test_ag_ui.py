"""AG-UI's events. U, S and F numbers: ../shared/reference."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import ag_ui


def start(id: str | None) -> dict[str, Any]:
    return {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f", "parentMessageId": "m"}


def args(id: str | None, piece: str) -> dict[str, Any]:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": piece}


def end(id: str | None) -> dict[str, Any]:
    return {"type": "TOOL_CALL_END", "toolCallId": id}


NOISE = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "{"},
    {"type": "TOOL_CALL_RESULT", "toolCallId": "a", "content": "{"},
    {"type": "TOOL_CALL_CHUNK", "toolCallId": "a", "delta": "x"},
    {"type": "RAW", "event": {"type": "TOOL_CALL_END"}},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
]


def test_call() -> None:
    """U1, U3, U4: in both spellings."""
    events = [NOISE[0], start("a"), args("a", '{"x":'), NOISE[1], args("a", ""), args("a", "1}"), end("a"), *NOISE[2:]]
    played = play_all(ag_ui, events, snake=True)
    assert played.steps == [("start", "a"), ("update", "a"), ("update", "a"), ("update", "a"), ("complete", "a")]
    assert played.texts == [("a", '{"x":1}')]
    assert played.diagnostics == []


def test_ends_late_and_in_another_order() -> None:
    events = [start("a"), args("a", "{}"), start("b"), args("b", "[]"), end("b"), NOISE[2], end("a")]
    assert play_all(ag_ui, events, snake=True).texts == [("b", "[]"), ("a", "{}")]


@pytest.mark.parametrize("pieces", [[], [""], [" "]])
def test_no_arguments(pieces: list[str]) -> None:
    """S65: with and without an event for them; complete at its end."""
    session = ag_ui()
    for event in (start("a"), *(args("a", piece) for piece in pieces)):
        session.push_all(event)
    assert session.push_all(end("a"))[0].to_wire()["text"] == "{}"


def test_unknown_and_repeated() -> None:
    """U2, S82, S83."""
    played = play_all(ag_ui, [start("a"), args("a", "{}"), end("a"), end("a"), end("b"), start(None), end(None)])
    assert played.texts == [("a", "{}")]
    assert played.unmatched == ["b", None, None]
    assert play_all(ag_ui, [args("b", "{}")]).error.code == "UNKNOWN_STREAM"
    assert play_all(ag_ui, [start("a"), start("a")]).error.code == "DUPLICATE_STREAM"


def test_an_id_can_be_used_again() -> None:
    played = play_all(ag_ui, [start("a"), end("a"), start("a"), args("a", "[1]"), end("a")])
    assert played.values == [("a", {}), ("a", [1])]


def test_run_error() -> None:
    """Ends the session, whatever comes after."""
    failed = {"type": "RUN_ERROR", "message": "The model refused.", "code": "E1"}
    played = play_all(ag_ui, [start("a"), args("a", "{}"), failed, end("a"), NOISE[-1]])
    assert played.texts == []
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "The model refused.")
    assert (played.error.adapter, played.error.event_type) == ("ag-ui", "RUN_ERROR")
    assert play(ag_ui, [failed]).error.__cause__.raw == failed


def test_cut_arguments() -> None:
    """F37."""
    assert play_all(ag_ui, [start("a"), args("a", '{"x":"y'), end("a")]).error.code == "INCOMPLETE_JSON"
    assert play_all(ag_ui, [start("a"), args("a", '{"x":"y')]).error.code == "INCOMPLETE_JSON"


def test_event_types_of_the_python_sdk() -> None:
    """U4: members of an enumeration that are text."""

    class EventType(str, Enum):  # noqa: UP042  # as in ag_ui.core
        START = "TOOL_CALL_START"
        ERROR = "RUN_ERROR"

    events = [SimpleNamespace(type=EventType.START, tool_call_id="a", tool_call_name="f", delta=None)]
    assert play(ag_ui, events).texts == [("a", "{}")]
    assert play(ag_ui, [SimpleNamespace(type=EventType.ERROR, message="x")]).error.event_type == "RUN_ERROR"
