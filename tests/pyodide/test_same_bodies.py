"""The unit and conformance tests once more, inside Pyodide: one outer test a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.conftest import REPO
from tests.pyodide.conftest import Interpreter

pytestmark = [pytest.mark.host, pytest.mark.pyodide]

HOST_ONLY = re.compile(r"^pytestmark = .*\bmark\.host\b", re.MULTILINE)
LEAST = 1500
"""How many tests must run inside in all, so that an empty collection cannot pass."""


def files() -> list[Path]:
    """Test files whose imports work inside: those not marked `host` as a whole."""
    found = [f for room in ("unit", "conformance") for f in sorted((REPO / "tests" / room).rglob("test_*.py"))]
    return [f for f in found if not HOST_ONLY.search(f.read_text(encoding="utf-8"))]


def name_of(file: Path) -> str:
    return file.relative_to(REPO / "tests").as_posix()


@pytest.fixture(scope="module")
def passed() -> dict[str, int]:
    """How many tests passed inside, by file."""
    return {}


@pytest.mark.parametrize("file", files(), ids=name_of)
def test_inside_pyodide(pyodide: Interpreter, file: Path, passed: dict[str, int]) -> None:
    told = pyodide.pytest("-m", "not host", f"tests/{name_of(file)}")
    passed[name_of(file)] = told["passed"]
    if told["failures"] or told["exit"] not in (0, 5):
        texts = "\n\n".join(f"{failure['test']}\n{failure['text']}" for failure in told["failures"])
        pytest.fail(f"{told['failed']} failed inside Pyodide:\n{texts or told['output']}", pytrace=False)
    print(f"inside Pyodide: {told['passed']} passed, {told['skipped']} skipped, {told['deselected']} host only")
    # A whole file may be skipped, for want of a package that is not in Pyodide.
    assert told["passed"] or told["skipped"] or told["deselected"] or "1 skipped" in told["output"], told["output"]


def test_enough_ran(passed: dict[str, int], request: pytest.FixtureRequest) -> None:
    if len(passed) < len(files()):
        pytest.skip("only some of the files were selected")
    assert sum(passed.values()) >= LEAST, passed
