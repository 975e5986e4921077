"""Source: any iterable, Python's or JavaScript's, read one item at a time.

In: an iterable. Out: its items as they are, and a way to close it early that reaches what stands behind it, such as a
connection. Nothing is read ahead.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from typing import Any, Protocol

from unspool.release import wait_for_end

MAX_BUSY_S = 0.004
"""How long items are read without a turn of the event loop: a quarter of a frame."""

_tasks: set[asyncio.Task[None]] = set()
"""Keeps tasks that read or close a source from being garbage together with it."""


class Source:
    """An iterable that is being read."""

    def __init__(self, iterable: Any, *, interruptible: bool = False) -> None:
        """Begin to read.

        Args:
            iterable: an asynchronous or plain iterable (an item that is awaitable is awaited), a JavaScript iterable,
                or a ReadableStream, which is locked from now on.
            interruptible: read it in a task of its own, so that whoever waits for an item can leave at once, whatever
                the iterable does about it.
        Raises:
            TypeError: it is none of these. Text and bytes do not count as iterables.
        """
        tap = _tap(iterable)
        self._name = iterable.__qualname__ if inspect.isasyncgen(iterable) else type(iterable).__name__
        self._pump = _Pump(tap) if interruptible else None
        self._tap = self._pump or tap
        self._closing: asyncio.Task[None] | None = None
        self._over = False

    async def next(self) -> Any:
        """Give the next item.

        Raises:
            StopAsyncIteration: at the end, which needs no closing.
            Exception: that of the iterable, which is not closed by it; that of `interrupt`.
        """
        try:
            return await self._tap.next()
        except StopAsyncIteration:
            self._over = True
            raise

    def interrupt(self, error: Exception) -> None:
        """Have whoever waits for an item get an error now. Only where the source is interruptible."""
        if self._pump is not None:
            self._pump.interrupt(error)

    def abandon(self) -> None:
        """Tell the iterable to close, without waiting and whatever comes of it. Idempotent.

        While `next` waits only where the source is interruptible.
        """
        if self._over or self._closing is not None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # nothing can wait for it; Python closes a generator that is dropped
        self._closing = asyncio.Task(self._close(), loop=loop, eager_start=True)
        self._closing.add_done_callback(_heard)
        _tasks.add(self._closing)

    async def _close(self) -> None:
        work = asyncio.Task(self._tap.close(), loop=asyncio.get_running_loop(), eager_start=True)
        await wait_for_end(work, f"The closing of {self._name}")
        if work.done() and not work.cancelled():
            work.result()

    async def close(self) -> None:
        """Close the iterable and wait for it, as `abandon`; not for one that does not end (`unspool.release`).

        Raises what closing raises. Idempotent.

        Cancellation:
            The closing goes on.
        """
        self.abandon()
        if self._closing is not None:
            await asyncio.wait([self._closing])  # not `shield`, which logs a failure that a cancelled caller misses
            self._closing.result()


def is_javascript(value: object) -> bool:
    """Whether a value is JavaScript's."""
    if sys.platform != "emscripten":
        return False
    from pyodide.ffi import JsProxy

    return isinstance(value, JsProxy)


def _heard(task: asyncio.Task[None]) -> None:
    _tasks.discard(task)
    if not task.cancelled():
        task.exception()  # else asyncio logs that nobody has asked


class _Tap(Protocol):
    async def next(self) -> Any: ...

    async def close(self) -> None: ...


def _tap(iterable: Any) -> _Tap:
    if hasattr(iterable, "getReader"):
        return _StreamReader(iterable.getReader())
    if is_javascript(iterable):
        return _script_iterator(iterable)
    if hasattr(iterable, "__aiter__"):
        return _Asynchronous(iterable)
    if hasattr(iterable, "__iter__") and not isinstance(iterable, str | bytes | bytearray):
        return _Plain(iterable)
    raise TypeError(f"{type(iterable).__name__} is not an iterable of items")


class _Pump:
    """Reads a tap in one task, since what an asynchronous generator has entered it must leave in the same task."""

    def __init__(self, tap: _Tap) -> None:
        self._tap = tap
        self._task: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[Any] | None = None
        self._wanted = asyncio.Event()

    async def next(self) -> Any:
        loop = asyncio.get_running_loop()
        answer = self._answer = loop.create_future()
        if self._task is None:
            self._task = asyncio.Task(self._run(), loop=loop, eager_start=True)
            _tasks.add(self._task)
            self._task.add_done_callback(_heard)
        else:
            self._wanted.set()
        return await answer

    def interrupt(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
            self._answer.exception()  # whoever waits may have been cancelled meanwhile: else asyncio logs it

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await wait_for_end(self._task, "The reading of an iterable")
        await self._tap.close()

    async def _run(self) -> None:
        while True:
            try:
                item = await self._tap.next()
            except Exception as error:
                self.interrupt(error)
                return
            except BaseException:
                if self._answer is not None:
                    self._answer.cancel()
                raise
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(item)
            await self._wanted.wait()
            self._wanted.clear()


class _Turns:
    """Lets others run while items are read that never wait: the page must draw, a signal and a cancellation be heard.

    Not between any two items: in a worker a turn of the event loop takes longer than dozens of events.
    """

    def __init__(self) -> None:
        self._last = float("-inf")

    def are_due(self) -> bool:
        """Whether the last turn is long ago; the first time, always."""
        return asyncio.get_running_loop().time() - self._last >= MAX_BUSY_S

    async def give(self) -> None:
        """Take a turn."""
        await asyncio.sleep(0)
        self._last = asyncio.get_running_loop().time()


class _Plain:
    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable
        self._iterator = iter(iterable)
        self._turns = _Turns()

    async def next(self) -> Any:
        if self._turns.are_due():
            await self._turns.give()
        try:
            item = next(self._iterator)
        except StopIteration:
            raise StopAsyncIteration from None
        return await item if inspect.isawaitable(item) else item

    async def close(self) -> None:
        await _close(self._iterator, self._iterable)


class _Asynchronous:
    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable
        self._iterator = aiter(iterable)

    async def next(self) -> Any:
        return await anext(self._iterator)

    async def close(self) -> None:
        await _close(self._iterator, self._iterable)


async def _close(iterator: Any, iterable: Any) -> None:
    """Close the iterator, and also the iterable it is of.

    The stream objects of SDKs are iterated by a generator that does not own the connection: closing that alone would
    leave the response open, and the provider writing.
    """
    try:
        await _close_one(iterator)
    finally:
        if iterable is not iterator:
            await _close_one(iterable)


async def _close_one(thing: Any) -> None:
    close = getattr(thing, "aclose", None) or getattr(thing, "close", None)
    if callable(close):
        closing = close()
        if inspect.isawaitable(closing):
            await closing


class _StreamReader:
    """JavaScript's ReadableStream, through a reader alone: Safari has no asynchronous iteration over streams."""

    def __init__(self, reader: Any) -> None:
        self._reader: Any = reader

    async def next(self) -> Any:
        if self._reader is None:
            raise StopAsyncIteration
        step = await self._reader.read()
        if step.done:
            reader, self._reader = self._reader, None
            reader.releaseLock()
            raise StopAsyncIteration
        return step.value

    async def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            cancelling = reader.cancel()
            reader.releaseLock()
            await cancelling


class _ScriptIterator:
    """JavaScript's own protocol, because a Python iterator made of it could not be closed."""

    def __init__(self, iterator: Any) -> None:
        self._iterator: Any = iterator
        self._turns = _Turns()

    async def next(self) -> Any:
        step = self._iterator.next()
        waits = inspect.isawaitable(step)
        if waits:
            step = await step
        elif self._turns.are_due():
            await self._turns.give()
        if not hasattr(step, "done"):
            raise TypeError("an iterator of JavaScript gave a step that is no object")
        if step.done:
            raise StopAsyncIteration
        value = step.value
        return await value if not waits and inspect.isawaitable(value) else value

    async def close(self) -> None:
        iterator, self._iterator = self._iterator, None
        close = getattr(iterator, "return", None)
        if close is not None:
            closing = close()
            if inspect.isawaitable(closing):
                await closing


def _script_iterator(iterable: Any) -> _Tap:
    import js

    for symbol in (js.Symbol.asyncIterator, js.Symbol.iterator):
        method = js.Reflect.get(iterable, symbol)
        if method:
            return _ScriptIterator(method.call(iterable))
    raise TypeError("a JavaScript object without an iterator")
