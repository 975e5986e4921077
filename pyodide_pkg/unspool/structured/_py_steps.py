"""Single steps of the Python scanner, off the path that most text takes: what may come next, and what it means."""

from __future__ import annotations

from keyword import iskeyword
from typing import Final

from unspool.errors import StreamError
from unspool.structured._grammar import utf8_size
from unspool.structured._py_brackets import PyBrackets
from unspool.structured._py_grammar import (
    AFTER,
    AGAIN,
    ANNOTATION,
    BARE,
    BRACE,
    CALL,
    CLOSED,
    CLOSERS,
    DICT,
    DONE,
    END,
    ENDED,
    ITEM,
    KEY,
    LINE_ENDS,
    NAMED,
    PAREN,
    PENDING,
    QUOTES,
    SET,
    SET_CALL,
    START,
    STRING,
    TEXT_VALUE,
    TUPLE,
    VALUE,
    WAITING,
    Op,
    PyCall,
    PyFrame,
    PyWait,
)
from unspool.structured._py_tokens import MAX_NAME, MAX_REST, name_end
from unspool.structured.py_values import PyTuple

NUMBER_STARTS: Final = frozenset("0123456789+-.")
_BLANKS: Final = frozenset(" \t\n\r\f#\\/")


class PySteps(PyBrackets):
    """Reads a step; state is in the attributes."""

    def _step(self, text: str, pos: int, char: str, sink: list[Op]) -> int:
        """Read what the loop does not know; gives where it ends. Text that may be cut goes to the tail."""
        mode, frame = self.mode, self.frame
        if self._json and frame is not None and char == self._closing[:1]:
            ends = self._ends_line(text, pos, char)
            if ends is not False:
                return self._unclosed_end(text, pos) if ends else len(text)
        in_line = self._in_line() and mode != START and mode != DONE
        if char in _BLANKS and not (in_line and char in LINE_ENDS):
            end = self._blanks(text, pos, in_line)
            if end > pos:
                return end
        if mode <= ITEM:
            if mode == ITEM and frame is not None and (char == CLOSERS[frame.kind] or frame.kind == BARE):
                if char == CLOSERS[frame.kind]:
                    return self._close_empty(pos, sink)
                ends = self._ends_line(text, pos, char)
                if ends is None:
                    return len(text)
                if ends:
                    return self._end_statement(pos, char, sink)
            return self._value_start(text, pos, char, sink)
        if mode in (PENDING, CLOSED, AFTER):
            return self._after_value(text, pos, char, sink)
        if mode == NAMED:
            return self._named(text, pos, char, sink)
        if mode == ANNOTATION:
            return self._annotation(text, pos, char)
        if mode == DONE:
            return self._done(text, pos)
        return len(text)  # ENDED

    def _value_start(self, text: str, pos: int, char: str, sink: list[Op]) -> int:
        frame = self.frame
        kind = -1 if frame is None else frame.kind
        if self.mode == ITEM and kind == DICT:
            if self._json and char not in QUOTES:
                raise self._unexpected(char, pos)
            key = PyWait(frame, None, KEY, [], None, frame.depth)  # type: ignore[union-attr]
            self._wait(key)
            self.mode, self.slot = VALUE, 0
            return pos
        if kind == SET_CALL and frame.container:  # type: ignore[union-attr]
            raise self._unexpected(char, pos)
        if char in QUOTES:
            return self._open_string(text, pos, pos, sink)
        if char in NUMBER_STARTS:
            return self._number(text, pos, sink)
        end = name_end(text, pos)
        if end > pos:
            if text[end : end + 1] != "(":
                return self._name_start(text, pos, end, sink)
            self._may_be_keyword = self.mode == ITEM and kind == CALL
            if not self._may_be_keyword:
                self._begin(sink)
            self._name, self._name_pos = self._checked_name(text[pos:end], pos), pos
            return self._call(end, sink)
        if char in "[{" or (char == "(" and not self._json):
            return self._bracket(text, pos, char, sink)
        if self.mode == START:
            if char == "\ufeff" and self._base + pos == 0:
                return pos + 1
            if (end := self._closing_end(text, pos)) > pos:
                return end
        raise self._unexpected(char, pos)

    def _named(self, text: str, pos: int, char: str, sink: list[Op]) -> int:
        name, frame = self._name, self.frame
        kind = -1 if frame is None else frame.kind
        if name[-1] == ".":
            end = name_end(text, pos)
            if end == pos:
                raise self._unexpected(char, pos)
            if end == len(text) and end - pos <= MAX_NAME:
                self.tail = text[pos:]
                return end
            self._name += self._checked_name(text[pos:end], pos)
            return end
        if char == "(":
            return self._call(pos, sink)
        if char == "." and "." not in name and not self._json:
            self._name += "."
            return pos + 1
        if char == "=" and self._may_be_keyword and not iskeyword(name):
            assert isinstance(frame, PyCall)
            if name in frame.container:
                raise self._fault_at("DUPLICATE_FIELD", f"{name!r} stands twice", self._name_offset())
            frame.named = True
            self.slot, self.mode = name, VALUE
            return pos + 1
        if self._may_be_target and "." not in name and not self._json and not iskeyword(name):
            if char == "=":
                self.mode, self._may_be_target = VALUE, False
                return pos + 1
            if char == ":":
                self.mode = ANNOTATION
                return pos + 1
        if frame is None or kind == BARE:
            ends = self._ends_line(text, pos, char)
            if ends is None:
                return len(text)
        else:
            ends = char == CLOSERS[kind] or (char == ":" and kind in (BRACE, KEY))
        if not ends and char != ",":
            raise self._unexpected(char, pos)
        self._place(pos)
        self.knows_name = not self._json and (frame is not None or char != ",")
        self._value = self._constant(name)
        self.mode = PENDING
        return pos

    def _after_value(self, text: str, pos: int, char: str, sink: list[Op]) -> int:
        mode, frame = self.mode, self.frame
        kind = -1 if frame is None else frame.kind
        if mode == PENDING and self._value is TEXT_VALUE and not self._json:
            end = pos if char in QUOTES else self._prefix_end(text, pos)
            if end >= 0:
                if end == len(text):
                    self.tail = text[pos:]
                    return end
                return self._open_string(text, pos, end, sink)
        if kind == -1 or kind == BARE:
            ends = self._ends_line(text, pos, char)
            if ends is None:
                return len(text)
            if ends:
                return self._end_statement(pos, char, sink)
            if char != "," or self._json:
                if kind == -1:
                    raise self._fault("TRAILING_DATA", "There is more text after the value", pos)
                raise self._unexpected(char, pos)
            self._settle(pos, sink)
            if kind == -1:
                items = PyTuple(self.root)
                self.frame = PyFrame(None, 0, BARE, items, items, 0)
                self.root[0] = items
                sink.append((AGAIN, None, 0, self.frame))
            self.slot = len(self.frame.container)  # type: ignore[union-attr]
            self.mode = ITEM
            return pos + 1
        assert frame is not None
        if char == CLOSERS[kind]:
            if kind == PAREN:
                self._group(pos)
                return pos + 1
            if kind == SET_CALL:
                self._settle(pos, sink)
                self._set_call(pos)
                return pos + 1
            self._settle(pos, sink)
            if kind == BRACE:
                self._decide(SET, pos)
            return pos
        if char == ",":
            if kind == KEY:
                raise self._unexpected(char, pos)
            self._settle(pos, sink)
            if kind == SET_CALL:
                self.mode = ITEM
                return pos + 1
            if kind in WAITING:
                self._decide(TUPLE if kind == PAREN else SET, pos)
            return pos
        if char == ":" and kind in (BRACE, KEY):
            self._settle(pos, sink)
            self._key_done(pos)
            return pos + 1
        raise self._unexpected(char, pos)

    def _end_statement(self, pos: int, char: str, sink: list[Op]) -> int:
        if self.mode != ITEM:
            self._settle(pos, sink)
        if self.frame is not None:  # the tuple without brackets
            self._close(pos, sink)
            sink.append((END, None, 0, None))
        self.mode = DONE
        return pos + (char == ";")

    def _closing_end(self, text: str, pos: int) -> int:
        """Stop reading at a closing mark; gives its place when there is none."""
        ends = self._ends_line(text, pos, text[pos]) if text[pos] == self._closing[:1] else False
        if ends:
            self.mode = ENDED
            self.ended_at = self._base + utf8_size(text[:pos])
        return pos if ends is False else len(text)

    def _complete(self, at: int) -> None:
        """Close what is open in lenient JSON, and leave out what cannot be completed."""
        ops = self.ops
        if self.mode == START:
            raise StreamError("EMPTY_INPUT", "The text holds no value.", byte_offset=0)
        if self.mode == STRING or self.frame is not None:
            self._repair_at("unclosed", at)
        if self._waiting is not None:  # a key without a value
            self.frame, self._waiting, self.mode = self._waiting.parent, None, ITEM
        elif self.mode == NAMED and self._name in self._words:
            self._value, self.mode = self._words[self._name], PENDING
        elif self.mode == STRING:
            self.mode = PENDING
        if self.mode in (PENDING, CLOSED):
            self._settle(0, ops)
        while self.frame is not None:
            self._close(0, ops)
            ops.append((END, self.frame, self.slot, None))
        if not self.root:
            raise self._fault_at(self._incomplete, "The text ended inside a value", at)
        self.mode = DONE

    def _string_end(self, text: str, end: int) -> int:
        """Read what ends the inside of a string: in lenient JSON also the end of the text, or what closes its fence."""
        if not self._json or text[end] not in "\n\r":
            return super()._string_end(text, end)
        closing, rest = self._closing, text[end : end + MAX_REST]
        marks = rest.lstrip(" \t\n\r")
        if closing and marks.startswith(closing):
            return self._unclosed_end(text, end + len(rest) - len(marks))
        if len(rest) == MAX_REST or end + len(rest) < len(text) or not closing.startswith(marks):
            return super()._string_end(text, end)
        self.tail = rest
        return len(text)

    def _unclosed_end(self, text: str, pos: int) -> int:
        """Stop reading lenient JSON at a closing mark that stands where something is open.

        A fence in which a value has no more than begun may be of the prose: then this is a fault.
        """
        self.ended_at = self._base + utf8_size(text[:pos])
        told = len(self.ops)
        self._complete(self.ended_at)
        if self.root[0] in ({}, [], ""):
            del self.ops[told:]
            raise self._fault_at(self._incomplete, "The fence ended inside a value", self.ended_at)
        self.mode = ENDED
        return len(text)

    def _done(self, text: str, pos: int) -> int:
        end = self._closing_end(text, pos)
        if end == pos:
            raise self._fault("TRAILING_DATA", "There is more text after the value", pos)
        return end
