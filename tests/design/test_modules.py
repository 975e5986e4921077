"""The shape of the modules: size, names, and a test file for each."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.design.source import PACKAGE, REPO, module_files, module_name, tree_of

pytestmark = pytest.mark.host

MAX_LINES = 450
BANNED_NAMES = ("util", "utils", "helper", "helpers", "manager", "common", "core", "misc")
UNIT = REPO / "tests" / "unit"


def has_logic(file: Path) -> bool:
    """Whether a module defines anything for others.

    An `__init__` that only re-exports, and lists what it does, needs no test of its own; a private module is tested
    through its room.
    """
    if file.name.startswith("_") and file.name != "__init__.py":
        return False
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) and node.name != "__dir__" for node in tree_of(file).body)


def test_file_of(file: Path) -> Path:
    inner = file.relative_to(PACKAGE)
    name = inner.parent.name if file.name == "__init__.py" else inner.stem
    return UNIT / inner.parent / f"test_{name or 'package'}.py"


test_file_of.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("file", module_files(), ids=module_name)
def test_module_is_not_too_long(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").count("\n")
    assert lines <= MAX_LINES, f"{file.name} has {lines} lines: split it by noun"


@pytest.mark.parametrize("file", module_files(), ids=module_name)
def test_module_says_what_it_is(file: Path) -> None:
    docstring = ast.get_docstring(tree_of(file))
    assert docstring or not has_logic(file), f"{file.name} has no docstring"


@pytest.mark.parametrize("file", module_files(), ids=module_name)
def test_module_is_named_for_a_noun(file: Path) -> None:
    words = set(module_name(file).replace(".", "_").split("_"))
    assert not words & set(BANNED_NAMES)
    classes = [node.name for node in tree_of(file).body if isinstance(node, ast.ClassDef)]
    assert not [name for name in classes if name.lower().endswith(BANNED_NAMES)]


@pytest.mark.parametrize("file", [f for f in module_files() if has_logic(f)], ids=module_name)
def test_module_has_its_test_file(file: Path) -> None:
    wanted = test_file_of(file)
    assert wanted.is_file(), f"unspool.{module_name(file)} has no {wanted.relative_to(REPO)}"


def test_unit_tests_have_their_module() -> None:
    wanted = {test_file_of(file) for file in module_files()}
    strays = [str(f.relative_to(REPO)) for f in sorted(UNIT.rglob("test_*.py")) if f not in wanted]
    assert not strays, f"unit tests of no module: {strays}"


def test_async_functions_have_no_a_prefix() -> None:
    """There is no sync twin to tell them from. Protocol names of Python stay."""
    allowed = {"aclose"}
    wrong = [
        f"{module_name(file)}.{node.name}"
        for file in module_files()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.AsyncFunctionDef)
        and node.name[:1] == "a"
        and node.name[1:]
        in {"call", "open", "read", "close", "query", "stream", "sample", "iter", "next", "get", "send"}
        and node.name not in allowed
    ]
    assert not wrong


def test_no_javascript_object_at_import() -> None:
    """A memory snapshot cannot hold one: `js` and `pyodide` are imported inside functions (design, section 2)."""
    wrong: list[str] = []
    for file in module_files():
        for node in tree_of(file).body:
            for inner in [node] if isinstance(node, ast.Import | ast.ImportFrom) else []:
                names = [inner.module or ""] if isinstance(inner, ast.ImportFrom) else [a.name for a in inner.names]
                roots = {name.partition(".")[0] for name in names}
                if roots & {"js", "pyodide", "pyodide_js"}:
                    wrong.append(module_name(file))
    assert not wrong
