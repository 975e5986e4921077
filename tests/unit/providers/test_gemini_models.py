"""What is known of Gemini's models."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError, WireError
from unspool.providers.gemini_models import facts_of, generation_of, listed_models, model_path, thinking_of


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-3-flash-preview", "models/gemini-3-flash-preview"),
        ("models/gemini-3-flash-preview", "models/gemini-3-flash-preview"),
        ("tunedModels/mine-1", "tunedModels/mine-1"),
        ("publishers/google/models/gemini-2.5-pro", "publishers/google/models/gemini-2.5-pro"),
        ("gemini-2.5-pro@001", "models/gemini-2.5-pro@001"),
    ],
)
def test_path(model: str, path: str) -> None:
    assert model_path(model) == path


@pytest.mark.parametrize("model", ["", "a b", "../x", "a/../b", "/a", "a/", "a?key=x", "a#b", "a%2fb", "ü", "a\n"])
def test_names_that_cannot_stand_in_an_address(model: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        model_path(model)


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("gemini-3-pro-preview", (3, 0)),
        ("models/gemini-3.1-pro-preview", (3, 1)),
        ("gemini-2.5-flash", (2, 5)),
        ("gemini-4-argon", (4, 0)),
        ("gemini-flash-latest", (3, 0)),
        ("gemma-4-26b-a4b-it", None),
        ("tunedModels/mine", None),
        ("gemini-", None),
    ],
)
def test_generation(model: str, generation: tuple[int, int] | None) -> None:
    assert generation_of(model) == generation


@pytest.mark.parametrize(
    ("model", "efforts", "output"),
    [
        ("gemini-4-argon", ("low", "medium", "high"), 65_536),
        ("gemini-3.8-flash", ("low", "medium", "high"), 65_536),
        ("gemini-3.5-flash", ("minimal", "low", "medium", "high"), 65_536),
        ("gemini-3.1-flash-lite", ("minimal", "low", "medium", "high"), 65_536),
        ("gemini-3.1-pro-preview", ("low", "medium", "high"), 65_536),
        ("models/gemini-3-pro-preview", ("low", "high"), 65_536),
        ("gemini-3-flash-preview", ("minimal", "low", "medium", "high"), 65_536),
        ("gemini-2.5-pro", ("low", "medium", "high"), 65_536),
        ("gemini-2.5-flash-lite", ("none", "low", "medium", "high"), 65_536),
        ("gemini-2.0-flash", (), 8_192),
    ],
)
def test_facts(model: str, efforts: tuple[str, ...], output: int) -> None:
    facts = facts_of(model)
    assert facts is not None
    assert (facts.id, facts.context_window) == (model.removeprefix("models/"), 1_048_576)
    assert (facts.reasoning_efforts, facts.max_output_tokens, facts.image_input) == (efforts, output, True)


@pytest.mark.parametrize(
    "model",
    [
        "gemini-3-pro-image-preview",
        "gemini-2.5-flash-preview-tts",
        "gemini-2.5-flash-native-audio-latest",
        "gemini-embedding-001",
        "gemini-flash-latest",
        "gemini-30-pro",
        "gemini-3.55-flash",
        "gemini-3.9-flash",
        "gemma-4-26b-a4b-it",
    ],
)
def test_no_facts(model: str) -> None:
    assert facts_of(model) is None


@pytest.mark.parametrize(
    ("model", "effort", "wire"),
    [
        ("gemini-3-flash-preview", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-4-argon", "high", {"thinkingLevel": "HIGH"}),
        ("gemma-4-26b-a4b-it", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "low", {"thinkingBudget": 1_024}),
        ("gemini-2.5-pro", "medium", {"thinkingBudget": 8_192}),
        ("gemini-2.5-pro", "high", {"thinkingBudget": 24_576}),
    ],
)
def test_thinking(model: str, effort: str, wire: dict[str, Any]) -> None:
    assert thinking_of(model, effort) == wire


@pytest.mark.parametrize(("model", "effort"), [("gemini-2.0-flash", "low"), ("gemini-2.5-pro", "enormous")])
def test_efforts_that_are_none(model: str, effort: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        thinking_of(model, effort)


def test_list() -> None:
    body = {
        "models": [
            {
                "name": "models/gemini-2.5-flash",
                "inputTokenLimit": 1_048_576,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
                "thinking": True,
            },
            {"name": "models/gemini-embedding-001", "supportedGenerationMethods": ["embedContent"]},
            {"name": "models/new-one", "inputTokenLimit": 10, "outputTokenLimit": "many"},
            {"name": 5},
            {},
            None,
        ],
        "nextPageToken": "x",
    }
    flash, new = listed_models(body)
    assert (flash.id, flash.context_window, flash.max_output_tokens) == ("gemini-2.5-flash", 1_048_576, 65_536)
    assert (new.id, new.context_window, new.max_output_tokens, new.reasoning_efforts) == ("new-one", 10, None, None)
    assert listed_models({"models": []}) == []


@pytest.mark.parametrize("body", [None, [], {}, "x", {"models": {}}, {"error": {"message": "no key"}}])
def test_no_list(body: Any) -> None:
    with pytest.raises(WireError) as caught:
        listed_models(body)
    assert caught.value.code == "PROTOCOL"
    assert ("no key" in caught.value.message) == (isinstance(body, dict) and "error" in body)
