"""Sources: iterables read one item at a time. JavaScript's are in tests/pyodide/test_read_structured.py."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from unspool import source as source_module
from unspool.source import MAX_BUSY_S, Source, is_javascript

WAYS = pytest.mark.parametrize("interruptible", [False, True])


async def all_of(source: Source) -> list[Any]:
    items: list[Any] = []
    while True:
        try:
            items.append(await source.next())
        except StopAsyncIteration:
            return items


async def numbers() -> AsyncIterator[int]:
    yield 1
    await asyncio.sleep(0)
    yield 2


async def _later(value: int) -> int:
    await asyncio.sleep(0)
    return value


class Reader:
    """A ReadableStream as Python sees it, with its reader; it cannot be iterated."""

    def __init__(self, items: list[Any], cancel_fails: bool = False) -> None:
        self.items = items
        self.log: list[str] = []
        self.done = False
        self.value: Any = None
        self._cancel_fails = cancel_fails

    def getReader(self) -> Reader:
        self.log.append("lock")
        return self

    async def read(self) -> Reader:
        self.done = not self.items
        self.value = self.items.pop(0) if self.items else None
        return self

    def cancel(self) -> Any:
        self.log.append("cancel")  # JavaScript begins at once, whether or not anyone waits
        return self._cancelled()

    async def _cancelled(self) -> None:
        if self._cancel_fails:
            raise ZeroDivisionError

    def releaseLock(self) -> None:
        self.log.append("release")


@WAYS
@pytest.mark.parametrize(
    ("make", "items"),
    [
        (lambda: [1, None, "x"], [1, None, "x"]),
        (lambda: iter(()), []),
        (lambda: (n for n in (1, 2)), [1, 2]),
        (numbers, [1, 2]),
        (lambda: [_later(1), 2, _later(3)], [1, 2, 3]),
        (lambda: Reader([1, 2]), [1, 2]),
    ],
)
async def test_items_come_as_they_are(make: Any, items: list[Any], interruptible: bool) -> None:
    """S90: plain and asynchronous iterables, items that are awaitable, streams with a reader alone."""
    source = Source(make(), interruptible=interruptible)
    assert await all_of(source) == items
    await source.close()


@pytest.mark.parametrize("thing", [5, None, "text", b"bytes", bytearray(b"x"), object()])
def test_other_things_are_no_source(thing: Any) -> None:
    with pytest.raises(TypeError, match="not an iterable"):
        Source(thing)


@WAYS
async def test_nothing_is_read_ahead(interruptible: bool) -> None:
    """S92."""
    taken: list[int] = []

    async def count() -> AsyncIterator[int]:
        for n in range(9):
            taken.append(n)
            yield n

    source = Source(count(), interruptible=interruptible)
    await source.next()
    for _ in range(5):
        await asyncio.sleep(0)
    assert taken == [0]
    await source.close()


async def test_a_plain_iterable_lets_others_run_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits has a turn before the first item and then after every few milliseconds, not between any two."""
    now = 0.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    turns: list[int] = []
    read: list[int] = []

    async def other() -> None:
        while True:
            turns.append(len(read))
            await asyncio.sleep(0)

    task = asyncio.ensure_future(other())
    source = Source(range(20))
    for _ in range(20):
        read.append(await source.next())
        now += MAX_BUSY_S / 5
    task.cancel()
    assert read == list(range(20))
    assert turns == [0, 5, 10, 15]


async def test_reading_a_plain_iterable_can_be_cancelled() -> None:
    """S99 for a task: the cancellation arrives though no item is ever waited for."""

    async def read_all() -> None:
        source = Source(iter(int, 1))  # zeros without an end
        while True:
            await source.next()

    task = asyncio.ensure_future(read_all())
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(task, 0.05)
    assert task.cancelled()


@WAYS
async def test_the_end_needs_no_closing(interruptible: bool) -> None:
    """S93: a source that has ended is not told to close; a reader's lock is released, and nothing cancelled."""

    class Once:
        closed = 0

        def __init__(self) -> None:
            self.left = 1

        def __aiter__(self) -> Once:
            return self

        async def __anext__(self) -> int:
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return self.left

        async def aclose(self) -> None:
            self.closed += 1

    once, reader = Once(), Reader([1])
    for iterable in (once, reader):
        source = Source(iterable, interruptible=interruptible)
        assert len(await all_of(source)) == 1
        source.abandon()
        await source.close()
    assert once.closed == 0
    assert reader.log == ["lock", "release"]


@WAYS
async def test_closing_reaches_the_iterator_and_what_it_is_of(interruptible: bool) -> None:
    """S95: an SDK's stream object owns the connection; the generator that iterates it does not."""
    log: list[str] = []

    class Stream:
        async def __aiter__(self) -> AsyncIterator[int]:
            try:
                yield 1
            finally:
                log.append("iterator")

        async def close(self) -> None:
            await asyncio.sleep(0)
            log.append("stream")

    class Plain:
        def __iter__(self) -> Iterator[int]:
            try:
                yield 1
            finally:
                log.append("iterator")

        def close(self) -> None:
            log.append("stream")

    for iterable in (Stream(), Plain()):
        log.clear()
        source = Source(iterable, interruptible=interruptible)
        await source.next()
        await source.close()
        await source.close()
        assert log == ["iterator", "stream"]


@WAYS
async def test_a_reader_is_cancelled_and_released(interruptible: bool) -> None:
    """S95."""
    reader = Reader([1, 2])
    source = Source(reader, interruptible=interruptible)
    await source.next()
    await source.close()
    assert reader.log == ["lock", "cancel", "release"]
    reader = Reader([1, 2], cancel_fails=True)
    source = Source(reader, interruptible=interruptible)
    await source.next()
    with pytest.raises(ZeroDivisionError):
        await source.close()
    assert reader.log == ["lock", "cancel", "release"]


@WAYS
async def test_a_failure_of_the_source_is_its_own_and_does_not_close_it(interruptible: bool) -> None:
    """S94: the same object; closing is up to the reader."""
    error = ZeroDivisionError("x")
    closed: list[bool] = []

    class Failing:
        def __aiter__(self) -> Failing:
            return self

        async def __anext__(self) -> int:
            raise error

        async def aclose(self) -> None:
            closed.append(True)

    source = Source(Failing(), interruptible=interruptible)
    with pytest.raises(ZeroDivisionError) as caught:
        await source.next()
    assert caught.value is error
    assert closed == []
    await source.close()
    assert closed == [True]


@WAYS
async def test_abandoning_closes_in_the_background_and_swallows_what_fails(interruptible: bool) -> None:
    """S99: requested, not awaited; a late rejection is nobody's."""
    closed: list[bool] = []

    async def bad() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            closed.append(True)
            raise ZeroDivisionError

    source = Source(bad(), interruptible=interruptible)
    await source.next()
    source.abandon()
    source.abandon()
    await asyncio.wait(source_module._tasks)
    assert closed == [True]


@WAYS
async def test_closing_surfaces_what_fails(interruptible: bool) -> None:
    """S95: whoever waits for the closing hears of it."""

    async def bad() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ZeroDivisionError

    source = Source(bad(), interruptible=interruptible)
    await source.next()
    with pytest.raises(ZeroDivisionError):
        await source.close()


async def test_cancelling_reaches_the_source() -> None:
    """Without a task of its own, the source is cancelled where it waits."""
    seen: list[str] = []
    waiting = asyncio.Event()

    async def waits() -> AsyncIterator[int]:
        try:
            waiting.set()
            await asyncio.Event().wait()
            yield 1
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    source = Source(waits())
    task = asyncio.ensure_future(source.next())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]
    await source.close()


async def test_an_interrupt_needs_no_consent() -> None:
    """S99: whoever waits leaves at once, while the source refuses to be cancelled."""
    refused = asyncio.Event()
    let_go = asyncio.Event()
    waiting = asyncio.Event()

    async def stubborn() -> AsyncIterator[int]:
        try:
            waiting.set()
            await asyncio.Event().wait()
            yield 1
        finally:
            refused.set()
            await let_go.wait()

    source = Source(stubborn(), interruptible=True)
    task = asyncio.ensure_future(source.next())
    await waiting.wait()
    source.interrupt(ZeroDivisionError("stop"))
    source.abandon()
    with pytest.raises(ZeroDivisionError, match="stop"):
        await task
    await refused.wait()
    let_go.set()
    await source.close()
    assert not source_module._tasks


async def test_an_interrupt_while_nobody_waits_does_nothing() -> None:
    source = Source([1, 2], interruptible=True)
    source.interrupt(ZeroDivisionError())
    assert await source.next() == 1
    source.interrupt(ZeroDivisionError())
    assert await source.next() == 2
    plain = Source([1])
    plain.interrupt(ZeroDivisionError())
    assert await plain.next() == 1
    await source.close()


async def test_an_interruptible_source_lives_in_one_task_and_one_context() -> None:
    """Context variables, timeouts and scopes that a generator has entered it also leaves."""
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
    tasks: list[Any] = []

    async def scoped() -> AsyncIterator[int]:
        token = variable.set(1)
        try:
            async with asyncio.timeout(60):
                for n in range(3):
                    tasks.append(asyncio.current_task())
                    await asyncio.sleep(0)
                    yield n
        finally:
            variable.reset(token)

    source = Source(scoped(), interruptible=True)
    assert await all_of(source) == [0, 1, 2]
    assert len(set(tasks)) == 1
    assert asyncio.current_task() not in tasks


async def test_a_source_that_cancels_itself_is_heard() -> None:
    async def gives_up() -> AsyncIterator[int]:
        raise asyncio.CancelledError
        yield 1

    source = Source(gives_up(), interruptible=True)
    with pytest.raises(asyncio.CancelledError):
        await source.next()
    await source.close()


def test_abandoning_without_a_loop_is_harmless() -> None:
    source = Source(numbers())
    source.abandon()
    Source([1]).abandon()


def test_python_is_not_javascript() -> None:
    assert not is_javascript(object())


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
@pytest.mark.parametrize("interruptible", [True, False])
async def test_closing_is_bounded(interruptible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that waits when it is closed is cancelled; one that is abandoned, too."""
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    ended: list[bool] = []

    async def slow() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

    for leave in (Source.close, Source.abandon):
        source = Source(slow(), interruptible=interruptible)
        assert await source.next() == 1
        left = leave(source)
        if left is not None:
            await left
        await asyncio.gather(*source_module._tasks, return_exceptions=True)
    assert ended == [True, True]
