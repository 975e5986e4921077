from __future__ import annotations

from typing import Any

import pytest

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
from unspool.providers.anthropic_messages import conversation_of

PNG = b"\x89PNG\r\n\x1a\n0"
PNG_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgow"}}


def turns(*messages: Message, signed_only: bool = True) -> list[dict[str, Any]]:
    return conversation_of(messages, signed_only=signed_only)[1]


def ours(data: dict[str, Any]) -> Replay:
    return Replay("anthropic", data)


def test_neighbours_of_one_role_become_one_turn() -> None:
    assert turns(
        UserMessage("a"),
        UserMessage(["b", "c"]),
        AssistantMessage("d"),
        AssistantMessage(["e", "f"]),
        UserMessage("g"),
    ) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "bc"}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "d"}, {"type": "text", "text": "e"}, {"type": "text", "text": "f"}],
        },
        {"role": "user", "content": "g"},
    ]


def test_system_messages() -> None:
    system, conversation = conversation_of([SystemMessage("a"), UserMessage("b"), SystemMessage("c")], signed_only=True)
    assert (system, conversation) == ("a\n\nc", [{"role": "user", "content": "b"}])
    assert conversation_of([UserMessage("b")], signed_only=True)[0] is None


def test_results_of_tools_are_one_turn_of_the_user_and_stand_first() -> None:
    call = Message("assistant", [ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", " ")])
    assert turns(
        UserMessage("go"),
        call,
        UserMessage("meanwhile"),
        ToolMessage(ToolResult("a", "1")),
        ToolMessage([ToolResult("b", ["one", PNG_IMAGE, "two"], is_error=True)]),
        UserMessage("and?"),
    )[1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "g", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "one"}, PNG_BLOCK, {"type": "text", "text": "two"}],
                    "is_error": True,
                },
                {"type": "text", "text": "meanwhile"},
                {"type": "text", "text": "and?"},
            ],
        },
    ]


PNG_IMAGE = Image(PNG)


def test_conversation_that_begins_with_a_result() -> None:
    assert turns(ToolMessage(ToolResult("a", "1"))) == [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]}
    ]


@pytest.mark.parametrize(
    ("result", "block"),
    [
        (ToolResult("a", ""), {}),
        (ToolResult("a", " "), {}),
        (ToolResult("a", "", is_error=True), {"content": "The tool failed.", "is_error": True}),
        (ToolResult("a", ["x", "y"]), {"content": "xy"}),
        (ToolResult("a", [" ", PNG_IMAGE]), {"content": [PNG_BLOCK]}),
    ],
)
def test_results_without_text(result: ToolResult, block: dict[str, Any]) -> None:
    content = turns(ToolMessage(result))[0]["content"]
    assert content == [{"type": "tool_result", "tool_use_id": "a", **block}]


def test_images() -> None:
    jpeg = Image(b"\xff\xd8\xff0", media_type="image/jpg")
    assert turns(UserMessage(["See ", PNG_IMAGE, jpeg, Image("https://h/x.png"), "?"])) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See "},
                PNG_BLOCK,
                {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/MA=="}},
                {"type": "image", "source": {"type": "url", "url": "https://h/x.png"}},
                {"type": "text", "text": "?"},
            ],
        }
    ]


def test_empty_and_blank_texts() -> None:
    """An empty one is refused anywhere, a blank one where there is no other text."""
    assert turns(UserMessage(" "), UserMessage("hi"), AssistantMessage(["", "a", " ", "b"])) == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": " "}, {"type": "text", "text": "b"}],
        },
    ]
    assert turns(UserMessage("hi"), Message("assistant", ["\n\n", ToolCall("a", "f", "")]))[1]["content"] == [
        {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    ]
    assert turns(UserMessage("a"), AssistantMessage("\n"), UserMessage("b")) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def test_replay_state_of_ours_only() -> None:
    """F23: signed and redacted thinking goes back unchanged, that of other adapters does not."""
    other = Replay("gemini", {"type": "thinking", "signature": "s"})
    said = Message(
        "assistant",
        [
            ReasoningPart("one", replay=ours({"type": "thinking", "signature": "s1"})),
            ReasoningPart("", replay=ours({"type": "thinking", "signature": "s2"})),
            ReasoningPart("", redacted=True, replay=ours({"type": "redacted_thinking", "data": "d"})),
            ReasoningPart("two"),
            ReasoningPart("three", replay=other),
            ReasoningPart("", redacted=True, replay=other),
            ProviderPart("server_tool_use", ours({"type": "server_tool_use", "id": "x", "name": "n", "input": {}})),
            ProviderPart("other", Replay("openai", {"type": "other"})),
            TextPart("cited", replay=ours({"type": "text", "citations": [{"type": "page_location"}]})),
            TextPart("plain", replay=Replay("openai", {"annotations": []})),
            RefusalPart("no"),
            ToolCall("a", "f", "{}", replay=ours({"type": "tool_use", "caller": {"type": "direct"}})),
            ToolCall("b", "f", "{}", replay=Replay("gemini", {"thoughtSignature": "t"})),
        ],
    )
    assert turns(UserMessage("x"), said)[1]["content"] == [
        {"type": "thinking", "thinking": "one", "signature": "s1"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "server_tool_use", "id": "x", "name": "n", "input": {}},
        {"type": "text", "text": "cited", "citations": [{"type": "page_location"}]},
        {"type": "text", "text": "plain"},
        {"type": "text", "text": "no"},
        {"type": "tool_use", "caller": {"type": "direct"}, "id": "a", "name": "f", "input": {}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}},
    ]


@pytest.mark.parametrize(("signed_only", "sent"), [(True, 1), (False, 2)])
def test_thinking_without_a_signature(signed_only: bool, sent: int) -> None:
    """F33: servers of the same wire do not sign, and may refuse a turn without its thinking; Anthropic refuses it."""
    said = Message("assistant", [ReasoningPart("t", replay=ours({"type": "thinking"})), "x"])
    content = turns(UserMessage("x"), said, signed_only=signed_only)[1]["content"]
    assert len(content) == sent or content == "x"


def test_ids_of_other_providers() -> None:
    """F34: only some characters are allowed, and different ids stay different."""
    said = Message("assistant", [ToolCall("functions.f:0", "f", ""), ToolCall("functions_f_0", "f", "")])
    results = ToolMessage([ToolResult("functions.f:0", "1"), ToolResult("functions_f_0", "2")])
    _, calls, answers = turns(UserMessage("x"), said, results)
    ids = [block["id"] for block in calls["content"]]
    assert ids == ["functions_2e_f_3a_0", "functions_f_0"]
    assert [block["tool_use_id"] for block in answers["content"]] == ids


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (Message("assistant", [ToolCall("a", "f", '{"x":', truncated=True)]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolCall("a", "f", "{x}")]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolCall("a", "f", "[1]")]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolCall("a", "f", "[" * 5_000)]), "INVALID_OPTIONS"),
        (Message("assistant", [ToolResult("a", "x")]), "INVALID_OPTIONS"),
        (Message("user", [ToolResult("a", "x")]), "INVALID_OPTIONS"),
        (Message("user", [ReasoningPart("x")]), "INVALID_OPTIONS"),
        (Message("user", [ToolCall("a", "f", "")]), "INVALID_OPTIONS"),
        (Message("user", [File("a.txt")]), "UNSUPPORTED"),
        (Message("tool", ["x"]), "INVALID_OPTIONS"),
        (Message("system", [PNG_IMAGE]), "UNSUPPORTED"),
        (Message("user", [Image(b"BM0")]), "UNSUPPORTED"),
        (Message("user", [ProviderPart("x", ours({}))]), "INVALID_OPTIONS"),
        (SystemMessage("alone"), "INVALID_OPTIONS"),
    ],
)
def test_what_cannot_be_sent(message: Message, code: str) -> None:
    """F37: a call that was cut is never made whole by sending it back."""
    with pytest.raises(ConfigError) as caught:
        turns(*([] if message.role == "system" else [UserMessage("x")]), message)
    assert caught.value.code == code
