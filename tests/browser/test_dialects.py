"""Python in a page, cross-origin: faults in every dialect, and llama.cpp's own server through its three APIs.

The bodies are those of tests/pyodide/bodies, over the browser's own `fetch`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser
from tests.browser.client import Client
from tests.browser.conftest import Watch
from tests.conftest import REPO
from tests.pyodide.bodies import dialect_faults, engines, transport_fetch
from tests.tools import dialects
from tests.tools.dialect_faults import dialect_fault
from tests.tools.fault_server import FaultServer
from tests.tools.tiny_model import write_tiny_model

from unspool.cli.engines import llama_server

MODULES = (dialects, transport_fetch, dialect_faults, engines)
RUN = """
async def run(module, name, arguments):
    import importlib, traceback
    try:
        await getattr(importlib.import_module(module), name)(*arguments)
    except BaseException:
        return traceback.format_exc()
    return ""

"""


class Inside:
    """Python in one page, with the bodies in it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def install(self) -> None:
        files = [Path(str(module.__file__)).relative_to(REPO).as_posix() for module in MODULES]
        sources = {file: (REPO / file).read_text(encoding="utf-8") for file in files}
        await self.client.call(
            "probe",
            f"""
            for (const [path, text] of Object.entries({json.dumps(sources)})) {{
              pyodide.FS.mkdirTree("/repo/" + path.slice(0, path.lastIndexOf("/")));
              pyodide.FS.writeFile("/repo/" + path, text);
            }}
            pyodide.runPython('import sys; sys.path.insert(0, "/repo")');
            """,
        )

    async def body(self, function: Callable[..., Any], *arguments: str) -> None:
        """Run one of the bodies; fails with the text of its failure."""
        call = f"told = await run({function.__module__!r}, {function.__name__!r}, {arguments!r})\ntold"
        failure = await self.client.call("probe", f"pyodide.runPythonAsync({json.dumps(RUN + call)})")
        if failure:
            pytest.fail(f"inside the page:\n{failure}", pytrace=False)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def inside(browser: Browser, site: str) -> AsyncIterator[Inside]:
    context = await browser.new_context()
    context.set_default_timeout(60_000)
    seen = Watch(context)
    page = await context.new_page()
    await page.goto(f"{site}/blank.html")
    client = Client(page)
    started = await client.start("page")
    assert "versions" in started, started
    made = Inside(client)
    await made.install()
    yield made
    await context.close()
    seen.check()


@pytest_asyncio.fixture(loop_scope="session")
async def faults() -> AsyncIterator[str]:
    async with FaultServer(dialect_fault) as server:
        yield server.url


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")) as url:
        yield url


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """It knows tools."""
    with llama_server(write_tiny_model(tmp_path_factory.mktemp("model") / "caller.gguf", tools=True)) as url:
        yield url


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
async def test_faults(inside: Inside, faults: str, dialect: str) -> None:
    await inside.body(dialect_faults.a_slice_of_all, faults, dialect)


@pytest.mark.engine
@pytest.mark.parametrize("dialect", engines.DIALECTS)
async def test_engine(inside: Inside, tiny: str, dialect: str) -> None:
    for body in engines.EACH:
        await inside.body(body, tiny, dialect)


@pytest.mark.engine
@pytest.mark.parametrize("dialect", engines.DIALECTS)
async def test_engine_that_knows_tools(inside: Inside, caller: str, dialect: str) -> None:
    for body in engines.WITH_TOOLS:
        await inside.body(body, caller, dialect)
