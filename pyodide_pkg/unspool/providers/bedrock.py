"""BedrockAdapter: ConverseStream of Amazon Bedrock. Pure, but for the time of a signature, which its clock tells.

Source: Amazon Bedrock API reference, "ConverseStream", "ListFoundationModels"; the service model of botocore.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.options import check_tool_choice
from unspool.providers.anthropic_models import facts_of, thinking_config
from unspool.providers.bedrock_block import ADAPTER
from unspool.providers.bedrock_decoder import BedrockDecoder
from unspool.providers.bedrock_failure import response_failure
from unspool.providers.bedrock_messages import conversation_of
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, fields_of, list_of, text_or_none
from unspool.providers.request import (
    endpoint,
    host_of,
    json_body,
    key_headers,
    labelled_schema,
    lower_names,
    with_extra,
    with_query,
)
from unspool.providers.sigv4 import are_keys, signed

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["BedrockAdapter", "BedrockDecoder"]

_REGION = re.compile(r"[a-z]{2,8}(?:-[a-z]{2,16}){1,3}-[0-9]{1,2}")
_HOST = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_SERVICE = "bedrock"
_THINKING_OUTPUT_TOKENS = 32_000
"""The limit that a request without one is taken to have, where a budget for thinking must stay below it."""
_CACHE_POINT = {"cachePoint": {"type": "default"}}
_JOINED = ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "outputConfig")
_CHOICES = {"auto": "auto", "required": "any"}


class BedrockAdapter:
    """The API of one region. A key is a Bedrock API key, or a pair of AWS keys, with which requests are signed."""

    name = ADAPTER
    base_url: str
    schema_dialect: Dialect = "anthropic"

    def __init__(
        self,
        region: str | None = None,
        *,
        cache: bool = False,
        headers: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - the default of what is passed in
    ) -> None:
        """
        Args:
            region: such as `us-east-1`. None when a base URL says it, or a proxy is asked with its own kind of key.
            cache: set cache points behind the tools, the system prompt and the last message, for models that keep
                what stands before them.
            headers: further headers of each request, which are signed as well. In a page each one needs the server's
                consent (CORS), so none is sent unasked. Ours win.
            clock: seconds since 1970, asked at each signature.
        Raises:
            ConfigError: INVALID_OPTIONS when the region is none.
        """
        if region is not None and not _REGION.fullmatch(region):
            raise ConfigError("INVALID_OPTIONS", "The region must be one of AWS's, such as us-east-1.")
        self._region = region
        end = "amazonaws.com.cn" if region and region.startswith("cn-") else "amazonaws.com"
        self.base_url = f"https://bedrock-runtime.{region}.{end}" if region else ""
        self._cache = cache
        self._headers = lower_names(headers)
        self._clock = clock

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; its model is an id, an inference profile or an ARN. Members of `extra` win over ours,
                those of `inferenceConfig`, `toolConfig`, `outputConfig` and `additionalModelRequestFields` one by one.
            api_key: a Bedrock API key, sent as bearer token; or `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`,
                of which the secret is not sent; None for servers without one.
            base_url: address up to and without `/model/…`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a choice of a tool that is not there, an effort
                that the model does not know, a signature without a region, a value without JSON form; UNSUPPORTED for
                a seed, for forbidding tools that were called before, and for a part that this wire has no form for.
        """
        url = endpoint(base_url, f"/model/{quote(request.model, safe='-_.~')}/converse-stream")
        return self._request("POST", url, api_key, json_body(self._body(request)))

    def decoder(self, request: Request) -> BedrockDecoder:
        """Make the decoder for the answer to this request."""
        return BedrockDecoder(request.model)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return response_failure(status, headers, body)

    def facts(self, model: str) -> ModelFacts | None:
        """Say what is known of a model by its name: of Claude, as at Anthropic; of all others, nothing."""
        return facts_of(model)

    def models_request(self, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Ask which models write text in this region. AWS has another host for it.

        Raises:
            ConfigError: INVALID_OPTIONS, INVALID_CREDENTIAL.
        """
        if _HOST.fullmatch(host_of(base_url)):
            base_url = base_url.replace("bedrock-runtime", "bedrock", 1)
        url = with_query(endpoint(base_url, "/foundation-models"), "byOutputModality=TEXT")
        return self._request("GET", url, api_key, b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`, parsed. Many can only be asked by an inference profile (`us.…`).

        Raises:
            WireError: PROTOCOL when it lists no models.
        """
        items = listed_in(body, fields_of(body).get("modelSummaries"))
        return [
            ModelFacts(name, image_input=_sees(item))
            for item in items
            if (name := text_or_none(item, "modelId")) and item.get("responseStreamingSupported") is not False
        ]

    def __repr__(self) -> str:
        return f"BedrockAdapter({self._region!r})"

    def _request(self, method: str, url: str, api_key: str | None, body: bytes) -> HttpRequest:
        headers = self._headers | ({"content-type": "application/json"} if body else {})
        if api_key is not None and are_keys(api_key):
            match = _HOST.fullmatch(host_of(url))
            region = match[1] if match else self._region
            if region is None:
                raise ConfigError("INVALID_OPTIONS", "To sign requests with AWS keys, the adapter needs a region.")
            at = self._clock()
            headers = signed(method, url, headers, body, keys=api_key, region=region, service=_SERVICE, at=at)
        else:
            headers = key_headers(headers, api_key)
        return HttpRequest(method, url, headers, body)

    def _body(self, request: Request) -> dict[str, Any]:
        if request.seed is not None:
            raise ConfigError("UNSUPPORTED", "Bedrock's Converse has no seed; leave it out.")
        system, messages = conversation_of(request.messages)
        body: dict[str, Any] = {"messages": messages}
        config: dict[str, Any] = {}
        if request.max_output_tokens is not None:
            config["maxTokens"] = request.max_output_tokens
        if request.temperature is not None:
            config["temperature"] = request.temperature
        if request.stop:
            config["stopSequences"] = list(request.stop)
        if config:
            body["inferenceConfig"] = config
        tools = _tools(request, messages)
        if self._cache:
            for blocks in (tools.get("tools"), system, messages[-1]["content"]):
                if blocks:
                    blocks.append(_CACHE_POINT)
        if system:
            body["system"] = system
        if tools:
            body["toolConfig"] = tools
        _think(request, body)
        if request.output_schema is not None:
            labelled = labelled_schema(request.output_schema)
            schema = {"name": labelled["name"], "schema": json_body(labelled["schema"]).decode()}
            output = body.setdefault("outputConfig", {})
            output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": schema}}
        return with_extra(body, request.extra, *_JOINED)


def _tools(request: Request, messages: list[dict[str, Any]]) -> dict[str, Any]:
    choice = check_tool_choice(request)
    called = any("toolUse" in block for turn in messages for block in turn["content"])
    if choice == "none" and called:  # then the API demands the tools, and has no word for this
        raise ConfigError("UNSUPPORTED", "Bedrock's Converse cannot forbid tools that the conversation has called.")
    if not request.tools or choice == "none":
        return {}
    config: dict[str, Any] = {"tools": [_tool(tool) for tool in request.tools]}
    if choice is not None:
        kind = _CHOICES.get(choice)
        config["toolChoice"] = {kind: {}} if kind else {"tool": {"name": choice}}
    return config


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool of ours; one that the provider runs (it has a `type` and no parameters) goes by its name."""
    if "parameters" not in tool and "type" in tool:
        return {"systemTool": {"name": tool["name"]}}
    spec = {name: tool[name] for name in ("name", "description", "strict") if tool.get(name)}
    parameters = cast("Mapping[str, Any]", tool.get("parameters") or {})
    return {"toolSpec": {**spec, "inputSchema": {"json": {"type": "object", **parameters}}}}


def _think(request: Request, body: dict[str, Any]) -> None:
    """Each maker has its own words for how long its models are to think."""
    effort, model = request.reasoning_effort, request.model
    if effort is None:
        return
    if "claude-" in model:
        thinking, told = thinking_config(model, effort, request.max_output_tokens or _THINKING_OUTPUT_TOKENS)
        body["additionalModelRequestFields"] = {"thinking": thinking}
        effort = told
    elif "nova-" in model:
        on = {"type": "enabled", "maxReasoningEffort": effort}
        body["additionalModelRequestFields"] = {"reasoningConfig": {"type": "disabled"} if effort == "none" else on}
        return
    elif "gpt-oss" in model:
        body["additionalModelRequestFields"] = {"reasoning_effort": effort}
        return
    if effort is not None:
        body["outputConfig"] = {"effort": effort}


def _sees(item: Fields) -> bool | None:
    modalities = list_of(item.get("inputModalities"))
    return "IMAGE" in modalities if modalities else None
