"""The parts of a JSON Schema given as data: where schemas stand inside it, and what its references name. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

MAPS = ("$defs", "definitions", "properties", "patternProperties", "dependentSchemas")
"""Keywords whose value maps names to schemas."""
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Keywords whose value lists schemas."""
SINGLES = ("items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")
"""Keywords whose value is a schema."""


_PLAIN = frozenset((str, int, float, bool, type(None), list))


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    # `Mapping` asks each of its subclasses about a type that it has not met: 4 ms for each in Pyodide.
    return isinstance(value, dict) or (type(value) not in _PLAIN and isinstance(value, Mapping))


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give the schemas directly inside a schema, each with the JSON Pointer steps that lead to it."""
    for keyword in MAPS:
        entries = schema.get(keyword)
        if is_object(entries):
            for name, entry in entries.items():
                yield (keyword, name), entry
    for keyword in LISTS:
        entries = schema.get(keyword)
        if is_array(entries):
            for i, entry in enumerate(entries):
                yield (keyword, str(i)), entry
    for keyword in SINGLES:
        entry = schema.get(keyword)
        if is_array(entry):  # draft 7: a list of item schemas
            for i, item in enumerate(entry):
                yield (keyword, str(i)), item
        elif entry is not None:
            yield (keyword,), entry


def resolve(root: Any, ref: str) -> Any:
    """Follow a reference inside the schema: `#`, `#/$defs/Name` or `#anchor`.

    Raises:
        KeyError: nothing is there, or the reference leads out of the schema.
    """
    if not ref.startswith("#"):
        raise KeyError(ref)
    pointer = ref[1:]
    if pointer and not pointer.startswith("/"):
        return _anchors(root)[pointer]
    node: Any = root
    for step in pointer.split("/")[1:]:
        step = _unquote(step).replace("~1", "/").replace("~0", "~")
        if is_array(node):
            if not step.isdecimal() or int(step) >= len(node):
                raise KeyError(ref)
            node = node[int(step)]
        elif is_object(node):
            node = node[step]
        else:
            raise KeyError(ref)
    return node


def _unquote(step: str) -> str:
    if "%" not in step:
        return step
    from urllib.parse import unquote  # 25 ms in Pyodide, which most references do not need

    return unquote(step)


def _anchors(root: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    todo: list[Any] = [root]
    while todo:
        node = todo.pop()
        if is_object(node):
            if isinstance(node.get("$anchor"), str):
                found[node["$anchor"]] = node
            todo.extend(entry for _, entry in subschemas(node))
    return found
