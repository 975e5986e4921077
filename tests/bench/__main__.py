"""`python -m tests.bench [name…]`: every figure in every realm, one JSON line each, kept in build/bench.jsonl.

A module of this folder with `measure(realm)` is run on CPython and, in one go, inside Pyodide in a Chromium worker; the
page figures come last. A measurement that fails says so and the rest goes on: figures inform, they do not gate.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import platform
import re
import sys
import traceback
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench import browser
from tests.bench.figure import Figure

REPO = Path(__file__).resolve().parents[2]
KEPT = REPO / "build" / "bench.jsonl"
FIRST = ("scanner", "wire", "query")


def modules_with_figures() -> list[str]:
    """Every module of this folder that has a `measure`."""
    files = (REPO / "tests" / "bench").glob("*.py")
    names = {
        file.stem for file in files if re.search(r"^(async )?def measure\(", file.read_text("utf-8"), re.MULTILINE)
    }
    return sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def as_figure(data: Any) -> Figure:
    """Take a figure as a `Figure` or as a mapping of its fields."""
    return data if isinstance(data, Figure) else Figure(**data)


def complain(what: str) -> None:
    print(f"bench: {what} failed\n{traceback.format_exc()}", file=sys.stderr)


async def native(names: Iterable[str]) -> AsyncIterator[Figure]:
    """The figures of the modules on this interpreter."""
    for name in names:
        try:
            measured = importlib.import_module(f"tests.bench.{name}").measure("cpython")
            for data in await measured if inspect.isawaitable(measured) else measured:
                yield as_figure(data)
        except Exception:
            complain(f"{name} on CPython")


async def run(names: list[str]) -> list[Figure]:
    modules = [name for name in modules_with_figures() if not names or name in names]
    figures: list[Figure] = []
    KEPT.parent.mkdir(exist_ok=True)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with KEPT.open("a", encoding="utf-8") as kept:

        async def keep(source: AsyncIterator[Any], what: str) -> None:
            try:
                async for data in source:
                    figure = as_figure(data)
                    figures.append(figure)
                    print(figure.line(), flush=True)
                    kept.write(
                        json.dumps({**asdict(figure), "at": when, "machine": machine()}, ensure_ascii=False) + "\n"
                    )
            except Exception:
                complain(what)

        await keep(native(modules), "CPython")
        await keep(browser.inside_a_worker(modules), "the Chromium worker")
        if not names or "page" in names:
            await keep(browser.page_figures(), "the page")
    return figures


def machine() -> str:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        found = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = found[0] if found else model
    return f"{model}, {os.cpu_count()} cores, CPython {platform.python_version()}, {platform.system()}"


def table(figures: list[Figure]) -> str:
    """The figures for a reader."""
    rows = [("figure", "realm", "value", "ratio", "target", "")]
    for figure in figures:
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f} x {figure.against or ''}".strip()
        met = {True: "ok", False: "MISSED", None: ""}[figure.ok]
        rows.append((figure.name, figure.realm, f"{figure.value:.6g} {figure.unit}", ratio, figure.target or "", met))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main() -> None:
    figures = asyncio.run(run(sys.argv[1:]))
    print(f"\n{table(figures)}\n\n{machine()}, {browser.seen_version or 'no browser'}, {datetime.now(UTC):%Y-%m-%d}")


if __name__ == "__main__":
    main()
