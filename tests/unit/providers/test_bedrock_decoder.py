"""What tests/conformance/test_wire_bedrock.py does not show: values from an SDK, and limits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.dialects import message
from tests.wire import chunks_of

from unspool.errors import StreamError
from unspool.messages import Origin
from unspool.providers.bedrock import BedrockDecoder
from unspool.providers.kept_chars import MAX_KEPT_CHARS
from unspool.stream import ResponseMachine
from unspool.stream.chunks import Finish, UsageReport


def end_of(*slices: Any) -> Finish:
    finish = chunks_of(ResponseMachine(BedrockDecoder(), content_type=None), list(slices))[-1]
    assert isinstance(finish, Finish)
    return finish


def test_feed_leaves_an_unreadable_event_alone() -> None:
    decoder = BedrockDecoder("m")
    with pytest.raises(StreamError):
        decoder.feed("contentBlockDelta", "what?")
    assert decoder.feed("initial-response", "") == []
    decoder.feed("messageStart", '{"role":"assistant"}')
    decoder.feed("messageStop", '{"stopReason":"end_turn"}')
    [usage, finish] = decoder.feed("metadata", '{"usage":{"inputTokens":1}}')
    assert isinstance(usage, UsageReport)
    assert (usage.usage.input_tokens, usage.usage.total_tokens) == (1, None)
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.origin) == ("stop", Origin("bedrock", "m"))


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"error": "no"}, "PROVIDER"),
        ({"error": {"code": "ThrottlingException", "message": "no"}}, "RATE_LIMIT"),
        ({"__type": "ValidationException", "message": "no"}, "INVALID_REQUEST"),
        ({"throttlingException": None}, "RATE_LIMIT"),
        ({"contentBlockStart": {"contentBlockIndex": 0, "start": ["x"]}}, "PROTOCOL"),
        ({"contentBlockStop": {"contentBlockIndex": True}}, "PROTOCOL"),
        ({"messageStop": "end_turn"}, "PROTOCOL"),
        ({"output": {}}, "PROTOCOL"),
        ({"output": {"message": {"content": ["x"]}}}, "PROTOCOL"),
        ("text", "PROTOCOL"),
        (7, "PROTOCOL"),
        (None, "STREAM_TRUNCATED"),
        ({}, "STREAM_TRUNCATED"),
        ({"status": "ok"}, "PROTOCOL"),
    ],
)
def test_what_is_no_answer(event: Any, code: str) -> None:
    error = end_of([event]).error
    assert error is not None
    assert error.code == code


def test_what_is_kept_is_limited() -> None:
    """Beside the text, which the machine counts."""
    piece = json.dumps({"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "A" * 1_000_000}}}).encode()
    error = end_of(*[message(piece)] * (MAX_KEPT_CHARS // 1_000_000 + 1)).error
    assert error is not None
    assert error.code == "BODY_TOO_LARGE"
    start = {"toolUseId": "t", "name": "n", "type": "server_tool_use"}
    begun = message(json.dumps({"contentBlockIndex": 0, "start": {"toolUse": start}}).encode(), "contentBlockStart")
    more = json.dumps({"contentBlockIndex": 0, "delta": {"toolUse": {"input": "A" * 1_000_000}}}).encode()
    error = end_of(begun, *[message(more)] * (MAX_KEPT_CHARS // 1_000_000 + 1)).error
    assert error is not None
    assert error.code == "BODY_TOO_LARGE"


@pytest.mark.parametrize("event", ["contentBlockStart", "contentBlockStop"])
def test_blocks_of_nothing_are_limited(event: str) -> None:
    error = end_of([{event: {"contentBlockIndex": index, "start": {}}} for index in range(1_025)]).error
    assert error is not None
    assert (error.code, "1024 blocks" in error.message) == ("PROTOCOL", True)


def test_deep_blocks() -> None:
    deep: Any = {}
    for _ in range(90):
        deep = {"a": deep}
    for delta in ({"citation": deep}, {"toolResult": [deep]}):
        error = end_of([{"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}}]).error
        assert error is not None
        assert error.code == "PROTOCOL"


_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_kinds = st.sampled_from(["text", "reasoningContent", "toolUse", "toolResult", "image", "citation", "x"])
_inner = st.dictionaries(
    st.sampled_from(["text", "signature", "redactedContent", "input", "toolUseId", "name", "type", "format", "source"]),
    st.text(max_size=4) | _values,
    max_size=4,
)
_indexes = st.integers(0, 2)
_events = st.one_of(
    _values,
    st.builds(
        lambda i, kind, v: {"contentBlockStart": {"contentBlockIndex": i, "start": {kind: v}}}, _indexes, _kinds, _inner
    ),
    st.builds(
        lambda i, kind, v: {"contentBlockDelta": {"contentBlockIndex": i, "delta": {kind: v}}},
        _indexes,
        _kinds,
        _inner | st.text(),
    ),
    st.builds(lambda i: {"contentBlockStop": {"contentBlockIndex": i}}, _indexes),
    st.builds(
        lambda reason: {"messageStop": {"stopReason": reason}}, st.sampled_from(["end_turn", "tool_use", "max_tokens"])
    ),
    st.builds(lambda usage: {"metadata": {"usage": usage}}, _values),
    st.builds(
        lambda blocks: {"output": {"message": {"content": blocks}}, "stopReason": "end_turn"},
        st.lists(st.dictionaries(_kinds, _inner)),
    ),
)


@given(st.lists(_events, max_size=8))
def test_anything_ends_once(events: list[Any]) -> None:
    """Whatever comes, the chunks are in order and there is one end."""
    end_of(*([event] for event in events))
