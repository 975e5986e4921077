"""Neutral values of Python syntax: what a reply in the Python protocol says, before a schema makes instances of it.

In: what the scanner has read. Out: plain data. A class is never looked up and never called here.

    None, True, 1, 1.5, 'text', b'x'    themselves; text and numbers are whole and finite
    [..], (..), {k: v}                  list, tuple, dict (keys: hashable, no two equal)
    {a, b}, set(..), frozenset(..)      PySet, with its members as written, so that each can be judged
    Name(..)                            PyObject, arguments by field name; by position (0, 1, ...) where none is known
    Color.RED, UNKNOWN                  PyName

While a container is open, it is shown as it grows: a tuple as a PyTuple, which is a list, until it closes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from unspool.structured.collisions import collide
from unspool.structured.frozen import FrozenArray


class PyObject:
    """A constructor as written: the name of a class and its arguments, unconverted and without defaults.

    Do not change it: previews are shared.
    """

    __slots__ = ("name", "fields")
    __match_args__ = ("name", "fields")

    def __init__(self, name: str, fields: Mapping[str | int, Any]) -> None:
        self.name = name
        """The name of the class."""
        self.fields = fields
        """In the order written. An argument by position has its field's name if the scanner knew, else its place."""

    def to_wire(self) -> dict[str, object]:
        """Give it as JSON-safe data: `pythonClass` and `fields`."""
        wire: dict[str, object] = to_wire(self)
        return wire

    def __eq__(self, other: object) -> bool:
        return _same(self, other)

    __hash__ = None  # type: ignore[assignment]  # the fields may hold anything

    def __repr__(self) -> str:
        return _spelled(self)


class PyName:
    """A name that stands for a value: a member of an enumeration (`Color.RED`), or `UNKNOWN`."""

    __slots__ = ("name",)
    __match_args__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
        """As it is written, dots included."""

    def to_wire(self) -> dict[str, object]:
        """Give it as JSON-safe data: `pythonName`."""
        return {"pythonName": self.name}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyName) and self.name == other.name

    def __hash__(self) -> int:
        return hash((PyName, self.name))

    def __repr__(self) -> str:
        return self.name


class PyTuple(list[Any]):
    """A tuple that is still open. When it closes, a tuple takes its place."""

    __slots__ = ()


class PySet:
    """A set as written. Do not change it: previews are shared."""

    __slots__ = ("items", "frozen")
    __match_args__ = ("items", "frozen")

    def __init__(self, items: Sequence[Any], frozen: bool = False) -> None:
        self.items = items
        """What was written, in order, equal ones included: `{1, True}` has two."""
        self.frozen = frozen
        """Whether it was written as `frozenset(..)`."""

    @property
    def members(self) -> tuple[Any, ...]:
        """The members: of equal ones the first. Constructors are not compared."""
        return tuple(_distinct(self.items))

    def to_wire(self) -> dict[str, object]:
        """Give it as JSON-safe data: `pythonSet`, its members."""
        wire: dict[str, object] = to_wire(self)
        return wire

    def __eq__(self, other: object) -> bool:
        return _same(self, other)

    __hash__ = None  # type: ignore[assignment]  # it grows while it is open

    def __repr__(self) -> str:
        return _spelled(self)


def _distinct(items: Sequence[Any]) -> Iterator[Any]:
    seen: set[Any] = set()
    if collide([item for item in items if not isinstance(item, PyObject | list)]):  # it is refused when it closes
        yield from items
        return
    for item in items:
        if not isinstance(item, PyObject | list):  # a tuple that is still open is a list
            if item in seen:
                continue
            seen.add(item)
        yield item


# What follows does not recurse: a value may nest 512 deep, and in Pyodide calls of Python methods from C, such as those
# of a `repr`, end the interpreter for good before that.


def _same(one: Any, other: Any) -> bool:
    pending: list[tuple[Any, Any]] = [(one, other)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, PyObject):
            if not isinstance(other, PyObject) or one.name != other.name:
                return False
            one, other = one.fields, other.fields
        elif isinstance(one, PySet):
            if not isinstance(other, PySet) or one.frozen != other.frozen:
                return False
            one, other = list(one.items), list(other.items)
        left: Any = one
        right: Any = other
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if left.keys() != right.keys():
                return False
            pending.extend((left[key], right[key]) for key in left)
        elif isinstance(one, _ARRAYS) and isinstance(other, _ARRAYS):
            if isinstance(one, tuple) != isinstance(other, tuple) or len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif isinstance(other, PyObject | PySet) or left != right:
            return False
    return True


_ARRAYS = (list, tuple, FrozenArray)


def _spelled(value: Any) -> str:
    """Spell a neutral value in Python syntax."""
    pieces: list[str] = []
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        parts: list[Any]
        if isinstance(item, _Text):
            pieces.append(item)
            continue
        if isinstance(item, PyObject):
            parts = [_Text(f"{item.name}("), *_listed((_named(key), field) for key, field in item.fields.items()), _END]
        elif isinstance(item, PySet):
            start, end = ("{", "}") if item.items else ("set(", ")")
            if item.frozen:
                start, end = f"frozenset({start}", f"{end})"
            parts = [_Text(start), *_listed(("", member) for member in item.items), _Text(end)]
        elif isinstance(item, Mapping):
            members: Any = cast(Any, item)
            parts = [_Text("{"), *_listed((f"{key!r}: ", member) for key, member in members.items()), _Text("}")]
        elif isinstance(item, list | FrozenArray):
            parts = [_Text("["), *_listed(("", member) for member in cast(Any, item)), _Text("]")]
        elif isinstance(item, tuple):
            inner: Any = cast(Any, item)
            parts = [_Text("("), *_listed(("", member) for member in inner), _Text(",)" if len(inner) == 1 else ")")]
        else:
            pieces.append(repr(item))
            continue
        parts.reverse()
        pending += parts
    return "".join(pieces)


class _Text(str):
    """A piece of a spelling, as it is."""

    __slots__ = ()


_END = _Text(")")


def _named(key: str | int) -> str:
    return "" if isinstance(key, int) else f"{key}="


def _listed(items: Iterable[tuple[str, Any]]) -> list[Any]:
    parts: list[Any] = []
    for prefix, item in items:
        parts += (_Text(f", {prefix}" if parts else prefix), item)
    return parts


def to_wire(value: Any) -> Any:
    """Give a neutral value as JSON-safe data.

    A tuple becomes a list, bytes their Latin-1 text, a key of a mapping that is not text its Python spelling.
    """
    result: list[Any] = [value]
    pending: list[tuple[Any, Any]] = [(result, 0)]
    while pending:
        holder, slot = pending.pop()
        item: Any = holder[slot]
        inner: Any
        if isinstance(item, str):
            continue
        if isinstance(item, PyObject):
            inner = {str(key): field for key, field in item.fields.items()}
            holder[slot] = {"pythonClass": item.name, "fields": inner}
        elif isinstance(item, PySet):
            inner = list(item.members)
            holder[slot] = {"pythonSet": inner}
        elif isinstance(item, PyName):
            holder[slot] = {"pythonName": item.name}
            continue
        elif isinstance(item, bytes):
            holder[slot] = item.decode("latin-1")
            continue
        elif isinstance(item, Mapping):
            members: Any = cast(Any, item)
            inner = {key if isinstance(key, str) else repr(key): member for key, member in members.items()}
            holder[slot] = inner
        elif isinstance(item, Sequence):
            inner = holder[slot] = list(cast(Any, item))
        else:
            continue
        slots: Any = inner if inner.__class__ is dict else range(len(inner))
        pending.extend((inner, key) for key in slots)
    return result[0]
