"""What tests/conformance/test_wire_ollama.py does not show: values from an SDK, and limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import FIXTURES, assembled, chunks_of, message_of

from unspool.errors import StreamError, WireError
from unspool.providers.kept_chars import MAX_KEPT_CHARS
from unspool.providers.ollama import OllamaDecoder
from unspool.stream import ResponseMachine
from unspool.stream.chunks import Finish
from unspool.structured import strict_json


def end_of(*events: Any) -> Finish:
    finish = chunks_of(ResponseMachine(OllamaDecoder(), content_type=None), [list(events)])[-1]
    assert isinstance(finish, Finish)
    return finish


def test_decoded_events_give_the_same() -> None:
    body = (FIXTURES / "ollama" / "tool-calls.ndjson").read_bytes()
    events = [strict_json.loads(line) for line in body.decode().splitlines()]
    told = assembled(chunks_of(ResponseMachine(OllamaDecoder(), content_type=None), [[event] for event in events]))
    assert told == message_of(body, OllamaDecoder, None)[0]


def test_feed_leaves_an_unreadable_line_alone() -> None:
    decoder = OllamaDecoder()
    with pytest.raises(StreamError):
        decoder.feed("message", "what?")
    assert decoder.feed("message", " ") == []
    assert [chunk.type for chunk in decoder.feed("message", '{"response":"x","done":true}')] == [
        "block-start",
        "text-delta",
        "block-end",
        "finish",
    ]


def test_server_sent_error() -> None:
    [finish] = OllamaDecoder().feed("error", '{"error":"server busy"}')
    assert isinstance(finish, Finish)
    assert finish.error is not None
    assert finish.error.code == "OVERLOADED"


@pytest.mark.parametrize(
    "event",
    [
        {"message": {"tool_calls": [None]}},
        {"message": {"tool_calls": [{"function": "f"}]}},
        {"message": {"thinking": 5}},
        {"message": {"images": ["!"]}},
        {"message": {"images": ["AAAA"]}},
        {"response": {}},
        "text",
        7,
    ],
)
def test_what_cannot_be_meant(event: Any) -> None:
    error = end_of(event).error
    assert isinstance(error, WireError)
    assert error.code == "PROTOCOL"


def test_deep_arguments() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    error = end_of({"message": {"tool_calls": [{"function": {"name": "f", "arguments": deep}}]}}).error
    assert error is not None
    assert error.code == "PROTOCOL"


def test_pictures_are_limited() -> None:
    error = end_of({"message": {"images": ["A" * (MAX_KEPT_CHARS + 1)]}}).error
    assert error is not None
    assert error.code == "BODY_TOO_LARGE"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_names = st.sampled_from(
    [
        "message",
        "content",
        "thinking",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "done",
        "error",
        "images",
        "response",
    ]
)
_events = st.recursive(
    _values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=4), max_leaves=12
)


@given(st.lists(_events, max_size=5))
def test_anything_ends_once(events: list[Any]) -> None:
    """Whatever comes, the chunks are in order and there is one end."""
    chunks_of(ResponseMachine(OllamaDecoder(), content_type=None), [[event] for event in events])
