"""JsonStream: one JSON text in pieces, a value that grows.

In: text cut anywhere. Out: after each piece the state, with the value so far and the patches that made it.
No IO, no clock, no recursion, no loop over characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, Self

from unspool.errors import StreamError
from unspool.structured._grammar import BEGINNING, DONE, NUMBER_RUN, STRING, Frame, Position
from unspool.structured._scan import Ask, End, scan
from unspool.structured.strict_json import DEPTH_CEILING, MAX_BYTES, MAX_DEPTH, DuplicateKeys
from unspool.structured.tree import FieldState, Snapshots, StreamState, TextState

Scalars = Literal["complete", "eager"]


class JsonStream:
    """One JSON text in pieces."""

    def __init__(
        self,
        *,
        max_bytes: int | None = None,
        max_depth: int | None = None,
        snapshots: Snapshots = "live",
        duplicate_keys: DuplicateKeys = "last",
        scalars: Scalars = "complete",
    ) -> None:
        _choice("snapshots", snapshots, ("live", "immutable"))
        _choice("duplicate_keys", duplicate_keys, ("last", "error"))
        _choice("scalars", scalars, ("complete", "eager"))
        self._root: list[Any] = []
        self._left: list[tuple[Position, int, Any]] = []
        self._scanner = scan(
            self._root,
            self._left,
            max_bytes=_limit("max_bytes", max_bytes, MAX_BYTES, 4_294_967_295),
            max_depth=_limit("max_depth", max_depth, MAX_DEPTH, DEPTH_CEILING),
            unique_keys=duplicate_keys == "error",
            eager=scalars == "eager",
            immutable=snapshots == "immutable",
        )
        next(self._scanner)
        self._send = self._scanner.send
        self._error: StreamError | None = None

    @property
    def value(self) -> Any:
        """The value so far; None before it begins."""
        root = self._root
        return root[0] if root and root[0].__class__ is str else self._where()[2]

    @property
    def state(self) -> StreamState:
        """The state, without changes."""
        if self._error is not None:
            raise self._error
        at, seen, value = self._where()
        root = self._root
        if root and root[0].__class__ is str:
            return TextState(root, seen, at, [], at)
        return StreamState(value, seen, at, [], at)

    def push(self, chunk: str) -> StreamState:
        """Read the next piece of the text."""
        try:
            return self._send(chunk)
        except StreamError as error:
            raise self._failed(error, "push")
        except StopIteration:
            assert self._error is not None
            raise self._error from None
        except (TypeError, AttributeError):
            if isinstance(chunk, str):
                raise
            raise self._failed(StreamError("INVALID_CHUNK", "A chunk must be text."), "push") from None

    def finish(self) -> StreamState:
        """Say that the text is over."""
        if self._error is not None:
            raise self._error
        try:
            return self._scanner.throw(End)
        except StreamError as error:
            raise self._failed(error, "finish")

    def field_state(self, path: Sequence[str | int]) -> FieldState:
        """Tell whether the value at a path can still change."""
        mode, frame, slot, _, _, _ = self._where()[0]
        if mode == DONE:
            return "complete"
        chain: list[Frame] = []
        while frame is not None:
            chain.append(frame)
            frame = frame.parent
        chain.reverse()
        for depth, segment in enumerate(path):
            if depth == len(chain):
                return "partial"
            if depth + 1 < len(chain):
                open_slot = chain[depth + 1].slot
            else:
                open_slot = slot if mode == STRING or mode == NUMBER_RUN else None
            if open_slot is not None and str(segment) == str(open_slot):
                continue
            return "complete" if _holds(chain[depth].container, segment) else "partial"
        return "partial"

    def close(self) -> None:
        """Release the scanner. The value and the field states stay. Closing again is fine."""
        self._scanner.close()
        self._error = StreamError("STREAM_DISPOSED", "The stream was closed.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _where(self) -> tuple[Position, int, Any]:
        return self._left[0] if self._left else self._scanner.throw(Ask)

    def _failed(self, error: StreamError, operation: str) -> StreamError:
        error.operation = operation
        self._error = error
        return error


def _holds(container: dict[str, Any] | list[Any], segment: str | int) -> bool:
    if isinstance(container, dict):
        return str(segment) in container
    text = str(segment)
    return text.isdecimal() and text.isascii() and str(int(text)) == text and int(text) < len(container)


def _limit(name: str, value: int | None, default: int, ceiling: int) -> int:
    if value is None:
        return default
    if type(value) is not int or not 0 < value <= ceiling:
        raise StreamError("INVALID_OPTIONS", f"{name} must be a whole number from 1 to {ceiling}.")
    return value


def _choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise StreamError("INVALID_OPTIONS", f"{name} must be one of {', '.join(map(repr, choices))}.")
