"""Real browsers for the tests of this folder: Debian's Chromium and stock Firefox ESR, over the folder of `make dist`.

Every test that takes `page` runs once in each engine. A page that asks anything but this machine fails its test, and so
does an error that nobody caught. All tests share one event loop and one browser of each engine; each has a context of
its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright
from tests.browser.client import REALMS, Client
from tests.conftest import is_loopback
from tests.tools.provider import Provider
from tests.tools.provider import provider as running_provider
from tests.tools.static_server import ISOLATION, serve_folder

CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--js-flags=--expose-gc",
]
COMMANDS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
SERVED = Path(__file__).parent / "served"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers outlive tests, so tests and browsers share the session's loop."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def find_browser(engine: str) -> str | None:
    """The command of a browser on this machine, or None: then Playwright's own build is tried."""
    named = os.environ.get(f"UNSPOOL_{engine.upper()}")
    return named or next((found for name in COMMANDS[engine] if (found := shutil.which(name))), None)


async def launch(playwright: Playwright, engine: str) -> Browser:
    command = find_browser(engine)
    if engine == "chromium":
        return await playwright.chromium.launch(executable_path=command, args=CHROMIUM_FLAGS)
    if command is None:
        return await playwright.firefox.launch()
    return await playwright.firefox.launch(executable_path=command, channel="moz-firefox")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["chromium", "firefox"])
async def browser(playwright: Playwright, request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """One running browser of each engine."""
    running = await launch(playwright, request.param)
    yield running
    await running.close()


def test_pages() -> dict[str, str]:
    """What the tests serve beside the folder."""
    return {
        "/blank.html": "<!doctype html><html lang=en><meta charset=utf-8><title>test</title><body></body></html>",
        "/harness.mjs": (SERVED / "harness.mjs").read_text(encoding="utf-8"),
        "/probe-worker.mjs": (SERVED / "probe-worker.mjs").read_text(encoding="utf-8"),
        "/probe/pyodide.mjs": (SERVED / "pyodide.mjs").read_text(encoding="utf-8"),
    }


test_pages.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def site(dist: Path) -> Iterator[str]:
    """Base URL of the self-hosted folder; `/blank.html` is an empty page."""
    with serve_folder(dist, pages=test_pages()) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def isolated_site(dist: Path) -> Iterator[str]:
    """The same with the headers of cross-origin isolation."""
    with serve_folder(dist, headers=ISOLATION, pages=test_pages()) as base_url:
        yield base_url


class Watch:
    """What a context did: its requests, and errors that nobody caught."""

    def __init__(self, context: BrowserContext) -> None:
        self.requests: list[str] = []
        """URLs that pages and workers asked for, in order."""
        self.errors: list[str] = []
        """Uncaught errors and console errors. A test that expects some clears the list."""
        self.console: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("weberror", lambda error: self._uncaught(str(error.error)))
        context.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))

    def _uncaught(self, text: str) -> None:
        # Firefox reports each CORS failure this way too, also those that the page handles.
        if "The Same Origin Policy disallows" not in text:
            self.errors.append(text)

    def elsewhere(self) -> list[str]:
        """Requests that left this machine."""
        parts = [(url, urlsplit(url)) for url in self.requests]
        return [url for url, at in parts if at.scheme not in ("data", "blob", "about") and not is_loopback(at.hostname)]

    def check(self) -> None:
        """Fail when something happened that no page of ours may do."""
        assert self.elsewhere() == [], "the page asked another machine"
        assert self.errors == [], "\n".join(["errors that nobody caught", *self.console])


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    fresh = await browser.new_context()
    fresh.set_default_timeout(60_000)
    yield fresh
    await fresh.close()


@pytest_asyncio.fixture(loop_scope="session")
async def watch(context: BrowserContext) -> AsyncIterator[Watch]:
    seen = Watch(context)
    yield seen
    seen.check()


@pytest_asyncio.fixture(loop_scope="session")
async def page(context: BrowserContext, watch: Watch, site: str) -> Page:
    """An empty page of the site."""
    fresh = await context.new_page()
    await fresh.goto(f"{site}/blank.html")
    return fresh


@pytest.fixture
def engine(browser: Browser) -> str:
    """chromium or firefox."""
    return browser.browser_type.name


@pytest_asyncio.fixture(loop_scope="session")
async def provider() -> AsyncIterator[Provider]:
    """A scripted provider, cross-origin to the site."""
    async with running_provider() as running:
        yield running


@pytest.fixture
def client(page: Page) -> Client:
    """The shim in a page of its own, not started yet."""
    return Client(page)


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=REALMS)
async def connected(browser: Browser, site: str, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A connection that the tests of one file share: once with Python in a worker, once with Python in the page.

    A file's `CONNECT` are further options of it.
    """
    context = await browser.new_context()
    context.set_default_timeout(60_000)
    seen = Watch(context)
    page = await context.new_page()
    await page.goto(f"{site}/blank.html")
    client = Client(page)
    started = await client.start(request.param, **getattr(request.module, "CONNECT", {}))
    assert "versions" in started, started
    yield client
    await context.close()
    seen.check()
