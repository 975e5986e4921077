"""Chunks out of JSON data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from tests.message_values import JSON, responses

from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    StreamTruncatedError,
    WireError,
)
from unspool.messages import Image, Origin, ProviderPart, ReasoningPart, Replay, Usage
from unspool.stream import chunks
from unspool.stream.chunk_json import chunk_of, error_of, is_chunk

REPLAY = Replay("anthropic", {"signature": "x"})


@pytest.mark.parametrize(
    "chunk",
    [
        chunks.BlockStart(0, "tool_call", "c", "n"),
        chunks.BlockStart(1, "text"),
        chunks.BlockStart(1, "web_search_call", "w"),
        chunks.TextDelta(1, "a"),
        chunks.ReasoningDelta(2, "r"),
        chunks.ToolArgumentsDelta(0, "{"),
        chunks.BlockEnd(1),
        chunks.BlockEnd(1, replay=REPLAY),
        chunks.BlockEnd(1, part=ReasoningPart("", redacted=True, replay=REPLAY)),
        chunks.BlockEnd(1, part=ProviderPart("web_search_call", REPLAY)),
        chunks.BlockEnd(1, part=Image(b"\x89PNG\r\n\x1a\n")),
        chunks.UsageReport(Usage(1, 2, 3, cached_input_tokens=1, reasoning_tokens=2, raw={"a": 1})),
        chunks.Finish("stop", "end_turn"),
        chunks.Finish("length", origin=Origin("anthropic", "m", "r"), metadata={"k": [1]}),
    ],
    ids=lambda chunk: chunk.type,
)
def test_chunks_come_back_as_they_went(chunk: Any) -> None:
    wire = json.loads(json.dumps(chunk.to_wire()))
    assert is_chunk(wire)
    assert chunk_of(wire, "chunk") == chunk


@given(responses())
def test_responses_come_back_as_they_went(response: list[chunks.Chunk]) -> None:
    for chunk in response:
        wire = chunk.to_wire()
        assert json.loads(json.dumps(chunk_of(wire, "c").to_wire())) == json.loads(json.dumps(wire))


def test_failing_finish_gets_an_error() -> None:
    chunk = chunk_of({"type": "finish", "reason": "error", "error": {"code": "OVERLOADED", "message": "busy"}}, "c")
    assert isinstance(chunk, chunks.Finish) and chunk.error is not None
    assert (chunk.reason, chunk.error.code, chunk.error.message) == ("error", "OVERLOADED", "busy")
    for reason, kind, code in (("error", ProviderError, "PROVIDER"), ("aborted", CallCancelledError, "ABORTED")):
        chunk = chunk_of({"type": "finish", "reason": reason}, "c")
        assert isinstance(chunk, chunks.Finish) and type(chunk.error) is kind
        assert chunk.error.code == code


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("RATE_LIMIT", "slow", retryable=True, retry_after_s=1.5, status=429, request_id="r"),
        WireError("TOOL_ARGUMENTS_INVALID", "no"),
        StreamTruncatedError("cut"),
        NetworkError("gone", retryable=False),
        RequestTimeoutError("late"),
        ConfigError("MISSING_CREDENTIAL", "key"),
    ],
    ids=lambda error: error.code,
)
def test_errors_are_of_their_class_again(error: Any) -> None:
    again = error_of(json.loads(json.dumps(error.to_wire())), "e")
    assert type(again) is type(error)
    assert again.to_wire() == error.to_wire()
    assert again.args == error.args


def test_codes_of_others_are_kept() -> None:
    """A page may have codes of its own; credentials are blanked out all the same."""
    error = error_of({"code": "MY_CODE", "message": "key sk-abcdefghijkl"}, "e")
    assert (type(error), error.code, error.message) == (ProviderError, "MY_CODE", "key [redacted]")


@pytest.mark.parametrize(
    "data",
    [
        {"type": "text-delta", "text": "a"},
        {"type": "text-delta", "index": True, "text": "a"},
        {"type": "text-delta", "index": 0},
        {"type": "block-start", "index": 0},
        {"type": "block-start", "index": 0, "kind": 5},
        {"type": "block-start", "index": 0, "kind": "tool_call", "id": 5},
        {"type": "block-start", "index": 0, "kind": "tool_call", "name": ["f"]},
        {"type": "block-end", "index": 0, "replay": []},
        {"type": "block-end", "index": 0, "part": {"type": "video"}},
        {"type": "block-end", "index": 0, "part": {"type": "image", "url": "x"}},
        {"type": "finish", "reason": "stop", "rawReason": 5},
        {"type": "finish", "reason": "stop", "origin": "x"},
        {"type": "finish", "reason": "stop", "metadata": "x"},
        {"type": "finish", "reason": "error", "error": "x"},
        {"type": "finish", "reason": "error", "error": {"code": 5}},
        {"type": "finish", "reason": "error", "error": {"status": "429"}},
        {"type": "finish", "reason": "error", "error": {"retryAfterS": True}},
        {"type": "usage"},
        {"type": "usage", "usage": {"inputTokens": "1"}},
        {"type": "finish"},
        {"type": "finish", "reason": "bored"},
        {"type": "nonsense", "index": 0},
        {"index": 0},
        {},
    ],
    ids=str,
)
def test_wrong_chunks_are_refused(data: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        chunk_of(data, "chunk")
    assert "chunk." in caught.value.message or data.get("part")


@given(JSON)
def test_anything_else_is_refused_with_a_code(data: Any) -> None:
    for kind in ("text-delta", "block-start", "block-end", "usage", "finish", "x"):
        try:
            chunk_of({"type": kind, "index": 0, "text": data, "usage": data, "reason": data, "part": data}, "c")
        except ConfigError as error:
            assert error.code == "INVALID_OPTIONS"


def test_provider_events_are_no_chunks() -> None:
    for data in ({"choices": []}, {"type": "response.created"}, {"type": ["usage"]}, "text", None):
        assert not is_chunk(data)
