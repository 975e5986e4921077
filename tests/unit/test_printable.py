"""Text from outside as it may be shown. What hides is taken from Unicode's own categories and bidirectional classes."""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unspool as us
from unspool.dispatch import DispatchedModel
from unspool.printable import printable, said_by
from unspool.stream.response import ResponseMachine

STEERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u061c\u200e\u200f\ufeff"


def hides(character: str) -> bool:
    if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return True
    return unicodedata.bidirectional(character) in STEERING or character in MARKS


def test_every_character() -> None:
    """Exactly those that steer are escaped: emoji that are joined, blanks of other widths and all scripts stay."""
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    shown = printable("\n".join(characters)).split("\\n")
    del characters[ord("\n")]  # its place is an empty one, and the next as well
    expected = [ascii(character)[1:-1] if hides(character) else character for character in characters]
    assert [words for words in shown if words] == expected


@given(st.text())
def test_any_text_can_be_printed(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert not any(map(hides, shown))
    assert printable(shown) == shown


def test_what_an_exception_says() -> None:
    assert said_by(ValueError()) == "ValueError"
    assert said_by(ValueError("not\n  so")) == "ValueError: not so"
    assert said_by(ValueError("\x1b[31mred\ud800")) == "ValueError: \\x1b[31mred\\ud800"
    assert said_by(ValueError("x" * 9), 14) == "ValueError: x…"
    assert said_by(ValueError("x"), 13) == "ValueError: x"
    assert said_by(ValueError("\x1b" * 4), 20) == "ValueError: \\x1b\\x1…"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_exception_that_cannot_say_it() -> None:
    assert said_by(Mute()) == "Mute"


def muted(*_args: Any) -> NoReturn:
    raise Mute


async def test_it_ends_a_call_with_the_code_of_its_cause() -> None:
    """Whoever names a foreign exception must not fail by it."""
    model = us.llms.FunctionModel(muted)
    for failing, said in (
        (model, ("PROVIDER", "The model failed (Mute).")),
        (DispatchedModel(model, muted), ("INVALID_OPTIONS", "A middleware failed (Mute).")),
    ):
        async with failing.stream("x") as stream:
            assert [chunk async for chunk in stream]
        assert stream.error is not None
        assert (stream.error.code, stream.error.message) == said


def test_it_is_named_where_an_answer_cannot_be_decoded() -> None:
    class Decoder:
        def finish(self) -> list[Any]:
            return []

    decoder: Any = Decoder()
    decoder.feed = muted
    finish = ResponseMachine(decoder, content_type="text/event-stream").feed(b"data: {}\n\n")[-1]
    assert isinstance(finish, us.stream.chunks.Finish)
    assert finish.error is not None
    assert (finish.error.code, finish.error.message) == ("PROTOCOL", "The answer could not be decoded (Mute).")


def test_it_is_named_where_a_value_cannot_be_written() -> None:
    class Silent(dict[str, int]):
        items: Any = muted

    Broken: Any = type("Broken", (dt.tzinfo,), {"key": property(muted)})

    for value in (Broken(), Silent(a=1)):
        with pytest.raises(us.ConfigError, match="Mute"):
            us.format_value(value)
