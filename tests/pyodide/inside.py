"""Runs pytest inside Pyodide. This file runs there, called by conftest.py of this folder.

Node 20 has no stack switching, so Pyodide's own loop cannot block, and pytest must. Async tests therefore run on a
plain asyncio loop that waits for time alone, never for JavaScript. What needs Pyodide's loop and real promises stands
in `bodies/`.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import os
import sys
import time
import traceback
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

import pytest


class _Timer:
    """The selector of a loop without sockets."""

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("deadlock: every task waits, and nothing is due")
        if timeout > 0:
            time.sleep(timeout)
        return []

    def close(self) -> None: ...


class BlockingLoop(asyncio.BaseEventLoop):
    """asyncio's own loop over a selector that only sleeps. It finds deadlocks at once."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Timer()

    def _process_events(self, event_list: list[Any]) -> None: ...

    def _write_to_self(self) -> None: ...


class Reporter:
    """The plugin that collects what happened."""

    def __init__(self) -> None:
        self.counts = {"passed": 0, "failed": 0, "skipped": 0, "deselected": 0}
        self.failures: list[dict[str, str]] = []
        self.skips: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.counts["failed"] += 1
            self.failures.append({"test": report.nodeid, "text": f"{report.longreprtext}\n{report.capstdout}"})
        elif report.skipped:
            self.counts["skipped"] += 1
            self.skips.append(f"{report.nodeid}: {report.longrepr[-1] if report.longrepr else ''}")
        elif report.when == "call":
            self.counts["passed"] += 1

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.counts["failed"] += 1
            self.failures.append({"test": report.nodeid, "text": report.longreprtext})

    def pytest_deselected(self, items: list[Any]) -> None:
        self.counts["deselected"] += len(items)


def run_pytest(arguments: list[str]) -> str:
    """Run pytest and give, as JSON, its exit code, counts, failures with their text, and skips with their reason."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    fixed = ["-o", "addopts=", "--strict-markers", "--import-mode=importlib", "--tb=short", "--capture=sys"]
    plugins = ["no:cacheprovider", "no:faulthandler", "pytest_asyncio.plugin", "_hypothesis_pytestplugin"]
    for plugin in plugins:
        fixed += ["-p", plugin]
    reporter = Reporter()
    output = io.StringIO()
    # Pyodide's loop counts as running at all times, and asyncio refuses a second one.
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        with redirect_stdout(output), patch.object(asyncio.events, "new_event_loop", BlockingLoop):
            code = int(pytest.main([*fixed, *arguments], plugins=[reporter]))
    except BaseException:  # pytest itself raises what it finds at its very end
        code = int(pytest.ExitCode.INTERNAL_ERROR)
        output.write(traceback.format_exc())
    finally:
        asyncio._set_running_loop(outer)
    sys.stdout.flush()
    told = {"exit": code, "output": output.getvalue()[-20_000:], "failures": reporter.failures, "skips": reporter.skips}
    return json.dumps(told | reporter.counts)


async def run_body(module: str, name: str, arguments: list[Any]) -> str:
    """Run one async function of a module on Pyodide's own loop; give "" or the text of its failure."""
    try:
        await getattr(importlib.import_module(module), name)(*arguments)
    except BaseException:
        return traceback.format_exc()
    return ""
