from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import WireError
from unspool.stream.packed_numbers import pack, unpack, unzigzag, zigzag


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([0, 1, 25, 26, 31], "ABZaf"),
        ([32], "gB"),
        ([33], "hB"),
        ([63], "_B"),
        ([1023], "_f"),
        ([1024], "ggB"),
        ([5, 40, 5], "FoBF"),
    ],
)
def test_form(numbers: list[int], text: str) -> None:
    """Base 32, lowest digit first; digits that are not the last are shifted up by 32 in the alphabet of base64url."""
    assert pack(numbers) == text
    assert list(unpack(text)) == numbers


@given(st.lists(st.integers(0, 2**199)))
def test_numbers_come_back(numbers: list[int]) -> None:
    text = pack(numbers)
    assert list(unpack(text)) == numbers
    assert json.dumps(text) == f'"{text}"'


@pytest.mark.parametrize("text", ["g", "Ag", "gA", "AggA", "!", "A A", "A\n", "é", "\ud800", "g" * 40 + "B", "AAAA="])
def test_what_is_not_packed(text: str) -> None:
    """No number has two forms: a highest digit of 0 is refused."""
    with pytest.raises(WireError) as caught:
        list(unpack(text))
    assert caught.value.code == "PROTOCOL"


def test_good_numbers_before_a_fault_are_given() -> None:
    numbers = unpack("BC!")
    assert (next(numbers), next(numbers)) == (1, 2)
    with pytest.raises(WireError, match="character 2"):
        next(numbers)


@given(st.text(st.sampled_from("ABfgh_-9")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        numbers = list(unpack(text))
    except WireError:
        return
    assert pack(numbers) == text


@given(st.integers())
def test_zigzag(number: int) -> None:
    assert zigzag(number) >= 0
    assert unzigzag(zigzag(number)) == number


def test_zigzag_keeps_small_numbers_small() -> None:
    assert [zigzag(number) for number in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]
