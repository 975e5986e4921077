"""Rules of the reference notes on the Python protocol, number by number: those that no other test names alone.

Expected texts and traces are written out by hand from the rule; what differs on purpose stands in docs/parity.md.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, field_validator
from tests.support import named

import unspool as us
from unspool.testing import StaticResponse


class Sum(BaseModel):
    """A sum."""

    total: int
    why: Annotated[str, Field(description="in few words")] = "-"


class Color(Enum):
    RED = "red"


@dataclass
class Point:
    x: int


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: tuple[str, int]


class Node(BaseModel):
    name: str
    kids: list[Node] = []


class Expr(BaseModel):
    term: Term


class Term(BaseModel):
    expr: Expr | None = None


class Bare(BaseModel):
    pass


class Told(BaseModel):
    """Only this."""


class Wide(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    any: Any
    pair: tuple[int, str]
    some: set[int]
    color: Color
    point: Point
    tree: Node | None


@pytest.mark.parametrize(
    ("T", "text"),
    [
        (int, "int"),  # P2
        (float, "float"),
        (bool, "bool"),
        (str, "str"),
        (bytes, "bytes"),
        (datetime, "str(format='date-time')"),
        (Decimal, "str(format='decimal')"),
        (UUID, "str(format='uuid')"),
        (type(None), "NoneType"),  # P3
        (int | None, "int | None"),  # P4
        (int | str | None, "Union[int, str, None]"),
        (Literal["red", "green", 3, None], "Literal['red', 'green', 3, None]"),  # P6
        (Any, "Any"),  # P8
        (list[int], "list[int]"),  # P9
        (list, "list[Any]"),
        (Annotated[int, Field(ge=0, le=10)], "int(min=0, max=10)"),  # P13
        (Annotated[float, Field(ge=0.0)], "float(min=0.0)"),
        (Annotated[int, Field(gt=0, lt=5)], "int(gt=0, lt=5)"),
        (Annotated[str, Field(pattern="[a-z]+")], "str(regex='[a-z]+')"),  # P14
        (Annotated[str, Field(pattern="a'b\"")], "str(regex='a\\'b\"')"),
        (Bare, "Bare\n\n```python\nclass Bare:\n  pass\n```"),  # P16
        (Told, 'Told\n\n```python\nclass Told:\n  """Only this."""\n  pass\n```'),
        (Node, "Node\n\n```python\nclass Node:\n  name: str\n  kids: list[Node]\n```"),  # P23
        (Expr, "Expr\n\n```python\nclass Expr:\n  term: Term\n\nclass Term:\n  expr: Expr | None\n```"),  # P21
    ],
    ids=named,
)
def test_how_a_type_is_written(T: Any, text: str) -> None:
    """P2, P3, P4, P6, P8, P9, P13, P14, P16, P21, P23."""
    assert us.schema_text(T, "python") == text


@pytest.mark.parametrize("shorthand", [[int], [int, str]], ids=named)
def test_the_shorthand_for_lists_is_refused(shorthand: Any) -> None:
    """P9: it is optional sugar; the error tells what to write."""
    with pytest.raises(us.ConfigError, match=r"write list\[int"):
        us.schema_text(shorthand)


def test_json_text() -> None:
    """P30: real JSON Schema, definitions included, no import paths, a discriminator; nothing is dropped or wrapped."""
    schema = json.loads(us.schema_text(Wide, "native"))
    assert {"Cat", "Dog", "Color", "Point", "Node"} <= set(schema["$defs"])
    properties = schema["properties"]
    assert properties["pet"]["discriminator"]["propertyName"] == "kind"
    assert [item["$ref"] for item in properties["pet"]["oneOf"]] == ["#/$defs/Cat", "#/$defs/Dog"]
    assert properties["tree"]["anyOf"] == [{"$ref": "#/$defs/Node"}, {"type": "null"}]
    assert schema["$defs"]["Node"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}
    assert schema["$defs"]["Color"]["enum"] == ["red"]
    for protocol in ("native", "json"):
        text = us.schema_text(Wide, protocol)
        assert __name__ not in text
        assert "_type" not in text
        assert not text.startswith('{"result"')


PYTHON = """\
How much is {{b}} and 2?

Answer only with one Python expression of the type below, in one ```python block, and with nothing else.
Call only the classes that are defined below, with keyword arguments, and write each value out: no variables, no
calculations, no imports, no definitions. Asked what 1 + 1 is, with a class Sum that has a field total: int, you answer:

```python
Sum(total=2)
```

The type of your answer:
Sum

```python
class Sum:
  \"\"\"A sum.\"\"\"
  total: int
  # in few words
  why: str
```"""
JSON = """\
How much is {{b}} and 2?

Answer only with JSON of this form, and with nothing else:
{"total": integer, "why": string (optional)}
The answer: A sum.
why: in few words"""


@pytest.mark.parametrize(
    ("protocol", "prompt", "reply", "example"),
    [
        ("python", PYTHON, "Sum(total=3)", "```python\nSum(\n  total=2,\n  why='-',\n)\n```"),
        ("json", JSON, '{"total": 3}', '{"total":2,"why":"-"}'),
    ],
)
async def test_the_prompt(protocol: Any, prompt: str, reply: str, example: str) -> None:
    """P31, P32, P33, P36: layout, frozen words of our own, a template that is filled in once, the system message."""
    lm = StaticResponse(reply)
    question = us.Template("How much is {{a}} and {{n}}?", a="{{b}}", n=2)
    options: Any = {"protocol": protocol, "system": "Be brief.", "examples": [("1 + 1?", Sum(total=2))]}
    assert await us.query(question, Sum, lm=lm, **options) == Sum(total=3)
    told = [(message.role, message.text) for message in lm.requests[0].messages]
    assert told == [("system", "Be brief."), ("user", "1 + 1?"), ("assistant", example), ("user", prompt)]


async def test_no_prompt() -> None:
    """P33: none is refused."""
    lm: Any = StaticResponse("1")
    nothing: Any = None
    with pytest.raises(us.ConfigError) as raised:
        await us.query(nothing, int, lm=lm)
    assert raised.value.code == "INVALID_OPTIONS"
    assert lm.requests == []


def test_bounds() -> None:
    """P61: inclusive, checked after conversion; NaN does not slip through."""
    bounded = Annotated[float, Field(ge=0, le=10)]
    assert [us.parse(text, bounded, "python") for text in ("0", "10", "10.0")] == [0, 10, 10]
    for text in ("-0.1", "10.5", "11", "nan", "float('nan')", "1e999"):
        with pytest.raises(us.OutputValidationError):
            us.parse(text, bounded, "python")
    assert us.parse("None", type(None), "python") is None  # P3, P54


class Foo(BaseModel):
    x: Any = None
    y: Any = None


async def trace(T: Any, text: str) -> list[str]:
    """The events of an answer that comes one character at a time, without raw text; neighbouring deltas joined."""
    lines: list[str] = []
    delta = ""
    async for event in us.query_stream("?", T, lm=StaticResponse(text, chunk_chars=1), protocol="python"):
        if isinstance(event, us.TextDelta):
            continue
        path = ".".join(map(str, getattr(event, "path", ())))
        if isinstance(event, us.StringFieldDelta):
            delta += event.delta
            continue
        if delta:
            lines.append(f"{delta!r}")
            delta = ""
        match event:
            case us.FieldStart():
                lines.append(f"+{path}")
            case us.FieldEnd():
                lines.append(f"={path} {event.value!r}")
            case us.ObjectStart():
                lines.append(f"▶{event.python_class or event.python_kind or event.kind} @{path}")
            case us.ObjectEnd():
                lines.append(f"◀{event.python_class or event.python_kind or event.kind} @{path}")
            case _:
                lines.append(event.type)
    return lines


@pytest.mark.parametrize(
    ("T", "text", "expected"),
    [
        (list[str], "['''a''b''']", ["▶array @", "+0", "\"a''b\"", "=0 \"a''b\"", "◀array @", "generationComplete"]),
        (list[str], "['a' 'b']", ["▶array @", "+0", "'ab'", "=0 'ab'", "◀array @", "generationComplete"]),
        (int, "12", ["generationComplete"]),
        (str | None, "'ab'", ["'ab'", "generationComplete"]),
        (
            list[Any],
            "[12, True, None]",
            ["▶array @", "+0", "=0 12", "+1", "=1 True", "+2", "=2 None", "◀array @", "generationComplete"],
        ),
        (Any, "((1),)", ["▶tuple @", "+0", "=0 1", "◀tuple @", "generationComplete"]),
        (Any, "((1))", ["generationComplete"]),
        (Any, "()", ["▶tuple @", "◀tuple @", "generationComplete"]),
        (
            list[Any],
            "[(1, 2), (3)]",
            [
                "▶array @",
                "+0",
                "▶tuple @0",
                "+0.0",
                "=0.0 1",
                "+0.1",
                "=0.1 2",
                "◀tuple @0",
                "=0 (1, 2)",
                "+1",
                "=1 3",
                "◀array @",
                "generationComplete",
            ],
        ),
        (Foo, "Foo(1)", ["▶Foo @", "+x", "=x 1", "◀Foo @", "generationComplete"]),
        (Foo, "Foo(x=1", ["▶Foo @", "+x", "parsingFailed"]),
        (list[str], "['ab", ["▶array @", "+0", "'ab'", "parsingFailed"]),
        (Foo, "Foo(x=1)\nhello", ["▶Foo @", "+x", "=x 1", "◀Foo @", "parsingFailed"]),
        (Foo, "```python\nFoo()\n```\nhello", ["▶Foo @", "◀Foo @", "generationComplete"]),
        (Foo | Bare, "Bare()", ["▶Bare @", "◀Bare @", "generationComplete"]),
        (Foo | Bare, "Foo()", ["▶Foo @", "◀Foo @", "generationComplete"]),
    ],
    ids=named,
)
async def test_what_is_told(T: Any, text: str, expected: list[str]) -> None:
    """P90 to P93, P96 (positions have the names of fields), P98, P107 (this measure), P108, P109 (root unions)."""
    assert await trace(T, text) == expected


class Watched(BaseModel):
    x: int

    @field_validator("x")
    @classmethod
    def seen(cls, value: int) -> int:
        calls.append(value)
        return value


calls: list[int] = []
ENDS = {"generationComplete", "parsingFailed", "generationFailed", "cancelled"}


@pytest.mark.parametrize("protocol", ["python", "json"])
async def test_one_end_and_one_validation(protocol: Any) -> None:
    """P86, P87 (raw text first; in JSON too), P96, P100: previews call no class, validators run once, at the end."""
    text = "Watched(x=1)" if protocol == "python" else '{"x": 1}'
    calls.clear()
    kinds: list[str] = []
    async for event in us.query_stream("?", Watched, lm=StaticResponse(text, chunk_chars=3), protocol=protocol):
        kinds.append(event.type)
        assert calls == ([1] if isinstance(event, us.GenerationComplete) else [])
    assert kinds[0] == "textDelta"
    assert kinds.count("textDelta") == -(-len(text) // 3)
    assert [kind for kind in kinds if kind in ENDS] == ["generationComplete"] == kinds[-1:]


async def test_no_validation_of_what_did_not_end() -> None:
    """P86, P100: leaving early and a failure of the provider call no validator."""
    calls.clear()
    async with us.query_stream("?", Watched, lm=StaticResponse('{"x": 1}', chunk_chars=3)) as stream:
        async for _ in stream:
            break
    failing = us.testing.ScriptedTransport([b'data: {"error": {"message": "no"}}\n\n'])
    lm = us.llms.OpenAIChat(model="m", api_key="k" * 20, transport=failing)
    events = [event async for event in us.query_stream("?", Watched, lm=lm)]
    assert [event.type for event in events] == ["generationFailed"]
    assert calls == []
    assert len(failing.requests) == 1  # P103: nothing is sent again


@pytest.mark.parametrize("text", ['{"x": 1}', '{"x": ', '{"x": 1, "x": 2}'])
async def test_the_source_is_closed_before_the_end(text: str) -> None:
    """P102: whatever the end is, the provider's stream is closed when it is told."""
    closed: list[bool] = []

    async def source(request: object) -> AsyncIterator[str]:
        try:
            for character in text:
                yield character
        finally:
            closed.append(True)

    async for event in us.query_stream("?", Watched, lm=us.llms.FunctionModel(source)):
        if event.type in {"generationComplete", "parsingFailed"}:
            assert closed == [True]
    assert closed == [True]


async def test_structured_streams_give_no_message() -> None:
    """P103: `returns_message` is of `query` alone."""
    options: Any = {"returns_message": True}
    with pytest.raises(us.ConfigError):
        us.query_stream("?", Watched, lm=StaticResponse("{}"), **options)
