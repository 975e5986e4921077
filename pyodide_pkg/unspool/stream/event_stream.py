"""AWS's binary event stream: bytes in, messages out, however the bytes are cut. No IO, no clock.

A message is its length, that of its headers, a checksum of the two, headers, payload, and a checksum of the whole.
Source: https://smithy.io/2.0/aws/amazon-eventstream.html; RFC 1952 (CRC-32).
"""

from __future__ import annotations

import json
from struct import error as StructError
from struct import unpack_from
from typing import NamedTuple
from zlib import crc32

from unspool.errors import StreamTruncatedError, WireError

MAX_MESSAGE_BYTES = 16_777_216
"""AWS allows 24 MiB of payload; no model says so much at once."""
MAX_HEADERS_BYTES = 131_072
"""AWS's own limit."""
_PRELUDE = 12
_AROUND = 16  # prelude and checksum
_NUMBERS = {2: "b", 3: "h", 4: "i", 5: "q", 8: "q"}
"""Header types that are numbers; 8 is a time in milliseconds since 1970."""

type HeaderValue = bool | int | bytes | str


class EventStreamMessage(NamedTuple):
    """One message whose checksums are right."""

    type: str
    """"event", "exception" (an error that the API models) or "error" (any other)."""
    event: str
    """Name of the event or exception; "error" for an error."""
    data: str
    """The payload as text. Of an error: code and message, as JSON."""
    headers: dict[str, HeaderValue]


class EventStreamDecoder:
    """Decode an event stream incrementally. A message whose checksum is wrong is never given."""

    __slots__ = ("_held", "_max_message_bytes", "error")

    error: WireError | None
    """The error that the next call raises, or that the last one raised."""

    def __init__(self, *, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """
        Args:
            max_message_bytes: limit for one message, all of it counted. Default 16 MiB.
        """
        self.error = None
        self._max_message_bytes = max_message_bytes
        self._held = bytearray()

    def feed(self, data: bytes) -> list[EventStreamMessage]:
        """Decode the next slice of the body.

        Args:
            data: any number of bytes.
        Returns:
            Messages completed by this slice, in wire order; often empty.
        Raises:
            WireError: PROTOCOL for a wrong checksum and whatever else cannot be a message; BODY_TOO_LARGE for one
                larger than `max_message_bytes`, as soon as it says so. When the slice completes messages before it,
                these are returned, `error` is set, and the next call raises.
        After an error:
            Dead; later calls raise the same error.
        """
        if self.error is not None:
            raise self.error
        self._held += data
        out: list[EventStreamMessage] = []
        at = 0
        try:
            while (size := self._size(at)) and len(self._held) - at >= size:
                out.append(_message(bytes(self._held[at : at + size])))
                at += size
        except WireError as error:
            self.error = error
            self._held.clear()
            if not out:
                raise
        del self._held[:at]
        return out

    def finish(self) -> list[EventStreamMessage]:
        """The body is over.

        Returns:
            Nothing: a message that lacks its end is none.
        Raises:
            StreamTruncatedError: STREAM_TRUNCATED when the body ended inside a message.
            WireError: the error that has been raised.
        """
        if self.error is not None:
            raise self.error
        if self._held:
            raise StreamTruncatedError("The response ended inside a message.")
        return []

    def _size(self, at: int) -> int:
        """Size of the message that begins here; 0 while that is not known."""
        if len(self._held) - at < _PRELUDE:
            return 0
        size: int
        size, headers, checksum = unpack_from(">III", self._held, at)
        if crc32(self._held[at : at + 8]) != checksum:
            raise WireError("PROTOCOL", "The provider sent something that is no message of an event stream.")
        if size > self._max_message_bytes:
            raise WireError(
                "BODY_TOO_LARGE", f"One message of the stream is larger than {self._max_message_bytes} bytes."
            )
        if headers > min(MAX_HEADERS_BYTES, size - _AROUND):
            raise WireError("PROTOCOL", "The provider sent a message whose lengths cannot be.")
        return size


def _message(data: bytes) -> EventStreamMessage:
    if crc32(data[:-4]) != unpack_from(">I", data, len(data) - 4)[0]:
        raise WireError("PROTOCOL", "The provider sent a message whose checksum is wrong.")
    end = _PRELUDE + unpack_from(">I", data, 4)[0]
    try:
        headers = _headers(data, end)
    except (StructError, UnicodeDecodeError, IndexError) as error:
        raise WireError("PROTOCOL", "The provider sent a message whose headers cannot be read.") from error
    kind = _text(headers, ":message-type") or "event"
    if kind == "error":
        said = {"code": _text(headers, ":error-code"), "message": _text(headers, ":error-message")}
        return EventStreamMessage(kind, "error", json.dumps(said), headers)
    payload = data[end:-4].decode("utf-8", "replace")
    return EventStreamMessage(kind, _text(headers, f":{kind}-type"), payload, headers)


def _text(headers: dict[str, HeaderValue], name: str) -> str:
    value = headers.get(name)
    return value if isinstance(value, str) else ""


def _headers(data: bytes, end: int) -> dict[str, HeaderValue]:
    """Read the headers, which end where the payload begins. What passes that place is caught by the caller."""
    headers: dict[str, HeaderValue] = {}
    at = _PRELUDE
    block = data[:end]
    while at < end:
        name, at = _piece(block, at + 1, block[at])
        kind, at = block[at], at + 1
        value: HeaderValue
        if kind in (0, 1):
            value = kind == 0
        elif kind in _NUMBERS:
            number = f">{_NUMBERS[kind]}"
            (value,) = unpack_from(number, block, at)
            at += {"b": 1, "h": 2, "i": 4, "q": 8}[_NUMBERS[kind]]
        elif kind in (6, 7):
            (size,) = unpack_from(">H", block, at)
            value, at = _piece(block, at + 2, size)
            value = value.decode() if kind == 7 else value
        elif kind == 9:
            value, at = _piece(block, at, 16)
            value = value.hex()
        else:
            raise WireError("PROTOCOL", f"The provider sent a header of the unknown type {kind}.")
        if name.decode() in headers:
            raise WireError("PROTOCOL", "The provider sent a header twice.")
        headers[name.decode()] = value
    return headers


def _piece(block: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(block):
        raise IndexError
    return block[at : at + size], at + size
