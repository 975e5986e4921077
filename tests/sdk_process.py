"""The vendors' SDKs in a process of their own: what their types and parsers say of a list of cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPO


def sdks_folder() -> Path:
    """The folder that the SDKs are installed in; skips the test without it."""
    folder = Path(os.environ.get("UNSPOOL_SDKS") or REPO / "build" / "sdks")
    if not (folder / "openai").is_dir():
        pytest.skip("the SDKs of requirements/sdks.txt are not installed (make build/sdks/.ready)")
    return folder


def told_by(module: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run the cases in a process that has the SDKs; give what the module said of each."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=REPO,
        input=json.dumps(cases),
        env={**os.environ, "PYTHONPATH": str(sdks_folder()), "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(cases)
    return told
