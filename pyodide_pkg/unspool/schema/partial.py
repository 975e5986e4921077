"""Partial: a typed value while it is being written, as its reader sees it. What it shows, `PartialBuilder` builds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from unspool.errors import ConfigError
from unspool.printable import printable
from unspool.schema.part_paths import PartPaths
from unspool.schema.views import PartState, RecordView, View, field_names, has_root, part_of, snapshot

if TYPE_CHECKING:
    from unspool.schema.partial_builder import PartialBuilder
    from unspool.structured.events import FieldInvalid


_STATES: tuple[PartState, ...] = ("complete", "growing", "absent")
"""The furthest first."""


class Partial[T]:
    """A value while it is being written: a live view, which changes as the answer grows.

    What has arrived is read as the value will be: `partial.items[0].name`, `partial[0]`; a field that has not arrived
    is None. Of a record at the root `partial["name"]`, `"name" in partial`, `list(partial)` and `len(partial)` go by
    the names of its fields, open or closed; below it a record has attributes alone, as the instance that it becomes.
    Whatever has closed is a real instance, validated on its own; the complete value is validated once more, as a
    whole, and then `value` is that result. Nothing that was shown is taken back. Text grows; text that becomes
    something else (`Literal`, `Enum`, dates, …) shows when it is complete. `value`, `state`, `complete`, `invalid` and
    `snapshot` are names of this class: a field of such a name is read as `value.state`.
    """

    __slots__ = ("__builder", "__paths")

    __builder: PartialBuilder
    __paths: PartPaths

    def __init__(self, builder: PartialBuilder) -> None:
        """Made by `QueryStream.partials`."""
        object.__setattr__(self, "_Partial__builder", builder)
        object.__setattr__(self, "_Partial__paths", PartPaths(builder.schema))

    @property
    def value(self) -> T | Any:
        """What has arrived: a view while it is open, then the value; None before it begins."""
        return self.__builder.value

    @property
    def complete(self) -> bool:
        """Whether the answer is over and valid; `value` is its result then."""
        return self.__builder.complete

    @property
    def invalid(self) -> tuple[FieldInvalid, ...]:
        """What has closed and cannot be right, in the order in which it was found."""
        return tuple(self.__builder.invalid)

    def state(self, path: Sequence[Any] | str = ()) -> PartState:
        """Tell how far a part has come.

        Args:
            path: names of fields, keys and numbers, as a tuple or with dots (`"report.items"`); a field by the name
                that it has in its class, or in the answer. Default: the whole value.
        Returns:
            "absent", "growing" or "complete": closed, whether it is valid or not.
        Raises:
            ConfigError: INVALID_OPTIONS when it is no path, or no value of the type has such a part.
        """
        builder = self.__builder
        try:
            meant = self.__paths.meant(path)
        except ConfigError:
            if any(fault.path == path for fault in builder.invalid):  # what may not be there, and is
                return "complete"
            raise
        found = {builder.state(steps) for steps in meant}
        return next(state for state in _STATES if state in found)

    def snapshot(self) -> Any:
        """Copy what has arrived: open parts become dicts and lists, closed ones stay as they are. Costs its size."""
        return snapshot(self.__builder.value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        value = self.__builder.shown()
        try:
            return getattr(value, name)
        except AttributeError:
            if has_root(value):
                return getattr(value.root, name)
            raise

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Partial is read only; {name!r} of it is what has arrived.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _kept, (self.snapshot(),)

    def __shown(self) -> tuple[Any, Collection[str] | None]:
        """Give what is read by brackets (of a root model what it holds), and a record's fields that have arrived."""
        value = self.__builder.shown()
        if not isinstance(value, View):
            if has_root(value):
                value = value.root
        elif not isinstance(value, RecordView):
            return value, None
        return value, field_names(value)

    def __getitem__(self, key: Any) -> Any:
        value, names = self.__shown()
        if names is None:
            return value[key]
        is_declared = isinstance(value, RecordView) and key in (part_of(value).opening.level.names or ())
        if not isinstance(key, str) or not (is_declared or key in names):
            raise KeyError(key)
        return getattr(value, key)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over items, keys or, of a record, the names of the fields that have arrived."""
        value, names = self.__shown()
        return iter(value if names is None else names)

    def __len__(self) -> int:
        value, names = self.__shown()
        return len(value if names is None else names)

    def __contains__(self, item: object) -> bool:
        value, names = self.__shown()
        return item in (value if names is None else names)

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted({"complete", "invalid", "snapshot", "state", "value", *dir(self.__builder.shown())})

    def __repr__(self) -> str:
        return printable(f"Partial({self.__builder.value!r})")


def _kept(snapshot: Any) -> Any:
    """Give what a copy of a `Partial` is: the value as it was."""
    return snapshot
