"""A limit on waiting that leaves nothing behind when the wait ends in time.

In: seconds. Out: an asynchronous context manager that raises TimeoutError inside the task, as `asyncio.timeout` does.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

_MAX_MS = 2**31 - 1  # the longest delay that setTimeout keeps


def time_limit(seconds: float | None) -> AbstractAsyncContextManager[Any]:
    """Limit how long the body of an `async with` may wait; None: no limit.

    Raises:
        TimeoutError: on leaving the body, when the time ran out. A cancelled task still sees its CancelledError.
    """
    if seconds is None or sys.platform != "emscripten":
        return asyncio.timeout(seconds)
    return _PageTimeLimit(seconds)


class _PageTimeLimit:
    """`asyncio.timeout` on a JavaScript timer of its own.

    Cancelling a timer of Pyodide's event loop only marks it: the JavaScript timer and its proxy live on until the time
    is over, so a stream with a limit on every slice would pile up thousands, and Node would not exit before them.
    """

    __slots__ = ("_expiry", "_limit", "_seconds", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limit = asyncio.timeout(None)
        self._timer: Any = None
        self._expiry: asyncio.Handle | None = None

    async def __aenter__(self) -> None:
        from pyodide.ffi.wrappers import set_timeout

        await self._limit.__aenter__()
        loop = asyncio.get_running_loop()

        def fire() -> None:
            # Through the loop, because only its own callbacks are sure to find it registered as the running one.
            self._expiry = loop.call_soon(self._limit.reschedule, 0)

        self._timer = set_timeout(fire, min(int(self._seconds * 1000), _MAX_MS))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from pyodide.ffi.wrappers import clear_timeout

        clear_timeout(self._timer)
        if self._expiry is not None:  # the timer had fired, but the wait ended first
            self._expiry.cancel()
        await self._limit.__aexit__(kind, error, trace)
