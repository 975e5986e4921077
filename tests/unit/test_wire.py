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

from unspool.errors import BridgeError, NetworkError, OutputValidationError, UnspoolError
from unspool.messages import Message, Usage
from unspool.schema import Schema
from unspool.schema.problem import Problem
from unspool.structured.events import (
    Cancelled,
    FieldEnd,
    FieldInvalid,
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
from unspool.wire import MAX_SAFE_INTEGER, error_wire, event_json, plain, update_json

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
        (
            FieldInvalid(("a", 0), 'no "x"', {1}, "type"),
            {"type": "fieldInvalid", "path": ["a", 0], "message": 'no "x"', "kind": "type"},
        ),
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


@pytest.mark.parametrize(
    ("step", "crosses"),
    [
        (-3, -3),
        (SAFE, SAFE),
        (UNSAFE, str(UNSAFE)),
        (True, "True"),
        (None, "None"),
        (1.5, "1.5"),
        ((1, "a"), "(1, 'a')"),
    ],
)
def test_a_key_of_any_kind_is_a_step_of_a_path(step: Any, crosses: Any) -> None:
    """`{True: 1}` and `{(1, 2): 3}` are dicts in Python syntax."""
    assert written(FieldEnd(("d", step), 1))["path"] == ["d", crosses]
    error = OutputValidationError("OUTPUT_INVALID", "no")
    error.problems = (Problem(("d", step), "wrong"),)
    assert written(ParsingFailed(error))["error"]["issues"] == [{"path": ["d", crosses], "message": "wrong"}]


def test_the_message_goes_with_the_result() -> None:
    message = Message("assistant", "1")
    event = json.loads(event_json(GenerationComplete(1), Schema.of(int), message=message))
    assert event["message"] == message.to_wire()


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


def test_updates_have_patches_and_no_values() -> None:
    pool = StreamPool()
    update = pool.start("a", f'{{"s":"\\ud83d","n":[{SAFE},')
    written = json.loads(update_json(update))
    before: list[Any] = []
    for patch in written["changes"]:
        before = patch["path"] = [*before[: patch.pop("keep", 0)], *patch["path"]]
    assert written == update.to_wire()
    assert "partialValue" not in update_json(update)
    pool.push("a", '1],"x":"y"}')
    assert json.loads(update_json(pool.finish("a")))["text"].endswith('"x":"y"}')


def test_updates_write_a_long_name_once() -> None:
    """A model that writes one long name and many members below it must not have the name sent with each."""
    text = f'{{"{"n" * 1000}":{{{",".join(f'"{n}":{n}' for n in range(1000))}}}}}'
    written = update_json(StreamPool().start("a", text))
    assert written.count("n" * 1000) == 1
    assert len(written) < 100 * 1000


@pytest.mark.parametrize("text", [f"[[{UNSAFE},", f"[[-{UNSAFE},", f'[["{UNSAFE}",{UNSAFE},'])
def test_updates_hold_no_integer_that_javascript_cannot(text: str) -> None:
    with pytest.raises(BridgeError, match=r"\[0\]\[[01]\] is") as caught:
        update_json(StreamPool().start("a", text))
    assert caught.value.code == "UNSAFE_INTEGER"
    assert json.loads(update_json(StreamPool().start("a", f'["{UNSAFE}",1e300,')))["depth"] == 1
