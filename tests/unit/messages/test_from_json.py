"""Messages out of JSON data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from tests.message_values import JSON, MESSAGES, OBJECTS

from unspool.errors import ConfigError
from unspool.messages import (
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
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from unspool.messages.from_json import message_of, part_of
from unspool.structured import strict_json

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4)


@given(MESSAGES)
def test_messages_come_back_as_they_went(message: Message) -> None:
    """Any message of any parts, through JSON text and our own door for it."""
    text = json.dumps(message.to_wire())
    assert Message.from_wire(json.loads(text)) == message
    assert message_of(strict_json.loads(text), "m") == message


def test_depths_fit_the_door_for_json() -> None:
    """The deepest message of all can be read again."""
    data: Any = 0
    for _ in range(63):
        data = [data]
    deepest = Message("tool", [ToolResult("c", [TextPart("", replay=Replay("a", {"k": data}))])])
    for _ in range(16):
        deepest = Message("user", [deepest])
    text = json.dumps(deepest.to_wire())
    assert Message.from_wire(strict_json.loads(text)) == deepest
    with pytest.raises(ConfigError):
        Message("user", [deepest])
    with pytest.raises(ConfigError):
        Replay("a", {"k": [data]})


def test_message_with_plain_content() -> None:
    assert message_of({"role": "user", "content": "a"}, "p") == UserMessage("a")
    assert message_of({"role": "user", "content": [{"type": "text", "text": "a"}]}, "p") == UserMessage("a")
    assert message_of({"role": "user", "content": ({"type": "text", "text": "a"},)}, "p") == UserMessage("a")
    assert message_of({"role": "user", "content": None, "parts": [], "tool_calls": None}, "p") == UserMessage([])


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"type": "image", "url": "https://example.org/x"}, Image("https://example.org/x")),
        ({"type": "image", "url": "data:image/png;base64,iVBORw0KGgoAAAAA"}, Image(PNG)),
        ({"type": "image", "data": "iVBORw0KGgoAAAAA"}, Image(PNG, media_type="image/png")),
        ({"type": "file", "name": "a.txt", "data": ""}, File("a.txt", data=b"")),
        ({"type": "file", "name": "a.txt", "sizeBytes": 3, "path": "/a"}, File("a.txt", size_bytes=3, path="/a")),
        ({"type": "toolCall", "id": "c", "name": "f", "arguments": "{"}, ToolCall("c", "f", "{")),
        ({"type": "toolResult", "callId": "c", "text": "x"}, ToolResult("c", "x")),
        (
            {"type": "toolResult", "callId": "c", "isError": True, "parts": [{"type": "text", "text": "x"}]},
            ToolResult("c", "x", True),
        ),
        (
            {"type": "reasoning", "text": "", "redacted": True, "replay": {"adapter": "a", "data": {"x": 1}}},
            ReasoningPart("", redacted=True, replay=Replay("a", {"x": 1})),
        ),
        (
            {"type": "provider", "kind": "search", "replay": {"adapter": "a", "data": {}}},
            ProviderPart("search", Replay("a", {})),
        ),
        ({"type": "message", "message": {"role": "user", "content": "x"}}, MessagePart(UserMessage("x"))),
    ],
    ids=lambda value: str(value)[:40],
)
def test_parts(data: Any, part: Any) -> None:
    assert part_of(data, "p") == part


def test_response_members() -> None:
    wire = {
        "role": "assistant",
        "parts": [{"type": "refusal", "text": "no"}],
        "finishReason": "stop",
        "rawFinishReason": "end_turn",
        "usage": {"inputTokens": 1, "raw": {"a": 2}},
        "origin": {"adapter": "anthropic", "model": "m", "responseId": "r"},
        "metadata": {"k": [1]},
    }
    assert message_of(wire, "m") == Message(
        "assistant",
        [RefusalPart("no")],
        finish_reason="stop",
        raw_finish_reason="end_turn",
        usage=Usage(1, raw={"a": 2}),
        origin=Origin("anthropic", "m", "r"),
        metadata={"k": [1]},
    )


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (1, "p must be an object"),
        ({"role": "boss", "content": ""}, "p.role"),
        ({"role": "user"}, "p must be a message with content"),
        ({"role": "user", "content": None}, "p must be a message with content"),
        ({"role": "user", "content": 1}, "p.content must be a text, or a list of parts"),
        ({"role": "user", "content": ["a"]}, "p.content[0] must be an object"),
        ({"role": "user", "content": [{"type": "image_url"}]}, "p.content[0].type must be"),
        ({"role": "user", "content": [{"type": "text"}]}, "p.content[0].text must be a text"),
        ({"role": "user", "parts": 1}, "p.parts must be a text, or a list of parts"),
        ({"role": "assistant", "content": "", "tool_calls": [{}]}, "p.tool_calls is not read"),
        ({"role": "assistant", "content": "", "function_call": {"name": "f"}}, "p.function_call is not read"),
        ({"role": "tool", "content": "x", "tool_call_id": "c"}, "p.tool_call_id is not read"),
        ({"role": "tool", "content": "x"}, "p.content must be a list of results"),
        ({"role": "user", "parts": ["a"]}, "p.parts[0] must be an object"),
        ({"role": "user", "parts": [{"type": "video"}]}, "p.parts[0].type"),
        ({"role": "user", "parts": [{"type": "image"}]}, "p.parts[0].url"),
        ({"role": "user", "parts": [{"type": "image", "data": "é"}]}, "p.parts[0].data"),
        ({"role": "user", "parts": [{"type": "image", "data": "AAA"}]}, "p.parts[0].data"),
        ({"role": "user", "parts": [{"type": "file"}]}, "p.parts[0].name"),
        ({"role": "user", "parts": [{"type": "file", "name": "a", "sizeBytes": -1}]}, "p.parts[0].sizeBytes"),
        ({"role": "user", "parts": [{"type": "file", "name": "a", "sizeBytes": 1.5}]}, "p.parts[0].sizeBytes"),
        ({"role": "user", "parts": [{"type": "text"}]}, "p.parts[0].text"),
        ({"role": "user", "parts": [{"type": "text", "text": "", "replay": []}]}, "p.parts[0].replay"),
        ({"role": "user", "parts": [{"type": "text", "text": "", "replay": {"adapter": "a"}}]}, ".replay.data"),
        ({"role": "user", "parts": [{"type": "provider", "kind": "x"}]}, "provider with its replay"),
        ({"role": "tool", "parts": [{"type": "toolResult", "text": "a"}]}, "p.parts[0].callId"),
        ({"role": "tool", "parts": [{"type": "toolResult", "callId": "a", "parts": [{}]}]}, "p.parts[0].parts[0].type"),
        ({"role": "tool", "parts": [{"type": "toolResult", "callId": "a"}]}, "p.parts[0] must be a part"),
        ({"role": "user", "content": "", "finishReason": "bored"}, "p.finishReason"),
        ({"role": "user", "content": "", "rawFinishReason": 1}, "p.rawFinishReason"),
        ({"role": "user", "content": "", "usage": {"inputTokens": True}}, "p.usage"),
        ({"role": "user", "content": "", "usage": {"raw": 1}}, "p.usage.raw"),
        ({"role": "user", "content": "", "origin": {}}, "p.origin.adapter"),
        ({"role": "user", "content": "", "metadata": []}, "p.metadata"),
    ],
    ids=str,
)
def test_wrong_messages_are_refused_with_their_place(data: Any, where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        message_of(data, "p")
    assert caught.value.code == "INVALID_OPTIONS"
    assert where in caught.value.message


def test_messages_nested_without_end_are_refused() -> None:
    """Pyodide: reading them by recursion would be fatal."""
    data: Any = {"role": "user", "content": "x"}
    for _ in range(60):  # freeing many more would end a Pyodide interpreter
        data = {"role": "user", "parts": [{"type": "message", "message": data}]}
    with pytest.raises(ConfigError, match="nested less deep"):
        message_of(data, "p")


@given(JSON | OBJECTS)
def test_anything_else_is_refused_with_a_code(data: Any) -> None:
    for read in (message_of, part_of):
        try:
            read(data, "p")
        except ConfigError as error:
            assert error.code == "INVALID_OPTIONS"


@given(MESSAGES, JSON)
def test_a_message_at_fault_is_refused_with_a_code(message: Message, other: Any) -> None:
    """Each member in turn is something else."""
    wire = json.loads(json.dumps(message.to_wire()))
    places = [(wire, name) for name in wire] + [(part, name) for part in wire["parts"] for name in part]
    for holder, name in places:
        kept, holder[name] = holder[name], other
        try:
            message_of(wire, "p")
        except ConfigError as error:
            assert error.code == "INVALID_OPTIONS"
        holder[name] = kept


@pytest.mark.parametrize(
    "message",
    [
        UserMessage("a"),
        AssistantMessage([ReasoningPart("r"), TextPart("t"), ToolCall("c", "n", "{}", True), RefusalPart("no")]),
        ToolMessage(ToolResult("c", "42", True)),
    ],
    ids=lambda message: message.role,
)
def test_read_messages_have_the_same_wire_form(message: Message) -> None:
    assert message_of(message.to_wire(), "prompt[0]").to_wire() == message.to_wire()


@pytest.mark.parametrize(
    "inner", ["toolResult", "message", "toolCall", "reasoning", "refusal", "provider", "x", None, 1, []]
)
@pytest.mark.parametrize("depth", [1, 300, pytest.param(100_000, marks=pytest.mark.host)])
def test_results_of_tools_hold_text_images_and_files_only(inner: Any, depth: int) -> None:
    """Data that never was JSON text may be nested without end: it is refused before it is gone into."""
    data: Any = {"type": inner, "callId": "a", "parts": [], "message": {"role": "user", "content": ""}}
    for _ in range(depth):
        data = {"type": "toolResult", "callId": "a", "parts": [data]}
    with pytest.raises(ConfigError, match=r"p\.parts\[0\]\.parts\[0\]\.type must be text, image or file") as caught:
        message_of({"role": "tool", "parts": [data]}, "p")
    assert caught.value.code == "INVALID_OPTIONS"
