"""The self-hosted folder as `make dist` leaves it: complete, consistent, and free of other machines."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from unspool.cli.bundle import RUNTIME_FILES
from unspool.cli.wheels import read_metadata, sha256

pytestmark = pytest.mark.host

OURS = ("unspool", "annotated-types", "micropip", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection")


@pytest.fixture(scope="module")
def lock(dist: Path) -> dict[str, Any]:
    return json.loads((dist / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))


def test_runtime_is_there_unchanged(dist: Path, repo: Path) -> None:
    for name in RUNTIME_FILES:
        assert sha256(dist / "pyodide" / name) == sha256(repo / "web" / "node_modules" / "pyodide" / name), name


def test_lock_is_for_the_same_interpreter(lock: dict[str, Any], repo: Path) -> None:
    stock = json.loads((repo / "web" / "node_modules" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    assert lock["info"] == stock["info"]


def test_lock_names_what_is_in_the_folder(dist: Path, lock: dict[str, Any]) -> None:
    """Pyodide checks each wheel against the lock's hash, and asks its network for names without a file."""
    assert set(lock["packages"]) == set(OURS)
    for name, package in lock["packages"].items():
        assert package["name"] == name
        assert "/" not in package["file_name"]
        assert sha256(dist / "pyodide" / package["file_name"]) == package["sha256"]
        assert set(package["depends"]) <= set(lock["packages"])
    named = {package["file_name"] for package in lock["packages"].values()}
    assert {path.name for path in (dist / "pyodide").glob("*.whl")} == named


def test_pydantic_and_its_core_belong_together(dist: Path, lock: dict[str, Any]) -> None:
    """F40: pydantic names one exact version of its core and refuses to start with another."""
    packages = lock["packages"]
    requires = read_metadata(dist / "pyodide" / packages["pydantic"]["file_name"]).requires_dist or []
    (core,) = [need for need in requires if canonicalize_name(need.name) == "pydantic-core"]
    assert str(core.specifier) == f"=={packages['pydantic-core']['version']}"
    _, _, _, tags = parse_wheel_filename(packages["pydantic-core"]["file_name"])
    assert [str(tag) for tag in tags] == ["cp314-cp314-pyemscripten_2026_0_wasm32"]


def test_our_wheel_needs_only_pydantic(dist: Path, lock: dict[str, Any]) -> None:
    """F41; and F40: the lower bound is met by what a stock Pyodide brings."""
    metadata = read_metadata(dist / "pyodide" / lock["packages"]["unspool"]["file_name"])
    plain = [need for need in metadata.requires_dist or [] if need.marker is None]
    assert plain == [Requirement("pydantic>=2.12")]
    assert lock["packages"]["unspool"]["depends"] == ["pydantic"]


@pytest.mark.parametrize("name", OURS)
def test_wheels_bring_bytecode_for_every_module(dist: Path, lock: dict[str, Any], name: str) -> None:
    with zipfile.ZipFile(dist / "pyodide" / lock["packages"][name]["file_name"]) as archive:
        names = set(archive.namelist())
        sources = {entry for entry in names if entry.endswith(".py")}
        for source in sources:
            folder, _, module = source.rpartition("/")
            inside = f"{folder}/" if folder else ""
            bytecode = f"{inside}__pycache__/{module.removesuffix('.py')}.cpython-314.pyc"
            assert bytecode in names
            assert archive.read(bytecode)[4:8] == b"\x01\0\0\0", "not an unchecked hash (PEP 552)"
    assert sources


def test_parts_are_there(dist: Path) -> None:
    parts = ["unspool/index.js", "unspool/unspool.worker.js", "pyscript/core.js", "pyscript/core.css"]
    parts += ["pyscript/LICENSE", "wllama/LICENSE", "wllama/index.js", "wllama/wasm/wllama.wasm"]
    parts += ["pyscript.html", "pyscript-worker.html", "pyscript_worker.py"]
    assert [part for part in parts if not (dist / part).is_file()] == []


def test_nothing_is_there_that_no_page_asks_for(dist: Path) -> None:
    """Declarations stand beside the shim's modules, for pages that import them by address and are checked by tsc."""
    suffixes = {path.suffix for path in dist.rglob("*") if path.is_file()}
    assert not suffixes & {".map", ".pyc", ".md", ".tgz"}
    sources = {path.relative_to(dist).parts[0] for path in dist.rglob("*.ts")}
    assert sources == {"unspool"}
    assert all(path.name.endswith(".d.ts") for path in dist.rglob("*.ts"))
    assert sum(path.stat().st_size for path in dist.rglob("*") if path.is_file()) < 40_000_000


def test_pages_refer_to_files_of_the_folder(dist: Path) -> None:
    """By relative addresses, so that the folder may lie anywhere on its server (F47)."""
    seen = 0
    for page in dist.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        for address in re.findall(r"""\b(?:src|href|config)="([^"#]+)["#]""", text):
            if urlsplit(address).scheme:
                assert address.startswith("data:"), f"{page.name}: {address}"
                continue
            assert not address.startswith("/"), f"{page.name}: {address}"
            assert (dist / address.partition("?")[0]).exists(), f"{page.name}: {address}"
            seen += 1
    assert seen


def test_modules_import_files_of_the_folder(dist: Path) -> None:
    seen = 0
    for module in (dist / "unspool").glob("*.js"):
        text = module.read_text(encoding="utf-8")
        for address in re.findall(r'^(?:import|export) [^"\n]*"([^"]+)";$', text, re.MULTILINE):
            assert address.startswith("./"), f"{module.name}: {address}"
            assert (module.parent / address).is_file(), f"{module.name}: {address}"
            seen += 1
    assert seen


def test_nothing_of_ours_names_another_machine(dist: Path) -> None:
    """Examples in documentation strings aside, no file of ours holds an address to load something from."""
    ours = [*dist.glob("*.*"), *(dist / "unspool").glob("*")]
    found: list[str] = []
    for file in ours:
        if file.suffix in (".html", ".js", ".css", ".json"):
            for host in re.findall(r"""["'(]https?://([^/"'\s:)]+)""", file.read_text(encoding="utf-8")):
                found += [f"{file.name}: {host}"] if host not in ("127.0.0.1", "localhost", "www.w3.org") else []
    assert found == []


RUN_IN_NODE = """
const [runtime] = process.argv.slice(1);
globalThis.fetch = () => { throw new Error("there is no network"); };
const { loadPyodide } = await import(runtime + "/pyodide.mjs");
const pyodide = await loadPyodide({ indexURL: runtime, packages: ["unspool"] });
console.log(await pyodide.runPythonAsync(`
import json, sys
import unspool
light = sorted(name for name in sys.modules if name.startswith("pydantic"))
import unspool.functions, pydantic
json.dumps([unspool.__file__, unspool.__cached__.endswith(".pyc"), light, pydantic.VERSION])
`));
"""


def node(dist: Path, script: str) -> Any:
    """Run a module in Node over the folder; give the JSON of its last line."""
    command = ["node", "--input-type=module", "--eval", script, "--", str(dist / "pyodide")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=dist)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_folder_starts_in_node_without_a_network(dist: Path, lock: dict[str, Any]) -> None:
    file, compiled, imported_by_us, version = node(dist, RUN_IN_NODE)
    assert file.startswith("/lib/python3.14/site-packages/unspool/")
    assert compiled
    assert imported_by_us == []
    assert version == lock["packages"]["pydantic"]["version"]


SNAPSHOT_IN_NODE = """
const { readFileSync, readdirSync } = await import("node:fs");
const [runtime] = process.argv.slice(1);
const { loadPyodide } = await import(runtime + "/pyodide.mjs");
const before = await loadPyodide({ indexURL: runtime, _makeSnapshot: true });
// Not by loadPackage, which leaves JavaScript objects of its own behind.
const wheel = readdirSync(runtime).find((name) => name.startsWith("unspool-"));
before.FS.writeFile("/wheel.zip", new Uint8Array(readFileSync(`${runtime}/${wheel}`)));
before.runPython(`
import site, zipfile
zipfile.ZipFile("/wheel.zip").extractall(site.getsitepackages()[0])
import unspool.bridge, unspool.functions, unspool.llms, unspool.testing, unspool.transport.fetch
`);
const snapshot = before.makeMemorySnapshot();
const after = await loadPyodide({ indexURL: runtime, _loadSnapshot: snapshot });
console.log(await after.runPythonAsync(`
import json, unspool as us
message = await us.testing.StaticResponse("restored").call("?")
json.dumps(message.text)
`));
"""


def test_import_leaves_no_javascript_object_behind(dist: Path) -> None:
    """F48: a memory snapshot refuses any; a stream runs after it is restored."""
    assert node(dist, SNAPSHOT_IN_NODE) == "restored"
