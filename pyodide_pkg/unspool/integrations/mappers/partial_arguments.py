"""PartialArguments: arguments that come as values with their paths, written as the JSON text they add up to.

In: entries of `partialArgs`, in the order in which the model writes the arguments. Out: pieces of one JSON object.
Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling, streaming of arguments.
"""

from __future__ import annotations

import re
from typing import Any, cast

from unspool.errors import StreamError
from unspool.integrations.fields import Record, first, json_text, text
from unspool.structured import strict_json

type Path = tuple[str | int, ...]

_STEP = re.compile(r"""\.([^.\[\]'"\s]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_QUOTE = re.compile(r"""\\.|\"""")


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

    def feed(self, entry: Record) -> str:
        """Take one entry.

        Returns:
            The text to add.
        Raises:
            StreamError: INTEGRATION_ERROR when the path is none, or leads back to what is written already.
        """
        path = _parsed(text(first(entry, "jsonPath", "json_path")))
        goes_on = bool(first(entry, "willContinue", "will_continue"))
        piece = first(entry, "stringValue", "string_value")
        if path == self._string:
            written = _inside(text(piece))
        elif isinstance(piece, str):
            written = self.write(path, '"' + _inside(text(piece)), self._close_string())
            self._string = path
        elif goes_on:
            return ""  # of what type it will be is not known yet
        else:
            return self.write(path, _scalar(entry), self._close_string())
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


def _scalar(entry: Record) -> str:
    number = first(entry, "numberValue", "number_value")
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        number = int(number)  # the SDK reads each number as a float
    if number is not None:
        return json_text(number)
    return json_text(first(entry, "boolValue", "bool_value"))


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
