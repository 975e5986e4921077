"""Conversations in the words of Ollama's own API."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    Image,
    Message,
    Origin,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.ollama_messages import conversation_of

PNG = b"\x89PNG\r\n\x1a\n"
DATA = "iVBORw0KGgo="


def sent(*messages: Message) -> list[dict[str, Any]]:
    return conversation_of(messages)


def test_conversation() -> None:
    answer = Message(
        "assistant",
        [ReasoningPart("Hm."), "Both.", ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "")],
        origin=Origin("ollama-native", "m"),
    )
    assert sent(
        SystemMessage("S."),
        UserMessage(["What ", "is this?", Image(PNG)]),
        answer,
        ToolMessage([ToolResult("a", ["Rain", Image(PNG)]), ToolResult("b", Image(PNG), is_error=True)]),
        ToolMessage(ToolResult("unknown", "x")),
        UserMessage("And now?"),
    ) == [
        {"role": "system", "content": "S."},
        {"role": "user", "content": "What is this?", "images": [DATA]},
        {
            "role": "assistant",
            "content": "Both.",
            "thinking": "Hm.",
            "tool_calls": [
                {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
                {"id": "b", "function": {"name": "g", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "Rain", "tool_name": "f", "tool_call_id": "a"},
        {"role": "tool", "content": "The result is shown below.", "tool_name": "g", "tool_call_id": "b"},
        {"role": "tool", "content": "x", "tool_call_id": "unknown"},
        {"role": "user", "content": "Images of the tool result a:", "images": [DATA]},
        {"role": "user", "content": "Images of the tool result b:", "images": [DATA]},
        {"role": "user", "content": "And now?"},
    ]


def test_a_call_is_found_by_its_turn() -> None:
    """Calls without ids are numbered anew in each answer."""
    told = sent(
        AssistantMessage([ToolCall("call_0", "f", "{}")]),
        ToolMessage(ToolResult("call_0", "1")),
        AssistantMessage([ToolCall("call_0", "g", "{}")]),
        ToolMessage(ToolResult("call_0", "2")),
    )
    assert [message.get("tool_name") for message in told] == [None, "f", None, "g"]


def test_what_others_thought_is_not_sent() -> None:
    parts = [ReasoningPart("Hm."), RefusalPart("No."), ProviderPart("x", Replay("other", {"a": 1})), Image(PNG)]
    for origin in (None, Origin("anthropic", "m"), Origin("ollama", "m")):
        assert sent(Message("assistant", parts, origin=origin)) == [
            {"role": "assistant", "content": "No."},
            {"role": "user", "content": "Images of your answer above:", "images": [DATA]},
        ]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (SystemMessage(["x", Image(PNG)]), "UNSUPPORTED"),
        (UserMessage(Image("https://h/x.png")), "UNSUPPORTED"),
        (Message("user", [ToolCall("a", "f", "{}")]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolResult("a", "x")]), "INVALID_OPTIONS"),
        (Message("tool", ["x"]), "INVALID_OPTIONS"),
        (AssistantMessage([ToolCall("a", "f", '{"x":', truncated=True)]), "INVALID_OPTIONS"),
        (AssistantMessage([ToolCall("a", "f", "[1]")]), "INVALID_OPTIONS"),
    ],
)
def test_parts_out_of_place(message: Message, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sent(message)
    assert caught.value.code == code
