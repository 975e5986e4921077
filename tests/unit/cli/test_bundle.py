"""The self-hosted folder out of a small checkout: what goes in, the lock, and that a failure leaves the old one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyodide_lock import PyodideLockSpec
from tests.tools.wheel import write_wheel

from unspool.cli import bundle as module
from unspool.cli.bundle import RUNTIME_FILES, bundle, lock, put_in_place, read_lock, refuse_to_replace
from unspool.cli.checkout import BuildError, Checkout
from unspool.cli.wheels import sha256
from unspool.errors import ConfigError

pytestmark = pytest.mark.host

INFO = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"}


def package(name: str, file_name: str, **more: Any) -> dict[str, Any]:
    plain = {"version": "1.0", "install_dir": "site", "sha256": "00", "package_type": "package", "imports": [name]}
    rest: dict[str, Any] = {"depends": [], "unvendored_tests": False, "tool": {}}
    return {"name": name, "file_name": file_name} | plain | rest | more


def stock_lock(*packages: dict[str, Any]) -> PyodideLockSpec:
    return PyodideLockSpec.from_dict({"info": INFO, "packages": {p["name"]: p for p in packages}, "tool": {"x": {}}})


def test_lock_holds_what_is_in_the_folder_and_nothing_else(tmp_path: Path) -> None:
    """F40: one pair that fits, never a mixture of the stock lock's pydantic and another core."""
    (tmp_path / "sqlite3.zip").write_bytes(b"a module that came with the runtime")
    stock = stock_lock(
        package("sqlite3", "sqlite3.zip", package_type="cpython_module", install_dir="stdlib"),
        package("numpy", "numpy-2.whl"),
        package("core", "core-0.9-py3-none-any.whl", version="0.9"),
    )
    core = write_wheel(tmp_path, "core", "1.1")
    top = write_wheel(tmp_path, "top_level", "2.0", {"top/__init__.py": ""}, requires=["core==1.1"])
    made = lock(stock, [core, top]).to_dict()
    assert made["info"] == INFO
    assert made["tool"] == {"x": {}}
    assert list(made["packages"]) == ["core", "sqlite3", "top-level"]
    assert made["packages"]["sqlite3"]["install_dir"] == "stdlib"
    assert made["packages"]["core"]["version"] == "1.1"
    assert made["packages"]["top-level"] == package(
        "top-level",
        "top_level-2.0-py3-none-any.whl",
        version="2.0",
        imports=["top"],
        depends=["core"],
        sha256=sha256(top),
    )


def test_dependencies_are_those_of_the_browser(tmp_path: Path) -> None:
    requires = [
        "here; sys_platform == 'emscripten' and platform_machine == 'wasm32'",
        "elsewhere; sys_platform == 'linux'",
        "older; python_version < '3.14'",
        "optional; extra == 'cli'",
    ]
    here = write_wheel(tmp_path, "here", "1.0")
    top = write_wheel(tmp_path, "top", "1.0", requires=requires)
    assert lock(stock_lock(), [here, top]).packages["top"].depends == ["here"]


def test_missing_dependency_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        lock(stock_lock(), [write_wheel(tmp_path, "top", "1.0", requires=["core>=1"])])
    assert caught.value.code == "BUILD_FAILED"
    assert "core>=1" in caught.value.message


def test_pair_that_does_not_fit_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """F40."""
    wheels = [write_wheel(tmp_path, "core", "1.2"), write_wheel(tmp_path, "top", "1.0", requires=["core==1.1"])]
    with pytest.raises(BuildError) as caught:
        lock(stock_lock(), wheels)
    assert caught.value.message == (
        "top-1.0-py3-none-any.whl needs core==1.1, but requirements/pyodide.txt pins version 1.2."
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"info": {}, "packages": {}}', '{"info": 1, "packages": 2, "more": 3}'])
def test_broken_lock_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyodide-lock.json").write_text(text)
    with pytest.raises(BuildError) as caught:
        read_lock(tmp_path)
    assert caught.value.code == "BUILD_FAILED"
    assert "pyodide-lock.json" in caught.value.message


def test_foreign_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years of work")
    for out in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(ConfigError) as caught:
            refuse_to_replace(out)
        assert caught.value.code == "INVALID_OPTIONS"
    (tmp_path / "empty").mkdir()
    refuse_to_replace(tmp_path / "empty")
    refuse_to_replace(tmp_path / "absent")


def test_new_folder_takes_the_place_of_the_old(tmp_path: Path) -> None:
    new, out = tmp_path / ".dist.new", tmp_path / "dist"
    for text in ("one", "two"):
        new.mkdir()
        (new / text).write_text(text)
        put_in_place(new, out)
        assert [path.name for path in tmp_path.rglob("*")] == ["dist", text]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A small checkout with everything in it; the programs that are called are stand-ins."""
    root = tmp_path / "checkout"
    files = {f"web/node_modules/pyodide/{name}": name for name in RUNTIME_FILES}
    files |= {
        "web/node_modules/pyodide/package.json": '{"version": "1"}',
        "web/node_modules/pyodide/pyodide-lock.json": json.dumps({"info": INFO, "packages": {}}),
        "web/node_modules/pyodide/console.html": "",
        "web/node_modules/@pyscript/core/package.json": '{"version": "1"}',
        "web/node_modules/@pyscript/core/LICENSE": "",
        "web/node_modules/@pyscript/core/dist/core.js": "",
        "web/node_modules/@pyscript/core/dist/core.js.map": "",
        "web/node_modules/@wllama/wllama/package.json": '{"version": "1"}',
        "web/node_modules/@wllama/wllama/LICENCE": "",
        "web/node_modules/@wllama/wllama/esm/index.js": "",
        "web/node_modules/@wllama/wllama/esm/wasm-from-cdn.js": "",
        "web/node_modules/@wllama/wllama/esm/wasm/wllama.wasm": "",
        "web/src/index.ts": "",
        "web/lib/index.js": "",
        "web/lib/index.d.ts": "",
        "web/demo/index.html": "",
        "web/demo/style.css": "",
        "web/demo/.hidden": "",
        "web/demo/__pycache__/page.pyc": "",
        "workers/unspool.worker.ts": "",
        "workers/pyscript_worker.py": "",
    }
    names = ("pyodide", "@pyscript/core", "@wllama/wllama")
    locked = {"packages": {f"node_modules/{name}": {"version": "1"} for name in names}}
    files["web/package-lock.json"] = json.dumps(locked)
    core = write_wheel(root / "build" / "wheels", "core", "1.0")
    files["requirements/pyodide.txt"] = f"core==1.0 --hash=sha256:{sha256(core)}\n"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "web" / "lib" / "index.js").touch()  # newer than its source
    monkeypatch.setattr(module, "build_own", lambda _, into, __: write_wheel(into, "ours", "1.0", requires=["core"]))
    monkeypatch.setattr(module, "precompile", lambda wheels, *_: wheels)
    return Checkout(root)


def listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_folder_holds_what_a_page_needs_and_no_more(checkout: Checkout, tmp_path: Path) -> None:
    made = bundle(checkout, tmp_path / "out" / "dist")
    assert listing(made.path) == sorted(
        [
            *(f"pyodide/{name}" for name in RUNTIME_FILES),
            "pyodide/pyodide-lock.json",
            "pyodide/core-1.0-py3-none-any.whl",
            "pyodide/ours-1.0-py3-none-any.whl",
            "pyscript/LICENSE",
            "pyscript/core.js",
            "wllama/LICENSE",
            "wllama/index.js",
            "wllama/wasm/wllama.wasm",
            "unspool/index.d.ts",
            "unspool/index.js",
            "index.html",
            "style.css",
            "pyscript_worker.py",
        ]
    )
    assert made.files == len(listing(made.path))
    assert made.size_bytes == sum((made.path / name).stat().st_size for name in listing(made.path))
    assert [wheel.name for wheel in made.wheels] == ["core-1.0-py3-none-any.whl", "ours-1.0-py3-none-any.whl"]
    assert all(wheel.is_file() for wheel in made.wheels)


def test_second_build_gives_the_same_bytes_and_drops_what_is_gone(checkout: Checkout, tmp_path: Path) -> None:
    out = tmp_path / "dist"
    bundle(checkout, out)
    before = {name: (out / name).read_bytes() for name in listing(out)}
    (out / "left over").write_text("")
    bundle(checkout, out)
    assert {name: (out / name).read_bytes() for name in listing(out)} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkout", "dist"]


@pytest.mark.parametrize(
    "name",
    [
        "web/node_modules/pyodide/python_stdlib.zip",
        "web/node_modules/pyodide/pyodide-lock.json",
        "web/node_modules/@pyscript/core/dist",
        "web/node_modules/@wllama/wllama/esm/wasm/wllama.wasm",
        "requirements/pyodide.txt",
    ],
)
def test_missing_file_is_named_and_the_old_folder_stays(checkout: Checkout, tmp_path: Path, name: str) -> None:
    out = tmp_path / "dist"
    bundle(checkout, out)
    before = listing(out)
    gone = checkout.root / name
    gone.rename(gone.with_name("moved away"))
    with pytest.raises(BuildError) as caught:
        bundle(checkout, out)
    assert caught.value.code == "FILE_MISSING"
    assert name in caught.value.message
    assert listing(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkout", "dist"]


def test_fault_of_the_disk_names_the_path(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError) as caught:
        bundle(checkout, tmp_path / "file" / "dist")
    assert caught.value.code == "BUILD_FAILED"
    assert str(tmp_path / "file") in caught.value.message


def test_old_folder_is_back_when_the_new_one_cannot_take_its_place(tmp_path: Path) -> None:
    out = tmp_path / "dist"
    out.mkdir()
    (out / "old").write_text("")
    with pytest.raises(FileNotFoundError):
        put_in_place(tmp_path / "absent", out)
    assert [path.name for path in tmp_path.rglob("*")] == ["dist", "old"]
