"""PyStream: one value in Python syntax in pieces, a value that grows.

In: text cut anywhere. Out: after each piece the state, with the value so far (py_values) and the patches that made it.
Nothing is evaluated: no `eval`, no `ast`, no class is looked up. No IO, no clock, no recursion.

Source: The Python Language Reference, cut down to data; langfx.js, docs/STREAMING.md, "Python field previews".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from unspool.errors import StreamError
from unspool.structured._py_cursor import BYTES_CEILING
from unspool.structured._py_grammar import CLOSED, DONE, ENDED, MORE, PENDING, QUOTES, STRING, Op, PyFrame
from unspool.structured._py_ops import undo
from unspool.structured._py_scan import MAX_TAIL, PyScan
from unspool.structured._py_snapshot import shown, snapshot
from unspool.structured._py_state import PyState, PyTextState
from unspool.structured.strict_json import DEPTH_CEILING, MAX_BYTES, MAX_DEPTH
from unspool.structured.tree import FieldState, Snapshots, check_path

Classes = Mapping[str, Sequence[str]]


class PyStream:
    """Reads one value in pieces: a literal, a display or a constructor, or an assignment of one to a name.

    The value is there, and correct as far as it goes, after each piece. A string and most containers are shown as soon
    as they open; a number, a name or bytes when it is complete. What stands in `(` or `{` is shown when it is known
    whether that is a tuple or a group, a set or a dict. What is shown only grows, unless the root turns out to be a
    tuple without brackets.
    """

    def __init__(
        self,
        *,
        classes: Classes | None = None,
        names: Collection[str] | None = None,
        max_bytes: int | None = None,
        max_depth: int | None = None,
        snapshots: Snapshots = "live",
    ) -> None:
        """
        Args:
            classes: the constructors that may be called, each with the names of the fields that arguments by position
                fill, in order. None: any, and arguments by position are known by their place (0, 1, ...).
            names: names that stand for values, such as `Color.RED` and `UNKNOWN`. None: any, with one dot at most.
            max_bytes: most UTF-8 bytes of the text; default 16 MiB.
            max_depth: most open brackets, calls and groups included; default 128, at most 512.
            snapshots: "live" shows one value that changes in place (read it, do not change it); "immutable" shows
                frozen values (`FrozenObject`, `FrozenArray`, `PyObject` and `PySet` of them) that share what has not
                changed.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        if snapshots not in ("live", "immutable"):
            raise StreamError("INVALID_OPTIONS", "snapshots must be one of 'live', 'immutable'.")
        self._max_bytes = limit("max_bytes", max_bytes, MAX_BYTES, BYTES_CEILING)
        self._immutable = snapshots == "immutable"
        self._root: list[Any] = []
        self._scan = PyScan(
            self._root,
            classes=classes,
            names=names,
            max_bytes=self._max_bytes,
            max_depth=limit("max_depth", max_depth, MAX_DEPTH, DEPTH_CEILING),
            immutable=self._immutable,
        )
        self._over = False
        self._value: Any = None
        self._error: StreamError | None = None
        self._closed = False

    @property
    def value(self) -> Any:
        """The value so far; None before it begins. After an error, the value before the piece at fault."""
        root = self._root
        return root[0] if root and root[0].__class__ is str else self._value

    @property
    def state(self) -> PyState:
        """The state as it is, without changes.

        Raises:
            StreamError: the fault of the text, or STREAM_DISPOSED.
        """
        self._check("state")
        return self._state([])

    def push(self, chunk: str) -> PyState:
        """Read the next piece of the text.

        Args:
            chunk: any text; may cut a token, an escape or a surrogate pair in two.
        Returns:
            The state after it.
        Raises:
            StreamError: with the byte offset of the first fault, which does not depend on how the text was cut:
                INVALID_PYTHON, UNEXPECTED_TOKEN, MISMATCHED_CLOSING, TRAILING_DATA, UNKNOWN_NAME, DUPLICATE_KEY,
                DUPLICATE_FIELD, TOO_MANY_POSITIONAL, INVALID_VALUE (half of a surrogate pair, a key that cannot be
                hashed), NON_FINITE_NUMBER or MAX_DEPTH_EXCEEDED. MAX_BYTES_EXCEEDED: the piece was refused whole,
                before it was read. INVALID_CHUNK: not text, or half of a surrogate pair stands alone in it.
                STREAM_DISPOSED.
        After an error:
            Dead: later calls raise the same error. Nothing of the piece is in the value.
        """
        scan = self._scan
        open_text = scan.open_text
        try:
            if open_text is None or self._immutable:
                size = len(chunk)
                if size == 1 and self._error is None and not self._closed:
                    steps = scan.steps
                    if steps is None:
                        steps = scan.find_steps()
                    if chunk in steps and len(scan.tail) < MAX_TAIL and scan.seen < self._max_bytes:
                        scan.seen += 1
                        if scan.tail:
                            scan.tail += chunk
                            if chunk in QUOTES:
                                scan.steps = None
                        if scan.frame is None:
                            return self._state([])
                        return PyState(self._value, scan.seen, (), scan.frame, scan.mode, scan.tail)
                self._check("push")
                if not chunk.isascii() or scan.first_half or scan.seen + size > self._max_bytes:
                    return self._state(scan.feed(chunk))
                ops: list[Op] = []
                scan.ops = ops
                scan.read(chunk, size)
                root = self._root
                if root and not self._immutable and root[0].__class__ is not str:  # `_state`, without the call
                    self._value = value = root[0]
                    return PyState(value, scan.seen, ops, scan.frame, scan.mode, scan.tail)
                return self._state(ops)
            container, slot, mark, letters, frame = open_text
            if chunk in letters:
                seen = scan.seen + 1
            elif not chunk or mark in chunk or "\\" in chunk or not chunk.isprintable():
                return self._state(scan.feed(chunk))
            else:
                seen = scan.seen + (len(chunk) if chunk.isascii() else len(chunk.encode()))
            if seen > self._max_bytes or frame is None:
                return self._state(scan.feed(chunk))
            scan.seen = seen
            text = container[slot]
            container[slot] = None  # a string grows in place only while nothing else holds it
            text += chunk
            container[slot] = text
            return PyState(self._value, seen, ((MORE, frame, slot, chunk),), frame, STRING, "")
        except StreamError as error:
            if error is not self._error and not self._closed:
                undo(scan.ops, self._root)
                self._fail(error, "push")
            raise
        except (TypeError, AttributeError):
            if isinstance(chunk, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise
            error = StreamError("INVALID_CHUNK", "A piece of the text must be text.")
            self._fail(error, "push")
            raise error from None

    def finish(self) -> PyState:
        """Say that the text is over. A second time changes nothing.

        Returns:
            The last state; the changes are those of a root that only the end proves complete.
        Raises:
            StreamError: EMPTY_INPUT, INCOMPLETE_PYTHON, a fault of the last token, INVALID_CHUNK, STREAM_DISPOSED.
        After an error:
            Dead, as after an error of `push`.
        """
        self._check("finish")
        scan = self._scan
        if self._over:
            return self._state([])
        try:
            ops = scan.finish()
        except StreamError as error:
            undo(scan.ops, self._root)
            self._fail(error, "finish")
            raise
        self._over = True
        scan.mode = ENDED
        return self._state(ops)

    def field_state(self, path: Sequence[str | int]) -> FieldState:
        """Tell whether the value at a path can still change.

        Args:
            path: keys, names of fields and indexes from the root; they compare by their text. It may lead nowhere.
        Returns:
            "complete" when the value, or one that holds it, is complete; else "partial".
        """
        check_path(path)
        scan = self._scan
        if scan.mode in (DONE, ENDED):
            return "complete"
        frame = shown(scan.frame)
        waits = frame is not scan.frame
        chain: list[PyFrame] = []
        while frame is not None:
            chain.append(frame)
            frame = frame.parent
        chain.reverse()
        open_slots: list[Any] = [inner.slot for inner in chain[1:]]
        open_slots.append(scan.slot if not waits and scan.mode in (STRING, PENDING, CLOSED) else None)
        for outer, open_slot, segment in zip(chain, open_slots, path, strict=False):
            if open_slot is None or str(segment) != str(open_slot):
                return "complete" if _holds(outer.container, str(segment)) else "partial"
        return "partial"

    def close(self) -> None:
        """Release the scanner. The value and the field states stay; all else raises STREAM_DISPOSED. Twice is fine."""
        self._closed = True
        self._error = None
        self._scan.open_text = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _state(self, ops: Sequence[Op]) -> PyState:
        root, scan = self._root, self._scan
        if root:
            value = root[0]
            if value.__class__ is str:
                return PyTextState(root, scan.seen, ops, scan.frame, scan.mode, scan.tail)
            if not self._immutable:
                self._value = value
            elif ops:
                frame = shown(scan.frame)
                self._value = snapshot(root, frame, scan.slot if scan.in_text else None)
        return PyState(self._value, scan.seen, ops, scan.frame, scan.mode, scan.tail)

    def _check(self, operation: str) -> None:
        if self._closed:
            raise StreamError("STREAM_DISPOSED", "The stream was closed.", operation=operation)
        if self._error is not None:
            raise self._error

    def _fail(self, error: StreamError, operation: str) -> None:
        error.operation = operation
        self._error = error
        self._scan.open_text = None


def _holds(container: Any, segment: str) -> bool:
    if container.__class__ is dict:
        return segment in container or any(str(key) == segment for key in container)
    if not (segment.isascii() and segment.isdecimal() and len(segment) < 20):
        return False
    return str(int(segment)) == segment and int(segment) < len(container)


def limit(name: str, value: int | None, default: int, ceiling: int) -> int:
    """Give a limit, or its default.

    Raises:
        StreamError: INVALID_OPTIONS.
    """
    if value is None:
        return default
    if type(value) is not int or not 0 < value <= ceiling:
        raise StreamError("INVALID_OPTIONS", f"{name} must be a whole number from 1 to {ceiling}.")
    return value
