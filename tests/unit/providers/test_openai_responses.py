from __future__ import annotations

import json
from typing import Any

import pytest
from tests.wire import FIXTURES, message_of

from unspool.contracts import Adapter, HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError, WireError
from unspool.llms import OpenAI
from unspool.messages import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.messages.parts import Replay
from unspool.providers.openai_responses import OpenAIResponsesAdapter, OpenAIResponsesDecoder
from unspool.testing import ScriptedTransport

LOCAL = "http://localhost:8080/v1"
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}


def build(request: Request, *, base_url: str = LOCAL, api_key: str | None = None, **profile: Any) -> HttpRequest:
    return OpenAIResponsesAdapter(**profile).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, **profile: Any) -> dict[str, Any]:
    value = json.loads(build(request, **profile).body)
    assert isinstance(value, dict)
    return value


def ask(*messages: Message, model: str = "m", **options: Any) -> Request:
    return Request(model, messages or (UserMessage("Hi"),), **options)


def test_smallest_request() -> None:
    request = build(ask())
    assert (request.method, request.url) == ("POST", "http://localhost:8080/v1/responses")
    assert json.loads(request.body) == {
        "model": "m",
        "input": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "store": False,
    }


def test_it_is_an_adapter() -> None:
    adapter: Adapter = OpenAIResponsesAdapter()
    assert (adapter.name, adapter.base_url) == ("openai-responses", "https://api.openai.com/v1")
    assert isinstance(adapter.decoder(ask()), OpenAIResponsesDecoder)


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
    request = build(ask(), api_key=key, **profile)
    assert sorted(request.headers) == names
    assert request.headers["content-type"] == "application/json"
    if key:
        assert request.headers["authorization"] == "Bearer k"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
        ("https://api.openai.com/v1/responses", "https://api.openai.com/v1/responses"),
        (
            "https://x.openai.azure.com/openai/v1?api-version=a",
            "https://x.openai.azure.com/openai/v1/responses?api-version=a",
        ),
    ],
)
def test_address(base_url: str, url: str) -> None:
    assert build(ask(), base_url=base_url).url == url


def test_every_option() -> None:
    schema = OutputSchema("my answer!", {"type": "object"})
    told = body(
        ask(
            SystemMessage("Be brief."),
            UserMessage("Hi"),
            temperature=0.0,
            max_output_tokens=64,
            reasoning_effort="low",
            tools=[TOOL, {"name": "g", "strict": True}],
            tool_choice="f",
            output_schema=schema,
        )
    )
    assert told == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "store": False,
        "temperature": 0.0,
        "max_output_tokens": 64,
        "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {"type": "function", "strict": False, **TOOL},
            {"type": "function", "strict": True, "name": "g", "parameters": None},
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "my_answer", "schema": {"type": "object"}, "strict": True}},
    }


def test_schema_where_chat_completions_have_it() -> None:
    """llama.cpp issue 21922: `text.format` is passed over."""
    told = body(ask(output_schema=OutputSchema("a", {"type": "object"})), schema_field="response_format")
    assert told["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True},
    }
    assert "text" not in told


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_output_tokens": 5}, "length"),
        ({"max_output_tokens": 6}, "stop"),
        ({}, "stop"),
        ({"max_output_tokens": 5, "extra": {"max_output_tokens": 6}}, "stop"),
        ({"extra": {"max_output_tokens": 5}}, "length"),
        ({"extra": {"max_output_tokens": "5"}}, "stop"),
    ],
)
def test_answer_that_uses_up_its_tokens(options: dict[str, Any], reason: str) -> None:
    """F37: llama.cpp calls it completed. The fixture has 5 tokens."""
    text = (FIXTURES / "openai_responses" / "text.sse").read_bytes()
    adapter = OpenAIResponsesAdapter()
    message, finish = message_of(text, lambda: adapter.decoder(ask(**options)))
    assert (finish.reason, finish.raw_reason) == (reason, "completed")
    assert message.text


@pytest.mark.parametrize("word", ["auto", "required", "none"])
def test_tool_choice(word: str) -> None:
    assert body(ask(tools=[TOOL], tool_choice=word))["tool_choice"] == word
    assert "tool_choice" not in body(ask(tool_choice="auto"))


@pytest.mark.parametrize("choice", ["required", "f"])
def test_tool_that_is_not_there(choice: str) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        body(ask(tool_choice=choice))


def test_extra_members_win() -> None:
    told = body(
        ask(
            reasoning_effort="low",
            output_schema=OutputSchema("a", {}, strict=False),
            extra={
                "reasoning": {"summary": "auto"},
                "text": {"verbosity": "low"},
                "store": True,
                "include": [],
                "tools": [{"type": "web_search"}],
            },
        )
    )
    assert told["reasoning"] == {"effort": "low", "summary": "auto"}
    assert told["text"]["verbosity"] == "low"
    assert told["text"]["format"]["strict"] is False
    assert (told["store"], told["include"], told["tools"]) == (True, [], [{"type": "web_search"}])
    assert body(ask(extra={"reasoning": {"summary": "auto"}}))["reasoning"] == {"summary": "auto"}
    assert body(ask(reasoning_effort="low", extra={"reasoning": None}))["reasoning"] is None


@pytest.mark.parametrize(
    ("model", "effort", "setting", "asked"),
    [
        ("gpt-5.2", None, None, True),
        ("o4-mini", None, None, True),
        ("gpt-4o", None, None, False),  # refused: "Encrypted content is not supported with this model"
        ("gpt-5-chat-latest", "low", None, False),
        ("my-deployment", None, None, False),
        ("my-deployment", "low", None, True),
        ("my-deployment", None, True, True),
        ("gpt-5.2", "low", False, False),
    ],
)
def test_encrypted_reasoning_is_asked_for(model: str, effort: str | None, setting: bool | None, asked: bool) -> None:
    told = body(ask(model=model, reasoning_effort=effort), encrypted_reasoning=setting)
    assert told.get("include") == (["reasoning.encrypted_content"] if asked else None)


@pytest.mark.parametrize(("option", "says"), [({"stop": ["x"]}, "stop"), ({"seed": 1}, "seed")])
def test_what_this_api_does_not_have(option: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(ask(**option))
    assert caught.value.code == "UNSUPPORTED"
    assert says in caught.value.message


def test_requests_that_cannot_be_sent() -> None:
    for request, key, url, code in (
        (Request("m", []), "k", LOCAL, "INVALID_OPTIONS"),
        (ask(), "k k", LOCAL, "INVALID_CREDENTIAL"),
        (ask(), "", LOCAL, "INVALID_CREDENTIAL"),
        (ask(), "k", "ftp://x", "INVALID_OPTIONS"),
    ):
        with pytest.raises(ConfigError) as caught:
            build(request, api_key=key, base_url=url)
        assert caught.value.code == code


def test_ids_alone_where_responses_are_stored() -> None:
    call = ToolCall("c", "f", "{}", replay=Replay("openai-responses", {"id": "fc_1"}))
    history = [UserMessage("Hi"), AssistantMessage(call), ToolMessage([ToolResult("c", "1")])]
    told = body(ask(*history, extra={"store": True, "previous_response_id": "resp_1"}))
    assert told["input"][1]["id"] == "fc_1"
    assert told["previous_response_id"] == "resp_1"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        (LOCAL, f"{LOCAL}/models"),
        (f"{LOCAL}/responses", f"{LOCAL}/models"),
        ("https://x/v1?a=b", "https://x/v1/models?a=b"),
        ("https://x/v1/responses?a=b", "https://x/v1/models?a=b"),
    ],
)
def test_request_for_models(base_url: str, url: str) -> None:
    request = OpenAIResponsesAdapter(headers={"X": "y"}).models_request(api_key="k", base_url=base_url)
    assert (request.method, request.url, request.body) == ("GET", url, b"")
    assert request.headers == {"x": "y", "authorization": "Bearer k"}


def test_models() -> None:
    adapter = OpenAIResponsesAdapter()
    listed = adapter.models({"object": "list", "data": [{"id": "gpt-5.2"}, {"id": "mine", "max_model_len": 4096}]})
    assert [(model.id, model.context_window) for model in listed] == [("gpt-5.2", None), ("mine", 4096)]
    assert adapter.facts("mine") is None
    with pytest.raises(WireError) as caught:
        adapter.models({"error": "no"})
    assert caught.value.code == "PROTOCOL"


@pytest.mark.parametrize(
    ("model", "window", "output", "efforts"),
    [
        ("gpt-6-astra", 1_050_000, 128_000, ("low", "medium", "high", "xhigh", "max")),
        ("gpt-6.1-sol", 1_050_000, 128_000, ("none", "low", "medium", "high", "xhigh", "max")),
        ("gpt-5.6-luna", 1_050_000, 128_000, ("none", "low", "medium", "high", "xhigh", "max")),
        ("gpt-5.5-2026-04-23", 1_050_000, 128_000, ("none", "low", "medium", "high", "xhigh")),
        ("gpt-5.4-mini", 400_000, 128_000, ("none", "low", "medium", "high", "xhigh")),
        ("gpt-5.3-codex", 400_000, 128_000, ("low", "medium", "high", "xhigh")),
        ("gpt-5", 400_000, 128_000, ("minimal", "low", "medium", "high")),
    ],
)
def test_facts(model: str, window: int, output: int, efforts: tuple[str, ...]) -> None:
    """OpenAI's model pages."""
    facts = OpenAIResponsesAdapter().facts(model)
    assert facts is not None
    assert (facts.context_window, facts.max_output_tokens) == (window, output)
    assert (facts.reasoning_efforts, facts.image_input) == (efforts, True)


def test_failure() -> None:
    error = OpenAIResponsesAdapter().failure(
        400,
        {"x-request-id": "req_1"},
        b'{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}',
    )
    assert (error.code, error.status, error.request_id) == ("CONTEXT_WINDOW_EXCEEDED", 400, "req_1")


async def test_tool_round_trip() -> None:
    """F33: a call, its result, and the answer; the second request takes the first answer back item by item."""
    folder = FIXTURES / "openai_responses"
    transport = ScriptedTransport(
        [(folder / "encrypted-reasoning.sse").read_bytes(), (folder / "reasoning-summary.sse").read_bytes()]
    )
    lm = OpenAI("gpt-5.2", api_key="k", transport=transport, tools=[TOOL], reasoning_effort="low")
    first = await lm.call("Weather in Ulm?")
    assert first.finish_reason == "tool_calls"
    [call] = first.tool_calls
    assert call.args == {"city": "Ulm"}
    second = await lm.call([UserMessage("Weather in Ulm?"), first, ToolMessage([ToolResult(call.id, "Sunny.")])])
    assert (second.text, second.finish_reason) == ("Sunny.", "stop")
    assert second.reasoning == "**Looking**\n\nFirst.Then."
    sent = json.loads(transport.requests[1].body)["input"]
    assert sent == [
        {"role": "user", "content": "Weather in Ulm?"},
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA-whole"},
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "call_1",
            "name": "weather",
            "arguments": '{"city":"Ulm"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "Sunny."},
    ]


def test_model_class() -> None:
    lm = OpenAI("gpt-5.2", adapter=OpenAIResponsesAdapter(final_output=False))
    assert lm.base_url == "https://api.openai.com/v1"
    assert repr(lm) == "OpenAI('gpt-5.2', base_url='https://api.openai.com/v1')"
