"""CohereAdapter: the chat API of Cohere, version 2. Pure.

Source: Cohere API reference, "Chat with Streaming" (v2), "List Models", "Errors"; documentation, "Reasoning
Capabilities", "Structured Outputs".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_tool_choice
from unspool.providers.cohere_decoder import CohereDecoder
from unspool.providers.cohere_messages import ADAPTER, conversation_of
from unspool.providers.cohere_models import EFFORTS, facts_of, listed_models
from unspool.providers.failure import http_failure
from unspool.providers.fields import text_or_none
from unspool.providers.request import endpoint, key_headers, lower_names, posted, with_extra, with_query
from unspool.stream.excerpt import excerpt

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["CohereAdapter", "CohereDecoder"]

_STEM = re.compile(r"(?:/v[12](?:/chat)?)?/*(?=\?|$)")
_BUDGETS = {"low": 1_024, "medium": 4_096}
"""Tokens for thinking; for "high" there is no limit, as Cohere advises."""
_FOR_JSON = "Answer with JSON."
"""Unless it is told so, a model that is held to JSON may write white space without end."""


class CohereAdapter:
    """What differs between servers is set here, once for each server."""

    name = ADAPTER
    base_url = "https://api.cohere.com"
    schema_dialect: Dialect = "cohere"

    def __init__(self, *, headers: Mapping[str, str] | None = None) -> None:
        """
        Args:
            headers: further headers of each request, such as `x-client-name`. In a page each one needs the server's
                consent (CORS), so none is sent unasked. Ours win.
        """
        self._headers = lower_names(headers)

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours.
            api_key: sent as bearer token; None for servers without one.
            base_url: such as `https://api.cohere.com`, also with `/v2`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, an unknown
                reasoning effort, a value without JSON form; UNSUPPORTED for a part that this wire has no form for.
        """
        return posted(_endpoint(base_url, "/v2/chat"), key_headers(self._headers, api_key), _body(request))

    def decoder(self, request: Request) -> CohereDecoder:
        """Make the decoder for the answer to this request."""
        return CohereDecoder()

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return _refined(http_failure(status, headers, body))

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model by its name; None when it is of no known family."""
        return facts_of(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        # The most that one page holds; the default is 20.
        url = with_query(_endpoint(base_url, "/v1/models"), "endpoint=chat&page_size=1000")
        return HttpRequest("GET", url, key_headers(self._headers, api_key), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)


def _endpoint(base_url: str, path: str) -> str:
    """The version always belongs to the endpoint: models are listed by the older one."""
    return endpoint(_STEM.sub("", base_url, count=1), path)


def _body(request: Request) -> dict[str, Any]:
    schema = request.output_schema
    messages = conversation_of(request.messages, note=_FOR_JSON if schema is not None else "")
    body: dict[str, Any] = {"model": request.model, "messages": messages, "stream": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    if request.stop:
        body["stop_sequences"] = request.stop
    if request.seed is not None:
        body["seed"] = request.seed
    if request.reasoning_effort is not None:
        body["thinking"] = _thinking(request.reasoning_effort, request.max_output_tokens)
    tools: Sequence[Any] = request.tools
    choice = check_tool_choice(request)
    if choice in ("required", "none"):
        body["tool_choice"] = choice.upper()
    elif choice is not None and choice != "auto":  # the API cannot name a tool, but is shown no other
        tools = [tool for tool in tools if tool.get("name") == choice]
        body["tool_choice"] = "REQUIRED"
    if tools:
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
    if schema is not None:
        body["response_format"] = {"type": "json_object", "json_schema": schema.schema}
    return with_extra(body, request.extra)


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in the three members that the API knows."""
    members = {name: tool[name] for name in ("name", "description") if tool.get(name) is not None}
    parameters = cast("Mapping[str, Any]", tool.get("parameters") or {})
    return members | {"parameters": {"type": "object", "properties": {}, **parameters}}


def _thinking(effort: str, max_tokens: int | None) -> dict[str, Any]:
    if effort not in EFFORTS:
        raise ConfigError(
            "INVALID_OPTIONS", f"Cohere's models take the reasoning efforts {', '.join(EFFORTS)}, not {effort!r}."
        )
    if effort == "none":
        return {"type": "disabled"}
    budget = _BUDGETS.get(effort)
    if budget is None:
        return {"type": "enabled"}
    # Thinking counts towards the limit of the answer, which must have room beside it.
    return {"type": "enabled", "token_budget": budget if max_tokens is None else max(1, min(budget, max_tokens // 2))}


def _refined(error: ProviderError) -> ProviderError:
    """Say more precisely what an error of Cohere's is than its status does: its bodies hold words, and an id."""
    if error.request_id is None:
        error.request_id = excerpt(text_or_none(error.raw or {}, "id") or "", 200) or None
    words = error.message.lower()
    if error.status == 498:  # a token that is not valid
        error.code, error.retryable = "AUTH", False
    elif error.status == 499:  # the request was cancelled, or the stream broke, on their side
        error.code, error.retryable = "PROVIDER", True
    elif error.code == "CONTEXT_WINDOW_EXCEEDED" and "max tokens must be" in words:  # of the answer alone
        error.code = "INVALID_REQUEST"
    elif error.code == "RATE_LIMIT" and "/ month" in words:  # trial keys
        error.retryable = False
    return error
