"""The records an incremental scanner hands out: patches, and the state after each operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from unspool.errors import StreamError
from unspool.structured._grammar import DONE, KEY, STRING, Change, PatchOp, Path, Position
from unspool.structured._patches import Patch, patches_of_changes, patches_of_text
from unspool.structured.frozen import thaw

FieldState = Literal["partial", "complete"]
Snapshots = Literal["live", "immutable"]
Where = tuple[Path, str | int | None] | None
"""Where a text ends: the path of the innermost open container (`()` also before the value), and the key or index in it
of the string that is open, if one is. None when the value is complete.
"""

__all__ = ["FieldState", "Patch", "PatchOp", "Path", "Snapshots", "StreamState", "Where"]


def check_path(path: object) -> None:
    """Refuse what is no path; a text would be read as one key for each of its characters.

    Raises:
        StreamError: INVALID_OPTIONS.
    """
    if isinstance(path, str | bytes) or not isinstance(path, Sequence):
        raise StreamError(
            "INVALID_OPTIONS", "A path is a tuple of keys and indexes, such as ('name',).", operation="field_state"
        )


class StreamState:
    """What is known after one operation."""

    __slots__ = ("partial_value", "bytes_seen", "_before", "_text", "_after")

    partial_value: Any
    """The value so far; None before it begins. Live snapshots: one value that changes in place; do not change it."""
    bytes_seen: int
    """UTF-8 bytes read so far, whitespace included."""

    def __init__(
        self, partial_value: Any, bytes_seen: int, before: Position, text: str | list[Change], after: Position
    ) -> None:
        """Made by a scanner."""
        self.partial_value = partial_value
        self.bytes_seen = bytes_seen
        self._before = before
        self._text = text
        self._after = after

    @property
    def changes(self) -> list[Patch]:
        """The patches of this operation in document order, worked out from its text when they are asked for."""
        text = self._text
        return patches_of_text(self._before, text) if isinstance(text, str) else patches_of_changes(text)

    @property
    def depth(self) -> int:
        """Open containers."""
        frame = self._after[1]
        return 0 if frame is None else frame.depth

    @property
    def complete(self) -> bool:
        """Whether the root value is complete."""
        return self._after[0] == DONE

    @property
    def in_string(self) -> bool:
        """Whether the text ended inside a key or a string value."""
        mode, _, _, tail, _, _ = self._after
        # In a position between tokens the tail is structure to be read again; an odd quote in it opens a key.
        return mode in (STRING, KEY) or tail.count('"') % 2 == 1

    def to_wire(self) -> dict[str, object]:
        """Give the state as JSON-safe data; a value that has not begun is left out."""
        value = self.partial_value
        wire: dict[str, object] = {} if value is None and not self.complete else {"partialValue": thaw(value)}
        return {
            **wire,
            "changes": [patch.to_wire() for patch in self.changes],
            "bytesSeen": self.bytes_seen,
            "depth": self.depth,
            "complete": self.complete,
            "inString": self.in_string,
        }

    def __repr__(self) -> str:
        return (
            f"StreamState(partial_value={thaw(self.partial_value)!r}, bytes_seen={self.bytes_seen}, "
            f"depth={self.depth}, complete={self.complete}, in_string={self.in_string})"
        )


class StepState(StreamState):
    """The state after text without an effect that shows: it has lengthened the tail of the position."""

    __slots__ = ()

    def __init__(self, partial_value: Any, bytes_seen: int, tail: str, at: Position) -> None:
        """
        Args:
            tail: as it is now.
            at: the position, with any tail.
        """
        self.partial_value = partial_value
        self.bytes_seen = bytes_seen
        self._text = tail
        self._after = at

    @property
    def changes(self) -> list[Patch]:
        return []

    @property
    def in_string(self) -> bool:
        return self._after[0] in (STRING, KEY) or self._text.count('"') % 2 == 1  # type: ignore[arg-type]


class TextState(StreamState):
    """The state of a text whose root is a string: a piece of the string, cut out when it is read.

    If the state held the string itself, the string could not grow in place and each push would copy all of it.
    """

    __slots__ = ("_root", "_length")

    def __init__(
        self, root: list[str], bytes_seen: int, before: Position, text: str | list[Change], after: Position
    ) -> None:
        self.bytes_seen = bytes_seen
        self._root = root
        self._length = len(root[0])
        self._before = before
        self._text = text
        self._after = after

    @property
    def partial_value(self) -> str:
        text = self._root[0]
        return text if len(text) == self._length else text[: self._length]
