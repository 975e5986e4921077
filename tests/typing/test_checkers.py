"""Both type checkers read `typed_queries.py` and find what its `assert_type` lines say, and nothing wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import REPO

pytestmark = [pytest.mark.host, pytest.mark.slow]

FILE = Path(__file__).parent / "typed_queries.py"


@pytest.mark.parametrize("command", [("mypy", "--warn-unused-ignores"), ("pyright", "--warnings")], ids=lambda c: c[0])
def test_types_are_inferred(command: tuple[str, ...]) -> None:
    checker, *options = command
    done = subprocess.run(
        [sys.executable, "-m", checker, *options, str(FILE)],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
