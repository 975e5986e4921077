"""JSON Schemas as answers need them. Expected: what pydantic reads, which its own JSON Schema does not always say."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter

from unspool.schema.schema_generator import schema_generator


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"
    CRIMSON = "r"  # noqa: PIE796


@dataclasses.dataclass
class Made:
    a: int
    b: int = dataclasses.field(default=5, init=False)


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    breed: Literal["pug"] = "pug"


class Hound(BaseModel):
    kind: Literal["dog"] = "dog"
    breed: Literal["hound"] = "hound"


PETS = Annotated[Cat | Annotated[Dog | Hound, Field(discriminator="breed")], Field(discriminator="kind")]


def schema_of(T: Any) -> Any:
    return TypeAdapter(T).json_schema(schema_generator=schema_generator())


def test_values_of_an_enum_class_stand_once() -> None:
    assert schema_of(Colour)["enum"] == ["r", "b"]


def test_what_is_no_argument_is_left_out() -> None:
    assert list(schema_of(Made)["properties"]) == ["a"]


def test_tags_are_required() -> None:
    """At every level of nested unions; elsewhere a default stays a default."""
    definitions = schema_of(list[PETS])["$defs"]
    assert {name: set(entry["required"]) for name, entry in definitions.items()} == {
        "Cat": {"kind", "lives"},
        "Dog": {"kind", "breed"},
        "Hound": {"kind", "breed"},
    }
    assert schema_of(Cat)["required"] == ["lives"]


def test_several_types_at_once() -> None:
    inputs: Any = [("a", "validation", TypeAdapter(PETS)), ("b", "validation", TypeAdapter(Cat))]
    schemas, top = TypeAdapter.json_schemas(inputs, schema_generator=schema_generator())
    assert schemas["b", "validation"] == {"$ref": "#/$defs/Cat"}
    assert set(top["$defs"]["Cat"]["required"]) == {"kind", "lives"}


class Pair(NamedTuple):
    x: Annotated[int, Field(description="where")]
    y: str = "d"
    more: list[Pair] | None = None


def test_named_tuples_are_objects() -> None:
    """pydantic reads both forms; its own schema has the list, which names nothing."""
    found = schema_of(Pair)["$defs"]["Pair"]
    assert found == {
        "type": "object",
        "properties": {
            "x": {"type": "integer", "title": "X", "description": "where"},
            "y": {"type": "string", "title": "Y", "default": "d"},
            "more": {
                "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Pair"}}, {"type": "null"}],
                "title": "More",
                "default": None,
            },
        },
        "required": ["x"],
        "additionalProperties": False,
    }
    adapter = TypeAdapter(Pair)
    assert adapter.validate_json('{"x": 1}', strict=True) == adapter.validate_json("[1]", strict=True) == Pair(1)
    untyped = schema_of(collections.namedtuple("Untyped", "a b"))
    assert untyped["required"] == list(untyped["properties"]) == ["a", "b"]


class Right(enum.IntFlag):
    """What one may."""

    READ = 1
    WRITE = 2


def test_flags_take_their_sums() -> None:
    assert schema_of(Right) == {
        "title": "Right",
        "type": "integer",
        "minimum": 0,
        "maximum": 3,
        "description": "What one may. The sum of any of 1 (READ), 2 (WRITE).",
    }


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def test_keys_that_are_no_texts_say_what_their_texts_must_be() -> None:
    """Each is what `json.dumps` makes of such a key, and what pydantic reads."""
    integers, numbers = "^-?[0-9]+$", r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
    cases: list[tuple[Any, Any]] = [
        (dict[int, str], {"pattern": integers}),
        (dict[Annotated[int, Field(ge=0)], str], {"pattern": integers}),
        (dict[float, str], {"pattern": numbers}),
        (dict[bool, str], {"enum": ["true", "false"]}),
        (dict[Level, str], {"enum": ["1", "2"]}),
        (dict[Right, str], {"pattern": integers}),
        (dict[Literal[1, "a", Level.HIGH], str], {"enum": ["1", "a", "2"]}),
        (dict[dt.date, str], {"format": "date"}),
        (dict[Colour, str], {"$ref": "#/$defs/Colour"}),
        (dict[tuple[int, int], str], False),
        (dict[Pair, str], False),
        (dict[str, str], None),
        (dict[Any, str], None),
        (collections.Counter[int], {"pattern": integers}),
    ]
    assert [schema_of(T).get("propertyNames") for T, _ in cases] == [names for _, names in cases]
    twice = schema_of(tuple[Level, dict[Level, str]])
    assert twice["prefixItems"][1]["propertyNames"] == {"enum": ["1", "2"]}


def test_keys_with_a_pattern_have_no_others_beside_them() -> None:
    found = schema_of(dict[Annotated[str, Field(pattern="^a")], int])
    assert found == {
        "type": "object",
        "patternProperties": {"^a": {"type": "integer"}},
        "additionalProperties": False,
    }


def test_what_a_function_tells_apart_may_look_alike() -> None:
    class One(BaseModel):
        a: int = 0

    class Two(BaseModel):
        b: int = 0

    union = Annotated[Annotated[One, Tag("one")] | Annotated[Two, Tag("two")], Discriminator(lambda value: "one")]
    assert "anyOf" in schema_of(union)
    assert "oneOf" in schema_of(PETS)
