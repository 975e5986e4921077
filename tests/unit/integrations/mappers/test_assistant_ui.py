"""Chunks of assistant-stream. AU, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import assistant_ui


def start(path: list[int] | None, id: str | None, kind: str = "tool-call") -> dict[str, Any]:
    return {"type": "part-start", "path": path, "part": {"type": kind, "toolCallId": id, "toolName": "f"}}


def delta(path: list[int] | None, piece: str) -> dict[str, Any]:
    return {"type": "text-delta", "path": path, "textDelta": piece}


def end(path: list[int] | None) -> dict[str, Any]:
    return {"type": "tool-call-args-text-finish", "path": path}


def over(reason: str, type: str = "message-finish") -> dict[str, Any]:
    return {"type": type, "path": [], "finishReason": reason}


NOISE = [
    {"type": "step-start", "path": [], "messageId": "m"},
    start([0], None, "text"),
    delta([0], "{"),
    {"type": "part-finish", "path": [0]},
    {"type": "result", "path": [1], "result": {}, "isError": False},
    {"type": "annotations", "path": [], "annotations": []},
    {"type": "data", "path": [], "data": []},
    {"type": "update-state", "path": [], "operations": []},
]


def test_calls() -> None:
    """AU1 to AU4: by their path, next to text on other paths."""
    events = [
        *NOISE,
        start([1], "a"),
        start([1, 0], "b"),
        delta([1], '{"x":'),
        delta([1, 0], "[]"),
        delta([0], "more text"),
        delta([1], "1}"),
        end([1]),
        end([1, 0]),
        delta([1], "late"),
        over("tool-calls"),
    ]
    played = play_all(assistant_ui, events, snake=True)
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.diagnostics == []


def test_starts_with_the_path_of_what_holds_the_part() -> None:
    """As `assistant-stream` 0.3.57 itself writes them: its parts are numbered as they start, at each level."""
    events = [
        start([], None, "text"),
        delta([0], "One moment."),
        start([], "a"),
        delta([1], '{"x":'),
        start([], "b"),
        start([1], None, "text"),
        start([1], "nested"),
        delta([1, 0], "text"),
        delta([1, 1], "[]"),
        delta([2], "2"),
        delta([1], "1}"),
        end([2]),
        end([1, 1]),
        end([1]),
        over("tool-calls"),
    ]
    played = play_all(assistant_ui, events, snake=True)
    assert played.texts == [("b", "2"), ("nested", "[]"), ("a", '{"x":1}')]
    assert played.diagnostics == []


def test_a_second_start_on_a_path() -> None:
    """AU1: it replaces; the first call ends with the events."""
    played = play_all(assistant_ui, [start([1], "a"), delta([1], "[1]"), start([1], "b"), delta([1], "[2]"), end([1])])
    assert played.texts == [("b", "[2]"), ("a", "[1]")]


def test_unknown_paths() -> None:
    """AU3, AU5, S82."""
    events = [end([5]), delta(None, "x"), start(None, "a"), end(None), start([1], None), delta([1], "x"), end([1])]
    played = play_all(assistant_ui, events)
    assert played.steps == []
    assert played.unmatched == [None, "a", None, None, None]
    assert played.error is None


def test_end_of_events() -> None:
    """AU6."""
    assert play_all(assistant_ui, [start([1], "a"), delta([1], "{}")]).texts == [("a", "{}")]


@pytest.mark.parametrize("pieces", [[], [""]])
@pytest.mark.parametrize("more", [[over("tool-calls")], [over("stop", "step-finish")], [start([2], "b"), end([2])], []])
def test_no_arguments(pieces: list[str], more: list[Any]) -> None:
    """S65."""
    played = play_all(assistant_ui, [start([1], "a"), *(delta([1], piece) for piece in pieces), end([1]), *more])
    assert played.texts[0] == ("a", "{}")


@pytest.mark.parametrize("type", ["message-finish", "step-finish"])
@pytest.mark.parametrize("pieces", [[], ['{"a":"b']])
def test_a_cut_call_is_never_complete(type: str, pieces: list[str]) -> None:
    """F37."""
    events = [start([1], "a"), *(delta([1], piece) for piece in pieces), end([1]), over("length", type)]
    played = play_all(assistant_ui, events)
    assert played.texts == []
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")


def test_error() -> None:
    """AU4: it is terminal."""
    played = play_all(
        assistant_ui, [start([1], "a"), delta([1], "{}"), {"type": "error", "path": [], "error": "Broken."}]
    )
    assert played.texts == []
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "Broken.")
    assert (played.error.adapter, played.error.event_type) == ("assistant-ui", "error")


def test_malformed_arguments() -> None:
    assert play(assistant_ui, [start([1], "a"), delta([1], "x")]).error.code == "INVALID_JSON"
