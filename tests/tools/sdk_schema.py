"""Holds native schemas to the rules that the SDKs' own code has for them. Run as a program that has the SDKs.

In, on standard input: a JSON list of `[dialect, schema]`. Out: a JSON list, for each the faults that were found.
"""

from __future__ import annotations

import copy
import importlib
import json
import sys
from typing import Any


def openai(schema: dict[str, Any]) -> list[str]:
    """The SDK's own strict form of it is the same."""
    strict: Any = importlib.import_module("openai.lib._pydantic")._ensure_strict_json_schema
    again = copy.deepcopy(schema)
    return [] if strict(again, path=(), root=again) == schema else [f"the SDK would send {again}"]


def anthropic(schema: dict[str, Any]) -> list[str]:
    """The SDK's own transform of it is the same."""
    again = importlib.import_module("anthropic.lib._parse._transform").transform_schema(copy.deepcopy(schema))
    return [] if again == schema else [f"the SDK would send {again}"]


def gemini(schema: dict[str, Any]) -> list[str]:
    """It is a schema of the SDK's type, but for two members that the API documents and the type lacks."""
    types: Any = importlib.import_module("google.genai.types")
    try:
        types.JSONSchema.model_validate(_without(schema, ("propertyOrdering", "prefixItems")))
    except ValueError as error:
        return [str(error)]
    return []


def _without(node: Any, names: tuple[str, ...]) -> Any:
    if isinstance(node, dict):
        return {key: _without(value, names) for key, value in node.items() if key not in names}
    return [_without(item, names) for item in node] if isinstance(node, list) else node


def main() -> None:
    rules = {"openai": openai, "anthropic": anthropic, "gemini": gemini}
    print(json.dumps([rules[dialect](schema) for dialect, schema in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
