"""Views: what has arrived of an open container, to be read as the value will be. They change as it grows.

In: a `Part`, kept by the builder. Out: a record's parts as attributes, a mapping's as members, a list's by number. They
never raise for what has not arrived, and nothing can be changed through them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, overload

from unspool.schema.levels import UndecidedLevel
from unspool.schema.places import Opening, Place

PartState = Literal["absent", "growing", "complete"]

ABSENT: Any = object()
"""Stands for a part that has not arrived."""


class Part:
    """An open container of an answer, or one that closed and is not valid."""

    __slots__ = (
        "bad",
        "child",
        "good",
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
        self.withheld: set[Any] = set()
        """Names of parts that are closed and not shown."""
        self.key: Any = ABSENT
        """The part that is open."""
        self.child: Part | None = None
        """That part, if it is a container."""
        self.sure = sure
        """Whether a fault of this part is one of the answer."""
        self.bad = False
        """Whether a part of it is not valid."""
        self.good = 0
        """Of a list: how many items from the first on have closed and are valid."""
        self.is_undecided = isinstance(opening.level, UndecidedLevel)
        """Whether a member that has not come tells what it is."""
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

    def close(self, key: Any, value: Any) -> None:
        """Let a part be seen that has closed and is valid."""
        if not self.is_list:
            self.shown[key] = value
            return
        self.show(key, value)
        if key == self.good:
            self.good += 1

    def names_from_root(self) -> tuple[Any, ...] | None:
        """Give where it stands in the value; None when it, or what it is in, is judged as it was written."""
        names: list[Any] = []
        part: Part | None = self
        while part is not None:
            if part.opening.whole:
                return None
            part = part.parent
            if part is not None:
                names.append(part.key)
        return tuple(reversed(names))

    def withhold(self, key: Any) -> None:
        """Let a part that is closed not be seen; in a list something must stand in its place."""
        if not self.is_list:
            if key not in self.shown:
                self.withheld.add(key)
        elif key == len(self.shown):
            self.shown.append(None)

    def state(self, path: Sequence[Any]) -> PartState:
        """Tell how far a part below has come."""
        if not path:
            return "growing"
        step, rest = path[0], path[1:]
        names = self.opening.level.names
        key = step if names is not None and step in names else self._key(step)
        if key is ABSENT:
            return "absent"
        if key == self.key:
            if self.child is not None:
                return self.child.state(rest)
            return "absent" if rest else "growing"
        found = self.get(key)
        if found is ABSENT:
            return "absent" if rest or key not in self.withheld else "complete"
        return "absent" if inside(found, rest) is ABSENT else "complete"

    def get(self, key: Any) -> Any:
        """Give what is shown of a part."""
        shown = self.shown
        if self.is_list:
            return shown[key] if isinstance(key, int) and 0 <= key < len(shown) else ABSENT
        try:
            return shown.get(key, ABSENT)
        except TypeError:
            return ABSENT

    def _key(self, step: Any) -> Any:
        try:
            return self.opening.level.child(step)[0]
        except TypeError:  # no such step leads into it
            return ABSENT


def inside(value: Any, path: Sequence[Any]) -> Any:
    """Follow a path into a value that is closed; ABSENT where it leads nowhere."""
    for step in path:
        if isinstance(value, RecordView | MappingView | ListView):
            part = part_of(value)
            state = part.get(step)
            value = part.get(part.opening.level.child(step)[0]) if state is ABSENT else state
        elif isinstance(value, Mapping):
            members: Mapping[Any, Any] = cast("Any", value)
            value = members.get(step, ABSENT)
        elif isinstance(step, str):
            value = getattr(value, step, ABSENT)
        elif isinstance(value, list | tuple) and isinstance(step, int):
            items: Sequence[Any] = cast("Any", value)
            value = items[step] if 0 <= step < len(items) else ABSENT
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return value


class RecordView:
    """A record that is not complete: what has arrived as attributes, or by name in brackets.

    A field that is declared and has not arrived is None. A name that is not declared raises AttributeError.
    """

    __slots__ = ("__part",)

    def __init__(self, part: Part) -> None:
        self.__part = part

    def __getattr__(self, name: str) -> Any:
        part: Part = object.__getattribute__(self, "_RecordView__part")
        value = part.shown.get(name, ABSENT)
        if value is not ABSENT:
            return value
        level = part.opening.level
        if level.names is not None and name in level.names:
            return None
        raise AttributeError(f"{level.title or 'the record'} has no field {name!r}", name=name, obj=self)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.__getattr__(name)
        except AttributeError:
            raise KeyError(name) from None

    def __contains__(self, name: object) -> bool:
        return name in self.__part.shown

    def __iter__(self) -> Iterator[str]:
        """Give the names of the fields that have arrived."""
        return iter(list(self.__part.shown))

    def __dir__(self) -> list[str]:
        return sorted(self.__part.opening.level.names or ())

    def __repr__(self) -> str:
        fields = [f"{name}={value!r}" for name, value in self.__part.shown.items()]
        return f"{self.__part.opening.level.title}({', '.join([*fields, '…'])})"


class MappingView(Mapping[Any, Any]):
    """A mapping that is not complete, with the members that have arrived.

    A key that is declared and has not arrived gives None, and is not counted.
    """

    __slots__ = ("__part",)

    def __init__(self, part: Part) -> None:
        self.__part = part

    def __getitem__(self, key: Any) -> Any:
        part = self.__part
        value = part.get(key)
        if value is not ABSENT:
            return value
        names = part.opening.level.names
        if names is not None and key in names:
            return None
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self.__part.get(key) is not ABSENT

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.__part.shown))

    def __len__(self) -> int:
        return len(self.__part.shown)

    def __repr__(self) -> str:
        members = [f"{key!r}: {value!r}" for key, value in self.__part.shown.items()]
        return f"{{{', '.join([*members, '…'])}}}"


class ListView(Sequence[Any]):
    """A list, a tuple or a set that is not complete, with the items that have arrived, in the order written."""

    __slots__ = ("__part",)

    def __init__(self, part: Part) -> None:
        self.__part = part

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.__part.shown[index]

    def __len__(self) -> int:
        return len(self.__part.shown)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__part.shown)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ListView):
            other = other.__part.shown
        elif isinstance(other, tuple):
            other = list(cast("Any", other))
        return bool(self.__part.shown == other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"[{', '.join([*map(repr, self.__part.shown), '…'])}]"


def part_of(view: RecordView | MappingView | ListView) -> Part:
    """Give what a view shows."""
    part: Part = object.__getattribute__(view, f"_{type(view).__name__}__part")
    return part


def snapshot(value: Any) -> Any:
    """Copy what has arrived: views become dicts and lists, what is closed stays as it is."""
    if not isinstance(value, RecordView | MappingView | ListView):
        return value
    shown = part_of(value).shown
    if part_of(value).is_list:
        return [snapshot(item) for item in shown]
    return {key: snapshot(item) for key, item in shown.items()}
