"""PartPaths: where a part of an answer is, in the words of a reader in, as the value has it out. No IO.

A reader may name a field as its class does, or as the answer does. A name that is both is that of the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError
from unspool.printable import printable
from unspool.schema.levels import Level, MembersLevel, UnknownLevel
from unspool.schema.places import Place, places_of

if TYPE_CHECKING:
    from unspool.schema.types import Schema

Path = tuple[Any, ...]

_KINDS = ("array", "object")
_MAX_KEPT = 1000
_MAX_MEANT = 64


class PartPaths:
    """Reads the paths of one type."""

    def __init__(self, schema: Schema[Any] | None) -> None:
        """
        Args:
            schema: what the answer must be; None for plain text.
        """
        self._name = "text" if schema is None else schema.name
        self._root = None if schema is None else places_of(schema, "json").root
        self._known: dict[str | Path, list[Path]] = {}

    def meant(self, path: Sequence[Any] | str) -> list[Path]:
        """Give the paths that may be meant: more than one where the classes of a union name their fields alike.

        Args:
            path: names of fields, keys and numbers, as a tuple or as text with dots.
        Raises:
            ConfigError: INVALID_OPTIONS when it is no path, or no value of the type has such a part.
        """
        if not isinstance(path, str | tuple):
            return self._steps(path)
        try:
            found = self._known.get(path)
        except TypeError:  # a step that cannot be a key
            return self._steps(path)
        if found is None:
            if len(self._known) >= _MAX_KEPT:
                self._known.clear()
            found = self._known[path] = self._steps(path)
        return found

    def _steps(self, path: Sequence[Any] | str) -> list[Path]:
        return [steps for steps, _ in self._followed(path, "part")]

    def list_at(self, path: Sequence[Any] | str) -> Path:
        """Give the path of a list.

        Raises:
            ConfigError: INVALID_OPTIONS when it is no path, or the type has no list there.
        """
        for steps, place in self._followed(path, "list"):
            if place is None or place.is_wild or (_levels(place, "array") and not place.drops):
                return steps
        raise self._nowhere(path, "list")

    def _followed(self, path: Sequence[Any] | str, what: str) -> list[tuple[Path, Place | None]]:
        """Give the paths that may be meant, each with its place; that is None where the type does not tell."""
        if not isinstance(cast(Any, path), Sequence):
            raise ConfigError(
                "INVALID_OPTIONS",
                "path must be a tuple of names and numbers, such as ('items', 0), or a text with dots.",
            )
        if self._root is None and (path or what == "list"):
            raise self._nowhere(path, what)
        found: list[tuple[Path, Place | None]] = [((), self._root)]
        for step in path.split(".") if isinstance(path, str) and path else path:
            words: list[Any] = [step]
            if isinstance(path, str) and step.isdecimal():
                words = [int(step), step]
            further = [((*before, *names), inner) for before, place in found for names, inner in _parts(place, words)]
            if not further:
                known = [name for _, place in found for level in _levels(place, *_KINDS) for name in level.names or ()]
                raise self._nowhere(path, what, str(step), known)
            found = further[:_MAX_MEANT]
        return found

    def _nowhere(self, path: Sequence[Any] | str, what: str, step: str = "", names: Sequence[str] = ()) -> ConfigError:
        from difflib import get_close_matches

        near = get_close_matches(step, names, 1)
        meant = f"; did you mean {near[0]!r}?" if near else "."
        where = path if isinstance(path, str) else ".".join(map(str, path))
        return ConfigError(
            "INVALID_OPTIONS", printable(f"There is no {what} in {self._name} at {where or 'its root'}{meant}")
        )


def other_names(schema: Schema[Any] | None) -> dict[str, list[str]]:
    """Give the names by which fields may be called, of those that have more than one, by each of them."""
    found: dict[str, list[str]] = {}
    if schema is None or schema.python_type is None:
        return found
    places = places_of(schema, "json")
    for record in places.reader.records.values():
        for names in places.record_level(record).spellings():
            for name in names:
                found[name] = list(dict.fromkeys([*found.get(name, ()), *(other for other in names if other != name)]))
    return found


def _levels(place: Place | None, *kinds: str) -> list[Level]:
    """Give what may open at a place."""
    if place is None:
        return []
    opened = [place.open(kind, None, None).level for kind in kinds]
    levels = [inner for level in opened for inner in (level.levels if isinstance(level, UnknownLevel) else (level,))]
    return list({id(level): level for level in levels}.values())


def _parts(place: Place | None, words: Sequence[Any]) -> list[tuple[Path, Place | None]]:
    """Give the parts that a step may mean, a number in text being a key as well."""
    if place is None or place.is_wild or (place.converts and not place.has_branches):
        return [((words[0],), None)]
    if place.has_root and words[0] == "root":
        return [((), place)]
    levels = _levels(place, *_KINDS)
    found = [
        (name, inner)
        for level in levels
        for word in (words[-1:] if isinstance(level, MembersLevel) else words)
        for name, inner in level.meant(word)
    ]
    return [((name,), inner) for number, (name, inner) in enumerate(found) if (name, inner) not in found[:number]]
