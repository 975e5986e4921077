"""The part "parsers" of the tests that run inside Pyodide too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pyodide.conftest import Interpreter
from tests.pyodide.same_bodies import files, name_of, run_inside

pytestmark = [pytest.mark.host, pytest.mark.pyodide]

FILES = files("parsers")
LEAST = 1800
"""How many tests must pass inside in all, so that an empty collection cannot pass."""


@pytest.fixture(scope="module")
def passed() -> dict[Path, int]:
    """How many tests passed inside, by file."""
    return {}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_inside_pyodide(pyodide: Interpreter, file: Path, passed: dict[Path, int]) -> None:
    passed[file] = run_inside(pyodide, file)


def test_enough_ran(passed: dict[Path, int]) -> None:
    if len(passed) < len(FILES):
        pytest.skip("only some of the files were selected, or some failed")
    assert sum(passed.values()) >= LEAST, passed
