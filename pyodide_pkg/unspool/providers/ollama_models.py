"""What Ollama says of its models: the list of `/api/tags`, and one model of `/api/show`. Pure.

Source: https://docs.ollama.com/api/tags, /api/show (read in part only).
"""

from __future__ import annotations

from typing import Any

from unspool.contracts import ModelFacts
from unspool.errors import WireError
from unspool.providers.failure import listed_in
from unspool.providers.fields import Fields, count_of, fields_of, list_of, text_or_none


def listed_models(body: Any) -> list[ModelFacts]:
    """Read the answer to `GET /api/tags`.

    Raises:
        WireError: PROTOCOL when it lists no models.
    """
    members = fields_of(body)
    # The server's word for none is null.
    items = listed_in(body, [] if members and members.get("models", body) is None else members.get("models"))
    named = ((text_or_none(item, "model") or text_or_none(item, "name"), item) for item in items)
    return [_facts(name, item, None) for name, item in named if name]


def shown_model(model: str, body: Any) -> ModelFacts:
    """Read the answer to `POST /api/show`.

    Raises:
        WireError: PROTOCOL when it describes no model.
    """
    members = fields_of(body)
    info = fields_of(members.get("model_info"))
    if not info and not members.get("capabilities"):
        raise WireError("PROTOCOL", "The answer describes no model.")
    window = count_of(info, f"{text_or_none(info, 'general.architecture')}.context_length", least=1)
    return _facts(model, members, window)


def _facts(model: str, item: Fields, window: int | None) -> ModelFacts:
    able = {*map(str, list_of(item.get("capabilities")))}
    levels = list_of(fields_of(item.get("thinking")).get("values"))
    efforts: list[str] = [("on" if level else "none") if isinstance(level, bool) else str(level) for level in levels]
    return ModelFacts(
        model,
        context_window=window,
        reasoning_efforts=efforts or (() if able and "thinking" not in able else None),
        image_input="vision" in able if able else None,
    )
