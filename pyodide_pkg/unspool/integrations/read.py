"""read_structured: the updates of tool calls out of an iterable of decoded events, and everything closed at the end.

In: an iterable, Python's or JavaScript's, and what knows its events. Out: updates. One event is read, all its updates
are given, and only then is the next one read. No bytes, no SSE, no requests.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeGuard, cast

from unspool.errors import CallCancelledError, ConfigError, StreamError
from unspool.integrations.session import Diagnostic, Session, SessionFactory, StreamLimits
from unspool.signals import SignalListener
from unspool.source import Source
from unspool.structured.pool import StreamUpdate


class StructuredReader:
    """The updates of one response's tool calls. Read it with `async for`, or with `read()` event by event.

    Leave it early as you like: by `break`, `aclose()`, `async with`, by cancelling the task, or by dropping it. The
    source is closed then, and calls that are still open are dropped.
    """

    def __init__(self, events: Any, make_session: Callable[[], Session], stop: _Stop | None) -> None:
        """Made by `read_structured`."""
        self._events = events
        self._make_session = make_session
        self._stop = stop
        self._session: Session | None = None
        self._source: Source | None = None
        self._rest: deque[StreamUpdate] = deque()
        self._reading = False
        self._ended = False
        self._over = False

    async def read(self) -> list[StreamUpdate] | None:
        """Wait for the next updates.

        Returns:
            All updates of one event, in order and never empty; at the end of the source the completions of the calls
            still open; then None.
        Raises:
            StreamError: the fault of a call or of an event (see `Session.push_all`); INVALID_OPTIONS.
            CallCancelledError: ABORTED when the signal has stopped the reading.
            ConfigError: INVALID_OPTIONS when another task is already reading.
            Exception: that of the source or of the mapper, as it is.
        After an error:
            Over; the source is closed, and nothing more is given.
        Cancellation:
            Cancels the source's own wait and closes it.
        """
        if self._reading:
            raise ConfigError("INVALID_OPTIONS", "Another task is already reading.")
        if self._over:
            return None
        self._reading = True
        try:
            self._check_stop()
            updates = list(self._rest) or await self._advance()
            self._rest.clear()
        except BaseException:
            with contextlib.suppress(Exception):  # what went wrong first is what is told
                await self._close()
            raise
        finally:
            self._reading = False
        if not updates:
            await self._close()
            return None
        return updates

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamUpdate:
        if not self._rest or self._stopped():
            updates = await self.read()
            if updates is None:
                raise StopAsyncIteration
            self._rest.extend(updates)
        return self._rest.popleft()

    async def aclose(self) -> None:
        """Leave: the open calls are dropped, the source is closed. Nothing more is given. Idempotent.

        Raises:
            ConfigError: INVALID_OPTIONS while a task is reading; cancel that task.
            Exception: that of the source's closing.
        Cancellation:
            Stops the waiting for the source's closing; the reader is over.
        """
        if self._reading:
            raise ConfigError("INVALID_OPTIONS", "Another task is reading; cancel it to leave.")
        await self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_exc: object) -> None:
        if kind is None:
            await self.aclose()
        else:
            with contextlib.suppress(Exception):  # what went wrong first is what is told
                await self.aclose()

    def __del__(self) -> None:
        if not self._over:
            self._drop()
            if self._source is not None:
                self._source.abandon()
            if self._stop is not None:
                self._stop.forget()

    async def _advance(self) -> list[StreamUpdate]:
        """Give the next updates; none at the end."""
        if self._ended:
            return []
        if self._session is None or self._source is None:
            self._session = self._make_session()
            self._source = _open(self._events, interruptible=self._stop is not None)
            if self._stop is not None:
                self._stop.listen(self._session, self._source)
        while True:
            try:
                event = await self._source.next()
            except StopAsyncIteration:
                self._ended = True
                self._check_stop()
                return self._session.finish()
            try:
                updates = self._session.push_all(event)
            finally:
                self._check_stop()
            if updates:
                return updates

    def _stopped(self) -> bool:
        return self._stop is not None and not self._over and self._stop.is_set()

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop.is_set():
            self._stop.abort()
            raise self._stop.error()

    def _drop(self) -> None:
        self._over = True
        self._rest.clear()
        if self._session is not None:
            self._session.close()

    async def _close(self) -> None:
        self._drop()
        source, self._source = self._source, None
        try:
            if source is not None:
                closing = source.close()
                await (closing if self._stop is None else self._stop.cut_short(closing))
        finally:
            if self._stop is not None:
                await self._stop.close()


class _Stop:
    """What a signal does: the calls are dropped and whoever waits is told at once; the source may take its time."""

    def __init__(self, signal: Any) -> None:
        self._signal = signal
        self._listener = SignalListener(signal, self)
        self._session: Session | None = None
        self._source: Source | None = None
        self._heard: asyncio.Future[None] | None = None

    def is_set(self) -> bool:
        return self._listener.is_set()

    def error(self) -> CallCancelledError:
        error = CallCancelledError("The reading was stopped by its signal.")
        reason = getattr(self._signal, "reason", None)
        if isinstance(reason, BaseException):
            error.__cause__ = reason
        return error

    def listen(self, session: Session, source: Source) -> None:
        self._session = session
        self._source = source
        self._heard = asyncio.get_running_loop().create_future()
        self._listener.start()

    def abort(self) -> None:
        if self._session is not None and self._source is not None:
            self._session.close()
            self._source.interrupt(self.error())
            self._source.abandon()
        if self._heard is not None and not self._heard.done():
            self._heard.set_result(None)

    async def cut_short(self, closing: Awaitable[None]) -> None:
        """Wait for the closing of the source, but not beyond the signal."""
        task = asyncio.ensure_future(closing)
        await asyncio.wait([task, self._heard] if self._heard is not None else [task], return_when="FIRST_COMPLETED")
        if task.done():
            task.result()
        else:
            task.cancel()  # that wait alone; the closing goes on

    def forget(self) -> None:
        self._listener.stop()

    async def close(self) -> None:
        await self._listener.close()


def read_structured(
    events: Any,
    *,
    adapter: SessionFactory | None = None,
    integration: SessionFactory | None = None,
    limits: StreamLimits | None = None,
    signal: Any = None,
    on_diagnostic: Callable[[Diagnostic], object] | None = None,
) -> StructuredReader:
    """Read the tool calls out of a stream that someone else has opened and decoded.

    Args:
        events: decoded events: an asynchronous or plain iterable (awaitable items are awaited), a JavaScript iterable,
            or a ReadableStream. Nothing is read before the first update is asked for.
        adapter: what `define_adapter` gives, for a protocol of your own.
        integration: one of `unspool.integrations`, for the events of an SDK. Exactly one of the two.
        limits: limits and modes of the calls; see `StreamPool`.
        signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the reading.
        on_diagnostic: called with hints for debugging; see `Diagnostic`.
    Returns:
        An asynchronous iterator of `StreamUpdate`; those of type "complete" are `StreamCompletion`.
    Raises:
        StreamError: INVALID_OPTIONS.
        ConfigError: INVALID_OPTIONS when the signal is none.
    """
    factory = adapter if integration is None else integration
    if (adapter is None) == (integration is None) or not callable(factory) or isinstance(factory, type):
        raise StreamError(
            "INVALID_OPTIONS",
            "Give exactly one of adapter=, what us.define_adapter gives, and integration=, such as "
            "us.integrations.openai.",
        )
    if on_diagnostic is not None and not callable(on_diagnostic):
        raise StreamError("INVALID_OPTIONS", "on_diagnostic must be a function.")
    options = _checked(limits)

    def make_session() -> Session:
        return factory(on_diagnostic=on_diagnostic, **options)

    return StructuredReader(events, make_session, None if signal is None else _Stop(signal))


def _checked(limits: object) -> StreamLimits:
    if limits is None:
        return {}
    known = StreamLimits.__optional_keys__
    if not _is_mapping(limits) or not set(limits) <= known:
        raise StreamError("INVALID_OPTIONS", f"limits must be a mapping; its keys may be {', '.join(sorted(known))}.")
    return cast(StreamLimits, limits)


def _open(events: Any, *, interruptible: bool) -> Source:
    try:
        if not _is_mapping(events):  # one event is not many
            return Source(events, interruptible=interruptible)
    except TypeError:
        pass
    raise StreamError("INVALID_OPTIONS", f"The events must be an iterable, not {type(events).__name__}.")


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)
