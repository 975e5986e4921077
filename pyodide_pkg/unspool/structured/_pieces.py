"""Reading a short stretch of plain structure by its quotes: one split, then a step for each piece between two quotes.

For a few pieces this takes half the time of going from token to token (`_read`): `str.split` finds all quotes in one
call, and most pieces of structure are one of a handful of texts. Plain means: no escapes, no control characters.
"""

from __future__ import annotations

import re
from typing import Any, Final

from unspool.structured._grammar import (
    AFTER_ELEMENT,
    AFTER_KEY,
    AFTER_MEMBER,
    AT_ELEMENT,
    AT_KEY,
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
)
from unspool.structured._read import (
    BLANK,
    IN_NUMBER,
    INFINITE,
    INFINITY,
    LITERAL_STARTS,
    NUMBER_START,
    Unknown,
)
from unspool.structured.frozen import settle
from unspool.structured.strict_json import scan_flat

_IN_ARRAY: Final = AT_ELEMENT | {AFTER_ELEMENT}
_COMMA: Final = frozenset({",", ", "})
_COLON: Final = frozenset({":", ": "})
_RUNS: Final = {
    run.replace(" ", gap): tuple(run.replace(" ", ""))
    for run in (
        *(
            ": {",
            ": [",
            ": [{",
            ": [[",
            "{",
            "[",
            "[{",
            "[[",
            ", {",
            ", [",
            "}",
            "]",
            "}}",
            "}]",
            "]}",
            "]]",
            "}, ",
            "], ",
        ),
        *("}, {", "], [", "}}, ", "}], ", "]}, ", "]], ", "]}, {", "}}, {", "}]}, {"),
    )
    for gap in (" ", "")
}
"""Brackets that often stand together, and their tokens."""
_TOKENS: Final = re.compile(r"[{}\[\]:,]|-?[0-9][-+.0-9eE]*(?: *, *-?[0-9][-+.0-9eE]*)*|[a-z]+|[^ ]")
"""Any structure; numbers with nothing but commas between them are one token."""
_WHOLE: Final = frozenset({"true", "false", "null", "{", "}", "[", "]", ",", ":"})
"""Tokens that end where they end."""


_IN_NUMBERS: Final = IN_NUMBER + ", "
_MAY_CLOSE: Final = {"}": frozenset({AFTER_MEMBER, MEMBER}), "]": frozenset({AFTER_ELEMENT, ELEMENT})}


def read_pieces(
    pieces: list[str],
    mode: int,
    frame: Frame | None,
    key: Slot,
    root: list[Any],
    max_depth: int,
    unique_keys: bool,
    immutable: bool,
) -> Position:
    """Read structure up to the end of the text, or up to an open string there; as `read`, of which it knows a part.

    Args:
        pieces: the text, split at its quotes: structure and inside of a string by turns.
    """
    container: Any = root if frame is None else frame.container
    item: Any
    tail = ""
    last = len(pieces) - 1
    i = 0
    while True:
        # The structure at i, then the string after it.
        piece = pieces[i]
        if piece in _COMMA:
            if mode == AFTER_MEMBER:
                mode = NEXT_MEMBER
            elif mode == AFTER_ELEMENT:
                mode = NEXT_ELEMENT
            else:
                raise Unknown
        elif piece in _COLON:
            if mode != COLON:
                raise Unknown
            mode = MEMBER_VALUE
        elif piece:
            tokens: Any = _RUNS.get(piece)
            if tokens is None:
                if mode == COLON and piece[0] == ":":
                    # A scalar member is so common that it has its own step.
                    start = 2 if piece[1] == " " else 1
                    char = piece[start]
                    if char in NUMBER_START and i == last:
                        tail = piece[start:]
                        if not tail.strip(IN_NUMBER):
                            mode = MEMBER_VALUE
                            break
                        tail = ""
                    if char != "[" and char != "{" and not (i == last and piece[start:] in LITERAL_STARTS):
                        item, end = scan_flat(piece, start)
                        if item in INFINITE or key in container:
                            raise Unknown
                        container[key] = item
                        mode = AFTER_MEMBER
                        pieces[i] = piece[end:]
                        continue
                if not last and mode in _IN_ARRAY and not piece.strip(_IN_NUMBERS):
                    return _numbers(piece, mode, frame, container)
                tokens = _TOKENS.findall(piece)
                if i == last and piece[-1] != " " and tokens[-1] not in _WHOLE:
                    # A number or literal that may go on.
                    head, _, tail = tokens.pop().rpartition(",")
                    tail = tail.strip(BLANK)
                    if tail[0] not in NUMBER_START and tail not in LITERAL_STARTS:
                        raise Unknown
                    if head:
                        tokens += head, ","
            for token in tokens:
                if token == ",":
                    if mode == AFTER_MEMBER:
                        mode = NEXT_MEMBER
                    elif mode == AFTER_ELEMENT:
                        mode = NEXT_ELEMENT
                    else:
                        raise Unknown
                elif token == "}" or token == "]":
                    if mode not in _MAY_CLOSE[token] or frame is None:
                        raise Unknown
                    if immutable:
                        settle(root, frame)
                    frame = frame.parent
                    if frame is None:
                        container = root
                        mode = DONE
                    else:
                        container = frame.container
                        mode = AFTER_MEMBER if container.__class__ is dict else AFTER_ELEMENT
                elif token == ":":
                    if mode != COLON:
                        raise Unknown
                    mode = MEMBER_VALUE
                elif token == "{" or token == "[":
                    depth = 1 if frame is None else frame.depth + 1
                    if depth > max_depth:
                        raise Unknown
                    item = {} if token == "{" else []
                    if mode == MEMBER_VALUE:
                        if key in container:
                            raise Unknown
                        container[key] = item
                        frame = Frame(frame, key, item, depth)
                    elif mode in AT_ELEMENT or mode == START:
                        frame = Frame(frame, len(container), item, depth)
                        container.append(item)
                    else:
                        raise Unknown
                    container = item
                    mode = MEMBER if token == "{" else ELEMENT
                elif mode == MEMBER_VALUE:
                    item, end = scan_flat(token, 0)
                    if end != len(token) or item in INFINITE or key in container:
                        raise Unknown
                    container[key] = item
                    mode = AFTER_MEMBER
                elif mode in AT_ELEMENT:
                    # A literal, or numbers with commas between them.
                    items, end = scan_flat(f"[{token}]", 0)
                    if end != len(token) + 2 or INFINITY in items or -INFINITY in items:
                        raise Unknown
                    container.extend(items)
                    mode = AFTER_ELEMENT
                else:
                    raise Unknown
        if i == last:
            break
        i += 1
        piece = pieces[i]
        if mode in AT_KEY:
            key = piece
            if i == last:
                return (mode, frame, None, f'"{key}', None, "")
            mode = COLON
        elif mode in AT_ELEMENT:
            container.append(piece)
            if i == last:
                return (STRING, frame, len(container) - 1, "", None, "")
            mode = AFTER_ELEMENT
        elif mode == MEMBER_VALUE:
            if key in container:
                raise Unknown
            container[key] = piece
            if i == last:
                return (STRING, frame, key, "", None, "")
            mode = AFTER_MEMBER
        else:
            raise Unknown
        i += 1
    # The text ended outside strings.
    if mode in AFTER_KEY:
        if (tail and mode == COLON) or (unique_keys and key in container):
            raise Unknown
        return (mode, frame, key, tail, None, "")
    if mode in AT_ELEMENT:
        return (mode, frame, len(container), tail, None, "")
    if tail:
        raise Unknown
    if mode == AFTER_ELEMENT:
        return (mode, frame, len(container) - 1, "", None, "")
    return (mode, frame, 0 if frame is None else None, "", None, "")


def _numbers(piece: str, mode: int, frame: Frame | None, container: list[Any]) -> Position:
    """Read nothing but elements of an array that are numbers, the last of which may go on."""
    if mode == AFTER_ELEMENT:
        if piece[0] != ",":
            raise Unknown
        piece = piece[1:]
    head, comma, tail = piece.rpartition(",")
    tail = tail.lstrip(" ")
    if (tail and tail[0] not in NUMBER_START) or " " in tail:
        raise Unknown
    if comma:
        items, end = scan_flat(f"[{head}]", 0)
        if not items or end != len(head) + 2 or INFINITY in items or -INFINITY in items:
            raise Unknown
        container.extend(items)
    return (NEXT_ELEMENT if container else ELEMENT, frame, len(container), tail, None, "")
