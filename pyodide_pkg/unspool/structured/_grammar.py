"""The JSON grammar as an incremental walk: a position and the next text in, changes and the next position out.

The walk is the authority on grammar, limits and places of faults. It is pure: it changes no container, so a text with a
fault has changed nothing. `json_stream` reads plain text by a shorter way and comes here for everything else, and for
the changes when somebody asks for them.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from unspool.errors import StreamError
from unspool.structured.strict_json import NUMBER, number, unescape

# What the next character may be.
START: Final = 0
"""The root value."""
ELEMENT: Final = 1
"""After `[`: a value or `]`."""
NEXT_ELEMENT: Final = 2
"""After a comma in an array: a value."""
MEMBER: Final = 3
"""After `{`: a key or `}`."""
NEXT_MEMBER: Final = 4
"""After a comma in an object: a key."""
COLON: Final = 5
"""After a key."""
MEMBER_VALUE: Final = 6
"""After a colon: a value."""
AFTER_ELEMENT: Final = 7
"""After a value in an array: a comma or `]`."""
AFTER_MEMBER: Final = 8
"""After a value in an object: a comma or `}`."""
DONE: Final = 9
"""After the root value: whitespace."""
STRING: Final = 10
KEY: Final = 11
NUMBER_RUN: Final = 12
LITERAL: Final = 13

AT_KEY: Final = frozenset({MEMBER, NEXT_MEMBER})
AFTER_KEY: Final = frozenset({COLON, MEMBER_VALUE})
AT_ELEMENT: Final = frozenset({ELEMENT, NEXT_ELEMENT})
_AT_VALUE: Final = AT_ELEMENT | {START, MEMBER_VALUE}

_SPACE = re.compile(r"[ \t\n\r]*+")
BODY: Final = re.compile(r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_ESCAPE_START = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_RUN = re.compile(r"[-+.0-9eE]++")
_MAX_EAGER_CHARS: Final = 4096
"""Eager mode: a number longer than this is not shown any further before it ends."""
LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_LITERAL_OF_LETTER: Final = {"t": "true", "f": "false", "n": "null"}

PatchOp = Literal["set", "append", "complete"]
Path = tuple[str | int, ...]
type Slot = str | int | None
type Run = tuple[Run | None, str, int]
"""Text of an open key or number as a chain: earlier pieces, this piece, length of all.

Each piece is longer than the one after it, so the chain is short: a long one would be taken down by recursion, which in
Pyodide is fatal.
"""


class Frame:
    """An open container: where it hangs and what it holds. Frames form a chain to the root."""

    __slots__ = ("parent", "slot", "container", "depth", "view", "_path")

    def __init__(self, parent: Frame | None, slot: Slot, container: dict[str, Any] | list[Any], depth: int) -> None:
        self.parent = parent
        self.slot = slot
        """Key or index in the parent."""
        self.container: Any = container
        self.depth = depth
        self.view: Any = None
        """Immutable mode: the last snapshot of the container."""
        self._path: Path | None = None

    def path(self) -> Path:
        """Give the path of the container; it is put together when it is first asked for."""
        if self._path is None:
            slots: list[Any] = []
            frame: Frame = self
            while frame.parent is not None:
                slots.append(frame.slot)
                frame = frame.parent
            slots.reverse()
            self._path = tuple(slots)
        return self._path


type Position = tuple[int, Frame | None, Slot, str, Run | None, str]
"""Everything that decides how the next text is read. A plain tuple, since one is made at almost every push:

- the mode;
- the innermost open container, None at the root;
- the key or index in it of the value that is open, comes next or came last;
- the tail: text to be read again (an escape that is not whole, half a pair, structure without an effect so far), or in
  a literal the letters to come;
- the text of the open key or number;
- eager mode: the part of the open number that was shown last.
"""

BEGINNING: Final[Position] = (START, None, 0, "", None, "")
END: Final[Position] = (DONE, None, 0, "", None, "")


class Change:
    """A patch before its path and value were made."""

    __slots__ = ("op", "frame", "slot", "value")

    def __init__(self, op: PatchOp, frame: Frame | None, slot: Slot, value: Any) -> None:
        self.op: PatchOp = op
        self.frame = frame
        """The container that holds the value; None: the value is the root."""
        self.slot = slot
        self.value = value
        """What is set or appended. A Frame stands for its container, which opens or (op complete) has closed."""


def walk(
    at: Position, chunk: str, bytes_seen: int, *, max_depth: int, unique_keys: bool, eager: bool
) -> tuple[list[Change], Position]:
    """Read the next text.

    Args:
        at: where the text before it ended.
        chunk: text without raw surrogates.
        bytes_seen: UTF-8 bytes of all text before the chunk.
        max_depth: most open containers at once.
        unique_keys: a repeated key is a fault.
        eager: show a literal from its first letter and a number as far as it is one.
    Returns:
        The changes in document order, and where the text ends.
    Raises:
        StreamError: the first fault, with its byte offset.
    """
    return _Walk(at, chunk, bytes_seen, max_depth, unique_keys, eager).run()


def finish(at: Position, bytes_seen: int, *, unique_keys: bool, eager: bool) -> tuple[list[Change], Position]:
    """Judge the end of the text.

    Returns:
        The changes of a root number that only the end proves complete, and the last position.
    Raises:
        StreamError: EMPTY_INPUT, INCOMPLETE_JSON, INVALID_JSON or NON_FINITE_NUMBER.
    """
    return _Walk(at, "", bytes_seen, 0, unique_keys, eager).finish()


class _Walk:
    def __init__(
        self, at: Position, chunk: str, bytes_seen: int, max_depth: int, unique_keys: bool, eager: bool
    ) -> None:
        self.mode, self.frame, self.slot, self.tail, self.key_or_number, self.shown = at
        self.text = chunk
        self.base = bytes_seen
        if self.tail and self.mode != LITERAL:
            self.text = self.tail + chunk
            self.base -= utf8_size(self.tail)
            self.tail = ""
        self.pos: int = 0
        self.max_depth = max_depth
        self.unique_keys = unique_keys
        self.eager = eager
        self.changes: list[Change] = []
        self.new_keys: set[tuple[Frame, Slot]] = set()

    def run(self) -> tuple[list[Change], Position]:
        text = self.text
        size = len(text)
        while self.pos < size:
            mode = self.mode
            if mode == STRING:
                self._string()
            elif mode == KEY:
                self._key()
            elif mode == NUMBER_RUN:
                self._number()
            elif mode == LITERAL:
                self._literal()
            else:
                match = _SPACE.match(text, self.pos)
                assert match is not None
                self.pos = match.end()
                if self.pos < size:
                    self._structure(text[self.pos])
        return self.changes, (self.mode, self.frame, self.slot, self.tail, self.key_or_number, self.shown)

    def finish(self) -> tuple[list[Change], Position]:
        changes, _ = self.run()
        if self.frame is not None or self.mode == STRING:
            raise self._fault("INCOMPLETE_JSON", "The text ended inside a value")
        if self.mode == START:
            raise StreamError("EMPTY_INPUT", "The text holds no JSON value.", byte_offset=0)
        if self.mode == LITERAL:
            raise self._fault("INVALID_JSON", "The text ended inside a literal")
        if self.mode == NUMBER_RUN:
            self._end_number()
        return changes, END

    def _fault(self, code: str, message: str) -> StreamError:
        offset = self.base + utf8_size(self.text[: self.pos])
        return StreamError(code, f"{message}, at byte {offset}.", byte_offset=offset)

    def _structure(self, char: str) -> None:
        mode = self.mode
        if char == '"':
            if mode in _AT_VALUE:
                self._set("")
                self.mode = STRING
                self.pos += 1
                return
            if mode in AT_KEY:
                self.mode = KEY
                self.pos += 1
                return
        elif char in "{[":
            if mode in _AT_VALUE:
                self._open(char)
                return
        elif char in "}]":
            if self._close(char):
                return
        elif char == ",":
            if mode == AFTER_MEMBER:
                self.mode = NEXT_MEMBER
                self.pos += 1
                return
            if mode == AFTER_ELEMENT:
                self.mode = NEXT_ELEMENT
                assert isinstance(self.slot, int)
                self.slot += 1
                self.pos += 1
                return
        elif char == ":":
            if mode == COLON:
                self.mode = MEMBER_VALUE
                self.pos += 1
                return
        elif mode in _AT_VALUE:
            if char in "-0123456789":
                self.mode = NUMBER_RUN
                return
            literal = _LITERAL_OF_LETTER.get(char)
            if literal is not None:
                self.mode = LITERAL
                self.tail = literal
                self._extend(literal)
                if self.eager:
                    self._set(LITERALS[literal])
                    self._complete()
                return
        if mode == DONE:
            raise self._fault("TRAILING_DATA", "There is more text after the JSON value")
        if self.frame is None and char in ",:]}":
            raise self._fault("UNEXPECTED_TOKEN", f"Unexpected {char!r} with no container open")
        raise self._fault("INVALID_JSON", f"Unexpected {char!r}")

    def _open(self, char: str) -> None:
        depth = 1 if self.frame is None else self.frame.depth + 1
        if depth > self.max_depth:
            raise self._fault("MAX_DEPTH_EXCEEDED", f"More than {self.max_depth} containers are open")
        frame = Frame(self.frame, self.slot, {} if char == "{" else [], depth)
        self._set(frame)
        self.frame = frame
        if char == "{":
            self.mode, self.slot = MEMBER, None
        else:
            self.mode, self.slot = ELEMENT, 0
        self.pos += 1

    def _close(self, char: str) -> bool:
        frame = self.frame
        if frame is None:
            return False
        if isinstance(frame.container, dict) != (char == "}"):
            raise self._fault("MISMATCHED_CLOSING", f"{char!r} closes a container of the other kind")
        if self.mode not in (AFTER_MEMBER, AFTER_ELEMENT, MEMBER, ELEMENT):
            return False
        self.frame, self.slot = frame.parent, frame.slot
        self.pos += 1
        self._end_value(frame)
        return True

    def _body(self) -> tuple[str, bool]:
        """Read a string up to its quote or the end of the text; gives the new part decoded, and whether it closed."""
        text = self.text
        match = BODY.match(text, self.pos)
        assert match is not None
        body = match[0]
        end = match.end()
        closed = text[end : end + 1] == '"'
        if not closed:
            if end < len(text):
                escape = _ESCAPE_START.match(text, end)
                if escape is None:
                    self.pos = end
                    raise self._fault("INVALID_JSON", "A control character stands in a string")
                if escape.end() < len(text):
                    self.pos = escape.end()
                    raise self._fault("INVALID_JSON", "A string holds an invalid escape")
                self.tail = escape[0]
            if ends_in_half_pair(body):
                # Alone it could not be encoded for the page or for JSON: it waits for its other half or for other text.
                self.tail = body[-6:] + self.tail
                body = body[:-6]
        self.pos = end + 1 if closed else len(text)
        return unescape(body) if "\\" in body else body, closed

    def _string(self) -> None:
        value, closed = self._body()
        if value:
            self.changes.append(Change("append", self.frame, self.slot, value))
        if closed:
            self._end_value()

    def _key(self) -> None:
        value, closed = self._body()
        self._extend(value)
        if not closed:
            return
        key = self._joined()
        frame = self.frame
        assert frame is not None
        if self.unique_keys and (key in frame.container or (frame, key) in self.new_keys):
            self.pos -= 1
            raise self._fault("DUPLICATE_KEY", "An object has the same key twice: the second ends")
        self.slot = key
        self.mode = COLON

    def _number(self) -> None:
        match = _RUN.match(self.text, self.pos)
        if match is not None:
            self._extend(match[0])
            self.pos = match.end()
        if self.pos < len(self.text):
            self._end_number()
        elif self.eager:
            self._show_prefix()

    def _end_number(self) -> None:
        """Judge the number that the next character ends; the fault of a bad one is placed there."""
        text = self._joined()
        try:
            value = number(text)
        except StreamError as error:
            raise self._fault(error.code, f"{error.message[:-1]}: it ends") from None
        if value is None:
            raise self._fault("INVALID_JSON", "A malformed number ends")
        if text != self.shown:
            self._set(value)
        self.shown = ""
        self._end_value()

    def _show_prefix(self) -> None:
        run = self.key_or_number
        if run is None or run[2] > _MAX_EAGER_CHARS:
            return  # each step reads the number from its start: without a bound, quadratic
        text = self._joined()
        self.key_or_number = run
        prefix = NUMBER.match(text)
        if prefix is None or prefix[0] == self.shown:
            return
        try:
            value = number(prefix[0])
        except StreamError:
            return
        self.shown = prefix[0]
        self._set(value)

    def _literal(self) -> None:
        text, rest = self.text, self.tail
        part = text[self.pos : self.pos + len(rest)]
        if not rest.startswith(part):
            while text[self.pos] == rest[0]:
                self.pos += 1
                rest = rest[1:]
            raise self._fault("INVALID_JSON", "A literal is not true, false or null")
        self.pos += len(part)
        self.tail = rest[len(part) :]
        if self.tail:
            return
        literal = self._joined()
        if not self.eager:
            self._set(LITERALS[literal])
            self._complete()
        self._leave_value()

    def _extend(self, piece: str) -> None:
        run = self.key_or_number
        size = len(piece) if run is None else run[2] + len(piece)
        while run is not None and len(run[1]) <= len(piece):
            piece = run[1] + piece
            run = run[0]
        self.key_or_number = (run, piece, size)

    def _joined(self) -> str:
        """Take the text of the open key, number or literal."""
        run = self.key_or_number
        self.key_or_number = None
        pieces: list[str] = []
        while run is not None:
            run, piece, _ = run
            pieces.append(piece)
        pieces.reverse()
        return "".join(pieces)

    def _set(self, value: Any) -> None:
        frame = self.frame
        self.changes.append(Change("set", frame, self.slot, value))
        if self.unique_keys and frame is not None:
            self.new_keys.add((frame, self.slot))

    def _complete(self, closed: Frame | None = None) -> None:
        self.changes.append(Change("complete", self.frame, self.slot, closed))

    def _end_value(self, closed: Frame | None = None) -> None:
        self._complete(closed)
        self._leave_value()

    def _leave_value(self) -> None:
        if self.frame is None:
            self.mode = DONE
        else:
            self.mode = AFTER_MEMBER if isinstance(self.frame.container, dict) else AFTER_ELEMENT


def ends_in_half_pair(body: str) -> bool:
    """Whether the inside of a string, its escapes whole, ends in an escaped high surrogate."""
    if len(body) < 6 or not _HALF_PAIR.fullmatch(body, len(body) - 6):
        return False
    before = body[:-6]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
