"""The machine with a decoder of its own kind: events are lists of chunks, spelled as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import named, splits
from tests.tools.dialects import message
from tests.wire import assembled, chunks_of, message_of

from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    StreamTruncatedError,
    UnspoolError,
    WireError,
)
from unspool.frozen_json import FrozenDict
from unspool.messages import Usage
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    UsageReport,
)
from unspool.stream.order import check_order
from unspool.stream.response import ResponseMachine, framing_of
from unspool.structured import strict_json


class Toy:
    """A vendor that sends `{"say": text}`, `{"end": reason}` and `{"error": text}`; usage is one token a word."""

    def __init__(self) -> None:
        self.words = 0
        self.reason: str | None = None
        self.over = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        return self.decode(strict_json.loads(data))

    def decode(self, event: Any) -> list[Chunk]:
        if not isinstance(event, dict):
            raise WireError("PROTOCOL", "The event is not an object.")
        out: list[Chunk] = []
        if "say" in event:
            out += [] if self.words else [BlockStart(0, "text")]
            self.words += 1
            out.append(TextDelta(0, event["say"]))
        if "reason" in event:
            self.reason = event["reason"]
        if "end" in event:
            self.reason = event["end"]
            return out + self.finish()
        if "error" in event:
            return out + self.close() + [Finish("error", None, ProviderError("PROVIDER", event["error"]))]
        return out

    def close(self) -> list[Chunk]:
        return [BlockEnd(0), UsageReport(Usage(output_tokens=self.words))] if self.words else []

    def finish(self) -> list[Chunk]:
        if self.over:
            return []
        self.over = True
        if self.reason is None:
            return [*self.close(), Finish("error", None, StreamTruncatedError("cut"))]
        return [*self.close(), Finish("stop", self.reason)]


def sse(*events: object) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def machine(decoder: Any = None, content_type: str | None = "text/event-stream", **limits: int) -> ResponseMachine:
    return ResponseMachine(decoder or Toy(), content_type=content_type, **limits)


def test_whole_response() -> None:
    message, finish = message_of(sse({"say": "a"}, {"say": "b"}, {"end": "done"}), Toy)
    assert (message.text, finish.reason, finish.raw_reason) == ("ab", "stop", "done")
    assert message.usage == Usage(output_tokens=2)


def test_done_comes_with_the_terminal_chunk() -> None:
    """The owner closes the response then, although the connection may stay open; what follows is not looked at."""
    m = machine()
    assert [chunk.type for chunk in m.feed(sse({"say": "a"}))] == ["block-start", "text-delta"]
    assert not m.done
    last = m.feed(sse({"end": "x"}, {"say": "late"}) + b"data: garbage\n\n")
    assert [chunk.type for chunk in last] == ["block-end", "usage", "finish"]
    assert m.done
    assert m.feed(sse({"say": "later"})) == m.feed([{"say": "later"}]) == m.finish() == m.fail(NetworkError("x")) == []


def test_decoded_events() -> None:
    """A model in the page has no bytes."""
    chunks = chunks_of(machine(), [[{"say": "a"}, {"say": "b"}], [], [{"end": "x"}, {"say": "late"}]])
    assert assembled(chunks).text == "ab"


def test_body_that_ends_early() -> None:
    """F6: clean end of the body, and a broken connection, are told apart."""
    message, finish = message_of(sse({"say": "a"}), Toy)
    assert (message.text, finish.reason) == ("a", "error")
    assert isinstance(finish.error, StreamTruncatedError)
    m = machine()
    chunks = m.feed(sse({"say": "a"})) + m.fail(NetworkError("connection reset"))
    check_order(chunks)
    assert isinstance(chunks[-1], Finish)
    assert isinstance(chunks[-1].error, NetworkError)
    assert chunks[-1].error.partial is None
    assert assembled(chunks).usage == Usage(output_tokens=1)
    assert chunks[-1].error.partial == assembled(chunks)


@pytest.mark.parametrize("error", [NetworkError("reset"), RequestTimeoutError("silence")], ids=lambda e: e.code)
def test_connection_lost_after_the_finish_reason(error: UnspoolError) -> None:
    """Servers exist that end the body badly, or never; the answer is whole all the same."""
    m = machine()
    chunks = m.feed(sse({"say": "a"}, {"reason": "stop"})) + m.fail(error)
    check_order(chunks)
    assert assembled(chunks).finish_reason == "stop"


@pytest.mark.parametrize("events", [[], [{"say": "a"}], [{"say": "a"}, {"reason": "stop"}]], ids=len)
def test_cancelled(events: list[object]) -> None:
    m = machine()
    error = CallCancelledError()
    chunks = m.feed(sse(*events)) + m.fail(error)
    check_order(chunks)
    assert isinstance(chunks[-1], Finish)
    assert (chunks[-1].reason, chunks[-1].error) == ("aborted", error)
    assert m.done


@pytest.mark.parametrize("tail", [b'data: {"end":"x"}', b'data: {"end":"x"}\n', b'data: {"end":"x"}\r\n'])
def test_last_event_without_its_blank_line(tail: bytes) -> None:
    message, finish = message_of(sse({"say": "a"}) + tail, Toy)
    assert (message.text, finish.reason) == ("a", "stop")


def test_last_event_that_was_cut() -> None:
    _, finish = message_of(sse({"say": "a"}) + b'data: {"end":"x', Toy)
    assert isinstance(finish.error, StreamTruncatedError)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"data: {oops}\n\n", "oops"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "PROTOCOL"),  # Pyodide: fatal without the guard
        (b"data: [1]\n\n", "not an object"),
        (b"data: NaN\n\n", "NaN"),
        (b'data: {"say": "a", "say": "b"}\n\n', "say"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_bad_event(bad: bytes, says: str) -> None:
    message, finish = message_of(sse({"say": "kept"}) + bad + sse({"say": "lost"}), Toy)
    assert message.text == "kept"
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert says in str(finish.error)
    assert len(finish.error.message) < 500


def test_decoded_event_that_is_nested_too_deep() -> None:
    deep: Any = {}
    for _ in range(1_500):
        deep = {"x": deep}
    chunks = chunks_of(machine(), [[{"say": "kept"}, deep]])
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].error is not None
    assert chunks[-1].error.code == "PROTOCOL"
    assert assembled(chunks).text == "kept"


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize("metadata", [nested(65), {"a": object()}, {"a": float("nan")}])
def test_metadata_that_no_message_can_hold(metadata: Any) -> None:
    """What came before stays, and reading the message raises nothing."""

    class Telling(Toy):
        def finish(self) -> list[Chunk]:
            return [BlockEnd(0), Finish("stop", "done", metadata=metadata)]

    chunks = chunks_of(ResponseMachine(Telling(), content_type=None), [[{"say": "a"}]])
    message = assembled(chunks)
    finish = chunks[-1]
    assert isinstance(finish, Finish) and finish.error is not None
    assert (finish.error.code, finish.raw_reason, message.text, message.metadata) == ("PROTOCOL", "done", "a", {})


def test_metadata_is_frozen() -> None:
    class Telling(Toy):
        def finish(self) -> list[Chunk]:
            return [BlockEnd(0), Finish("stop", metadata=nested(64))]

    finish = chunks_of(ResponseMachine(Telling(), content_type=None), [[{"say": "a"}]])[-1]
    assert isinstance(finish, Finish) and finish.error is None
    assert isinstance(finish.metadata, FrozenDict)


def test_what_a_decoder_cannot_make_a_part_of_is_not_the_callers_fault() -> None:
    class Odd(Toy):
        def decode(self, event: Any) -> list[Chunk]:
            raise ConfigError("INVALID_OPTIONS", "An image must be bytes.")

    finish = chunks_of(ResponseMachine(Odd(), content_type=None), [[{"say": "a"}]])[-1]
    assert isinstance(finish, Finish) and finish.error is not None
    assert finish.error.code == "PROTOCOL"


def test_error_of_the_vendor() -> None:
    message, finish = message_of(sse({"say": "a"}, {"error": "boom"}), Toy)
    assert (message.text, finish.reason) == ("a", "error")
    assert isinstance(finish.error, ProviderError)


# What the body is


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", None),
        (b"{", "json"),
        (b"[1", "json"),
        (b"<", "other"),
        (b":", "sse"),
        (b"d", None),
        (b"dat", None),
        (b"data", "sse"),
        (b"event: x", "sse"),
        (b"id", "sse"),
        (b"retry:5", "sse"),
        (b"i am", "other"),
        (b'"x"', "other"),
        (b"\x1f\x8b", "other"),
    ],
)
def test_framing(head: bytes, expected: str | None) -> None:
    assert framing_of(head, False) == expected
    assert framing_of(head, True) == ("sse" if head and expected in (None, "other") and head != b"<" else expected)


@pytest.mark.parametrize("content_type", [None, "text/event-stream; charset=utf-8", "application/json", "text/plain"])
@pytest.mark.parametrize(
    "body",
    [
        sse({"say": "é"}, {"end": "x"}),
        b"\n\r\n" + sse({"say": "é"}, {"end": "x"}),
        b"\xef\xbb\xbf" + sse({"say": "é"}, {"end": "x"}),
        b": hello\n\n" + sse({"say": "é"}, {"end": "x"}),
        b'  \n {"say": "\xc3\xa9", "end": "x"}\n',
        b'\xef\xbb\xbf{"say": "\xc3\xa9", "end": "x"}',
        b'[{"say": "\xc3\xa9"}, {"end": "x"}]',
    ],
)
def test_what_servers_say_and_what_they_send(content_type: str | None, body: bytes) -> None:
    message, finish = message_of(body, Toy, content_type)
    assert (message.text, finish.error) == ("é", None)


@pytest.mark.parametrize(
    ("body", "content_type", "code", "says"),
    [
        (b"<html><title>Sign in</title>", "text/html", "PROTOCOL", "Sign in"),
        (b"Internal error", "text/plain", "PROTOCOL", "text/plain, not with an event stream or JSON: Internal error"),
        (b"Internal error", None, "PROTOCOL", "no stated type"),
        (b"dat", None, "PROTOCOL", "dat"),
        (b"\x1f\x8b" + b"\0" * 5_000, "application/gzip", "PROTOCOL", "gzip"),
        (b"x" * 100_000, "text/plain", "PROTOCOL", "xxx"),
        (b'"text"', "application/json", "PROTOCOL", "text"),
        (b"", "text/html", "STREAM_TRUNCATED", "cut"),
        (b" \n \n", None, "STREAM_TRUNCATED", "cut"),
        (b"Internal error", "text/event-stream", "STREAM_TRUNCATED", "cut"),
        (b'{"say": "a"', "application/json", "STREAM_TRUNCATED", "JSON"),
        (b'{"say": "a"} {"say": "b"}', "application/x-ndjson", "PROTOCOL", "not JSON"),
        (b'{"say": ' + b"[" * 10_000, "application/json", "PROTOCOL", "[[["),
        (b"[1]", "application/json", "PROTOCOL", "not an object"),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else None,
)
def test_other_bodies(body: bytes, content_type: str | None, code: str, says: str) -> None:
    _, finish = message_of(body, Toy, content_type)
    assert finish.error is not None
    assert finish.error.code == code
    assert says in finish.error.message
    assert len(finish.error.message) < 500


def test_broken_utf8_in_a_json_body() -> None:
    """As in an event stream: shown as U+FFFD, and nothing else is lost."""
    assert message_of(b'{"say": "a\xffb", "end": "x"}', Toy, "application/json")[0].text == "a\ufffdb"


# Limits


def test_event_limit() -> None:
    """What came before the event that is too large is kept, whole or in slices."""
    body = sse({"say": "kept"}) + b"data: " + b"x" * 500
    message, finish = message_of(body, Toy, max_event_bytes=100)
    assert message.text == "kept"
    assert finish.error is not None
    assert finish.error.code == "SSE_EVENT_TOO_LARGE"


def test_body_limit() -> None:
    body = b'{"say": "aaaa", "end": "x"}'
    assert message_of(body, Toy, "application/json", max_body_bytes=len(body))[1].error is None
    error = message_of(body, Toy, "application/json", max_body_bytes=len(body) - 1)[1].error
    assert error is not None
    assert error.code == "BODY_TOO_LARGE"


def test_text_limit() -> None:
    body = sse({"say": "12345"}, {"say": "67890"}, {"end": "x"})
    assert message_of(body, Toy, max_chars=10)[1].error is None
    message, finish = message_of(body, Toy, max_chars=9)
    assert message.text == "12345"
    assert finish.error is not None
    assert finish.error.code == "BODY_TOO_LARGE"
    assert message.usage is not None


class Scripted:
    """Gives prepared chunks, one list an event, and then others."""

    def __init__(self, lists: Sequence[list[Chunk]], at_end: Sequence[Chunk] = (Finish("stop"),)) -> None:
        self.lists = list(lists)
        self.at_end = list(at_end)

    def feed(self, name: str, data: str) -> list[Chunk]:
        return self.lists.pop(0)

    def decode(self, event: Any) -> list[Chunk]:
        return self.lists.pop(0)

    def finish(self) -> list[Chunk]:
        given, self.at_end = self.at_end, []
        return given


def run(lists: Sequence[list[Chunk]], at_end: Sequence[Chunk] = (Finish("stop"),), **limits: int) -> list[Chunk]:
    return chunks_of(machine(Scripted(lists, at_end), **limits), [[None]] * len(lists))


def test_block_limit() -> None:
    blocks: list[Chunk] = [chunk for i in range(3) for chunk in (BlockStart(i, "text"), BlockEnd(i))]
    assert run([blocks], max_blocks=3)[-1] == Finish("stop")
    chunks = run([blocks], max_blocks=2)
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].error is not None
    assert chunks[-1].error.code == "PROTOCOL"


def test_arguments_count_as_text() -> None:
    chunks = run(
        [[BlockStart(0, "tool_call", "a", "f"), ToolArgumentsDelta(0, "1" * 6)], [ToolArgumentsDelta(0, "1" * 6)]],
        max_chars=10,
    )
    assert assembled(chunks).tool_calls[0].arguments == "1" * 6
    assert assembled(chunks).tool_calls[0].truncated


# Decoders that break their promise


@pytest.mark.parametrize(
    ("lists", "at_end"),
    [
        ([[TextDelta(0, "a")]], [Finish("stop")]),
        ([[BlockStart(0, "text"), BlockStart(0, "text")]], [Finish("stop")]),
        ([[BlockStart(0, "text")]], [Finish("stop")]),
        ([[UsageReport(Usage()), BlockStart(0, "text")]], [Finish("stop")]),
        ([], []),
        ([], [Finish("error")]),
        ([], [BlockEnd(7), Finish("stop")]),
    ],
)
def test_order_is_kept_whatever_the_decoder_does(lists: list[list[Chunk]], at_end: list[Chunk]) -> None:
    chunks = run(lists, at_end)  # which checks the order
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].error is not None
    assert chunks[-1].error.code == "PROTOCOL"


class Broken(Toy):
    def decode(self, event: Any) -> list[Chunk]:
        return super().decode(event) if "say" in event else [event["nothing"]]


def test_decoder_with_a_fault_of_its_own() -> None:
    """A decoder may be anyone's code."""
    message, finish = message_of(sse({"say": "kept"}, {"x": 1}), Broken)
    assert message.text == "kept"
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"
    assert "KeyError" in finish.error.message
    assert isinstance(finish.error.__cause__, KeyError)


class BrokenAtTheEnd(Broken):
    def finish(self) -> list[Chunk]:
        raise RuntimeError("twice wrong")


def test_decoder_that_cannot_even_finish() -> None:
    """The first fault is the one that is told; what is open is closed all the same."""
    message, finish = message_of(sse({"say": "kept"}, {"x": 1}), BrokenAtTheEnd)
    assert message.text == "kept"
    assert finish.error is not None
    assert "KeyError" in finish.error.message
    assert "RuntimeError" in str(message_of(sse({"say": "kept"}), BrokenAtTheEnd)[1].error)


def test_empty_deltas_are_left_out() -> None:
    chunks = run([[BlockStart(0, "text"), TextDelta(0, ""), TextDelta(0, "a")], [BlockEnd(0)]])
    assert [chunk.type for chunk in chunks] == ["block-start", "text-delta", "block-end", "finish"]


# Halves of surrogate pairs


HI, LO = "\ud83d", "\ude00"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([HI, LO], "😀"),
        (["a" + HI, LO + "b"], "a😀b"),
        ([HI + LO], "😀"),
        ([HI, "", LO], "😀"),
        ([HI, "x"], "\ufffdx"),
        ([LO, HI], "\ufffd\ufffd"),
        ([HI], "\ufffd"),
        ([HI, HI, LO], "\ufffd😀"),
        (["é", HI + "é", LO], "é\ufffdé\ufffd"),
    ],
)
@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta, ToolArgumentsDelta])
def test_halves_of_a_pair(kind: Any, pieces: list[str], text: str) -> None:
    """JSON in ASCII may be cut between two escapes; JavaScript joins such text by itself, Python does not."""
    block: Any = {TextDelta: "text", ReasoningDelta: "reasoning", ToolArgumentsDelta: "tool_call"}[kind]
    chunks = run([[BlockStart(0, block)], *([kind(0, piece)] for piece in pieces), [BlockEnd(0)]])
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, kind)) == text


def test_halves_of_two_blocks() -> None:
    chunks = run(
        [
            [BlockStart(0, "tool_call"), BlockStart(1, "tool_call")],
            [ToolArgumentsDelta(0, HI), ToolArgumentsDelta(1, "é" + HI), ToolArgumentsDelta(1, LO)],
            [ToolArgumentsDelta(0, LO), BlockEnd(0), BlockEnd(1)],
        ]
    )
    assert [call.arguments for call in assembled(chunks).tool_calls] == ["😀", "é😀"]


@pytest.mark.parametrize("arguments", [[HI], ['{"a":"', HI], ["{}", HI], [" " + HI]])
def test_half_in_arguments_is_checked(arguments: list[str]) -> None:
    """What stands for the half is part of the arguments that are shown, so it is part of those that are checked."""
    chunks = run(
        [
            [BlockStart(0, "tool_call", "a", "f")],
            *([ToolArgumentsDelta(0, piece)] for piece in arguments),
            [BlockEnd(0), Finish("tool_calls")],
        ]
    )
    finish = chunks[-1]
    assert isinstance(finish, Finish) and finish.error is not None
    assert finish.error.code == "TOOL_ARGUMENTS_INVALID"


def test_half_at_a_fault() -> None:
    m = machine(Scripted([[BlockStart(0, "text"), TextDelta(0, HI)]], [BlockEnd(0), Finish("stop")]))
    chunks = m.feed([None]) + m.fail(CallCancelledError())
    check_order(chunks)
    assert assembled(chunks).text == "\ufffd"


@given(
    st.lists(
        st.sampled_from(
            [
                b"data: ",
                b'{"say":"x"}',
                b'{"end":"y"}',
                b"\n",
                b"\n\n",
                b"\r",
                b"{",
                b"<",
                b"[",
                b'"',
                b"event: e\n",
                b": c\n",
                b"\xff",
                b"\xef\xbb\xbf",
                b" ",
            ]
        ),
        max_size=20,
    ).map(b"".join),
    st.sampled_from(["text/event-stream", "application/json", None]),
)
def test_any_bytes_end_in_one_terminal_chunk(body: bytes, content_type: str | None) -> None:
    message_of(body, Toy, content_type)  # which checks the order, and that it does not matter how the body is cut


def test_slices_cut_a_body_in_no_new_way() -> None:
    """The helper of these tests, too, is what it says."""
    body = sse({"say": "a"})
    assert all(b"".join(slices) == body for slices in splits(body))


def test_names_and_ids_count_as_text() -> None:
    """Else 1024 calls could hold a gigabyte of names."""
    blocks: list[list[Chunk]] = [[BlockStart(i, "tool_call", str(i) * 40, "n" * 40), BlockEnd(i)] for i in range(3)]
    chunks = run(blocks, max_chars=200)
    assert sum(isinstance(chunk, BlockStart) for chunk in chunks) == 2
    assert isinstance(chunks[-1], Finish) and chunks[-1].error is not None
    assert chunks[-1].error.code == "BODY_TOO_LARGE"


# Lines and binary messages: the head of the body tells them apart


class Named:
    """Shows what it is given; the word "end" ends the answer."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.over = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        return self.take(name, strict_json.loads(data))

    def decode(self, event: Any) -> list[Chunk]:
        return self.take("", event)

    def take(self, name: str, value: Any) -> list[Chunk]:
        self.told.append((name, value))
        self.over = self.over or value == ["end"]
        return [Finish("stop")] if value == ["end"] else []

    def finish(self) -> list[Chunk]:
        return [] if self.over else [Finish("error", error=StreamTruncatedError())]


def shown(body: bytes, **limits: int) -> tuple[list[tuple[str, Any]], str | None]:
    """What the decoder was given, the same however the body is cut; and the code of the end."""
    outcomes: list[tuple[list[tuple[str, Any]], str | None]] = []
    for slices in splits(body):
        decoder = Named()
        finish = chunks_of(ResponseMachine(decoder, content_type=None, **limits), slices)[-1]
        assert isinstance(finish, Finish)
        outcomes.append((decoder.told, finish.error and finish.error.code))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    return outcomes[0]


@pytest.mark.parametrize(
    ("body", "told", "code"),
    [
        (b'{"a":1}\n{"b":2}\n', [("", {"a": 1}), ("message", {"b": 2})], "STREAM_TRUNCATED"),
        (b'\n {"a":1}\r\n\r\n{"b":2}', [("", {"a": 1}), ("message", {"b": 2})], "STREAM_TRUNCATED"),
        (b'{"a":1}\n', [("", {"a": 1})], "STREAM_TRUNCATED"),
        (b'{"a":1}\n{"b":', [("", {"a": 1})], "STREAM_TRUNCATED"),
        (b'{"a":1}\nwhat?\n{"b":2}\n', [("", {"a": 1})], "PROTOCOL"),
        (b'{"a":1}\n{"b":\n2}\n', [("", {"a": 1})], "PROTOCOL"),
        (b'{\n "a": 1,\n "b": [\n 2\n ]\n}\n', [("", {"a": 1, "b": [2]})], "STREAM_TRUNCATED"),  # one document
        (b'{"a": 1,\n"b": 2}', [("", {"a": 1, "b": 2})], "STREAM_TRUNCATED"),
        (b'{"a": 1,\n"b', [], "STREAM_TRUNCATED"),
        (b'{"a": what?\n"b": 2}', [], "PROTOCOL"),
        (b'[{"a":1}\n,\n{"b":2}]', [("", {"a": 1}), ("", {"b": 2})], "STREAM_TRUNCATED"),
        (b'[{"a":1},{"b":2}]\n["end"]\n{}', [("", {"a": 1}), ("", {"b": 2}), ("message", ["end"])], None),
    ],
    ids=named,
)
def test_lines(body: bytes, told: list[tuple[str, Any]], code: str | None) -> None:
    """One document over many lines, or many documents in one line each: the first line's end shows which."""
    assert shown(body) == (told, code)


def test_what_can_no_longer_be_a_document_is_told_at_once() -> None:
    machine = ResponseMachine(Named(), content_type=None)
    chunks = machine.feed(b'{"a": what?\n')
    assert isinstance(chunks[-1], Finish)
    assert machine.done


def test_limits_of_lines() -> None:
    assert shown(b'{"a":1}\n{"b":"' + b"x" * 99 + b'"}\n', max_event_bytes=64) == ([("", {"a": 1})], "BODY_TOO_LARGE")
    assert shown(b'{"b":"' + b"x" * 99 + b'"}\n', max_body_bytes=64) == ([], "BODY_TOO_LARGE")
    assert shown(b'{"b":\n' + b"1" * 99, max_body_bytes=64) == ([], "BODY_TOO_LARGE")


def test_messages() -> None:
    body = message(b'{"a":1}', "one") + message(b'["end"]', "two")
    assert shown(body) == ([("one", {"a": 1}), ("two", ["end"])], None)
    assert shown(body[:-1]) == ([("one", {"a": 1})], "STREAM_TRUNCATED")
    assert shown(body[:-1] + b"?") == ([("one", {"a": 1})], "PROTOCOL")
    assert shown(message(b"{}") + message(b"what?")) == ([("contentBlockDelta", {})], "PROTOCOL")
    assert shown(message(b"{}") + body, max_event_bytes=len(message(b"{}")) - 1)[1] == "BODY_TOO_LARGE"
    assert shown(b"\0 is no text")[1] == "PROTOCOL"
