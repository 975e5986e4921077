"""The scanner: text in pieces, one value that grows. `JsonStream` is the scanner with its public face.

Five ways through a chunk, the first that fits:
1. it lies within a string value and holds nothing but text: no search (`JsonStream.push`);
2. it is a single character without an effect that shows: one look-up (`JsonStream.push`);
3. it holds one plain member or a part of one, or a little more (`_pieces`): one split at its quotes;
4. any other structure: whole members and elements by the C decoder, the rest from token to token (`_read`);
5. the walk of `_grammar`: what is left, such as text cut inside an escape of a key, and every fault. What another way
   changed before it met something it does not know is taken back first: a chunk is read wholly or not at all.

In Pyodide a call costs about 40 ns and a bytecode about 10: hence the third way stands in one method with the first
steps of the fourth, and what it knows is taken out of attributes once.
"""

from __future__ import annotations

import re
from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._apply import apply, undo
from unspool.structured._grammar import (
    AFTER_ELEMENT,
    AFTER_MEMBER,
    AT_KEY,
    BEGINNING,
    BODY,
    COLON,
    KEY,
    MEMBER_VALUE,
    NEXT_MEMBER,
    START,
    STRING,
    Change,
    Position,
    ends_in_half_pair,
    finish,
    walk,
)
from unspool.structured._pieces import read_pieces
from unspool.structured._read import IN_NUMBER, INFINITE, LITERAL_STARTS, Unknown, read
from unspool.structured._steps import NONE, STEPS, UNIQUE_STEPS, Steps
from unspool.structured.frozen import snapshot
from unspool.structured.strict_json import scan_flat, scan_string, unescape
from unspool.structured.tree import StreamState, TextState
from unspool.surrogates import paired

MAX_TAIL: Final = 64
"""Longest structure that is read again with the next chunk; more of it goes to the walk, which reads nothing twice."""
_COMMA: Final = frozenset({",", ", "})
_COLON: Final = frozenset({":", ": "})
_BLANK: Final = frozenset({"", " "})
_SCALAR_START: Final = frozenset("-0123456789tfn")
_SHORT: Final = 140
"""Characters up to which going by the quotes is the shorter way."""
_UNSAFE: Final = re.compile(r"[\x00-\x1f]")
_CUT_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


type _Given = tuple[list[Any], int, int, bool, bool, tuple[Steps, ...]]
"""The root and what the scanner was told, in one attribute: root, limits, modes, tables of steps."""
type _OpenText = tuple[Any, Any, Position, int, bool]
"""Container and slot of the open string, the position, the limit on bytes, and whether snapshots are given."""


class Scanner:
    """What is known of one text: the tree, and where the text ended."""

    def __init__(self, *, max_bytes: int, max_depth: int, unique_keys: bool, eager: bool, immutable: bool) -> None:
        """
        Args:
            max_bytes: most UTF-8 bytes of the text.
            max_depth: most open containers at once.
            unique_keys: a repeated key is a fault.
            eager: show literals and numbers before they are complete; takes the walk always.
            immutable: give snapshots instead of the live value.
        """
        self._max_bytes = max_bytes
        self._max_depth = max_depth
        self._unique_keys = unique_keys
        self._eager = eager
        self._immutable = immutable
        self._root: list[Any] = []
        """Holds the value as its only item."""
        self._given: _Given = (
            self._root,
            max_bytes,
            max_depth,
            unique_keys,
            immutable,
            UNIQUE_STEPS if unique_keys else STEPS,
        )
        self._value: Any = None
        """The value for a state; not a string, since a string that something holds cannot grow in place."""
        self._seen = 0
        """UTF-8 bytes so far."""
        self._at: Position = BEGINNING
        """Where the text ended, but for the tail."""
        self._tail: str = ""
        self._open_text: _OpenText | None = None
        """Where the text ended, when that is inside a string value and between two characters of it."""
        self._steps: Steps = NONE
        """The characters that have no effect that shows, each with those after it."""
        self._quick = not eager
        """Whether the ways before the walk may be tried."""
        self._careful = eager
        """Whether they may not be tried any more."""
        self._held = ""
        """First half of a surrogate pair, at the end of the text."""
        self._error: StreamError | None = None
        self._closed = False

    def _position(self) -> Position:
        """Where the text ended."""
        at = self._at
        return at if at[3] is self._tail else (at[0], at[1], at[2], self._tail, at[4], at[5])

    def _read(self, chunk: str) -> StreamState:
        """Read a chunk by the third or fourth way, or by the walk. Raises the first fault."""
        if not self._quick:
            return self._walk(chunk)
        root, max_bytes, max_depth, unique_keys, immutable, all_steps = self._given
        seen = self._seen
        if chunk.isascii():
            seen += len(chunk)
        else:
            try:
                seen += len(chunk.encode())
            except UnicodeEncodeError:
                return self._walk(chunk)
        if seen > max_bytes:
            return self._walk(chunk)  # it refuses the chunk
        before = self._at
        mode: int
        frame: Any
        slot: Any
        mode, frame, slot, tail, _, _ = before
        if tail is not self._tail:
            tail = self._tail
            before = (mode, frame, slot, tail, None, "")
        container: Any = root if frame is None else frame.container
        base = len(container)
        rest = tail + chunk
        broken = not chunk.isprintable()
        length = -1
        in_text = False
        key: Any = None
        item: Any
        steps: Any = NONE
        at: Position
        try:
            # First what was open.
            if mode == MEMBER_VALUE:
                key = slot
                if rest[0] == " ":
                    rest = rest[1:]
                if rest[0] == '"':
                    if key in container:
                        raise Unknown
                    container[key] = ""
                    slot = key
                    rest = rest[1:]
                    mode = STRING
                elif rest[0] in _SCALAR_START:
                    if not rest.strip(IN_NUMBER) or rest in LITERAL_STARTS:
                        if len(rest) > MAX_TAIL:
                            raise Unknown
                        self._tail = rest
                        self._at = (MEMBER_VALUE, frame, slot, rest, None, "")
                        self._steps = NONE
                        self._seen = seen
                        return StreamState(self._value, seen, before, chunk, self._at)
                    item, end = scan_flat(rest, 0)
                    if item in INFINITE or key in container:
                        raise Unknown
                    container[key] = item
                    mode = AFTER_MEMBER
                    rest = rest[end:]
            elif mode == COLON:
                key = slot
            if mode == STRING:
                if "\\" in rest:
                    piece, tail, closed, rest = _escaped(rest)
                else:
                    if broken and _UNSAFE.search(rest):
                        raise Unknown
                    piece, closed, rest = rest.partition('"')
                    tail = ""
                text: str = container[slot]
                if before[0] == STRING:
                    length = len(text)
                container[slot] = None  # to grow in place, a string must be held by nothing else
                text += piece
                container[slot] = text
                if not closed:
                    at = (STRING, frame, slot, tail, None, "")
                    self._at = at
                    self._tail = tail
                    self._open_text = None if tail else (container, slot, at, max_bytes, immutable)
                    self._steps = NONE
                    self._seen = seen
                    if immutable:
                        self._value = snapshot(root, frame, slot)
                    return StreamState(self._value, seen, before, chunk, at)
                mode = AFTER_MEMBER if container.__class__ is dict else AFTER_ELEMENT
            # Then whole members and elements, and the part of one at the end.
            pieces = [] if len(rest) > _SHORT or broken or "\\" in rest else rest.split('"')
            last = len(pieces) - 1
            done = False
            if not last:
                # Nothing after the quote, or a comma: common where characters come one by one.
                if not rest and before[0] == STRING:
                    slot = None if mode == AFTER_MEMBER else slot
                    done = True
                elif rest in _COMMA and mode == AFTER_MEMBER:
                    mode = NEXT_MEMBER
                    slot = None
                    done = True
                if done:
                    tail = ""
                    steps = all_steps[mode]
            elif 0 < last < 4 and (
                pieces[0] in _COMMA if mode == AFTER_MEMBER else mode in AT_KEY and pieces[0] in _BLANK
            ):
                # One member or a part of one: what most chunks of structure are.
                key = pieces[1]
                if last == 1:
                    mode = NEXT_MEMBER if mode == AFTER_MEMBER else mode
                    slot = None
                    tail = '"' + key
                    steps = all_steps[KEY]
                    done = True
                elif key in container:
                    raise Unknown
                elif (piece := pieces[2]) in _COLON:
                    slot = key
                    tail = ""
                    if last == 3:
                        container[key] = pieces[3]
                        mode = STRING
                        in_text = True
                    else:
                        mode = MEMBER_VALUE
                        steps = all_steps[MEMBER_VALUE]
                    done = True
                elif piece and piece[0] == ":":
                    start = 2 if piece[1] == " " else 1
                    if piece[start] in _SCALAR_START:
                        if last == 2 and (not (tail := piece[start:]).strip(IN_NUMBER) or tail in LITERAL_STARTS):
                            mode = MEMBER_VALUE
                            slot = key
                            done = True
                        else:
                            item, end = scan_flat(piece, start)
                            if item in INFINITE:
                                raise Unknown
                            container[key] = item
                            mode = AFTER_MEMBER
                            slot = None
                            rest = piece[end:]
                            if rest in _COMMA:
                                mode = NEXT_MEMBER
                                if last == 3:
                                    tail = '"' + pieces[3]
                                    steps = all_steps[KEY]
                                else:
                                    tail = ""
                                    steps = all_steps[NEXT_MEMBER]
                                done = True
                            elif last == 3:
                                pieces = [rest, pieces[3]]
                            else:
                                pieces = [rest]
            if done:
                at = (mode, frame, slot, tail, None, "")
            else:
                if last >= 0:
                    at = read_pieces(pieces, mode, frame, slot, root, max_depth, unique_keys, immutable)
                else:
                    at = read(rest, mode, frame, slot, root, max_depth, unique_keys, immutable)
                mode, frame, slot, tail, _, _ = at
                if frame is None:
                    container = root
                    self._quick = mode == START
                else:
                    container = frame.container
                    if mode == STRING:
                        in_text = True
                    elif not tail:
                        steps = all_steps[mode]
                    elif tail[0] == '"':
                        steps = all_steps[KEY]
                if before[1] is None and not immutable and root:
                    self._value = root[0]
            if len(tail) > MAX_TAIL:
                raise Unknown
        except (Unknown, ValueError, StopIteration, IndexError):
            undo(before, root, base, length)
            if before[1] is None:
                self._value = None
            return self._walk(chunk)
        self._at = at
        self._tail = tail
        self._open_text = (container, slot, at, max_bytes, immutable) if in_text else None
        self._steps = steps
        self._seen = seen
        if immutable:
            self._value = snapshot(root, frame, slot if in_text else None)
        return StreamState(self._value, seen, before, chunk, at)

    def _walk(self, chunk: str) -> StreamState:
        """Read a chunk by the walk. Raises the first fault."""
        self._check("push")
        if not isinstance(chunk, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError
        size, held, lone = len(chunk), "", False
        if self._held or not chunk.isascii():
            chunk, size, held, lone = paired(self._held + chunk)
        seen = self._seen + size
        if seen > self._max_bytes:
            raise StreamError(
                "MAX_BYTES_EXCEEDED", f"The text has more than {self._max_bytes} bytes.", byte_offset=self._seen
            )
        before, root = self._position(), self._root
        changes, at = walk(
            before, chunk, self._seen, max_depth=self._max_depth, unique_keys=self._unique_keys, eager=self._eager
        )
        if lone:
            raise StreamError("INVALID_CHUNK", "A chunk holds half of a surrogate pair.", byte_offset=seen)
        self._careful = apply(changes, root, self._immutable) or self._careful
        self._held = held
        mode, frame, slot, tail, _, shown = at
        self._steps = NONE
        self._open_text = None
        self._quick = (mode <= STRING if frame is not None else mode == START) and not self._careful and not held
        if frame is not None and mode == STRING and not tail and not held and not self._eager:
            self._open_text = (frame.container, slot, at, self._max_bytes, self._immutable)
        return self._moved(before, at, seen, changes, slot if mode == STRING or shown else None)

    def _finish(self) -> StreamState:
        """Judge the end of the text. Raises its fault."""
        if self._held:
            raise StreamError("INVALID_CHUNK", "The text ends in half of a surrogate pair.", byte_offset=self._seen)
        before = self._position()
        changes, at = finish(before, self._seen, unique_keys=self._unique_keys, eager=self._eager)
        apply(changes, self._root, self._immutable)
        self._rest()
        return self._moved(before, at, self._seen, changes, None)

    def _rest(self) -> None:
        """Take no short way any more, and keep nothing of the text."""
        self._quick = False
        self._open_text = None
        self._steps = NONE

    def _moved(
        self, before: Position, at: Position, seen: int, changes: list[Change], open_slot: str | int | None
    ) -> StreamState:
        """Be at a new position; gives the state."""
        root = self._root
        self._at = at
        self._tail = at[3]
        self._seen = seen
        if self._immutable:
            self._value = snapshot(root, at[1], open_slot)
        elif root and root[0].__class__ is not str:
            self._value = root[0]
        return self._state(before, changes)

    def _state(self, before: Position, changes: list[Change]) -> StreamState:
        root = self._root
        if root and root[0].__class__ is str:
            return TextState(root, self._seen, before, changes, self._position())
        return StreamState(self._value, self._seen, before, changes, self._position())

    def _check(self, operation: str) -> None:
        """Raise what keeps the stream from going on."""
        if self._closed:
            raise StreamError("STREAM_DISPOSED", "The stream was closed.", operation=operation)
        if self._error is not None:
            raise self._error


def _escaped(rest: str) -> tuple[str, str, str, str]:
    """Read the inside of an open string that holds escapes.

    Returns:
        What it says, the part of an escape at its end, its quote (empty while it is open), and what comes after that.
    """
    if "\\" in rest[-5:]:  # perhaps cut; the decoder would tell it by an exception, which costs ten times a match
        match: Any = BODY.match(rest)
        end = match.end()
        if end < len(rest) and rest[end] != '"':
            body, tail = rest[:end], rest[end:]
            if _CUT_ESCAPE.fullmatch(tail) is None or ends_in_half_pair(body):
                raise Unknown
            return unescape(body), tail, "", ""
    piece, end = scan_string(rest + '"', 0)
    if end <= len(rest):
        return piece, "", '"', rest[end:]
    if "\\u" in rest[-6:] and ends_in_half_pair(rest):
        raise Unknown
    return piece, "", "", ""
