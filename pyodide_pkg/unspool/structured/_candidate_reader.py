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
from unspool.structured._py_grammar import ENDED, STRING
from unspool.structured._py_scan import PyScan
from unspool.structured.events import Progress, StructuredMachine
from unspool.structured.tree import Where

_PIECE: Final = 4096
"""Characters of a fence that are read at once."""
_LOOKED_AT: Final = 8
"""Operations that are turned into events to see whether there are any."""


class CandidateReader(Protocol):
    """Reads one candidate."""

    fault: StreamError | None
    """Why it is no value; its offset counts from the candidate."""
    ended: bool
    """Whether it is complete whatever follows."""

    def feed(self, text: str, *, tells: bool) -> list[Progress]: ...

    def finish(self) -> list[Progress]: ...

    @property
    def began(self) -> bool:
        """Once there is a fault: whether a value had begun."""
        ...

    @property
    def hollow(self) -> bool:
        """Whether there is so little of a value that its bracket may be one of the prose."""
        ...

    @property
    def shows(self) -> bool:
        """Whether something of it was told, or would have been: a number or such at the root is not."""
        ...

    @property
    def value(self) -> Any: ...

    @property
    def where(self) -> Where: ...

    @property
    def repairs(self) -> list[tuple[str, int]]: ...


class ScanReader:
    """A candidate that the Python scanner reads: Python syntax, or lenient JSON."""

    where: Where = None

    def __init__(self, scan: PyScan, *, may_be_followed: bool = False, in_prose: bool = False) -> None:
        """
        Args:
            may_be_followed: whether prose may come after a container.
            in_prose: whether a bracket in the midst of prose begins it.
        """
        self.fault: StreamError | None = None
        self.ended = False
        self.shows = False
        self._scan = scan
        self._may_be_followed = may_be_followed
        self._in_prose = in_prose
        self._events = PyEvents()

    @property
    def value(self) -> Any:
        root = self._scan.root
        return root[0] if root else None

    @property
    def repairs(self) -> list[tuple[str, int]]:
        return self._scan.repairs

    @property
    def began(self) -> bool:
        return bool(self._scan.root) or (self._scan.knows_name and self.fault.code == "UNKNOWN_NAME")  # type: ignore[union-attr]

    @property
    def hollow(self) -> bool:
        value = self.value
        return self._in_prose and (not value or (value.__class__ is list and len(value) == 1 and type(value[0]) is str))

    def feed(self, text: str, *, tells: bool) -> list[Progress]:
        return self._told(lambda: self._scan.feed(text), tells)

    def finish(self) -> list[Progress]:
        if self.ended:
            return []
        in_text = self._scan.mode == STRING
        progress = self._told(self._scan.finish, True)
        if self.fault is None and self.hollow and self._is_unclosed(in_text):
            self.fault = StreamError(
                "INCOMPLETE_JSON",
                f"The text ended inside a value at byte {self._scan.seen}.",
                byte_offset=self._scan.seen,
            )
        return progress

    def _is_unclosed(self, in_text: bool) -> bool:
        """Whether all that has come is a bracket, or one and a quotation mark that may be an apostrophe."""
        kinds = {kind for kind, _ in self.repairs}
        return "unclosed" in kinds and (not self.value or (in_text and "single-quotes" in kinds))

    def _told(self, read: Callable[[], object], tells: bool) -> list[Progress]:
        scan = self._scan
        try:
            read()
            if scan.mode == ENDED:
                self.ended = True
                if not scan.root:
                    self.fault = StreamError("EMPTY_INPUT", "The fence is empty.", byte_offset=scan.ended_at)
        except StreamError as fault:
            prose = fault.code == "INVALID_CHUNK" or _is_prose(scan.char_at(fault.byte_offset or 0))
            if self._may_be_followed and scan.is_over and prose:
                self.ended = True
            else:
                self.fault = fault
        if tells:
            return self._events.of(scan.ops)
        for at in range(0, 0 if self.shows else len(scan.ops), _LOOKED_AT):
            self.shows = bool(self._events.of(scan.ops[at : at + _LOOKED_AT]))
            if self.shows:
                break
        return []


class JsonReader:
    """A candidate that is strict JSON."""

    repairs: list[tuple[str, int]] = []  # noqa: RUF012 - never any
    hollow: bool = False

    def __init__(self, max_depth: int, closing: str) -> None:
        self.fault: StreamError | None = None
        self.ended = False
        self._max_depth = max_depth
        self._tells = True
        self._fence = JsonFence(closing) if closing else None
        self._pieces: list[str] = []
        self._machine = self._new()

    @property
    def shows(self) -> bool:
        value = self.value
        return isinstance(value, dict | list) or (isinstance(value, str) and value != "")

    @property
    def value(self) -> Any:
        return self._machine.partial_value

    @property
    def where(self) -> Where:
        return self._machine.where

    @property
    def began(self) -> bool:
        return self.value is not None

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
