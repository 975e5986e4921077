"""What `QueryStream.partials` and `QueryStream.items` give: one query, read for the value that grows in it.

One read of the stream is the only wait. A failed answer is raised at the end, as `query` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

from unspool.errors import ConfigError, UnspoolError
from unspool.schema import Schema
from unspool.schema.partial import Partial
from unspool.schema.partial_builder import PartialBuilder
from unspool.schema.shape import Alternatives, Anything, Fixed, Listing, Mapped, Record, Shape
from unspool.structured.events import Cancelled, GenerationFailed, ParsingFailed, StructuredEvent, TextDelta

Path = tuple[str | int, ...]
type Read[T] = Callable[[], Awaitable[list[StructuredEvent[T]] | None]]
"""Waits for the next events of a stream, as `QueryStream.read`."""


class _Reading[T]:
    """Reads a stream to its end, batch by batch."""

    def __init__(self, read: Read[T], builder: PartialBuilder, close: Callable[[], Awaitable[None]]) -> None:
        """Made by `QueryStream`."""
        self._read = read
        self._close = close
        self._builder = builder
        self._error: UnspoolError | None = None

    def __aiter__(self) -> Self:
        return self

    def _note(self, last: StructuredEvent[T]) -> None:
        """Look whether it ends in a failure."""
        if isinstance(last, ParsingFailed | GenerationFailed | Cancelled):
            self._error = last.error

    def _raise(self) -> None:
        """Raise the error of a failed answer, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Idempotent."""
        await self._close()


class Partials[T](_Reading[T]):
    """The value of one query while it is being written: the same live `Partial` after each slice that changed it."""

    def __init__(self, read: Read[T], builder: PartialBuilder, close: Callable[[], Awaitable[None]]) -> None:
        super().__init__(read, builder, close)
        self._partial = Partial[T](builder)

    async def __anext__(self) -> Partial[T]:
        while True:
            if self._error is not None:
                self._raise()
            events = await self._read()
            if events is None:
                raise StopAsyncIteration
            if events[-1].__class__ is not TextDelta:
                self._note(events[-1])
            if self._builder.has_changed:
                self._builder.has_changed = False
                return self._partial


class Items[T](_Reading[T]):
    """The elements of one list, each when it has closed."""

    def __init__(self, read: Read[T], builder: PartialBuilder, close: Callable[[], Awaitable[None]]) -> None:
        super().__init__(read, builder, close)
        self._given = 0
        self._ready: deque[Any] = deque()

    async def __anext__(self) -> Any:
        while not self._ready:
            self._raise()
            events = await self._read()
            if events is None:
                raise StopAsyncIteration
            self._note(events[-1])
            while items := self._builder.items_from(self._given):
                self._ready.extend(items)
                self._given += len(items)
        return self._ready.popleft()


def list_path(path: str | Sequence[str | int], schema: Schema[Any] | None) -> Path:
    """Read the path of a list.

    Raises:
        ConfigError: INVALID_OPTIONS when the type has no list there.
    """
    if isinstance(path, str):
        steps: Path = tuple(int(step) if step.isdecimal() else step for step in path.split(".")) if path else ()
    else:
        steps = tuple(path)
    if schema is None or (schema.typed is not None and not _leads_to_list(schema.typed.shape, steps)):
        name = "text" if schema is None else schema.name
        where = ".".join(map(str, steps)) or "its root"
        raise ConfigError("INVALID_OPTIONS", f"There is no list in {name} at {where}.")
    return steps


def _leads_to_list(shape: Shape, path: Path) -> bool:
    if isinstance(shape, Anything):
        return True
    if isinstance(shape, Alternatives):
        return any(_leads_to_list(member, path) for member in shape.members)
    if not path:
        return isinstance(shape, Listing | Fixed)
    step, rest = path[0], path[1:]
    match shape:
        case Record():
            within = [field.shape for field in shape.shown if field.name == step]
            for other in shape.subclasses:
                within += [field.shape for field in other.shown if field.name == step]
            within += [] if within or shape.extra is None else [shape.extra]
        case Listing():
            within = [shape.items] if isinstance(step, int) else []
        case Fixed():
            within = [shape.items[step]] if isinstance(step, int) and step < len(shape.items) else []
        case Mapped():
            within = [shape.values]
        case _:
            within = []
    return any(_leads_to_list(inner, rest) for inner in within)
