"""What a newcomer finds: `dir()` and tab completion show the public names and no other, `help()` and signatures say
something, and editors, which read and do not run, know the names that are loaded on first use."""

from __future__ import annotations

import ast
import inspect
import json
import pydoc
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest
from tests.design.public import PUBLIC_MODULES, REACHED, public_names
from tests.design.source import PACKAGE, is_type_checking, module_files, module_name, tree_of

import unspool

pytestmark = pytest.mark.host


def module_of(name: str) -> ModuleType:
    return import_module(f"unspool.{name}".rstrip("."))


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_dir_shows_exactly_the_public_names(name: str) -> None:
    module = module_of(name)
    assert len(module.__all__) == len(set(module.__all__))
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_nothing_is_public_that_belongs_to_someone_else(name: str) -> None:
    """A class that a module merely imports is no name of it, and of the modules of others none is public."""
    module = module_of(name)
    foreign = {
        public: value.__module__
        for public in module.__all__
        if not isinstance(value := getattr(module, public), ModuleType)
        and (isinstance(value, type) or inspect.isroutine(value))
        and not value.__module__.startswith("unspool")
    }
    assert not foreign
    modules = {public for public in module.__all__ if isinstance(getattr(module, public), ModuleType)}
    assert {f"{name}.{public}".lstrip(".") for public in modules} <= set(REACHED)


def test_what_can_be_reached_is_in_the_list() -> None:
    """Modules that a user gets to by names alone are among those that the other tests read."""
    found = {""}
    for name in REACHED:
        module = module_of(name)
        for public in module.__all__:
            if isinstance(getattr(module, public), ModuleType):
                found.add(f"{name}.{public}".lstrip("."))
    assert found == set(REACHED)


FRESH = """
import json, sys
import unspool as us
before = [dir(us), dir(us.stream), dir(us.llms)]
for module in (us, us.stream, us.llms):
    for name in dir(module):
        getattr(module, name)
import unspool.runtime, unspool.schema.native, unspool.providers.profiles
print(json.dumps({"same": before == [dir(us), dir(us.stream), dir(us.llms)], "pydantic": "pydantic" in sys.modules}))
"""


def test_dir_stays_when_things_are_loaded_and_completion_loads_nothing_heavy() -> None:
    """Completers of Python's own prompt get every attribute; submodules become attributes when they are imported."""
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == {"same": True, "pydantic": False}


def names_for_checkers(name: str) -> set[str]:
    """What a module imports for type checkers alone."""
    found: set[str] = set()
    for node in tree_of(PACKAGE.joinpath(*name.split("."), "__init__.py")).body:
        if is_type_checking(node):
            assert isinstance(node, ast.If)
            for inner in node.body:
                assert isinstance(inner, ast.ImportFrom)
                found |= {alias.asname or alias.name for alias in inner.names}
    return found


def test_editors_know_the_names_that_are_loaded_on_first_use() -> None:
    assert names_for_checkers("") == set(unspool.__all__) - {"__version__"}
    assert names_for_checkers("stream") <= set(unspool.stream.__all__)
    homes = {
        alias.name: node.module
        for statement in tree_of(PACKAGE / "__init__.py").body
        if is_type_checking(statement)
        for node in ast.walk(statement)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module != "unspool"
    }
    told = {name: f"unspool.{home}" for name, home in unspool._HOME.items()}  # pyright: ignore[reportPrivateUsage]
    assert homes == told


@pytest.mark.parametrize(("module", "name"), public_names())
def test_help_says_something(module: str, name: str) -> None:
    value = getattr(module_of(module), name)
    if isinstance(value, type | ModuleType) or inspect.isroutine(value):
        words = pydoc.render_doc(value)
        assert inspect.getdoc(value), f"{module}.{name} says nothing"
        assert len(words) > 100


def test_modules_with_public_names_hide_the_rest() -> None:
    """A module that lists its names and is no room of ours shows no imports; new ones are added to the family."""
    rooms = {module_name(file) for file in module_files() if file.name == "__init__.py"}
    with_names = {name for name in rooms if "__all__" in PACKAGE.joinpath(*name.split("."), "__init__.py").read_text()}
    assert with_names <= set(PUBLIC_MODULES)
