"""Requests on CPython, through the package httpx2 (the extra `httpx`).

In: HttpRequest. Out: a Response of body slices as they arrive. Only the headers of the request are sent, with what
HTTP itself needs. Unless a client is given, each event loop has one of its own, which keeps connections for the next
request and is closed with the loop, or when the transport is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import sys
import types
import weakref
from collections.abc import AsyncGenerator, Awaitable, Generator, Mapping
from http.cookiejar import DefaultCookiePolicy
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unspool.contracts import HttpRequest, Response
from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    RequestTimeoutError,
    UnspoolError,
    redact,
)
from unspool.printable import said_by
from unspool.time_limit import TimeLimit, time_limit
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S, host_and_port, redirect_refused
from unspool.transport.draining import Draining
from unspool.transport.quiet_logs import logs_without

if TYPE_CHECKING:
    import ssl

    import httpx2

CONNECT_TIMEOUT_S = 30.0
"""A connection that is not there by then will not come: an address that swallows packets."""

KEPT_S = 3.0
"""How long an idle connection is kept. Servers of Node and of uvicorn close it after 5 s, and a request that meets that
close is lost."""
REST_WAIT_S = 0.05
"""How long a request waits for connections that are about to be free; a new one takes about as long."""

_open_responses: set[HttpxResponse] = set()
"""Keeps connections from being garbage: collected together with a stream in a cycle, their sockets would be finalized
in any order, and warn. A stream that is dropped aborts its response, which takes it out again."""


class HttpxTransport:
    """Sends requests with httpx2. Usable from several event loops, one after the other or at once."""

    def __init__(
        self,
        client: httpx2.AsyncClient | None = None,
        *,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S,
    ) -> None:
        """Make a transport; nothing is opened.

        Args:
            client: a client to send with, its headers, proxies and pool included. It belongs to the caller, who closes
                it, and to one event loop. Default: one of our own for each loop, which takes proxies from the
                environment.
            timeout_s: seconds until the headers must be there (default 300); None waits without a limit.
            idle_timeout_s: seconds that the next slice of the body may take (default 300); None: no limit.
        Raises:
            ConfigError: UNSUPPORTED when httpx2 is not installed.
        """
        try:
            import_module("httpx2")
        except ImportError:
            raise ConfigError(
                "UNSUPPORTED", "HTTP outside of a browser needs httpx2, which is not installed: pip install httpx2."
            ) from None
        self._client = client
        self._timeout_s = timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._connections: dict[asyncio.AbstractEventLoop, _Connections] = {}
        # Collected in a cycle, connections would be finalized in any order, and sockets before who closes them. What
        # this holds is no garbage until its call has dropped it, which is when the transport is gone.
        weakref.finalize(self, self._connections.clear).atexit = False

    async def open(self, request: HttpRequest) -> Response:
        """Send the request and wait for the headers; any status but a redirect gives a response.

        Raises:
            NetworkError: NETWORK when there is no response, or a redirect.
            RequestTimeoutError: TIMEOUT when the headers did not come within `timeout_s`.
            ConfigError: INVALID_OPTIONS when the URL is not one.
        Cancellation:
            Closes the connection.
        """
        import httpx2

        connections = await self._connections_here()
        client = connections.client
        failure: UnspoolError | None = None
        response: httpx2.Response | None = None
        try:
            async with time_limit(self._timeout_s):
                if connections.drains:
                    await asyncio.wait(connections.drains, timeout=REST_WAIT_S)
                sent = client.build_request(
                    request.method,
                    request.url,
                    headers=request.headers,
                    content=request.body,
                    timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
                )
                with logs_without(request.secrets()):
                    response = await client.send(sent, stream=True, follow_redirects=False)
        except TimeoutError:
            whom = host_and_port(request.url)
            failure = RequestTimeoutError(f"No response from {whom} within {self._timeout_s:g} seconds.")
        except Exception as error:
            failure = _failure(error, request)
        if failure is not None:
            raise failure  # outside of the handler: the foreign error may show a header, and must not be its context
        assert response is not None
        opened = HttpxResponse(response, self._idle_timeout_s, connections, request.secrets())
        if 300 <= response.status_code < 400:
            await opened.close()
            raise redirect_refused()
        if "," in opened.headers.get("content-encoding", ""):
            await opened.close()
            raise NetworkError(
                "The answer is compressed more than once: 500 bytes could become gigabytes.", retryable=False
            )
        return opened

    async def _connections_here(self) -> _Connections:
        """Give those of the running loop."""
        loop = asyncio.get_running_loop()
        for dead in [other for other in list(self._connections) if other.is_closed()]:  # as it is: threads share it
            self._connections.pop(dead, None)
        here = self._connections.get(loop)
        if here is None or (self._client is None and here.client.is_closed):
            here = _Connections(self._client or _make_client())
            self._connections[loop] = here
            if self._client is None:
                here.keeper = _closing(here.client)
                await anext(here.keeper)
        return here


class _Connections:
    """Those of one event loop. Transport and open responses hold it."""

    __slots__ = ("client", "drains", "keeper")

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.drains: set[asyncio.Task[None]] = set()
        """Ends of bodies, after which a connection is free."""
        self.keeper: AsyncGenerator[None] | None = None
        """Closes the client, of one that is ours."""


async def _closing(client: httpx2.AsyncClient) -> AsyncGenerator[None]:
    """Close a client with its loop, which closes what generators it has seen started; or when nobody holds this."""
    try:
        yield
    finally:
        await client.aclose()


def _make_client() -> httpx2.AsyncClient:
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEPT_S)
    client = httpx2.AsyncClient(verify=_ssl_context(), limits=limits)
    client.headers.clear()
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # nothing goes from answer to request
    return client


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()  # reads the certificates: tens of milliseconds


class HttpxResponse(Draining):
    """A response that is being received by httpx2."""

    status: int
    headers: Mapping[str, str]

    def __init__(
        self,
        response: httpx2.Response,
        idle_timeout_s: float | None,
        connections: _Connections,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """Take over an open response of a client, to a request with such secrets."""
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._response = response
        self._connections = connections
        self._idle_timeout_s = idle_timeout_s
        self._idle_limit = TimeLimit(idle_timeout_s)
        self._slices: AsyncGenerator[bytes] = response.aiter_bytes()
        self._secrets = secrets
        self._begun = False
        self._loop = asyncio.get_running_loop()
        for dead in [other for other in list(_open_responses) if other._loop.is_closed()]:
            _open_responses.discard(dead)
        _open_responses.add(self)
        self._aborted = False
        self._closing: asyncio.Task[None] | None = None
        self._reading = False

    async def read(self) -> bytes | None:
        """Wait for the next slice of the body; None at its end.

        Raises:
            NetworkError: NETWORK when the connection broke.
            RequestTimeoutError: TIMEOUT when nothing came within `idle_timeout_s`.
            CallCancelledError: ABORTED after `abort` or `close`.
        Cancellation:
            Closes the connection.
        """
        failure: UnspoolError | None = None
        data: bytes | None = None
        if not self._aborted:
            self._reading = True
            try:
                async with self._idle_limit:
                    with logs_without(self._secrets):
                        data = await self._next()
            except TimeoutError:
                failure = RequestTimeoutError(f"Nothing was received for {self._idle_timeout_s:g} seconds.")
            except Exception as error:
                failure = _failure(error, None)
            finally:
                self._reading = False
        if self._aborted:  # while waiting: the read then ends in an error or as if the body were over
            failure = CallCancelledError("The response was aborted.")
        if failure is not None:
            self.abort()
            raise failure
        return data

    def _next(self) -> Awaitable[bytes | None]:
        if self._begun:
            return anext(self._slices, None)
        self._begun = True
        return _begin_unlisted(self._slices)

    def abort(self) -> None:
        """Stop receiving at once: the connection is shut down here, and released on its loop. Idempotent."""
        if self._aborted:
            return
        self._aborted = True
        self._shut_down()
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._start_release()
        else:  # dropped in another thread, or between two runs of the loop, or after its end
            try:
                self._loop.call_soon_threadsafe(self._start_release)
            except RuntimeError:  # it is closed
                _open_responses.discard(self)

    def drain(self) -> asyncio.Task[None]:
        """Read what is left in the background, and close; what has arrived is taken within this call."""
        task = super().drain()
        if not task.done():
            self._connections.drains.add(task)
            task.add_done_callback(self._connections.drains.discard)
        return task

    async def close(self) -> None:
        """Stop receiving and wait until the connection is released. Idempotent."""
        if asyncio.get_running_loop() is not self._loop:  # nobody here can wait for it
            self.abort()
            return
        self._aborted = True
        await asyncio.shield(self._start_release())

    def _shut_down(self) -> None:
        # Reaches the network without a turn of the loop, and even when there is none: from __del__ after asyncio.run.
        # Not when the connection is no longer ours alone: after the end of the body it is back in the pool of the
        # caller's client, and in HTTP/2 it carries other requests; there the release does it.
        if self._response.is_closed or self._response.http_version == "HTTP/2":
            return
        stream = self._response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if stream is not None else None
        if connection is not None:
            with contextlib.suppress(OSError):  # gone already
                connection.shutdown(socket.SHUT_RDWR)

    def _start_release(self) -> asyncio.Task[None]:
        if self._closing is None:
            # Eager: the connection is closed within this call, so that a loop about to end cannot cancel it first.
            self._closing = asyncio.Task(self._release(), loop=self._loop, eager_start=True)
        return self._closing

    async def _release(self) -> None:
        try:
            with contextlib.suppress(Exception):  # what cannot be closed is broken already, and nobody waits for news
                if not self._reading:
                    await self._slices.aclose()
                await self._response.aclose()
        finally:
            _open_responses.discard(self)


@types.coroutine
def _begin_unlisted(slices: AsyncGenerator[bytes]) -> Generator[Any, Any, bytes | None]:
    """Take the first step of generators that stand inside each other, and keep the loop from listing them.

    A loop that ends closes all that it has listed at once, where each would close the next or is at work: they fail,
    and it reports that. A response is released in order, by itself or with its client.
    """
    listing = sys.get_asyncgen_hooks().firstiter
    sys.set_asyncgen_hooks(firstiter=None)
    try:
        try:
            run = anext(slices, None).__await__()
            waited = run.send(None)
        finally:
            sys.set_asyncgen_hooks(firstiter=listing)
        while True:
            try:
                sent = yield waited
            except BaseException as error:
                waited = run.throw(error)
            else:
                waited = run.send(sent)
    except StopIteration as end:
        data: bytes | None = end.value
        return data


def _failure(error: Exception, request: HttpRequest | None) -> UnspoolError:
    """Turn a foreign error into ours; the most specific row wins."""
    import httpx2

    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return ConfigError("INVALID_OPTIONS", "The address is not a valid http(s) URL.")
    if isinstance(error, httpx2.LocalProtocolError):
        return ConfigError("INVALID_OPTIONS", "The request is not valid HTTP.")  # its text shows header values
    whom = "" if request is None else host_and_port(request.url)
    if isinstance(error, httpx2.TimeoutException):
        return RequestTimeoutError(f"No connection to {whom} within {CONNECT_TIMEOUT_S:g} seconds.")
    text = redact(said_by(error), *(request.secrets() if request else ()))[:300]
    what, advice = f"No response from {whom}", ""
    if request is None:
        what = "The connection broke while the answer was being received"
    elif isinstance(error, httpx2.ConnectError):
        what, advice = f"No connection to {whom}", " Is the server running, the address right, the network there?"
    return NetworkError(f"{what} ({text}).{advice}", retryable=isinstance(error, httpx2.HTTPError | OSError))
