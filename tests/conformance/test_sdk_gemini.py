"""Google's own SDK against our adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_gemini import OURS, RECORDINGS, WHOLE, signatures
from tests.sdk_process import sdks_folder, told_by
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    Image,
    Message,
    ProviderPart,
    ReasoningPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.gemini import GeminiAdapter, GeminiDecoder
from unspool.tagged import camel_case

pytestmark = [pytest.mark.host, pytest.mark.slow]

NOT_IN_THE_SDK = ("comments-bom", "odd", "split-emoji", "code", "continuation")
"""Its parser knows no byte order mark, no `[DONE]`, no half of a surrogate pair and no part of an unknown kind; and it
asks again by itself for the rest of a long answer."""

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.gemini_sdk"


def known(usage: Any) -> Any:
    """What the SDK's types know of it."""
    return (
        None if usage is None else {name: usage[name] for name in usage if name not in ("serviceTier", "trafficType")}
    )


def check(body: bytes, told: dict[str, Any]) -> None:
    assert "error" not in told, told
    message, _ = message_of(body, GeminiDecoder)
    assert (message.text, message.reasoning) == (told["text"], told["thoughts"])
    assert signatures(message) == told["signatures"]
    assert known(message.usage and message.usage.raw) == known(told["usage"])
    assert message.raw_finish_reason == told["reason"]
    if not any("willContinue" in call or "partialArgs" in call for call in told["calls"]):
        assert [(call.name, call.args) for call in message.tool_calls] == [
            (call["name"], call.get("args", {})) for call in told["calls"]
        ]
        for ours, theirs in zip(message.tool_calls, told["calls"], strict=True):
            assert ours.id == theirs.get("id", ours.id)
            assert (ours.replay is not None and "id" in ours.replay.data) == ("id" in theirs)
    else:  # the SDK does not put them together
        assert [call.name for call in message.tool_calls] == [call["name"] for call in told["calls"] if "name" in call]


def test_streams_of_recordings(sdks: str, shared_data: Path) -> None:
    """The same bytes give the same text, calls, signatures and usage."""
    bodies = [(shared_data / "wire" / file["file"]).read_bytes() for file in RECORDINGS]
    for body, told in zip(bodies, told_by(sdks, [stream(body) for body in bodies]), strict=True):
        check(body, told)


def test_streams_of_ours(sdks: str) -> None:
    names = [name for name in WHOLE if name not in NOT_IN_THE_SDK and not name.startswith("partial")]
    bodies = [(OURS / f"{name}.sse").read_bytes() for name in names]
    for body, told in zip(bodies, told_by(sdks, [stream(body) for body in bodies]), strict=True):
        check(body, told)


def stream(body: bytes) -> dict[str, Any]:
    return {"response": base64.b64encode(body).decode(), "content_type": "text/event-stream"}


def signed(text: str = "QUJD", **data: Any) -> Replay:
    return Replay("gemini", {"thoughtSignature": text, **data})


TOOLS = [
    {
        "name": "f",
        "description": "d",
        "parameters": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "kind": {"const": "a"}, "sub": {"$ref": "#/$defs/S"}},
            "required": ["x"],
            "$defs": {"S": {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}},
        },
    },
    {"name": "g"},
]
HISTORY = [
    SystemMessage("Be brief."),
    SystemMessage("Be kind."),
    UserMessage(["What is this?", Image(PNG), Image("https://example.org/a.webp?x=1")]),
    Message(
        "assistant",
        [
            ReasoningPart("why", replay=signed()),
            TextPart("See."),
            TextPart("", replay=signed("REVG")),
            ToolCall("w1", "f", '{"x":1.5,"kind":"a"}', replay=signed("R0hJ", id="w1")),
            ToolCall("call_R_1", "g", ""),
        ],
    ),
    ToolMessage([ToolResult("w1", ["ok", Image(PNG)]), ToolResult("call_R_1", "failed", is_error=True)]),
    Message(
        "assistant",
        [
            ProviderPart(
                "executableCode",
                Replay(
                    "gemini",
                    {"part": {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "QUJD"}},
                ),
            ),
            ProviderPart(
                "codeExecutionResult",
                Replay("gemini", {"part": {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}}),
            ),
            Image(PNG, replay=signed()),
            "Done.",
        ],
    ),
    UserMessage("And?"),
]

REQUESTS = {
    "smallest": Request("gemini-3-flash-preview", [UserMessage("Hi")]),
    "everything": Request(
        "gemini-3-flash-preview",
        HISTORY,
        temperature=0.5,
        max_output_tokens=9,
        stop=["a", "b"],
        seed=3,
        reasoning_effort="low",
        tools=TOOLS,
        tool_choice="f",
        output_schema=OutputSchema("o", {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
    ),
    "budget": Request("models/gemini-2.5-flash", HISTORY, reasoning_effort="high", tools=TOOLS, tool_choice="required"),
    "auto": Request("gemini-2.5-pro", HISTORY, tools=TOOLS, tool_choice="auto"),
    "none": Request("gemini-2.5-pro", HISTORY, tools=TOOLS, tool_choice="none"),
    "foreign": Request(
        "gemini-3-pro",
        [
            UserMessage("Hi"),
            Message("assistant", [ToolCall("a", "f", '{"x":1}', replay=Replay("openai-chat", {"id": "x"}))]),
            ToolMessage(ToolResult("a", "1")),
        ],
        tools=TOOLS,
    ),
}


def in_camel_case(value: Any) -> Any:
    """The SDK writes some names as its Python attributes are called; the server takes both spellings."""
    if isinstance(value, dict):
        return {camel_case(name): in_camel_case(item) for name, item in value.items()}
    return [in_camel_case(item) for item in value] if isinstance(value, list) else value


def test_requests(sdks: str) -> None:
    """Its types take every body, and it sends the same itself."""
    adapter = GeminiAdapter()
    sent = [adapter.build(request, api_key="k", base_url=adapter.base_url) for request in REQUESTS.values()]
    cases = [
        {"request": json.loads(http.body), "model": request.model}
        for http, request in zip(sent, REQUESTS.values(), strict=True)
    ]
    for name, http, told in zip(REQUESTS, sent, told_by(sdks, cases), strict=True):
        assert "error" not in told, (name, told)
        assert in_camel_case(told["body"]) == {"generationConfig": {}, **json.loads(http.body)}
        assert told["url"].rpartition("/models/")[2] == http.url.rpartition("/models/")[2]
        assert {header: told["headers"][header] for header in http.headers} == http.headers
