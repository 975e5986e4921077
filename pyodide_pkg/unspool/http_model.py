"""HttpModel: a model behind HTTP. An adapter knows the wire, a transport sends, and this holds address and key."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Unpack, cast

from unspool.contracts import Adapter, ApiKey, HttpRequest, ProviderDecoder, Request, Response, Transport
from unspool.errors import ConfigError, UnspoolError, shown_url
from unspool.messages import ImagePolicy
from unspool.model import LanguageModel
from unspool.options import CallOptions
from unspool.providers.request import host_of, is_local
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S, default_transport

_TELLING_CHARS = 16
"""AWS has no shorter secret; a shorter part of a key says little."""
_ENDLESS_S = 1e9
"""Thirty years; the clocks of event loops hold no more than a float, and pages write any number."""


class HttpOptions(CallOptions, total=False):
    """What a model behind HTTP may be told when it is made, beside the options of calls."""

    api_key: ApiKey
    """A key, or an async function that fetches one before each request. None for servers without keys. It is never read
    from the environment. A key in a web page can be read by whoever opens the page: give pages a short-lived key, or a
    server of your own as `base_url`."""
    base_url: str | None
    """Address of the API; the vendor's own when left out."""
    transport: Transport | None
    """What sends the requests; it has its own limits on waiting. Default: that of this realm."""
    timeout_s: float | None
    """Seconds until the response's headers must be there (default 300); None: no limit."""
    idle_timeout_s: float | None
    """Seconds that the next slice of the answer may take (default 300); None: no limit."""
    image_input: bool | None
    """Whether the model is shown images; else each becomes one line of text. Default: what the adapter knows of it."""
    image_policy: ImagePolicy | None
    """Which images are left out of a request that has too many; none when left out."""


class HttpModel(LanguageModel):
    """A model of a provider, spoken to by an adapter."""

    base_url: str
    adapter: Adapter

    def __init__(
        self,
        model: str,
        *,
        adapter: Adapter,
        api_key: ApiKey = None,
        base_url: str | None = None,
        transport: Transport | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S,
        image_input: bool | None = None,
        image_policy: ImagePolicy | None = None,
        **defaults: Unpack[CallOptions],
    ) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            adapter: knows the provider's wire.
            api_key, base_url, transport, timeout_s, idle_timeout_s, image_input, image_policy: see `HttpOptions`.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        strays = sorted(set(defaults) - CallOptions.__optional_keys__)
        if strays:
            there_are = ", ".join(sorted(HttpOptions.__optional_keys__))
            raise ConfigError("INVALID_OPTIONS", f"There is no option {strays[0]!r}; there are {there_are}.")
        super().__init__(model, **defaults)
        if isinstance(adapter, type) or not callable(getattr(adapter, "build", None)):
            raise ConfigError(
                "INVALID_OPTIONS", "adapter must be an adapter that has been made, such as OpenAIChatAdapter()."
            )
        if api_key is not None and not isinstance(api_key, str) and not callable(api_key):
            raise ConfigError(
                "INVALID_OPTIONS",
                "api_key must be a text, or a function (not what it gives) that fetches one for each request.",
            )
        base_url = adapter.base_url if base_url is None else base_url
        if not isinstance(cast(Any, base_url), str) or not base_url:
            raise ConfigError("INVALID_OPTIONS", "base_url must be a text: the address of the API.")
        if transport is not None and (isinstance(transport, type) or not callable(getattr(transport, "open", None))):
            raise ConfigError("INVALID_OPTIONS", "A transport must be an object that has the method open.")
        self.base_url = base_url
        self.adapter = adapter
        self.schema_dialect = adapter.schema_dialect
        self._api_key = api_key
        self._transport = transport
        # A transport of the caller's own may add the key, as a proxy does.
        host = host_of(base_url)
        self._needs_key = transport is None and host == host_of(adapter.base_url) and not is_local(host)
        if image_policy is not None and not isinstance(cast(Any, image_policy), ImagePolicy):
            raise ConfigError("INVALID_OPTIONS", "image_policy must be an ImagePolicy.")
        if image_input not in (None, True, False):
            raise ConfigError("INVALID_OPTIONS", "image_input must be true, false or None.")
        self._sent: tuple[str, ...] = ()
        self._image_input = image_input
        self._image_policy = image_policy
        self._limits = (_seconds("timeout_s", timeout_s), _seconds("idle_timeout_s", idle_timeout_s))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={shown_url(self.base_url)!r})"

    async def _credential(self) -> str | None:
        key = await fetch_key(self._api_key)
        if key is None and self._needs_key:
            raise ConfigError(
                "MISSING_CREDENTIAL", f"{host_of(self.base_url)} needs a key: give the model one as api_key."
            )
        return key

    async def _open(self, request: Request, credential: str | None) -> Response:
        image_input = self._image_input
        if image_input is None:
            facts = self.adapter.facts(request.model)
            image_input = None if facts is None else facts.image_input
        request = request.projected(image_input=image_input, image_policy=self._image_policy)
        return await self._send(self.adapter.build(request, api_key=credential, base_url=self.base_url))

    def _secrets(self, credential: str | None) -> tuple[str, ...]:
        # Of AWS keys the secret and the token by themselves; the id before them is none.
        parts = (credential or "").split(":")[1:]
        return (*super()._secrets(credential), *(part for part in parts if len(part) >= _TELLING_CHARS), *self._sent)

    async def _send(self, sent: HttpRequest) -> Response:
        self._sent = sent.credentials()  # keys in headers of the adapter and in the address are the same each time
        if self._transport is None:
            timeout_s, idle_timeout_s = self._limits
            self._transport = default_transport(timeout_s=timeout_s, idle_timeout_s=idle_timeout_s)
        return await self._transport.open(sent)

    def _decoder(self, request: Request) -> ProviderDecoder:
        return self.adapter.decoder(request)

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
        return self.adapter.failure(status, headers, body)


def _seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise ConfigError("INVALID_OPTIONS", f"{name} must be a number of seconds above 0, or None.")
    return None if value >= _ENDLESS_S else value


async def fetch_key(api_key: ApiKey) -> str | None:
    """Give the key for one request.

    Raises:
        ConfigError: MISSING_CREDENTIAL when the function that fetches it fails or gives no text.
    """
    if api_key is None or isinstance(api_key, str):
        return api_key
    key: Any = None
    failed = ""
    try:
        key = api_key()
        if inspect.isawaitable(key):
            key = await key
    except UnspoolError:
        raise
    except Exception as error:
        failed = type(error).__name__
    if failed:  # outside of the handler: the foreign error may quote what was sent to get the key
        raise ConfigError("MISSING_CREDENTIAL", f"The function that fetches the key failed: {failed}.")
    if not isinstance(key, str) or not key:
        raise ConfigError("MISSING_CREDENTIAL", "The function that fetches the key gave no text.")
    return key
