"""Waiting for what was told to end, but not for ever."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar

import pytest

from unspool import release
from unspool.release import Patience, close, ends_in_time, wait_for_end

pytestmark = pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees


@pytest.fixture(autouse=True)
async def no_patience(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The time is over at once, and in the end nothing runs."""
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    before = asyncio.all_tasks()
    yield
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}
    assert not release._late


class Stubborn:
    """Ignores cancellation until it is let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                continue


async def test_what_ends_in_time_is_waited_for() -> None:
    done: list[str] = []

    async def closes() -> None:
        done.append("closed")

    async def fails() -> None:
        raise OSError("gone")

    release.GRACE_S = 60
    for work in (closes(), fails()):
        task = asyncio.ensure_future(work)
        await wait_for_end(task, "It")
        assert task.done()
    await wait_for_end(task, "It")
    assert done == ["closed"]


async def test_what_does_not_end_is_cancelled() -> None:
    forever = asyncio.ensure_future(asyncio.Event().wait())
    await wait_for_end(forever, "It")
    assert forever.cancelled()
    future = asyncio.get_running_loop().create_future()
    await wait_for_end(future, "It")
    assert future.cancelled()


@pytest.mark.parametrize("told", [True, False])
async def test_what_ignores_cancellation_is_left_and_told_of(told: bool) -> None:
    """Once cancelled it is not cancelled again: it has had its time."""
    stubborn = Stubborn()
    await asyncio.sleep(0)
    if told:
        stubborn.task.cancel()
    with pytest.warns(RuntimeWarning, match="The source was cancelled, and has not ended 0 s later"):
        await wait_for_end(stubborn.task, "The source")
        await asyncio.sleep(0)
    assert stubborn.task in release._late
    stubborn.let_go.set()
    await asyncio.sleep(0)


async def test_who_waits_may_leave_and_the_work_is_cancelled() -> None:
    release.GRACE_S = 60
    work = asyncio.ensure_future(asyncio.Event().wait())
    waiting = asyncio.ensure_future(wait_for_end(work, "It"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait([work])
    assert work.cancelled()


async def test_waiting_for_the_grace_period_cancels_nothing() -> None:
    future = asyncio.get_running_loop().create_future()
    assert not await ends_in_time(future)
    assert not future.done()
    future.set_result(None)
    assert await ends_in_time(future)


# Patience

STAGE: ContextVar[str] = ContextVar("STAGE", default="")


async def begun(call: Callable[[], Awaitable[object]]) -> asyncio.Task[object]:
    """Wait for a call in a task of its own, until it waits itself."""

    async def wait() -> object:
        return await Patience(call, "it")

    task = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    return task


async def test_what_is_waited_for_in_peace_is_as_if_awaited() -> None:
    """In the same task and context, and its limits on time are its own, though it minds them slowly."""
    waited: list[str] = []

    async def limited() -> str:
        STAGE.set("set in there")
        waited.append(str(asyncio.current_task() is here))
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            waited.append("timed out")
        for _ in range(5):
            await asyncio.sleep(0)
        return "given"

    async def fails() -> None:
        await asyncio.sleep(0)
        raise OSError("gone")

    here = asyncio.current_task()
    assert here is not None
    assert await Patience(limited, "it") == "given"
    assert (STAGE.get(), waited, here.cancelling()) == ("set in there", ["True", "timed out"], 0)
    with pytest.raises(OSError, match="gone"):
        await Patience(fails, "it")


async def test_a_limit_of_its_own_that_is_heard_late_stays_a_limit() -> None:
    """The cancellation that hurries what it does then is not counted as another one."""

    async def slow_to_end() -> str:
        try:
            async with asyncio.timeout(0):
                try:
                    await asyncio.Event().wait()
                finally:
                    await asyncio.Event().wait()
        except TimeoutError:
            return "timed out"
        return "never"

    assert await Patience(slow_to_end, "it") == "timed out"


async def test_a_cancelled_task_is_not_held_by_a_cleanup_that_waits() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("slow")

    task = await begun(slow)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() and task.cancelling() == 1
    assert ended == ["slow"]


async def test_what_ignores_cancellation_is_closed_and_told_of_once() -> None:
    cancelled: list[str] = []

    async def stubborn() -> None:
        try:
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append("again")
        finally:
            cancelled.append("closed")

    task = await begun(stubborn)
    with pytest.warns(RuntimeWarning, match="The wait for 'it'") as told:
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(0)
    assert len(told) == 1
    assert task.cancelled() and task.cancelling() == 1
    assert cancelled == ["again", "again", "closed"]


async def test_a_cancellation_is_not_lost_in_what_the_cleanup_raises() -> None:
    async def fails() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("already closed")

    task = await begun(fails)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert isinstance(caught.value.__cause__, OSError)


async def test_what_is_given_to_a_cancelled_task_is_given() -> None:
    """It may have to be closed."""

    async def opens() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "opened"
        return "never"

    task = await begun(opens)
    task.cancel()
    assert await task == "opened"


async def test_nothing_is_held_when_the_wait_is_over() -> None:
    """HTTP clients cancel their own task, and take it back: what they belong to is garbage soon none the less."""

    class Client:
        async def connects(self) -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0):
                    await asyncio.Event().wait()

    client = Client()
    watched = weakref.ref(client)
    await Patience(client.connects, client)
    del client
    for _ in range(2):
        await asyncio.sleep(0)
    gc.collect()
    assert watched() is None


async def test_a_waiter_that_is_dropped_closes_what_it_waits_for() -> None:
    closes: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closes.append("closed")

    async def drive() -> None:
        await Patience(waits, "it")

    waiter = drive()
    waiter.send(None)
    waiter.close()
    assert closes == ["closed"]


async def test_closing_something_badly_is_no_failure() -> None:
    closes: list[str] = []

    async def fails() -> None:
        closes.append("fails")
        raise OSError("gone")

    def never() -> asyncio.Future[None]:
        closes.append("never")
        return asyncio.get_running_loop().create_future()

    for method in (fails, never):
        await close(method, "It")
    assert closes == ["fails", "never"]
