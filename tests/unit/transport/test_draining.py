"""What is left of a body behind a whole answer, on CPython; tests/browser has the same in a page."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

import httpx2
import pytest
from tests.tools.keep_alive_server import KeepAliveServer

from unspool.llms import OpenAIChat
from unspool.transport import draining
from unspool.transport import httpx as module
from unspool.transport.draining import Draining
from unspool.transport.httpx import HttpxTransport

pytestmark = pytest.mark.host

TEXT = "Hello wörld"


@pytest.fixture
async def server() -> AsyncIterator[KeepAliveServer]:
    async with KeepAliveServer() as server:
        yield server
        if draining._drains:
            await asyncio.wait(draining._drains, timeout=10)
    assert not draining._drains
    assert not module._open_responses


def model(server: KeepAliveServer, way: str, transport: HttpxTransport | None = None) -> OpenAIChat:
    return OpenAIChat("m", api_key="k", base_url=f"{server.url}/{way}", transport=transport)


async def test_calls_one_after_the_other_share_a_connection(server: KeepAliveServer) -> None:
    lm = model(server, "whole")
    for _ in range(4):
        assert (await lm.call("Hi")).text == TEXT
    assert server.connections == 1
    assert not any("cookie" in head.lower() for head in server.requests)  # nothing goes from one to the next


async def test_so_they_do_with_a_client_of_the_caller(server: KeepAliveServer) -> None:
    async with httpx2.AsyncClient() as client:
        for _ in range(4):  # a model for each, which is dropped
            assert (await model(server, "whole", HttpxTransport(client)).call("Hi")).text == TEXT
        assert server.connections == 1
        assert not client.is_closed


async def test_streams_that_are_read_to_their_last_chunk_share_it_too(server: KeepAliveServer) -> None:
    lm = model(server, "whole")
    for _ in range(2):
        kinds = [chunk.type async for chunk in lm.stream("Hi")]
        assert kinds[-1] == "finish"
    assert server.connections == 1


async def test_the_answer_does_not_wait_for_the_end_of_the_body(server: KeepAliveServer) -> None:
    """And a request that follows at once does, for a moment, since a connection is about to be free."""
    lm = model(server, "later")
    assert (await lm.call("Hi")).text == TEXT
    asyncio.get_running_loop().call_later(0.005, server.may_end.set)
    assert (await lm.call("Hi")).text == TEXT
    server.may_end.set()
    assert server.connections == 1


@pytest.mark.parametrize("way", ["never", "more", "long"])
async def test_a_body_that_does_not_end_costs_its_connection_alone(
    server: KeepAliveServer, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded in time and in bytes; the answers are there before either is over."""
    monkeypatch.setattr(draining, "MAX_REST_S", 0.3 if way == "never" else 60.0)
    lm = model(server, way)
    for calls in (1, 2):
        assert (await lm.call("Hi")).text == TEXT
        assert server.connections == calls
        if way == "never":
            assert len(draining._drains) == calls  # still waiting
    for _ in range(2):
        assert await asyncio.wait_for(server.gone.get(), 10) == way


@pytest.mark.parametrize("leave", ["aclose", "abort", "cancel"])
async def test_a_call_that_is_left_is_not_drained(server: KeepAliveServer, leave: str) -> None:
    stream = model(server, "half").stream("Hi")
    assert await stream.read()
    if leave == "aclose":
        await stream.aclose()
    elif leave == "abort":
        stream.abort()
        assert [chunk.type for chunk in await stream.read() or []][-1] == "finish"
    else:
        task = asyncio.ensure_future(stream.read())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    assert not draining._drains
    assert await asyncio.wait_for(server.gone.get(), 10) == "half"


@pytest.mark.parametrize("way", ["whole", "never"])
@pytest.mark.parametrize("is_global", [False, True])
def test_connections_end_with_their_loop(way: str, is_global: bool) -> None:
    """Whether the model ends before it or after: nothing warns."""
    kept: list[OpenAIChat] = []

    async def main() -> list[str]:
        async with KeepAliveServer() as server:
            lm = model(server, way)
            if is_global:
                kept.append(lm)
            texts = [(await lm.call("Hi")).text for _ in range(2)]
            assert server.connections == (1 if way == "whole" else 2)
            return texts

    for _ in range(2):
        assert asyncio.run(main()) == [TEXT, TEXT]
    gc.collect()
    assert not draining._drains
    assert not module._open_responses


def test_a_loop_whose_generators_were_closed_is_used_again() -> None:
    async def main() -> None:
        async with KeepAliveServer() as server:
            lm = model(server, "whole")
            assert (await lm.call("Hi")).text == TEXT
            loop = asyncio.get_running_loop()
            await loop.shutdown_asyncgens()
            loop._asyncgens_shutdown_called = False  # type: ignore[attr-defined]  # else it warns
            assert (await lm.call("Hi")).text == TEXT
            assert server.connections == 2

    asyncio.run(main())


async def test_calls_at_once_have_connections_of_their_own(server: KeepAliveServer) -> None:
    lm = model(server, "whole")
    for _ in range(2):
        assert [answer.text for answer in await lm.sample(["Hi"] * 4)] == [TEXT] * 4
    assert 1 <= server.connections <= 4


async def test_a_dropped_model_closes_its_connections(server: KeepAliveServer) -> None:
    assert (await model(server, "whole").call("Hi")).text == TEXT
    gc.collect()
    assert await asyncio.wait_for(server.gone.get(), 10) == "whole"


class Body(Draining):
    """A response in memory."""

    def __init__(self, *slices: bytes | Exception) -> None:
        self.slices = list(slices)
        self.closed = False

    async def read(self) -> bytes | None:
        if not self.slices:
            return None
        piece = self.slices.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece

    async def close(self) -> None:
        self.closed = True
        if not self.slices:
            raise OSError("it does not close")


@pytest.mark.parametrize(
    ("slices", "left"),
    [
        ([], 0),
        ([b"a", b"b"], 0),
        ([ValueError()], 0),
        ([b"a" * 65_535, b"b", b"c"], 1),
        ([b"a" * 65_536, b"b"], 1),
        ([b"a" * 70_000, b"b"], 1),
    ],
    ids=range(6),
)
async def test_what_is_there_is_taken_at_once(slices: list[bytes | Exception], left: int) -> None:
    body = Body(*slices)
    task = body.drain()
    assert task.done()
    assert task.exception() is None
    assert (len(body.slices), body.closed) == (left, True)
