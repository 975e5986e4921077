"""PartValidatorBuilder: validators for one part of a value, when what is in it has been judged.

In: a node of a core schema. Out: validators that look at that one level and take its parts as they are. Nothing is
judged twice, and a validator is as large as its level.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.pydantic_nodes import Core
from unspool.schema.shape import Record
from unspool.schema.shape_reader import ShapeReader
from unspool.schema.validator_builder import ValidatorBuilder, ValueProtocol, compiled, whole_node
from unspool.schema.validators import LazyValidator
from unspool.structured.py_values import PyObject, PySet

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

ANY: dict[str, Any] = {"type": "any"}


class PartValidator:
    """Validates a node with all that is in it, as it was written, and as the whole answer will be."""

    __slots__ = ("_config", "_node", "_own", "_protocol", "_reader", "_rebuilt")

    def __init__(self, reader: ShapeReader, protocol: ValueProtocol, node: Core, config: Core | None) -> None:
        self._reader = reader
        self._protocol: ValueProtocol = protocol
        self._node = node
        self._config = config
        self._own = LazyValidator(whole_node(node, reader), config) if protocol == "json" and reader.is_plain else None
        self._rebuilt: SchemaValidator | None = None

    def validate(self, value: Any, context: Mapping[str, Any]) -> Any:
        """Give a value of the type; validators of the application never see the value that was given, but a copy."""
        if self._own is not None:
            try:
                text = json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:  # half of a surrogate pair
                pass
            else:
                return self._own.validator.validate_json(text, strict=True, context=dict(context))
        if self._rebuilt is None:
            self._rebuilt = ValidatorBuilder(self._reader, self._protocol).validator(self._node, self._config)
        return self._rebuilt.validate_python(copied(value), context=context)


def validator_around(nodes: Sequence[Core], config: Core | None) -> SchemaValidator:
    """Build what nodes around a value make of it, outermost first: functions after it, root models."""
    core = ANY
    types: set[type] = set()
    for node in reversed(nodes):
        core = {**node, "schema": core}
        core.pop("ref", None)
        if node["type"] == "model":
            core["strict"] = False
            types.add(node["cls"])
    return compiled(core, types, config)


def is_told(node: Core) -> bool:
    """Tell whether a function is given `info`, which holds the fields before its own: it runs with the record."""
    return bool(node["function"]["type"] == "with-info")


class PartValidatorBuilder(ValidatorBuilder):
    """Builds the validator of a class that is given its fields by name, each of them judged."""

    def __init__(self, reader: ShapeReader) -> None:
        super().__init__(reader, "python")
        self._inside = False

    def record(self, record: Record) -> SchemaValidator:
        """Build it."""
        return self._compiled(self._around(record, self._reader.nodes[record], False))

    def _fields(self, node: Core, loose: bool) -> dict[str, Any]:
        self._inside = True
        try:
            return super()._fields(node, loose)
        finally:
            self._inside = False

    def _node(self, node: Core, loose: bool = False) -> dict[str, Any]:
        if not self._inside:
            return super()._node(node, loose)
        if node["type"] == "default":
            return self._default(node, loose)
        _, told = peeled(node)
        core = ANY
        for function in reversed(told):
            core = {**function, "schema": core}
            core.pop("ref", None)
        return core


def peeled(node: Core) -> tuple[Core, list[Core]]:
    """Take the functions off a field that must run with its record, outermost first.

    Returns:
        What is left, and the functions. What runs outside of such a function runs with the record as well.
    """
    functions: list[Core] = []
    left, told = node, 0
    while left["type"] == "function-after" and "ref" not in left:
        functions.append(left)
        left = left["schema"]
        told = len(functions) if is_told(functions[-1]) else told
    return (functions[told - 1]["schema"] if told else node), functions[:told]


def copied(value: Any) -> Any:
    """Copy the containers of a neutral value. It is not deeper than an answer may be."""
    if isinstance(value, PyObject):
        return PyObject(value.name, copied(value.fields))
    if isinstance(value, PySet):
        return PySet(copied(value.items), value.frozen)
    if isinstance(value, dict):
        members: dict[Any, Any] = cast("Any", value)
        return {key: copied(item) for key, item in members.items()}
    if isinstance(value, list | tuple):
        items = [copied(item) for item in cast("Any", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value
