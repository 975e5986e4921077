"""Partial: a typed value while it is being written, as its reader sees it. What it shows, `PartialBuilder` builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from unspool.errors import ConfigError
from unspool.schema.views import PartState, has_root, snapshot

if TYPE_CHECKING:
    from unspool.schema.partial_builder import PartialBuilder
    from unspool.structured.events import FieldInvalid


class Partial[T]:
    """A value while it is being written: a live view, which changes as the answer grows.

    What has arrived is read as the value will be: `partial.items[0].name`, `partial["name"]`, `partial[0]`; a field
    that has not arrived is None. Whatever has closed is a real instance, validated on its own; the complete value is
    validated once more, as a whole, and then `value` is that result. Nothing that was shown is taken back. Text grows;
    text that becomes something else (`Literal`, `Enum`, dates, …) shows when it is complete. `value`, `state`,
    `complete`, `invalid` and `snapshot` are names of this class: a field of such a name is read as `value.state`.
    """

    __slots__ = ("__builder",)

    __builder: PartialBuilder

    def __init__(self, builder: PartialBuilder) -> None:
        """Made by `QueryStream.partials`."""
        object.__setattr__(self, "_Partial__builder", builder)

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
            path: names of fields, keys and numbers; text is one name. Default: the whole value.
        Returns:
            "absent", "growing" or "complete": closed, whether it is valid or not.
        Raises:
            ConfigError: INVALID_OPTIONS when it is no path.
        """
        if not isinstance(cast("Any", path), Sequence):
            raise ConfigError("INVALID_OPTIONS", "path must be a tuple of names and numbers, such as ('items', 0).")
        return self.__builder.state((path,) if isinstance(path, str) else path)

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

    def __shown(self) -> Any:
        """Give what is read by brackets: of a root model what it holds, as while it was open."""
        value = self.__builder.shown()
        return value.root if has_root(value) else value

    def __getitem__(self, key: Any) -> Any:
        value = self.__shown()
        if isinstance(key, str) and not hasattr(value.__class__, "__getitem__"):
            try:
                return getattr(value, key)
            except AttributeError:
                raise KeyError(key) from None
        return value[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__shown())

    def __len__(self) -> int:
        return len(self.__shown())

    def __contains__(self, item: object) -> bool:
        return item in self.__shown()

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted({"complete", "invalid", "snapshot", "state", "value", *dir(self.__builder.shown())})

    def __repr__(self) -> str:
        return f"Partial({self.__builder.value!r})"


def _kept(snapshot: Any) -> Any:
    """Give what a copy of a `Partial` is: the value as it was."""
    return snapshot
