"""What is known of Anthropic's models: a small table by family, and the reader of `GET /v1/models`. Pure.

Source: Claude API documentation, "Models overview", "Effort" and "Thinking" (read 2026-11-30); `ModelInfo` of the API.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

from unspool.contracts import ModelFacts
from unspool.errors import WireError

Thinking = Literal["adaptive", "budget"]

_DEFAULT_OUTPUT_TOKENS = 32_000
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_NO_XHIGH = ("low", "medium", "high", "max")
_BUDGETED = ("low", "medium", "high")
_MILLION = 1_000_000


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


def models_in(body: Any) -> list[ModelFacts]:
    """Read the answer to `GET /v1/models`; what it leaves out is filled in from the table.

    Raises:
        WireError: PROTOCOL when it lists no models.
    """
    data: object = cast("dict[str, Any]", body).get("data") if isinstance(body, dict) else None
    if not isinstance(data, list):
        raise WireError("PROTOCOL", "The provider's answer is no list of models.")
    found: list[ModelFacts] = []
    for item in cast("list[object]", data):
        if isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            if isinstance(members.get("id"), str) and members["id"]:
                found.append(_model(members))
    return found


def _model(members: dict[str, Any]) -> ModelFacts:
    known = facts_of(members["id"]) or ModelFacts(members["id"])
    capabilities = _object(members, "capabilities")
    effort = _object(capabilities, "effort")
    efforts = known.reasoning_efforts
    if _supported(effort):
        efforts = tuple(name for name in _EFFORTS if _supported(_object(effort, name)))
    image = _supported(_object(capabilities, "image_input"))
    most = _count(members, "max_tokens") or known.max_output_tokens
    default = known.default_output_tokens
    return ModelFacts(
        members["id"],
        context_window=_count(members, "max_input_tokens") or known.context_window,
        max_output_tokens=most,
        default_output_tokens=min(default, most) if default is not None and most is not None else default,
        reasoning_efforts=efforts,
        image_input=known.image_input if image is None else image,
    )


def _object(members: dict[str, Any], name: str) -> dict[str, Any]:
    value = members.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _supported(capability: dict[str, Any]) -> bool | None:
    value = capability.get("supported")
    return value if isinstance(value, bool) else None


def _count(members: dict[str, Any], name: str) -> int | None:
    value = members.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
