"""The package's own source as data, for the design tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGE = REPO / "pyodide_pkg" / "unspool"


def module_files() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def module_name(file: Path) -> str:
    """The dotted name below the package: `stream.sse`; the package itself is the empty string."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def walk_running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those under `if TYPE_CHECKING:`, which never run."""
    yield node
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from walk_running(other)
        else:
            yield from walk_running(child)


def imports_of(file: Path) -> set[str]:
    """The modules of the package that a file imports when it runs, lazily or not, by dotted name below the package."""
    known = {module_name(other) for other in module_files()}
    found: set[str] = set()
    for node in walk_running(tree_of(file)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.partition(".")[0] != "unspool":
                continue
            inner = name.removeprefix("unspool").removeprefix(".")
            while inner and inner not in known:  # a name inside a module: take the module
                inner = inner.rpartition(".")[0]
            found.add(inner)
    found.discard(module_name(file))
    return found
