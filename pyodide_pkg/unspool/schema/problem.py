"""Problem: one fault of an answer, with its path; and how paths are spelled for people."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from unspool.printable import printable

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
        self.message = "\n".join(map(printable, message.split("\n")))
        """What is wrong, without the path. It can be printed, whatever the answer or a validator says."""
        self.found = found
        """The value at fault as it was read; `NOTHING` when there is none."""
        self.kind: ProblemKind = kind
        """What sort of fault."""

    def __repr__(self) -> str:
        return printable(f"Problem({path_text(self.path) or 'the answer'}: {self.message})")


def path_text(path: Sequence[Any]) -> str:
    """Spell a path for people: `items[0].price`; members that are no plain word are quoted: `["a b"]`."""
    text = ""
    for step in path:
        if isinstance(step, str):
            if _WORD.fullmatch(step):
                text += f".{step}" if text else step
            else:
                text += f"[{printable(json.dumps(step, ensure_ascii=False))}]"
        else:
            text += f"[{step!r}]"
    return text
