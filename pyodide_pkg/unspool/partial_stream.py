"""What `QueryStream.partials` and `QueryStream.items` give: one query, read for the value that grows in it.

One read of the stream is the only wait. A failed answer is raised at the end, as `query` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, Self

from unspool.errors import UnspoolError
from unspool.schema import Schema
from unspool.schema.part_paths import PartPaths
from unspool.schema.partial import Partial
from unspool.schema.partial_builder import PartialBuilder
from unspool.structured.events import StructuredEvent, TextDelta

Path = tuple[Any, ...]
type Read[T] = Callable[[], Awaitable[list[StructuredEvent[T]] | None]]
"""Waits for the next events of a stream, as `QueryStream.read`."""


class _Stream(Protocol):
    async def aclose(self) -> None: ...


class _Reading[T]:
    """Reads a stream to its end, batch by batch."""

    def __init__(
        self, read: Read[T], failure: Callable[[], UnspoolError | None], builder: PartialBuilder, stream: _Stream
    ) -> None:
        """Made by `QueryStream`."""
        self._read = read
        self._failure = failure
        self._stream = stream
        self._builder = builder
        self._error: UnspoolError | None = None
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Idempotent."""
        await self._stream.aclose()

    def _note(self, events: list[StructuredEvent[T]] | None) -> None:
        """Look whether the stream is over; another task may have read its end."""
        self._error = self._failure()
        self._is_over = events is None or self._error is not None

    def _end(self) -> None:
        """Go no further once the stream is over: by the error of a failed answer, the first time."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self._is_over:
            raise StopAsyncIteration


class Partials[T](_Reading[T]):
    """The value of one query while it is being written: the same live `Partial` after each slice that changed it."""

    def __init__(
        self, read: Read[T], failure: Callable[[], UnspoolError | None], builder: PartialBuilder, stream: _Stream
    ) -> None:
        """Made by `QueryStream.partials`."""
        super().__init__(read, failure, builder, stream)
        self._partial = Partial[T](builder)

    async def __anext__(self) -> Partial[T]:
        builder = self._builder
        while True:
            if self._is_over:
                self._end()
            events = await self._read()
            if events is None or events[-1].__class__ is not TextDelta:
                self._note(events)
            if builder.has_changed:
                builder.has_changed = False
                return self._partial

    def __repr__(self) -> str:
        return f"Partials({'complete, ' if self._builder.complete else ''}{self._stream!r})"


class Items[E](_Reading[Any]):
    """The elements of one list, each when it has closed."""

    def __init__(
        self,
        read: Read[Any],
        failure: Callable[[], UnspoolError | None],
        builder: PartialBuilder,
        stream: _Stream,
        *,
        path: Path,
    ) -> None:
        """Made by `QueryStream.items`."""
        super().__init__(read, failure, builder, stream)
        self._path = path
        self._given = 0
        self._ready: deque[E] = deque()

    async def __anext__(self) -> E:
        while not self._ready:
            self._end()
            events = await self._read()
            if events is None or events[-1].__class__ is not TextDelta:
                self._note(events)
            self._ready.extend(self._builder.items(is_over=self._error is not None))
        self._given += 1
        return self._ready.popleft()

    def __repr__(self) -> str:
        return f"Items({'.'.join(map(str, self._path))!r}, {self._given} given, {self._stream!r})"


def list_path(path: str | Sequence[str | int], schema: Schema[Any] | None) -> Path:
    """Read the path of a list.

    Raises:
        ConfigError: INVALID_OPTIONS when the type has no list there.
    """
    return PartPaths(schema).list_at(path)
