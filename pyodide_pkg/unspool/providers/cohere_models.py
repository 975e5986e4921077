"""What is known of Cohere's models: a small table by family, and the reader of `GET /v1/models`. Pure.

Source: Cohere documentation, "An Overview of Cohere's Models" and the pages of the models (read 2026-11-30).
"""

from __future__ import annotations

from typing import Any

from unspool.contracts import ModelFacts
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, count_of, fields_of, list_of, text_or_none

EFFORTS = ("none", "low", "medium", "high")
"""Our words: the API knows on, off and a budget."""
_FAMILIES: tuple[tuple[str, int, int, bool, bool], ...] = (
    ("command-a-plus", 128_000, 64_000, True, True),
    ("command-a-reasoning", 256_000, 32_000, True, False),
    ("command-a-vision", 128_000, 8_000, False, True),
    ("command-a-translate", 16_000, 8_000, False, False),
    ("command-a", 256_000, 8_000, False, False),
    ("command-r7b", 128_000, 4_000, False, False),
    ("command-r-plus", 128_000, 4_000, False, False),
    ("command-r", 128_000, 4_000, False, False),
    ("c4ai-aya-vision", 16_000, 4_000, False, True),
    ("c4ai-aya-expanse-32b", 128_000, 4_000, False, False),
    ("c4ai-aya-expanse-8b", 8_000, 4_000, False, False),
    ("north-mini-code", 256_000, 64_000, True, False),
)
"""Family, context window, output limit, whether it thinks, whether it sees. The first that matches counts."""
_DATE = frozenset("0123456789-")


def facts_of(model: str) -> ModelFacts | None:
    """Say what is known of a model by its name, dated or not; None when it is of no known family."""
    for family, window, output, thinks, sees in _FAMILIES:
        if model.startswith(family) and _DATE.issuperset(model[len(family) :]):
            return ModelFacts(
                model,
                context_window=window,
                max_output_tokens=output,
                reasoning_efforts=EFFORTS if thinks else (),
                image_input=sees,
            )
    return None


def listed_models(body: Any) -> list[ModelFacts]:
    """Read the answer to `GET /v1/models`; those that cannot chat are left out.

    Raises:
        WireError: PROTOCOL when it lists no models.
    """
    items = listed_in(body, fields_of(body).get("models"))
    return [_model(name, item) for item in items if (name := text_or_none(item, "name")) and _chats(item)]


def whole_count(fields: Fields, name: str) -> int | None:
    """Give a count; Cohere writes some as fractions (`128000.0`)."""
    value = fields.get(name)
    if isinstance(value, float) and value.is_integer():
        return count_of({name: int(value)}, name)
    return count_of(fields, name)


def _chats(item: Fields) -> bool:
    endpoints = list_of(item.get("endpoints"))
    return not endpoints or "chat" in endpoints


def _model(name: str, item: Fields) -> ModelFacts:
    features = list_of(item.get("features"))
    sees = item.get("supports_vision")
    return ModelFacts(
        name,
        context_window=whole_count(item, "context_length") or None,
        reasoning_efforts=EFFORTS if "reasoning" in features else None,
        image_input=sees if isinstance(sees, bool) else True if "vision" in features else None,
    )
