"""A limit on waiting: what it raises, and that it leaves no timer behind."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any

import pytest

from unspool.time_limit import TimeLimit, time_limit


class Timers(ModuleType):
    """pyodide.ffi.wrappers on asyncio's own timers, with a count of those that run."""

    def __init__(self) -> None:
        super().__init__("pyodide.ffi.wrappers")
        self.running: set[asyncio.TimerHandle] = set()
        self.delays: list[int] = []
        self.callbacks: list[Any] = []

    def set_timeout(self, callback: Any, timeout: int) -> asyncio.TimerHandle:
        def fire() -> None:
            self.running.discard(handle)
            callback()

        handle = asyncio.get_running_loop().call_later(timeout / 1000, fire)
        self.running.add(handle)
        self.delays.append(timeout)
        self.callbacks.append(callback)
        return handle

    def clear_timeout(self, handle: asyncio.TimerHandle) -> None:
        handle.cancel()
        self.running.discard(handle)


@pytest.fixture(params=["asyncio", "page"])
def timers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Timers:
    """Both kinds: that of CPython, and that of Pyodide on timers that a test can see."""
    timers = Timers()
    if request.param == "page":
        monkeypatch.setattr("unspool.time_limit.sys.platform", "emscripten")
        monkeypatch.setitem(sys.modules, "pyodide", ModuleType("pyodide"))
        monkeypatch.setitem(sys.modules, "pyodide.ffi", ModuleType("pyodide.ffi"))
        monkeypatch.setitem(sys.modules, "pyodide.ffi.wrappers", timers)
    else:
        monkeypatch.setattr("unspool.time_limit.sys.platform", "linux")
    return timers


async def test_in_time(timers: Timers) -> None:
    async with time_limit(60):
        await asyncio.sleep(0)
    assert not timers.running


async def test_too_late(timers: Timers) -> None:
    with pytest.raises(TimeoutError):
        async with time_limit(0.001):
            await asyncio.Event().wait()
    assert not timers.running
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_no_limit(timers: Timers) -> None:
    async with time_limit(None):
        await asyncio.sleep(0)
    assert timers.delays == []


async def test_failures_pass(timers: Timers) -> None:
    with pytest.raises(ZeroDivisionError):
        async with time_limit(60):
            raise ZeroDivisionError
    assert not timers.running


async def test_a_cancelled_task_sees_its_cancellation(timers: Timers) -> None:
    async def wait() -> None:
        async with time_limit(60):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not timers.running


async def test_limits_nest(timers: Timers) -> None:
    with pytest.raises(TimeoutError):
        async with time_limit(0.001), time_limit(60):
            await asyncio.Event().wait()
    assert not timers.running


async def test_a_timer_that_fires_when_the_wait_is_just_over(timers: Timers) -> None:
    """Firefox showed it: the timer had fired, its turn of the loop had not come, and the body had ended."""
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
    async with time_limit(0):
        for callback in timers.callbacks:
            callback()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told == []


async def test_a_limit_beyond_what_timers_hold(timers: Timers) -> None:
    """setTimeout counts in 32 bits: a longer delay would fire at once."""
    async with time_limit(10_000_000):
        await asyncio.sleep(0)
    assert all(delay <= 2**31 - 1 for delay in timers.delays)


async def test_many_waits_share_one_timer(timers: Timers) -> None:
    limit = TimeLimit(60)
    for _ in range(100):
        async with limit:
            await asyncio.sleep(0)
    assert len(timers.delays) == len(timers.running) <= 1
    limit.stop()
    limit.stop()
    assert not timers.running


async def test_each_of_many_waits_has_the_whole_time(timers: Timers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer of the first wait fires during the second: that is not over yet, and is looked at again."""
    loop = asyncio.get_running_loop()
    late_s = 0.0
    real_time = loop.time
    monkeypatch.setattr(loop, "time", lambda: real_time() + late_s)
    limit = TimeLimit(60)
    async with limit:
        late_s = 59.0
    async with limit:
        late_s = 61.0
        for callback in timers.callbacks[:1]:
            callback()
        await asyncio.sleep(0)
    assert [delay // 1000 for delay in timers.delays] in ([], [60, 58])
    limit.stop()


async def test_a_timer_that_fires_between_waits(timers: Timers) -> None:
    limit = TimeLimit(60)
    async with limit:
        await asyncio.sleep(0)
    for callback in timers.callbacks:
        callback()
    async with limit:
        await asyncio.sleep(0)
    assert len(timers.delays) in (0, 2)
    limit.stop()


async def test_a_later_wait_that_takes_too_long(timers: Timers) -> None:
    limit = TimeLimit(0.001)
    async with limit:
        pass
    with pytest.raises(TimeoutError):
        async with limit:
            await asyncio.Event().wait()
    async with limit:  # and it can be used again
        pass
    limit.stop()
    assert not timers.running
