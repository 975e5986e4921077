"""The decoder by itself; whole responses are in tests/conformance/test_wire_anthropic.py."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import FIXTURES, assembled, chunks_of

from unspool.errors import ProviderError, StreamError, WireError
from unspool.messages import Message, Origin, Usage
from unspool.providers import kept_chars
from unspool.providers.anthropic_decoder import AnthropicDecoder
from unspool.stream import ResponseMachine, check_order
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta, ToolArgumentsDelta, UsageReport
from unspool.structured import strict_json

START = {
    "type": "message_start",
    "message": {"id": "msg_1", "model": "claude-x", "usage": {"input_tokens": 1, "output_tokens": 1}},
}
STOP = {"type": "message_stop"}


def begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def done(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: Any = "end_turn", **members: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **members}, "usage": {"output_tokens": 2}}


def decode(*events: Any) -> list[Chunk]:
    """All chunks of a response, in order."""
    decoder = AnthropicDecoder()
    chunks = [chunk for one in events for chunk in decoder.decode(one)] + decoder.finish()
    check_order(chunks)
    assert decoder.finish() == decoder.decode(START) == decoder.feed("", "{}") == []
    return chunks


def finish_of(*events: Any) -> Finish:
    finish = decode(*events)[-1]
    assert isinstance(finish, Finish)
    return finish


def test_chunks() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    assert decode(
        START,
        begin(0, type="text", text=""),
        more(0, type="text_delta", text="a"),
        done(0),
        begin(1, type="tool_use", id="i", name="n", input={}),
        more(1, type="input_json_delta", partial_json="{}"),
        done(1),
        end("tool_use"),
        STOP,
    ) == [
        BlockStart(0, "text"),
        TextDelta(0, "a"),
        BlockEnd(0),
        BlockStart(1, "tool_call", "i", "n"),
        ToolArgumentsDelta(1, "{}"),
        BlockEnd(1),
        UsageReport(Usage(1, 2, 3, raw=usage)),
        Finish("tool_calls", "tool_use", origin=Origin("anthropic", "claude-x", "msg_1")),
    ]


@pytest.mark.parametrize(
    ("raw", "reason", "with_call"),
    [
        ("end_turn", "stop", "tool_calls"),
        ("stop_sequence", "stop", "tool_calls"),
        ("max_tokens", "length", "length"),
        ("tool_use", "tool_calls", "tool_calls"),
        ("pause_turn", "stop", "stop"),
        ("compaction", "stop", "stop"),
        ("refusal", "content_filter", "content_filter"),
        ("model_context_window_exceeded", "length", "length"),
        ("something_new", "stop", "tool_calls"),
    ],
)
def test_reasons(raw: str, reason: str, with_call: str) -> None:
    finish = finish_of(START, end(raw), STOP)
    assert (finish.reason, finish.raw_reason, finish.error) == (reason, raw, None)
    call = (begin(0, type="tool_use", id="i", name="n", input={}), done(0))
    assert finish_of(START, *call, end(raw), STOP).reason == with_call


def test_message_that_ends_without_a_reason() -> None:
    finish = finish_of(START, begin(0, type="text", text="a"), done(0), STOP)
    assert (finish.reason, finish.raw_reason, finish.error) == ("stop", None, None)


def test_reason_without_the_last_event() -> None:
    """The connection may close, or break, when all has been said."""
    assert finish_of(START, begin(0, type="text", text="a"), done(0), end()).error is None
    assert finish_of(START, begin(0, type="text", text="a"), end()).error is not None


def test_usage_overlay() -> None:
    """Later counts are totals; what is missing or null there stays."""
    start = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "service_tier": "standard"}},
    }
    last = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {
            "input_tokens": None,
            "cache_creation_input_tokens": 7,
            "output_tokens": 9,
            "output_tokens_details": {"thinking_tokens": 4},
        },
    }
    report = decode(start, last, STOP)[0]
    assert isinstance(report, UsageReport)
    usage = report.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (112, 9, 121)
    assert (usage.cached_input_tokens, usage.reasoning_tokens) == (100, 4)
    assert usage.raw == {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "service_tier": "standard",
        "cache_creation_input_tokens": 7,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        ({"output_tokens": 2}, (None, 2, None)),
        ({"input_tokens": True, "output_tokens": "2"}, (None, None, None)),
        ({"input_tokens": 2}, (2, None, None)),
    ],
)
def test_counts_that_are_missing(raw: dict[str, Any], counts: tuple[Any, ...]) -> None:
    report = decode({"type": "message_start", "message": {"usage": raw}}, STOP)[0]
    assert isinstance(report, UsageReport)
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.total_tokens) == counts


def test_metadata() -> None:
    finish = finish_of(
        {"type": "message_start", "message": {"container": {"id": "c"}, "diagnostics": None}},
        {**end("refusal", stop_details={"type": "refusal"}), "context_management": {"applied_edits": []}},
        STOP,
    )
    assert finish.metadata == {
        "container": {"id": "c"},
        "stop_details": {"type": "refusal"},
        "context_management": {"applied_edits": []},
    }
    assert finish_of(START, STOP).metadata is None


def test_error_events() -> None:
    decoder = AnthropicDecoder()
    decoder.decode(START)
    decoder.decode(begin(0, type="text", text="a"))
    chunks = decoder.feed(
        "error", '{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r"}'
    )
    assert [chunk.type for chunk in chunks] == ["block-end", "usage", "finish"]
    error = chunks[-1].to_wire()["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["retryable"], error["requestId"]) == ("OVERLOADED", True, "r")
    assert AnthropicDecoder().feed("error", "{}")[-1].type == "finish"
    # An error object without a type, as proxies send it.
    finish = finish_of({"error": {"message": "no", "code": 429}})
    assert isinstance(finish.error, ProviderError)
    assert finish.error.code == "RATE_LIMIT"


def test_data_that_is_not_json_changes_nothing() -> None:
    decoder = AnthropicDecoder()
    with pytest.raises(StreamError):
        decoder.feed("message_start", "{")
    assert decoder.feed("ping", '{"type": "ping"}') == decoder.feed("", " ") == decoder.feed("", "[DONE]") == []
    decoder.decode(START)
    assert [chunk.type for chunk in decoder.decode(STOP)] == ["usage", "finish"]


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "message_start"}],
        [{"type": "message_start", "message": []}],
        [START, {"type": "content_block_start", "index": 0}],
        [START, {"type": "content_block_start", "index": True, "content_block": {"type": "text"}}],
        [START, {"type": "content_block_start", "index": "0", "content_block": {"type": "text"}}],
        [START, {"type": "content_block_start", "index": -1, "content_block": {"type": "text"}}],
        [START, begin(1, type="text"), done(1), begin(0, type="text")],
        [START, begin(0, type="text"), {"type": "content_block_delta", "index": 0}],
        [START, {"type": "message_delta"}],
        [{"type": "message", "content": [1]}],
        ["text"],
        [7],
    ],
)
def test_events_that_cannot_be_meant(events: list[Any]) -> None:
    """The seed's rule for this wire: blocks are sequential, and what breaks the order is refused."""
    error = finish_of(*events, end(), STOP).error
    assert isinstance(error, WireError)
    assert error.code == "PROTOCOL"


def test_indexes_may_have_gaps() -> None:
    """The order is what counts; blocks that a proxy took out leave a gap."""
    chunks = decode(
        START, begin(2, type="text", text="a"), done(2), begin(5, type="text", text="b"), done(5), end(), STOP
    )
    assert [chunk.index for chunk in chunks if isinstance(chunk, BlockStart)] == [0, 1]


def test_ids_are_never_given_twice() -> None:
    """S: also between calls of the provider's and ours."""
    server = (begin(0, type="server_tool_use", id="i", name="n", input={}), done(0))
    assert isinstance(finish_of(START, *server, begin(1, type="tool_use", id="i", name="n")).error, WireError)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chars, "MAX_KEPT_CHARS", 1_000)
    decoder = AnthropicDecoder()
    decoder.feed("", json.dumps(START))
    decoder.feed("", json.dumps(begin(0, type="text", text="")))
    for _ in range(100):  # text is bounded elsewhere
        assert len(decoder.feed("", json.dumps(more(0, type="text_delta", text="some text")))) == 1
    chunks: list[Chunk] = []
    for _ in range(20):
        chunks += decoder.feed("", json.dumps(more(0, type="citations_delta", citation={"cited_text": "x" * 100})))
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "BODY_TOO_LARGE"


@pytest.mark.parametrize("depth", [30, 55, 70, 125])
def test_what_is_kept_is_not_too_deep_to_be_saved(depth: int) -> None:
    """Pyodide: fatal, were it not bounded everywhere; here so that the message, once read, can be sent and saved."""
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    for events in (
        [begin(0, type="server_thing", content=deep), done(0)],
        [begin(0, type="text", text="a"), more(0, type="citations_delta", citation={"deep": deep}), done(0)],
        [begin(0, type="server_thing"), more(0, type="thing_delta", content=deep), done(0)],
    ):
        body = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in [START, *events, end(), STOP])
        chunks = chunks_of(ResponseMachine(AnthropicDecoder(), content_type=None), [body])
        message = assembled(chunks)
        assert (message.finish_reason == "error") == (depth > 64)
        assert Message.from_wire(strict_json.loads(json.dumps(message.to_wire()))) == message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3) | st.sampled_from(["text", "tool_use"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
TYPES = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "message",
        "completion",
        "ping",
        "error",
        "odd",
    ]
)
BLOCKS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "image"])
        | VALUES,
        "id": VALUES,
        "name": VALUES,
        "text": VALUES,
        "thinking": VALUES,
        "signature": VALUES,
        "citations": VALUES,
        "input": VALUES,
    },
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["text_delta", "thinking_delta", "input_json_delta", "signature_delta", "citations_delta"]
        )
        | VALUES,
        "text": VALUES,
        "thinking": VALUES,
        "partial_json": VALUES,
        "signature": VALUES,
        "citation": VALUES,
        "stop_reason": VALUES,
    },
)
EVENTS = st.fixed_dictionaries(
    {"type": TYPES | VALUES},
    optional={
        "index": st.integers(0, 2) | VALUES,
        "content_block": BLOCKS | VALUES,
        "delta": DELTAS | VALUES,
        "message": BLOCKS | VALUES,
        "content": st.lists(BLOCKS, max_size=2) | VALUES,
        "usage": VALUES,
        "error": VALUES,
        "completion": VALUES,
    },
)


@given(st.lists(EVENTS, max_size=8))
def test_any_events_end_well(events: list[dict[str, Any]]) -> None:
    """Nothing raises out of the machine, and there is one terminal chunk, at the end."""
    chunks = chunks_of(ResponseMachine(AnthropicDecoder(), content_type=None), [[event] for event in events])
    assembled(chunks)
    body = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)
    again = chunks_of(ResponseMachine(AnthropicDecoder(), content_type="text/event-stream"), [body])
    assert [chunk.type for chunk in again if chunk.type != "finish"] == [
        chunk.type for chunk in chunks if chunk.type != "finish"
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "anthropic").iterdir()))
def test_mutated_responses_end_well(name: str) -> None:
    """Bytes changed, lost and doubled at seeded places: never an exception, never two terminal chunks."""
    body = (FIXTURES / "anthropic" / name).read_bytes()
    rng = random.Random(name)
    for _ in range(60):
        mutated = bytearray(body)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(mutated) + 1)
            match rng.randrange(4):
                case 0:
                    mutated[at : at + 1] = bytes([rng.randrange(256)])
                case 1:
                    del mutated[at : at + rng.randint(1, 60)]
                case 2:
                    mutated[at:at] = mutated[at : at + rng.randint(1, 60)]
                case _:
                    mutated[at:at] = rng.choice([b'"', b"{", b"}", b"\n\n", b"null", b"data: "])
        assembled(chunks_of(ResponseMachine(AnthropicDecoder(), content_type=None), [bytes(mutated)]))
