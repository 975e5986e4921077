"""What OpenAI's models can do, by name, and what lists of models say. Pure.

Only what the vendor documents and a request can be held to. A name that is not here is not refused: nothing is known.
Source: OpenAI's model pages, read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from unspool.contracts import ModelFacts
from unspool.errors import WireError

MAX_MODELS = 10_000

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


def openai_facts(model: str) -> ModelFacts | None:
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


def listed_models(body: Any) -> list[ModelFacts]:
    """Read a list of models as compatible servers give it: `{"data": […]}`, `{"models": […]}` or a bare list.

    OpenAI says no more than the names; vLLM, Groq, Mistral, OpenRouter, LM Studio and llama.cpp also say what the
    models can do, each in its own words.

    Raises:
        WireError: PROTOCOL when it is no list of models.
    """
    items = body
    if isinstance(body, dict):
        members = cast("dict[str, Any]", body)
        items = members["data"] if "data" in members else members.get("models", body)
        if items is None:
            items = []  # Ollama's word for none
    if not isinstance(items, list):
        raise WireError("PROTOCOL", "The server answered with something that is no list of models.")
    found: dict[str, ModelFacts] = {}
    for item in cast("list[object]", items)[:MAX_MODELS]:
        facts = _facts(cast("dict[str, Any]", item)) if isinstance(item, dict) else None
        if facts is not None:
            found.setdefault(facts.id, facts)
    return list(found.values())


def _facts(item: Mapping[str, Any]) -> ModelFacts | None:
    name = item.get("id") or item.get("model") or item.get("name")
    if not isinstance(name, str) or not name:
        return None
    provider, meta = _inner(item, "top_provider"), _inner(item, "meta")
    return ModelFacts(
        name,
        context_window=_count(item, "context_length", "context_window", "max_model_len", "max_context_length")
        or _count(meta, "n_ctx", "n_ctx_train"),
        max_output_tokens=_count(item, "max_completion_tokens", "max_output_tokens")
        or _count(provider, "max_completion_tokens"),
        reasoning_efforts=_efforts(item),
        image_input=_sees(item),
    )


def _efforts(item: Mapping[str, Any]) -> tuple[str, ...] | None:
    """None of them where the server lists what the model takes, and reasoning is not among it."""
    supported = item.get("supported_parameters")
    if isinstance(supported, list) and not {"reasoning", "reasoning_effort"} & {
        *map(str, cast("list[object]", supported))
    }:
        return ()
    return None


def _sees(item: Mapping[str, Any]) -> bool | None:
    capabilities = item.get("capabilities")
    if isinstance(capabilities, dict):
        vision = cast("dict[str, Any]", capabilities).get("vision")
        return vision if isinstance(vision, bool) else None
    if isinstance(capabilities, list) and capabilities:
        return bool({"vision", "multimodal"} & {*map(str, cast("list[object]", capabilities))})
    modalities = _inner(item, "architecture").get("input_modalities")
    if isinstance(modalities, list) and modalities:
        return "image" in modalities
    kind = item.get("type")  # LM Studio
    return {"vlm": True, "llm": False}.get(kind) if isinstance(kind, str) else None


def _inner(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = item.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _count(item: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = item.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
