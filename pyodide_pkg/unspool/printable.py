"""Text from outside as it may be shown: in an error, a problem, a repr, a warning or a log. Text in, text out. Pure.

What a model, a server or an application says may hold what cannot be written as UTF-8, what steers a terminal, begins a
new line of a log, or turns around the order in which the rest is read.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, line breaks, marks of writing direction, byte order marks, and halves of surrogate pairs."""
MAX_WORDS = 1_000
"""Words of an exception may hold the whole answer, which is kept in the error anyway, and go to a model again."""


def printable(text: str) -> str:
    """Give a text in one line that can be printed anywhere.

    Args:
        text: any text.
    Returns:
        The text; characters that steer instead of showing something stand as Python would escape them.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def said_by(error: BaseException, max_chars: int = MAX_WORDS) -> str:
    """Name an exception of the application and give its words, in one line.

    Args:
        error: whatever it is; also one whose own `__str__` raises.
        max_chars: the most that is given of all; what is longer ends in "…".
    Returns:
        The type, and its words if there are any.
    """
    try:
        words = str(error)
    except Exception:  # its words cannot be had
        words = ""
    name = type(error).__name__
    is_cut = len(words) > max_chars
    words = " ".join(words[:max_chars].split())
    shown = printable(f"{name}: {words}" if words else name)
    return f"{shown[: max_chars - 1]}…" if is_cut or len(shown) > max_chars else shown
