"""The source tree that the commands work in: its folders, its npm packages and the programs they call.

Host only. Every fault is a `BuildError` that names the missing file or program and what to do about it.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from unspool.errors import UnspoolError

type Report = Callable[[str, int, int], None]
"""Progress: what is being done, how far it is, and how far it will go (0 when nobody knows)."""


def no_report(label: str, done: int, total: int) -> None:
    """Ignore progress."""


class BuildError(UnspoolError):
    """A command of the checkout cannot do its work.

    Codes: FILE_MISSING (a file or folder that another step makes or that the npm packages hold), TOOL_MISSING (a
    program or Python package), DOWNLOAD_FAILED (a wheel could not be had, or is not the one that was pinned),
    BUILD_FAILED (a program that was called reported a fault, or the parts do not fit together).
    """


class Checkout:
    """A checkout of the project.

    Args:
        root: the folder that holds `pyproject.toml` and `web/`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.build = self.root / "build"
        """Everything that is downloaded or made on the way; may be deleted at any time."""
        self.web = self.root / "web"

    @classmethod
    def of_this_package(cls) -> Checkout:
        """Find the checkout that this very package was imported from.

        Raises:
            BuildError: FILE_MISSING when the package was installed from a wheel.
        """
        root = Path(__file__).resolve().parents[3]
        if not (root / "pyproject.toml").is_file() or not (root / "web").is_dir():
            raise BuildError(
                "FILE_MISSING",
                "This command works in a checkout of the project (pyproject.toml and web/ side by side); "
                "the installed package has neither. Clone the repository and install it with `pip install -e .[cli]`.",
            )
        return cls(root)

    @contextmanager
    def alone(self) -> Generator[None]:
        """Wait until no other process builds in this checkout, and keep others waiting while the block runs."""
        self.build.mkdir(parents=True, exist_ok=True)
        with (self.build / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def need(self, path: Path, remedy: str) -> Path:
        """Give the path back if it exists.

        Raises:
            BuildError: FILE_MISSING, naming the path relative to the checkout, and the remedy.
        """
        if not path.exists():
            shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
            raise BuildError("FILE_MISSING", f"{shown} is missing: {remedy}.")
        return path

    def npm_package(self, name: str) -> Path:
        """Find an installed npm package of `web/`, in the version that the lock names.

        Raises:
            BuildError: FILE_MISSING when it is not installed, BUILD_FAILED when another version is.
        """
        folder = self.need(self.web / "node_modules" / name, "run `npm ci` in web/")
        installed = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
        lock = self.need(self.web / "package-lock.json", "it belongs to the checkout")
        locked = json.loads(lock.read_text(encoding="utf-8"))["packages"].get(f"node_modules/{name}", {}).get("version")
        if installed != locked:
            raise BuildError(
                "BUILD_FAILED",
                f"web/node_modules/{name} is version {installed}, but web/package-lock.json says {locked}: "
                "run `npm ci` in web/.",
            )
        return folder

    def shim(self, report: Report = no_report) -> Path:
        """Find the compiled JavaScript of `web/src` and `workers/`, compiling it first when a source is newer.

        Raises:
            BuildError: TOOL_MISSING without npm, BUILD_FAILED with the compiler's words, FILE_MISSING without `npm ci`.
        """
        compiled = self.web / "lib"
        sources = [*_files(self.web / "src"), *_files(self.root / "workers"), *self.web.glob("*.json")]
        made = [file.stat().st_mtime for file in _files(compiled)]
        if not made or max(file.stat().st_mtime for file in sources) > max(made):
            self.need(self.web / "node_modules", "run `npm ci` in web/")
            report("compile the shim", 0, 0)
            shutil.rmtree(compiled, ignore_errors=True)  # also what a source that is gone had left
            run([tool("npm"), "run", "--silent", "build"], cwd=self.web)
            report("compile the shim", 1, 1)
        return self.need(compiled, "`npm run build` in web/ made nothing")


def tool(name: str) -> str:
    """Find a program on the path.

    Raises:
        BuildError: TOOL_MISSING.
    """
    found = shutil.which(name)
    if found is None:
        raise BuildError("TOOL_MISSING", f"The program `{name}` is not on the path: install it.")
    return found


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    code: str = "BUILD_FAILED",
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a program to its end.

    Args:
        command: the program and its arguments; no shell is involved.
        cwd: where it runs.
        code: of the error, should it fail.
        on_line: is given each line of its output as it comes.
    Raises:
        BuildError: `code`, with the last lines of its output.
    """
    tail: list[str] = []
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if on_line is not None:
                on_line(line.rstrip("\n"))
            tail = [*tail[-19:], line.rstrip("\n")[:500]]
    if process.returncode != 0:
        words = "\n".join(tail)
        raise BuildError(code, f"`{Path(command[0]).name}` failed with exit code {process.returncode}:\n{words}")


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
