"""Reading back: whether a text that was written of a value gives the same value again.

In: the text, the value and its schema. Out: nothing, or the refusal that says where another value would come, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError, UnspoolError
from unspool.schema.problem import Path, path_text
from unspool.schema.subschemas import is_object
from unspool.schema.validation_error import shown_python
from unspool.schema.value_text import ValueWriter
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from unspool.schema.text import Protocol
    from unspool.schema.types import Schema

_KINDS = (dict, list, tuple, set, frozenset, str, bytes)
_DATA = (dict, list, tuple, str, int, float, bool, type(None))


def check_read_back(text: str, value: Any, schema: Schema[Any], protocol: Protocol) -> None:
    """Read a text as a reply, and compare.

    Raises:
        ConfigError: INVALID_OPTIONS when it cannot be read, or another value comes.
    """
    limits: Any = {"max_chars": max(len(text), 1), "max_depth": MAX_DEPTH}
    machine: Any
    try:
        if protocol == "python":
            machine = PyReplyMachine(classes=schema.classes, names=schema.names, **limits)
        else:
            machine = JsonReplyMachine(**limits)
        machine.feed(text)
        found = schema.validate(machine.finish(), protocol="python" if protocol == "python" else "json")
    except UnspoolError as error:
        raise ConfigError(
            "INVALID_OPTIONS", f"What would be written as {schema.name} could not be read back: {error.message}"
        ) from error
    check_same(value, found, schema)


def check_same(value: Any, found: Any, schema: Schema[Any], *, is_reply: bool = False) -> None:
    """Compare a value with what came of reading its text.

    Args:
        value, found, schema: of the type `schema`.
        is_reply: take plain data that is in no instance for a reply as it is: whatever comes of it is what was meant.
    Raises:
        ConfigError: INVALID_OPTIONS when they differ.
    """
    difference = _difference(value, found, ValueWriter(schema.python_type), is_reply)
    if difference is not None:
        path, other = difference
        raise ConfigError(
            "INVALID_OPTIONS",
            f"{path_text(path) or 'The value'} cannot be written as {schema.name}: it would be read back as "
            f"{type(other).__name__} {shown_python(other)}.",
        )


def _difference(value: Any, found: Any, writer: ValueWriter, is_reply: bool) -> tuple[Path, Any] | None:
    """Find the first place in which two values differ, and what is there in the second. Without recursion.

    Fields that no text shows are not looked at; numbers are compared by value, as the type has made them.
    """
    todo: list[tuple[Path, Any, Any, bool]] = [((), value, found, is_reply)]
    mine: dict[Any, Any]
    theirs: dict[Any, Any]
    while todo:
        path, one, other, is_reply = todo.pop()
        kind: type = type(cast("object", one))
        fields, others = writer.fields_of(one), writer.fields_of(other)
        if is_reply and fields is None and kind in _DATA:
            for step, member, theirs_at in _both(one, other):
                todo.append(((*path, step), member, theirs_at, True))
            continue
        if fields is not None or others is not None:
            if fields is None or others is None or kind is not type(other):
                return path, other
            mine, theirs = dict(fields[1]), dict(others[1])
        elif not _is_alike(one, other):
            return path, other
        elif getattr(kind, "__pydantic_root_model__", False) is True:
            todo.append((path, one.root, other.root, False))
            continue
        elif is_object(one):
            mine, theirs = dict(one), dict(other)
        elif issubclass(kind, list | tuple):
            mine, theirs = _numbered(one), _numbered(other)
        elif one == other:
            continue
        else:
            return path, other
        if mine.keys() != theirs.keys():
            return path, other
        todo.extend((((*path, step), member, theirs[step], False) for step, member in reversed(mine.items())))
    return None


def _both(one: Any, other: Any) -> list[tuple[Any, Any, Any]]:
    """Give the steps into plain data that lead on in both, with what is there, the last first."""
    if is_object(one) and is_object(other):
        return [(step, member, other[step]) for step, member in one.items() if step in other][::-1]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(cast("Any", one), cast("Any", other), strict=False)
        return [(step, *pair) for step, pair in enumerate(pairs)][::-1]
    return []


def _is_alike(one: Any, other: Any) -> bool:
    """Tell whether two values may be the same, going by what they are."""
    if isinstance(one, Enum) or isinstance(other, Enum) or isinstance(one, bool) or isinstance(other, bool):
        return type(one) is type(other)
    if isinstance(one, int | float):
        return isinstance(other, int | float)
    for kind in _KINDS:
        if isinstance(one, kind):
            return isinstance(other, kind)
    return type(one) is type(other)


def _numbered(items: Sequence[Any]) -> dict[int, Any]:
    return dict(enumerate(items))
