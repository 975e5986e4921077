"""What is particular about each server: what docs/providers.md says of it. The servers themselves were not asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import Request
from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    Image,
    Message,
    ReasoningPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.profiles import PROFILES, azure, profile

HISTORY = [
    UserMessage("Hi"),
    Message("assistant", [ReasoningPart("why"), ToolCall("a", "f", "{}")]),
    ToolMessage(ToolResult("a", ["x", Image(b"\x89PNG\r\n\x1a\n")])),
    AssistantMessage("Done."),
]


def body(adapter: OpenAIChatAdapter) -> dict[str, Any]:
    request = Request("m", HISTORY, max_output_tokens=5, seed=7, reasoning_effort="low")
    value: dict[str, Any] = json.loads(
        adapter.build(request, api_key=None, base_url=adapter.base_url or "http://h/v1").body
    )
    return value


@pytest.mark.parametrize(
    ("name", "url", "limit", "seed", "usage", "reasoning", "pictures_inside"),
    [
        ("azure", "", "max_completion_tokens", "seed", True, None, False),
        ("deepseek", "https://api.deepseek.com", "max_tokens", "seed", True, "reasoning_content", False),
        ("groq", "https://api.groq.com/openai/v1", "max_completion_tokens", "seed", True, None, False),
        ("llama.cpp", "http://localhost:8080/v1", "max_tokens", "seed", True, "reasoning_content", False),
        ("lm-studio", "http://localhost:1234/v1", "max_tokens", "seed", True, None, False),
        ("mistral", "https://api.mistral.ai/v1", "max_tokens", "random_seed", False, None, True),
        ("ollama", "http://localhost:11434/v1", "max_tokens", "seed", True, "reasoning", False),
        ("openrouter", "https://openrouter.ai/api/v1", "max_tokens", "seed", True, None, False),
        ("vllm", "http://localhost:8000/v1", "max_tokens", "seed", True, "reasoning", False),
    ],
)
def test_profile(
    name: str, url: str, limit: str, seed: str, usage: bool, reasoning: str | None, pictures_inside: bool
) -> None:
    adapter = profile(name)
    assert (adapter.name, adapter.base_url) == (name, url)
    sent = body(adapter)
    assert (sent[limit], sent[seed], sent["reasoning_effort"]) == (5, 7, "low")
    assert ("stream_options" in sent) == usage
    first, last = (message for message in sent["messages"] if message["role"] == "assistant")
    if reasoning is None:
        assert "why" not in json.dumps(sent)
    else:
        assert (first[reasoning], last[reasoning]) == ("why", "")  # F33
    roles = [message["role"] for message in sent["messages"]]
    assert (roles.count("user") == 1) == pictures_inside


def test_every_profile_is_tested_and_of_its_own_name() -> None:
    """Replay state goes by the name of the adapter."""
    assert len({made().name for made in PROFILES.values()}) == len(PROFILES) == 9
    assert all(made() is not made() for made in PROFILES.values())


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("ollama", "http://localhost:11434/api/tags"),
        ("lm-studio", "http://localhost:1234/api/v0/models"),
        ("groq", "https://api.groq.com/openai/v1/models"),
        ("openrouter", "https://openrouter.ai/api/v1/models"),
        ("deepseek", "https://api.deepseek.com/models"),
    ],
)
def test_where_models_are_listed(name: str, url: str) -> None:
    adapter = profile(name)
    assert adapter.models_request(api_key=None, base_url=adapter.base_url).url == url


def test_azure() -> None:
    adapter = azure("my-resource")
    assert adapter.base_url == "https://my-resource.openai.azure.com/openai/v1"
    request = adapter.build(Request("m", HISTORY), api_key="k", base_url=adapter.base_url)
    assert request.url == "https://my-resource.openai.azure.com/openai/v1/chat/completions"
    assert request.headers == {"api-key": "k", "content-type": "application/json"}
    old = "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
    assert adapter.build(Request("m", HISTORY), api_key="k", base_url=old).url == (
        "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    )


def test_names_of_models_say_nothing_on_servers_of_anyone() -> None:
    """Only Azure has OpenAI's own models; elsewhere `gpt-4o` may be anything."""
    known = {name for name in PROFILES if profile(name).facts("gpt-4o") is not None}
    assert known == {"azure"}


def test_a_profile_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="ollama") as caught:
        profile("olama")
    assert caught.value.code == "INVALID_OPTIONS"
