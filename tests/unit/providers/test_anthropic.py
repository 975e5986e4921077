from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError
from unspool.llms import Anthropic
from unspool.messages import Message, SystemMessage, ToolMessage, ToolResult, UserMessage
from unspool.providers.anthropic import AnthropicAdapter
from unspool.testing import HttpResponse, ScriptedTransport

VENDOR = "https://api.anthropic.com/v1"
LOCAL = "http://localhost:8080"
TOOL = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}


def build(request: Request, *, base_url: str = VENDOR, api_key: str | None = None, **options: Any) -> HttpRequest:
    return AnthropicAdapter(**options).build(request, api_key=api_key, base_url=base_url)


def body(request: Request, *, base_url: str = VENDOR, **options: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(build(request, base_url=base_url, **options).body)
    return value


def ask(*messages: Message, model: str = "claude-sonnet-5-5", **options: Any) -> Request:
    return Request(model, messages or (UserMessage("Hi"),), **options)


def test_smallest_request() -> None:
    request = build(ask(model="m"))
    assert (request.method, request.url) == ("POST", "https://api.anthropic.com/v1/messages")
    assert json.loads(request.body) == {
        "model": "m",
        "max_tokens": 4_096,
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
    }


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        (VENDOR, "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/messages"),
        ("http://localhost:8080?a=1", "http://localhost:8080/v1/messages?a=1"),
        ("http://localhost:8080/v1?a=1", "http://localhost:8080/v1/messages?a=1"),
    ],
)
def test_address(base_url: str, url: str) -> None:
    """SDKs name it without `/v1`, the reference with it."""
    assert build(ask(), base_url=base_url).url == url


@pytest.mark.parametrize(
    ("key", "base_url", "options", "names"),
    [
        (None, LOCAL, {}, []),
        ("k", VENDOR, {}, ["x-api-key"]),
        ("k", VENDOR, {"browser": True}, ["anthropic-dangerous-direct-browser-access", "x-api-key"]),
        (None, LOCAL, {"headers": {"Anthropic-Beta": "b"}}, ["anthropic-beta"]),
        ("k", VENDOR, {"headers": {"X-Api-Key": "other", "Content-Type": "x"}}, ["x-api-key"]),
    ],
)
def test_only_headers_that_are_needed(
    key: str | None, base_url: str, options: dict[str, Any], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """F9: each further one makes a browser ask the server first, and fail."""
    monkeypatch.setattr(sys, "platform", "linux")
    headers = build(ask(), api_key=key, base_url=base_url, **options).headers
    assert sorted(headers) == sorted(["anthropic-version", "content-type", *names])
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert headers.get("x-api-key") == key


@pytest.mark.parametrize(
    ("base_url", "browser", "sent"),
    [(VENDOR, None, True), (VENDOR, False, False), (LOCAL, None, False), (LOCAL, True, True)],
)
def test_header_for_browsers(base_url: str, browser: bool | None, sent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic answers no page without it; other servers may not allow it (CORS)."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    adapter = AnthropicAdapter(browser=browser)
    for request in (
        adapter.build(ask(), api_key="k", base_url=base_url),
        adapter.models_request(api_key="k", base_url=base_url),
    ):
        assert ("anthropic-dangerous-direct-browser-access" in request.headers) == sent


def test_version() -> None:
    assert build(ask(), version="2026-10-21").headers["anthropic-version"] == "2026-10-21"


def test_bad_key_and_options() -> None:
    with pytest.raises(ConfigError, match="INVALID_CREDENTIAL"):
        build(ask(), api_key="a b")
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        build(ask(), base_url="/v1")
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        AnthropicAdapter(max_tokens=0)


@pytest.mark.parametrize(
    ("model", "options", "asked", "sent"),
    [
        ("claude-sonnet-5-5", {}, None, 32_000),
        ("claude-opus-4-1-20250805", {}, None, 32_000),
        ("qwen3", {}, None, 4_096),
        ("qwen3", {"max_tokens": 100}, None, 100),
        ("claude-sonnet-5-5", {"max_tokens": 100}, 7, 7),
    ],
)
def test_limit_of_the_answer_is_always_sent(model: str, options: dict[str, Any], asked: int | None, sent: int) -> None:
    assert body(ask(model=model, max_output_tokens=asked), **options)["max_tokens"] == sent


def test_options() -> None:
    sent = body(ask(temperature=0, stop=["\n", "x"]))
    assert (sent["temperature"], sent["stop_sequences"]) == (0, ["\n", "x"])
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        body(ask(seed=1))


def test_system_prompt_stands_above_the_conversation() -> None:
    sent = body(ask(SystemMessage("A."), UserMessage("Hi"), SystemMessage(["B", "."]), SystemMessage(" ")))
    assert sent["system"] == "A.\n\nB."
    assert sent["messages"] == [{"role": "user", "content": "Hi"}]


def test_tools() -> None:
    search = {"type": "web_search_20260209", "name": "web_search", "max_uses": 2}
    bare = {"name": "now", "description": None}
    strict = {**TOOL, "strict": True, "cache_control": {"type": "ephemeral"}}
    assert body(ask(tools=[TOOL, search, bare, strict]))["tools"] == [
        {"name": "f", "description": "d", "input_schema": TOOL["parameters"]},
        search,
        {"name": "now", "input_schema": {"type": "object"}},
        {
            "name": "f",
            "description": "d",
            "input_schema": TOOL["parameters"],
            "strict": True,
            "cache_control": {"type": "ephemeral"},
        },
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ("f", {"type": "tool", "name": "f"}),
        (None, None),
    ],
)
def test_tool_choice(choice: str | None, sent: dict[str, Any] | None) -> None:
    assert body(ask(tools=[TOOL], tool_choice=choice)).get("tool_choice") == sent


def test_choice_of_a_tool_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        body(ask(tools=[TOOL], tool_choice="g"))


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "output"),
    [
        ("claude-opus-5-5", "xhigh", {"type": "adaptive"}, {"effort": "xhigh"}),
        ("claude-opus-4-6", "max", {"type": "adaptive"}, {"effort": "max"}),
        ("claude-opus-4-5", "low", {"type": "enabled", "budget_tokens": 1_024}, {"effort": "low"}),
        ("claude-haiku-4-5", "medium", {"type": "enabled", "budget_tokens": 4_096}, None),
        ("claude-sonnet-4-5", "high", {"type": "enabled", "budget_tokens": 16_000}, None),
        ("somebody-elses", "high", {"type": "adaptive"}, {"effort": "high"}),
    ],
)
def test_reasoning_effort(model: str, effort: str, thinking: dict[str, Any], output: dict[str, Any] | None) -> None:
    """Today's models decide for themselves how long to think; older ones take a number of tokens."""
    sent = body(ask(model=model, reasoning_effort=effort))
    assert (sent["thinking"], sent.get("output_config")) == (thinking, output)


def test_thinking_leaves_room_for_the_answer() -> None:
    sent = body(ask(model="claude-haiku-4-5", reasoning_effort="high", max_output_tokens=5_000))
    assert sent["thinking"]["budget_tokens"] == 2_500
    sent = body(ask(model="claude-haiku-4-5", reasoning_effort="high", max_output_tokens=1_025))
    assert sent["thinking"]["budget_tokens"] == 1_024
    for effort, limit in (("high", 1_024), ("xhigh", 5_000)):
        with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
            body(ask(model="claude-haiku-4-5", reasoning_effort=effort, max_output_tokens=limit))


def test_thinking_is_opt_in() -> None:
    assert not {"thinking", "output_config"} & body(ask()).keys()


def test_output_schema() -> None:
    """As it is: `unspool.schema.native` knows which part of JSON Schema the provider takes."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    sent = body(ask(output_schema=OutputSchema("A", schema), reasoning_effort="low"))
    assert sent["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": schema}}
    sent = body(ask(output_schema=OutputSchema("A", schema, strict=False)))
    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": schema}}


def test_extra_wins() -> None:
    extra = {"max_tokens": 1, "thinking": {"type": "disabled"}, "metadata": {"user_id": "u"}, "stream": False}
    sent = body(ask(reasoning_effort="low", extra=extra))
    assert {name: sent[name] for name in extra} == extra
    schema = OutputSchema("A", {"type": "object"})
    sent = body(ask(output_schema=schema, extra={"output_config": {"effort": "max"}}))
    assert sent["output_config"].keys() == {"effort", "format"}
    assert body(ask(extra={"output_config": {"effort": "max"}}))["output_config"] == {"effort": "max"}
    assert body(ask(output_schema=schema, extra={"output_config": None}))["output_config"] is None


def test_without_messages() -> None:
    for messages in ((SystemMessage("S"),), (UserMessage(" "),), (UserMessage(""), SystemMessage("S"))):
        with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
            body(ask(*messages))


def test_decoder_is_for_this_adapter() -> None:
    chunks = (
        AnthropicAdapter()
        .decoder(ask())
        .decode({"type": "message", "id": "i", "model": "m", "content": [], "stop_reason": "end_turn"})
    )
    assert chunks[-1].to_wire()["origin"] == {"type": "origin", "adapter": "anthropic", "model": "m", "responseId": "i"}


def problem(type_: str, message: str, **members: Any) -> bytes:
    return json.dumps({"type": "error", "error": {"type": type_, "message": message}, **members}).encode()


@pytest.mark.parametrize(
    ("status", "sent", "code", "retryable"),
    [
        (400, problem("invalid_request_error", "max_tokens: Field required"), "INVALID_REQUEST", False),
        (
            400,
            problem("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
            "CONTEXT_WINDOW_EXCEEDED",
            False,
        ),
        (
            400,
            problem(
                "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"
            ),
            "CONTEXT_WINDOW_EXCEEDED",
            False,
        ),
        (401, problem("authentication_error", "invalid x-api-key"), "AUTH", False),
        (
            401,
            problem(
                "authentication_error", "CORS requests must set 'anthropic-dangerous-direct-browser-access' header"
            ),
            "AUTH",
            False,
        ),
        (402, problem("billing_error", "Your credit balance is too low"), "RATE_LIMIT", False),
        (403, problem("permission_error", "Your API key may not"), "AUTH", False),
        (404, problem("not_found_error", "model: claude-9"), "MODEL_NOT_FOUND", False),
        (404, problem("not_found_error", "Not found"), "INVALID_REQUEST", False),
        (413, problem("request_too_large", "Request exceeds the maximum size"), "INVALID_REQUEST", False),
        (429, problem("rate_limit_error", "This request would exceed your rate limit"), "RATE_LIMIT", True),
        (500, problem("api_error", "Internal server error"), "PROVIDER", True),
        (504, problem("timeout_error", "Request timed out"), "PROVIDER", True),
        (529, problem("overloaded_error", "Overloaded"), "OVERLOADED", True),
        (529, b"<html><title>Busy</title></html>", "OVERLOADED", True),
    ],
)
def test_failures(status: int, sent: bytes, code: str, retryable: bool) -> None:
    error = AnthropicAdapter().failure(status, {"request-id": "req_1", "retry-after": "3"}, sent)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert (error.request_id, error.retry_after_s) == ("req_1", 3.0)


@pytest.mark.parametrize(
    ("sent", "id_"),
    [(problem("api_error", "x", request_id="req_2"), "req_2"), (problem("api_error", "x")[:-9], None), (b"[]", None)],
)
def test_id_of_a_request_whose_headers_are_hidden(sent: bytes, id_: str | None) -> None:
    """F52: a page sees the headers that CORS exposes."""
    assert AnthropicAdapter().failure(500, {}, sent).request_id == id_


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        (VENDOR, "https://api.anthropic.com/v1/models?limit=1000"),
        ("http://h/v1/messages?a=1", "http://h/v1/models?a=1&limit=1000"),
    ],
)
def test_models_request(base_url: str, url: str) -> None:
    request = AnthropicAdapter().models_request(api_key="k", base_url=base_url)
    assert (request.method, request.url, request.body) == ("GET", url, b"")
    assert {"x-api-key", "anthropic-version"} <= request.headers.keys()
    assert "content-type" not in request.headers


def test_facts_and_models() -> None:
    adapter = AnthropicAdapter()
    facts = adapter.facts("claude-opus-5-5")
    assert facts is not None
    assert facts.context_window == 1_000_000
    assert adapter.facts("gpt-5") is None
    assert [model.id for model in adapter.models({"data": [{"id": "claude-x"}]})] == ["claude-x"]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def answer(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], reason: str) -> bytes:
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {"id": "msg_1", "model": "claude-sonnet-5-5", "usage": {"input_tokens": 1, "output_tokens": 1}},
        }
    ]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
    return sse(*events, {"type": "message_stop"})


async def test_tool_round_trip_with_replay_state() -> None:
    """F23, F31: two turns of tools; thinking, its signature and the order of blocks go back as they came, and only
    there, also when the conversation was saved in between.
    """
    first = answer(
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": "Two calls."},
                {"type": "signature_delta", "signature": "ErUB"},
                {"type": "signature_delta", "signature": "x9=="},
            ],
        ),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Looking."}]),
        (
            {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"x": 1}'}],
        ),
        ({"type": "tool_use", "id": "toolu_b", "name": "f", "input": {}}, []),
        reason="tool_use",
    )
    second = answer(
        ({"type": "redacted_thinking", "data": "EmwKAhgB"}, []),
        (
            {"type": "tool_use", "id": "toolu_c", "name": "f", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"x": 3}'}],
        ),
        reason="tool_use",
    )
    third = answer(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Six."}]), reason="end_turn")
    transport = ScriptedTransport([first, second, third])
    lm = Anthropic("claude-sonnet-5-5", api_key="k-0123456789", transport=transport, tools=[TOOL])
    history = [UserMessage("Add up.")]
    results = [
        [ToolMessage(ToolResult("toolu_a", "1")), ToolMessage(ToolResult("toolu_b", "No.", is_error=True))],
        [ToolMessage(ToolResult("toolu_c", "3"))],
        [],
    ]
    for answers in results:
        message = await lm.call(history)
        assert message.origin is not None
        assert message.origin.adapter == "anthropic"
        history += [Message.from_wire(json.loads(json.dumps(message.to_wire()))), *answers]
    assert history[-1].text == "Six."
    sent = json.loads(transport.requests[-1].body)["messages"]
    assert sent == [
        {"role": "user", "content": "Add up."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two calls.", "signature": "ErUBx9=="},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "toolu_b", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "toolu_b", "content": "No.", "is_error": True},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": "EmwKAhgB"},
                {"type": "tool_use", "id": "toolu_c", "name": "f", "input": {"x": 3}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_c", "content": "3"}]},
    ]


async def test_model_needs_a_key_for_the_vendor_only() -> None:
    with pytest.raises(ConfigError, match="MISSING_CREDENTIAL"):
        await Anthropic("claude-sonnet-5-5").call("Hi")
    reply = answer(({"type": "text", "text": "Yes."}, []), reason="end_turn")
    transport = ScriptedTransport([reply, HttpResponse(529, body=problem("overloaded_error", "Overloaded"))])
    lm = Anthropic("qwen3", base_url=LOCAL, transport=transport)
    assert (await lm.call("Hi")).text == "Yes."
    assert transport.requests[0].url == "http://localhost:8080/v1/messages"
