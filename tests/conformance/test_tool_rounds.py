"""Tools over two turns in each dialect, and conversations that pass from one dialect to another (F23, F31, F33).

What a provider wants back stands in the second request at its place; no other provider ever sees it. The conversation
goes through JSON between the turns, as one that is kept does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from tests.sdk_process import told_by
from tests.tools.dialects import CALL, DIALECTS, REASONING, TEXT

from unspool import llms
from unspool.http_model import HttpModel
from unspool.messages import Message, ToolMessage, ToolResult, UserMessage
from unspool.providers.gemini_messages import NO_SIGNATURE
from unspool.structured import strict_json
from unspool.testing import ScriptedTransport

MODELS = {
    "chat": "gpt-4.1",
    "responses": "gpt-5.2",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-flash-preview",
    "bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "ollama": "qwen3:8b",
    "cohere": "command-a-plus-05-2026",
}
SECRETS = {
    "chat": (),
    "responses": ("gAAAA", "rs_1", "msg_1", "fc_1"),
    "anthropic": ("ErUB",),
    "gemini": ("U0lH",),
    "bedrock": ("RXVC",),
    "ollama": (),
    "cohere": (),
}
"""What only the provider that made it may see again."""
IDS = {
    "chat": "call_1",
    "responses": "call_r",
    "anthropic": "toolu_1",
    "bedrock": "tooluse_1",
    "cohere": "weather_1",
    "ollama": "call_o",
}
OPTIONS: dict[str, dict[str, Any]] = {"bedrock": {"region": "us-east-1"}}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"name": CALL[0], "description": "Tells the weather.", "parameters": SCHEMA}]
ARGUMENTS = {"city": "Ulm"}
SAID, THOUGHT = "".join(TEXT), "".join(REASONING)
QUESTION = UserMessage("Weather?")
RESULT = "Rain."
CHAT_CALL = {"id": "call_1", "type": "function", "function": {"name": CALL[0], "arguments": CALL[1]}}

SECOND: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "chat": (
        "messages",
        [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": SAID, "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
        ],
    ),
    "responses": (
        "input",
        [
            {"role": "user", "content": "Weather?"},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": THOUGHT}],
                "encrypted_content": "gAAAA",
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": SAID, "annotations": []}],
            },
            {"type": "function_call", "id": "fc_1", "call_id": "call_r", "name": CALL[0], "arguments": CALL[1]},
            {"type": "function_call_output", "call_id": "call_r", "output": RESULT},
        ],
    ),
    "anthropic": (
        "messages",
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": THOUGHT, "signature": "ErUB"},
                    {"type": "text", "text": SAID},
                    {"type": "tool_use", "id": "toolu_1", "name": CALL[0], "input": ARGUMENTS},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": RESULT}]},
        ],
    ),
    "bedrock": (
        "messages",
        [
            {"role": "user", "content": [{"text": "Weather?"}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": "RXVC"}}},
                    {"text": SAID},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": CALL[0], "input": ARGUMENTS}},
                ],
            },
            {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": RESULT}]}}]},
        ],
    ),
    "ollama": (
        "messages",
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": SAID,
                "thinking": THOUGHT,
                "tool_calls": [{"id": "call_o", "function": {"name": CALL[0], "arguments": ARGUMENTS}}],
            },
            {"role": "tool", "content": RESULT, "tool_name": CALL[0], "tool_call_id": "call_o"},
        ],
    ),
    "gemini": (
        "contents",
        [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": SAID},
                    {"functionCall": {"name": CALL[0], "args": ARGUMENTS}, "thoughtSignature": "U0lH"},
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": CALL[0], "response": {"output": RESULT}}}],
            },
        ],
    ),
    "cohere": (
        "messages",
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": THOUGHT}],
                "tool_plan": SAID,
                "tool_calls": [{**CHAT_CALL, "id": "weather_1"}],
            },
            {"role": "tool", "tool_call_id": "weather_1", "content": RESULT},
        ],
    ),
}
"""Member of the second request that holds the conversation, and the conversation: after the vendors' documentation."""


def model(dialect: str, **options: Any) -> tuple[HttpModel, ScriptedTransport]:
    """A model that answers the same again and again: it thinks, says something and calls a tool."""
    transport = ScriptedTransport([b"".join(step.frame for step in DIALECTS[dialect].steps)] * 3)
    made: HttpModel = getattr(llms, DIALECTS[dialect].model)(
        MODELS[dialect], api_key="k", transport=transport, tools=TOOLS, **OPTIONS.get(dialect, {}), **options
    )
    return made, transport


def body_of(transport: ScriptedTransport, number: int = -1) -> Any:
    return json.loads(transport.requests[number].body)


def kept(history: list[Message]) -> list[Message]:
    """The conversation, as it is when it has been stored."""
    return [Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) for message in history]


def answered(message: Message) -> list[Message]:
    """The message, and the results of its calls."""
    return [message, ToolMessage([ToolResult(call.id, RESULT) for call in message.tool_calls])]


def shows(body: Any, *texts: str) -> bool:
    """Whether the body holds every one of the texts."""
    written = json.dumps(body, ensure_ascii=False)
    return all(text in written for text in texts)


def without_secrets_of(dialect: str, body: Any) -> None:
    for secret in SECRETS[dialect]:
        assert not shows(body, secret), (dialect, secret)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_two_turns(dialect: str) -> None:
    lm, transport = model(dialect)
    message = await lm.call(QUESTION)
    assert (message.finish_reason, message.text, message.reasoning) == ("tool_calls", SAID, THOUGHT)
    assert [(call.name, call.args) for call in message.tool_calls] == [(CALL[0], ARGUMENTS)]
    await lm.call(kept([QUESTION, *answered(message)]))
    member, conversation = SECOND[dialect]
    assert body_of(transport)[member] == conversation


@pytest.mark.parametrize(("profile", "field"), [("deepseek", "reasoning_content"), ("vllm", "reasoning")])
async def test_servers_that_want_their_reasoning_back(profile: str, field: str) -> None:
    """F33."""
    lm, transport = model("chat", profile=profile)
    message = await lm.call(QUESTION)
    await lm.call(kept([QUESTION, *answered(message)]))
    assert body_of(transport)["messages"][1][field] == THOUGHT


PAIRS = list(permutations(DIALECTS, 2))


async def taken_over(first: str, second: str) -> list[Any]:
    """A conversation that begins in one dialect and goes on in another: the requests of the other."""
    one, _ = model(first)
    other, transport = model(second)
    history = kept([QUESTION, *answered(await one.call(QUESTION))])
    history = kept([*history, *answered(await other.call(history))])
    await other.call(history)
    return [body_of(transport, number) for number in range(2)]


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_another_dialect_takes_over(first: str, second: str) -> None:
    before, after = await taken_over(first, second)
    for body in (before, after):
        without_secrets_of(first, body)
        assert shows(body, "Weather?", SAID, CALL[0], "Ulm", RESULT)
        if first in IDS and second != "gemini":  # whose calls are known by their place
            assert shows(body, IDS[first])
    assert not shows(before, THOUGHT)
    assert shows(after, *SECRETS[second])


@pytest.mark.parametrize("first", [name for name in DIALECTS if name != "gemini"])
async def test_gemini_takes_calls_that_it_did_not_sign(first: str) -> None:
    """Gemini 3 refuses a call without a signature, but for the one that says so."""
    body, _ = await taken_over(first, "gemini")
    [call] = [part for part in body["contents"][1]["parts"] if "functionCall" in part]
    assert call["thoughtSignature"] == NO_SIGNATURE


async def mixed() -> list[Message]:
    """One conversation in which each of them had a turn."""
    history: list[Message] = [QUESTION]
    for dialect in DIALECTS:
        lm, _ = model(dialect)
        history = kept([*history, *answered(await lm.call(history)), UserMessage("And now?")])
    return history


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_each_finds_its_own_again(dialect: str) -> None:
    """A turn by each provider: what each is sent holds its own state at its own turn, and no other's."""
    lm, transport = model(dialect)
    await lm.call(await mixed())
    body = body_of(transport)
    for other in DIALECTS:
        if other != dialect:
            without_secrets_of(other, body)
    member, conversation = SECOND[dialect]
    said = conversation[1:-1]
    found = [at for at in range(len(body[member])) if body[member][at : at + len(said)] == said]
    assert len(found) == 1, body[member]


SDKS: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "chat": ("tests.tools.openai_chat_sdk", lambda body: {"request": body}),
    "responses": ("tests.tools.openai_responses_sdk", lambda body: {"request": body}),
    "anthropic": ("tests.tools.anthropic_sdk", lambda body: {"body": body}),
    "bedrock": ("tests.tools.bedrock_sdk", lambda body: {"body": body}),
    "ollama": ("tests.tools.ollama_sdk", lambda body: {"body": body}),
    "gemini": ("tests.tools.gemini_sdk", lambda body: {"request": body, "model": MODELS["gemini"]}),
    "cohere": ("tests.tools.cohere_sdk", lambda body: {"request": body}),
}


def judged(dialect: str, bodies: list[Any]) -> list[dict[str, Any]]:
    """What the vendor's own types say of each body."""
    module, case = SDKS[dialect]
    return told_by(module, [case(body) for body in bodies])


@pytest.mark.host
@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_types_of_the_sdk_take_conversations_of_others(dialect: str) -> None:
    """All pairs of the dialect, and the conversation that has passed through all."""
    lm, transport = model(dialect)
    await lm.call(await mixed())
    bodies = [body_of(transport)]
    for first in DIALECTS:
        if first != dialect:
            bodies += await taken_over(first, dialect)
    told = judged(dialect, bodies)
    assert len(told) == 2 * len(DIALECTS) - 1
    for body, said in zip(bodies, told, strict=True):
        assert "error" not in said, (said, body)
        assert not said.get("faults"), (said, body)
