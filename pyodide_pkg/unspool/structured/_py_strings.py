"""String literals of Python: what their inside may hold, and what it stands for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_PLAIN: Final = r"\\[^xuUN0-7\n\r\0]|\\\n|\\\r\n|\\\r(?=[^\n])"
_OCTAL: Final = r"\\[0-7]{3}|\\[0-7]{1,2}(?=[^0-7])"
_HEX: Final = r"\\x[0-9a-fA-F]{2}"
_UNICODE: Final = r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\N\{[A-Za-z0-9 ()\-]{1,100}\}"
_RETURN: Final = r"\r\n|\r(?=[^\n])"
ESCAPE_START: Final = re.compile(
    r"\\(?:\r|[0-7]{1,2}|x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|N(?:\{[A-Za-z0-9 ()\-]{0,100})?)?\Z"
)
"""An escape that the end of the text cuts, or that the next character may still lengthen."""
_ESCAPE: Final = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^}]*)\}|(\r\n|(?s:.)))"
)
_SIMPLE: Final = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
    "\r": "",
    "\r\n": "",
}
_NOTHING: Final = frozenset({"\n", "\r", "\r\n"})
"""After a backslash: it stands for nothing."""
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
SURROGATE: Final = re.compile("[\ud800-\udfff]")


@lru_cache(32)
def body(quote: str, raw: bool, data: bool) -> re.Pattern[str]:
    """Give the pattern of the inside of a literal, up to its end, a fault, or what the next text decides.

    Args:
        quote: what ends it: one quotation mark or three.
        raw: whether a backslash stands for itself.
        data: whether it is a bytes literal.
    """
    mark = quote[0]
    if raw:
        escape = r"\\[^\r\0]|\\\r\n|\\\r(?=[^\n])"
    else:
        escape = f"{_PLAIN}|{_OCTAL}|{_HEX}" + (r"|\\[uUN]" if data else f"|{_UNICODE}")
    if len(quote) == 1:
        plain = rf"[^{mark}\\\n\r\0]*+"
        return re.compile(rf"{plain}(?:(?:{escape}){plain})*+")
    plain = rf"[^{mark}\\\r\0]*+"
    return re.compile(rf"{plain}(?:(?:{escape}|{mark}{{1,2}}(?=[^{mark}])|{_RETURN}){plain})*+")


def decode(text: str, raw: bool, json: bool) -> str:
    """Decode the inside of a literal, all of whose escapes are whole. Halves of a pair join.

    Args:
        json: a backslash before a slash does not show.
    Raises:
        ValueError: a name or number of no character.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if raw or "\\" not in text:
        return text
    text = _ESCAPE.sub(_json_escape if json else _escape, text)
    if not text.isascii() and SURROGATE.search(text):
        text = _PAIR.sub(_join, text)
    return text


def _escape(match: re.Match[str]) -> str:
    simple = match[6]
    if simple is not None:
        known = _SIMPLE.get(simple)
        return match[0] if known is None else known
    if match[1]:
        return chr(int(match[1], 8))
    if match[5] is not None:
        return named(match[5])
    return chr(int(match[2] or match[3] or match[4], 16))


def _json_escape(match: re.Match[str]) -> str:
    return "/" if match[6] == "/" else _escape(match)


def _join(match: re.Match[str]) -> str:
    high, low = map(ord, match[0])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def join(high: str, text: str) -> str:
    """Put half of a pair before a text."""
    return _PAIR.sub(_join, high + text[:1]) + text[1:]


def named(name: str) -> str:
    """Give the character of a name. Raises ValueError for a name of none, or of several together."""
    import unicodedata  # here, because hardly any text needs it

    try:
        character: Any = unicodedata.lookup(name)
    except KeyError:
        raise ValueError(name) from None
    if len(character) != 1:
        raise ValueError(name)
    return character  # type: ignore[no-any-return]


def first_bad_escape(text: str) -> int:
    """Where the first escape that stands for no character begins."""
    for match in _ESCAPE.finditer(text):
        try:
            _escape(match)
        except ValueError:
            return match.start()
    return len(text)


def first_lone_half(text: str, high: bool) -> int:
    """Where it shows first that half of a pair stands alone: at an escaped low half, or after an escaped high one.

    Args:
        text: the inside of a literal.
        high: whether the text before it ended in a high half.
    """
    end = 0
    for match in _ESCAPE.finditer(text):
        if high and match.start() > end:
            return end
        if match[6] in _NOTHING:
            end = match.end()
            continue
        code = int(match[3] or match[4] or "0", 16)
        low = 0xDC00 <= code < 0xE000
        if high != low:
            return match.start()
        high = 0xD800 <= code < 0xDC00
        end = match.end()
    return end


_NO_BYTE: Final = re.compile(r"[^\x00-\x7f]")
_BYTE: Final = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|(\r\n|(?s:.)))")


def decode_bytes(text: str, raw: bool) -> str:
    """Decode the inside of a bytes literal to the text of the same Latin-1 codes. Raises ValueError: not bytes."""
    if not text.isascii():
        raise ValueError(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if raw or "\\" not in text else _BYTE.sub(_byte, text)


def _byte(match: re.Match[str]) -> str:
    simple = match[3]
    if simple is not None:
        known = _SIMPLE.get(simple)
        return match[0] if known is None else known
    code = int(match[1], 8) if match[1] else int(match[2], 16)
    if code > 255:
        raise ValueError(match[0])
    return chr(code)


def first_no_byte(text: str, raw: bool) -> int:
    """Where something begins that is no byte."""
    other = _NO_BYTE.search(text)
    end = len(text) if other is None else other.start()
    for match in () if raw else _BYTE.finditer(text, 0, end):
        try:
            _byte(match)
        except ValueError:
            return match.start()
    return end
