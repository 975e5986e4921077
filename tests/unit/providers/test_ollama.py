"""Requests to Ollama's own API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError, ProviderError
from unspool.llms import Ollama
from unspool.messages import (
    Message,
    UserMessage,
)
from unspool.providers.ollama import OllamaAdapter, OllamaShow
from unspool.testing import HttpResponse, ScriptedTransport

LOCAL = "http://localhost:11434"
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}
PNG = b"\x89PNG\r\n\x1a\n"
DATA = "iVBORw0KGgo="


def build(request: Request, *, base_url: str = LOCAL, api_key: str | None = None, **options: Any) -> HttpRequest:
    return OllamaAdapter(**options).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, **options: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(build(request, **options).body)
    return value


def ask(*messages: Message, **options: Any) -> Request:
    return Request("m", messages or (UserMessage("Hi"),), **options)


def test_smallest_request() -> None:
    request = build(ask())
    assert (request.method, request.url) == ("POST", "http://localhost:11434/api/chat")
    assert request.headers == {"content-type": "application/json"}  # F9
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://localhost:11434/", "http://localhost:11434/api/chat"),
        ("http://localhost:11434/api", "http://localhost:11434/api/chat"),
        ("http://localhost:11434/api/", "http://localhost:11434/api/chat"),
        ("http://localhost:11434/api/chat", "http://localhost:11434/api/chat"),
        ("https://h/ollama?a=1", "https://h/ollama/api/chat?a=1"),
        ("https://ollama.com/api?a=1", "https://ollama.com/api/chat?a=1"),
    ],
)
def test_address(base_url: str, url: str) -> None:
    """The reference names it with `/api`, people without."""
    assert build(ask(), base_url=base_url).url == url


def test_headers() -> None:
    headers = build(ask(), api_key="k", headers={"X-A": "b", "Authorization": "other"}).headers
    assert headers == {"x-a": "b", "authorization": "Bearer k", "content-type": "application/json"}
    with pytest.raises(ConfigError, match="INVALID_CREDENTIAL"):
        build(ask(), api_key="a b")
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        build(ask(), base_url="/api")


def test_options() -> None:
    told = body(
        ask(
            temperature=0, max_output_tokens=9, stop=["a"], seed=0, extra={"options": {"top_k": 3, "seed": 7}, "raw": 1}
        ),
        num_ctx=8_192,
        keep_alive="10m",
    )
    assert told["options"] == {
        "num_ctx": 8_192,
        "temperature": 0,
        "num_predict": 9,
        "stop": ["a"],
        "top_k": 3,
        "seed": 7,
    }
    assert (told["keep_alive"], told["raw"]) == ("10m", 1)
    assert body(ask(), keep_alive=0)["keep_alive"] == 0
    assert body(ask(extra={"keep_alive": -1}), keep_alive=0)["keep_alive"] == -1
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        OllamaAdapter(num_ctx=0)


@pytest.mark.parametrize(
    ("effort", "think"),
    [("none", False), ("off", False), ("on", True), ("low", "low"), ("high", "high"), ("max", "max")],
)
def test_thinking(effort: str, think: bool | str) -> None:
    assert body(ask(reasoning_effort=effort))["think"] == think
    assert "think" not in body(ask())


def test_output_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert body(ask(output_schema=OutputSchema("A", schema)))["format"] == schema


def test_tools() -> None:
    tools = [{"type": "function", "function": TOOL}]
    assert body(ask(tools=[TOOL]))["tools"] == body(ask(tools=[TOOL], tool_choice="auto"))["tools"] == tools
    assert "tools" not in body(ask(tools=[TOOL], tool_choice="none"))
    for choice in ("required", "f"):
        with pytest.raises(ConfigError, match="UNSUPPORTED"):
            body(ask(tools=[TOOL], tool_choice=choice))
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        body(ask(tools=[TOOL], tool_choice="g"))


def test_without_messages() -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        build(Request("m", ()))


def test_models() -> None:
    adapter = OllamaAdapter(headers={"x-a": "b"})
    request = adapter.models_request(api_key="k", base_url=f"{LOCAL}/api")
    assert (request.method, request.url) == ("GET", f"{LOCAL}/api/tags")
    assert request.headers == {"x-a": "b", "authorization": "Bearer k"}
    assert [facts.id for facts in adapter.models({"models": [{"model": "m"}]})] == ["m"]
    assert adapter.facts("qwen3") is None
    show = OllamaShow("m").models_request(api_key=None, base_url=LOCAL)
    assert (show.method, show.url, show.body) == ("POST", f"{LOCAL}/api/show", b'{"model":"m"}')


@pytest.mark.parametrize(
    ("status", "said", "code", "retryable"),
    [
        (400, {"error": "m does not support thinking"}, "INVALID_REQUEST", False),
        (401, {"error": "unauthorized"}, "AUTH", False),
        (404, {"error": "model 'm' not found"}, "MODEL_NOT_FOUND", False),
        (404, {"error": 'model "m" not found, try pulling it first'}, "MODEL_NOT_FOUND", False),
        (500, {"error": "model requires more system memory (9 GiB) than is available"}, "PROVIDER", True),
        (503, {"error": "server busy, please try again.  maximum pending requests exceeded"}, "OVERLOADED", True),
    ],
)
def test_failures(status: int, said: dict[str, Any], code: str, retryable: bool) -> None:
    error = OllamaAdapter().failure(status, {}, json.dumps(said).encode())
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert " ".join(said["error"].split()) in error.message


async def test_model() -> None:
    """No key is asked for on this machine, and the server is asked what a model is."""
    shown = {"model_info": {"general.architecture": "q", "q.context_length": 4_096}, "capabilities": ["vision"]}
    answer = b'{"model":"m","message":{"content":"Hi"},"done":false}\n{"done":true,"done_reason":"stop"}\n'
    transport = ScriptedTransport(
        [
            answer,
            HttpResponse(200, {}, json.dumps(shown).encode()),
            HttpResponse(404, {}, b'{"error":"model not found"}'),
        ]
    )
    lm = Ollama("m", transport=transport, api_key="k", adapter=OllamaAdapter(headers={"x-a": "b"}))
    assert (await lm.call("Hello")).text == "Hi"
    facts = await lm.facts()
    assert (facts.id, facts.context_window, facts.image_input) == ("m", 4_096, True)
    assert transport.requests[1].url == f"{LOCAL}/api/show"
    assert {"authorization": "Bearer k", "x-a": "b"}.items() <= transport.requests[1].headers.items()
    with pytest.raises(ProviderError) as caught:
        await lm.facts()
    assert caught.value.code == "MODEL_NOT_FOUND"
    assert Ollama("m").base_url == LOCAL
