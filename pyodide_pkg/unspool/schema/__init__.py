"""What a value must be: `Schema` is made from a Python type (pydantic behind it) or from a JSON Schema."""

from __future__ import annotations

from unspool.schema.native import Dialect, NativeOutput, native_schema, openai_strict
from unspool.schema.text import example_reply, format_value, json_prompt, schema_prompt, schema_text
from unspool.schema.types import Schema
from unspool.schema.unknown import UNKNOWN, Unknown

__all__ = [
    "UNKNOWN",
    "Dialect",
    "NativeOutput",
    "Schema",
    "Unknown",
    "example_reply",
    "format_value",
    "json_prompt",
    "native_schema",
    "openai_strict",
    "schema_prompt",
    "schema_text",
]


def __dir__() -> list[str]:
    return sorted(__all__)
