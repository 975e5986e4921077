"""Faults at every point of every dialect, over real sockets (F6, F7, F10, F11, F38).

The bodies are those that run inside Pyodide: tests/pyodide/bodies/dialect_faults.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.pyodide.bodies import dialect_faults as bodies
from tests.tools import dialect_faults as served
from tests.tools.dialects import DIALECTS
from tests.tools.fault_server import FaultServer

pytestmark = pytest.mark.host


@pytest.fixture
async def root() -> AsyncIterator[str]:
    async with FaultServer(served.dialect_fault) as server:
        yield server.url


@pytest.mark.parametrize("fault", bodies.AT_EACH)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_at_each_event(root: str, dialect: str, fault: str) -> None:
    await bodies.strikes_at_each_event(root, dialect, fault)


@pytest.mark.parametrize("fault", bodies.ONCE)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_once(root: str, dialect: str, fault: str) -> None:
    await bodies.strikes_once(root, dialect, fault)


@pytest.mark.parametrize(
    ("dialect", "case"), [(name, case) for name, dialect in DIALECTS.items() for case in dialect.refusals]
)
async def test_refusal(root: str, dialect: str, case: str) -> None:
    await bodies.refuses(root, dialect, case)


def test_every_fault_is_expected() -> None:
    assert (set(bodies.AT_EACH), set(bodies.ONCE)) == (set(served.AT_EACH), set(served.ONCE))
