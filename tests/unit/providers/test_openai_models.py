"""What is known of models, and what servers say of theirs. The lists are written by hand, one for each server."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.contracts import ModelFacts
from unspool.errors import WireError
from unspool.providers.openai_models import facts_of, listed_models


def told_of(facts: ModelFacts) -> dict[str, Any]:
    told = {name: getattr(facts, name) for name in facts.__slots__}
    return {name: value for name, value in told.items() if value is not None}


@pytest.mark.parametrize(
    ("model", "window", "output", "efforts", "images"),
    [
        ("gpt-4o", 128_000, 16_384, (), True),
        ("gpt-4o-mini-2024-07-18", 128_000, 16_384, (), True),
        ("gpt-4.1-nano", 1_047_576, 32_768, (), True),
        ("o3-mini", 200_000, 100_000, ("low", "medium", "high"), False),
        ("o4-mini-2025-04-16", 200_000, 100_000, ("low", "medium", "high"), True),
        ("gpt-5", 400_000, 128_000, ("minimal", "low", "medium", "high"), True),
        ("gpt-5.1", 400_000, 128_000, ("none", "low", "medium", "high"), True),
        ("gpt-5.2", 400_000, 128_000, ("none", "low", "medium", "high", "xhigh"), True),
        ("gpt-5-pro", 400_000, 272_000, ("high",), True),
        ("gpt-5-chat-latest", 128_000, 16_384, (), True),
    ],
)
def test_models_of_openai(model: str, window: int, output: int, efforts: tuple[str, ...], images: bool) -> None:
    facts = facts_of(model)
    assert facts is not None
    assert (facts.id, facts.context_window, facts.max_output_tokens) == (model, window, output)
    assert (facts.reasoning_efforts, facts.image_input) == (efforts, images)


@pytest.mark.parametrize("model", ["", "llama3", "gpt-4o-audio-preview", "gpt-5-search-api", "my-gpt-4o", "gpt-4o "])
def test_unknown_models(model: str) -> None:
    assert facts_of(model) is None


@pytest.mark.parametrize(
    ("item", "facts"),
    [
        ({"id": "gpt-4o", "object": "model", "created": 1, "owned_by": "openai"}, {"id": "gpt-4o"}),
        ({"id": "q", "object": "model", "max_model_len": 4096}, {"id": "q", "context_window": 4096}),  # vLLM
        (  # Groq
            {"id": "l", "active": True, "context_window": 131072, "max_completion_tokens": 32768},
            {"id": "l", "context_window": 131072, "max_output_tokens": 32768},
        ),
        (  # Mistral
            {"id": "p", "max_context_length": 128000, "capabilities": {"vision": True, "completion_chat": True}},
            {"id": "p", "context_window": 128000, "image_input": True},
        ),
        (  # OpenRouter
            {
                "id": "a/b",
                "name": "A: B",
                "context_length": 200000,
                "architecture": {"input_modalities": ["text", "image"]},
                "top_provider": {"context_length": 200000, "max_completion_tokens": 64000},
                "supported_parameters": ["reasoning", "tools"],
            },
            {"id": "a/b", "context_window": 200000, "max_output_tokens": 64000, "image_input": True},
        ),
        (
            {"id": "a/c", "architecture": {"input_modalities": ["text"]}, "supported_parameters": ["tools"]},
            {"id": "a/c", "image_input": False, "reasoning_efforts": ()},
        ),
        (
            {"id": "v", "type": "vlm", "max_context_length": 32768},
            {"id": "v", "context_window": 32768, "image_input": True},
        ),
        ({"id": "g", "meta": {"n_ctx_train": 8192}}, {"id": "g", "context_window": 8192}),  # llama.cpp
        ({"id": "x", "context_length": "big", "capabilities": [], "architecture": 5}, {"id": "x"}),
    ],
    ids=lambda value: value.get("id"),
)
def test_what_servers_say(item: dict[str, Any], facts: dict[str, Any]) -> None:
    assert [told_of(found) for found in listed_models({"object": "list", "data": [item]})] == [facts]


def test_list_of_ollama() -> None:
    """`GET /api/tags`."""
    body = {
        "models": [
            {"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 2019393189, "details": {"family": "llama"}},
            {"name": "qwen3-vl:8b", "model": "qwen3-vl:8b", "capabilities": ["completion", "vision"]},
        ]
    }
    assert [(found.id, found.image_input) for found in listed_models(body)] == [
        ("llama3.2:latest", None),
        ("qwen3-vl:8b", True),
    ]


@pytest.mark.parametrize("body", [[{"id": "a"}], {"data": [{"id": "a"}, {"id": "a"}, {"id": ""}, {}, 5, None]}])
def test_lists_of_other_shapes(body: Any) -> None:
    """Together gives a bare list; what is no model is passed over, and the same name counts once."""
    assert [found.id for found in listed_models(body)] == ["a"]


@pytest.mark.parametrize("body", [{"data": []}, {"data": None}, {"models": None}, []])
def test_no_models(body: Any) -> None:
    """Ollama says null."""
    assert listed_models(body) == []


@pytest.mark.parametrize("body", [None, "x", 5, {}, {"data": {}}, {"models": "none"}])
def test_no_list(body: Any) -> None:
    with pytest.raises(WireError) as caught:
        listed_models(body)
    assert caught.value.code == "PROTOCOL"
