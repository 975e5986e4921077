"""The layout of a text in Python syntax: what is short stands in one line, what is long has a line for each part."""

from __future__ import annotations

_INDENT = "  "
_WIDTH = 60
"""A value that fits in so many characters stands in one line."""


class Group:
    """A constructor or a container, which takes one line or several."""

    __slots__ = ("closing", "opening", "pieces", "short")

    def __init__(self, opening: str, pieces: list[tuple[str, Text]], closing: str) -> None:
        self.opening = opening
        self.pieces = pieces
        self.closing = closing
        self.short: str | None = None
        """All of it in one line, when that is short."""
        texts = [(label, piece.short if isinstance(piece, Group) else piece) for label, piece in pieces]
        known = [f"{label}{text}" for label, text in texts if text is not None and len(text) <= _WIDTH]
        if len(known) == len(texts):
            line = f"{opening}{', '.join(known)}{closing}"
            self.short = line if len(line) <= _WIDTH or not pieces else None

    @property
    def is_call(self) -> bool:
        return self.opening[0] not in "[({" and self.opening[-1] == "("


Text = str | Group
"""What is written: all of it in one line, or what takes several."""


def laid_out(text: Text, column: int | None) -> str:
    """Give the text; `column` is how far it is indented when it takes several lines, None for one line only."""
    if isinstance(text, str):
        return text
    if text.short is not None and (column is None or not text.pieces or not text.is_call):
        return text.short
    if column is None:
        line = ", ".join(f"{label}{laid_out(piece, None)}" for label, piece in text.pieces)
        return f"{text.opening}{line}{text.closing}"
    pad = _INDENT * (column + 1)
    long = [f"{pad}{label}{laid_out(piece, column + 1)}," for label, piece in text.pieces]
    return "\n".join([text.opening, *long, f"{_INDENT * column}{text.closing.removeprefix(',')}"])
