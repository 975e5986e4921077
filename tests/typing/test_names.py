"""Every public name has a real type for both type checkers, and with it completion in editors: none is `Any`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import REPO
from tests.design.public import IMPORTED, REACHED, names_of

pytestmark = [pytest.mark.host, pytest.mark.slow]

OURS = {"us.UNKNOWN", "schema.UNKNOWN", "us.Unknown", "schema.Unknown"}
"""Whose class has the name that pyright gives to what it does not know."""


def spelled() -> list[str]:
    """Every public name as a program writes it after the imports of `program`."""
    reached = [(f"us.{module}".rstrip("."), module) for module in REACHED]
    imported = [(module, module) for module in IMPORTED]
    return [f"{prefix}.{name}" for prefix, module in reached + imported for name in names_of(module)]


def program(folder: Path) -> Path:
    lines = ["import unspool as us", f"from unspool import {', '.join(IMPORTED)}"]
    file = folder / "names.py"
    file.write_text("\n".join([*lines, *(f"reveal_type({name})" for name in spelled())]) + "\n", "utf-8")
    return file


def output_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=REPO, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pyright_knows_every_name(tmp_path: Path) -> None:
    said = json.loads(output_of("pyright", "--outputjson", str(program(tmp_path))))
    pattern = re.compile(r'Type of "(.*?)" is "(.*)"', re.DOTALL)
    types = dict(match.groups() for found in said["generalDiagnostics"] if (match := pattern.match(found["message"])))
    assert sorted(types) == sorted(spelled())
    # A generic class by its bare name is `type[Partial[Unknown]]`.
    plain = {name: re.sub(r"^type\[\w+\[(\.\.\., )?Unknown\]\]$", "a class", text) for name, text in types.items()}
    assert not {n: t for n, t in plain.items() if (t == "Any" or re.search(r"\bUnknown\b", t)) and n not in OURS}


def test_mypy_knows_every_name(tmp_path: Path) -> None:
    types = re.findall(r'note: Revealed type is "(.*)"$', output_of("mypy", str(program(tmp_path))), re.MULTILINE)
    names = spelled()
    assert len(types) == len(names)
    assert not [name for name, text in zip(names, types, strict=True) if text in ("Any", "builtins.object")]


def test_no_type_of_the_package_is_unknown(tmp_path: Path) -> None:
    """Members, arguments and results, too: what pyright reads out of the package as others install it."""
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--verifytypes", "unspool", "--ignoreexternal", "--outputjson"],
        cwd=tmp_path,  # beside no configuration that would lead it into the checkout
        env={**os.environ, "PYTHONPATH": str(REPO / "pyodide_pkg")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = json.loads(done.stdout)["typeCompleteness"]
    assert found["exportedSymbolCounts"]["withKnownType"] > 1000
    assert found["exportedSymbolCounts"]["withUnknownType"] == 0
    assert found["otherSymbolCounts"]["withUnknownType"] == 0
