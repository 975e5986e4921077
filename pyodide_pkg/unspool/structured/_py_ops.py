"""What operations of the Python scanner mean to a reader of patches, and how they are taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspool.structured._patches import Patch
from unspool.structured._py_grammar import (
    AGAIN,
    BEGIN,
    CALL,
    CLOSE,
    DICT,
    END,
    KEYED,
    LIST,
    MORE,
    OPEN,
    SCALAR,
    SET,
    TEXT,
    WHOLE,
    Op,
    PyFrame,
    place,
)
from unspool.structured.py_values import PyObject, PySet, PyTuple


def patches_of_ops(ops: Sequence[Op]) -> list[Patch]:
    """Give the patches of operations, in the same order."""
    patches: list[Patch] = []
    add = patches.append
    for code, frame, slot, operand in ops:
        if code in (BEGIN, CLOSE):
            continue
        path = place(frame, slot)
        if code == MORE:
            add(Patch("append", path, operand))
        elif code == END:
            add(Patch("complete", path))
        elif code == SCALAR:
            add(Patch("set", path, operand))
            add(Patch("complete", path))
        elif code == OPEN:
            add(Patch("set", path, empty(operand)))
        elif code == AGAIN:
            add(Patch("set", path, PyTuple()))
            add(Patch("set", (0,), operand.container[0]))
            add(Patch("complete", (0,)))
        else:
            add(Patch("set", path, ""))
            if operand:
                add(Patch("append", path, operand))
            if code == WHOLE:
                add(Patch("complete", path))
    return patches


def join_pieces(ops: list[Op]) -> None:
    """Join the pieces of one string that follow each other, in place: a text may be nothing but `"a" "a" ...`."""
    kept: list[Op] = []
    pieces: list[str] = []
    for op in ops:
        if op[0] == MORE and kept and kept[-1][0] in (TEXT, MORE) and kept[-1][1:3] == op[1:3]:
            pieces.append(op[3])
            continue
        _lengthen(kept, pieces)
        kept.append(op)
    _lengthen(kept, pieces)
    ops[:] = kept


def _lengthen(ops: list[Op], pieces: list[str]) -> None:
    if pieces:
        code, frame, slot, text = ops[-1]
        ops[-1] = (code, frame, slot, "".join([text, *pieces]))
        pieces.clear()


def empty(frame: PyFrame) -> Any:
    """Give a container as it was when it opened."""
    kind = frame.kind
    if kind == LIST:
        return []
    if kind == DICT:
        return {}
    if kind == CALL:
        return PyObject(frame.value.name, {})
    return PySet((), frame.value.frozen) if kind == SET else PyTuple()


def undo(ops: list[Op], root: list[Any]) -> None:
    """Take operations back, so that the value is what it was before them."""
    for code, frame, slot, operand in reversed(ops):
        container: Any = root if frame is None else frame.container
        if code == MORE:
            container[slot] = container[slot][: -len(operand)]
        elif code == CLOSE:
            container[slot] = operand.live
        elif code == AGAIN:
            root[0] = operand.container[0]
        elif code in (OPEN, SCALAR, TEXT, WHOLE):
            if frame is not None and frame.kind in KEYED:
                del container[slot]
            else:
                container.pop()
