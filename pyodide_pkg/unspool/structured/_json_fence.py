"""The end of a Markdown fence around JSON: where its closing marks stand outside strings."""

from __future__ import annotations

import re
from typing import Final

_IN_STRING: Final = re.compile(r'(?s:[^"\\]*+(?:\\.[^"\\]*+)*+)')


class JsonFence:
    """Follows the text of one block."""

    def __init__(self, closing: str) -> None:
        """
        Args:
            closing: the marks that close it.
        """
        self._closing = closing
        self._outside = re.compile(rf'[^"{closing[0]}]*+')
        self._in_string = False
        self._held: str = ""
        self.ended = False

    def inside(self, text: str) -> str:
        """Give what of the next text belongs to the block; part of it may come with a later text."""
        text = self._held + text
        self._held = ""
        size, mark = len(text), self._closing[0]
        pos: int = 0
        while pos < size:
            pattern: re.Pattern[str] = _IN_STRING if self._in_string else self._outside
            match = pattern.match(text, pos)
            assert match is not None
            pos = match.end()
            if pos == size:
                break
            if text[pos] == '"':
                self._in_string = not self._in_string
                pos += 1
            elif self._in_string:  # a backslash at the end
                self._held = text[pos:]
                return text[:pos]
            else:
                start = pos
                if text.startswith(self._closing, pos):
                    self.ended = True
                    return text[:start]
                while pos < size and text[pos] == mark:
                    pos += 1
                if pos == size:
                    self._held = text[start:]
                    return text[:start]
        return text

    def rest(self) -> str:
        """Give what was held back, once, when the text is over."""
        held, self._held = self._held, ""
        return held
