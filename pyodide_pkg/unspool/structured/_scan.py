"""The scanner: a coroutine that takes text and gives states. One text in pieces, one value that grows.

`send(chunk)` reads a chunk and gives the state. Everything the scanner knows lives in the local variables of one frame:
in Pyodide, where a bytecode costs about 10 ns, attributes would cost a third of the time of a short push.

Four ways through a chunk, the first that fits:
1. it lies within a string value and holds nothing but text, or is a single character without an effect: no search;
2. it holds one plain member or a part of one, or a little more (`_pieces`): one split at its quotes;
3. any other structure (`_read`): from token to token;
4. the walk of `_grammar`: what is left, such as text cut inside an escape of a key, and every fault. What another way
   changed before it met something it does not know is taken back first: a chunk is read wholly or not at all.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# Pyright loses the declared types in a loop of this size; mypy follows them.

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._apply import apply, undo
from unspool.structured._grammar import (
    AFTER_ELEMENT,
    AFTER_MEMBER,
    BEGINNING,
    COLON,
    KEY,
    MEMBER_VALUE,
    NEXT_MEMBER,
    START,
    STRING,
    Change,
    Position,
    finish,
    utf8_size,
    walk,
)
from unspool.structured._pieces import read_pieces
from unspool.structured._read import IN_NUMBER, INFINITE, LITERAL_STARTS, Unknown, read
from unspool.structured._steps import LETTERS, NONE, STEPS, UNIQUE_STEPS
from unspool.structured.frozen import snapshot
from unspool.structured.strict_json import scan_flat, scan_string
from unspool.structured.tree import StreamState, TextState

_COMMA: Final = frozenset({",", ", "})
_COLON: Final = frozenset({":", ": "})
_SCALAR_START: Final = frozenset("-0123456789tfn")
_MAX_TAIL: Final = 64
"""Longest structure that is read again with the next chunk; more of it goes to the walk, which reads nothing twice."""
_FEW: Final = 24
"""Pieces between quotes up to which going by the quotes is the shorter way."""
_UNSAFE: Final = re.compile(r"[\x00-\x1f]")


class Ask(Exception):
    """Thrown into the scanner: it gives its position and the bytes seen, and goes on."""


class End(Exception):
    """Thrown into the scanner: the text is over. It gives the last state, or raises the fault of the text."""


def scan(
    root: list[Any],
    left: list[tuple[Position, int, Any]],
    *,
    max_bytes: int,
    max_depth: int,
    unique_keys: bool,
    eager: bool,
    immutable: bool,
) -> Generator[Any, str, None]:
    """Read one JSON text.

    Args:
        root: receives the value as its only item.
        left: receives the last position, the bytes seen and the value when the scanner is over.
        max_bytes: most UTF-8 bytes of the text.
        max_depth: most open containers at once.
        unique_keys: a repeated key is a fault.
        eager: show literals and numbers before they are complete; takes the walk always.
        immutable: give snapshots instead of the live value.

    Raises:
        StreamError: the first fault of the text. The scanner is over then.
    """
    comma, colon, after_member, member_value, next_member, string = (
        _COMMA,
        _COLON,
        AFTER_MEMBER,
        MEMBER_VALUE,
        NEXT_MEMBER,
        STRING,
    )
    at: Any = BEGINNING
    mode: int
    frame: Any
    slot: Any
    tail: str
    mode, frame, slot, tail, _, _ = at
    container: Any = root
    value: Any = None
    seen = 0
    held: str = ""
    text: str = ""
    chunk: str = ""
    rest: str
    piece: str
    quote: str
    pieces: list[str]
    item: Any
    steps: Any = NONE
    in_text = False
    key: Any = None
    careful = eager
    quick = not eager
    all_steps = UNIQUE_STEPS if unique_keys else STEPS
    key_steps = all_steps[KEY]
    state: Any = None
    try:
        while True:
            try:
                chunk = yield state
                asked = None
            except (Ask, End) as question:
                asked = question.__class__
            if asked is not None:
                if asked is Ask:
                    state = (at, seen, value)
                    continue
                if held:
                    raise StreamError("INVALID_CHUNK", "The text ends in half of a surrogate pair.", byte_offset=seen)
                before = at
                changes, at = finish(at, seen, unique_keys=unique_keys, eager=eager)
                apply(changes, root, immutable)
                value = snapshot(root, None, None) if immutable else _value(root)
                mode, frame, slot, tail, _, _ = at
                steps, container, in_text, quick = NONE, root, False, False
                text = chunk = rest = piece = ""  # nothing of the text is kept
                pieces, item, key = [], None, None
                state = _state(root, value, seen, before, changes, at)
                continue
            if chunk in steps and seen < max_bytes:
                if in_text:
                    seen += 1
                    container[slot] = None
                    text += chunk
                    container[slot] = text
                    if immutable:
                        value = snapshot(root, frame, slot)
                    state = StreamState(value, seen, at, chunk, at)
                    continue
                if len(tail) < _MAX_TAIL:
                    seen += 1
                    steps = steps[chunk]
                    tail += chunk
                    before = at
                    at = (mode, frame, slot, tail, None, "")
                    state = StreamState(value, seen, before, "", at)
                    continue
            if chunk.isascii():
                total = seen + len(chunk)
            else:
                try:
                    total = seen + len(chunk.encode())
                except UnicodeEncodeError:
                    total = seen
                    steps, in_text, quick = NONE, False, False
            if total > max_bytes:
                raise _too_long(max_bytes, seen)
            if in_text and '"' not in chunk and "\\" not in chunk and chunk.isprintable():
                seen = total
                container[slot] = None
                text += chunk
                container[slot] = text
                if immutable:
                    value = snapshot(root, frame, slot)
                state = StreamState(value, seen, at, chunk, at)
                continue
            before = at
            if quick:
                rest = tail + chunk
                base = len(container)
                length = len(text)
                broken = not chunk.isprintable()
                try:
                    # First what was open.
                    if mode == member_value:
                        key = slot
                        if rest[0] == " ":
                            rest = rest[1:]
                        if rest[0] == '"':
                            if key in container:
                                raise Unknown
                            container[key] = text = ""
                            rest = rest[1:]
                            tail = ""
                            mode = string
                        elif rest[0] in _SCALAR_START:
                            if not rest.strip(IN_NUMBER) or rest in LITERAL_STARTS:
                                if len(rest) > _MAX_TAIL:
                                    raise Unknown
                                tail = rest
                                steps = NONE
                                at = (member_value, frame, slot, rest, None, "")
                                seen = total
                                state = StreamState(value, seen, before, chunk, at)
                                continue
                            item, end = scan_flat(rest, 0)
                            if item in INFINITE or key in container:
                                raise Unknown
                            container[key] = item
                            mode = after_member
                            rest = rest[end:]
                    elif mode == COLON:
                        key = slot
                    if mode == string:
                        if "\\" in rest:
                            piece, end = scan_string(rest + '"', 0)
                            if end > len(rest):
                                if "\\u" in rest[-6:]:
                                    raise Unknown  # perhaps half of a pair
                                quote = ""
                            else:
                                quote = '"'
                                rest = rest[end:]
                        else:
                            piece, quote, rest = rest.partition('"')
                            if broken and _UNSAFE.search(piece):
                                raise Unknown
                        container[slot] = None
                        text += piece
                        container[slot] = text
                        if not quote:
                            tail = ""
                            in_text = True
                            steps = LETTERS
                            at = (string, frame, slot, "", None, "")
                            seen = total
                            if immutable:
                                value = snapshot(root, frame, slot)
                            state = StreamState(value, seen, before, chunk, at)
                            continue
                        in_text = False
                        mode = after_member if container.__class__ is dict else AFTER_ELEMENT
                    # Then whole members and elements, and the part of one at the end.
                    pieces = [] if broken or "\\" in rest else rest.split('"', _FEW)
                    last = len(pieces) - 1
                    done = False
                    if 0 < last < 4 and (
                        pieces[0] in comma if mode == after_member else mode == next_member and not pieces[0]
                    ):
                        # One member or a part of one: what most chunks of structure are.
                        key = pieces[1]
                        if last == 1:
                            mode = next_member
                            slot = None
                            tail = '"' + key
                            steps = key_steps
                            done = True
                        elif key in container:
                            raise Unknown
                        elif (piece := pieces[2]) in colon:
                            slot = key
                            tail = ""
                            if last == 3:
                                container[key] = text = pieces[3]
                                mode = string
                                in_text = True
                                steps = LETTERS
                            else:
                                mode = member_value
                                steps = all_steps[member_value]
                            done = True
                        elif piece and piece[0] == ":":
                            start = 2 if piece[1] == " " else 1
                            if piece[start] in _SCALAR_START:
                                if last == 2 and (
                                    not (tail := piece[start:]).strip(IN_NUMBER) or tail in LITERAL_STARTS
                                ):
                                    mode = member_value
                                    slot = key
                                    steps = NONE
                                    done = True
                                else:
                                    item, end = scan_flat(piece, start)
                                    if item in INFINITE:
                                        raise Unknown
                                    container[key] = item
                                    mode = after_member
                                    slot = None
                                    rest = piece[end:]
                                    if rest in comma:
                                        mode = next_member
                                        if last == 3:
                                            tail = '"' + pieces[3]
                                            steps = key_steps
                                        else:
                                            tail = ""
                                            steps = all_steps[next_member]
                                        done = True
                                    elif last == 3:
                                        pieces = [rest, pieces[3]]
                                    else:
                                        pieces = [rest]
                    if done:
                        at = (mode, frame, slot, tail, None, "")
                    else:
                        if 0 <= last < _FEW:
                            at = read_pieces(pieces, mode, frame, slot, root, max_depth, unique_keys, immutable)
                        else:
                            at = read(rest, mode, frame, slot, root, max_depth, unique_keys, immutable)
                        mode, frame, slot, tail, _, _ = at
                        if frame is None:
                            container = root
                            quick = mode == START
                            steps = NONE
                        else:
                            container = frame.container
                            if mode == string:
                                text = container[slot]
                                in_text = True
                                steps = LETTERS
                            elif not tail:
                                steps = all_steps[mode]
                            else:
                                steps = key_steps if tail[0] == '"' else NONE
                        if value is None and not immutable and root:
                            value = root[0]
                    if len(tail) > _MAX_TAIL:
                        raise Unknown
                except (Unknown, ValueError, StopIteration, IndexError):
                    at = before
                    undo(before, root, base, length if before[0] == STRING else -1)
                    if before[1] is None:
                        value = None
                else:
                    seen = total
                    if immutable:
                        value = snapshot(root, frame, slot if mode == string else None)
                    state = StreamState(value, seen, before, chunk, at)
                    continue
            if not isinstance(chunk, str):
                raise TypeError
            text = lone = ""
            if held or not chunk.isascii():
                chunk, size, held, lone = _paired(held + chunk)
                total = seen + size
                if total > max_bytes:
                    raise _too_long(max_bytes, seen)
            changes, at = walk(before, chunk, seen, max_depth=max_depth, unique_keys=unique_keys, eager=eager)
            if lone:
                raise StreamError("INVALID_CHUNK", "A chunk holds half of a surrogate pair.", byte_offset=total)
            careful = apply(changes, root, immutable) or careful
            seen = total
            mode, frame, slot, tail, _, _ = at
            steps = NONE
            in_text = False
            if frame is None:
                container = root
                quick = mode == START and not careful and not held
            else:
                container = frame.container
                quick = mode <= STRING and not careful and not held
                if mode == STRING and not eager:
                    text = container[slot]
                    if not tail and not held:
                        in_text = True
                        steps = LETTERS
            open_slot = slot if mode == STRING or at[5] else None
            value = snapshot(root, frame, open_slot) if immutable else _value(root)
            state = _state(root, value, seen, before, changes, at)
    finally:
        left.append((at, seen, value))


def _value(root: list[Any]) -> Any:
    """The value for a state. Not a string: a string that something holds cannot grow in place."""
    return root[0] if root and root[0].__class__ is not str else None


def _state(
    root: list[Any], value: Any, seen: int, before: Position, changes: list[Change], after: Position
) -> StreamState:
    if root and root[0].__class__ is str:
        return TextState(root, seen, before, changes, after)
    return StreamState(value, seen, before, changes, after)


def _paired(text: str) -> tuple[str, int, str, str]:
    """Join the halves of surrogate pairs that stand in the text itself, as text from JavaScript may hold them.

    Returns:
        The text up to a lone half, its bytes, a first half at its end that may find its second one, and the lone half.
    """
    held = lone = ""
    if "\ud800" <= text[-1:] <= "\udbff":
        text, held = text[:-1], text[-1]
    try:
        return text, utf8_size(text), held, lone
    except UnicodeEncodeError:
        pass
    units = text.encode("utf-16-le", "surrogatepass")
    try:
        text = units.decode("utf-16-le")
    except UnicodeDecodeError as error:
        text = units[: error.start].decode("utf-16-le")
        lone = "\ud800"
    return text, utf8_size(text), held, lone


def _too_long(max_bytes: int, seen: int) -> StreamError:
    return StreamError("MAX_BYTES_EXCEEDED", f"The text has more than {max_bytes} bytes.", byte_offset=seen)
