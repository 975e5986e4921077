"""What is known of Anthropic's models: a small table by family, and the reader of `GET /v1/models`. Pure.

Source: Claude API documentation, "Models overview", "Effort" and "Thinking" (read 2026-11-30); `ModelInfo` of the API.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from unspool.contracts import ModelFacts
from unspool.errors import ConfigError
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, count_of, fields_of, text_or_none

Thinking = Literal["adaptive", "budget"]

_DEFAULT_OUTPUT_TOKENS = 32_000
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_NO_XHIGH = ("low", "medium", "high", "max")
_BUDGETED = ("low", "medium", "high")
_MILLION = 1_000_000
_MIN_BUDGET = 1_024
_BUDGETS = {"low": 1_024, "medium": 4_096, "high": 16_384}
"""Tokens for thinking, for models that know no efforts. 1,024 is the least that the API takes."""


class _Family(NamedTuple):
    prefix: str
    context_window: int
    max_output_tokens: int
    efforts: tuple[str, ...]
    thinking: Thinking = "adaptive"
    has_effort: bool = True


_FAMILIES = (
    _Family("claude-mythos-preview", _MILLION, 128_000, _NO_XHIGH),
    _Family("claude-mythos", _MILLION, 128_000, _EFFORTS),
    _Family("claude-fable", _MILLION, 128_000, _EFFORTS),
    _Family("claude-opus-4-8", _MILLION, 128_000, _EFFORTS),
    _Family("claude-opus-4-7", _MILLION, 128_000, _EFFORTS),
    _Family("claude-opus-4-6", _MILLION, 128_000, _NO_XHIGH),
    _Family("claude-opus-4-5", 200_000, 64_000, _BUDGETED, "budget"),
    _Family("claude-opus-4", 200_000, 32_000, _BUDGETED, "budget", has_effort=False),
    _Family("claude-opus", _MILLION, 128_000, _EFFORTS),
    _Family("claude-sonnet-4-6", _MILLION, 128_000, _NO_XHIGH),
    _Family("claude-sonnet-4", 200_000, 64_000, _BUDGETED, "budget", has_effort=False),
    _Family("claude-sonnet", _MILLION, 128_000, _EFFORTS),
    _Family("claude-haiku-4", 200_000, 64_000, _BUDGETED, "budget", has_effort=False),
    _Family("claude-haiku", _MILLION, 128_000, _EFFORTS),
)
"""The first that matches counts, so that a new member of a family is taken for one like its elders."""


def _family(model: str) -> _Family | None:
    # Clouds and routers put their own words before the name (`anthropic/claude-…`, `us.anthropic.claude-…`).
    name = model[max(0, model.find("claude-")) :]
    for family in _FAMILIES:
        if name == family.prefix or name.startswith((f"{family.prefix}-", f"{family.prefix}@")):
            return family
    return None


def facts_of(model: str) -> ModelFacts | None:
    """Say what is known of a model by its name; None when it is of no known family."""
    family = _family(model)
    if family is None:
        return None
    return ModelFacts(
        model,
        context_window=family.context_window,
        max_output_tokens=family.max_output_tokens,
        default_output_tokens=min(_DEFAULT_OUTPUT_TOKENS, family.max_output_tokens),
        reasoning_efforts=family.efforts,
        image_input=True,
    )


def thinking_of(model: str) -> tuple[Thinking, bool]:
    """How a model is asked to think, and whether it takes `output_config.effort`. Unknown ones: as today's models."""
    family = _family(model)
    return (family.thinking, family.has_effort) if family else ("adaptive", True)


def thinking_config(model: str, effort: str, max_tokens: int) -> tuple[dict[str, Any], str | None]:
    """Write how a model is asked to think: `thinking`, and the effort to be sent beside it, if it takes one.

    Args:
        model: by name.
        effort: as asked for.
        max_tokens: limit of the answer.
    Raises:
        ConfigError: INVALID_OPTIONS for an effort that it does not know, and a limit too low for thinking.
    """
    way, has_effort = thinking_of(model)
    told = effort if has_effort else None
    if way == "adaptive":
        return {"type": "adaptive"}, told
    if effort not in _BUDGETS:
        raise ConfigError(
            "INVALID_OPTIONS", f"{model} takes the reasoning efforts {', '.join(_BUDGETS)}, not {effort!r}."
        )
    if max_tokens <= _MIN_BUDGET:
        raise ConfigError(
            "INVALID_OPTIONS", f"To think, {model} needs a limit of the answer above {_MIN_BUDGET} tokens."
        )
    # Thinking counts towards the limit of the answer, which must have room beside it.
    budget = max(_MIN_BUDGET, min(_BUDGETS[effort], max_tokens // 2))
    return {"type": "enabled", "budget_tokens": budget}, told


def listed_models(body: Any) -> list[ModelFacts]:
    """Read the answer to `GET /v1/models`.

    Raises:
        WireError: PROTOCOL when it lists no models.
    """
    items = listed_in(body, fields_of(body).get("data"))
    return [_model(name, item) for item in items if (name := text_or_none(item, "id"))]


def _model(name: str, item: Fields) -> ModelFacts:
    capabilities = fields_of(item.get("capabilities"))
    effort = fields_of(capabilities.get("effort"))
    return ModelFacts(
        name,
        context_window=count_of(item, "max_input_tokens", least=1),
        max_output_tokens=count_of(item, "max_tokens", least=1),
        reasoning_efforts=[word for word in _EFFORTS if _supported(effort, word)] if effort.get("supported") else None,
        image_input=_supported(capabilities, "image_input"),
    )


def _supported(capabilities: Fields, name: str) -> bool | None:
    value = fields_of(capabilities.get(name)).get("supported")
    return value if isinstance(value, bool) else None
