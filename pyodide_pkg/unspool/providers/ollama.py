"""OllamaAdapter: `/api/chat`, Ollama's own API. Pure.

Source: https://docs.ollama.com/api/chat; the types of the `ollama` SDK.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_count, check_tool_choice
from unspool.providers.failure import http_failure
from unspool.providers.ollama_decoder import ADAPTER, OllamaDecoder
from unspool.providers.ollama_messages import conversation_of
from unspool.providers.ollama_models import listed_models, shown_model
from unspool.providers.request import endpoint, key_headers, lower_names, posted, with_extra

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["OllamaAdapter", "OllamaDecoder", "OllamaShow"]

_STEM = re.compile(r"(?:/api(?:/chat)?)?/*(?=\?|$)")
_SWITCHES = {"none": False, "off": False, "on": True}


class OllamaAdapter:
    """What a server does not know by itself is set here."""

    name = ADAPTER
    base_url = "http://localhost:11434"
    schema_dialect: Dialect = "ollama"

    def __init__(
        self,
        *,
        num_ctx: int | None = None,
        keep_alive: str | int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            num_ctx: tokens of question and answer together. The server's own default is small, and it silently leaves
                out the beginning of what is longer.
            keep_alive: how long the model stays loaded, such as "10m", or seconds; -1 for ever.
            headers: further headers of each request. In a page each one needs the server's consent (CORS), so none is
                sent unasked. Ours win.
        Raises:
            ConfigError: INVALID_OPTIONS when num_ctx is no count.
        """
        if num_ctx is not None:
            check_count("num_ctx", num_ctx)
        self._num_ctx = num_ctx
        self._keep_alive = keep_alive
        self._headers = lower_names(headers)

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours (those of `options` one by one).
            api_key: sent as bearer token, as ollama.com wants it; None for servers without one.
            base_url: such as `http://localhost:11434`, with or without `/api`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, a value
                without JSON form; UNSUPPORTED for a demand of a tool, and for a part that this wire has no form for.
        """
        return posted(_address(base_url, "/api/chat"), key_headers(self._headers, api_key), self._body(request))

    def decoder(self, request: Request) -> OllamaDecoder:
        """Make the decoder for the answer to this request."""
        return OllamaDecoder()

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return http_failure(status, headers, body)

    def facts(self, model: str) -> ModelFacts | None:
        """A name says nothing: anyone names models here. `llms.Ollama.facts` asks the server."""
        return None

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        return HttpRequest("GET", _address(base_url, "/api/tags"), key_headers(self._headers, api_key), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)

    def show(self, model: str) -> OllamaShow:
        """Give the adapter that asks what one model is.

        Args:
            model: by name.
        """
        return OllamaShow(model, headers=self._headers)

    def _body(self, request: Request) -> dict[str, Any]:
        if not request.messages:
            raise ConfigError("INVALID_OPTIONS", "The request has no messages.")
        body: dict[str, Any] = {"model": request.model, "messages": conversation_of(request.messages), "stream": True}
        choice = check_tool_choice(request)
        if choice not in (None, "auto", "none"):
            raise ConfigError("UNSUPPORTED", "Ollama cannot be made to call a tool; leave tool_choice out.")
        if request.tools and choice != "none":
            body["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
        if request.output_schema is not None:
            body["format"] = request.output_schema.schema
        if request.reasoning_effort is not None:
            body["think"] = _SWITCHES.get(request.reasoning_effort, request.reasoning_effort)
        if self._keep_alive is not None:
            body["keep_alive"] = self._keep_alive
        options = {
            "num_ctx": self._num_ctx,
            "temperature": request.temperature,
            "num_predict": request.max_output_tokens,
            "seed": request.seed,
            "stop": request.stop or None,
        }
        options = {name: value for name, value in options.items() if value is not None}
        if options:
            body["options"] = options
        return with_extra(body, request.extra, "options")


class OllamaShow(OllamaAdapter):
    """Asks for the facts of one model instead of the list of all."""

    def __init__(self, model: str, *, headers: Mapping[str, str] | None = None) -> None:
        """
        Args:
            model: by name.
            headers: as of `OllamaAdapter`.
        """
        super().__init__(headers=headers)
        self._model = model

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask what the model is.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        return posted(_address(base_url, "/api/show"), key_headers(self._headers, api_key), {"model": self._model})

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it describes no model.
        """
        return [shown_model(self._model, body)]


def _address(base_url: str, path: str) -> str:
    """The reference names its address with `/api`, people without."""
    return endpoint(_STEM.sub("", base_url, count=1), path)
