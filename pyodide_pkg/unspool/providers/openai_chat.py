"""OpenAIChatAdapter: chat completions of OpenAI and of the many servers that speak the same wire. Pure.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_tool_choice
from unspool.providers.failure import http_failure
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.providers.openai_chat_messages import OpenAIChatConversation
from unspool.providers.openai_models import facts_of, listed_models
from unspool.providers.request import (
    endpoint,
    host_of,
    key_headers,
    labelled_schema,
    lower_names,
    posted,
    sibling,
    with_extra,
)

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["OpenAIChatAdapter", "OpenAIChatDecoder"]

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]

_PATH = "/chat/completions"
_OPENAI_HOSTS = (".openai.com", ".openai.azure.com")


class OpenAIChatAdapter:
    """What differs between compatible servers is set here, once for each server; nothing is guessed from answers."""

    name: str
    base_url: str
    schema_dialect: Dialect

    def __init__(
        self,
        *,
        name: str = "openai-chat",
        base_url: str = "https://api.openai.com/v1",
        max_tokens_field: MaxTokensField | None = None,
        include_usage: bool = True,
        reasoning_field: str | None = None,
        cumulative: bool = False,
        choice: int = 0,
        headers: Mapping[str, str] | None = None,
        key_header: str = "authorization",
        seed_field: str = "seed",
        images_in_tool_results: bool = False,
        schema_dialect: Dialect = "openai",
        models_path: str = "/models",
        facts: Callable[[str], ModelFacts | None] = facts_of,
    ) -> None:
        """
        Args:
            name: under which answers are known; reasoning that must come back unread goes to adapters of this name.
            base_url: the server's own address; an empty text when there is none, as for Azure.
            max_tokens_field: how the server calls the output limit. Default: `max_completion_tokens` for OpenAI and
                Azure, whose reasoning models refuse the other; `max_tokens` for all else, which every server knows.
            include_usage: ask for token counts (`stream_options`). Set it to False for servers that refuse the field.
            reasoning_field: send reasoning back in assistant messages under this name (DeepSeek: `reasoning_content`),
                an empty text included. Default: not sent.
            cumulative: the server sends in each event the whole text so far.
            choice: index of the choice that is read, for requests with `n` in `extra`.
            headers: further headers of each request. In a page each one needs the server's consent (CORS), so none is
                sent unasked. Ours win.
            key_header: which header carries the key; any but `authorization` carries it bare (Azure: `api-key`).
            seed_field: how the server calls the seed (Mistral: `random_seed`).
            images_in_tool_results: the server takes images in tool messages. Most do not: a user message behind the
                results shows them.
            schema_dialect: the part of JSON Schema that the server holds answers to; "ollama" for llama.cpp's grammars.
            models_path: where the server lists its models: under the base URL, or with `//` under the host's root.
            facts: what is known of a model by its name.
        """
        self.name = name
        self.base_url = base_url
        self._max_tokens_field: MaxTokensField | None = max_tokens_field
        self._include_usage = include_usage
        self._cumulative = cumulative
        self._choice = choice
        self._headers = lower_names(headers)
        self._key_header = key_header.lower()
        self._seed_field = seed_field
        self._conversation = OpenAIChatConversation(
            name, reasoning_field=reasoning_field, images_in_results=images_in_tool_results
        )
        self.schema_dialect = schema_dialect
        self._models_path = models_path
        self._facts = facts

    def __repr__(self) -> str:
        return f"OpenAIChatAdapter(name={self.name!r})"

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours.
            api_key: sent as bearer token, or in the header of the profile; None for servers without one.
            base_url: such as `https://api.openai.com/v1`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, a value
                without JSON form; UNSUPPORTED for a part that this wire has no form for.
        """
        return posted(endpoint(base_url, _PATH), self._sent_headers(api_key), self._body(request, base_url))

    def decoder(self, request: Request) -> OpenAIChatDecoder:
        """Make the decoder for the answer to this request."""
        return OpenAIChatDecoder(adapter=self.name, choice=self._choice, cumulative=self._cumulative)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return http_failure(status, headers, body)

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model by its name."""
        return self._facts(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        return HttpRequest("GET", sibling(base_url, _PATH, self._models_path), self._sent_headers(api_key), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)

    def _sent_headers(self, api_key: str | None) -> dict[str, str]:
        return key_headers(self._headers, api_key, self._key_header)

    def _body(self, request: Request, base_url: str) -> dict[str, Any]:
        if not request.messages:
            raise ConfigError("INVALID_OPTIONS", "The request has no messages.")
        body: dict[str, Any] = {
            "model": request.model,
            "messages": self._conversation.write(request.messages),
            "stream": True,
        }
        if self._include_usage:
            body["stream_options"] = {"include_usage": True}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_output_tokens is not None:
            body[self._max_tokens_field or _max_tokens_field(base_url)] = request.max_output_tokens
        if request.stop:
            body["stop"] = list(request.stop)
        if request.seed is not None:
            body[self._seed_field] = request.seed
        if request.reasoning_effort is not None:
            body["reasoning_effort"] = request.reasoning_effort
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
        choice = check_tool_choice(request)
        if choice is not None:
            named = choice not in ("auto", "required", "none")
            body["tool_choice"] = {"type": "function", "function": {"name": choice}} if named else choice
        if request.output_schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": labelled_schema(request.output_schema)}
        return with_extra(body, request.extra)


def _max_tokens_field(base_url: str) -> MaxTokensField:
    return "max_completion_tokens" if f".{host_of(base_url)}".endswith(_OPENAI_HOSTS) else "max_tokens"
