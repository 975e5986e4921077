"""The npm package as an application gets it: packed, installed without a network, and used as docs/workers.md says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conftest import REPO

pytestmark = pytest.mark.host

WEB = REPO / "web"
TSC = WEB / "node_modules" / ".bin" / "tsc"


def run(command: Sequence[str | Path], cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def section(heading: str) -> dict[str, str]:
    """The code blocks of a section of docs/workers.md, by their languages."""
    text = (REPO / "docs" / "workers.md").read_text(encoding="utf-8")
    body = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^```(\w+)\n(.*?)^```$", body, re.M | re.S))


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    source = folder / "web"  # a copy: other tests are using what is compiled in the tree
    ignored = shutil.ignore_patterns("node_modules", "build", "test", "test-sdks", "demo")
    shutil.copytree(WEB, source, ignore=ignored)
    shutil.copytree(REPO / "workers", folder / "workers")
    shutil.copy(REPO / "LICENSE", folder)
    (source / "node_modules").symlink_to(WEB / "node_modules")
    run(["npm", "pack", "--silent", "--pack-destination", folder], source)
    [packed] = folder.glob("unspool-*.tgz")
    return packed


@pytest.fixture(scope="module")
def application(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The application of the section "Vite and TypeScript", with the package installed."""
    blocks = section("Vite and TypeScript")
    folder = tmp_path_factory.mktemp("application")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    (folder / "tsconfig.json").write_text(blocks["json"])
    (folder / "src").mkdir()
    (folder / "src" / "main.ts").write_text(blocks["ts"])
    run(["npm", "install", "--offline", "--no-audit", "--no-fund", tarball], folder)
    return folder


def test_the_tarball_holds_the_package_and_no_more(application: Path) -> None:
    installed = application / "node_modules" / "unspool"
    assert {path.name for path in installed.iterdir()} == {"package.json", "lib", "README.md", "LICENSE"}
    assert (installed / "LICENSE").read_bytes() == (REPO / "LICENSE").read_bytes()
    assert {path.suffix for path in (installed / "lib").iterdir()} == {".js", ".ts"}
    for entry in ("index", "unspool.worker"):
        assert (installed / "lib" / f"{entry}.js").is_file()
        assert (installed / "lib" / f"{entry}.d.ts").is_file()


def test_the_documented_application_is_typed(application: Path) -> None:
    options = json.loads((application / "tsconfig.json").read_text())["compilerOptions"]
    assert options["strict"]
    assert options["exactOptionalPropertyTypes"]
    assert "skipLibCheck" not in options
    run([TSC], application)


def test_the_example_of_its_readme_is_typed(application: Path) -> None:
    text = (application / "node_modules" / "unspool" / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^```ts\n(.*?)^```$", text, re.M | re.S)
    page = application / "src" / "readme.ts"
    page.write_text(example)
    try:
        run([TSC], application)
    finally:
        page.unlink()


def test_the_documented_loop_of_tools_is_typed(application: Path) -> None:
    loop = application / "src" / "tools.ts"
    loop.write_text(
        'import type { Model, Part, PromptMessage, Unspool } from "unspool";\n'
        "declare const WeatherArgs: { parse(given: unknown): { city: string } };\n"
        "declare function weather(args: { city: string }): Promise<string>;\n"
        "export async function ask(us: Unspool, lm: Model, signal?: AbortSignal): Promise<string> {\n"
        f"{section('call, and tools')['ts']}\n"
        'throw new Error("no end");\n}\n'
    )
    try:
        run([TSC], application)
    finally:
        loop.unlink()


def test_it_is_typed_as_node_resolves_it_too(application: Path) -> None:
    run([TSC, "--module", "NodeNext", "--moduleResolution", "NodeNext"], application)
    print_names = "console.log(Object.keys(await import('unspool')).sort().join())"
    found = run(["node", "--input-type=module", "-e", print_names], application)
    assert found.strip() == "PartialValue,UnspoolError,connect,isUnspoolError"


def test_a_wrong_option_is_named(application: Path) -> None:
    wrong = application / "src" / "wrong.ts"
    wrong.write_text(
        'import type { Unspool } from "unspool";\n'
        "declare const us: Unspool;\n"
        'us.readStructured([], { integration: "opnai" });\n'
        'us.call({ prompt: "p", lm: () => [], toolChoise: "f" });\n'
    )
    try:
        done = subprocess.run([TSC], cwd=application, capture_output=True, text=True, timeout=300)
    finally:
        wrong.unlink()
    assert done.returncode
    assert """Did you mean '"openai"'""" in done.stdout
    assert "Did you mean to write 'toolChoice'" in done.stdout


def test_the_self_hosted_folder_is_typed(dist: Path, tmp_path: Path) -> None:
    """`/lib/unspool/index.js`, for pages without a bundler: the declarations lie beside the modules."""
    blocks = section("Without a bundler")
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "lib").symlink_to(dist)
    (tmp_path / "tsconfig.json").write_text(blocks["json"])
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.ts").write_text(blocks["ts"])
    run([TSC], tmp_path)
