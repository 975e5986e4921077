"""Containers of the Python scanner: opening them, finding out what they are, closing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from keyword import iskeyword
from typing import Any

from unspool.errors import StreamError
from unspool.structured._py_grammar import (
    AFTER,
    BARE,
    BRACE,
    CALL,
    CLOSE,
    CLOSED,
    DICT,
    END,
    FIRST_MEMBER,
    GROUPED_TEXT,
    HASHED,
    ITEM,
    LIST,
    OPEN,
    PAREN,
    PENDING,
    SET,
    SET_CALL,
    TEXT,
    TEXT_VALUE,
    TUPLE,
    VALUE,
    WHOLE,
    Op,
    PyCall,
    PyFrame,
    PyWait,
)
from unspool.structured._py_tokens import MAX_NAME, PyTokens
from unspool.structured.collisions import MAX_COLLISIONS, collide
from unspool.structured.frozen import FrozenArray, FrozenObject
from unspool.structured.py_values import PyObject, PySet, PyTuple

_SETS = ("set", "frozenset")
_UNHASHABLE = "A key or a member of a set cannot be a list, a dict or a set"


class PyBrackets(PyTokens):
    """Knows containers."""

    def _bracket(self, text: str, pos: int, char: str, sink: list[Op]) -> int:
        outer = self.frame
        self._place(pos)
        if char != "(" and outer is not None and outer.kind in HASHED:
            raise self._fault("INVALID_VALUE", f"{_UNHASHABLE}: it begins", pos)
        depth = self._deeper(pos, sink)
        if char == "[":
            items: list[Any] = []
            self._open(PyFrame(outer, self.slot, LIST, items, items, depth), sink)
            self.slot = 0
        elif char == "(":
            self._begin(sink)
            self._wait(PyWait(outer, self.slot, PAREN, PyTuple(), None, depth))
            self.slot = 0
        else:
            match = None if self._json else FIRST_MEMBER.match(text, pos)
            if match is None and not self._json:
                self._begin(sink)
                self._wait(PyWait(outer, self.slot, BRACE, [], None, depth))
                self.slot = 0
            else:
                members: dict[Any, Any] = {}
                self._open(frame := PyFrame(outer, self.slot, DICT, members, members, depth), sink)
                self.slot = None
                if match is not None:
                    self.slot = self._key(match, frame)
                    self.mode = VALUE
                    return match.end()
        self.mode = ITEM
        return pos + 1

    def _call(self, pos: int, sink: list[Op]) -> int:
        name, outer = self._name, self.frame
        classes = self._classes
        known = classes is None or name in classes
        if self._json or "." in name or iskeyword(name):
            raise self._unexpected("(", pos)
        is_set = name in _SETS and (classes is None or name not in classes)
        if not known and not is_set:
            raise self._fault_at("UNKNOWN_NAME", f"{name[:80]!r} is not a class that may be used,", self._name_offset())
        self._place(pos)
        depth = self._deeper(pos, sink)
        if is_set:
            if outer is not None and outer.kind in HASHED:
                raise self._fault("INVALID_VALUE", f"{_UNHASHABLE}: it begins", pos)
            self._begin(sink)
            waits = PyWait(outer, self.slot, SET_CALL, [], None, depth)
            waits.name = name
            self._wait(waits)
            self.slot = 0
        else:
            fields: dict[str | int, Any] = {}
            call = PyCall(outer, self.slot, CALL, fields, PyObject(name, fields), depth)
            call.positions = self._positions(name)
            call.named = False
            self._open(call, sink)
            self.slot = None
        self.mode = ITEM
        return pos + 1

    def _group(self, pos: int) -> None:
        """`(` was a group: what is in it takes its place, and waits for what follows."""
        group = self._left()
        outer, slot = group.parent, group.slot
        if self.mode == CLOSED:
            self._moved(group, group.held[0][3], pos)
            return
        if self.mode == AFTER:
            code, _, _, self._value = group.held.pop()
            self.mode = PENDING
            if code != WHOLE:
                return
            self._half, self._data = "", False
        elif self._value is not TEXT_VALUE and self._value is not GROUPED_TEXT:
            return
        self._value = GROUPED_TEXT
        if not self._data:
            text = group.container[0]
            self._link(outer, slot, text)
            if self._waiting is None:
                self.ops.append((TEXT, outer, slot, text))

    def _left(self) -> PyWait:
        """Step out of a container that waits."""
        waits = self._waiting
        assert waits is not None
        self._waiting, self.frame, self.slot = waits.outer, waits.parent, waits.slot
        return waits

    def _moved(self, group: PyWait, inner: PyFrame, pos: int) -> None:
        """Move a closed container from inside a group to the group's place."""
        outer, slot = group.parent, group.slot
        self._check_hashable(outer, inner.value, pos)
        inner.parent, inner.slot = outer, slot
        held = group.held
        held[0] = (OPEN, outer, slot, inner)
        held[-1] = (CLOSE, outer, slot, inner)
        self._link(outer, slot, inner.value)
        if self._waiting is not None and not self._waiting.held:
            self._waiting.held = held
        else:
            self._sink().extend(held)
        self.mode = CLOSED

    def _decide(self, kind: int, pos: int) -> None:
        """A container that waits is a tuple, a set or a dict: show it, and tell what was held back."""
        frame = self._left()
        container: Any = frame.container
        if kind == SET:
            self._check_hashable(frame, container[0], pos)
            frame.value = PySet(container)
        elif kind == DICT:
            frame.container = frame.value = {}
            frame.held = []
        else:
            frame.value = container
        frame.kind = kind
        frame.live = frame.value
        sink = self._sink()
        self._open(frame, sink)
        sink.extend(frame.held)
        frame.held = []
        self.slot = len(container)

    def _key(self, match: re.Match[str], frame: PyFrame) -> str:
        """Take the name of an argument, or a plain key."""
        group = match.lastindex or 1
        key: str = match[group]
        if isinstance(frame, PyCall):
            key = self._checked_name(key, match.start(group))
            if iskeyword(key):
                raise self._fault(self._invalid, f"{key!r} stands", match.start(group))
            if key in frame.container:
                raise self._fault("DUPLICATE_FIELD", f"{key!r} stands twice", match.start(group))
            frame.named = True
            return key
        if key in frame.container:
            raise self._repeated(key, match.string.index(":", match.end(group)))
        if self._json and group == 1:
            self._repair("single-quotes", match.start(group) - 1)
        return key

    def _positions(self, name: str) -> Sequence[str] | None:
        classes = self._classes
        return None if classes is None else classes[name]

    def _is_class(self, name: str) -> bool:
        """Whether a name is that of a constructor."""
        classes = self._classes
        return not (self._json or iskeyword(name)) and (name not in _SETS if classes is None else name in classes)

    def _is_field(self, name: str) -> bool:
        """Whether a name may be that of an argument."""
        return len(name) <= MAX_NAME and not iskeyword(name)

    def _repeated(self, key: Any, pos: int) -> StreamError:
        return self._fault("DUPLICATE_KEY", f"The key {repr(key)[:80]} stands twice: the second ends", pos)

    def _key_done(self, pos: int) -> None:
        """A colon has come: what is in the braces or the key before it is a key."""
        frame = self.frame
        assert frame is not None
        key = frame.container[0]
        try:
            hash(key)
        except TypeError:
            raise self._fault("INVALID_VALUE", f"{_UNHASHABLE}: it ends", pos) from None
        if frame.kind == BRACE:
            self._decide(DICT, pos)
        else:
            if self._json and type(key) is not str:
                raise self._unexpected(":", pos)
            self._left()
            members: Any = self.frame
            if type(key) is not str:
                self._check_key(members, key, pos)
            if key in members.container:
                raise self._repeated(key, pos)
        self.slot, self.mode = key, VALUE

    def _set_call(self, pos: int) -> None:
        """Close `set(` or `frozenset(`: a list, a tuple or a set in it holds the members."""
        call = self._left()
        frozen = call.name == "frozenset"
        held = call.held
        if not call.container:
            inner = PyFrame(call.parent, call.slot, SET, [], PySet((), frozen), call.depth)
            held += ((OPEN, None, 0, inner), (CLOSE, None, 0, inner))
        else:
            if held[-1][0] == END:
                held.pop()
            inner = held[0][3]
            if not isinstance(inner, PyFrame) or inner.kind not in (LIST, TUPLE, SET):
                raise self._fault("INVALID_PYTHON", "Members must stand in a list, a tuple or a set: they end", pos)
            inner.kind = SET
            inner.live = inner.value = PySet(tuple(inner.container), frozen)
            for item in inner.container:
                self._check_hashable(inner, item, pos)
            self._check_members(inner.container, pos)
        self._moved(call, inner, pos)

    def _check_members(self, items: list[Any], pos: int) -> None:
        if collide([item for item in items if not isinstance(item, PyObject | PySet)]):
            raise self._chosen("Members", pos)

    def _check_key(self, frame: PyFrame, key: Any, pos: int) -> None:
        """Count collisions as keys come: a dict that is still open takes time in the square of their number as well."""
        hashes: set[int] | None = getattr(frame, "hashes", None)
        if hashes is None:
            hashes = frame.hashes = set()
            frame.collisions = 0
        size = len(hashes)
        hashes.add(hash(key))
        if len(hashes) == size:
            frame.collisions += 1
            if frame.collisions > MAX_COLLISIONS:
                raise self._chosen("Keys", pos)

    def _chosen(self, what: str, pos: int) -> StreamError:
        return self._fault("INVALID_VALUE", f"{what} were chosen to have equal hashes: they end", pos)

    def _check_hashable(self, frame: PyFrame | None, item: Any, pos: int) -> None:
        if frame is None or frame.kind not in HASHED or isinstance(item, PyObject):
            return
        try:
            hash(item)
        except TypeError:
            raise self._fault("INVALID_VALUE", f"{_UNHASHABLE}: it ends", pos) from None

    def _close(self, pos: int, sink: list[Op]) -> None:
        """Leave a container."""
        frame = self.frame
        assert frame is not None
        kind = frame.kind
        outer, slot = frame.parent, frame.slot
        value = frame.value
        if kind in (TUPLE, BARE):
            value = tuple(frame.container)
            self._check_hashable(outer, value, pos)
        elif kind == SET:
            self._check_members(frame.container, pos)
            value = PySet(tuple(frame.container))
        elif self._immutable:
            size = len(frame.container)
            if kind == LIST:
                value = FrozenArray(frame.container, size, None, None)
            else:
                fields: Any = FrozenObject(frame.container, size, None, None)
                value = PyObject(frame.value.name, fields) if kind == CALL else fields
        if value is not frame.value:
            frame.value = value
            container: Any = self.root if outer is None else outer.container
            container[slot] = value
        sink.append((CLOSE, outer, slot, frame))
        self.frame, self.slot = outer, slot
        self.mode = CLOSED

    def _close_empty(self, pos: int, sink: list[Op]) -> int:
        """Close a container where an item might have come."""
        frame = self.frame
        assert frame is not None
        kind = frame.kind
        if kind == SET_CALL:
            self._set_call(pos)
            return pos + 1
        if kind == PAREN:
            self._decide(TUPLE, pos)
        elif kind == BRACE:
            self._decide(DICT, pos)
        elif self._json and frame.container:
            self._repair("trailing-comma", pos)
        self._close(pos, self._sink())
        return pos + 1
