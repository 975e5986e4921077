"""QueryStream: an answer that is judged while it is read, `check=`, and the wait for its transform.

How it ends and closes: test_functions.py. F17.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.support import splits

from unspool.answer_stream import QueryStream
from unspool.errors import ConfigError, OutputValidationError
from unspool.functions import query, query_stream
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
BAD = '[{"name":"Bob","age":1},{"name":"Alx","age":2},{"age":3}]'


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


async def test_stop_after_the_last_token_tells_all_faults() -> None:
    events = await collect(query_stream("?", list[Item], lm=StaticResponse(BAD), check="stop"))
    assert isinstance(events[-1], ParsingFailed)


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
