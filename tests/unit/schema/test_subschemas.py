"""The parts of a JSON Schema. Source: JSON Schema Core, draft 2020-12; JSON Pointer, RFC 6901."""

from __future__ import annotations

import pytest

from unspool.schema.subschemas import resolve, subschemas


def test_schema_parts() -> None:
    schema = {"properties": {"a": {}}, "anyOf": [{"const": 1}], "items": [{"const": 2}], "not": {"const": 3}}
    assert [steps for steps, _ in subschemas(schema)] == [
        ("properties", "a"),
        ("anyOf", "0"),
        ("items", "0"),
        ("not",),
    ]
    assert resolve(schema, "#/anyOf/0") == {"const": 1}
    assert resolve(schema, "#") is schema


def test_references() -> None:
    schema = {"$defs": {"a/b": {"$anchor": "here", "items": [{"const": 1}]}, "c%d": True}}
    assert resolve(schema, "#/$defs/a~1b/items/0") == {"const": 1}
    assert resolve(schema, "#here") is schema["$defs"]["a/b"]
    assert resolve(schema, "#/$defs/c%25d") is True


@pytest.mark.parametrize(
    "ref", ["https://h/x", "other.json", "#none", "#/none", "#/$defs/a/0", "#/$defs/a/b/7", "#/$defs/a/b/x"]
)
def test_references_that_lead_nowhere(ref: str) -> None:
    with pytest.raises(KeyError):
        resolve({"$defs": {"a": {"b": [1]}}}, ref)
