"""JSON lines, however they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import feed_all, named, splits

from unspool.errors import WireError
from unspool.stream.ndjson import JsonLine, NdjsonDecoder


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"", []),
        (b'{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']),
        (b'{"a":1}\r\n\r\n \n{"b":2}', ['{"a":1}', '{"b":2}']),
        ("{}\n\u2028é👋\n".encode(), ["{}", "é👋"]),  # of Unicode's line ends only LF is one here
        (b'{"a":"\xff"}\nx', ['{"a":"\ufffd"}', "x"]),
        (b"\n\n", []),
    ],
    ids=named,
)
def test_lines(body: bytes, lines: list[str]) -> None:
    for slices in splits(body):
        told = feed_all(NdjsonDecoder(), slices)
        assert told == [JsonLine(line) for line in lines]
        assert {line.event for line in told} <= {"message"}


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"))), st.integers(0, 99))
def test_any_lines(lines: list[str], seed: int) -> None:
    body = "\n".join(lines).encode()
    expected = [line.strip() for line in lines if line.strip()]
    for slices in splits(body, seed):
        assert [line.data for line in feed_all(NdjsonDecoder(), slices)] == expected


def test_a_line_is_given_with_its_end() -> None:
    decoder = NdjsonDecoder()
    assert decoder.feed(b'{"a":') == []
    assert decoder.feed(b"1}\n{") == [JsonLine('{"a":1}')]


def test_limit() -> None:
    """Whatever comes of a line that is too long, what stood before it is given."""
    whole, last = b"1234\n12345\n123456\n", b"123456"
    for slices in splits(whole):
        decoder, told = NdjsonDecoder(max_line_bytes=5), list[str]()
        with pytest.raises(WireError) as caught:
            for piece in slices:
                told += [line.data for line in decoder.feed(piece)]
            decoder.feed(b"")
        assert (caught.value.code, told) == ("BODY_TOO_LARGE", ["1234", "12345"])
        assert decoder.error is caught.value
        for again in (lambda decoder=decoder: decoder.feed(b"{}\n"), decoder.finish):
            with pytest.raises(WireError):
                again()
    with pytest.raises(WireError):
        NdjsonDecoder(max_line_bytes=5).feed(last)  # before its end has come
