"""Conversations as Cohere's chat API takes them. Expected values: its reference and errors that it gives."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    Part,
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
from unspool.providers.cohere_messages import conversation_of

PNG = b"\x89PNG\r\n\x1a\n"
DATA_URL = "data:image/png;base64,iVBORw0KGgo="
HI = UserMessage("Hi")


def replay(kind: str, adapter: str = "cohere") -> Replay:
    return Replay(adapter, {"type": kind})


def said(*parts: Part | str) -> dict[str, Any]:
    """The assistant's message that these parts become."""
    return conversation_of([HI, Message("assistant", list(parts))])[1]


def test_one_system_message_stands_first() -> None:
    sent = conversation_of([SystemMessage("Be brief."), HI, AssistantMessage("Yes?"), SystemMessage("Now in French.")])
    assert sent == [
        {"role": "system", "content": "Be brief.\n\nNow in French."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
    ]
    assert conversation_of([HI], note="Answer with JSON.")[0] == {"role": "system", "content": "Answer with JSON."}
    assert conversation_of([SystemMessage(" "), HI]) == [{"role": "user", "content": "Hi"}]


def test_images() -> None:
    sent = conversation_of([UserMessage(["Look:", Image(PNG, detail="low"), Image("https://h/x.png")])])
    assert sent[0]["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://h/x.png"}},
    ]


def test_thinking_and_plan_go_back_to_their_places() -> None:
    """Beside calls the API refuses text in the content: what the model said there is part of the plan."""
    call = ToolCall("a", "f", '{"x": 1}')
    wire = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    thinking = ReasoningPart("Hm.", replay=replay("thinking"))
    plan = ReasoningPart("I will look.", replay=replay("tool_plan"))
    assert said(thinking, "Four.") == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Four."}],
    }
    assert said(plan, call) == {"role": "assistant", "tool_calls": [wire], "tool_plan": "I will look."}
    assert said(thinking, plan, "Wait.", call) == {
        "role": "assistant",
        "tool_calls": [wire],
        "tool_plan": "I will look.\n\nWait.",
        "content": [{"type": "thinking", "thinking": "Hm."}],
    }
    assert said(call) == {"role": "assistant", "tool_calls": [wire]}
    assert said(plan, "No calls.") == {"role": "assistant", "content": "No calls."}
    assert said("No. ", RefusalPart("I cannot.")) == {"role": "assistant", "content": "No. I cannot."}


def test_state_of_others_is_left_out() -> None:
    parts = [
        ReasoningPart("secret"),
        ReasoningPart("theirs", replay=replay("thinking", "anthropic")),
        ProviderPart("web_search", replay("web_search", "openai")),
    ]
    assert said(*parts, "Hi.") == {"role": "assistant", "content": "Hi."}
    assert conversation_of([HI, Message("assistant", parts), UserMessage("And?")]) == [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "And?"},
    ]


def test_blank_arguments_are_an_empty_object() -> None:
    """S65."""
    assert said(ToolCall("a", "now", " "))["tool_calls"][0]["function"] == {"name": "now", "arguments": "{}"}


def test_results() -> None:
    """Pictures are shown behind the last of the results, which must follow their calls at once."""
    calls = Message("assistant", [ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}")])
    results = [
        ToolMessage(ToolResult("a", [Image(PNG)])),
        ToolMessage(ToolResult("b", "No such city", is_error=True)),
    ]
    shown = [
        {"type": "text", "text": "Images of the tool result a:"},
        {"type": "image_url", "image_url": {"url": DATA_URL}},
    ]
    sent = conversation_of([HI, calls, *results, UserMessage("Well?")])
    assert sent[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "The result is shown below."},
        {"role": "tool", "tool_call_id": "b", "content": "No such city"},
        {"role": "user", "content": shown},
        {"role": "user", "content": "Well?"},
    ]
    assert conversation_of([HI, calls, *results])[-1] == {"role": "user", "content": shown}


def test_pictures_of_other_models_are_shown() -> None:
    sent = conversation_of([HI, Message("assistant", ["Here:", Image(PNG)])])
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == "Here:"
    assert sent[2]["content"][1]["image_url"] == {"url": DATA_URL}


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([], "INVALID_OPTIONS"),
        ([SystemMessage("alone")], "INVALID_OPTIONS"),
        ([Message("system", [Image(PNG)])], "UNSUPPORTED"),
        ([UserMessage([File("a.txt")])], "UNSUPPORTED"),
        ([Message("user", [ToolCall("a", "f", "{}"), Image(PNG)])], "INVALID_OPTIONS"),
        ([HI, Message("assistant", [ToolResult("a", "x")])], "INVALID_OPTIONS"),
        ([HI, Message("assistant", [ToolCall("a", "f", '{"x', truncated=True)])], "INVALID_OPTIONS"),
        ([HI, Message("tool", [TextPart("x")])], "INVALID_OPTIONS"),
        ([HI, ToolMessage(ToolResult("a", [File("a.txt")]))], "UNSUPPORTED"),
    ],
)
def test_what_has_no_form(messages: list[Message], code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        conversation_of(messages)
    assert caught.value.code == code
