"""The public names as data, for the tests of the design and of the types: which modules there are, what each gives."""

from __future__ import annotations

from importlib import import_module

REACHED = ("", "errors", "integrations", "llms", "messages", "stream", "stream.chunks", "testing")
"""Modules that are there after `import unspool`, by dotted name below the package."""
IMPORTED = ("contracts", "runtime", "schema", "structured")
"""Public modules that are imported by name."""
PUBLIC_MODULES = (*REACHED, *IMPORTED)


def names_of(module: str) -> list[str]:
    """The public names of one module, by its dotted name below the package."""
    return list(import_module(f"unspool.{module}".rstrip(".")).__all__)


def public_names() -> list[tuple[str, str]]:
    """Every public name with its module."""
    return [(module, name) for module in PUBLIC_MODULES for name in names_of(module)]
