"""Ollama's own SDK against our adapter: its types take our requests, and its parser reads responses as we do.

The SDK runs in a process of its own. `make build/sdks/.ready` installs it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_ollama import NDJSON, OURS, RECORDINGS, WHOLE, read
from tests.sdk_process import sdks_folder, told_by
from tests.tools.ollama_sdk import without_newer
from tests.tools.replay_server import Recorded, serve_bodies

from unspool.contracts import OutputSchema, Request
from unspool.messages import (
    Image,
    Message,
    Origin,
    ReasoningPart,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.ollama import OllamaAdapter

pytestmark = [pytest.mark.host, pytest.mark.slow]

PNG = b"\x89PNG\r\n\x1a\n"
NOT_IN_THE_SDK = ("generate", "image", "tool-calls-as-text", "split-emoji", "crlf-blank-lines", "after-done")
"""It has another method for the first; pictures, arguments as text, halves of surrogate pairs and blank lines it does
not take; and it reads on behind the end."""


@pytest.fixture(scope="module")
def sdk() -> str:
    """The module that asks the SDK, if that is installed."""
    if not (sdks_folder() / "ollama").is_dir():
        pytest.skip("the SDK of Ollama is not installed (make build/sdks/.ready)")
    return "tests.tools.ollama_sdk"


def sent(request: Request, **options: Any) -> dict[str, Any]:
    adapter = OllamaAdapter(**options)
    body: dict[str, Any] = json.loads(adapter.build(request, api_key=None, base_url=adapter.base_url).body)
    return body


TOOLS = [
    {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
CONVERSATION = [
    SystemMessage("Be brief."),
    UserMessage(["What is this?", Image(PNG)]),
    Message(
        "assistant",
        [
            ReasoningPart("Hm."),
            "Let me see.",
            ToolCall("a", "weather", '{"city": "Oslo"}'),
            ToolCall("b", "weather", ""),
        ],
        origin=Origin("ollama-native", "m"),
    ),
    ToolMessage([ToolResult("a", ["Rain", Image(PNG)]), ToolResult("b", "No such city", is_error=True)]),
    UserMessage("And now?"),
]
SCHEMA = OutputSchema("A", {"type": "object", "properties": {"n": {"type": "integer"}}})
BODIES: dict[str, dict[str, Any]] = {
    "smallest": sent(Request("m", [UserMessage("Hi")])),
    "conversation": sent(
        Request("m", CONVERSATION, tools=TOOLS, stop=["x"], temperature=0, max_output_tokens=9, seed=1),
        num_ctx=8_192,
        keep_alive="10m",
    ),
    "thinking": sent(Request("m", [UserMessage("Hi")], reasoning_effort="low", output_schema=SCHEMA), keep_alive=-1),
    "not-thinking": sent(Request("m", [UserMessage("Hi")], reasoning_effort="none")),
}


def test_types_of_the_sdk_take_our_requests(sdk: str) -> None:
    """Every member is known to them, and none is lost."""
    for name, told in zip(BODIES, told_by(sdk, [{"body": body} for body in BODIES.values()]), strict=True):
        assert told == {"faults": [], "value": without_newer(BODIES[name])}, name


def test_types_of_the_sdk_refuse_what_is_wrong(sdk: str) -> None:
    """The control: without it the test above would prove nothing."""
    body = BODIES["conversation"]
    wrong: list[dict[str, Any]] = [
        {**body, "tool_choice": "auto"},
        {**body, "format": 1},
        {**body, "keep_alive": []},
        {**body, "messages": [{"content": "x"}]},
        {**body, "messages": [{"role": "user", "content": ["x"]}]},
        {**body, "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]},
    ]
    for one, told in zip(wrong, told_by(sdk, [{"body": one} for one in wrong]), strict=True):
        assert told["faults"], one


def compare(sdk: str, bodies: dict[str, bytes]) -> None:
    served = {f"/{at}": Recorded(body, NDJSON) for at, body in enumerate(bodies.values())}
    with serve_bodies(served) as base:
        answers = told_by(sdk, [{"url": f"{base}{name}"} for name in served])
    for (name, body), told in zip(bodies.items(), answers, strict=True):
        message, finish = read(body)
        assert ("error" in told) == (finish.error is not None), (name, told, finish)
        assert (message.text, message.reasoning) == (told["text"], told["thinking"]), name
        assert [[call.name, call.args] for call in message.tool_calls] == told["calls"], name
        assert message.raw_finish_reason == told["reason"], name
        usage = message.usage
        assert (
            [usage.input_tokens, usage.output_tokens] == told["usage"] if usage else told["usage"] in (None, [None] * 2)
        )


def test_parser_of_the_sdk_reads_recordings_as_we_do(sdk: str, shared_data: Path) -> None:
    files = [recording["file"] for recording in RECORDINGS if "generate" not in recording["file"]]
    compare(sdk, {file: (shared_data / "wire" / file).read_bytes() for file in files})


def test_parser_of_the_sdk_reads_our_fixtures_as_we_do(sdk: str) -> None:
    """Also errors in the middle, which it raises."""
    names = [name for name in WHOLE if name not in NOT_IN_THE_SDK]
    faults = ["error-first", "error-after-text", "error-busy"]
    compare(sdk, {name: (OURS / f"{name}.ndjson").read_bytes() for name in (*names, *faults)})
