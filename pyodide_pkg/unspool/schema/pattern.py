"""Patterns of JSON Schema, which are JavaScript's regular expressions, as Python's.

Source: ECMA-262, "RegExp (Regular Expression) Objects".
"""

from __future__ import annotations

import re
import warnings

_BRACES = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_TOKEN = re.compile(r"\\.|\[\^?\]?|\]|\$|\(\?<(?![=!])", re.DOTALL)
_SPACE = r"\s\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def compile_pattern(pattern: str) -> re.Pattern[str]:
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
            return re.compile(_TOKEN.sub(translate, text), re.ASCII)
    except (re.error, OverflowError) as error:
        raise ValueError(str(error)) from error
