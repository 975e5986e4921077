"""held_schema: a JSON Schema in the part of the language that Anthropic's structured output takes. Pure.

The API refuses limits on numbers, lengths and the like. They go into the description, where the model reads them; the
answer is checked against the whole schema by the caller as always.

Source: Claude API documentation, "Structured outputs", "JSON Schema limitations".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

_KEPT = ("$ref", "type", "const", "enum", "title", "required")
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_MAPS = ("$defs", "definitions", "properties")
_LISTS = ("anyOf", "allOf")


def held_schema(schema: Mapping[str, object]) -> dict[str, Any]:
    """Give the schema without what the provider refuses, no object open, `oneOf` as `anyOf`.

    Args:
        schema: nested at most 128 deep, as `Request` keeps it.
    """
    held: dict[str, Any] = {}
    told: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _KEPT or (name == "format" and value in _FORMATS) or (name == "minItems" and value in (0, 1)):
            held[name] = value
        elif name in _MAPS and isinstance(value, Mapping):
            held[name] = {key: _part(part) for key, part in cast("Mapping[str, object]", value).items()}
        elif name in (*_LISTS, "oneOf") and isinstance(value, list):
            held["anyOf" if name == "oneOf" else name] = [_part(part) for part in cast("list[object]", value)]
        elif name == "items":
            held[name] = _part(value)
        elif name not in ("description", "additionalProperties", "default"):
            told[name] = value
    if schema.get("type") == "object" or "properties" in schema:
        held["additionalProperties"] = False
    description = schema.get("description")
    words = [description] if isinstance(description, str) and description else []
    if told:
        words.append(json.dumps(told, ensure_ascii=False))
    if words:
        held["description"] = "\n\n".join(words)
    return held


def _part(schema: object) -> object:
    return held_schema(cast("Mapping[str, object]", schema)) if isinstance(schema, Mapping) else schema
