"""Places in a text: as characters and as UTF-8 bytes. A text from JavaScript may hold halves of surrogate pairs."""

from __future__ import annotations


def bytes_of(text: str) -> int:
    """Give how many bytes a text is."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def chars_of(text: str, count: int) -> int:
    """Give how many characters the first bytes of a text are."""
    if count <= 0 or text.isascii():
        return max(0, count)
    return len(text[:count].encode("utf-8", "surrogatepass")[:count].decode("utf-8", "ignore"))
