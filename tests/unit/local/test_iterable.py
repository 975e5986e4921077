"""Iterables as responses. JavaScript's are in tests/pyodide/bodies/transport_fetch.py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from unspool.errors import CallCancelledError, NetworkError, ProviderError
from unspool.local.iterable import IterableResponse
from unspool.stream.chunks import TextDelta


async def read_all(response: IterableResponse) -> list[Any]:
    events: list[Any] = []
    while (batch := await response.read()) is not None:
        assert len(batch) == 1
        events += batch
    assert await response.read() is None
    return events


async def _async() -> AsyncIterator[Any]:
    yield 1
    yield "two"


@pytest.mark.parametrize(
    ("iterable", "events"),
    [
        ([1, "two"], [1, "two"]),
        ((x for x in (1, "two")), [1, "two"]),
        (iter([]), []),
        ("text", ["text"]),
        ("", [""]),
        ({"choices": []}, [{"choices": []}]),
        (TextDelta(0, "x"), [TextDelta(0, "x")]),
    ],
)
async def test_plain_iterables_and_single_events(iterable: Any, events: list[Any]) -> None:
    assert await read_all(IterableResponse(iterable)) == events


async def test_asynchronous_iterables() -> None:
    assert await read_all(IterableResponse(_async())) == [1, "two"]

    class Once:
        """An iterator that has no `aclose`."""

        def __init__(self) -> None:
            self.left = 2

        def __aiter__(self) -> Once:
            return self

        async def __anext__(self) -> int:
            if not self.left:
                raise StopAsyncIteration
            self.left -= 1
            return self.left

    assert await read_all(IterableResponse(Once())) == [1, 0]
    response = IterableResponse(Once())
    await response.read()
    await response.close()


@pytest.mark.parametrize("thing", [5, None, b"bytes", bytearray(b"x"), object()])
def test_other_things_are_no_answer(thing: Any) -> None:
    with pytest.raises(ProviderError, match="PROVIDER"):
        IterableResponse(thing)


async def test_failures_are_typed_and_ours_pass() -> None:
    cause = ZeroDivisionError("x")

    def fails(error: Exception) -> Iterator[Any]:
        yield 1
        raise error

    for error, wanted in ((cause, ProviderError), (NetworkError("x"), NetworkError)):
        response = IterableResponse(fails(error))
        await response.read()
        with pytest.raises(wanted) as caught:
            await response.read()
        assert caught.value is error or caught.value.__cause__ is error


async def test_nothing_is_read_ahead() -> None:
    taken: list[int] = []

    def count() -> Iterator[int]:
        for n in range(9):
            taken.append(n)
            yield n

    response = IterableResponse(count())
    await response.read()
    await asyncio.sleep(0)
    assert taken == [0]


async def test_abort_closes_and_later_reads_say_so() -> None:
    closed: list[str] = []

    def plain() -> Iterator[int]:
        try:
            yield 1
        finally:
            closed.append("plain")

    async def asynchronous() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            closed.append("async")

    for iterable in (plain(), asynchronous()):
        response = IterableResponse(iterable)
        await response.read()
        response.abort()
        response.abort()
        with pytest.raises(CallCancelledError):
            await response.read()
        await response.close()
        await response.close()
    assert closed == ["plain", "async"]


async def test_close_while_waiting_leaves_the_reader_to_its_owner() -> None:
    started = asyncio.Event()
    closed: list[bool] = []

    async def waits() -> AsyncIterator[int]:
        try:
            started.set()
            await asyncio.Event().wait()
            yield 1
        finally:
            closed.append(True)

    response = IterableResponse(waits())
    task = asyncio.ensure_future(response.read())
    await started.wait()
    response.abort()
    await response.close()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [True]
    await response.close()


async def test_an_iterable_that_closes_badly_is_no_failure() -> None:
    async def bad() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ZeroDivisionError

    response = IterableResponse(bad())
    await response.read()
    response.abort()
    await response.close()


def test_an_instance_of_a_model_is_no_iterable_of_its_fields() -> None:
    from pydantic import BaseModel

    class City(BaseModel):
        name: str

    with pytest.raises(ProviderError, match=r'us\.format_value\(value, "json"\).* not City'):
        IterableResponse(City(name="Lima"))
