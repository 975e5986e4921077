"""RecordLevel: a class with fields that is open in an answer: where its parts stand, by all their names.

In: the class and its node. Out: for each step the name and the place of a part; in the end an instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from unspool.schema.attrs_class import attribute_names
from unspool.schema.levels import EXTRA, FUNCTIONS, Level
from unspool.schema.part_validator_builder import PartValidatorBuilder, is_told, peeled
from unspool.schema.problem import Problem
from unspool.schema.pydantic_nodes import Core, field_nodes, fields_node
from unspool.schema.shape import Field, Record
from unspool.schema.validation_error import pydantic_problems
from unspool.schema.validators import TAG
from unspool.schema.value_tree import children_of

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import SchemaValidator

    from unspool.schema.places import Context, Place, Places


class RecordLevel(Level):
    """A class with fields."""

    __slots__ = (
        "_children",
        "_extra",
        "_places",
        "_record",
        "_validator",
        "_attributes",
        "_meant",
        "_takes_paths",
        "by_attribute",
        "names",
        "silent",
        "sure",
        "title",
        "whole",
    )

    def __init__(self, places: Places, record: Record) -> None:
        self._places = places
        self._record = record
        self._validator: SchemaValidator | None = None
        self.title = record.name
        self._attributes = attribute_names(record.cls)
        self.by_attribute = record.form != "typed-dict"
        node = places.reader.nodes[record]
        self.sure, self.whole = True, False
        config: Core | None = None
        while node["type"] == "definition-ref":
            node = places.reader.definitions[node["schema_ref"]]
        inner = node
        while True:
            config = inner.get("config") or config
            self.whole = self.whole or bool(inner.get("custom_init"))
            if inner["type"] in FUNCTIONS and inner["type"] != "function-after":
                self.whole, self.sure = True, False
            if "schema" not in inner or inner["type"] in ("typed-dict", "named-tuple"):
                break
            inner = inner["schema"]
        self._children: dict[Any, tuple[Any, Place]] = {}
        self._meant: dict[Any, tuple[Any, Place]] = {}
        self._takes_paths = False
        self._read(inner, config)

    def _read(self, inner: Core, config: Core | None) -> None:
        places, record = self._places, self._record
        python = places.protocol == "python"
        nodes = dict(field_nodes(inner))
        self.silent = frozenset(name for name, node in nodes.items() if node.get("init_only"))
        shown = {field.name for field in record.shown} - self.silent
        self.names = frozenset(self._attributes.get(name, name) for name in shown)
        by_name = bool(config and (config.get("validate_by_name") or config.get("populate_by_name")))
        for field in record.fields:
            place = self._place(field, nodes[field.name], config)
            name = self._attributes.get(field.name, field.name)
            spellings = [field.name]
            if not field.hidden:
                self._meant[name] = name, place
            if not python:
                alias = nodes[field.name].get("validation_alias", nodes[field.name].get("alias"))
                spellings, simple = _spellings(alias)
                self.whole = self.whole or not simple
                self._takes_paths = self._takes_paths or not simple
                if by_name or alias is None or (config and config.get("validate_by_alias") is False):
                    spellings.append(field.name)
            for spelling in dict.fromkeys(spellings):
                if spelling in self._children:
                    self.whole = True  # it may be a part of either field, or of both
                self._children.setdefault(spelling, (name, place))
                place = self._place(field, nodes[field.name], config, weak=True) if len(spellings) > 1 else place
        if python or record.form == "named-tuple":
            names = record.slots
            self._children.update({i: self._children[name] for i, name in enumerate(names) if name in self._children})
        for spelling, part in self._children.items():
            if not part[1].drops:
                self._meant.setdefault(spelling, part)
        for field in record.shown:
            name = self._attributes.get(field.name, field.name)
            self._meant.setdefault(field.name, self._meant[name])
            self._meant.setdefault(field.alias, self._meant[name])
        fields = fields_node(inner)
        extra = fields.get("extra_behavior") or (config or {}).get("extra_fields_behavior")
        if extra == "allow":
            self._extra = places.at(fields.get("extras_schema"), config)
        elif python or extra == "forbid" or fields["type"] in ("arguments", "named-tuple"):
            self._extra = places.refused(EXTRA)
        else:
            self._extra = places.ignored
        if not python:
            reader = places.reader
            if record.subclasses or any(record in other.subclasses for other in reader.records.values()):
                self._children[TAG] = TAG, places.ignored

    def _place(self, field: Field, node: Core, config: Core | None, *, weak: bool = False) -> Place:
        from unspool.schema.places import Place

        if field.hidden:
            return self._places.refused(EXTRA)
        value: Core = node["schema"]
        while value["type"] == "default" and value.get("on_error", "raise") == "raise":
            value = value["schema"]
        inner, _ = peeled(value)
        held, below = False, inner
        while below["type"] in FUNCTIONS and "ref" not in below:
            held = held or (is_told(below) and below["type"] != "function-after")
            if "schema" not in below:
                break
            below = below["schema"]
        return Place(
            self._places,
            inner,
            config,
            is_optional=not field.required,
            held=held,
            weak=weak,
            conceals=field.name in self.silent,
        )

    def child(self, step: Any) -> tuple[Any, Place]:
        found = self._children.get(step)
        return found if found is not None else (step, self._extra)

    def meant(self, step: Any) -> list[tuple[Any, Place]]:
        try:
            found = self._meant.get(step)
        except TypeError:
            return []
        if found is not None:
            return [found]
        return [(step, self._places.any)] if self._takes_paths else super().meant(step)

    def spellings(self) -> list[list[str]]:
        """Give the names of each field that has more than one: in the value, in the class and in the answer."""
        fields: dict[Any, list[str]] = {}
        for spelling, (name, _) in self._meant.items():
            if isinstance(spelling, str):
                fields.setdefault(name, []).append(spelling)
        return [names for names in fields.values() if len(names) > 1]

    def made(self, parts: Any, context: Context) -> Any:
        if self._validator is None:
            self._validator = PartValidatorBuilder(self._places.reader).record(self._record)
        if self._attributes:
            parts = {argument: parts[name] for argument, name in self._attributes.items() if name in parts}
        return self._validator.validate_python(parts, context=context)

    def problems(self, error: ValidationError, raw: Any) -> list[Problem]:
        arguments = {name: argument for argument, name in self._attributes.items()}
        steps: dict[Any, Any] = {field.name: field.alias for field in self._record.fields}
        by_name: dict[Any, Any] = {}
        for step, part in children_of(raw):
            name = self.child(step)[0]
            name = arguments.get(name, name)
            steps[name], by_name[name] = step, part
        if self._places.protocol == "python":
            steps.update({field.name: field.name for field in self._record.fields})
        problems = pydantic_problems(error, by_name)
        for problem in problems:
            if problem.path:
                problem.path = (steps.get(problem.path[0], problem.path[0]), *problem.path[1:])
            else:
                problem.found = raw
        return problems


def _spellings(alias: Any) -> tuple[list[Any], bool]:
    """Give the names that a field may have in JSON, and whether that is all that its alias says."""
    if alias is None:
        return [], True
    if isinstance(alias, str):
        return [alias], True
    paths: list[Any] = cast("list[Any]", alias)
    if paths and not isinstance(paths[0], list):
        paths = [paths]
    return [path[0] for path in paths if len(path) == 1], all(len(path) == 1 for path in paths)
