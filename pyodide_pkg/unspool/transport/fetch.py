"""Requests through the `fetch` of the page, the worker or Node that Pyodide runs in.

In: HttpRequest. Out: a Response whose body is read with `getReader().read()` alone: Safari has no asynchronous
iteration over streams. `pyodide.http.pyfetch` is no help here: it cannot read a body slice by slice, and it reports
every failure of the network as an abort. No stack switching; nothing of JavaScript is touched at import.

What fetch is asked for, and what it is left to do by itself:
- `redirect: "manual"`: a redirect is an error, because following it would carry the key to another address.
- `credentials: "same-origin"` (its default): a page's own proxy sees the page's cookies, a provider never does.
- `cache`, `referrerPolicy`: untouched. A POST is never cached, and `no-store` would only add two headers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from unspool.contracts import HttpRequest, Response
from unspool.errors import CallCancelledError, NetworkError, RequestTimeoutError, redact
from unspool.time_limit import TimeLimit, time_limit
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S, host_and_port, redirect_refused
from unspool.transport.draining import Draining

if TYPE_CHECKING:
    from pyodide.ffi import JsException

Credentials = Literal["omit", "same-origin", "include"]


class FetchTransport:
    """Sends requests with JavaScript's `fetch`."""

    def __init__(
        self,
        *,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S,
        credentials: Credentials = "same-origin",
    ) -> None:
        """Make a transport; nothing is opened.

        Args:
            timeout_s: seconds until the headers must be there (default 300); None waits without a limit.
            idle_timeout_s: seconds that the next slice of the body may take (default 300); None: no limit.
            credentials: whose cookies go along; `include` is for a proxy of one's own on another origin.
        """
        self._timeout_s = timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._credentials: Credentials = credentials

    async def open(self, request: HttpRequest) -> Response:
        """Send the request and wait for the headers; any status but a redirect gives a response.

        Raises:
            NetworkError: NETWORK when there is no response, or a redirect.
            RequestTimeoutError: TIMEOUT when the headers did not come within `timeout_s`.
        Cancellation:
            Aborts the request on the network.
        """
        import js
        from pyodide.ffi import JsException, to_js

        controller = js.AbortController.new()
        options = to_js(
            {
                "method": request.method,
                "headers": request.headers,
                "redirect": "manual",
                "credentials": self._credentials,
            },
            dict_converter=js.Object.fromEntries,
        )
        options.signal = controller.signal
        if request.body:
            options.body = to_js(request.body)
        fault, whom = "", host_and_port(request.url)
        response: Any = None
        try:
            async with time_limit(self._timeout_s):
                response = await js.fetch(request.url, options)
        except TimeoutError:
            controller.abort()
            raise RequestTimeoutError(f"No response from {whom} within {self._timeout_s:g} seconds.") from None
        except JsException as error:
            fault = _words(error, request)
        except BaseException:  # cancellation, or the coroutine was closed
            controller.abort()
            raise
        if fault:
            raise NetworkError(
                f"No response from {whom} ({fault}). The browser does not say why. Is the server running? Else it may "
                "be the network or the address, the server's CORS headers, mixed content (an http: address on an "
                "https: page), or connect-src of the page's Content Security Policy; its console knows more."
            )
        if response.type == "opaqueredirect" or 300 <= response.status < 400:
            controller.abort()
            raise redirect_refused()
        return FetchResponse(response, controller, self._idle_timeout_s)


class FetchResponse(Draining):
    """A response that is being received by `fetch`."""

    status: int
    headers: Mapping[str, str]

    def __init__(self, response: Any, controller: Any, idle_timeout_s: float | None) -> None:
        """Take over a JavaScript `Response` and the AbortController of its request."""
        import js

        self.status = int(response.status)
        self.headers = js.Object.fromEntries(response.headers.entries()).to_py()
        self._controller = controller
        self._idle_timeout_s = idle_timeout_s
        self._idle_limit = TimeLimit(idle_timeout_s)
        self._reader: Any = response.body.getReader() if response.body else None
        self._aborted = False

    async def read(self) -> bytes | None:
        """Wait for the next slice of the body; None at its end.

        Raises:
            NetworkError: NETWORK when the connection broke.
            RequestTimeoutError: TIMEOUT when nothing came within `idle_timeout_s`.
            CallCancelledError: ABORTED after `abort` or `close`.
        Cancellation:
            Cancelling the waiting task leaves the response open; the owner then calls `abort` or `close`.
        """
        from pyodide.ffi import JsException

        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        if self._reader is None:
            return None
        fault = ""
        result: Any = None
        try:
            async with self._idle_limit:
                result = await self._reader.read()
        except TimeoutError:
            self.abort()
            raise RequestTimeoutError(f"Nothing was received for {self._idle_timeout_s:g} seconds.") from None
        except JsException as error:
            fault = _words(error)
        if self._aborted:  # while waiting: the read then ends in an error or as if the body were over
            raise CallCancelledError("The response was aborted.")
        if fault:
            self.abort()
            raise NetworkError(f"The connection broke while the answer was being received ({fault}).")
        if result.done:
            self._unlock()
            return None
        data: bytes = result.value.to_bytes()
        return data

    def abort(self) -> None:
        """Stop receiving at once: the request is cancelled on the network and the stream is unlocked. Idempotent."""
        if self._aborted or self._reader is None:
            return
        self._aborted = True
        self._controller.abort()
        # A stream that has failed answers cancel() with a rejection, which nobody else would handle.
        self._reader.cancel().catch(_ignore)
        self._unlock()

    async def close(self) -> None:
        """Stop receiving; nothing is left to wait for. Idempotent."""
        self.abort()

    def _unlock(self) -> None:
        from pyodide.ffi import JsException

        self._idle_limit.stop()
        reader, self._reader = self._reader, None
        # Engines from before 2022 refuse it while a read is pending; cancel() ends that read.
        with contextlib.suppress(JsException):
            reader.releaseLock()


def _ignore(_reason: object) -> None: ...


def _words(error: JsException, request: HttpRequest | None = None) -> str:
    text = f"{error.name}: {error.message}"
    return redact(text, *(request.secrets() if request else ()))[:300]
