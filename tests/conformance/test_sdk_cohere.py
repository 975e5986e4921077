"""Cohere's own SDK against our adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_cohere import OURS, PLAN, RECORDINGS, THINKING, WHOLE, thought
from tests.sdk_process import sdks_folder, told_by
from tests.tools.replay_server import Recorded, serve_bodies
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
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
from unspool.providers.cohere import CohereAdapter, CohereDecoder

pytestmark = [pytest.mark.host, pytest.mark.slow]

NOT_IN_THE_SDK = (
    "unknown-events",
    "split-emoji",
    "unended-last-event",
    "tool-listed",
    "tool-without-index",
    "tool-without-id",
    "odd-usage",
)
"""It passes over events that its types do not know or that have no end, reads no lists of calls, and tells calls apart
by their numbers."""

PNG = b"\x89PNG\r\n\x1a\n"
TOOLS: list[dict[str, Any]] = [
    {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}, "strict": True},
    {"name": "g"},
]
HISTORY = [
    SystemMessage("Be brief."),
    UserMessage(["Look:", Image(PNG, detail="low"), Image("https://h/x.png")]),
    Message(
        "assistant",
        [
            ReasoningPart("Hm.", replay=THINKING),
            ReasoningPart("I will look.", replay=PLAN),
            ToolCall("a", "f", "{}"),
            ToolCall("b", "f", ""),
        ],
    ),
    ToolMessage([ToolResult("a", ["Done", Image(PNG)]), ToolResult("b", "no", is_error=True)]),
    Message("assistant", [ReasoningPart("Hm.", replay=THINKING), "It rains."]),
    UserMessage("And now?"),
]
HI = [UserMessage("Hi")]
REQUESTS = [
    Request("m", HI),
    Request("m", HISTORY, temperature=0.5, max_output_tokens=9, stop=["x"], seed=7),
    *(Request("m", HISTORY, tools=TOOLS, tool_choice=choice) for choice in (None, "auto", "required", "none", "g")),
    *(Request("m", HI, reasoning_effort=effort) for effort in ("none", "low", "medium", "high")),
    Request("m", HI, output_schema=OutputSchema("A", {"type": "object", "properties": {}})),
    Request(
        "m", HI, extra={"safety_mode": "STRICT", "k": 3, "citation_options": {"mode": "FAST"}, "strict_tools": True}
    ),
]


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.cohere_sdk"


def sent(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(CohereAdapter().build(request, api_key="k", base_url=CohereAdapter.base_url).body)
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
        good | {"messages": [{"role": "assistant", "content": [{"type": "picture"}]}]},
        good | {"messages": [{"role": "tool", "content": "x"}]},
        good | {"messages": [{"role": "user", "content": "x", "name": "y"}]},
        good | {"unknown": 1},
        good | {"tools": [{"type": "function", "function": {"name": "f"}}]},
        good | {"thinking": {"token_budget": 5}},
        good | {"response_format": {"type": "json_object", "schema": {}}},
    ]
    told = told_by(sdks, [{"request": body} for body in wrong])
    assert all(case["faults"] for case in told), told


def compare(sdks: str, bodies: dict[str, bytes]) -> None:
    served = {f"/{at}": Recorded(body) for at, body in enumerate(bodies.values())}
    with serve_bodies(served) as base:
        answers = told_by(sdks, [{"url": f"{base}{name}"} for name in served])
    for (name, body), told in zip(bodies.items(), answers, strict=True):
        message, finish = message_of(body, CohereDecoder)
        assert finish.error is None, name
        ours = {
            "id": message.origin.response_id if message.origin else None,
            "text": message.text,
            "thinking": thought(message, THINKING),
            "tool_plan": thought(message, PLAN),
            "citations": len(message.metadata.get("citations", [])),
            "finish": message.raw_finish_reason,
            "calls": [[call.id, call.name, call.arguments] for call in message.tool_calls],
        }
        assert ours == {key: told[key] for key in ours}, name
        usage = told["usage"]
        if usage is None:
            assert message.usage is None, name
            continue
        assert message.usage is not None
        tokens = usage.get("tokens") or usage["billed_units"]
        assert (message.usage.input_tokens, message.usage.output_tokens) == (
            tokens["input_tokens"],
            tokens["output_tokens"],
        ), name
        assert message.usage.cached_input_tokens == usage.get("cached_tokens"), name


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdks: str, shared_data: Path) -> None:
    """Id, text, reasoning, plan, calls, citations, reason and usage of the same bytes."""
    compare(sdks, {file["file"]: (shared_data / "wire" / file["file"]).read_bytes() for file in RECORDINGS})


def test_parser_of_the_sdk_reads_our_fixtures_as_we_do(sdks: str) -> None:
    names = [name for name in WHOLE if name not in NOT_IN_THE_SDK]
    compare(sdks, {name: (OURS / f"{name}.sse").read_bytes() for name in names})
    assert len(names) == 25


def test_answers_go_back_in_a_form_that_the_sdk_takes(sdks: str, shared_data: Path) -> None:
    """Each recorded answer as history."""
    cases: list[dict[str, Any]] = []
    for recording in RECORDINGS:
        message, _ = message_of((shared_data / "wire" / recording["file"]).read_bytes(), CohereDecoder)
        results = [ToolMessage(ToolResult(call.id, "done")) for call in message.tool_calls]
        cases.append({"request": sent(Request("m", [*HI, message, *results, UserMessage("Go on.")]))})
    assert [told["faults"] for told in told_by(sdks, cases)] == [[]] * len(cases)
