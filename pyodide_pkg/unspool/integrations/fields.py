"""Fields: one way to read an event, whatever it is made of.

In: a dict, an object with attributes (pydantic's, an SDK's), or a JavaScript object. Out: something with `get(name)`,
where what is absent, undefined or null is None. Nothing is copied, and no SDK is imported.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, cast

from unspool.errors import StreamError
from unspool.source import is_javascript
from unspool.structured.strict_json import DEPTH_CEILING


class Record(Protocol):
    """What fields are read from: a dict as it is, and a view of anything else."""

    def get(self, name: str, default: Any = None, /) -> Any: ...


class Attributes:
    """An object whose fields are attributes, Python's or JavaScript's, read as a record."""

    __slots__ = ("_object",)

    def __init__(self, object: Any) -> None:
        self._object = object

    def get(self, name: str, default: Any = None, /) -> Any:
        """Give a field, or the default when there is none."""
        value = getattr(self._object, name, default)
        return None if value is _javascript_null() else value


class Elements:
    """A list read as a record: it has no fields, but `items` gives what is in it."""

    __slots__ = ("elements",)

    def __init__(self, elements: Any) -> None:
        self.elements = elements

    def get(self, name: str, default: Any = None, /) -> Any:
        """Give the default."""
        return default


_EMPTY: Record = cast(Any, {})


def record(value: Any) -> Record:
    """Give a value as a record; what can have no fields is a record without any."""
    if value.__class__ is dict or isinstance(value, Mapping):
        return cast(Record, value)
    if value is None or isinstance(value, str | bytes | int | float) or value is _javascript_null():
        return _EMPTY
    if isinstance(value, Attributes | Elements):
        return value
    return Elements(value) if is_array(value) else Attributes(value)


def first(record: Record, *names: str) -> Any:
    """Give the first of several fields that is there: `first(event, "toolCallId", "tool_call_id")`."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return value
    return None


def items(value: Any) -> Sequence[Any]:
    """Give the elements of a list, Python's or JavaScript's; anything else has none."""
    if value.__class__ is list:
        return cast("Sequence[Any]", value)
    if isinstance(value, Elements):
        value = value.elements
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else list(value) if is_array(value) else ()


def is_array(value: Any) -> bool:
    """Whether a value is a list, Python's or JavaScript's."""
    if isinstance(value, list | tuple):
        return True
    if sys.platform != "emscripten":
        return False
    from pyodide.ffi import JsArray

    return isinstance(value, JsArray)


def key(value: Any) -> int | str | None:
    """Give an index as something to look up by; what is neither a number nor text is None."""
    return value if isinstance(value, int | str) else None


def text(value: Any) -> str:
    """Give a fragment of text; what is not text is no text."""
    if value.__class__ is str:
        return value
    return str.__str__(value) if isinstance(value, str) else ""  # a member of an enumeration says its name otherwise


def type_of(record: Record, *names: str) -> str | None:
    """Give the name of an event, for diagnostics: the first of `type`, `event_type` and `names` that is text."""
    for name in ("type", "event_type", *names):
        value = record.get(name)
        if isinstance(value, str):
            return text(value)
    return None


def json_text(value: Any) -> str:
    """Write a decoded value (the final input of a call, arguments that come as an object) as JSON text.

    Raises:
        StreamError: MAX_DEPTH_EXCEEDED beyond 512 open containers, or INTEGRATION_ERROR when it is no JSON value.
    """
    if is_javascript(value):
        import js

        written = js.JSON.stringify(value)
        if not isinstance(written, str):
            raise StreamError("INTEGRATION_ERROR", "The value is not JSON.")
        return written
    _check_depth(value)
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StreamError("INTEGRATION_ERROR", f"The value is not JSON ({type(error).__name__}).") from None
    if written.isascii():
        return written
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", written)  # raw, no text may hold one


def _check_depth(value: Any) -> None:
    """Pyodide: fatal, when the encoder recurses too deep. A value that contains itself is caught here as well."""
    open_: list[Iterator[Any]] = [iter((value,))]
    while open_:
        for item in open_[-1]:
            if isinstance(item, dict):
                open_.append(iter(cast("Mapping[Any, Any]", item).values()))
            elif isinstance(item, list | tuple):
                open_.append(iter(cast("Sequence[Any]", item)))
            else:
                continue
            if len(open_) > DEPTH_CEILING + 1:
                raise StreamError("MAX_DEPTH_EXCEEDED", f"The value has more than {DEPTH_CEILING} open containers.")
            break
        else:
            open_.pop()


@cache
def _javascript_null() -> Any:
    if sys.platform != "emscripten":
        return _NOTHING
    from pyodide.ffi import jsnull

    return jsnull


_NOTHING = object()
_SURROGATE = re.compile(r"[\ud800-\udfff]")
