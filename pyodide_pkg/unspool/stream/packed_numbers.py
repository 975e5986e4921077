"""Whole numbers as short text: a small one is one character. No IO, no clock.

Each number is written in digits of base 32, the lowest first; all but its last digit come from the upper half of the
alphabet. All characters stand for themselves in JSON. Cuts and times of a stream take two to four characters a token,
where lists of numbers would take five or more in JSON, and sixteen bytes in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from unspool.errors import WireError

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_MAX_DIGITS = 40
"""200 bits: times of 16 digits before the point and 32 behind it. More would make reading a number quadratic."""
_SMALL = {character: value for value, character in enumerate(_ALPHABET[:32])}
_VALUES = {character: value & 31 for value, character in enumerate(_ALPHABET)}
_NUMBER = re.compile(f"[g-z0-9_-]{{0,{_MAX_DIGITS - 1}}}[A-Za-f]")


def pack(numbers: Iterable[int]) -> str:
    """Write whole numbers, none negative."""
    out: list[str] = []
    for number in numbers:
        while number > 31:
            out.append(_ALPHABET[32 | number & 31])
            number >>= 5
        out.append(_ALPHABET[number])
    return "".join(out)


def unpack(text: str) -> Iterator[int]:
    """Read what `pack` wrote, one number at a time.

    Raises:
        WireError: PROTOCOL at a number that `pack` writes in no such way.
    """
    at = 0
    while at < len(text):
        small = _SMALL.get(text[at])
        if small is not None:
            at += 1
            yield small
            continue
        match = _NUMBER.match(text, at)
        if match is None or match[0][-1] == "A":
            raise WireError("PROTOCOL", f"Packed numbers are at fault at character {at}.")
        number = 0
        for character in reversed(match[0]):
            number = number << 5 | _VALUES[character]
        at = match.end()
        yield number


def zigzag(number: int) -> int:
    """Map whole numbers to ones that are not negative, small to small: 0, -1, 1, -2 are 0, 1, 2, 3."""
    return number << 1 if number >= 0 else -number * 2 - 1


def unzigzag(number: int) -> int:
    """Undo `zigzag`."""
    return number >> 1 if number & 1 == 0 else -(number + 1 >> 1)
