"""Fixtures and rules of the whole suite: shared data, no network, and a loud word about what did not run."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.entropy import deterministic_PRNG

REPO = Path(__file__).resolve().parents[1]
MISSING_DATA = "shared test data is missing"
IN_PYODIDE = sys.platform == "emscripten"

# No timing assertions, so no deadlines. CI repeats the same few examples; a developer's machine looks for new ones.
IN_CI = "CI" in os.environ
hypothesis.settings.register_profile(
    "suite", deadline=None, database=None, derandomize=IN_CI, max_examples=50 if IN_CI else 100, print_blob=True
)
# Pyodide takes several times as long for an example, and runs each test a second time.
hypothesis.settings.register_profile(
    "pyodide",
    parent=hypothesis.settings.get_profile("suite"),
    max_examples=10,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("pyodide" if IN_PYODIDE else "suite")

if IN_PYODIDE:
    # On first use Hypothesis registers its generator, and here takes it for one that nobody holds: a warning, an error.
    with warnings.catch_warnings(action="ignore"), deterministic_PRNG():
        pass


def shared_data_folder() -> Path | None:
    """Where the recorded wire data and conformance corpora are, or None."""
    named = os.environ.get("UNSPOOL_TEST_DATA")
    folder = Path(named) if named else REPO.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared test data; the test is skipped, and counted aloud, when there is none."""
    folder = shared_data_folder()
    if folder is None:
        pytest.skip(f"{MISSING_DATA} (set UNSPOOL_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the checkout."""
    return REPO


@pytest.fixture(scope="session")
def dist() -> Path:
    """The self-hosted folder, brought up to date with the checkout; or the finished one that UNSPOOL_DIST names."""
    if named := os.environ.get("UNSPOOL_DIST"):
        return Path(named)
    command = [sys.executable, "-c", "from unspool.cli import main; main()", "bundle"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=600)
    if done.returncode:
        pytest.fail(f"`unspool bundle` failed:\n{done.stdout}\n{done.stderr}", pytrace=False)
    return REPO / "dist"


def is_loopback(host: object) -> bool:
    """Whether a host, as given to `connect` or `getaddrinfo`, is this machine."""
    if host is None or host in ("", "localhost", b"localhost"):
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    if text.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


class NetworkForbiddenError(AssertionError):
    """A test tried to reach another machine."""


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Forbid every connection and name look-up of this process that leaves the machine."""
    if IN_PYODIDE:  # no sockets there
        yield
        return
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(address: Any) -> None:
        if isinstance(address, tuple) and not is_loopback(address[0]):
            raise NetworkForbiddenError(f"tests reach no other machine, but this one tried {address[0]!r}")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(address)
        return connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        check((host,))
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what was imported out of garbage collections.

    Tests of leaks collect after each test; inside Pyodide that took half a second a time.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests did not run for want of data."""
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if MISSING_DATA in str(r.longrepr)]
    if skipped:
        terminalreporter.section("MISSING DATA", sep="!", red=True, bold=True)
        terminalreporter.line(
            f"{len(skipped)} TESTS WERE SKIPPED BECAUSE THE SHARED TEST DATA IS MISSING "
            "(SET UNSPOOL_TEST_DATA TO ITS FOLDER)",
            red=True,
            bold=True,
        )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests run in several processes, which must agree on their names: no addresses in them (`support.named`)."""
    if " at 0x" in item.nodeid:
        raise pytest.UsageError(f"{item.nodeid} has the address of an object in its name: give it ids=named.")
