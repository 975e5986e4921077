"""Lists and descriptions of models as Ollama gives them."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.contracts import ModelFacts
from unspool.errors import WireError
from unspool.providers.ollama_models import listed_models, shown_model


def told(facts: ModelFacts) -> dict[str, Any]:
    return {name: value for name in facts.__slots__ if (value := getattr(facts, name)) is not None}


def test_list() -> None:
    """As `ollama list` shows it; what newer servers say of abilities is read."""
    body = {
        "models": [
            {"name": "qwen3:8b", "model": "qwen3:8b", "size": 5, "details": {"family": "qwen3"}},
            {"name": "llava:latest", "capabilities": ["completion", "vision"]},
            {"model": "gpt-oss:20b", "capabilities": ["completion", "tools", "thinking"]},
            {"size": 1},
        ]
    }
    assert [told(facts) for facts in listed_models(body)] == [
        {"id": "qwen3:8b"},
        {"id": "llava:latest", "reasoning_efforts": (), "image_input": True},
        {"id": "gpt-oss:20b", "image_input": False},
    ]
    assert listed_models({"models": None}) == listed_models({"models": []}) == []


@pytest.mark.parametrize("body", [{"error": "no such thing"}, {}, [], "x", {"models": {}}])
def test_no_list(body: Any) -> None:
    with pytest.raises(WireError, match="PROTOCOL"):
        listed_models(body)


def test_show() -> None:
    body = {
        "details": {"family": "qwen3"},
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960, "qwen3.block_count": 36},
        "capabilities": ["completion", "tools", "thinking"],
        "thinking": {"values": [False, True], "default": True},
    }
    assert told(shown_model("qwen3:8b", body)) == {
        "id": "qwen3:8b",
        "context_window": 40_960,
        "reasoning_efforts": ("none", "on"),
        "image_input": False,
    }
    body["thinking"] = {"values": ["low", "medium", "high"]}
    assert shown_model("m", body).reasoning_efforts == ("low", "medium", "high")
    assert told(shown_model("m", {"model_info": {"general.architecture": 1, "x": 2}})) == {"id": "m"}
    assert told(shown_model("m", {"capabilities": ["vision"]}))["image_input"]


@pytest.mark.parametrize("body", [{"error": "no such thing"}, {}, [], "x", {"model_info": {}}])
def test_shows_nothing(body: Any) -> None:
    with pytest.raises(WireError, match="PROTOCOL"):
        shown_model("m", body)
