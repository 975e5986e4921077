"""QueryStream: an answer that is judged while it is read, `check=`, its one reader, and the wait for its transform.

How it ends and closes: test_functions.py. F17.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import traceback
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.support import splits

from unspool.answer_stream import QueryStream
from unspool.errors import CallCancelledError, ConfigError, OutputValidationError, UnspoolError
from unspool.functions import query, query_stream, sample
from unspool.llms import FunctionModel, OpenAIChat
from unspool.structured.events import (
    Cancelled,
    FieldEnd,
    FieldInvalid,
    GenerationComplete,
    ObjectEnd,
    ParsingFailed,
    StringFieldDelta,
    TextDelta,
)
from unspool.testing import ScriptedTransport, StaticResponse


class Item(BaseModel):
    name: Literal["Bob", "Alice"]
    age: int


GOOD = '[{"name":"Bob","age":1},{"name":"Alice","age":2}]'
GOOD_VALUE = [Item(name="Bob", age=1), Item(name="Alice", age=2)]
BAD = '[{"name":"Bob","age":1},{"name":"Alx","age":2},{"age":3}]'


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def collect(stream: QueryStream[Any]) -> list[Any]:
    return [event async for event in stream]


async def test_faults_are_told_behind_the_event_that_closed_them() -> None:
    events = await collect(query_stream("?", list[Item], lm=StaticResponse(BAD, 9), check="report"))
    at = [number for number, event in enumerate(events) if isinstance(event, FieldInvalid)]
    assert [events[number].path for number in at] == [(1, "name"), (2, "name")]
    assert events[at[0] - 1] == FieldEnd((1, "name"), "Alx")
    assert isinstance(events[at[1] - 1], ObjectEnd)
    assert isinstance(events[-1], ParsingFailed)
    assert [problem.path for problem in events[-1].error.problems] == [(1, "name"), (2, "name")]


async def test_a_good_answer_has_the_same_events_checked_or_not() -> None:
    plain = await collect(query_stream("?", list[Item], lm=StaticResponse(GOOD, 9)))
    for check in ("report", "stop"):
        assert await collect(query_stream("?", list[Item], lm=StaticResponse(GOOD, 9), check=check)) == plain


async def test_without_check_nothing_is_told_before_the_end() -> None:
    events = await collect(query_stream("?", list[Item], lm=StaticResponse(BAD, 9)))
    assert not any(isinstance(event, FieldInvalid) for event in events)


def delta(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


async def test_stop_ends_the_answer_and_the_request_at_once() -> None:
    """The tokens that would follow are not paid for."""
    transport = ScriptedTransport([[delta(BAD[:30]), delta(BAD[30:40]), delta(BAD[40:]), asyncio.Event()]])
    lm = OpenAIChat("m", base_url="https://api.test/v1", transport=transport)
    stream = query_stream("?", list[Item], lm=lm, check="stop")
    events = await collect(stream)
    assert transport.responses[0].aborted and transport.responses[0].closed
    fault, end = events[-2:]
    assert isinstance(fault, FieldInvalid) and fault.path == (1, "name")
    assert isinstance(end, ParsingFailed) and end.error.code == "OUTPUT_INVALID"
    assert [problem.path for problem in end.error.problems] == [(1, "name")]
    assert "[1].name: Input should be 'Bob' or 'Alice', got \"Alx\"" in end.error.message
    assert end.error.text == stream.text == BAD[:40]
    assert end.error.partial is not None and end.error.partial.text == BAD[:40]
    assert await stream.read() is None


async def test_every_cut_stops_at_the_same_event() -> None:
    ends = []
    for slices in splits(BAD):
        lm = FunctionModel(lambda request, slices=slices: [*slices, " "])
        events = await collect(query_stream("?", list[Item], lm=lm, check="stop"))
        ends.append([event for event in events[:-1] if not isinstance(event, TextDelta | StringFieldDelta)])
        assert isinstance(events[-1], ParsingFailed)
        assert [problem.path for problem in events[-1].error.problems] in ([(1, "name")], [(1, "name"), (2, "name")])
    stopped = [end for end in ends if end[-1].path == (1, "name")]
    assert len(stopped) >= len(ends) - 1
    assert all(end == stopped[0] for end in stopped)


async def test_stop_with_query_asks_again_sooner() -> None:
    answers = iter([BAD, GOOD])
    asked = []

    def model(request: Any) -> Any:
        asked.append(request)
        text = next(answers)
        return [text[at : at + 5] for at in range(0, len(text), 5)]

    value = await query("?", list[Item], lm=FunctionModel(model), check="stop", max_repairs=1)
    assert value == [Item(name="Bob", age=1), Item(name="Alice", age=2)]
    assert asked[1].messages[-2].text.startswith('[{"name":"Bob"')
    assert len(asked[1].messages[-2].text) < len(BAD)


async def test_query_raises_what_stopped_it() -> None:
    with pytest.raises(OutputValidationError, match=r"\[1\]\.name"):
        await query("?", list[Item], lm=StaticResponse(BAD, 9), check="stop")


async def test_stop_after_the_last_token_tells_the_first_fault_and_the_error_all() -> None:
    """What a reader sees does not depend on how much came with it."""
    lm = OpenAIChat("m", base_url="https://api.test/v1", transport=ScriptedTransport([delta(BAD) + END]))
    events = await collect(query_stream("?", list[Item], lm=lm, check="stop"))
    assert [event.path for event in events if isinstance(event, FieldInvalid)] == [(1, "name")]
    assert isinstance(events[-2], FieldInvalid)
    assert isinstance(events[-1], ParsingFailed)
    assert [problem.path for problem in events[-1].error.problems] == [(1, "name"), (2, "name")]


async def test_partials_and_check_go_together() -> None:
    stream = query_stream("?", list[Item], lm=StaticResponse(BAD, 9), check="stop")
    with pytest.raises(OutputValidationError):
        async for partial in stream.partials():  # noqa: B007 - read below
            pass
    assert partial[0] == Item(name="Bob", age=1)
    assert [fault.path for fault in partial.invalid] == [(1, "name")]


async def test_check_takes_two_words() -> None:
    with pytest.raises(ConfigError, match="check"):
        query_stream("?", list[Item], lm=StaticResponse(GOOD), check="yes")  # type: ignore[arg-type]


class Waiting:
    """A transform that waits until it is let go, or cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.cancelled = False

    async def __call__(self, value: Any) -> Any:
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return value


async def events_of(stream: QueryStream[Any]) -> list[Any]:
    return [event async for event in stream]


@pytest.mark.parametrize("way", ["abort", "signal"])
async def test_a_stop_ends_the_wait(way: str) -> None:
    waiting, signal = Waiting(), asyncio.Event()
    stream = query_stream("?", list[int], lm=StaticResponse("[1, 2]"), transform=waiting, signal=signal)
    task = asyncio.create_task(events_of(stream))
    await waiting.begun.wait()
    if way == "abort":
        stream.abort()
    else:
        signal.set()
    async with asyncio.timeout(5):
        last = (await task)[-1]
    assert isinstance(last, Cancelled)
    assert (last.error.code, last.error.text, last.error.partial_value) == ("ABORTED", "[1, 2]", [1, 2])
    assert waiting.cancelled


async def test_a_signal_that_is_set_before_the_transform() -> None:
    signal = asyncio.Event()
    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=Waiting(), signal=signal)
    assert await stream.read()  # all that is there, but for the end
    signal.set()
    async with asyncio.timeout(5):
        assert isinstance((await events_of(stream))[-1], Cancelled)


async def test_leaving_ends_the_wait_of_the_reader() -> None:
    waiting = Waiting()
    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=waiting)
    task = asyncio.create_task(events_of(stream))
    await waiting.begun.wait()
    async with asyncio.timeout(5):
        await stream.aclose()
        assert not any(isinstance(event, GenerationComplete | Cancelled) for event in await task)
    assert waiting.cancelled
    assert await stream.read() is None


async def test_a_second_reader_is_told() -> None:
    waiting = Waiting()
    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=waiting)
    task = asyncio.create_task(events_of(stream))
    await waiting.begun.wait()
    with pytest.raises(ConfigError, match="Another task is already reading"):
        await stream.read()
    waiting.go_on.set()
    assert isinstance((await task)[-1], GenerationComplete)


async def test_cancelling_the_reader_cancels_the_transform() -> None:
    waiting = Waiting()
    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=waiting)
    task = asyncio.create_task(events_of(stream))
    await waiting.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waiting.cancelled
    assert await stream.read() is None


async def test_items_come_before_the_transform_is_done() -> None:
    waiting = Waiting()
    items = query_stream("?", list[int], lm=StaticResponse("[1, 2, 3]"), transform=waiting).items()
    async with asyncio.timeout(5):
        assert [await anext(items) for _ in range(2)] == [1, 2]
    await items.aclose()


async def test_an_invalid_answer_of_a_nested_query_is_told_as_it_is() -> None:
    """No repair turn and no default: nothing was wrong with the outer answer."""
    asked: list[str] = []

    async def outer(request: Any) -> Any:
        asked.append(request.messages[-1].text)
        yield "[1]"

    async def nested(value: list[int]) -> int:
        return await query("inner", int, lm=StaticResponse("INNER"))

    with pytest.raises(OutputValidationError) as caught:
        await query("outer", list[int], lm=FunctionModel(outer), transform=nested, max_repairs=2, default=[0])
    assert (caught.value.text, len(asked)) == ("INNER", 1)
    assert caught.value.partial is not None
    assert caught.value.partial.text == "INNER"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [ValueError("z" * 100_000), Mute()], ids=["long", "mute"])
async def test_words_of_an_exception(error: Exception) -> None:
    def refuse(value: Any) -> Any:
        raise error

    with pytest.raises(OutputValidationError) as caught:
        await query("?", list[int], lm=StaticResponse("[1]"), transform=refuse)
    assert type(error).__name__ in caught.value.message
    assert len(json.dumps(caught.value.to_wire())) < 5_000


# one reader, and the result


def five(text: str = GOOD, **options: Any) -> QueryStream[Any]:
    return query_stream("?", list[Item], lm=StaticResponse(text, 9), **options)


async def begin(stream: QueryStream[Any], way: str, times: int) -> Any:
    """Read in one way: a few times, to the end when there is no more; give the reader, where there is one."""
    if way == "result()":
        return await stream.result() if times > 1 else None
    reader: Any = (
        stream if way in ("events", "read()") else stream.partials() if way == "partials()" else stream.items()
    )
    for _ in range(times):
        try:
            if (await stream.read() if way == "read()" else await anext(reader)) is None:
                break
        except StopAsyncIteration:
            break
    return reader


WAYS = ["events", "read()", "partials()", "items()", "result()"]


@pytest.mark.parametrize("times", [1, 99])
@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("first", WAYS)
@pytest.mark.parametrize("check", [None, "report"])
async def test_a_stream_is_read_in_one_way(first: str, second: str, times: int, check: Any) -> None:
    """Never a loop that ends at once over an answer that another reader has taken; the result is always there."""
    stream = five(check=check)
    await begin(stream, first, times)
    begun = "events" if first == "read()" else first
    if second == "result()":
        assert await stream.result() == GOOD_VALUE
    elif first == "result()" and times == 1:
        await begin(stream, second, 99)  # nothing has begun
    elif begun == ("events" if second == "read()" else second) == "events":
        await begin(stream, second, 99)
        assert await stream.read() is None
    else:
        with pytest.raises(ConfigError, match="already") as caught:
            await begin(stream, second, 1)
        assert caught.value.code == "INVALID_OPTIONS"
        assert begun in caught.value.message
    assert await stream.result() == GOOD_VALUE


@pytest.mark.parametrize("way", WAYS[:-1])
async def test_result_reads_the_rest_after_a_break(way: str) -> None:
    stream = five()
    async with stream:
        await begin(stream, way, 2)
        assert await stream.result() == GOOD_VALUE
        assert await stream.result() == GOOD_VALUE
    assert await stream.result() == GOOD_VALUE


async def test_what_result_has_read_is_still_given_by_partials_and_items() -> None:
    stream = five()
    items = stream.items()
    first = await anext(items)
    assert [first, *await stream.result()] == [GOOD_VALUE[0], *GOOD_VALUE]
    assert [item async for item in items] == GOOD_VALUE[1:]

    stream = five()
    partials = stream.partials()
    await anext(partials)
    await stream.result()
    (last,) = [partial async for partial in partials]
    assert last.complete and last.value == GOOD_VALUE

    stream = five(BAD)
    items = stream.items()
    await anext(items)
    with pytest.raises(OutputValidationError):
        await stream.result()
    with pytest.raises(OutputValidationError):
        await anext(items)


@pytest.mark.parametrize("way", [None, "events", "partials()"])
async def test_result_raises_the_error_of_a_failed_answer_each_time(way: str | None) -> None:
    stream = five(BAD)
    if way is not None:
        await begin(stream, way, 1)
    errors = []
    for _ in range(2):
        with pytest.raises(OutputValidationError, match=r"\[1\]\.name") as caught:
            await stream.result()
        errors.append(caught.value)
    assert errors[0] is errors[1]
    assert (errors[0].text, errors[0].partial is not None) == (BAD, True)


async def test_result_is_what_the_transform_gives_and_of_text_the_text() -> None:
    for begun in (False, True):
        stream = five(transform=len)
        if begun:
            await begin(stream, "events", 99)
        assert await stream.result() == 2
    assert await query_stream("?", lm=StaticResponse("Hello", 2)).result() == "Hello"


@pytest.mark.parametrize("protocol", ["json", "python"])
async def test_result_of_every_way_to_read_an_answer(protocol: Any) -> None:
    text = GOOD if protocol == "json" else "[Item('Bob', 1), Item(name='Alice', age=2)]"
    for lenient in (False, protocol == "json"):
        for check in (None, "report", "stop"):
            for slices in splits(text, rounds=1):
                lm = FunctionModel(lambda request, slices=slices: [*slices, " "])
                stream = query_stream("?", list[Item], lm=lm, protocol=protocol, lenient=lenient, check=check)  # type: ignore[arg-type]
                assert await stream.result() == GOOD_VALUE


@pytest.mark.parametrize("times", [0, 2])
async def test_a_stream_that_was_left_has_no_result(times: int) -> None:
    stream = five()
    if times:
        await begin(stream, "events", times)
    text = stream.text
    await stream.aclose()
    for _ in range(2):
        with pytest.raises(CallCancelledError, match="left before its end") as caught:
            await stream.result()
        assert (caught.value.code, caught.value.text) == ("ABORTED", text)
        assert caught.value.partial is not None and caught.value.partial.text == text
    for way in ("partials()", "items()"):
        with pytest.raises(ConfigError, match="was left"):
            await begin(stream, way, 1)
    assert await stream.read() is None


async def test_an_aborted_or_cancelled_stream_has_no_result() -> None:
    stream = five()
    await stream.read()
    stream.abort()
    with pytest.raises(CallCancelledError):
        await stream.result()

    transport = ScriptedTransport([[delta(GOOD[:30]), asyncio.Event()]])
    stream = query_stream("?", list[Item], lm=OpenAIChat("m", base_url="https://api.test/v1", transport=transport))
    await stream.read()
    reader = asyncio.create_task(stream.result())
    await asyncio.sleep(0)
    others = [asyncio.create_task(stream.result()), asyncio.create_task(stream.read())]
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert transport.responses[0].aborted
    with pytest.raises(CallCancelledError, match="left"):
        await others[0]
    assert await others[1] is None
    with pytest.raises(CallCancelledError, match="left"):
        await stream.result()


async def test_result_beside_a_reader_leaves_him_the_stream() -> None:
    waiting = Waiting()
    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=waiting)
    task = asyncio.create_task(events_of(stream))
    await waiting.begun.wait()
    results = [asyncio.create_task(stream.result()) for _ in range(3)]
    await asyncio.sleep(0)
    results.pop().cancel()  # which aborts nothing: it does not read
    await asyncio.sleep(0)
    waiting.go_on.set()
    assert isinstance((await task)[-1], GenerationComplete)
    assert [await result for result in results] == [[1], [1]]
    assert await stream.result() == [1]


@pytest.mark.parametrize("way", WAYS[:-1])
@pytest.mark.parametrize("begun", range(4))
@pytest.mark.parametrize("draws", [0, 3])
async def test_result_takes_nothing_from_a_reader_whenever_it_is_asked(way: str, begun: int, draws: int) -> None:
    """The reader has each event, or value, once and in order, and its end."""

    async def read(stream: QueryStream[Any]) -> list[Any]:
        seen: list[Any] = []
        if way == "read()":
            while (batch := await stream.read()) is not None:
                seen += batch
                await turns(draws)
            return seen
        reader: Any = {"events": stream, "partials()": None}.get(way) or getattr(stream, way[:-2])()
        async for each in reader:
            seen.append(each.snapshot() if way == "partials()" else each)
            await turns(draws)
        return seen[-1:] if way == "partials()" else seen  # those between depend on who reads when

    async def wait(_request: Any) -> AsyncIterator[str]:
        for at in range(0, len(GOOD), 9):
            await asyncio.sleep(0)
            yield GOOD[at : at + 9]

    lm = FunctionModel(wait)
    alone = await read(query_stream("?", list[Item], lm=lm))
    stream = query_stream("?", list[Item], lm=lm)
    reader = asyncio.create_task(read(stream))
    await turns(1 + begun)
    assert await stream.result() == GOOD_VALUE
    assert await reader == alone


async def test_a_transform_that_asks_for_its_own_result_is_told() -> None:
    async def asks(value: Any) -> Any:
        with pytest.raises(ConfigError, match="its own stream"):
            await stream.result()
        return value

    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=asks)
    assert await stream.result() == [1]


@pytest.mark.parametrize("sync", [False, True])
async def test_no_transform_begins_on_a_stream_that_was_left(sync: bool) -> None:
    """By another task, while the reader closes the response or is about to begin: nobody could end it any more."""
    for at in range(12):
        begun: list[Any] = []

        def plain(value: Any, begun: list[Any] = begun) -> Any:
            begun.append(value)
            return value

        async def waits(value: Any, begun: list[Any] = begun) -> None:
            begun.append(value)
            await asyncio.Event().wait()

        stream = query_stream(
            "?", list[int], lm=StaticResponse("[1]"), transform=plain if sync else waits, signal=asyncio.Event()
        )
        reader = asyncio.create_task(events_of(stream))
        await turns(at)
        before = len(begun)
        was_over = reader.done()
        await stream.aclose()
        events = await asyncio.wait_for(reader, 5)
        assert len(begun) == before
        if not was_over:
            assert not any(isinstance(event, GenerationComplete) for event in events)
            with pytest.raises(CallCancelledError) as caught:
                await stream.result()
            assert caught.value.code == "ABORTED"


@pytest.mark.parametrize("way", ["partials()", "items()"])
async def test_a_list_that_another_task_left_does_not_look_whole(way: str) -> None:
    transport = ScriptedTransport([[delta(GOOD[:30]), asyncio.Event()]])
    stream = query_stream("?", list[Item], lm=OpenAIChat("m", base_url="https://api.test/v1", transport=transport))
    reading: Any = stream.items() if way == "items()" else stream.partials()
    has_begun = asyncio.Event()

    async def read() -> None:
        async for _ in reading:
            has_begun.set()

    reader = asyncio.create_task(read())
    await has_begun.wait()
    await stream.aclose()
    with pytest.raises(CallCancelledError, match="left before its end") as caught:
        await reader
    assert (caught.value.code, caught.value.text) == ("ABORTED", GOOD[:30])
    assert [each async for each in reading] == []


async def test_a_transform_that_is_cancelled_from_within_costs_one_answer() -> None:
    """Not those beside it in a sample, and not its reader's task."""

    def plain(value: list[int]) -> Any:
        if value == [1]:
            raise asyncio.CancelledError
        return value

    async def waits(value: list[int]) -> Any:
        return plain(value)

    for transform in (plain, waits):
        lm = FunctionModel(partial(next, iter(["[0]", "[1]", "[2]"])))  # what it is called with is a default there
        found = await sample("?", list[int], lm=lm, count=3, transform=transform)
        assert [getattr(each, "code", each) for each in found] == [[0], "ABORTED", [2]]
        stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=transform)
        assert isinstance((await collect(stream))[-1], Cancelled)


async def test_a_transform_that_fails_as_its_reader_is_cancelled_is_not_logged() -> None:
    logged: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: logged.append(context))

    async def fails(value: Any) -> Any:
        await asyncio.sleep(0)
        raise ValueError("words of the application")

    for at in range(12):
        task = asyncio.create_task(query_stream("?", list[int], lm=StaticResponse("[1]"), transform=fails).result())
        await turns(at)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            assert isinstance(task.exception(), OutputValidationError)
        del task
        await asyncio.sleep(0)
        gc.collect()
    assert logged == []


async def test_asking_again_does_not_make_the_error_grow() -> None:
    stream = five(BAD)
    frames: list[int] = []
    for _ in range(5):
        with pytest.raises(OutputValidationError) as caught:
            await stream.result()
        frames.append(len(list(traceback.walk_tb(caught.value.__traceback__))))
    assert len(set(frames)) == 1


async def test_a_fault_ends_partials_at_the_same_place_whatever_came_with_it() -> None:
    for chars in (1, len(BAD)):
        stream = query_stream("?", list[Item], lm=StaticResponse(BAD, chars), check="stop")
        partials = stream.partials()
        with pytest.raises(OutputValidationError):
            async for partial in partials:
                last = partial
        assert last[0] == Item(name="Bob", age=1) and len(last) == 2
        assert [fault.path for fault in last.invalid] == [(1, "name")]


@pytest.mark.host  # a page has one loop
def test_another_event_loop_is_told_from_the_end_of_the_answer() -> None:
    """A stream that was begun in a loop that is closed looks like one that broke off."""
    streams = {way: five() for way in WAYS}
    readers: dict[str, Any] = {}
    chunks = StaticResponse(GOOD, 9).stream("?")

    async def first() -> None:
        for way, stream in streams.items():
            readers[way] = await begin(stream, "events" if way == "result()" else way, 1)
        await chunks.read()

    async def second() -> None:
        for way, stream in streams.items():
            with pytest.raises(ConfigError, match="event loop") as caught:
                if way == "result()":
                    await stream.result()
                else:
                    for _ in range(9):
                        await (stream.read() if way == "read()" else anext(readers[way]))
            assert caught.value.code == "INVALID_OPTIONS"
            await stream.aclose()
        with pytest.raises(ConfigError, match="event loop"):
            await chunks.read()
        await chunks.aclose()

    asyncio.run(first())
    asyncio.run(second())


# a transform that does not listen


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
@pytest.mark.parametrize("way", ["abort", "signal", "aclose", "cancel"])
async def test_a_transform_that_swallows_its_cancellation_holds_nobody(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    begun, go_on, signal = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def deaf(value: Any) -> Any:
        begun.set()
        while not go_on.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await go_on.wait()
        raise ValueError("too late")

    stream = query_stream("?", list[int], lm=StaticResponse("[1]"), transform=deaf, signal=signal)
    task = asyncio.create_task(events_of(stream))
    await begun.wait()
    with pytest.warns(RuntimeWarning, match="A transform was cancelled, and has not ended"):
        async with asyncio.timeout(5):
            if way == "abort":
                stream.abort()
            elif way == "signal":
                signal.set()
            elif way == "aclose":
                await stream.aclose()
            else:
                task.cancel()
            if way == "cancel":
                with pytest.raises(asyncio.CancelledError):
                    await task
            else:
                assert isinstance((await task)[-1], Cancelled) == (way != "aclose")
    with pytest.raises(CallCancelledError):
        await stream.result()
    go_on.set()
    for _ in range(9):
        await asyncio.sleep(0)


# what a server says beside the answer

KEY = "key-of-the-caller-0123456789"


def told(**members: Any) -> bytes:
    return (
        b"data: "
        + json.dumps({"choices": [{"index": 0, "delta": {"content": "[1, x]"}}], **members}).encode()
        + b"\n\n"
    )


@pytest.mark.parametrize(
    "member",
    [{"id": KEY}, {"model": f"m {KEY}"}, {"system_fingerprint": KEY}, {"usage": {"prompt_tokens": 1, "x": KEY}}],
)
async def test_no_error_of_an_invalid_answer_holds_the_key(member: Any) -> None:
    """The response was whole, so that it is the answer that fails, with the message as its `partial`."""
    for way in ("result", "transform", "check", "left"):
        transport = ScriptedTransport([[told(**member), END] if way != "left" else [told(**member), asyncio.Event()]])
        lm = OpenAIChat("m", base_url="https://api.test/v1", api_key=KEY, transport=transport)
        stream = query_stream("?", list[int], lm=lm, check="stop" if way == "check" else None)
        if way == "transform":
            stream = query_stream("?", lm=lm, transform=refused)
        if way == "left":
            await stream.read()
            await stream.aclose()
        with pytest.raises(UnspoolError) as caught:
            await stream.result()
        error = caught.value
        assert error.partial is not None and error.partial.text == "[1, x]"
        assert KEY not in f"{error!r} {error.to_wire()} {error.partial!r} {error.partial.to_wire()}"


def refused(value: Any) -> Any:
    raise ValueError(f"no: {KEY}")


END = (
    b"data: "
    + json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).encode()
    + b"\n\ndata: [DONE]\n\n"
)


async def test_what_reads_a_stream_says_how_far_it_is() -> None:
    """Its state, and nothing of the answer."""
    items = five().items()
    assert repr(items) == "Items('', 0 given, QueryStream(ChunkStream(StaticResponse('static'), not sent)))"
    await anext(items)
    assert repr(items) == "Items('', 1 given, QueryStream(ChunkStream(StaticResponse('static'), open)))"
    partials = five().partials()
    assert repr(partials) == "Partials(QueryStream(ChunkStream(StaticResponse('static'), not sent)))"
    async for _ in partials:
        pass
    assert repr(partials) == "Partials(complete, QueryStream(ChunkStream(StaticResponse('static'), over)))"
