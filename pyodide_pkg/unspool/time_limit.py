"""Limits on waiting that leave nothing behind when the wait ends in time.

In: seconds. Out: asynchronous context managers that raise TimeoutError inside the task, as `asyncio.timeout` does.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

_MAX_MS = 2**31 - 1  # the longest delay that setTimeout keeps


def time_limit(seconds: float | None) -> AbstractAsyncContextManager[None]:
    """Limit how long the body of an `async with` may wait; None: no limit.

    Raises:
        TimeoutError: on leaving the body, when the time ran out. A cancelled task still sees its CancelledError.
    """
    return _OneWait(seconds)


class TimeLimit:
    """The same for each of many waits, one after the other: `async with limit`. Call `stop` when no more will come.

    In Pyodide all of them share one JavaScript timer, which looks again when it finds that a wait began late. To cancel
    a timer of the event loop only marks it there: the JavaScript timer and its proxy live on until the time is over, so
    a stream would pile up thousands, and Node would not exit before them. And one timer for each wait costs more than
    the wait (88 µs, where reading a slice takes 66; 2026-11, Pyodide 314.0.7, Node 20).
    """

    __slots__ = ("_due_s", "_expiry", "_one_timer", "_seconds", "_timer", "_wait")

    def __init__(self, seconds: float | None) -> None:
        """Limit each wait to `seconds`; None: no limit."""
        self._seconds = seconds
        self._one_timer = seconds is not None and sys.platform == "emscripten"
        self._timer: Any = None
        self._due_s = 0.0
        self._wait: asyncio.Timeout | None = None
        self._expiry: asyncio.Handle | None = None

    async def __aenter__(self) -> None:
        self._wait = asyncio.timeout(None if self._one_timer else self._seconds)
        await self._wait.__aenter__()
        if self._one_timer and self._seconds is not None:
            loop = asyncio.get_running_loop()
            self._due_s = loop.time() + self._seconds
            if self._timer is None:
                self._start(loop, self._seconds)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wait, self._wait = self._wait, None
        if self._expiry is not None:  # the timer had fired, but the wait ended first
            self._expiry.cancel()
            self._expiry = None
        if wait is not None:
            await wait.__aexit__(kind, error, trace)

    def stop(self) -> None:
        """Give the timer back. Idempotent; the next wait starts another one."""
        timer, self._timer = self._timer, None
        if timer is not None:
            from pyodide.ffi.wrappers import clear_timeout

            clear_timeout(timer)

    def _start(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        from pyodide.ffi.wrappers import set_timeout

        def fire() -> None:
            self._timer = None
            if self._wait is None:
                return
            left_s = self._due_s - loop.time()
            if left_s > 0:
                self._start(loop, left_s)
            else:
                # Through the loop, because only its own callbacks are sure to find it registered as the running one.
                self._expiry = loop.call_soon(self._wait.reschedule, 0)

        self._timer = set_timeout(fire, min(int(seconds * 1000) + 1, _MAX_MS))


class _OneWait:
    """A class, because `asynccontextmanager` leaves a proxy behind when a JavaScript error passes through it.

    Seen in Pyodide 314.0.7 in Chromium 156, 2026-11.
    """

    __slots__ = ("_limit",)

    def __init__(self, seconds: float | None) -> None:
        self._limit = TimeLimit(seconds)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        finally:
            self._limit.stop()
