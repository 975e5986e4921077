"""A docstring as data: its paragraphs, and its sections in the order that the style of this project gives them.

Sections follow each other without blank lines: `Args:`, `Returns:`, `Raises:`, `After an error:`, `Cancellation:`,
`Source:`, or several in one (`Raises, Cancellation: as a call.`).
"""

from __future__ import annotations

import inspect
import re
from typing import NamedTuple

TITLES = ("Args", "Returns", "Raises", "After an error", "Cancellation", "Source")
_ONE = "|".join(TITLES)
_TITLE = re.compile(rf"(?P<titles>(?:{_ONE})(?:, (?:{_ONE}))*):(?: (?P<rest>.*))?")
_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*): (?P<text>.*)")
_INDENT = 4


class Entry(NamedTuple):
    """One line of `Args` or `Raises`: names and what is said of them. Without names: words alone."""

    names: tuple[str, ...]
    text: str
    inner: tuple[Entry, ...] = ()
    """What the entry lists itself."""


class Section(NamedTuple):
    """One section."""

    titles: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def words(self) -> str:
        """All that it says, in one line."""
        return " ".join(_said(entry) for entry in self.entries)


class Docstring(NamedTuple):
    """What a docstring says."""

    paragraphs: tuple[str, ...]
    """Its words before the sections; an indented block of code is one of them, and keeps its lines."""
    sections: tuple[Section, ...]

    def section(self, title: str) -> Section | None:
        """Find a section by its title."""
        return next((section for section in self.sections if title in section.titles), None)

    @property
    def summary(self) -> str:
        """Its first sentence."""
        first = self.paragraphs[0] if self.paragraphs else ""
        return re.split(r"(?<=[.!?])\s+(?=[A-Z`(])", first)[0]


def parse(text: str | None) -> Docstring:
    """Read a docstring.

    Args:
        text: the docstring as it stands in the source; None for none.
    """
    lines = inspect.cleandoc(text or "").splitlines()
    starts = [number for number, line in enumerate(lines) if _TITLE.fullmatch(line)]
    head = lines[: starts[0]] if starts else lines
    sections: list[Section] = []
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        match = _TITLE.fullmatch(lines[start])
        assert match is not None
        body = [line[_INDENT:] for line in lines[start + 1 : end] if line.strip()]
        if match["rest"]:
            entries = (Entry((), " ".join([match["rest"], *map(str.strip, body)])),)
        else:
            titles = match["titles"].split(", ")
            entries = _entries(body, named="Args" in titles or "Raises" in titles)
        sections.append(Section(tuple(match["titles"].split(", ")), entries))
    return Docstring(_paragraphs(head), tuple(sections))


def _entries(lines: list[str], *, named: bool) -> tuple[Entry, ...]:
    if not named:
        return (Entry((), " ".join(map(str.strip, lines))),) if lines else ()
    entries: list[Entry] = []
    at = 0
    while at < len(lines):
        match = _ENTRY.fullmatch(lines[at])
        names = tuple(match["names"].split(", ")) if match else ()
        texts = [match["text"] if match else lines[at].strip()]
        at += 1
        inner: list[str] = []
        while at < len(lines) and (lines[at].startswith(" ") or (not match and not _ENTRY.fullmatch(lines[at]))):
            inset = lines[at][_INDENT:] if lines[at].startswith(" ") else lines[at]
            if inner or (texts[-1].endswith(":") and _ENTRY.fullmatch(inset)):
                inner.append(inset)
            else:
                texts.append(inset.strip())
            at += 1
        entries.append(Entry(names, " ".join(texts), _entries(inner, named=True) if inner else ()))
    return tuple(entries)


def _paragraphs(lines: list[str]) -> tuple[str, ...]:
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        is_code = bool(block) and all(not line or line.startswith("    ") for line in block.splitlines())
        if is_code and blocks and blocks[-1].startswith("    "):
            blocks[-1] += f"\n\n{block}"
        elif block.strip():
            blocks.append(block if is_code else " ".join(line.strip() for line in block.splitlines()))
    return tuple(blocks)


def _said(entry: Entry) -> str:
    return " ".join([", ".join(entry.names), entry.text, *map(_said, entry.inner)]).strip()
