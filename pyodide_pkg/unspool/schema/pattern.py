"""Patterns of JSON Schema, which are JavaScript's regular expressions, matched without backtracking where that can be.

The text comes from a model, and Python's `re` may take time exponential in its length (`^(a+)+$`), or quadratic
(`\\s+$`). pydantic's engine, Rust's, takes time in proportion to it; it knows no lookaround and no back references.
Source: ECMA-262, "RegExp (Regular Expression) Objects".
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

_BRACES = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_TOKEN = re.compile(r"\\.|\[\^?\]?|\]|\$|\(\?<(?![=!])", re.DOTALL)
_ASCII_WORDS = {
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": "[0-9A-Za-z_]",
    r"\W": "[^0-9A-Za-z_]",
    r"\s": r"[ \t-\r]",
    r"\S": r"[^ \t-\r]",
    r"\Z": r"\z",
}
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_SPACE = r"\s\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


MAX_BACKTRACKED_CHARS = 10_000
"""Longest text that is given to Python's engine, for the patterns that only it knows: a longer one does not match."""


class Pattern:
    """A pattern that texts are searched for."""

    __slots__ = ("_backtracking", "_linear")

    def __init__(self, backtracking: re.Pattern[str], linear: SchemaValidator | None) -> None:
        """Made by `compile_pattern`."""
        self._backtracking = backtracking
        self._linear = linear

    def search(self, text: str) -> bool:
        """Tell whether the pattern is found in a text."""
        if self._linear is not None:
            found = self._linear.isinstance_python(text)
            if found or text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
                return found
        return len(text) <= MAX_BACKTRACKED_CHARS and self._backtracking.search(text) is not None


def compile_pattern(pattern: str) -> Pattern:
    """Compile a JavaScript pattern: `\\d` and `\\w` mean ASCII, `$` the very end, `(?<name>` names a group.

    Raises:
        ValueError: it is malformed, or uses what Python has no word for (`\\p{…}`, `\\c`, `\\k`).
    """
    inside = False

    def translate(match: re.Match[str]) -> str:
        nonlocal inside
        token = match[0]
        if token[0] == "[" and inside:
            # A bracket inside a class stands for itself; a `]` after it still closes the class.
            inside = not token.endswith("]")
            return "\\" + token
        if token[0] == "[":
            inside = not token.endswith("]")
            return {"[]": r"(?!)", "[^]": r"[\s\S]"}.get(token, token)
        if token == "]":
            inside = False
            return token
        if token == "$" and not inside:
            return r"\Z"
        if token == "(?<" and not inside:
            return "(?P<"
        if token in (r"\p", r"\P", r"\c", r"\k"):
            raise ValueError(f"{token} is not supported")
        if token == r"\s":
            return _SPACE if inside else f"[{_SPACE}]"
        if token == r"\S" and not inside:
            return f"[^{_SPACE}]"
        return token

    try:
        text = _BRACES.sub(lambda match: re.escape(chr(int(match[1], 16))), pattern)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "possible set operation": JavaScript has none
            text = _TOKEN.sub(translate, text)
            return Pattern(re.compile(text, re.ASCII), _linear(text))
    except (re.error, OverflowError) as error:
        raise ValueError(str(error)) from error


def _linear(text: str) -> SchemaValidator | None:
    """Compile a pattern of Python's for Rust's engine; None when that has no word for it."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    if any(operator in text for operator in ("&&", "--", "~~", r"\b", r"\B")):  # of classes; and `\b` means two things
        return None
    text = _ESCAPE.sub(lambda match: _ASCII_WORDS.get(match[0], match[0]), text)
    try:
        return SchemaValidator(core_schema.str_schema(pattern=text, regex_engine="rust-regex"))
    except SchemaError:
        return None
