"""What tests of incremental JSON share: reading a text in pieces while checking what must hold after each piece."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from unspool.errors import StreamError
from unspool.structured.frozen import thaw
from unspool.structured.json_stream import JsonStream
from unspool.structured.tree import Patch

Outcome = tuple[str, Any]
"""("ok", value as text) or (code, byte offset)."""

NOTHING: Any = object()
"""The value before it begins."""


def replay(value: Any, patches: Iterable[Patch]) -> Any:
    """Apply patches as their reader would (S24); gives the value."""
    for patch in patches:
        if patch.op == "complete":
            continue
        new = thaw(patch.value)  # a patch's container stays empty
        if not patch.path:
            value = value + new if patch.op == "append" else new
            continue
        *outer, slot = patch.path
        container = value
        for segment in outer:
            container = container[segment]
        if patch.op == "append":
            container[slot] += new
        elif isinstance(container, list) and slot == len(container):
            container.append(new)
        else:
            container[slot] = new
    return value


def extends(new: Any, old: Any) -> bool:
    """Whether a partial value continues an earlier one: nothing in it was lost, shortened or changed in type (F16)."""
    if old is NOTHING:
        return True
    if type(new) is not type(old):
        return False
    if isinstance(old, str):
        return new.startswith(old)
    if isinstance(old, list):
        return len(new) >= len(old) and all(map(extends, new, old))
    if isinstance(old, dict):
        return all(key in new and extends(new[key], item) for key, item in old.items())
    return bool(new == old)


def read(pieces: Sequence[str], *, grows: bool = True, **options: Any) -> Outcome:
    """Read a text in pieces, and check after each that the patches replayed give the value, and that it has grown.

    Args:
        pieces: the text.
        grows: values only grow; not so for repeated keys, nor for numbers shown early.
        options: of `JsonStream`.
    """
    stream = JsonStream(**options)
    replayed: Any = NOTHING
    seen: list[tuple[Any, str]] = []
    try:
        for piece in [*pieces, None]:
            before = thaw(stream.value)
            try:
                state = stream.finish() if piece is None else stream.push(piece)
            except StreamError:
                assert as_text(thaw(stream.value)) == as_text(before)  # S14: a failing piece leaves nothing behind
                raise
            replayed = replay(replayed, state.changes)
            value = thaw(state.partial_value)
            assert as_text(value) == as_text(None if replayed is NOTHING else replayed)
            if grows and before is not None:
                assert extends(value, before)
            if options.get("snapshots") == "immutable":
                seen.append((state.partial_value, as_text(value)))
        assert stream.field_state(()) == "complete"
    except StreamError as error:
        assert error.operation in ("push", "finish")
        return error.code, error.byte_offset
    finally:
        for snapshot, text in seen:  # S48: earlier values never change
            assert as_text(thaw(snapshot)) == text
    return "ok", as_text(thaw(stream.value))


def as_text(value: Any) -> str:
    """A value as text that tells 1 from 1.0 and True, and keeps the order of keys."""
    return repr(value)


def decoded(text: str) -> str:
    """What the standard library makes of a text."""
    return as_text(json.loads(text))


keys = st.sampled_from(["a", "b", "key", "", "é", "😀", 'q"uo\\te', "line\n", "__class__", "k" * 70]) | st.text(
    max_size=5
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(["x" * 90, '\\"', "\u2028", "\x7f", "a\u00adb", "😀" * 3, "C:\\temp", "\ud83d", "\udc00!"])
)
numbers = st.lists(st.integers(-999, 999) | st.floats(-100, 100, allow_nan=False), max_size=8)
values = st.recursive(
    scalars | numbers,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """A valid JSON text in one of the ways it may be written."""
    value = draw(values)
    # Raw lone surrogates are refused, so a value that holds one is written in ASCII.
    ascii_only = draw(st.booleans()) or any(
        "\ud800" <= char <= "\udfff" for char in json.dumps(value, ensure_ascii=False)
    )
    text = json.dumps(
        value,
        ensure_ascii=ascii_only,
        indent=draw(st.sampled_from([None, None, 2, "\t"])),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")])),
    )
    space = st.text(" \t\r\n", max_size=3)
    return draw(space) + text + draw(space)


@st.composite
def broken_texts(draw: st.DrawFn) -> str:
    """A JSON text with some characters put in, left out or replaced; it may still be valid."""
    text = draw(json_texts())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        new = draw(
            st.sampled_from([*'{}[],:"\\ 0123456789-+.eEtrufalsn\n\t\x01\x0c\ufeffé\ud83d\udc00NI/*', "", "1e999"])
        )
        text = text[:at] + new + text[at + draw(st.integers(0, 2)) :]
    return text


@st.composite
def pieces_of(draw: st.DrawFn, text: str) -> list[str]:
    """A text cut at drawn places; some pieces are empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
