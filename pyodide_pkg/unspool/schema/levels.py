"""Levels: what an open container of an answer is: the places of its parts, and what is made of them when it closes.

In: the node or the class it was read from. Out: for each step the name and the place of a part; in the end a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from unspool.schema.part_validator_builder import ANY
from unspool.schema.problem import Problem
from unspool.schema.pydantic_nodes import Core
from unspool.schema.validation_error import pydantic_problems, shown_python
from unspool.schema.validator_builder import compiled
from unspool.schema.validators import distinct

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import SchemaValidator

    from unspool.schema.lookahead import Tag
    from unspool.schema.places import Context, Opening, Place, Places

FUNCTIONS = ("function-before", "function-after", "function-wrap", "function-plain")
_SIZES = ("min_length", "max_length", "fail_fast")
EXTRA = "Extra inputs are not permitted"
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

    def meant(self, step: Any) -> list[tuple[Any, Place]]:
        """Give the parts, of those that the value may have, that a reader may mean by a step."""
        name, place = self.child(step)
        return [] if place.drops or not isinstance(step, int if self.listed else str) else [(name, place)]

    def foreseen(self, step: Any) -> tuple[Any, Place]:
        """Give the same as `child` where no code of the application may run; `UNTOLD` when only that tells the name."""
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

    __slots__ = ("_places", "by_attribute", "levels", "listed", "names")

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
        self.levels = levels
        self.listed = listed
        self.names = names
        self.by_attribute = by_attribute and names is not None

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known of what it may be."""
        return not self.levels

    def child(self, step: Any) -> tuple[Any, Place]:
        return _guessed(self._places, self.levels, step)


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

    __slots__ = ("_beyond", "_items", "_node", "_places", "_validator", "_variadic", "sure", "whole")

    listed = True

    def __init__(self, places: Places, node: Core, config: Core | None) -> None:
        self._places = places
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

    def meant(self, step: Any) -> list[tuple[Any, Place]]:
        if not isinstance(step, int):
            return []
        is_beyond = self._variadic is None and step >= len(self._items)
        return [(step, self._places.ignored if is_beyond else self.child(step)[1])]  # there until it closes

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

    def meant(self, step: Any) -> list[tuple[Any, Place]]:
        try:
            return [(self.child(step)[0], self._value)]
        except TypeError:  # what cannot be a key
            return []

    def made(self, parts: Any, context: Context) -> Any:
        if not self._sizes:
            return parts
        if self._validator is None:
            self._validator = compiled({"type": "dict", **self._sizes}, ())
        return self._validator.validate_python(parts)
