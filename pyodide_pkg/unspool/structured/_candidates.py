"""Where in a reply a value may begin: at its start, after what the model thought, or in a Markdown fence.

Incremental: text in, then "nothing yet", or the place of a candidate. What comes before a candidate is dropped; text
that cannot be judged yet is kept, and is never long.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Looking = Literal["lead", "thought", "opening", "prose"]

# Each pattern is bounded: text that cannot be judged yet must stay short, and be judged alike however it was cut.
_LEAD: Final = re.compile(r"[\s\ufeff]*+")
_THOUGHT: Final = re.compile(r"<(think|thinking|reasoning|thought)>", re.IGNORECASE)
_LONGEST_TAG: Final = 12
_LONGEST_FENCE: Final = 64
_MARKS: Final = re.compile(rf"`{{1,{_LONGEST_FENCE}}}+|~{{1,{_LONGEST_FENCE}}}+")
_FENCE: Final = (
    rf"`{{3,{_LONGEST_FENCE}}}+|(?<=\n)[ \t]{{0,40}}+~{{3,{_LONGEST_FENCE}}}+|</(?:think|thinking|reasoning|thought)>"
)
_PROSE: Final = re.compile(_FENCE, re.IGNORECASE)
_JSON: Final = r'[\[{](?=[ \t\r\n]{0,40}+(?:["{}\[\]\-0-9]|true|false|null))'
_PROSE_OR_JSON: Final = re.compile(f"{_FENCE}|{_JSON}", re.IGNORECASE)
_LENIENT: Final = r"""[\[{](?=[ \t\r\n]{0,40}+(?:["'{}\[\]\-0-9]|//|/\*|#[ \t]|true|false|null))"""
"""Of `#` only with a blank: `[#12]` is what prose says."""
_PROSE_OR_LENIENT: Final = re.compile(f"{_FENCE}|{_LENIENT}", re.IGNORECASE)
_DOUBTFUL: Final = re.compile(r"[\[{][ \t\r\n]*+['#/]")
_PROSE_OR_BRACKET: Final = {pair[0]: re.compile(rf"{_FENCE}|[\{pair[0]}\{pair[1]}]", re.I) for pair in ("[]", "{}")}
_MAX_TRIES: Final = 64
"""So many fences are looked at: each costs time that grows with what follows it."""
_CONTEXT: Final = 64
"""Characters of prose that are looked at again with the next text: they may be the beginning of what is looked for."""
_TAG_LINE: Final = re.compile(r"[ \t]{0,40}+([\w+#.\-]{0,40}+)[ \t]{0,40}+\r?\n")
_CUT_TAG_LINE: Final = re.compile(r"[ \t]{0,40}+[\w+#.\-]{0,40}+[ \t]{0,40}+\r?")
_INLINE_TAG: Final = re.compile(
    r"[ \t]{0,40}+(?:python3?|py|json5?|jsonc|javascript|js)[ \t]{1,40}+(?=\S)", re.IGNORECASE
)
_KNOWN_TAG: Final = re.compile(r"[ \t]*+(?:python3?|py|json5?|jsonc|javascript|js)?[ \t\r]*+", re.IGNORECASE)


class Candidate:
    """A place where a value may begin."""

    __slots__ = ("at", "closing", "in_prose", "text")

    def __init__(self, at: int, closing: str, text: str, *, in_prose: bool = False) -> None:
        self.at = at
        """Characters of the reply before it."""
        self.closing = closing
        """The marks that close its fence; empty: it is in none."""
        self.in_prose = in_prose
        """Whether a bracket in the midst of prose begins it."""
        self.text = text
        """What has arrived of it."""


class Candidates:
    """Looks through one reply."""

    def __init__(self, *, bare: bool, lenient: bool = False) -> None:
        """
        Args:
            bare: whether a bracket in the midst of prose may begin a value.
            lenient: whether a comment or a single quote may come next in such a value.
        """
        self._bare = bare
        self._any_bare = _PROSE_OR_LENIENT if lenient else _PROSE_OR_JSON
        self._opener = ""
        """The bracket of prose that turned out to begin no value, until it is closed."""
        self._depth = 0
        """Such brackets that are open."""
        self._looking: Looking = "lead"
        self._text = ""
        self._pos: int = 0
        """Where in the text to look on."""
        self._before = 0
        """Characters of the reply before the text."""
        self._failed = ""
        """The marks of a fence whose block holds no value, until it closes."""
        self._marks = ""
        self._thought_end = re.compile("")
        self._tries = 0

    def resume(self, candidate: Candidate, text: str, failed_at: int, *, hollow: bool = False) -> None:
        """Look further after a candidate that is no value.

        Args:
            text: the text of the candidate.
            failed_at: characters of it that were fine.
            hollow: whether there is so little of a value that its bracket may be one of the prose.
        """
        # Of what only lenient reading takes for a beginning: else another value may still come in the prose.
        hollow = hollow and _DOUBTFUL.match(text) is not None
        # What may be part of a value is no prose: brackets inside a broken value begin none.
        self._opener, self._depth = (text[0], 1) if hollow else ("", 0)
        self._pos = 1 if hollow else max(0, failed_at - 1)  # one character of context: whether a line begins
        self._text = text
        self._before = candidate.at
        self._looking = "prose"
        self._failed = candidate.closing
        self._bare = hollow or (self._bare and text[:1] not in {"[", "{", '"'})

    def look(self, text: str, *, over: bool = False) -> Candidate | None:
        """Read the next text.

        Args:
            over: whether it is the last.
        Returns:
            The first candidate that is found; nothing may be read until `resume`.
        """
        self._before += self._pos
        self._text = self._text[self._pos :] + text
        self._pos = 0
        while True:
            looking = self._looking
            if looking == "lead":
                found = self._lead(over)
            elif looking == "thought":
                found = self._thought()
            elif looking == "opening":
                found = self._opening(over)
            else:
                found = self._prose(over)
            if isinstance(found, Candidate):
                return found
            if not found:
                return None

    def _take(self, closing: str, *, in_prose: bool = False) -> Candidate:
        candidate = Candidate(self._before + self._pos, closing, self._text[self._pos :], in_prose=in_prose)
        self._pos = len(self._text)
        return candidate

    def _lead(self, over: bool) -> Candidate | bool:
        text = self._text
        self._pos = pos = _LEAD.match(text, self._pos).end()  # type: ignore[union-attr]
        size = len(text)
        if pos == size:
            return False
        if text[pos] == "<":
            match = _THOUGHT.match(text, pos)
            if match is not None:
                self._thought_end = re.compile(f"</{match[1]}>", re.IGNORECASE)
                self._pos = match.end()
                self._looking = "thought"
                return True
            if size - pos < _LONGEST_TAG and ">" not in text[pos:] and not over:
                return False
        elif marks := _MARKS.match(text, pos):
            run = marks.end() - pos
            if marks.end() == size and run < _LONGEST_FENCE and not over:
                return False
            if run >= 3:
                self._open(marks[0], marks.end())
                return True
        return self._take("")

    def _thought(self) -> bool:
        match = self._thought_end.search(self._text, self._pos)
        if match is None:
            self._pos = max(self._pos, len(self._text) - _LONGEST_TAG)
            return False
        self._pos = match.end()
        self._looking = "lead"
        return True

    def _open(self, marks: str, end: int) -> None:
        self._marks = marks
        self._pos = end
        self._looking = "opening"

    def _opening(self, over: bool) -> Candidate | bool:
        """Read what stands on the line of the opening marks."""
        text, pos, marks = self._text, self._pos, self._marks
        match = _TAG_LINE.match(text, pos)
        if match is None and not over and _CUT_TAG_LINE.fullmatch(text, pos):
            return False
        failed = self._failed
        blank = over and not text[pos:].strip() if match is None else not match[1]
        if failed and blank and marks[0] == failed[0] and len(marks) >= len(failed):
            self._failed = ""
            self._looking = "prose"
            return True
        if match is None and over and _KNOWN_TAG.fullmatch(text, pos):
            self._pos = len(text)
        else:
            match = match or _INLINE_TAG.match(text, pos)
            self._pos = pos if match is None else match.end()
        return self._take(marks)

    def _prose(self, over: bool) -> Candidate | bool:
        text, size = self._text, len(self._text)
        if self._tries == _MAX_TRIES:
            self._pos = size
            return False
        outside = self._any_bare if self._bare else _PROSE
        match = (_PROSE_OR_BRACKET[self._opener] if self._opener else outside).search(text, self._pos)
        if match is None:
            self._pos = max(self._pos, size - _CONTEXT)
            return False
        found = match[0].lstrip()
        if match.end() == size and found[0] in "`~" and len(found) < _LONGEST_FENCE and not over:
            self._pos = max(self._pos, match.start() - 1)
            return False
        if self._opener and found in "[]{}":
            self._depth += 1 if found == self._opener else -1
            self._opener = self._opener if self._depth else ""
            self._pos = match.end()
            return True
        self._tries += 1
        if found[0] in "`~":
            self._open(found, match.end())
        elif found[0] == "<":
            self._pos = match.end()
            self._looking = "lead"
        else:
            self._pos = match.start()
            self._bare = False
            return self._take("", in_prose=True)
        return True
