"""What crosses to JavaScript. Expected forms: F46, design section 5; `Number.MAX_SAFE_INTEGER` of ECMA-262."""

from __future__ import annotations

import datetime as dt
import enum
import json
import uuid
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer

from unspool.errors import BridgeError, ConfigError, NetworkError, OutputValidationError, UnspoolError
from unspool.messages import (
    AssistantMessage,
    Message,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from unspool.schema import Schema
from unspool.stream import chunks
from unspool.structured.events import (
    Cancelled,
    FieldEnd,
    FieldStart,
    GenerationComplete,
    GenerationFailed,
    ObjectEnd,
    ObjectStart,
    ParsingFailed,
    StringFieldDelta,
    TextDelta,
)
from unspool.structured.pool import StreamPool
from unspool.wire import (
    MAX_SAFE_INTEGER,
    chunk_of,
    error_wire,
    event_json,
    is_chunk,
    message_of,
    plain,
    update_json,
)

SAFE = 9007199254740991
UNSAFE = 9007199254740992


class Color(enum.Enum):
    RED = "red"


class Inner(BaseModel):
    when: dt.datetime
    price: Decimal


class Rich(BaseModel):
    """Everything of F46."""

    inner: Inner
    day: dt.date
    data: bytes
    color: Color
    tags: set[int]
    id: uuid.UUID
    span: dt.timedelta
    pair: tuple[int, str]
    table: dict[int, str]
    ratio: float


RICH = Rich(
    inner=Inner(when=dt.datetime(2026, 11, 30, 1, 2, 3, tzinfo=dt.UTC), price=Decimal("1.50")),
    day=dt.date(2026, 11, 30),
    data=b"abc",
    color=Color.RED,
    tags={1},
    id=uuid.UUID("12345678-1234-5678-1234-567812345678"),
    span=dt.timedelta(hours=1),
    pair=(1, "a"),
    table={1: "é"},
    ratio=0.30000000000000004,
)


def written(event: Any, wanted: Any = None) -> Any:
    return json.loads(event_json(event, None if wanted is None else Schema.of(wanted)))


def test_safe_integer_is_javascripts() -> None:
    assert MAX_SAFE_INTEGER == SAFE


@pytest.mark.parametrize(
    ("event", "wire"),
    [
        (TextDelta("a"), {"type": "textDelta", "delta": "a"}),
        (FieldStart(("a", 0)), {"type": "fieldStart", "path": ["a", 0]}),
        (ObjectStart((), "array"), {"type": "objectStart", "path": [], "kind": "array"}),
        (StringFieldDelta(("a",), "x"), {"type": "stringFieldDelta", "path": ["a"], "delta": "x"}),
        (FieldEnd(("a",), None), {"type": "fieldEnd", "path": ["a"], "value": None}),
        (FieldEnd(("a",), SAFE), {"type": "fieldEnd", "path": ["a"], "value": SAFE}),
        (FieldEnd(("a",), "text"), {"type": "fieldEnd", "path": ["a"]}),
        (FieldEnd(("a",), ""), {"type": "fieldEnd", "path": ["a"], "value": ""}),  # an empty string has no delta
        (FieldEnd(("a",), [1]), {"type": "fieldEnd", "path": ["a"]}),
        (ObjectEnd((), "object", {}), {"type": "objectEnd", "path": [], "kind": "object"}),
        (GenerationComplete(None), {"type": "generationComplete", "result": None}),
        (
            GenerationComplete("t", Usage(1, 2, 3, raw={"n": UNSAFE}), "stop"),
            {
                "type": "generationComplete",
                "result": "t",
                "usage": {
                    "type": "usage",
                    "inputTokens": 1,
                    "outputTokens": 2,
                    "totalTokens": 3,
                    "raw": {"n": "9007199254740992"},
                },
                "finishReason": "stop",
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_events(event: Any, wire: Any) -> None:
    assert written(event) == wire


@pytest.mark.parametrize(
    ("before", "path", "kept"),
    [
        (("a",), ("a",), {"keep": 1, "path": []}),
        (("a", 0), ("a", 1, "b"), {"keep": 1, "path": [1, "b"]}),
        (("a", 0), ("b", 0), {"path": ["b", 0]}),
        (("a", 0), (), {"path": []}),
        ((0,), ("0",), {"path": ["0"]}),
    ],
)
def test_steps_of_the_path_before_are_counted(before: Any, path: Any, kept: Any) -> None:
    for event in (FieldStart(path), ObjectStart(path, "array"), StringFieldDelta(path, "x"), FieldEnd(path, None)):
        wire = json.loads(event_json(event, None, before))
        assert {name: wire[name] for name in ("keep", "path") if name in wire} == kept


def test_results_of_every_kind_are_json() -> None:
    """F46."""
    assert written(GenerationComplete(RICH), Rich)["result"] == {
        "inner": {"when": "2026-11-30T01:02:03Z", "price": "1.50"},
        "day": "2026-11-30",
        "data": "abc",
        "color": "red",
        "tags": [1],
        "id": "12345678-1234-5678-1234-567812345678",
        "span": "PT1H",
        "pair": [1, "a"],
        "table": {"1": "é"},
        "ratio": 0.30000000000000004,
    }


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (FieldEnd(("a", 0), UNSAFE), "a[0] is 9007199254740992"),
        (GenerationComplete({"b": [1, -UNSAFE]}), "b[1] is -9007199254740992"),
        (GenerationComplete({"n": 10**30}), "n is 1000000000000000000000000000000"),
        (FieldEnd(("a",), 10**4000), "a is (an integer of 13288 bits)"),
        (GenerationComplete([1, UNSAFE]), "[1] is 9007199254740992"),
        (GenerationComplete(UNSAFE), "the answer is 9007199254740992"),
    ],
    ids=str,
)
def test_integers_that_javascript_cannot_hold_are_refused(event: Any, where: str) -> None:
    wanted = dict if isinstance(event, GenerationComplete) else None
    with pytest.raises(BridgeError) as caught:
        event_json(event, Schema.of({}) if wanted else None)
    assert caught.value.code == "UNSAFE_INTEGER"
    assert where in caught.value.message


def test_digits_in_text_and_fractions_are_no_integers() -> None:
    value = {"text": "90071992547409930000", "ratio": 0.1234567890123456789, "big": 1e300, "90071992547409930000": True}
    assert written(GenerationComplete(value), {})["result"] == value


def test_lone_surrogates_survive() -> None:
    for event, member in ((TextDelta("\ud800"), "delta"), (StringFieldDelta(("\udfff",), "a\udfff"), "delta")):
        text = event_json(event, None)
        assert text.isascii()
        assert json.loads(text)[member] in ("\ud800", "a\udfff")
    assert written(GenerationComplete("\ud800"), {"type": "string"})["result"] == "\ud800"


def test_nan_is_impossible() -> None:
    class Ratio(BaseModel):
        value: float

    assert written(GenerationComplete(Ratio(value=float("nan"))), Ratio)["result"] == {"value": None}
    with pytest.raises(BridgeError) as caught:
        event_json(GenerationComplete(float("inf")), Schema.of({}))
    assert caught.value.code == "MODULE_ERROR"


def test_serializer_that_fails_is_an_error_with_a_code() -> None:
    class Broken(BaseModel):
        n: int

        @field_serializer("n")
        def write(self, value: int) -> int:
            raise RuntimeError("no")

    with pytest.raises(BridgeError) as caught:
        event_json(GenerationComplete(Broken(n=1)), Schema.of(Broken))
    assert caught.value.code == "MODULE_ERROR"


@pytest.mark.parametrize("kind", [ParsingFailed, GenerationFailed, Cancelled])
def test_errors_cross_with_what_had_arrived(kind: Any) -> None:
    error = OutputValidationError("OUTPUT_INVALID", "no")
    error.text = '{"n":9007199254740992'
    error.partial_value = {"n": UNSAFE, "s": "\ud800", "x": float("inf"), "d": dt.date(2026, 1, 1)}
    error.partial = Message("assistant", "t", finish_reason="stop")
    wire = written(kind(error))
    assert wire["error"]["code"] == "OUTPUT_INVALID"
    assert wire["error"]["text"] == '{"n":9007199254740992'
    assert wire["error"]["partialValue"] == {"n": "9007199254740992", "s": "\ud800", "x": "inf", "d": "(date)"}
    assert wire["error"]["partial"]["parts"] == [{"type": "text", "text": "t"}]


def test_errors_of_every_kind_have_a_wire_form() -> None:
    assert error_wire(NetworkError("gone")) == {"code": "NETWORK", "message": "gone", "retryable": True}
    deep: Any = []
    for _ in range(300):  # more would end a Pyodide interpreter when it is freed
        deep = [deep]
    error = UnspoolError("X", "y")
    error.partial_value = deep
    assert error_wire(error) == {
        "code": "X",
        "message": "y",
        "retryable": False,
        "partialValue": "(nested too deep)",
    }
    assert plain({1: (True, None)}) == {"1": [True, None]}


@pytest.mark.parametrize(
    "message",
    [
        UserMessage("a"),
        AssistantMessage([ReasoningPart("r"), TextPart("t"), ToolCall("c", "n", "{}", True), RefusalPart("no")]),
        ToolMessage(ToolResult("c", "42", True)),
    ],
    ids=lambda message: message.role,
)
def test_messages_come_back_as_they_went(message: Message) -> None:
    assert message_of(json.loads(json.dumps(message.to_wire())), "prompt[0]") == message


def test_message_with_plain_content() -> None:
    assert message_of({"role": "user", "content": "a"}, "p") == UserMessage("a")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (1, "p must be an object"),
        ({"role": "boss", "content": ""}, "p.role"),
        ({"role": "user"}, "p must be a message with content"),
        ({"role": "user", "content": 1}, "p must be"),
        ({"role": "user", "parts": ["a"]}, "p.parts[0] must be an object"),
        ({"role": "user", "parts": [{"type": "image"}]}, "p.parts[0].type"),
        ({"role": "user", "parts": [{"type": "text"}]}, "p.parts[0].text"),
        ({"role": "tool", "parts": [{"type": "toolResult", "text": "a"}]}, "p.parts[0].callId"),
    ],
    ids=str,
)
def test_wrong_messages_are_refused_with_their_place(data: Any, where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        message_of(data, "p")
    assert caught.value.code == "INVALID_OPTIONS"
    assert where in caught.value.message


@pytest.mark.parametrize(
    "chunk",
    [
        chunks.BlockStart(0, "tool_call", "c", "n"),
        chunks.BlockStart(1, "text"),
        chunks.TextDelta(1, "a"),
        chunks.ReasoningDelta(2, "r"),
        chunks.ToolArgumentsDelta(0, "{"),
        chunks.BlockEnd(1),
        chunks.UsageReport(Usage(1, 2, 3, cached_input_tokens=1, reasoning_tokens=2, raw={"a": 1})),
        chunks.Finish("stop", "end_turn"),
    ],
    ids=lambda chunk: chunk.type,
)
def test_chunks_come_back_as_they_went(chunk: Any) -> None:
    wire = json.loads(json.dumps(chunk.to_wire()))
    assert is_chunk(wire)
    assert chunk_of(wire, "chunk") == chunk


def test_failing_finish_gets_an_error() -> None:
    chunk = chunk_of({"type": "finish", "reason": "error", "error": {"code": "OVERLOADED", "message": "busy"}}, "c")
    assert isinstance(chunk, chunks.Finish) and chunk.error is not None
    assert (chunk.reason, chunk.error.code, chunk.error.message) == ("error", "OVERLOADED", "busy")


@pytest.mark.parametrize(
    "data",
    [
        {"type": "text-delta", "text": "a"},
        {"type": "text-delta", "index": True, "text": "a"},
        {"type": "text-delta", "index": 0},
        {"type": "block-start", "index": 0, "kind": "video"},
        {"type": "block-start", "index": 0, "kind": "tool_call", "id": 5},
        {"type": "block-start", "index": 0, "kind": "tool_call", "name": ["f"]},
        {"type": "finish", "reason": "stop", "rawReason": 5},
        {"type": "usage"},
        {"type": "usage", "usage": {"inputTokens": "1"}},
        {"type": "finish"},
        {"type": "finish", "reason": "bored"},
    ],
    ids=str,
)
def test_wrong_chunks_are_refused(data: Any) -> None:
    with pytest.raises(ConfigError):
        chunk_of(data, "chunk")


def test_provider_events_are_no_chunks() -> None:
    for data in ({"choices": []}, {"type": "response.created"}, {"type": ["usage"]}, "text", None):
        assert not is_chunk(data)


def test_updates_have_patches_and_no_values() -> None:
    pool = StreamPool()
    update = pool.start("a", f'{{"s":"\\ud83d","n":[{SAFE},')
    assert json.loads(update_json(update)) == update.to_wire()
    assert "partialValue" not in update_json(update)
    pool.push("a", '1],"x":"y"}')
    assert json.loads(update_json(pool.finish("a")))["text"].endswith('"x":"y"}')


@pytest.mark.parametrize("text", [f"[[{UNSAFE},", f"[[-{UNSAFE},", f'[["{UNSAFE}",{UNSAFE},'])
def test_updates_hold_no_integer_that_javascript_cannot(text: str) -> None:
    with pytest.raises(BridgeError, match=r"\[0\]\[[01]\] is") as caught:
        update_json(StreamPool().start("a", text))
    assert caught.value.code == "UNSAFE_INTEGER"
    assert json.loads(update_json(StreamPool().start("a", f'["{UNSAFE}",1e300,')))["depth"] == 1
