"""Expected events come from the rules of WHATWG HTML 9.2.6, also as a second parser written character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import feed_all, splits, two_slices

from unspool.errors import WireError
from unspool.stream.sse import SseDecoder, SseEvent


def by_the_book(data: bytes) -> tuple[list[SseEvent], int | None, str]:
    """The standard's algorithm, one character at a time over the whole text."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines: list[str] = []
    line = ""
    position = 0
    while position < len(text):
        char = text[position]
        if char in "\r\n":
            lines.append(line)
            line = ""
            if text[position : position + 2] == "\r\n":
                position += 1
        else:
            line += char
        position += 1
    events: list[SseEvent] = []
    retry: int | None = None
    buffer = event = id_buffer = last_id = ""
    for line in lines:
        if line == "":
            last_id = id_buffer
            if buffer != "":
                events.append(SseEvent(event or "message", buffer[:-1], last_id))
            buffer = event = ""
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value[:1] == " " else value
        if field == "event":
            event = value
        elif field == "data":
            buffer += value + "\n"
        elif field == "id" and "\0" not in value:
            id_buffer = value
        elif field == "retry" and value and all(c in "0123456789" for c in value):
            retry = int(value)
    return events, retry, last_id


def decode_all(data: bytes) -> list[SseEvent]:
    """The events, the same however the input is cut."""
    expected, retry, last_id = by_the_book(data)
    for slices in (*splits(data), *(two_slices(data) if len(data) < 200 else ())):
        decoder = SseDecoder()
        assert feed_all(decoder, slices) == expected, slices
        assert (decoder.retry_ms, decoder.last_event_id) == (retry, last_id)
    return expected


def test_line_cut_by_a_slice() -> None:
    """F1."""
    assert decode_all(b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n') == [
        SseEvent("message", '{"choices":[{"delta":{"content":"hi"}}]}', "")
    ]


def test_code_point_cut_by_a_slice() -> None:
    """F2."""
    decoder = SseDecoder()
    assert decoder.feed('data: {"text":"использоват'.encode() + b"\xd1") == []
    assert decoder.feed(b"\x8c" + b'"}\n\n') == [SseEvent("message", '{"text":"использовать"}', "")]


def test_cr_at_the_end_of_a_slice() -> None:
    """F3."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r") == []
    assert decoder.feed(b"\ndata: b\r\n\r\n") == [SseEvent("message", "a\nb", "")]


@pytest.mark.parametrize("slices", [[b"data: a\r\r"], [b"data: a\r", b"\r"], [b"data: a\r\n\r"], [b"data: a\n\r"]])
def test_event_after_cr_comes_at_once(slices: list[bytes]) -> None:
    """F3: without waiting for the byte that might make it CRLF."""
    decoder = SseDecoder()
    assert [event for data in slices for event in decoder.feed(data)] == [SseEvent("message", "a", "")]
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\ndata: b\n\n") == [SseEvent("message", "b", "")]


def test_crlf_events_come_with_their_bytes() -> None:
    """F4."""
    decoder = SseDecoder()
    assert decoder.feed(b'data: {"a":1}\r\n\r\n') == [SseEvent("message", '{"a":1}', "")]
    assert decoder.feed(b'data: {"a":2}\r\n\r\n') == [SseEvent("message", '{"a":2}', "")]


def test_comments() -> None:
    """F5."""
    events = decode_all(b": OPENROUTER PROCESSING\n\n: ping\ndata: x\n\ndata: : OPENROUTER PROCESSING\n\n:\n\n")
    assert [event.data for event in events] == ["x", ": OPENROUTER PROCESSING"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbfdata: a\n\n", [("message", "a", "")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"\n\xef\xbb\xbfdata: a\n\n", []),
        (b"\xef\xbb\xbf\n\ndata: a\n\n", [("message", "a", "")]),
        (b"data: a\ndata:b\ndata\ndata:  c \n\n", [("message", "a\nb\n\n c ", "")]),
        (b"event: e\ndata: a\n\ndata: b\n\n", [("e", "a", ""), ("message", "b", "")]),
        (
            b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            [("message", "a", "1"), ("message", "b", "1"), ("message", "c", "")],
        ),
        (b"id: 1\nid: 2\0\ndata: a\n\n", [("message", "a", "1")]),
        (b"Data: a\n data: b\ndata : c\nfoo\n\n", []),
        (b"data: \xff\xe2\x82\ndata: \xed\xa0\x80\n\n", [("message", "\ufffd\ufffd\n\ufffd\ufffd\ufffd", "")]),
        ("data: a\u2028b\u0085c\x0bd\x1ee\n\n".encode(), [("message", "a\u2028b\u0085c\x0bd\x1ee", "")]),
        (b"retry: 10\nretry: x\nretry: -1\nretry:\n\n", []),
        (b"data: a\n\nid: 9\ndata: dropped\n", [("message", "a", "")]),
    ],
)
def test_fields(data: bytes, expected: list[tuple[str, str, str]]) -> None:
    assert decode_all(data) == [SseEvent(*event) for event in expected]


def test_retry_longer_than_any_number() -> None:
    """`int` refuses 4301 digits with another error than ours."""
    decoder = SseDecoder()
    decoder.feed(b"retry: 5\nretry: " + b"9" * 5_000 + b"\n\n")
    assert decoder.retry_ms == 5


@given(
    st.lists(
        st.sampled_from(
            [b"data", b"event", b"id", b"retry", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"a", b"7", b"\0"]
        )
        | st.sampled_from(["é".encode(), "😀".encode(), b"\xff", b"\xe2\x82", b"\xef\xbb\xbf", b"\xef", b"\x85"]),
        max_size=40,
    ).map(b"".join)
)
def test_same_as_the_book(data: bytes) -> None:
    decode_all(data)


# Limits


def frame(size: int) -> bytes:
    """An event whose one data line is `size` bytes with its line end."""
    return b"data: " + b"x" * (size - 7) + b"\n\n"


@pytest.mark.parametrize(
    "data",
    [
        frame(101),
        b"data: " + b"x" * 200,  # no line end in sight
        b": " + b"x" * 200,
        b": " + b"x" * 98 + b"\n\n",  # a comment is not kept, but a long one is cut like any line, whole or in slices
        b"x" * 101 + b"\n",
        b"data\n" * 21,
        b"event: e\n" * 12,
        b"id: " + b"1" * 100 + b"\n",
        b"data: " + b"x" * 60 + b"\nevent: " + b"x" * 60 + b"\n\n",
        b"\xef\xbb\xbf" + frame(101),
    ],
)
def test_too_large(data: bytes) -> None:
    for slices in splits(data):
        decoder = SseDecoder(max_event_bytes=100)
        with pytest.raises(WireError) as caught:
            feed_all(decoder, slices)
        assert caught.value.code == "SSE_EVENT_TOO_LARGE"
        for call in (lambda: decoder.feed(b"\n\n"), decoder.finish, lambda: decoder.feed(b"data: a\n\n")):  # noqa: B023
            with pytest.raises(WireError) as again:
                call()
            assert again.value is caught.value


@pytest.mark.parametrize(
    "data",
    [
        frame(100),
        b"\xef\xbb\xbf" + frame(100),
        frame(100) * 3,
        b": " + b"x" * 97 + b"\n" + frame(100),
        b": ping\n" * 50 + frame(100),
    ],
)
def test_as_large_as_allowed(data: bytes) -> None:
    """`max_` is inclusive; what is not kept does not count."""
    for slices in splits(data):
        events = feed_all(SseDecoder(max_event_bytes=100), slices)
        assert {len(event.data) for event in events} == {93}


def test_events_before_one_too_large_are_kept() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    assert [event.data for event in decoder.feed(b"data: a\n\ndata: b\n\n" + frame(500))] == ["a", "b"]
    assert decoder.error is not None
    with pytest.raises(WireError) as caught:
        decoder.feed(b"")
    assert caught.value is decoder.error


# The end


@pytest.mark.parametrize("tail", [b"data: b", b"data: b\n", b"data: b\r", b"data: b\r\n", b"event: message\ndata: b\n"])
def test_unended_event_is_dropped_or_asked_for(tail: bytes) -> None:
    """The standard drops it; servers exist that end their last event with a single line end."""
    for slices in splits(b"data: a\n\n" + tail):
        decoder = SseDecoder()
        assert [event.data for event in feed_all(decoder, slices)] == ["a"]
        decoder = SseDecoder()
        for piece in slices:
            decoder.feed(piece)
        assert [event.data for event in decoder.finish(flush=True)] == ["b"]


@pytest.mark.parametrize("data", [b"", b"data: a\n\n", b"event: x\n", b": comment", b"\xef\xbb", b"data: a\r\r"])
def test_nothing_to_flush(data: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(data)
    assert decoder.finish(flush=True) == []


def test_finish_is_final() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: a\n")
    assert decoder.finish() == []
    assert decoder.finish(flush=True) == []
