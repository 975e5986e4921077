"""Levels: what an open container of an answer is: the places of its parts, and what is made of them when it closes.

In: the node or the class it was read from. Out: for each step the name and the place of a part; in the end a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.attrs_class import attribute_names
from unspool.schema.part_validator_builder import ANY, PartValidatorBuilder, is_told, peeled
from unspool.schema.problem import Problem
from unspool.schema.pydantic_nodes import Core, field_nodes, fields_node
from unspool.schema.shape import Field, Record
from unspool.schema.validation_error import pydantic_problems, shown_python
from unspool.schema.validator_builder import compiled
from unspool.schema.validators import TAG, distinct
from unspool.schema.value_tree import children_of

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import SchemaValidator

    from unspool.schema.lookahead import Tag
    from unspool.schema.places import Context, Opening, Place, Places

_FUNCTIONS = ("function-before", "function-after", "function-wrap", "function-plain")
_SIZES = ("min_length", "max_length", "fail_fast")
_EXTRA = "Extra inputs are not permitted"
UNTOLD: Any = object()
"""Stands for the name of a part that is not known yet."""


class Level(ABC):
    """What an open container is."""

    __slots__ = ()

    listed: bool = False
    """Whether its parts have numbers."""
    names: frozenset[str] | None = None
    """The parts that may come, if they are known."""
    silent: frozenset[str] = frozenset()
    """The parts that are needed to make the value, and are none of it."""
    by_attribute: bool = False
    """Whether its parts are read as attributes."""
    title: str = ""
    """The name of its class."""
    whole: bool = False
    """Whether it is judged as it was written, and not by its parts."""
    sure: bool = True
    """Whether a fault of a part is one of the whole."""

    @abstractmethod
    def child(self, step: Any) -> tuple[Any, Place]:
        """Give the name of a part, and its place."""

    def foreseen(self, step: Any) -> tuple[Any, Place]:
        """Give the same where no code of the application may run; the name is `UNTOLD` when only that tells it."""
        return self.child(step)

    def made(self, parts: Any, context: Context) -> Any:
        """Make the value of its parts."""
        return parts

    def problems(self, error: ValidationError, raw: Any) -> list[Problem]:
        """Say what was wrong when it was made.

        Args:
            error: what `made` raised.
            raw: the container as it was written.
        """
        return pydantic_problems(error, raw)


class UnknownLevel(Level):
    """A container of which it is not known before it closes what it is."""

    __slots__ = ("_levels", "_places", "by_attribute", "listed", "names")

    whole = True
    sure = False

    def __init__(
        self,
        places: Places,
        levels: Sequence[Level] = (),
        *,
        listed: bool,
        names: frozenset[str] | None = None,
        by_attribute: bool = False,
    ) -> None:
        """
        Args:
            places: of the type.
            levels: what it may be, as far as that is known.
            listed, names, by_attribute: as of every level.
        """
        self._places = places
        self._levels = levels
        self.listed = listed
        self.names = names
        self.by_attribute = by_attribute and names is not None

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known of what it may be."""
        return not self._levels

    def child(self, step: Any) -> tuple[Any, Place]:
        return _guessed(self._places, self._levels, step)


class GuessLevel(Level):
    """A container inside one that is not known: plain data, of which is known what it may become."""

    __slots__ = ("_levels", "_places", "_plain", "listed", "sure", "whole")

    def __init__(self, places: Places, plain: Level, levels: Sequence[Level]) -> None:
        """
        Args:
            places: of the type.
            plain: what it is as a value of any kind.
            levels: what it may become.
        """
        self._places = places
        self._plain = plain
        self._levels = levels
        self.listed, self.whole, self.sure = plain.listed, plain.whole, plain.sure

    def child(self, step: Any) -> tuple[Any, Place]:
        return _guessed(self._places, self._levels, step)

    def made(self, parts: Any, context: Context) -> Any:
        return self._plain.made(parts, context)


def _guessed(places: Places, levels: Sequence[Level], step: Any) -> tuple[Any, Place]:
    """Give a part of what may be one of several: nothing is shown that none of them has, or each by another name."""
    if not levels:
        return step, places.any
    found = [(name, place) for name, place in (level.foreseen(step) for level in levels) if not place.drops]
    names = [name for name, _ in found]
    if not names or any(name is UNTOLD or name != names[0] for name in names):
        return step, places.ignored
    return names[0], places.guess([place for _, place in found])


class UndecidedLevel(UnknownLevel):
    """One of several classes, before the member has come that tells which."""

    __slots__ = ("_branches", "expected")

    def __init__(
        self,
        places: Places,
        branches: Sequence[tuple[Sequence[Tag], Opening]],
        names: frozenset[str],
        *,
        by_attribute: bool,
    ) -> None:
        levels = [opening.level for _, opening in branches]
        super().__init__(places, levels, listed=False, names=names, by_attribute=by_attribute)
        self._branches = branches
        self.expected = {name for tags, _ in branches for names_, _ in tags for name in names_}
        """The members that tell."""

    def decided(self, told: Mapping[str, Any]) -> Opening | str | None:
        """Give what it is, by the members so far; text says why it is nothing, None that it is not known yet."""
        left = [(tags, opening) for tags, opening in self._branches if _fits(tags, told)]
        if not left:
            name = next(name for name in told if name in self.expected)
            values = [value for tags, _ in self._branches for names, value in tags if name in names]
            shown = ", ".join(dict.fromkeys(repr(value) for value in values))
            tag = shown_python(told[name])
            return f"Input tag {tag} found using {name!r} does not match any of the expected tags: {shown}"
        openings = list({id(opening.level): opening for _, opening in left}.values())
        return openings[0] if len(openings) == 1 else None


def _fits(tags: Sequence[Tag], told: Mapping[str, Any]) -> bool:
    for names, value in tags:
        name = next((name for name in names if name in told), None)
        if name is None:
            continue
        tag = told[name].value if isinstance(told[name], Enum) else told[name]
        if type(tag) is not type(value) or tag != value:
            return False
    return True


class RecordLevel(Level):
    """A class with fields."""

    __slots__ = (
        "_children",
        "_extra",
        "_fields",
        "_places",
        "_record",
        "_validator",
        "_attributes",
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
            if inner["type"] in _FUNCTIONS and inner["type"] != "function-after":
                self.whole, self.sure = True, False
            if "schema" not in inner or inner["type"] in ("typed-dict", "named-tuple"):
                break
            inner = inner["schema"]
        self._children: dict[Any, tuple[Any, Place]] = {}
        self._fields: dict[Any, tuple[Field, Core]] = {}
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
            spellings = [field.name]
            if not python:
                alias = nodes[field.name].get("validation_alias", nodes[field.name].get("alias"))
                spellings, simple = _spellings(alias)
                self.whole = self.whole or not simple
                if by_name or alias is None or (config and config.get("validate_by_alias") is False):
                    spellings.append(field.name)
            for spelling in dict.fromkeys(spellings):
                if spelling in self._children:
                    self.whole = True  # it may be a part of either field, or of both
                self._children.setdefault(spelling, (self._attributes.get(field.name, field.name), place))
                place = self._place(field, nodes[field.name], config, weak=True) if len(spellings) > 1 else place
        if python or record.form == "named-tuple":
            names = record.slots
            self._children.update({i: self._children[name] for i, name in enumerate(names) if name in self._children})
        fields = fields_node(inner)
        extra = fields.get("extra_behavior") or (config or {}).get("extra_fields_behavior")
        if extra == "allow":
            self._extra = places.at(fields.get("extras_schema"), config)
        elif python or extra == "forbid" or fields["type"] in ("arguments", "named-tuple"):
            self._extra = places.refused(_EXTRA)
        else:
            self._extra = places.ignored
        if not python:
            reader = places.reader
            if record.subclasses or any(record in other.subclasses for other in reader.records.values()):
                self._children[TAG] = TAG, places.ignored

    def _place(self, field: Field, node: Core, config: Core | None, *, weak: bool = False) -> Place:
        from unspool.schema.places import Place

        if field.hidden:
            return self._places.refused(_EXTRA)
        value: Core = node["schema"]
        while value["type"] == "default" and value.get("on_error", "raise") == "raise":
            value = value["schema"]
        inner, _ = peeled(value)
        held, below = False, inner
        while below["type"] in _FUNCTIONS and "ref" not in below:
            held = held or (is_told(below) and below["type"] != "function-after")
            if "schema" not in below:
                break
            below = below["schema"]
        return Place(self._places, inner, config, is_optional=not field.required, held=held, weak=weak, conceals=field.name in self.silent)

    def child(self, step: Any) -> tuple[Any, Place]:
        found = self._children.get(step)
        return found if found is not None else (step, self._extra)

    def made(self, parts: Any, context: Context) -> Any:
        if self._validator is None:
            self._validator = PartValidatorBuilder(self._places.reader).record(self._record)
        if self._attributes:
            parts = {argument: parts[name] for argument, name in self._attributes.items() if name in parts}
        return self._validator.validate_python(parts, context=context)

    def problems(self, error: ValidationError, raw: Any) -> list[Problem]:
        arguments = {name: argument for argument, name in self._attributes.items()}
        given = {step: self.child(step)[0] for step, _ in children_of(raw)}
        given = {step: arguments.get(name, name) for step, name in given.items()}
        by_name = {given[step]: part for step, part in children_of(raw)}
        steps = {field.name: field.alias for field in self._record.fields}
        steps.update({name: step for step, name in given.items()})
        if self._places.protocol == "python":
            steps.update({field.name: field.name for field in self._record.fields})
        problems = pydantic_problems(error, by_name)
        for problem in problems:
            if problem.path:
                problem.path = (steps.get(problem.path[0], problem.path[0]), *problem.path[1:])
            else:
                problem.found = raw
        return problems


class ItemsLevel(Level):
    """A list, a set or a frozenset."""

    __slots__ = ("_item", "_kind", "_sizes", "_validator")

    listed = True

    def __init__(self, places: Places, node: Core, config: Core | None) -> None:
        self._item = places.at(node.get("items_schema"), config)
        self._kind: str = node["type"]
        self._sizes = {name: node[name] for name in _SIZES if node.get(name) is not None}
        self._validator: SchemaValidator | None = None

    def child(self, step: Any) -> tuple[Any, Place]:
        return step, self._item

    def made(self, parts: Any, context: Context) -> Any:
        if self._kind == "list" and not self._sizes:
            return parts
        if self._kind == "tuple-any":
            return tuple(parts)
        if self._validator is None:
            core: dict[str, Any] = {"type": self._kind, **self._sizes}
            if self._kind in ("set", "frozenset"):
                once = {"type": "function-plain", "function": {"type": "no-info", "function": distinct}}
                core = {"type": "chain", "steps": [once, core]}
            self._validator = compiled(core, ())
        return self._validator.validate_python(parts)


class TupleLevel(Level):
    """A tuple."""

    __slots__ = ("_beyond", "_items", "_node", "_validator", "_variadic", "sure", "whole")

    listed = True

    def __init__(self, places: Places, node: Core, config: Core | None) -> None:
        self._items: list[Place] = [places.at(item, config) for item in node["items_schema"]]
        self._beyond: Place = places.any
        self._variadic: int | None = node.get("variadic_item_index")
        # Items behind those of any number are known by their distance from the end, which has not come.
        self.whole = self._variadic is not None and self._variadic != len(self._items) - 1
        self.sure = not self.whole
        self._node = node
        self._validator: SchemaValidator | None = None

    def child(self, step: Any) -> tuple[Any, Place]:
        items, variadic = self._items, self._variadic
        number: int = step
        if variadic is not None and number >= variadic:
            return number, items[variadic]
        return number, items[number] if number < len(items) else self._beyond

    def made(self, parts: Any, context: Context) -> Any:
        if self._validator is None:
            parts_core = {"items_schema": [ANY for _ in self._items]}
            core = {key: value for key, value in self._node.items() if key not in ("ref", "strict", "metadata")}
            self._validator = compiled({**core, **parts_core}, ())
        return self._validator.validate_python(parts)


class MembersLevel(Level):
    """A dict with any keys."""

    __slots__ = ("_keys", "_places", "_sizes", "_validator", "_value", "_whole_key")

    def __init__(self, places: Places, node: Core, config: Core | None) -> None:
        self._places = places
        from unspool.schema.places import Place

        values: Core | None = node.get("values_schema")
        self._value = places.any if values is None else Place(places, values, config, is_optional=True)
        keys: Core | None = node.get("keys_schema")
        self._keys = places.at(keys, config)
        only_keys: Core = {"type": "dict"} if keys is None else {"type": "dict", "keys_schema": keys}
        self._whole_key: Callable[[], Place] = partial(places.at, only_keys, config)
        self._sizes = {name: node[name] for name in _SIZES if node.get(name) is not None}
        self._validator: SchemaValidator | None = None

    def child(self, step: Any) -> tuple[Any, Place]:
        if step.__class__ in self._keys.quick and (step.__class__ is not str or step.isascii()):
            return step, self._value
        from pydantic import ValidationError

        try:
            keys: Any = self._whole_key().check({step: None}, {"partial": True})
        except ValidationError as error:
            return step, self._places.refused(error.errors(include_url=False)[0]["msg"])
        except Exception:  # an application's validator may raise anything
            return step, self._places.late
        return next(iter(keys)), self._value

    def foreseen(self, step: Any) -> tuple[Any, Place]:
        is_told = step.__class__ in self._keys.quick and (step.__class__ is not str or step.isascii())
        return step if is_told else UNTOLD, self._value

    def made(self, parts: Any, context: Context) -> Any:
        if not self._sizes:
            return parts
        if self._validator is None:
            self._validator = compiled({"type": "dict", **self._sizes}, ())
        return self._validator.validate_python(parts)


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
