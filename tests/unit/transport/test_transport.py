"""The door: which transport a realm gets."""

from __future__ import annotations

import sys

import pytest

from unspool import transport
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S, default_transport, redirect_refused


def test_limits_are_long_enough_for_a_model_that_thinks() -> None:
    """Reasoning models are silent for minutes; five of them pass."""
    assert DEFAULT_TIMEOUT_S >= 300
    assert DEFAULT_IDLE_TIMEOUT_S >= 300


@pytest.mark.host
def test_cpython_gets_httpx() -> None:
    from unspool.transport.httpx import HttpxTransport

    made = default_transport(timeout_s=1, idle_timeout_s=2)
    assert isinstance(made, HttpxTransport)
    assert (made._timeout_s, made._idle_timeout_s) == (1, 2)


def test_pyodide_gets_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    from unspool.transport.fetch import FetchTransport

    monkeypatch.setattr(transport.sys, "platform", "emscripten")
    made = default_transport(timeout_s=1, idle_timeout_s=2)
    assert isinstance(made, FetchTransport)
    assert (made._timeout_s, made._idle_timeout_s) == (1, 2)


def test_a_redirect_is_final() -> None:
    error = redirect_refused()
    assert (error.code, error.retryable) == ("NETWORK", False)
    assert "redirect" in error.message


def test_the_door_loads_no_transport() -> None:
    """Neither leaf is imported before it is asked for."""
    assert "httpx" not in vars(transport) or sys.modules.get("unspool.transport.httpx")
    assert not hasattr(transport, "HttpxTransport")
