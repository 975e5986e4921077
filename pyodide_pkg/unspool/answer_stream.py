"""QueryStream: the events of one query, while the answer is being written."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any, Literal, Self

from unspool.answer import AnswerMachine
from unspool.errors import ConfigError
from unspool.messages import Message
from unspool.model import ChunkStream
from unspool.partial_stream import Items, Partials, list_path
from unspool.schema.partial_builder import PartialBuilder
from unspool.schema.tree_follower import TreeFollower
from unspool.signals import SignalListener
from unspool.structured.events import (
    Cancelled,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    StructuredEvent,
)
from unspool.structured.reply import Repair

Check = Literal["report", "stop"]
Transform = Callable[[Any], Any | Awaitable[Any]]
"""What is done to a validated value; what it gives, or what comes of waiting for that, takes its place."""

RELEASE_S = 1.0
"""How long is waited for a transform that was cancelled: one that does not listen must not hold its caller."""


class QueryStream[T]:
    """The events of one query, while the answer is being written.

    Read it with `async for event in stream`, or batch by batch with `read()`. Events: any number of progress events,
    then exactly one terminal event; before that is given, the response has been closed. It never raises for a fault of
    the answer, the provider or the way to it. Leave it early as you like: by `aclose()`, `async with`, by cancelling
    the task, or by dropping it (a `break` drops a stream that no variable holds); the request is then aborted on the
    network and there is no terminal event.
    """

    def __init__(
        self,
        source: ChunkStream,
        answer: AnswerMachine,
        *,
        check: Check | None = None,
        transform: Transform | None = None,
        signal: object = None,
    ) -> None:
        """Made by `query_stream`."""
        self._source = source
        self._answer = answer
        self._transform = transform
        self._listener = None if transform is None or signal is None else SignalListener(signal, self)
        self._work: asyncio.Future[Any] | None = None  # of an asynchronous transform
        self._held: StructuredEvent[T] | None = None  # the terminal event, which is still to be transformed
        self._reading = self._aborted = self._left = False
        self._check: Check | None = check
        self._builder: PartialBuilder | None = answer.partial_builder() if check else None
        self._follower: TreeFollower | None = None
        self._has_begun = False
        self._rest: deque[StructuredEvent[T]] = deque()

    @property
    def text(self) -> str:
        """The answer as text, as far as it has been read; also after the end, whatever it was. Costs its length."""
        return self._answer.text

    @property
    def partial_value(self) -> Any:
        """The value as far as it has been read, not validated; None before it begins. Do not change it.

        It grows in place while the stream is read, and stays after the end, whatever it was. Of a text query: the text.
        """
        return self._answer.partial_value

    @property
    def repairs(self) -> list[Repair]:
        """What lenient reading has put right so far, each with its kind and its place in the text."""
        return self._answer.repairs

    @property
    def message(self) -> Message:
        """The model's message as far as it has been read, with reasoning, usage and finish reason."""
        return self._source.message

    async def read(self) -> list[StructuredEvent[T]] | None:
        """Wait for the next events.

        Returns:
            The events of one slice of the network, in order and never empty: the slice's text as a `TextDelta`, then
            what it means. With a `transform` the terminal event comes in a read of its own. None after the terminal
            event, and after `aclose`.
        Raises:
            ConfigError: INVALID_OPTIONS when another task is already waiting.
        Cancellation:
            Aborts the request, or ends the wait for an asynchronous `transform`; the stream is over, without a terminal
            event.
        """
        return await self._read(True)

    async def _read(self, tells: bool) -> list[StructuredEvent[T]] | None:
        """Wait for the next events; without progress if nothing is told."""
        if self._rest:
            rest = list(self._rest)
            self._rest.clear()
            return rest
        if self._reading:
            raise ConfigError("INVALID_OPTIONS", "Another task is already reading this stream.")
        self._reading = True
        try:
            return await self._advance(tells)
        finally:
            self._reading = False

    async def _advance(self, tells: bool) -> list[StructuredEvent[T]] | None:
        if self._held is not None:
            terminal, self._held = self._held, None
            return await self._ending(terminal)
        events: list[StructuredEvent[T]] = []
        while not events:
            batch = None if self._answer.done else await self._source.read()
            if batch is None:
                return None
            self._has_begun = True
            follower = self._follower
            events = self._answer.feed(batch, tells=tells or follower is None)
            if follower is not None:
                self._answer.follow(follower)
            elif self._builder is not None and events:
                events = self._judged(events, self._builder)
        if self._answer.done:
            # Before the reader learns of the end, so that no token is paid for that nobody wants.
            await self._source.aclose()
            terminal = events.pop()
            if events and self._transform is not None:
                self._held = terminal  # what a transform waits for holds back nothing that is there
            else:
                events += await self._ending(terminal) or ()
        return events or None

    async def _ending(self, terminal: StructuredEvent[T]) -> list[StructuredEvent[T]] | None:
        """Give the terminal event as the reader is to have it; None when the stream was left meanwhile."""
        if isinstance(terminal, GenerationComplete) and self._transform is not None:
            try:
                result: Any = None if self._is_stopped() else self._transform(terminal.result)
                if isawaitable(result):
                    result = await self._awaited(result)
                terminal.result = result
            except Exception as error:  # the application's own words on why the answer will not do
                terminal = self._answer.turned_down(error)
            if self._left:
                return None
            if self._is_stopped():
                terminal = self._answer.stopped()
        if isinstance(terminal, GenerationComplete):
            if self._builder is not None:
                self._builder.finish(terminal.result)
        elif isinstance(terminal, ParsingFailed | GenerationFailed | Cancelled):
            terminal.error.partial = terminal.error.partial or self.message
        return [terminal]

    def _is_stopped(self) -> bool:
        return self._aborted or (self._listener is not None and self._listener.is_set())

    async def _awaited(self, result: Awaitable[Any]) -> Any:
        """Wait for an asynchronous transform, unless somebody stops the call; then there is no result."""
        work = self._work = asyncio.ensure_future(result)
        if self._listener is not None:
            self._listener.start()
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):  # a second one
                await asyncio.wait([work], timeout=RELEASE_S)
            raise
        finally:
            self._work = None
            if self._listener is not None:
                await self._listener.close()
        return None if work.cancelled() and (self._aborted or self._left) else work.result()

    def partials(self) -> Partials[T]:
        """Watch the value grow.

        Returns:
            An async iterator: after each slice of the network that changed anything the same live `Partial`, and in the
            end with the result as its `value`. It raises the UnspoolError of a failed answer, as `query` does.
        Raises:
            ConfigError: INVALID_OPTIONS when the stream has been read already.
        """
        return Partials(partial(self._read, False), self._watched(), self.aclose)

    def items(self, path: str | Sequence[str | int] = ()) -> Items[T]:
        """Get the elements of one list of the answer, each as it closes: of records, real instances.

        Args:
            path: where the list is: names of fields and numbers, as a tuple or with dots (`"report.items"`). Default:
                the answer itself.
        Returns:
            An async iterator. What cannot be judged alone, such as an element of a list below a validator that sees the
            answer as it was written, comes at the end. It raises the UnspoolError of a failed answer, as `query` does.
        Raises:
            ConfigError: INVALID_OPTIONS when the type has no list there, the stream has been read already, or the items
                of a list have been asked for before.
        """
        steps = list_path(path, self._answer.schema)
        builder = self._watched()
        if self._has_begun or builder.is_watched:
            raise ConfigError("INVALID_OPTIONS", "Ask for items() once, and before reading the stream.")
        builder.watch(steps)
        return Items(partial(self._read, False), builder, self.aclose)

    def _watched(self) -> PartialBuilder:
        if self._builder is None:
            if self._has_begun:
                raise ConfigError("INVALID_OPTIONS", "Ask for partials() or items() before reading the stream.")
            self._builder = self._answer.partial_builder()
            if self._answer.can_be_followed:
                self._follower = TreeFollower(self._builder)
        return self._builder

    def _judged(self, events: list[StructuredEvent[T]], builder: PartialBuilder) -> list[StructuredEvent[T]]:
        """Let the value grow; tell of invalid parts, or end the answer because of them, if that is asked for."""
        found = builder.feed(events)
        if not found or self._check is None:
            return events
        if self._check == "stop" and not self._answer.done:
            first = found[0][0]
            faults = [fault for number, fault in found if number == first]
            return [*events[: first + 1], *faults, self._answer.refuse(faults)]
        told: list[StructuredEvent[T]] = []
        for number, event in enumerate(events):
            told.append(event)
            told += [fault for at, fault in found if at == number]
        return told

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StructuredEvent[T]:
        if not self._rest:
            batch = await self.read()
            if batch is None:
                raise StopAsyncIteration
            self._rest.extend(batch)
        return self._rest.popleft()

    def abort(self) -> None:
        """Stop the call at once: the request is cancelled on the network within this call.

        Whoever reads on gets `Cancelled` as the terminal event. Idempotent; does nothing once the answer is over.
        """
        self._aborted = True
        if self._work is not None:
            self._work.cancel()
        self._source.abort()

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Nothing more is given. Idempotent."""
        self._rest.clear()
        self._left, self._held = True, None
        work = self._work
        if work is not None and work is not asyncio.current_task():  # a transform may leave its own stream
            work.cancel()
            await asyncio.wait([work], timeout=RELEASE_S)
        await self._source.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"QueryStream({self._source!r})"
