"""Halves of surrogate pairs. Expected texts are what UTF-16 says of them (Unicode 17, D91)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.surrogates import joined, paired

HIGH, LOW, PAIR = "\ud83e", "\uddf5", "\U0001f9f5"


@pytest.mark.parametrize(
    ("text", "stays", "shown"),
    [
        ("", "", ""),
        ("abc", "abc", "abc"),
        ("é" + PAIR, "é" + PAIR, "é" + PAIR),
        (HIGH + LOW + "a", PAIR + "a", PAIR + "a"),
        (HIGH + "a", HIGH + "a", "\ufffda"),
        (LOW + HIGH, LOW + HIGH, "\ufffd\ufffd"),
        (HIGH + HIGH + LOW, HIGH + PAIR, "\ufffd" + PAIR),
    ],
    ids=ascii,
)
def test_halves_that_stand_together_are_joined(text: str, stays: str, shown: str) -> None:
    assert joined(text, "surrogatepass") == stays
    assert joined(text) == shown


@given(st.text(st.characters(codec="utf-8")), st.data())
def test_a_text_cut_anywhere_is_whole_again(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le")
    halves = "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))
    assert joined(halves) == joined(text) == text
    at = data.draw(st.integers(0, len(halves)))
    first, size, held, is_lone = paired(halves[:at])
    second, more, left, is_lone_too = paired(held + halves[at:])
    assert (first + second, size + more, left) == (text, len(text.encode()), "")
    assert not is_lone
    assert not is_lone_too


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aé" + HIGH, ("aé", 3, HIGH, False)),
        ("é" + LOW + "b" + HIGH, ("é", 2, "", True)),
        (PAIR + HIGH + "b", (PAIR, 4, "", True)),
    ],
    ids=ascii,
)
def test_a_piece_ends_before_a_half_that_stands_alone(text: str, found: tuple[str, int, str, bool]) -> None:
    assert paired(text) == found
