"""GeminiAdapter: `streamGenerateContent` of the Gemini API, and of Vertex AI, which speaks the same. Pure.

Source: https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ProviderError
from unspool.options import check_tool_choice
from unspool.providers.failure import http_failure
from unspool.providers.gemini_decoder import GeminiDecoder
from unspool.providers.gemini_failure import refined
from unspool.providers.gemini_messages import conversation_of
from unspool.providers.gemini_models import facts_of, listed_models, model_path, thinking_of
from unspool.providers.gemini_schema import gemini_schema
from unspool.providers.gemini_tool_calls import ADAPTER
from unspool.providers.request import endpoint, key_headers, lower_names, posted, with_extra, with_query

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["GeminiAdapter", "GeminiDecoder"]

_KEY_HEADER = "x-goog-api-key"
_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


class GeminiAdapter:
    """What is asked for beside the request is set here, once for each model."""

    name = ADAPTER
    base_url = "https://generativelanguage.googleapis.com/v1beta"
    schema_dialect: Dialect = "gemini"

    def __init__(
        self,
        *,
        include_thoughts: bool | None = None,
        candidate: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            include_thoughts: ask for summaries of what the model thinks, which arrive as reasoning. Default: when a
                `reasoning_effort` is asked for.
            candidate: index of the candidate that is read, for requests with a `candidateCount` in `extra`.
            headers: further headers of each request, such as Vertex AI's `authorization`. In a page each one needs the
                server's consent (CORS), so none is sent unasked. Ours win.
        """
        self._include_thoughts = include_thoughts
        self._candidate = candidate
        self._headers = lower_names(headers)

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours (those of `generationConfig` and `toolConfig` one
                by one).
            api_key: sent as header, never in the address; None for servers without one.
            base_url: address up to and without `/models/…`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, the model's name, an effort that the
                model does not know, a choice of a tool that is not there, an empty conversation, a part in a message of
                the wrong role, a tool call that was cut, a result without its call, a value without JSON form;
                UNSUPPORTED for a part that this wire has no form for.
        """
        url = endpoint(base_url, f"/{model_path(request.model)}:streamGenerateContent")
        headers = key_headers(self._headers, api_key, _KEY_HEADER)
        return posted(with_query(url, "alt=sse"), headers, self._body(request))

    def decoder(self, request: Request) -> GeminiDecoder:
        """Make the decoder for the answer to this request."""
        return GeminiDecoder(candidate=self._candidate)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return refined(http_failure(status, headers, body))

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model by its name; None when that is nothing."""
        return facts_of(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models there are.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        url = with_query(endpoint(base_url, "/models"), "pageSize=1000")
        return HttpRequest("GET", url, key_headers(self._headers, api_key, _KEY_HEADER), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`: the models that generate content.

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        return listed_models(body)

    def _body(self, request: Request) -> dict[str, Any]:
        system, contents = conversation_of(request.messages, request.model)
        body: dict[str, Any] = {"contents": contents}
        if system is not None:
            body["systemInstruction"] = system
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
        choice = check_tool_choice(request)
        if choice is not None:
            body["toolConfig"] = {"functionCallingConfig": _calling(choice)}
        config = self._config(request)
        if config:
            body["generationConfig"] = config
        return with_extra(body, request.extra, "generationConfig", "toolConfig")

    def _config(self, request: Request) -> dict[str, Any]:
        config: dict[str, Any] = {}
        if request.temperature is not None:
            config["temperature"] = request.temperature
        if request.max_output_tokens is not None:
            config["maxOutputTokens"] = request.max_output_tokens
        if request.stop:
            config["stopSequences"] = list(request.stop)
        if request.seed is not None:
            config["seed"] = request.seed
        if request.output_schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = gemini_schema(request.output_schema.schema)
        effort = request.reasoning_effort
        thinking = {} if effort is None else thinking_of(request.model, effort)
        shown = self._include_thoughts
        if shown if shown is not None else effort not in (None, "none"):
            thinking["includeThoughts"] = True
        if thinking:
            config["thinkingConfig"] = thinking
        return config


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    declaration = {name: tool[name] for name in ("name", "description") if tool.get(name)}
    parameters = tool.get("parameters")
    # A schema without properties is refused; a tool without parameters is declared without one.
    if isinstance(parameters, Mapping) and not _is_empty(cast("Mapping[str, Any]", parameters)):
        declaration["parametersJsonSchema"] = gemini_schema(cast("Mapping[str, Any]", parameters))
    return declaration


def _is_empty(parameters: Mapping[str, Any]) -> bool:
    """Whether an object of this schema has no members."""
    members = ("properties", "additionalProperties", "$ref", "anyOf", "oneOf", "allOf")
    return not any(parameters.get(name) for name in members)


def _calling(tool_choice: str) -> dict[str, Any]:
    mode = _MODES.get(tool_choice)
    return {"mode": "ANY", "allowedFunctionNames": [tool_choice]} if mode is None else {"mode": mode}
