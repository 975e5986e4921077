"""Events of Cohere's chat stream, version 2. C, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import cohere


def start(index: int | None, id: str | None, arguments: str | None = "", name: str = "toolCalls") -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"type": "tool-call-start", "index": index, "delta": {"message": {name: call}}}


def delta(index: int | None, piece: str, name: str = "toolCalls") -> dict[str, Any]:
    call = {"function": {"arguments": piece}}
    return {"type": "tool-call-delta", "index": index, "delta": {"message": {name: call}}}


def end(index: int | None) -> dict[str, Any]:
    return {"type": "tool-call-end", "index": index}


def over(reason: str | None = "TOOL_CALL", error: str | None = None) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finishReason": reason, "error": error, "usage": {}}}


NOISE = [
    {"type": "message-start", "id": "m"},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "{"}}},
    {"type": "content-start", "index": 0, "delta": {}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "{"}}}},
    {"type": "content-end", "index": 0},
    {"type": "citation-start", "index": 0},
    {"type": "debug", "prompt": "x"},
]


@pytest.mark.parametrize("name", ["toolCalls", "tool_calls"])
def test_calls(name: str) -> None:
    """C1, C2, C4: by their index, which may start anywhere."""
    events = [
        *NOISE,
        *(start(1, "a", name=name), delta(1, '{"x"', name), delta(1, ":1}", name), end(1)),
        *(start(2, "b", name=name), delta(2, "[]", name), end(2)),
        over(),
    ]
    played = play_all(cohere, events, snake=True)
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.steps[:4] == [("start", "a"), ("update", "a"), ("update", "a"), ("complete", "a")]
    assert played.diagnostics == []


def test_arguments_of_the_start() -> None:
    """C2: they are the beginning of the text."""
    played = play_all(cohere, [start(0, "a", '{"x":'), delta(0, "1}"), end(0)])
    assert played.texts == [("a", '{"x":1}')]
    assert played.partials[0] == {}


def test_a_list_of_one() -> None:
    events = [start(0, "a"), delta(0, "[]"), end(0)]
    for event in events[:2]:
        event["delta"]["message"]["toolCalls"] = [event["delta"]["message"]["toolCalls"]]
    assert play_all(cohere, events).texts == [("a", "[]")]


def test_end_of_events() -> None:
    """C2."""
    assert play_all(cohere, [start(0, "a"), delta(0, "{}")]).texts == [("a", "{}")]


@pytest.mark.parametrize("arguments", [None, "", " "])
@pytest.mark.parametrize(
    "more", [[over()], [over("COMPLETE")], [start(1, "b", "{}"), end(1), over()], [over(None)], []]
)
def test_no_arguments(arguments: str | None, more: list[Any]) -> None:
    """S65."""
    played = play_all(cohere, [start(0, "a", arguments), end(0), *more])
    assert played.texts[0] == ("a", "{}")
    assert played.error is None


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "TIMEOUT"])
@pytest.mark.parametrize("arguments", ["", '{"a":"b'])
@pytest.mark.parametrize("ended", [True, False])
def test_a_cut_call_is_never_complete(reason: str, arguments: str, ended: bool) -> None:
    """F37."""
    events = [start(0, "w", "[]"), end(0), start(1, "a", arguments), *[end(1)] * ended, over(reason)]
    played = play_all(cohere, events, snake=True)
    assert played.texts == [("w", "[]")]
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")


@pytest.mark.parametrize("event", [over("ERROR", "It broke."), over(None, "It broke."), over("ERROR")])
def test_generation_errors(event: dict[str, Any]) -> None:
    """C3."""
    played = play_all(cohere, [start(0, "a"), delta(0, "{}"), event], snake=True)
    assert played.texts == []
    assert (played.error.code, played.error.event_type) == ("INTEGRATION_ERROR", "message-end")
    assert "broke" in played.error.message


def test_unknown_calls() -> None:
    """C4, S82."""
    played = play_all(cohere, [delta(3, "{}"), end(3), start(4, None), delta(4, "x"), end(4)])
    assert played.steps == []
    assert played.unmatched == [None] * 5


def test_malformed_arguments() -> None:
    """C3."""
    assert play(cohere, [start(0, "a"), delta(0, "]")]).error.code == "UNEXPECTED_TOKEN"
