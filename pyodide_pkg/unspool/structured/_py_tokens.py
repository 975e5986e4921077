"""Tokens of the Python scanner: blanks and comments, numbers, names, strings."""

from __future__ import annotations

import re
from contextlib import suppress
from keyword import iskeyword
from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._py_cursor import PyCursor
from unspool.structured._py_grammar import (
    AFTER,
    ANNOTATION_REST,
    BLANKS,
    CALL,
    CLOSED,
    COMMENT_REST,
    END,
    GROUPED_TEXT,
    ITEM,
    JSON_BLANKS,
    JSON_COMMENT,
    JSON_LINE_BLANKS,
    LINE_BLANKS,
    MORE,
    NAME,
    NAME_REST,
    NAMED,
    NUMBER,
    NUMBER_RUN,
    PENDING,
    QUOTES,
    SCALAR,
    SIGN,
    START,
    STRING,
    TEXT,
    TEXT_VALUE,
    VALUE,
    WHOLE,
    Op,
)
from unspool.structured._py_strings import (
    ESCAPE_START,
    SURROGATE,
    body,
    decode,
    decode_bytes,
    first_bad_escape,
    first_lone_half,
    first_no_byte,
    join,
)
from unspool.structured._read import INFINITE, INFINITY
from unspool.structured.py_values import PyName
from unspool.structured.strict_json import number

MAX_NAME: Final = 256
"""Longest name, in characters: a name that the text may have cut is read again."""
MAX_NUMBER: Final = 4400
"""Longest number, in characters: CPython converts no decimal integer of more than 4,300 digits (P47)."""
_TOO_MUCH: Final = 10**4300
"""No integer of another base may be larger than a decimal one: nothing could write it, not even an error's message."""
MAX_REST: Final = 128
"""Characters after an odd end of a string that are looked at, and may have to be read again."""
_BREAK: Final = re.compile(r"[\n\r]")
_STRING_PREFIXES: Final = frozenset({"r", "u", "b", "br", "rb"})


def name_end(text: str, pos: int) -> int:
    """Where the name that begins at a place ends; the place itself when none does."""
    match = NAME.match(text, pos)
    end: int = pos + text[pos : pos + 1].isidentifier() if match is None else match.end()
    # Marks of some scripts (Devanagari, Thai, ...) go on with a name, and are no letters.
    while end > pos and text[end : end + 1] > "\x7f" and f"a{text[end]}".isidentifier():
        end = NAME_REST.match(text, end + 1).end()  # type: ignore[union-attr]
    return end


def _converted(match: re.Match[str]) -> int | float | None:
    """Convert a number without its sign; None: leading zeros."""
    text = (match[1] or match[2]).replace("_", "")
    if match[1]:
        value = int(text, 0)
        return value if value < _TOO_MUCH else INFINITY
    if text.isdigit():
        return None if text[0] == "0" and text.strip("0") else int(text)
    return float(text)


class PyTokens(PyCursor):
    """Reads one token at a time, at the position of the cursor."""

    def _blanks(self, text: str, pos: int, in_line: bool) -> int:
        plain = LINE_BLANKS if in_line else BLANKS
        pattern = (JSON_LINE_BLANKS if in_line else JSON_BLANKS) if self._json else plain
        end: int = pattern.match(text, pos).end()  # type: ignore[union-attr]
        if self._json and (comment := JSON_COMMENT.match(text, end)):
            self._repair("comment", end)
            return comment.end()
        if end > pos:
            return end
        start = text[pos : pos + 2]
        if start[0] == "#" or (self._json and start == "//"):
            end = COMMENT_REST.match(text, pos).end()  # type: ignore[union-attr]
            if end < len(text):
                raise self._fault(self._invalid, "A comment holds NUL", end)
            self._comment = "#"
        elif self._json and start == "/*":
            self._comment = "*"
            end = len(text)
            if text[-1] == "*" and end > pos + 2:
                self.tail = "*"
        elif (self._json and start == "/") or (not self._json and text[pos:] in ("\\", "\\\r")):
            self.tail = text[pos:]
            return len(text)
        if self._json and self._comment:
            self._repair("comment", pos)
        return end

    def _comment_end(self, text: str) -> int:
        """Skip what is left of a comment that the text before began."""
        if self._comment == "*":
            at = text.find("*/")
            if at < 0:
                if text.endswith("*"):
                    self.tail = "*"
                return len(text)
            self._comment = ""
            return at + 2
        end: int = COMMENT_REST.match(text).end()  # type: ignore[union-attr]
        if end < len(text):
            if text[end] == "\0":
                raise self._fault(self._invalid, "A comment holds NUL", end)
            self._comment = ""
        return end

    def _number(self, text: str, pos: int, sink: list[Op]) -> int:
        self._place(pos)
        start: int = SIGN.match(text, pos).end()  # type: ignore[union-attr]
        run: int = NUMBER_RUN.match(text, start).end()  # type: ignore[union-attr]
        if run - pos > MAX_NUMBER:
            self._begin(sink)
            raise self._out_of_range(pos)
        if run == len(text):
            return self._cut(text, pos, sink)
        self._begin(sink)
        end = run
        value: int | float | None = None
        try:
            if self._json:
                value = number(text[pos:run])
            elif (match := NUMBER.match(text, start)) and not (self._in_line() and _BREAK.search(text, pos, start)):
                value, end = _converted(match), match.end()
                if text[pos] == "-" and value is not None:
                    value = -value
        except (ValueError, StreamError):
            value = INFINITY
        if value is None or value in INFINITE:
            if value is None:
                raise self._fault(self._invalid, "A malformed number begins", pos)
            raise self._out_of_range(pos)
        self._value = value
        self.mode = PENDING
        return end

    def _plain_number(self, match: re.Match[str], pos: int) -> int | float:
        value: int | float = INFINITY
        if match.end() - pos <= MAX_NUMBER:
            with suppress(ValueError):
                value = int(match[2]) if match.lastindex == 2 else float(match[3])
        if value in INFINITE:
            self._begin(self._sink())
            raise self._out_of_range(pos)
        return value

    def _name_start(self, text: str, pos: int, end: int, sink: list[Op]) -> int:
        in_arguments = self.mode == ITEM and self.frame is not None and self.frame.kind == CALL
        if not in_arguments:
            self._begin(sink)
        if end == len(text) and end - pos <= MAX_NAME:
            self.tail = text[pos:]
            return end
        name = self._checked_name(text[pos:end], pos)
        if text[end] in QUOTES:
            if name.lower() in _STRING_PREFIXES and not self._json:
                return self._open_string(text, pos, end, sink)
            self._place(pos)
            self._begin(sink)
            raise self._fault(self._invalid, "A string of another kind begins", pos)
        self._name = name
        self._name_pos = pos
        self._may_be_keyword = in_arguments
        self._may_be_target = self.mode == START
        self.mode = NAMED
        return end

    def _checked_name(self, name: str, pos: int) -> str:
        """Give a name as Python knows it: in the normal form NFKC.

        Raises:
            StreamError: when it is too long, or a character of it stands in no name.
        """
        if len(name) > MAX_NAME:
            raise self._fault(self._invalid, f"A name of more than {MAX_NAME} characters begins", pos)
        if name.isascii():
            return name
        if not name.isidentifier():
            good = next(count for count in range(len(name)) if not name[: count + 1].isidentifier())
            raise self._unexpected(name[good], pos + good)
        import unicodedata  # here, because hardly any name needs it

        return unicodedata.normalize("NFKC", name)

    def _constant(self, name: str) -> Any:
        if name in self._words:
            return self._words[name]
        code, words = "UNKNOWN_NAME", f"{name[:80]!r} is not a name that may be used,"
        if not self._json:
            owner, dot, _ = name.partition(".")
            if iskeyword(name):
                code, words = "INVALID_PYTHON", f"{name!r} stands"
            elif self._names is None or name in self._names:
                return PyName(name)
            elif dot and self._owners is not None and owner not in self._owners:
                code, words = "INVALID_PYTHON", f"{owner!r} has no members that may be named,"
        raise self._fault_at(code, words, self._name_offset())

    def _prefix_end(self, text: str, pos: int) -> int:
        """Where the prefix of another literal ends; at the end of the text it may be cut. -1: there is none."""
        match = NAME.match(text, pos)
        if match is None or match[0].lower() not in _STRING_PREFIXES:
            return -1
        end = match.end()
        return end if end == len(text) or text[end] in QUOTES else -1

    def _annotation(self, text: str, pos: int, char: str) -> int:
        end: int = ANNOTATION_REST.match(text, pos).end()  # type: ignore[union-attr]
        if end > pos:
            words = text[pos:end]
            self._is_annotated = self._is_annotated or bool(words.strip(" \t"))
            self._annotation_depth += sum(words.count(mark) for mark in "([") - sum(words.count(mark) for mark in ")]")
            return end
        if char != "=" or not self._is_annotated or self._annotation_depth:
            raise self._unexpected(char, pos)
        self.mode = VALUE
        return pos + 1

    def _open_string(self, text: str, pos: int, at: int, sink: list[Op]) -> int:
        mark = text[at]
        mode = self.mode
        start = text[at : at + 3]
        if mode != PENDING:
            self._place(pos)
        if len(start) < 3 and not start.strip(mark) and not self._json:
            if mode == PENDING:
                self.tail = text[pos:]
                return len(text)
            return self._cut(text, pos, sink)
        prefix = text[pos:at].lower()
        data = "b" in prefix
        if mode == PENDING:
            if data != self._data:
                raise self._fault("INVALID_PYTHON", "Bytes and text stand together", pos)
            self._has_neighbours = True
        else:
            self._half = ""
            self._data = data
            self._pieces = []
            self._value = TEXT_VALUE
            if data:
                self._begin(sink)
            else:
                self._link(self.frame, self.slot, "")
                if self._waiting is None:
                    sink.append((TEXT, self.frame, self.slot, ""))
            if self._json and mark == "'":
                self._repair("single-quotes", at)
        self._quote = mark * 3 if start == mark * 3 and not self._json else mark
        self._raw = "r" in prefix
        self._body = body(self._quote, self._raw, data)
        self.mode = STRING
        return at + len(self._quote)

    def _string_end(self, text: str, end: int) -> int:
        """Read what ends the inside of a string, other than one quotation mark."""
        size = len(text)
        char, quote = text[end], self._quote
        if text.startswith(quote, end):
            self.mode = PENDING
            return end + len(quote)
        rest = text[end : end + MAX_REST]
        if char == quote[0] or (rest == "\r" and len(quote) == 3):
            self.tail = rest
            return size
        if char == "\\":
            if rest in ("\\", "\\\r") if self._raw else ESCAPE_START.match(rest):
                self.tail = rest
                return size
            raise self._fault(self._invalid, "A string holds an invalid escape", end)
        if char == "\0":
            raise self._fault(self._invalid, "A string holds NUL", end)
        if self._finishing:
            raise self._fault(self._incomplete, "The text ended inside a string", end)
        raise self._fault(self._invalid, "A line ends inside a string", end)

    def _add(self, piece: str, pos: int, sink: list[Op]) -> None:
        """Lengthen the open string."""
        if self._data:
            try:
                self._pieces.append(decode_bytes(piece, self._raw))
            except ValueError:
                bad = first_no_byte(piece, self._raw)
                raise self._fault("INVALID_PYTHON", "Bytes hold what is no byte", pos + bad) from None
            return
        if "\\" in piece or "\r" in piece or self._half:
            raw, bad = piece, -1
            try:
                piece = decode(raw, self._raw, self._json)
            except ValueError:
                bad = first_bad_escape(raw)
                piece = decode(raw[:bad], self._raw, self._json)
            piece = self._pair(piece, raw, pos, sink)
            if bad >= 0:
                self._append(piece, sink)
                raise self._fault(self._invalid, "A string holds an escape that stands for no character,", pos + bad)
        self._append(piece, sink)

    def _append(self, piece: str, sink: list[Op]) -> None:
        if not piece:
            return
        frame, slot = self.frame, self.slot
        container: Any = self.root if frame is None else frame.container
        text = container[slot]
        container[slot] = None  # a string grows in place only while nothing else holds it
        text += piece
        container[slot] = text
        if self._waiting is None:
            sink.append((MORE, frame, slot, piece))

    def _waiting_text(self) -> str:
        container: Any = None if self.frame is None else self.frame.container
        return container[self.slot]  # type: ignore[no-any-return]

    def _pair(self, piece: str, raw: str, pos: int, sink: list[Op]) -> str:
        """Join halves of a pair; one at the end waits for its other half."""
        half = self._half
        if half and piece:
            piece = join(self._half, piece)
            self._half = ""
        if piece.isascii():
            return piece
        if "\ud800" <= piece[-1] <= "\udbff":
            self._half = piece[-1]
            piece = piece[:-1]
        if not self._json and (lone := SURROGATE.search(piece)):
            self._append(piece[: lone.start()], sink)
            at = pos if self._raw else pos + first_lone_half(raw, bool(half))
            raise self._fault("INVALID_VALUE", "Half of a surrogate pair stands alone", at)
        return piece

    def _settle(self, pos: int, sink: list[Op]) -> None:
        """Complete a value, now that what follows has come."""
        frame, slot = self.frame, self.slot
        if self.mode == CLOSED:
            sink.append((END, frame, slot, None))
        elif self.mode == PENDING:
            value = self._value
            if value is not TEXT_VALUE and value is not GROUPED_TEXT:
                self._link(frame, slot, value)
                sink.append((SCALAR, frame, slot, value))
            elif self._data:
                value = "".join(self._pieces).encode("latin-1")
                self._link(frame, slot, value)
                sink.append((SCALAR, frame, slot, value))
            else:
                if self._half:
                    if not self._json:
                        raise self._fault("INVALID_VALUE", "Half of a surrogate pair stands alone", pos)
                    half, self._half = self._half, ""
                    self._append(half, sink)
                if self._waiting is None:
                    sink.append((END, frame, slot, None))
                else:
                    sink.append((WHOLE, frame, slot, self._waiting_text()))
            self._value = None
        self.mode = AFTER
