"""QueryStream: the events of one query, while the answer is being written."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any, Literal, Self, overload

from unspool import release
from unspool.answer import AnswerMachine
from unspool.errors import CallCancelledError, ConfigError, UnspoolError
from unspool.messages import Message
from unspool.model import ChunkStream
from unspool.partial_stream import Items, Partials, Read, list_path
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

_EVENTS = "events"


class QueryStream[T]:
    """The events of one query, while the answer is being written.

    Read it with `async for event in stream`, or batch by batch with `read()`; or, in place of the events, by
    `partials()` or `items()`. `result()` gives the value after any of them. Events: any number of progress events,
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
        self._stop: asyncio.Future[None] | None = None  # ends the wait for it
        self._held: StructuredEvent[T] | None = None  # the terminal event, which is still to be transformed
        self._end: StructuredEvent[T] | None = None
        self._way = ""
        self._reading = self._joined = self._aborted = self._left = False
        self._turn: asyncio.Future[None] | None = None  # the end of a read that others wait for
        self._check: Check | None = check
        self._builder: PartialBuilder | None = answer.partial_builder() if check else None
        self._follower: TreeFollower | None = None
        if check == "stop" and self._builder is not None:
            self._builder.stop_at_fault()
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
            ConfigError: INVALID_OPTIONS when another task is already waiting, the stream is read in another way, or its
                reading was begun in another event loop.
        Cancellation:
            Aborts the request, or ends the wait for an asynchronous `transform`; the stream is over, without a terminal
            event.
        """
        if self._way != _EVENTS:
            self._take(_EVENTS)
        return await self._read(True)

    async def result(self) -> T:
        """Read the stream to its end and give the value, as `query` does.

        At any time: in place of the events, `partials()` or `items()`, beside a task that reads them, after some of
        them, or after all; and again. What it reads is kept for a reader that has begun.

        Returns:
            The validated value, or what `transform` made of it.
        Raises:
            UnspoolError: of a failed answer; ABORTED, too, when the stream was left before its end.
            ConfigError: INVALID_OPTIONS when the reading was begun in another event loop, or `transform` itself asks.
        Cancellation:
            As of `read`; but while another task reads, nothing is aborted.
        """
        end = await self._read_to_end()
        if isinstance(end, GenerationComplete):
            return end.result
        error = self._failure() or self._without_end()
        raise error.with_traceback(None)  # else each time would leave its frames on the one error

    async def _read_to_end(self) -> StructuredEvent[T] | None:
        """Give the terminal event; None when the stream was left before it."""
        while self._end is None and not self._left:
            if self._reading:
                await self._turn_over()
                continue
            self._way = self._way or "result()"
            keeps = self._way == _EVENTS
            # Whoever wants no events is told none; but what builds a value may need them.
            tells = keeps or (self._builder is not None and self._follower is None)
            events = await self._read(tells, joins=True)
            if events is None:
                break
            if keeps:
                self._rest.extend(events)
        return self._end

    def _failure(self) -> UnspoolError | None:
        """Give why the answer failed, or that the stream was left, when it has ended so."""
        end = self._end
        if end is None and self._left:
            return self._without_end()
        return end.error if isinstance(end, ParsingFailed | GenerationFailed | Cancelled) else None

    def _without_end(self) -> UnspoolError:
        error = CallCancelledError("The stream was left before its end: there is no result.")
        self._keep_in(error)
        return error

    def _take(self, way: str) -> None:
        """Let the stream be read in one way: a second reader would miss what the first has read."""
        if self._way:
            raise ConfigError(
                "INVALID_OPTIONS",
                f"This stream is read by {self._way} already, so that {way} cannot have it. Its result is in result(), "
                "however it is read.",
            )
        self._way = way

    async def _read(self, tells: bool, *, joins: bool = False) -> list[StructuredEvent[T]] | None:
        """Wait for the next events: without progress if nothing is told, and beside another reader if it joins."""
        if not joins:
            while not self._rest and self._joined:
                await self._turn_over()
            if self._rest:
                rest = list(self._rest)
                self._rest.clear()
                return rest
            if self._reading:
                raise ConfigError("INVALID_OPTIONS", "Another task is already reading this stream.")
        self._reading, self._joined = True, joins
        events: list[StructuredEvent[T]] | None = []
        try:
            while not events and self._held is None:
                batch = None if self._answer.done else await self._source.read()
                if batch is None or self._left:
                    events = None
                    break
                follower = self._follower
                events = self._answer.feed(batch, tells=tells)
                if follower is not None:
                    self._answer.follow(follower)
                elif self._builder is not None and events:
                    events = self._judged(events, self._builder)
            if events is not None and self._answer.done:
                events = await self._ended(events)
            if events is None and self._end is None:
                self._left = True
            return events
        finally:
            self._reading = self._joined = False
            turn, self._turn = self._turn, None
            if turn is not None and not turn.done():
                turn.set_result(None)

    async def _turn_over(self) -> None:
        """Wait until whoever is reading has read."""
        if self._work is not None and self._work is asyncio.current_task():
            raise ConfigError("INVALID_OPTIONS", "A transform cannot wait for the end of its own stream.")
        if self._turn is None:
            self._turn = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._turn])  # of several, each may be cancelled

    async def _ended(self, events: list[StructuredEvent[T]]) -> list[StructuredEvent[T]] | None:
        """Give the last events; None when the stream was left meanwhile."""
        if self._held is not None:
            terminal, self._held = self._held, None
            return await self._ending(terminal)
        # Before the reader learns of the end, so that no token is paid for that nobody wants.
        await self._source.aclose()
        if self._left:
            return None
        terminal = events.pop()
        if events and self._transform is not None:
            self._held = terminal  # what a transform waits for holds back nothing that is there
        else:
            events += await self._ending(terminal) or ()
        return events or None

    async def _ending(self, terminal: StructuredEvent[T]) -> list[StructuredEvent[T]] | None:
        """Give the terminal event as the reader is to have it; None when the stream was left meanwhile."""
        if isinstance(terminal, GenerationComplete) and self._builder is not None:
            self._builder.accept(terminal.result)
        if isinstance(terminal, GenerationComplete) and self._transform is not None:
            reader = asyncio.current_task()
            told = reader.cancelling() if reader else 0
            is_cancelled = False
            try:
                result: Any = None if self._is_stopped() else self._transform(terminal.result)
                if isawaitable(result):
                    result = await self._awaited(result)
                terminal.result = result
            except asyncio.CancelledError:
                if reader is None or reader.cancelling() > told:
                    raise
                is_cancelled = True  # what the transform waited for
            except Exception as error:  # the application's own words on why the answer will not do
                terminal = self._answer.turned_down(error)
            if self._left:
                return None
            if is_cancelled or self._is_stopped():
                terminal = self._answer.stopped()
        if isinstance(terminal, GenerationComplete):
            if self._builder is not None:
                self._builder.finish(terminal.result)
        elif isinstance(terminal, ParsingFailed | GenerationFailed | Cancelled):
            self._source._keep_in(terminal.error)  # pyright: ignore[reportPrivateUsage]
        self._end = terminal
        return [terminal]

    def _is_stopped(self) -> bool:
        return self._aborted or (self._listener is not None and self._listener.is_set())

    async def _awaited(self, result: Awaitable[Any]) -> Any:
        """Wait for an asynchronous transform, unless the call is stopped; then there is no result."""
        work = self._work = asyncio.ensure_future(result)
        stop = self._stop = work.get_loop().create_future()
        if self._listener is not None:
            self._listener.start()
        try:
            try:
                await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not work.done() and not stop.done():
                    work.cancel()
                await release.wait_for_end(work, "A transform")
        finally:
            self._work = self._stop = None
            if self._listener is not None:
                await self._listener.close()
        is_lost = not work.done() or work.cancelled()
        return None if is_lost and (self._aborted or self._left) else work.result()

    def _end_wait(self) -> None:
        """Have the reader stop waiting for the transform."""
        if self._work is not None and self._stop is not None and not self._stop.done():
            self._stop.set_result(None)
            self._work.cancel()  # at once, so that it does not begin if it has not

    def partials(self) -> Partials[T]:
        """Watch the value grow.

        Returns:
            An async iterator: after each slice of the network that changed anything the same live `Partial`, and in the
            end with the result as its `value`. It raises the UnspoolError of a failed answer, as `query` does.
        Raises:
            ConfigError: INVALID_OPTIONS when the stream is read already, in this way or another, or was left.
        """
        return Partials(*self._watched("partials()"))

    @overload
    def items[E](self: QueryStream[list[E]], path: tuple[()] = ...) -> Items[E]: ...
    @overload
    def items(self, path: str | Sequence[str | int] = ...) -> Items[Any]: ...
    def items(self, path: str | Sequence[str | int] = ()) -> Items[Any]:
        """Get the elements of one list of the answer, each as it closes: of records, real instances.

        Args:
            path: where the list is: names of fields and numbers, as a tuple or with dots (`"report.items"`). Default:
                the answer itself.
        Returns:
            An async iterator over the valid elements, in order. One that is not valid is passed over; the answer, which
            cannot be valid any more, is read on, and its error raised at the end, as by `query`. With `check="stop"`
            the first fault ends it. What cannot be judged alone, such as an element of a list below a validator that
            sees the answer as it was written, comes at the end, and what is behind it with it. `result()` gives the
            whole.
        Raises:
            ConfigError: INVALID_OPTIONS when the type has no list there, or the stream is read already, in this way or
                another, or was left.
        """
        steps = list_path(path, self._answer.schema)
        watched = self._watched("items()")
        watched[2].watch(steps)
        return Items(*watched, path=steps)

    def _watched(self, way: str) -> tuple[Read[T], Callable[[], UnspoolError | None], PartialBuilder, Self]:
        if self._left:
            raise ConfigError("INVALID_OPTIONS", f"This stream was left: there is nothing for {way} to read.")
        self._take(way)
        if self._builder is None:
            self._builder = self._answer.partial_builder()
            if self._answer.can_be_followed:
                self._follower = TreeFollower(self._builder)
        return partial(self._read, self._follower is None), self._failure, self._builder, self

    def _judged(self, events: list[StructuredEvent[T]], builder: PartialBuilder) -> list[StructuredEvent[T]]:
        """Let the value grow; tell of invalid parts, or end the answer because of them, if that is asked for."""
        found = builder.feed(events)
        if not found or self._check is None:
            return events
        if self._check == "stop":
            first = found[0][0]
            faults = [fault for _, fault in found]
            terminal = events[-1] if self._answer.done else self._answer.refuse(faults)
            return [*events[: first + 1], *faults, terminal]
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
        self._end_wait()
        self._source.abort()

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Nothing more is given. Idempotent."""
        self._rest.clear()
        self._left, self._held = True, None
        work = self._work
        if work is not None and work is not asyncio.current_task():  # a transform may leave its own stream
            self._end_wait()
            await release.ends_in_time(work)
        await self._source.aclose()

    def _keep_in(self, error: UnspoolError) -> None:
        """Give an error what has come of the answer."""
        error.text, error.partial_value = self.text, self.partial_value
        self._source._keep_in(error)  # pyright: ignore[reportPrivateUsage]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"QueryStream({self._source!r})"
