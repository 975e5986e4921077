"""Where in a reply a value may begin: at its start, after what the model thought, or in a Markdown fence.

Incremental: text in, then "nothing yet", or the place of a candidate. What comes before a candidate is dropped; text
that cannot be judged yet is kept, and is never long.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Looking = Literal["lead", "thought", "opening", "prose"]

_LEAD: Final = re.compile(r"\ufeff?\s*+")
_THOUGHT: Final = re.compile(r"<(think|thinking|reasoning|thought)>", re.IGNORECASE)
_LONGEST_TAG: Final = 12
_FENCE: Final = r"`{3,}+|(?<=\n)[ \t]*+~{3,}+|</(?:think|thinking|reasoning|thought)>"
_PROSE: Final = re.compile(_FENCE, re.IGNORECASE)
_PROSE_OR_JSON: Final = re.compile(_FENCE + r'|[\[{](?=[ \t\r\n]*+(?:["{}\[\]\-0-9]|true|false|null))', re.IGNORECASE)
_LONGEST_FENCE: Final = 64
_LONGEST_TAG_LINE: Final = 120
"""What is longer is no fence, or not its tag: text that cannot be judged yet must stay short."""
_MAX_TRIES: Final = 64
"""So many fences are looked at: each costs time that grows with what follows it."""
_CONTEXT: Final = 64
"""Characters of prose that are looked at again with the next text: they may be the beginning of what is looked for."""
_TAG_LINE: Final = re.compile(r"[ \t]*+([\w+#.\-]{0,40}+)[ \t]*+\r?\n")
_CUT_TAG_LINE: Final = re.compile(r"[ \t]*+[\w+#.\-]{0,40}+[ \t]{0,40}+\r?")
_INLINE_TAG: Final = re.compile(r"[ \t]*+(?:python3?|py|json5?|jsonc|javascript|js)[ \t]++(?=\S)", re.IGNORECASE)
_KNOWN_TAG: Final = re.compile(r"[ \t]*+(?:python3?|py|json5?|jsonc|javascript|js)?[ \t\r]*+", re.IGNORECASE)


class Candidate:
    """A place where a value may begin."""

    __slots__ = ("at", "closing", "text")

    def __init__(self, at: int, closing: str, text: str) -> None:
        self.at = at
        """Characters of the reply before it."""
        self.closing = closing
        """The marks that close its fence; empty: it is in none."""
        self.text = text
        """What has arrived of it."""


class Candidates:
    """Looks through one reply."""

    def __init__(self, *, bare: bool) -> None:
        """
        Args:
            bare: whether a bracket in the midst of prose may begin a value.
        """
        self._bare = bare
        self._looking: Looking = "lead"
        self._text = ""
        self._at = 0
        """Characters before the text."""
        self._failed = ""
        """The marks of a fence whose block holds no value, until it closes."""
        self._marks = ""
        self._tag = ""
        self._tries = 0

    def resume(self, candidate: Candidate, text: str, failed_at: int) -> None:
        """Look further after a candidate that is no value.

        Args:
            text: the text of the candidate.
            failed_at: characters of it that were fine.
        """
        start = max(0, failed_at - 1)  # one character of context: whether a line begins
        self._text = text[start:]
        self._at = candidate.at + start
        self._looking = "prose"
        self._failed = candidate.closing
        self._bare = self._bare and failed_at == 0

    def look(self, text: str, *, over: bool = False) -> Candidate | None:
        """Read the next text.

        Args:
            over: whether it is the last.
        Returns:
            The first candidate that is found; nothing may be read until `resume`.
        """
        self._text += text
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

    def _skip(self, count: int) -> None:
        self._text = self._text[count:]
        self._at += count

    def _take(self, closing: str) -> Candidate:
        candidate = Candidate(self._at, closing, self._text)
        self._skip(len(self._text))
        return candidate

    def _lead(self, over: bool) -> Candidate | bool:
        self._skip(_LEAD.match(self._text).end())  # type: ignore[union-attr]
        text = self._text
        first = text[:1]
        if not first:
            return False
        if first == "<":
            match = _THOUGHT.match(text)
            if match is not None:
                self._tag = f"</{match[1].lower()}>"
                self._skip(match.end())
                self._looking = "thought"
                return True
            if len(text) < _LONGEST_TAG and ">" not in text and not over:
                return False
        elif first in "`~":
            run = len(text) - len(text.lstrip(first))
            if run == len(text) < _LONGEST_FENCE and not over:
                return False
            if run >= 3:
                self._open(run)
                return True
        return self._take("")

    def _thought(self) -> bool:
        at = self._text.lower().find(self._tag)
        if at < 0:
            self._skip(max(0, len(self._text) - len(self._tag)))
            return False
        self._skip(at + len(self._tag))
        self._looking = "lead"
        return True

    def _open(self, run: int) -> None:
        self._marks = self._text[:run]
        self._skip(run)
        self._looking = "opening"

    def _opening(self, over: bool) -> Candidate | bool:
        """Read what stands on the line of the opening marks."""
        text, marks = self._text, self._marks
        match = _TAG_LINE.match(text)
        if match is None and not over and len(text) <= _LONGEST_TAG_LINE and _CUT_TAG_LINE.fullmatch(text):
            return False
        failed = self._failed
        blank = not text.strip() if match is None else not match[1]
        if failed and blank and marks[0] == failed[0] and len(marks) >= len(failed):
            self._failed = ""
            self._looking = "prose"
            return True
        if match is None and over and _KNOWN_TAG.fullmatch(text):
            self._skip(len(text))
        else:
            match = match or _INLINE_TAG.match(text)
            self._skip(match.end() if match is not None else 0)
        return self._take(marks)

    def _prose(self, over: bool) -> Candidate | bool:
        text = self._text
        if self._tries == _MAX_TRIES:
            self._skip(len(text))
            return False
        match = (_PROSE_OR_JSON if self._bare else _PROSE).search(text)
        if match is None:
            self._skip(max(0, len(text) - _CONTEXT))
            return False
        found = match[0].lstrip()
        if match.end() == len(text) and found[0] in "`~" and len(found) < _LONGEST_FENCE and not over:
            self._skip(max(0, match.start() - 1))
            return False
        self._tries += 1
        self._skip(match.end() - len(found))
        if found[0] in "`~":
            self._open(len(found))
        elif found[0] == "<":
            self._skip(len(found))
            self._looking = "lead"
        else:
            self._bare = False
            return self._take("")
        return True
