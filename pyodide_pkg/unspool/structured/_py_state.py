"""The state after one operation of a PyStream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspool.structured._py_grammar import DONE, ENDED, STRING, Op, PyFrame
from unspool.structured._py_ops import patches_of_ops
from unspool.structured.py_values import to_wire
from unspool.structured.tree import Patch, StreamState


class PyState(StreamState):
    """What is known after one operation on text in Python syntax."""

    __slots__ = ("_ops", "_frame", "_mode", "_tail")

    def __init__(
        self, value: Any, bytes_seen: int, ops: Sequence[Op], frame: PyFrame | None, mode: int, tail: str
    ) -> None:
        """
        Args:
            value, bytes_seen: as the properties.
            ops: the operations.
            frame: the innermost open container.
            mode: what the next token may be.
            tail: text to be read again.
        """
        self.partial_value = value
        self.bytes_seen = bytes_seen
        self._ops = ops
        self._frame = frame
        self._mode = mode
        self._tail = tail

    @property
    def changes(self) -> list[Patch]:
        return patches_of_ops(self._ops)

    @property
    def depth(self) -> int:
        """Open brackets, those included of which it is not known yet what they are."""
        return 0 if self._frame is None else self._frame.depth

    @property
    def complete(self) -> bool:
        return self._mode in (DONE, ENDED)

    @property
    def in_string(self) -> bool:
        tail = self._tail
        # A tail that begins with a quotation mark is a key that may be cut; two marks may be the beginning of three.
        return self._mode == STRING or (tail[:1] in ("'", '"') and tail[-1] != tail[0])

    def to_wire(self) -> dict[str, object]:
        value = self.partial_value
        wire: dict[str, object] = {} if value is None and not self.complete else {"partialValue": to_wire(value)}
        changes = [patch.to_wire() for patch in self.changes]
        for change in changes:
            if "value" in change:
                change["value"] = to_wire(change["value"])
        return {
            **wire,
            "changes": changes,
            "bytesSeen": self.bytes_seen,
            "depth": self.depth,
            "complete": self.complete,
            "inString": self.in_string,
        }

    def __repr__(self) -> str:
        return (
            f"StreamState(partial_value={self.partial_value!r}, bytes_seen={self.bytes_seen}, "
            f"depth={self.depth}, complete={self.complete}, in_string={self.in_string})"
        )


class PyTextState(PyState):
    """The state of a text whose root is a string: a piece of the string, cut out when it is read.

    If the state held the string itself, the string could not grow in place and each push would copy all of it.
    """

    __slots__ = ("_root", "_length")

    def __init__(
        self, root: list[Any], bytes_seen: int, ops: Sequence[Op], frame: PyFrame | None, mode: int, tail: str
    ) -> None:
        """
        Args:
            root: holds the string.
        """
        self.bytes_seen = bytes_seen
        self._root = root
        self._length = len(root[0])
        self._ops = ops
        self._frame = frame
        self._mode = mode
        self._tail = tail

    @property
    def partial_value(self) -> str:
        text: str = self._root[0]
        return text if len(text) == self._length else text[: self._length]
