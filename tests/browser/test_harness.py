"""The harness itself sees what it promises to see: requests of pages and workers, and errors that nobody caught."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page
from tests.browser.conftest import Watch
from tests.tools.provider import Provider

WORKER = """
async () => {
  const code = "fetch('http://example.invalid/from-worker').catch(() => {}).then(() => postMessage('done'))";
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  await new Promise((resolve) => (worker.onmessage = resolve));
}
"""


async def test_requests_that_leave_the_machine_are_seen(page: Page, watch: Watch) -> None:
    assert watch.elsewhere() == []
    await page.evaluate("fetch('http://example.invalid/from-page').catch(() => {})")
    await page.evaluate(WORKER)
    assert watch.elsewhere() == ["http://example.invalid/from-page", "http://example.invalid/from-worker"]
    watch.requests.clear()


async def test_uncaught_errors_are_seen(page: Page, watch: Watch) -> None:
    async with page.context.expect_event("weberror"):
        await page.evaluate("void setTimeout(() => { throw new Error('nobody catches this'); })")
    assert len(watch.errors) == 1
    assert "nobody catches this" in watch.errors[0]
    watch.errors.clear()


async def test_another_async_test_uses_the_same_browser(page: Page, engine: str) -> None:
    assert await page.evaluate("navigator.userAgent.includes('Firefox')") is (engine == "firefox")


async def test_the_provider_answers_a_page_and_sees_it_go_away(page: Page, provider: Provider) -> None:
    gate = asyncio.Event()
    provider.say(b"data: one\n\n", gate, b"data: two\n\n").say(b"data: three\n\n", asyncio.Event())
    script = """
    async (url) => {
      const headers = { authorization: "Bearer x", "content-type": "application/json" };
      window.controller = new AbortController();
      const response = await fetch(url, { method: "POST", body: "{}", headers, signal: controller.signal });
      const reader = response.body.getReader();
      const decode = (slice) => new TextDecoder().decode(slice.value);
      window.reader = reader;
      return decode(await reader.read());
    }
    """
    assert await page.evaluate(script, provider.base_url) == "data: one\n\n"
    gate.set()
    assert await page.evaluate("async () => new TextDecoder().decode((await reader.read()).value)") == "data: two\n\n"
    assert await page.evaluate("async () => (await reader.read()).done")
    first = await provider.request()
    assert first.over.is_set()
    assert first.headers["authorization"] == "Bearer x"
    assert await page.evaluate(script, provider.base_url) == "data: three\n\n"
    await page.evaluate("controller.abort()")
    second = await provider.request(1)
    async with asyncio.timeout(20):
        await second.gone.wait()
