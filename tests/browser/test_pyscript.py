"""The PyScript pages: Python on the page and in a worker streams a typed query, with no network but the folder's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import BrowserContext, Page, expect
from tests.browser.conftest import Watch
from tests.conftest import REPO, is_loopback
from tests.tools.provider import END, Provider, pieces
from tests.tools.static_server import ISOLATION, serve_folder

ANSWER = '{"city": "Kyoto", "days": 4, "sights": ["Fushimi Inari", "Kinkaku-ji"], "tip": "Start early."}'
RESULT = "Trip(city='Kyoto', days=4, sights=['Fushimi Inari', 'Kinkaku-ji'], tip='Start early.')"
PAGES = ["pyscript.html", "pyscript-worker.html"]
PROGRAMS = [REPO / "web" / "demo" / "pyscript_page.py", REPO / "workers" / "pyscript_worker.py"]
pytestmark = [pytest.mark.host, pytest.mark.browser]


@pytest.fixture(scope="session")
def folder_below_the_root(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """F47: the folder is not the root of its server."""
    root = tmp_path_factory.mktemp("site")
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "unspool here").symlink_to(dist)
    with serve_folder(root, headers=ISOLATION) as base_url:
        yield f"{base_url}/a/b/unspool%20here"


async def open_page(context: BrowserContext, site: str, name: str, provider: Provider) -> Page:
    """Open a page in a browser that reaches this machine alone, and wait until its Python is ready."""
    await context.route(lambda url: url.startswith("http") and not is_loopback(url.split("/")[2].split(":")[0]), refuse)
    page = await context.new_page()
    await page.goto(f"{site}/{name}?{urlencode({'server': provider.base_url, 'model': 'tiny'})}")
    await state(page, "ready")
    return page


async def refuse(route: object) -> None:
    await route.abort()  # type: ignore[attr-defined]


async def state(page: Page, wanted: str) -> None:
    await expect(page.locator("#status")).to_have_attribute("data-state", wanted, timeout=60_000)


@pytest.mark.parametrize("name", PAGES)
async def test_fields_fill_in_while_the_model_writes(
    context: BrowserContext, watch: Watch, isolated_site: str, provider: Provider, name: str
) -> None:
    gate = asyncio.Event()
    cut = ANSWER.index("kaku-ji")
    provider.say(*pieces(ANSWER[:cut], 7), gate, *pieces(ANSWER[cut:], 7), END)
    page = await open_page(context, isolated_site, name, provider)
    await page.fill("#prompt", "Where to?")
    await page.click("#ask")
    city, sights, tip = (page.locator(f"[data-field={field}]") for field in ("city", "sights", "tip"))
    await expect(sights).to_have_text("Fushimi Inari · Kin")
    await expect(sights).to_have_attribute("data-state", "writing")
    await expect(city).to_have_text("Kyoto")
    await expect(city).to_have_attribute("data-state", "complete")
    await expect(tip).to_have_text("")
    await expect(page.locator("#ask")).to_be_disabled()
    gate.set()
    await state(page, "done")
    await expect(page.locator("#status")).to_have_text(RESULT)
    await expect(tip).to_have_text("Start early.")
    await expect(page.locator("#ask")).to_be_enabled()
    sent = (await provider.request()).json
    assert sent["model"] == "tiny"
    assert sent["stream"] is True
    assert "Where to?" in str(sent["messages"])
    shown = await page.locator("#program").text_content()
    assert shown in {file.read_text(encoding="utf-8") for file in PROGRAMS}

    # A failure is told by its code, and Python goes on.
    provider.say(b'{"error": {"message": "no such model"}}', status=404)
    provider.say_text(ANSWER.replace("4", "0"))
    provider.say_text(ANSWER)
    for wanted, words in (("failed", "MODEL_NOT_FOUND: "), ("failed", "OUTPUT_INVALID: "), ("done", RESULT)):
        await page.click("#ask")
        await expect(page.locator("#status")).to_contain_text(words)
        await state(page, wanted)
    assert watch.elsewhere() == []


async def test_folder_may_lie_anywhere(
    context: BrowserContext, watch: Watch, folder_below_the_root: str, provider: Provider
) -> None:
    """F47: PyScript's worker starts from a blob, where a relative address leads nowhere."""
    provider.say_text(ANSWER)
    page = await open_page(context, folder_below_the_root, "pyscript-worker.html", provider)
    await page.click("#ask")
    await state(page, "done")
    assert all(url.startswith((folder_below_the_root, provider.base_url, "blob:", "data:")) for url in watch.requests)


async def test_page_needs_no_isolation(context: BrowserContext, watch: Watch, site: str, provider: Provider) -> None:
    """Only the worker needs the COOP and COEP headers."""
    provider.say_text(ANSWER)
    page = await open_page(context, site, "pyscript.html", provider)
    assert await page.evaluate("crossOriginIsolated") is False
    await page.click("#ask")
    await state(page, "done")
