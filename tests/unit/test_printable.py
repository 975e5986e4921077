"""Text from outside as it may be shown. What hides is taken from Unicode's own categories and bidirectional classes."""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from unspool.printable import printable, said_by

STEERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u061c\u200e\u200f\ufeff"


def hides(character: str) -> bool:
    if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return True
    return unicodedata.bidirectional(character) in STEERING or character in MARKS


def test_every_character() -> None:
    """Exactly those that steer are escaped: emoji that are joined, blanks of other widths and all scripts stay."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        shown = printable(character)
        if hides(character):
            assert shown == ascii(character)[1:-1]
        else:
            assert shown == character


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
    assert said_by(ValueError("x" * 9), 3) == "ValueError: xxx…"


def test_an_exception_that_cannot_say_it() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert said_by(Mute()) == "Mute"
