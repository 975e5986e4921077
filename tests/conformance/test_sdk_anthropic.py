"""Anthropic's own SDK against our adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_anthropic import OURS, RECORDINGS, WHOLE, provider_parts
from tests.sdk_process import sdks_folder, told_by
from tests.tools.replay_server import Recorded, serve_bodies
from tests.wire import message_of

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    Image,
    Message,
    ReasoningPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.anthropic import AnthropicAdapter, AnthropicDecoder

pytestmark = [pytest.mark.host, pytest.mark.slow]

NOT_IN_THE_SDK = ("no-event-names", "types-from-names", "no-message-start", "split-emoji", "unknown-events")
"""Its parser passes over events without a name, needs `message_start`, and knows no half of a surrogate pair and no
block or delta of an unknown kind."""

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def sdks() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.anthropic_sdk"


def sent(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(
        AnthropicAdapter().build(request, api_key="k", base_url=AnthropicAdapter.base_url).body
    )
    return body


TOOLS = [
    {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "strict": True,
    },
    {"type": "web_search_20260209", "name": "web_search", "max_uses": 2},
]
SCHEMA = OutputSchema(
    "Answer",
    {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "of": {"$ref": "#/$defs/Of"}},
        "required": ["n", "of"],
        "$defs": {"Of": {"enum": ["a", "b"]}},
    },
)
CONVERSATION = [
    SystemMessage("Be brief."),
    UserMessage(["What is this?", Image(PNG), Image("https://h/x.png")]),
    Message(
        "assistant",
        [
            ReasoningPart("Hm.", replay=Replay("anthropic", {"type": "thinking", "signature": "s"})),
            ReasoningPart("", redacted=True, replay=Replay("anthropic", {"type": "redacted_thinking", "data": "d"})),
            TextPart("Let me see."),
            ToolCall("a", "weather", '{"city": "Oslo"}'),
            ToolCall("b", "weather", ""),
        ],
    ),
    ToolMessage(ToolResult("a", ["Rain", Image(PNG)])),
    ToolMessage(ToolResult("b", "No such city", is_error=True)),
    UserMessage("And now?"),
]
REQUESTS: dict[str, Request] = {
    "smallest": Request("claude-sonnet-5-5", [UserMessage("Hi")]),
    "conversation": Request("claude-sonnet-5-5", CONVERSATION, tools=TOOLS, stop=["\n\n"], max_output_tokens=9),
    "adaptive": Request("claude-opus-5-5", [UserMessage("Hi")], reasoning_effort="xhigh", output_schema=SCHEMA),
    "budget": Request("claude-haiku-4-5", [UserMessage("Hi")], reasoning_effort="low", output_schema=SCHEMA),
    **{
        f"choice-{choice}": Request("m", [UserMessage("Hi")], tools=TOOLS, tool_choice=choice)
        for choice in ("auto", "required", "none", "weather")
    },
    "extra": Request("m", [UserMessage("Hi")], extra={"metadata": {"user_id": "u"}, "service_tier": "auto"}),
}


def test_types_of_the_sdk_take_our_requests(sdks: str) -> None:
    """Every member is known to them, and none is lost."""
    bodies = [sent(request) for request in REQUESTS.values()]
    for name, body, told in zip(REQUESTS, bodies, told_by(sdks, [{"body": body} for body in bodies]), strict=True):
        assert told == {"value": body}, name


def test_types_of_the_sdk_refuse_what_is_wrong(sdks: str) -> None:
    """The control: without it the test above would prove nothing."""
    body = sent(REQUESTS["conversation"])
    wrong: list[dict[str, Any]] = [
        {**body, "tool_choice": {"type": "function"}},
        {**body, "thinking": {"type": "on"}},
        {name: value for name, value in body.items() if name != "max_tokens"},
        {**body, "messages": [{"role": "tool", "content": "x"}]},
        {**body, "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64"}}]}]},
        {**body, "output_config": {"format": {"type": "json_object"}}},
        {**body, "seed": 1},
    ]
    for told in told_by(sdks, [{"body": one} for one in wrong]):
        assert "ValidationError" in told.get("error", ""), told


def test_answers_go_back_in_a_form_that_the_sdk_takes(sdks: str, shared_data: Path) -> None:
    """Each recorded answer as history, with the blocks of the provider's own."""
    cases: list[dict[str, Any]] = []
    for recording in RECORDINGS:
        body = (shared_data / "wire" / recording["file"]).read_bytes()
        message, _ = message_of(body, AnthropicDecoder)
        results = [ToolMessage(ToolResult(call.id, "done")) for call in message.tool_calls]
        request = Request("claude-sonnet-5-5", [UserMessage("Hi"), message, *results, UserMessage("Go on.")])
        cases.append({"body": sent(request), "beta": True})
    for recording, case, told in zip(RECORDINGS, cases, told_by(sdks, cases), strict=True):
        assert "error" not in told, recording["file"]
        assert len(told["value"]["messages"]) == len(case["body"]["messages"])
        blocks: Any = case["body"]["messages"][1]["content"]
        kept = told["value"]["messages"][1]["content"]
        assert kept == blocks if isinstance(blocks, str) else types_of(kept) == types_of(blocks)


def types_of(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["type"] for block in blocks]


def check(told: dict[str, Any], body: bytes, name: str) -> None:
    """What the SDK read of a response is what we read of it."""
    message, finish = message_of(body, AnthropicDecoder)
    assert finish.error is None, name
    said = told["value"]
    content = said["content"]
    assert message.text == "".join(block["text"] for block in content if block["type"] == "text"), name
    assert message.reasoning == "".join(block["thinking"] for block in content if block["type"] == "thinking"), name
    calls = [(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    assert [(call.id, call.name, call.args) for call in message.tool_calls] == calls, name
    blocks = [block for block in content if block["type"] in ("server_tool_use", "web_search_tool_result")]
    assert [(block["type"], block.get("input")) for block in blocks] == [
        (block["type"], block.get("input"))
        for block in provider_parts(message)
        if block["type"] in ("server_tool_use", "web_search_tool_result")
    ], name
    assert message.raw_finish_reason == said["stop_reason"], name
    assert message.metadata.get("stop_sequence") == said["stop_sequence"], name
    origin = message.origin
    assert origin is not None
    assert (origin.model, origin.response_id) == (said["model"], said["id"]), name
    usage = message.usage
    assert usage is not None
    raw = said["usage"]
    counts = [raw.get(one) or 0 for one in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    assert (usage.input_tokens, usage.output_tokens) == (sum(counts), raw["output_tokens"]), name


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdks: str, shared_data: Path) -> None:
    """Text, reasoning, calls, provider's blocks, reason, origin and usage of the same bytes."""
    files = [recording["file"] for recording in RECORDINGS if "legacy" not in recording["file"]]  # not in the SDK
    bodies = {f"/{at}": (shared_data / "wire" / file).read_bytes() for at, file in enumerate(files)}
    compare(sdks, dict(zip(files, bodies.values(), strict=True)))


def test_parser_of_the_sdk_reads_our_fixtures_as_we_do(sdks: str) -> None:
    names = [name for name in WHOLE if name not in (*NOT_IN_THE_SDK, "server-tool-broken-input")]
    compare(sdks, {name: (OURS / f"{name}.sse").read_bytes() for name in names})


def compare(sdks: str, bodies: dict[str, bytes]) -> None:
    served = {f"/{at}": Recorded(body) for at, body in enumerate(bodies.values())}
    with serve_bodies(served) as base:
        answers = told_by(sdks, [{"url": f"{base}{name}", "beta": True} for name in served])
    for (name, body), told in zip(bodies.items(), answers, strict=True):
        assert "value" in told, (name, told)
        check(told, body, name)
