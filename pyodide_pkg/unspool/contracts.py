"""The seams of the library, each as a Protocol or a small class: what plugs in where. Nothing here does IO.

A `Request` is neutral; an `Adapter` turns it into an `HttpRequest` and makes the `ProviderDecoder` for the answer; a
`Transport` sends it and gives a `Response`; `ResponseMachine` decodes. A model in the page has no HTTP: it gives a
`Response` whose slices are already decoded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from unspool.errors import ConfigError, UnspoolError, redact
from unspool.frozen_json import FrozenDict, FrozenList, freeze, freeze_object
from unspool.http_request import HttpRequest
from unspool.immutable import Immutable
from unspool.messages import ImagePolicy, Message, project, unnested

if TYPE_CHECKING:
    from unspool.schema.native import Dialect
    from unspool.stream.chunks import Chunk

__all__ = [
    "Adapter",
    "ApiKey",
    "HttpRequest",
    "ModelFacts",
    "OutputSchema",
    "ProviderDecoder",
    "Request",
    "Response",
    "Signal",
    "Transport",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class Request(Immutable):
    """One call of a model, in neutral terms. Frozen through and through: whoever is handed one can only read it."""

    __slots__ = (
        "extra",
        "max_output_tokens",
        "messages",
        "model",
        "output_schema",
        "reasoning_effort",
        "seed",
        "stop",
        "temperature",
        "tool_choice",
        "tools",
    )
    model: str
    """The provider's name of the model."""
    messages: tuple[Message, ...]
    """The conversation; none stands inside another."""
    temperature: float | None
    """0 or more; None here and below: the provider's default."""
    max_output_tokens: int | None
    """1 or more."""
    stop: tuple[str, ...]
    """Texts before which the answer ends."""
    seed: int | None
    """Asks for a repeatable answer."""
    reasoning_effort: str | None
    """How long the model is to think, in the provider's own words."""
    tools: FrozenList
    """Each `{"name", "description", "parameters"}`, parameters being a JSON Schema."""
    tool_choice: str | None
    """"auto", "required", "none", or the name of the tool that must be called."""
    output_schema: OutputSchema | None
    """What the provider is asked to hold the answer to (native structured output)."""
    extra: FrozenDict
    """Further members of the provider's request body, as they are; they win over ours."""

    def __init__(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        stop: Sequence[str] = (),
        seed: int | None = None,
        reasoning_effort: str | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: str | None = None,
        output_schema: OutputSchema | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Copy and freeze what is asked for.

        Args:
            model, messages, temperature, max_output_tokens, stop, seed, reasoning_effort: as the attributes.
            tools, tool_choice, output_schema, extra: as the attributes.
        Raises:
            ConfigError: INVALID_OPTIONS when tools, extra or a schema hold what JSON cannot write.
        """
        if not isinstance(cast(Any, tools), list | tuple) or not all(isinstance(t, Mapping) for t in cast(Any, tools)):
            raise ConfigError("INVALID_OPTIONS", "tools must be a list of mappings.")
        values = {
            "model": model,
            "messages": tuple(unnested(messages)),
            "temperature": temperature,
            "max_output_tokens": max_output_tokens,
            "stop": (stop,) if isinstance(stop, str) else tuple(stop or ()),
            "seed": seed,
            "reasoning_effort": reasoning_effort,
            "tools": freeze(list(tools), "tools"),
            "tool_choice": tool_choice,
            "output_schema": output_schema,
            "extra": freeze_object(extra, "extra"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def replaced(self, **changes: Any) -> Request:
        """Give a request that differs in the members named.

        Args:
            changes: arguments of the constructor.
        Raises:
            ConfigError: INVALID_OPTIONS, as the constructor.
        """
        return Request(**{name: getattr(self, name) for name in self.__slots__} | changes)

    def __repr__(self) -> str:
        last = self.messages[-1] if self.messages else None
        said = f", the last by {last.role}: {redact(last.text[:2_000])[:60]!r}" if last and last.text else ""
        shown = {name: getattr(self, name) for name in self.__slots__ if name not in ("model", "messages")}
        shown |= {
            "tools": [tool.get("name") for tool in self.tools],
            "extra": sorted(self.extra),  # its values may be secrets
            "output_schema": self.output_schema and self.output_schema.name,
        }
        told = [f", {name}={value!r}" for name, value in shown.items() if value not in (None, (), [])]
        return f"Request({self.model!r}, {len(self.messages)} message(s){said}{''.join(told)})"

    def projected(self, *, image_input: bool | None = None, image_policy: ImagePolicy | None = None) -> Request:
        """Give the request that one route can take: files, and images where it takes none, as lines of text.

        Args:
            image_input, image_policy: see `unspool.messages.project`.
        Returns:
            This very request when nothing changes.
        """
        messages = project(self.messages, image_input=image_input, image_policy=image_policy)
        same = all(one is other for one, other in zip(messages, self.messages, strict=True))
        return self if same else self.replaced(messages=messages)


class OutputSchema(Immutable):
    """A JSON Schema that the provider is asked to hold its answer to."""

    __slots__ = ("name", "schema", "strict")
    name: str
    """What the provider is told it is called: letters, digits, `_` and `-`."""
    schema: FrozenDict
    """In the part of JSON Schema that the provider takes."""
    strict: bool
    """Whether the provider is to hold the answer to it, or only sees it."""

    def __init__(self, name: str, schema: Mapping[str, Any], strict: bool = True) -> None:
        """
        Args:
            name, schema, strict: as the attributes; the schema is copied.
        Raises:
            ConfigError: INVALID_OPTIONS when the schema holds what JSON cannot write.
        """
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "schema", freeze_object(schema, "output_schema"))
        object.__setattr__(self, "strict", strict)


class ModelFacts:
    """What is known of one model. None: not known."""

    __slots__ = (
        "context_window",
        "default_output_tokens",
        "id",
        "image_input",
        "max_output_tokens",
        "reasoning_efforts",
    )

    def __init__(
        self,
        id: str,
        *,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        default_output_tokens: int | None = None,
        reasoning_efforts: Sequence[str] | None = None,
        image_input: bool | None = None,
    ) -> None:
        if not isinstance(cast(Any, id), str) or isinstance(reasoning_efforts, str):
            raise ConfigError(
                "INVALID_OPTIONS", "A model is named by a text; its reasoning_efforts are a list of texts."
            )
        self.id = id
        """The provider's name of the model."""
        self.context_window = context_window
        """Tokens that question and answer may have together."""
        self.max_output_tokens = max_output_tokens
        """Tokens that an answer may have at most."""
        self.default_output_tokens = default_output_tokens
        """The limit that a request gets which states none."""
        self.reasoning_efforts = None if reasoning_efforts is None else tuple(reasoning_efforts)
        """The efforts that it takes, in the provider's words; empty when it takes none."""
        self.image_input = image_input
        """Whether it can be shown pictures."""


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

        Args:
            request: what to send.
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
        """Decode one event of a stream: server-sent, a line of JSON (named "message"), or a message of AWS's framing.

        Args:
            name: its event type; `message` where it has none.
            data: its data.
        Raises:
            StreamError: when the data is not JSON; nothing was changed. `ResponseMachine` makes PROTOCOL of it.
        """
        ...

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event that is already a value (a model in the page, or a whole JSON body).

        Args:
            event: plain data.
        """
        ...

    def finish(self) -> list[Chunk]:
        """The body is over: end what is open and give what is left, ending with `Finish`.

        `ResponseMachine` also calls it after a fault, for the rest and the usage, and puts the fault into the `Finish`.
        """
        ...


class Adapter(Protocol):
    """Knows one vendor's wire. Pure: it never sees a socket, a clock or a random number."""

    name: str
    """Names the dialect, and with it whose replay state it reads."""
    base_url: str
    """The vendor's own address, which is asked for a key; an empty text when there is none."""
    schema_dialect: Dialect
    """Which part of JSON Schema the vendor holds answers to."""

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what is asked.
            api_key: the credential; None without one.
            base_url: address of the API.
        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        ...

    def decoder(self, request: Request) -> ProviderDecoder:
        """Make the decoder for the answer to this request.

        Args:
            request: what was asked.
        """
        ...

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut.

        Args:
            status: the HTTP status.
            headers: names in lower case.
            body: what was read of it.
        """
        ...

    def facts(self, model: str) -> ModelFacts | None:
        """Say what the adapter knows of a model by its name; None when it knows nothing.

        Args:
            model: the provider's name of it.
        """
        ...

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Args:
            api_key, base_url: as in `build`.
        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        ...

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed: what the endpoint says, and nothing that `facts` knows.

        Args:
            body: the JSON, parsed.
        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        ...


@runtime_checkable
class Signal(Protocol):
    """What stops a call from outside: an `asyncio.Event` (set means stop) or anything of that shape.

    A JavaScript `AbortSignal` is accepted wherever a signal is.
    """

    def is_set(self) -> bool:
        """Whether the call is to stop."""
        ...

    async def wait(self) -> Any:
        """Wait until it is.

        Cancellation:
            Expected: it is cancelled when the call is over.
        """
        ...


ApiKey = str | Callable[[], Awaitable[str]] | None
"""A key, or an async callable that fetches one for each request."""
