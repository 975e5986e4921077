"""The public names, and that loading them is lazy. (tests/design/test_public_names.py has the list.)"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

import unspool as us

REPO = Path(__file__).resolve().parents[2]


def test_every_public_name_is_there() -> None:
    for name in us.__all__:
        assert getattr(us, name) is getattr(us, name)
    assert set(us.__all__) <= set(dir(us))


def test_names_are_what_they_are_called() -> None:
    from unspool.structured import events

    for name in us.__all__:
        if name not in ("StreamUpdate", "StructuredEvent", "UNKNOWN", "__version__"):
            assert getattr(us, name).__name__.rpartition(".")[2] == name
    assert us.TextDelta is events.TextDelta


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = us.no_such_name  # type: ignore[attr-defined]


def test_the_version_is_that_of_the_package() -> None:
    metadata = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    assert us.__version__ == metadata["project"]["version"]


def test_type_checkers_see_the_same_names() -> None:
    """The imports for editors and the table for the interpreter must not drift apart."""
    source = (REPO / "pyodide_pkg" / "unspool" / "__init__.py").read_text(encoding="utf-8")
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    homes: dict[str, str] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            homes[alias.name] = (node.module or "").removeprefix("unspool").removeprefix(".")
    assert set(homes) == set(us.__all__) - {"__version__"}
    assert {name: home for name, home in homes.items() if home} == us._HOME
    assert {name for name, home in homes.items() if not home} == set(us._MODULES)
