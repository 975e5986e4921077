"""Responses of Gemini's `streamGenerateContent`: recorded ones, and hand-written ones for each quirk."""

from __future__ import annotations

import hashlib
import json
import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, chunks_of, message_of

from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Image, Message, Origin, ProviderPart, ReasoningPart, Replay, TextPart, ToolCall
from unspool.providers.gemini import GeminiDecoder
from unspool.stream import ResponseMachine
from unspool.stream.chunks import BlockEnd, BlockStart, Finish, ToolArgumentsDelta

FOLDER = shared_data_folder()
OURS = FIXTURES / "gemini"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "gemini"
    ]
    if FOLDER
    else []
)
NOTHING = {"chars": 0, "utf8_bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
USAGE = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
ORIGIN = Origin("gemini", "gemini-x", "R-1_a")


def fixture(name: str) -> bytes:
    return (OURS / name).read_bytes()


def signatures(message: Message) -> list[str]:
    """Of every part, in order, wherever it is kept."""
    states = [getattr(part, "replay", None) for part in message.parts]
    data = [state.data.get("part", state.data) for state in states if state is not None]
    return [state["thoughtSignature"] for state in data if "thoughtSignature" in state]


def signed(text: str) -> Replay:
    return Replay("gemini", {"thoughtSignature": text})


def parts_of(message: Message, kind: str) -> list[dict[str, Any]]:
    return [part.replay.data["part"] for part in message.parts if isinstance(part, ProviderPart) and part.kind == kind]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """All that the manifest says, which was worked out without our code."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, GeminiDecoder)
    for name in ("text", "reasoning"):
        text, fact = getattr(message, name), facts.get(name, NOTHING)
        assert hashlib.sha256(text.encode()).hexdigest() == fact["sha256"], f"{name}: {text[:200]!r}"
        assert (len(text), len(text.encode())) == (fact["chars"], fact["utf8_bytes"])
    assert [(call.name, call.args) for call in message.tool_calls] == [
        (call["name"], call["arguments_json"]) for call in facts["tool_calls"]
    ]
    for place, (call, fact) in enumerate(zip(message.tool_calls, facts["tool_calls"], strict=True)):
        assert message.origin is not None
        assert call.id == (fact["id"] or f"call_{message.origin.response_id}_{place}")
    assert message.raw_finish_reason == facts["finish_reason"]
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    if message.usage and message.usage.total_tokens is not None:
        assert (message.usage.input_tokens or 0) + (message.usage.output_tokens or 0) == message.usage.total_tokens
    assert len(signatures(message)) == facts.get("thought_signatures", 0)
    assert [len(parts_of(message, kind)) for kind in ("executableCode", "codeExecutionResult")] == facts.get(
        "code_parts", [0, 0]
    )
    assert ("groundingMetadata" in message.metadata) == facts.get("grounding", False)
    if "block_reason" in facts:
        assert isinstance(finish.error, ProviderError)
        assert finish.error.code == "CONTENT_FILTERED"
        assert facts["block_reason"] in finish.error.message
    else:
        assert finish.error is None
        calls = "tool_calls" if facts["tool_calls"] else "stop"
        reasons = {"STOP": calls, "MAX_TOKENS": "length", "SAFETY": "content_filter"}
        assert finish.reason == reasons[finish.raw_reason or ""]


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle of its last event."""
    body = (shared_data / "wire" / recording["file"]).read_bytes().rstrip()
    last = body.rfind(b"data: ")
    message, finish = message_of(body[: (last + len(body)) // 2], GeminiDecoder)
    if message.raw_finish_reason is None:
        assert isinstance(finish.error, StreamTruncatedError)
        assert finish.error.partial == message
        assert all(call.truncated for call in message.tool_calls)
    else:
        assert Path(recording["file"]).stem == "utf8"  # says STOP with each event


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_in_the_framing_of_an_array(recording: dict[str, Any], shared_data: Path) -> None:
    """Without `alt=sse` the same events come as elements of one JSON array."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    events = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: ")]
    array = b"[" + b"\r\n,\r\n".join(events) + b"]\r\n"
    ours, theirs = (
        message_of(array, GeminiDecoder, "application/json; charset=UTF-8"),
        message_of(body, GeminiDecoder),
    )
    assert ours[0] == theirs[0]


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) >= 13


WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋", "usage": USAGE},
    "comments-bom": {"text": "xy", "usage": USAGE},  # F4, F5
    "after-stop": {"text": "abc", "usage": USAGE},  # F29
    "thoughts": {
        "reasoning": "r1r2r3",
        "text": "t1t2",
        "usage": {**USAGE, "thoughtsTokenCount": 7, "totalTokenCount": 12},
    },
    "signatures": {"reasoning": "why", "text": "abc", "calls": [("call_R-1_a_0", "f", '{"x":1}')], "usage": USAGE},
    "parallel-signed-first": {  # F31
        "calls": [("call_R-1_a_0", "f", '{"city":"Paris"}'), ("call_R-1_a_1", "f", '{"city":"Rome"}')],
        "usage": USAGE,
    },
    "same-function-twice": {  # F34
        "calls": [
            ("call_R-1_a_0", "f", '{"x":1}'),
            ("call_R-1_a_1", "f", '{"x":2}'),
            ("call_R-1_a_2", "g", "{}"),
        ],
        "usage": USAGE,
    },
    "no-response-id": {"calls": [("call_0", "f", '{"x":1}'), ("call_1", "f", '{"x":2}')], "origin": Origin("gemini")},
    "wire-ids": {
        "calls": [("w1", "f", '{"x":1}'), ("w2", "f", '{"x":2}'), ("call_R-1_a_2", "f", '{"x":3}')],
        "usage": USAGE,
    },
    "no-arguments": {"calls": [("call_R-1_a_0", "now", ""), ("call_R-1_a_1", "then", "{}")], "usage": USAGE},  # S65
    "text-and-call": {
        "text": "Let me see.",
        "calls": [("call_R-1_a_0", "f", '{"q":"é\\n\\"","n":[1,2.5,null,true,12345678901234567890]}')],
        "usage": USAGE,
    },
    "partial-arguments": {
        "text": "and",
        "calls": [
            (
                "call_R-1_a_0",
                "f",
                '{"to":{"city":"Boston \\"é","zip":2108},"days":[{"n":0.5,"dry":false},{"n":null}]}',
            ),
            ("call_R-1_a_1", "g", '{"a b":"x"}'),
            ("call_R-1_a_2", "h", ""),
        ],
        "usage": USAGE,
    },
    "partial-then-whole": {
        "calls": [("w1", "f", '{"q":"x"}'), ("call_R-1_a_1", "g", '{"q":["y"]}')],
        "usage": USAGE,
    },
    "partial-next-call": {
        "calls": [("call_R-1_a_0", "f", '{"q":"x"}'), ("call_R-1_a_1", "f", '{"q":"y"}')],
        "usage": USAGE,
    },
    "safety-without-content": {  # F32
        "raw": "SAFETY",
        "reason": "content_filter",
        "usage": {"promptTokenCount": 3, "totalTokenCount": 3},
        "origin": Origin("gemini"),
    },
    "recitation": {"text": "Call me", "raw": "RECITATION", "reason": "content_filter", "usage": USAGE},
    "continuation": {"text": "long", "raw": "CONTINUATION", "reason": "length", "usage": USAGE},
    "stop-after-text": {"text": "Hi", "usage": {"promptTokenCount": 3}},  # F32
    "image": {"text": "Here: done", "usage": USAGE},
    "sound": {"usage": USAGE},
    "code": {
        "text": "2",
        "usage": {**USAGE, "toolUsePromptTokenCount": 10, "cachedContentTokenCount": 1, "totalTokenCount": 15},
    },
    "grounding": {"text": "abc", "usage": USAGE},
    "two-candidates": {"text": "aA", "usage": USAGE},
    "odd": {"text": "x", "usage": USAGE},
    "split-emoji": {"text": "a😀b\ufffd", "origin": Origin("gemini")},
    "unended-last-event": {"text": "one two", "usage": USAGE},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = message_of(fixture(f"{name}.sse"), GeminiDecoder)
    assert finish.error is None
    assert (message.text, message.reasoning) == (expected.get("text", ""), expected.get("reasoning", ""))
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == expected.get("calls", [])
    assert message.raw_finish_reason == expected.get("raw", "STOP")
    assert message.finish_reason == expected.get("reason", "tool_calls" if expected.get("calls") else "stop")
    assert (message.usage and message.usage.raw) == expected.get("usage")
    assert message.origin == expected.get("origin", ORIGIN)
    assert not any(call.truncated for call in message.tool_calls)


FAULTS: dict[str, dict[str, Any]] = {
    "unexpected-tool-call": {"code": "PROVIDER", "says": "UNEXPECTED_TOOL_CALL", "raw": "UNEXPECTED_TOOL_CALL"},  # F32
    "malformed-call": {
        "text": "half",
        "code": "TOOL_ARGUMENTS_INVALID",
        "says": "default_api.f(x=)",
        "raw": "MALFORMED_FUNCTION_CALL",
        "retryable": False,
    },
    "missing-signature": {
        "code": "INVALID_REQUEST",
        "says": "signature",
        "raw": "MISSING_THOUGHT_SIGNATURE",
        "retryable": False,
    },
    "other": {"text": "half", "code": "PROVIDER", "says": "OTHER", "raw": "OTHER"},
    "unknown-reason": {"text": "half", "code": "PROVIDER", "says": "GREMLINS", "raw": "GREMLINS", "retryable": False},
    "prompt-blocked": {"code": "CONTENT_FILTERED", "says": "PROHIBITED_CONTENT", "retryable": False},  # F32
    "duplicate-wire-ids": {
        "text": "kept",
        "code": "PROTOCOL",
        "says": "'w1'",
        "raw": "STOP",
        "retryable": False,
        "calls": [ToolCall("w1", "f", '{"x":1}', True, replay=Replay("gemini", {"id": "w1"}))],
    },
    "partial-cut": {
        "code": "STREAM_TRUNCATED",
        "says": "function call",
        "raw": "STOP",
        "calls": [ToolCall("call_R-1_a_0", "f", "", True)],
    },
    "partial-cut-inside": {
        "code": "STREAM_TRUNCATED",
        "says": "function call",
        "raw": "STOP",
        "calls": [ToolCall("call_R-1_a_0", "f", '{"q":"x', True)],
    },
    "partial-back": {
        "text": "kept",
        "code": "PROTOCOL",
        "says": "leads back",
        "retryable": False,
        "calls": [ToolCall("call_R-1_a_0", "f", "", True)],
    },
    "partial-path": {
        "code": "PROTOCOL",
        "says": "path",
        "retryable": False,
        "calls": [ToolCall("call_R-1_a_0", "f", "", True)],
    },
    "partial-disagrees": {
        "code": "PROTOCOL",
        "says": "add up to",
        "retryable": False,
        "calls": [ToolCall("call_R-1_a_0", "f", '{"q":"x"}', True)],
    },
    "nameless-call": {"text": "kept", "code": "PROTOCOL", "says": "without a name", "retryable": False},
    "image-not-base64": {"text": "kept", "code": "PROTOCOL", "says": "base64", "retryable": False},
    "cut": {"text": "one two", "code": "STREAM_TRUNCATED", "says": "ended"},  # F6
    "cut-in-event": {"text": "one", "code": "STREAM_TRUNCATED", "says": "ended"},
    "empty": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "only-usage": {"code": "STREAM_TRUNCATED", "says": "ended"},
    "error-after-text": {"text": "half", "code": "OVERLOADED", "says": "overloaded"},  # F38
    "error-quota": {"code": "RATE_LIMIT", "says": "quota", "after": 34.5},
    "error-event": {"text": "half", "code": "INVALID_REQUEST", "says": "bad tool", "retryable": False},
    "not-json": {"text": "kept", "code": "PROTOCOL", "says": "oops", "retryable": False},
    "deep": {"text": "kept", "code": "PROTOCOL", "says": "[[[", "retryable": False},
    "other-service": {"code": "PROTOCOL", "says": "Not here", "retryable": False},
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_response(name: str) -> None:
    """F6, F32, F38: an error is never an empty or a shortened success, and what had arrived is kept."""
    expected = FAULTS[name]
    message, finish = message_of(fixture(f"{name}.sse"), GeminiDecoder)
    assert (finish.reason, finish.raw_reason) == ("error", expected.get("raw"))
    assert finish.error is not None
    assert finish.error.code == expected["code"]
    assert expected["says"] in finish.error.message
    assert finish.error.retryable == expected.get("retryable", True)
    assert finish.error.retry_after_s == expected.get("after")
    assert finish.error.partial == message
    assert message.text == expected.get("text", "")
    assert list(message.tool_calls) == expected.get("calls", [])


def test_every_fixture_is_used() -> None:
    names = {path.stem for path in OURS.glob("*.sse")}
    assert names == WHOLE.keys() | FAULTS.keys() | {"partial-by-length", "call-by-length"}


def test_usage_beside_an_error_is_kept() -> None:
    for name in ("error-after-text", "other", "malformed-call"):
        message, _ = message_of(fixture(f"{name}.sse"), GeminiDecoder)
        assert message.usage is not None
        assert message.usage.raw == USAGE


def test_usage() -> None:
    """Thoughts are output, what tools of the provider gave is input; cached tokens are input as well."""
    usage = message_of(fixture("thoughts.sse"), GeminiDecoder)[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.reasoning_tokens) == (3, 9, 12, 7)
    usage = message_of(fixture("code.sse"), GeminiDecoder)[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (13, 2, 15)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (1, None)


def test_signatures_stand_where_they_came() -> None:
    """F31: a signed part is a part by itself, an empty one as well; parts without signature are joined."""
    message, _ = message_of(fixture("signatures.sse"), GeminiDecoder)
    assert message.parts == (
        ReasoningPart("why", replay=signed("U0lHMQ==")),
        TextPart("a"),
        TextPart("b", replay=signed("U0lHMg==")),
        TextPart("c"),
        ToolCall("call_R-1_a_0", "f", '{"x":1}', replay=signed("U0lHMw==")),
        TextPart("", replay=signed("U0lHNA==")),
    )


def test_signature_of_parallel_calls() -> None:
    """F31: the first call only."""
    message, _ = message_of(fixture("parallel-signed-first.sse"), GeminiDecoder)
    assert [call.replay for call in message.tool_calls] == [signed("QUJD"), None]


def test_signature_of_a_call_in_parts() -> None:
    message, _ = message_of(fixture("partial-arguments.sse"), GeminiDecoder)
    assert [call.replay for call in message.tool_calls] == [signed("QUJD"), None, None]
    message, _ = message_of(fixture("partial-then-whole.sse"), GeminiDecoder)
    assert [call.replay for call in message.tool_calls] == [Replay("gemini", {"id": "w1"}), None]


def test_whole_calls_are_not_cut_into_deltas() -> None:
    """TOOL_STREAMING, Gemini: start, the arguments once, end."""
    machine = ResponseMachine(GeminiDecoder(), content_type=None)
    chunks = chunks_of(machine, [fixture("same-function-twice.sse")])
    assert chunks[:6] == [
        BlockStart(0, "tool_call", "call_R-1_a_0", "f"),
        ToolArgumentsDelta(0, '{"x":1}'),
        BlockEnd(0),
        BlockStart(1, "tool_call", "call_R-1_a_1", "f"),
        ToolArgumentsDelta(1, '{"x":2}'),
        BlockEnd(1),
    ]


def test_calls_in_parts_grow() -> None:
    machine = ResponseMachine(GeminiDecoder(), content_type=None)
    chunks = chunks_of(machine, [fixture("partial-arguments.sse")])
    first = [chunk.text for chunk in chunks if isinstance(chunk, ToolArgumentsDelta) and chunk.index == 0]
    assert first == [
        '{"to":{"city":"Bos',
        'ton \\"é"',
        ',"zip":2108},"days":[{"n":0.5',
        ',"dry":false},{"n":null',
        "}]}",
    ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("partial-by-length", '{"path":"a.md","content":"abc'), ("call-by-length", '{"x":1}')],
)
def test_tool_call_cut_by_the_token_limit(name: str, arguments: str) -> None:
    """F37: the call is marked, its arguments are kept as they came, and are not repaired."""
    message, finish = message_of(fixture(f"{name}.sse"), GeminiDecoder)
    assert (finish.reason, finish.error) == ("length", None)
    assert [(call.arguments, call.truncated) for call in message.tool_calls] == [(arguments, True)]


def test_pictures() -> None:
    """A picture among the thoughts is no part of the answer, but goes back."""
    message, _ = message_of(fixture("image.sse"), GeminiDecoder)
    kinds = [part.type for part in message.parts]
    assert kinds == ["text", "image", "provider", "text"]
    (image,) = message.images
    assert isinstance(image, Image)
    assert (image.data or b"")[:8] == b"\x89PNG\r\n\x1a\n"
    assert (image.media_type, image.replay) == ("image/png", signed("QUJD"))
    (thought,) = parts_of(message, "inlineData")
    assert thought["thought"] is True


def test_what_only_gemini_understands_is_kept_as_it_came() -> None:
    message, _ = message_of(fixture("code.sse"), GeminiDecoder)
    assert [part.kind for part in message.parts if isinstance(part, ProviderPart)] == [
        "executableCode",
        "codeExecutionResult",
        "brandNew",
    ]
    assert parts_of(message, "executableCode") == [
        {"executableCode": {"language": "PYTHON", "code": "1+1", "id": "e"}, "thoughtSignature": "QUJD"}
    ]
    message, _ = message_of(fixture("sound.sse"), GeminiDecoder)
    assert parts_of(message, "inlineData") == [{"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]


def test_metadata() -> None:
    message, _ = message_of(fixture("grounding.sse"), GeminiDecoder)
    assert message.metadata == {
        "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://example.org"}]},
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": "https://example.org"}}],
            "webSearchQueries": ["q"],
        },
    }
    message, _ = message_of(fixture("continuation.sse"), GeminiDecoder)
    assert message.metadata == {"continuationToken": "VE9L"}
    message, _ = message_of(fixture("prompt-blocked.sse"), GeminiDecoder)
    assert message.metadata == {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}


def test_another_candidate() -> None:
    body = fixture("two-candidates.sse")
    message, finish = message_of(body, partial(GeminiDecoder, candidate=1))
    assert (message.text, finish.reason) == ("bB", "length")
    _, finish = message_of(body, partial(GeminiDecoder, candidate=2))
    assert isinstance(finish.error, StreamTruncatedError)


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=UTF-8", None])
def test_whole_json(content_type: str | None) -> None:
    """What `generateContent` answers."""
    message, finish = message_of(fixture("whole.json"), GeminiDecoder, content_type)
    assert (finish.reason, finish.raw_reason, finish.error) == ("tool_calls", "STOP", None)
    assert (message.text, message.reasoning) == ("Whole", "why")
    assert message.tool_calls == (ToolCall("call_R-1_a_0", "f", '{"x":1}', replay=signed("QUJD")),)
    assert message.usage is not None
    assert message.usage.raw == USAGE


@pytest.mark.parametrize("content_type", ["application/json", None])
def test_array(content_type: str | None) -> None:
    """What `streamGenerateContent` answers without `alt=sse`."""
    message, finish = message_of(fixture("whole-array.json"), GeminiDecoder, content_type)
    assert (finish.reason, message.text) == ("tool_calls", "one two")
    _, finish = message_of(fixture("whole-array-cut.json"), GeminiDecoder, content_type)
    assert isinstance(finish.error, StreamTruncatedError)


def test_error_list_with_status_200() -> None:
    _, finish = message_of(fixture("whole-error.json"), GeminiDecoder, "application/json")
    assert isinstance(finish.error, ProviderError)
    assert (finish.error.code, finish.error.retry_after_s, finish.error.status) == ("RATE_LIMIT", 34.5, 429)


def test_json_that_is_no_response() -> None:
    _, finish = message_of(fixture("whole-other.json"), GeminiDecoder, "application/json")
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert "Not here" in finish.error.message


@pytest.mark.parametrize("content_type", ["text/html", "text/event-stream", "application/json", None])
def test_page_of_a_proxy(content_type: str | None) -> None:
    _, finish = message_of(fixture("page.html"), GeminiDecoder, content_type)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert "Error 404" in finish.error.message


FILES = sorted(path.name for path in OURS.iterdir())


def outcome(body: bytes) -> Finish:
    """Whatever comes, one terminal chunk ends it, in order (`chunks_of` checks)."""
    finish = chunks_of(ResponseMachine(GeminiDecoder(), content_type="text/event-stream"), [body])[-1]
    assert isinstance(finish, Finish)
    return finish


@pytest.mark.parametrize("name", FILES)
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = message_of(body[:size], GeminiDecoder)
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text


@pytest.mark.parametrize("name", WHOLE)
def test_every_event_is_needed(name: str) -> None:
    """F6: before a finish reason has come, the end of the body is no end of the answer."""
    events = fixture(f"{name}.sse").split(b"\r\n\r\n")
    for count in range(len(events)):
        body = b"".join(event + b"\r\n\r\n" for event in events[:count])
        if not re.search(rb'"finishReason": "\w', body):
            assert isinstance(outcome(body).error, StreamTruncatedError)


JUNK: list[Any] = [None, 5, -1.5, True, "", "x", [], {}, [[]], [None], {"x": {}}, "STOP", "QUJD", [{"text": 5}]]


def mangled(value: Any, rng: random.Random) -> Any:
    """The same document with something in it gone or of another type."""
    if rng.random() < 0.08:
        return rng.choice(JUNK)
    if isinstance(value, dict):
        return {name: mangled(item, rng) for name, item in value.items() if rng.random() > 0.04}
    if isinstance(value, list):
        items = [mangled(item, rng) for item in value if rng.random() > 0.04]
        return items * 2 if rng.random() < 0.03 else items
    return value


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".sse") and name not in ("deep.sse",)])
def test_mangled_responses_never_raise(name: str) -> None:
    """Members missing, doubled, or of another type: a typed outcome each time."""
    lines = [line[6:] for line in fixture(name).decode("utf-8", "replace").splitlines() if line.startswith("data: {")]
    for seed in range(40):
        rng = random.Random(f"{name}:{seed}")
        events = [mangled(json.loads(line), rng) for line in lines if line.endswith("}")]
        finish = outcome(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events))
        assert finish.error is None or finish.error.code in (
            "PROTOCOL",
            "STREAM_TRUNCATED",
            "TOOL_ARGUMENTS_INVALID",
            "CONTENT_FILTERED",
            "PROVIDER",
            "INVALID_REQUEST",
            "OVERLOADED",
            "RATE_LIMIT",
        )


@given(name=st.sampled_from(FILES), data=st.data())
def test_flipped_bytes_never_raise(name: str, data: st.DataObject) -> None:
    body = bytearray(fixture(name))
    for _ in range(data.draw(st.integers(0, 4))):
        if body:
            body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    outcome(bytes(body))
