"""Managed reading. S numbers: ../shared/reference/streamfold.md. JavaScript: tests/pyodide/test_read_structured.py."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from unspool import signals
from unspool import source as source_module
from unspool.errors import CallCancelledError, ConfigError, StreamError
from unspool.integrations.adapter import define_adapter
from unspool.integrations.read import StructuredReader, read_structured
from unspool.integrations.session import Diagnostic, Session
from unspool.structured.pool import StreamUpdate

operations = define_adapter(lambda event: event)
START = {"type": "start", "id": "a"}
END = {"type": "end", "id": "a"}


def delta(text: str) -> dict[str, Any]:
    return {"type": "delta", "id": "a", "text": text}


EVENTS = [[START, delta('{"x":')], [], [delta("1}")], [END]]
KINDS = ["start", "update", "update", "complete"]


class Spy:
    """An adapter that keeps the sessions it makes."""

    def __init__(self, map_event: Callable[[Any], Any] = lambda event: event) -> None:
        self.sessions: list[Session] = []
        self.options: list[dict[str, Any]] = []
        self._adapter = define_adapter(map_event)

    def __call__(self, **options: Any) -> Session:
        self.options.append(options)
        self.sessions.append(self._adapter(**options))
        return self.sessions[-1]

    def freed(self) -> bool:
        (session,) = self.sessions
        return len(session.pool) == 0


class Events:
    """An asynchronous source that says what becomes of it."""

    def __init__(
        self, events: list[Any], error: Exception | None = None, closing_error: Exception | None = None
    ) -> None:
        self.log: list[str] = []
        self.waiting = asyncio.Event()
        self._events = list(events)
        self._error = error
        self._closing_error = closing_error

    def __aiter__(self) -> Events:
        self.log.append("open")
        return self

    async def __anext__(self) -> Any:
        await asyncio.sleep(0)
        self.log.append("next")
        if not self._events:
            if self._error is not None:
                raise self._error
            raise StopAsyncIteration
        event = self._events.pop(0)
        if event is STALL:
            self.waiting.set()
            await asyncio.Event().wait()
        return event

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.log.append("close")
        if self._closing_error is not None:
            raise self._closing_error


STALL: Any = object()


async def at_rest() -> None:
    """Wait until every source has closed."""
    if source_module._tasks:
        await asyncio.wait(source_module._tasks)
    await asyncio.sleep(0)


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    """S101: no task and no listener outlives a reading."""
    yield
    await at_rest()
    assert not source_module._tasks
    assert not signals._waiters


async def all_of(reader: StructuredReader) -> list[StreamUpdate]:
    return [update async for update in reader]


async def _async_events() -> AsyncIterator[Any]:
    for event in EVENTS:
        yield event


async def _later(event: Any) -> Any:
    await asyncio.sleep(0)
    return event


def _generator() -> Iterator[Any]:
    yield from EVENTS


WITH_AND_WITHOUT_SIGNAL = pytest.mark.parametrize("signalled", [False, True])


def signal_if(signalled: bool) -> asyncio.Event | None:
    return asyncio.Event() if signalled else None


@WITH_AND_WITHOUT_SIGNAL
@pytest.mark.parametrize(
    "make",
    [
        lambda: EVENTS,
        lambda: tuple(EVENTS),
        _generator,
        _async_events,
        lambda: Events(EVENTS),
        lambda: [_later(event) for event in EVENTS],
    ],
)
async def test_sources(make: Callable[[], Any], signalled: bool) -> None:
    """S90: plain and asynchronous iterables, and items that are awaitable."""
    updates = await all_of(read_structured(make(), adapter=operations, signal=signal_if(signalled)))
    assert [u.type for u in updates] == KINDS
    assert updates[-1].value == {"x": 1}  # type: ignore[attr-defined]


async def test_the_seeds_example() -> None:
    """S91: one fresh session with the limits, and the diagnostics of its own."""
    spy = Spy()
    seen: list[Diagnostic] = []
    limits: Any = {"max_active_streams": 8, "max_bytes": 1024}
    await all_of(read_structured(EVENTS, adapter=spy, limits=limits, on_diagnostic=seen.append))
    assert spy.options == [{"max_active_streams": 8, "max_bytes": 1024, "on_diagnostic": seen.append}]
    await all_of(read_structured([[]], integration=spy, on_diagnostic=seen.append))
    assert [d.code for d in seen] == ["NO_TOOL_EVENTS"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"adapter": operations, "integration": operations},
        {"adapter": None},
        {"adapter": "custom"},
        {"integration": operations()},
        {"adapter": operations, "limits": {"maxBytes": 5}},
        {"adapter": operations, "limits": 5},
        {"adapter": operations, "signal": 5},
    ],
    ids=lambda options: ",".join(options),
)
async def test_wrong_options(options: Any) -> None:
    """S89: exactly one factory, not a session. Differs: refused by the call, before anything is read."""
    with pytest.raises((StreamError, ConfigError), match="INVALID_OPTIONS"):
        read_structured(EVENTS, **options)


@pytest.mark.parametrize("events", [None, 5, "events", b"events", {"type": "start"}, object()])
async def test_other_things_are_no_events(events: Any) -> None:
    """S90."""
    spy = Spy()
    with pytest.raises(StreamError, match="INVALID_OPTIONS"):
        await all_of(read_structured(events, adapter=spy))
    assert spy.freed()


async def test_wrong_limits_leave_the_source_alone() -> None:
    events = Events(EVENTS)
    with pytest.raises(StreamError, match="INVALID_OPTIONS"):
        await all_of(read_structured(events, adapter=operations, limits={"max_bytes": 0}))
    assert events.log == []


async def test_a_batch_is_consumed_before_the_next_event_is_read() -> None:
    """S92."""
    events = Events([[START, delta("["), delta("1")], [delta("]")], [END]])
    reader = read_structured(events, adapter=operations)
    for wanted in (1, 1, 1, 2, 3):
        await anext(reader)
        assert events.log.count("next") == wanted
    assert await all_of(reader) == []


async def test_event_by_event() -> None:
    """`read()` gives all updates of one event, never none, and None at the end."""
    reader = read_structured(EVENTS, adapter=operations)
    batches: list[list[str]] = []
    while (updates := await reader.read()) is not None:
        batches.append([u.type for u in updates])
    assert batches == [["start", "update"], ["update"], ["complete"]]
    assert await reader.read() is None
    reader = read_structured(EVENTS, adapter=operations)
    await anext(reader)
    assert [u.type for u in await reader.read() or []] == ["update"]
    assert [u.type for u in await all_of(reader)] == ["update", "complete"]


@WITH_AND_WITHOUT_SIGNAL
async def test_the_end_completes_what_is_open(signalled: bool) -> None:
    """S93: what is open and nothing else, even under an id used before; the source is not told to close."""
    events = Events([[START, delta("1 "), END], [START, delta("[2]")]])
    spy = Spy()
    updates = await all_of(read_structured(events, adapter=spy, signal=signal_if(signalled)))
    assert [(u.type, u.value) for u in updates if u.type == "complete"] == [("complete", 1), ("complete", [2])]  # type: ignore[attr-defined]
    assert "close" not in events.log
    with pytest.raises(StreamError, match="STREAM_DISPOSED"):
        spy.sessions[0].push_all([])


@WITH_AND_WITHOUT_SIGNAL
@pytest.mark.parametrize("closing", [None, ZeroDivisionError("closing")])
async def test_a_failure_of_the_source_is_kept(closing: Exception | None, signalled: bool) -> None:
    """S94, S102: the same object, unmarked; the source is closed, and what fails then replaces nothing."""
    error = OSError("gone")
    events = Events([[START, delta("[1")]], error, closing)
    spy = Spy()
    seen: list[Diagnostic] = []
    reader = read_structured(events, adapter=spy, on_diagnostic=seen.append, signal=signal_if(signalled))
    with pytest.raises(OSError, match="gone") as caught:
        await all_of(reader)
    assert caught.value is error
    assert not hasattr(error, "adapter")
    assert seen == []
    assert events.log[-1] == "close"
    assert spy.freed()
    assert await reader.read() is None


@WITH_AND_WITHOUT_SIGNAL
async def test_a_failure_of_a_call_or_the_mapper_closes_the_source(signalled: bool) -> None:
    """S94: nothing is finalized."""
    error = ValueError("mapper")

    def fails(event: Any) -> Any:
        if event == "bad":
            raise error
        return event

    for bad, wanted in (("bad", ValueError), ([delta("}")], StreamError), ([START], StreamError)):
        events = Events([[START, delta("[1")], bad, [END]], closing_error=ZeroDivisionError())
        spy = Spy(fails)
        given: list[str] = []
        with pytest.raises(wanted):
            async for update in read_structured(events, adapter=spy, signal=signal_if(signalled)):
                given.append(update.type)
        assert given == ["start", "update"]
        assert events.log[-1] == "close"
        assert spy.freed()


async def test_a_cut_call_fails_at_the_end() -> None:
    """S94: a source that ends inside a call completes nothing."""
    spy = Spy()
    given: list[str] = []
    with pytest.raises(StreamError, match="INCOMPLETE_JSON"):
        async for update in read_structured([[START, delta("[1")]], adapter=spy):
            given.append(update.type)
    assert given == ["start", "update"]
    assert spy.freed()


@WITH_AND_WITHOUT_SIGNAL
async def test_leaving_early_closes_the_source(signalled: bool) -> None:
    """S95: unfinished calls are dropped, not finalized; nothing more is given."""
    events = Events([[START, delta("[1"), delta(",2")], [END]])
    spy = Spy()
    async with read_structured(events, adapter=spy, signal=signal_if(signalled)) as reader:
        async for _update in reader:
            break
        assert not spy.freed()
    assert events.log == ["open", "next", "close"]
    assert spy.freed()
    assert await all_of(reader) == []
    await reader.aclose()
    assert events.log == ["open", "next", "close"]


@WITH_AND_WITHOUT_SIGNAL
async def test_breaking_out_of_the_loop_closes_the_source(signalled: bool) -> None:
    """S95: also without `async with`: the reader is dropped there and then."""
    events = Events(EVENTS)
    spy = Spy()
    async for _update in read_structured(events, adapter=spy, signal=signal_if(signalled)):
        break
    gc.collect()
    assert spy.freed()
    await at_rest()
    assert events.log == ["open", "next", "close"]


@WITH_AND_WITHOUT_SIGNAL
async def test_a_consumer_that_fails_closes_the_source(signalled: bool) -> None:
    """S95, S102: its error passes, whatever the closing does."""
    events = Events(EVENTS, closing_error=ZeroDivisionError("closing"))
    spy = Spy()
    with pytest.raises(KeyError, match="consumer"):
        async with read_structured(events, adapter=spy, signal=signal_if(signalled)) as reader:
            async for _update in reader:
                raise KeyError("consumer")
    assert events.log == ["open", "next", "close"]
    assert spy.freed()


@WITH_AND_WITHOUT_SIGNAL
async def test_a_closing_that_fails_is_heard_on_early_exit(signalled: bool) -> None:
    """S95."""
    events = Events(EVENTS, closing_error=ZeroDivisionError("closing"))
    spy = Spy()
    reader = read_structured(events, adapter=spy, signal=signal_if(signalled))
    await anext(reader)
    with pytest.raises(ZeroDivisionError, match="closing"):
        await reader.aclose()
    await reader.aclose()
    assert spy.freed()


async def test_what_is_never_read_is_never_opened() -> None:
    """S96."""
    events = Events(EVENTS)
    spy = Spy()
    reader = read_structured(events, adapter=spy, signal=asyncio.Event())
    del reader
    reader = read_structured(events, adapter=spy)
    await reader.aclose()
    assert await reader.read() is None
    assert (events.log, spy.sessions) == ([], [])


@WITH_AND_WITHOUT_SIGNAL
async def test_cancelling_the_task(signalled: bool) -> None:
    """The source's own wait is cancelled, the source closed, and the cancellation passes, once."""
    cancelled: list[str] = []

    async def stalls() -> AsyncIterator[Any]:
        try:
            yield EVENTS[0]
            waiting.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("source")
            raise
        finally:
            await asyncio.sleep(0)
            cancelled.append("closed")

    waiting = asyncio.Event()
    spy = Spy()
    reader = read_structured(stalls(), adapter=spy, signal=signal_if(signalled))
    task = asyncio.ensure_future(all_of(reader))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["source", "closed"]
    assert spy.freed()
    assert await reader.read() is None


@WITH_AND_WITHOUT_SIGNAL
async def test_two_tasks_cannot_read_at_once(signalled: bool) -> None:
    events = Events([STALL])
    reader = read_structured(events, adapter=operations, signal=signal_if(signalled))
    task = asyncio.ensure_future(reader.read())
    await events.waiting.wait()
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        await reader.read()
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        await reader.aclose()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert events.log[-1] == "close"


class AbortSignal:
    """A JavaScript AbortSignal as Python sees it."""

    def __init__(self) -> None:
        self.aborted = False
        self.reason: Any = None
        self.listeners: list[Callable[[Any], None]] = []

    def addEventListener(self, _name: str, listener: Callable[[Any], None]) -> None:
        self.listeners.append(listener)

    def removeEventListener(self, _name: str, listener: Callable[[Any], None]) -> None:
        self.listeners.remove(listener)

    def abort(self, reason: Any = None) -> None:
        self.aborted = True
        self.reason = reason
        for listener in list(self.listeners):
            listener(None)


def stop(signal: Any) -> None:
    signal.set() if isinstance(signal, asyncio.Event) else signal.abort()


SIGNALS = pytest.mark.parametrize(
    "make_signal",
    # Inside Pyodide a callback becomes a proxy, which only a real AbortSignal takes: tests/pyodide.
    [asyncio.Event, pytest.param(AbortSignal, marks=pytest.mark.host)],
)


class TestSignals:
    """S98-S101."""

    @SIGNALS
    async def test_set_before_the_start(self, make_signal: Callable[[], Any]) -> None:
        """S98: no session, and the source is not touched."""
        signal, spy, events = make_signal(), Spy(), Events(EVENTS)
        stop(signal)
        reader = read_structured(events, adapter=spy, signal=signal)
        with pytest.raises(CallCancelledError, match="ABORTED"):
            await anext(reader)
        assert (spy.sessions, events.log) == ([], [])
        assert await reader.read() is None
        assert not getattr(signal, "listeners", [])

    @SIGNALS
    async def test_while_the_source_is_waited_for(self, make_signal: Callable[[], Any]) -> None:
        """S99: at once; the source is told to close, its late failure is nobody's."""
        signal, spy = make_signal(), Spy()
        events = Events([EVENTS[0], STALL], closing_error=ZeroDivisionError())
        task = asyncio.ensure_future(all_of(read_structured(events, adapter=spy, signal=signal)))
        await events.waiting.wait()
        stop(signal)
        with pytest.raises(CallCancelledError):
            await task
        assert spy.freed()
        assert not getattr(signal, "listeners", [])
        await at_rest()
        assert events.log[-1] == "close"

    @SIGNALS
    async def test_a_source_that_does_not_let_go(self, make_signal: Callable[[], Any]) -> None:
        """S99: its closing is not waited for."""
        signal, spy = make_signal(), Spy()
        waiting, let_go = asyncio.Event(), asyncio.Event()

        async def stubborn() -> AsyncIterator[Any]:
            try:
                yield EVENTS[0]
                waiting.set()
                await asyncio.Event().wait()
            finally:
                await let_go.wait()

        task = asyncio.ensure_future(all_of(read_structured(stubborn(), adapter=spy, signal=signal)))
        await waiting.wait()
        stop(signal)
        with pytest.raises(CallCancelledError):
            await task
        assert spy.freed()
        let_go.set()

    @SIGNALS
    async def test_while_paused_inside_a_batch(self, make_signal: Callable[[], Any]) -> None:
        """S100: the calls are dropped without a read; the next one says so, and the rest of the batch is gone."""
        signal, spy, events = make_signal(), Spy(), Events([[START, delta("[1"), delta(",2")], [END]])
        reader = read_structured(events, adapter=spy, signal=signal)
        await anext(reader)
        stop(signal)
        for _ in range(3):
            await asyncio.sleep(0)
        assert spy.freed()
        with pytest.raises(CallCancelledError):
            await anext(reader)
        assert await all_of(reader) == []
        assert events.log == ["open", "next", "close"]

    @SIGNALS
    async def test_while_paused_in_the_last_batch(self, make_signal: Callable[[], Any]) -> None:
        """S100: also when the source is over already."""
        signal = make_signal()
        events = [[START, delta("1 "), {"type": "start", "id": "b"}]]
        reader = read_structured(events, adapter=operations, signal=signal)
        while (await anext(reader)).type != "complete":
            pass
        stop(signal)
        with pytest.raises(CallCancelledError):
            await anext(reader)
        assert not getattr(signal, "listeners", [])

    @SIGNALS
    async def test_set_as_the_source_ends(self, make_signal: Callable[[], Any]) -> None:
        """S100: nothing is finalized after it."""
        signal, spy = make_signal(), Spy()

        async def ends() -> AsyncIterator[Any]:
            yield [START, delta("[1]")]
            stop(signal)

        given: list[str] = []
        with pytest.raises(CallCancelledError):
            async for update in read_structured(ends(), adapter=spy, signal=signal):
                given.append(update.type)
        assert given == ["start", "update"]
        assert spy.freed()

    @SIGNALS
    async def test_set_by_the_mapper(self, make_signal: Callable[[], Any]) -> None:
        """S100: what it opens after that is dropped as well."""
        signal, events = make_signal(), Events(EVENTS)

        def stops(event: Any) -> Any:
            stop(signal)
            return event

        spy = Spy(stops)
        with pytest.raises(CallCancelledError):
            await all_of(read_structured(events, adapter=spy, signal=signal))
        assert spy.freed()
        assert not getattr(signal, "listeners", [])

    @SIGNALS
    async def test_during_the_closing(self, make_signal: Callable[[], Any]) -> None:
        """S101: the wait for a closing that does not end is cut short."""
        signal = make_signal()
        closing, let_go = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[Any]:
            try:
                yield EVENTS[0]
            finally:
                closing.set()
                await let_go.wait()

        reader = read_structured(slow(), adapter=operations, signal=signal)
        await anext(reader)
        task = asyncio.ensure_future(reader.aclose())
        await closing.wait()
        assert not task.done()
        stop(signal)
        await task
        assert not getattr(signal, "listeners", [])
        let_go.set()

    @pytest.mark.host
    async def test_listeners_are_gone_after_every_exit(self) -> None:
        """S101: a signal often outlives many readings."""
        signal = AbortSignal()
        await all_of(read_structured(EVENTS, adapter=operations, signal=signal))
        async with read_structured(EVENTS, adapter=operations, signal=signal) as reader:
            await anext(reader)
            assert len(signal.listeners) == 1
        with pytest.raises(StreamError):
            await all_of(read_structured([[delta("1")]], adapter=operations, signal=signal))
        with pytest.raises(OSError, match="gone"):
            await all_of(read_structured(Events([], OSError("gone")), adapter=operations, signal=signal))
        reader = read_structured(EVENTS, adapter=operations, signal=signal)
        await anext(reader)
        del reader
        assert signal.listeners == []

    @pytest.mark.host
    async def test_the_reason_is_kept(self) -> None:
        """S98: an error given as the reason is the cause."""
        signal = AbortSignal()
        reason = OSError("the user left")
        signal.abort(reason)
        with pytest.raises(CallCancelledError) as caught:
            await all_of(read_structured(EVENTS, adapter=operations, signal=signal))
        assert caught.value.__cause__ is reason


async def test_immutable_snapshots_stay() -> None:
    """S48, S92: through `limits`."""
    limits: Any = {"snapshots": "immutable"}
    updates = await all_of(read_structured(EVENTS, adapter=operations, limits=limits))
    assert [u.partial_value for u in updates] == [None, {}, {"x": 1}, {"x": 1}]


@pytest.mark.host
def test_dropping_a_reader_after_its_loop_is_harmless() -> None:
    """A reader may be garbage when its loop is long closed."""

    async def begin() -> StructuredReader:
        reader = read_structured(Events(EVENTS), adapter=operations, signal=asyncio.Event())
        await anext(reader)
        return reader

    reader = asyncio.run(begin())
    del reader
    gc.collect()
