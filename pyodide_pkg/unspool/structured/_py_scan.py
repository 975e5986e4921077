"""The scanner: text in Python syntax in, operations out; the value grows as they are made.

It goes from token to token with compiled patterns, without recursion and without a loop over characters. A token that
the end of the text may have cut is read again with the next text: such a tail is never long. What an opening bracket
means may come out only later (`(` a group or a tuple, `{` a set or a dict): operations inside wait until then.

After a fault `ops` holds what came before it.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# Pyright loses the declared types in a loop of this size; mypy follows them.

from __future__ import annotations

from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._grammar import utf8_size
from unspool.structured._py_grammar import (
    AFTER,
    BEGIN,
    CALL,
    CALL_START,
    CLOSE,
    CLOSED,
    CLOSERS,
    CUT_KEY,
    CUT_NAME,
    CUT_SCALAR,
    DICT,
    DONE,
    END,
    ENDED,
    FIRST_MEMBER,
    ITEM,
    JSON_SCALAR,
    KEYED,
    KEYWORD,
    LINE_STRING,
    LIST,
    MEMBER,
    MORE,
    NAMED,
    NUMBER_REST,
    OPEN,
    PENDING,
    PLAIN_SCALAR,
    QUOTES,
    SCALAR,
    SET,
    START,
    STRING,
    TEXT,
    TEXT_VALUE,
    VALUE,
    WHOLE,
    Op,
    PyCall,
    PyFrame,
)
from unspool.structured._py_ops import join_pieces
from unspool.structured._py_steps import NUMBER_STARTS, PySteps
from unspool.structured._py_strings import body
from unspool.structured._py_tokens import MAX_NUMBER
from unspool.structured.py_values import PyObject
from unspool.surrogates import paired

_DELIMITERS: Final = frozenset(",)]}")
_DIGITS: Final = frozenset("0123456789")
_SCALAR_STARTS: Final = _DIGITS | frozenset("-TFNtfn")
MAX_TAIL: Final = 60
"""Longest tail to which single characters are only added: it is read again with the next text."""
_SHORT: Final = 600
"""Digits of an integer that every interpreter converts."""
_BODIES: Final = {mark: body(mark, raw=False, data=False) for mark in QUOTES}
_NO_STEPS: Final[frozenset[str]] = frozenset()
_SPACE_STEPS: Final = frozenset(" ")
_NAME_STEPS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
_LETTERS: Final = {mark: frozenset(map(chr, range(32, 127))) - {mark, "\\"} for mark in QUOTES}
_KEY_STEPS: Final = {mark: letters | {mark} for mark, letters in _LETTERS.items()}


class PyScan(PySteps):
    """Reads one statement: a value, or an assignment of one to a name."""

    def feed(self, text: str) -> list[Op]:
        """Read the next text.

        Returns:
            What it means, in document order.
        Raises:
            StreamError: the first fault, with its byte offset. The scanner must not be used again.
        """
        open_text = self.open_text
        ops: list[Op] = []
        self.ops = ops
        if open_text is not None:
            container, slot, mark, _, frame = open_text
            if text and mark not in text and "\\" not in text and text.isprintable():
                seen = self.seen + (len(text) if text.isascii() else len(text.encode()))
                if seen <= self._max_bytes:
                    self.seen = seen
                    value = container[slot]
                    container[slot] = None  # a string grows in place only while nothing else holds it
                    value += text
                    container[slot] = value
                    if frame is not None or container is self.root:
                        ops.append((MORE, frame, slot, text))
                    return ops
        size, lone = len(text), False
        if self.first_half or not text.isascii():
            text, size, self.first_half, lone = paired(self.first_half + text)
        if self.seen + size > self._max_bytes:
            raise self._fault_at("MAX_BYTES_EXCEEDED", f"The text has more than {self._max_bytes} bytes", self.seen)
        self.read(text, size)
        if lone and self.mode != ENDED:
            raise self._fault_at("INVALID_CHUNK", "Half of a surrogate pair stands alone", self.seen)
        return ops

    def read(self, text: str, size: int) -> None:
        """Read the next text, without raw surrogates and within the limit, into `ops`, which must be empty.

        Args:
            size: its UTF-8 bytes.
        """
        self._base = self.seen
        self.seen += size
        tail = self.tail
        if tail:
            if len(tail) > MAX_TAIL and self._is_more_of_number(text):
                self.tail = tail + text
                return
            self._base -= len(tail) if tail.isascii() else len(tail.encode())
            text = tail + text
            self.tail = ""
        if self.mode == ENDED:
            return
        self._text = text
        try:
            self._read(text, self._comment_end(text) if self._comment else 0, self.ops)
        finally:
            if self._has_neighbours:
                self._has_neighbours = False
                join_pieces(self.ops)
        self.steps = self.open_text = None
        mode = self.mode
        if mode == STRING:
            if not (self.tail or self._half or self._data or self.first_half):
                frame, mark = self.frame, self._quote[0]
                container = self.root if frame is None else frame.container
                told = frame if self._waiting is None else None
                self.open_text = (container, self.slot, mark, _LETTERS[mark], told)
        elif mode == NAMED and self._name_pos >= 0:
            self._name_at = self._base + utf8_size(text[: self._name_pos])
            self._name_pos = -1
        self._text = ""  # nothing of the text is kept

    def _is_more_of_number(self, text: str) -> bool:
        """Whether a text does nothing but lengthen a number that is the tail: reading it all again is for its end."""
        tail = self.tail
        return (
            tail[0] in NUMBER_STARTS and len(tail) + len(text) <= MAX_NUMBER and NUMBER_REST.fullmatch(text) is not None
        )

    def find_steps(self) -> frozenset[str]:
        """Find out which single characters have no effect but to lengthen the tail, if there is one."""
        self.steps = steps = self._steps()
        return steps

    def _steps(self) -> frozenset[str]:
        tail = self.tail
        if self.first_half or self._half or self._comment or self.mode == STRING:
            return _NO_STEPS
        if not tail:
            return _SPACE_STEPS
        first = tail[0]
        if first in QUOTES:
            at_key = self.mode == ITEM and self.frame is not None and self.frame.kind == DICT
            return _KEY_STEPS[first] if at_key and (len(tail) == 1 or tail[-1] != first) else _NO_STEPS
        if first in _DIGITS:
            return _DIGITS
        return _NAME_STEPS if first.isalpha() and self.mode != PENDING else _NO_STEPS

    def finish(self) -> list[Op]:
        """Judge the end of the text; gives what only the end decides.

        Raises:
            StreamError: EMPTY_INPUT, INCOMPLETE_PYTHON, or a fault of the last token.
        """
        self.ops = []
        seen = self.seen
        if self.first_half:
            raise self._fault_at("INVALID_CHUNK", "The text ends in half of a surrogate pair", seen)
        if self._json:
            return self._finish_json()
        self._finishing = True
        if self.mode == STRING:
            raise self._fault_at(self._incomplete, "The text ended inside a string", seen)
        self.read("\n", 0)
        if self.mode == START or (self.mode == ENDED and not self.root):
            raise StreamError("EMPTY_INPUT", "The text holds no value.", byte_offset=0)
        if self.mode not in (DONE, ENDED):
            raise self._fault_at(self._incomplete, "The text ended inside a value", seen)
        return self.ops

    def _finish_json(self) -> list[Op]:
        seen = self.seen
        if self.mode != STRING:
            if self.tail[:1] in QUOTES or self.tail[:1] == self._closing[:1]:  # a key, or a mark, without its end
                self.tail = ""
            self.read("\n", 0)
        self.tail = ""
        self._complete(seen)
        return self.ops

    def _read(self, text: str, pos: int, ops: list[Op]) -> None:
        """Read a text from a place in it.

        What most text consists of is read right here, since in Pyodide a call costs as much as ten lines; the rest is
        left to `_step`.
        """
        size = len(text)
        json = self._json
        scalar = JSON_SCALAR if json else PLAIN_SCALAR
        max_depth = self._max_depth
        match: Any
        frame: Any
        slot: Any
        value: Any
        child: Any
        comma = False
        mode, frame, slot = self.mode, self.frame, self.slot
        waits = self._waiting
        sink = ops if waits is None else waits.held
        while pos < size:
            char = text[pos]
            if mode == STRING:
                match = self._body.match(text, pos)
                end = match.end()
                if end > pos:
                    piece = match[0]
                    if "\\" in piece or "\r" in piece or self._half or self._data or frame is None:
                        self.frame, self.slot = frame, slot
                        self._add(piece, pos, sink)
                    else:
                        value = frame.container[slot]
                        frame.container[slot] = None
                        value += piece
                        frame.container[slot] = value
                        if waits is None:
                            sink.append((MORE, frame, slot, piece))
                if end == size:
                    break
                pos = end + 1
                if text[end] == self._quote:
                    mode = PENDING
                else:
                    self.mode, self.frame, self.slot = mode, frame, slot
                    pos = self._string_end(text, end)
                    mode, frame, slot, waits = self.mode, self.frame, self.slot, self._waiting
                    sink = ops if waits is None else waits.held
                continue
            if char == " ":
                pos += 1
                continue
            if frame is not None and (kind := frame.kind) <= SET:
                if PENDING <= mode < AFTER and char in _DELIMITERS:
                    if mode == CLOSED or (
                        waits is None and self._value is TEXT_VALUE and not (self._half or self._data)
                    ):
                        sink.append((END, frame, slot, None))
                    else:
                        self.mode, self.frame, self.slot = mode, frame, slot
                        self._settle(pos, sink)
                    mode = AFTER
                if mode == AFTER:
                    if char == ",":
                        mode = ITEM
                        if kind not in KEYED:
                            pos += 2 if text.startswith(", ", pos) else 1
                            slot = len(frame.container)
                            continue
                        comma = True
                    elif char == CLOSERS[kind]:
                        if kind <= CALL and not self._immutable:
                            sink.append((CLOSE, frame.parent, frame.slot, frame))
                            slot, frame = frame.slot, frame.parent
                        else:
                            self.frame = frame
                            self._close(pos, sink)
                            frame, slot = self.frame, self.slot
                        pos += 1
                        mode = CLOSED
                        continue
                if mode == ITEM and kind in KEYED and (comma or char != ","):
                    match = (KEYWORD if kind == CALL else MEMBER).match(text, pos)
                    if match is not None:
                        comma = False
                        slot = match[match.lastindex]
                        pos = match.end()
                        mode = VALUE
                        if json or slot in frame.container or (kind == CALL and not self._is_field(slot)):
                            slot = self._key(match, frame)
                        elif kind == CALL:
                            frame.named = True
                        if pos == size:
                            break
                        char = text[pos]
                    else:
                        slot = None
                        if comma:
                            comma = False
                            pos += 1
                            continue
                        if (CUT_NAME if kind == CALL else CUT_KEY).match(text, pos):
                            self.tail = text[pos:]
                            break
                if mode == VALUE or (mode == ITEM and kind not in KEYED):
                    if char in QUOTES:
                        match = LINE_STRING[char].match(text, pos)
                        piece, closed = match.groups()
                        end = match.end()
                        if (char == '"' or not json) and (piece or (closed and end < size and text[end] != char)):
                            if kind in KEYED:
                                frame.container[slot] = piece
                            else:
                                frame.container.append(piece)
                            pos = end
                            if closed is None:
                                mode = STRING
                                self._quote, self._raw, self._data, self._half = char, False, False, ""
                                self._body = _BODIES[char]
                            elif end < size and text[end] in _DELIMITERS:
                                sink.append((WHOLE, frame, slot, piece))
                                mode = AFTER
                                continue
                            else:
                                mode = PENDING
                                self._data, self._half = False, ""
                            self._value = TEXT_VALUE
                            if waits is None:
                                sink.append((TEXT, frame, slot, piece))
                            continue
                    elif char in _SCALAR_STARTS:
                        match = scalar.match(text, pos)
                        if match is not None:
                            end = match.end()
                            found = match.lastindex
                            if found == 1:
                                value = self._words[match[1]]
                            elif end - pos > _SHORT or found == 3:
                                self.frame, self.slot = frame, slot
                                value = self._plain_number(match, pos)
                            else:
                                value = int(match[2])
                            if kind in KEYED:
                                frame.container[slot] = value
                            else:
                                frame.container.append(value)
                            sink.append((SCALAR, frame, slot, value))
                            pos = end
                            mode = AFTER
                            continue
                        if CUT_SCALAR.match(text, pos):
                            if waits is None:
                                sink.append((BEGIN, frame, slot, None))
                            self.tail = text[pos:]
                            break
                    if char.isalpha():
                        match = CALL_START.match(text, pos)
                        if match is not None and frame.depth < max_depth and self._is_class(name := match[1]):
                            value = {}
                            child = PyCall(frame, slot, CALL, value, PyObject(name, value), frame.depth + 1)
                            child.positions = self._positions(name)
                            child.named = False
                            if kind in KEYED:
                                frame.container[slot] = child.value
                            else:
                                frame.container.append(child.value)
                            sink.append((OPEN, frame, slot, child))
                            frame = child
                            slot = None
                            pos = match.end()
                            mode = ITEM
                            continue
                    elif char == "{" and frame.depth < max_depth and kind != SET:
                        match = None if json else FIRST_MEMBER.match(text, pos)
                        if match is not None:
                            value = {}
                            child = PyFrame(frame, slot, DICT, value, value, frame.depth + 1)
                            if kind in KEYED:
                                frame.container[slot] = value
                            else:
                                frame.container.append(value)
                            sink.append((OPEN, frame, slot, child))
                            frame = child
                            slot = match[match.lastindex]
                            pos = match.end()
                            mode = VALUE
                            continue
                    elif char == "[" and frame.depth < max_depth and kind != SET:
                        items: list[Any] = []
                        child = PyFrame(frame, slot, LIST, items, items, frame.depth + 1)
                        if kind in KEYED:
                            frame.container[slot] = items
                        else:
                            frame.container.append(items)
                        sink.append((OPEN, frame, slot, child))
                        frame = child
                        pos += 1
                        slot = 0
                        mode = ITEM
                        continue
            self.mode, self.frame, self.slot = mode, frame, slot
            pos = self._step(text, pos, char, sink)
            mode, frame, slot, waits = self.mode, self.frame, self.slot, self._waiting
            sink = ops if waits is None else waits.held
        self.mode, self.frame, self.slot = mode, frame, slot
