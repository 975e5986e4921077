"""The one door between the library and the network: which transport, and which limits on waiting.

In Pyodide requests go through the browser's (or Node's) `fetch`, elsewhere through httpx. Both keep the same contract
(`contracts.Transport`) and differ in nothing a caller can see.
"""

from __future__ import annotations

import re
import sys

from unspool.contracts import Transport
from unspool.errors import NetworkError

_AUTHORITY = re.compile(
    r"(https?)://(?:[^/?#\\]*@)?(\[[^]/?#\\]*]|[^/?#\\:]+)(?::([0-9]+))?(?=[/?#\\]|$)", re.IGNORECASE
)

DEFAULT_TIMEOUT_S = 300.0
"""How long the headers may take. Long, because a model that thinks first, or is still being loaded, sends nothing."""
DEFAULT_IDLE_TIMEOUT_S = 300.0
"""How long one slice of the body may take; comments that a server sends to keep a connection alive count as slices."""


def default_transport(
    *, timeout_s: float | None = DEFAULT_TIMEOUT_S, idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S
) -> Transport:
    """Make the transport of this realm.

    Args:
        timeout_s: seconds until the response's headers must be there; None waits without a limit.
        idle_timeout_s: seconds that the next slice of the body may take; None waits without a limit.
    Raises:
        ConfigError: UNSUPPORTED on CPython without the package httpx2.
    """
    if sys.platform == "emscripten":
        from unspool.transport.fetch import FetchTransport

        return FetchTransport(timeout_s=timeout_s, idle_timeout_s=idle_timeout_s)
    from unspool.transport.httpx import HttpxTransport

    return HttpxTransport(timeout_s=timeout_s, idle_timeout_s=idle_timeout_s)


def host_and_port(url: str) -> str:
    """Say whom a request goes to, and nothing else of its address: the rest may hold a key."""
    match = _AUTHORITY.match(url)
    if match is None:
        return "the address"
    return f"{match[2].lower()}:{match[3] or (443 if match[1].lower() == 'https' else 80)}"


def redirect_refused() -> NetworkError:
    """Say that an address answered with a redirect. Not retryable."""
    return NetworkError(
        "The address answered with a redirect, which is not followed: it would carry the key to another address. Give "
        "the final address.",
        retryable=False,
    )
