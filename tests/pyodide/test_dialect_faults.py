"""Faults in every dialect, over the fetch transport inside Pyodide in Node (F6, F7, F10, F11, F38)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.conftest import REPO
from tests.pyodide.bodies import dialect_faults as bodies
from tests.pyodide.conftest import Interpreter
from tests.tools.dialects import DIALECTS

pytestmark = [pytest.mark.host, pytest.mark.pyodide]


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """URL of the server. It is a process of its own: this one waits for Node."""
    command = [sys.executable, "-m", "tests.tools.dialect_faults"]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate(timeout=20)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_faults(pyodide: Interpreter, root: str, dialect: str) -> None:
    pyodide.body(bodies.__name__, bodies.a_slice_of_all.__name__, root, dialect)
