from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.message_values import MESSAGES, TEXT_PARTS

from unspool.errors import ConfigError, StreamError
from unspool.messages import (
    ROLES,
    AssistantMessage,
    File,
    Image,
    Message,
    MessagePart,
    Origin,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
    content_id,
    unnested,
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
    [("", {}), (" \n", {}), ("{}", {}), ('{"x": [1, "é"]}', {"x": [1, "é"]}), (' {"x": {}} ', {"x": {}})],
)
def test_arguments(arguments: str, value: object) -> None:
    """S65: a tool without parameters often streams nothing."""
    assert ToolCall("a", "f", arguments).args == value


@pytest.mark.parametrize(
    "arguments", ['{"x":', "{x}", '{"a": NaN}', "[" * 5_000, "{} {}", " 1 ", "null", "[{}]"], ids=range(8)
)
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


@pytest.mark.parametrize("reason", ["bored", "", 5])
def test_other_reasons_are_refused(reason: Any) -> None:
    with pytest.raises(ConfigError, match="reason"):
        Message("assistant", "x", finish_reason=reason)


@given(MESSAGES)
def test_messages_cannot_be_changed(message: Message) -> None:
    before = message.to_wire()
    for name in (*message.__slots__, "other"):
        with pytest.raises(AttributeError):
            setattr(message, name, None)
        with pytest.raises(AttributeError):
            delattr(message, name)
    with pytest.raises(TypeError):
        message.metadata["x"] = 1
    if message.usage is not None:
        with pytest.raises(AttributeError):
            message.usage.input_tokens = 5
    assert message.to_wire() == before


@given(MESSAGES)
def test_messages_are_copied_and_pickled(message: Message) -> None:
    assert copy.copy(message) is message
    assert copy.deepcopy([message])[0] is message
    again = pickle.loads(pickle.dumps(message))
    assert again == message
    assert repr(again) == repr(message)


def test_what_was_given_can_change_afterwards() -> None:
    parts: list[Any] = ["a"]
    metadata: dict[str, Any] = {"k": [1]}
    message = Message("user", parts, metadata=metadata, usage=Usage(raw=metadata))
    parts.append("b")
    metadata["k"].append(2)
    assert message.parts == (TextPart("a"),)
    assert message.metadata == {"k": [1]}
    assert message.usage == Usage(raw={"k": [1]})


def test_parts_in_order() -> None:
    image = Image("https://example.org/a.png")
    message = UserMessage(["look: ", image, File("a.txt")])
    assert message.parts == (TextPart("look: "), image, File("a.txt"))
    assert message.images == (image,)


def test_with_parts() -> None:
    other = MESSAGE.with_parts("x")
    assert other.parts == (TextPart("x"),)
    assert other.with_parts(MESSAGE.parts) == MESSAGE


USER, INNER, SYSTEM = UserMessage("u"), AssistantMessage("i"), SystemMessage("s")


@pytest.mark.parametrize(
    ("messages", "flat"),
    [
        ([], []),
        ([USER, INNER], [USER, INNER]),
        ([UserMessage(INNER)], [INNER]),
        ([UserMessage(["a", INNER, "b"])], [UserMessage("a"), INNER, UserMessage("b")]),
        ([UserMessage(["a", INNER, SYSTEM])], [SYSTEM, UserMessage("a"), INNER]),
        (
            [SystemMessage("first"), UserMessage(["a", AssistantMessage(["b", SYSTEM])]), USER],
            [SystemMessage("first"), SYSTEM, UserMessage("a"), AssistantMessage("b"), USER],
        ),
        ([USER, SYSTEM, INNER], [USER, SYSTEM, INNER]),
        ([UserMessage(MessagePart(UserMessage([])))], [UserMessage([])]),
    ],
)
def test_unnested(messages: list[Message], flat: list[Message]) -> None:
    """Words around an inner message keep their role and their place; instructions are hoisted (`test_querying`)."""
    assert unnested(messages) == flat


def moves(message: Message) -> bool:
    """Whether instructions stand inside another role's words: they are moved to the front."""
    inner = [part.message for part in message.parts if isinstance(part, MessagePart)]
    return any(moves(one) or (one.role == "system" != message.role) for one in inner)


@given(st.lists(MESSAGES, max_size=3))
def test_unnested_keeps_every_part(messages: list[Message]) -> None:
    def parts(message: Message) -> list[Any]:
        return [
            inner
            for part in message.parts
            for inner in (parts(part.message) if isinstance(part, MessagePart) else [(message.role, part)])
        ]

    flat = unnested(messages)
    kept = [[pair for message in some for pair in parts(message)] for some in (flat, messages)]
    for role in ROLES:
        told, given = ([part for by, part in some if by == role] for some in kept)
        if any(moves(message) for message in messages):  # what stands around them may change its place
            told, given = sorted(map(repr, told)), sorted(map(repr, given))
        assert told == given
    assert not any(isinstance(part, MessagePart) for message in flat for part in message.parts)
    assert unnested(flat) == flat


PNG = b"\x89PNG\r\n\x1a\n"
REPLAY = Replay("anthropic", {"signature": "x"})
SAYINGS: list[list[Message]] = [
    [],
    [UserMessage("a")],
    [SystemMessage("a")],
    [UserMessage("b")],
    [UserMessage("a"), UserMessage("a")],
    [UserMessage(["a", "a"])],
    [UserMessage([])],
    [UserMessage([Image(PNG)])],
    [UserMessage([Image(PNG, detail="low")])],
    [UserMessage([Image(PNG, media_type="image/webp")])],
    [UserMessage([Image("https://example.org/a.png")])],
    [UserMessage([File("a")])],
    [UserMessage([File("a", data=b"")])],
    [UserMessage([File("a", data=b"x")])],
    [AssistantMessage([ReasoningPart("a")])],
    [AssistantMessage([ReasoningPart("a", redacted=True)])],
    [AssistantMessage([RefusalPart("a")])],
    [AssistantMessage([ToolCall("a", "f", "{}")])],
    [AssistantMessage([ToolCall("a", "f", "{ }")])],
    [AssistantMessage([ToolCall("b", "f", "{}")])],
    [ToolMessage(ToolResult("a", "x"))],
    [ToolMessage(ToolResult("a", "x", True))],
    [ToolMessage(ToolResult("a", ["x", "x"]))],
    [ToolMessage(ToolResult("a", [Image(PNG)]))],
    [AssistantMessage([ProviderPart("search", REPLAY)])],
    [AssistantMessage([ProviderPart("search", Replay("anthropic", {"signature": "y"}))])],
    [AssistantMessage([ProviderPart("search", Replay("gemini", {"signature": "x"}))])],
]


def test_different_content_has_different_names() -> None:
    names = [content_id(messages) for messages in SAYINGS]
    assert len(set(names)) == len(names)
    assert all(len(name) == 64 for name in names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (UserMessage("a"), UserMessage([TextPart("a")])),
        (UserMessage("a"), Message("user", "a", metadata={"k": 1})),
        (AssistantMessage("a"), Message("assistant", "a", finish_reason="stop", raw_finish_reason="x", usage=Usage(1))),
        (AssistantMessage("a"), Message("assistant", "a", origin=Origin("anthropic", "m", "r"))),
        (AssistantMessage([TextPart("a")]), AssistantMessage([TextPart("a", replay=REPLAY)])),
        (AssistantMessage([ReasoningPart("a")]), AssistantMessage([ReasoningPart("a", replay=REPLAY)])),
        (
            AssistantMessage([ToolCall("a", "f", "{}")]),
            AssistantMessage([ToolCall("a", "f", "{}", replay=Replay("gemini", {}))]),
        ),
        (ToolMessage(ToolResult("a", "x")), ToolMessage(ToolResult("a", [TextPart("x", replay=REPLAY)]))),
        (UserMessage([Image(PNG)]), UserMessage([Image("data:image/png;base64,iVBORw0KGgo=")])),
        (SystemMessage([UserMessage("a")]), UserMessage("a")),
    ],
)
def test_equal_content_has_an_equal_name(one: Message, other: Message) -> None:
    assert content_id(one) == content_id(other) == content_id([one])


@given(MESSAGES)
def test_name_survives_the_wire(message: Message) -> None:
    again = Message.from_wire(json.loads(json.dumps(message.to_wire())))
    assert content_id(again) == content_id(message) == content_id(unnested([message]))


@given(TEXT_PARTS)
def test_names_of_surrogate_halves(part: TextPart) -> None:
    assert content_id(UserMessage([part, "\ud800"])) != content_id(UserMessage([part, "\udc00"]))
