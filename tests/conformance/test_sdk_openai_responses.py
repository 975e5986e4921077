"""OpenAI's own SDK on the same: what it makes of recorded and written answers, and what it says of our requests.

It runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from tests.conformance.test_wire_openai_responses import HERE, RECORDINGS, WHOLE, body_of
from tests.sdk_process import sdks_folder, told_by
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.openai_responses import OpenAIResponsesAdapter, OpenAIResponsesDecoder

pytestmark = pytest.mark.host


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.openai_responses_sdk"


@pytest.mark.slow
def test_same_bytes_through_the_sdk(sdks: str, shared_data: Path) -> None:
    """Text, tool calls, usage, status and error of every recording and of every good fixture."""
    files = [shared_data / "wire" / recording["file"] for recording in RECORDINGS]
    # The SDK takes an event's type from its data only.
    files += [HERE / f"{name}.sse" for name in (*WHOLE, "failed", "cut-by-limit-in-call") if name != "no-type"]
    files += [HERE / "whole.json", HERE / "whole-incomplete.json"]
    kinds = {".sse": "text/event-stream", ".json": "application/json"}
    answers = told_by(
        sdks,
        [
            {"response": base64.b64encode(file.read_bytes()).decode(), "content_type": kinds[file.suffix]}
            for file in files
        ],
    )
    assert len(answers) == len(files)
    for file, answer in zip(files, answers, strict=True):
        message, finish = message_of(file.read_bytes(), OpenAIResponsesDecoder, kinds[file.suffix])
        final = answer.get("final", answer)
        if answer["error"]:
            assert finish.error is not None
            assert answer["error"] in finish.error.message
        if final is None:
            continue
        calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
        assert calls == (answer["calls"] if final["calls"] is None else final["calls"]), file.name
        assert message.text == (answer["streamed"] if final["text"] is None else final["text"]), file.name
        assert (message.usage.raw if message.usage else None) == final["usage"], file.name
        assert message.origin is not None
        assert (message.origin.response_id, message.origin.model) == (final["id"], final["model"])
        if "streamed" in answer and file.stem not in ("lost-deltas", "text-in-done-events", "closing-event-only"):
            assert (message.text, message.refusal) == (answer["streamed"], answer["refusal"]), file.name
            assert message.reasoning == answer["reasoning"], file.name


TOOLS = [{"name": "weather", "description": "Tells it.", "parameters": {"type": "object", "properties": {}}}]
PICTURE = Image("data:image/png;base64,iVBORw0KGgo=", detail="low")
SCHEMA = OutputSchema("Answer", {"type": "object", "properties": {}, "additionalProperties": False})


def after(message: Message) -> list[Message]:
    """The conversation that goes on from an answer, with results of its calls."""
    results = [ToolResult(call.id, ["seen", PICTURE], is_error=False) for call in message.tool_calls]
    turn: list[Message] = [UserMessage("Go."), message]
    return [*turn, ToolMessage(results)] if results else [*turn, UserMessage("And?")]


def requests(shared_data: Path) -> list[Request]:
    bodies = [body_of(f"{name}.sse") for name in WHOLE if name != "unknown-item"]
    bodies += [(shared_data / "wire" / recording["file"]).read_bytes() for recording in RECORDINGS]
    answers = [message_of(body, OpenAIResponsesDecoder)[0] for body in bodies]
    return [
        Request("gpt-5.2", [UserMessage("Hi")]),
        Request(
            "gpt-5.2",
            [SystemMessage("Be brief."), UserMessage(["See", PICTURE]), SystemMessage("Now briefer.")],
            temperature=0.5,
            max_output_tokens=99,
            reasoning_effort="low",
            tools=TOOLS,
            tool_choice="weather",
            output_schema=SCHEMA,
            extra={"reasoning": {"summary": "auto"}, "text": {"verbosity": "low"}, "metadata": {"a": "b"}},
        ),
        Request("m", [UserMessage("Hi")], tools=[{"name": "now"}], tool_choice="required"),
        Request(
            "gpt-4o",
            [
                UserMessage("x"),
                AssistantMessage([TextPart("y"), ToolCall("c", "now", "")]),
                ToolMessage([ToolResult("c", "z")]),
            ],
        ),
        *(Request("gpt-5.2", after(answer), tools=TOOLS) for answer in answers),
    ]


@pytest.mark.slow
def test_bodies_are_of_the_types_of_the_sdk(sdks: str, shared_data: Path) -> None:
    """`ResponseCreateParamsStreaming`, with the answer to every recording and every good fixture sent back."""
    adapter = OpenAIResponsesAdapter()
    sent = [
        adapter.build(request, api_key="k", base_url=adapter.base_url).body.decode()
        for request in requests(shared_data)
    ]
    answers = told_by(sdks, [{"request": json.loads(body)} for body in sent])
    assert len(answers) == len(sent)
    assert [
        (answer["faults"], body[:2000]) for answer, body in zip(answers, sent, strict=True) if answer["faults"]
    ] == []
    wrong = json.loads(sent[0]) | {"input": [{"role": "nobody", "content": 1}], "made_up": 1}
    assert told_by(sdks, [{"request": wrong}])[0]["faults"]
