"""Parts of Vercel AI's `fullStream`, and UI message chunks. V, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import vercel_ai


class Full:
    """Parts of `fullStream`."""

    @staticmethod
    def start(id: str | None) -> dict[str, Any]:
        return {"type": "tool-input-start", "id": id, "toolName": "f"}

    @staticmethod
    def delta(id: str | None, piece: str) -> dict[str, Any]:
        return {"type": "tool-input-delta", "id": id, "delta": piece}

    @staticmethod
    def final(id: str | None, input: Any, **more: Any) -> dict[str, Any]:
        return {"type": "tool-call", "toolCallId": id, "toolName": "f", "input": input, **more}


class UI:
    """Chunks of a UI message stream."""

    @staticmethod
    def start(id: str | None) -> dict[str, Any]:
        return {"type": "tool-input-start", "toolCallId": id, "toolName": "f", "dynamic": True}

    @staticmethod
    def delta(id: str | None, piece: str) -> dict[str, Any]:
        return {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": piece}

    @staticmethod
    def final(id: str | None, input: Any) -> dict[str, Any]:
        return {"type": "tool-input-available", "toolCallId": id, "toolName": "f", "input": input}


def end(id: str | None) -> dict[str, Any]:
    return {"type": "tool-input-end", "id": id}


STEP = {"type": "start-step"}
UI_STEP_END = {"type": "finish-step"}


def step_end(reason: str) -> dict[str, Any]:
    return {"type": "finish-step", "finishReason": reason, "usage": {}}


def finish(reason: str) -> dict[str, Any]:
    return {"type": "finish", "finishReason": reason}


NOISE = [
    {"type": "start"},
    {"type": "text-start", "id": "a"},
    {"type": "text-delta", "id": "a", "text": "{"},
    {"type": "reasoning-delta", "id": "a", "text": "{"},
    {"type": "raw", "rawValue": {"type": "tool-input-end"}},
    {"type": "tool-result", "toolCallId": "a", "output": {}},
    {"type": "tool-error", "toolCallId": "a", "error": "x"},
    {"type": "tool-output-available", "toolCallId": "a", "output": {}},
    {"type": "tool-output-error", "toolCallId": "a", "errorText": "x"},
    {"type": "tool-output-denied", "toolCallId": "a"},
    {"type": "tool-approval-request", "toolCallId": "a", "approvalId": "b"},
    {"type": "abort"},
    {"type": "data-weather", "id": "a", "data": {}},
]
both = pytest.mark.parametrize("kind", [Full, UI])


@both
def test_call_in_a_step(kind: Any) -> None:
    """V1, V7, V8: the end of the deltas is not the end of the call."""
    events = [STEP, *NOISE, kind.start("a"), kind.delta("a", '{"x"'), kind.delta("a", ": 1}"), end("a"), *NOISE]
    session = vercel_ai()
    assert all(update.type != "complete" for event in events for update in session.push_all(event))
    played = play_all(vercel_ai, [*events, kind.final("a", {"x": 1}), *NOISE, step_end("tool-calls")], snake=True)
    assert played.steps == [("start", "a"), ("update", "a"), ("update", "a"), ("complete", "a")]
    assert played.texts == [("a", '{"x": 1}')]  # V5: the same input, so the text stays
    assert played.diagnostics == []


@pytest.mark.parametrize(
    ("streamed", "final", "text"),
    [
        ('{"x": 1}', {"x": 1, "unit": "C"}, '{"x":1,"unit":"C"}'),
        ('{"x": 1.0, "y": [true, null]}', {"y": [True, None], "x": 1}, '{"x": 1.0, "y": [true, null]}'),
        ('{"x": 1}', {"x": True}, '{"x":true}'),
        ('{"x": [0]}', {"x": [False]}, '{"x":[false]}'),
        ('{"x": [1, 2]}', {"x": [1]}, '{"x":[1]}'),
        ('{"x": "\\u00e9"}', {"x": "é"}, '{"x": "\\u00e9"}'),
        ('{"x"', {"x": 1}, '{"x":1}'),
        ("{x: 1}", {"x": 1}, '{"x":1}'),
        ("", {}, "{}"),
        ("", {"x": 1}, '{"x":1}'),
        ('{"x": 1}', None, '{"x": 1}'),
    ],
)
@both
def test_the_final_input_counts(kind: Any, streamed: str, final: Any, text: str) -> None:
    """V1, V5, S62, S63: defaults, transforms and repairs replace; the same input in other words does not."""
    events = [STEP, kind.start("a"), kind.delta("a", streamed), end("a"), kind.final("a", final)]
    played = play_all(vercel_ai, events, snake=True)
    assert played.texts == [("a", text)]
    assert played.error is None


@both
def test_final_input_without_deltas(kind: Any) -> None:
    """V4: start and completion in one batch."""
    session = vercel_ai()
    assert [update.type for update in session.push_all(kind.final("a", {"x": 1}))] == ["start", "complete"]
    assert session.push_all(kind.final("a", {"x": 2})) == []  # V4: a repeated one gives nothing
    played = play_all(vercel_ai, [STEP, kind.final("a", {"x": 1}), kind.final("b", {}), kind.final("a", {"x": 1})])
    assert played.texts == [("a", '{"x":1}'), ("b", "{}")]
    assert played.diagnostics == []


@both
def test_outside_steps(kind: Any) -> None:
    """V3: the end of the deltas completes at once; the final input comes too late."""
    session = vercel_ai()
    for event in (kind.start("a"), kind.delta("a", "[1]")):
        session.push_all(event)
    assert [update.type for update in session.push_all(end("a"))] == ["complete"]
    played = play_all(vercel_ai, [kind.start("a"), kind.delta("a", "[1]"), end("a"), kind.final("a", [2]), end("a")])
    assert played.texts == [("a", "[1]")]
    assert played.diagnostics == []
    after = [STEP, step_end("stop"), kind.start("b"), kind.delta("b", "[]"), end("b")]
    assert play_all(vercel_ai, after).steps[-1] == ("complete", "b")


@both
def test_open_at_the_end_of_the_step_or_of_the_events(kind: Any) -> None:
    """V2."""
    begun = [STEP, kind.start("a"), kind.delta("a", "[1]"), kind.start("b"), kind.delta("b", "[2]")]
    for more in ([], [end("a")], [UI_STEP_END], [step_end("tool-calls")]):
        assert play_all(vercel_ai, [*begun, *more]).texts == [("a", "[1]"), ("b", "[2]")]
    session = vercel_ai()
    for event in begun:
        session.push_all(event)
    assert [update.type for update in session.push_all(UI_STEP_END)] == ["complete", "complete"]


@both
@pytest.mark.parametrize(
    "more",
    [[end("a")], [STEP, end("a"), step_end("tool-calls")], [UI_STEP_END], [UI_STEP_END, finish("stop")], []],
)
def test_no_arguments(kind: Any, more: list[Any]) -> None:
    """S65."""
    assert play_all(vercel_ai, [kind.start("a"), *more], snake=True).texts == [("a", "{}")]


@both
@pytest.mark.parametrize("pieces", [[], ['{"a":"b']])
@pytest.mark.parametrize(
    "more",
    [[end("a"), step_end("length")], [step_end("length")], [UI_STEP_END, finish("length")], [finish("length")]],
)
def test_a_cut_call_is_never_complete(kind: Any, pieces: list[str], more: list[Any]) -> None:
    """F37."""
    for inside in ([STEP], []):
        events = [*inside, kind.final("w", {}), kind.start("a"), *(kind.delta("a", piece) for piece in pieces), *more]
        played = play_all(vercel_ai, events, snake=True)
        assert [id for id, _ in played.texts] == ["w"]
        assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")


def test_a_whole_call_and_a_limit_in_its_step() -> None:
    """F37: without a final input the step cannot say that it was not cut."""
    played = play_all(vercel_ai, [STEP, Full.start("a"), Full.delta("a", "{}"), end("a"), step_end("length")])
    assert played.texts == []
    assert played.error.code == "INCOMPLETE_JSON"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"type": "error", "error": "It broke."}, "It broke."),
        ({"type": "error", "error": {"message": "It broke.", "code": 5}}, "It broke."),
        ({"type": "error", "error": {"statusCode": 5}}, "The response failed."),
        ({"type": "error", "error": None}, "The response failed."),
        ({"type": "error", "errorText": "It broke."}, "It broke."),
        ({"type": "tool-input-error", "toolCallId": "a", "input": {}, "errorText": "It broke."}, "It broke."),
        (Full.final("a", "x", invalid=True, error={"message": "It broke."}), "It broke."),
        (Full.final("a", "x", invalid=True), "The model called a tool in a way that is not valid."),
    ],
)
def test_failures(event: dict[str, Any], message: str) -> None:
    """V6, F38."""
    begun = [Full.final("w", {}), Full.start("a"), Full.delta("a", "{}")]
    played = play_all(vercel_ai, [*begun, event, end("a")], snake=True)
    assert [id for id, _ in played.texts] == ["w"]
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", message)
    assert (played.error.adapter, played.error.event_type) == ("vercel-ai", event["type"])


@pytest.mark.parametrize(
    "wrap", [lambda error: {"type": "error", "error": error}, lambda e: Full.final("a", "", invalid=True, error=e)]
)
def test_an_error_object_is_raised_as_it_is(wrap: Any) -> None:
    """V6, S85."""
    original = ValueError("mine")
    played = play(vercel_ai, [wrap(original)])
    assert played.error is original
    assert (original.code, original.adapter) == ("INTEGRATION_ERROR", "vercel-ai")  # type: ignore[attr-defined]


@both
def test_unknown_calls(kind: Any) -> None:
    """V8, S82, S83."""
    events = [
        kind.start(None),
        kind.delta(None, "{}"),
        end(None),
        kind.final(None, {}),
        end("x"),
        STEP,
        end("x"),
        end(None),
    ]
    played = play_all(vercel_ai, events)
    assert played.steps == []
    assert played.unmatched == [None, None, None, None, "x", "x", None]
    missing = play_all(vercel_ai, [kind.delta("missing", "{}")]).error
    assert (missing.code, missing.id, missing.event_type) == ("UNKNOWN_STREAM", "missing", "tool-input-delta")


@both
def test_malformed_deltas(kind: Any) -> None:
    """S84: at the latest when nothing makes up for them."""
    begun = [kind.start("b"), kind.start("a"), kind.delta("a", "{]")]
    for more in ([], [end("a")], [step_end("stop")]):
        played = play_all(vercel_ai, [*begun, *more])
        assert (played.error.code, played.error.id) == ("MISMATCHED_CLOSING", "a")


def test_an_input_that_is_no_json() -> None:
    played = play(vercel_ai, [Full.final("a", {"x": {1, 2}})])
    assert played.error.code == "INTEGRATION_ERROR"
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    assert play(vercel_ai, [Full.final("a", deep)]).error.code == "MAX_DEPTH_EXCEEDED"
