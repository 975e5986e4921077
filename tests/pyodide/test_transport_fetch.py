"""The fetch transport inside Pyodide in Node, against a real server that misbehaves (field reports F6-F11, F43-F45)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.conftest import REPO
from tests.pyodide.bodies import transport_fetch as bodies
from tests.pyodide.conftest import Interpreter

pytestmark = [pytest.mark.host, pytest.mark.pyodide]


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """URL of the server. It is a process of its own: this one waits for Node."""
    command = [sys.executable, str(REPO / "tests" / "tools" / "fault_server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate(timeout=20)


@pytest.mark.parametrize("fault", bodies.FAULTS)
def test_fault(pyodide: Interpreter, root: str, fault: str) -> None:
    pyodide.body(bodies.__name__, "meets_fault", root, fault)


@pytest.mark.parametrize("body", [*bodies.EVERYWHERE, *bodies.FETCH_ONLY], ids=lambda body: body.__name__)
def test_body(pyodide: Interpreter, root: str, body: object) -> None:
    pyodide.body(bodies.__name__, body.__name__, root)  # type: ignore[attr-defined]
