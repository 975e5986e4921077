"""Readers of one candidate for the value of a reply: its text in pieces in, progress and the value out.

A reader never raises: why its text is no value is kept as its fault, and the reply is looked through for another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from unspool.errors import StreamError
from unspool.structured._json_fence import JsonFence
from unspool.structured._offsets import bytes_of, chars_of
from unspool.structured._py_cursor import BYTES_CEILING
from unspool.structured._py_events import PyEvents
from unspool.structured._py_grammar import ENDED
from unspool.structured._py_scan import PyScan
from unspool.structured.events import Progress, StructuredMachine
from unspool.structured.tree import Where

_PIECE: Final = 4096
"""Characters of a fence that are read at once."""


class CandidateReader(Protocol):
    """Reads one candidate."""

    fault: StreamError | None
    """Why it is no value; its offset counts from the candidate."""
    ended: bool
    """Whether it is complete whatever follows."""

    def feed(self, text: str, *, tells: bool) -> list[Progress]: ...

    def finish(self) -> list[Progress]: ...

    @property
    def value(self) -> Any: ...

    @property
    def where(self) -> Where: ...

    @property
    def repairs(self) -> list[tuple[str, int]]: ...


class ScanReader:
    """A candidate that the Python scanner reads: Python syntax, or lenient JSON."""

    where: Where = None

    def __init__(self, scan: PyScan) -> None:
        self.fault: StreamError | None = None
        self.ended = False
        self._scan = scan
        self._events = PyEvents()

    @property
    def value(self) -> Any:
        root = self._scan.root
        return root[0] if root else None

    @property
    def repairs(self) -> list[tuple[str, int]]:
        return self._scan.repairs

    def feed(self, text: str, *, tells: bool) -> list[Progress]:
        return self._told(lambda: self._scan.feed(text))

    def finish(self) -> list[Progress]:
        return [] if self.ended else self._told(self._scan.finish)

    def _told(self, read: Callable[[], object]) -> list[Progress]:
        scan = self._scan
        try:
            read()
            if scan.mode == ENDED:
                self.ended = True
                if not scan.root:
                    self.fault = StreamError("EMPTY_INPUT", "The fence is empty.", byte_offset=scan.ended_at)
        except StreamError as fault:
            self.fault = fault
        return self._events.of(scan.ops)


class JsonReader:
    """A candidate that is strict JSON."""

    repairs: list[tuple[str, int]] = []  # noqa: RUF012 - never any

    def __init__(self, max_depth: int, closing: str) -> None:
        self.fault: StreamError | None = None
        self.ended = False
        self._max_depth = max_depth
        self._tells = True
        self._fence = JsonFence(closing) if closing else None
        self._pieces: list[str] = []
        self._machine = self._new()

    @property
    def value(self) -> Any:
        return self._machine.partial_value

    @property
    def where(self) -> Where:
        return self._machine.where

    def feed(self, text: str, *, tells: bool) -> list[Progress]:
        self._tells = tells
        fence = self._fence
        if fence is None:
            return self._push(text) if text else []
        progress: list[Progress] = []
        # Piece by piece: a block that is no value must not cost the time that all the text after it takes.
        for at in range(0, len(text), _PIECE):
            if inside := fence.inside(text[at : at + _PIECE]):
                progress += self._push(inside)
            if self.fault is not None:
                break
            if fence.ended:
                self.ended = True
                return progress + self.finish()
        return progress

    def finish(self) -> list[Progress]:
        progress: list[Progress] = []
        if self._fence is not None and not self._fence.ended and (rest := self._fence.rest()):
            progress = self._push(rest)
        if self.fault is None:
            try:
                self._machine.finish()
            except StreamError as fault:
                self.fault = fault
        return progress

    def _push(self, text: str) -> list[Progress]:
        try:
            progress = self._machine.feed(text, tells=self._tells)
        except StreamError as fault:
            return self._failed(text, fault)
        self._pieces.append(text)
        return progress

    def _failed(self, text: str, fault: StreamError) -> list[Progress]:
        """Read the good part of a text: the scanner takes a text as a whole or not at all."""
        before = "".join(self._pieces)
        known = bytes_of(before)
        offset = fault.byte_offset or 0
        end = chars_of(text, offset - known)
        self._machine = self._new()
        self._machine.feed(before if offset >= known else before[: chars_of(before, offset)], tells=False)
        progress = self._machine.feed(text[:end], tells=self._tells) if end else []
        if fault.code == "TRAILING_DATA" and self._fence is None and _is_prose(text[end : end + 1]) and self._holds():
            self.ended = True
        else:
            self.fault = fault
        return progress

    def _holds(self) -> bool:
        return isinstance(self.value, dict | list)

    def _new(self) -> StructuredMachine:
        return StructuredMachine(max_chars=BYTES_CEILING // 4, max_depth=self._max_depth)


def _is_prose(char: str) -> bool:
    return char not in '{}[]",:-0123456789'
