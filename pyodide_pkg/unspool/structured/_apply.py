"""Changing the tree: making the changes of the walk, and taking back those of an attempt that failed."""

from __future__ import annotations

from typing import Any

from unspool.structured._grammar import Change, Frame, Position
from unspool.structured.frozen import fork, settle


def undo(before: Position, root: list[Any], base: int, length: int) -> None:
    """Take back what the second way has changed, so that the walk finds the tree as it was.

    Args:
        before: the position before the chunk.
        base: how many items the innermost open container had.
        length: how long its open string was; -1 when none was open.
    """
    _, frame, slot, _, _, _ = before
    container: Any = root if frame is None else frame.container
    if container.__class__ is list:
        del container[base:]
    else:
        while len(container) > base:
            container.popitem()
    if length >= 0:
        container[slot] = container[slot][:length]
    while frame is not None and frame.parent is not None:
        # An outer container that was reached has got its items after the open one.
        container = frame.parent.container
        if container.__class__ is list:
            del container[frame.slot + 1 :]  # type: ignore[operator]
        else:
            while next(reversed(container)) != frame.slot:
                container.popitem()
        container[frame.slot] = frame.container
        frame = frame.parent
    if frame is not None:
        root[0] = frame.container


def apply(changes: list[Change], root: list[Any], immutable: bool) -> bool:
    """Make the changes of the walk; gives whether a key was repeated."""
    repeated = False
    for change in changes:
        op, frame, slot, value = change.op, change.frame, change.slot, change.value
        if op == "complete":
            if immutable and value is not None:
                settle(root, value)
            continue
        if isinstance(value, Frame):
            value = value.container
        container: Any = root if frame is None else frame.container
        if op == "append":
            text = container[slot]
            container[slot] = None  # a string grows in place only while nothing else holds it
            text += value
            container[slot] = text
        elif container.__class__ is dict:
            if slot in container:
                repeated = True
                if immutable and frame is not None:
                    container = fork(frame)
            container[slot] = value
        elif slot == len(container):
            container.append(value)
        else:
            container[slot] = value
    return repeated
