"""Responses of Anthropic's Messages API: recorded ones, and hand-written ones for each quirk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, message_of

from unspool.contracts import Request
from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Message, Origin, ProviderPart, ReasoningPart, Replay, TextPart, ToolCall, UserMessage
from unspool.providers.anthropic import AnthropicAdapter, AnthropicDecoder

FOLDER = shared_data_folder()
OURS = FIXTURES / "anthropic"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "anthropic"
    ]
    if FOLDER
    else []
)
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def provider_parts(message: Message) -> list[dict[str, Any]]:
    return [part.replay.data for part in message.parts if isinstance(part, ProviderPart)]


def fixture(name: str) -> bytes:
    return (OURS / name).read_bytes()


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """All that the manifest says, which was worked out without our code."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, AnthropicDecoder)
    assert finish.error is None
    for name in ("text", "reasoning"):
        text, fact = getattr(message, name), facts.get(name, {"chars": 0, "utf8_bytes": 0})
        assert (len(text), len(text.encode())) == (fact["chars"], fact["utf8_bytes"])
        assert hashlib.sha256(text.encode()).hexdigest() == fact.get("sha256", hashlib.sha256(b"").hexdigest())
    assert [(call.id, call.name, call.arguments, call.args) for call in message.tool_calls] == [
        (call["id"], call["name"], call["arguments"], call["arguments_json"]) for call in facts["tool_calls"]
    ]
    assert [
        (part["id"], part["name"], part["input"]) for part in provider_parts(message) if part["type"] in SERVER_CALLS
    ] == [(call["id"], call["name"], call["arguments_json"]) for call in facts.get("server_tool_calls", [])]
    assert message.raw_finish_reason == facts["finish_reason"]
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    assert message.metadata.get("stop_sequence") == facts.get("stop_sequence")
    assert message.metadata.get("stop_details") == facts.get("stop_details")
    assert len(message.metadata.get("citations", [])) == facts.get("citations", 0)
    signed = [part for part in message.parts if isinstance(part, ReasoningPart) and part.replay is not None]
    assert len([part for part in signed if part.replay and part.replay.data.get("signature")]) == facts.get(
        "thinking_signatures", 0
    )
    if "content_blocks" in facts:
        assert [block["type"] for block in sent_back(message)] == facts["content_blocks"]


def sent_back(message: Message) -> list[dict[str, Any]]:
    """The blocks of the answer as they stand in the next request."""
    request = Request("claude-x", [UserMessage("Hi"), message])
    sent = AnthropicAdapter().build(request, api_key=None, base_url=AnthropicAdapter.base_url)
    content: Any = json.loads(sent.body)["messages"][1]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def events_of(body: bytes) -> Iterator[dict[str, Any]]:
    for line in body.decode().splitlines():
        if line.startswith("data:"):
            yield json.loads(line[5:])


def kept(block: Any) -> dict[str, Any]:
    return block


def blocks_of(body: bytes) -> list[Any]:
    """The content of a message put together without our code, as simply as can be."""
    blocks: list[Any] = []
    inputs: dict[int, str] = {}
    for event in events_of(body):
        if event["type"] == "content_block_start":
            blocks.append(event["content_block"])
        elif event["type"] == "content_block_delta":
            block = kept(blocks[event["index"]])
            delta: dict[str, Any] = event["delta"]
            match delta["type"]:
                case "text_delta":
                    block["text"] += delta["text"]
                case "thinking_delta":
                    block["thinking"] += delta["thinking"]
                case "signature_delta":
                    block["signature"] += delta["signature"]
                case "input_json_delta":
                    inputs[event["index"]] = inputs.get(event["index"], "") + delta["partial_json"]
                case "citations_delta":
                    block["citations"] = [*block.get("citations", []), delta["citation"]]
                case _:
                    block["content"] = delta["content"]
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return blocks


@pytest.mark.parametrize(
    "recording",
    [recording for recording in RECORDINGS if "legacy" not in recording["file"]],
    ids=lambda recording: Path(recording["file"]).stem,
)
def test_recording_goes_back_unchanged(recording: dict[str, Any], shared_data: Path) -> None:
    """F23: what the model said is its own next input, block by block; a changed thinking block is refused."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, _ = message_of(body, AnthropicDecoder)
    saved = Message.from_wire(json.loads(json.dumps(message.to_wire())))
    if message.finish_reason in ("length", "content_filter"):
        assert not message.tool_calls
    for one in (message, saved):
        assert sent_back(one) == blocks_of(body)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle and after each of its events."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = message_of(body[: len(body) // 2], AnthropicDecoder)
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    assert all(call.truncated for call in message.tool_calls)
    events = body.split(b"\r\n\r\n" if b"\r\n" in body else b"\n\n")[:-1]
    for count in range(0, len(events) - 2, max(1, len(events) // 12)):
        _, finish = message_of(b"\n\n".join(events[:count]) + b"\n\n", AnthropicDecoder)
        assert isinstance(finish.error, StreamTruncatedError)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) == 18


RAW = {"input_tokens": 5, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 2, "output_tokens": 7}

WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋", "usage": RAW},
    "crlf-comments-bom": {"text": "xy"},  # F3, F4, F5
    "no-event-names": {"text": "ab"},
    "types-from-names": {"text": "ab"},
    "done-sentinel": {"text": "ab"},
    "no-message-start": {"text": "ab", "usage": {"output_tokens": 7}, "origin": None},
    "no-message-stop": {"text": "whole"},
    "unended-last-event": {"text": "whole"},
    "split-emoji": {"text": "a😀b\ufffd"},
    "thinking": {"reasoning": "Let me see.", "calls": [("toolu_1", "f", '{"x":1}')], "raw": "tool_use"},
    "thinking-omitted": {"text": "Yes."},
    "redacted-thinking": {"reasoning": "hm", "text": "Ok."},
    "unsigned-thinking": {"reasoning": "local thought", "text": "Hi"},
    "parallel-tool-calls": {
        "text": "Both.",
        "calls": [("toolu_a", "f", '{"x":1}'), ("toolu_b", "g", '{"y": "é"}')],
        "raw": "tool_use",
    },
    "tool-no-arguments": {"calls": [("toolu_a", "now", ""), ("toolu_b", "then", "")], "raw": "tool_use"},  # S65
    "tool-whole-input": {
        "calls": [("toolu_a", "f", '{"q": ["é", 1]}'), ("toolu_b", "g", '{"z":2}')],
        "raw": "tool_use",
    },  # A7
    "tool-caller": {"calls": [("toolu_a", "f", "{}")], "raw": "tool_use"},
    "tool-end-turn": {"calls": [("toolu_a", "f", '{"x":1}')], "reason": "tool_calls"},
    "server-tools": {"text": "Cats purr."},
    "mcp-and-containers": {"text": "Done."},
    "pause-turn": {"text": "Searching", "raw": "pause_turn"},
    "context-window": {"text": "long", "raw": "model_context_window_exceeded", "reason": "length"},
    "stop-sequence": {"text": "once", "raw": "stop_sequence"},
    "unknown-reason": {"text": "x", "raw": "sleepy"},
    "unknown-events": {"text": "ab"},
    "server-tool-broken-input": {"raw": "max_tokens", "reason": "length"},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = message_of(fixture(f"{name}.sse"), AnthropicDecoder)
    assert finish.error is None
    assert (message.text, message.reasoning) == (expected.get("text", ""), expected.get("reasoning", ""))
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == expected.get("calls", [])
    raw = expected.get("raw", "end_turn")
    assert message.raw_finish_reason == finish.raw_reason == raw
    assert (
        message.finish_reason == finish.reason == expected.get("reason", "tool_calls" if raw == "tool_use" else "stop")
    )
    if "usage" in expected:
        assert message.usage is not None
        assert message.usage.raw == expected["usage"]
    assert message.origin == expected.get("origin", Origin("anthropic", "claude-x", "msg_1"))
    assert not any(call.truncated for call in message.tool_calls)


def test_thinking_and_its_signature() -> None:
    """F23: pieces of a signature are joined."""
    message, _ = message_of(fixture("thinking.sse"), AnthropicDecoder)
    assert message.parts[0] == ReasoningPart(
        "Let me see.", replay=Replay("anthropic", {"type": "thinking", "signature": "ErUBx9=="})
    )


def test_thinking_that_is_not_shown() -> None:
    """F23: signed blocks without text, and redacted ones, are kept."""
    message, _ = message_of(fixture("thinking-omitted.sse"), AnthropicDecoder)
    assert message.parts[0] == ReasoningPart("", replay=Replay("anthropic", {"type": "thinking", "signature": "U0lH"}))
    assert message.usage is not None
    assert message.usage.reasoning_tokens == 4
    message, _ = message_of(fixture("redacted-thinking.sse"), AnthropicDecoder)
    assert message.parts[:2] == (
        ReasoningPart("", redacted=True, replay=Replay("anthropic", {"type": "redacted_thinking", "data": "EmwKAhgB"})),
        ReasoningPart("hm", replay=Replay("anthropic", {"type": "thinking", "signature": "c2ln"})),
    )


def test_blocks_of_the_provider_stand_in_their_place() -> None:
    message, _ = message_of(fixture("server-tools.sse"), AnthropicDecoder)
    assert sent_back(message) == blocks_of(fixture("server-tools.sse"))
    assert [part.type for part in message.parts] == ["provider", "provider", "text", "text", "text"]
    assert message.parts[0] == ProviderPart(
        "server_tool_use",
        Replay(
            "anthropic",
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}},
        ),
    )
    message, _ = message_of(fixture("mcp-and-containers.sse"), AnthropicDecoder)
    assert [(part.kind, part.replay.data) for part in message.parts if isinstance(part, ProviderPart)] == [
        (
            "mcp_tool_use",
            {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {"q": 1}},
        ),
        (
            "mcp_tool_result",
            {
                "type": "mcp_tool_result",
                "tool_use_id": "mcptoolu_1",
                "is_error": False,
                "content": [{"type": "text", "text": "42"}],
            },
        ),
        ("container_upload", {"type": "container_upload", "file_id": "file_1"}),
        ("compaction", {"type": "compaction", "content": "Summary", "encrypted_content": "RU5D"}),
        ("image", {"type": "image", "source": {"type": "file", "file_id": "file_2"}}),
    ]
    assert message.metadata == {"context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919"}]}}
    message, _ = message_of(fixture("tool-caller.sse"), AnthropicDecoder)
    assert sent_back(message) == blocks_of(fixture("tool-caller.sse"))
    assert message.metadata["container"]["id"] == "container_1"


def test_citations() -> None:
    """As metadata, with their place in the text; and in the block that is sent back."""
    message, _ = message_of(fixture("server-tools.sse"), AnthropicDecoder)
    citations = message.metadata["citations"]
    assert [(message.text[one["start"] : one["end"]], one["citation"]["cited_text"]) for one in citations] == [
        ("purr", "purr"),
        ("purr", "more"),
    ]
    part = message.parts[3]
    assert isinstance(part, TextPart)
    assert part.replay is not None
    assert [citation["encrypted_index"] for citation in part.replay.data["citations"]] == ["SQ==", "Sg=="]


def test_usage() -> None:
    """Three kinds of input are counted apart there and together here."""
    message, _ = message_of(fixture("text.sse"), AnthropicDecoder)
    usage = message.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (10, 7, 17)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (2, None)


def test_unknown_blocks_and_events() -> None:
    """The API may add kinds of events, blocks and deltas at any time."""
    message, _ = message_of(fixture("unknown-events.sse"), AnthropicDecoder)
    assert provider_parts(message) == [{"type": "hologram", "shape": "cubes", "parts": [1, 2], "size": 3}]


def test_input_of_a_server_tool_that_was_cut() -> None:
    """Sent back it would be refused."""
    message, _ = message_of(fixture("server-tool-broken-input.sse"), AnthropicDecoder)
    assert message.parts == ()


def test_tool_call_cut_by_the_token_limit() -> None:
    """F37: marked, arguments as they came."""
    message, finish = message_of(fixture("tool-cut-by-max-tokens.sse"), AnthropicDecoder)
    assert (finish.reason, finish.error) == ("length", None)
    assert message.tool_calls == (ToolCall("toolu_a", "write", '{"path":"a.md","content":"abc', truncated=True),)


def test_tool_call_of_a_refused_answer_is_never_run() -> None:
    message, finish = message_of(fixture("tool-refused.sse"), AnthropicDecoder)
    assert (finish.reason, finish.raw_reason, finish.error) == ("content_filter", "refusal", None)
    assert [call.truncated for call in message.tool_calls] == [True]
    assert message.metadata["stop_details"]["category"] == "cyber"


def test_blocks_that_are_stopped_at_the_end_of_the_message() -> None:
    """llama.cpp's server begins each block where the last one is over, and stops them all before `message_delta`."""
    message, finish = message_of(fixture("stops-at-the-end.sse"), AnthropicDecoder)
    assert (message.text, finish.reason, finish.error) == ("kept", "tool_calls", None)
    assert message.tool_calls == (ToolCall("toolu_a", "f", "{}"),)


KEPT: dict[str, Any] = {"text": "kept", "code": "PROTOCOL", "retryable": False}
FAULTS: dict[str, dict[str, Any]] = {
    "error-first": {"code": "OVERLOADED", "says": "Overloaded", "request": "req_1"},  # F24, F56
    "error-after-text": {"text": "one two three", "code": "PROVIDER", "says": "Internal server error"},  # F24
    "error-in-tool": {
        "text": "Hm.",
        "calls": [ToolCall("toolu_a", "f", '{"x":1}', True)],
        "code": "OVERLOADED",
        "says": "Overloaded",
    },  # F24, F56
    "error-unnamed": {"text": "half", "code": "RATE_LIMIT", "says": "Slow down", "after": 2.0},
    "error-text": {"text": "half", "code": "PROVIDER", "says": "upstream went away", "retryable": False},
    "error-bare": {"code": "PROVIDER", "says": "no such luck", "retryable": False},
    "cut": {"text": "one two", "code": "STREAM_TRUNCATED", "says": "ended"},  # F6
    "cut-between-blocks": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended"},
    "cut-in-tool": {"calls": [ToolCall("toolu_a", "f", '{"x":', True)], "code": "STREAM_TRUNCATED", "says": "ended"},
    "cut-in-thinking": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "cut-in-event": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended"},
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "only-pings": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "interleaved": {
        **KEPT,
        "calls": [ToolCall("toolu_a", "f", "{}", True)],
        "says": "more of block 0, which is not open",
    },
    "stop-missing": {
        **KEPT,
        "calls": [ToolCall("toolu_a", "f", "{}", True)],
        "says": "while block 0 was open",
        "raw": "tool_use",
    },
    "block-twice": {**KEPT, "says": "began block 0 after block 0"},
    "delta-of-no-block": {**KEPT, "says": "more of block 1, which is not open"},
    "stop-of-another-block": {**KEPT, "says": "the end of block 1, which is not open"},
    "stop-while-open": {**KEPT, "says": "while block 0 was open", "raw": "end_turn"},
    "delta-of-other-kind": {**KEPT, "says": "input_json_delta in a block of type 'text'"},
    "block-after-reason": {**KEPT, "says": "after the end of the message", "raw": "end_turn"},
    "second-message": {**KEPT, "says": "another message inside the message"},
    "tool-same-id": {
        **KEPT,
        "calls": [ToolCall("toolu_a", "f", "{}", True)],
        "says": "Two blocks of the answer have the id 'toolu_a'",
    },
    "tool-without-id": {**KEPT, "says": "a tool call without id or name"},
    "no-index": {**KEPT, "says": "without its index"},
    "not-json": {**KEPT, "says": "oops"},
    "deep": {**KEPT, "says": "[[["},
    "not-an-object": {**KEPT, "says": "not an object"},
    "arguments-twice-a-key": {
        "calls": [ToolCall("toolu_a", "f", '{"x":1,"x":2}', True)],
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "'f'",
        "raw": "tool_use",
        "retryable": False,
    },
    "arguments-no-object": {
        "calls": [ToolCall("toolu_a", "f", "[1]", True)],
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "no object",
        "raw": "tool_use",
        "retryable": False,
    },
    "arguments-incomplete": {
        "calls": [ToolCall("toolu_a", "f", '{"x":1', True)],
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "'f'",
        "raw": "tool_use",
        "retryable": False,
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F24, F56: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    message, finish = message_of(fixture(f"{name}.sse"), AnthropicDecoder)
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    error = finish.error
    assert error is not None
    assert error.code == expected["code"]
    assert expected["says"] in error.message
    assert error.retryable == expected.get("retryable", True)
    assert error.retry_after_s == expected.get("after")
    assert error.request_id == expected.get("request")
    assert error.partial == message
    assert message.text == expected.get("text", "")
    assert list(message.tool_calls) == expected.get("calls", [])


def test_thinking_that_was_cut_has_no_replay() -> None:
    """Half a signature is refused."""
    message, _ = message_of(fixture("cut-in-thinking.sse"), AnthropicDecoder)
    assert message.parts == (ReasoningPart("hm"),)


def test_usage_beside_an_error_is_kept() -> None:
    message, finish = message_of(fixture("error-after-text.sse"), AnthropicDecoder)
    assert message.usage is not None
    assert message.usage.input_tokens == 10
    assert finish.origin == Origin("anthropic", "claude-x", "msg_1")


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", None])
def test_server_that_does_not_stream(content_type: str | None) -> None:
    message, finish = message_of(fixture("whole.json"), AnthropicDecoder, content_type)
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "tool_use", None)
    assert (message.text, message.reasoning) == ("Whole!", "why")
    assert message.tool_calls == (ToolCall("toolu_a", "f", '{"x": 1}'), ToolCall("toolu_b", "now", ""))
    assert message.origin == Origin("anthropic", "claude-x", "msg_1")
    assert message.usage is not None
    assert message.usage.raw == RAW
    assert message.metadata["citations"][0]["start"] == 5
    content = json.loads(fixture("whole.json"))["content"]
    del content[2]["citations"]  # null there, absent here
    assert sent_back(message) == content


def test_whole_answers_of_other_kinds() -> None:
    message, finish = message_of(fixture("whole-completion.json"), AnthropicDecoder, "application/json")
    assert (message.text, finish.reason, finish.raw_reason) == (" Once", "length", "max_tokens")
    _, finish = message_of(fixture("whole-error.json"), AnthropicDecoder, "application/json")
    assert isinstance(finish.error, ProviderError)
    assert (finish.error.code, finish.error.retryable, finish.error.request_id) == ("RATE_LIMIT", True, "req_9")
    _, finish = message_of(fixture("whole-other.json"), AnthropicDecoder, "application/json")
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "Not here" in finish.error.message) == ("PROTOCOL", True)
    _, finish = message_of(fixture("whole-no-list.json"), AnthropicDecoder, "application/json")
    assert isinstance(finish.error, WireError)


@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream", None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    _, finish = message_of(fixture("page.html"), AnthropicDecoder, content_type)
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "502 Bad Gateway" in finish.error.message) == ("PROTOCOL", True)


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.glob("*.sse")))
def test_cut_after_every_event(name: str) -> None:
    """F6: before the reason has come, a cut answer is an error, whatever the rest would have been."""
    events = fixture(name).split(b"\n\n")
    for count in range(len(events)):
        body = b"".join(event + b"\n\n" for event in events[:count])
        message, finish = message_of(body, AnthropicDecoder)
        if b'"stop_reason":"' not in body and b'"stop_reason": "' not in body:
            assert finish.error is not None
            assert finish.error.partial == message
            assert all(call.truncated for call in message.tool_calls)


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = message_of(body[:size], AnthropicDecoder)
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text
