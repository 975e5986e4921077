"""Server-sent events: bytes in, events out, however the bytes are cut. No IO, no clock.

Lines are found by `bytes.splitlines`, which knows exactly the three line ends of the format (LF, CR, CRLF); text is
decoded line by line, which equals decoding the whole body because a line end never lies inside a UTF-8 sequence and
always ends a broken one. Source: WHATWG HTML, "Server-sent events", section "Interpreting an event stream".
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from unspool.errors import ConfigError, WireError

MAX_EVENT_BYTES = 1_048_576

_BOM = b"\xef\xbb\xbf"
_LF, _CR = 10, 13


class SseEvent(NamedTuple):
    """One dispatched event."""

    event: str
    """Its type; `message` where the stream gave none."""
    data: str
    """The data lines, joined with LF."""
    id: str
    """The last event id at dispatch; empty when there has been none."""


class SseDecoder:
    """Decode an event stream incrementally.

    An event is delivered with the line end of its blank line, also when that line end is a CR that may turn out to
    be half of a CRLF.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_data",
        "_event",
        "_finished",
        "_id",
        "_line",
        "_max_event_bytes",
        "_size",
        "error",
        "last_event_id",
        "retry_ms",
    )

    retry_ms: int | None
    """The reconnection time the stream asked for, in milliseconds; None when it did not."""
    last_event_id: str
    """The id to reconnect with; empty when there is none."""
    error: WireError | None
    """The error that the next call raises, or that the last one raised."""

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        """
        Args:
            max_event_bytes: the most that is kept of one event, and the longest line of any kind: bytes of the lines,
                a line end counted as one. Default 1 MiB.
        """
        if type(max_event_bytes) is not int or max_event_bytes < 1:
            raise ConfigError("INVALID_OPTIONS", "max_event_bytes must be a whole number, 1 or more.")
        self.retry_ms = None
        self.last_event_id = ""
        self.error = None
        self._max_event_bytes = max_event_bytes
        self._line: bytearray = bytearray()  # the unfinished one
        self._data: list[str] = []
        self._event = ""
        self._id = ""
        self._size = 0  # bytes of the lines of this event that are kept
        self._after_cr = False
        self._at_start = True
        self._finished = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """Decode the next slice of the body.

        Args:
            data: any number of bytes; may cut a UTF-8 sequence, a CRLF or a field in two.
        Returns:
            Events completed by this slice, in wire order; often empty.
        Raises:
            WireError: SSE_EVENT_TOO_LARGE when one event, or one line, passes `max_event_bytes`. When the slice
                completes other events before it, these are returned, `error` is set, and the next call raises.
        After an error:
            Dead; later calls raise the same error.
        Source:
            WHATWG HTML, "Interpreting an event stream".
        """
        if self.error is not None:
            raise self.error
        if not isinstance(cast(Any, data), bytes | bytearray | memoryview):
            raise ConfigError("INVALID_OPTIONS", "An event stream is made of bytes; encode text as UTF-8.")
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == _LF:
                data = data[1:]
        if self._at_start:
            data = bytes(self._line) + data
            self._line.clear()
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._line += data
                return []
            self._at_start = False
            data = data.removeprefix(_BOM)
        if not data:
            return []
        lines = data.splitlines()
        last = data[-1]
        rest = b"" if last in (_LF, _CR) else lines.pop()
        self._after_cr = last == _CR
        if lines and self._line:
            self._line += lines[0]
            lines[0] = bytes(self._line)
            self._line.clear()
        events: list[SseEvent] = []
        if self._take(lines, events):
            self._line += rest
            if self._size + len(self._line) < self._max_event_bytes or not self._line:
                return events
        self._line.clear()
        self._data.clear()
        self.error = WireError(
            "SSE_EVENT_TOO_LARGE", f"One event of the stream is larger than {self._max_event_bytes} bytes."
        )
        if not events:
            raise self.error
        return events

    def finish(self, *, flush: bool = False) -> list[SseEvent]:
        """End the stream.

        Args:
            flush: also give the event that the body left without its blank line. The standard drops it, because it
                may have been cut; but servers exist whose last event ends in a single line end or in none. Whoever
                asks for it has to check that its data is whole.
        Returns:
            Nothing, or with `flush` at most one event.
        Raises:
            WireError: SSE_EVENT_TOO_LARGE when `feed` found the error together with other events.
        """
        if self.error is not None:
            raise self.error
        if self._finished:
            return []
        events = self.feed(b"\n\n") if flush else []
        self._finished = True
        self._line.clear()
        self._data.clear()
        return events

    def _take(self, lines: list[bytes], events: list[SseEvent]) -> bool:
        """Interpret complete lines; False when one makes the event too large."""
        room = self._max_event_bytes - self._size
        for line in lines:
            if not line:
                self.last_event_id = self._id
                if self._data:
                    events.append(SseEvent(self._event or "message", "\n".join(self._data), self._id))
                    self._data.clear()
                self._event = ""
                room = self._max_event_bytes
                continue
            if len(line) >= room:
                return False
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(str(value, "utf-8", "replace"))
            elif name == b"event":
                self._event = str(value, "utf-8", "replace")
            elif name == b"id":
                if b"\0" not in value:
                    self._id = str(value, "utf-8", "replace")
            else:
                # int() refuses very long numerals; no reconnection time needs more digits than a year in milliseconds.
                if name == b"retry" and value.isdigit() and len(value) <= 16:
                    self.retry_ms = int(value)
                continue
            room -= len(line) + 1
        self._size = self._max_event_bytes - room
        return True
