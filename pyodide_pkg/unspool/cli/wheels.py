"""Wheels for the browser: pinned ones fetched and checked, our own built, all with bytecode for Pyodide's Python.

Host only. pip does the downloading (with whatever index, proxy and certificates it is set up with), hatchling builds,
and Pyodide itself, in Node, compiles.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.metadata import Metadata
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from unspool.cli.checkout import BuildError, Checkout, Report, no_report, run, tool

# Bump when what `precompile` writes changes, so that wheels made before are made again.
_COMPILE_FORMAT = "1"

# Prints nothing: an uncaught error would print Pyodide's whole minified source.
_COMPILE_JS = """
const { readFileSync, writeFileSync } = await import("node:fs");
const [runtime, source, jobs] = process.argv.slice(1);
try {
  const { loadPyodide } = await import(runtime + "/pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: runtime });
  const compile = pyodide.runPython(source);
  for (const [wheel, bytecode] of JSON.parse(jobs)) {
    pyodide.FS.writeFile("/wheel.zip", new Uint8Array(readFileSync(wheel)));
    compile();
    writeFileSync(bytecode, pyodide.FS.readFile("/bytecode.zip"));
    console.log("compiled");
  }
} catch (error) {
  console.error(String(error.message ?? error).slice(-2000));
  process.exitCode = 1;
}
"""

# Unchecked: the interpreter does not even look at the source, which stays in the wheel for tracebacks and `inspect`.
_COMPILE_PY = """
def compile_wheel():
    import compileall, pathlib, py_compile, shutil, zipfile
    root = pathlib.Path("/wheel")
    shutil.rmtree(root, ignore_errors=True)
    zipfile.ZipFile("/wheel.zip").extractall(root)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(root, stripdir="/wheel", quiet=1, invalidation_mode=mode):
        raise SyntaxError("a module of the wheel does not compile")
    with zipfile.ZipFile("/bytecode.zip", "w") as out:
        for path in sorted(root.rglob("*.pyc")):
            out.writestr(path.relative_to(root).as_posix(), path.read_bytes())
compile_wheel
"""


@dataclass(frozen=True, slots=True)
class Target:
    """The interpreter that wheels are for, as a Pyodide lock describes it."""

    python: Version
    """CPython's full version, such as 3.14.2."""
    abi: str
    """Pyodide's ABI, such as `2026_0`."""

    @property
    def interpreter(self) -> str:
        """Such as `cp314`."""
        return f"cp{self.python.major}{self.python.minor}"

    @property
    def platform(self) -> str:
        """Such as `pyemscripten_2026_0_wasm32`."""
        return f"pyemscripten_{self.abi}_wasm32"

    def takes(self, wheel_name: str) -> bool:
        """Whether a wheel of this file name can be installed there."""
        _, _, _, tags = parse_wheel_filename(wheel_name)
        own = Tag(self.interpreter, self.interpreter, self.platform)
        return any(tag == own or (tag.abi == "none" and tag.platform == "any") for tag in tags)


@dataclass(frozen=True, slots=True)
class Pin:
    """One line of a hashed requirements file."""

    name: str
    """Canonical."""
    version: str
    hashes: frozenset[str]
    """SHA-256 in hex of each file that may stand for it."""
    text: str
    """The line as it is in the file."""


def read_pins(path: Path) -> list[Pin]:
    """Read a requirements file that `uv pip compile --generate-hashes` wrote.

    Raises:
        BuildError: FILE_MISSING; BUILD_FAILED for a line that is not `name==version --hash=sha256:…`.
    """
    if not path.is_file():
        raise BuildError("FILE_MISSING", f"{path} is missing: it belongs to the checkout.")
    text = re.sub(r"(^|\s)#.*", "", path.read_text(encoding="utf-8"))
    pins: list[Pin] = []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        match = re.match(r"\s*([\w.-]+)==([\w.!+-]+)\s", line)
        hashes = frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
        if match is None or not hashes:
            raise BuildError("BUILD_FAILED", f"{path.name} has a line without a pinned version and hashes: {line[:80]}")
        pins.append(Pin(canonicalize_name(match[1]), match[2], hashes, " ".join(line.split())))
    return pins


def fetch(pins: Sequence[Pin], target: Target, into: Path, report: Report = no_report) -> list[Path]:
    """Have the wheel of each pin in a folder; only what is not there yet is downloaded.

    Args:
        pins: what to have.
        target: the interpreter the wheels must suit.
        into: the cache; made when missing.
        report: is told the bytes of each download.
    Returns:
        One path a pin, in the order of the pins.
    Raises:
        BuildError: TOOL_MISSING without pip, DOWNLOAD_FAILED with pip's words.
    """
    into = into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    missing = [pin for pin in pins if _cached(pin, target, into) is None]
    if missing:
        _download(missing, target, into, report)
    wheels: list[Path] = []
    for pin in pins:
        wheel = _cached(pin, target, into)
        if wheel is None:
            raise BuildError(
                "DOWNLOAD_FAILED",
                f"pip brought no wheel of {pin.name} {pin.version} for {target.platform} that has a pinned hash.",
            )
        wheels.append(wheel)
    return wheels


def _cached(pin: Pin, target: Target, folder: Path) -> Path | None:
    for path in sorted(folder.glob(f"{pin.name.replace('-', '_')}-*.whl")):
        name, version, _, _ = parse_wheel_filename(path.name)
        same = name == pin.name and version == Version(pin.version)
        if same and target.takes(path.name) and sha256(path) in pin.hashes:
            return path
    return None


def _download(pins: Sequence[Pin], target: Target, into: Path, report: Report) -> None:
    if importlib.util.find_spec("pip") is None:
        raise BuildError("TOOL_MISSING", "The Python package `pip` is not installed: python -m ensurepip.")
    label = "download wheels"

    def on_line(line: str) -> None:
        nonlocal label
        if started := re.match(r"\s*Downloading (\S+\.whl)", line):
            label = started[1].rpartition("/")[2]
        elif moved := re.match(r"Progress (\d+) of (\d+)", line):
            report(label, int(moved[1]), int(moved[2]))

    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text("".join(f"{pin.text}\n" for pin in pins), encoding="utf-8")
        run(
            [
                *(sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"),
                *("--require-hashes", "--no-deps", "--only-binary=:all:", "--progress-bar=raw"),
                *("--platform", target.platform, "--implementation", "cp", "--abi", target.interpreter),
                *("--python-version", f"{target.python.major}.{target.python.minor}"),
                *("--dest", str(into), "--requirement", str(wanted)),
            ],
            cwd=into,
            code="DOWNLOAD_FAILED",
            on_line=on_line,
        )


def build_own(checkout: Checkout, into: Path, report: Report = no_report) -> Path:
    """Build our own wheel out of the checkout. The same sources give the same bytes.

    Args:
        checkout: whose package it is.
        into: a folder of its own; what was in it is deleted.
        report: is told when it starts and ends.
    Raises:
        BuildError: TOOL_MISSING without hatchling, BUILD_FAILED with its words.
    """
    if importlib.util.find_spec("hatchling") is None:
        raise BuildError("TOOL_MISSING", "The Python package `hatchling` is not installed: pip install hatchling.")
    report("build the wheel", 0, 0)
    shutil.rmtree(into, ignore_errors=True)
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)], cwd=checkout.root)
    report("build the wheel", 1, 1)
    (wheel,) = into.glob("*.whl")
    return wheel


def precompile(wheels: Sequence[Path], runtime: Path, into: Path, report: Report = no_report) -> list[Path]:
    """Give wheels with bytecode beside each module, so that the first import in a page compiles nothing.

    Args:
        wheels: pure or compiled wheels; their sources stay in them.
        runtime: the npm package `pyodide`, whose Python compiles.
        into: the cache, keyed by content; made when missing.
        report: is told how many are done.
    Returns:
        New wheels of the same names, in the same order. The same wheels and runtime give the same bytes.
    Raises:
        BuildError: TOOL_MISSING without Node, BUILD_FAILED when a module does not compile.
    """
    version = json.loads((runtime / "package.json").read_text(encoding="utf-8"))["version"]
    keys = [_digest(_COMPILE_FORMAT, version, sha256(wheel))[:16] for wheel in wheels]
    made = [into / key / wheel.name for key, wheel in zip(keys, wheels, strict=True)]
    todo = [(wheel, path) for wheel, path in zip(wheels, made, strict=True) if not path.is_file()]
    if not todo:
        return made
    label, done = "compile bytecode", 0
    report(label, 0, len(todo))

    def on_line(line: str) -> None:
        nonlocal done
        done += line == "compiled"
        report(label, done, len(todo))

    with tempfile.TemporaryDirectory() as folder:
        jobs = [(str(wheel), str(Path(folder) / f"{number}.zip")) for number, (wheel, _) in enumerate(todo)]
        command = [tool("node"), "--input-type=module", "--eval", _COMPILE_JS]
        run([*command, "--", str(runtime), _COMPILE_PY, json.dumps(jobs)], cwd=runtime, on_line=on_line)
        for (wheel, path), (_, bytecode) in zip(todo, jobs, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".part")
            add_to_wheel(wheel, Path(bytecode), unfinished)
            unfinished.replace(path)
            for other in into.glob(f"*/{wheel.name}"):
                if other != path:
                    shutil.rmtree(other.parent)
    return made


def add_to_wheel(wheel: Path, files: Path, out: Path) -> None:
    """Write a copy of a wheel with more files in it, listed in its RECORD like the rest.

    Args:
        wheel: the wheel to start from.
        files: a zip of what to add.
        out: where the new wheel goes; the same input gives the same bytes.
    """
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(files) as new, zipfile.ZipFile(out, "w") as both:
        added = new.namelist()
        record = next(name for name in old.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name))
        for archive, names in ((old, old.namelist()), (new, added)):
            for name in names:
                if name != record and not name.endswith("/"):
                    _write(both, name, archive.read(name))
        lines = old.read(record).decode() + "".join(_record_line(name, new.read(name)) for name in added)
        _write(both, record, lines.encode())


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def top_level_names(wheel: Path) -> list[str]:
    """The modules and packages that a wheel lets one import, sorted."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(set(_importable(archive.namelist())))


def _importable(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        first, _, rest = name.partition("/")
        if rest:
            if first.isidentifier() and rest.endswith((".py", ".so")):
                yield first
        elif first.endswith((".py", ".so")):
            yield first.partition(".")[0]


def read_metadata(wheel: Path) -> Metadata:
    """Read the METADATA of a wheel.

    Raises:
        BuildError: BUILD_FAILED when there is none, or a broken one.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        if len(names) != 1:
            raise BuildError("BUILD_FAILED", f"{wheel.name} is not a wheel: it has {len(names)} METADATA files.")
        try:
            return Metadata.from_email(archive.read(names[0]), validate=False)
        except ExceptionGroup as error:
            raise BuildError("BUILD_FAILED", f"The METADATA of {wheel.name} is broken: {error}") from None
