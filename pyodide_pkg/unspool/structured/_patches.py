"""Patches: the changes of the tree as a reader sees them, made when somebody asks for them."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportOptionalOperand=false, reportAssignmentType=false
# A slot is a key, an index or None, by the kind of container around it: pyright cannot follow.

from __future__ import annotations

import re
from typing import Any, Final

from unspool.structured._grammar import (
    BODY,
    COLON,
    LITERALS,
    MEMBER_VALUE,
    STRING,
    Change,
    Frame,
    PatchOp,
    Path,
    Position,
    ends_in_half_pair,
    walk,
)
from unspool.structured.strict_json import DEPTH_CEILING, number, unescape

_STRING: Final = re.compile(rf'({BODY.pattern})("?)')
_TOKENS: Final = re.compile(rf'"{_STRING.pattern}|([{{}}\[\]:,])|([-+.0-9eE]++)|([a-z]++)')
_NO_KEY: Any = None
"""The slot where a key comes next."""
_IN_NUMBER: Final = frozenset("-+.0123456789eE")


class Patch:
    """One change of the tree. Applying the patches of all states in order to nothing gives the value.

    `set` creates or replaces the value at the path: an empty container, an empty string, a number, a boolean or None;
    containers and strings are filled by later patches. `append` extends a string. `complete` says that the value at the
    path will not change any more (its `value` is None).
    """

    __slots__ = ("op", "path", "value")
    __match_args__ = ("op", "path", "value")

    def __init__(self, op: PatchOp, path: Path, value: Any = None) -> None:
        self.op: PatchOp = op
        """What is done."""
        self.path = path
        """Keys (text) and indexes (numbers) from the root; `()` is the root."""
        self.value = value
        """The new value, or the text to add."""

    def to_wire(self) -> dict[str, object]:
        """Give the patch as JSON-safe data: `op`, `path`, and `value` unless it is a completion."""
        wire: dict[str, object] = {"op": self.op, "path": list(self.path)}
        if self.op != "complete":
            wire["value"] = self.value
        return wire

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Patch)
            and self.op == other.op
            and self.path == other.path
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    __hash__ = None  # type: ignore[assignment]  # the value may be a container

    def __repr__(self) -> str:
        return f"Patch({self.op!r}, {self.path!r}, {self.value!r})"


def patches_of_text(before: Position, text: str) -> list[Patch]:
    """Give the patches of one piece of text, which the scanner has read with `scalars="complete"`.

    Nothing is judged any more, so one pass over the tokens is enough.

    Args:
        before: where the text before it ended.
        text: the piece.
    """
    mode, frame, slot, tail, _, _ = before
    if mode > STRING:  # the text of a key, number or literal is open
        changes, _ = walk(before, text, 0, max_depth=DEPTH_CEILING, unique_keys=False, eager=False)
        return patches_of_changes(changes)
    if mode == STRING and not tail and '"' not in text and "\\" not in text:
        if not text:
            return []
        return [Patch("append", () if frame is None else (*frame.path(), slot), text)]  # type: ignore[arg-type]
    text = tail + text
    patches: list[Patch] = []
    # Where we are: path and kind of the innermost open container, and the slot in it of the value that comes next or
    # came last; None where a key comes next.
    base: Path | None = None
    in_array = False
    index: Any = _NO_KEY
    path: Path
    if frame is not None:
        base = frame.path()
        in_array = isinstance(frame.container, list)
        index = slot if in_array or mode in (STRING, COLON, MEMBER_VALUE) else _NO_KEY
    inner: list[tuple[Path | None, bool, Any]] = []
    start = 0
    if mode == STRING:
        match: Any = _STRING.match(text)
        start = match.end()
        body, quote = match.groups()
        path = () if base is None else (*base, index)
        if string := _shown(body, quote):
            patches.append(Patch("append", path, string))
        if not quote:
            return patches
        patches.append(Patch("complete", path))
    tokens = _TOKENS.findall(text, start)
    last = len(tokens) - 1
    for place, (body, quote, mark, digits, word) in enumerate(tokens):
        if mark == ",":
            index = index + 1 if in_array else _NO_KEY
        elif mark == ":":
            pass
        elif mark == "}" or mark == "]":
            patches.append(Patch("complete", base or ()))
            if inner:
                base, in_array, index = inner.pop()
            elif frame is not None:
                index, frame = frame.slot, frame.parent
                base = None if frame is None else frame.path()
                in_array = frame is not None and isinstance(frame.container, list)
        elif index is None and base is not None:
            if not quote:
                break  # a key that is not whole
            index = unescape(body) if "\\" in body else body
        else:
            path = () if base is None else (*base, index)
            if mark:
                inner.append((base, in_array, index))
                base = path
                in_array = mark == "["
                patches.append(Patch("set", path, [] if in_array else {}))
                index = 0 if in_array else _NO_KEY
                continue
            if digits:
                if place == last and text[-1] in _IN_NUMBER:
                    break  # it may go on
                patches.append(Patch("set", path, number(digits)))
            elif word:
                if word not in LITERALS:
                    break  # not whole
                patches.append(Patch("set", path, LITERALS[word]))
            else:
                patches.append(Patch("set", path, ""))
                if string := _shown(body, quote):
                    patches.append(Patch("append", path, string))
                if not quote:
                    break
            patches.append(Patch("complete", path))
    return patches


def patches_of_changes(changes: list[Change]) -> list[Patch]:
    """Give the changes of the walk their paths."""
    patches: list[Patch] = []
    for change in changes:
        frame = change.frame
        path: Path = () if frame is None else (*frame.path(), change.slot)  # type: ignore[arg-type]
        value: Any = change.value
        if change.op == "complete":
            value = None
        elif isinstance(value, Frame):
            value = value.container.__class__()
        patches.append(Patch(change.op, path, value))
    return patches


def _shown(body: str, quote: str) -> str:
    """Decode the new part of a string; half of a pair at its end waits for the other half."""
    if "\\" not in body:
        return body
    if not quote and ends_in_half_pair(body):
        body = body[:-6]
    return unescape(body)
