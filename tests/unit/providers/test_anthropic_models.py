"""Figures are those of the provider's pages on models, effort and thinking."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.providers.anthropic_models import facts_of, listed_models, thinking_of

ALL = ("low", "medium", "high", "xhigh", "max")
NO_XHIGH = ("low", "medium", "high", "max")
THREE = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("model", "window", "most", "default", "efforts", "thinking"),
    [
        ("claude-fable-5-2", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-mythos-5-2", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-mythos-preview", 1_000_000, 128_000, 32_000, NO_XHIGH, ("adaptive", True)),
        ("claude-opus-5-5", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-opus-4-8", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-opus-4-6", 1_000_000, 128_000, 32_000, NO_XHIGH, ("adaptive", True)),
        ("claude-opus-4-5-20251101", 200_000, 64_000, 32_000, THREE, ("budget", True)),
        ("claude-opus-4-1-20250805", 200_000, 32_000, 32_000, THREE, ("budget", False)),
        ("claude-sonnet-5-5", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-sonnet-4-6", 1_000_000, 128_000, 32_000, NO_XHIGH, ("adaptive", True)),
        ("claude-sonnet-4-5@20250929", 200_000, 64_000, 32_000, THREE, ("budget", False)),
        ("claude-haiku-5-5", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
        ("claude-haiku-4-5-20251001", 200_000, 64_000, 32_000, THREE, ("budget", False)),
        ("anthropic/claude-haiku-4-5", 200_000, 64_000, 32_000, THREE, ("budget", False)),
        ("us.anthropic.claude-opus-5-v1:0", 1_000_000, 128_000, 32_000, ALL, ("adaptive", True)),
    ],
)
def test_families(
    model: str, window: int, most: int, default: int, efforts: tuple[str, ...], thinking: tuple[str, bool]
) -> None:
    facts = facts_of(model)
    assert facts is not None
    assert (facts.id, facts.context_window, facts.max_output_tokens) == (model, window, most)
    assert (facts.default_output_tokens, facts.reasoning_efforts) == (default, efforts)
    assert facts.image_input is True
    assert thinking_of(model) == thinking


@pytest.mark.parametrize("model", ["gpt-5", "claude-3-5-haiku-latest", "claude-opusculum", "claude", ""])
def test_unknown_models(model: str) -> None:
    assert facts_of(model) is None
    assert thinking_of(model) == ("adaptive", True)


def supported(yes: bool) -> dict[str, bool]:
    return {"supported": yes}


def test_list_of_models() -> None:
    """`ModelInfo` of the API, and the bare lists of other servers."""
    effort: dict[str, Any] = {
        "supported": True,
        "low": supported(True),
        "high": supported(True),
        "max": supported(False),
    }
    body = {
        "data": [
            {
                "type": "model",
                "id": "claude-next-1",
                "display_name": "Next",
                "max_input_tokens": 2_000_000,
                "max_tokens": 256_000,
                "capabilities": {"effort": effort, "image_input": supported(False)},
            },
            {
                "type": "model",
                "id": "claude-opus-4-1",
                "max_tokens": 16_000,
                "capabilities": {"effort": supported(False)},
            },
            {"id": "llama", "object": "model"},
            {"id": ""},
            "odd",
        ],
        "has_more": False,
    }
    found = listed_models(body)
    assert [
        (
            facts.id,
            facts.context_window,
            facts.max_output_tokens,
            facts.default_output_tokens,
            facts.reasoning_efforts,
            facts.image_input,
        )
        for facts in found
    ] == [
        ("claude-next-1", 2_000_000, 256_000, None, ("low", "high"), False),
        ("claude-opus-4-1", None, 16_000, None, None, None),
        ("llama", None, None, None, None, None),
    ]


@pytest.mark.parametrize("body", [None, [], {}, {"data": {}}, "x"])
def test_no_list_of_models(body: Any) -> None:
    with pytest.raises(WireError):
        listed_models(body)
