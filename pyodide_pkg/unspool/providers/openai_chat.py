"""OpenAIChatAdapter: chat completions of OpenAI and of the many servers that speak the same wire. Pure.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from unspool.contracts import HttpRequest, ModelFacts, Request
from unspool.errors import ConfigError, ProviderError
from unspool.messages import (
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from unspool.providers.conversation import arguments_text, misplaced, own_replay
from unspool.providers.failure import http_failure
from unspool.providers.fields import list_of
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.providers.openai_models import facts_of, listed_models
from unspool.providers.openai_reasoning import FIELD as REASONING_DETAILS
from unspool.providers.request import (
    check_credential,
    check_tool_choice,
    endpoint,
    host_of,
    json_body,
    labelled_schema,
    sibling,
)

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

__all__ = ["OpenAIChatAdapter", "OpenAIChatDecoder"]

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]
Wire = dict[str, Any]

_PATH = "/chat/completions"
_API = "chat completions"
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
        self._reasoning_field = reasoning_field
        self._cumulative = cumulative
        self._choice = choice
        self._headers = {header.lower(): value for header, value in (headers or {}).items()}
        self._key_header = key_header.lower()
        self._seed_field = seed_field
        self._images_in_tool_results = images_in_tool_results
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
        headers = self._sent_headers(api_key) | {"content-type": "application/json"}
        body = json_body(self._body(request, base_url))
        return HttpRequest("POST", endpoint(base_url, _PATH), headers, body)

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
        """Ask which models there are. Raises ConfigError (INVALID_OPTIONS, INVALID_CREDENTIAL)."""
        return HttpRequest("GET", sibling(base_url, _PATH, self._models_path), self._sent_headers(api_key), b"")

    def models(self, body: Any) -> list[ModelFacts]:
        """Read the answer to `models_request`. Raises WireError (PROTOCOL) when it lists no models."""
        return listed_models(body)

    def _sent_headers(self, api_key: str | None) -> dict[str, str]:
        if api_key is None:
            return dict(self._headers)
        key = check_credential(api_key)
        return self._headers | {self._key_header: f"Bearer {key}" if self._key_header == "authorization" else key}

    def _body(self, request: Request, base_url: str) -> Wire:
        if not request.messages:
            raise ConfigError("INVALID_OPTIONS", "The request has no messages.")
        body: Wire = {"model": request.model, "messages": self._conversation(request.messages), "stream": True}
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
        return body | request.extra

    def _conversation(self, messages: Sequence[Message]) -> list[Wire]:
        """A message of ours is one of the wire, but one for each result of a tool.

        Pictures that tools and the model made have no place in their messages. A user message shows them; behind the
        last of the results, because those must follow their calls at once.
        """
        out: list[Wire] = []
        shown: list[Wire] = []
        for message in messages:
            if shown and message.role != "tool":
                out.append({"role": "user", "content": shown})
                shown = []
            match message.role:
                case "assistant":
                    out.append(self._assistant(message, shown))
                case "tool":
                    out += [self._result(part, message, shown) for part in message.parts]
                case _:
                    out.append({"role": message.role, "content": _content(message)})
        if shown:
            out.append({"role": "user", "content": shown})
        return out

    def _result(self, part: Part, message: Message, shown: list[Wire]) -> Wire:
        if not isinstance(part, ToolResult):
            raise misplaced(part, message, _API)
        pieces = [_piece(piece, message) for piece in part.parts]
        images = [piece for piece in part.parts if isinstance(piece, Image)]
        content: str | list[Wire] = part.text
        if images and self._images_in_tool_results:
            content = pieces
        elif images:
            content = content or "The result is shown below."
            shown += _shown(images, f"Images of the tool result {part.call_id}:", message)
        return {"role": "tool", "tool_call_id": part.call_id, "content": content}

    def _assistant(self, message: Message, shown: list[Wire]) -> Wire:
        calls: list[Wire] = []
        details: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                function = {"name": part.name, "arguments": arguments_text(part)}
                calls.append({"id": part.id, "type": "function", "function": function})
            elif isinstance(part, ProviderPart):
                details += list_of((own_replay(part.replay, self.name) or {}).get(REASONING_DETAILS))
            elif not isinstance(part, TextPart | ReasoningPart | RefusalPart | Image):
                raise misplaced(part, message, _API)
        wire: Wire = {"role": "assistant", "content": message.text}
        if calls:
            wire["content"] = message.text or None
            wire["tool_calls"] = calls
        if message.refusal:
            wire["refusal"] = message.refusal
        if self._reasoning_field is not None:
            wire[self._reasoning_field] = message.reasoning
        if details:
            wire[REASONING_DETAILS] = details
        if message.images:
            shown += _shown(message.images, "Images of your answer above:", message)
        return wire


def _content(message: Message) -> str | list[Wire]:
    if message.role == "user" and message.images:
        return [_piece(part, message) for part in message.parts]
    for part in message.parts:
        if not isinstance(part, TextPart):
            raise misplaced(part, message, _API)
    return message.text


def _piece(part: Part, message: Message) -> Wire:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if not isinstance(part, Image):
        raise misplaced(part, message, _API)
    image: Wire = {"url": part.data_url}
    if part.detail is not None:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def _shown(images: Sequence[Image], title: str, message: Message) -> list[Wire]:
    return [{"type": "text", "text": title}, *(_piece(image, message) for image in images)]


def _max_tokens_field(base_url: str) -> MaxTokensField:
    return "max_completion_tokens" if f".{host_of(base_url)}".endswith(_OPENAI_HOSTS) else "max_tokens"
