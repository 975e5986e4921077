"""The ready-made models.

`OpenAI` speaks to OpenAI, `OpenAIChat` to it and to every server that knows chat completions, `Anthropic` to Anthropic
and its like, `Gemini` to Google, `Wllama` runs in the page, `FunctionModel` is any function that gives text or chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from unspool.contracts import Request, Response
from unspool.errors import ConfigError
from unspool.http_model import HttpModel, HttpOptions
from unspool.local.function import PieceDecoder, open_function
from unspool.model import LanguageModel
from unspool.options import CallOptions

if TYPE_CHECKING:
    from unspool.local.wllama import Wllama
    from unspool.providers.anthropic import AnthropicAdapter
    from unspool.providers.gemini import GeminiAdapter
    from unspool.providers.openai_chat import OpenAIChatAdapter
    from unspool.providers.openai_responses import OpenAIResponsesAdapter

__all__ = ["Anthropic", "FunctionModel", "Gemini", "HttpModel", "OpenAI", "OpenAIChat", "Wllama"]


def __getattr__(name: str) -> Any:
    if name == "Wllama":
        from unspool.local.wllama import Wllama

        return Wllama
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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


class FunctionModel(LanguageModel):
    """Any function as a model: it takes the `Request` and gives the answer in pieces."""

    def __init__(
        self, generate: Callable[[Request], Any], *, model: str = "function", **defaults: Unpack[CallOptions]
    ) -> None:
        """Wrap a function, Python's or JavaScript's.

        Args:
            generate: gives an asynchronous or plain iterable (generators, lists, JavaScript's async iterables and
                ReadableStreams) of texts, chunks (`unspool.stream.chunks`) or OpenAI chat chunks (dicts, JavaScript
                objects); or one such piece; or an awaitable of any of these. Leaving the stream early closes the
                iterable: `aclose()`, `close()`, `return()` or `cancel()`.
            model: a name for it.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS when `generate` cannot be called.
        """
        super().__init__(model, **defaults)
        if not callable(generate):
            raise ConfigError("INVALID_OPTIONS", "A function model needs a function that takes the request.")
        self._generate = generate

    async def _open(self, request: Request, credential: str | None) -> Response:
        return await open_function(self._generate, request.projected())

    def _decoder(self, request: Request) -> PieceDecoder:
        return PieceDecoder()
