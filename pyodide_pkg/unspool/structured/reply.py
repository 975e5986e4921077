"""Reply machines: the text of a whole reply in, the progress of the value in it out; then the value.

A model puts a value in a fence, says something before and after it, thinks aloud first. Streamed or not, the same
machine finds the value, so the result cannot differ. Progress shows the first candidate that shows anything; when that
turns out to be no value, progress stops, and the text is still read to its end for one that is. No IO, no clock.

Source: F19, F20; langfx.js, docs/STREAMING.md, "Python field previews".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, Protocol, cast

from unspool.errors import StreamError
from unspool.structured._candidates import Candidate, Candidates
from unspool.structured._json_fence import JsonFence
from unspool.structured._py_cursor import BYTES_CEILING
from unspool.structured._py_events import PyEvents
from unspool.structured._py_grammar import ENDED
from unspool.structured._py_scan import PyScan
from unspool.structured.events import MAX_CHARS, MAX_DEPTH, Progress, StringFieldDelta, StructuredMachine
from unspool.structured.py_stream import Classes, limit
from unspool.structured.strict_json import DEPTH_CEILING
from unspool.structured.tree import Where

_PIECE: Final = 4096
"""Characters of a fence that are read at once."""


class Repair:
    """Something that lenient reading has put right."""

    __slots__ = ("kind", "byte_offset")

    def __init__(self, kind: str, byte_offset: int) -> None:
        self.kind = kind
        """trailing-comma, comment, single-quotes or unclosed."""
        self.byte_offset = byte_offset
        """Where, in the UTF-8 bytes of the reply."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Repair) and (self.kind, self.byte_offset) == (other.kind, other.byte_offset)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Repair({self.kind!r}, {self.byte_offset})"


class _Reader(Protocol):
    """Reads one candidate. It never raises before `finish`."""

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


class _ReplyMachine:
    """What both protocols share."""

    def __init__(self, open_reader: Callable[[str], _Reader], max_chars: int, *, bare: bool) -> None:
        """
        Args:
            open_reader: makes the reader of a candidate, given the marks that close its fence.
            max_chars: longest reply.
            bare: whether a bracket in prose may begin a value.
        """
        self._open_reader = open_reader
        self._max_chars = self._room = limit("max_chars", max_chars, MAX_CHARS, BYTES_CEILING // 4)
        self._pieces: list[str] = []
        self._candidates = Candidates(bare=bare)
        self._candidate: Candidate | None = None
        self._reader: _Reader | None = None
        self._shown: _Reader | None = None
        """The reader whose progress is shown."""
        self._final: _Reader | None = None
        """The reader whose value it is."""
        self._told = 0
        self.refuted: StreamError | None = None
        """Why a reply that began with a value, and showed some of it, holds none; None while it may be one.

        The text is still read to its end for another value, but whoever pays for it need not wait for that.
        """
        self._faults: list[tuple[Candidate, StreamError]] = []
        self._over = False
        self._error: StreamError | None = None
        self.tells = True
        """Whether `feed` says what the text means; where it does not, `shown` is to be looked at. Strict JSON only."""

    @property
    def shown(self) -> tuple[Any, Where] | None:
        """The value whose progress is shown, and where the text so far ends in it. Strict JSON only."""
        reader = self._shown
        return None if reader is None else (reader.value, reader.where)

    @property
    def partial_value(self) -> Any:
        """The unvalidated value so far; None before it begins. Do not change it."""
        reader = self._final or self._shown or self._reader
        return None if reader is None else reader.value

    @property
    def repairs(self) -> list[Repair]:
        """What has been put right so far; at most 100."""
        if self._reader is None or self._candidate is None:
            return []
        before = _bytes("".join(self._pieces)[: self._candidate.at])
        return [Repair(kind, before + offset) for kind, offset in self._reader.repairs]

    def feed(self, text: str) -> list[Progress]:
        """Read the next text of the reply.

        Args:
            text: any text; may cut a token, a fence, an escape or a surrogate pair in two.
        Returns:
            What it means, in document order; often empty.
        Raises:
            StreamError: MAX_BYTES_EXCEEDED when the reply has more than `max_chars` characters. What is wrong with the
                value is told by `finish`, since a value may still follow.
        After an error:
            Dead: later calls raise the same error. Nothing of the text is in `partial_value`.
        """
        if self._error is not None:
            raise self._error
        self._room -= len(text)
        if self._room < 0:
            self._error = StreamError(
                "MAX_BYTES_EXCEEDED", f"The reply has more than {self._max_chars} characters.", operation="push"
            )
            raise self._error
        self._pieces.append(text)
        events: list[Progress] = []
        if not self._over:
            self._read(text, events)
        return events

    def finish(self) -> Any:
        """Say that the reply is over.

        Returns:
            The complete value, not validated.
        Raises:
            StreamError: why there is no value: what is wrong with the first fenced candidate, else with the first; its
                offset counts in the whole reply. EMPTY_INPUT when there is none. After an error of `feed` that error.
        """
        if self._error is not None:
            raise self._error
        reader = self._reader
        while not self._over:
            if reader is None:
                candidate = self._candidates.look("", over=True)
                if candidate is None:
                    self._error = self._why()
                    raise self._error
                self._open(candidate)
                reader = self._reader
                assert reader is not None
                reader.feed(candidate.text, tells=False)
            if reader.fault is None:
                reader.finish()
            if reader.fault is None:
                self._over = True
            else:
                self._leave(reader)
                reader = None
        assert self._reader is not None
        self._final = self._reader
        return self._reader.value

    def _read(self, text: str, events: list[Progress]) -> None:
        reader = self._reader
        while True:
            if reader is None:
                candidate = self._candidates.look(text)
                if candidate is None:
                    return
                reader = self._open(candidate)
                text = candidate.text
            progress = reader.feed(text, tells=self.tells)
            if self._shown is None and (progress or (not self.tells and reader.value is not None)):
                self._shown = reader
            if progress and self._shown is reader:
                # Of texts there are as many deltas as pieces.
                self._told += sum(event.__class__ is not StringFieldDelta for event in progress)
                events += progress
            if reader.fault is not None:
                told = self._told > 1 or (not self.tells and _has_parts(reader))
                refutes = self.refuted is None and reader is self._shown and told and self._is_whole_reply()
                self._leave(reader)
                if refutes:
                    self.refuted = self._why()
                reader = None
                text = ""
                continue
            self._over = reader.ended
            return

    def _is_whole_reply(self) -> bool:
        candidate = self._candidate
        return (
            candidate is not None
            and not candidate.closing
            and not "".join(self._pieces)[: candidate.at].strip("\ufeff \t\r\n")
        )

    def _open(self, candidate: Candidate) -> _Reader:
        self._candidate = candidate
        self._reader = self._open_reader(candidate.closing)
        return self._reader

    def _leave(self, reader: _Reader) -> None:
        """Look further, after a candidate that is no value."""
        candidate, fault = self._candidate, reader.fault
        assert candidate is not None and fault is not None
        if not self._faults or (candidate.closing and not self._faults[0][0].closing):
            self._faults.insert(0, (candidate, fault))
        text = "".join(self._pieces)
        self._pieces[:] = [text]
        text = text[candidate.at :]
        self._candidates.resume(candidate, text, _chars(text, fault.byte_offset or 0))
        self._reader = None

    def _why(self) -> StreamError:
        if not self._faults:
            return StreamError("EMPTY_INPUT", "The reply holds no value.", byte_offset=0, operation="finish")
        candidate, fault = self._faults[0]
        before = _bytes("".join(self._pieces)[: candidate.at])
        offset = before + (fault.byte_offset or 0)
        message = fault.message.removesuffix(f", at byte {fault.byte_offset}.").removesuffix(
            f" at byte {fault.byte_offset}."
        )
        if message != fault.message:
            message = f"{message} at byte {offset}."
        return StreamError(fault.code, message, byte_offset=offset, operation="finish")


class PyReplyMachine(_ReplyMachine):
    """Reads the reply of the Python protocol.

    The whole reply is one expression or an assignment of one; or a fence holds it, with anything around.
    """

    def __init__(
        self,
        *,
        classes: Classes | None = None,
        names: Collection[str] | None = None,
        max_chars: int = MAX_CHARS,
        max_depth: int = MAX_DEPTH,
    ) -> None:
        """
        Args:
            classes, names: as of `PyStream`.
            max_chars: longest reply, in characters, all of it counted.
            max_depth: most open brackets at once, up to 512.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        depth = limit("max_depth", max_depth, MAX_DEPTH, DEPTH_CEILING)

        def open_reader(closing: str) -> _Reader:
            root: list[Any] = []
            return _ScanReader(PyScan(root, classes=classes, names=names, max_depth=depth, closing=closing))

        super().__init__(open_reader, max_chars, bare=False)


class JsonReplyMachine(_ReplyMachine):
    """Reads the reply of the JSON protocol: JSON with anything around it.

    The value begins at the start of the reply, in a fence, or with the first bracket in prose that may begin JSON. Text
    after a value outside fences is passed over when it is no JSON. The value itself is strict JSON unless `lenient`.
    """

    def __init__(self, *, lenient: bool = False, max_chars: int = MAX_CHARS, max_depth: int = MAX_DEPTH) -> None:
        """
        Args:
            lenient: read trailing commas, comments, single quotes and an unclosed end as well; `repairs` names them.
            max_chars: longest reply, in characters, all of it counted.
            max_depth: most open containers at once, up to 512.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        depth = limit("max_depth", max_depth, MAX_DEPTH, DEPTH_CEILING)

        def open_reader(closing: str) -> _Reader:
            if lenient:
                return _ScanReader(PyScan([], max_depth=depth, closing=closing, json=True))
            return _JsonReader(depth, closing)

        super().__init__(open_reader, max_chars, bare=True)


class _ScanReader:
    """A candidate that the Python scanner reads."""

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


class _JsonReader:
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
        known = _bytes(before)
        offset = fault.byte_offset or 0
        end = _chars(text, offset - known)
        self._machine = self._new()
        self._machine.feed(before if offset >= known else before[: _chars(before, offset)], tells=False)
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


def _has_parts(reader: _Reader) -> bool:
    """Tell whether more has come of a value than that it is a container."""
    value: Any = reader.value
    return isinstance(value, dict | list) and (len(cast("Any", value)) > 0 or reader.where is None)


def _is_prose(char: str) -> bool:
    return char not in '{}[]",:-0123456789'


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _chars(text: str, count: int) -> int:
    """How many characters the first bytes of a text are."""
    if count <= 0 or text.isascii():
        return max(0, count)
    return len(text[:count].encode("utf-8", "surrogatepass")[:count].decode("utf-8", "ignore"))
