"""gemini_schema: a JSON Schema in the words that Gemini knows. Pure.

Gemini knows a subset: no `const` and no `discriminator`, `oneOf` as `anyOf` only, `enum` of texts and numbers only, and
nothing beside `$ref`. Values that fit the schema given here fit the one that came in as well as the subset allows.
Source: https://ai.google.dev/api/generate-content#GenerationConfig, `responseJsonSchema`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Members that hold schemas by name."""
_SCHEMA = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_LIST = ("anyOf", "oneOf", "allOf", "prefixItems")
_DROPPED = ("$schema", "discriminator")


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a schema, which is at most 128 deep, without changing it.

    Returns:
        A schema of its own: `const` as an `enum` of one, `oneOf` as `anyOf`, an `allOf` of one as that one, and what
        stands beside a `$ref` around it.
    """
    out: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _DROPPED:
            continue
        if name in _SCHEMAS and isinstance(value, Mapping):
            out[name] = {key: _inner(inner) for key, inner in cast("Mapping[str, Any]", value).items()}
        elif name in _SCHEMA:  # in draft 7, `items` may be a list of them
            out[name] = [*map(_inner, value)] if _is_list(value) else _inner(value)
        elif name in _LIST and _is_list(value):
            _add_list(out, name, [_inner(inner) for inner in cast("Sequence[Any]", value)])
        elif name == "const":
            _add_enum(out, [value])
        elif name == "enum" and _is_list(value):
            _add_enum(out, list(cast("Sequence[Any]", value)))
        else:
            out[name] = value
    return _with_lone_ref(out)


def _inner(schema: Any) -> Any:
    return gemini_schema(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else schema


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _add_list(out: dict[str, Any], name: str, schemas: list[Any]) -> None:
    if name == "allOf" and len(schemas) == 1 and isinstance(schemas[0], dict):
        for member, value in cast("dict[str, Any]", schemas[0]).items():
            out.setdefault(member, value)
    elif name == "oneOf" and "anyOf" not in out:
        out["anyOf"] = schemas
    else:
        out[name] = schemas


def _add_enum(out: dict[str, Any], values: list[Any]) -> None:
    """Give the values; where Gemini knows no `enum` of them, their types."""
    words = [value for value in values if not _other(value)]
    types = sorted({_other(value) for value in values} - {""})
    if not types:
        out["enum"] = words
    elif words:
        out["anyOf"] = [{"enum": words}, *({"type": name} for name in types)]
    else:
        out["type"] = types[0] if len(types) == 1 else types


def _other(value: Any) -> str:
    """Name the type of a value that it does not enumerate; nothing for texts and numbers."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case list() | tuple():
            return "array"
        case Mapping():
            return "object"
        case _:
            return ""


def _with_lone_ref(schema: dict[str, Any]) -> dict[str, Any]:
    beside = {name: value for name, value in schema.items() if not name.startswith("$")}
    if "$ref" not in schema or not beside:
        return schema
    outer = {name: value for name, value in schema.items() if name != "$ref"}
    return {**outer, "anyOf": [{"$ref": schema["$ref"]}]}
