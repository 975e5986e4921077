"""The one guarded door from outside text to JSON values; nothing else in the package calls `json`.

In: JSON text or its UTF-8 bytes, from anywhere. Out: the value, or a StreamError with code and byte offset.
It never recurses on outside text: nesting is measured before the decoder of the standard library sees it, because
in Pyodide too deep a text does not raise RecursionError but ends the interpreter for good.

Source: RFC 8259. Stricter than `json.loads`: no NaN or Infinity, no number beyond the range of a float, no raw lone
surrogate, and (by default) no duplicate key.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from typing import Any, Literal, NoReturn

from unspool.errors import StreamError

DuplicateKeys = Literal["last", "error"]

MAX_BYTES = 16 * 1024 * 1024
"""Default limit on one text: Streamfold's."""
MAX_DEPTH = 128
"""Default limit on open containers: Streamfold's."""
DEPTH_CEILING = 512
"""No limit on open containers may be set higher. Pyodide: fatal somewhere beyond 1,000."""
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
"""A JSON number; group 1 is empty for an integer."""

_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def loads(
    text: str | bytes,
    *,
    max_depth: int = MAX_DEPTH,
    max_bytes: int = MAX_BYTES,
    duplicate_keys: DuplicateKeys = "error",
) -> Any:
    """Decode one JSON text.

    Args:
        text: the whole text, or its UTF-8 bytes; without a byte order mark.
        max_depth: most open containers at once, from 1 to 512.
        max_bytes: most UTF-8 bytes, whitespace included.
        duplicate_keys: refuse a repeated key of an object, or keep its last value.
    Returns:
        dict, list, str, int, float, bool or None.
    Raises:
        StreamError: MAX_BYTES_EXCEEDED, MAX_DEPTH_EXCEEDED, DUPLICATE_KEY, NON_FINITE_NUMBER, INVALID_CHUNK (half of a
            surrogate pair stands in the text itself), or a code of the grammar; with the byte offset of the first
            fault. INVALID_OPTIONS.
    """
    if not 0 < max_depth <= DEPTH_CEILING:
        raise StreamError("INVALID_OPTIONS", f"max_depth must be from 1 to {DEPTH_CEILING}.")
    if len(text) > max_bytes:
        raise StreamError("MAX_BYTES_EXCEEDED", f"The JSON text has more than {max_bytes} bytes.", byte_offset=0)
    broken_at: int | None = None
    if isinstance(text, bytes):
        data = text
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            broken_at = error.start
            text = data[:broken_at].decode()
    if broken_at is None and is_encodable(text, max_bytes) and not nests_deeper(text, max_depth):
        try:
            return (_LAST_KEY if duplicate_keys == "last" else _UNIQUE_KEYS).decode(text)
        except (ValueError, RecursionError):
            pass  # the scanner finds the first fault, and reads what it does not mind
    return _scanned(text, max_depth, max_bytes, duplicate_keys, broken_at)


def is_encodable(text: str, max_bytes: int) -> bool:
    """Whether the text can be UTF-8, of no more than so many bytes."""
    if text.isascii():
        return True
    try:
        return len(text.encode()) <= max_bytes
    except UnicodeEncodeError:
        return False


def decode_read(text: str) -> Any:
    """Decode a text that an incremental scanner has read to its end: grammar, depth and size are known to be good."""
    return _LAST_KEY.decode(text)


def nests_deeper(text: str, limit: int) -> bool:
    """Whether more than `limit` containers may open inside each other in a piece of text that begins outside strings.

    Neither recursion nor a loop over the text: strings are cut out, then innermost pairs of brackets until none is
    left. Deeper nesting is never overlooked; nesting of more than half the limit may be taken for too deep. The text
    may be invalid, and may begin inside containers and close them.
    """
    if text.count("[") + text.count("{") <= limit:
        return False
    brackets = _STRINGS.sub("", text).encode().translate(None, _NO_BRACKETS)
    for levels in range(0, limit + 1, 2):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")  # takes away two levels at most
        if len(fewer) == len(brackets):
            return levels + brackets.count(b"[") + brackets.count(b"{") > limit
        brackets = fewer
    return True


def unescape(body: str) -> str:
    """Decode the inside of a string whose escapes are known to be whole and valid; escaped halves of a pair join."""
    return scan_string(body + '"', 0)[0]


def number(text: str) -> int | float | None:
    """Convert the text of one JSON number.

    Returns:
        The number; None when the text does not follow the grammar.
    Raises:
        StreamError: NON_FINITE_NUMBER when it is beyond the range of a 64-bit float, or an integer of more digits than
            the interpreter converts (4,300 unless the host changed it).
    """
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    try:
        return _finite(text) if match[1] else int(text)
    except ValueError:
        raise StreamError("NON_FINITE_NUMBER", "A number is out of the range that can be held.") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is repeated")
    return members


_LAST_KEY = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
_UNIQUE_KEYS = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)

scan_flat: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(parse_constant=_no_constant).scan_once  # type: ignore[attr-defined]
"""(text, start) → (value, end): decode the scalar, or the array of numbers, that begins at `start`.

The caller sees to it that nothing nested begins there, and judges numbers beyond the range of a float. It raises
ValueError or StopIteration when no value begins there, or when it is cut or at fault.
"""
scan_string: Callable[[str, int], tuple[str, int]] = scanstring  # pyright: ignore[reportUnknownVariableType]
"""(text, start) → (string, end): decode the string whose inside begins at `start`. ValueError: cut or at fault."""


def scan_nested(text: str, start: int, unique_keys: bool) -> tuple[Any, int]:
    """Decode the container that begins at `start` and ends in the text; gives it and its end.

    The caller has counted the brackets of the text: they cannot nest deeper than 512.

    Raises:
        ValueError, StopIteration, RecursionError: it is cut or at fault, or the stack is full already.
    """
    decoder: Any = _UNIQUE_KEYS if unique_keys else _LAST_KEY
    return decoder.scan_once(text, start)  # type: ignore[no-any-return]


def _scanned(text: str, max_depth: int, max_bytes: int, duplicate_keys: DuplicateKeys, broken_at: int | None) -> Any:
    """Read the text as the incremental scanner does, which names and places the first fault.

    Args:
        broken_at: where bytes stood that are not UTF-8, when the text was cut there.
    """
    from unspool.structured.json_stream import JsonStream  # it imports this module

    stream = JsonStream(max_depth=max_depth, max_bytes=max_bytes, duplicate_keys=duplicate_keys)
    try:
        stream.push(text)
        if broken_at is None:
            stream.finish()
    except StreamError as error:
        error.operation = None
        raise
    if broken_at is not None:
        raise StreamError("INVALID_JSON", f"The text is not UTF-8 at byte {broken_at}.", byte_offset=broken_at)
    return stream.value
