"""IterableResponse: any iterable, Python's or JavaScript's, as a response of decoded events.

In: an iterable. Out: slices of one event each; closing the response closes the iterable. Nothing is read ahead.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Protocol, cast

from unspool.errors import CallCancelledError, ProviderError, UnspoolError
from unspool.messages import Message
from unspool.tagged import Tagged


class _Source(Protocol):
    async def next(self) -> Any:
        """Give the next event; StopAsyncIteration at the end."""
        ...

    def abandon(self) -> None:
        """Close without waiting, while no `next` is waiting."""
        ...

    async def close(self) -> None: ...


class IterableResponse:
    """A response whose events come from an iterable."""

    status: int
    headers: Mapping[str, str]

    def __init__(self, iterable: Any) -> None:
        """Take an iterable of events; nothing is read yet.

        Args:
            iterable: an asynchronous or plain iterable, a JavaScript iterable or ReadableStream, or one event (a text,
                a dict, a chunk).
        Raises:
            ProviderError: PROVIDER when it is none of these.
        """
        self.status = 200
        self.headers = {}
        self._source = _source(iterable)
        self._aborted = False
        self._reading = False
        self._over = False

    async def read(self) -> list[Any] | None:
        """Wait for the next event.

        Raises:
            ProviderError: PROVIDER when the iterable fails; the foreign error is its cause.
            CallCancelledError: ABORTED after `abort` or `close`.
        Cancellation:
            Cancels the iterable's own wait.
        """
        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        if self._over:
            return None
        self._reading = True
        try:
            event = await self._source.next()
        except StopAsyncIteration:
            self._over = True
            return None
        except UnspoolError:
            raise
        except Exception as error:
            if self._aborted:
                raise CallCancelledError("The response was aborted.") from None
            raise failure(error) from error
        finally:
            self._reading = False
        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        return [event]

    def abort(self) -> None:
        """Stop at once: the iterable is closed, or told so when it is waiting. Idempotent."""
        if self._aborted or self._over:
            return
        self._aborted = True
        if not self._reading:  # else its reader is being cancelled, and closes it
            with contextlib.suppress(Exception):
                self._source.abandon()

    async def close(self) -> None:
        """Stop, and wait until the iterable has closed. Idempotent."""
        self._aborted = True
        if not self._reading:
            with contextlib.suppress(Exception):  # the answer stands, however badly its source closes
                await self._source.close()


def failure(error: Exception) -> ProviderError:
    """Say that a model which is a function or an object of the page failed."""
    return ProviderError("PROVIDER", f"The model failed ({type(error).__name__}: {error})"[:500])


def is_javascript(value: object) -> bool:
    """Whether a value is JavaScript's."""
    if sys.platform != "emscripten":
        return False
    from pyodide.ffi import JsProxy

    return isinstance(value, JsProxy)


def _source(iterable: Any) -> _Source:
    if isinstance(iterable, str | Mapping | Tagged | Message):
        return _Plain(iter((cast(Any, iterable),)))
    if hasattr(iterable, "getReader"):
        return _StreamReader(iterable.getReader())
    if is_javascript(iterable):
        return _script_source(iterable)
    if hasattr(iterable, "__aiter__"):
        return _Asynchronous(aiter(iterable))
    if hasattr(iterable, "__iter__") and not isinstance(iterable, bytes | bytearray):
        return _Plain(iter(iterable))
    raise ProviderError(
        "PROVIDER", f"A model must give an iterable of texts, chunks or dicts, not {type(iterable).__name__}."
    )


class _Plain:
    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    async def next(self) -> Any:
        await asyncio.sleep(0)  # a plain iterable never waits: let the page draw, and a signal be heard
        try:
            return next(self._iterator)
        except StopIteration:
            raise StopAsyncIteration from None

    def abandon(self) -> None:
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()

    async def close(self) -> None:
        self.abandon()


class _Asynchronous:
    def __init__(self, iterator: AsyncIterator[Any]) -> None:
        self._iterator = iterator
        self._closing: asyncio.Task[None] | None = None

    async def next(self) -> Any:
        return await anext(self._iterator)

    def abandon(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # no loop to wait on; Python finalizes a generator that is dropped
        if self._closing is None:
            self._closing = asyncio.Task(self._finalize(), loop=loop, eager_start=True)

    async def close(self) -> None:
        self.abandon()
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def _finalize(self) -> None:
        close = getattr(self._iterator, "aclose", None)
        if close is not None:
            with contextlib.suppress(Exception):  # nobody waits for the news
                await close()


class _StreamReader:
    """JavaScript's ReadableStream, through a reader alone: Safari has no asynchronous iteration over streams."""

    def __init__(self, reader: Any) -> None:
        self._reader: Any = reader

    async def next(self) -> Any:
        return _event(await self._reader.read())

    def abandon(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            _forget(reader.cancel())
            reader.releaseLock()

    async def close(self) -> None:
        self.abandon()


class _ScriptIterator:
    """JavaScript's own protocol, because a Python iterator made of it could not be closed."""

    def __init__(self, iterator: Any) -> None:
        self._iterator: Any = iterator

    async def next(self) -> Any:
        step = self._iterator.next()
        if inspect.isawaitable(step):
            step = await step
        else:
            await asyncio.sleep(0)
        return _event(step)

    def abandon(self) -> None:
        iterator, self._iterator = self._iterator, None
        close = getattr(iterator, "return", None)
        if close is not None:
            _forget(close())

    async def close(self) -> None:
        self.abandon()


def _script_source(iterable: Any) -> _Source:
    import js

    for symbol in (js.Symbol.asyncIterator, js.Symbol.iterator):
        method = js.Reflect.get(iterable, symbol)
        if method:
            return _ScriptIterator(method.call(iterable))
    return _Plain(iter((_value(iterable),)))


def _event(step: Any) -> Any:
    if step.done:
        raise StopAsyncIteration
    return _value(step.value)


def _value(value: Any) -> Any:
    """Turn a JavaScript object into Python data, by way of JSON: null is None there, and depth is bounded."""
    if not is_javascript(value):
        return value
    import js

    from unspool.structured import strict_json

    return strict_json.loads(js.JSON.stringify(value), duplicate_keys="last")


def _ignore(_reason: object) -> None: ...


def _forget(promise: Any) -> None:
    if hasattr(promise, "catch"):
        promise.catch(_ignore)
