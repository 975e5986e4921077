"""botocore against our adapter: its service model takes our requests, it sends and signs them alike, and its parser
reads responses as we do.

The SDK runs in a process of its own: it is large and noisy. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import base64
import calendar
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_bedrock import EVENT_STREAM, OURS, RECORDINGS, WHOLE, messages_of, read
from tests.sdk_process import sdks_folder, told_by
from tests.tools.bedrock_sdk import KEYS, MODEL
from tests.tools.replay_server import Recorded, serve_bodies

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
from unspool.providers.bedrock import BedrockAdapter
from unspool.providers.sigv4 import signed

pytestmark = [pytest.mark.host, pytest.mark.slow]

NOT_IN_THE_SDK = ("after-metadata", "empty-start", "unknown-events")
"""It goes on to read behind the end, and takes no start that says nothing, or something new."""
PNG = b"\x89PNG\r\n\x1a\n"
ADAPTER = BedrockAdapter("eu-central-1")
CACHING = BedrockAdapter("eu-central-1", cache=True)


@pytest.fixture(scope="module")
def sdk() -> str:
    """The module that asks the SDK, if that is installed."""
    sdks_folder()
    return "tests.tools.bedrock_sdk"


def sent(request: Request, adapter: BedrockAdapter = ADAPTER) -> dict[str, Any]:
    built = adapter.build(request, api_key="k", base_url=adapter.base_url)
    body: dict[str, Any] = json.loads(built.body)
    return body


def ask(*messages: Message, **options: Any) -> Request:
    return Request(MODEL, messages or (UserMessage("Hi"),), **options)


TOOLS = [
    {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "strict": True,
    },
    {"type": "system", "name": "nova_grounding"},
]
SCHEMA = OutputSchema("Answer", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
BLOCK = {"toolUse": {"toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use", "input": {"q": "x"}}}
CITATION = {"title": "T", "location": {"web": {"url": "https://h", "domain": "h"}}}
CONVERSATION = (
    SystemMessage("Be brief."),
    UserMessage(["What is this?", Image(PNG)]),
    Message(
        "assistant",
        [
            ReasoningPart("Hm.", replay=Replay("bedrock", {"signature": "s"})),
            ReasoningPart("", redacted=True, replay=Replay("bedrock", {"redactedContent": "YWJj"})),
            ProviderPart("server_tool_use", Replay("bedrock", BLOCK)),
            TextPart("So.", replay=Replay("bedrock", {"citations": [CITATION]})),
            ToolCall("a/b", "weather", '{"city": "Oslo"}'),
            ToolCall("b" * 99, "weather", ""),
        ],
    ),
    ToolMessage([ToolResult("a/b", ["Rain", Image(PNG)]), ToolResult("b" * 99, "No such city", is_error=True)]),
    UserMessage("And now?"),
)
REQUESTS: dict[str, dict[str, Any]] = {
    "smallest": sent(ask()),
    "conversation": sent(
        ask(*CONVERSATION, tools=TOOLS, temperature=0.5, max_output_tokens=9, stop=["x"], output_schema=SCHEMA)
    ),
    "caching": sent(ask(*CONVERSATION, tools=TOOLS), CACHING),
    "claude": sent(Request("anthropic.claude-opus-4-8", [UserMessage("Hi")], reasoning_effort="high")),
    "nova": sent(ask(reasoning_effort="low", output_schema=SCHEMA)),
    **{
        f"choice-{choice}": sent(ask(tools=TOOLS, tool_choice=choice))
        for choice in ("auto", "required", "none", "weather")
    },
    "extra": sent(ask(extra={"performanceConfig": {"latency": "optimized"}, "inferenceConfig": {"topP": 0.5}})),
}


def test_service_model_takes_our_requests_and_sends_them_alike(sdk: str) -> None:
    """Every member is known, of its type and in its limits; and address, body and signature are the SDK's."""
    for name, body, told in zip(
        REQUESTS, REQUESTS.values(), told_by(sdk, [{"body": body} for body in REQUESTS.values()]), strict=True
    ):
        assert told["faults"] == [], name
        ours = ADAPTER.build(ask(), api_key="k", base_url=ADAPTER.base_url)
        assert (told["method"], told["url"]) == (ours.method, ours.url), name
        assert told["body"] == body, name
        headers: dict[str, str] = told["headers"]
        at = calendar.timegm(time.strptime(headers.pop("x-amz-date"), "%Y%m%dT%H%M%SZ"))
        again = signed(
            told["method"],
            told["url"],
            headers,
            base64.b64decode(told["bytes"]),
            keys=":".join(KEYS),
            region="eu-central-1",
            service="bedrock",
            at=at,
        )
        assert again["authorization"] == told["authorization"], name


def test_service_model_refuses_what_is_wrong(sdk: str) -> None:
    """The control: without it the test above would prove nothing."""
    body = REQUESTS["conversation"]
    wrong: list[dict[str, Any]] = [
        {**body, "seed": 1},
        {**body, "toolConfig": {**body["toolConfig"], "toolChoice": {"none": {}}}},
        {**body, "messages": [{"role": "tool", "content": [{"text": "x"}]}]},
        {**body, "messages": [{"role": "user", "content": "x"}]},
        {
            **body,
            "messages": [{"role": "user", "content": [{"image": {"format": "bmp", "source": {"bytes": "AAAA"}}}]}],
        },
        {**body, "messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a/b", "content": []}}]}]},
        {**body, "system": [{"text": ""}]},
        {**body, "inferenceConfig": {"maxTokens": "9"}},
    ]
    for one, told in zip(wrong, told_by(sdk, [{"body": one} for one in wrong]), strict=True):
        assert told["faults"], one


def test_answers_go_back_in_a_form_that_the_service_model_takes(sdk: str, shared_data: Path) -> None:
    """Each recorded answer as history."""
    cases: list[dict[str, Any]] = []
    for recording in RECORDINGS:
        if "/invoke-" in recording["file"]:
            continue
        message, _ = read(b"".join(messages_of(shared_data / "wire" / recording["file"])))
        results = [ToolMessage(ToolResult(call.id, "done")) for call in message.tool_calls]
        cases.append({"body": sent(ask(UserMessage("Hi"), message, *results, UserMessage("Go on.")))})
    for case, told in zip(cases, told_by(sdk, cases), strict=True):
        assert told["faults"] == [], case


def compare(sdk: str, bodies: dict[str, bytes]) -> None:
    served = {f"/{at}": Recorded(body, EVENT_STREAM) for at, body in enumerate(bodies.values())}
    with serve_bodies(served) as base:
        answers = told_by(sdk, [{"url": f"{base}{name}"} for name in served])
    for (name, body), told in zip(bodies.items(), answers, strict=True):
        message, finish = read(body)
        assert ("error" in told) == (finish.error is not None), (name, told, finish)
        assert (message.text, message.reasoning) == (told["text"], told["reasoning"]), name
        assert [[call.id, call.name, call.arguments] for call in message.tool_calls] == told["calls"], name
        assert message.raw_finish_reason == told["reason"], name
        signatures = [
            part.replay.data.get("signature", "")
            for part in message.parts
            if isinstance(part, ReasoningPart) and part.replay is not None
        ]
        assert "".join(signatures) == told["signature"], name
        if told["usage"] is not None:
            assert message.usage is not None
            raw = told["usage"]
            counts = [raw.get(one, 0) for one in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")]
            assert (message.usage.input_tokens, message.usage.output_tokens) == (sum(counts), raw["outputTokens"]), name


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdk: str, shared_data: Path) -> None:
    """Text, reasoning, calls, reason and usage of the same bytes."""
    files = [recording["file"] for recording in RECORDINGS if "/invoke-" not in recording["file"]]
    compare(sdk, {file: b"".join(messages_of(shared_data / "wire" / file)) for file in files})


def test_parser_of_the_sdk_reads_our_fixtures_as_we_do(sdk: str) -> None:
    """Also the exceptions in the middle of a stream, which it raises."""
    ours = [name for name in WHOLE if name not in NOT_IN_THE_SDK]
    faults = ["exception-first", "exception-in-tool", "exception-validation", "error-message"]
    compare(sdk, {name: b"".join(messages_of(OURS / f"{name}.jsonl")) for name in (*ours, *faults)})
