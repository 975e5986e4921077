"""Release: waiting for code of others that was told to end, but not for ever.

What a source, a signal or a function does when it is closed or cancelled is its own: it may wait, or ignore
cancellation. It gets a grace period.
"""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import Awaitable, Callable, Generator
from typing import Any, cast

from unspool.time_limit import time_limit

GRACE_S = 1.0
"""The grace period: time to close a connection, and no more than a reader would wait."""

_late: set[asyncio.Future[Any]] = set()
"""Keeps what was cancelled, and still runs, from being garbage meanwhile."""


async def wait_for_end(work: asyncio.Future[Any], what: str) -> None:
    """Wait until work ends that was cancelled or closes something; whatever it gives or raises, this does not.

    What goes on after the grace period is cancelled. What ignores cancellation is left after another one, and a
    RuntimeWarning tells of it.

    Args:
        work: a task, mostly.
        what: its name in the warning.
    Cancellation:
        Cancels the work.
    """
    try:
        is_told = isinstance(work, asyncio.Task) and work.cancelling() > 0
        if not is_told and not await ends_in_time(work):
            work.cancel()
        if not await ends_in_time(work):
            _tell(what, "it still runs")
    finally:
        if not work.done():
            work.cancel()
            _late.add(work)
        work.add_done_callback(_heard)


async def close(method: Callable[[], Awaitable[object]], what: str) -> None:
    """Call something's method that closes it, and wait for its end as `wait_for_end` does."""

    async def run() -> None:
        await method()

    await wait_for_end(asyncio.Task(run(), loop=asyncio.get_running_loop(), eager_start=True), what)


async def ends_in_time(work: asyncio.Future[Any]) -> bool:
    """Wait for the grace period, or until work ends; give whether it has ended. It is not cancelled."""
    if not work.done():
        with contextlib.suppress(TimeoutError):
            async with time_limit(GRACE_S):
                await asyncio.wait([work])
    return work.done()


class Patience[T]:
    """Waits for somebody else's code, to be awaited once: in the task of the waiter, so that context variables and
    the code's own limits on time are as if it were awaited itself. When the task is cancelled meanwhile, it does not
    wait for ever.
    """

    __slots__ = ("_before", "_call", "_insisting", "_is_over", "_ours", "_who")

    def __init__(self, call: Callable[[], Awaitable[T]], who: object) -> None:
        """Take what is to be called.

        Args:
            call: gives what is waited for.
            who: is named in the RuntimeWarning that tells when it was cancelled twice in vain.
        """
        self._call = call
        self._who = who
        self._before = self._ours = 0
        self._insisting: asyncio.Task[None] | None = None
        self._is_over = False

    def __await__(self) -> Generator[Any, Any, T]:
        """Give what it gives, even to a task that was cancelled meanwhile, or raise what it raises.

        Cancellation:
            Cancels it. After the grace period it is cancelled once more, since it may have begun to wait anew; and
            after as long again it is closed where it stands. Whatever it raises then, this raises CancelledError.
        """
        task = asyncio.current_task()
        assert task is not None
        self._before = task.cancelling()
        work = self._run()
        given: Any = None
        thrown: BaseException | None = None
        try:
            while True:
                step = work.send(given) if thrown is None else work.throw(thrown)
                given = thrown = None
                try:
                    given = yield step
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:
                    thrown = error
                for _ in range(self._ours):
                    task.uncancel()  # a limit that the code has set itself counts them, too
                self._ours = 0
                if self._is_over:
                    with contextlib.suppress(Exception):
                        work.close()
                    raise asyncio.CancelledError
                if self._insisting is None and task.cancelling() > self._before:
                    self._insisting = task.get_loop().create_task(self._insist(task))
        except StopIteration as end:
            return cast("T", end.value)
        except Exception as error:
            if task.cancelling() > self._before:
                raise asyncio.CancelledError from error
            raise
        finally:
            if self._insisting is not None:
                self._insisting.cancel()
            del self._call, self._who  # the task that is cancelled must hold nobody's model

    async def _run(self) -> T:
        return await self._call()

    async def _insist(self, task: asyncio.Task[Any]) -> None:
        for is_last in (False, True):
            with contextlib.suppress(TimeoutError):
                async with time_limit(GRACE_S):
                    await asyncio.Event().wait()
            if task.cancelling() <= self._before:  # it was a limit of the code's own, and has been heard
                break
            if is_last:
                _tell(f"The wait for {self._who!r}", "it is broken off")
                self._is_over = True
            self._ours += 1
            task.cancel()
        else:
            return
        self._insisting = None


def _tell(what: str, then: str) -> None:
    """Warn of what does not end; from the loop, so that a warning that is an error costs no answer."""
    words = f"{what} was cancelled, and has not ended {GRACE_S:g} s later: {then}."
    asyncio.get_running_loop().call_soon(warnings.warn, words, RuntimeWarning)


def _heard(work: asyncio.Future[Any]) -> None:
    _late.discard(work)
    if not work.cancelled():
        work.exception()  # else asyncio logs that it was never asked for
