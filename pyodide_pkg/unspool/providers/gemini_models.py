"""What is known of Gemini's models by their names, and what their list says. Pure data and pure functions.

Source: https://ai.google.dev/gemini-api/docs/models, …/docs/generate-content/thinking, https://ai.google.dev/api/models.
"""

from __future__ import annotations

import re
from typing import Any

from unspool.contracts import ModelFacts
from unspool.errors import ConfigError
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, count_of, fields_of, text_or_none
from unspool.stream.excerpt import excerpt

type Generation = tuple[int, int]

_NAME = re.compile(r"gemini-(\d{1,3})(?:\.(\d{1,3}))?(?![\d.])")
_LATEST = re.compile(r"gemini-(?:pro|flash|flash-lite)-latest")
_OTHER = re.compile(r"-(?:image|tts|live|audio|embedding|robotics|computer|omni)\b")
"""Models of the same names that take and give something else."""
_PATH = re.compile(r"[A-Za-z0-9][\w.@:-]*(?:/[A-Za-z0-9][\w.@:-]*)*", re.ASCII)

_WINDOW = 1_048_576
_TABLE: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("gemini-4", 65_536, ("low", "medium", "high")),
    ("gemini-3.8-flash", 65_536, ("low", "medium", "high")),
    ("gemini-3.7-flash", 65_536, ("low", "medium", "high")),
    ("gemini-3.5", 65_536, ("minimal", "low", "medium", "high")),
    ("gemini-3.1-pro", 65_536, ("low", "medium", "high")),
    ("gemini-3.1", 65_536, ("minimal", "low", "medium", "high")),
    ("gemini-3-pro", 65_536, ("low", "high")),
    ("gemini-3", 65_536, ("minimal", "low", "medium", "high")),
    ("gemini-2.5-pro", 65_536, ("low", "medium", "high")),
    ("gemini-2.5", 65_536, ("none", "low", "medium", "high")),
    ("gemini-2.0", 8_192, ()),
)
"""How a name begins, the most tokens of an answer, and the efforts; the first that fits counts."""

_BUDGETS = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
"""Tokens that Google itself takes for these words, for models that know budgets only.

Source: https://ai.google.dev/gemini-api/docs/openai, "Thinking".
"""


def model_path(model: str) -> str:
    """Give the path of a model: `gemini-x` is `models/gemini-x`; a name with slashes is a path already.

    Raises:
        ConfigError: INVALID_OPTIONS for a name that cannot stand in an address.
    """
    if not _PATH.fullmatch(model):
        raise ConfigError("INVALID_OPTIONS", f"{excerpt(model, 80)!r} cannot be the name of a model of Gemini.")
    return model if "/" in model else f"models/{model}"


def generation_of(model: str) -> Generation | None:
    """Give the generation that a model is of, `(3, 1)` of Gemini 3.1; None for models that are not Gemini's own."""
    name = model.rpartition("/")[2]
    match = _NAME.match(name)
    if match:
        return int(match[1]), int(match[2] or 0)
    return (3, 0) if _LATEST.fullmatch(name) else None


def facts_of(model: str) -> ModelFacts | None:
    """Give what is known of a model by its name, with or without `models/` before it; None when that is nothing."""
    name = model.rpartition("/")[2]
    if _OTHER.search(name):
        return None
    for beginning, max_output_tokens, efforts in _TABLE:
        if re.match(rf"{re.escape(beginning)}(?![\d.])", name):
            return ModelFacts(
                name,
                context_window=_WINDOW,
                max_output_tokens=max_output_tokens,
                reasoning_efforts=efforts,
                image_input=True,
            )
    return None


def thinking_of(model: str, effort: str) -> dict[str, Any]:
    """Give what asks a model for an effort: a level, or a budget of tokens for the generation that knows no levels.

    Raises:
        ConfigError: INVALID_OPTIONS when the model does not think, or there is no budget for the word.
    """
    generation = generation_of(model)
    if generation is None or generation >= (3, 0):
        return {"thinkingLevel": effort.upper()}
    budget = _BUDGETS.get(effort) if generation >= (2, 5) else None
    if budget is None:
        raise ConfigError("INVALID_OPTIONS", f"{model} takes no reasoning_effort {excerpt(effort, 40)!r}.")
    return {"thinkingBudget": budget}


def listed_models(body: Any) -> list[ModelFacts]:
    """Read the answer to `GET /models`: the models that generate content.

    Raises:
        WireError: PROTOCOL when it lists no models.
    """
    return [
        ModelFacts(
            name.removeprefix("models/"),
            context_window=count_of(item, "inputTokenLimit", least=1),
            max_output_tokens=count_of(item, "outputTokenLimit", least=1),
        )
        for item in listed_in(body, fields_of(body).get("models"))
        if (name := text_or_none(item, "name")) and _generates(item)
    ]


def _generates(item: Fields) -> bool:
    methods = item.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods
