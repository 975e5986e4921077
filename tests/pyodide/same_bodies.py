"""The unit and conformance tests once more, inside Pyodide: one outer test a file.

A module of tests has an interpreter of its own, and the modules run side by side: three parts of about the same length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import REPO
from tests.pyodide.conftest import Interpreter

TESTS = REPO / "tests"
HOST_ONLY = re.compile(r"^pytestmark = .*\bmark\.host\b", re.MULTILINE)
PARSERS = ("unit/schema/", "unit/structured/")


def files(part: str) -> list[Path]:
    """Test files of one part whose imports work inside: those not marked `host` as a whole.

    Args:
        part: "conformance", "parsers" or "unit": what is in neither of the others.
    """
    return [file for file, its_part in _all() if its_part == part]


def _all() -> Iterator[tuple[Path, str]]:
    for room in ("unit", "conformance"):
        for file in sorted((TESTS / room).rglob("test_*.py")):
            if not HOST_ONLY.search(file.read_text(encoding="utf-8")):
                yield file, "parsers" if name_of(file).startswith(PARSERS) else room


def name_of(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def run_inside(pyodide: Interpreter, file: Path) -> int:
    """Run the tests of a file inside; give how many passed."""
    told = pyodide.pytest("-m", "not host", f"tests/{name_of(file)}")
    if told["failures"] or told["exit"] not in (0, 5):
        texts = "\n\n".join(f"{failure['test']}\n{failure['text']}" for failure in told["failures"])
        pytest.fail(f"{told['failed']} failed inside Pyodide:\n{texts or told['output']}", pytrace=False)
    print(f"inside Pyodide: {told['passed']} passed, {told['skipped']} skipped, {told['deselected']} host only")
    # A whole file may be skipped, for want of a package that is not in Pyodide.
    assert told["passed"] or told["skipped"] or told["deselected"] or "1 skipped" in told["output"], told["output"]
    return int(told["passed"])
