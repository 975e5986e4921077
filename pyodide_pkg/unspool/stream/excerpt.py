"""excerpt: a short, single-line piece of a foreign text, fit for an error message."""

from __future__ import annotations

import re

_LOOKED_AT_CHARS = 4_096
_TITLE = re.compile(r"<title[^<>]*>([^<]+)", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>?")


def excerpt(text: str, max_chars: int = 200) -> str:
    """Cut a text short, with white space collapsed; an HTML page gives its title or its words.

    Args:
        text: anything; only the first 4096 characters are looked at.
        max_chars: the most that is kept, an ellipsis not counted.
    Returns:
        One line, possibly empty.
    """
    head = text[:_LOOKED_AT_CHARS]
    if head.lstrip()[:1] == "<":
        title = _TITLE.search(head)
        head = title[1] if title else _TAG.sub(" ", _HIDDEN.sub(" ", head))
    line = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return line if len(line) <= max_chars else line[:max_chars] + "…"
