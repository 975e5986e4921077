from __future__ import annotations

import json
from typing import Any

import pytest

from unspool.contracts import HttpRequest, OutputSchema, Request
from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
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


def test_conversation() -> None:
    request = ask(
        SystemMessage("Be brief."),
        UserMessage(["What is ", "6 x 7?"]),
        Message(
            "assistant",
            [ReasoningPart("think"), "Let me see.", ToolCall("a", "mul", '{"x": 6}'), ToolCall("b", "now", " ")],
        ),
        ToolMessage([ToolResult("a", "42"), ToolResult("b", "noon", is_error=True)]),
        Message("assistant", [ToolCall("c", "f", "{}")]),
        ToolMessage(ToolResult("c", "")),
        Message("assistant", [RefusalPart("No.")]),
        AssistantMessage("Done."),
        Message("assistant"),
    )
    assert body(request)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 6 x 7?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "mul", "arguments": '{"x": 6}'}},
                {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}},  # S65
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "42"},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "assistant", "content": "", "refusal": "No."},
        {"role": "assistant", "content": "Done."},
        {"role": "assistant", "content": ""},
    ]


def test_reasoning_sent_back() -> None:
    """F33: where the server demands it, an empty text counts."""
    history = (
        UserMessage("Hi"),
        Message("assistant", [ReasoningPart("why"), ToolCall("a", "f", "{}")]),
        ToolMessage(ToolResult("a", "1")),
        AssistantMessage("x"),
    )
    sent = body(ask(*history), reasoning_field="reasoning_content")["messages"]
    assert [message.get("reasoning_content") for message in sent] == [None, "why", None, ""]
    assert not any("reasoning_content" in message for message in body(ask(*history))["messages"])


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([Message("user", [ToolResult("a", "1")])], "INVALID_OPTIONS"),
        ([Message("system", [ToolCall("a", "f", "{}")])], "INVALID_OPTIONS"),
        ([Message("tool", [TextPart("x")])], "INVALID_OPTIONS"),
        ([Message("assistant", [ToolResult("a", "1")])], "INVALID_OPTIONS"),
        ([Message("assistant", [ToolCall("a", "f", '{"x', truncated=True)])], "INVALID_OPTIONS"),  # F37
        ([Message("user", [File("a.txt")])], "UNSUPPORTED"),
        ([Message("user", [PICTURE, File("a.txt")])], "UNSUPPORTED"),
        ([Message("assistant", [File("a.txt")])], "UNSUPPORTED"),
        ([ToolMessage(ToolResult("a", [File("a.txt")]))], "UNSUPPORTED"),
        ([Message("system", [PICTURE])], "UNSUPPORTED"),
        ([Message("user", [PICTURE, ReasoningPart("x")])], "INVALID_OPTIONS"),
        ([Message("user", [ProviderPart("x", Replay("y", {}))])], "INVALID_OPTIONS"),
    ],
)
def test_conversation_that_cannot_be_sent(messages: list[Message], code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(Request("m", messages))
    assert caught.value.code == code


def test_images_of_the_user() -> None:
    sent = body(ask(UserMessage(["What is ", PICTURE, "and", LINK])))["messages"]
    assert sent == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is "}, PICTURE_WIRE, {"type": "text", "text": "and"}, LINK_WIRE],
        }
    ]


def test_images_of_tools_are_shown_behind_the_results() -> None:
    """The wire wants every result right behind its call, and text in it: a user message of ours shows the pictures."""
    history = (
        UserMessage("Draw."),
        Message("assistant", [ToolCall("a", "draw", "{}"), ToolCall("b", "draw", "{}")]),
        ToolMessage(ToolResult("a", ["Done: ", PICTURE])),
        ToolMessage(ToolResult("b", LINK)),
        UserMessage("Nice?"),
    )
    results = [
        {"role": "tool", "tool_call_id": "a", "content": "Done: "},
        {"role": "tool", "tool_call_id": "b", "content": "The result is shown below."},
    ]
    shown = {
        "role": "user",
        "content": [
            {"type": "text", "text": "Images of the tool result a:"},
            PICTURE_WIRE,
            {"type": "text", "text": "Images of the tool result b:"},
            LINK_WIRE,
        ],
    }
    assert body(ask(*history))["messages"][2:] == [*results, shown, {"role": "user", "content": "Nice?"}]
    assert body(ask(*history[:4]))["messages"][2:] == [*results, shown]
    inside = body(ask(*history), images_in_tool_results=True)["messages"][2:]
    assert inside[0]["content"] == [{"type": "text", "text": "Done: "}, PICTURE_WIRE]
    assert inside[1]["content"] == [LINK_WIRE]
    assert len(inside) == 3


def test_images_of_an_answer_are_shown_behind_it() -> None:
    sent = body(ask(Message("assistant", ["Here.", PICTURE]), UserMessage("Bigger.")))["messages"]
    assert sent == [
        {"role": "assistant", "content": "Here."},
        {"role": "user", "content": [{"type": "text", "text": "Images of your answer above:"}, PICTURE_WIRE]},
        {"role": "user", "content": "Bigger."},
    ]


def test_replay_state_goes_back_to_its_adapter_only() -> None:
    """F23, F33: reasoning details travel unread, under the name of the adapter that took them in."""
    details = [{"type": "reasoning.encrypted", "data": "gAAA", "index": 0}]
    part = ProviderPart("reasoning_details", Replay("openrouter", {"reasoning_details": details}))
    foreign = ProviderPart("web_search", Replay("anthropic", {"x": 1}))
    message = Message("assistant", ["Hi", part, foreign])
    assert body(ask(message), name="openrouter")["messages"] == [
        {"role": "assistant", "content": "Hi", "reasoning_details": details}
    ]
    assert body(ask(message))["messages"] == [{"role": "assistant", "content": "Hi"}]


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
