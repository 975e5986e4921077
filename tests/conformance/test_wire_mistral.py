"""Responses of Mistral's chat completions: recorded ones, and hand-written ones for each of its own ways.

What it shares with all chat completions is tested in test_wire_openai_chat.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.test_wire_openai_chat import check_facts
from tests.conftest import shared_data_folder
from tests.wire import FIXTURES, message_of

from unspool.contracts import Request
from unspool.errors import StreamTruncatedError
from unspool.messages import (
    Image,
    Message,
    Origin,
    ProviderPart,
    ReasoningPart,
    Replay,
    TextPart,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.providers.mistral import MistralAdapter, MistralDecoder

FOLDER = shared_data_folder()
OURS = FIXTURES / "mistral"
RECORDINGS: list[dict[str, Any]] = (
    [
        file
        for file in json.loads((FOLDER / "wire" / "manifest.json").read_text(encoding="utf-8"))["files"]
        if file["dialect"] == "mistral"
    ]
    if FOLDER
    else []
)


def fixture(name: str) -> bytes:
    return (OURS / name).read_bytes()


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording(recording: dict[str, Any], shared_data: Path) -> None:
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    facts = recording["expect"]
    message, finish = message_of(body, MistralDecoder)
    assert finish.error is None
    check_facts(message, facts)
    assert message.reasoning == "" or "reasoning" in facts
    assert (message.usage.raw if message.usage else None) == facts["usage"]
    assert message.origin is not None
    assert message.origin.adapter == "mistral"


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: Path(recording["file"]).stem)
def test_recording_without_its_end_is_an_error(recording: dict[str, Any], shared_data: Path) -> None:
    """F6: every recording, cut in the middle of its events."""
    body = (shared_data / "wire" / recording["file"]).read_bytes()
    message, finish = message_of(body[: len(body) // 2], MistralDecoder)
    assert isinstance(finish.error, StreamTruncatedError)
    assert finish.error.partial == message
    assert all(call.truncated for call in message.tool_calls)


def test_recordings_are_there(shared_data: Path) -> None:
    assert len(RECORDINGS) == 4


def thought(text: str, **more: str) -> ReasoningPart:
    return ReasoningPart(text, replay=Replay("mistral", {"type": "thinking", **more}))


def reference(*ids: int | str) -> ProviderPart:
    return ProviderPart("reference", Replay("mistral", {"type": "reference", "reference_ids": list(ids)}))


WHOLE: dict[str, tuple[Any, ...]] = {
    "text": (TextPart("Grüße, мир 👋"),),
    "thinking": (thought("Let me see."), TextPart("Four.")),
    "thinking-signed": (thought("Hm.", signature="c2ln"), TextPart("Yes.")),
    "thinking-twice": (thought("One.", signature="s1"), TextPart("a"), thought("Two."), TextPart("b")),
    "thinking-inner-reference": (thought("See there."), TextPart("ab")),
    "references": (
        TextPart("Cats purr"),
        reference(0, 2),
        TextPart("; dogs do not"),
        reference("doc"),
        TextPart("."),
    ),
    "image": (TextPart("Here: "), Image(b"\x89PNG\r\n\x1a\n"), Image("https://h/x.png")),
    "file": (ProviderPart("mistral:file", Replay("mistral", {"type": "file", "file_id": "f-1"})), TextPart("ab")),
    "model-length": (TextPart("ab"),),
}
"""Parts of the answer, in order."""


@pytest.mark.parametrize("name", WHOLE)
def test_whole_response(name: str) -> None:
    message, finish = message_of(fixture(f"{name}.sse"), MistralDecoder)
    assert finish.error is None
    assert message.parts == WHOLE[name]
    assert finish.reason == ("length" if name == "model-length" else "stop")
    assert message.origin == Origin("mistral", "mistral-x", "m1")
    assert message.usage is not None
    assert (message.usage.input_tokens, message.usage.output_tokens, message.usage.cached_input_tokens) == (9, 12, 4)


def test_tool_calls() -> None:
    message, finish = message_of(fixture("tool-call.sse"), MistralDecoder)
    assert (finish.reason, message.reasoning) == ("tool_calls", "Look.")
    assert [(call.id, call.name, call.args) for call in message.tool_calls] == [
        ("g6fVbXS8K", "f", {"x": 1}),
        ("A1b2C3d4E", "g", {"y": "é"}),
    ]
    message, finish = message_of(fixture("tool-cut.sse"), MistralDecoder)
    assert (finish.reason, finish.error) == ("length", None)
    assert not message.tool_calls or all(call.truncated for call in message.tool_calls)


def test_answer_that_is_not_streamed() -> None:
    message, finish = message_of(fixture("whole.json"), MistralDecoder, "application/json")
    assert finish.error is None
    assert message.parts == (
        thought("Let me see.", signature="c2ln"),
        TextPart("Four"),
        reference(1),
        TextPart("."),
    )


@pytest.mark.parametrize(
    ("name", "code", "retryable", "words"),
    [
        ("error-reason", "PROVIDER", True, "broke off"),
        ("error-object", "OVERLOADED", True, "Service tier capacity exceeded"),
        ("error-object-new", "INVALID_REQUEST", False, "Extra inputs are not permitted"),
        ("cut-in-thinking", "STREAM_TRUNCATED", True, ""),
        ("image-that-is-none", "PROTOCOL", False, "image"),
        ("chunk-too-deep", "PROTOCOL", False, ""),
    ],
)
def test_fault(name: str, code: str, retryable: bool, words: str) -> None:
    message, finish = message_of(fixture(f"{name}.sse"), MistralDecoder)
    assert finish.error is not None
    assert (finish.reason, finish.error.code, finish.error.retryable) == ("error", code, retryable), finish.error
    assert words in finish.error.message
    assert finish.error.partial == message
    assert (message.text, message.reasoning) == (("", "half") if name == "cut-in-thinking" else ("half", ""))


def back(message: Message) -> Any:
    """The answer as it stands in the next request."""
    saved = Message.from_wire(json.loads(json.dumps(message.to_wire())))
    results = [ToolMessage(ToolResult(call.id, "1")) for call in saved.tool_calls]
    request = Request("mistral-x", [UserMessage("Hi"), saved, *(results or [UserMessage("Go on.")])])
    sent = MistralAdapter().build(request, api_key=None, base_url=MistralAdapter().base_url)
    return json.loads(sent.body)["messages"][1]


def test_answers_go_back_as_they_came() -> None:
    """F33: thinking, signatures and references in the order in which they came, as chunks of the content."""

    def content(name: str) -> Any:
        return back(message_of(fixture(f"{name}.sse"), MistralDecoder)[0])["content"]

    def thinking(text: str, **more: str) -> dict[str, Any]:
        return {"type": "thinking", **more, "thinking": [{"type": "text", "text": text}], "closed": True}

    def text(text: str) -> dict[str, Any]:
        return {"type": "text", "text": text}

    assert content("text") == "Grüße, мир 👋"
    assert content("thinking") == [thinking("Let me see."), text("Four.")]
    assert content("thinking-twice") == [thinking("One.", signature="s1"), text("a"), thinking("Two."), text("b")]
    assert content("references") == [
        text("Cats purr"),
        {"type": "reference", "reference_ids": [0, 2]},
        text("; dogs do not"),
        {"type": "reference", "reference_ids": ["doc"]},
        text("."),
    ]
    assert content("file") == [{"type": "file", "file_id": "f-1"}, text("ab")]
    assert content("tool-call") == [thinking("Look.")]


def test_recorded_thinking_goes_back(shared_data: Path) -> None:
    body = (shared_data / "wire" / "mistral" / "thinking-content-list.sse").read_bytes()
    message, _ = message_of(body, MistralDecoder)
    first, second = back(message)["content"]
    assert (first["type"], first["thinking"][0]["text"]) == ("thinking", message.reasoning)
    assert second == {"type": "text", "text": "144"}


@pytest.mark.parametrize("name", sorted(path.name for path in OURS.iterdir()))
def test_every_cut_of_a_response_ends_well(name: str) -> None:
    """F1, F2, F6: however much of a body arrives, there is one terminal chunk, and text only grows."""
    body = fixture(name)
    longest = ""
    for size in range(0, len(body), max(1, len(body) // 40)):
        message, _ = message_of(body[:size], MistralDecoder)
        assert message.text.startswith(longest) or longest.endswith("\ufffd")
        longest = message.text
