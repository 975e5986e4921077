"""The scanner: a coroutine that takes text and gives states. One text in pieces, one value that grows.

`send(chunk)` reads a chunk and gives the state. Everything the scanner knows lives in the local variables of one frame:
in Pyodide, where a bytecode costs about 10 ns, attributes would cost a third of the time of a short push.

Three ways through a chunk, the first that fits:
1. it lies within a string value and holds nothing but text: one append;
2. it holds plain structure: one split at its quotes, then a step for each piece, all at the speed of `str` and `dict`;
3. the walk of `_grammar`: whatever the second way does not know, and every fault. What the second way changed before it
   met something unknown is taken back first, so a chunk is read wholly or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, Final

from unspool.errors import StreamError
from unspool.structured._grammar import (
    AFTER_ELEMENT,
    AFTER_MEMBER,
    BEGINNING,
    COLON,
    DONE,
    ELEMENT,
    KEY,
    MEMBER,
    MEMBER_VALUE,
    NEXT_ELEMENT,
    NEXT_MEMBER,
    START,
    STRING,
    Change,
    Frame,
    Position,
    finish,
    utf8_size,
    walk,
)
from unspool.structured.frozen import fork, settle, snapshot
from unspool.structured.strict_json import MAX_NUMBER_CHARS, scan_flat, unescape
from unspool.structured.tree import StreamState, TextState

_INFINITY: Final = float("inf")
_INFINITE: Final = frozenset({_INFINITY, -_INFINITY})
_BLANK: Final = " \t\n\r"
_COMMA: Final = frozenset({",", ", "})
_COLON: Final = frozenset({":", ": "})
_NUMBER_START: Final = frozenset("-0123456789")
_SCALAR_START: Final = frozenset("-0123456789tfn")
_AFTER_SCALAR: Final = frozenset(" ,}]\n\r\t")
_IN_NUMBER: Final = "0123456789-+.eE"
_LITERALS: Final = {"true": True, "false": False, "null": None}
_LITERAL_STARTS: Final = frozenset({"t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"})
_MAX_TAIL: Final = 64
"""Longest structure that is read again with the next chunk; more of it goes to the walk, which reads nothing twice."""

_BETWEEN: Final[tuple[dict[str, int], ...]] = (
    {},  # START
    {"": ELEMENT, " ": ELEMENT},
    {"": NEXT_ELEMENT, " ": NEXT_ELEMENT},
    {"": MEMBER, " ": MEMBER},
    {"": NEXT_MEMBER, " ": NEXT_MEMBER},
    {": ": MEMBER_VALUE, ":": MEMBER_VALUE, "": COLON},
    {"": MEMBER_VALUE, " ": MEMBER_VALUE},
    {", ": NEXT_ELEMENT, ",": NEXT_ELEMENT, "": AFTER_ELEMENT},
    {", ": NEXT_MEMBER, ",": NEXT_MEMBER, "": AFTER_MEMBER},
    {},  # DONE
)
"""For each mode: structure that has no effect, and the mode it leads to."""
_RUNS: Final = {
    run.replace(" ", gap): tuple(run.replace(" ", ""))
    for run in (
        *(": {", ": [", ": [{", ": [[", "{", "[", "[{", "[[", ", {", ", [", "}", "]", "}}", "}]", "]}", "]]", "}, ", "], "),
        *("}, {", "], [", "}}, ", "}], ", "]}, ", "]], ", "]}, {", "}}, {", "}]}, {"),
    )
    for gap in (" ", "")
}
"""Brackets that often stand together, and their tokens."""
_TOKENS: Final = re.compile(
    r"[{}\[\]:,]|-?[0-9][-+.0-9eE]*(?:[ \t\n\r]*,[ \t\n\r]*-?[0-9][-+.0-9eE]*)*|[a-z]+|[^ \t\n\r]"
)
"""Any structure; numbers with nothing but commas between them are one token."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LINE_BREAK: Final = re.compile(r"[\t\n\r]")
_OPEN_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z|\\(?:u[0-9a-fA-F]{0,3})?\Z"
)

Steps = dict[str, Any]
"""Single characters without an effect that shows, and for each the steps that may follow."""


class Ask(Exception):
    """Thrown into the scanner: it gives its position and the bytes seen, and goes on."""


class End(Exception):
    """Thrown into the scanner: the text is over. It gives the last state, or raises the fault of the text."""


class _Unknown(Exception):
    """Leaves the second way."""


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
    at: Position = BEGINNING
    mode, frame, slot, tail, _, _ = at
    container: Any = root
    value: Any = None
    seen = 0
    held = ""
    text = ""
    letters: Steps = _NONE
    steps: Steps = _NONE
    careful = eager
    quick = not eager
    state: Any = None
    try:
        while True:
            try:
                chunk = yield state
            except Ask:
                state = (at, seen, value)
                continue
            except End:
                before = at
                if held:
                    raise StreamError("INVALID_CHUNK", "The text ends in half of a surrogate pair.", byte_offset=seen)
                changes, at = finish(at, seen, unique_keys=unique_keys, eager=eager)
                _apply(changes, root, immutable)
                value = snapshot(root, None, None) if immutable else _value(root)
                mode, frame, slot, tail, _, _ = at
                letters = steps = _NONE
                container, text, quick = root, "", False
                state = _state(root, value, seen, before, changes, at)
                continue
            if chunk in letters:
                if seen == max_bytes:
                    raise _too_long(max_bytes, seen)
                seen += 1
                container[slot] = None
                text += chunk
                container[slot] = text
                if immutable:
                    value = snapshot(root, frame, slot)
                state = StreamState(value, seen, at, chunk, at)
                continue
            if chunk in steps and len(tail) < _MAX_TAIL:
                if seen == max_bytes:
                    raise _too_long(max_bytes, seen)
                seen += 1
                steps = steps[chunk]
                tail += chunk
                before = at
                at = (mode, frame, slot, tail, None, "")
                state = StreamState(value, seen, before, "", at)
                continue
            lone = ""
            if held or not chunk.isascii():
                chunk, size, held, lone = _paired(held + chunk)
                total = seen + size
            else:
                total = seen + len(chunk)
            if total > max_bytes:
                raise _too_long(max_bytes, seen)
            if letters and '"' not in chunk and "\\" not in chunk and chunk.isprintable():
                seen = total
                container[slot] = None
                text += chunk
                container[slot] = text
                if immutable:
                    value = snapshot(root, frame, slot)
                state = StreamState(value, seen, at, chunk, at)
                continue
            before = at
            if quick and not lone:
                try:
                    escaped = broken = False
                    letters = steps = _NONE
                    rest = tail + chunk
                    tail = ""
                    length = -1
                    base = len(container)
                    if "\\" in rest:
                        if _CONTROL.search(rest):
                            raise _Unknown
                        rest = rest.replace("\\\\", "\0").replace('\\"', "\1")
                        escaped = broken = True
                    elif not rest.isprintable():
                        if _CONTROL.search(rest):
                            raise _Unknown
                        broken = True
                    pieces = rest.split('"')
                    last = len(pieces) - 1
                    i = 0
                    if mode == STRING:
                        piece = pieces[0]
                        if broken:
                            if _LINE_BREAK.search(piece):
                                raise _Unknown
                            if escaped:
                                if not last and (cut := _OPEN_ESCAPE.search(piece, max(0, len(piece) - 11))):
                                    tail = cut[0]
                                    piece = piece[: cut.start()]
                                piece = _decoded(piece)
                        length = len(text)
                        container[slot] = None
                        text += piece
                        container[slot] = text
                        if not last:
                            at = (STRING, frame, slot, tail, None, "")
                            if not tail:
                                letters = _LETTERS
                            seen = total
                            if immutable:
                                value = snapshot(root, frame, slot)
                            state = StreamState(value, seen, before, chunk, at)
                            continue
                        mode = AFTER_MEMBER if container.__class__ is dict else AFTER_ELEMENT
                        i = 1
                    key: Any = None
                    while True:
                        # The structure at i, then the string after it.
                        piece = pieces[i]
                        step = _BETWEEN[mode].get(piece)
                        if step is None:
                            if mode == COLON and piece[0] == ":":
                                # A scalar member is so common that it has its own step.
                                start = 2 if piece[1] == " " else 1
                                if piece[start] in _SCALAR_START and (i < last or piece[-1] in _AFTER_SCALAR):
                                    item, end = scan_flat(piece, start)
                                    if item in _INFINITE or end > MAX_NUMBER_CHARS or key in container:
                                        raise _Unknown
                                    container[key] = item
                                    mode = AFTER_MEMBER
                                    pieces[i] = piece[end:]
                                    continue
                            if i == last:
                                head = piece.rstrip(_IN_NUMBER)
                                if head != piece and (step := _BETWEEN[mode].get(head)) is not None:
                                    tail = piece[len(head) :]
                                    if tail[0] not in _NUMBER_START or (step != MEMBER_VALUE and step != NEXT_ELEMENT):
                                        raise _Unknown
                                    mode = step
                                    break
                            for token in _RUNS.get(piece) or _TOKENS.findall(piece):
                                if token == ",":
                                    if mode == AFTER_MEMBER:
                                        mode = NEXT_MEMBER
                                    elif mode == AFTER_ELEMENT:
                                        mode = NEXT_ELEMENT
                                    else:
                                        raise _Unknown
                                elif token == "}" or token == "]":
                                    if token == "}":
                                        if mode != AFTER_MEMBER and mode != MEMBER:
                                            raise _Unknown
                                    elif mode != AFTER_ELEMENT and mode != ELEMENT:
                                        raise _Unknown
                                    assert frame is not None
                                    if immutable:
                                        settle(root, frame)
                                    frame = frame.parent
                                    if frame is None:
                                        mode = DONE
                                        container = root
                                    else:
                                        container = frame.container
                                        mode = AFTER_MEMBER if container.__class__ is dict else AFTER_ELEMENT
                                elif token == ":":
                                    if mode != COLON:
                                        raise _Unknown
                                    mode = MEMBER_VALUE
                                elif mode == MEMBER_VALUE and key in container:
                                    raise _Unknown
                                elif mode != MEMBER_VALUE and mode != ELEMENT and mode != NEXT_ELEMENT and mode != START:
                                    raise _Unknown
                                elif token == "{" or token == "[":
                                    depth = 1 if frame is None else frame.depth + 1
                                    if depth > max_depth:
                                        raise _Unknown
                                    item = {} if token == "{" else []
                                    if mode == MEMBER_VALUE:
                                        container[key] = item
                                        frame = Frame(frame, key, item, depth)
                                    else:
                                        frame = Frame(frame, len(container), item, depth)
                                        container.append(item)
                                        if mode == START:
                                            value = item
                                    container = item
                                    mode = MEMBER if token == "{" else ELEMENT
                                elif mode == START or len(token) > MAX_NUMBER_CHARS:
                                    raise _Unknown
                                elif token in _LITERALS:
                                    if mode == MEMBER_VALUE:
                                        container[key] = _LITERALS[token]
                                        mode = AFTER_MEMBER
                                    else:
                                        container.append(_LITERALS[token])
                                        mode = AFTER_ELEMENT
                                elif i == last and token[0] not in _NUMBER_START:
                                    if not piece.endswith(token) or token not in _LITERAL_STARTS:
                                        raise _Unknown
                                    tail = token
                                else:
                                    if i == last and piece.endswith(token):
                                        token, _, tail = token.rpartition(",")
                                        tail = tail.strip(_BLANK)
                                        if not token:
                                            break
                                    if mode == MEMBER_VALUE:
                                        item, end = scan_flat(token, 0)
                                        if end != len(token) or item in _INFINITE:
                                            raise _Unknown
                                        container[key] = item
                                        mode = AFTER_MEMBER
                                    else:
                                        items, _ = scan_flat(f"[{token}]", 0)
                                        if _INFINITY in items or -_INFINITY in items:
                                            raise _Unknown
                                        container.extend(items)
                                        mode = NEXT_ELEMENT if tail else AFTER_ELEMENT
                        else:
                            mode = step
                        if i == last:
                            break
                        i += 1
                        piece = pieces[i]
                        if broken:
                            if _LINE_BREAK.search(piece):
                                raise _Unknown
                            if escaped:
                                if i == last and (cut := _OPEN_ESCAPE.search(piece, max(0, len(piece) - 11))):
                                    tail = cut[0]
                                    piece = piece[: cut.start()]
                                piece = _decoded(piece)
                        if mode == MEMBER_VALUE:
                            if key in container:
                                raise _Unknown
                            container[key] = piece
                            if i == last:
                                slot = key
                                mode = STRING
                                break
                            mode = AFTER_MEMBER
                        elif mode == NEXT_MEMBER or mode == MEMBER:
                            key = piece
                            if i == last:
                                mode = KEY
                                break
                            mode = COLON
                        elif mode == NEXT_ELEMENT or mode == ELEMENT:
                            container.append(piece)
                            if i == last:
                                slot = len(container) - 1
                                mode = STRING
                                break
                            mode = AFTER_ELEMENT
                        else:
                            raise _Unknown
                        i += 1
                    # Where the text ended: the position, and what may follow without an effect.
                    if mode == STRING:
                        text = piece
                        if not tail:
                            letters = _LETTERS
                    elif mode == AFTER_MEMBER or mode == MEMBER:
                        slot = None
                        steps = _STEPS[mode]
                    elif mode == AFTER_ELEMENT:
                        slot = len(container) - 1
                        steps = _STEPS[AFTER_ELEMENT]
                    elif mode == KEY:
                        if tail or (escaped and not _is_plain(key)):
                            raise _Unknown
                        slot = None
                        steps = _KEY_STEPS
                        if container:
                            mode = AFTER_MEMBER
                            tail = ',"' + key
                        else:
                            mode = MEMBER
                            tail = '"' + key
                    elif mode == COLON or mode == MEMBER_VALUE:
                        if (escaped and not _is_plain(key)) or (unique_keys and key in container):
                            raise _Unknown
                        slot = None
                        tail = f'"{key}"' if mode == COLON else f'"{key}":{tail}'
                        mode = MEMBER
                        if container:
                            mode = AFTER_MEMBER
                            tail = "," + tail
                    elif mode == NEXT_MEMBER:
                        slot = None
                        steps = _STEPS[NEXT_MEMBER]
                        mode = AFTER_MEMBER
                        tail = ","
                    elif mode == NEXT_ELEMENT:
                        slot = len(container) - 1
                        if not tail:
                            steps = _STEPS[NEXT_ELEMENT]
                        mode = AFTER_ELEMENT
                        tail = "," + tail
                    elif mode == ELEMENT:
                        slot = 0
                        if not tail:
                            steps = _STEPS[ELEMENT]
                    else:
                        slot = 0
                        quick = mode == START
                    if len(tail) > _MAX_TAIL:
                        raise _Unknown
                except (_Unknown, ValueError, StopIteration, IndexError):
                    _undo(before, root, base, length)
                else:
                    at = (mode, frame, slot, tail, None, "")
                    seen = total
                    if immutable:
                        value = snapshot(root, frame, slot if mode == STRING else None)
                    state = StreamState(value, seen, before, chunk, at)
                    continue
            changes, at = walk(before, chunk, seen, max_depth=max_depth, unique_keys=unique_keys, eager=eager)
            if lone:
                raise StreamError("INVALID_CHUNK", "A chunk holds half of a surrogate pair.", byte_offset=total)
            careful = _apply(changes, root, immutable) or careful
            seen = total
            mode, frame, slot, tail, _, _ = at
            letters = steps = _NONE
            text = ""
            if frame is None:
                container = root
                quick = mode == START and not careful
            else:
                container = frame.container
                quick = mode <= STRING and mode != COLON and mode != MEMBER_VALUE and not careful
                if mode == STRING and not tail and not eager:
                    letters = _LETTERS
                    text = container[slot]
            value = snapshot(root, frame, slot if mode == STRING else None) if immutable else _value(root)
            state = _state(root, value, seen, before, changes, at)
    finally:
        left.append((at, seen, value))


def _undo(before: Position, root: list[Any], base: int, length: int) -> None:
    """Take back what the second way has changed, so that the walk finds the tree as it was.

    Args:
        before: the position before the chunk.
        base: how many items the innermost open container had.
        length: how long its open string was; -1 when none was open.
    """
    _, frame, slot, _, _, _ = before
    container: Any = root if frame is None else frame.container
    if container.__class__ is list:
        del container[base:]
    else:
        while len(container) > base:
            container.popitem()
    if length >= 0:
        container[slot] = container[slot][:length]
    while frame is not None and frame.parent is not None:
        # An outer container that was reached has got its items after the open one.
        container = frame.parent.container
        if container.__class__ is list:
            del container[frame.slot + 1 :]  # type: ignore[operator]
        else:
            while next(reversed(container)) != frame.slot:
                container.popitem()
        container[frame.slot] = frame.container
        frame = frame.parent
    if frame is not None:
        root[0] = frame.container


def _apply(changes: list[Change], root: list[Any], immutable: bool) -> bool:
    """Make the changes of the walk; gives whether a key was repeated."""
    repeated = False
    for change in changes:
        op, frame, slot, value = change.op, change.frame, change.slot, change.value
        if op == "complete":
            if immutable and value is not None:
                settle(root, value)
            continue
        if isinstance(value, Frame):
            value = value.container
        container: Any = root if frame is None else frame.container
        if op == "append":
            text = container[slot]
            container[slot] = None  # a string grows in place only while nothing else holds it
            text += value
            container[slot] = text
        elif container.__class__ is dict:
            if slot in container:
                repeated = True
                if immutable:
                    container = fork(frame)
            container[slot] = value
        elif slot == len(container):
            container.append(value)
        else:
            container[slot] = value
    return repeated


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


def _decoded(text: str) -> str:
    if "\\" in text or "\0" in text or "\1" in text:
        return unescape(text.replace("\1", '\\"').replace("\0", "\\\\"))
    return text


def _is_plain(text: str) -> bool:
    """Whether a key may be read again as it is, without escapes."""
    return text.isprintable() and '"' not in text and "\\" not in text


_NONE: Final[Steps] = {}
_LETTERS: Final[Steps] = dict.fromkeys((chr(code) for code in range(32, 127) if chr(code) not in '"\\'), True)
_KEY_STEPS: Final[Steps] = {}


def _build_steps() -> tuple[Steps, ...]:
    number: Steps = {}
    number.update(dict.fromkeys("0123456789.eE+-", number))
    value: Steps = dict.fromkeys("-0123456789", number)
    for word in _LITERALS:
        table = value
        for letter in word[:-1]:  # the last letter has an effect
            table = table.setdefault(letter, {})
    value[" "] = value
    colon: Steps = {":": value}
    colon[" "] = colon
    _KEY_STEPS.update(dict.fromkeys(_LETTERS, _KEY_STEPS))
    _KEY_STEPS['"'] = colon
    member: Steps = {'"': _KEY_STEPS}
    member[" "] = member
    after_member: Steps = {",": member, " ": {}}
    after_member[" "] = after_member
    after_element: Steps = {",": value}
    after_element[" "] = after_element
    return (_NONE, value, value, member, member, colon, value, after_element, after_member, _NONE)


_STEPS: Final = _build_steps()
"""For each mode, the steps from it."""
