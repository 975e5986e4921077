"""Views: what has arrived of an open container, to be read as the value will be. They change as it grows.

In: a `Part`, kept by the builder. Out: a record's parts as attributes, a mapping's as members, a list's by number. They
never raise for what has not arrived, and nothing can be changed through them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from inspect import isroutine
from typing import Any, Literal, NoReturn, Self, cast, overload

from unspool.printable import printable
from unspool.schema.attrs_class import is_attrs
from unspool.schema.levels import UndecidedLevel
from unspool.schema.places import Opening, Place

PartState = Literal["absent", "growing", "complete"]

ABSENT: Any = object()
"""Stands for a part that has not arrived."""
REPEATED: Any = object()
"""Names a part that has come before, by another spelling: the first is shown until the whole is judged."""


_COPIES = frozenset(("model_dump", "model_dump_json", "model_copy", "dict", "json", "copy", "_asdict"))
_NONE: frozenset[Any] = frozenset()


class Part:
    """An open container of an answer, or one that closed and is not valid."""

    __slots__ = (
        "aside",
        "bad",
        "child",
        "height",
        "is_hidden",
        "is_list",
        "is_refused",
        "is_undecided",
        "key",
        "opening",
        "parent",
        "place",
        "shown",
        "sure",
        "unsure",
        "withheld",
    )

    def __init__(self, parent: Part | None, place: Place, opening: Opening, sure: bool) -> None:
        self.parent = parent
        self.place = place
        self.opening = opening
        self.is_list = opening.level.listed
        self.shown: Any = [] if self.is_list else {}
        """What has arrived, by the names that the value will have."""
        self.aside: dict[Any, Any] = {}
        """What is closed and not shown, but needed to make the value. While it is undecided: all that is closed, by the
        names that the answer has.
        """
        self.withheld: frozenset[Any] | set[Any] = _NONE
        """Names of parts that are closed and not shown; of a list, numbers of closed items not known to be valid."""
        self.key: Any = ABSENT
        """The part that is open."""
        self.child: Part | None = None
        """That part, if it is a container."""
        self.sure = sure
        """Whether a fault of this part is one of the answer."""
        self.bad = False
        """Whether a part of it is not valid."""
        self.height = 0
        """How many containers inside each other, up to this one, have been judged as they were written."""
        self.is_undecided = isinstance(opening.level, UndecidedLevel)
        """Whether a member that has not come tells what it is."""
        self.is_hidden = False
        """Whether nothing of it is shown before it closes: it may become something that has no such parts."""
        self.is_refused = False
        """Whether it has been told already why it is not valid."""
        self.unsure = False
        """Whether a part of it could not be judged alone."""

    def opened(self) -> Any:
        """Make its view. It is not kept here: a view that nobody reads is gone, with its part, when the part closes."""
        if self.is_list:
            return ListView(self)
        return RecordView(self) if self.opening.level.by_attribute else MappingView(self)

    def show(self, key: Any, value: Any) -> None:
        """Let a part be seen."""
        shown = self.shown
        if self.is_list and key == len(shown):
            shown.append(value)
        else:
            shown[key] = value

    def conceal(self, key: Any, value: Any) -> None:
        """Keep a part that is closed, without letting it be seen."""
        if not self.is_undecided:
            self.aside[key] = value
        self.withhold(key)

    def names_from_root(self) -> tuple[Any, ...] | None:
        """Give where it stands in the value; None when it, or what it is in, is judged as it was written, or may be
        replaced by another spelling.
        """
        names: list[Any] = []
        part: Part | None = self
        while part is not None:
            if part.opening.whole or part.place.weak:
                return None
            part = part.parent
            if part is not None:
                names.append(part.key)
        return tuple(reversed(names))

    def withhold(self, key: Any) -> None:
        """Let a part that is closed not be seen; in a list something must stand in its place."""
        if self.is_list:
            if key == len(self.shown):
                self.shown.append(None)
        elif key in self.shown:
            return
        withheld = self.withheld
        if isinstance(withheld, frozenset):
            self.withheld = {key}
        else:
            withheld.add(key)

    def state(self, path: Sequence[Any]) -> PartState:
        """Tell how far a part below has come."""
        if path and path[0] == "root" and self.opening.has_root:
            path = path[1:]
        if not path:
            return "growing"
        key, rest = self.named(path[0]), path[1:]
        if key is ABSENT:
            return "absent"
        if key == self.key:
            if self.child is not None and not self.child.is_hidden:
                return self.child.state(rest)
            return "absent" if rest else "growing"
        found = self.get(key)
        if found is ABSENT:
            return "absent" if rest or key not in self.withheld else "complete"
        return state_inside(found, rest)

    def get(self, key: Any) -> Any:
        """Give what is shown of a part."""
        shown = self.shown
        if self.is_list:
            return shown[key] if isinstance(key, int) and 0 <= key < len(shown) else ABSENT
        try:
            return shown.get(key, ABSENT)
        except TypeError:
            return ABSENT

    def named(self, step: Any) -> Any:
        """Give the name of a part, by that name or by the one that the answer has for it; ABSENT for no part."""
        try:
            level = self.opening.level
            if step in level.silent:
                return ABSENT
            if level.names is not None and step in level.names:
                return step
            if step == self.key or step in self.withheld or self.get(step) is not ABSENT:
                return step
            return level.child(step)[0]
        except TypeError:  # what cannot be a key
            return ABSENT


def inside(value: Any, path: Sequence[Any]) -> Any:
    """Follow a path into a value that is closed; ABSENT where it leads nowhere."""
    for step in path:
        value = _inner(value, step)
        if value is ABSENT:
            return ABSENT
    return value


def state_inside(value: Any, path: Sequence[Any]) -> PartState:
    """Tell whether a value that is closed has a part."""
    for number, step in enumerate(path):
        if isinstance(value, View):
            below = part_of(value).state(path[number:])
            return "absent" if below == "absent" else "complete"
        value = _inner(value, step)
        if value is ABSENT:
            return "absent"
    return "complete"


def _inner(value: Any, step: Any) -> Any:
    if isinstance(value, View):
        part = part_of(value)
        return part.get(part.named(step))
    if has_root(value) and step != "root":
        value = value.root
    if isinstance(value, Mapping):
        members: Mapping[Any, Any] = cast("Any", value)
        try:
            return members.get(step, ABSENT)
        except TypeError:
            return ABSENT
    if isinstance(step, int):
        if isinstance(value, set | frozenset):
            value = tuple(cast("Any", value))
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return ABSENT
        items: Sequence[Any] = cast("Any", value)
        return items[step] if 0 <= step < len(items) else ABSENT
    if not isinstance(step, str):
        return ABSENT
    try:
        found = getattr(value, step, ABSENT)
    except Exception:  # a property of the application
        return ABSENT
    return ABSENT if isroutine(found) else found


def has_root(value: Any) -> bool:
    """Tell whether a value is a root model, which is read as what it holds."""
    return getattr(cast("Any", type(value)), "__pydantic_root_model__", False) is True


def field_names(value: Any) -> Collection[str] | None:
    """Give the names of the fields of a record that have arrived: all of an instance; None for what is no record."""
    if isinstance(value, View):
        return list(part_of(value).shown) if isinstance(value, RecordView) else None
    cls = cast("Any", type(value))
    if hasattr(cls, "__pydantic_fields__") and hasattr(cls, "model_fields"):
        return [*cls.model_fields, *(value.model_extra or ())]
    if is_attrs(cls):
        return [field.name for field in cls.__attrs_attrs__]
    if hasattr(cls, "__dataclass_fields__"):
        return [name for name in cls.__dataclass_fields__ if hasattr(value, name)]
    return cls._fields if isinstance(value, tuple) and hasattr(cls, "_fields") else None


class View:
    """What has arrived of an open container. A copy of it is plain data, which does not grow."""

    __slots__ = ("__part",)

    def __init__(self, part: Part) -> None:
        self.__part = part

    def __reduce__(self) -> tuple[Any, ...]:
        return list if part_of(self).is_list else dict, (snapshot(self),)


class RecordView(View):
    """A record that is not complete: what has arrived as attributes, as of the instance that it will be.

    A field that is declared and has not arrived is None. A name that is not declared raises AttributeError.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        part = part_of(self)
        value = part.get(name)
        if value is not ABSENT:
            return value
        level = part.opening.level
        if level.names is not None and name in level.names:
            return None
        if name == "root" and part.opening.has_root:
            return self
        hint = "; a copy of what has arrived is in snapshot() of the Partial" if name in _COPIES else ""
        raise AttributeError(f"{level.title or 'the record'} has no field {name!r}{hint}", name=name, obj=self)

    def __getitem__(self, name: object) -> NoReturn:
        self.__refuse(name)

    def __contains__(self, name: object) -> NoReturn:
        self.__refuse(name)

    def __iter__(self) -> NoReturn:
        self.__refuse("name")

    def __refuse(self, name: object) -> NoReturn:
        """Tell at once what would fail when it closes: it will be an instance, which has attributes."""
        title = part_of(self).opening.level.title or "This record"
        attribute = name if isinstance(name, str) and name.isidentifier() else "name"
        raise TypeError(
            f"{title} is read by its attributes, such as .{attribute}, while it is open and when it has closed"
        )

    def __dir__(self) -> list[str]:
        return sorted(part_of(self).opening.level.names or ())

    def __repr__(self) -> str:
        part = part_of(self)
        fields = [f"{printable(name)}={value!r}" for name, value in part.shown.items()]
        return f"{part.opening.level.title}({', '.join([*fields, '…'])})"


class _Rooted(View):
    """What may be the one part of a root model."""

    __slots__ = ()

    @property
    def root(self) -> Self:
        """The same, where the type has a root model here."""
        if part_of(self).opening.has_root:
            return self
        raise AttributeError("There is no root model here", name="root", obj=self)


class MappingView(_Rooted, Mapping[Any, Any]):
    """A mapping that is not complete, with the members that have arrived.

    A key that is declared and has not arrived gives None, and is not counted.
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        part = part_of(self)
        value = part.get(key)
        if value is not ABSENT:
            return value
        names = part.opening.level.names
        if names is not None and key in names:
            return None
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return part_of(self).get(key) is not ABSENT

    def __iter__(self) -> Iterator[Any]:
        return iter(list(part_of(self).shown))

    def __len__(self) -> int:
        return len(part_of(self).shown)

    def __repr__(self) -> str:
        members = [f"{key!r}: {value!r}" for key, value in part_of(self).shown.items()]
        return f"{{{', '.join([*members, '…'])}}}"


class ListView(_Rooted, Sequence[Any]):
    """A list, a tuple or a set that is not complete, with the items that have arrived, in the order written."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return part_of(self).shown[index]

    def __len__(self) -> int:
        return len(part_of(self).shown)

    def __iter__(self) -> Iterator[Any]:
        return iter(part_of(self).shown)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ListView):
            other = part_of(other).shown
        elif isinstance(other, tuple):
            other = list(cast("Any", other))
        return bool(part_of(self).shown == other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"[{', '.join([*map(repr, part_of(self).shown), '…'])}]"


def part_of(view: View) -> Part:
    """Give what a view shows."""
    part: Part = object.__getattribute__(view, "_View__part")
    return part


def snapshot(value: Any) -> Any:
    """Copy what has arrived: views become dicts and lists, what is closed stays as it is."""
    if not isinstance(value, View):
        return value
    shown = part_of(value).shown
    if part_of(value).is_list:
        return [snapshot(item) for item in shown]
    return {key: snapshot(item) for key, item in shown.items()}
