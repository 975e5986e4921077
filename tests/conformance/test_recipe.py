"""The recipe for the Pyodide distribution, read by the tool that builds the distribution."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.host


@pytest.fixture(scope="module")
def recipe(repo: Path) -> Any:
    from pyodide_build.recipe.loader import load_all_recipes

    recipes = load_all_recipes(repo / "recipes")
    assert list(recipes) == ["unspool"]
    return recipes["unspool"]


@pytest.fixture(scope="module")
def project(repo: Path) -> dict[str, Any]:
    return tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_recipe_is_of_this_project(recipe: Any, project: dict[str, Any], repo: Path) -> None:
    assert recipe.package.name == project["name"]
    assert recipe.package.version == project["version"]
    assert recipe.package.top_level == ["unspool"]
    assert recipe.about.license == project["license"]
    assert (recipe.source.path.resolve() / "pyproject.toml").samefile(repo / "pyproject.toml")


def test_recipe_is_of_a_pure_package(recipe: Any) -> None:
    """No compiler, no script, no patch: a wheel that any tool would build the same."""
    assert recipe.build.package_type == "package"
    assert not recipe.build.script
    assert not recipe.requirements.executable
    assert not recipe.requirements.host
    assert not recipe.is_rust_package()


def test_requirements_are_those_of_the_wheel_and_are_in_the_distribution(
    recipe: Any, project: dict[str, Any], repo: Path
) -> None:
    """F40: the distribution has one pydantic, and ours must accept it."""
    wanted = {canonicalize_name(need.name): need for need in map(Requirement, project["dependencies"])}
    assert set(recipe.requirements.run) == set(wanted)
    stock = json.loads((repo / "web" / "node_modules" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    for name, need in wanted.items():
        assert need.specifier.contains(stock["packages"][name]["version"])


def test_tested_imports_exist(recipe: Any, repo: Path) -> None:
    for name in recipe.test.imports:
        path = repo / "pyodide_pkg" / name.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), name
