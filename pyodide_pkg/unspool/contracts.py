"""The seams of the library, each as a Protocol or a small class: what plugs in where. Nothing here does IO.

A `Request` is neutral; an `Adapter` turns it into an `HttpRequest` and makes the `ProviderDecoder` for the answer; a
`Transport` sends it and gives a `Response`; `ResponseMachine` decodes. A model in the page has no HTTP: it gives a
`Response` whose slices are already decoded.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from unspool.errors import ConfigError, UnspoolError, redact

if TYPE_CHECKING:
    from unspool.messages import Message
    from unspool.stream.chunks import Chunk

_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, token
# ASCII, because clients disagree on the rest; no white space at the ends.
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")


class Request:
    """One call of a model, in neutral terms. Treat it as frozen once it has been built."""

    __slots__ = (
        "extra",
        "max_output_tokens",
        "messages",
        "model",
        "output_schema",
        "seed",
        "stop",
        "temperature",
        "tools",
    )

    def __init__(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        stop: Sequence[str] = (),
        seed: int | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        output_schema: OutputSchema | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.messages = tuple(messages)
        self.temperature = temperature
        self.max_output_tokens = max_output_tokens
        self.stop = tuple(stop)
        self.seed = seed
        self.tools = tuple(tools)
        """Each `{"name", "description", "parameters"}`, parameters being a JSON Schema."""
        self.output_schema = output_schema
        """What the provider is asked to hold the answer to (native structured output)."""
        self.extra = dict(extra) if extra else {}
        """Further members of the provider's request body, as they are; they win over ours."""


class OutputSchema:
    """A JSON Schema that the provider is asked to hold its answer to."""

    __slots__ = ("name", "schema", "strict")

    def __init__(self, name: str, schema: Mapping[str, Any], strict: bool = True) -> None:
        self.name = name
        self.schema = schema
        self.strict = strict


class HttpRequest:
    """One HTTP request, ready to send. The repr shows neither header values nor the body: they hold secrets."""

    __slots__ = ("body", "headers", "method", "url")

    def __init__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Check and keep the parts.

        Raises:
            ConfigError: INVALID_OPTIONS when a header cannot be sent. The message names the header, not its value,
                which the HTTP libraries would show.
        """
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ConfigError("INVALID_OPTIONS", f"The header {name!r} holds characters that HTTP does not allow.")
        self.method = method
        self.url = url
        self.headers = dict(headers)
        self.body = body

    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown: those of all headers but the content's, and their last words (`Bearer …`)."""
        values = [value for name, value in self.headers.items() if name.lower() not in ("content-type", "accept")]
        return (*values, *(value.rpartition(" ")[2] for value in values))

    def __repr__(self) -> str:
        return (
            f"HttpRequest({self.method} {redact(self.url)!r}, headers={sorted(self.headers)}, {len(self.body)} bytes)"
        )


class Response(Protocol):
    """An answer that is being received: headers are there, the body comes in slices."""

    status: int
    """HTTP status; 200 for models in the page."""
    headers: Mapping[str, str]
    """Names in lower case. In a browser only what CORS exposes."""

    async def read(self) -> bytes | Sequence[Any] | None:
        """Wait for the next slice: bytes of an HTTP body, a list of decoded events, or None at the end.

        Raises:
            NetworkError: NETWORK when the connection broke.
            RequestTimeoutError: TIMEOUT when nothing came in time.
            CallCancelledError: ABORTED when `abort` or `close` came before or while waiting.
        Cancellation:
            Cancelling the waiting task leaves the response open; the owner then calls `abort` or `close`.
        """
        ...

    def abort(self) -> None:
        """Stop receiving at once, without waiting: the request is cancelled on the network. Idempotent."""
        ...

    async def close(self) -> None:
        """Stop receiving and wait until everything is released. Idempotent."""
        ...


class Transport(Protocol):
    """Sends requests. The only IO of the library."""

    async def open(self, request: HttpRequest) -> Response:
        """Send the request and wait for the headers; any status but a redirect gives a response.

        Raises:
            NetworkError: NETWORK when there is no response, or a redirect: followed, it would carry the key away.
            RequestTimeoutError: TIMEOUT when the headers did not come in time.
        Cancellation:
            Aborts the request on the network.
        """
        ...


class ProviderDecoder(Protocol):
    """Turns one vendor's events of one response into chunks. Synchronous; no IO, no clock.

    Emits blocks, at most one `UsageReport`, and one `Finish`: when the vendor says that the response is over, in words
    or by an error object, else from `finish`. After it every call gives nothing.
    """

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Raises:
            StreamError: when the data is not JSON; nothing was changed. `ResponseMachine` makes PROTOCOL of it.
        """
        ...

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event that is already a value (a model in the page, or a whole JSON body)."""
        ...

    def finish(self) -> list[Chunk]:
        """The body is over: end what is open and give what is left, ending with `Finish`.

        `ResponseMachine` also calls it after a fault, for the rest and the usage, and puts the fault into the `Finish`.
        """
        ...


class Adapter(Protocol):
    """Knows one vendor's wire. Pure: it never sees a socket, a clock or a random number."""

    name: str

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP. Raises ConfigError (INVALID_OPTIONS, INVALID_CREDENTIAL)."""
        ...

    def decoder(self, request: Request) -> ProviderDecoder:
        """Make the decoder for the answer to this request."""
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        ...


@runtime_checkable
class Signal(Protocol):
    """What stops a call from outside: an `asyncio.Event` (set means stop) or anything of that shape.

    A JavaScript `AbortSignal` is accepted wherever a signal is.
    """

    def is_set(self) -> bool: ...

    async def wait(self) -> Any: ...


ApiKey = str | Callable[[], Awaitable[str]] | None
"""A key, or an async callable that fetches one for each request."""
