"""Defaults: whether the default of a field is a value of its type (P63). Looked at once, when the schema is made.

In: the node of a field and what defines its class. Out: nothing, or why not. No code of the application runs: where its
validators see the value, or its own code finishes the instance, any default may be meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.pydantic_nodes import FUNCTIONS, RECORDS, Core, choices_of, metadata_of, unwrapped
from unspool.schema.unknown import Unknown

if TYPE_CHECKING:
    from unspool.schema.shape_reader import ShapeReader

_ANY: dict[str, Any] = {"type": "any"}
_QUICK: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "none": type(None)}
_PARTS = ("schema", "items_schema", "keys_schema", "values_schema")


def fault_of_default(field: Core, reader: ShapeReader, config: Core) -> str | None:
    """Say why the default of a field is no value of its type, as pydantic takes them when it is not strict.

    Args:
        field: the node of its value.
        reader: of the type; it has read the field.
        config: of the class.
    Returns:
        None when it is one, when there is none, and where that is left to pydantic (`validate_default`), to the
        application's functions, or to a factory.
    """
    for node in unwrapped(field):
        if node["type"] in FUNCTIONS:
            return None
        if node["type"] != "default":
            continue
        if "default" not in node or node.get("validate_default", config.get("validate_default")):
            return None
        default, inner = node["default"], node["schema"]
        if _QUICK.get(inner["type"]) is type(default) and set(inner) <= {"type"}:
            return None
        return _fault(default, _plain(inner, reader), config)
    return None


def _fault(default: Any, core: Any, config: Core) -> str | None:
    from pydantic import ValidationError
    from pydantic_core import SchemaValidator

    try:
        SchemaValidator(core, cast("Any", {**config, "strict": False})).validate_python(default)
    except ValidationError as error:
        return str(error.errors(include_url=False, include_context=False)[0]["msg"])
    except Exception:  # a type's own code, or a core schema that has no meaning without its class
        return None
    return None


def _plain(node: Core, reader: ShapeReader) -> Any:
    """Build a node without functions; instances of classes are not looked into."""
    kind: str = node["type"]
    if metadata_of(node).get("unspool") == "unknown":
        return {"type": "is-instance", "cls": Unknown}
    if kind == "definition-ref":
        target = reader.definitions[node["schema_ref"]]
        return _plain(target, reader) if reader.record_node(target) is not None else _ANY
    if reader.record_node(node) is not None:
        record = reader.record_of(node)
        return _ANY if record.form == "typed-dict" else {"type": "is-instance", "cls": record.cls}
    if kind in RECORDS:  # a root model
        return {"type": "is-instance", "cls": node["cls"]}
    match kind:
        case "union" | "tagged-union":
            return {"type": "union", "choices": [_plain(choice, reader) for choice in choices_of(node)]}
        case "json-or-python":
            return _plain(node["python_schema"], reader)
        case "lax-or-strict":
            return _plain(node["lax_schema"], reader)
        case "chain" | "json":
            return _ANY
        case _ if kind.startswith("function-"):
            return _ANY
        case "tuple":
            return {**node, "strict": False, "items_schema": [_plain(item, reader) for item in node["items_schema"]]}
        case _:
            parts = {key: _plain(node[key], reader) for key in _PARTS if isinstance(node.get(key), Mapping)}
            plain = {key: value for key, value in node.items() if key not in ("ref", "metadata", "serialization")}
            return {**plain, **parts, **({"strict": False} if "strict" in node else {})}
