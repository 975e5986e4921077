"""Wheels: pins and hashes, the cache, bytecode, and the same bytes each time."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import zipfile
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest
from packaging.version import Version
from tests.tools.wheel import write_wheel

from unspool.cli import wheels
from unspool.cli.checkout import BuildError, Checkout
from unspool.cli.wheels import Pin, Target, add_to_wheel, build_own, fetch, precompile, read_metadata, read_pins, sha256

pytestmark = pytest.mark.host

TARGET = Target(Version("3.14.2"), "2026_0")
HASH = "0" * 64


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("pydantic-2.14.4-py3-none-any.whl", True),
        ("six-1.0-py2.py3-none-any.whl", True),
        ("pydantic_core-2.50.5-cp314-cp314-pyemscripten_2026_0_wasm32.whl", True),
        ("pydantic_core-2.50.5-cp314-cp314-pyemscripten_2025_0_wasm32.whl", False),
        ("pydantic_core-2.50.5-cp313-cp313-pyemscripten_2026_0_wasm32.whl", False),
        ("pydantic_core-2.50.5-cp314-cp314-manylinux_2_17_x86_64.whl", False),
    ],
)
def test_target_takes_pure_wheels_and_its_own(name: str, taken: bool) -> None:
    assert TARGET.takes(name) is taken


def test_pins_are_read(tmp_path: Path) -> None:
    file = tmp_path / "pins.txt"
    one, two = "1" * 64, "2" * 64
    file.write_text(
        f"# made by a tool\nTyping_Extensions==4.16.0 \\\n    --hash=sha256:{one} \\\n    --hash=sha256:{two}\n"
        f"    # via pydantic\nmicropip==0.11.1 --hash=sha256:{one}  # why\n"
    )
    first, second = read_pins(file)
    assert (first.name, first.version, first.hashes) == ("typing-extensions", "4.16.0", {one, two})
    assert first.text == f"Typing_Extensions==4.16.0 --hash=sha256:{one} --hash=sha256:{two}"
    assert (second.name, second.version, second.hashes) == ("micropip", "0.11.1", {one})


@pytest.mark.parametrize(
    "line", ["pydantic>=2", "pydantic==2.14.4", f"--index-url x --hash=sha256:{HASH}", "-r other.txt"]
)
def test_line_without_version_and_hash_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pins.txt"
    file.write_text(f"{line}\n")
    with pytest.raises(BuildError) as caught:
        read_pins(file)
    assert caught.value.code == "BUILD_FAILED"
    assert line[:20] in caught.value.message


def test_missing_pins_are_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        read_pins(tmp_path / "pyodide.txt")
    assert caught.value.code == "FILE_MISSING"
    assert "pyodide.txt" in caught.value.message


def pin(wheel: Path, name: str = "demo", version: str = "1.0") -> Pin:
    return Pin(name, version, frozenset({sha256(wheel)}), f"{name}=={version} --hash=sha256:{sha256(wheel)}")


def test_cached_wheel_is_not_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = write_wheel(tmp_path, "demo", "1.0")

    def download(*_: object, **__: object) -> None:
        raise AssertionError("nothing to download")

    monkeypatch.setattr(wheels, "run", download)
    assert fetch([pin(wheel)], TARGET, tmp_path) == [wheel]


def test_cached_wheel_of_another_hash_is_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = write_wheel(tmp_path / "index", "demo", "1.0")
    wrong = tmp_path / "cache" / right.name
    wrong.parent.mkdir()
    wrong.write_bytes(b"cut off")
    seen: list[tuple[str, int, int]] = []

    def download(command: list[str], **options: object) -> None:
        assert "--require-hashes" in command
        assert command[command.index("--platform") + 1] == "pyemscripten_2026_0_wasm32"
        on_line = options["on_line"]
        assert callable(on_line)
        on_line("  Downloading demo-1.0-py3-none-any.whl (3 bytes)")
        on_line("Progress 3 of 3")
        wrong.write_bytes(right.read_bytes())

    monkeypatch.setattr(wheels, "run", download)
    wanted = pin(right)
    assert fetch([wanted], TARGET, wrong.parent, lambda *told: seen.append(told)) == [wrong]
    assert seen == [("demo-1.0-py3-none-any.whl", 3, 3)]


def test_wheel_that_does_not_come_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "run", lambda *_, **__: None)
    with pytest.raises(BuildError) as caught:
        fetch([Pin("demo", "1.0", frozenset({HASH}), "demo==1.0")], TARGET, tmp_path)
    assert caught.value.code == "DOWNLOAD_FAILED"
    assert "demo 1.0" in caught.value.message


def test_missing_pip_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(BuildError) as caught:
        fetch([Pin("demo", "1.0", frozenset({HASH}), "demo==1.0")], TARGET, tmp_path)
    assert caught.value.code == "TOOL_MISSING"
    assert "`pip`" in caught.value.message


def test_added_files_are_in_the_record(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "demo", "1.0", {"demo/__init__.py": "x = 1\n"})
    extra = tmp_path / "extra.zip"
    with zipfile.ZipFile(extra, "w") as archive:
        archive.writestr("demo/__pycache__/__init__.cpython-314.pyc", b"\0bytecode")
    out = tmp_path / "out.whl"
    add_to_wheel(wheel, extra, out)
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
        assert names[-1] == "demo-1.0.dist-info/RECORD"
        assert len(names) == len(set(names))
        listed = {row[0]: row[1:] for row in csv.reader(archive.read(names[-1]).decode().splitlines())}
        assert set(listed) == set(names)
        for name in names[:-1]:
            digest, size = listed[name]
            content = archive.read(name)
            assert int(size) == len(content)
            assert urlsafe_b64decode(digest.removeprefix("sha256=") + "=") == hashlib.sha256(content).digest()


def test_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "demo", "1.0", {"demo/__init__.py": "x = 1\n"})
    results: list[bytes] = []
    for number, when in enumerate([(1999, 1, 1, 0, 0, 0), (2026, 1, 1, 0, 0, 0)]):
        extra = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(extra, "w") as archive:
            archive.writestr(zipfile.ZipInfo("demo/x.pyc", when), b"bytecode")
        add_to_wheel(wheel, extra, tmp_path / "out.whl")
        results.append((tmp_path / "out.whl").read_bytes())
    assert results[0] == results[1]


def test_bytecode_is_of_pyodides_python_and_never_checked(repo: Path, tmp_path: Path) -> None:
    """Flags 0b01: hash-based, source not looked at (PEP 552)."""
    runtime = Checkout(repo).npm_package("pyodide")
    wheel = write_wheel(tmp_path, "demo", "1.0", {"demo/__init__.py": "def f():\n    return 1\n"})
    (made,) = precompile([wheel], runtime, tmp_path / "cache")
    with zipfile.ZipFile(made) as archive:
        assert archive.read("demo/__init__.py") == b"def f():\n    return 1\n"
        bytecode = archive.read("demo/__pycache__/__init__.cpython-314.pyc")
    assert int.from_bytes(bytecode[2:4]) == 0x0D0A
    assert int.from_bytes(bytecode[4:8], "little") == 0b01
    first = made.read_bytes()
    assert precompile([wheel], runtime, tmp_path / "cache") == [made]
    (again,) = precompile([wheel], runtime, tmp_path / "other cache")
    assert again.read_bytes() == first


def test_changed_wheel_is_compiled_anew_and_the_old_one_goes(repo: Path, tmp_path: Path) -> None:
    runtime = Checkout(repo).npm_package("pyodide")
    (old,) = precompile([write_wheel(tmp_path, "demo", "1.0", {"demo.py": "x = 1\n"})], runtime, tmp_path / "cache")
    (new,) = precompile([write_wheel(tmp_path, "demo", "1.0", {"demo.py": "x = 2\n"})], runtime, tmp_path / "cache")
    assert new != old
    assert not old.exists()


def test_module_that_does_not_compile_is_named(repo: Path, tmp_path: Path) -> None:
    runtime = Checkout(repo).npm_package("pyodide")
    wheel = write_wheel(tmp_path, "demo", "1.0", {"demo/wrong.py": "def f(:\n"})
    with pytest.raises(BuildError) as caught:
        precompile([wheel], runtime, tmp_path / "cache")
    assert caught.value.code == "BUILD_FAILED"
    assert "wrong.py" in caught.value.message


def test_our_wheel_is_built_the_same_twice(repo: Path, tmp_path: Path) -> None:
    first = build_own(Checkout(repo), tmp_path / "a")
    second = build_own(Checkout(repo), tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    assert read_metadata(first).requires_dist is not None
    with zipfile.ZipFile(first) as archive:
        assert not [name for name in archive.namelist() if name.startswith("unspool/cli/")]


def test_top_level_names(tmp_path: Path) -> None:
    files = {"one/__init__.py": "", "two.py": "", "three/sub/core.so": "", "data/x.txt": "", "four.cpython-314.so": ""}
    assert wheels.top_level_names(write_wheel(tmp_path, "demo", "1.0", files)) == ["four", "one", "three", "two"]


def test_zip_without_metadata_is_no_wheel(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "demo.whl", "w") as archive:
        archive.writestr("demo.py", "")
    with pytest.raises(BuildError) as caught:
        read_metadata(tmp_path / "demo.whl")
    assert caught.value.code == "BUILD_FAILED"
