"""Each dialect: what an event of its stream costs on the way to the message, and what a request costs.

The events are as long as the vendors' own. The request is a turn of an agent: two tools, a call, its result, a schema;
and the same with a picture of 30 KB, which has to be written in base64.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.wire import EVENTS, seconds, slices
from tests.bench.wire import body as chat_body
from tests.tools.dialects import message

from unspool.contracts import Adapter, OutputSchema, Request
from unspool.messages import (
    Image,
    Message,
    ReasoningPart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.anthropic import AnthropicAdapter
from unspool.providers.bedrock import BedrockAdapter
from unspool.providers.gemini import GeminiAdapter
from unspool.providers.ollama import OllamaAdapter
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.openai_responses import OpenAIResponsesAdapter
from unspool.stream import BlockAssembler, ResponseMachine

BUILDS = 10
AGAIN = 8
"""So short a piece of work is measured often: what else the machine does is longer."""
PICTURE_BYTES = 30_000
TARGET_MS = 0.3


def frames(*events: Mapping[str, Any]) -> bytes:
    """Frame events as Anthropic and the Responses API do: with their type as name."""
    return b"".join(
        b"event: %s\ndata: %s\n\n"
        % (event["type"].encode(), json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode())
        for event in events
    )


def word(number: int) -> str:
    return f" wörd{number}"


def responses_body() -> bytes:
    """The item is repeated at its end three times, as OpenAI does."""
    at = {"item_id": "msg_68a1c8e0d7b48192a5f2", "output_index": 0, "content_index": 0}
    text = "".join(map(word, range(EVENTS)))
    part = {"type": "output_text", "annotations": [], "logprobs": []}
    item = {"id": at["item_id"], "type": "message", "role": "assistant"}
    whole = {**item, "status": "completed", "content": [{**part, "text": text}]}
    answer = {"id": "resp_68a1c8e0", "object": "response", "status": "in_progress", "model": "gpt-5.2", "output": []}
    usage = {"input_tokens": 9, "output_tokens": EVENTS, "total_tokens": EVENTS + 9}
    return frames(
        {"type": "response.created", "response": answer},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *(
            {
                "type": "response.output_text.delta",
                "sequence_number": number,
                **at,
                "delta": word(number),
                "logprobs": [],
                "obfuscation": "wq3kD0aSxT",
            }
            for number in range(EVENTS)
        ),
        {"type": "response.output_text.done", **at, "text": text},
        {"type": "response.content_part.done", **at, "part": {**part, "text": text}},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {
            "type": "response.completed",
            "response": {**answer, "status": "completed", "output": [whole], "usage": usage},
        },
    )


def anthropic_body() -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    return frames(
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word(number)}}
            for number in range(EVENTS)
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": EVENTS}},
        {"type": "message_stop"},
    )


def gemini_body() -> bytes:
    def event(number: int) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"parts": [{"text": word(number)}], "role": "model"}, "index": 0}
        if number == EVENTS - 1:
            candidate["finishReason"] = "STOP"
        usage = {"promptTokenCount": 9, "candidatesTokenCount": number + 1, "totalTokenCount": number + 10}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3", "responseId": "R1"}

    return b"".join(
        b"data: %s\r\n\r\n" % json.dumps(event(number), ensure_ascii=False).encode() for number in range(EVENTS)
    )


def bedrock_body() -> bytes:
    """Binary messages, with a padding in each."""

    def event(name: str, **members: Any) -> bytes:
        payload = {**members, "p": "abcdefghijklmnopqrstuvwxyz"}
        return message(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode(), name)

    return b"".join(
        (
            event("messageStart", role="assistant"),
            *(
                event("contentBlockDelta", contentBlockIndex=0, delta={"text": word(number)})
                for number in range(EVENTS)
            ),
            event("contentBlockStop", contentBlockIndex=0),
            event("messageStop", stopReason="end_turn"),
            event("metadata", usage={"inputTokens": 9, "outputTokens": EVENTS, "totalTokens": EVENTS + 9}),
        )
    )


def ollama_body() -> bytes:
    def line(text: str, **more: Any) -> bytes:
        head = {"model": "qwen3:8b", "created_at": "2026-11-30T12:00:00.123456Z"}
        event = {**head, "message": {"role": "assistant", "content": text}, "done": False, **more}
        return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": EVENTS}
    return b"".join((*(line(word(number)) for number in range(EVENTS)), line("", **end)))


DIALECTS: dict[str, tuple[Callable[[], Adapter], str, Callable[[], bytes]]] = {
    "openai-chat": (OpenAIChatAdapter, "gpt-4.1", chat_body),
    "openai-responses": (OpenAIResponsesAdapter, "gpt-5.2", responses_body),
    "anthropic": (AnthropicAdapter, "claude-sonnet-4-5", anthropic_body),
    "gemini": (GeminiAdapter, "gemini-3-flash-preview", gemini_body),
    "bedrock": (lambda: BedrockAdapter("us-east-1"), "us.amazon.nova-2-lite-v1:0", bedrock_body),
    "ollama": (OllamaAdapter, "qwen3:8b", ollama_body),
}


def request(model: str, picture: bool = False) -> Request:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
        "required": ["city", "days"],
        "additionalProperties": False,
    }
    shown = [Image(b"\x89PNG\r\n\x1a\n" + bytes(PICTURE_BYTES))] if picture else []
    history = [
        SystemMessage("You are a guide. Be brief, and name your sources."),
        UserMessage(["What is the weather where this was taken?", *shown]),
        Message(
            "assistant",
            [
                ReasoningPart("A minster."),
                "I think this is Ulm.",
                ToolCall("call_1", "weather", '{"city":"Ulm","days":[1]}'),
            ],
        ),
        ToolMessage(ToolResult("call_1", "Rain all day. " * 20)),
        UserMessage("And tomorrow?"),
    ]
    tools = [
        {"name": name, "description": "Tells what it is about.", "parameters": schema} for name in ("weather", "tides")
    ]
    return Request(model, history, max_output_tokens=1_000, tools=tools, output_schema=OutputSchema("Answer", schema))


def read(adapter: Adapter, asked: Request, pieces: list[bytes]) -> str:
    """Slices of the network to the message."""
    machine = ResponseMachine(adapter.decoder(asked), content_type="text/event-stream")
    assembler = BlockAssembler()
    for piece in pieces:
        for chunk in machine.feed(piece):
            assembler.feed(chunk)
    for chunk in machine.finish():
        assembler.feed(chunk)
    return assembler.message().text


def build(adapter: Adapter, asked: Request) -> None:
    for _ in range(BUILDS):
        adapter.build(asked, api_key="k", base_url=adapter.base_url)


def make(model: str) -> None:
    for _ in range(BUILDS):
        request(model)


def often(work: Callable[..., None], *arguments: Any) -> float:
    """Milliseconds of one of the `BUILDS` pieces that the work does."""
    return min(seconds(work, *arguments) for _ in range(AGAIN)) / BUILDS * 1e3


def measure(realm: str) -> list[dict[str, Any]]:
    """The figures of this module."""
    told: list[dict[str, Any]] = []
    for name, (made, model, body) in DIALECTS.items():
        adapter, asked, pieces = made(), request(model), slices(body())
        assert read(adapter, asked, pieces) == "".join(map(word, range(EVENTS))), name
        event = min(seconds(read, adapter, asked, pieces) for _ in range(3)) / EVENTS * 1e6
        told.append({"name": f"dialect {name}: one event", "realm": realm, "value": round(event, 2), "unit": "us"})
        ms = often(build, adapter, asked)
        told.append(
            {
                "name": f"dialect {name}: one request",
                "realm": realm,
                "value": round(ms, 4),
                "unit": "ms",
                "target": f"< {TARGET_MS} ms",
                "ok": ms < TARGET_MS,
            }
        )
        ms = often(build, adapter, request(model, picture=True))
        told.append({"name": f"dialect {name}: with a picture", "realm": realm, "value": round(ms, 4), "unit": "ms"})
    ms = often(make, "m")
    told.append(
        {
            "name": "dialects: the same conversation, made and frozen",
            "realm": realm,
            "value": round(ms, 4),
            "unit": "ms",
        }
    )
    return told
