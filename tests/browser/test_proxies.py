"""No PyProxy is left alive by a stream, however it ends. Pyodide itself counts them, and says where each was made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.browser.client import ANSWER, Client, last, query
from tests.tools.provider import Provider, pieces, sse


@pytest_asyncio.fixture(loop_scope="session")
async def before(connected: Client, provider: Provider) -> AsyncIterator[None]:
    """Fails the test when it leaves more proxies than it found."""
    provider.say_text(ANSWER)
    await connected.run(provider)  # what the first query makes once and for all
    found = await connected.proxies()
    yield
    left: dict[str, int] = {}
    for _ in range(50):  # a stream is over for its reader a few turns of the loop before it is over for Python
        left = {at: n - found.get(at, 0) for at, n in (await connected.proxies()).items() if n > found.get(at, 0)}
        if not left:
            break
    assert not left, "\n\n".join(f"{n} left, made at\n{at}" for at, n in left.items())


pytestmark = pytest.mark.usefixtures("before")


async def test_counting_counts(connected: Client) -> None:
    """The method itself: a proxy that is held is counted, and no longer once it is destroyed."""
    count = "pyodide._module.pyproxy_alloc_map.size"
    start = await connected.call("probe", count)
    await connected.call("probe", "(globalThis.held = pyodide.toPy({ a: 1 })) && 0")
    assert await connected.call("probe", count) == start + 1
    await connected.call("probe", "held.destroy()")
    assert await connected.call("probe", count) == start


async def test_a_stream_that_ends(connected: Client, provider: Provider) -> None:
    for _ in range(3):
        provider.say_text(ANSWER, 3)
        assert last(await connected.run(provider))["type"] == "generationComplete"


@pytest.mark.parametrize("status", [200, 500])
async def test_a_stream_that_fails(connected: Client, provider: Provider, status: int) -> None:
    provider.say(*pieces(ANSWER[:20]), sse({"error": {"message": "no"}}), status=status)
    assert last(await connected.run(provider))["type"] == "generationFailed"


async def test_a_stream_that_cannot_be_read(connected: Client, provider: Provider) -> None:
    provider.say_text("not json at all")
    assert last(await connected.run(provider))["type"] == "parsingFailed"


async def test_no_server(connected: Client, provider: Provider) -> None:
    model = {"provider": "openai-chat", "model": "m", "apiKey": "sk-x", "baseURL": "http://127.0.0.1:9/v1"}
    assert last(await connected.run(provider, lm=model))["type"] == "generationFailed"


async def test_a_stream_that_is_cancelled(connected: Client, provider: Provider) -> None:
    provider.say(*pieces(ANSWER[:20]), asyncio.Event())
    await connected.call("open", "a", query(provider))
    await connected.call("until", "a", "stringFieldDelta")
    await connected.call("abort", "a")
    assert last(await connected.call("drain", "a"))["type"] == "cancelled"


async def test_a_stream_that_is_cancelled_before_the_headers(connected: Client, provider: Provider) -> None:
    provider.say(asyncio.Event())
    await connected.call("open", "b", query(provider))
    waiting = asyncio.ensure_future(connected.call("drain", "b"))
    await provider.request(1)
    await connected.call("abort", "b")
    assert last(await waiting)["type"] == "cancelled"


async def test_a_stream_that_is_left_early(connected: Client, provider: Provider) -> None:
    provider.say(*pieces(ANSWER[:20]), asyncio.Event())
    await connected.call("open", "c", query(provider))
    await connected.call("until", "c", "stringFieldDelta")
    await connected.call("leave", "c")
