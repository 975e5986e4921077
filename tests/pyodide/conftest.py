"""Pyodide in Node, for tests of this folder: pytest-pyodide's runner over the folder that `make dist` builds."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.conftest import REPO, shared_data_folder

# JavaScript globals that our code uses and that pytest-pyodide's sandbox in Node does not have by itself.
JS_GLOBALS = ["Headers", "Response", "ReadableStream", "URL", "DOMException", "Event", "EventTarget", "queueMicrotask"]


@pytest.fixture(scope="session")
def test_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pytest and what it needs, from wheels for Pyodide that requirements/pyodide-tests.txt pins."""
    from tests.tools.downloads import pyodide_test_wheels

    from unspool.cli.checkout import Checkout

    folder = tmp_path_factory.mktemp("pyodide-packages")
    for wheel in pyodide_test_wheels(Checkout(REPO)):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


TIMEOUT_S = 280
"""For one test inside; below the limit on the test outside, so that the failure names the right one."""


class Interpreter:
    """One Pyodide in a Node process, with the checkout and the test packages mounted."""

    def __init__(self, distribution: Path, packages: Path) -> None:
        from pytest_pyodide.config import get_global_config
        from pytest_pyodide.runner import NodeRunner

        config = get_global_config()
        config.node_extra_globals = list(JS_GLOBALS)
        self._runner = NodeRunner(0, dist_dir=distribution, load_pyodide=True)
        self._runner.set_script_timeout(TIMEOUT_S)
        self._runner.p.timeout = TIMEOUT_S
        mounts = {"/repo/tests": REPO / "tests", "/repo/pyodide_pkg": REPO / "pyodide_pkg", "/packages": packages}
        if data := shared_data_folder():
            mounts["/data"] = data
        for inside, outside in mounts.items():
            self.js(f"pyodide.mountNodeFS({json.dumps(inside)}, {json.dumps(str(outside))})")
        self.js(f"pyodide.FS.writeFile('/repo/pyproject.toml', {json.dumps((REPO / 'pyproject.toml').read_text())})")
        self._runner.load_package(["pydantic"])
        self.python(
            f"""
            import os, sys
            sys.path[:0] = ["/repo", "/repo/pyodide_pkg", "/packages"]
            sys.dont_write_bytecode = True
            os.chdir("/repo")
            os.environ["CI"] = {os.environ.get("CI", "")!r}
            if {bool(shared_data_folder())}:
                os.environ["UNSPOOL_TEST_DATA"] = "/data"
            from tests.pyodide.inside import run_body, run_pytest
            """
        )

    def js(self, code: str) -> Any:
        return self._runner.run_js(code)

    def python(self, code: str) -> Any:
        return self._runner.run(code)

    def python_async(self, code: str) -> Any:
        return self._runner.run_async(code)

    def pytest(self, *arguments: str) -> dict[str, Any]:
        """Run pytest inside; give what `run_pytest` tells."""
        return cast(dict[str, Any], json.loads(self.python(f"run_pytest({list(arguments)!r})")))

    def body(self, module: str, name: str, *arguments: Any) -> None:
        """Run one async function of a module inside, on Pyodide's own loop. Fails with the text of its failure."""
        failure = self.python_async(f"await run_body({module!r}, {name!r}, {list(arguments)!r})")
        if failure:
            pytest.fail(f"inside Pyodide:\n{failure}", pytrace=False)

    def close(self) -> None:
        self._runner.quit()
        self._runner.p.close(force=True)


@pytest.fixture(scope="module")
def pyodide(dist: Path, test_packages: Path) -> Iterator[Interpreter]:
    """An interpreter for the tests of one file."""
    interpreter = Interpreter(dist / "pyodide", test_packages)
    yield interpreter
    interpreter.close()
