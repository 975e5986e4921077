"""Waiting for what was told to end, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from unspool import release
from unspool.release import Insistence, closed, released

pytestmark = pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees


@pytest.fixture(autouse=True)
async def no_patience(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The time is over at once, and in the end nothing runs."""
    monkeypatch.setattr("unspool.release.RELEASE_S", 0)
    before = asyncio.all_tasks()
    yield
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}
    assert not release._late


class Stubborn:
    """Minds no cancellation until it is let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.cancelled_often = asyncio.Event()
        self._cancelled = 0
        self.task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                self._cancelled += 1
                if self._cancelled == 4:
                    self.cancelled_often.set()


async def test_what_ends_in_time_is_waited_for() -> None:
    done: list[str] = []

    async def closes() -> None:
        done.append("closed")

    async def fails() -> None:
        raise OSError("gone")

    release.RELEASE_S = 60
    for work in (closes(), fails()):
        task = asyncio.ensure_future(work)
        await released(task, "It")
        assert task.done()
    await released(task, "It")
    assert done == ["closed"]


async def test_what_does_not_end_is_cancelled() -> None:
    forever = asyncio.ensure_future(asyncio.Event().wait())
    await released(forever, "It")
    assert forever.cancelled()
    future = asyncio.get_running_loop().create_future()
    await released(future, "It")
    assert future.cancelled()


@pytest.mark.parametrize("told", [True, False])
async def test_what_does_not_mind_is_left_and_told_of(told: bool) -> None:
    """Once cancelled it is not cancelled again: it has had its time."""
    stubborn = Stubborn()
    await asyncio.sleep(0)
    if told:
        stubborn.task.cancel()
    with pytest.warns(RuntimeWarning, match="The source was cancelled, and has not ended 0 s later"):
        await released(stubborn.task, "The source")
        await asyncio.sleep(0)
    assert stubborn.task in release._late
    stubborn.let_go.set()
    await asyncio.sleep(0)


async def test_who_waits_may_leave_and_the_work_is_cancelled() -> None:
    release.RELEASE_S = 60
    work = asyncio.ensure_future(asyncio.Event().wait())
    waiting = asyncio.ensure_future(released(work, "It"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait([work])
    assert work.cancelled()


async def test_insisting_goes_on_and_tells_once() -> None:
    stubborn = Stubborn()
    await asyncio.sleep(0)
    with pytest.warns(RuntimeWarning, match="The reader") as told:
        insistence = Insistence()
        for _ in range(2):
            insistence.begin(stubborn.task.cancel, "The reader", asyncio.get_running_loop())
        await stubborn.cancelled_often.wait()
    assert len(told) == 1
    insistence.end()
    insistence.end()
    stubborn.let_go.set()
    await asyncio.wait([stubborn.task])


async def test_closing_something_badly_is_no_failure() -> None:
    closes: list[str] = []

    async def fails() -> None:
        closes.append("fails")
        raise OSError("gone")

    def never() -> asyncio.Future[None]:
        closes.append("never")
        return asyncio.get_running_loop().create_future()

    for close in (fails, never):
        await closed(close, "It")
    assert closes == ["fails", "never"]
