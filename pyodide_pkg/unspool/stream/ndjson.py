"""JSON lines: bytes in, lines out, however the bytes are cut. What is in a line is not looked at. No IO, no clock.

Source: https://github.com/ndjson/ndjson-spec; Ollama API, "Streaming".
"""

from __future__ import annotations

from typing import NamedTuple

from unspool.errors import WireError

MAX_LINE_BYTES = 1_048_576


class JsonLine(NamedTuple):
    """One line that is not blank."""

    data: str
    event: str = "message"
    """As server-sent events without a name are called."""


class NdjsonDecoder:
    """Decode JSON lines incrementally. Bytes that are no UTF-8 become U+FFFD."""

    __slots__ = ("_held", "_max_line_bytes", "error")

    error: WireError | None
    """The error that the next call raises, or that the last one raised."""

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        """
        Args:
            max_line_bytes: limit for one line, without its end. Default 1 MiB.
        """
        self.error = None
        self._max_line_bytes = max_line_bytes
        self._held = bytearray()  # of the unfinished line

    def feed(self, data: bytes) -> list[JsonLine]:
        """Decode the next slice of the body.

        Args:
            data: any number of bytes; may cut a UTF-8 sequence or a line in two.
        Returns:
            Lines completed by this slice, in wire order; often empty.
        Raises:
            WireError: BODY_TOO_LARGE when a line passes `max_line_bytes`. When the slice completes lines before it,
                these are returned, `error` is set, and the next call raises.
        After an error:
            Dead; later calls raise the same error.
        """
        if self.error is not None:
            raise self.error
        *whole, rest = data.split(b"\n")
        out: list[JsonLine] = []
        for piece in whole:
            if not self._hold(piece):
                return self._too_large(out)
            out += self._line()
        return out if self._hold(rest) else self._too_large(out)

    def finish(self) -> list[JsonLine]:
        """The body is over: give the last line, if it lacks its end. Raises the error that has been raised."""
        if self.error is not None:
            raise self.error
        return self._line()

    def _hold(self, piece: bytes) -> bool:
        self._held += piece
        return len(self._held) <= self._max_line_bytes

    def _line(self) -> list[JsonLine]:
        text = self._held.decode("utf-8", "replace").strip()
        self._held.clear()
        return [JsonLine(text)] if text else []

    def _too_large(self, out: list[JsonLine]) -> list[JsonLine]:
        self._held.clear()
        self.error = WireError(
            "BODY_TOO_LARGE", f"One line of the response is larger than {self._max_line_bytes} bytes."
        )
        if not out:
            raise self.error
        return out
