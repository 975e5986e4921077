"""Operations of the Python scanner as progress events."""

from __future__ import annotations

from typing import Any

from unspool.structured._py_grammar import (
    AGAIN,
    BEGIN,
    CALL,
    CLOSE,
    DICT,
    END,
    MORE,
    OPEN,
    SCALAR,
    SET,
    TUPLE,
    WHOLE,
    Op,
    PyFrame,
    place,
)
from unspool.structured.events import (
    ContainerKind,
    FieldEnd,
    FieldStart,
    ObjectEnd,
    ObjectStart,
    Progress,
    PythonKind,
    StringFieldDelta,
)


class PyEvents:
    """Turns operations into events. What comes after a tuple without brackets is not told (P104)."""

    def __init__(self) -> None:
        self._begun = False
        self._over = False

    def of(self, ops: list[Op]) -> list[Progress]:
        """Give the events of operations, in the same order."""
        events: list[Progress] = []
        add = events.append
        for code, frame, slot, operand in ops:
            if self._over:
                break
            path = place(frame, slot)
            if code == MORE:
                add(StringFieldDelta(path, operand))
            elif code == END:
                if frame is not None:
                    add(FieldEnd(path, frame.container[slot]))
            elif code == CLOSE:
                add(ObjectEnd(path, _kind(operand), operand.value, *_python(operand)))
            elif code == AGAIN:
                self._over = True
            else:
                if path and not self._begun:
                    add(FieldStart(path))
                self._begun = code == BEGIN
                if code == OPEN:
                    add(ObjectStart(path, _kind(operand), *_python(operand)))
                elif code == SCALAR:
                    if path:
                        add(FieldEnd(path, operand))
                elif code != BEGIN:
                    if operand:
                        add(StringFieldDelta(path, operand))
                    if code == WHOLE and path:
                        add(FieldEnd(path, operand))
        return events


def _kind(frame: PyFrame) -> ContainerKind:
    return "object" if frame.kind in (DICT, CALL) else "array"


def _python(frame: PyFrame) -> tuple[str | None, PythonKind | None]:
    kind: int = frame.kind
    name: Any = frame.value.name if kind == CALL else None
    return name, "tuple" if kind == TUPLE else "set" if kind == SET else None
