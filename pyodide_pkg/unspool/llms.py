"""The ready-made models.

`OpenAIChat` speaks to OpenAI and to every server of that dialect, `Wllama` runs in the page, `FunctionModel` is any
function that gives text or chunks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from math import isinf
from typing import TYPE_CHECKING, Any, Unpack, cast

from unspool.contracts import ApiKey, Request, Response, Transport
from unspool.errors import ConfigError, UnspoolError, redact
from unspool.local.function import PieceDecoder, open_function
from unspool.model import LanguageModel
from unspool.options import CallOptions
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S, default_transport

if TYPE_CHECKING:
    from unspool.local.wllama import Wllama
    from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder

__all__ = ["FunctionModel", "OpenAIChat", "Wllama"]


def __getattr__(name: str) -> Any:
    if name == "Wllama":
        from unspool.local.wllama import Wllama

        return Wllama
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class OpenAIChat(LanguageModel):
    """A model behind OpenAI's chat completions API, or any server that speaks it."""

    base_url: str

    def __init__(
        self,
        model: str,
        *,
        api_key: ApiKey = None,
        base_url: str = "https://api.openai.com/v1",
        adapter: OpenAIChatAdapter | None = None,
        transport: Transport | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S,
        **defaults: Unpack[CallOptions],
    ) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            api_key: a key, or an async function that fetches one before each request. None for servers without keys. It
                is never read from the environment.
                A key in a web page can be read by whoever opens the page: give pages a short-lived key, or a server of
                your own as `base_url`.
            base_url: address up to and without `/chat/completions`.
            adapter: what differs on this server, as an `OpenAIChatAdapter` of `unspool.providers.openai_chat`: headers,
                names of fields, cumulative chunks.
            transport: what sends the requests; it has its own limits on waiting. Default: that of this realm.
            timeout_s: seconds until the response's headers must be there (default 300); None: no limit.
            idle_timeout_s: seconds that the next slice of the answer may take (default 300); None: no limit.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.openai_chat import OpenAIChatAdapter

        super().__init__(model, **defaults)
        if not isinstance(cast(Any, base_url), str):
            raise ConfigError("INVALID_OPTIONS", "base_url must be a text.")
        if transport is not None and not callable(getattr(transport, "open", None)):
            raise ConfigError("INVALID_OPTIONS", "A transport must have the method open.")
        self.base_url = base_url
        self._api_key = api_key
        self._adapter = adapter or OpenAIChatAdapter()
        self._transport = transport
        # A transport of the caller's own may add the key, as a proxy does.
        self._needs_key = transport is None and base_url.startswith("https://api.openai.com/")
        self._limits = (_seconds("timeout_s", timeout_s), _seconds("idle_timeout_s", idle_timeout_s))

    def __repr__(self) -> str:
        return f"OpenAIChat({self.model!r}, base_url={redact(self.base_url)!r})"

    async def _credential(self) -> str | None:
        key = await fetch_key(self._api_key)
        if key is None and self._needs_key:
            raise ConfigError("MISSING_CREDENTIAL", "OpenAI needs a key: give the model one as api_key.")
        return key

    async def _open(self, request: Request, credential: str | None) -> Response:
        sent = self._adapter.build(request, api_key=credential, base_url=self.base_url)
        if self._transport is None:
            timeout_s, idle_timeout_s = self._limits
            self._transport = default_transport(timeout_s=timeout_s, idle_timeout_s=idle_timeout_s)
        return await self._transport.open(sent)

    def _decoder(self, request: Request) -> OpenAIChatDecoder:
        return self._adapter.decoder(request)

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
        return self._adapter.failure(status, headers, body)


class FunctionModel(LanguageModel):
    """Any function as a model: it takes the `Request` and gives the answer in pieces."""

    def __init__(
        self, generate: Callable[[Request], Any], *, model: str = "function", **defaults: Unpack[CallOptions]
    ) -> None:
        """Wrap a function, Python's or JavaScript's.

        Args:
            generate: gives an asynchronous or plain iterable (generators, lists, JavaScript's async iterables and
                ReadableStreams) of texts, chunks (`unspool.stream.chunks`) or OpenAI chat chunks (dicts, JavaScript
                objects); or one such piece; or an awaitable of any of these. Leaving the stream early closes the
                iterable: `aclose()`, `close()`, `return()` or `cancel()`.
            model: a name for it.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS when `generate` cannot be called.
        """
        super().__init__(model, **defaults)
        if not callable(generate):
            raise ConfigError("INVALID_OPTIONS", "A function model needs a function that takes the request.")
        self._generate = generate

    async def _open(self, request: Request, credential: str | None) -> Response:
        return await open_function(self._generate, request)

    def _decoder(self, request: Request) -> PieceDecoder:
        return PieceDecoder()


def _seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise ConfigError("INVALID_OPTIONS", f"{name} must be a number of seconds above 0, or None.")
    return None if isinf(value) else value


async def fetch_key(api_key: ApiKey) -> str | None:
    """Give the key for one request.

    Raises:
        ConfigError: MISSING_CREDENTIAL when the function that fetches it fails or gives no text.
    """
    if api_key is None or isinstance(api_key, str):
        return api_key
    try:
        key: Any = api_key()
        if inspect.isawaitable(key):
            key = await key
    except UnspoolError:
        raise
    except Exception as error:
        # The message may quote what the function sent to get the key, so only its type is shown.
        raise ConfigError(
            "MISSING_CREDENTIAL", f"The function that fetches the key failed: {type(error).__name__}."
        ) from error
    if not isinstance(key, str) or not key:
        raise ConfigError("MISSING_CREDENTIAL", "The function that fetches the key gave no text.")
    return key
