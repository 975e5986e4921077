"""What every dialect asks of a conversation."""

from __future__ import annotations

import pytest

from unspool.errors import ConfigError
from unspool.messages import (
    File,
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from unspool.providers.conversation import arguments_of, arguments_text, misplaced, own_replay

REPLAY = Replay("a", {"id": "x"})


def test_replay_state_is_for_its_adapter() -> None:
    """F23, F33."""
    assert own_replay(REPLAY, "a") == {"id": "x"}
    assert own_replay(REPLAY, "b") is None
    assert own_replay(None, "a") is None


def test_arguments() -> None:
    """S65: blank ones stand for an empty object."""
    assert [arguments_text(ToolCall("i", "f", text)) for text in ("", " \n", '{"a": 1}', "{x")] == [
        "{}",
        "{}",
        '{"a": 1}',
        "{x",
    ]
    assert [arguments_of(ToolCall("i", "f", text)) for text in ("", '{"a": 1}')] == [{}, {"a": 1}]


@pytest.mark.parametrize("arguments", ["{x", "[1]", "1", "null", "[" * 5_000])
def test_arguments_that_are_no_object(arguments: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        arguments_of(ToolCall("i", "f", arguments))


@pytest.mark.parametrize("arguments", ["{}", '{"a":'])
def test_a_call_that_was_cut_is_never_sent(arguments: str) -> None:
    """F37."""
    call = ToolCall("i", "f", arguments, truncated=True)
    for read in (arguments_text, arguments_of):
        with pytest.raises(ConfigError, match="was cut"):
            read(call)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (TextPart("x"), "INVALID_OPTIONS"),
        (ReasoningPart("x"), "INVALID_OPTIONS"),
        (RefusalPart("x"), "INVALID_OPTIONS"),
        (ToolCall("i", "f", "{}"), "INVALID_OPTIONS"),
        (ToolResult("i", "x"), "INVALID_OPTIONS"),
        (ProviderPart("x", REPLAY), "INVALID_OPTIONS"),
        (Image("https://example.com/a.png"), "UNSUPPORTED"),
        (File("a.txt"), "UNSUPPORTED"),
    ],
)
def test_parts_in_the_wrong_place(part: Part, code: str) -> None:
    message: Message = UserMessage("x")
    error = misplaced(part, message, "the API")
    assert error.code == code
    assert part.type in error.message
    assert "user" in error.message
