"""The bench in Chromium: the modules inside Pyodide in a worker, and what a page shows its visitor."""

from __future__ import annotations

import json
import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright
from tests.bench.figure import Figure
from tests.bench.over_http import SERVED, serving
from tests.browser.conftest import launch
from tests.tools.provider import END, Provider, pieces, provider
from tests.tools.static_server import ISOLATION, serve_folder

HERE = Path(__file__).parent
REPO = HERE.parents[1]
STARTS = 3
LONG_CHARS = 1_000_000
MINUTES = 10

seen_version = ""
"""The browser that was used, once one has been."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    global seen_version
    async with async_playwright() as playwright:
        browser = await launch(playwright, "chromium")
        seen_version = f"Chromium {browser.version}"
        yield browser
        await browser.close()


def served(modules: Sequence[str], bodies: str = "") -> dict[str, str]:
    """What is served beside the self-hosted folder; `bodies` says where `tests.bench.over_http` finds its own."""
    files = [*HERE.glob("*.py"), REPO / "tests" / "support.py", *(REPO / "build" / "peers").rglob("*.py")]
    sources = {file.relative_to(REPO).as_posix(): file.read_text(encoding="utf-8") for file in files}
    sources[SERVED] = bodies
    return {
        "/bench.html": "<!doctype html><html lang=en><meta charset=utf-8><title>bench</title></html>",
        "/bench-worker.mjs": (HERE / "browser_worker.mjs").read_text(encoding="utf-8"),
        "/bench-page.mjs": (HERE / "browser_page.mjs").read_text(encoding="utf-8"),
        "/bench-sources.json": json.dumps({"sources": sources, "modules": list(modules)}),
    }


async def inside_a_worker(modules: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
    """The figures of the modules inside Pyodide in one worker, in one run.

    Raises:
        RuntimeError: with what failed, after the figures of everything that did not.
    """
    if not modules:
        return
    # Cross-origin isolation makes the browser's clock 20 times finer.
    with serving() as bodies, serve_folder(REPO / "dist", headers=ISOLATION, pages=served(modules, bodies)) as base_url:
        async with chromium() as browser:
            page = await browser.new_page()
            page.set_default_timeout(MINUTES * 60_000)
            await page.goto(f"{base_url}/bench.html")
            told = await page.evaluate(
                """() => new Promise((resolve, reject) => {
                    const told = [];
                    const worker = new Worker("/bench-worker.mjs", { type: "module" });
                    worker.onerror = (event) => reject(new Error(event.message));
                    worker.onmessage = ({ data }) => (data === null ? resolve(told) : told.push(data));
                })"""
            )
    failures: list[str] = []
    for text in told:
        module = json.loads(text)
        failures += [module["failed"]] if "failed" in module else []
        for figure in module.get("figures", ()):
            yield figure
    if failures:
        raise RuntimeError("\n".join(failures))


def long_answer(chars: int = LONG_CHARS) -> str:
    """A JSON answer of about so many characters."""
    items = [f"item {number}: a line of text as a model writes it" for number in range(chars // 55)]
    return json.dumps({"items": items})


async def page_figures() -> AsyncIterator[Figure]:
    """From navigation to ready, to the first event, and the page's own thread while a long answer streams."""
    with serve_folder(REPO / "dist", pages=served(())) as base_url:
        async with chromium() as browser, provider() as server:
            starts = [await _start(browser, base_url, server) for _ in range(STARTS)]
            for name, key in (("navigation to ready", "ready"), ("navigation to the first event", "firstEvent")):
                value = statistics.median(start[key] for start in starts)
                yield Figure(name=f"page: {name}, empty cache", realm="page", value=round(value, 1), unit="ms")
            page = await browser.new_page()
            page.set_default_timeout(MINUTES * 60_000)
            await page.goto(f"{base_url}/bench.html")
            server.say_text('{"items": []}')
            await page.evaluate("async (url) => (await import('/bench-page.mjs')).start(url)", server.base_url)
            answer = long_answer()
            server.say(*pieces(answer, 64), END)
            told = await page.evaluate("async (url) => (await import('/bench-page.mjs')).long(url)", server.base_url)
            assert told["type"] == "generationComplete", told
            longest = told["longest"]
            yield Figure(
                name="page: longest task on the main thread while 1 MB streams in the worker",
                realm="page",
                value=round(longest, 1),
                unit="ms",
                target="<= 50 ms",
                ok=longest <= 50,
            )
            yield Figure(
                name=f"page: 1 MB answer, {told['events']} events, to the page",
                realm="page",
                value=round(told["took"], 1),
                unit="ms",
            )


async def _start(browser: Browser, base_url: str, server: Provider) -> dict[str, float]:
    """One visit with nothing cached."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{base_url}/bench.html")
    server.say_text('{"items": ["one", "two"]}')
    started = await page.evaluate("async (url) => (await import('/bench-page.mjs')).start(url)", server.base_url)
    await context.close()
    return dict(started)
