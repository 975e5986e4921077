"""The tests of the JavaScript side (web/test, in Node), so that one summary closes the whole run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.conftest import REPO

pytestmark = pytest.mark.host


def run(package: Path, least: int, **settings: str) -> None:
    """Run the tests of an npm package; all must pass, and no fewer than that."""
    environment = {**os.environ, "NO_COLOR": "1", "NODE_NO_WARNINGS": "1", **settings}
    done = subprocess.run(
        ["npm", "test", "--silent"], cwd=package, env=environment, capture_output=True, text=True, timeout=600
    )
    output = f"{done.stdout}\n{done.stderr}"
    if done.returncode:
        pytest.fail(output[-20_000:], pytrace=False)
    counts = {
        name: int(number) for name, number in re.findall(r"^. (tests|pass|fail|skipped|todo) (\d+)$", output, re.M)
    }
    print(counts)
    assert counts["tests"] == counts["pass"] >= least, output[-2000:]


def test_web(dist: Path) -> None:
    """Types, parts, and the whole against the Python of the folder; a test that is skipped fails here."""
    run(REPO / "web", 200, UNSPOOL_DIST=str(dist))


def test_sdks(shared_data: Path) -> None:
    """The npm SDKs as sources of `readStructured`; they use what the tests above have built."""
    package = REPO / "web" / "test-sdks"
    if not (package / "node_modules").is_dir():
        pytest.skip("the npm SDKs are not installed (make web/test-sdks/node_modules/.ready)")
    run(package, 40)
