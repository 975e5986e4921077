"""Integrations by name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.calls import as_object, play_all

import unspool as us
from unspool import integrations
from unspool.errors import StreamError
from unspool.integrations.integration import Integration

NAMES = [name for name in integrations.__all__ if name != "Integration"]


@pytest.mark.parametrize("name", NAMES)
def test_every_integration_makes_sessions_of_its_own(name: str) -> None:
    """S78, S87: without an SDK; options are the pool's."""
    integration = getattr(us.integrations, name)
    assert isinstance(integration, Integration)
    assert integration.name in repr(integration)
    one, other = integration(max_bytes=5, on_diagnostic=print), integration()
    assert one.pool is not other.pool
    assert one.push_all({"type": "something else"}) == []
    with pytest.raises(StreamError, match="INVALID_OPTIONS"):
        integration(max_depth=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_one_in_errors(name: str) -> None:
    """S85."""
    integration = getattr(us.integrations, name)
    session = integration()
    session.close()
    with pytest.raises(StreamError, match="STREAM_DISPOSED") as caught:
        session.finish()
    assert caught.value.adapter == integration.name


def chat(function: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": function}]}}]}


STARTS: list[tuple[str, dict[str, Any]]] = [
    ("ag_ui", {"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "f"}),
    (
        "anthropic",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f"}},
    ),
    (
        "assistant_ui",
        {"type": "part-start", "path": [0], "part": {"type": "tool-call", "toolCallId": "a", "toolName": "f"}},
    ),
    ("bedrock", {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "f"}}}}),
    (
        "cohere",
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {"message": {"tool_calls": {"id": "a", "function": {"name": "f"}}}},
        },
    ),
    ("gemini", {"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "a", "name": "f"}}),
    ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"id": "a", "name": "f", "args": {}}}]}}]}),
    (
        "gemini",
        {"candidates": [{"content": {"parts": [{"functionCall": {"id": "a", "name": "f", "willContinue": True}}]}}]},
    ),
    ("langchain", {"tool_call_chunks": [{"index": 0, "id": "a", "name": "f", "args": ""}]}),
    ("mistral", {"type": "function.call.delta", "tool_call_id": "a", "name": "f", "arguments": ""}),
    ("mistral", {"data": chat({"name": "f", "arguments": ""})}),
    ("openai", {"type": "response.output_item.added", "item": {"type": "function_call", "id": "a", "name": "f"}}),
    ("openai_chat", chat({"name": "f", "arguments": ""})),
    ("vercel_ai", {"type": "tool-input-start", "id": "a", "toolName": "f"}),
    ("vercel_ai", {"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}),
]


@pytest.mark.parametrize(("name", "event"), STARTS)
@pytest.mark.parametrize("shape", [dict, as_object], ids=["dict", "object"])
def test_the_first_update_of_a_call_names_the_tool(name: str, event: dict[str, Any], shape: Any) -> None:
    """And it is the same on all that follow; those of recordings stand with the wire's tests."""
    update = getattr(us.integrations, name)().push_all(shape(event))[0]
    assert (update.type, update.id, update.name) == ("start", "a", "f")


def test_every_integration_has_a_start() -> None:
    assert {name for name, _ in STARTS} == set(NAMES)


LATE: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "openai",
        [
            {"type": "response.function_call_arguments.delta", "item_id": "a", "delta": "{}"},
            {"type": "response.output_item.added", "item": {"type": "function_call", "id": "a", "name": "f"}},
            {"type": "response.function_call_arguments.done", "item_id": "a", "arguments": "{}"},
        ],
    ),
    (
        "openai",
        [
            {"type": "response.function_call_arguments.delta", "item_id": "a", "delta": "{}"},
            {"type": "response.function_call_arguments.done", "item_id": "a", "arguments": "{}", "name": "f"},
        ],
    ),
    (
        "openai",
        [{"type": "response.function_call_arguments.done", "item_id": "a", "arguments": "{}", "name": "f"}],
    ),
    ("openai_chat", [chat({"arguments": "{"}), chat({"name": "f", "arguments": "}"})]),
    (
        "vercel_ai",
        [
            {"type": "tool-input-start", "toolCallId": "a"},
            {"type": "tool-input-available", "toolCallId": "a", "toolName": "f", "input": {}},
        ],
    ),
]


@pytest.mark.parametrize(("name", "events"), LATE)
def test_a_name_that_comes_late_is_on_the_completion(name: str, events: list[dict[str, Any]]) -> None:
    played = play_all(getattr(us.integrations, name), events)
    assert played.names == [("a", "f")]
    assert played.late_names == ["a"] * (len(events) > 1)
