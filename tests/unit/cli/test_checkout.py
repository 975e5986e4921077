"""The checkout: what is missing is named, with what to do about it."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from unspool.cli.checkout import BuildError, Checkout, run, tool

pytestmark = pytest.mark.host


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with `web/` and one npm package."""
    (tmp_path / "workers").mkdir()
    package = tmp_path / "web" / "node_modules" / "pyodide"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "1.2.3"}')
    locked = {"packages": {"node_modules/pyodide": {"version": "1.2.3"}}}
    (tmp_path / "web" / "package-lock.json").write_text(json.dumps(locked))
    return Checkout(tmp_path)


def test_this_package_is_in_a_checkout() -> None:
    assert (Checkout.of_this_package().root / "pyproject.toml").is_file()


def test_npm_package_is_found(checkout: Checkout) -> None:
    assert checkout.npm_package("pyodide") == checkout.web / "node_modules" / "pyodide"


def test_missing_npm_package_is_named(checkout: Checkout) -> None:
    with pytest.raises(BuildError) as caught:
        checkout.npm_package("@pyscript/core")
    assert caught.value.code == "FILE_MISSING"
    assert "web/node_modules/@pyscript/core" in caught.value.message
    assert "npm ci" in caught.value.message


def test_npm_package_of_another_version_is_refused(checkout: Checkout) -> None:
    (checkout.web / "package-lock.json").write_text('{"packages": {"node_modules/pyodide": {"version": "1.2.4"}}}')
    with pytest.raises(BuildError) as caught:
        checkout.npm_package("pyodide")
    assert caught.value.code == "BUILD_FAILED"
    assert "1.2.3" in caught.value.message
    assert "1.2.4" in caught.value.message


def fake_npm(checkout: Checkout, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder = checkout.root / "bin"
    folder.mkdir()
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_shim_is_compiled_when_a_source_is_newer(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_npm(checkout, monkeypatch, 'mkdir -p lib && echo "$@" > lib/index.js && echo built >> log')
    source = checkout.web / "src" / "index.ts"
    source.parent.mkdir()
    source.write_text("")
    assert checkout.shim() == checkout.web / "lib"
    checkout.shim()
    compiled = checkout.web / "lib" / "index.js"
    assert compiled.read_text() == "run --silent build\n"
    (compiled.parent / "gone.js").write_text("")
    later = compiled.stat().st_mtime + 10
    os.utime(source, (later, later))
    checkout.shim()
    assert (checkout.web / "log").read_text() == "built\n" * 2
    assert [path.name for path in compiled.parent.iterdir()] == ["index.js"]


def test_compiler_words_are_in_the_error(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_npm(checkout, monkeypatch, "echo 'src/index.ts(1,1): error TS1005'; exit 2")
    with pytest.raises(BuildError) as caught:
        checkout.shim()
    assert caught.value.code == "BUILD_FAILED"
    assert "TS1005" in caught.value.message
    assert "exit code 2" in caught.value.message


def test_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError) as caught:
        tool("node")
    assert caught.value.code == "TOOL_MISSING"
    assert "`node`" in caught.value.message


def test_run_gives_lines_as_they_come(tmp_path: Path) -> None:
    lines: list[str] = []
    run([sys.executable, "-c", "print('a'); print('b')"], cwd=tmp_path, on_line=lines.append)
    assert lines == ["a", "b"]


def test_run_keeps_the_end_of_a_long_output(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        run([sys.executable, "-c", "[print('x' * 9999, n) for n in range(99)]; print('end'); exit(3)"], cwd=tmp_path)
    assert caught.value.message.endswith("end")
    assert len(caught.value.message) < 12_000


def test_two_processes_do_not_build_at_once(checkout: Checkout) -> None:
    order: list[str] = []

    def second() -> None:
        with checkout.alone():
            order.append("second")

    with checkout.alone():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
