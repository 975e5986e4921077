"""OpenAIResponsesAdapter: the Responses API of OpenAI and of servers that speak the same wire. Pure.

Nothing is stored with the provider: each request brings the whole conversation, encrypted reasoning included. Source:
OpenAI API reference, "Create a model response".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_tool_choice
from unspool.providers.failure import http_failure
from unspool.providers.openai_models import facts_of, listed_models
from unspool.providers.openai_responses_decoder import OpenAIResponsesDecoder
from unspool.providers.openai_responses_items import ADAPTER
from unspool.providers.openai_responses_messages import conversation_of
from unspool.providers.request import endpoint, key_headers, labelled_schema, lower_names, posted, sibling, with_extra

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["OpenAIResponsesAdapter", "OpenAIResponsesDecoder"]

_PATH = "/responses"


class OpenAIResponsesAdapter:
    """What differs between servers is set here, once for each server; nothing is guessed from answers."""

    name = ADAPTER
    base_url = "https://api.openai.com/v1"
    schema_dialect: Dialect = "openai"

    def __init__(
        self,
        *,
        encrypted_reasoning: bool | None = None,
        final_output: bool = True,
        schema_field: Literal["text", "response_format"] = "text",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            encrypted_reasoning: ask for the model's reasoning in encrypted form, so that it can be sent back in later
                turns. Default: for models that are known to reason and for requests with a reasoning effort; others
                refuse it.
            final_output: hold every tool call against the response that the closing event shows. Set it to False for
                servers that show an empty one there.
            schema_field: where the server looks for the output schema. llama.cpp's looks where chat completions have
                it, in `response_format`, and passes over `text`.
            headers: further headers of each request, such as Azure's `api-key`. In a page each one needs the server's
                consent (CORS), so none is sent unasked. Ours win.
        """
        self._encrypted_reasoning = encrypted_reasoning
        self._final_output = final_output
        self._schema_field = schema_field
        self._headers = lower_names(headers)

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours (those of `reasoning` and `text` one by one).
            api_key: sent as bearer token; None for servers without one.
            base_url: such as `https://api.openai.com/v1`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, a value
                without JSON form; UNSUPPORTED for stop texts, a seed, and a part that this wire has no form for.
        """
        return posted(endpoint(base_url, _PATH), key_headers(self._headers, api_key), self._body(request))

    def decoder(self, request: Request) -> OpenAIResponsesDecoder:
        """Make the decoder for the answer to this request."""
        limit = request.extra.get("max_output_tokens", request.max_output_tokens)
        return OpenAIResponsesDecoder(
            max_output_tokens=limit if isinstance(limit, int) else None, final_output=self._final_output
        )

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return http_failure(status, headers, body)

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model of OpenAI by its name; None for others."""
        return facts_of(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        return HttpRequest("GET", sibling(base_url, _PATH, "/models"), key_headers(self._headers, api_key), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)

    def _body(self, request: Request) -> dict[str, Any]:
        _refuse_what_is_not_there(request)
        stored = request.extra.get("store") is True
        instructions, items = conversation_of(request.messages, stored=stored)
        body: dict[str, Any] = {"model": request.model, "input": items, "stream": True, "store": False}
        if instructions is not None:
            body["instructions"] = instructions
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_output_tokens is not None:
            body["max_output_tokens"] = request.max_output_tokens
        if request.tools:
            # Left out, `strict` is true here, and refuses schemas with optional members.
            body["tools"] = [{"type": "function", "parameters": None, "strict": False} | tool for tool in request.tools]
        choice = check_tool_choice(request)
        if choice is not None:
            named = choice not in ("auto", "required", "none")
            body["tool_choice"] = {"type": "function", "name": choice} if named else choice
        if request.output_schema is not None:
            schema = labelled_schema(request.output_schema)
            if self._schema_field == "text":
                body["text"] = {"format": {"type": "json_schema", **schema}}
            else:
                body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.reasoning_effort is not None:
            body["reasoning"] = {"effort": request.reasoning_effort}
        if self._asks_for_reasoning(request):
            body["include"] = ["reasoning.encrypted_content"]
        return with_extra(body, request.extra, "reasoning", "text")

    def _asks_for_reasoning(self, request: Request) -> bool:
        if self._encrypted_reasoning is not None:
            return self._encrypted_reasoning
        facts = facts_of(request.model)
        if facts is not None:
            return bool(facts.reasoning_efforts)
        return request.reasoning_effort is not None


def _refuse_what_is_not_there(request: Request) -> None:
    if not request.messages:
        raise ConfigError("INVALID_OPTIONS", "The request has no messages.")
    if request.stop:
        raise ConfigError("UNSUPPORTED", "The Responses API has no stop texts; leave `stop` out.")
    if request.seed is not None:
        raise ConfigError("UNSUPPORTED", "The Responses API has no seed; leave `seed` out.")
