"""Events of OpenAI's Responses API. O, S and F numbers: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.errors import ProviderError, StreamError
from unspool.integrations import openai


def added(id: str | None, kind: str = "function_call") -> dict[str, Any]:
    item = {"id": id, "type": kind, "call_id": f"call_{id}", "name": "f", "arguments": "", "status": "in_progress"}
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


def delta(id: str | None, piece: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "item_id": id, "output_index": 0, "delta": piece}


def done(id: str | None, arguments: str | None) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.done", "item_id": id, "arguments": arguments}


def item_done(id: str, status: str) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": {"id": id, "type": "function_call", "status": status}}


def incomplete(reason: str | None) -> dict[str, Any]:
    return {"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}


COMPLETED = {"type": "response.completed", "response": {"status": "completed"}}
NOISE = [
    {"type": "response.created", "response": {}},
    added("msg", "message"),
    {"type": "response.output_text.delta", "item_id": "msg", "delta": '{"no":'},
    {"type": "response.output_item.done", "item": {"id": "msg", "type": "message", "status": "completed"}},
    {"type": "response.custom_tool_call_input.delta", "item_id": "ctc", "delta": "x"},
    {"type": "response.mcp_call_arguments.delta", "item_id": "mcp", "delta": "{"},
]


def test_call() -> None:
    """O1, O2, O3, O9: the id is the item's."""
    events = [*NOISE, added("fc"), delta("fc", '{"a":'), delta("fc", "1}"), done("fc", '{"a":1}')]
    played = play_all(openai, [*events, item_done("fc", "completed"), COMPLETED])
    assert played.steps == [("start", "fc"), ("update", "fc"), ("update", "fc"), ("complete", "fc")]
    assert played.texts == [("fc", '{"a":1}')]
    assert played.diagnostics == []


def test_parallel_calls() -> None:
    played = play_all(
        openai, [added("a"), added("b"), delta("b", "[1"), delta("a", "[2]"), done("a", "[2]"), delta("b", "]")]
    )
    assert played.values == [("a", [2]), ("b", [1])]


def test_delta_before_its_item() -> None:
    """O2: it starts the call; the item that is added later is the same call."""
    played = play_all(openai, [delta("fc", "["), added("fc"), delta("fc", "]"), done("fc", "[]")])
    assert played.steps == [("start", "fc"), ("update", "fc"), ("update", "fc"), ("complete", "fc")]


def test_done_without_anything_before() -> None:
    """O4: the start holds the value already."""
    played = play_all(openai, [done("fc", '{"a":1}')])
    assert played.steps == [("start", "fc"), ("complete", "fc")]
    assert played.partials == [{"a": 1}, {"a": 1}]


@pytest.mark.parametrize("streamed", [[], ['{"a":'], ['{"a":2}'], ["oops"], ["{]"], ['{"a":1}}']], ids=repr)
def test_the_final_arguments_count(streamed: list[str]) -> None:
    """O5, S62, S63: whatever the deltas were: missing, cut, different or broken."""
    played = play_all(openai, [added("fc"), *(delta("fc", piece) for piece in streamed), done("fc", '{"a":1}')])
    assert played.texts == [("fc", '{"a":1}')]
    assert played.error is None


def test_broken_deltas_and_no_final_arguments() -> None:
    played = play_all(openai, [added("fc"), delta("fc", "oops"), done("fc", "")])
    assert (played.error.code, played.error.id) == ("INVALID_JSON", "fc")
    assert play_all(openai, [added("fc"), delta("fc", "oops")]).error.code == "INVALID_JSON"


def test_broken_final_arguments() -> None:
    played = play_all(openai, [added("fc"), delta("fc", "{}"), done("fc", '{"a"')])
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "fc")


def test_matching_final_arguments_keep_the_value() -> None:
    """S62: nothing is read again."""
    session = openai(snapshots="immutable")
    session.push_all(added("fc"))
    shown = session.push_all(delta("fc", '{"a":[1]}'))[0].partial_value
    assert session.push_all(done("fc", '{"a":[1]}'))[0].partial_value is shown


def test_repeated_done() -> None:
    """O6: ignored, and an explicit start allows the id again."""
    once = [added("fc"), delta("fc", "[1]"), done("fc", "[1]"), done("fc", "[1]"), done("fc", "[2]")]
    played = play_all(openai, [*once, added("fc"), done("fc", "[3]")])
    assert played.values == [("fc", [1]), ("fc", [3])]
    assert played.diagnostics == []


def test_a_late_delta_starts_nothing() -> None:
    played = play_all(openai, [added("fc"), done("fc", "[1]"), delta("fc", "[")])
    assert played.values == [("fc", [1])]
    assert played.unmatched == ["fc"]


def test_a_second_start_of_an_open_call() -> None:
    played = play_all(openai, [added("fc"), added("fc")])
    assert (played.error.code, played.error.id) == ("DUPLICATE_STREAM", "fc")


def test_missing_ids() -> None:
    """O10, S82."""
    played = play_all(openai, [added(None), delta(None, "{}"), done(None, "{}")])
    assert played.steps == []
    assert played.unmatched == [None, None, None]
    assert played.error is None


@pytest.mark.parametrize("end", [[item_done("fc", "completed")], [COMPLETED], [added("next"), done("next", "{}")], []])
def test_no_arguments(end: list[Any]) -> None:
    """S65."""
    played = play_all(openai, [added("fc"), done("fc", ""), *end])
    assert played.texts[0] == ("fc", "{}")
    assert played.error is None


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter", None])
@pytest.mark.parametrize(
    "cut",
    [[], [delta("fc", '{"a":"x')], [done("fc", "")], [done("fc", ""), item_done("fc", "incomplete")]],
    ids=["nothing", "some", "done", "item"],
)
def test_incomplete(reason: str | None, cut: list[Any]) -> None:
    """O7, F37: what is complete already stays, the rest never is."""
    played = play_all(openai, [added("first"), done("first", "{}"), added("fc"), *cut, incomplete(reason)])
    assert [id for id, _ in played.texts] == ["first"]
    assert (played.error.code, played.error.event_type) == ("INTEGRATION_ERROR", "response.incomplete")
    assert (reason or "no reason") in played.error.message


def test_incomplete_because_it_was_steered() -> None:
    """O8."""
    played = play_all(openai, [added("fc"), delta("fc", "{}"), incomplete("steered"), done("fc", "{}")])
    assert played.texts == [("fc", "{}")]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "The server broke.", "param": None},
        {"type": "error", "error": {"code": "server_error", "message": "The server broke."}},
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "The server broke."}}},
    ],
    ids=["error", "nested", "failed"],
)
def test_failures(event: dict[str, Any]) -> None:
    """O7, F38, F56: message, cause and calls."""
    played = play_all(openai, [added("a"), done("a", "{}"), added("fc"), delta("fc", '{"a"'), event])
    assert isinstance(played.error, StreamError)
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "The server broke.")
    assert (played.error.adapter, played.error.event_type) == ("openai", event["type"])
    assert [id for id, _ in played.texts] == ["a"]
    cause = play(openai, [event]).error.__cause__
    assert isinstance(cause, ProviderError)
    assert cause.raw is not None
    assert cause.raw["code"] == "server_error"
    assert cause.message == "The server broke."


def test_an_incomplete_response_keeps_its_details() -> None:
    """O7: the details are the cause."""
    cause = play(openai, [incomplete("content_filter")]).error.__cause__
    assert isinstance(cause, ProviderError)
    assert cause.raw == {"reason": "content_filter"}


def test_camel_case_item_ids() -> None:
    """11.10: frames of Mistral's SDK."""
    events = [
        {"type": "response.function_call_arguments.delta", "itemId": "fc", "delta": "{"},
        {"type": "response.function_call_arguments.done", "itemId": "fc", "arguments": "{}"},
    ]
    assert play_all(openai, events, snake=True).texts == [("fc", "{}")]


def test_ids_that_cannot_be_ids() -> None:
    played = play(openai, [{"type": "response.function_call_arguments.delta", "item_id": ["x"], "delta": "{"}])
    assert played.error.code == "INVALID_OPTIONS"
