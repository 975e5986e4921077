"""Parts of messages that Python writes as text by their repr, inside a list or a value: a prompt must not lose one so.

In: what writes a text. Out: the text, and the parts whose repr was asked for meanwhile, whoever holds them. No IO.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

_found: ContextVar[list[object] | None] = ContextVar("found", default=None)


def written_parts(write: Callable[[], str]) -> tuple[str, list[object]]:
    """Write a text.

    Args:
        write: gives the text.
    Returns:
        It, and what was `noted` meanwhile; what stands inside another comes before it.
    """
    found: list[object] = []
    token = _found.set(found)
    try:
        return write(), found
    finally:
        _found.reset(token)


def noted(part: object, text: str) -> str:
    """Give the repr of a part, a message or a template, and tell `written_parts` of it.

    Args:
        part: whose it is.
        text: what it is.
    """
    found = _found.get()
    if found is not None:
        found.append(part)
    return text
