"""Halves of surrogate pairs that stand in a text itself, as text from JavaScript may hold them."""

from __future__ import annotations


def paired(text: str) -> tuple[str, int, str, bool]:
    """Join halves that stand together.

    Returns:
        The text up to a half that stands alone, its UTF-8 bytes, a first half at its end that may find its second one,
        and whether a half stands alone.
    """
    held = ""
    lone = False
    if "\ud800" <= text[-1:] <= "\udbff":
        text, held = text[:-1], text[-1]
    try:
        return text, len(text.encode()), held, lone
    except UnicodeEncodeError:
        pass
    units = text.encode("utf-16-le", "surrogatepass")
    try:
        text = units.decode("utf-16-le")
    except UnicodeDecodeError as error:
        text = units[: error.start].decode("utf-16-le")
        held = ""
        lone = True
    return text, len(text.encode()), held, lone
