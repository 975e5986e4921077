"""Conversations for Bedrock's Converse. Rules: its API reference, and the service model of botocore."""

from __future__ import annotations

import re
from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
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
from unspool.providers.bedrock_messages import conversation_of

PNG = b"\x89PNG\r\n\x1a\n"
SHOWN = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}


def turns(*messages: Message) -> list[dict[str, Any]]:
    return conversation_of(messages)[1]


def test_texts_and_images() -> None:
    """Texts beside each other are one, and blank ones are left out: they are refused."""
    assert turns(UserMessage(["Wh", "at?", Image(PNG), " ", Image(PNG), "", "And?"])) == [
        {"role": "user", "content": [{"text": "What?"}, SHOWN, SHOWN, {"text": "And?"}]}
    ]
    jpeg = Image(b"\xff\xd8\xff", media_type="image/jpg")
    assert turns(UserMessage(jpeg))[0]["content"][0]["image"]["format"] == "jpeg"


def test_system_prompts() -> None:
    system, said = conversation_of(
        [SystemMessage("A."), UserMessage("Hi"), SystemMessage(["B", "."]), SystemMessage(" ")]
    )
    assert system == [{"text": "A."}, {"text": "B."}]
    assert said == [{"role": "user", "content": [{"text": "Hi"}]}]


def test_roles_alternate() -> None:
    """Results belong to the user, and stand before what else the user says."""
    told = turns(
        UserMessage("a"),
        UserMessage("b"),
        AssistantMessage([ToolCall("1", "f", '{"x": 1}')]),
        AssistantMessage([ToolCall("2", "g", " ")]),
        ToolMessage(ToolResult("1", "x")),
        UserMessage("c"),
        ToolMessage(ToolResult("2", "y")),
    )
    assert told == [
        {"role": "user", "content": [{"text": "a"}, {"text": "b"}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "1", "name": "f", "input": {"x": 1}}},
                {"toolUse": {"toolUseId": "2", "name": "g", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "1", "content": [{"text": "x"}]}},
                {"toolResult": {"toolUseId": "2", "content": [{"text": "y"}]}},
                {"text": "c"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("result", "content", "status"),
    [
        (ToolResult("1", ["a", Image(PNG)]), [{"text": "a"}, SHOWN], None),
        (ToolResult("1", "no", is_error=True), [{"text": "no"}], "error"),
        (ToolResult("1", "", is_error=True), [{"text": "The tool failed."}], "error"),
        (ToolResult("1", " "), [{"text": "(nothing)"}], None),
    ],
)
def test_results(result: ToolResult, content: list[Any], status: str | None) -> None:
    """Content must not be empty; the status is known to Claude and Nova only."""
    told = turns(AssistantMessage([ToolCall("1", "f", "")]), ToolMessage(result))[1]["content"]
    assert told == [{"toolResult": {"toolUseId": "1", "content": content} | ({"status": status} if status else {})}]


def test_what_comes_back_to_the_adapter() -> None:
    """F23: reasoning with its signature, hidden reasoning, citations and blocks of the provider's own."""
    citation = {"title": "T", "location": {"web": {"url": "https://h"}}}
    block = {"toolUse": {"toolUseId": "s", "name": "n", "type": "server_tool_use", "input": {}}}
    parts = [
        ReasoningPart("Hm.", replay=Replay("bedrock", {"signature": "s"})),
        ReasoningPart("", redacted=True, replay=Replay("bedrock", {"redactedContent": "YWJj"})),
        ProviderPart("server_tool_use", Replay("bedrock", block)),
        TextPart("So.", replay=Replay("bedrock", {"citations": [citation]})),
        RefusalPart("No."),
        " ",
    ]
    assert turns(UserMessage("Hi"), AssistantMessage(parts))[1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
        {"reasoningContent": {"redactedContent": "YWJj"}},
        block,
        {"citationsContent": {"content": [{"text": "So."}], "citations": [citation]}},
        {"text": "No."},
    ]


def test_what_others_made_is_left_out() -> None:
    parts = [
        ReasoningPart("Hm.", replay=Replay("anthropic", {"signature": "s"})),
        ReasoningPart("Hm."),
        ProviderPart("x", Replay("anthropic", {"type": "x"})),
        TextPart("So.", replay=Replay("anthropic", {"citations": [1]})),
        Image(PNG),
    ]
    assert turns(UserMessage("Hi"), AssistantMessage(parts)) == [
        {"role": "user", "content": [{"text": "Hi"}]},
        {"role": "assistant", "content": [{"text": "So."}]},
        {"role": "user", "content": [{"text": "Images of your answer above:"}, SHOWN]},
    ]


def test_ids_of_others() -> None:
    """Alike in call and result, of the letters that are taken, 64 at most, and different where they were."""
    ids = ["call_1", "a/b", "a_2f_b", "é", "x" * 64, "x" * 65, "x" * 66, "/" * 30, ""]
    told: list[str] = []
    for id_ in ids:
        call, result = turns(AssistantMessage([ToolCall(id_, "f", "")]), ToolMessage(ToolResult(id_, "x")))
        told.append(call["content"][0]["toolUse"]["toolUseId"])
        assert result["content"][0]["toolResult"]["toolUseId"] == told[-1]
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", told[-1])
    assert (told[0], told[4]) == ("call_1", "x" * 64)
    assert len({*told}) == len(ids) - 1  # `a/b` is written like the id beside it


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (SystemMessage(["x", Image(PNG)]), "UNSUPPORTED"),
        (UserMessage(Image("https://h/x.png")), "UNSUPPORTED"),
        (UserMessage(Image(b"BM")), "UNSUPPORTED"),
        (Message("user", [ToolCall("a", "f", "{}")]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolResult("a", "x")]), "INVALID_OPTIONS"),
        (Message("tool", ["x"]), "INVALID_OPTIONS"),
        (AssistantMessage([ToolCall("a", "f", '{"x":', truncated=True)]), "INVALID_OPTIONS"),
        (AssistantMessage([ToolCall("a", "f", "[1]")]), "INVALID_OPTIONS"),
        (SystemMessage("alone"), "INVALID_OPTIONS"),
        (UserMessage(" "), "INVALID_OPTIONS"),
    ],
)
def test_what_has_no_form(message: Message, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        turns(message)
    assert caught.value.code == code
