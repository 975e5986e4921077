"""Release: waiting for somebody else's code that was told to end, but not for ever.

What a source, a signal or a function does when it is closed or cancelled is its own: it may wait, or not mind at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from unspool.time_limit import time_limit

RELEASE_S = 1.0
"""How long anything may take to end: time to close a connection, and no more than a reader would wait."""

_late: set[asyncio.Future[Any]] = set()
"""Keeps what was cancelled, and still runs, from being garbage meanwhile."""


async def released(work: asyncio.Future[Any], what: str) -> None:
    """Wait until work ends that was cancelled or closes something; whatever it gives or raises, this does not.

    What goes on after `RELEASE_S` is cancelled. What does not mind that either is left, and a RuntimeWarning tells of
    it.

    Args:
        work: a task, mostly.
        what: its name in the warning.
    Cancellation:
        Cancels the work.
    """
    try:
        is_told = isinstance(work, asyncio.Task) and work.cancelling() > 0
        if not is_told and not await _ends(work):
            work.cancel()
        if not await _ends(work):
            _tell(what)
    finally:
        if not work.done():
            work.cancel()
            _late.add(work)
        work.add_done_callback(_heard)


async def closed(close: Callable[[], Awaitable[object]], what: str) -> None:
    """Call something's method that closes it, and wait for its end as `released` does."""

    async def run() -> None:
        await close()

    await released(asyncio.Task(run(), loop=asyncio.get_running_loop(), eager_start=True), what)


class Insistence:
    """Cancels somebody again and again: being cancelled, he may have begun to wait anew."""

    __slots__ = ("_task",)

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def begin(self, cancel: Callable[[], object], what: str, loop: asyncio.AbstractEventLoop) -> None:
        """Do so after each `RELEASE_S`, until `end`. Does nothing when it is being done.

        Args:
            cancel: cancels him.
            what: his name in the RuntimeWarning that tells when the second time was in vain, too.
            loop: where he runs.
        """
        if self._task is None:
            self._task = loop.create_task(_insist(cancel, what))

    def end(self) -> None:
        """He has ended. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()


async def _insist(cancel: Callable[[], object], what: str) -> None:
    times = 0
    while True:
        await _pass()
        times += 1
        if times == 2:
            _tell(what)
        cancel()


def _tell(what: str) -> None:
    """Warn of what does not end; from the loop, so that a warning that is an error costs nobody his answer."""
    words = f"{what} was cancelled, and has not ended {RELEASE_S:g} s later: it still runs."
    asyncio.get_running_loop().call_soon(warnings.warn, words, RuntimeWarning)


async def _pass() -> None:
    with contextlib.suppress(TimeoutError):
        async with time_limit(RELEASE_S):
            await asyncio.Event().wait()


async def _ends(work: asyncio.Future[Any]) -> bool:
    if not work.done():
        with contextlib.suppress(TimeoutError):
            async with time_limit(RELEASE_S):
                await asyncio.wait([work])
    return work.done()


def _heard(work: asyncio.Future[Any]) -> None:
    _late.discard(work)
    if not work.cancelled():
        work.exception()  # else asyncio logs that nobody has asked
