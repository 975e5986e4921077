"""A real server that misbehaves, and what httpx and the loop make of it (field reports F6–F11, F44).

The bodies are those that run inside Pyodide: tests/pyodide/bodies/transport_fetch.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.pyodide.bodies import transport_fetch as bodies
from tests.tools.fault_server import FaultServer

pytestmark = pytest.mark.host


@pytest.fixture
async def root() -> AsyncIterator[str]:
    async with FaultServer() as server:
        yield server.url


@pytest.mark.parametrize("fault", bodies.FAULTS)
async def test_fault(root: str, fault: str) -> None:
    await bodies.meets_fault(root, fault)


@pytest.mark.parametrize("body", bodies.EVERYWHERE, ids=lambda body: body.__name__)
async def test_body(root: str, body) -> None:
    await body(root)
