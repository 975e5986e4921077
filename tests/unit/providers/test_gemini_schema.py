"""JSON Schemas in the words that Gemini knows."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from unspool.frozen_json import freeze_object
from unspool.providers.gemini_schema import gemini_schema

REF = {"$ref": "#/$defs/A"}


@pytest.mark.parametrize(
    ("schema", "wire"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"const": "a", "type": "string"}, {"enum": ["a"], "type": "string"}),
        ({"const": 1}, {"enum": [1]}),
        ({"const": True}, {"type": "boolean"}),
        ({"const": None}, {"type": "null"}),
        ({"enum": ["a", 2]}, {"enum": ["a", 2]}),
        ({"enum": [True, None]}, {"type": ["boolean", "null"]}),
        ({"enum": ["a", None]}, {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
        ({"oneOf": [{"const": "a"}, REF]}, {"anyOf": [{"enum": ["a"]}, REF]}),
        ({"allOf": [REF], "title": "T"}, {"anyOf": [REF], "title": "T"}),
        ({"allOf": [REF, {"type": "object"}]}, {"allOf": [REF, {"type": "object"}]}),
        (REF, REF),
        ({**REF, "$defs": {"A": {"const": "a"}}}, {**REF, "$defs": {"A": {"enum": ["a"]}}}),
        ({**REF, "description": "d"}, {"description": "d", "anyOf": [REF]}),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}, {"type": "object"}),
        ({"properties": {"const": {"const": "a"}}}, {"properties": {"const": {"enum": ["a"]}}}),
        (
            {"items": {"oneOf": []}, "prefixItems": [{"const": 1}]},
            {"items": {"anyOf": []}, "prefixItems": [{"enum": [1]}]},
        ),
        (
            {"additionalProperties": False, "default": {"const": 1}},
            {"additionalProperties": False, "default": {"const": 1}},
        ),
        ({"additionalProperties": {"const": "x"}}, {"additionalProperties": {"enum": ["x"]}}),
        ({"items": [{"const": 1}, True]}, {"items": [{"enum": [1]}, True]}),
        ({"dependentSchemas": {"a": {"const": 1}}}, {"dependentSchemas": {"a": {"enum": [1]}}}),
    ],
)
def test_rewriting(schema: dict[str, Any], wire: dict[str, Any]) -> None:
    frozen = freeze_object(schema, "schema")
    assert gemini_schema(frozen) == wire
    assert frozen == schema


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int | None = Field(default=None, description="how many are left")


class Dog(BaseModel):
    kind: Literal["dog"]
    loud: Literal[True]


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Field(description="the pet")
    second: Cat = Field(description="another")
    name: Optional[str]  # noqa: UP045  (as F36 has it)


def test_unions_of_pydantic() -> None:
    """F36: no `const`, no `oneOf`, nothing beside `$ref`; what fits it is still a value of the type."""
    wire = gemini_schema(TypeAdapter(Owner).json_schema())
    text = str(wire)
    for word in ("const", "oneOf", "discriminator"):
        assert f"'{word}'" not in text
    assert wire["properties"]["second"] == {"description": "another", "anyOf": [{"$ref": "#/$defs/Cat"}]}
    assert wire["properties"]["pet"]["anyOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]
    assert wire["$defs"]["Cat"]["properties"]["kind"] == {"enum": ["cat"], "title": "Kind", "type": "string"}
    assert wire["properties"]["name"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    answer = {"pet": {"kind": "dog", "loud": True}, "second": {"kind": "cat", "lives": 9}, "name": None}
    assert Owner.model_validate(answer).pet == Dog(kind="dog", loud=True)


def test_deep_schemas() -> None:
    schema: dict[str, Any] = {"const": "x"}
    for _ in range(120):
        schema = {"items": schema}
    wire = gemini_schema(freeze_object(schema, "schema"))
    for _ in range(120):
        wire = wire["items"]
    assert wire == {"enum": ["x"]}


def test_values_that_are_not_enumerated() -> None:
    """Texts and numbers are; of others only the type can be told."""
    wanted = {
        "plain": ({"enum": [1, 0, "a"]}, {"enum": [1, 0, "a"]}),
        "null": ({"enum": [1, None]}, {"anyOf": [{"enum": [1]}, {"type": "null"}]}),
        "bool": ({"enum": [True, False]}, {"type": "boolean"}),
        "none": ({"enum": [None, True]}, {"type": ["boolean", "null"]}),
        "deep": ({"enum": ["a", [1], {"b": 2}]}, {"anyOf": [{"enum": ["a"]}, {"type": "array"}, {"type": "object"}]}),
    }
    for asked, given in wanted.values():
        assert gemini_schema(asked) == given
        assert gemini_schema(freeze_object(asked, "schema")) == given
