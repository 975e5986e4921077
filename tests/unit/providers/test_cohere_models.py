"""What is known of Cohere's models. Figures: Cohere's documentation of each model."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.providers.cohere_models import EFFORTS, facts_of, listed_models, whole_count


@pytest.mark.parametrize(
    ("model", "window", "output", "efforts", "sees"),
    [
        ("command-a-plus-05-2026", 128_000, 64_000, EFFORTS, True),
        ("command-a-reasoning-08-2025", 256_000, 32_000, EFFORTS, False),
        ("command-a-vision-07-2025", 128_000, 8_000, (), True),
        ("command-a-translate-08-2025", 16_000, 8_000, (), False),
        ("command-a-03-2025", 256_000, 8_000, (), False),
        ("command-r7b-12-2024", 128_000, 4_000, (), False),
        ("command-r-plus-08-2024", 128_000, 4_000, (), False),
        ("command-r-plus", 128_000, 4_000, (), False),
        ("command-r-08-2024", 128_000, 4_000, (), False),
        ("c4ai-aya-vision-32b", None, None, None, None),
        ("c4ai-aya-expanse-8b", 8_000, 4_000, (), False),
        ("c4ai-aya-expanse-32b", 128_000, 4_000, (), False),
        ("north-mini-code-1-0", 256_000, 64_000, EFFORTS, False),
        ("command-r7b-arabic-02-2025", None, None, None, None),
        ("command-b-01-2027", None, None, None, None),
        ("command-a-novel-01-2027", None, None, None, None),
        ("gpt-4o", None, None, None, None),
    ],
)
def test_facts(model: str, window: int | None, output: int | None, efforts: Any, sees: bool | None) -> None:
    """A word behind the family makes it another one, of which nothing is known."""
    facts = facts_of(model)
    if window is None:
        assert facts is None
        return
    assert facts is not None
    assert (facts.id, facts.context_window, facts.max_output_tokens) == (model, window, output)
    assert (facts.reasoning_efforts, facts.image_input, facts.default_output_tokens) == (efforts, sees, None)


def test_list_of_models() -> None:
    """In the shape of the API reference ("List Models") and of what the endpoint is known to send."""
    body = {
        "models": [
            {
                "name": "command-a-plus-05-2026",
                "endpoints": ["chat"],
                "context_length": 128000.0,
                "features": ["json_mode", "reasoning", "vision"],
            },
            {
                "name": "command-r-plus",
                "endpoints": ["generate", "chat", "summarize"],
                "context_length": 128000,
                "supports_vision": False,
                "features": ["tools"],
            },
            {"name": "embed-v4.0", "endpoints": ["embed"], "context_length": 128000},
            {"name": "own", "context_length": 0, "features": None},
            {"name": ""},
            "odd",
        ],
        "next_page_token": "",
    }
    assert [
        (facts.id, facts.context_window, facts.max_output_tokens, facts.reasoning_efforts, facts.image_input)
        for facts in listed_models(body)
    ] == [
        ("command-a-plus-05-2026", 128_000, None, EFFORTS, True),
        ("command-r-plus", 128_000, None, None, False),
        ("own", None, None, None, None),
    ]


@pytest.mark.parametrize("body", [None, [], {}, {"models": {}}, "x", {"message": "invalid api token"}])
def test_no_list_of_models(body: Any) -> None:
    with pytest.raises(WireError) as caught:
        listed_models(body)
    assert caught.value.code == "PROTOCOL"


@pytest.mark.parametrize(
    ("value", "count"),
    [(7, 7), (7.0, 7), (7.5, None), (-1.0, None), ("7", None), (True, None), (1e300, None), (float("inf"), None)],
)
def test_counts(value: Any, count: int | None) -> None:
    assert whole_count({"n": value}, "n") == count
