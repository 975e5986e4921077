"""Requests to Cohere's chat API, and its errors. Expected values: its API reference, its guides and known answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import OutputSchema, Request
from unspool.errors import ConfigError, ProviderError
from unspool.llms import Cohere
from unspool.messages import Message, ReasoningPart, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.providers.cohere import CohereAdapter
from unspool.testing import HttpResponse, ScriptedTransport

VENDOR = CohereAdapter.base_url
HI = [UserMessage("Hi")]
TOOLS: list[dict[str, Any]] = [
    {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": True},
    {"name": "g"},
]


def body(request: Request, **options: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(CohereAdapter(**options).build(request, api_key=None, base_url=VENDOR).body)
    return value


def test_smallest_request() -> None:
    request = CohereAdapter().build(Request("command-a-03-2025", HI), api_key="k-1", base_url=VENDOR)
    assert (request.method, request.url) == ("POST", "https://api.cohere.com/v2/chat")
    assert request.headers == {"authorization": "Bearer k-1", "content-type": "application/json"}
    assert json.loads(request.body) == {
        "model": "command-a-03-2025",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
    }


def test_options() -> None:
    sent = body(
        Request("m", HI, temperature=0.5, max_output_tokens=9, stop=["\n\n"], seed=7, extra={"k": 3, "seed": 8})
    )
    assert {name: value for name, value in sent.items() if name not in ("model", "messages", "stream")} == {
        "temperature": 0.5,
        "max_tokens": 9,
        "stop_sequences": ["\n\n"],
        "seed": 8,
        "k": 3,
    }


@pytest.mark.parametrize(
    ("base_url", "chat", "models"),
    [
        (VENDOR, "https://api.cohere.com/v2/chat", "https://api.cohere.com/v1/models?endpoint=chat&page_size=1000"),
        ("http://h/v2/", "http://h/v2/chat", "http://h/v1/models?endpoint=chat&page_size=1000"),
        (
            "http://h/co/v2/chat?a=1",
            "http://h/co/v2/chat?a=1",
            "http://h/co/v1/models?a=1&endpoint=chat&page_size=1000",
        ),
        ("http://h/v1", "http://h/v2/chat", "http://h/v1/models?endpoint=chat&page_size=1000"),
    ],
)
def test_addresses(base_url: str, chat: str, models: str) -> None:
    adapter = CohereAdapter(headers={"X-Client-Name": "app", "Authorization": "ours wins"})
    assert adapter.build(Request("m", HI), api_key="k", base_url=base_url).url == chat
    listing = adapter.models_request(api_key="k", base_url=base_url)
    assert (listing.method, listing.url, listing.body) == ("GET", models, b"")
    assert listing.headers == {"x-client-name": "app", "authorization": "Bearer k"}


def test_tools() -> None:
    """The API knows three members of a function, and wants parameters."""
    assert body(Request("m", HI, tools=TOOLS))["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
        },
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}},
    ]


@pytest.mark.parametrize(
    ("choice", "word", "names"),
    [
        (None, None, ["f", "g"]),
        ("auto", None, ["f", "g"]),
        ("required", "REQUIRED", ["f", "g"]),
        ("none", "NONE", ["f", "g"]),
        ("g", "REQUIRED", ["g"]),
    ],
)
def test_tool_choice(choice: str | None, word: str | None, names: list[str]) -> None:
    """A single tool that must be called is the only one that is shown."""
    sent = body(Request("m", HI, tools=TOOLS, tool_choice=choice))
    assert sent.get("tool_choice") == word
    assert [tool["function"]["name"] for tool in sent["tools"]] == names


@pytest.mark.parametrize(
    ("effort", "limit", "thinking"),
    [
        ("none", None, {"type": "disabled"}),
        ("low", None, {"type": "enabled", "token_budget": 1_024}),
        ("medium", 100_000, {"type": "enabled", "token_budget": 4_096}),
        ("medium", 2_000, {"type": "enabled", "token_budget": 1_000}),
        ("low", 1, {"type": "enabled", "token_budget": 1}),
        ("high", 2_000, {"type": "enabled"}),
    ],
)
def test_thinking(effort: str, limit: int | None, thinking: dict[str, Any]) -> None:
    assert body(Request("m", HI, reasoning_effort=effort, max_output_tokens=limit))["thinking"] == thinking


def test_native_output() -> None:
    """A model that is held to JSON must be told so, or it may never end."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    sent = body(Request("m", HI, output_schema=OutputSchema("Answer", schema)))
    assert sent["response_format"] == {"type": "json_object", "json_schema": schema}
    assert sent["messages"][0] == {"role": "system", "content": "Answer with JSON."}


@pytest.mark.parametrize(
    ("request_", "key", "code"),
    [
        (Request("m", []), None, "INVALID_OPTIONS"),
        (Request("m", HI, tools=TOOLS, tool_choice="h"), None, "INVALID_OPTIONS"),
        (Request("m", HI, tool_choice="required"), None, "INVALID_OPTIONS"),
        (Request("m", HI, reasoning_effort="xhigh"), None, "INVALID_OPTIONS"),
        (Request("m", HI, temperature=float("nan")), None, "INVALID_OPTIONS"),
        (Request("m", HI), "k\n", "INVALID_CREDENTIAL"),
    ],
    ids=["empty", "no-such-tool", "no-tools", "effort", "nan", "key"],
)
def test_refused_before_anything_is_sent(request_: Request, key: str | None, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CohereAdapter().build(request_, api_key=key, base_url=VENDOR)
    assert caught.value.code == code


def failure(status: int, words: Any, **headers: str) -> ProviderError:
    said = words if isinstance(words, bytes) else json.dumps({"id": "e-1", "message": words}).encode()
    return CohereAdapter().failure(status, headers, said)


@pytest.mark.parametrize(
    ("status", "words", "code", "retryable"),
    [
        (400, "invalid request: message must be at least 1 token long or tool results must be specified.",
         "INVALID_REQUEST", False),
        (400, "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
         "CONTEXT_WINDOW_EXCEEDED", False),
        (400, "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - "
         "received 8192.", "INVALID_REQUEST", False),
        (401, "invalid api token", "AUTH", False),
        (402, "Please add or update your payment method at the dashboard to continue", "RATE_LIMIT", False),
        (404, "model 'command-z' not found, make sure the correct model ID was used", "MODEL_NOT_FOUND", False),
        (422, "tool call id not found in previous tool calls", "INVALID_REQUEST", False),
        (429, "You are using a Trial key, which is limited to 20 API calls / minute.", "RATE_LIMIT", True),
        (429, "You are using a Trial key, which is limited to 1000 API calls / month.", "RATE_LIMIT", False),
        (498, "invalid token", "AUTH", False),
        (499, "streaming error", "PROVIDER", True),
        (500, "internal server error", "PROVIDER", True),
        (503, b"upstream connect error", "OVERLOADED", True),
        (504, b"<html>", "PROVIDER", True),
    ],
)  # fmt: skip
def test_errors(status: int, words: Any, code: str, retryable: bool) -> None:
    """Bodies hold words and an id, so that the words must tell. Source of the words: "Errors" of the reference."""
    error = failure(status, words)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert error.request_id == (None if isinstance(words, bytes) else "e-1")


def test_waiting_time_and_id_of_the_headers() -> None:
    error = failure(429, "slow down", **{"retry-after": "7", "x-request-id": "r-1"})
    assert (error.retry_after_s, error.request_id) == (7.0, "r-1")


def test_facts_and_models() -> None:
    adapter = CohereAdapter()
    facts = adapter.facts("command-a-plus-05-2026")
    assert facts is not None
    assert facts.context_window == 128_000
    assert adapter.facts("gpt-5") is None
    assert [model.id for model in adapter.models({"models": [{"name": "a"}]})] == ["a"]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def answer(*content: dict[str, Any], reason: str = "COMPLETE") -> bytes:
    start = {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}}
    return sse(start, *content, {"type": "message-end", "delta": {"finish_reason": reason}}) + b"data: [DONE]\n\n"


def delta(type: str, **message: Any) -> dict[str, Any]:
    return {"type": type, "index": 0, "delta": {"message": message}}


async def test_tool_round_trip() -> None:
    """F31: plan and thinking go back to Cohere, also when the conversation was saved in between."""
    call = {"id": "f_1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    first = answer(
        delta("content-delta", content={"thinking": "Hm."}),
        delta("tool-plan-delta", tool_plan="I will look."),
        delta("tool-call-start", tool_calls=call),
        delta("tool-call-end"),
        reason="TOOL_CALL",
    )
    transport = ScriptedTransport([first, answer(delta("content-delta", content={"text": "One."}))])
    lm = Cohere("command-a-plus-05-2026", api_key="k-0123456789", transport=transport, tools=TOOLS)
    message = await lm.call("Look.")
    saved = Message.from_wire(json.loads(json.dumps(message.to_wire())))
    assert [part.text for part in saved.parts if isinstance(part, ReasoningPart)] == ["Hm.", "I will look."]
    assert [type(part) for part in saved.parts][-1] is ToolCall
    reply = await lm.call([UserMessage("Look."), saved, ToolMessage(ToolResult("f_1", "1"))])
    assert reply.text == "One."
    assert json.loads(transport.requests[-1].body)["messages"] == [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "tool_calls": [call],
            "tool_plan": "I will look.",
            "content": [{"type": "thinking", "thinking": "Hm."}],
        },
        {"role": "tool", "tool_call_id": "f_1", "content": "1"},
    ]


async def test_model_needs_a_key_for_the_vendor_only() -> None:
    with pytest.raises(ConfigError, match="MISSING_CREDENTIAL"):
        await Cohere("command-a-03-2025").call("Hi")
    refused = HttpResponse(401, body=b'{"message":"invalid api token"}')
    transport = ScriptedTransport([answer(delta("content-delta", content={"text": "Yes."})), refused])
    lm = Cohere("command-a-03-2025", base_url="http://localhost:9/", transport=transport)
    assert (await lm.call("Hi")).text == "Yes."
    assert transport.requests[0].url == "http://localhost:9/v2/chat"
    with pytest.raises(ProviderError) as caught:
        await lm.call("Hi")
    assert caught.value.code == "AUTH"


def test_schemas_are_made_for_it() -> None:
    assert Cohere("m", api_key="k").schema_dialect == "cohere"
