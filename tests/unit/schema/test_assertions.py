"""What holds a value to something, in one spelling. Source: JSON Schema Core and Validation, draft 2020-12."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.schema.assertions import asserts, in_one_spelling, without_annotations
from unspool.schema.json_checker import JsonChecker


def spelled(schema: Any, *, max_names: int = 10) -> Any:
    return in_one_spelling(schema, schema, max_names=max_names)


def test_annotations_assert_nothing() -> None:
    """Core 6.5: what is not known is an annotation as well."""
    assert not asserts({"title": "t", "description": "d", "default": 1, "x-order": 1, "examples": [], "readOnly": True})
    assert asserts({"format": "date"})
    assert spelled({"type": "null", "x-order": 1, "deprecated": True, "title": "t"}) == {"type": "null", "title": "t"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"oneOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
        ({"items": [{}], "additionalItems": False}, {"prefixItems": [{}], "items": False}),
        ({"items": [{}]}, {"prefixItems": [{}], "items": True}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": "array", "maxItems": 0}, {"type": "array", "maxItems": 0, "items": {"type": "null"}}),
        (
            {"type": "object", "propertyNames": {"enum": ["a", 1, "b"]}, "additionalProperties": {"type": "null"},
             "required": ["b"]},
            {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
             "additionalProperties": False, "required": ["b"]},
        ),
        (
            {"type": "object", "patternProperties": {"^a": {"type": "null"}}, "propertyNames": {"minLength": 2},
             "additionalProperties": False},
            {"type": "object", "propertyNames": {"pattern": "^a", "minLength": 2},
             "additionalProperties": {"type": "null"}},
        ),
        (
            {"type": "object", "patternProperties": {"^a": {"type": "null"}}},
            {"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": True},
        ),
        (
            {"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": {"const": 1}},
            {"type": "object", "patternProperties": {"^a": {"type": "null"}},
             "additionalProperties": {"anyOf": [{"type": "null"}, {"const": 1}]}},
        ),
        ({"propertyNames": {"enum": ["a"]}}, {"propertyNames": {"enum": ["a"]}}),
        ({"type": ["string", "null"], "properties": {"a": {}}, "minItems": 1}, {"type": ["string", "null"]}),
    ],
    ids=str,
)  # fmt: skip
def test_spelling(schema: Any, expected: Any) -> None:
    before = repr(schema)
    assert spelled(schema) == expected
    assert repr(schema) == before


def test_names_are_listed_up_to_a_number() -> None:
    schema = {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {}}
    assert "properties" in spelled(schema, max_names=2)
    assert spelled(schema, max_names=1) == schema


def test_names_by_reference() -> None:
    schema = {"type": "object", "propertyNames": {"$ref": "#/$defs/k"}, "$defs": {"k": {"const": "a"}}}
    assert spelled(schema) == {
        "type": "object", "properties": {"a": True}, "additionalProperties": False, "required": [],
    }  # fmt: skip


def test_annotations_are_left_out_at_every_depth() -> None:
    inner = {"type": "null", "x-order": 1, "title": "t"}
    clean = {"type": "null", "title": "t"}
    for wrap in (
        lambda schema: {"properties": {"x-order": schema, "const": schema}, "required": ["x-order"]},
        lambda schema: {"anyOf": [schema, True], "prefixItems": [schema], "items": False},
        lambda schema: {"items": [schema]},
        lambda schema: {"not": schema, "if": schema, "contentSchema": schema, "dependentSchemas": {"a": schema}},
        lambda schema: {"dependentRequired": {"a": ["b"]}, "enum": [{"x-order": 1}]},
    ):
        assert without_annotations({**wrap(inner), "widget": inner}) == wrap(clean)


NAMES = st.sampled_from(["a", "ab", "b", "c"])
VALUES = st.sampled_from([None, 1, "x"])
RULES = st.sampled_from([True, {"type": "null"}, {"type": "integer"}, {"type": "string"}])
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object"), "additionalProperties": RULES | st.just(False)},
    optional={
        "propertyNames": st.sampled_from([{"enum": ["a", "b"]}, {"const": "ab"}, {"minLength": 2}]),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "minProperties": st.sampled_from([1, 2]),
    },
)


@given(OBJECTS, st.dictionaries(NAMES, VALUES, max_size=3))
def test_the_same_values_are_taken(schema: Any, value: Any) -> None:
    """But for members that are required and whose name no rule allows."""
    if "propertyNames" in schema:
        schema["required"] = [name for name in schema.get("required", ()) if _fits(schema["propertyNames"], name)]
    assert _fits(spelled(schema), value) == _fits(schema, value)


def _fits(schema: Any, value: Any) -> bool:
    return JsonChecker(schema).problems(value) == []
