"""Listening to what stops a call from outside: an `asyncio.Event`, or a JavaScript AbortSignal.

In: a signal and a stream to abort. Out: one call of `abort`, and nothing left behind on the signal, which often
outlives many calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import weakref
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Protocol

from unspool.contracts import Signal
from unspool.errors import ConfigError
from unspool.release import wait_for_end

_waiters: set[asyncio.Task[None]] = set()
"""Keeps waiting tasks from being garbage together with a stream in a cycle: a task must be cancelled before it goes."""


class Abortable(Protocol):
    """What can be stopped at once."""

    def abort(self) -> None: ...


class SignalListener:
    """Aborts a stream when its signal is set. Holds the stream weakly: one that is dropped must still be collected."""

    __slots__ = ("_callback", "_signal", "_target", "_waiter")

    def __init__(self, signal: object, target: Abortable) -> None:
        """Take a signal; nothing is listened to before `start`.

        Raises:
            ConfigError: INVALID_OPTIONS when the signal is none.
        """
        # Of a thread's Event the wait would block the loop.
        is_event = isinstance(signal, Signal) and iscoroutinefunction(signal.wait) and not isinstance(signal, type)
        if not is_event and not _is_abort_signal(signal):
            raise ConfigError("INVALID_OPTIONS", "A signal must be an asyncio.Event or a JavaScript AbortSignal.")
        self._signal: Any = signal
        self._target = weakref.ref(target)
        self._waiter: asyncio.Task[None] | None = None
        self._callback: Any = None

    def is_set(self) -> bool:
        """Whether the signal has said stop."""
        return bool(self._signal.aborted if _is_abort_signal(self._signal) else self._signal.is_set())

    def start(self) -> None:
        """Listen from now on. Needs a running event loop."""
        if _is_abort_signal(self._signal):
            self._callback = _proxy(_aborter(self._target))
            self._signal.addEventListener("abort", self._callback)
        else:
            self._waiter = asyncio.create_task(_wait(self._signal, self._target))
            _waiters.add(self._waiter)
            self._waiter.add_done_callback(_heard)

    def stop(self) -> None:
        """Listen no more. Idempotent; needs no loop."""
        callback, self._callback = self._callback, None
        if callback is not None:
            self._signal.removeEventListener("abort", callback)
            if sys.platform == "emscripten":
                callback.destroy()
        if self._waiter is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed, and has ended it
                self._waiter.cancel()

    async def close(self) -> None:
        """Listen no more, and wait until no task is left; not for a signal that ignores cancellation. Idempotent."""
        self.stop()
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            await wait_for_end(waiter, f"The wait of a signal ({type(self._signal).__name__})")


def _heard(waiter: asyncio.Task[None]) -> None:
    _waiters.discard(waiter)
    if not waiter.cancelled():
        waiter.exception()  # a wait that fails stops nothing; unasked, asyncio would log it


def _is_abort_signal(signal: Any) -> bool:
    return hasattr(signal, "aborted") and hasattr(signal, "addEventListener")


def _aborter(target: weakref.ref[Any]) -> Callable[..., None]:
    def on_abort(_event: Any = None) -> None:
        stream = target()
        if stream is not None:
            stream.abort()

    return on_abort


def _proxy(callback: Callable[..., None]) -> Any:
    if sys.platform != "emscripten":
        return callback
    from pyodide.ffi import create_proxy

    return create_proxy(callback)


async def _wait(signal: Signal, target: weakref.ref[Any]) -> None:
    await signal.wait()
    _aborter(target)()
