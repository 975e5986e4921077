"""Answers of OpenAI's Responses API and compatible servers: recorded ones, and hand-written ones for each quirk.

Expected: the manifest of the recordings, worked out without our code. What OpenAI's own SDK makes of the same bytes is
in test_sdk_openai_responses.py.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, chunks_of, message_of

from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import (
    Message,
    ProviderPart,
    ReasoningPart,
)
from unspool.providers.openai_responses import OpenAIResponsesDecoder
from unspool.stream import ResponseMachine
from unspool.stream.chunks import BlockStart, ToolArgumentsDelta

FOLDER = shared_data_folder()
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "openai-responses"
    ]
    if FOLDER
    else []
)
HERE = FIXTURES / "openai_responses"


def body_of(name: str) -> bytes:
    return (HERE / name).read_bytes()


def said(facts: dict[str, Any], text: str) -> None:
    assert hashlib.sha256(text.encode()).hexdigest() == facts["sha256"], text[:200]
    assert len(text) == facts["chars"]
    assert len(text.encode()) == facts["utf8_bytes"]


def reasoning_of(message: Message, part: str) -> str:
    parts = [one for one in message.parts if isinstance(one, ReasoningPart) and one.replay is not None]
    return "".join(one.text for one in parts if one.replay and one.replay.data.get("part") == part)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, OpenAIResponsesDecoder)
    said(facts["text"], message.text)
    nothing = {"sha256": hashlib.sha256(b"").hexdigest(), "chars": 0, "utf8_bytes": 0}
    said(facts.get("reasoning", nothing), reasoning_of(message, "reasoning_text"))
    said(facts.get("reasoning_summary", nothing), reasoning_of(message, "summary_text"))
    said(facts.get("refusal", nothing), message.refusal)
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [
        (call["id"], call["name"], call["arguments"]) for call in facts["tool_calls"]
    ]
    assert [call.args for call in message.tool_calls] == [call["arguments_json"] for call in facts["tool_calls"]]
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    assert len(message.metadata.get("annotations", ())) == facts.get("annotations", 0)
    if "model" in recording:
        assert message.origin is not None
        assert (message.origin.model or "").startswith(recording["model"])
    errors = facts.get("errors", [])
    if errors:
        # The stream is over with the event `error`; the `response.failed` after it says the same again.
        assert isinstance(finish.error, ProviderError)
        assert finish.error.raw == errors[0]
        assert errors[0]["message"] in finish.error.message
        assert finish.raw_reason == "error"
        assert finish.error.partial == message
    else:
        assert finish.error is None
        assert finish.raw_reason == facts.get("incomplete_reason", facts["status"])
        expected = {"completed": "tool_calls" if facts["tool_calls"] else "stop", "incomplete": "length"}
        assert finish.reason == expected[facts["status"]]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle of its events."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = message_of(body[: len(body) // 2], OpenAIResponsesDecoder)
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    assert all(call.truncated for call in message.tool_calls)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) >= 19


USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 1},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 8,
}
ULM = ("call_1", "weather", '{"city":"Ulm"}')

WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋"},
    "done-sentinel": {"text": "Grüße, мир 👋"},
    "crlf-comments-bom": {"text": "Grüße, мир 👋"},  # F3, F4, F5
    "no-type": {"text": "Grüße, мир 👋"},
    "split-emoji": {"text": "a😀", "calls": [("call_1", "say", '{"x":"😀"}')]},
    "text-in-done-events": {"text": "All at once."},
    "lost-deltas": {"text": "All at once."},
    "parts-of-one-message": {"text": "One.Two.", "refusal": "No."},
    "not-announced": {"text": "No preface."},
    "refusal": {"refusal": "I cannot help."},
    "tool-call": {"calls": [ULM]},
    "tool-call-in-item-done": {"calls": [ULM]},
    "tool-call-in-arguments-done": {"calls": [ULM]},
    "tool-call-without-arguments": {"calls": [("call_1", "now", "")]},  # S65
    "interleaved-tool-calls": {"text": "Let me look.", "calls": [ULM, ("call_2", "weather", '{"city":"Bonn"}')]},
    "output-not-shown": {"calls": [ULM]},
    "closing-event-only": {"text": "Whole.", "calls": [ULM]},
    "encrypted-reasoning": {"calls": [ULM]},
    "reasoning-summary": {"reasoning": "**Looking**\n\nFirst.Then.", "text": "Sunny."},
    "raw-reasoning": {"reasoning": "We count: 1, 2.", "text": "1 2"},
    "llama-cpp": {
        "reasoning": "Hmm.",
        "text": "I ask.",
        "calls": [("fc_a", "weather", '{"city":"Ulm"}'), ("fc_b", "now", "{}")],
        "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    },
    "web-search": {"text": "Tall.", "kinds": ["web_search_call"]},
    "provider-items": {"text": "Done.", "kinds": ["code_interpreter_call", "mcp_call"]},
    "unknown-item": {"text": "Done.", "kinds": ["text"]},
    "image": {},
    "image-unreadable": {"kinds": ["image_generation_call"]},
    "content-filter": {"text": "half", "reason": "content_filter", "raw": "content_filter"},
    "completed-but-incomplete": {"text": "half", "reason": "length", "raw": "max_output_tokens"},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = message_of(body_of(f"{name}.sse"), OpenAIResponsesDecoder)
    assert finish.error is None
    assert (message.text, message.reasoning, message.refusal) == tuple(
        expected.get(part, "") for part in ("text", "reasoning", "refusal")
    )
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == expected.get("calls", [])
    assert [part.kind for part in message.parts if isinstance(part, ProviderPart)] == expected.get("kinds", [])
    calls = "tool_calls" if expected.get("calls") else "stop"
    assert message.finish_reason == finish.reason == expected.get("reason", calls)
    assert finish.raw_reason == expected.get("raw", "completed")
    assert message.usage is not None
    assert message.usage.raw == expected.get("usage", USAGE)
    assert message.origin is not None
    assert (message.origin.adapter, message.origin.response_id) == ("openai-responses", "resp_1")
    assert not any(call.truncated for call in message.tool_calls)


FAULTS: dict[str, dict[str, Any]] = {
    "error-event": {"text": "half", "code": "OVERLOADED", "says": "overloaded", "retryable": True, "raw": "error"},
    "error-event-flat": {"text": "half", "code": "RATE_LIMIT", "says": "Slow", "retryable": True, "raw": "error"},
    "error-event-text": {"code": "PROVIDER", "says": "upstream went away", "raw": "error"},
    "error-object": {"text": "half", "code": "PROVIDER", "says": "unavailable", "retryable": True},  # F38
    "failed": {"text": "half", "code": "CONTEXT_WINDOW_EXCEEDED", "says": "context window", "raw": "failed"},
    "failed-without-error": {"text": "half", "code": "PROVIDER", "says": "failed", "retryable": True, "raw": "failed"},
    "incomplete-unknown": {"text": "half", "code": "PROVIDER", "says": "steered", "retryable": True, "raw": "steered"},
    "cut": {"text": "half", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},  # F6
    "cut-before-the-end": {"text": "half", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "cut-in-event": {"text": "half", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "cut-in-call": {"call": '{"city":"Ulm"', "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "done-without-closing-event": {"text": "half", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "only-created": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "not-json": {"text": "half", "code": "PROTOCOL", "says": "oops"},
    "nothing-shown": {"code": "PROTOCOL", "says": "showed nothing", "raw": "completed"},
    "arguments-changed-at-done": {"call": ULM[2], "code": "PROTOCOL", "says": "changed its arguments"},
    "arguments-changed-at-item-done": {"call": ULM[2], "code": "PROTOCOL", "says": "changed its arguments"},
    "arguments-changed-at-end": {"call": ULM[2], "code": "PROTOCOL", "says": "changed its arg", "raw": "completed"},
    "call-missing-at-end": {"call": ULM[2], "code": "PROTOCOL", "says": "missing", "raw": "completed"},
    "call-at-another-place": {"call": ULM[2], "code": "PROTOCOL", "says": "missing", "raw": "completed"},
    "call-not-completed": {"call": ULM[2], "code": "PROTOCOL", "says": "not completed", "raw": "completed"},
    "call-not-streamed": {"text": "half", "code": "PROTOCOL", "says": "not streamed", "raw": "completed"},
    "call-id-changed": {"call": ULM[2], "code": "PROTOCOL", "says": "changed its call_id"},
    "call-name-changed": {"call": ULM[2], "code": "PROTOCOL", "says": "changed its name"},
    "call-became-text": {"call": ULM[2], "code": "PROTOCOL", "says": "changed"},
    "call-without-name": {"code": "PROTOCOL", "says": "without a name"},
    "item-id-changed": {"call": '{"city":"Ulm"', "code": "PROTOCOL", "says": "changed"},
    "two-items-at-one-place": {"call": ULM[2], "code": "PROTOCOL", "says": "two items"},
    "two-calls-with-one-id": {"call": ULM[2], "code": "PROTOCOL", "says": "'call_1'"},
    "delta-after-arguments-done": {"call": ULM[2], "code": "PROTOCOL", "says": "after its end"},
    "delta-before-call": {"code": "PROTOCOL", "says": "not begun"},
    "arguments-not-json": {
        "call": '{"city":',
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "'weather'",
        "raw": "completed",
        "retryable": None,
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F24, F38, F56: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    message, finish = message_of(body_of(f"{name}.sse"), OpenAIResponsesDecoder)
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    assert finish.error is not None
    assert finish.error.code == expected["code"]
    assert expected["says"] in finish.error.message
    if expected.get("retryable", False) is not None:
        assert finish.error.retryable == expected.get("retryable", False)
    assert finish.error.partial == message
    assert message.text == expected.get("text", "")
    assert [(call.arguments, call.truncated) for call in message.tool_calls] == (
        [(expected["call"], True)] if "call" in expected else []
    )


def test_waiting_time_is_read() -> None:
    """F56."""
    _, finish = message_of(body_of("error-event-flat.sse"), OpenAIResponsesDecoder)
    assert finish.error is not None
    assert finish.error.retry_after_s == 1.5


def test_usage_of_a_failed_response_is_kept() -> None:
    message, _ = message_of(body_of("failed.sse"), OpenAIResponsesDecoder)
    assert message.usage is not None
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 5, 8)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (1, 2)


def test_tool_call_cut_by_the_token_limit() -> None:
    """F37: the call is marked, its arguments are kept as they came, and are not repaired."""
    for name in ("cut-by-limit-in-call.sse", "whole-incomplete.json"):
        message, finish = message_of(body_of(name), OpenAIResponsesDecoder)
        assert (finish.reason, finish.raw_reason, finish.error) == ("length", "max_output_tokens", None)
        [call] = message.tool_calls
        assert (call.name, call.arguments, call.truncated) == ("write", '{"path":"a.md","content":"abc', True)


def test_calls_interleave_and_no_delta_is_made_up() -> None:
    machine = ResponseMachine(OpenAIResponsesDecoder(), content_type="text/event-stream")
    chunks = chunks_of(machine, [body_of("interleaved-tool-calls.sse")])
    deltas = [(chunk.index, chunk.text) for chunk in chunks if isinstance(chunk, ToolArgumentsDelta)]
    assert deltas == [(1, '{"city":'), (2, '{"city'), (1, '"Ulm"'), (1, "}"), (2, '":"Bonn"}')]
    for name in ("tool-call-in-item-done", "tool-call-in-arguments-done"):
        machine = ResponseMachine(OpenAIResponsesDecoder(), content_type="text/event-stream")
        chunks = chunks_of(machine, [body_of(f"{name}.sse")])
        assert [chunk.text for chunk in chunks if isinstance(chunk, ToolArgumentsDelta)] == [ULM[2]]
        [start] = [chunk for chunk in chunks if isinstance(chunk, BlockStart)]
        assert (start.kind, start.id, start.name) == ("tool_call", "call_1", "weather")


def test_closing_event_without_output() -> None:
    """By setting: a server's closing event may show an empty output."""
    lenient = partial(OpenAIResponsesDecoder, final_output=False)
    message, finish = message_of(body_of("call-missing-at-end.sse"), lenient)
    assert (finish.reason, finish.error) == ("tool_calls", None)
    assert [call.arguments for call in message.tool_calls] == [ULM[2]]
    _, finish = message_of(body_of("call-not-completed.sse"), lenient)
    assert finish.error is not None


def test_picture() -> None:
    message, _ = message_of(body_of("image.sse"), OpenAIResponsesDecoder)
    [picture] = message.images
    assert picture.media_type == "image/png"
    assert picture.data is not None
    assert picture.data.startswith(b"\x89PNG")


def test_sources_are_kept_beside_the_text() -> None:
    for name in ("web-search.sse", "whole.json"):
        message, _ = message_of(body_of(name), OpenAIResponsesDecoder)
        [source] = message.metadata["annotations"]
        assert source["annotation"]["url"] == "https://example.org/t"
        assert (source["output_index"], source["content_index"]) == (1, 0)


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", None])
def test_server_that_does_not_stream(content_type: str | None) -> None:
    message, finish = message_of(body_of("whole.json"), OpenAIResponsesDecoder, content_type)
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "completed", None)
    assert (message.text, message.reasoning) == ("Whole", "Then.")
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [ULM]
    assert message.usage is not None
    assert message.usage.raw == USAGE


@pytest.mark.parametrize(
    ("name", "code", "raw"),
    [
        ("whole-failed", "PROVIDER", "failed"),
        ("whole-cancelled", "PROVIDER", "cancelled"),
        ("whole-queued", "PROTOCOL", "queued"),
        ("whole-error", "RATE_LIMIT", None),
        ("whole-other", "PROTOCOL", None),
    ],
)
def test_whole_body_that_is_no_answer(name: str, code: str, raw: str | None) -> None:
    _, finish = message_of(body_of(f"{name}.json"), OpenAIResponsesDecoder, "application/json")
    assert (finish.reason, finish.raw_reason) == ("error", raw)
    assert finish.error is not None
    assert finish.error.code == code


@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream", None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    _, finish = message_of(body_of("page.html"), OpenAIResponsesDecoder, content_type)
    assert isinstance(finish.error, WireError)
    assert "502 Bad Gateway" in finish.error.message


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: cut after each event and in the middle of it, there is one terminal chunk, and text only grows."""
    body = body_of(name)
    pieces = body.split(b"\n\n") if name.endswith(".sse") else [body]
    longest = ""
    at = 0
    for piece in pieces:
        for size in (at, at + len(piece) // 2, at + len(piece)):
            message, finish = message_of(body[:size], OpenAIResponsesDecoder)
            assert message.text.startswith(longest.removesuffix("\ufffd"))
            longest = message.text
            if b"response.completed" not in body[:size] and name.endswith(".sse"):
                assert finish.reason in ("error", "length", "content_filter")
        at += len(piece) + 2
