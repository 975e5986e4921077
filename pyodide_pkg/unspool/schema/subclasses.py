"""Subclasses that may stand for a class, when they were named (P22).

In: shapes and the JSON Schemas of the classes. Out: the shapes with their subclasses, and one JSON Schema in which
`class` tells them apart. Abstract classes stand for nothing: only what may stand for them is offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError
from unspool.schema.attrs_class import with_attrs
from unspool.schema.schema_generator import schema_generator
from unspool.schema.shape import CollectionShape, MappingShape, Record, Shape, parts
from unspool.schema.validators import TAG

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from unspool.schema.shape_reader import ShapeReader


def with_subclasses(reader: ShapeReader, subclasses: Sequence[Any]) -> None:
    """Tell the classes of a type which of some subclasses may stand for them.

    Raises:
        ConfigError: INVALID_OPTIONS when one is a subclass of no class of the type.
    """
    named = [record for record in reader.records.values() if record.cls in subclasses]
    named.sort(key=lambda record: len(record.cls.__mro__))
    standing: set[type] = set()
    for record in reader.records.values():
        # Of the MRO: a TypedDict refuses `issubclass`, and an ABC says yes to what is registered.
        below = [other for other in named if other is not record and record.cls in other.cls.__mro__]
        record.subclasses = tuple(other for other in below if not other.is_abstract)
        standing.update(other.cls for other in below)
    for cls in subclasses:
        if cls not in standing:
            raise ConfigError("INVALID_OPTIONS", f"{cls.__name__} is a subclass of no class that is asked for.")


def refuse_abstract(root: Shape, reader: ShapeReader) -> None:
    """Refuse an abstract class for which nothing stands.

    Raises:
        ConfigError: INVALID_OPTIONS, with the path.
    """
    if all(record.family for record in reader.records.values()):
        return
    seen: set[int] = set()
    todo: list[tuple[Shape, str]] = [(root, "")]
    while todo:
        shape, path = todo.pop()
        if id(shape) in seen:
            continue
        seen.add(id(shape))
        if isinstance(shape, Record):
            if not shape.family:
                raise ConfigError(
                    "INVALID_OPTIONS",
                    f"No answer can be asked for: {path.lstrip('.') or 'it'} is the abstract class {shape.name}, and "
                    "no class that may stand for it is named; see Schema.of(…, subclasses=…).",
                )
            todo.extend((member, path) for member in shape.subclasses)
            todo.extend((field.shape, f"{path}.{field.name}") for field in reversed(shape.shown))
            continue
        step = "{}" if isinstance(shape, MappingShape) else "[]" if isinstance(shape, CollectionShape) else ""
        todo.extend((part, path + step) for part in reversed(parts(shape)))


def schema_of_subclasses(adapter: TypeAdapter[Any], reader: ShapeReader) -> dict[str, Any]:
    """Make the JSON Schema of a type whose classes have subclasses."""
    from pydantic import TypeAdapter

    heads = [record for record in reader.records.values() if record.subclasses]
    members: dict[type, Record] = {}
    for head in heads:
        members.update({record.cls: record for record in (head, *head.subclasses)})
    inputs: list[Any] = [("root", "validation", adapter)]
    inputs += [(cls, "validation", TypeAdapter(with_attrs(cls))) for cls in members]
    schemas, top = TypeAdapter.json_schemas(inputs, schema_generator=schema_generator())
    definitions: dict[str, Any] = top["$defs"]
    refs = {cls: str(schemas[cls, "validation"]["$ref"]) for cls in members}
    renamed: dict[str, str] = {}
    for head in heads:
        name = f"Any{_last(refs[head.cls])}"
        while name in definitions:  # the application may have a class of that name
            name += "_"
        renamed[refs[head.cls]] = f"#/$defs/{name}"
    root = _renamed(schemas["root", "validation"], renamed)
    definitions = {name: _renamed(definition, renamed) for name, definition in definitions.items()}
    for cls, record in members.items():
        if record.is_abstract:
            del definitions[_last(refs[cls])]
        else:
            _tag(definitions[_last(refs[cls])], record.name)
    for head in heads:
        family = [{"$ref": refs[record.cls]} for record in head.family]
        definitions[_last(renamed[refs[head.cls]])] = {"anyOf": family}
    name = _last(str(root.get("$ref", "")))
    if name and not _mention(definitions, str(root["$ref"])):
        root = definitions.pop(name)
    return {**root, "$defs": definitions}


def _mention(definitions: Mapping[str, Any], ref: str) -> bool:
    """Tell whether definitions refer to one of them."""
    parts: list[Any] = [definitions]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            members = cast("Mapping[str, Any]", part)
            if members.get("$ref") == ref:
                return True
            parts.extend(members.values())
        elif isinstance(part, list):
            parts.extend(cast("Any", part))
    return False


def _last(ref: str) -> str:
    return ref.removeprefix("#/$defs/")


def _tag(definition: dict[str, Any], name: str) -> None:
    properties = definition.get("properties", {})
    if TAG in properties:
        raise ConfigError(
            "INVALID_OPTIONS", f"{name} has a member {TAG!r} of its own, which would name its class among subclasses."
        )
    definition["properties"] = {TAG: {"const": name, "type": "string"}, **properties}
    definition["required"] = [TAG, *definition.get("required", ())]


def _renamed(node: Any, renamed: Mapping[str, str]) -> Any:
    """Build a part of a schema anew with other names in its references."""
    if isinstance(node, Mapping):
        members = cast("Mapping[str, Any]", node)
        return {
            key: renamed.get(value, value) if key == "$ref" and isinstance(value, str) else _renamed(value, renamed)
            for key, value in members.items()
        }
    if isinstance(node, list):
        items: list[Any] = cast("Any", node)
        return [_renamed(item, renamed) for item in items]
    return node
