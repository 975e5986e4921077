"""OpenAIChatAdapter: chat completions of OpenAI and of the many servers that speak the same wire. Pure.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from unspool.contracts import HttpRequest, Request
from unspool.errors import ConfigError, ProviderError
from unspool.messages import Message, ReasoningPart, RefusalPart, TextPart, ToolCall, ToolResult
from unspool.providers.failure import http_failure
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.providers.request import check_credential, endpoint, host_of, json_body

__all__ = ["OpenAIChatAdapter", "OpenAIChatDecoder"]

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_OPENAI_HOSTS = (".openai.com", ".openai.azure.com")


class OpenAIChatAdapter:
    """What differs between compatible servers is set here, once for each server; nothing is guessed from answers."""

    name = "openai-chat"

    def __init__(
        self,
        *,
        max_tokens_field: MaxTokensField | None = None,
        include_usage: bool = True,
        reasoning_field: str | None = None,
        cumulative: bool = False,
        choice: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """
        Args:
            max_tokens_field: how the server calls the output limit. Default: `max_completion_tokens` for OpenAI and
                Azure, whose reasoning models refuse the other; `max_tokens` for all else, which every server knows.
            include_usage: ask for token counts (`stream_options`). Set it to False for servers that refuse the field.
            reasoning_field: send reasoning back in assistant messages under this name (DeepSeek: `reasoning_content`),
                an empty text included. Default: not sent.
            cumulative: the server sends in each event the whole text so far.
            choice: index of the choice that is read, for requests with `n` in `extra`.
            headers: further headers of each request, such as Azure's `api-key`. In a page each one needs the server's
                consent (CORS), so none is sent unasked. Ours win.
        """
        self._max_tokens_field: MaxTokensField | None = max_tokens_field
        self._include_usage = include_usage
        self._reasoning_field = reasoning_field
        self._cumulative = cumulative
        self._choice = choice
        self._headers = {name.lower(): value for name, value in (headers or {}).items()}

    def build(self, request: Request, *, api_key: str | None, base_url: str) -> HttpRequest:
        """Turn the neutral request into HTTP.

        Args:
            request: what to ask; members of `extra` win over ours.
            api_key: sent as bearer token; None for servers without one.
            base_url: such as `https://api.openai.com/v1`; a query string is kept.
        Raises:
            ConfigError: INVALID_CREDENTIAL; INVALID_OPTIONS for the base URL, an empty conversation, a part in a
                message of the wrong role, a tool call that was cut, a value without JSON form; UNSUPPORTED for a part
                that this wire has no form for.
        """
        url = endpoint(base_url, "/chat/completions")
        headers = self._headers | {"content-type": "application/json"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {check_credential(api_key)}"
        return HttpRequest("POST", url, headers, json_body(self._body(request, base_url)))

    def decoder(self, request: Request) -> OpenAIChatDecoder:
        """Make the decoder for the answer to this request."""
        return OpenAIChatDecoder(choice=self._choice, cumulative=self._cumulative)

    def failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """Turn a response with an error status into an error. `body` is bounded and may be cut."""
        return http_failure(status, headers, body)

    def _body(self, request: Request, base_url: str) -> dict[str, Any]:
        if not request.messages:
            raise ConfigError("INVALID_OPTIONS", "The request has no messages.")
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [wire for message in request.messages for wire in self._messages(message)],
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
            body["seed"] = request.seed
        if request.tools:
            body["tools"] = [{"type": "function", "function": dict(tool)} for tool in request.tools]
        if request.output_schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    # The name is only a label, but one with other characters is refused.
                    "name": _NO_NAME.sub("_", request.output_schema.name).strip("_")[:64] or "answer",
                    "schema": request.output_schema.schema,
                    "strict": request.output_schema.strict,
                },
            }
        return body | request.extra

    def _messages(self, message: Message) -> list[dict[str, Any]]:
        """A message of ours as messages of the wire: one, but one for each result of a tool."""
        if message.role == "assistant":
            return [self._assistant(message)]
        if message.role != "tool":
            for part in message.parts:
                if not isinstance(part, TextPart):
                    raise _misplaced(part, message)
            return [{"role": message.role, "content": message.text}]
        results: list[dict[str, Any]] = []
        for part in message.parts:
            if not isinstance(part, ToolResult):
                raise _misplaced(part, message)
            results.append({"role": "tool", "tool_call_id": part.call_id, "content": part.text})
        return results

    def _assistant(self, message: Message) -> dict[str, Any]:
        calls: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.truncated:
                    raise ConfigError(
                        "INVALID_OPTIONS", f"The tool call {part.name!r} in the conversation was cut; leave it out."
                    )
                function = {"name": part.name, "arguments": part.arguments if part.arguments.strip() else "{}"}
                calls.append({"id": part.id, "type": "function", "function": function})
            elif not isinstance(part, TextPart | ReasoningPart | RefusalPart):
                raise _misplaced(part, message)
        wire: dict[str, Any] = {"role": "assistant", "content": message.text}
        if calls:
            wire["content"] = message.text or None
            wire["tool_calls"] = calls
        if message.refusal:
            wire["refusal"] = message.refusal
        if self._reasoning_field is not None:
            wire[self._reasoning_field] = message.reasoning
        return wire


def _max_tokens_field(base_url: str) -> MaxTokensField:
    return "max_completion_tokens" if f".{host_of(base_url)}".endswith(_OPENAI_HOSTS) else "max_tokens"


def _misplaced(part: object, message: Message) -> ConfigError:
    kind = getattr(part, "type", type(part).__name__)
    if isinstance(part, TextPart | ReasoningPart | RefusalPart | ToolCall | ToolResult):
        return ConfigError("INVALID_OPTIONS", f"A {message.role} message cannot hold a part of type {kind!r}.")
    return ConfigError("UNSUPPORTED", f"Chat completions have no form for a part of type {kind!r}.")
