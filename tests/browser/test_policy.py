"""F50: strict content security policies, those that docs/deploying.md gives."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, expect
from tests.browser.client import ANSWER, VALUE, Client, last
from tests.browser.conftest import Watch, test_pages
from tests.tools.provider import Provider
from tests.tools.static_server import ISOLATION, serve_folder

pytestmark = [pytest.mark.host, pytest.mark.browser]


def policies(repo: Path, provider: str) -> tuple[str, str]:
    """The policies of the page on deploying, for JavaScript and for PyScript, with the provider's origin in them."""
    text = (repo / "docs" / "deploying.md").read_text(encoding="utf-8")
    strict, pyscript = re.findall(r"^Content-Security-Policy: (.+)$", text, re.MULTILINE)
    assert "'unsafe-eval'" not in strict
    return strict.replace("https://api.example.com", provider), pyscript.replace("https://api.example.com", provider)


@pytest_asyncio.fixture(loop_scope="session")
async def allowed(
    context: BrowserContext, watch: Watch, provider: Provider, dist: Path, repo: Path
) -> AsyncIterator[str]:
    """Base URL of the folder under the policy, which allows the provider."""
    headers = {"Content-Security-Policy": policies(repo, provider.base_url.removesuffix("/v1"))[0]}
    with serve_folder(dist, headers=headers, pages=test_pages()) as base_url:
        yield base_url


async def client_at(context: BrowserContext, base_url: str, where: Literal["default", "page"]) -> Client:
    page = await context.new_page()
    await page.goto(f"{base_url}/blank.html")
    client = Client(page)
    started = await client.start(where, indexURL="/pyodide/")
    assert "versions" in started, started
    return client


@pytest.mark.parametrize("where", ["default", "page"])
async def test_query_under_the_policy(
    context: BrowserContext, watch: Watch, allowed: str, provider: Provider, where: Literal["default", "page"]
) -> None:
    provider.say_text(ANSWER)
    client = await client_at(context, allowed, where)
    assert last(await client.run(provider))["result"] == VALUE
    assert not [
        line for line in watch.console if "Content Security Policy" in line or "Content-Security-Policy" in line
    ]


async def test_blocked_provider_is_told_with_a_hint(
    context: BrowserContext, watch: Watch, provider: Provider, dist: Path, repo: Path
) -> None:
    headers = {"Content-Security-Policy": policies(repo, "https://api.example.com")[0]}
    with serve_folder(dist, headers=headers, pages=test_pages()) as base_url:
        client = await client_at(context, base_url, "page")
        error = last(await client.run(provider))["error"]
    assert error["code"] == "NETWORK"
    assert "connect-src" in error["message"]
    assert provider.requests == []
    watch.errors.clear()  # Firefox tells of the block this way


async def test_pyscript_worker_under_its_policy(
    context: BrowserContext, watch: Watch, provider: Provider, dist: Path, repo: Path
) -> None:
    provider.say_text('{"city": "Kyoto", "days": 4, "sights": [], "tip": "Start early."}')
    policy = policies(repo, provider.base_url.removesuffix("/v1"))[1]
    with serve_folder(dist, headers={"Content-Security-Policy": policy, **ISOLATION}) as base_url:
        page = await context.new_page()
        await page.goto(f"{base_url}/pyscript-worker.html?{urlencode({'server': provider.base_url})}")
        await page.click("#ask", timeout=60_000)
        await expect(page.locator("#status")).to_have_attribute("data-state", "done", timeout=20_000)
