"""Conversations in the words of chat completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import Request
from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.openai_chat import OpenAIChatAdapter

PICTURE = Image(b"\x89PNG\r\n\x1a\n", detail="low")
PICTURE_WIRE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
LINK = Image("https://pictures.example/a.jpg")
LINK_WIRE = {"type": "image_url", "image_url": {"url": "https://pictures.example/a.jpg"}}


def written(*messages: Message, **server: Any) -> list[dict[str, Any]]:
    request = OpenAIChatAdapter(**server).build(Request("m", messages), api_key=None, base_url="http://localhost/v1")
    sent: list[dict[str, Any]] = json.loads(request.body)["messages"]
    return sent


def test_conversation() -> None:
    sent = written(
        SystemMessage("Be brief."),
        UserMessage(["What is ", "6 x 7?"]),
        Message(
            "assistant",
            [ReasoningPart("think"), "Let me see.", ToolCall("a", "mul", '{"x": 6}'), ToolCall("b", "now", " ")],
        ),
        ToolMessage([ToolResult("a", "42"), ToolResult("b", "noon", is_error=True)]),
        Message("assistant", [ToolCall("c", "f", "{}")]),
        ToolMessage(ToolResult("c", "")),
        Message("assistant", [RefusalPart("No.")]),
        AssistantMessage("Done."),
        Message("assistant"),
    )
    assert sent == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 6 x 7?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "mul", "arguments": '{"x": 6}'}},
                {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}},  # S65
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "42"},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "assistant", "content": "", "refusal": "No."},
        {"role": "assistant", "content": "Done."},
        {"role": "assistant", "content": ""},
    ]


def test_reasoning_sent_back() -> None:
    """F33: where the server demands it, an empty text counts."""
    history = (
        UserMessage("Hi"),
        Message("assistant", [ReasoningPart("why"), ToolCall("a", "f", "{}")]),
        ToolMessage(ToolResult("a", "1")),
        AssistantMessage("x"),
    )
    sent = written(*history, reasoning_field="reasoning_content")
    assert [message.get("reasoning_content") for message in sent] == [None, "why", None, ""]
    assert not any("reasoning_content" in message for message in written(*history))


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([Message("user", [ToolResult("a", "1")])], "INVALID_OPTIONS"),
        ([Message("system", [ToolCall("a", "f", "{}")])], "INVALID_OPTIONS"),
        ([Message("tool", [TextPart("x")])], "INVALID_OPTIONS"),
        ([Message("assistant", [ToolResult("a", "1")])], "INVALID_OPTIONS"),
        ([Message("assistant", [ToolCall("a", "f", '{"x', truncated=True)])], "INVALID_OPTIONS"),  # F37
        ([Message("user", [File("a.txt")])], "UNSUPPORTED"),
        ([Message("user", [PICTURE, File("a.txt")])], "UNSUPPORTED"),
        ([Message("assistant", [File("a.txt")])], "UNSUPPORTED"),
        ([ToolMessage(ToolResult("a", [File("a.txt")]))], "UNSUPPORTED"),
        ([Message("system", [PICTURE])], "UNSUPPORTED"),
        ([Message("user", [PICTURE, ReasoningPart("x")])], "INVALID_OPTIONS"),
        ([Message("user", [ProviderPart("x", Replay("y", {}))])], "INVALID_OPTIONS"),
    ],
)
def test_conversation_that_cannot_be_sent(messages: list[Message], code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        written(*messages)
    assert caught.value.code == code


def test_images_of_the_user() -> None:
    sent = written(UserMessage(["What is ", PICTURE, "and", LINK]))
    assert sent == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is "}, PICTURE_WIRE, {"type": "text", "text": "and"}, LINK_WIRE],
        }
    ]


def test_images_of_tools_are_shown_behind_the_results() -> None:
    """The wire wants every result right behind its call, and text in it: user messages of ours show the pictures."""
    history = (
        UserMessage("Draw."),
        Message("assistant", [ToolCall("a", "draw", "{}"), ToolCall("b", "draw", "{}")]),
        ToolMessage(ToolResult("a", ["Done: ", PICTURE])),
        ToolMessage(ToolResult("b", LINK)),
        UserMessage("Nice?"),
    )
    results = [
        {"role": "tool", "tool_call_id": "a", "content": "Done: "},
        {"role": "tool", "tool_call_id": "b", "content": "The result is shown below."},
    ]
    shown = [
        {"role": "user", "content": [{"type": "text", "text": f"Images of the tool result {id}:"}, picture]}
        for id, picture in (("a", PICTURE_WIRE), ("b", LINK_WIRE))
    ]
    assert written(*history)[2:] == [*results, *shown, {"role": "user", "content": "Nice?"}]
    assert written(*history[:4])[2:] == [*results, *shown]
    inside = written(*history, images_in_tool_results=True)[2:]
    assert inside[0]["content"] == [{"type": "text", "text": "Done: "}, PICTURE_WIRE]
    assert inside[1]["content"] == [LINK_WIRE]
    assert len(inside) == 3


def test_images_of_an_answer_are_shown_behind_it() -> None:
    sent = written(Message("assistant", ["Here.", PICTURE]), UserMessage("Bigger."))
    assert sent == [
        {"role": "assistant", "content": "Here."},
        {"role": "user", "content": [{"type": "text", "text": "Images of your answer above:"}, PICTURE_WIRE]},
        {"role": "user", "content": "Bigger."},
    ]


def test_replay_state_goes_back_to_its_adapter_only() -> None:
    """F23, F33: reasoning details travel unread, under the name of the adapter that took them in."""
    details = [{"type": "reasoning.encrypted", "data": "gAAA", "index": 0}]
    part = ProviderPart("reasoning_details", Replay("openrouter", {"reasoning_details": details}))
    foreign = ProviderPart("web_search", Replay("anthropic", {"x": 1}))
    message = Message("assistant", ["Hi", part, foreign])
    assert written(message, name="openrouter") == [{"role": "assistant", "content": "Hi", "reasoning_details": details}]
    assert written(message) == [{"role": "assistant", "content": "Hi"}]
