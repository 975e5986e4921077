"""AWS's binary event stream: framing, checksums, headers and limits."""

from __future__ import annotations

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import feed_all, splits, two_slices
from tests.tools.dialects import headed, message

from unspool.errors import StreamTruncatedError, WireError
from unspool.stream.event_stream import EventStreamDecoder, EventStreamMessage


def framed(headers: bytes, payload: bytes = b"", *, total: int | None = None, length: int | None = None) -> bytes:
    """A message of any headers, with checksums that fit."""
    size = len(headers) + len(payload) + 16 if total is None else total
    prelude = struct.pack(">II", size, len(headers) if length is None else length)
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def header(name: bytes, kind: int, value: bytes = b"") -> bytes:
    return bytes([len(name)]) + name + bytes([kind]) + value


def read(body: bytes) -> list[EventStreamMessage]:
    told = [feed_all(EventStreamDecoder(), slices) for slices in splits(body)]
    assert all(one == told[0] for one in told)
    return told[0]


def fault(body: bytes, **limits: int) -> WireError:
    codes: set[str] = set()
    for slices in splits(body):
        decoder = EventStreamDecoder(**limits)
        with pytest.raises(WireError) as caught:
            for piece in slices:
                decoder.feed(piece)
            decoder.finish()
        codes.add(caught.value.code)
        assert decoder.error is caught.value
        for again in (lambda decoder=decoder: decoder.feed(message(b"{}")), decoder.finish):
            with pytest.raises(WireError):
                again()
    assert len(codes) == 1
    return caught.value


def test_published_examples() -> None:
    """Messages of the description of the encoding: without anything, with a payload, with a header."""
    empty = bytes.fromhex("0000001000000000 05c248eb 7d98c8ff")
    payload = bytes.fromhex("0000001d00000000 fd528c5a") + b"{'foo':'bar'}" + bytes.fromhex("c3653936")
    assert empty == framed(b"")
    assert payload == framed(b"", b"{'foo':'bar'}")
    assert read(empty + payload) == [
        EventStreamMessage("event", "", "", {}),
        EventStreamMessage("event", "", "{'foo':'bar'}", {}),
    ]


def test_event_exception_and_error() -> None:
    body = (
        message('{"a":"é"}'.encode(), "contentBlockDelta")
        + message(b'{"message":"slow"}', "throttlingException", "exception")
        + headed({":message-type": "error", ":error-code": "InternalError", ":error-message": "boom"}, b"")
    )
    event, exception, error = read(body)
    assert (event.type, event.event, event.data) == ("event", "contentBlockDelta", '{"a":"é"}')
    assert event.headers[":content-type"] == "application/json"
    assert (exception.type, exception.event, exception.data) == (
        "exception",
        "throttlingException",
        '{"message":"slow"}',
    )
    assert (error.type, error.event) == ("error", "error")
    assert json.loads(error.data) == {"code": "InternalError", "message": "boom"}


def test_headers_of_all_types() -> None:
    headers = b"".join(
        (
            header(b"t", 0),
            header(b"f", 1),
            header(b"i8", 2, struct.pack(">b", -2)),
            header(b"i16", 3, struct.pack(">h", -300)),
            header(b"i32", 4, struct.pack(">i", -70_000)),
            header(b"i64", 5, struct.pack(">q", -(2**40))),
            header(b"bytes", 6, struct.pack(">H", 3) + b"\0\xff\n"),
            header(b"text", 7, struct.pack(">H", 3) + "é1".encode()),
            header(b"time", 8, struct.pack(">q", 1_764_504_000_000)),
            header(b"uuid", 9, bytes(range(16))),
        )
    )
    [told] = read(framed(headers, b"x"))
    assert told.headers == {
        "t": True,
        "f": False,
        "i8": -2,
        "i16": -300,
        "i32": -70_000,
        "i64": -(2**40),
        "bytes": b"\0\xff\n",
        "text": "é1",
        "time": 1_764_504_000_000,
        "uuid": "000102030405060708090a0b0c0d0e0f",
    }
    assert told.data == "x"


GOOD = message(b'{"a":1}')
FAULTS = {
    "prelude": GOOD[:9] + bytes([GOOD[9] ^ 1]) + GOOD[10:],
    "length": bytes([GOOD[0], GOOD[1], GOOD[2], GOOD[3] ^ 1]) + GOOD[4:],
    "payload": GOOD[:-6] + b"2}" + GOOD[-4:],
    "checksum": GOOD[:-1] + bytes([GOOD[-1] ^ 1]),
    "text": b"data: {}\n\ndata: {}\n\n",
    "shorter-than-itself": framed(b"", total=15),
    "headers-longer-than-itself": framed(b"", b"1234", length=5),
    "unknown-header": framed(header(b"x", 10)),
    "cut-name": framed(b"\x09abc"),
    "cut-type": framed(b"\x03abc"),
    "cut-number": framed(header(b"x", 5, b"1234")),
    "cut-length": framed(header(b"x", 7, b"\0")),
    "cut-text": framed(header(b"x", 7, b"\0\x09abc"), b"payload that is none of the header"),
    "cut-uuid": framed(header(b"x", 9, b"1234"), b"payload that is none of the header"),
    "no-utf8": framed(header(b"x", 7, b"\0\x01\xff")),
    "no-utf8-name": framed(header(b"\xff", 0)),
    "twice": framed(header(b"x", 0) + header(b"x", 1)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_no_message(name: str) -> None:
    assert fault(FAULTS[name]).code == "PROTOCOL"
    for slices in splits(GOOD + FAULTS[name]):
        decoder, told = EventStreamDecoder(), list[EventStreamMessage]()
        with pytest.raises(WireError):
            for piece in slices:
                told += decoder.feed(piece)
            decoder.feed(b"")
        assert [one.data for one in told] == ['{"a":1}']


def test_limits() -> None:
    """A message that will be too long is refused when it says so, before it has come."""
    assert fault(GOOD, max_message_bytes=len(GOOD) - 1).code == "BODY_TOO_LARGE"
    assert len(feed_all(EventStreamDecoder(max_message_bytes=len(GOOD)), [GOOD])) == 1
    assert fault(framed(b"", total=2**31)[:12]).code == "BODY_TOO_LARGE"
    assert fault(framed(b"", total=200_000, length=131_073)[:12]).code == "PROTOCOL"


def test_cut() -> None:
    """F6: a message that lacks its end is none, and the stream was cut."""
    for slices in two_slices(GOOD):
        decoder = EventStreamDecoder()
        told = decoder.feed(slices[0])
        if 0 < len(slices[0]) < len(GOOD):
            assert told == []
            with pytest.raises(StreamTruncatedError):
                decoder.finish()
        else:
            assert decoder.finish() == []


@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=9), st.binary(max_size=99)), max_size=5),
    st.integers(0, 99),
)
def test_any_messages(given: list[tuple[str, bytes]], seed: int) -> None:
    body = b"".join(
        framed(header(b":event-type", 7, struct.pack(">H", len(name.encode())) + name.encode()), payload)
        for name, payload in given
    )
    for slices in splits(body, seed):
        told = feed_all(EventStreamDecoder(), slices)
        assert [(one.event, one.data) for one in told] == [
            (name, payload.decode("utf-8", "replace")) for name, payload in given
        ]


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    for slices in splits(body):
        decoder = EventStreamDecoder()
        try:
            for piece in slices:
                decoder.feed(piece)
            decoder.finish()
        except WireError as error:
            assert error.code in ("PROTOCOL", "STREAM_TRUNCATED", "BODY_TOO_LARGE")
