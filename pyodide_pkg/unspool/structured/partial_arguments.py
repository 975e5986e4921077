"""PartialArguments: arguments that come as values with their paths, written as the JSON text they add up to.

In: paths and values, in the order in which the model writes the arguments. Out: pieces of one JSON object. No IO.
Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling, streaming of arguments.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from unspool.errors import StreamError
from unspool.structured import strict_json

type Path = tuple[str | int, ...]

_STEP = re.compile(r"""\.([^.\[\]'"\s]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_QUOTE = re.compile(r"""\\.|\"""")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Open:
    __slots__ = ("is_array", "names", "length")

    def __init__(self, is_array: bool) -> None:
        self.is_array = is_array
        self.names: set[str | int] = set()
        self.length = 0


class PartialArguments:
    """Writes the arguments of one call."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        """The containers from the root down that are not closed."""
        self._path: Path = ()
        """Where the innermost of them is."""
        self._string: Path | None = None
        """Where a string is that has not ended."""

    def push(self, json_path: str, value: str | float | None, *, goes_on: bool) -> str:
        """Take one value, or a piece of a text.

        Args:
            json_path: where it belongs, such as `$.places[0].name`.
            value: a text or a piece of one, a number, a boolean, or None: null, or nothing more of a text.
            goes_on: whether more of the same value follows.
        Returns:
            The text to add.
        Raises:
            StreamError: INTEGRATION_ERROR when the path is none, or leads back to what is written already.
        """
        path = _parsed(json_path)
        if path == self._string:
            written = _inside(value) if isinstance(value, str) else ""
        elif isinstance(value, str):
            written = self.write(path, '"' + _inside(value), self._close_string())
            self._string = path
        elif goes_on:
            return ""  # of what type it will be is not known yet
        else:
            return self.write(path, _scalar(value), self._close_string())
        if not goes_on:
            written += self._close_string()
        return written

    def write(self, path: Path, value: str, before: str = "") -> str:
        """Write a whole value; give the text to add, after `before`."""
        written = [before]
        if not self._open:
            written.append(self._enter(path[0]))
        common = 0
        while common < len(self._path) and common < len(path) - 1 and self._path[common] == path[common]:
            common += 1
        while len(self._open) > common + 1:
            written.append("]" if self._open.pop().is_array else "}")
        for step, below in zip(path[common:], (*path[common + 1 :], None), strict=True):
            written.append(self._name(step))
            if below is not None:
                written.append(self._enter(below))
        self._path = path[:-1]
        return "".join((*written, value))

    def write_members(self, whole: str) -> str:
        """Write the members of an object, given as JSON text, as arguments; give the text to add."""
        members: Any = strict_json.loads(whole)
        if not isinstance(members, dict):
            raise StreamError("INTEGRATION_ERROR", "The arguments of a call are not an object.")
        named = cast("dict[str, Any]", members)
        return "".join(self.write((name,), json_text(value), self._close_string()) for name, value in named.items())

    def finish(self) -> str:
        """Give the text that ends the arguments; of none at all it is `{}`."""
        written = self._close_string()
        if not self._open:
            return "{}"
        closing = "".join("]" if container.is_array else "}" for container in reversed(self._open))
        self._open.clear()
        return written + closing

    def _enter(self, step: str | int) -> str:
        is_array = isinstance(step, int)
        self._open.append(_Open(is_array))
        return "[" if is_array else "{"

    def _name(self, step: str | int) -> str:
        container = self._open[-1]
        separator = "," if container.length else ""
        if container.is_array:
            fits = step == container.length
        else:
            fits = isinstance(step, str) and step not in container.names
            container.names.add(step)
        if not fits:
            raise StreamError("INTEGRATION_ERROR", "A partial argument leads back to what is written already.")
        container.length += 1
        return separator if container.is_array else f"{separator}{json_text(step)}:"

    def _close_string(self) -> str:
        if self._string is None:
            return ""
        self._string = None
        return '"'


def _inside(piece: str) -> str:
    return json_text(piece)[1:-1]


def _scalar(value: float | None) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # the SDK reads each number as a float
    return json_text(value)


def json_text(value: object) -> str:
    """Write a value of JSON, not nested deep, as text; halves of surrogate pairs are escaped.

    Raises:
        StreamError: INTEGRATION_ERROR when a number is not finite.
    """
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise StreamError("INTEGRATION_ERROR", "The arguments of a call hold a number that is not finite.") from None
    return written if written.isascii() else _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", written)


def _unquoted(name: str) -> str:
    """Read a quoted name: JSON's escapes, and one more for the single quote."""
    written = _QUOTE.sub(lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), name)
    try:
        return str(strict_json.loads(f'"{written}"'))
    except StreamError:
        raise StreamError("INTEGRATION_ERROR", "A partial argument has a path that cannot be read.") from None


def _parsed(path: str) -> Path:
    steps: list[str | int] = []
    at = 1
    while at < len(path) and (step := _STEP.match(path, at)):
        name, index, *quoted = step.groups()
        if name is not None:
            steps.append(name)
        elif index is not None:
            steps.append(int(index))
        else:
            steps.append(_unquoted(next(q for q in quoted if q is not None)))
        at = step.end()
    if at != len(path) or not steps or not path.startswith("$"):
        raise StreamError("INTEGRATION_ERROR", "A partial argument has a path that cannot be read.")
    return tuple(steps)
