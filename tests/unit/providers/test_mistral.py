"""Requests as Mistral takes them, and its errors. Expected values: its documentation, types of its SDK, known errors.

Its answers are in tests/conformance/test_wire_mistral.py; what all profiles have in common in test_profiles.py.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import FIXTURES, assembled, chunks_of

from unspool.contracts import OutputSchema, Request
from unspool.llms import OpenAIChat
from unspool.messages import (
    AssistantMessage,
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers import kept_chars
from unspool.providers.mistral import MistralAdapter, MistralDecoder
from unspool.stream import ResponseMachine
from unspool.structured import strict_json

HI = UserMessage("Hi")
PNG = b"\x89PNG\r\n\x1a\n"
TOOL: dict[str, Any] = {"name": "f", "parameters": {"type": "object", "properties": {}}}


def body(*messages: Message, **options: Any) -> dict[str, Any]:
    adapter = MistralAdapter()
    sent = adapter.build(Request("mistral-x", messages, **options), api_key="k", base_url=adapter.base_url)
    assert sent.url == "https://api.mistral.ai/v1/chat/completions"
    assert sent.headers == {"authorization": "Bearer k", "content-type": "application/json"}
    value: dict[str, Any] = json.loads(sent.body)
    return value


def sent(*messages: Message) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = body(*messages)["messages"]
    return value


def test_it_is_the_profile() -> None:
    lm = OpenAIChat("mistral-large-latest", profile="mistral", api_key="k")
    assert type(lm.adapter) is MistralAdapter
    assert lm.schema_dialect == "openai"
    assert lm.adapter.facts("mistral-large-latest") is None


def test_options() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
    value = body(
        HI,
        temperature=0.5,
        max_output_tokens=9,
        stop=["x"],
        seed=7,
        reasoning_effort="high",
        tools=[TOOL],
        tool_choice="required",
        output_schema=OutputSchema("A", schema),
        extra={"prompt_mode": "reasoning", "safe_prompt": True},
    )
    del value["model"], value["messages"]
    assert value == {
        "stream": True,
        "temperature": 0.5,
        "max_tokens": 9,
        "stop": ["x"],
        "random_seed": 7,
        "reasoning_effort": "high",
        "tools": [{"type": "function", "function": TOOL}],
        "tool_choice": "required",
        "response_format": {"type": "json_schema", "json_schema": {"name": "A", "schema": schema, "strict": True}},
        "prompt_mode": "reasoning",
        "safe_prompt": True,
    }


def test_ids_of_other_providers_are_made_fit() -> None:
    """`Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9`: the same in call and result."""
    ids = ["g6fVbXS8K", "call_1", "call_2", "toolu_01A09q90qw90lq917835lq9", "ü" * 9, "\ud800", ""]
    calls = Message("assistant", [ToolCall(id, "f", "{}") for id in ids])
    _, said, *results = sent(HI, calls, ToolMessage([ToolResult(id, "1") for id in ids]))
    made = [call["id"] for call in said["tool_calls"]]
    assert made == [result["tool_call_id"] for result in results]
    assert made[0] == "g6fVbXS8K"
    assert len(set(made)) == len(ids)
    assert all(len(id) == 9 and id.isascii() and id.isalnum() for id in made)


def test_a_user_speaks_behind_an_assistant() -> None:
    """`Unexpected role 'user' after role 'tool'` otherwise."""
    call = Message("assistant", [ToolCall("g6fVbXS8K", "f", "{}")])
    result = ToolMessage(ToolResult("g6fVbXS8K", "1"))
    roles = [message["role"] for message in sent(HI, call, result, UserMessage("Well?"), SystemMessage("Be brief."))]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "system"]
    assert sent(HI, call, result, UserMessage("Well?"))[3]["content"]
    assert [message["role"] for message in sent(HI, call, result, AssistantMessage("1."), HI)] == [
        "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip


def test_an_answer_that_is_begun_is_gone_on_with() -> None:
    """`Expected last role User or Tool (or Assistant with prefix True)` otherwise."""
    assert sent(HI, AssistantMessage("Well,"))[-1] == {"role": "assistant", "content": "Well,", "prefix": True}
    assert "prefix" not in sent(HI, AssistantMessage("Well,"), HI)[1]
    assert "prefix" not in sent(HI, Message("assistant", [ToolCall("g6fVbXS8K", "f", "{}")]))[-1]


def test_members_that_it_does_not_know_are_not_sent() -> None:
    """`Extra inputs are not permitted` otherwise."""
    parts = [
        ReasoningPart("secret"),
        ReasoningPart("theirs", replay=Replay("anthropic", {"type": "thinking", "signature": "s"})),
        ProviderPart("x", Replay("anthropic", {"type": "x"})),
        RefusalPart("I cannot."),
    ]
    assert sent(HI, Message("assistant", parts), HI)[1] == {"role": "assistant", "content": "I cannot."}
    call = {"id": "g6fVbXS8K", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    told = sent(HI, Message("assistant", [*parts[:3], ToolCall("g6fVbXS8K", "f", "")]))[1]
    assert told == {"role": "assistant", "content": None, "tool_calls": [call]}


def test_empty_answers_are_left_out() -> None:
    told = sent(HI, Message("assistant", [ReasoningPart("cut")]), UserMessage("And?"))
    assert [message["content"] for message in told] == ["Hi", "And?"]


def test_images() -> None:
    """Also in results; those that other models made are shown by a user."""
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert sent(UserMessage(["Look:", Image(PNG)]))[0]["content"] == [{"type": "text", "text": "Look:"}, url]
    call = Message("assistant", [ToolCall("g6fVbXS8K", "f", "{}")])
    result = ToolMessage(ToolResult("g6fVbXS8K", ["x", Image(PNG)]))
    assert sent(HI, call, result)[-1]["content"] == [{"type": "text", "text": "x"}, url]
    assert sent(HI, Message("assistant", ["Here:", Image(PNG)]))[-1]["content"][1] == url


@pytest.mark.parametrize(
    ("status", "answer", "code", "retryable", "words"),
    [
        (400, {"object": "error", "message": "Unexpected role 'user' after role 'tool'",
               "type": "invalid_request_message_order", "param": None, "code": "3230"},
         "INVALID_REQUEST", False, "Unexpected role"),
        (400, {"object": "error", "message": "Invalid model: mistral-9", "type": "invalid_model", "code": "1500"},
         "MODEL_NOT_FOUND", False, "mistral-9"),
        (400, {"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model "
               "with 32768 maximum context length", "type": "invalid_request_error", "code": "3051"},
         "CONTEXT_WINDOW_EXCEEDED", False, "40000"),
        (401, {"message": "Unauthorized", "request_id": "r-1"}, "AUTH", False, "Unauthorized"),
        (422, {"object": "error", "message": {"detail": [
            {"type": "extra_forbidden", "loc": ["body", "n"], "msg": "Extra inputs are not permitted", "input": 1}]},
            "type": "invalid_request_error", "param": None, "code": None},
         "INVALID_REQUEST", False, "Extra inputs"),
        (422, {"object": "Error", "detail": [{"msg": "Extra inputs are not permitted"}],
               "message": [{"msg": "Extra inputs are not permitted"}], "type": "invalid_request_error", "code": 3001},
         "INVALID_REQUEST", False, "Extra inputs"),
        (429, {"object": "error", "message": "Service tier capacity exceeded for this model.",
               "type": "invalid_request_error", "code": "3505"}, "RATE_LIMIT", True, "capacity"),
    ],
)  # fmt: skip
def test_errors(status: int, answer: Any, code: str, retryable: bool, words: str) -> None:
    """Bodies that people have reported."""
    error = MistralAdapter().failure(status, {"mistral-correlation-id": "c-1"}, json.dumps(answer).encode())
    assert (error.code, error.retryable, error.request_id) == (code, retryable, "c-1")
    assert words in error.message


def test_models() -> None:
    """In the shape of `BaseModelCard` of the SDK."""
    adapter = MistralAdapter()
    request = adapter.models_request(api_key="k", base_url=adapter.base_url)
    assert request.url == "https://api.mistral.ai/v1/models"
    card = {"id": "mistral-x", "object": "model", "max_context_length": 131072}
    [facts, other] = adapter.models(
        {
            "object": "list",
            "data": [
                {**card, "capabilities": {"completion_chat": True, "vision": True, "reasoning": False}},
                {"id": "y", "capabilities": {"vision": False, "reasoning": True}},
            ],
        }
    )
    assert (facts.id, facts.context_window, facts.image_input) == ("mistral-x", 131072, True)
    assert (other.image_input, other.context_window) == (False, None)
    assert (facts.reasoning_efforts, other.reasoning_efforts) == ((), None)


def thinking(text: str, **more: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}


def test_signatures_stay_with_their_blocks() -> None:
    """Also when several blocks come in one event, and the last of them goes on in the next."""
    parts = [thinking("a", signature="s1"), {"type": "text", "text": "x"}, thinking("b", signature="s2")]
    events = [parts, [thinking("c"), {"type": "text", "text": "y"}], [thinking("d")], [thinking("", signature="s4")]]
    chunks = [{"choices": [{"index": 0, "delta": {"content": content}}]} for content in events]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    message = assembled(chunks_of(ResponseMachine(MistralDecoder(), content_type=None), [[*chunks, end]]))
    signed = [part for part in message.parts if isinstance(part, ReasoningPart)]
    assert [(part.text, part.replay and part.replay.data["signature"]) for part in signed] == [
        ("a", "s1"),
        ("bc", "s2"),
        ("d", "s4"),
    ]


BODIES = [path.read_bytes() for path in sorted((FIXTURES / "mistral").glob("*.sse"))]


@given(st.sampled_from(BODIES), st.integers(0, 2**32))
def test_events_in_any_order_end_well(body: bytes, seed: int) -> None:
    """Lost, repeated and swapped events: one terminal chunk, in order, and a message that can be stored."""
    rng = random.Random(seed)
    events = [event for event in body.split(b"\n\n") if event and rng.random() < 0.9]
    events += rng.choices(events, k=2) if events else []
    rng.shuffle(events)
    chunks = chunks_of(ResponseMachine(MistralDecoder(), content_type="text/event-stream"), [b"\n\n".join(events)])
    message = assembled(chunks)
    assert Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) == message


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chars, "MAX_KEPT_CHARS", 150)
    chunk = {"choices": [{"index": 0, "delta": {"content": [{"type": "reference", "reference_ids": ["x" * 60]}]}}]}
    message = assembled(chunks_of(ResponseMachine(MistralDecoder(), content_type=None), [[chunk, chunk]]))
    assert message.finish_reason == "error"
    assert len(message.parts) == 1
