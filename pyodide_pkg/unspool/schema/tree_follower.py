"""TreeFollower: the live tree of a JSON answer and where its text ends in, steps of a `PartialBuilder` out.

The same steps that the events of the answer say, from what the scanner has built already: a reader of partial values
alone needs no events, which cost more than the scanning. Each part is looked at once. No IO.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.partial_builder import PartialBuilder
from unspool.structured.events import Path

if TYPE_CHECKING:
    from unspool.structured.tree import Where


class _Open:
    """An open container of the tree."""

    __slots__ = ("length", "path", "raw", "taken")

    def __init__(self, raw: Any, path: Path) -> None:
        self.raw = raw
        self.path = path
        self.taken = 0
        """How many of its parts have ended."""
        self.length = -1
        """How much has been seen of the text that is its open part; -1 when none is."""


class TreeFollower:
    """Drives the builder of one answer."""

    def __init__(self, builder: PartialBuilder) -> None:
        self._builder = builder
        self._stack: list[_Open] = []
        self._is_over = False
        self._length = 0
        """Of a text at the root: how much of it has been seen."""

    def follow(self, root: Any, where: Where) -> None:
        """Look at what has come since the last time.

        Args:
            root: the value so far. When it is another object than before, it still holds all that was there.
            where: the text ends in it.
        """
        builder, stack = self._builder, self._stack
        builder.has_changed = False
        if self._is_over:
            return
        if not stack:
            if not isinstance(root, dict | list):
                self._grow_root(root)
                return
            builder.open("object" if isinstance(root, dict) else "array")
            stack.append(_Open(root, ()))
        elif stack[0].raw is not root:
            self._rebind(root)
        inner = stack[-1]
        if where is None:
            while stack:
                self._leave()
            self._is_over = True
            return
        path, step = where
        if path is not inner.path:
            while path[: len(inner.path)] != inner.path:
                inner = self._leave()
            while len(path) > len(inner.path):
                inner = self._enter(inner, path)
        raw = inner.raw
        ended = len(raw) if step is None else len(raw) - 1
        if ended > inner.taken:
            self._take(inner, ended)
        if step is not None:
            if inner.length < 0:
                builder.start(step)
                inner.length = 0
            text: str = raw[step]
            if len(text) > inner.length:
                builder.grow(text[inner.length :])
                inner.length = len(text)

    def _grow_root(self, text: Any) -> None:
        if isinstance(text, str) and len(text) > self._length:
            self._builder.grow(text[self._length :])
            self._length = len(text)

    def _rebind(self, root: Any) -> None:
        """Look at another tree, which holds what the one before held: the text was read again up to a fault."""
        raw = root
        for inner in self._stack:
            if inner.path:
                raw = raw[inner.path[-1]]
            inner.raw = raw

    def _enter(self, outer: _Open, path: Path) -> _Open:
        """Open the next container on the way to a path; it is the last part of the one around it."""
        self._take(outer, len(outer.raw) - 1)
        step = path[len(outer.path)]
        raw = outer.raw[step]
        self._builder.start(step)
        self._builder.open("object" if isinstance(raw, dict) else "array")
        whole = len(path) == len(outer.path) + 1
        inner = _Open(raw, path if whole else (*outer.path, step))
        self._stack.append(inner)
        return inner

    def _leave(self) -> _Open:
        """Close the innermost container; give the one around it."""
        inner = self._stack.pop()
        self._take(inner, len(inner.raw))
        self._builder.close(inner.path, inner.raw)
        if not self._stack:
            return inner
        self._stack[-1].taken += 1
        return self._stack[-1]

    def _take(self, inner: _Open, end: int) -> None:
        """Take the parts that have ended since the last time, up to a number of them."""
        start = inner.taken
        if start >= end:
            return
        inner.taken = end
        raw = inner.raw
        inner.length = -1
        if isinstance(raw, dict):
            members: dict[str, Any] = cast("Any", raw)
            # From the end, since nobody can begin to read a dict in its middle.
            new = list(islice(reversed(members.items()), len(members) - end, len(members) - start))
            new.reverse()
            self._builder.take(new, inner.path)
        else:
            items: list[Any] = raw[start:end]
            self._builder.take(enumerate(items, start), inner.path)
