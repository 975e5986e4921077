"""Routes and retry policies: what they hold, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.routes import code_of, route
from tests.support import named

from unspool.errors import (
    ConfigError,
)
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.profiles import ollama
from unspool.runtime import RetryPolicy, Route


@pytest.mark.parametrize(
    "options",
    [
        {"provider": ""},
        {"provider": 5},
        {"adapter": object()},
        {"models": "gpt"},
        {"models": [5]},
        {"retry": 5},
        {"temperature": "hot"},
        {"unknown": 1},
    ],
    ids=named,
)
def test_route_that_cannot_be_meant(options: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        route(**options)
    assert caught.value.code == "INVALID_OPTIONS"


def test_routes_and_policies_do_not_change() -> None:
    described = route("p", base_url="http://h/v1?code=hunter2-hunter2")
    for holder in (described, described.retry):
        with pytest.raises(AttributeError):
            holder.mode = "x"  # type: ignore[union-attr]
    assert "hunter2" not in repr(described)
    assert code_of(lambda: described.replaced(provider="q")) == "INVALID_OPTIONS"


@pytest.mark.parametrize(
    "options",
    [{"mode": "never"}, {"max_attempts": 0}, {"initial_delay_s": -1}, {"max_delay_s": float("nan")}],
    ids=named,
)
def test_retry_policy_that_cannot_be_meant(options: Any) -> None:
    with pytest.raises(ConfigError):
        RetryPolicy(**options)


def test_a_new_adapter_brings_its_address() -> None:
    described = Route("p", OpenAIChatAdapter())
    assert described.replaced(adapter=ollama()).base_url == "http://localhost:11434/v1"
    assert route("p").replaced(adapter=ollama()).base_url == "http://h/v1"
