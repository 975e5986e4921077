"""Profiles: what is particular about each server of OpenAI's chat completions, as an adapter made for it. Pure.

docs/providers.md has the table: addresses, keys, reasoning, images, and whether a page may ask the server (CORS).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from unspool.errors import ConfigError
from unspool.providers.mistral import MistralAdapter
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.openai_models import unknown_facts


def azure(resource: str | None = None) -> OpenAIChatAdapter:
    """Azure OpenAI, whose model names are those of deployments. The key goes into `api-key`; Entra tokens do not fit.

    Args:
        resource: the name before `.openai.azure.com`. Without it a model needs a `base_url`, such as
            `https://NAME.openai.azure.com/openai/v1`.
    """
    return OpenAIChatAdapter(
        name="azure",
        base_url=f"https://{resource}.openai.azure.com/openai/v1" if resource else "",
        max_tokens_field="max_completion_tokens",
        key_header="api-key",
    )


def deepseek() -> OpenAIChatAdapter:
    """DeepSeek. Turns with tool calls are refused unless their reasoning comes back, an empty one included (F33)."""
    return OpenAIChatAdapter(
        name="deepseek",
        base_url="https://api.deepseek.com",
        max_tokens_field="max_tokens",
        reasoning_field="reasoning_content",
        facts=unknown_facts,
    )


def groq() -> OpenAIChatAdapter:
    """Groq."""
    return OpenAIChatAdapter(
        name="groq",
        base_url="https://api.groq.com/openai/v1",
        max_tokens_field="max_completion_tokens",
        facts=unknown_facts,
    )


def llama_cpp() -> OpenAIChatAdapter:
    """llama.cpp's server, at its own address on this machine."""
    return OpenAIChatAdapter(
        name="llama.cpp",
        schema_dialect="ollama",
        base_url="http://localhost:8080/v1",
        max_tokens_field="max_tokens",
        reasoning_field="reasoning_content",
        facts=unknown_facts,
    )


def lm_studio() -> OpenAIChatAdapter:
    """LM Studio, at its own address on this machine. Its own list of models says more than the compatible one."""
    return OpenAIChatAdapter(
        name="lm-studio",
        schema_dialect="ollama",
        base_url="http://localhost:1234/v1",
        max_tokens_field="max_tokens",
        models_path="//api/v0/models",
        facts=unknown_facts,
    )


def mistral() -> OpenAIChatAdapter:
    """Mistral, whose ways need more than settings; see `unspool.providers.mistral`."""
    return MistralAdapter()


def ollama() -> OpenAIChatAdapter:
    """Ollama, at its own address on this machine. It takes pictures as data, not as addresses."""
    return OpenAIChatAdapter(
        name="ollama",
        schema_dialect="ollama",
        base_url="http://localhost:11434/v1",
        max_tokens_field="max_tokens",
        reasoning_field="reasoning",
        models_path="//api/tags",
        facts=unknown_facts,
    )


def openrouter() -> OpenAIChatAdapter:
    """OpenRouter. Its reasoning details come back unread, so that a model goes on thinking where it stopped."""
    return OpenAIChatAdapter(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        max_tokens_field="max_tokens",
        facts=unknown_facts,
    )


def vllm() -> OpenAIChatAdapter:
    """vLLM, at its own address on this machine."""
    return OpenAIChatAdapter(
        name="vllm",
        schema_dialect="ollama",
        base_url="http://localhost:8000/v1",
        max_tokens_field="max_tokens",
        reasoning_field="reasoning",
        facts=unknown_facts,
    )


PROFILES: Final[dict[str, Callable[[], OpenAIChatAdapter]]] = {
    "azure": azure,
    "deepseek": deepseek,
    "groq": groq,
    "llama.cpp": llama_cpp,
    "lm-studio": lm_studio,
    "mistral": mistral,
    "ollama": ollama,
    "openrouter": openrouter,
    "vllm": vllm,
}
"""By the names that `llms.OpenAIChat(profile=…)` takes."""


def profile(name: str) -> OpenAIChatAdapter:
    """Make the adapter of a profile.

    Args:
        name: as for `llms.OpenAIChat`.
    Raises:
        ConfigError: INVALID_OPTIONS when there is none of this name.
    """
    made = PROFILES.get(name)
    if made is None:
        raise ConfigError("INVALID_OPTIONS", f"There is no profile {name!r}; there are {', '.join(PROFILES)}.")
    return made()
