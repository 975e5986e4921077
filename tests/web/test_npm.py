"""The tests of the JavaScript side (web/test, in Node), so that one summary closes the whole run."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from tests.conftest import REPO

pytestmark = pytest.mark.host


def test_web() -> None:
    environment = {**os.environ, "NO_COLOR": "1", "NODE_NO_WARNINGS": "1"}
    done = subprocess.run(
        ["npm", "test", "--silent"], cwd=REPO / "web", env=environment, capture_output=True, text=True, timeout=600
    )
    output = f"{done.stdout}\n{done.stderr}"
    if done.returncode:
        pytest.fail(output[-20_000:], pytrace=False)
    counts = {
        name: int(number) for name, number in re.findall(r"^. (tests|pass|fail|skipped|todo) (\d+)$", output, re.M)
    }
    print(counts)
    assert counts["tests"] == counts["pass"] > 50, output[-2000:]
