"""Mistral's own SDK against our adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_mistral import OURS, RECORDINGS, WHOLE, reference, thought
from tests.sdk_process import sdks_folder, told_by
from tests.tools.replay_server import Recorded, serve_bodies
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    AssistantMessage,
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.mistral import MistralAdapter, MistralDecoder

pytestmark = [pytest.mark.host, pytest.mark.slow]

PICTURE = Image(b"\x89PNG\r\n\x1a\n", detail="low")
TOOLS: list[dict[str, Any]] = [
    {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": True}
]
HISTORY = [
    SystemMessage("Be brief."),
    UserMessage(["Look:", PICTURE, Image("https://h/x.png")]),
    Message(
        "assistant", [thought("Hm.", signature="s"), "Wait.", ToolCall("toolu_1", "f", "{}"), ToolCall("b", "f", "")]
    ),
    ToolMessage([ToolResult("toolu_1", ["Done", PICTURE]), ToolResult("b", "no", is_error=True)]),
    UserMessage("Well?"),
    Message("assistant", [ReasoningPart("theirs"), RefusalPart("No."), reference(1), "Yes.", PICTURE]),
    UserMessage("Why?"),
]
HI = UserMessage("Hi")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
REQUESTS = [
    Request("m", [HI]),
    Request("m", HISTORY, temperature=0.5, max_output_tokens=9, stop=["x"], seed=7, reasoning_effort="high"),
    *(Request("m", HISTORY, tools=TOOLS, tool_choice=choice) for choice in (None, "auto", "required", "none", "f")),
    Request("m", [HI, AssistantMessage("Well,")], output_schema=OutputSchema("A", SCHEMA)),
    Request("m", [HI], extra={"prompt_mode": "reasoning", "safe_prompt": True, "parallel_tool_calls": False}),
]


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.mistral_sdk"


def sent(request: Request) -> dict[str, Any]:
    adapter = MistralAdapter()
    body: dict[str, Any] = json.loads(adapter.build(request, api_key="k", base_url=adapter.base_url).body)
    return body


def test_types_of_the_sdk_take_our_requests(sdks: str) -> None:
    """Every member is known to them, and none is lost."""
    told = told_by(sdks, [{"request": sent(request)} for request in REQUESTS])
    assert [case["faults"] for case in told] == [[]] * len(REQUESTS)


def test_types_of_the_sdk_refuse_what_is_wrong(sdks: str) -> None:
    """The control: the check above can fail."""
    good = sent(REQUESTS[1])
    wrong: list[dict[str, Any]] = [
        good | {"messages": [{"role": "nobody", "content": "x"}]},
        good | {"messages": [{"role": "assistant", "content": "x", "refusal": "no"}]},
        good | {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "no list"}]}]},
        good | {"unknown": 1},
        good | {"seed": 1},
        good | {"stream_options": {"include_usage": True}},
        {"model": "m"},
    ]
    told = told_by(sdks, [{"request": body} for body in wrong])
    assert all(case["faults"] for case in told), told


def compare(sdks: str, bodies: dict[str, bytes]) -> None:
    served = {f"/{at}": Recorded(body) for at, body in enumerate(bodies.values())}
    with serve_bodies(served) as base:
        answers = told_by(sdks, [{"url": f"{base}{name}"} for name in served])
    for (name, body), told in zip(bodies.items(), answers, strict=True):
        message, finish = message_of(body, MistralDecoder)
        assert finish.error is None, name
        origin, references = message.origin, [part for part in message.parts if isinstance(part, ProviderPart)]
        assert origin is not None
        ours = {
            "id": origin.response_id,
            "model": origin.model,
            "text": message.text,
            "reasoning": message.reasoning,
            "references": [part.replay.data["reference_ids"] for part in references if part.kind == "reference"],
            "finish": message.raw_finish_reason,
            "calls": [[call.id, call.name, call.arguments] for call in message.tool_calls],
        }
        assert ours == {key: told[key] for key in ours}, name
        assert message.usage is not None
        assert message.usage.raw == told["usage"], name


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdks: str, shared_data: Path) -> None:
    """Text, reasoning, references, calls, reason, origin and usage of the same bytes."""
    compare(sdks, {file["file"]: (shared_data / "wire" / file["file"]).read_bytes() for file in RECORDINGS})


def test_parser_of_the_sdk_reads_our_fixtures_as_we_do(sdks: str) -> None:
    compare(sdks, {name: (OURS / f"{name}.sse").read_bytes() for name in (*WHOLE, "tool-call")})


def test_answers_go_back_in_a_form_that_the_sdk_takes(sdks: str, shared_data: Path) -> None:
    """Each recorded answer as history, and our fixtures with chunks of other kinds."""
    bodies = [(shared_data / "wire" / recording["file"]).read_bytes() for recording in RECORDINGS]
    bodies += [(OURS / f"{name}.sse").read_bytes() for name in ("references", "file", "thinking-signed")]
    cases: list[dict[str, Any]] = []
    for body in bodies:
        message, _ = message_of(body, MistralDecoder)
        results = [ToolMessage(ToolResult(call.id, "done")) for call in message.tool_calls]
        cases.append({"request": sent(Request("m", [HI, message, *results, UserMessage("Go on.")]))})
    assert [told["faults"] for told in told_by(sdks, cases)] == [[]] * len(cases)
