"""Gemini: Interactions events and generateContent chunks. G, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.errors import ProviderError
from unspool.integrations import gemini


def start(index: int | None, id: str | None, arguments: Any = None, kind: str = "function_call") -> dict[str, Any]:
    step = {"type": kind, "id": id, "name": "f", "arguments": arguments}
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index: int | None, piece: str) -> dict[str, Any]:
    return {"event_type": "step.delta", "index": index, "delta": {"type": "arguments_delta", "arguments": piece}}


def old_delta(index: int | None, piece: str) -> dict[str, Any]:
    return {"event_type": "step.delta", "index": index, "delta": {"type": "arguments", "partial_arguments": piece}}


def completed(status: str = "requires_action", name: str = "interaction.completed") -> dict[str, Any]:
    return {"event_type": name, "interaction": {"id": "i", "status": status}}


NOISE = [
    {"event_type": "interaction.created", "interaction": {"id": "i"}},
    {"event_type": "interaction.status_update", "status": "in_progress"},
    start(0, "t", kind="thought"),
    {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "{"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "signature": "x"}},
    {"event_type": "step.stop", "index": 0},
]


@pytest.mark.parametrize("piece", [delta, old_delta])
@pytest.mark.parametrize("end", [completed(), completed("completed"), completed(name="interaction.complete"), None])
def test_interaction(piece: Any, end: Any) -> None:
    """G1, G2, G5: a step that stops does not end its call; the interaction does, or the end of the events."""
    events = [
        *NOISE,
        start(1, "a", {}),
        piece(1, '{"x":'),
        start(2, "b", {}),
        piece(2, "[]"),
        {"event_type": "step.stop", "index": 2},
        piece(1, "1}"),
        *[end] * (end is not None),
    ]
    session = gemini()
    assert all(update.type != "complete" for event in events[:-1] for update in session.push_all(event))
    played = play_all(gemini, events)
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.diagnostics == []


@pytest.mark.parametrize("arguments", [None, "", {}])
def test_no_arguments(arguments: Any) -> None:
    """G4, S65: the empty object is a placeholder, and the value when nothing else comes."""
    played = play_all(gemini, [start(1, "a", arguments), completed()])
    assert played.texts == [("a", "{}")]
    assert played.partials[0] is None


@pytest.mark.parametrize(
    ("arguments", "shown", "rest", "text"),
    [
        ({"x": "é"}, {"x": "é"}, "", '{"x":"é"}'),
        ('{"x":', {}, "1}", '{"x":1}'),
        ('{"x":1}', {"x": 1}, "", '{"x":1}'),
    ],
)
def test_arguments_of_the_start(arguments: Any, shown: Any, rest: str, text: str) -> None:
    """G3."""
    played = play_all(gemini, [start(1, "a", arguments), *[delta(1, rest)] * bool(rest), completed()])
    assert played.partials[0] == shown
    assert played.texts == [("a", text)]


def test_unknown_steps() -> None:
    """G6, S82."""
    played = play_all(gemini, [delta(3, "{}"), start(4, None), delta(4, "{}"), completed()])
    assert played.steps == []
    assert played.unmatched == [None, None, None]


@pytest.mark.parametrize("status", ["incomplete", "failed", "cancelled"])
@pytest.mark.parametrize("piece", ["", '{"a":"b', "{}"])
def test_a_cut_interaction_completes_nothing(status: str, piece: str) -> None:
    """F37."""
    played = play_all(gemini, [start(1, "a", {}), delta(1, piece), completed(status)])
    assert played.texts == []
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")


def test_interaction_error() -> None:
    """G6: it is terminal."""
    raw = {"message": "It broke.", "code": "internal"}
    played = play_all(gemini, [start(1, "a", {}), delta(1, "{}"), {"event_type": "error", "error": raw}, completed()])
    assert played.texts == []
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "It broke.")
    assert (played.error.adapter, played.error.event_type) == ("gemini", "error")
    cause = play(gemini, [{"event_type": "error", "error": raw}]).error.__cause__
    assert isinstance(cause, ProviderError)
    assert cause.raw == raw


def test_calls_of_a_second_interaction() -> None:
    played = play_all(gemini, [start(1, "a", {}), completed(), start(1, "b", {}), delta(1, "[1]"), completed()])
    assert played.values == [("a", {}), ("b", [1])]


def chunk(*calls: dict[str, Any], reason: str | None = None, candidate: int | None = None) -> dict[str, Any]:
    parts = [{"text": "{", "thought": True}, *({"functionCall": call} for call in calls)]
    return {"candidates": [{"index": candidate, "content": {"role": "model", "parts": parts}, "finishReason": reason}]}


def partial(path: str, value: Any = None, kind: str = "stringValue", *, goes_on: bool = False) -> dict[str, Any]:
    return {"jsonPath": path, kind: value, "willContinue": goes_on or None}


def test_whole_calls() -> None:
    """F34: no ids on the wire, so each call gets one of its own; each is complete at once."""
    events = [
        chunk({"name": "f", "args": {"x": 1}}),
        chunk({"name": "f", "args": {"x": 2}}, {"name": "g", "args": {}}, {"name": "g"}),
        chunk(reason="STOP"),
        {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {}},
    ]
    played = play_all(gemini, events, snake=True)
    assert played.steps[:2] == [("start", "call_0"), ("complete", "call_0")]
    assert played.texts == [("call_0", '{"x":1}'), ("call_1", '{"x":2}'), ("call_2", "{}"), ("call_3", "{}")]
    assert played.diagnostics == []


def test_ids_of_the_wire() -> None:
    """Kept; one that two calls share is none."""
    events = [
        chunk({"id": "f", "name": "f", "args": {}}, {"id": "f", "name": "f", "args": {}}, {"name": "f", "args": {}})
    ]
    ids = [id for id, _ in play_all(gemini, events, snake=True).texts]
    assert ids[0] == "f"
    assert len(set(ids)) == 3


def test_partial_arguments() -> None:
    """Two calls one after another, each of them in parts."""
    events = [
        chunk({"name": "f", "willContinue": True}),
        chunk({"partialArgs": [partial("$.city", "Bos", goes_on=True)], "willContinue": True}),
        chunk({"partialArgs": [partial("$.city", "ton", goes_on=True)], "willContinue": True}),
        chunk({"partialArgs": [partial("$.city", "")], "willContinue": True}),
        chunk({"partialArgs": [partial("$.days", 3, "numberValue")], "willContinue": True}),
        chunk({}),
        chunk({"name": "f", "partialArgs": [partial("$.city", "Rome")], "willContinue": False}, reason="STOP"),
    ]
    played = play_all(gemini, events, snake=True)
    assert played.texts == [("call_0", '{"city":"Boston","days":3}'), ("call_1", '{"city":"Rome"}')]
    assert {"city": "Boston"} in played.partials
    assert {"city": "Bos"} in played.partials
    assert played.diagnostics == []


def test_partial_arguments_and_whole_ones() -> None:
    """What comes with the start is written first; what comes with the end counts."""
    events = [
        chunk({"name": "f", "args": {"x": 1}, "willContinue": True}),
        chunk({"partialArgs": [partial("$.y", "z")], "willContinue": True}),
        chunk({}),
        chunk({"name": "g", "willContinue": True}),
        chunk({"partialArgs": [partial("$.y", "z", goes_on=True)], "willContinue": True}),
        chunk({"args": {"y": "zz"}}),
    ]
    played = play_all(gemini, events, snake=True)
    assert played.texts == [("call_0", '{"x":1,"y":"z"}'), ("call_1", '{"y":"zz"}')]


@pytest.mark.parametrize(
    "second",
    [
        {"name": "g", "willContinue": True},
        {"name": "f", "willContinue": True},
        {"id": "b", "partialArgs": [], "willContinue": True},
    ],
)
def test_a_call_that_begins_ends_the_one_before(second: dict[str, Any]) -> None:
    events = [chunk({"id": "a", "name": "f", "willContinue": True}), chunk(second), chunk({})]
    if "id" not in second:
        del events[0]["candidates"][0]["content"]["parts"][1]["functionCall"]["id"]
    assert [text for _, text in play_all(gemini, events, snake=True).texts] == ["{}", "{}"]


def test_the_name_is_repeated() -> None:
    """F27."""
    parts = [partial("$.x", cut, goes_on=cut != "c") for cut in "abc"]
    events = [chunk({"name": "f", "partialArgs": [part], "willContinue": True}) for part in parts]
    assert play_all(gemini, [*events, chunk({"name": "f"})], snake=True).texts == [("call_0", '{"x":"abc"}')]


def test_a_part_of_no_call() -> None:
    played = play_all(gemini, [chunk({})])
    assert played.steps == []
    assert played.unmatched == [None]


def test_candidates() -> None:
    """Each has a call of its own in progress."""
    events = [
        chunk({"name": "f", "willContinue": True}, candidate=0),
        chunk({"name": "g", "willContinue": True}, candidate=1),
        chunk({"partialArgs": [partial("$.x", "0")], "willContinue": True}, candidate=0),
        chunk({"partialArgs": [partial("$.x", "1")]}, candidate=1),
        chunk({}, candidate=0),
    ]
    assert play_all(gemini, events, snake=True).texts == [("call_1", '{"x":"1"}'), ("call_0", '{"x":"0"}')]


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "OTHER"])
@pytest.mark.parametrize("pieces", [[], [partial("$.a", "b", goes_on=True)], [partial("$.a", "b")]])
def test_a_cut_call_is_never_complete(reason: str, pieces: list[Any]) -> None:
    """F37: the text that would close it is never written."""
    begun = [chunk({"name": "w", "args": {}}), chunk({"name": "f", "willContinue": True})]
    events = [*begun, chunk({"partialArgs": pieces, "willContinue": True}), chunk(reason=reason)]
    played = play_all(gemini, events, snake=True)
    assert [id for id, _ in played.texts] == ["call_0"]
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "call_1")
    assert reason in played.error.message


def test_the_events_end_inside_a_call() -> None:
    """F6: it was said to go on."""
    played = play_all(gemini, [chunk({"name": "f", "willContinue": True}), chunk(reason="STOP")], snake=True)
    assert played.texts == []
    assert played.error.code == "INCOMPLETE_JSON"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"candidates": [{"finishReason": "UNEXPECTED_TOOL_CALL"}]}, "UNEXPECTED_TOOL_CALL"),
        (
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Bad call: f("}]},
            "Bad call: f(",
        ),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ({"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, "Overloaded."),
    ],
)
def test_failures(event: dict[str, Any], said: str) -> None:
    """F32, F38."""
    played = play_all(gemini, [chunk({"name": "f", "willContinue": True}), event], snake=True)
    assert played.error.code == "INTEGRATION_ERROR"
    assert said in played.error.message
    assert played.texts == []


def test_text_that_was_stopped_is_no_failure() -> None:
    """F32: only calls are of interest."""
    events = [chunk(reason="SAFETY"), {"candidates": [{"finishReason": "MAX_TOKENS"}]}, {"candidates": None}]
    assert play_all(gemini, events, snake=True).diagnostics == [("NO_TOOL_EVENTS", None)]


def test_malformed_arguments() -> None:
    played = play(gemini, [start(1, "a", {}), delta(1, "x")])
    assert (played.error.code, played.error.event_type) == ("INVALID_JSON", "step.delta")
    odd = play(gemini, [chunk({"name": "f", "partialArgs": [partial("city", "x")], "willContinue": True})])
    assert odd.error.code == "INTEGRATION_ERROR"
