"""The ready-made models.

`OpenAI` speaks to OpenAI, `OpenAIChat` to it and to every server that knows chat completions, `Anthropic` to Anthropic
and its like, `Gemini` to Google, `Bedrock` to Amazon, `Cohere` to Cohere, `Ollama` to a server of this machine;
`Wllama` runs in the page, `FunctionModel` is any function that gives text or chunks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from unspool.contracts import ModelFacts, Request, Response
from unspool.errors import ConfigError
from unspool.http_model import HttpModel, HttpOptions
from unspool.local.function import PieceDecoder, open_function
from unspool.model import LanguageModel
from unspool.options import CallOptions

if TYPE_CHECKING:
    from unspool.local.wllama import Wllama
    from unspool.providers.anthropic import AnthropicAdapter
    from unspool.providers.bedrock import BedrockAdapter
    from unspool.providers.cohere import CohereAdapter
    from unspool.providers.gemini import GeminiAdapter
    from unspool.providers.ollama import OllamaAdapter
    from unspool.providers.openai_chat import OpenAIChatAdapter
    from unspool.providers.openai_responses import OpenAIResponsesAdapter

__all__ = [
    "Anthropic",
    "Bedrock",
    "Cohere",
    "FunctionModel",
    "Gemini",
    "HttpModel",
    "Ollama",
    "OpenAI",
    "OpenAIChat",
    "Wllama",
]


def __getattr__(name: str) -> Any:
    if name == "Wllama":
        from unspool.local.wllama import Wllama

        return Wllama
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)


class OpenAI(HttpModel):
    """A model behind OpenAI's Responses API, or any server that speaks it."""

    def __init__(
        self, model: str, *, adapter: OpenAIResponsesAdapter | None = None, **options: Unpack[HttpOptions]
    ) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            adapter: what differs on this server, as an `OpenAIResponsesAdapter` of
                `unspool.providers.openai_responses`: encrypted reasoning, closing events without output, headers.
            options: see `HttpOptions` (`base_url`: address up to and without `/responses`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.openai_responses import OpenAIResponsesAdapter

        super().__init__(model, adapter=adapter or OpenAIResponsesAdapter(), **options)


class OpenAIChat(HttpModel):
    """A model behind OpenAI's chat completions API, or any server that speaks it."""

    def __init__(
        self,
        model: str,
        *,
        profile: str | None = None,
        adapter: OpenAIChatAdapter | None = None,
        **options: Unpack[HttpOptions],
    ) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            profile: a server whose ways are known: "azure", "deepseek", "groq", "llama.cpp", "lm-studio", "mistral",
                "ollama", "openrouter" or "vllm". It also knows the server's address.
            adapter: what differs on any other server, as an `OpenAIChatAdapter` of `unspool.providers.openai_chat`:
                headers, names of fields, cumulative chunks.
            options: see `HttpOptions` (`base_url`: address up to and without `/chat/completions`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        if profile is not None:
            from unspool.providers.profiles import profile as adapter_of

            if adapter is not None:
                raise ConfigError("INVALID_OPTIONS", "A model takes a profile or an adapter, not both.")
            adapter = adapter_of(profile)
        if adapter is None:
            from unspool.providers.openai_chat import OpenAIChatAdapter

            adapter = OpenAIChatAdapter()
        super().__init__(model, adapter=adapter, **options)


class Anthropic(HttpModel):
    """A model behind Anthropic's Messages API, or any server that speaks it."""

    def __init__(self, model: str, *, adapter: AnthropicAdapter | None = None, **options: Unpack[HttpOptions]) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            adapter: what differs on this server, as an `AnthropicAdapter` of `unspool.providers.anthropic`: limit of
                the answer, header for browsers, version, further headers.
            options: see `HttpOptions` (`base_url`: address up to and with or without `/v1`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.anthropic import AnthropicAdapter

        super().__init__(model, adapter=adapter or AnthropicAdapter(), **options)


class Cohere(HttpModel):
    """A model behind Cohere's chat API (version 2), or any server that speaks it."""

    def __init__(self, model: str, *, adapter: CohereAdapter | None = None, **options: Unpack[HttpOptions]) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model.
            adapter: further headers, as a `CohereAdapter` of `unspool.providers.cohere`.
            options: see `HttpOptions` (`base_url`: address up to and with or without `/v2`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.cohere import CohereAdapter

        super().__init__(model, adapter=adapter or CohereAdapter(), **options)


class Gemini(HttpModel):
    """A model behind Google's Gemini API, or any server that speaks it, such as Vertex AI."""

    def __init__(self, model: str, *, adapter: GeminiAdapter | None = None, **options: Unpack[HttpOptions]) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the provider's name of the model, with or without `models/` before it.
            adapter: what is asked for beside the request, as a `GeminiAdapter` of `unspool.providers.gemini`: thoughts,
                another candidate, further headers.
            options: see `HttpOptions` (`base_url`: address up to and without `/models/…`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.gemini import GeminiAdapter

        super().__init__(model, adapter=adapter or GeminiAdapter(), **options)


class Bedrock(HttpModel):
    """A model behind Amazon Bedrock's ConverseStream."""

    def __init__(
        self,
        model: str,
        *,
        region: str | None = None,
        adapter: BedrockAdapter | None = None,
        **options: Unpack[HttpOptions],
    ) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: id of the model or of an inference profile (`us.…`), or an ARN.
            region: of AWS, such as "us-east-1"; it makes the address.
            adapter: what else differs, as a `BedrockAdapter` of `unspool.providers.bedrock`: region, cache points,
                further headers.
            options: see `HttpOptions` (`api_key`: a Bedrock API key, or `ACCESS_KEY_ID:SECRET_ACCESS_KEY`, with
                `:SESSION_TOKEN` behind it for temporary keys, which sign each request) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.bedrock import BedrockAdapter

        if adapter is not None and region is not None:
            raise ConfigError("INVALID_OPTIONS", "A model takes a region or an adapter, not both.")
        adapter = adapter or BedrockAdapter(region)
        if not adapter.base_url and not options.get("base_url"):
            raise ConfigError("INVALID_OPTIONS", "Bedrock needs a region, such as us-east-1, or a base_url.")
        super().__init__(model, adapter=adapter, **options)


class Ollama(HttpModel):
    """A model behind Ollama's own API, at its own address on this machine unless told otherwise."""

    def __init__(self, model: str, *, adapter: OllamaAdapter | None = None, **options: Unpack[HttpOptions]) -> None:
        """Describe the model; nothing is sent.

        Args:
            model: the server's name of the model, such as "qwen3:8b".
            adapter: what the server is to be told beside the request, as an `OllamaAdapter` of
                `unspool.providers.ollama`: context window, how long the model stays loaded, further headers.
            options: see `HttpOptions` (`base_url`: address up to and with or without `/api`) and `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        from unspool.providers.ollama import OllamaAdapter

        adapter = adapter or OllamaAdapter()
        super().__init__(model, adapter=adapter, **options)
        self._show = adapter.show(model)

    async def facts(self, *, signal: Any = None) -> ModelFacts:
        """Ask the server what the model is: context window, pictures, levels of thinking.

        Args:
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the request.
        Raises:
            UnspoolError: as a call; MODEL_NOT_FOUND when the server does not have it.
        Cancellation:
            Aborts the request on the network.
        """
        from unspool.discovery import ModelList

        timeout_s, idle_timeout_s = self._limits
        asked = ModelList(
            self.model,
            adapter=self._show,
            api_key=self._api_key,
            base_url=self.base_url,
            transport=self._transport,
            timeout_s=timeout_s,
            idle_timeout_s=idle_timeout_s,
        )
        return (await asked.fetch(signal=signal))[0]


class FunctionModel(LanguageModel):
    """Any function as a model: it takes the `Request` and gives the answer, whole or in pieces."""

    requests: list[Request]
    """The requests that the function got, in order: the last `max_requests`."""
    max_requests: int = 100
    """How many of them are kept. Set it to 0 for a model in use, whose conversations should not stay in memory."""

    def __init__(
        self, generate: Callable[[Request], Any], *, model: str = "function", **defaults: Unpack[CallOptions]
    ) -> None:
        """Wrap a function, Python's or JavaScript's.

        Args:
            generate: gives an asynchronous or plain iterable (generators, lists, JavaScript's async iterables and
                ReadableStreams) of texts, assistant's messages or their parts (`ToolCall`), `Usage`, chunks
                (`unspool.stream.chunks`) or OpenAI chat chunks (dicts, JavaScript objects); or one such piece; or an
                awaitable of any of these. Leaving the stream early closes the iterable: `aclose()`, `close()`,
                `return()` or `cancel()`.
            model: a name for it.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS when `generate` cannot be called.
        """
        super().__init__(model, **defaults)
        if not callable(generate):
            raise ConfigError("INVALID_OPTIONS", "A function model needs a function that takes the request.")
        self.requests = []
        self._generate = generate

    async def _open(self, request: Request, credential: str | None) -> Response:
        request = request.projected()
        self.requests.append(request)
        del self.requests[: max(0, len(self.requests) - self.max_requests)]
        return await open_function(self._generate, request)

    def _decoder(self, request: Request) -> PieceDecoder:
        return PieceDecoder()
