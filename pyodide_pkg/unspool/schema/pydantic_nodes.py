"""Nodes of pydantic's core schemas, read as the data that they are. Pure.

Source: pydantic, `pydantic_core.core_schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from unspool.schema.shape import Form

Core = Mapping[str, Any]
"""A node of a core schema."""

RECORDS: dict[str, Form] = {
    "model": "model",
    "dataclass": "dataclass",
    "typed-dict": "typed-dict",
    "named-tuple": "named-tuple",
    "call": "named-tuple",  # how pydantic 2.12 spells one
}
"""Which nodes are classes with fields."""
FUNCTIONS = ("function-before", "function-after", "function-wrap")
"""The nodes of validators that wrap another node."""
MAPPINGS = ("dict", "frozendict", "ordered-dict", "counter")
"""The nodes of mappings with any keys."""


def metadata_of(node: Core) -> Mapping[str, Any]:
    """Give the metadata of a node."""
    return node.get("metadata") or {}


def choices_of(node: Core) -> list[Core]:
    """Give the alternatives of a union, or of a tagged union, in order."""
    choices: Any = node["choices"].values() if node["type"] == "tagged-union" else node["choices"]
    return [choice[0] if isinstance(choice, tuple) else choice for choice in choices]


def fields_node(inner: Core) -> Core:
    """Give the part of a class that lists its fields, behind the validators around it."""
    node = inner
    while node["type"] in ("model", "dataclass", *FUNCTIONS):
        node = node["schema"]
    return node["arguments_schema"] if node["type"] == "call" else node


def field_nodes(inner: Core) -> list[tuple[str, Core]]:
    """Give the fields of a class, each with its name."""
    node = fields_node(inner)
    fields: Any = node.get("fields", node.get("arguments_schema", ()))
    if isinstance(fields, Mapping):
        return list(cast("Mapping[str, Core]", fields).items())
    return [(field["name"], field) for field in fields]


def allows_extra(inner: Core, fields: Core) -> bool:
    """Tell whether a class takes further members."""
    behavior = fields.get("extra_behavior") or inner.get("config", {}).get("extra_fields_behavior")
    return bool(behavior == "allow")


def name_in_json(name: str, field: Core, config: Core) -> str:
    """Give the name that pydantic's JSON Schema shows of a field: of its aliases, the first that is a plain name."""
    if config.get("validate_by_alias") is False:
        return name
    alias: Any = field.get("validation_alias", field.get("alias", name))
    if isinstance(alias, str):
        return alias
    return next((path[0] for path in alias_paths(field) or () if len(path) == 1 and path is not alias), name)


def alias_paths(field: Core) -> list[list[Any]] | None:
    """Give the paths inside an answer that a field is read from; None when its alias, if any, is one name."""
    alias: Any = field.get("validation_alias")
    if alias is None or isinstance(alias, str):
        return None
    return list(alias) if isinstance(alias[0], list) else [alias]


def unwrapped(node: Core) -> Iterator[Core]:
    """Give a node and what it wraps, outside first, as far as there is no choice."""
    while True:
        yield node
        if node["type"] not in ("default", "nullable", "custom-error", *FUNCTIONS):
            return
        node = node["schema"]


def refers(node: Any) -> bool:
    """Tell whether a node refers to a definition."""
    todo: list[Any] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            members = cast("Mapping[str, Any]", part)
            if members.get("type") == "definition-ref":
                return True
            todo.extend(members.values())
        elif isinstance(part, list | tuple):
            todo.extend(cast("list[Any]", part))
    return False


def numbers_first(choices: list[Core]) -> list[Core]:
    """Put numbers before the first Decimal, which would take what is written for them."""
    kinds = [choice["type"] for choice in choices]
    if "decimal" not in kinds:
        return choices
    first = kinds.index("decimal")
    numbers = [choice for choice in choices[first:] if choice["type"] in ("int", "float")]
    others = [choice for choice in choices[first:] if choice["type"] not in ("int", "float")]
    return [*choices[:first], *numbers, *others]
