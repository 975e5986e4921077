"""`micropip.install("unspool")` in Pyodide: out of the folder, and beside a stock lock whose pydantic must stay."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page
from tests.browser.conftest import Watch
from tests.conftest import is_loopback
from tests.tools.static_server import serve_folder
from tests.tools.wheel import write_wheel

from unspool.cli.bundle import RUNTIME_FILES
from unspool.cli.wheels import sha256

pytestmark = [pytest.mark.host, pytest.mark.browser]

RUN = """async ([index, code]) => {
  const { loadPyodide } = await import(`${index}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: index });
  await pyodide.loadPackage("micropip");
  return await pyodide.runPythonAsync(code);
}"""

TYPED_QUERY = """
import json
import unspool as us
from pydantic import BaseModel

class Trip(BaseModel):
    city: str
    days: int

lm = us.testing.StaticResponse('{"city": "Kyoto", "days": 4}')
trip = await us.query("Where to?", Trip, lm=lm)
"""

VERSIONS = """
from importlib.metadata import version
told = {name: version(name) for name in ("unspool", "pydantic", "pydantic_core")}
"""


async def run(page: Page, index: str, code: str) -> Any:
    return json.loads(await page.evaluate(RUN, [index, code]))


async def refuse_other_machines(context: BrowserContext) -> None:
    async def refuse(route: Any) -> None:
        await route.abort()

    await context.route(lambda url: url.startswith("http") and not is_loopback(url.split("/")[2].split(":")[0]), refuse)


async def test_install_by_name_out_of_the_folder(context: BrowserContext, page: Page, watch: Watch, site: str) -> None:
    """F41: one pure wheel and the lock are enough; no other package, no network."""
    await refuse_other_machines(context)
    code = f"""
import micropip
await micropip.install("unspool")
{TYPED_QUERY}
names = sorted(package.name for package in micropip.list().values())
json.dumps([trip.model_dump(), names])
"""
    trip, names = await run(page, f"{site}/pyodide/", code)
    assert trip == {"city": "Kyoto", "days": 4}
    pair = ["pydantic", "pydantic-core"]
    others = ["annotated-types", "typing-extensions", "typing-inspection"]
    assert sorted(name.replace("_", "-") for name in names) == sorted(["micropip", "unspool", *pair, *others])
    assert watch.elsewhere() == []


@pytest.fixture(scope="session")
def stock(dist: Path, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stock Pyodide: the lock as npm has it, with the pydantic pair of its own; its wheels are empty stand-ins.

    They hold no code, since the wheel of that core is in no registry: what is tested is what gets chosen.
    """
    folder = tmp_path_factory.mktemp("stock")
    for name in RUNTIME_FILES:
        shutil.copy(dist / "pyodide" / name, folder)
    lock = json.loads((repo / "web" / "node_modules" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    for name in ("pydantic", "pydantic-core", "annotated-types", "typing-extensions", "typing-inspection"):
        package = lock["packages"][name]
        module = name.replace("-", "_")
        tag = package["file_name"].removesuffix(".whl").split("-", 2)[2]
        wheel = write_wheel(folder, module, package["version"], tag=tag)
        assert wheel.name == package["file_name"]
        package["sha256"] = sha256(wheel)
    (micropip,) = (dist / "pyodide").glob("micropip-*.whl")
    shutil.copy(micropip, folder)
    lock["packages"]["micropip"] |= {"file_name": micropip.name, "sha256": sha256(micropip)}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    (ours,) = (dist / "pyodide").glob("unspool-*.whl")
    shutil.copy(ours, folder)
    with serve_folder(folder, pages={"/blank.html": "<!doctype html><title>stock</title>"}) as base_url:
        yield f"{base_url}/"


async def test_the_pydantic_of_a_stock_lock_stays(
    context: BrowserContext, watch: Watch, stock: str, repo: Path, dist: Path
) -> None:
    """F40: our metadata accepts the bundled pair; micropip asks no index for another."""
    await refuse_other_machines(context)
    page = await context.new_page()
    await page.goto(f"{stock}blank.html")
    (ours,) = (dist / "pyodide").glob("unspool-*.whl")
    code = f"""
import json, micropip
await micropip.install({stock + ours.name!r})
{VERSIONS}
import unspool
json.dumps([told, unspool.__version__])
"""
    told, version = await run(page, stock, code)
    lock = json.loads((repo / "web" / "node_modules" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    assert told["pydantic"] == lock["packages"]["pydantic"]["version"]
    assert told["pydantic_core"] == lock["packages"]["pydantic-core"]["version"]
    assert told["unspool"] == version
    assert watch.elsewhere() == []
