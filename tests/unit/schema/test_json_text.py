"""The form of a JSON answer. Expected texts are written out by hand: they must stay the same to the byte."""

from __future__ import annotations

import datetime as dt
import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import BaseModel, Field, Json

from unspool.schema import Schema, json_prompt

OPENING = "Answer only with JSON of this form, and with nothing else:\n"


class Sight(BaseModel):
    name: str = Field(description="Its name,\n  in the local language")
    stars: int = Field(ge=1, le=5)


class City(BaseModel):
    """A city."""

    city: str = Field(min_length=1)
    country: Literal["FR", "DE"]
    sights: list[Sight] = Field(max_length=3)
    best: Sight
    founded: dt.date | None = None


class Tree(BaseModel):
    label: str
    kids: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Pair(NamedTuple):
    x: int
    y: str = "d"


class Perms(enum.IntFlag):
    READ = 1
    WRITE = 2


def test_a_model() -> None:
    assert json_prompt(Schema.of(City)) == (
        "Answer only with JSON of this form, and with nothing else:\n"
        '{"city": string (1 or more characters), "country": "FR" | "DE", "sights": [Sight, ...] (up to 3 items), '
        '"best": Sight, "founded": string (date) | null (optional)}\n'
        'Sight: {"name": string, "stars": integer (1 to 5)}\n'
        "The answer: A city.\n"
        "Sight.name: Its name, in the local language"
    )


@pytest.mark.parametrize(
    ("wanted", "form"),
    [
        (int, "integer"),
        (float | None, "number | null"),
        (bool, "boolean"),
        (None, "null"),
        (list[str], "[string, ...]"),
        (set[int], "[integer, ...] (no two alike)"),
        (tuple[int, str], "[integer, string]"),
        (tuple[int, ...], "[integer, ...]"),
        (dict[str, list[int]], "{name: [integer, ...], ...}"),
        (Any, "any JSON value"),
        (Literal["a", 1, None], '"a" | 1 | null'),
        (Literal["ä"], '"ä"'),
        (Cat | Dog, '{"kind": "cat"} | {"kind": "dog"}'),
        (Annotated[Cat | Dog, Field(discriminator="kind")], '{"kind": "cat"} | {"kind": "dog"}'),
        (Annotated[str, Field(pattern="^a$", min_length=2, max_length=2)], "string (matching ^a$; 2 characters)"),
        (Annotated[int, Field(gt=0, lt=9, multiple_of=2)], "integer (more than 0; less than 9; a multiple of 2)"),
        (Annotated[list[int], Field(min_length=1, max_length=2)], "[integer, ...] (1 to 2 items)"),
        ({"type": "object"}, "{name: any JSON value, ...}"),
        ({"type": "object", "additionalProperties": False}, "{}"),
        ({"type": "array"}, "[any JSON value, ...]"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"properties": {"a": True}, "required": ["a"]}, '{"a": any JSON value}'),
        (
            {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": {}},
            '{"a": 1 (optional), name: any JSON value, ...}',
        ),
        ({"prefixItems": [{"type": "null"}], "items": {"type": "string"}, "type": "array"}, "[null, string, ...]"),
        ({"items": [{"type": "null"}], "additionalItems": False, "type": "array"}, "[null]"),
        ({"type": "integer", "x-order": 3, "widget": {"$ref": "nowhere"}}, "integer"),
        ({"type": "string", "nullable": True}, "string | null"),
        (tuple[()], "[] (0 items)"),
        (Pair, '{"x": integer, "y": string (optional)}'),
        (Perms, "integer (0 to 3)\nThe answer: The sum of any of 1 (READ), 2 (WRITE)."),
        (dict[int, str], "{integer: string, ...}"),
        (dict[Decimal, str], "{number: string, ...}"),
        (Decimal, "string (decimal)"),
        (Decimal | int, "string (decimal) | integer"),
        (
            Annotated[Decimal, Field(gt=0, multiple_of=Decimal("0.05"))],
            "string (decimal; more than 0; a multiple of 0.05)",
        ),
        (
            Annotated[Decimal, Field(max_digits=5, decimal_places=2)],
            r"string (decimal; matching ^-?[0-9]{1,3}(\.[0-9]{1,2})?$)",
        ),
        (dict[bool, str], '{"true": string (optional), "false": string (optional)}'),
        (dict[Literal["a", 1], str], '{"a": string (optional), "1": string (optional)}'),
        (dict[dt.date, int], "{name (date): integer, ...}"),
        (
            dict[Annotated[str, Field(pattern="^a", min_length=2)], int],
            "{name (matching ^a; 2 or more characters): integer, ...}",
        ),
        (Json[list[int]], "string (application/json; holding [integer, ...])"),
        (
            Json[Tree],
            'string (application/json; holding Tree)\nTree: {"label": string, "kids": [Tree, ...] (optional)}',
        ),
    ],
    ids=str,
)
def test_forms(wanted: Any, form: str) -> None:
    assert json_prompt(Schema.of(wanted)) == OPENING + form


def test_members_may_have_the_names_of_keywords() -> None:
    leaf = {"type": "object", "properties": {"enum": {"$ref": "#/$defs/n"}, "const": {"$ref": "#/$defs/n"}},
            "required": ["enum"], "$defs": {"n": {"type": "null"}}}  # fmt: skip
    assert json_prompt(Schema.of(leaf)) == OPENING + '{"enum": n, "const": n (optional)}\nn: null'


def test_many_enumerated_keys_are_not_written_out() -> None:
    """A dict in a dict would be a hundred times a hundred members."""
    keys: Any = Literal[tuple(f"k{i}" for i in range(40))]
    text = json_prompt(Schema.of(dict[keys, dict[keys, dict[keys, int]]]))
    assert text.startswith(OPENING + '{"k0": {"k0": {"k0" | "k1"')
    assert len(text) < 50_000


def test_recursion_gets_a_name() -> None:
    assert json_prompt(Schema.of(list[Tree])) == (
        OPENING + '[Tree, ...]\nTree: {"label": string, "kids": [Tree, ...] (optional)}'
    )
    assert json_prompt(Schema.of(Tree)) == OPENING + 'Tree\nTree: {"label": string, "kids": [Tree, ...] (optional)}'


def test_definition_used_once_is_written_in_place() -> None:
    class Visit(BaseModel):
        sight: Sight

    assert json_prompt(Schema.of(Visit)) == (
        OPENING + '{"sight": {"name": string, "stars": integer (1 to 5)}}\nsight.name: Its name, in the local language'
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "null"}},
        {"allOf": [{"type": "object"}, {"required": ["a"]}]},
        {"type": "object", "patternProperties": {"^x": {}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "patternProperties": {"^x": {}, "^y": {"type": "null"}}, "additionalProperties": False},
        {"type": "object", "propertyNames": False},
        {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]},
        {"items": {"type": "string"}},
    ],
    ids=str,
)
def test_what_has_no_form_is_written_as_json_schema(schema: Any) -> None:
    first, text = json_prompt(Schema.of(schema)).split("\n")
    assert first == "Answer only with JSON that matches this JSON Schema, and with nothing else:"
    assert json.loads(text) == schema


def test_order_is_that_of_the_declaration() -> None:
    class Ordered(BaseModel):
        zebra: int
        apple: int
        mango: int

    form = json_prompt(Schema.of(Ordered))
    assert form.index("zebra") < form.index("apple") < form.index("mango")


def test_same_schema_same_words() -> None:
    assert json_prompt(Schema.of(City)) == json_prompt(Schema.of(City))
    shuffled = {"required": ["a"], "properties": {"a": {"type": "string"}}, "type": "object"}
    straight = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert json_prompt(Schema.of(shuffled)) == json_prompt(Schema.of(straight))
