"""The self-hosted folder: all that a page needs to run typed queries, from one static root, with no other network.

    pyodide/   the runtime of the npm package, its lock rewritten, and the wheels: pydantic, micropip, ours
    unspool/   the compiled JavaScript with its types, and its worker
    pyscript/  @pyscript/core
    wllama/    llama.cpp for the page
    *.html …   the pages of web/demo and their Python

Host only. The folder is built beside the old one and then put in its place, so a server never shows half of it. The
same checkout gives the same bytes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from pyodide_lock import PackageSpec, PyodideLockSpec
from rich.console import Console

from unspool.cli.checkout import BuildError, Checkout, Report, no_report
from unspool.cli.progress import progress_bars
from unspool.cli.wheels import (
    Target,
    build_own,
    fetch,
    precompile,
    read_metadata,
    read_pins,
    sha256,
    top_level_names,
)
from unspool.errors import ConfigError

RUNTIME_FILES = (
    "package.json",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide.js",
    "pyodide.mjs",
    "python_stdlib.zip",
)
WLLAMA_FILES = ("index.js", "wasm/wllama.wasm")
LOCK = "pyodide-lock.json"
REINSTALL = "run `npm ci` in web/"
_NOT_SERVED = (".map", ".cts", ".mts", ".cjs", ".md", ".tsbuildinfo")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished folder."""

    path: Path
    files: int
    size_bytes: int
    wheels: tuple[Path, ...]
    """The wheels in it, ours last."""


def bundle(checkout: Checkout, out: Path, report: Report = no_report) -> Bundle:
    """Build the self-hosted folder.

    Args:
        checkout: with its npm packages installed. Downloads and intermediate files stay under its `build/`, so that the
            next run only does what changed.
        out: the folder to make, or to replace if it is one that was made like this.
        report: is told what is being done.
    Raises:
        BuildError: any code; the message names the missing file or program.
        ConfigError: INVALID_OPTIONS when `out` holds something else.
    After an error:
        The old folder is as it was.
    """
    out = out.resolve()
    try:
        with checkout.alone():
            return _bundle(checkout, out, report)
    except OSError as error:
        raise BuildError("BUILD_FAILED", f"{error.filename or out}: {error.strerror or error}.") from error


def _bundle(checkout: Checkout, out: Path, report: Report) -> Bundle:
    refuse_to_replace(out)
    runtime, pyscript, wllama = (checkout.npm_package(name) for name in ("pyodide", "@pyscript/core", "@wllama/wllama"))
    foreign = {f"pyodide/{name}": runtime / name for name in RUNTIME_FILES}
    foreign |= {f"wllama/{name}": wllama / "esm" / name for name in WLLAMA_FILES}
    foreign |= {"pyscript/": pyscript / "dist", "pyscript/LICENSE": pyscript / "LICENSE"}
    foreign |= {"wllama/LICENSE": wllama / "LICENCE"}
    for path in foreign.values():
        checkout.need(path, REINSTALL)

    stock = read_lock(runtime)
    target = Target(Version(stock.info.python), stock.info.abi_version or "")
    cache = checkout.build / "wheels"
    shim = checkout.shim(report)
    pinned = fetch(read_pins(checkout.root / "requirements" / "pyodide.txt"), target, cache, report)
    own = build_own(checkout, cache / "own", report)
    wheels = precompile([*pinned, own], runtime, cache / "compiled", report)

    new = out.with_name(f".{out.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        for name, path in foreign.items():
            _copy(path, new / name)
        for wheel in wheels:
            _copy(wheel, new / "pyodide" / wheel.name)
        lock(stock, [new / "pyodide" / wheel.name for wheel in wheels]).to_json(new / "pyodide" / LOCK, indent=1)
        _copy(shim, new / "unspool")
        _copy(checkout.web / "demo", new)
        for script in sorted((checkout.root / "workers").glob("*.py")):
            _copy(script, new / script.name)
        put_in_place(new, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    files = [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Bundle(out, len(files), size, tuple(out / "pyodide" / wheel.name for wheel in wheels))


def read_lock(runtime: Path) -> PyodideLockSpec:
    """Read the lock of a runtime.

    Raises:
        BuildError: FILE_MISSING; BUILD_FAILED when it is not such a lock.
    """
    path = runtime / LOCK
    if not path.is_file():
        raise BuildError("FILE_MISSING", f"{path} is missing: {REINSTALL}.")
    try:
        return PyodideLockSpec.from_json(path)
    except Exception as error:  # whatever the library makes of it
        raise BuildError(
            "BUILD_FAILED", f"{path} is not a Pyodide lock that this version understands: {error}"
        ) from None


def lock(stock: PyodideLockSpec, wheels: Sequence[Path]) -> PyodideLockSpec:
    """Write the lock of a folder: the runtime's, with exactly the packages whose files are in the folder.

    Args:
        stock: the lock that came with the runtime.
        wheels: files that lie beside the runtime's, in the folder whose lock this will be.
    Returns:
        A lock with relative file names, the hashes of these files, and dependencies inside the lock only.
    Raises:
        BuildError: BUILD_FAILED when a wheel needs a package, or a version of one, that is not among them.
    """
    folder = wheels[0].parent
    kept = {name: spec for name, spec in stock.packages.items() if (folder / spec.file_name).is_file()}
    versions = {name: spec.version for name, spec in kept.items()}
    for wheel in wheels:
        metadata = read_metadata(wheel)
        versions[canonicalize_name(metadata.name)] = str(metadata.version)
    packages = dict(kept)
    environment = _marker_environment(stock)
    for wheel in wheels:
        metadata = read_metadata(wheel)
        name = canonicalize_name(metadata.name)
        needs = [
            need for need in metadata.requires_dist or [] if need.marker is None or need.marker.evaluate(environment)
        ]
        for need in needs:
            _check_need(wheel.name, need, versions.get(canonicalize_name(need.name)))
        packages[name] = PackageSpec(
            name=name,
            version=str(metadata.version),
            file_name=wheel.name,
            install_dir="site",
            sha256=sha256(wheel),
            imports=top_level_names(wheel),
            depends=sorted({canonicalize_name(need.name) for need in needs}),
        )
    return PyodideLockSpec(info=stock.info, packages=dict(sorted(packages.items())), tool=stock.tool)


def _check_need(wheel: str, need: Requirement, version: str | None) -> None:
    if version is None:
        raise BuildError("BUILD_FAILED", f"{wheel} needs {need}, which requirements/pyodide.txt does not pin.")
    if not need.specifier.contains(version, prereleases=True):
        raise BuildError("BUILD_FAILED", f"{wheel} needs {need}, but requirements/pyodide.txt pins version {version}.")


def _marker_environment(stock: PyodideLockSpec) -> dict[str, str]:
    python = Version(stock.info.python)
    return {
        "extra": "",
        "implementation_name": "cpython",
        "implementation_version": stock.info.python,
        "os_name": "posix",
        "platform_machine": stock.info.arch,
        "platform_python_implementation": "CPython",
        "platform_release": stock.info.platform.partition("_")[2].replace("_", "."),
        "platform_system": "Emscripten",
        "platform_version": "#1",
        "python_full_version": stock.info.python,
        "python_version": f"{python.major}.{python.minor}",
        "sys_platform": "emscripten",
    }


def refuse_to_replace(out: Path) -> None:
    """Make sure that a folder may be replaced: there is none, it is empty, or it was built here.

    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    if out.is_dir() and (not any(out.iterdir()) or (out / "pyodide" / LOCK).is_file()):
        return
    if out.exists():
        raise ConfigError(
            "INVALID_OPTIONS", f"{out} exists and is no bundle of ours: name another folder or remove it."
        )


def put_in_place(new: Path, out: Path) -> None:
    """Swap a finished folder for the one of its name. When that fails, the old one is back."""
    out.parent.mkdir(parents=True, exist_ok=True)
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    try:
        new.rename(out)
    except OSError:
        if old.exists():
            old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _copy(source: Path, to: Path) -> None:
    for path in _served(source) if source.is_dir() else [source]:
        copy = to / path.relative_to(source) if source.is_dir() else to
        copy.parent.mkdir(parents=True, exist_ok=True)
        # The time of the source stays, so a browser's cached copy is still good after a build that changed nothing.
        shutil.copy2(path, copy)


def _served(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and path.suffix not in _NOT_SERVED:
            yield path


def command(
    out: Annotated[Path, typer.Option(help="The folder to make or replace.")] = Path("dist"),
) -> None:
    """Build the self-hosted folder: runtime, wheels, JavaScript and pages, with no other network."""
    console = Console()
    with progress_bars(console) as report:
        made = bundle(Checkout.of_this_package(), out, report)
    console.print(f"{os.path.relpath(made.path)}: {made.files} files, {made.size_bytes / 1e6:.1f} MB")
