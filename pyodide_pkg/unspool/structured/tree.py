"""The records an incremental scanner hands out: patches, and the state after each operation."""

from __future__ import annotations

from typing import Any, Literal

from unspool.structured._grammar import DONE, KEY, STRING, Change, Frame, Path, PatchOp, Position, walk
from unspool.structured.strict_json import DEPTH_CEILING

FieldState = Literal["partial", "complete"]
Snapshots = Literal["live", "immutable"]

__all__ = ["FieldState", "Patch", "PatchOp", "Path", "Snapshots", "StreamState"]


class Patch:
    """One change of the tree. Applying the patches of all states in order to nothing gives the value.

    `set` creates or replaces the value at the path: an empty container, an empty string, a number, a boolean or None;
    containers and strings are filled by later patches. `append` extends a string. `complete` says that the value at the
    path will not change any more (its `value` is None).
    """

    __slots__ = ("op", "path", "value")
    __match_args__ = ("op", "path", "value")

    def __init__(self, op: PatchOp, path: Path, value: Any = None) -> None:
        self.op: PatchOp = op
        self.path = path
        """Keys (text) and indexes (numbers) from the root; `()` is the root."""
        self.value = value

    def to_wire(self) -> dict[str, object]:
        """Give the patch as JSON-safe data: `op`, `path`, and `value` unless it is a completion."""
        wire: dict[str, object] = {"op": self.op, "path": list(self.path)}
        if self.op != "complete":
            wire["value"] = self.value
        return wire

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Patch)
            and self.op == other.op
            and self.path == other.path
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    __hash__ = None  # type: ignore[assignment]  # the value may be a container

    def __repr__(self) -> str:
        return f"Patch({self.op!r}, {self.path!r}, {self.value!r})"


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
        self.partial_value = partial_value
        self.bytes_seen = bytes_seen
        self._before = before
        self._text = text
        self._after = after

    @property
    def changes(self) -> list[Patch]:
        """The patches of this operation in document order, worked out from its text when they are asked for."""
        changes = self._text
        if isinstance(changes, str):
            changes, _ = walk(
                self._before, changes, 0, max_depth=DEPTH_CEILING, unique_keys=False, eager=False
            )
        return _patches(changes)

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
        mode, tail = self._after[0], self._after[3]
        # In a position between tokens the tail is structure to be read again; an odd quote in it opens a key.
        return mode == STRING or mode == KEY or tail.count('"') % 2 == 1


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
    def partial_value(self) -> str:  # type: ignore[override]
        text = self._root[0]
        return text if len(text) == self._length else text[: self._length]


def _patches(changes: list[Change]) -> list[Patch]:
    """Give the changes their paths; neighbours share the path of their container."""
    patches: list[Patch] = []
    frame: Frame | None = None
    base: Path = ()
    for change in changes:
        if change.frame is None:
            path: Path = ()
        else:
            if change.frame is not frame:
                frame = change.frame
                base = frame.path()
            assert change.slot is not None
            path = (*base, change.slot)
        value = change.value
        if change.op == "complete":
            value = None
        elif isinstance(value, Frame):
            value = {} if isinstance(value.container, dict) else []
        patches.append(Patch(change.op, path, value))
    return patches
