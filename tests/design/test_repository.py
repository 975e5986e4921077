"""The repository as a stranger gets it: the wheel, the versions, the error list, and no address of any machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from tests.design.source import PACKAGE, REPO, module_files, tree_of

pytestmark = pytest.mark.host

CODE = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b")
NO_CODES = {"UPPER_SNAKE", "JSON", "HTTP", "CORS", "UTF"}


def version() -> str:
    return str(tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def errors_tree() -> ast.Module:
    return tree_of(PACKAGE / "errors.py")


def codes_in_errors() -> set[str]:
    """Codes named in the docstrings of errors.py: the tree at the top and the list at StreamError."""
    docstrings = [ast.get_docstring(errors_tree()) or ""]
    docstrings += [ast.get_docstring(n) or "" for n in errors_tree().body if isinstance(n, ast.ClassDef)]
    return {code for text in docstrings for code in CODE.findall(text)} - NO_CODES


def codes_in_docs() -> set[str]:
    """Codes that have a row of their own in docs/errors.md."""
    text = (REPO / "docs" / "errors.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([A-Z_0-9]+)` \|", text, re.MULTILINE))


def codes_raised() -> dict[str, str]:
    """Codes given as a literal to one of our errors, and the module that does."""
    names = {node.name for node in errors_tree().body if isinstance(node, ast.ClassDef)}
    found: dict[str, str] = {}
    for file in module_files():
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.isupper():
                    found[first.value] = file.name
    return found


def test_every_error_code_is_documented_and_no_other() -> None:
    assert codes_in_docs() == codes_in_errors()


def test_every_code_that_is_raised_is_listed() -> None:
    unknown = {code: where for code, where in codes_raised().items() if code not in codes_in_errors()}
    assert not unknown


def test_every_error_class_is_documented() -> None:
    text = (REPO / "docs" / "errors.md").read_text(encoding="utf-8")
    classes = [n.name for n in errors_tree().body if isinstance(n, ast.ClassDef)]
    assert [name for name in classes if f"`{name}`" not in text] == []


def test_changelog_and_package_have_one_version() -> None:
    text = (REPO / "docs" / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[?(\d+\.\d+\.\d+[^\s\]]*)", text, re.MULTILINE)
    assert versions, "docs/CHANGELOG.md names no version"
    assert versions[0] == version()


def test_wheel_is_small_and_holds_the_package_alone(tmp_path: Path) -> None:
    """The browser pays for each byte: no test, no page, less than 600 KB (docs/decisions/0007)."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(REPO)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 600_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [n for n in names if not n.startswith(("unspool/", f"unspool-{version()}.dist-info/"))] == []
    assert [n for n in names if "test_" in n or "/tests/" in n or n.endswith((".html", ".ts", ".js"))] == []
    assert "unspool/py.typed" in names


# Written in pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = ["py" + "pi.org", "python" + "hosted.org", "registry." + "npmjs.org", "deb." + "debian.org"]
MACHINE_PATHS = ["/" + "work/", "/" + "root/", "/" + "opt/", r"/" + r"home/(?!pyodide|web_user)"]
ADDRESS = re.compile("|".join([*map(re.escape, REGISTRY_HOSTS), *(r"(?<![\w.$}/-])" + path for path in MACHINE_PATHS)]))


def committed_files() -> list[Path]:
    command = ["git", "-C", str(REPO), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    names = [name for name in listing.decode().split("\0") if name]
    return [path for path in (REPO / name for name in names) if path.is_file()]


def test_no_address_of_a_registry_or_a_machine_is_committed() -> None:
    found: list[str] = []
    for file in committed_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{file.relative_to(REPO)}: {match.group()}" for match in ADDRESS.finditer(text)]
    assert not found


def test_committed_files_are_small() -> None:
    """Models, wheels and recordings are built or fetched, never committed."""
    large = [f"{f.relative_to(REPO)}: {f.stat().st_size}" for f in committed_files() if f.stat().st_size > 400_000]
    assert not large


@pytest.mark.parametrize("lock", sorted((REPO / "requirements").glob("*.txt")), ids=lambda p: p.name)
def test_locks_pin_and_hash_everything(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            assert "==" in line, line
            assert "--hash=sha256:" in line, line
