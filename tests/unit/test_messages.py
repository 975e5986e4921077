from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.errors import ConfigError, StreamError
from unspool.messages import (
    AssistantMessage,
    Message,
    ReasoningPart,
    RefusalPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

MESSAGE = Message(
    "assistant",
    [
        ReasoningPart("why "),
        "Hello",
        RefusalPart("no"),
        ToolCall("a", "f", "{}"),
        ReasoningPart("so"),
        TextPart(" you"),
    ],
    finish_reason="tool_calls",
    raw_finish_reason="tool_use",
    usage=Usage(1, 2, cached_input_tokens=0, raw={"x": 1}),
    metadata={"k": "v"},
)


@pytest.mark.parametrize(
    ("build", "role"), [(SystemMessage, "system"), (UserMessage, "user"), (AssistantMessage, "assistant")]
)
def test_roles(build: type[Message], role: str) -> None:
    message = build("Hi")
    assert (message.role, message.parts, message.text) == (role, (TextPart("Hi"),), "Hi")
    assert (message.finish_reason, message.usage, message.metadata) == (None, None, {})


def test_tool_message() -> None:
    result = ToolResult("a", "42")
    assert ToolMessage(result) == ToolMessage([result])
    assert ToolMessage(result).role == "tool"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("x", (TextPart("x"),)),
        (TextPart("x"), (TextPart("x"),)),
        (["a", TextPart("b")], (TextPart("a"), TextPart("b"))),
        ((), ()),
    ],
)
def test_content(content: str | TextPart | list[str | TextPart], parts: tuple[TextPart, ...]) -> None:
    assert Message("user", content).parts == parts


def test_texts_are_kept_apart() -> None:
    assert (MESSAGE.text, MESSAGE.reasoning, MESSAGE.refusal) == ("Hello you", "why so", "no")
    assert MESSAGE.tool_calls == (ToolCall("a", "f", "{}"),)


def test_wire_form() -> None:
    wire = MESSAGE.to_wire()
    assert (
        json.loads(json.dumps(wire))
        == wire
        == {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": "why "},
                {"type": "text", "text": "Hello"},
                {"type": "refusal", "text": "no"},
                {"type": "toolCall", "id": "a", "name": "f", "arguments": "{}", "truncated": False},
                {"type": "reasoning", "text": "so"},
                {"type": "text", "text": " you"},
            ],
            "finishReason": "tool_calls",
            "rawFinishReason": "tool_use",
            "usage": {"type": "usage", "inputTokens": 1, "outputTokens": 2, "cachedInputTokens": 0, "raw": {"x": 1}},
            "metadata": {"k": "v"},
        }
    )
    assert UserMessage("x").to_wire() == {"role": "user", "parts": [{"type": "text", "text": "x"}]}


def test_equality() -> None:
    assert UserMessage("x") == UserMessage(["x"])
    assert UserMessage("x") != SystemMessage("x")
    assert UserMessage("x") != "x"
    with pytest.raises(TypeError):
        hash(MESSAGE)


def test_repr() -> None:
    assert repr(UserMessage("x")) == "Message('user', [TextPart(text='x')])"
    assert "finish_reason='tool_calls'" in repr(MESSAGE)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [("", {}), (" \n", {}), ("{}", {}), ('{"x": [1, "é"]}', {"x": [1, "é"]}), (" 1 ", 1), ("null", None)],
)
def test_arguments(arguments: str, value: object) -> None:
    """S65: a tool without parameters often streams nothing."""
    assert ToolCall("a", "f", arguments).args == value


@pytest.mark.parametrize("arguments", ['{"x":', "{x}", '{"a": NaN}', "[" * 5_000, "{} {}"], ids=range(5))
def test_bad_arguments(arguments: str) -> None:
    """F37: nothing is repaired. Pyodide: deep nesting is fatal without the guard."""
    with pytest.raises(StreamError):
        _ = ToolCall("a", "f", arguments, truncated=True).args


@pytest.mark.parametrize("content", [None, 5, b"x", {"a": "b"}, object(), [5], ["a", None]])
def test_other_content_is_refused(content: Any) -> None:
    for build in (SystemMessage, UserMessage, AssistantMessage, ToolMessage):
        with pytest.raises(ConfigError) as caught:
            build(content)
        assert caught.value.code == "INVALID_OPTIONS"


def test_other_roles_are_refused() -> None:
    with pytest.raises(ConfigError, match="role"):
        Message("bot", "x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
