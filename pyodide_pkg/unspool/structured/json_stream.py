"""JsonStream: one JSON text in pieces, a value that grows.

In: text cut anywhere. Out: after each piece the state, with the value so far and the patches that made it.
No IO, no clock, no recursion, no loop over characters.

Source: RFC 8259; behaviour and codes after Streamfold's IncrementalJsonScanner.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, Self

from unspool.errors import StreamError
from unspool.structured._grammar import DONE, LITERAL, NUMBER_RUN, STRING, Frame
from unspool.structured._scan import MAX_TAIL, Scanner
from unspool.structured._steps import LETTERS
from unspool.structured.frozen import snapshot
from unspool.structured.strict_json import DEPTH_CEILING, MAX_BYTES, MAX_DEPTH, DuplicateKeys
from unspool.structured.tree import FieldState, Snapshots, StepState, StreamState, Where, check_path

Scalars = Literal["complete", "eager"]

BYTES_CEILING = 4_294_967_295
"""No limit on bytes may be set higher."""


class JsonStream(Scanner):
    """Reads one JSON text in pieces. The value is there, and correct as far as it goes, after each of them.

    A container or a string is shown as soon as it opens; a key only with its value; a number or literal when it is
    proved complete (with `scalars="eager"` as soon and as far as it is one). What is shown only grows, unless a key is
    repeated.
    """

    def __init__(
        self,
        *,
        max_bytes: int | None = None,
        max_depth: int | None = None,
        snapshots: Snapshots = "live",
        duplicate_keys: DuplicateKeys = "last",
        scalars: Scalars = "complete",
    ) -> None:
        """
        Args:
            max_bytes: most UTF-8 bytes of the text, whitespace included; default 16 MiB.
            max_depth: most open containers; default 128, at most 512.
            snapshots: "live" shows one value that changes in place (read it, do not change it); "immutable" shows
                frozen values (`FrozenObject`, `FrozenArray`) that share what has not changed.
            duplicate_keys: whether a repeated key replaces the value or is a fault.
            scalars: when numbers and literals are shown.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        _choice("snapshots", snapshots, ("live", "immutable"))
        _choice("duplicate_keys", duplicate_keys, ("last", "error"))
        _choice("scalars", scalars, ("complete", "eager"))
        super().__init__(
            max_bytes=_limit("max_bytes", max_bytes, MAX_BYTES, BYTES_CEILING),
            max_depth=_limit("max_depth", max_depth, MAX_DEPTH, DEPTH_CEILING),
            unique_keys=duplicate_keys == "error",
            eager=scalars == "eager",
            immutable=snapshots == "immutable",
        )

    @property
    def value(self) -> Any:
        """The value so far; None before it begins. After an error, the value before the piece at fault."""
        root = self._root
        return root[0] if root and root[0].__class__ is str else self._value

    @property
    def state(self) -> StreamState:
        """The state as it is, without changes.

        Raises:
            StreamError: the fault of the text, or STREAM_DISPOSED.
        """
        self._check("state")
        return self._state(self._position(), [])

    def push(self, chunk: str) -> StreamState:
        """Read the next piece of the text.

        Args:
            chunk: any text; may cut a number, a literal, an escape or a surrogate pair in two.
        Returns:
            The state after it.
        Raises:
            StreamError: UNEXPECTED_TOKEN, MISMATCHED_CLOSING, TRAILING_DATA, INVALID_JSON, DUPLICATE_KEY,
                NON_FINITE_NUMBER or MAX_DEPTH_EXCEEDED with the byte offset of the first fault, which does not depend
                on how the text was cut. MAX_BYTES_EXCEEDED: the piece was refused whole, before it was read.
                INVALID_CHUNK: not text, or half of a surrogate pair stands alone in it. STREAM_DISPOSED.
        After an error:
            Dead: later calls raise the same error. Nothing of the piece is in the value.
        """
        try:
            open_text = self._open_text
            if open_text is not None:
                if chunk in LETTERS:
                    size = 1
                elif '"' in chunk or "\\" in chunk or not chunk.isprintable():
                    return self._read(chunk)
                else:
                    size = len(chunk) if chunk.isascii() else len(chunk.encode())
                container, slot, at, max_bytes, immutable = open_text
                seen = self._seen + size
                if seen <= max_bytes:
                    self._seen = seen
                    text = container[slot]
                    container[slot] = None  # to grow in place, a string must be held by nothing else
                    text += chunk
                    container[slot] = text
                    if immutable:
                        self._value = snapshot(self._root, at[1], slot)
                    return StreamState(self._value, seen, at, chunk, at)
            elif chunk in self._steps and len(self._tail) < MAX_TAIL and self._seen < self._max_bytes:
                self._steps = self._steps[chunk]
                self._tail = tail = self._tail + chunk
                self._seen = seen = self._seen + 1
                return StepState(self._value, seen, tail, self._at)
            return self._read(chunk)
        except StreamError as error:
            if self._error is None and not self._closed:
                self._fail(error, "push")
            raise
        except (TypeError, AttributeError):
            if isinstance(chunk, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise
            self._check("push")
            error = StreamError("INVALID_CHUNK", "A piece of the text must be text.")
            self._fail(error, "push")
            raise error from None

    def finish(self) -> StreamState:
        """Say that the text is over. A second time changes nothing.

        Returns:
            The last state; the changes are those of a root number, which only the end proves complete.
        Raises:
            StreamError: EMPTY_INPUT, INCOMPLETE_JSON, INVALID_JSON, NON_FINITE_NUMBER, INVALID_CHUNK,
                STREAM_DISPOSED.
        After an error:
            Dead, as after an error of `push`.
        """
        self._check("finish")
        try:
            return self._finish()
        except StreamError as error:
            self._fail(error, "finish")
            raise

    def field_state(self, path: Sequence[str | int]) -> FieldState:
        """Tell whether the value at a path can still change.

        Args:
            path: keys and indexes from the root; they compare by their text. It may lead nowhere.
        Returns:
            "complete" when the value, or one that holds it, is complete; else "partial".
        """
        check_path(path)
        mode, frame, slot, _, _, _ = self._position()
        # What can change is the chain of open containers and the open scalar at its end. All else that is known is
        # complete, so no marks are kept.
        if mode == DONE or (self._eager and mode == LITERAL and frame is None):
            return "complete"
        chain: list[Frame] = []
        while frame is not None:
            chain.append(frame)
            frame = frame.parent
        chain.reverse()
        open_slots: list[str | int | None] = [inner.slot for inner in chain[1:]]
        open_slots.append(slot if mode in (STRING, NUMBER_RUN) else None)
        for outer, open_slot, segment in zip(chain, open_slots, path, strict=False):
            if open_slot is None or str(segment) != str(open_slot):
                return "complete" if _holds(outer.container, str(segment)) else "partial"
        return "partial"

    @property
    def where(self) -> Where:
        """Where the text so far ends, in the value; see `Where`."""
        mode, frame, slot, _, _, _ = self._at
        if mode == DONE:
            return None
        return () if frame is None else frame.path(), slot if mode == STRING else None

    def close(self) -> None:
        """Release the scanner. The value and the field states stay; all else raises STREAM_DISPOSED. Twice is fine."""
        self._closed = True
        self._error = None
        self._rest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _fail(self, error: StreamError, operation: str) -> None:
        error.operation = operation
        self._error = error
        self._rest()


def _holds(container: dict[str, Any] | list[Any], segment: str) -> bool:
    if isinstance(container, dict):
        return segment in container
    if not (segment.isascii() and segment.isdecimal() and len(segment) < 20):
        return False
    return str(int(segment)) == segment and int(segment) < len(container)


def _limit(name: str, value: int | None, default: int, ceiling: int) -> int:
    if value is None:
        return default
    if type(value) is not int or not 0 < value <= ceiling:
        raise StreamError("INVALID_OPTIONS", f"{name} must be a whole number from 1 to {ceiling}.")
    return value


def _choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise StreamError("INVALID_OPTIONS", f"{name} must be one of {', '.join(map(repr, choices))}.")
