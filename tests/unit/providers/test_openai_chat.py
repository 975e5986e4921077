from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError
from unspool.messages import (
    Image,
    Message,
    UserMessage,
)
from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://localhost:8080/v1"
PICTURE = Image(b"\x89PNG\r\n\x1a\n", detail="low")
PICTURE_WIRE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
LINK = Image("https://pictures.example/a.jpg")
LINK_WIRE = {"type": "image_url", "image_url": {"url": "https://pictures.example/a.jpg"}}


def build(request: Request, *, base_url: str = LOCAL, api_key: str | None = None, **profile: Any) -> HttpRequest:
    return OpenAIChatAdapter(**profile).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, *, base_url: str = LOCAL, **profile: Any) -> dict[str, Any]:
    value = json.loads(build(request, base_url=base_url, **profile).body)
    assert isinstance(value, dict)
    return value


def ask(*messages: Message, **options: Any) -> Request:
    return Request("m", messages or (UserMessage("Hi"),), **options)


def test_smallest_request() -> None:
    request = build(ask())
    assert (request.method, request.url) == ("POST", "http://localhost:8080/v1/chat/completions")
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("key", "profile", "names"),
    [
        (None, {}, ["content-type"]),
        ("k", {}, ["authorization", "content-type"]),
        (None, {"headers": {"API-Key": "k"}}, ["api-key", "content-type"]),
        ("k", {"headers": {"Content-Type": "x", "Authorization": "y"}}, ["authorization", "content-type"]),
    ],
)
def test_only_headers_that_are_needed(key: str | None, profile: dict[str, Any], names: list[str]) -> None:
    """F9: each further one makes a browser ask the server first, and fail."""
    assert sorted(build(ask(), api_key=key, **profile).headers) == names


def test_header_values() -> None:
    assert build(ask(), api_key="k-1").headers == {
        "content-type": "application/json",
        "authorization": "Bearer k-1",
    }


def test_options() -> None:
    options = body(ask(temperature=0.5, max_output_tokens=9, stop=["\n", "x"], seed=0))
    assert (options["temperature"], options["max_tokens"], options["stop"], options["seed"]) == (0.5, 9, ["\n", "x"], 0)
    assert body(ask(temperature=0))["temperature"] == 0


@pytest.mark.parametrize(
    ("base_url", "profile", "field"),
    [
        (OPENAI, {}, "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", {}, "max_completion_tokens"),
        ("https://x.openai.azure.com/openai/v1", {}, "max_completion_tokens"),
        (LOCAL, {}, "max_tokens"),
        ("https://api.deepseek.com", {}, "max_tokens"),
        ("https://notopenai.com/v1", {}, "max_tokens"),
        (OPENAI, {"max_tokens_field": "max_tokens"}, "max_tokens"),
        (LOCAL, {"max_tokens_field": "max_completion_tokens"}, "max_completion_tokens"),
    ],
)
def test_name_of_the_output_limit(base_url: str, profile: dict[str, Any], field: str) -> None:
    sent = body(ask(max_output_tokens=5), base_url=base_url, **profile)
    assert {name for name in sent if "tokens" in name} == {field}
    assert sent[field] == 5


def test_usage_not_asked_for() -> None:
    assert "stream_options" not in body(ask(), include_usage=False)


def test_extra_wins() -> None:
    sent = body(ask(temperature=1, extra={"temperature": 0, "n": 2, "stream_options": None}))
    assert (sent["temperature"], sent["n"], sent["stream_options"]) == (0, 2, None)


def test_tools() -> None:
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True}
    assert body(ask(tools=[tool]))["tools"] == [{"type": "function", "function": tool}]


@pytest.mark.parametrize(
    ("name", "sent"),
    [("Answer", "Answer"), ("list[Answer]", "list_Answer"), ("Ответ", "answer"), ("a" * 80, "a" * 64), ("", "answer")],
)
def test_output_schema(name: str, sent: str) -> None:
    """The server takes 1 to 64 letters, digits, `_` and `-` as name."""
    schema = {"type": "object", "properties": {}}
    assert body(ask(output_schema=OutputSchema(name, schema, strict=False)))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": sent, "schema": schema, "strict": False},
    }


def test_reasoning_effort() -> None:
    assert body(ask(reasoning_effort="low"))["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        ("f", {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_tool_choice(choice: str, sent: Any) -> None:
    assert body(ask(tools=[{"name": "f"}], tool_choice=choice))["tool_choice"] == sent


@pytest.mark.parametrize(("tools", "choice"), [([], "required"), ([], "f"), ([{"name": "f"}], "g")])
def test_choice_of_a_tool_that_is_not_there(tools: list[Any], choice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(ask(tools=tools, tool_choice=choice))
    assert caught.value.code == "INVALID_OPTIONS"


def test_choice_without_tools_is_not_sent() -> None:
    """The server refuses the field without tools."""
    assert "tool_choice" not in body(ask(tool_choice="auto"))


@pytest.mark.parametrize(
    ("base_url", "profile", "url"),
    [
        (LOCAL, {}, "http://localhost:8080/v1/models"),
        (f"{LOCAL}/chat/completions", {}, "http://localhost:8080/v1/models"),
        (f"{LOCAL}/?api-version=1", {}, "http://localhost:8080/v1/models?api-version=1"),
        ("http://[::1]:11434/v1", {"models_path": "//api/tags"}, "http://[::1]:11434/api/tags"),
    ],
)
def test_models_are_asked_for(base_url: str, profile: dict[str, Any], url: str) -> None:
    """Without content type: a page would have to ask the server first."""
    request = OpenAIChatAdapter(**profile).models_request(api_key="k", base_url=base_url)
    assert (request.method, request.url, request.body) == ("GET", url, b"")
    assert request.headers == {"authorization": "Bearer k"}


def test_key_in_a_header_of_its_own() -> None:
    adapter = OpenAIChatAdapter(key_header="API-Key")
    assert build(ask(), api_key="k", key_header="API-Key").headers == {
        "api-key": "k",
        "content-type": "application/json",
    }
    assert adapter.models_request(api_key="k", base_url=LOCAL).headers == {"api-key": "k"}


def test_facts_and_models() -> None:
    facts = OpenAIChatAdapter().facts("gpt-4o-2024-11-20")
    assert facts is not None
    assert (facts.context_window, facts.max_output_tokens, facts.image_input) == (128_000, 16_384, True)
    assert OpenAIChatAdapter(facts=lambda _: None).facts("gpt-4o") is None
    assert [model.id for model in OpenAIChatAdapter().models({"data": [{"id": "a"}, {"id": "b"}]})] == ["a", "b"]


def test_no_conversation() -> None:
    with pytest.raises(ConfigError):
        build(Request("m", []))


@pytest.mark.parametrize(
    ("base_url", "key", "code"),
    [
        ("localhost:8080", None, "INVALID_OPTIONS"),
        (LOCAL, "", "INVALID_CREDENTIAL"),
        (LOCAL, "a b", "INVALID_CREDENTIAL"),
    ],
)
def test_configuration(base_url: str, key: str | None, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(ask(), base_url=base_url, api_key=key)
    assert caught.value.code == code


def test_value_without_json_form() -> None:
    with pytest.raises(ConfigError) as caught:
        build(ask(extra={"x": float("nan")}))
    assert caught.value.code == "INVALID_OPTIONS"


def test_building_changes_nothing() -> None:
    """The same request gives the same bytes, for the cache and for a second attempt."""
    request = ask(extra={"a": 1}, tools=[{"name": "f"}], stop=["x"])
    adapter = OpenAIChatAdapter()
    assert (
        adapter.build(request, api_key="k", base_url=LOCAL).body
        == adapter.build(request, api_key="k", base_url=LOCAL).body
    )


def test_decoder_follows_the_profile() -> None:
    adapter = OpenAIChatAdapter(choice=1, cumulative=True)
    decoder = adapter.decoder(ask())
    assert isinstance(decoder, OpenAIChatDecoder)
    assert adapter.decoder(ask()) is not decoder
    texts = ["a", "ab"]
    out = [c for t in texts for c in decoder.decode({"choices": [{"index": 1, "delta": {"content": t}}]})]
    assert [chunk.text for chunk in out if hasattr(chunk, "text")] == ["a", "b"]


def test_failure() -> None:
    error = OpenAIChatAdapter().failure(
        429,
        {"retry-after": "2", "x-request-id": "r"},
        b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}',
    )
    assert (error.code, error.retryable, error.retry_after_s) == ("RATE_LIMIT", True, 2)
    assert (error.status, error.request_id) == (429, "r")
