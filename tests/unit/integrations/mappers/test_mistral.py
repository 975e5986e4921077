"""Mistral's chunks and events. F and S numbers, section 11.10: ../shared/reference."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import play, play_all

from unspool.integrations import mistral


def chunk(
    *calls: dict[str, Any], reason: str | None = None, framed: bool = False, camel: bool = False
) -> dict[str, Any]:
    delta: dict[str, Any] = {"content": ""}
    if calls:
        delta["toolCalls" if camel else "tool_calls"] = list(calls)
    inner = {"id": "c", "choices": [{"index": 0, "delta": delta, "finishReason" if camel else "finish_reason": reason}]}
    return {"data": inner} if framed else inner


def call(id: str | None, name: str, arguments: Any, index: int | None = 0) -> dict[str, Any]:
    return {"id": id, "index": index, "function": {"name": name, "arguments": arguments}}


def part(id: str | None, arguments: Any) -> dict[str, Any]:
    inner = {"type": "function.call.delta", "id": "e", "name": "f", "toolCallId": id, "arguments": arguments}
    return {"event": "function.call.delta", "data": inner}


@pytest.mark.parametrize("framed", [True, False])
@pytest.mark.parametrize("camel", [True, False])
def test_chat(framed: bool, camel: bool) -> None:
    """Bare chunks of the wire, and frames of the SDKs."""
    shape: dict[str, Any] = {"framed": framed, "camel": camel}
    events = [
        chunk(**shape),
        chunk(call("a", "f", '{"x":'), call("b", "g", "[]", 1), **shape),
        chunk(call(None, "", "1}"), **shape),
        chunk(reason="tool_calls", **shape),
    ]
    played = play_all(mistral, events, snake=True)
    assert played.texts == [("a", '{"x":1}'), ("b", "[]")]
    assert played.diagnostics == []


def test_what_the_sdk_makes_of_absent_fields() -> None:
    """Its models have "null" for an id and 0 for an index that did not come."""
    events = [
        chunk(call("a", "f", '{"x":1}'), call("b", "f", '{"x":2}'), framed=True),
        chunk(call("c", "f", "", 0), framed=True),
        chunk(call("null", "", "{}", 0), framed=True),
    ]
    played = play_all(mistral, events)
    assert played.texts == [("a", '{"x":1}'), ("b", '{"x":2}'), ("c", "{}")]
    assert played.diagnostics == []


def test_decoded_arguments() -> None:
    assert play_all(mistral, [chunk(call("a", "f", {"x": [1]}))]).texts == [("a", '{"x":[1]}')]


@pytest.mark.parametrize("reason", ["length", "model_length"])
@pytest.mark.parametrize("arguments", ["", '{"a":"b', "{}"])
def test_a_cut_call_is_never_complete(reason: str, arguments: str) -> None:
    """F37."""
    played = play_all(mistral, [chunk(call("a", "f", arguments)), chunk(reason=reason)])
    assert played.texts == []
    assert (played.error.code, played.error.adapter) == ("INCOMPLETE_JSON", "mistral")


def test_error_reason() -> None:
    played = play_all(mistral, [chunk(call("a", "f", "{}")), chunk(reason="error", framed=True)])
    assert played.error.code == "INTEGRATION_ERROR"


def test_conversation() -> None:
    """Events of conversations: pieces by the id of their call."""
    done = {"event": "x", "data": {"type": "conversation.response.done", "usage": {}}}
    events = [
        {"data": {"type": "conversation.response.started"}},
        {"data": {"type": "message.output.delta", "content": "{"}},
        {"data": {"type": "tool.execution.started", "id": "t", "name": "web_search", "arguments": "{}"}},
        part("a", '{"x":'),
        part("b", ""),
        part("a", "1}"),
        done,
    ]
    played = play_all(mistral, events, snake=True)
    assert played.texts == [("a", '{"x":1}'), ("b", "{}")]
    assert play_all(mistral, [event["data"] for event in events], snake=True).texts == played.texts
    assert play_all(mistral, events[:-1], snake=True).texts == played.texts


def test_conversation_without_ids() -> None:
    """S82."""
    played = play_all(mistral, [part(None, "{}"), part("a", {"x": 1})])
    assert played.texts == [("a", '{"x":1}')]
    assert played.unmatched == [None]


def test_conversation_error() -> None:
    failed = {"data": {"type": "conversation.response.error", "message": "It broke.", "code": 500}}
    played = play_all(mistral, [part("a", "{}"), failed])
    assert played.texts == []
    assert (played.error.message, played.error.event_type) == ("It broke.", "conversation.response.error")


def test_in_the_manner_of_responses() -> None:
    """11.10: argument events with `itemId`; the final arguments count."""
    events = [
        {"data": {"type": "response.function_call_arguments.delta", "itemId": "fc", "delta": '{"x"'}},
        {"data": {"type": "response.function_call_arguments.done", "itemId": "fc", "arguments": '{"x":1}'}},
    ]
    assert play_all(mistral, events, snake=True).texts == [("fc", '{"x":1}')]


def test_malformed_arguments() -> None:
    played = play(mistral, [part("a", "]")])
    assert (played.error.code, played.error.event_type) == ("UNEXPECTED_TOKEN", "function.call.delta")
