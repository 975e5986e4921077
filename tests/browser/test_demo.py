"""The demo page, as somebody uses it, and the command that drives it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from rich.console import Console
from tests.browser.conftest import Watch

from unspool.cli.demo import DemoError, drive
from unspool.cli.scripted import ANSWERS, scripted_provider
from unspool.cli.serve import running, site

READY_MS = 60_000


@contextlib.contextmanager
def demo_site(dist: Path, model: str = "scripted", tokens_per_s: float | None = None) -> Iterator[str]:
    """The demo with a scripted provider that answers in one way."""
    with running(scripted_provider(tokens_per_s=tokens_per_s)) as provider:
        lm = {"provider": "openai-chat", "model": model, "baseURL": f"{provider}/v1"}
        with running(site(dist, {"engine": "scripted", "label": "Scripted", "where": "", "lm": lm})) as url:
            yield url


@pytest.fixture(scope="module")
def url(dist: Path) -> Iterator[str]:
    with demo_site(dist) as base_url:
        yield base_url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def started(browser: Browser, url: str) -> AsyncIterator[Page]:
    """One page that the tests of this file share: Python starts once."""
    context = await browser.new_context()
    seen = Watch(context)
    page = await context.new_page()
    await page.goto(url)
    await expect(page.locator("#run")).to_be_enabled(timeout=READY_MS)
    yield page
    await context.close()
    seen.check()


@pytest_asyncio.fixture(loop_scope="session")
async def opened(started: Page) -> Page:
    """That page, with the first example chosen and nothing asked yet."""
    await started.get_by_role("radio", name="Person").check(force=True)
    await started.get_by_role("radio", name="City").check(force=True)
    await wait_for(started, "empty")
    return started


async def wait_for(page: Page, state: str) -> None:
    await expect(page.locator("#badge")).to_have_attribute("data-state", state, timeout=READY_MS)


async def test_a_value_fills_in(opened: Page) -> None:
    await expect(opened.locator("#engine")).to_have_text("Scripted")
    await opened.click("#run")
    await wait_for(opened, "valid")
    shown = await opened.locator("#value > dl > dd").all_inner_texts()
    city = ANSWERS["City"]
    assert [" ".join(text.split()) for text in shown] == [
        *(city[name] for name in ("city", "country", "continent", "known_for")),
        " ".join(city["sights"]),
    ]
    assert json.loads(await opened.locator("#raw").inner_text()) == city
    last = opened.locator("#events li").last
    await expect(last).to_have_attribute("data-type", "generationComplete")
    await expect(opened.locator("#status")).to_contain_text("validated")
    await expect(opened.locator(".writing")).to_have_count(0)
    await expect(opened.locator("#figures")).to_contain_text("tokens written")


@pytest.mark.parametrize("kind", ["Person", "Event", "Story"])
async def test_every_example_can_be_chosen(opened: Page, kind: str) -> None:
    await opened.get_by_role("radio", name=kind).check(force=True)
    await expect(opened.locator("#answer-title")).to_have_text(kind)
    await expect(opened.locator("#source")).to_contain_text(f"class {kind}(BaseModel):")
    await opened.click("#run")
    await wait_for(opened, "valid")
    text = await opened.locator("#value").inner_text()
    for value in _leaves(ANSWERS[kind]):
        assert str(value) in text


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


@pytest.mark.parametrize("how", ["button", "Escape"])
async def test_stop(page: Page, dist: Path, how: str) -> None:
    with demo_site(dist, "scripted-slow", 100) as base_url:
        await page.goto(base_url)
        await expect(page.locator("#run")).to_be_enabled(timeout=READY_MS)
        await page.click("#run")
        await expect(page.locator(".writing")).to_have_count(1, timeout=READY_MS)
        if how == "button":
            await page.click("#stop")
        else:
            await page.keyboard.press("Escape")
        await wait_for(page, "stopped")
        await expect(page.locator("#events li").last).to_have_attribute("data-type", "cancelled")
        await expect(page.locator("#raw")).not_to_be_empty()
        await expect(page.locator("#run")).to_be_enabled()
        await expect(page.locator("#stop")).to_be_disabled()


@pytest.mark.parametrize(
    ("model", "code"),
    [("scripted-busy", "RATE_LIMIT"), ("scripted-text", "OUTPUT")],
)
async def test_failures_are_shown(page: Page, dist: Path, model: str, code: str) -> None:
    with demo_site(dist, model) as base_url:
        await page.goto(base_url)
        await expect(page.locator("#run")).to_be_enabled(timeout=READY_MS)
        await page.click("#run")
        await wait_for(page, "failed")
        await expect(page.get_by_role("alert")).to_contain_text(code)
        await expect(page.locator("#run")).to_be_enabled()


async def test_keyboard_alone(opened: Page) -> None:
    await opened.focus("#prompt")
    await opened.keyboard.press("Control+Enter")
    await wait_for(opened, "valid")
    assert await opened.evaluate("document.activeElement.id") in ("run", "prompt")


async def test_without_its_settings_it_says_so(page: Page, site: str) -> None:
    """A plain static server has no /config.json."""
    await page.goto(f"{site}/index.html")
    await expect(page.get_by_role("alert")).to_contain_text("unspool serve")


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844), (320, 600)])
async def test_it_fits(opened: Page, width: int, height: int) -> None:
    await opened.set_viewport_size({"width": width, "height": height})
    assert await opened.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_contrast(opened: Page, scheme: Any) -> None:
    """Text stands out from its ground by 4.5 to 1 (WCAG 2.2, 1.4.3); what is disabled need not."""
    await opened.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no color is on its way to another
    await opened.click("#run")
    await wait_for(opened, "valid")
    weak: list[str] = []
    for _ in range(50):  # the page may still be drawing
        weak = await opened.evaluate(
            """() => {
              const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
              const pen = canvas.getContext("2d", { willReadFrequently: true });
              const channels = (color) => {
                pen.clearRect(0, 0, 1, 1);
                pen.fillStyle = color;
                pen.fillRect(0, 0, 1, 1);
                return [...pen.getImageData(0, 0, 1, 1).data];
              };
              const light = ([r, g, b]) => [r, g, b]
                .map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
              const ground = (element) => {
                for (let at = element; at; at = at.parentElement) {
                  const color = channels(getComputedStyle(at).backgroundColor);
                  if (color[3] === 255) return color;
                }
                return [255, 255, 255, 255];
              };
              const weak = [];
              for (const element of document.querySelectorAll("body *")) {
                const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
                if (!own || element.closest(":disabled, .unseen, [hidden], noscript, script")) continue;
                const [a, b] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
                const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (ratio < 4.5) weak.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 90)}`);
              }
              return weak;
            }"""
        )
        if not weak:
            break
        await asyncio.sleep(0.1)
    assert weak == []


async def test_the_command_drives_the_page(url: str, tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=100)
    last = await drive(url, console, tmp_path / "deep" / "demo.png")
    assert last["result"] == ANSWERS["City"]
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Ready." in printed
    assert "fieldEnd           sights[2]" in printed
    assert printed.count("generationComplete") == 1
    assert (tmp_path / "deep" / "demo.png").read_bytes().startswith(b"\x89PNG")


async def test_the_command_fails_with_the_page(dist: Path, tmp_path: Path) -> None:
    with demo_site(dist, "scripted-busy") as base_url, pytest.raises(DemoError, match="RATE_LIMIT") as caught:
        await drive(base_url, Console(file=io.StringIO()), tmp_path / "demo.png")
    assert caught.value.code == "DEMO_FAILED"
    assert (tmp_path / "demo.png").is_file()


@pytest.mark.engine
@pytest.mark.slow
async def test_a_real_model_in_the_page(dist: Path, tmp_path: Path) -> None:
    """What `make demo` does, but for the building."""
    from unspool.cli.checkout import Checkout
    from unspool.cli.demo import Engine, stage

    checkout = Checkout.of_this_package()
    with pytest.MonkeyPatch.context() as patch:
        from unspool.cli import demo
        from unspool.cli.bundle import Bundle

        patch.setattr(demo, "bundle", lambda *_: Bundle(dist, 0, 0, ()))
        with stage(Engine.PAGE, checkout, Console(file=io.StringIO()), host="127.0.0.1", port=0) as base_url:
            assert httpx.head(base_url).status_code == 200
            last = await drive(base_url, Console(file=io.StringIO()), tmp_path / "demo.png")
    assert last["result"]["city"] == "Paris"
    assert last["result"]["country"] == "France"
    assert last["result"]["continent"] == "Europe"
