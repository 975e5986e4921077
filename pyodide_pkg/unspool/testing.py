"""Public test doubles: a transport that plays a script, a model with a fixed answer; and the tests
that every adapter should pass.

They need no network, no event loop of their own and no test framework, and work in every realm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, cast

from unspool.contracts import HttpRequest, Request, Response
from unspool.errors import CallCancelledError, ConfigError
from unspool.integrations.contract_kit import ContractTest, adapter_contract_tests
from unspool.llms import FunctionModel
from unspool.options import CallOptions, check_count

__all__ = [
    "ContractTest",
    "HttpResponse",
    "ScriptedResponse",
    "ScriptedTransport",
    "StaticResponse",
    "adapter_contract_tests",
]


def __dir__() -> list[str]:
    return sorted(__all__)


Slice = bytes | Exception | asyncio.Event
"""Of a scripted body: bytes that arrive, an error that breaks the connection, an event to wait for."""


class HttpResponse:
    """A scripted answer to one request."""

    def __init__(
        self,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        body: bytes | Sequence[Slice] = b"",
        *,
        after: asyncio.Event | None = None,
    ) -> None:
        """
        Args:
            status: HTTP status.
            headers: names in any case. Default: `content-type: text/event-stream`.
            body: bytes, or slices: bytes, an exception to raise, or an `asyncio.Event` to wait for.
            after: the headers come when this event is set; one that is never set is a server that never answers.
        """
        is_made = isinstance(cast(Any, status), int) and isinstance(cast(Any, headers), Mapping | None)
        if not is_made or isinstance(cast(Any, body), str):
            raise ConfigError(
                "INVALID_OPTIONS", "A response has a number as status, a mapping as headers and a body of bytes."
            )
        self.status = status
        given = {"content-type": "text/event-stream"} if headers is None else headers
        self.headers = {name.lower(): value for name, value in given.items()}
        self.body: list[Slice] = [body] if isinstance(body, bytes) else list(body)
        self.after = after


Reply = bytes | Sequence[Slice] | HttpResponse | Exception
"""An answer: the body of an event stream, its slices, a whole response, or an error instead of a response."""


def _is_row(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _checked(reply: Any) -> Reply:
    body = reply.body if isinstance(reply, HttpResponse) else reply
    pieces: Any = [body] if isinstance(body, bytes | Exception) else body
    if not _is_row(pieces) or not all(isinstance(piece, bytes | Exception | asyncio.Event) for piece in pieces):
        raise ConfigError(
            "INVALID_OPTIONS",
            "A reply must be bytes, a list of bytes, an HttpResponse or an exception; text must be encoded.",
        )
    return cast(Reply, reply)


class ScriptedTransport:
    """A transport that answers requests out of a script."""

    requests: list[HttpRequest]
    """Every request, in order."""
    responses: list[ScriptedResponse]
    """Every response that was opened, in order."""
    aborted: int
    """How many requests were cancelled before their headers came."""

    def __init__(
        self, replies: Sequence[Reply] = (), on_request: Callable[[HttpRequest], Reply | None] | None = None
    ) -> None:
        """
        Args:
            replies: one answer for each request, in order.
            on_request: called with each request; what it gives, unless None, is the answer instead.
        """
        self.requests = []
        self.responses = []
        self.aborted = 0
        if not _is_row(replies) or (on_request is not None and not callable(on_request)):
            raise ConfigError(
                "INVALID_OPTIONS", "A script is a list of replies, one for each request; on_request is a function."
            )
        self._replies = [_checked(reply) for reply in replies]
        self._on_request = on_request

    async def open(self, request: HttpRequest) -> Response:
        """Answer a request.

        Args:
            request: it is kept in `requests`.
        Raises:
            ConfigError: INVALID_OPTIONS when the script has no answer left.
            Exception: that of the script.
        Cancellation:
            Counts in `aborted`; the answer is used up.
        """
        self.requests.append(request)
        reply = self._on_request(request) if self._on_request is not None else None
        if reply is None:
            if not self._replies:
                raise ConfigError("INVALID_OPTIONS", f"The script has no answer to request {len(self.requests)}.")
            reply = self._replies.pop(0)
        reply = _checked(reply)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, HttpResponse):
            reply = HttpResponse(body=reply)
        try:
            if reply.after is None:
                await asyncio.sleep(0)
            else:
                await reply.after.wait()
        except BaseException:
            self.aborted += 1
            raise
        response = ScriptedResponse(reply)
        self.responses.append(response)
        return response


class ScriptedResponse:
    """A response out of a script, and what became of it."""

    status: int
    headers: Mapping[str, str]
    reads: int
    """How many slices were asked for."""
    aborted: bool
    """Whether it was stopped before its body was over."""
    closed: bool
    """Whether `close` was called."""

    def __init__(self, reply: HttpResponse) -> None:
        """Made by `ScriptedTransport`."""
        self.status = reply.status
        self.headers = reply.headers
        self.reads = 0
        self.aborted = False
        self.closed = False
        self._body = list(reply.body)
        self._over = False
        self._stopped = asyncio.Event()

    async def read(self) -> bytes | None:
        """Give the next slice of the script; see `contracts.Response`.

        Cancellation:
            The response stays open.
        """
        self.reads += 1
        while True:
            await asyncio.sleep(0)
            if self.aborted:
                raise CallCancelledError("The response was aborted.")
            if not self._body:
                self._over = True
                return None
            piece = self._body.pop(0)
            if isinstance(piece, bytes):
                return piece
            if isinstance(piece, Exception):
                raise piece
            await self._wait(piece)

    def abort(self) -> None:
        """Stop at once; see `contracts.Response`."""
        if not self._over:
            self.aborted = True
            self._stopped.set()

    async def close(self) -> None:
        """Stop; see `contracts.Response`."""
        self.abort()
        self.closed = True

    async def _wait(self, event: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(self._stopped.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


class StaticResponse(FunctionModel):
    """A model that always gives the same answer."""

    def __init__(self, text: str, chunk_chars: int | None = None, **defaults: Unpack[CallOptions]) -> None:
        """
        Args:
            text: the answer.
            chunk_chars: length of the pieces in which it comes, 1 or more; default: in one.
            defaults: see `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        if not isinstance(cast(Any, text), str):
            raise ConfigError(
                "INVALID_OPTIONS",
                'The answer of a static model must be text: us.format_value(value, "json") writes a value. Messages '
                "and calls of tools are given by a us.llms.FunctionModel.",
            )
        if chunk_chars is not None:
            check_count("chunk_chars", chunk_chars)
        super().__init__(self._answer, model="static", **defaults)
        size = chunk_chars or len(text) or 1
        self._pieces = [text[at : at + size] for at in range(0, len(text), size)]

    def _answer(self, _request: Request) -> list[str]:
        return self._pieces
