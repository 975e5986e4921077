"""Snapshots of a value in Python syntax: frozen views of the open containers around frozen closed ones."""

from __future__ import annotations

from typing import Any

from unspool.structured._grammar import Slot
from unspool.structured._py_grammar import CALL, KEYED, SET, WAITING, PyFrame
from unspool.structured.frozen import FrozenArray, FrozenObject
from unspool.structured.py_values import PyObject, PySet


def shown(frame: PyFrame | None) -> PyFrame | None:
    """Give the innermost container that shows: what is in one of which it is not known what it is does not."""
    found = frame
    while frame is not None:
        if frame.kind in WAITING:
            found = frame.parent
        frame = frame.parent
    return found


def snapshot(root: list[Any], frame: PyFrame | None, open_text: Slot) -> Any:
    """Give the value as it is now.

    Args:
        root: holds the value as its only item, or nothing.
        frame: the innermost container that shows.
        open_text: where its open string is; None when none is open.
    """
    if frame is None:
        return root[0] if root and root[0].__class__ is not str else None
    child: Any = None if open_text is None else len(frame.container[open_text])
    slot = open_text
    while True:
        container = frame.container
        view: Any = (FrozenObject if frame.kind in KEYED else FrozenArray)(container, len(container), slot, child)
        if frame.kind == CALL:
            view = PyObject(frame.value.name, view)
        elif frame.kind == SET:
            view = PySet(view)
        if frame.parent is None:
            return view
        child, slot, frame = view, frame.slot, frame.parent
