"""The door: which transport a realm gets."""

from __future__ import annotations

import sys

import pytest

from unspool import transport
from unspool.transport import (
    DEFAULT_IDLE_TIMEOUT_S,
    DEFAULT_TIMEOUT_S,
    default_transport,
    host_and_port,
    redirect_refused,
)

KEY = "unspool-marker-0123456789"


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


@pytest.mark.parametrize(
    ("url", "whom"),
    [
        ("https://api.openai.com/v1/chat/completions", "api.openai.com:443"),
        ("http://LOCALHOST:11434/api/chat", "localhost:11434"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        ("HTTP://h", "h:80"),
        (f"https://user:{KEY}@h/v1?key={KEY}#{KEY}", "h:443"),
        (f"https://user:{KEY}@{KEY[:2]}@h:1/{KEY}", "h:1"),
        (f"https://h?{KEY}@other", "h:443"),
        (f"https://h\\{KEY}@other", "h:443"),
        (f"https://user:{KEY}", "the address"),
        (f"https://{KEY}:x@", "the address"),
        ("ftp://h/x", "the address"),
        ("", "the address"),
    ],
)
def test_whom_a_request_goes_to_and_nothing_else(url: str, whom: str) -> None:
    assert host_and_port(url) == whom
