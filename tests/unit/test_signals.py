"""Signals: what counts as one, and that nothing is left on it."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from unspool import signals
from unspool.errors import ConfigError
from unspool.signals import SignalListener


class Target:
    """Counts how often it is aborted."""

    def __init__(self) -> None:
        self.aborts = 0

    def abort(self) -> None:
        self.aborts += 1


class FakeAbortSignal:
    """What an AbortSignal looks like from Python."""

    def __init__(self) -> None:
        self.aborted = False
        self.listeners: list[Callable[[Any], None]] = []

    def addEventListener(self, name: str, listener: Callable[[Any], None]) -> None:
        assert name == "abort"
        self.listeners.append(listener)

    def removeEventListener(self, name: str, listener: Callable[[Any], None]) -> None:
        self.listeners.remove(listener)

    def abort(self) -> None:
        self.aborted = True
        for listener in list(self.listeners):
            listener({"type": "abort"})


@pytest.mark.parametrize("signal", [object(), 5, "abort", asyncio.Lock, {"aborted": False}, threading.Event()])
def test_other_things_are_no_signal(signal: Any) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        SignalListener(signal, Target())


async def test_an_event_aborts_once() -> None:
    event, target = asyncio.Event(), Target()
    listener = SignalListener(event, target)
    assert not listener.is_set()
    listener.start()
    await asyncio.sleep(0)
    assert target.aborts == 0
    event.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert target.aborts == 1
    assert listener.is_set()
    await listener.close()


async def test_closing_leaves_no_task() -> None:
    event = asyncio.Event()
    before = asyncio.all_tasks()
    listener = SignalListener(event, Target())
    listener.start()
    assert asyncio.all_tasks() != before
    await listener.close()
    await listener.close()
    assert asyncio.all_tasks() == before
    assert not signals._waiters
    event.set()


@pytest.mark.host  # inside Pyodide a callback becomes a proxy: tests/pyodide/bodies
async def test_an_abort_signal_aborts_and_is_left_clean() -> None:
    signal, target = FakeAbortSignal(), Target()
    listener = SignalListener(signal, target)
    listener.start()
    assert len(signal.listeners) == 1
    signal.abort()
    assert target.aborts == 1
    assert listener.is_set()
    listener.stop()
    listener.stop()
    assert signal.listeners == []
    await listener.close()


@pytest.mark.host
@pytest.mark.parametrize("make", [asyncio.Event, FakeAbortSignal])
async def test_a_signal_does_not_keep_its_stream_alive(make: Callable[[], Any]) -> None:
    signal, target = make(), Target()
    listener = SignalListener(signal, target)
    listener.start()
    gone = weakref.ref(target)
    del target
    gc.collect()
    assert gone() is None
    signal.abort() if isinstance(signal, FakeAbortSignal) else signal.set()
    await asyncio.sleep(0)
    await listener.close()


@pytest.mark.host
def test_stopping_after_the_loop_is_over() -> None:
    """A stream may be dropped when its loop is long closed."""

    async def start() -> SignalListener:
        listener = SignalListener(asyncio.Event(), Target())
        listener.start()
        return listener

    listener = asyncio.run(start())
    listener.stop()
    assert not signals._waiters


async def test_a_wait_that_fails_stops_nothing_and_is_not_logged() -> None:
    class Broken:
        def is_set(self) -> bool:
            return False

        async def wait(self) -> None:
            raise ValueError("no wait")

    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
    target = Target()
    listener = SignalListener(Broken(), target)
    listener.start()
    await asyncio.sleep(0)
    await listener.close()
    gc.collect()
    await asyncio.sleep(0)
    assert (told, target.aborts) == ([], 0)


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
async def test_a_signal_that_does_not_mind_cancellation_delays_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    let_go = asyncio.Event()

    class Stubborn:
        def is_set(self) -> bool:
            return False

        async def wait(self) -> None:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue

    listener = SignalListener(Stubborn(), Target())
    listener.start()
    await asyncio.sleep(0)
    with pytest.warns(RuntimeWarning, match=r"The wait of a signal \(Stubborn\) was cancelled"):
        await listener.close()
        await asyncio.sleep(0)
    assert len(signals._waiters) == 1
    let_go.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not signals._waiters
