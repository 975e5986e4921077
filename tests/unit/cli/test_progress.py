"""Bars for what is reported, on a terminal of our own."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from unspool.cli.progress import progress_bars

pytestmark = pytest.mark.host


def test_each_label_has_one_bar() -> None:
    screen = io.StringIO()
    with progress_bars(Console(file=screen, width=100)) as report:
        report("download", 0, 10)
        report("download", 10, 10)
        report("build", 0, 0)
        report("build", 1, 1)
    lines = [line for line in screen.getvalue().splitlines() if line.strip()]
    assert [line.split()[0] for line in lines] == ["download", "build"]
