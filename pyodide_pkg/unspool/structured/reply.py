"""Reply machines: the text of a whole reply in, the progress of the value in it out; then the value.

A model puts a value in a fence, says something before and after it, thinks aloud first. Streamed or not, the same
machine finds the value, so the result cannot differ. Progress shows the first candidate that shows anything; when that
turns out to be no value, progress stops, and the text is still read to its end for one that is. No IO, no clock.

Source: F19, F20; langfx.js, docs/STREAMING.md, "Python field previews".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, cast

from unspool.errors import StreamError
from unspool.structured._candidate_reader import CandidateReader, JsonReader, ScanReader
from unspool.structured._candidates import Candidate, Candidates
from unspool.structured._offsets import bytes_of, chars_of
from unspool.structured._py_cursor import BYTES_CEILING
from unspool.structured._py_scan import PyScan
from unspool.structured.events import MAX_CHARS, MAX_DEPTH, Progress, StringFieldDelta
from unspool.structured.py_stream import Classes, limit
from unspool.structured.strict_json import DEPTH_CEILING
from unspool.structured.tree import Where

_NO_PROSE: Final = frozenset({"NON_FINITE_NUMBER", "INVALID_VALUE", "EMPTY_INPUT"})
"""Faults of what is no prose, though nothing is shown of it: an empty fence is the answer as well (P41, P74)."""


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


class _ReplyMachine:
    """What both protocols share."""

    _language: str

    def __init__(
        self, open_reader: Callable[[Candidate], CandidateReader], max_chars: int, *, bare: bool, lenient: bool = False
    ) -> None:
        """
        Args:
            open_reader: makes the reader of a candidate.
            max_chars: longest reply.
            bare: whether a bracket in prose may begin a value.
            lenient: whether such a value may be lenient JSON.
        """
        self._open_reader = open_reader
        self._max_chars = self._room = limit("max_chars", max_chars, MAX_CHARS, BYTES_CEILING // 4)
        self._pieces: list[str] = []
        self._candidates = Candidates(bare=bare, lenient=lenient)
        self._candidate: Candidate | None = None
        self._bytes_before = 0
        """Bytes of the reply before the candidate."""
        self._reader: CandidateReader | None = None
        self._shown: CandidateReader | None = None
        """The reader whose progress is shown."""
        self._final: CandidateReader | None = None
        """The reader whose value it is."""
        self._told = 0
        self.refuted: StreamError | None = None
        """Why a reply that began with a value, and showed some of it, holds none; None while it may be one.

        The text is still read to its end for another value, but whoever pays for it need not wait for that.
        """
        self._fault: StreamError | None = None
        """What is wrong with the candidate that is most likely to be the value."""
        self._fault_rank = (False, False)
        """Whether that had begun, and whether it is in a fence."""
        self._over = False
        self._error: StreamError | None = None

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
        reader = self._reader
        return [] if reader is None else [Repair(kind, self._bytes_before + offset) for kind, offset in reader.repairs]

    @property
    def lead(self) -> str:
        """The text before the value when a bracket in the midst of prose begins it; else empty."""
        candidate = self._candidate
        return self._text()[: candidate.at] if candidate is not None and candidate.in_prose else ""

    @property
    def found(self) -> bool:
        """Once there is a fault: whether there is something that had begun as a value."""
        return self._fault_rank[0]

    def feed(self, text: str, *, tells: bool = True) -> list[Progress]:
        """Read the next text of the reply.

        Args:
            text: any text; may cut a token, a fence, an escape or a surrogate pair in two.
            tells: whether to say what it means. False is not for lenient JSON: nothing is given, it takes less time,
                and of strict JSON `shown` is to be looked at.
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
            self._read(text, events, tells)
        return events

    def finish(self) -> Any:
        """Say that the reply is over.

        Returns:
            The complete value, not validated.
        Raises:
            StreamError: why there is no value: what is wrong with the first fenced candidate, else with the first, of
                those that began as a value if there are any; its offset counts in the whole reply. EMPTY_INPUT when
                there is none. After an error of `feed` that error.
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

    def _read(self, text: str, events: list[Progress], tells: bool) -> None:
        reader = self._reader
        while True:
            if reader is None:
                candidate = self._candidates.look(text)
                if candidate is None:
                    return
                reader = self._open(candidate)
                text = candidate.text
            progress = reader.feed(text, tells=tells)
            if self._shown is None and (progress or (not tells and reader.shows)):
                self._shown = reader
            if progress and self._shown is reader:
                # Of texts there are as many deltas as pieces.
                self._told += sum(event.__class__ is not StringFieldDelta for event in progress)
                events += progress
            if reader.fault is not None:
                told = self._told > 1 or (not tells and _has_parts(reader))
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
            candidate is not None and not candidate.closing and not self._text()[: candidate.at].strip("\ufeff \t\r\n")
        )

    def _open(self, candidate: Candidate) -> CandidateReader:
        self._candidate = candidate
        self._bytes_before = bytes_of(self._text()[: candidate.at]) if candidate.at else 0
        self._reader = self._open_reader(candidate)
        return self._reader

    def _leave(self, reader: CandidateReader) -> None:
        """Look further, after a candidate that is no value."""
        candidate, fault = self._candidate, reader.fault
        assert candidate is not None and fault is not None
        rank = (reader.began or fault.code in _NO_PROSE, bool(candidate.closing))
        if self._fault is None or rank > self._fault_rank:
            self._fault, self._fault_rank = _moved(fault, self._bytes_before), rank
        text = self._text()[candidate.at :]
        self._candidates.resume(candidate, text, chars_of(text, fault.byte_offset or 0), hollow=reader.hollow)
        self._reader = None

    def _why(self) -> StreamError:
        """Say why the reply holds no value, so far as is known."""
        if self._fault is None:
            return StreamError("EMPTY_INPUT", "The reply holds no value.", byte_offset=0, operation="finish")
        if not self.found:
            self._fault.message = f"No {self._language} was found in the reply."
            self._fault.args = (self._fault.message,)
        return self._fault

    def _text(self) -> str:
        """Give the reply so far."""
        text = "".join(self._pieces)
        self._pieces[:] = [text]
        return text


class PyReplyMachine(_ReplyMachine):
    """Reads the reply of the Python protocol.

    The whole reply is one expression or an assignment of one; or a fence holds it, with anything around.
    """

    _language = "value in Python syntax"

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

        def open_reader(candidate: Candidate) -> CandidateReader:
            scan = PyScan([], classes=classes, names=names, max_depth=depth, closing=candidate.closing)
            return ScanReader(scan)

        super().__init__(open_reader, max_chars, bare=False)


class JsonReplyMachine(_ReplyMachine):
    """Reads the reply of the JSON protocol: JSON with anything around it.

    The value begins at the start of the reply, in a fence, or with the first bracket in prose that may begin JSON. Text
    after a value outside fences is passed over when it is no JSON. The value itself is strict JSON unless `lenient`.
    """

    _language = "JSON"

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

        def open_reader(candidate: Candidate) -> CandidateReader:
            closing = candidate.closing
            if lenient:
                scan = PyScan([], max_depth=depth, closing=closing, json=True)
                return ScanReader(scan, may_be_followed=not closing, in_prose=candidate.in_prose)
            return JsonReader(depth, closing)

        super().__init__(open_reader, max_chars, bare=True, lenient=lenient)


def _has_parts(reader: CandidateReader) -> bool:
    """Tell whether more has come of a value than that it is a container."""
    value: Any = reader.value
    return isinstance(value, dict | list) and (len(cast("Any", value)) > 0 or reader.where is None)


def _moved(fault: StreamError, count: int) -> StreamError:
    """Give a fault whose offset counts from so many bytes earlier."""
    at = fault.byte_offset or 0
    message = fault.message
    for words in (f", at byte {at}.", f" at byte {at}."):
        if message.endswith(words):
            message = f"{message.removesuffix(words)} at byte {at + count}."
    return StreamError(fault.code, message, byte_offset=at + count, operation="finish")
