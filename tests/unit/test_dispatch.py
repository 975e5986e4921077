"""Middleware around a call: it sees everything, and cannot make a bad end a good one."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.routes import ANSWER, chunks_of, end_of, route, transport_of
from tests.support import named

from unspool.errors import (
    ConfigError,
    ProviderError,
    StreamTruncatedError,
    WireError,
)
from unspool.runtime import Middleware, PreparedCall, Runtime
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta, UsageReport
from unspool.testing import HttpResponse

HALF = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'


async def test_middleware_sees_every_call_and_its_chunks() -> None:
    log: list[str] = []

    def named(name: str) -> Middleware:
        async def around(call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
            log.append(f"{name}>{call.provider}/{call.request.model}")
            async for chunk in proceed():
                log.append(f"{name}:{chunk.type}")
                yield chunk

        return around

    runtime = Runtime(route("p", ANSWER), middleware=[named("a"), lambda _call, proceed: proceed(), named("b")])
    stream = runtime.stream("p", "m", "Hi")
    assert (await end_of(stream)).reason == "stop"
    assert stream.message.text == "Hi"
    assert stream.message.origin is not None and stream.message.origin.response_id == "r"
    assert log[:2] == ["a>p/m", "b>p/m"]
    types = ["block-start", "text-delta", "block-end", "finish"]
    assert [entry[2:] for entry in log if entry.startswith("a:")] == types
    assert [entry[2:] for entry in log if entry.startswith("b:")] == types


async def test_middleware_may_answer_itself() -> None:
    async def cached(_call: PreparedCall, _proceed: Any) -> AsyncIterator[Chunk]:
        for chunk in (BlockStart(0, "text"), TextDelta(0, "cached"), BlockEnd(0), Finish("stop")):
            yield chunk

    used = route("p")
    stream = Runtime(used, middleware=[cached]).stream("p", "m", "Hi")
    await chunks_of(stream)
    assert (stream.message.text, transport_of(used).requests) == ("cached", [])


async def _broken(_call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
    async for chunk in proceed():
        yield chunk
        raise ValueError("oops")


async def _ends_early(_call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
    async for chunk in proceed():
        if chunk.type == "finish":
            return
        yield chunk


async def _sends_twice(_call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
    for _ in range(2):
        async for chunk in proceed():
            yield chunk


async def _adds(_call: PreparedCall, proceed: Any) -> AsyncIterator[Any]:
    async for chunk in proceed():
        yield chunk if chunk.type != "text-delta" else "text"


def _raises(_call: PreparedCall, _proceed: Any) -> Any:
    raise ValueError("oops")


@pytest.mark.parametrize(
    ("middleware", "kind", "code", "text"),
    [
        (_broken, ConfigError, "INVALID_OPTIONS", ""),
        (_ends_early, StreamTruncatedError, "STREAM_TRUNCATED", "Hi"),
        (_adds, WireError, "PROTOCOL", ""),
        (_raises, ConfigError, "INVALID_OPTIONS", ""),
        (lambda _call, _proceed: None, ConfigError, "INVALID_OPTIONS", ""),
    ],
)
async def test_faulty_middleware_never_makes_a_good_end(middleware: Any, kind: Any, code: str, text: str) -> None:
    used = route("p", ANSWER)
    stream = Runtime(used, middleware=[middleware]).stream("p", "m", "Hi")
    finish = await end_of(stream)
    assert isinstance(finish.error, kind)
    assert finish.error.code == code
    assert stream.message.text == text
    assert all(response.closed for response in transport_of(used).responses)


async def test_middleware_that_sends_twice_ends_with_the_first_answer() -> None:
    used = route("p", ANSWER, ANSWER)
    stream = Runtime(used, middleware=[_sends_twice]).stream("p", "m", "Hi")
    assert (await end_of(stream)).reason == "stop"
    assert len(transport_of(used).requests) == 1


async def test_the_key_is_blanked_out_behind_middleware() -> None:
    reply = HttpResponse(400, {}, b'{"error":{"message":"odd hunter2-hunter2-hunter2"}}')
    runtime = Runtime(
        route("p", reply, api_key="hunter2-hunter2-hunter2"), middleware=[lambda _call, proceed: proceed()]
    )
    finish = await end_of(runtime.stream("p", "m", "Hi"))
    assert isinstance(finish.error, ProviderError)
    assert "hunter2" not in f"{finish.error!r} {finish.error.raw}"


@pytest.mark.parametrize("how", ["abort", "aclose", "drop", "cancel"])
async def test_leaving_a_wrapped_call_closes_what_is_inside(how: str) -> None:
    """F8."""
    seen: list[Any] = []

    async def around(_call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
        async for chunk in proceed():
            seen.append(chunk)
            yield chunk

    used = route("p", [HALF, asyncio.Event()])  # type: ignore[list-item]
    stream = Runtime(used, middleware=[around]).stream("p", "m", "Hi")
    await stream.read()
    if how == "abort":
        stream.abort()
        assert [chunk async for chunk in stream][-1].reason == "aborted"  # type: ignore[union-attr]
    elif how == "aclose":
        await stream.aclose()
    elif how == "cancel":
        await stream.read()
        task = asyncio.ensure_future(stream.read())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        del stream
        gc.collect()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert transport_of(used).responses[0].aborted


class _NoIterator:
    def __aiter__(self) -> Any:
        return 5


class _NotStarting:
    def __aiter__(self) -> Any:
        raise ValueError("no")


@pytest.mark.parametrize(
    "given", [_NoIterator(), _NotStarting(), None, 5, [Finish("stop")]], ids=lambda g: type(g).__name__
)
async def test_middleware_that_gives_no_chunks_is_at_fault(given: Any) -> None:
    """Not the network, though the fault shows before anything was sent."""
    finish = await end_of(
        Runtime(route("p", ANSWER), middleware=[lambda _call, _proceed: given]).stream("p", "m", "Hi")
    )
    assert finish.error is not None
    assert finish.error.code == "INVALID_OPTIONS"


@pytest.mark.parametrize(
    "chunk",
    [
        Finish("done"),  # type: ignore[arg-type]
        Finish("stop", metadata={"x": object()}),
        Finish("stop", metadata=5),  # type: ignore[arg-type]
        UsageReport(None),  # type: ignore[arg-type]
        TextDelta(0, b"a"),  # type: ignore[arg-type]
        TextDelta(0, None),  # type: ignore[arg-type]
        BlockEnd(0, replay="x"),  # type: ignore[arg-type]
        BlockStart([], "text"),  # type: ignore[arg-type]
    ],
    ids=named,
)
async def test_chunks_that_no_message_can_hold(chunk: Chunk) -> None:
    """A good end always has a message: what cannot become one is refused when it comes."""

    async def around(_call: PreparedCall, _proceed: Any) -> AsyncIterator[Chunk]:
        yield BlockStart(0, "text")
        yield TextDelta(0, "so far")
        yield BlockEnd(0) if isinstance(chunk, Finish | UsageReport) else chunk
        yield chunk

    stream = Runtime(route("p", ANSWER), middleware=[around]).stream("p", "m", "Hi")
    finish = await end_of(stream)
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"
    assert stream.message.text == "so far"
    json.dumps(stream.message.to_wire())


async def test_an_aborted_call_is_aborted_whatever_middleware_makes_of_it() -> None:
    async def stubborn(_call: PreparedCall, proceed: Any) -> AsyncIterator[Chunk]:
        while True:
            try:
                async for chunk in proceed():
                    yield chunk
                return
            except asyncio.CancelledError:
                yield BlockStart(9, "text")

    runtime = Runtime(route("p", HttpResponse(after=asyncio.Event())), middleware=[stubborn])
    stream = runtime.stream("p", "m", "Hi")
    reading = asyncio.ensure_future(chunks_of(stream))
    for _ in range(8):
        await asyncio.sleep(0)
    stream.abort()
    finish = (await reading)[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "aborted"
