"""Responses of Bedrock's ConverseStream: recorded ones, and hand-written ones for each quirk.

Recordings and fixtures that are decoded already (JSON lines) are put into binary messages again by an encoder of the
tests' own.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_integrations import frames
from tests.conftest import shared_data_folder
from tests.tools.dialects import headed, message
from tests.wire import FIXTURES, assembled, chunks_of, message_of

from unspool.contracts import ProviderDecoder, Request
from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Image, Message, Origin, ProviderPart, ReasoningPart, Replay, ToolCall, UserMessage
from unspool.providers.anthropic import AnthropicDecoder
from unspool.providers.bedrock import BedrockAdapter, BedrockDecoder
from unspool.stream import ResponseMachine
from unspool.stream.chunks import Chunk, Finish

FOLDER = shared_data_folder()
OURS = FIXTURES / "bedrock"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "bedrock"
    ]
    if FOLDER
    else []
)
EVENT_STREAM = "application/vnd.amazon.eventstream"


class Invoked:
    """Anthropic's own events, each as base64 in a message: what AWS's other call gives."""

    def __init__(self) -> None:
        self.inner = AnthropicDecoder()

    def feed(self, name: str, data: str) -> list[Chunk]:
        assert name == "chunk"
        return self.inner.feed("", base64.b64decode(json.loads(data)["bytes"]).decode())

    def decode(self, event: Any) -> list[Chunk]:
        return self.inner.decode(event)

    def finish(self) -> list[Chunk]:
        return self.inner.finish()


def decoder() -> BedrockDecoder:
    return BedrockDecoder("m")


def decoder_of(recording: dict[str, Any]) -> Any:
    return Invoked if "/invoke-" in recording["file"] else decoder


def messages_of(path: Path) -> list[bytes]:
    """The binary messages of a file, each for itself."""
    data = path.read_bytes()
    if path.suffix == ".jsonl" and path.parent != OURS:
        lines = [json.loads(line) for line in data.splitlines()]
        return [message(compact(line["payload"]), line["headers"][":event-type"]) for line in lines]
    if path.suffix == ".jsonl":
        return [of_line(json.loads(line)) for line in data.splitlines()]
    sizes = [int.from_bytes(data[at : at + 4]) for at in starts(data)]
    return [data[at : at + size] for at, size in zip(starts(data), sizes, strict=True)]


def starts(data: bytes) -> list[int]:
    at, found = 0, []
    while at < len(data):
        found.append(at)
        at += int.from_bytes(data[at : at + 4])
    return found


def of_line(line: dict[str, Any]) -> bytes:
    [(name, value)] = line.items()
    if name == "error":
        told = {":error-code": value["code"], ":error-message": value["message"], ":message-type": "error"}
        return headed(told, b"")
    return message(compact(value), name, "exception" if name.endswith("Exception") else "event")


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def fixture(name: str) -> bytes:
    path = OURS / name
    return b"".join(messages_of(path)) if path.suffix == ".jsonl" else path.read_bytes()


def read(body: bytes, made: Any = decoder, content_type: str | None = EVENT_STREAM) -> tuple[Message, Finish]:
    return message_of(body, made, content_type)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).name)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """All that the manifest says, which was worked out without our code."""
    messages = messages_of(shared_data / "wire" / recording["file"])
    facts = recording["expect"]
    assert len(messages) == facts["frames"]
    told, finish = read(b"".join(messages), decoder_of(recording))
    assert finish.error is None
    for name in ("text", "reasoning"):
        text, fact = getattr(told, name), facts.get(name, {"chars": 0, "utf8_bytes": 0})
        assert (len(text), len(text.encode())) == (fact["chars"], fact["utf8_bytes"])
        assert hashlib.sha256(text.encode()).hexdigest() == fact.get("sha256", hashlib.sha256(b"").hexdigest())
    assert [(call.id, call.name, call.arguments, call.args) for call in told.tool_calls] == [
        (call["id"], call["name"], call["arguments"], call["arguments_json"]) for call in facts["tool_calls"]
    ]
    assert told.raw_finish_reason == facts["finish_reason"]
    assert (told.usage.raw if told.usage else None) == facts["usage"]
    assert ("trace" in told.metadata) == facts.get("trace", False)
    assert len(told.metadata.get("citations", [])) == facts.get("citations", 0)
    signed = [part for part in told.parts if isinstance(part, ReasoningPart) and part.replay is not None]
    assert len(signed) == facts.get("thinking_signatures", 0)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).name)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle and after each of its messages but the last two."""
    messages = messages_of(shared_data / "wire" / recording["file"])
    told, finish = read(b"".join(messages[:-2])[:-7], decoder_of(recording))
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == told
    assert all(call.truncated for call in told.tool_calls)
    for count in range(0, len(messages) - 2, max(1, len(messages) // 12)):
        _, finish = read(b"".join(messages[:count]), decoder_of(recording))
        assert isinstance(finish.error, StreamTruncatedError)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) == 11


def test_recorded_messages_and_the_same_decoded_are_one(shared_data: Path) -> None:
    """What AWS framed, the encoder of the tests frames alike; events that an SDK has decoded give the same answer."""
    for name in ("converse-text", "converse-parallel-tool-calls"):
        folder = shared_data / "wire" / "bedrock"
        body = (folder / f"{name}.eventstream").read_bytes()
        again = b"".join(messages_of(folder / f"{name}.jsonl"))
        assert [frame["payload"] for frame in frames(again)] == [frame["payload"] for frame in frames(body)]
        events = [{frame["headers"][":event-type"]: frame["payload"]} for frame in frames(body)]
        decoded = chunks_of(ResponseMachine(decoder(), content_type=None), [events])
        assert [chunk.to_wire() for chunk in decoded] == [
            chunk.to_wire() for chunk in chunks_of(ResponseMachine(decoder(), content_type=None), [body])
        ]
        assert assembled(decoded) == read(again)[0]


RAW = {
    "inputTokens": 5,
    "outputTokens": 7,
    "totalTokens": 17,
    "cacheReadInputTokens": 2,
    "cacheWriteInputTokens": 3,
    "cacheDetails": [{"ttl": "5m", "inputTokens": 3}],
}
WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋"},
    "no-metadata": {"text": "ab", "usage": None},
    "no-start": {"text": "ab"},
    "after-metadata": {"text": "ab"},
    "empty-block": {"text": "ab"},
    "empty-start": {"text": "ab"},
    "unknown-events": {"text": "ab"},
    "interleaved": {"text": "ab", "calls": [("t1", "f", "{}")], "raw": "tool_use"},
    "thinking": {"reasoning": "Let me see.", "calls": [("t1", "f", '{"x":1}')], "raw": "tool_use"},  # F23
    "redacted-thinking": {"reasoning": "hm", "text": "Ok."},
    "unsigned-thinking": {"reasoning": "just a thought", "text": "Hi"},
    "parallel-tool-calls": {
        "text": "Both.",
        "calls": [("t_a", "f", '{"x":1}'), ("t_b", "g", '{"y": "é"}')],
        "raw": "tool_use",
    },
    "tool-no-arguments": {"calls": [("t_a", "now", ""), ("t_b", "then", "")], "raw": "tool_use"},  # S65
    "tool-end-turn": {"calls": [("t_a", "f", '{"x":1}')], "reason": "tool_calls"},
    "server-tools": {"text": "Cats purr"},
    "server-tool-broken-input": {"raw": "max_tokens", "reason": "length"},
    "image": {},
    "context-window": {"text": "long", "raw": "model_context_window_exceeded", "reason": "length"},
    "stop-sequence": {"text": "once", "raw": "stop_sequence"},
    "unknown-reason": {"text": "x", "raw": "sleepy"},
    "guardrail": {"text": "Sorry.", "raw": "guardrail_intervened", "reason": "content_filter"},
    "filtered": {"text": "No", "raw": "content_filtered", "reason": "content_filter"},
    "prompt-router": {"text": "x", "model": "anthropic.claude-x"},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    told, finish = read(fixture(f"{name}.jsonl"))
    assert finish.error is None
    assert (told.text, told.reasoning) == (expected.get("text", ""), expected.get("reasoning", ""))
    assert [(call.id, call.name, call.arguments) for call in told.tool_calls] == expected.get("calls", [])
    raw = expected.get("raw", "end_turn")
    assert told.raw_finish_reason == finish.raw_reason == raw
    assert told.finish_reason == expected.get("reason", "tool_calls" if raw == "tool_use" else "stop")
    assert (told.usage.raw if told.usage else None) == expected.get("usage", RAW)
    assert told.origin == Origin("bedrock", expected.get("model", "m"))


def sent_back(told: Message) -> list[dict[str, Any]]:
    """The blocks of the answer as they stand in the next request."""
    saved = Message.from_wire(json.loads(json.dumps(told.to_wire())))
    request = Request("m", [UserMessage("Hi"), saved])
    sent = BedrockAdapter("us-east-1").build(request, api_key=None, base_url="https://h")
    content: list[dict[str, Any]] = json.loads(sent.body)["messages"][1]["content"]
    return content


def test_reasoning_goes_back_as_it_came() -> None:
    """F23: signatures come in pieces; what was hidden stays hidden."""
    told, _ = read(fixture("thinking.jsonl"))
    assert sent_back(told) == [
        {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "U0lnTmF0"}}},
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"x": 1}}},
    ]
    told, _ = read(fixture("redacted-thinking.jsonl"))
    assert told.parts[0] == ReasoningPart(
        "", redacted=True, replay=Replay("bedrock", {"redactedContent": base64.b64encode(b"abcdefg").decode()})
    )
    assert sent_back(told) == [
        {"reasoningContent": {"redactedContent": "YWJjZGVmZw=="}},
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"text": "Ok."},
    ]
    told, _ = read(fixture("unsigned-thinking.jsonl"))
    assert sent_back(told) == [{"text": "Hi"}]


def test_blocks_of_the_provider() -> None:
    told, _ = read(fixture("server-tools.jsonl"))
    assert [part.kind for part in told.parts if isinstance(part, ProviderPart)] == [
        "server_tool_use",
        "nova_grounding_result",
    ]
    citation = {"location": {"web": {"url": "https://h/c", "domain": "h"}}, "title": "C"}
    assert sent_back(told) == [
        {
            "toolUse": {
                "toolUseId": "srv_1",
                "name": "nova_grounding",
                "type": "server_tool_use",
                "input": {"q": "cats"},
            }
        },
        {
            "toolResult": {
                "toolUseId": "srv_1",
                "type": "nova_grounding_result",
                "status": "success",
                "content": [{"json": {"hits": 2}}, {"text": "purr"}],
            }
        },
        {"text": "Cats "},
        {"citationsContent": {"content": [{"text": "purr"}], "citations": [citation]}},
    ]
    assert told.metadata["citations"] == [{"start": 5, "end": 9, "citation": citation}]
    assert told.tool_calls == ()


def test_input_of_a_server_tool_that_was_cut() -> None:
    """Sent back it would be refused."""
    told, _ = read(fixture("server-tool-broken-input.jsonl"))
    assert told.parts == ()


def test_image() -> None:
    told, _ = read(fixture("image.jsonl"))
    assert told.images == (Image(b"\x89PNG\r\n\x1a\n\0\0\0", media_type="image/png"),)


def test_usage_and_metadata() -> None:
    """Three kinds of input are counted apart there and together here."""
    told, _ = read(fixture("guardrail.jsonl"))
    usage = told.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (10, 7, 17)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (2, None)
    assert told.metadata == {
        "metrics": {"latencyMs": 12},
        "serviceTier": {"type": "default"},
        "trace": {"guardrail": {"actionReason": "Guardrail blocked."}},
    }
    told, _ = read(fixture("stop-sequence.jsonl"))
    assert told.metadata["additionalModelResponseFields"] == {"stop_sequence": "\n\n"}


def test_tool_call_cut_by_the_token_limit() -> None:
    """F37: the block is never ended there."""
    body = fixture("tool-cut-by-max-tokens.jsonl")
    told, finish = read(body)
    assert (finish.reason, finish.error) == ("length", None)
    assert [call.truncated for call in told.tool_calls] == [True]


KEPT: dict[str, Any] = {"text": "kept", "code": "PROTOCOL", "retryable": False}
FAULTS: dict[str, dict[str, Any]] = {
    "exception-first": {"code": "RATE_LIMIT", "says": "Too many requests"},
    "exception-after-text": {"text": "one two", "code": "PROVIDER", "says": "unexpected error", "status": 500},
    "exception-in-tool": {
        "text": "Hm.",
        "calls": [ToolCall("t_a", "f", '{"x":1}', True)],
        "code": "OVERLOADED",
        "says": "unable to process",
    },
    "exception-validation": {"code": "CONTEXT_WINDOW_EXCEEDED", "says": "too long", "retryable": False},
    "exception-internal": {"code": "PROVIDER", "says": "internalServerException"},
    "error-message": {"text": "half", "code": "PROVIDER", "says": "something broke"},
    "malformed-output": {"text": "half", "code": "PROVIDER", "says": "malformed", "raw": "malformed_model_output"},
    "malformed-tool-use": {
        "calls": [ToolCall("t_a", "f", '{"x":', True)],
        "code": "PROVIDER",
        "says": "malformed",
        "raw": "malformed_tool_use",
    },
    "cut": {"text": "one two", "code": "STREAM_TRUNCATED", "says": "ended"},  # F6
    "cut-between-blocks": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended"},
    "cut-in-tool": {"calls": [ToolCall("t_a", "f", '{"x":', True)], "code": "STREAM_TRUNCATED", "says": "ended"},
    "cut-in-thinking": {"reasoning": "hm", "code": "STREAM_TRUNCATED", "says": "ended"},
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "only-start": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "block-twice": {**KEPT, "says": "more of block 0, which is over"},
    "start-twice": {**KEPT, "says": "began block 0 twice"},
    "stop-twice": {**KEPT, "says": "ended block 0 twice"},
    "stop-while-open": {**KEPT, "says": "while block 0 was open", "raw": "end_turn"},
    "delta-of-other-kind": {**KEPT, "says": "'toolUse' in a block of 'text'"},
    "block-after-reason": {**KEPT, "says": "more of block 1, which is over", "raw": "end_turn"},
    "second-message": {**KEPT, "says": "another message inside the message"},
    "tool-same-id": {
        **KEPT,
        "calls": [ToolCall("t_a", "f", "{}", True)],
        "says": "the id 't_a'",
    },
    "tool-without-id": {**KEPT, "says": "a tool call without id or name"},
    "tool-without-start": {**KEPT, "says": "a tool call without id or name"},
    "no-index": {**KEPT, "says": "without its index"},
    "text-no-text": {**KEPT, "says": "'text' that is not text"},
    "not-an-object": {**KEPT, "says": "not an object"},
    "not-base64": {**KEPT, "says": "no base64"},
    "image-none": {**KEPT, "says": "an image that is none"},
    "image-error": {**KEPT, "code": "PROVIDER", "says": "no picture today"},
    **{
        f"arguments-{name}": {
            "calls": [ToolCall("t_a", "f", arguments, True)],
            "code": "TOOL_ARGUMENTS_INVALID",
            "says": says,
            "raw": "tool_use",
            "retryable": False,
        }
        for name, arguments, says in (
            ("twice-a-key", '{"x":1,"x":2}', "'f'"),
            ("no-object", "[1]", "no object"),
            ("incomplete", '{"x":1', "'f'"),
        )
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F24, F56: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    told, finish = read(fixture(f"{name}.jsonl"))
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    error = finish.error
    assert error is not None
    assert error.code == expected["code"]
    assert expected["says"] in error.message
    assert error.retryable == expected.get("retryable", True)
    assert error.partial == told
    assert (told.text, told.reasoning) == (expected.get("text", ""), expected.get("reasoning", ""))
    assert list(told.tool_calls) == expected.get("calls", [])


def test_thinking_that_was_cut_has_no_replay() -> None:
    """Half a signature is refused."""
    told, _ = read(fixture("cut-in-thinking.jsonl"))
    assert told.parts == (ReasoningPart("hm"),)


def test_every_bit_is_held_to_its_checksum() -> None:
    """One wrong bit anywhere is a fault, and no text that was not said is shown."""
    body = fixture("text.jsonl")
    for at in range(0, len(body), 3):
        wrong = body[:at] + bytes([body[at] ^ 0x10]) + body[at + 1 :]
        machine = ResponseMachine(decoder(), content_type=EVENT_STREAM)
        chunks = chunks_of(machine, [wrong])
        finish = chunks[-1]
        assert isinstance(finish, Finish)
        assert "Grüße, мир 👋".startswith(assembled(chunks).text)
        assert finish.error is not None or at >= len(body) - 1
        assert finish.error is None or finish.error.code in ("PROTOCOL", "STREAM_TRUNCATED", "BODY_TOO_LARGE")


def test_payload_that_is_no_json() -> None:
    for payload in (b"oops", b"{\xff", b"[" * 600, b"{"):
        told, finish = read(fixture("cut.jsonl") + message(payload) + fixture("text.jsonl"))
        assert isinstance(finish.error, WireError)
        assert (finish.error.code, told.text) == ("PROTOCOL", "one two")


@pytest.mark.parametrize("content_type", ["application/json", EVENT_STREAM, None])
def test_whole_answer(content_type: str | None) -> None:
    """What Converse gives, which does not stream."""
    told, finish = read(fixture("whole.json"), content_type=content_type)
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "tool_use", None)
    assert (told.text, told.reasoning) == ("Whole!", "why")
    assert told.tool_calls == (ToolCall("t_a", "f", '{"x":1}'), ToolCall("t_b", "now", ""))
    assert told.usage is not None
    assert told.usage.raw == RAW
    assert told.metadata["citations"][0]["start"] == 5
    content = json.loads(fixture("whole.json"))["output"]["message"]["content"]
    assert sent_back(told) == content[:-1]
    assert [image.base64 for image in told.images] == [content[-1]["image"]["source"]["bytes"]]


def test_whole_answers_of_other_kinds() -> None:
    _, finish = read(fixture("whole-error.json"))
    assert isinstance(finish.error, ProviderError)
    assert (finish.error.code, finish.error.retryable) == ("RATE_LIMIT", True)
    _, finish = read(fixture("whole-other.json"))
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "Not here" in finish.error.message) == ("PROTOCOL", True)
    _, finish = read(fixture("whole-no-list.json"))
    assert isinstance(finish.error, WireError)
    told, finish = read(fixture("whole-without-reason.json"))
    assert (finish.error and finish.error.code, told.text) == ("STREAM_TRUNCATED", "x")


@pytest.mark.parametrize("content_type", ["text/html", EVENT_STREAM, None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    _, finish = read(fixture("page.html"), content_type=content_type)
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "502 Bad Gateway" in finish.error.message) == ("PROTOCOL", True)


def test_events_in_other_frames() -> None:
    """Proxies that translate the binary frames send the same events as lines or server-sent events."""
    lines = (OURS / "thinking.jsonl").read_bytes()
    events = b"".join(b"data: %s\n\n" % line for line in lines.splitlines())
    expected, _ = read(fixture("thinking.jsonl"))
    for body in (lines, events):
        assert read(body, content_type=None)[0] == expected


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.glob("*.jsonl")))
def test_cut_after_every_message(name: str) -> None:
    """F6: before the reason has come, a cut answer is an error, whatever the rest would have been."""
    messages = messages_of(OURS / name)
    for count in range(len(messages)):
        body = b"".join(messages[:count])
        told, finish = read(body)
        if b"stopReason" not in body:
            assert finish.error is not None
            assert finish.error.partial == told
            assert all(call.truncated for call in told.tool_calls)


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        told, _ = read(body[:size])
        assert told.text.startswith(longest)
        longest = told.text


def test_decoder_is_one() -> None:
    made: ProviderDecoder = decoder()
    assert made.finish()[-1].type == "finish"
    assert made.finish() == made.decode({"messageStart": {}}) == made.feed("messageStart", "{}") == []
