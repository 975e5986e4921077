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
from json.decoder import scanstring
from typing import Any, Literal, NoReturn

from unspool.errors import StreamError

DuplicateKeys = Literal["last", "error"]

MAX_BYTES = 16 * 1024 * 1024
"""Default limit on one text: Streamfold's."""
MAX_DEPTH = 128
"""Default limit on open containers: Streamfold's."""
DEPTH_CEILING = 512
"""No limit on open containers may be set higher. Pyodide: fatal somewhere beyond 1,000."""
MAX_NUMBER_CHARS = 4300
"""Digits of one integer: CPython's own limit, since turning text into an integer takes more than linear time."""

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
"""A JSON number; group 1 is empty for an integer."""

_OUTSIDE_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]++|[\]}]++', re.DOTALL)


def loads(
    text: str | bytes,
    *,
    max_depth: int = MAX_DEPTH,
    max_bytes: int = MAX_BYTES,
    duplicate_keys: DuplicateKeys = "error",
) -> Any:
    """Decode one JSON text.

    Args:
        text: the whole text, or its UTF-8 bytes without a byte order mark.
        max_depth: most open containers at once, up to 512.
        max_bytes: most UTF-8 bytes, whitespace included.
        duplicate_keys: refuse a repeated key of an object, or keep its last value.
    Returns:
        dict, list, str, int, float, bool or None.
    Raises:
        StreamError: MAX_BYTES_EXCEEDED, MAX_DEPTH_EXCEEDED, DUPLICATE_KEY, NON_FINITE_NUMBER, INVALID_CHUNK (a raw lone
            surrogate) or one of the grammar codes, with the byte offset of the first fault; INVALID_OPTIONS.
    """
    if not 0 < max_depth <= DEPTH_CEILING:
        raise StreamError("INVALID_OPTIONS", f"max_depth must be from 1 to {DEPTH_CEILING}.")
    size = len(text)
    decoded = text
    if isinstance(decoded, str):
        if size <= max_bytes and not decoded.isascii():
            try:
                size = len(decoded.encode())
            except UnicodeEncodeError:
                _refuse(decoded, max_depth, max_bytes, duplicate_keys)
    elif size <= max_bytes:
        try:
            decoded = decoded.decode()
        except UnicodeDecodeError as error:
            _refuse(decoded[: error.start].decode(), max_depth, max_bytes, duplicate_keys, utf8_fault=error.start)
    if size > max_bytes:
        raise StreamError("MAX_BYTES_EXCEEDED", f"The JSON text has more than {max_bytes} bytes.", byte_offset=0)
    assert isinstance(decoded, str)
    if decoded.count("[") + decoded.count("{") > max_depth and nesting(decoded) > max_depth:
        _refuse(decoded, max_depth, max_bytes, duplicate_keys)
    try:
        return (_LAST_KEY if duplicate_keys == "last" else _UNIQUE_KEYS).decode(decoded)
    except (ValueError, StreamError):
        _refuse(decoded, max_depth, max_bytes, duplicate_keys)


def nesting(text: str) -> int:
    """Give the greatest number of brackets open at once outside strings, without recursion; text may be invalid."""
    depth = deepest = 0
    for match in _OUTSIDE_STRINGS.finditer(text):
        run = match[0]
        if run[0] in "[{":
            depth += len(run)
            deepest = max(deepest, depth)
        elif run[0] != '"':
            depth -= len(run)
    return deepest


def unescape(body: str) -> str:
    """Decode the inside of a JSON string whose escapes are known to be whole and valid; escaped halves of a pair join."""
    return scanstring(body + '"', 0)[0]


def number(text: str) -> int | float | None:
    """Convert the text of one JSON number.

    Returns:
        The number; None when the text does not follow the grammar.
    Raises:
        StreamError: NON_FINITE_NUMBER when it is beyond the range of a float, or an integer of more than 4,300 digits.
    """
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    if not match[1]:
        return _integer(text)
    return _finite(text)


def _integer(text: str) -> int:
    # The length is tested here, and not left to CPython's own limit, which the host may have changed or lifted.
    if len(text) > MAX_NUMBER_CHARS + text.startswith("-"):
        raise StreamError("NON_FINITE_NUMBER", f"An integer has more than {MAX_NUMBER_CHARS} digits.")
    try:
        return int(text)
    except ValueError:
        raise StreamError("NON_FINITE_NUMBER", "An integer has more digits than this interpreter converts.") from None


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise StreamError("NON_FINITE_NUMBER", "A number is beyond the range of a 64-bit float.")
    return value


def _no_constant(name: str) -> NoReturn:
    raise StreamError("INVALID_JSON", f"{name} is not JSON.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise StreamError("DUPLICATE_KEY", "An object has the same key twice.")
    return members


_LAST_KEY = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_integer)
_UNIQUE_KEYS = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, parse_int=_integer, object_pairs_hook=_unique
)

scan_flat = json.JSONDecoder(parse_constant=_no_constant).scan_once
"""(text, start) → (value, end) of the scalar or the array of numbers that begins there, at C speed. The caller sees to
it that nothing nested begins there, and judges numbers beyond the range of a float. StopIteration: no value begins there."""


def _refuse(
    text: str, max_depth: int, max_bytes: int, duplicate_keys: DuplicateKeys, *, utf8_fault: int | None = None
) -> NoReturn:
    """Raise the first fault of a text that is known to be bad, as the incremental scanner names and places it."""
    from unspool.structured.json_stream import JsonStream

    stream = JsonStream(max_depth=max_depth, max_bytes=max_bytes, duplicate_keys=duplicate_keys)
    try:
        stream.push(text)
        if utf8_fault is None:
            stream.finish()
    except StreamError as error:
        error.operation = None
        raise error from None
    raise StreamError("INVALID_JSON", "The JSON text is not valid UTF-8.", byte_offset=utf8_fault)
