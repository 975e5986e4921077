"""Responses of OpenAI chat completions and compatible servers: recorded ones, and hand-written ones for each quirk."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, message_of

from unspool.contracts import Request
from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Message, Origin, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder
from unspool.providers.profiles import openrouter

FOLDER = shared_data_folder()
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "openai-chat"
    ]
    if FOLDER
    else []
)


def told(message: Message) -> dict[str, Any]:
    return {
        "text": message.text,
        "reasoning": message.reasoning,
        "refusal": message.refusal,
        "tool_calls": [(call.id, call.name, call.arguments) for call in message.tool_calls],
        "finish_reason": message.raw_finish_reason,
    }


def check_facts(message: Message, facts: dict[str, Any]) -> None:
    """Compare with what the manifest says, which was worked out without our code."""
    for name in ("text", "reasoning", "refusal"):
        if name in facts:
            text = getattr(message, name)
            assert hashlib.sha256(text.encode()).hexdigest() == facts[name]["sha256"], f"{name}: {text[:200]!r}"
            assert len(text) == facts[name]["chars"]
            assert len(text.encode()) == facts[name]["utf8_bytes"]
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [
        (call["id"], call["name"], call["arguments"]) for call in facts["tool_calls"]
    ]
    assert [call.args for call in message.tool_calls] == [call["arguments_json"] for call in facts["tool_calls"]]
    assert message.raw_finish_reason == facts["finish_reason"]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, OpenAIChatDecoder)
    check_facts(message, facts)
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    errors = facts.get("errors", [])
    if errors:
        assert isinstance(finish.error, ProviderError)
        assert [finish.error.raw] == errors
        assert errors[0]["message"] in finish.error.message
        assert finish.error.partial == message
    else:
        assert finish.error is None
    for index, choice in facts.get("choices", {}).items():
        check_facts(message_of(body, partial(OpenAIChatDecoder, choice=int(index)))[0], choice)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle of its events."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = message_of(body[: len(body) // 2], OpenAIChatDecoder)
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    assert all(call.truncated for call in message.tool_calls)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) >= 27


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}

WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋", "raw": "stop", "usage": USAGE},
    "crlf-comments-bom": {"text": "xy", "raw": "stop"},  # F3, F4, F5
    "rewrapped-comment": {"text": "ab", "raw": "stop"},  # F5
    "content-with-finish": {
        "text": "The end.",
        "calls": [("c1", "f", '{"x":1}')],
        "raw": "tool_calls",
        "reason": "tool_calls",
    },  # F30
    "content-after-finish": {"text": "Hi!", "raw": "stop", "usage": USAGE},  # F29
    "no-delta": {"text": "ab", "raw": "stop"},  # F25
    "refusal": {"refusal": "I cannot.", "raw": "stop"},
    "reasoning-fields": {"reasoning": "one two three four five", "text": "Answer", "raw": "stop"},  # F33
    "content-list": {"reasoning": "hm", "text": "AB", "refusal": "no", "raw": "stop"},
    "interleaved-reasoning": {"reasoning": "r1r2", "text": "t1t2", "raw": "stop"},
    "parallel-tool-calls": {"calls": [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')], "raw": "tool_calls"},
    "tool-index-gap": {"text": "ok", "calls": [("a", "f", '{"x":1}')], "raw": "tool_calls"},
    "tool-without-index": {"calls": [("a", "f", '{"x":1}'), ("b", "g", "{}")], "raw": "tool_calls"},  # F26
    "tool-mixed-index": {
        "calls": [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}'), ("c", "h", "{}")],
        "raw": "tool_calls",
    },  # F26
    "tool-same-index-zero": {"calls": [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}'), ("c", "g", "")], "raw": "stop"},
    "tool-repeated-id": {"calls": [("c1", "f", '{"q":1}')], "raw": "tool_calls"},  # F27
    "tool-changing-id": {"calls": [("A", "f", '{"q":1}')], "raw": "tool_calls"},  # F28
    "tool-object-arguments": {
        "calls": [("call_0", "f", '{"q":["é",1]}'), ("call_1", "f", '{"q":[]}')],
        "raw": "stop",
    },
    "tool-nulls": {"calls": [("a", "f", "{}")], "raw": "tool_calls"},
    "tool-no-arguments": {"calls": [("a", "now", ""), ("b", "", "")], "raw": "tool_calls"},  # S65
    "forced-tool-finish-stop": {"calls": [("a", "f", "{}")], "raw": "stop", "reason": "tool_calls"},
    "legacy-function-call": {"calls": [("call_0", "f", '{"x":1}')], "raw": "function_call", "reason": "tool_calls"},
    "legacy-completions": {"text": "once", "raw": "length", "reason": "length"},
    "content-filter": {"text": "half", "raw": "content_filter", "reason": "content_filter"},
    "no-done": {"text": "one", "raw": "stop", "usage": USAGE},
    "done-without-reason": {"text": "one", "raw": None},
    "unended-last-event": {"text": "one two", "raw": "stop"},
    "two-choices": {"text": "a", "raw": "stop", "usage": USAGE},
    "true-deltas": {"text": "hahaha", "raw": "stop"},  # F39, the control
    "reasoning-details": {"reasoning": "Let me see.", "calls": [("c1", "f", "{}")], "raw": "tool_calls"},  # F23, F33
    "split-emoji": {"text": "a😀b\ufffd", "raw": "stop"},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = message_of((FIXTURES / "openai_chat" / f"{name}.sse").read_bytes(), OpenAIChatDecoder)
    assert finish.error is None
    assert told(message) == {
        "text": expected.get("text", ""),
        "reasoning": expected.get("reasoning", ""),
        "refusal": expected.get("refusal", ""),
        "tool_calls": expected.get("calls", []),
        "finish_reason": expected["raw"],
    }
    calls = "tool_calls" if expected.get("calls") else "stop"
    assert message.finish_reason == finish.reason == expected.get("reason", calls)
    assert (message.usage and message.usage.raw) == expected.get("usage")
    assert not any(call.truncated for call in message.tool_calls)


FAULTS: dict[str, dict[str, Any]] = {
    "error-object": {"code": "PROVIDER", "says": "provider_unavailable", "retryable": True},  # F38
    "error-after-text": {"text": "half", "code": "RATE_LIMIT", "says": "Slow down", "retryable": True, "after": 1.5},
    "error-event": {"text": "half", "code": "INVALID_REQUEST", "says": "bad tool", "retryable": False},
    "error-event-text": {"code": "PROVIDER", "says": "upstream went away", "retryable": False},
    "error-string": {"code": "PROVIDER", "says": "model exploded", "retryable": False},
    "error-flat": {"code": "CONTEXT_WINDOW_EXCEEDED", "says": "8 tokens", "retryable": False},
    "finish-error": {"text": "half", "raw": "error", "code": "PROVIDER", "says": "error", "retryable": True},
    "cut": {"text": "one two", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},  # F6
    "cut-in-event": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "cut-in-tool": {"calls": [ToolCall("a", "f", '{"x":', True)], "code": "STREAM_TRUNCATED", "says": "ended"},
    "tool-arguments-invalid": {
        "text": "ok",
        "calls": [ToolCall("a", "f", "[1]", True)],
        "raw": "tool_calls",
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "no object",
        "retryable": False,
    },
    "tool-arguments-duplicate-key": {
        "calls": [ToolCall("a", "f", '{"x":1,"x":2}', True)],
        "raw": "tool_calls",
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "f",
        "retryable": False,
    },
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "only-comments": {"code": "STREAM_TRUNCATED", "says": "ended", "retryable": True},
    "not-json": {"text": "kept", "code": "PROTOCOL", "says": "oops", "retryable": False},
    "deep": {"text": "kept", "code": "PROTOCOL", "says": "[[[", "retryable": False},
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F24, F38: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    message, finish = message_of((FIXTURES / "openai_chat" / f"{name}.sse").read_bytes(), OpenAIChatDecoder)
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    assert finish.error is not None
    assert finish.error.code == expected["code"]
    assert expected["says"] in finish.error.message
    assert finish.error.retryable == expected.get("retryable", True)
    assert finish.error.retry_after_s == expected.get("after")
    assert finish.error.partial == message
    assert message.text == expected.get("text", "")
    assert list(message.tool_calls) == expected.get("calls", [])


def test_usage_beside_an_error_is_kept() -> None:
    """F38: the last chunk of an aggregator may carry both."""
    message, _ = message_of((FIXTURES / "openai_chat" / "error-after-text.sse").read_bytes(), OpenAIChatDecoder)
    assert message.usage is not None
    assert message.usage.raw == USAGE


def test_tool_call_cut_by_the_token_limit() -> None:
    """F37: the call is marked, its arguments are kept as they came, and are not repaired."""
    message, finish = message_of((FIXTURES / "openai_chat" / "tool-cut-by-length.sse").read_bytes(), OpenAIChatDecoder)
    assert (finish.reason, finish.error) == ("length", None)
    assert message.tool_calls == (ToolCall("a", "write", '{"path":"a.md","content":"abc', truncated=True),)


def test_cumulative_server() -> None:
    """F39: by setting, not by guessing."""
    body = (FIXTURES / "openai_chat" / "cumulative.sse").read_bytes()
    message, _ = message_of(body, partial(OpenAIChatDecoder, cumulative=True))
    assert message.text == "Hello wor"
    assert message_of(body, OpenAIChatDecoder)[0].text == "HeHelloHelloHello wor"


def test_another_choice() -> None:
    body = (FIXTURES / "openai_chat" / "two-choices.sse").read_bytes()
    message, finish = message_of(body, partial(OpenAIChatDecoder, choice=1))
    assert (message.text, finish.reason) == ("bB", "length")
    message, finish = message_of(body, partial(OpenAIChatDecoder, choice=2))
    assert (message.text, finish.reason, finish.raw_reason) == ("", "stop", None)


def test_usage_of_groq() -> None:
    message, _ = message_of((FIXTURES / "openai_chat" / "groq-usage.sse").read_bytes(), OpenAIChatDecoder)
    usage = message.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (7, 1, 8)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (0, 1)


def test_usage_with_every_chunk() -> None:
    """The last report counts, and one is given."""
    message, _ = message_of((FIXTURES / "openai_chat" / "usage-each-chunk.sse").read_bytes(), OpenAIChatDecoder)
    usage = message.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 2, None)
    assert usage.cached_input_tokens == 2


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "text/event-stream", None]
)
def test_server_that_does_not_stream(content_type: str | None) -> None:
    message, finish = message_of(
        (FIXTURES / "openai_chat" / "whole.json").read_bytes(), OpenAIChatDecoder, content_type
    )
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "tool_calls", None)
    assert (message.text, message.reasoning) == ("Whole", "why")
    assert message.tool_calls == (ToolCall("a", "f", '{"x":1}'),)
    assert message.usage is not None
    assert message.usage.raw == USAGE


def test_whole_completion_without_reason() -> None:
    """Also: blank lines before it, which servers send while they think."""
    body = (FIXTURES / "openai_chat" / "whole-no-reason.json").read_bytes()
    message, finish = message_of(body, OpenAIChatDecoder, "application/json")
    assert (message.text, finish.reason, finish.raw_reason) == ("Whole", "stop", None)


def test_error_object_with_status_200() -> None:
    body = (FIXTURES / "openai_chat" / "whole-error.json").read_bytes()
    _, finish = message_of(body, OpenAIChatDecoder, "application/json")
    assert isinstance(finish.error, ProviderError)
    assert (finish.error.code, finish.error.retryable) == ("RATE_LIMIT", False)


def test_json_that_is_no_completion() -> None:
    body = (FIXTURES / "openai_chat" / "whole-other.json").read_bytes()
    _, finish = message_of(body, OpenAIChatDecoder, "application/json")
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert "Not here" in finish.error.message


@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream", "application/json", None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    body = (FIXTURES / "openai_chat" / "page.html").read_bytes()
    _, finish = message_of(body, OpenAIChatDecoder, content_type)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert "502 Bad Gateway" in finish.error.message
    assert "<" not in finish.error.message


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "openai_chat").iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = (FIXTURES / "openai_chat" / name).read_bytes()
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = message_of(body[:size], OpenAIChatDecoder)
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text


@pytest.mark.parametrize("kept", [False, True], ids=["at once", "saved and read again"])
def test_the_next_turn_gives_back_what_the_server_needs(kept: bool) -> None:
    """F23, F33: text, signature and encrypted reasoning, whole and in order, beside the calls they belong to."""
    body = (FIXTURES / "openai_chat" / "reasoning-details.sse").read_bytes()
    adapter = openrouter()
    answer, _ = message_of(body, lambda: adapter.decoder(Request("a/b", [UserMessage("Hi")])))
    assert answer.origin == Origin("openrouter", "a/b", "gen-1")
    if kept:
        answer = Message.from_wire(json.loads(json.dumps(answer.to_wire())))
    history = [UserMessage("Hi"), answer, ToolMessage(ToolResult("c1", "42"))]
    sent = adapter.build(Request("a/b", history), api_key="k", base_url=adapter.base_url)
    assert json.loads(sent.body)["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        "reasoning_details": [
            {
                "type": "reasoning.text",
                "text": "Let me see.",
                "format": "anthropic-claude-v1",
                "index": 0,
                "signature": "ErUBx9==",
            },
            {"type": "reasoning.encrypted", "data": "gAAA", "id": "c1", "format": "google-gemini-v1", "index": 1},
        ],
    }
    other = OpenAIChatAdapter().build(Request("m", history), api_key="k", base_url=OpenAIChatAdapter().base_url)
    assert "reasoning" not in other.body.decode()
