"""Python in a worker: the page notices when the worker is gone, whatever ended it, and can start another."""

from __future__ import annotations

import asyncio

import pytest
from tests.browser.client import ANSWER, VALUE, Client, last, query
from tests.browser.conftest import Watch
from tests.tools.provider import Provider, pieces

ENDS = {
    "terminated": ("terminate", []),
    "closed by itself": ("probe", ["void setTimeout(() => self.close())"]),
    "interpreter dead": ("probe", ["void setTimeout(() => pyodide._module._abort())"]),
}


async def test_the_shim_makes_its_own_worker(client: Client, provider: Provider) -> None:
    """No worker, no lock file and no package is named: the defaults find them all."""
    started = await client.call("start", "default", {"indexURL": "/pyodide/"})
    assert started["versions"]["pyodide"].startswith("314.")
    provider.say_text(ANSWER)
    assert last(await client.run(provider))["result"] == VALUE


@pytest.mark.parametrize("end", ENDS)
async def test_a_worker_that_ends_in_mid_stream_rejects_the_pending_read(
    client: Client, provider: Provider, watch: Watch, end: str
) -> None:
    provider.say(*pieces('{"name": "Ann", "tags": ['), asyncio.Event())
    await client.start("worker")
    await client.call("open", "a", query(provider))
    await client.call("until", "a", "fieldEnd")
    waiting = asyncio.ensure_future(client.call("drain", "a"))
    name, arguments = ENDS[end]
    await client.call(name, *arguments)
    async with asyncio.timeout(30):
        told = await waiting
    assert told["threw"]["code"] == "WORKER_DIED", told
    assert told["threw"]["partialValue"]["name"] == "Ann"
    assert (await client.call("query", query(provider)))["threw"]["code"] == "WORKER_DIED"
    watch.errors.clear()  # a dying worker may have its say

    started = await client.start("worker")
    assert "versions" in started
    provider.say_text(ANSWER)
    assert last(await client.run(provider))["result"] == VALUE


async def test_a_worker_that_ends_closes_its_requests(client: Client, provider: Provider) -> None:
    provider.say(*pieces('{"name": "Ann", '), asyncio.Event())
    await client.start("worker")
    await client.call("open", "a", query(provider))
    await client.call("until", "a", "fieldEnd")
    await client.call("dispose")
    request = await provider.request()
    async with asyncio.timeout(20):
        await request.gone.wait()
    assert (await client.call("next", "a"))["threw"]["code"] == "DISPOSED"


async def test_a_folder_without_python_is_named(client: Client, watch: Watch) -> None:
    threw = (await client.start("worker", indexURL="/nowhere/", lockFileURL="/nowhere/pyodide-lock.json"))["threw"]
    assert threw["code"] == "BOOT_FAILED"
    assert "/nowhere/" in threw["message"]
    watch.errors.clear()


async def test_a_model_on_the_page_answers_python_in_the_worker(client: Client) -> None:
    """`lm` may be a function of the page: the worker pulls its pieces one by one."""
    await client.start("worker")
    script = """
    async (answer) => {
      const { runWith } = await import("/harness.mjs");
      return await runWith(async function* () { for (const piece of answer.match(/.{1,9}/gsu)) yield piece; });
    }
    """
    told = await client.page.evaluate(script, ANSWER)
    assert last(told)["result"] == VALUE
