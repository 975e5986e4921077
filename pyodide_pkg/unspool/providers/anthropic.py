"""AnthropicAdapter: the Messages API of Anthropic and of servers that speak the same wire. Pure.

Source: Claude API reference, "Create a Message", "List Models", "Errors", "Versions".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_count
from unspool.providers.anthropic_block import ADAPTER
from unspool.providers.anthropic_decoder import AnthropicDecoder
from unspool.providers.anthropic_messages import conversation_of
from unspool.providers.anthropic_models import facts_of, listed_models, thinking_of
from unspool.providers.failure import http_failure
from unspool.providers.request import check_credential, check_tool_choice, endpoint, host_of, json_body, with_query

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["AnthropicAdapter", "AnthropicDecoder"]

_STEM = re.compile(r"(?:/v1(?:/messages)?)?/*(?=\?|$)")
_UNKNOWN_OUTPUT_TOKENS = 4_096
"""For models of no known family: what the smallest of Anthropic's own took."""
_MIN_BUDGET = 1_024
_BUDGETS = {"low": 1_024, "medium": 4_096, "high": 16_384}
"""Tokens for thinking, for models that know no efforts. 1,024 is the least that the API takes."""
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}


class AnthropicAdapter:
    """What differs between servers is set here, once for each server."""

    name = ADAPTER
    base_url = "https://api.anthropic.com/v1"
    schema_dialect: Dialect = "anthropic"

    def __init__(
        self,
        *,
        max_tokens: int | None = None,
        browser: bool | None = None,
        version: str = "2023-06-01",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            max_tokens: limit of the answer for requests that state none; the API demands one. Default: 32,000 for
                Anthropic's models, 4,096 for others.
            browser: send `anthropic-dangerous-direct-browser-access`, without which Anthropic answers no page. Default:
                when this runs in a browser and asks Anthropic itself.
            version: the `anthropic-version`. The default is the one that still takes a temperature; from 2026-10-21
                on the API refuses it for every model.
            headers: further headers of each request, such as `anthropic-beta`. In a page each one needs the server's
                consent (CORS), so none is sent unasked. Ours win.
        Raises:
            ConfigError: INVALID_OPTIONS when max_tokens is no count.
        """
        if max_tokens is not None:
            check_count("max_tokens", max_tokens)
        self._max_tokens = max_tokens
        self._browser = browser
        self._version = version
        self._headers = {name.lower(): value for name, value in (headers or {}).items()}

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours (those of `output_config` one by one).
            api_key: sent as `x-api-key`; None for servers without one.
            base_url: such as `https://api.anthropic.com/v1`; the `/v1` may be left out; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, a limit too
                low for thinking, a value without JSON form; UNSUPPORTED for a seed and for a part that this wire has
                no form for.
        """
        headers = self._sent_headers(api_key, base_url) | {"content-type": "application/json"}
        return HttpRequest("POST", _endpoint(base_url, "/messages"), headers, json_body(self._body(request, base_url)))

    def decoder(self, request: Request) -> AnthropicDecoder:
        """Make the decoder for the answer to this request."""
        return AnthropicDecoder()

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return http_failure(status, headers, body)

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model by its name; None when it is of no known family."""
        return facts_of(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        # The most that one page holds; the default is 20.
        url = with_query(_endpoint(base_url, "/models"), "limit=1000")
        return HttpRequest("GET", url, self._sent_headers(api_key, base_url), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)

    def _sent_headers(self, api_key: str | None, base_url: str) -> dict[str, str]:
        headers = self._headers | {"anthropic-version": self._version}
        if api_key is not None:
            headers["x-api-key"] = check_credential(api_key)
        browser = self._browser
        if browser is None:
            browser = sys.platform == "emscripten" and host_of(base_url) == host_of(self.base_url)
        if browser:
            headers["anthropic-dangerous-direct-browser-access"] = "true"
        return headers

    def _body(self, request: Request, base_url: str) -> dict[str, Any]:
        if request.seed is not None:
            raise ConfigError("UNSUPPORTED", "Anthropic has no seed; leave it out.")
        signed_only = host_of(base_url) == host_of(self.base_url)
        system, messages = conversation_of(request.messages, signed_only=signed_only)
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": self._limit(request),
            "messages": messages,
            "stream": True,
        }
        if system is not None:
            body["system"] = system
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.stop:
            body["stop_sequences"] = request.stop
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        choice = check_tool_choice(request)
        if choice is not None:
            kind = _CHOICES.get(choice)
            body["tool_choice"] = {"type": kind} if kind else {"type": "tool", "name": choice}
        output: dict[str, Any] = {}
        if request.reasoning_effort is not None:
            body["thinking"] = _thinking(request.model, request.reasoning_effort, body["max_tokens"], output)
        if request.output_schema is not None:
            output["format"] = {"type": "json_schema", "schema": request.output_schema.schema}
        asked = request.extra.get("output_config")
        if output:
            body["output_config"] = output
        body.update(request.extra)
        if output and isinstance(asked, dict):
            body["output_config"] = output | asked
        return body

    def _limit(self, request: Request) -> int:
        if request.max_output_tokens is not None:
            return request.max_output_tokens
        if self._max_tokens is not None:
            return self._max_tokens
        facts = facts_of(request.model)
        return (facts.default_output_tokens if facts else None) or _UNKNOWN_OUTPUT_TOKENS


def _endpoint(base_url: str, path: str) -> str:
    """Vendor and servers name their address with and without `/v1`, which always belongs to the endpoint."""
    return endpoint(_STEM.sub("", base_url, count=1), f"/v1{path}")


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool of ours; one that the provider runs (it has a `type` and no parameters) goes as it is."""
    if "parameters" not in tool and "type" in tool:
        return dict(tool)
    members = {name: value for name, value in tool.items() if name != "parameters" and value is not None}
    parameters = cast("Mapping[str, Any]", tool.get("parameters") or {})
    return members | {"input_schema": {"type": "object", **parameters}}


def _thinking(model: str, effort: str, max_tokens: int, output: dict[str, Any]) -> dict[str, Any]:
    way, has_effort = thinking_of(model)
    if has_effort:
        output["effort"] = effort
    if way == "adaptive":
        return {"type": "adaptive"}
    if effort not in _BUDGETS:
        raise ConfigError(
            "INVALID_OPTIONS", f"{model} takes the reasoning efforts {', '.join(_BUDGETS)}, not {effort!r}."
        )
    if max_tokens <= _MIN_BUDGET:
        raise ConfigError(
            "INVALID_OPTIONS", f"To think, {model} needs a limit of the answer above {_MIN_BUDGET} tokens."
        )
    # Thinking counts towards the limit of the answer, which must have room beside it.
    return {"type": "enabled", "budget_tokens": max(_MIN_BUDGET, min(_BUDGETS[effort], max_tokens // 2))}
