"""What a whole answer leaves behind on the network: a request that is finished, not one that failed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from playwright.async_api import Request
from tests.browser.client import Client, last
from tests.tools.keep_alive_server import KeepAliveServer

pytestmark = [pytest.mark.host, pytest.mark.browser]


async def test_a_whole_answer_is_a_finished_request(client: Client) -> None:
    """And what the server sends later, or never, is not waited for."""
    ends: asyncio.Queue[str] = asyncio.Queue()

    def note(how: str) -> Any:
        def on(request: Request) -> None:
            if request.url.endswith("/chat/completions") and request.method == "POST":
                ends.put_nowait(how)

        return on

    client.page.context.on("requestfinished", note("finished"))
    client.page.context.on("requestfailed", note("failed"))
    await client.start("worker")
    async with KeepAliveServer() as server:
        for way in ("whole", "later", "never", "whole"):
            lm = {"provider": "openai-chat", "model": "m", "apiKey": "k", "baseURL": f"{server.url}/{way}"}
            told = await client.call("run", {"prompt": "Hi", "lm": lm})
            assert last(told)["result"] == "Hello wörld"
            if way == "later":
                assert ends.empty()
                server.may_end.set()
            end = await asyncio.wait_for(ends.get(), 20)
            assert end == ("failed" if way == "never" else "finished")
        assert await asyncio.wait_for(server.gone.get(), 20) == "never"
