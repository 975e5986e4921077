"""The tests of the JavaScript side, in Node: types, parts, and the whole against the Python of the folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.host


def test_javascript_side(dist: Path, repo: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or not (repo / "web" / "node_modules").is_dir():
        pytest.skip("needs npm, and `npm ci` in web/")
    command = [npm, "--prefix", str(repo / "web"), "run", "--silent", "test"]
    environment = {**os.environ, "UNSPOOL_DIST": str(dist)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    report = done.stdout + done.stderr
    assert done.returncode == 0, report[-8000:]
    assert "# skipped 0" in report, report[-8000:]
