"""Responses of Ollama's own API: recorded ones, and hand-written ones for each quirk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, message_of

from unspool.contracts import ProviderDecoder
from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Image, Message, Origin, ToolCall
from unspool.providers.ollama import OllamaDecoder
from unspool.stream.chunks import Finish

FOLDER = shared_data_folder()
OURS = FIXTURES / "ollama"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "ollama"
    ]
    if FOLDER
    else []
)
NDJSON = "application/x-ndjson"


def fixture(name: str) -> bytes:
    return (OURS / name).read_bytes()


def read(body: bytes, content_type: str | None = NDJSON) -> tuple[Message, Finish]:
    return message_of(body, OllamaDecoder, content_type)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """All that the manifest says, which was worked out without our code."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    assert len(body.splitlines()) == facts["lines"]
    message, finish = read(body)
    assert finish.error is None
    text, fact = message.text, facts["text"]
    assert (len(text), len(text.encode()), message.reasoning) == (fact["chars"], fact["utf8_bytes"], "")
    assert hashlib.sha256(text.encode()).hexdigest() == fact["sha256"]
    assert message.tool_calls == ()
    assert message.raw_finish_reason == facts["finish_reason"]
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    assert message.origin == Origin("ollama-native", recording["model"])


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle and after each of its lines."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = read(body[: len(body) // 2])
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    lines = body.splitlines(keepends=True)
    for count in range(0, len(lines) - 1, max(1, len(lines) // 12)):
        _, finish = read(b"".join(lines[:count]))
        assert isinstance(finish.error, StreamTruncatedError)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) == 2


RAW = {"prompt_eval_count": 5, "eval_count": 7}
TIMES = {"total_duration": 9, "load_duration": 1, "prompt_eval_duration": 2, "eval_duration": 3}
WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋"},
    "crlf-blank-lines": {"text": "xy"},
    "unended-last-line": {"text": "whole"},
    "after-done": {"text": "ab"},
    "one-line": {"text": "ab"},
    "thinking": {"reasoning": "Let me see.", "text": "Yes."},
    "thinking-and-text": {"reasoning": "tu", "text": "ab"},
    "tool-calls": {"text": "Both.", "calls": [("call_1", "f", '{"x":1}'), ("call_2", "g", '{"y":"é"}')]},
    "tool-calls-without-ids": {"calls": [("call_0", "f", '{"x":1.0}'), ("call_1", "g", "{}")]},
    "tool-calls-as-text": {"calls": [("call_0", "f", '{"x": 1}')]},
    "tool-null": {"text": "x"},
    "length": {"text": "long", "raw": "length", "reason": "length"},
    "unknown-reason": {"text": "x", "raw": "sleepy"},
    "no-reason": {"text": "x", "raw": None, "usage": None, "metadata": {}},
    "load": {"raw": "load", "usage": None, "metadata": {}},
    "no-counts": {
        "text": "x",
        "usage": {"eval_count": 7},
        "metadata": {"remote_model": "big", "remote_host": "https://ollama.com"},
    },
    "image": {"text": "See:"},
    "generate": {"reasoning": "t", "text": "ab"},
    "split-emoji": {"text": "a😀b\ufffd", "usage": None, "metadata": {}},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = read(fixture(f"{name}.ndjson"))
    assert finish.error is None
    assert (message.text, message.reasoning) == (expected.get("text", ""), expected.get("reasoning", ""))
    calls = expected.get("calls", [])
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == calls
    raw = expected.get("raw", "stop")
    assert message.raw_finish_reason == finish.raw_reason == raw
    assert message.finish_reason == expected.get("reason", "tool_calls" if calls else "stop")
    assert (message.usage.raw if message.usage else None) == expected.get("usage", RAW)
    assert message.metadata == expected.get("metadata", TIMES)
    assert message.origin == Origin("ollama-native", "m")


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/html", None])
def test_lines_are_known_by_themselves(content_type: str | None) -> None:
    """What servers say in `content-type` is often wrong."""
    assert read(fixture("text.ndjson"), content_type)[0] == read(fixture("text.ndjson"))[0]


def test_usage() -> None:
    usage = read(fixture("text.ndjson"))[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (5, 7, 12)


def test_image() -> None:
    message, _ = read(fixture("image.ndjson"))
    assert message.images == (Image(b"\x89PNG\r\n\x1a\n\0\0\0"),)


KEPT: dict[str, Any] = {"text": "kept", "code": "PROTOCOL"}
FAULTS: dict[str, dict[str, Any]] = {
    "error-first": {"code": "PROVIDER", "says": "unexpectedly stopped", "retryable": True},
    "error-after-text": {"text": "one two", "code": "PROVIDER", "says": "unexpected EOF", "retryable": True},
    "error-busy": {"text": "x", "code": "OVERLOADED", "says": "server busy", "retryable": True},
    "error-status": {"text": "x", "code": "RATE_LIMIT", "says": "upstream is slow", "retryable": True},
    "error-context": {"text": "x", "code": "CONTEXT_WINDOW_EXCEEDED", "says": "exceeds"},
    "cut": {"text": "one two", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},  # F6
    "cut-in-line": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "cut-after-calls": {
        "calls": [ToolCall("call_0", "f", '{"x":1}', True)],
        "code": "STREAM_TRUNCATED",
        "says": "ended",
        "retryable": True,
    },
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "only-blank": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "not-json": {**KEPT, "says": "oops"},
    "deep": {**KEPT, "says": "[[["},
    "not-an-object": {**KEPT, "says": "not an object"},
    "content-no-text": {**KEPT, "says": "'content' that is not text"},
    "calls-no-list": {**KEPT, "says": "not a list"},
    "call-without-name": {**KEPT, "says": "without a name"},
    "call-same-id": {**KEPT, "calls": [ToolCall("a", "f", "{}", True)], "says": "the id 'a'"},
    "image-none": {**KEPT, "says": "an image that is none"},
    "page-inside": {**KEPT, "says": "502 Bad Gateway"},
    "arguments-no-object": {
        "calls": [ToolCall("call_0", "f", "[1]", True)],
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "no object",
        "raw": "stop",
    },
    "arguments-no-json": {
        "calls": [ToolCall("call_0", "f", '{"x":1', True)],
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "'f'",
        "raw": "stop",
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F24, F56: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    message, finish = read(fixture(f"{name}.ndjson"))
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    error = finish.error
    assert error is not None
    assert error.code == expected["code"]
    assert expected["says"] in error.message
    assert error.retryable == expected.get("retryable", False)
    assert error.partial == message
    assert message.text == expected.get("text", "")
    assert list(message.tool_calls) == expected.get("calls", [])


@pytest.mark.parametrize("name", ["whole.json", "whole-indented.json"])
@pytest.mark.parametrize("content_type", ["application/json", NDJSON, None])
def test_server_that_does_not_stream(name: str, content_type: str | None) -> None:
    message, finish = read(fixture(name), content_type)
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "stop", None)
    assert (message.text, message.reasoning) == ("Whole!", "why")
    assert message.tool_calls == (ToolCall("call_0", "f", '{"x":1}'),)
    assert message.usage is not None
    assert message.usage.raw == RAW


def test_whole_answers_of_other_kinds() -> None:
    _, finish = read(fixture("whole-error.json"))
    assert isinstance(finish.error, ProviderError)
    assert (finish.error.code, finish.error.retryable) == ("OVERLOADED", True)
    _, finish = read(fixture("whole-other.json"))
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "status" in finish.error.message) == ("PROTOCOL", True)


@pytest.mark.parametrize("content_type", ["text/html", NDJSON, None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    _, finish = read(fixture("page.html"), content_type)
    assert isinstance(finish.error, WireError)
    assert (finish.error.code, "502 Bad Gateway" in finish.error.message) == ("PROTOCOL", True)


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.glob("*.ndjson")))
def test_cut_after_every_line(name: str) -> None:
    """F6: before the last line has come, a cut answer is an error, whatever the rest would have been."""
    lines = fixture(name).splitlines(keepends=True)
    for count in range(len(lines)):
        body = b"".join(lines[:count])
        message, finish = read(body)
        if b'"done":true' not in body:
            assert finish.error is not None
            assert finish.error.partial == message
            assert all(call.truncated for call in message.tool_calls)


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = read(body[:size])
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text


def test_decoder_is_one() -> None:
    made: ProviderDecoder = OllamaDecoder()
    assert made.finish()[-1].type == "finish"
    assert made.finish() == made.decode({"done": True}) == made.feed("message", "{}") == []
