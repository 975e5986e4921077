"""How deep a type nests: what pydantic could not follow to its end is refused before pydantic sees it. Pyodide: fatal.

Pydantic builds its schemas by recursion on the native stack, which in a page ends the interpreter for good, at 50 to 60
classes that stand in each other, or 60 to 120 lists, tuples and unions (Chromium's worker and Node, 2026-11). A class
may be moved out of the class that it stands in; brackets cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAliasType, cast, get_args, get_type_hints

from unspool.errors import ConfigError
from unspool.schema.pydantic_nodes import Core
from unspool.schema.subschemas import is_array, is_object

MAX_TYPE_DEPTH = 40
"""How many types may stand in each other that pydantic has not built before: well below what it takes in a page."""
MAX_CLASS_DEPTH = 64
"""How many classes may stand in each other: as deep as a reply may be, unless more is asked for."""
_MAX_NODES = 90
"""How deep a schema of pydantic's may be where no class can be moved out: a list that may be None takes two."""
_MOVED = 16
"""From how many nodes on a class is moved out."""
_INSIDE = (
    "schema", "items_schema", "keys_schema", "values_schema", "extras_schema", "choices", "fields", "arguments_schema",
    "var_args_schema", "var_kwargs_schema", "steps", "json_schema", "python_schema", "lax_schema", "strict_schema",
)  # fmt: skip


def refuse_deep(T: Any) -> None:
    """Refuse a type that nests too deep.

    Raises:
        ConfigError: UNSUPPORTED, with the path.
    """
    seen: set[int] = set()
    todo: list[tuple[Any, str, int]] = [(T, "", 1)]
    while todo:
        part, path, depth = todo.pop()
        if depth > MAX_TYPE_DEPTH:
            raise too_deep(path, f"stands in more than {MAX_TYPE_DEPTH} types")
        if not get_args(part):
            if id(part) in seen:
                continue
            seen.add(id(part))
        todo.extend((inner, path + step, depth + 1) for inner, step in reversed(list(_parts(part))))


def _parts(T: Any) -> Iterator[tuple[Any, str]]:
    """Give what is written in the brackets of a type, or the members of a class that pydantic has not built."""
    arguments = get_args(T)
    origin = getattr(T, "__origin__", None)
    if hasattr(T, "__metadata__"):
        yield arguments[0], ""
        return
    is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
    is_container = isinstance(origin, type) and origin.__module__ in ("builtins", "collections", "collections.abc")
    yield from ((argument, "{}" if is_mapping else "[]" if is_container else "") for argument in arguments)
    if arguments:  # what is generic may contain itself with other arguments: it is looked into once
        if isinstance(origin, TypeAliasType) or (isinstance(origin, type) and _has_members(origin)):
            yield origin, ""
        return
    try:
        if isinstance(T, TypeAliasType):
            yield T.__value__, ""
        elif isinstance(T, type) and _has_members(T):
            for name, hint in get_type_hints(T, include_extras=True).items():
                yield hint, f".{name}"
    except Exception:  # a name that is not there, or not yet: pydantic will say so
        return


def _has_members(cls: Any) -> bool:
    if "__pydantic_core_schema__" in cls.__dict__:
        return False
    marks = ("__dataclass_fields__", "__attrs_attrs__", "__total__", "_field_defaults")
    return any(mark in cls.__dict__ for mark in marks)


def shallow(core: Any) -> Any:
    """Give a core schema in which classes that stand deep in others are definitions of their own.

    Returns:
        The schema itself when it is shallow, as nearly all are.
    Raises:
        ConfigError: UNSUPPORTED, with the path, when it is deep without classes.
    """
    definitions: list[Any] = []
    root: Any = core
    while root["type"] == "definitions":
        definitions += root["definitions"]
        root = root["schema"]
    found = [(whole, _deep_classes(whole)) for whole in (*definitions, root)]
    if not any(moved for _, moved in found):
        return core
    flat: list[Any] = []
    for whole, moved in found:  # what a class refers to comes before it
        flat += [_without(node, moved) for node in (*reversed(moved.values()), whole)]
    return {"type": "definitions", "schema": flat.pop(), "definitions": flat}


def _deep_classes(whole: Core) -> dict[int, Core]:
    """Find the classes to move out, by identity; what stands in another comes after it."""
    moved: dict[int, Core] = {}
    deepest: dict[int, int] = {}  # classes share the nodes of what they contain
    todo: list[tuple[Core, str, int]] = [(whole, "", 0)]
    while todo:
        node, path, depth = todo.pop()
        if id(node) in moved or deepest.get(id(node), -1) >= depth:
            continue
        deepest[id(node)] = depth
        if depth > _MOVED and "ref" in node:
            moved[id(node)] = node
            depth = 0
        if depth > _MAX_NODES:
            raise too_deep(path, f"stands more than {_MAX_NODES} steps deep in what pydantic makes of its type")
        for key in _INSIDE:
            if key in node:
                todo.extend((inner, path + step, depth + 1) for inner, step in reversed(list(_nodes(key, node))))
    return moved


def _nodes(key: str, node: Core) -> Iterator[tuple[Core, str]]:
    value: Any = node[key]
    step = {"items_schema": "[]", "values_schema": "{}", "keys_schema": "{}"}.get(key, "")
    if is_array(value):
        for i, item in enumerate(value):
            inner: Any = cast("Any", item)[0] if isinstance(item, tuple) else item
            if is_object(inner):  # a dataclass has the names of its fields as well
                yield inner, f".{inner['name']}" if "name" in inner else step and f"[{i}]"
    elif isinstance(value.get("type"), str):
        yield value, step
    else:
        for name, inner in value.items():
            yield inner, f".{name}" if key == "fields" else step


def _without(node: Core, moved: Mapping[int, Core]) -> dict[str, Any]:
    """Build a node anew, with references to what was moved out of it."""

    def part(value: Any) -> Any:
        if is_array(value):
            return [part(item) for item in value]
        if isinstance(value, tuple):
            return tuple(map(part, cast("Any", value)))
        if id(value) in moved:
            return {"type": "definition-ref", "schema_ref": value["ref"]}
        return _without(value, moved) if is_object(value) else value

    built: dict[str, Any] = dict(node)
    for key in _INSIDE:
        value: Any = node.get(key)
        if is_object(value) and not isinstance(value.get("type"), str):
            built[key] = {name: part(item) for name, item in value.items()}
        elif value is not None:
            built[key] = part(value)
    return built


def too_deep(path: str, words: str) -> ConfigError:
    """Make the error that names where a type nests too deep."""
    return ConfigError("UNSUPPORTED", f"No answer can be asked for: {path.lstrip('.')[:300] or 'it'} {words}.")
