"""Python in the page itself, without a worker."""

from __future__ import annotations

import asyncio

from tests.browser.client import ANSWER, VALUE, Client, last, query
from tests.tools.provider import Provider, pieces


async def test_no_worker_is_started(client: Client, provider: Provider) -> None:
    await client.start("page")
    provider.say_text(ANSWER)
    assert last(await client.run(provider))["result"] == VALUE
    assert client.page.workers == []
    assert await client.python("__import__('unspool').__name__") == "unspool"


async def test_dispose_stops_the_request_and_leaves_the_page_alive(client: Client, provider: Provider) -> None:
    provider.say(*pieces('{"name": "Ann", '), asyncio.Event())
    await client.start("page")
    await client.call("open", "a", query(provider))
    await client.call("until", "a", "fieldEnd")
    await client.call("dispose")
    request = await provider.request()
    async with asyncio.timeout(20):
        await request.gone.wait()
    assert (await client.call("next", "a"))["threw"]["code"] == "DISPOSED"
    assert await client.page.evaluate("1 + 1") == 2


async def test_a_second_connection_after_dispose(client: Client, provider: Provider) -> None:
    await client.start("page")
    await client.call("dispose")
    assert "versions" in await client.start("page")
    provider.say_text(ANSWER)
    assert last(await client.run(provider))["result"] == VALUE


async def test_python_types_of_a_registered_module(client: Client, provider: Provider) -> None:
    source = """
from pydantic import BaseModel

class Person(BaseModel):
    name: str
    tags: list[str]
"""
    await client.start("page", modules={"people": source})
    provider.say_text(ANSWER)
    assert last(await client.run(provider, schema="people:Person"))["result"] == VALUE
