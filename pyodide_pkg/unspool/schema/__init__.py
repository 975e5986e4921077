"""What a value must be: `Schema` is made from a Python type (pydantic behind it) or from a JSON Schema."""

from __future__ import annotations

from unspool.schema.json_schema import NativeOutput, openai_strict
from unspool.schema.text import json_prompt
from unspool.schema.types import Schema

__all__ = ["NativeOutput", "Schema", "json_prompt", "openai_strict"]
