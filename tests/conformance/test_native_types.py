"""Every kind of type in every dialect: the schema that is sent keeps the vendor's rules, and takes what we write.

Keywords: OpenAI's guide "Structured model outputs", section "Supported schemas"; Claude's "Structured outputs", section
"JSON Schema limitations"; Gemini's `responseJsonSchema`; Cohere's "Structured Outputs"; llama.cpp's grammars/README.md.
"""

from __future__ import annotations

import datetime as dt
import enum
import ipaddress
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

import unspool as us
from unspool.errors import ConfigError
from unspool.schema import Dialect, Schema, format_value, native_schema
from unspool.schema.json_checker import JsonChecker

EVERYWHERE = {
    "type", "enum", "const", "anyOf", "$ref", "$defs", "properties", "required", "items", "additionalProperties",
    "description", "title",
}  # fmt: skip
NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
SIZES = {"minItems", "maxItems"}
KEYWORDS: dict[Dialect, set[str]] = {
    "openai": EVERYWHERE | NUMBERS | SIZES | {"format", "pattern", "multipleOf"},
    "anthropic": EVERYWHERE | {"format", "minItems", "allOf"},
    "gemini": (EVERYWHERE - {"const"}) | SIZES | {"format", "minimum", "maximum", "prefixItems", "propertyOrdering"},
    "cohere": EVERYWHERE | {"format"},
    "ollama": EVERYWHERE | NUMBERS | SIZES
    | {"format", "pattern", "minLength", "maxLength", "prefixItems", "allOf"},
}  # fmt: skip
CLOSED = {"openai", "anthropic", "cohere"}


SAID: Any = {"readOnly": True, "deprecated": True, "contentMediaType": "text/css", "$comment": "c"}


class Annotated_(BaseModel):
    """All that only says something."""

    model_config = ConfigDict(json_schema_extra={"x-group": 1, "examples": [{"a": 1, "b": "x", "c": 2}]})
    a: int = Field(json_schema_extra={"widget": "slider", "x-order": 3})
    b: str = Field(examples=["x"], json_schema_extra=SAID)
    c: Annotated[int, WithJsonSchema({"type": "integer", "format": "int32", "x": [1]})]


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Right(enum.IntFlag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: str = "d"
    more: list[Point] | None = None


class Line(BaseModel):
    points: tuple[Point, Point]
    at: Point = Point(0)


class Left(BaseModel):
    name: str | None = None


class Named(BaseModel):
    name: str | None


class Limits(BaseModel):
    n: Annotated[int, Field(ge=1, le=9, multiple_of=3)]
    f: Annotated[float, Field(gt=0, lt=1)]
    s: Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]+$")]
    l: Annotated[list[int], Field(min_length=2, max_length=3)]  # noqa: E741
    u: set[int]


class Part(TypedDict, total=False):
    a: int
    b: list[str]


def of(T: Any, *values: Any, only: str = "openai anthropic gemini cohere ollama") -> Any:
    return pytest.param(T, values, set(only.split()), id=str(T).replace("tests.conformance.test_native_types.", ""))


OPEN = "gemini ollama"
CASES = [
    of(Annotated_, Annotated_(a=1, b="x", c=2)),
    of(Limits, Limits(n=3, f=0.5, s="ab", l=[1, 2], u={1})),
    of(Part, {}, {"a": 1, "b": []}),
    of(Color, Color.RED),
    of(Right, Right.READ, Right.READ | Right.WRITE, Right(0)),
    of(Literal["a", 1, None], "a", 1, None),
    of(Point, Point(1), Point(1, "q", [Point(2)]), only="openai gemini cohere ollama"),
    of(Line, Line(points=(Point(1), Point(2))), only="openai gemini cohere ollama"),
    of(tuple[int, str], (1, "a")),
    of(tuple[int, int], (1, 2)),
    of(tuple[()], ()),
    of(list[tuple[dt.date, Decimal | None]], [(dt.date(2020, 1, 1), Decimal("1.5"))]),
    of(tuple[Left, Named], (Left(name="a"), Named(name=None)), (Left(), Named(name="b"))),
    of(tuple[Left, Left], (Left(), Left(name="b"))),
    of(dict[Literal["a", "b"], int], {"a": 1}, {"a": 1, "b": 2}),
    of(dict[Literal["a"], Left], {"a": Left()}),
    of(dict[Color, int], {Color.RED: 1}),
    of(dict[Level, str], {Level.LOW: "x"}),
    of(dict[Literal[1, "a"], str], {1: "x", "a": "y"}),
    of(dict[bool, str], {True: "x"}),
    of(dict[int, str], {-1: "x"}, only=OPEN),
    of(dict[float, str], {1.5: "x", 2e300: "y"}, only=OPEN),
    of(dict[dt.date, int], {dt.date(2020, 1, 1): 1}, only=OPEN),
    of(dict[ipaddress.IPv4Address, int], {ipaddress.IPv4Address("1.2.3.4"): 1}, only=OPEN),
    of(dict[UUID, int], {UUID(int=1): 1}, only=OPEN),
    of(dict[Annotated[str, Field(pattern="^a")], int], {"ab": 1}, only=OPEN),
    of(dict[Annotated[str, Field(min_length=2)], Left], {"ab": Left()}, only=OPEN),
    of(dict[str, JsonValue], {"a": [None, {"b": 1}]}, only=OPEN),
    of(dict[tuple[int, int], str], only=""),
]
DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic", "gemini", "cohere", "ollama")


def keywords(node: Any) -> Iterator[tuple[str, Any]]:
    """The keywords of a schema and of all inside it."""
    for key, value in node.items():
        yield key, value
        if key in ("properties", "$defs"):
            for entry in value.values():
                yield from keywords(entry)
        elif key in ("anyOf", "allOf", "prefixItems"):
            for entry in value:
                yield from keywords(entry)
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            yield from keywords(value)


def filled(node: Any, value: Any, root: Any) -> Any:
    """What a provider that writes every member would write: null for what was left out."""
    if "$ref" in node:
        return filled(root["$defs"][node["$ref"].removeprefix("#/$defs/")], value, root)
    for entry in node.get("anyOf", ()):
        full = filled(entry, value, root)
        if not JsonChecker({**entry, "$defs": root.get("$defs", {})}).problems(full):
            return full
    if isinstance(value, list) and "items" in node:
        return [filled(node["items"], item, root) for item in value]
    if isinstance(value, dict) and "properties" in node:
        members = node["properties"]
        return {
            name: filled(members[name], value[name], root) if name in value else None for name in node["required"]
        } | {name: filled(members[name], member, root) for name, member in value.items()}
    return value


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("T", "values", "held"), CASES)
def test_what_is_sent_keeps_the_rules_and_takes_the_values(
    T: Any, values: tuple[Any, ...], held: set[str], dialect: Dialect
) -> None:
    schema = Schema.of(T)
    if dialect not in held and (dialect != "openai" or not values):
        if dialect == "openai":
            assert native_schema(schema, dialect).reason
            return
        with pytest.raises(ConfigError, match="cannot be asked for natively") as caught:
            native_schema(schema, dialect)
        assert caught.value.code == "UNSUPPORTED"
        return
    native = native_schema(schema, dialect)
    assert (native.reason is None) == (dialect in held)
    found = dict(keywords(native.schema))
    assert native.reason or not found.keys() - KEYWORDS[dialect]
    for value in values:
        answer = json.loads(format_value(value, "json", T=schema))
        assert JsonChecker(schema.json_schema()).problems(answer) == []
        answer = {"value": answer} if native.wrapped else answer
        if dialect in CLOSED and native.reason is None:
            answer = filled(native.schema, answer, native.schema)
        assert JsonChecker(native.schema).problems(answer) == []
        assert schema.validate(native.unwrap(answer)) == value


@pytest.mark.parametrize("dialect", DIALECTS)
def test_annotations_leave_no_trace(dialect: Dialect) -> None:
    """JSON Schema Core 2020-12, 6.5: what is not known is an annotation."""
    native = native_schema(Schema.of(Annotated_), dialect)
    assert native.reason is None
    assert native.schema["properties"]["a"] == {"type": "integer"}
    assert native.schema["properties"]["b"] == {"type": "string", "description": '(contentMediaType: "text/css")'}
    assert native.schema["properties"]["c"] == {"type": "integer", "description": '(format: "int32")'}


class Answer(BaseModel):
    d: dict[Literal["a", "b"], int]
    n: Point
    t: tuple[Left, int]


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_nulls_for_what_was_left_out_are_no_faults_while_they_stream(size: int) -> None:
    """OpenAI writes every member."""
    text = '{"d":{"a":1,"b":null},"n":{"x":1,"y":null,"more":null},"t":[{"name":null},3]}'
    lm = us.testing.StaticResponse(text, size)
    stream = us.query_stream("q", Answer, lm=lm, protocol="native", check="stop")
    seen = [partial async for partial in stream.partials()]
    assert not seen[-1].invalid
    assert seen[-1].value == Answer(d={"a": 1}, n=Point(1), t=(Left(), 3))
