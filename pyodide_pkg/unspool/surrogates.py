"""Halves of surrogate pairs in a text: text from JavaScript and JSON escapes may hold them. Text in, text out. Pure."""

from __future__ import annotations

from typing import Literal


def joined(text: str, lone: Literal["surrogatepass", "replace"] = "replace") -> str:
    """Join halves that stand together, which pieces of a text may cut apart.

    Args:
        text: any text.
        lone: halves that stand alone stay, or are shown as U+FFFD.
    """
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", lone)


def paired(text: str) -> tuple[str, int, str, bool]:
    """Join halves that stand together in a piece of a text.

    Returns:
        The text up to a half that stands alone, its UTF-8 bytes, a first half at its end that may find its second one,
        and whether a half stands alone.
    """
    held = ""
    if "\ud800" <= text[-1:] <= "\udbff":
        text, held = text[:-1], text[-1]
    try:
        return text, len(text.encode()), held, False
    except UnicodeEncodeError:
        pass
    units = text.encode("utf-16-le", "surrogatepass")
    try:
        text, is_lone = units.decode("utf-16-le"), False
    except UnicodeDecodeError as error:
        text, held, is_lone = units[: error.start].decode("utf-16-le"), "", True
    return text, len(text.encode()), held, is_lone
