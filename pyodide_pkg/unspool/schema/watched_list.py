"""WatchedList: one list of an answer, out of which each item is taken when it has closed and is valid. No IO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.views import ABSENT, inside

if TYPE_CHECKING:
    from unspool.schema.views import Part


class WatchedList:
    """The list at one path of an answer."""

    def __init__(self, path: Sequence[Any]) -> None:
        """Say which list, by its path in the value."""
        self.path = tuple(path)
        self.result: Any = ABSENT
        """The answer, when it is over and valid."""
        self._part: Part | None = None
        self._next = 0

    def look_at(self, part: Part) -> None:
        """Take notice of a list that opens."""
        if part.names_from_root() == self.path:
            self._part = part

    def taken(self, *, gives_up: bool) -> list[Any]:
        """Take the items that have become valid since the last time.

        One that only the whole answer can judge holds back those behind it, as long as the answer may be valid.

        Args:
            gives_up: whether it cannot be valid any more.
        """
        items: list[Any] = []
        part = self._part
        if part is not None:
            shown, unknown = part.shown, part.withheld
            end = len(shown) if part.key is ABSENT else min(len(shown), part.key)
            for number in range(self._next, end):
                if number not in unknown:
                    items.append(shown[number])
                elif not gives_up:
                    break
                self._next = number + 1
        if self.result is not ABSENT:
            items += self._rest()
        return items

    def _rest(self) -> Sequence[Any]:
        """Take what only the valid answer could tell."""
        value = inside(self.result, self.path)
        if isinstance(value, set | frozenset):
            rest = () if self._part is not None or self._next else tuple(cast("set[Any]", value))
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
            rest = tuple(cast("Any", value))[self._next :]
        else:
            return ()
        self._next += len(rest)
        return rest
