"""Read-only objects and arrays: what immutable snapshots are made of.

A snapshot does not copy. It looks at storage that the scanner only ever appends to, and remembers how much of it there
was and how far its open child was; so a snapshot of a wide container costs as little as one of a narrow container.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

from unspool.structured._grammar import Frame, Slot


class FrozenObject(Mapping[str, Any]):
    """A JSON object that cannot change. Equal to any mapping with equal members; not hashable, as dict is not."""

    __slots__ = ("_storage", "_size", "_key", "_open")

    def __init__(self, storage: dict[str, Any], size: int, key: Any, open_child: Any) -> None:
        self._storage = storage
        self._size = size
        self._key = key
        """Key of the open child."""
        self._open = open_child
        """The open child as it was: a frozen container, the length of a string, a number in a tuple, or None."""

    def __getitem__(self, key: str) -> Any:
        if key == self._key and self._open is not None:
            return _child(self._storage[key], self._open)
        storage = self._storage
        if len(storage) != self._size:
            storage = self._storage = dict(islice(storage.items(), self._size))
        return storage[key]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(islice(self._storage, self._size)))

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        return bool(thaw(self) == thaw(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FrozenObject({thaw(self)!r})"

    def __copy__(self) -> FrozenObject:
        return self

    def __deepcopy__(self, memo: object) -> FrozenObject:
        return self


class FrozenArray(Sequence[Any]):
    """A JSON array that cannot change. Equal to a list with equal elements; not hashable, as list is not."""

    __slots__ = ("_storage", "_size", "_key", "_open")

    def __init__(self, storage: list[Any], size: int, key: Any, open_child: Any) -> None:
        self._storage = storage
        self._size = size
        self._key = key
        self._open = open_child

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._size)))
        place = index + self._size if index < 0 else index
        if not 0 <= place < self._size:
            raise IndexError(index)
        item = self._storage[place]
        return _child(item, self._open) if place == self._key and self._open is not None else item

    def __iter__(self) -> Iterator[Any]:
        size = self._size
        if self._open is None:
            yield from islice(self._storage, size)
        else:
            yield from islice(self._storage, size - 1)
            yield self[size - 1]

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (FrozenArray, list)):
            return NotImplemented
        return bool(thaw(self) == thaw(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FrozenArray({thaw(self)!r})"

    def __copy__(self) -> FrozenArray:
        return self

    def __deepcopy__(self, memo: object) -> FrozenArray:
        return self


def thaw(value: Any) -> Any:
    """Copy a JSON value, frozen or not, into plain dicts and lists that the caller may change. Does not recurse."""
    result: list[Any] = [value]
    pending: list[tuple[Any, Any]] = [(result, 0)]
    while pending:
        holder, slot = pending.pop()
        item: Any = holder[slot]
        if item.__class__ in _OBJECTS:
            copy: Any = dict(item)
            children: Any = copy.items()
        elif item.__class__ in _ARRAYS:
            copy = list(item)
            children = enumerate(copy)
        else:
            continue
        holder[slot] = copy
        pending.extend((copy, slot) for slot, child in children if child.__class__ in _CONTAINERS)
    return result[0]


def snapshot(root: list[Any], frame: Frame | None, open_slot: Slot) -> Any:
    """Give the value as it is now; containers that have not changed since the last snapshot keep their identity.

    Args:
        root: holds the value as its only item, or nothing.
        frame: the innermost open container.
        open_slot: where its open string, or number that is shown already, is; None when none is open.
    """
    if frame is None:
        return root[0] if root and root[0].__class__ is not str else None
    child: Any = None
    if open_slot is not None:
        item = frame.container[open_slot]
        child = len(item) if item.__class__ is str else (item,)
    view = _view(frame, open_slot, child)
    while frame.parent is not None:
        view = _view(frame.parent, frame.slot, view)
        frame = frame.parent
    return view


def settle(root: list[Any], frame: Frame) -> None:
    """Put the last snapshot of a container that closes into its parent."""
    parent: Any = root if frame.parent is None else frame.parent.container
    parent[frame.slot] = _view(frame, None, None)


def freeze(value: Any) -> Any:
    """Freeze a container that arrived whole; takes it over, with all that is in it. Does not recurse."""
    root: list[Any] = [value]
    found: list[tuple[Any, Any]] = [(root, 0)]
    for holder, slot in found:  # grows while it runs: parents before children
        item = holder[slot]
        children: Any = item.items() if item.__class__ is dict else enumerate(item)
        found.extend((item, key) for key, child in children if child.__class__ in _CONTAINERS)
    for holder, slot in reversed(found):
        item = holder[slot]
        holder[slot] = (FrozenObject if item.__class__ is dict else FrozenArray)(item, len(item), None, None)
    return root[0]


def fork(frame: Frame) -> Any:
    """Give an open object new storage, since a repeated key will change what snapshots see in the old one."""
    frame.container = dict(frame.container)
    return frame.container


def _view(frame: Frame, key: Slot, child: Any) -> Any:
    """The last snapshot of a container when it still shows what is there now; else a new one."""
    storage = frame.container
    size = len(storage)
    view = frame.view
    if view is not None and view._storage is storage and view._size == size:
        was = view._open
        if was is child:
            return view
        # The child that was open may have closed since. It is the same if it has not grown before.
        if was is not None and (key is None or key == view._key) and _is_unchanged(storage[view._key], was, child):
            return view
    view = frame.view = (FrozenObject if storage.__class__ is dict else FrozenArray)(storage, size, key, child)
    return view


def _is_unchanged(item: Any, was: Any, child: Any) -> bool:
    # By identity, never by `==`: that would compare whole trees.
    if was.__class__ is int:
        return len(item) == was and (child is None or child == was)
    if was.__class__ is tuple:
        return item is was[0]
    return child is None and item is was


def _child(item: Any, was: Any) -> Any:
    """The open child of a snapshot, out of what stands in its place now."""
    if was.__class__ is int:
        return item[:was]
    return was[0] if was.__class__ is tuple else was


_OBJECTS: frozenset[Any] = frozenset({dict, FrozenObject})
_ARRAYS: frozenset[Any] = frozenset({list, FrozenArray})
_CONTAINERS = _OBJECTS | _ARRAYS
