"""JSON Schemas as answers need them. Expected: what pydantic reads, which its own JSON Schema does not always say."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

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
