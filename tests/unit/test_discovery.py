"""Asking an endpoint which models it serves."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.routes import route

from unspool import discovery, http_model
from unspool.contracts import Adapter, HttpRequest
from unspool.errors import (
    CallCancelledError,
    NetworkError,
    UnspoolError,
)
from unspool.providers.anthropic import AnthropicAdapter
from unspool.providers.failure import MAX_LISTED
from unspool.providers.gemini import GeminiAdapter
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.openai_responses import OpenAIResponsesAdapter
from unspool.runtime import Route, Runtime
from unspool.testing import HttpResponse, Reply, ScriptedTransport


async def test_an_endpoint_is_asked_before_it_is_configured() -> None:
    def answer(request: HttpRequest) -> Reply:
        seen.append((request.url, request.headers))
        return HttpResponse(body=b'{"data":[{"id":"gpt-4o"},{"id":"x"}]}')

    seen: list[Any] = []
    runtime = Runtime()
    runtime.declare(Route("p", OpenAIChatAdapter()))
    found = await runtime.discover("p", base_url="http://new/v1", api_key="k", transport=ScriptedTransport([], answer))
    assert [(facts.id, facts.context_window) for facts in found] == [("gpt-4o", 128_000), ("x", None)]
    assert seen == [("http://new/v1/models", {"authorization": "Bearer k"})]
    assert runtime.list_providers() == []
    assert runtime.list_configurable()[0].route.base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (HttpResponse(401, {}, b'{"error":{"message":"bad key sk-secret-0123456789"}}'), "AUTH"),
        (HttpResponse(404, {}, b"<html>Not here</html>"), "INVALID_REQUEST"),
        (HttpResponse(body=b"<html>Hello</html>"), "PROTOCOL"),
        (HttpResponse(body=b'{"hello":"world"}'), "PROTOCOL"),
        (HttpResponse(body=b"data: {}\n\n"), "PROTOCOL"),
        (HttpResponse(body=b'{"data":[{"id":'), "STREAM_TRUNCATED"),
        (HttpResponse(body=b""), "STREAM_TRUNCATED"),
        (HttpResponse(body=[b'{"data"', NetworkError("gone")]), "NETWORK"),
        (NetworkError("gone"), "NETWORK"),
        (OSError("odd"), "NETWORK"),
    ],
)
async def test_an_endpoint_that_lists_no_models(reply: Reply, code: str) -> None:
    runtime = Runtime(route("p", reply, api_key="sk-secret-0123456789"))
    with pytest.raises(UnspoolError) as caught:
        await runtime.list_models("p")
    assert caught.value.code == code
    assert "sk-secret" not in str(caught.value)
    assert caught.value.partial is None


async def test_a_bare_list_of_models() -> None:
    for body, names in ((b'[{"id":"a"},{"id":"b"}]', ["a", "b"]), (b'[{"id":"a"}]', ["a"])):
        runtime = Runtime(route("p", HttpResponse(body=body)))
        assert [facts.id for facts in await runtime.list_models("p")] == names


@pytest.mark.parametrize(
    "adapter",
    [OpenAIChatAdapter(), OpenAIResponsesAdapter(), AnthropicAdapter(), GeminiAdapter()],
    ids=lambda a: a.name,
)
async def test_no_more_models_are_read_than_a_page_can_bear(adapter: Adapter) -> None:
    """What is known of each one is looked up by its name: of a hundred thousand this would take a minute in a page."""
    names = [f"m{number}" for number in range(MAX_LISTED + 5)]
    body = {"data": [{"id": name} for name in names], "models": [{"name": f"models/{name}"} for name in names]}
    reply = HttpResponse(200, {"content-type": "application/json"}, json.dumps(body).encode())
    found = await Runtime(route("p", reply, adapter=adapter)).list_models("p")
    assert [facts.id for facts in found] == names[:MAX_LISTED]


async def test_asking_for_models_can_be_stopped() -> None:
    signal = asyncio.Event()
    signal.set()
    runtime = Runtime(route("p", HttpResponse(body=b"[]")))
    with pytest.raises(CallCancelledError):
        await runtime.list_models("p", signal=signal)


def test_discovery_is_a_model_like_any_other() -> None:
    assert issubclass(discovery.ModelList, http_model.HttpModel)
