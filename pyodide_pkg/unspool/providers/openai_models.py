"""What is known of OpenAI's models: a small table by family, and the reader of lists of models. Pure.

A name that is not in the table is not refused: nothing is known. The table was put together in November 2026 from what
was at hand of OpenAI's descriptions of its models, and not held against its API.
"""

from __future__ import annotations

import re
from typing import Any

from unspool.contracts import ModelFacts
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, count_of, fields_of, list_of, text_or_none

_THINKS = ("low", "medium", "high")
_FAMILIES: tuple[tuple[str, int, int, tuple[str, ...], bool], ...] = (
    (r"gpt-6(?:\.\d)?-astra", 1_050_000, 128_000, (*_THINKS, "xhigh", "max"), True),
    (r"gpt-6(?:\.\d)?-[a-z]+", 1_050_000, 128_000, ("none", *_THINKS, "xhigh", "max"), True),
    (r"gpt-5\.6(?:-[a-z]+)?", 1_050_000, 128_000, ("none", *_THINKS, "xhigh", "max"), True),
    (r"gpt-5\.[45]-pro", 1_050_000, 128_000, ("medium", "high", "xhigh"), True),
    (r"gpt-5\.[45]", 1_050_000, 128_000, ("none", *_THINKS, "xhigh"), True),
    (r"gpt-5\.4-(?:mini|nano)", 400_000, 128_000, ("none", *_THINKS, "xhigh"), True),
    (r"gpt-5\.[23]-codex", 400_000, 128_000, (*_THINKS, "xhigh"), True),
    (r"gpt-5\.2-pro", 400_000, 128_000, ("medium", "high", "xhigh"), True),
    (r"gpt-5\.2", 400_000, 128_000, ("none", *_THINKS, "xhigh"), True),
    (r"gpt-5\.1-codex-max", 400_000, 128_000, ("none", *_THINKS, "xhigh"), True),
    (r"gpt-5\.1(?:-codex(?:-mini)?)?", 400_000, 128_000, ("none", *_THINKS), True),
    (r"gpt-5(?:\.[1-3])?-chat-latest", 128_000, 16_384, (), True),
    (r"gpt-5-pro", 400_000, 272_000, ("high",), True),
    (r"gpt-5-codex", 400_000, 128_000, _THINKS, True),
    (r"gpt-5(?:-mini|-nano)?", 400_000, 128_000, ("minimal", *_THINKS), True),
    (r"o[134](?:-pro)?|o4-mini", 200_000, 100_000, _THINKS, True),
    (r"o3-mini", 200_000, 100_000, _THINKS, False),
    (r"gpt-4\.1(?:-mini|-nano)?", 1_047_576, 32_768, (), True),
    (r"gpt-4o(?:-mini)?", 128_000, 16_384, (), True),
    (r"gpt-4-turbo", 128_000, 4_096, (), True),
    (r"gpt-4", 8_192, 8_192, (), False),
    (r"gpt-3\.5-turbo", 16_385, 4_096, (), False),
)
"""Family, context window, output limit, efforts, pictures. The first that matches counts."""


def facts_of(model: str) -> ModelFacts | None:
    """Say what is known of a model of OpenAI, dated names (`gpt-4o-2024-11-20`) included."""
    for name, window, output, efforts, images in _FAMILIES:
        if re.fullmatch(rf"(?:{name})(?:-\d{{4}}-\d\d-\d\d)?", model):
            return ModelFacts(
                model,
                context_window=window,
                max_output_tokens=output,
                reasoning_efforts=efforts,
                image_input=images,
            )
    return None


def unknown_facts(model: str) -> ModelFacts | None:
    """Nothing: of servers that run models of anyone, whose names say nothing. Their lists of models may say more."""
    return None


def listed_models(body: Any) -> list[ModelFacts]:
    """Read a list of models as compatible servers give it: `{"data": […]}`, `{"models": […]}` or a bare list.

    OpenAI says no more than the names; vLLM, Groq, Mistral, OpenRouter, LM Studio and llama.cpp also say what the
    models can do, each in its own words.

    Raises:
        WireError: PROTOCOL when it is no list of models.
    """
    members = fields_of(body)
    items: object = members["data"] if "data" in members else members.get("models", body)
    if members and items is None:
        items = []  # Ollama's word for none
    found: dict[str, ModelFacts] = {}
    for item in listed_in(body, items):
        name = text_or_none(item, "id") or text_or_none(item, "model") or text_or_none(item, "name")
        if name is not None:
            found.setdefault(name, _model(name, item))
    return list(found.values())


def _model(name: str, item: Fields) -> ModelFacts:
    windows = ("context_length", "context_window", "max_model_len", "max_context_length")
    provider, meta = fields_of(item.get("top_provider")), fields_of(item.get("meta"))
    return ModelFacts(
        name,
        context_window=count_of(item, *windows, least=1) or count_of(meta, "n_ctx", "n_ctx_train", least=1),
        max_output_tokens=count_of(item, "max_completion_tokens", "max_output_tokens", least=1)
        or count_of(provider, "max_completion_tokens", least=1),
        reasoning_efforts=_efforts(item),
        image_input=_sees(item),
    )


def _efforts(item: Fields) -> tuple[str, ...] | None:
    """None of them where the server lists what the model takes, and reasoning is not among it."""
    supported = {*map(str, list_of(item.get("supported_parameters")))}
    never = fields_of(item.get("capabilities")).get("reasoning") is False  # Mistral
    return () if never or (supported and supported.isdisjoint(("reasoning", "reasoning_effort"))) else None


def _sees(item: Fields) -> bool | None:
    capabilities = item.get("capabilities")
    vision = fields_of(capabilities).get("vision")
    if isinstance(vision, bool):
        return vision
    words = {*map(str, list_of(capabilities))}
    if words:
        return not words.isdisjoint(("vision", "multimodal"))
    modalities = list_of(fields_of(item.get("architecture")).get("input_modalities"))
    if modalities:
        return "image" in modalities
    kind = text_or_none(item, "type")  # LM Studio
    return {"vlm": True, "llm": False}.get(kind or "")
