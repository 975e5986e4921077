"""Responses of Cohere's chat API, version 2: recorded ones, and hand-written ones for each quirk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, chunks_of, message_of

from unspool.contracts import Request
from unspool.errors import ProviderError, StreamTruncatedError, WireError
from unspool.messages import Message, Origin, ReasoningPart, Replay, TextPart, UserMessage
from unspool.providers.cohere import CohereAdapter, CohereDecoder
from unspool.stream import ResponseMachine
from unspool.stream.chunks import BlockStart

FOLDER = shared_data_folder()
OURS = FIXTURES / "cohere"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "cohere"
    ]
    if FOLDER
    else []
)


def fixture(name: str) -> bytes:
    return (OURS / name).read_bytes()


THINKING = Replay("cohere", {"type": "thinking"})
PLAN = Replay("cohere", {"type": "tool_plan"})


def thought(message: Message, replay: Replay) -> str:
    """Reasoning of one kind."""
    return "".join(part.text for part in message.parts if isinstance(part, ReasoningPart) and part.replay == replay)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    """All that the manifest says, which was worked out without our code."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, CohereDecoder)
    assert finish.error is None
    said = {"text": message.text, "reasoning": thought(message, THINKING), "tool_plan": thought(message, PLAN)}
    assert said["reasoning"] + said["tool_plan"] == message.reasoning
    for name, text in said.items():
        fact = facts.get(name, {"chars": 0, "utf8_bytes": 0})
        assert (len(text), len(text.encode())) == (fact["chars"], fact["utf8_bytes"])
        assert hashlib.sha256(text.encode()).hexdigest() == fact.get("sha256", hashlib.sha256(b"").hexdigest())
    assert [(call.id, call.name, call.arguments, call.args) for call in message.tool_calls] == [
        (call["id"], call["name"], call["arguments"], call["arguments_json"]) for call in facts["tool_calls"]
    ]
    assert message.raw_finish_reason == facts["finish_reason"]
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    assert len(message.metadata.get("citations", [])) == facts.get("citations", 0)
    for citation in message.metadata.get("citations", []):
        assert message.text[citation["start"] : citation["end"]] == citation["text"]
    assert message.origin is not None
    assert message.origin.response_id


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle and after each of its events."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = message_of(body[: len(body) // 2], CohereDecoder)
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    assert all(call.truncated for call in message.tool_calls)
    events = body.split(b"\n\n")[:-1]
    for count in range(0, len(events) - 2, max(1, len(events) // 12)):
        for end in (b"", b"data: [DONE]\n\n"):
            _, finish = message_of(b"\n\n".join(events[:count]) + b"\n\n" + end, CohereDecoder)
            assert isinstance(finish.error, StreamTruncatedError)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) == 4


USAGE = {"billed_units": {"input_tokens": 3, "output_tokens": 4}, "tokens": {"input_tokens": 9, "output_tokens": 12}}

WHOLE: dict[str, dict[str, Any]] = {
    "text": {"text": "Grüße, мир 👋"},
    "crlf-comments-bom": {},  # F3, F4, F5
    "no-event-names": {},
    "no-done": {},
    "unended-last-event": {},
    "no-message-start": {"origin": None},
    "no-content-start": {},
    "no-content-end": {},
    "start-text": {},
    "two-texts": {},
    "empty-blocks": {},
    "split-emoji": {"text": "a😀b\ufffd"},
    "thinking": {"reasoning": "Let me see.", "text": "Four."},
    "unknown-events": {},
    "stop-sequence": {"raw": "STOP_SEQUENCE"},
    "max-tokens": {"raw": "MAX_TOKENS", "reason": "length"},
    "toxic": {"raw": "ERROR_TOXIC", "reason": "content_filter"},
    "unknown-reason": {"raw": "SLEEPY"},
    "no-reason": {"raw": None},
    "whole-counts": {},
    "odd-usage": {},
    "tool-plan": {
        "reasoning": "I will look.",
        "text": "",
        "calls": [("f_1", "f", '{\n  "x": 1}'), ("g_2", "g", '{"y":"é"}')],
        "raw": "TOOL_CALL",
    },
    "thinking-then-call": {"reasoning": "hm", "text": "", "calls": [("f_1", "f", "{}")], "raw": "TOOL_CALL"},
    "interleaved-calls": {"text": "", "calls": [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')], "raw": "TOOL_CALL"},
    "tool-initial-arguments": {"text": "", "calls": [("a", "f", '{"x":1}')], "raw": "TOOL_CALL"},
    "tool-no-arguments": {"text": "", "calls": [("a", "now", ""), ("b", "then", " ")], "raw": "TOOL_CALL"},  # S65
    "tool-listed": {"text": "", "calls": [("a", "f", "{}")], "raw": "TOOL_CALL"},
    "tool-without-id": {"text": "", "calls": [("call_0", "f", "{}"), ("call_1", "g", "{}")], "raw": "TOOL_CALL"},
    "tool-without-index": {"text": "", "calls": [("a", "f", "{}"), ("b", "g", "{}")], "raw": "TOOL_CALL"},
    "tool-not-ended": {"text": "", "calls": [("a", "f", "{}")], "raw": "TOOL_CALL"},
    "tool-complete": {"calls": [("a", "f", "{}")], "reason": "tool_calls"},
    "citations": {},
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    expected = WHOLE[name]
    message, finish = message_of(fixture(f"{name}.sse"), CohereDecoder)
    assert finish.error is None
    assert (message.text, message.reasoning) == (expected.get("text", "ab"), expected.get("reasoning", ""))
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == expected.get("calls", [])
    raw = expected.get("raw", "COMPLETE")
    assert message.raw_finish_reason == finish.raw_reason == raw
    assert message.finish_reason == expected.get("reason", "tool_calls" if raw == "TOOL_CALL" else "stop")
    assert message.origin == expected.get("origin", Origin("cohere", None, "c1"))
    assert not any(call.truncated for call in message.tool_calls)


def test_kinds_of_reasoning_are_told_apart() -> None:
    message, _ = message_of(fixture("thinking.sse"), CohereDecoder)
    assert message.parts == (ReasoningPart("Let me see.", replay=THINKING), TextPart("Four."))
    message, _ = message_of(fixture("tool-plan.sse"), CohereDecoder)
    assert message.parts[0] == ReasoningPart("I will look.", replay=PLAN)


def test_blocks_of_content_stand_apart() -> None:
    """Places of citations count from the beginning of their block."""
    message, _ = message_of(fixture("two-texts.sse"), CohereDecoder)
    assert message.parts == (TextPart("a"), TextPart("b"))


def test_usage() -> None:
    """`tokens` are all of them, `billed_units` stand in where there are none; fractions that are none are read."""
    usage = message_of(fixture("text.sse"), CohereDecoder)[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (9, 12, 21)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (7, 5)
    assert usage.raw is not None
    assert usage.raw["billed_units"] == {"input_tokens": 3, "output_tokens": 4}
    usage = message_of(fixture("whole-counts.sse"), CohereDecoder)[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 4, 7)
    usage = message_of(fixture("odd-usage.sse"), CohereDecoder)[0].usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (None, None, None)
    assert usage.cached_input_tokens is None
    assert message_of(fixture("no-message-start.sse"), CohereDecoder)[0].usage is None


def test_citations_are_kept_as_they_came() -> None:
    message, _ = message_of(fixture("citations.sse"), CohereDecoder)
    first, second = message.metadata["citations"]
    assert (first["text"], first["content_index"], first["sources"][0]["document"]["text"]) == ("a", 0, "a is a")
    assert (second["text"], second["sources"]) == ("b", [{"type": "tool", "id": "f:0", "tool_output": {"n": 1}}])


def test_a_call_cut_by_the_limit() -> None:
    message, finish = message_of(fixture("tool-cut-by-max-tokens.sse"), CohereDecoder)
    assert (finish.reason, finish.error) == ("length", None)
    assert not message.tool_calls or all(call.truncated for call in message.tool_calls)


@pytest.mark.parametrize(
    ("name", "text", "calls"),
    [("whole", "Grüße, мир 👋", 0), ("whole-tools", "", 2), ("whole-string", "ab", 0)],
)
def test_answer_that_is_not_streamed(name: str, text: str, calls: int) -> None:
    message, finish = message_of(fixture(f"{name}.json"), CohereDecoder, "application/json")
    assert finish.error is None
    assert (message.text, len(message.tool_calls)) == (text, calls)
    assert message.origin == Origin("cohere", None, "c1")
    assert message.usage is not None
    assert message.usage.raw == USAGE
    if name == "whole":
        assert message.parts[0] == ReasoningPart("Let me see.", replay=THINKING)
        assert [citation["text"] for citation in message.metadata["citations"]] == ["Grüße"]
    elif calls:
        assert message.parts[0] == ReasoningPart("I will look.", replay=PLAN)
        assert [call.args for call in message.tool_calls] == [{"x": 1}, {}]
    else:
        assert finish.reason == "length"


FAULTS: dict[str, tuple[str, bool, str]] = {
    "error-in-end.sse": ("OVERLOADED", True, "half"),
    "error-without-reason.sse": ("CONTEXT_WINDOW_EXCEEDED", False, "half"),
    "error-reason.sse": ("PROVIDER", True, "half"),
    "timeout.sse": ("PROVIDER", True, "half"),
    "error-event.sse": ("PROVIDER", True, "half"),
    "error-event-text.sse": ("OVERLOADED", True, "half"),
    "error-object.sse": ("RATE_LIMIT", True, "half"),
    "error-words.sse": ("INVALID_REQUEST", False, "half"),
    "cut.sse": ("STREAM_TRUNCATED", True, "half"),
    "cut-in-event.sse": ("STREAM_TRUNCATED", True, "half"),
    "cut-in-tool.sse": ("STREAM_TRUNCATED", True, ""),
    "cut-in-thinking.sse": ("STREAM_TRUNCATED", True, ""),
    "done-early.sse": ("STREAM_TRUNCATED", True, "half"),
    "empty.sse": ("STREAM_TRUNCATED", True, ""),
    "only-comments.sse": ("STREAM_TRUNCATED", True, ""),
    "not-json.sse": ("PROTOCOL", False, "half"),
    "not-an-object.sse": ("PROTOCOL", False, "half"),
    "deep.sse": ("PROTOCOL", False, "half"),
    "text-no-text.sse": ("PROTOCOL", False, "half"),
    "delta-of-no-call.sse": ("PROTOCOL", False, "half"),
    "delta-after-end.sse": ("PROTOCOL", False, ""),
    "end-of-no-call.sse": ("PROTOCOL", False, "half"),
    "call-begun-twice.sse": ("PROTOCOL", False, ""),
    "nameless-call.sse": ("PROTOCOL", False, "half"),
    "no-call.sse": ("PROTOCOL", False, "half"),
    "arguments-no-text.sse": ("PROTOCOL", False, ""),
    "same-id.sse": ("PROTOCOL", False, ""),
    "arguments-incomplete.sse": ("TOOL_ARGUMENTS_INVALID", False, ""),
    "other.sse": ("PROTOCOL", False, ""),
    "page.html": ("PROTOCOL", False, ""),
    "whole-broken.json": ("PROVIDER", True, "half"),
    "whole-error.json": ("MODEL_NOT_FOUND", False, ""),
    "whole-other.json": ("PROTOCOL", False, ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    """Never a normal end, and all that had come is there."""
    code, retryable, text = FAULTS[name]
    kind = {".json": "application/json", ".html": "text/html"}.get(Path(name).suffix, "text/event-stream")
    message, finish = message_of(fixture(name), CohereDecoder, kind)
    assert finish.error is not None
    assert (finish.reason, finish.error.code, finish.error.retryable) == ("error", code, retryable), finish.error
    assert finish.error.partial == message
    assert message.text == text
    assert all(call.truncated for call in message.tool_calls)
    assert isinstance(finish.error, ProviderError | WireError)


def test_every_fixture_is_used() -> None:
    told = {*(f"{name}.sse" for name in WHOLE), *FAULTS, "tool-cut-by-max-tokens.sse"}
    assert {path.name for path in OURS.iterdir()} == {*told, "whole.json", "whole-tools.json", "whole-string.json"}


def test_events_that_are_already_values() -> None:
    """A model in the page hands them over decoded."""
    for name in WHOLE:
        if name in ("unended-last-event", "split-emoji"):
            continue
        body = fixture(f"{name}.sse")
        events = [json.loads(line[5:]) for line in body.decode("utf-8-sig").splitlines() if line.startswith("data: {")]
        ours = chunks_of(ResponseMachine(CohereDecoder(), content_type=None), [events])
        theirs = chunks_of(ResponseMachine(CohereDecoder(), content_type="text/event-stream"), [body])
        assert [chunk.to_wire() for chunk in ours] == [chunk.to_wire() for chunk in theirs], name


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = message_of(body[:size], CohereDecoder)
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text


def test_answers_go_back_as_they_came() -> None:
    """The plan is the calls' own; beside them no other text may stand."""

    def back(name: str) -> Any:
        message, _ = message_of(fixture(name), CohereDecoder)
        saved = Message.from_wire(json.loads(json.dumps(message.to_wire())))
        assert saved == message
        sent = CohereAdapter().build(
            Request("m", [UserMessage("Hi"), saved, UserMessage("?")]), api_key=None, base_url=CohereAdapter.base_url
        )
        return json.loads(sent.body)["messages"][1]

    assert back("thinking.sse")["content"] == [
        {"type": "thinking", "thinking": "Let me see."},
        {"type": "text", "text": "Four."},
    ]
    told = back("tool-plan.sse")
    assert (told["tool_plan"], "content" in told) == ("I will look.", False)
    assert [call["function"]["arguments"] for call in told["tool_calls"]] == ['{\n  "x": 1}', '{"y":"é"}']
    assert back("text.sse") == {"role": "assistant", "content": "Grüße, мир 👋"}
    told = back("thinking-then-call.sse")
    assert (told["content"], "tool_plan" in told) == ([{"type": "thinking", "thinking": "hm"}], False)


def test_blocks_begin_when_they_have_something() -> None:
    chunks = chunks_of(ResponseMachine(CohereDecoder(), content_type=None), [fixture("empty-blocks.sse")])
    assert [chunk.index for chunk in chunks if isinstance(chunk, BlockStart)] == [0]
