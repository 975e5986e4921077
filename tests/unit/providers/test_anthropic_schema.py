from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.providers.anthropic_schema import held_schema

CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "held"),
    [
        ({"type": "object"}, CLOSED),
        (
            {"type": "object", "properties": {"properties": {"type": "string"}}, "required": ["properties"]},
            {**CLOSED, "properties": {"properties": {"type": "string"}}, "required": ["properties"]},
        ),
        (
            {"type": "integer", "minimum": 1, "maximum": 9, "description": "A digit."},
            {"type": "integer", "description": 'A digit.\n\n{"minimum": 1, "maximum": 9}'},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "binary"}, {"type": "string", "description": '{"format": "binary"}'}),
        (
            {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 1, "maxItems": 3},
            {
                "type": "array",
                "items": {"type": "string", "description": '{"minLength": 2}'},
                "minItems": 1,
                "description": '{"maxItems": 3}',
            },
        ),
        (
            {"type": "array", "items": {"type": "null"}, "minItems": 2},
            {"type": "array", "items": {"type": "null"}, "description": '{"minItems": 2}'},
        ),
        (
            {"oneOf": [{"const": 1}, {"enum": ["a", "ä"]}], "discriminator": "é", "default": 1},
            {"anyOf": [{"const": 1}, {"enum": ["a", "ä"]}], "description": '{"discriminator": "é"}'},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"n": {"minimum": 0}}}}},
            {
                "$ref": "#/$defs/A",
                "$defs": {"A": {**CLOSED, "properties": {"n": {"description": '{"minimum": 0}'}}}},
            },
        ),
        ({"allOf": [{"type": "object"}, True]}, {"allOf": [CLOSED, True]}),
    ],
)
def test_held_schema(schema: dict[str, Any], held: dict[str, Any]) -> None:
    before = json.dumps(schema)
    assert held_schema(schema) == held
    assert json.dumps(schema) == before
    assert held_schema(held).get("type") == held.get("type")


def test_deep_schema() -> None:
    schema: dict[str, Any] = {"type": "string", "pattern": "a"}
    for _ in range(60):
        schema = {"type": "array", "items": schema}
    held = held_schema(schema)
    for _ in range(60):
        held = held["items"]
    assert held == {"type": "string", "description": '{"pattern": "a"}'}
