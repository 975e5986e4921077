"""Problem: one fault of an answer, with its path; and how paths are spelled for people."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

ProblemKind = Literal[
    "type",
    "value",
    "missing-field",
    "unexpected-field",
    "duplicate-field",
    "too-many-positional",
    "unknown-name",
]

_WORD = re.compile(r"[^\W\d]\w*")
_MAX_WORDS = 1_000

NOTHING: Any = object()
"""Stands for the value of a member that is missing."""

Path = tuple[Any, ...]
"""Members by name, elements by number; a key of a dict that is no text stands as it is."""


class Problem:
    """One fault of an answer."""

    __slots__ = ("found", "kind", "message", "path")

    def __init__(self, path: Path, message: str, found: Any = NOTHING, *, kind: ProblemKind = "value") -> None:
        self.path = path
        """Where it is; empty for the answer as a whole."""
        self.message = message
        """What is wrong, without the path."""
        self.found = found
        """The value at fault as it was read; `NOTHING` when there is none."""
        self.kind: ProblemKind = kind
        """What sort of fault."""

    def __repr__(self) -> str:
        return f"Problem({path_text(self.path) or 'the answer'}: {self.message})"


def path_text(path: Sequence[Any]) -> str:
    """Spell a path for people: `items[0].price`; members that are no plain word are quoted: `["a b"]`."""
    text = ""
    for step in path:
        if isinstance(step, str):
            if _WORD.fullmatch(step):
                text += f".{step}" if text else step
            else:
                text += f"[{json.dumps(step, ensure_ascii=False)}]"
        else:
            text += f"[{step!r}]"
    return text


def said_by(error: Exception) -> str:
    """Name an exception of the application and give its words.

    Args:
        error: whatever it is; also one whose own `__str__` raises.
    Returns:
        The type, and up to 1,000 characters of the words if there are any.
    """
    try:
        words = str(error)
    except Exception:  # its words cannot be had
        words = ""
    name = type(error).__name__
    return f"{name}: {words[:_MAX_WORDS]}{'…' if len(words) > _MAX_WORDS else ''}" if words else name
