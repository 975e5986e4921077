"""OpenAI's own SDK against our chat adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_openai_chat import RECORDINGS
from tests.sdk_process import sdks_folder, told_by
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    Image,
    Message,
    ReasoningPart,
    RefusalPart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder

pytestmark = [pytest.mark.host, pytest.mark.slow]

PICTURE = Image(b"\x89PNG\r\n\x1a\n", detail="low")
LINK = Image("https://pictures.example/a.jpg")
TOOLS = [{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}]
HISTORY = [
    SystemMessage("Be brief."),
    UserMessage(["Look:", PICTURE, LINK]),
    Message("assistant", [ReasoningPart("hm"), "Let me see.", ToolCall("a", "f", "{}"), ToolCall("b", "f", "")]),
    ToolMessage([ToolResult("a", ["Done", PICTURE]), ToolResult("b", "no", is_error=True)]),
    Message("assistant", [RefusalPart("No."), PICTURE]),
    UserMessage("Why?"),
]
REQUESTS = [
    Request("m", [UserMessage("Hi")]),
    Request("m", HISTORY, temperature=0.5, max_output_tokens=9, stop=["x"], seed=7, reasoning_effort="low"),
    *(Request("m", HISTORY, tools=TOOLS, tool_choice=choice) for choice in (None, "auto", "required", "none", "f")),
    Request("m", HISTORY, output_schema=OutputSchema("A", {"type": "object", "properties": {}})),
]


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.openai_chat_sdk"


def sent(request: Request) -> dict[str, Any]:
    adapter = OpenAIChatAdapter()
    body: dict[str, Any] = json.loads(adapter.build(request, api_key="k", base_url=adapter.base_url).body)
    return body


def test_types_of_the_sdk_take_our_requests(sdks: str) -> None:
    told = told_by(sdks, [{"request": sent(request)} for request in REQUESTS])
    assert [case["faults"] for case in told] == [[]] * len(REQUESTS)


def test_types_of_the_sdk_refuse_what_is_wrong(sdks: str) -> None:
    """The control: the check above can fail."""
    good = sent(REQUESTS[1])
    wrong = [good | {"messages": [{"role": "nobody", "content": "x"}]}, good | {"unknown": 1}, {"model": "m"}]
    assert all(case["faults"] for case in told_by(sdks, [{"request": body} for body in wrong]))


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdks: str, shared_data: Path) -> None:
    """Text, refusal, tool calls, usage and finish reason; recordings of servers that the SDK reads at all."""
    bodies = {file["file"]: (shared_data / "wire" / file["file"]).read_bytes() for file in RECORDINGS}
    told = told_by(sdks, [{"response": base64.b64encode(body).decode()} for body in bodies.values()])
    compared = 0
    for (name, body), theirs in zip(bodies.items(), told, strict=True):
        if "completions-legacy" in name:  # another endpoint, which this method of the SDK does not read
            continue
        message, finish = message_of(body, OpenAIChatDecoder)
        calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
        ours = {"text": message.text, "refusal": message.refusal, "calls": calls, "finish": message.raw_finish_reason}
        assert ours == {key: theirs[key] for key in ours}, name
        assert (finish.error is None) == (theirs["error"] is None), name
        if theirs["usage"] is not None:
            assert message.usage is not None and message.usage.raw is not None
            assert message.usage.raw == theirs["usage"], name
        compared += 1
    assert compared >= 26
