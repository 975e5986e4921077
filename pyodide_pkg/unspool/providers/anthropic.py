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
from unspool.options import check_count, check_tool_choice
from unspool.providers.anthropic_block import ADAPTER
from unspool.providers.anthropic_decoder import AnthropicDecoder
from unspool.providers.anthropic_messages import conversation_of
from unspool.providers.anthropic_models import facts_of, listed_models, thinking_config
from unspool.providers.failure import http_failure
from unspool.providers.request import endpoint, host_of, key_headers, lower_names, posted, with_extra, with_query

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["AnthropicAdapter", "AnthropicDecoder"]

_STEM = re.compile(r"(?:/v1(?:/messages)?)?/*(?=\?|$)")
_UNKNOWN_OUTPUT_TOKENS = 4_096
"""For models of no known family: what the smallest of Anthropic's own took."""
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
        self._headers = lower_names(headers)

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
        headers = self._sent_headers(api_key, base_url)
        return posted(_endpoint(base_url, "/messages"), headers, self._body(request, base_url))

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
        headers = key_headers(self._headers, api_key, "x-api-key") | {"anthropic-version": self._version}
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
            body["thinking"], effort = thinking_config(request.model, request.reasoning_effort, body["max_tokens"])
            if effort is not None:
                output["effort"] = effort
        if request.output_schema is not None:
            output["format"] = {"type": "json_schema", "schema": request.output_schema.schema}
        if output:
            body["output_config"] = output
        return with_extra(body, request.extra, "output_config")

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
