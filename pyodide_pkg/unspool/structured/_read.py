"""Reading a stretch of structure: whole members and elements, brackets, and the part of one at the end.

It goes from token to token with compiled patterns and the C decoder of the standard library, and changes the tree as it
goes. Whatever it does not know raises Unknown; the caller then takes back what it changed and asks the walk.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# Pyright loses the declared types in a loop of this size; mypy follows them.

from __future__ import annotations

import re
from typing import Any, Final

from unspool.structured._grammar import (
    AFTER_ELEMENT,
    AFTER_MEMBER,
    AT_ELEMENT,
    AT_KEY,
    BODY,
    COLON,
    DONE,
    ELEMENT,
    MEMBER,
    MEMBER_VALUE,
    NEXT_ELEMENT,
    NEXT_MEMBER,
    START,
    STRING,
    Frame,
    Position,
    Slot,
    ends_in_half_pair,
)
from unspool.structured.frozen import freeze, settle
from unspool.structured.strict_json import nests_deeper, scan_flat, scan_nested, unescape

INFINITY: Final = float("inf")
INFINITE: Final = frozenset({INFINITY, -INFINITY})
IN_NUMBER: Final = "0123456789-+.eE"
NUMBER_START: Final = frozenset("-0123456789")
LITERAL_STARTS: Final = frozenset({"t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"})
BLANK: Final = " \t\n\r"
_WORTHWHILE: Final = 48
"""Characters from which it pays to look for what is there as a whole, and give that to the C decoder."""

_W: Final = r"[ \t\n\r]*+"
_T: Final = r'[^"\\\x00-\x1f]*+'
_KEY: Final = rf'"({_T})(?:(")(?:{_W}(?:(:){_W})?)?)?'
_CLOSED, _COMMA, _OPEN_KEY, _KEY_END, _AT_VALUE = range(1, 6)
_MEMBERS: Final = {
    MEMBER: re.compile(rf"{_W}(?:(\}})|()(?:{_KEY}))?"),
    NEXT_MEMBER: re.compile(rf"{_W}(?:((?!))|()(?:{_KEY}))?"),
    AFTER_MEMBER: re.compile(rf"{_W}(?:(\}})|(,){_W}(?:{_KEY})?)?"),
    COLON: re.compile(rf"{_W}(?:()()()()(:){_W})?"),
}
"""From each mode to the value of the next member; the last group that matched tells how far the text goes."""
_ELEMENTS: Final = {
    ELEMENT: re.compile(rf"{_W}(?:(\]))?"),
    NEXT_ELEMENT: re.compile(rf"{_W}"),
    AFTER_ELEMENT: re.compile(rf"{_W}(?:(\])|(,){_W})?"),
}
_STRING: Final = re.compile(rf'"({_T})(")?')
_NUMBERS: Final = re.compile(r"[-+.0-9eE, \t\n\r]*+")
_SPACE: Final = re.compile(_W)
_CLOSED_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BRACKETS_OF_ONE: Final = rf'[\[{{](?:[^"\[\]{{}}]++|{_CLOSED_STRING}%s)*+[\]}}]'
_WHOLE: Final = _BRACKETS_OF_ONE % ("|" + _BRACKETS_OF_ONE % ("|" + _BRACKETS_OF_ONE % ("|" + _BRACKETS_OF_ONE % "")))
"""A container with up to three levels of others in it. Only its extent: what is in it, the decoder judges."""
_ITEMS: Final = re.compile(rf'(?:(?:[^",\[\]{{}}]++|{_CLOSED_STRING}|{_WHOLE})++(?:,|(?=[\]}}])))*+', re.DOTALL)
"""Whole members or elements, each with the comma after it, or before the closing bracket."""


_AFTER_ITEM: Final = frozenset({AFTER_MEMBER, AFTER_ELEMENT})
_BEFORE_ITEMS: Final = AT_KEY | AT_ELEMENT | _AFTER_ITEM


class Unknown(Exception):
    """The text is at fault here, or is of a kind that only the walk reads."""


def read(
    text: str,
    mode: int,
    frame: Frame | None,
    key: Slot,
    root: list[Any],
    max_depth: int,
    unique_keys: bool,
    immutable: bool,
) -> Position:
    """Read structure up to the end of the text, or up to an open string there.

    Args:
        text: structure that begins at the position, without raw surrogates.
        mode, frame, key: of a position outside strings, whose tail is part of the text.
        root: holds the root value.
        max_depth: most open containers at once.
        unique_keys: a repeated key is a fault.
        immutable: containers are frozen when they close.
    Returns:
        Where the text ends.
    Raises:
        Unknown, ValueError, StopIteration: read it another way; the tree may have changed.
    """
    container: Any = root if frame is None else frame.container
    size = len(text)
    depth = 0 if frame is None else frame.depth
    # The C decoder recurses, and in Pyodide too deep a recursion is fatal.
    in_one = size >= _WORTHWHILE and not nests_deeper(text, max_depth - depth)
    pos = 0
    match: Any  # patterns without a required part match always
    while True:
        if in_one and size - pos >= _WORTHWHILE and mode in _BEFORE_ITEMS:
            # Members or elements that are there as a whole, in one call of the decoder.
            begin: int = pos + 1 if mode in _AFTER_ITEM else pos
            if begin == pos or text[pos] == ",":
                match = _ITEMS.match(text, begin)
                end: int = match.end()
                if end > begin:
                    followed = text[end - 1] == ","
                    whole = text[begin : end - 1] if followed else text[begin:end]
                    mode = _take_items(whole, followed, mode, container, unique_keys, immutable)
                    pos = end
        pattern = _MEMBERS.get(mode)
        if pattern is not None:
            match = pattern.match(text, pos)
            pos = match.end()
            found = match.lastindex
            if found == _AT_VALUE:
                if mode != COLON:
                    key = match[_OPEN_KEY]
                mode = MEMBER_VALUE
            elif found == _CLOSED:
                frame, container, mode = _close(frame, root, immutable)
                continue
            elif pos < size:
                if found != _OPEN_KEY or text[pos] != "\\":
                    raise Unknown
                key, pos = scan_flat(text, match.start(_OPEN_KEY) - 1)
                mode = COLON
                continue
            elif found == _OPEN_KEY:
                return (NEXT_MEMBER if container else MEMBER, frame, None, f'"{match[_OPEN_KEY]}', None, "")
            elif found == _KEY_END or mode == COLON:
                if mode != COLON:
                    key = match[_OPEN_KEY]
                if unique_keys and key in container:
                    raise Unknown
                return (COLON, frame, key, "", None, "")
            else:
                return (NEXT_MEMBER if found == _COMMA else mode, frame, None, "", None, "")
        elif mode != MEMBER_VALUE:
            if frame is None:
                match = _SPACE.match(text, pos)
                pos = match.end()
                if mode == DONE:
                    if pos < size:
                        raise Unknown
                    return (DONE, None, 0, "", None, "")
            else:
                match = _ELEMENTS[mode].match(text, pos)
                pos = match.end()
                found = match.lastindex
                if found == _CLOSED:
                    frame, container, mode = _close(frame, root, immutable)
                    continue
                if found == _COMMA:
                    mode = NEXT_ELEMENT
                elif mode == AFTER_ELEMENT:
                    if pos < size:
                        raise Unknown
                    return (mode, frame, len(container) - 1, "", None, "")
        # A value.
        if pos == size:
            if mode == MEMBER_VALUE:
                if unique_keys and key in container:
                    raise Unknown
                return (mode, frame, key, "", None, "")
            return (mode, frame, len(container), "", None, "")
        char = text[pos]
        if char == '"':
            if mode == START:
                raise Unknown
            match = _STRING.match(text, pos)
            item: Any = match[1]
            end = match.end()
            is_open = match.lastindex == 1
            if is_open and end < size:
                match = BODY.match(text, pos + 1)
                item = unescape(match[0])
                end = match.end()
                is_open = end == size
                if is_open and ends_in_half_pair(match[0]):
                    raise Unknown
                if not is_open:
                    if text[end] != '"':
                        raise Unknown
                    end += 1
            pos = end
            if is_open:
                if mode != MEMBER_VALUE:
                    container.append(item)
                    return (STRING, frame, len(container) - 1, "", None, "")
                if key in container:
                    raise Unknown
                container[key] = item
                return (STRING, frame, key, "", None, "")
        elif char in "{[":
            depth = 1 if frame is None else frame.depth + 1
            item = None
            if in_one and mode == START:
                try:
                    item, pos = scan_nested(text, pos, unique_keys)
                except (ValueError, StopIteration, RecursionError):
                    pass  # cut, or at fault further on: go through it
                else:
                    if immutable:
                        item = freeze(item)
            if item is None:
                if depth > max_depth:
                    raise Unknown
                item = {} if char == "{" else []
                if mode != MEMBER_VALUE:
                    frame = Frame(frame, len(container), item, depth)
                    container.append(item)
                elif key in container:
                    raise Unknown
                else:
                    container[key] = item
                    frame = Frame(frame, key, item, depth)
                container = item
                mode = MEMBER if char == "{" else ELEMENT
                pos += 1
                continue
            if mode == START:
                root.append(item)
                mode = DONE
                continue
        elif mode == START:
            raise Unknown
        elif mode != MEMBER_VALUE and char in NUMBER_START:
            match = _NUMBERS.match(text, pos)
            run: str = match[0]
            pos += len(run)
            tail = ""
            if pos == size and run[-1] not in BLANK:
                run, comma, tail = run.rpartition(",")
                tail = tail.strip(BLANK)
                mode = NEXT_ELEMENT if comma else mode
            else:
                head, comma, last = run.rpartition(",")
                if last.strip(BLANK):
                    mode = AFTER_ELEMENT
                else:
                    run = head
                    mode = NEXT_ELEMENT
            if run:
                items, end = scan_flat(f"[{run}]", 0)
                if end != len(run) + 2 or INFINITY in items or -INFINITY in items:
                    raise Unknown
                container.extend(items)
            if tail and (tail[0] not in NUMBER_START or tail.strip(IN_NUMBER)):
                raise Unknown
            if tail:
                return (mode, frame, len(container), tail, None, "")
            continue
        else:
            rest = text[pos:]
            if rest in LITERAL_STARTS or (char in NUMBER_START and not rest.strip(IN_NUMBER)):
                if mode != MEMBER_VALUE:
                    return (mode, frame, len(container), rest, None, "")
                if unique_keys and key in container:
                    raise Unknown
                return (mode, frame, key, rest, None, "")
            item, pos = scan_flat(text, pos)
            if item in INFINITE:
                raise Unknown
        if mode != MEMBER_VALUE:
            container.append(item)
            mode = AFTER_ELEMENT
        elif key in container:
            raise Unknown
        else:
            container[key] = item
            mode = AFTER_MEMBER


def _take_items(run: str, followed: bool, mode: int, container: Any, unique_keys: bool, immutable: bool) -> int:
    """Put whole members or elements into their container; gives the mode after them.

    Args:
        run: they, with commas between them.
        followed: a comma comes after them.
        mode: before them.
    """
    is_object = container.__class__ is dict
    items, end = scan_nested(f"{{{run}}}" if is_object else f"[{run}]", 0, unique_keys)
    if end != len(run) + 2 or (followed and not items):
        raise Unknown
    if not items:
        return mode
    if immutable:
        members: Any = items.items() if is_object else enumerate(items)
        for slot, item in list(members):
            if item.__class__ is dict or item.__class__ is list:
                items[slot] = freeze(item)
    if not is_object:
        container.extend(items)
        return NEXT_ELEMENT if followed else AFTER_ELEMENT
    if not items.keys().isdisjoint(container):
        raise Unknown
    container.update(items)
    return NEXT_MEMBER if followed else AFTER_MEMBER


def _close(frame: Frame | None, root: list[Any], immutable: bool) -> tuple[Frame | None, Any, int]:
    """Leave a container; gives the outer frame, its container, and the mode."""
    assert frame is not None
    if immutable:
        settle(root, frame)
    frame = frame.parent
    if frame is None:
        return None, root, DONE
    container = frame.container
    return frame, container, AFTER_MEMBER if container.__class__ is dict else AFTER_ELEMENT
