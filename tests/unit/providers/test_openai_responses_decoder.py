"""The decoder by itself; whole responses are in tests/conformance/test_wire_openai_responses.py."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import FIXTURES, assembled

from unspool.errors import ProviderError, StreamError, StreamTruncatedError
from unspool.messages import Origin, Usage
from unspool.messages.parts import Replay
from unspool.providers import kept_chars
from unspool.providers.openai_responses_decoder import OpenAIResponsesDecoder
from unspool.stream import ResponseMachine, check_order
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta, ToolArgumentsDelta, UsageReport
from unspool.stream.response import MAX_BLOCKS

HERE = FIXTURES / "openai_responses"


def decode(*events: Any, final_output: bool = True) -> list[Chunk]:
    """All chunks of a response, in order."""
    decoder = OpenAIResponsesDecoder(final_output=final_output)
    chunks = [chunk for one in events for chunk in decoder.decode(one)] + decoder.finish()
    check_order(chunks)
    return chunks


def ended(*events: Any) -> Finish:
    finish = decode(*events)[-1]
    assert isinstance(finish, Finish)
    return finish


def item(type: str, id: str | None = "i_1", **members: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "status": "completed", **members}


def message(text: str, id: str = "i_1") -> dict[str, Any]:
    return item("message", id, role="assistant", content=[{"type": "output_text", "text": text}])


def call(arguments: str = "{}", id: str = "i_1", call_id: str = "c", name: str = "f") -> dict[str, Any]:
    return item("function_call", id, call_id=call_id, name=name, arguments=arguments)


def added(what: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": what}


def done(what: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": what}


def text(delta: Any, place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": place, "content_index": 0, "delta": delta}


def arguments(delta: Any, place: int = 0) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": place, "delta": delta}


def closed(*output: Any, **members: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": [*output], **members}}


def test_blocks() -> None:
    chunks = decode(
        {"type": "response.created", "response": {"id": "r", "model": "m", "usage": None}},
        added(message("")),
        text("a"),
        text("b"),
        done(message("ab")),
        added(call(), 1),
        arguments("{", 1),
        arguments("}", 1),
        done(call(), 1),
        closed(message("ab"), call(), usage={"input_tokens": 1}),
    )
    assert chunks == [
        BlockStart(0, "text"),
        TextDelta(0, "a"),
        TextDelta(0, "b"),
        BlockEnd(0, replay=Replay("openai-responses", {"id": "i_1"})),
        BlockStart(1, "tool_call", "c", "f"),
        ToolArgumentsDelta(1, "{"),
        ToolArgumentsDelta(1, "}"),
        BlockEnd(1, replay=Replay("openai-responses", {"id": "i_1"})),
        UsageReport(Usage(1, raw={"input_tokens": 1})),
        Finish("tool_calls", "completed", origin=Origin("openai-responses", "m", "r")),
    ]


@pytest.mark.parametrize(
    ("details", "status", "reason", "raw"),
    [
        ({"reason": "max_output_tokens"}, "incomplete", "length", "max_output_tokens"),
        ({"reason": "content_filter"}, "incomplete", "content_filter", "content_filter"),
        ({"reason": "max_output_tokens"}, "completed", "length", "max_output_tokens"),
        ({"reason": "made_up"}, "incomplete", "error", "made_up"),
        (None, "incomplete", "error", "incomplete"),
        (None, "cancelled", "error", "cancelled"),
        (None, "made_up", "error", "made_up"),
        (None, "in_progress", "stop", "completed"),  # a copy of the first event's response
        (None, None, "stop", "completed"),
        (5, 5, "stop", "completed"),
    ],
)
def test_finish_reason(details: Any, status: Any, reason: str, raw: str) -> None:
    """An end that is not understood is never a normal one."""
    finish = ended(done(message("a")), closed(message("a"), status=status, incomplete_details=details))
    assert (finish.reason, finish.raw_reason) == (reason, raw)


@pytest.mark.parametrize("name", ["response.failed", "response.cancelled", "response.incomplete"])
def test_closing_event_with_little_in_it(name: str) -> None:
    finish = ended(text("a"), {"type": name})
    assert isinstance(finish.error, ProviderError)
    assert finish.raw_reason == name.removeprefix("response.")


def test_completed_with_an_error_is_an_error() -> None:
    finish = ended(text("a"), closed(error={"code": "server_error", "message": "broke"}))
    assert isinstance(finish.error, ProviderError)
    assert "broke" in finish.error.message
    assert finish.error.retryable


@pytest.mark.parametrize(
    ("code", "ours", "retryable"),
    [
        ("server_error", "PROVIDER", True),
        ("rate_limit_exceeded", "RATE_LIMIT", True),
        ("vector_store_timeout", "PROVIDER", True),
        ("invalid_prompt", "INVALID_REQUEST", False),
        ("invalid_base64_image", "INVALID_REQUEST", False),
        ("image_too_large", "INVALID_REQUEST", False),
        ("unsupported_image_media_type", "INVALID_REQUEST", False),
        ("failed_to_download_image", "INVALID_REQUEST", False),
        ("image_content_policy_violation", "CONTENT_FILTERED", False),
        ("bio_policy", "CONTENT_FILTERED", False),
        ("misalignment_policy_violation", "CONTENT_FILTERED", False),
    ],
)
def test_error_of_a_failed_response(code: str, ours: str, retryable: bool) -> None:
    """The codes of the SDK's `ResponseError`."""
    finish = ended({"type": "response.failed", "response": {"error": {"code": code, "message": "m"}}})
    assert finish.error is not None
    assert (finish.error.code, finish.error.retryable) == (ours, retryable)


def test_cut_response_that_only_the_end_shows() -> None:
    details = {"reason": "max_output_tokens"}
    for event in (
        {"type": "response.incomplete", "response": {"output": [message("half")], "incomplete_details": details}},
        {"object": "response", "status": "incomplete", "output": [message("half")], "incomplete_details": details},
    ):
        chunks = decode(event)
        assert assembled(chunks).text == "half"
        assert isinstance(chunks[-1], Finish)
        assert chunks[-1].reason == "length"


def test_nothing_after_the_end() -> None:
    decoder = OpenAIResponsesDecoder()
    decoder.decode(closed(message("a")))
    assert decoder.decode(text("b")) == decoder.feed("message", "not json") == decoder.finish() == []


def test_events_as_text() -> None:
    decoder = OpenAIResponsesDecoder()
    assert decoder.feed("message", "") == decoder.feed("message", " ") == []
    assert decoder.feed("message", ": keep-alive") == []  # F5
    with pytest.raises(StreamError):
        decoder.feed("message", '{"type":')
    assert [chunk.type for chunk in decoder.feed("message", json.dumps(text("x")))] == ["block-start", "text-delta"]
    end = decoder.feed("message", " [DONE] ")
    assert [chunk.type for chunk in end] == ["block-end", "finish"]
    assert isinstance(end[-1], Finish)
    assert isinstance(end[-1].error, StreamTruncatedError)


@pytest.mark.parametrize("data", ['{"error":{"message":"m"}}', '{"message":"m"}', "m", '{"message":', "[" * 5_000])
def test_error_event(data: str) -> None:
    """F24, F38: whatever the data is, an event that is called an error is one."""
    chunks = OpenAIResponsesDecoder().feed("error", data)
    assert isinstance(chunks[-1], Finish)
    assert isinstance(chunks[-1].error, ProviderError)
    assert chunks[-1].raw_reason == "error"


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        {"type": "response.made_up.event", "item": 5},
        {"type": "ping"},
        {"type": "keepalive"},
        {"type": None},
        text(None),
        text(""),
        {"type": "response.created", "response": 5},
        {"type": "response.in_progress", "response": {"id": 5, "model": None, "usage": []}},
        {"type": "response.content_part.added", "part": 5},
        {"type": "response.content_part.done", "output_index": 0, "part": {"type": "made_up", "text": 5}},
        {"type": "response.output_text.done", "output_index": 0, "text": None},
        {"type": "response.output_text.annotation.added", "output_index": 9, "annotation": {"url": "x"}},
        {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": 5},
        {"error": None},
        added(message("")),
    ],
)
def test_what_is_passed_over(odd: Any) -> None:
    chunks = decode(added(message("")), text("a"), odd, text("b"), done(message("ab")), closed(message("ab")))
    assert assembled(chunks).text == "ab"
    assert chunks[-1].type == "finish"
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].error is None


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([5], "not an object"),
        ([text(5)], "not text"),
        ([{"type": 5}], "not text"),
        ([added({"id": "x"})], "no type"),
        ([added(call()), arguments(["{"])], "not text"),
        ([added(call()), text("a")], "function_call"),
        ([added(message("")), arguments("{")], "not begun"),
        ([done(message("a")), text("b")], "had completed"),
        ([done(call()), arguments("{")], "after its end"),
        ([done({**call(), "arguments": {"x": 1}})], "not text"),
    ],
)
def test_what_cannot_be_meant(events: list[Any], says: str) -> None:
    finish = ended(*events)
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"
    assert says in finish.error.message


def test_ids_that_change_do_not_matter_for_text() -> None:
    """A gateway may give each event another id; the place tells."""
    chunks = decode(
        added(message("", "m_1")),
        text("a") | {"item_id": "m_2"},
        text("b") | {"item_id": "m_3"},
        done(message("ab", "m_4")),
        closed(message("ab", "m_5")),
    )
    assert assembled(chunks).text == "ab"


def test_call_without_call_id() -> None:
    """The item's id stands in: results need something to point at."""
    nameless = {**call(), "call_id": None}
    message_ = assembled(decode(added(nameless), arguments("{}"), done(nameless), closed(nameless)))
    assert [one.id for one in message_.tool_calls] == ["i_1"]
    bare = {**nameless, "id": None}
    assert [one.id for one in assembled(decode(done(bare), closed(bare))).tool_calls] == ["call_0"]


def test_neither_places_nor_ids() -> None:
    """What the last item is goes on."""
    chunks = decode(
        {"type": "response.output_item.added", "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.output_text.delta", "delta": "b"},
        {"type": "response.output_item.done", "item": {"type": "message", "content": [{"type": "text", "text": "ab"}]}},
        {"type": "response.output_item.added", "item": {"type": "function_call", "name": "f", "call_id": "c"}},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
        {"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "c", "arguments": "{}"}},
        closed(),
        final_output=False,
    )
    told = assembled(chunks)
    assert (told.text, [(one.id, one.arguments) for one in told.tool_calls]) == ("ab", [("c", "{}")])


def test_text_that_is_changed_afterwards_stays_as_it_was_streamed() -> None:
    decoder = OpenAIResponsesDecoder()
    chunks = [
        *decoder.decode(text("Hello")),
        *decoder.decode({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Help"}),
    ]
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["Hello"]


def test_items_that_only_the_end_shows() -> None:
    """And those that a server leaves out of it."""
    chunks = decode(done(message("a", "m_1")), closed(message("a", "m_1"), item("web_search_call", "w_1")))
    assert [part.type for part in assembled(chunks).parts] == ["text", "provider"]
    chunks = decode(
        added(item("mcp_list_tools", "l_1", tools=[])),
        done(message("a", "m_1"), 1),
        closed(message("a", "m_1")),
    )
    assert [part.type for part in assembled(chunks).parts] == ["text"]


def test_item_that_only_the_end_completes() -> None:
    chunks = decode(added(item("mcp_list_tools", "l_1")), closed(item("mcp_list_tools", "l_1", tools=[1])))
    [part] = assembled(chunks).parts
    assert part.to_wire()["kind"] == "mcp_list_tools"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [added({"type": "message", "id": str(n)}, n) for n in range(MAX_BLOCKS + 1)]
    finish = ended(*many)
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"
    monkeypatch.setattr(kept_chars, "MAX_KEPT_CHARS", 100)
    decoder = OpenAIResponsesDecoder()
    chunks = decoder.feed("message", json.dumps(done(item("web_search_call", result="x" * 100))))
    assert isinstance(chunks[-1], Finish)
    assert chunks[-1].error is not None
    assert chunks[-1].error.code == "BODY_TOO_LARGE"


def test_filters_of_azure() -> None:
    finish = ended(done(message("a")), closed(message("a"), content_filters=[{"blocked": False}]))
    assert finish.metadata == {"content_filters": [{"blocked": False}]}


def test_values_that_are_no_json() -> None:
    """Events of a model in the page may hold anything."""
    finish = ended(done(item("web_search_call", when=object())))
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "completed", "{}", "error", "message", "function_call", "reasoning", "i_1", "c"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "type", "name", "id", "item"]), children, max_size=3)
    ),
    max_leaves=5,
)
TYPES = sorted(
    {
        json.loads(line[6:])["type"]
        for file in HERE.glob("*.sse")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith('data: {"type"') and line.endswith("}")
    }
)
FIELDS = [
    "annotation",
    "arguments",
    "call_id",
    "code",
    "content",
    "content_index",
    "delta",
    "encrypted_content",
    "error",
    "id",
    "incomplete_details",
    "item",
    "item_id",
    "message",
    "model",
    "name",
    "object",
    "output",
    "output_index",
    "part",
    "reason",
    "refusal",
    "response",
    "result",
    "status",
    "summary",
    "summary_index",
    "text",
    "usage",
]
LOOKALIKE = st.builds(
    lambda type, members: {**members, "type": type},
    st.sampled_from([*TYPES, "message", "function_call"]),
    st.recursive(
        ANY_JSON,
        lambda children: st.dictionaries(
            st.sampled_from([*FIELDS, "type"]), children | st.lists(children, max_size=3), max_size=6
        ),
        max_leaves=20,
    ).map(lambda value: value if isinstance(value, dict) else {"item": value}),
)


@given(st.lists(LOOKALIKE | ANY_JSON, max_size=6), st.booleans())
def test_any_value_anywhere(events: list[Any], final_output: bool) -> None:
    """Chunks, or a typed end; never an exception."""
    chunks = decode(*events, final_output=final_output)
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    if finish.error is not None:
        finish.error.to_wire()
    assembled(chunks).to_wire()


@given(st.data())
def test_any_value_in_place_of_another(data: st.DataObject) -> None:
    """One member of a good response, at any depth, replaced by anything; or an event lost, doubled or moved."""
    name = data.draw(
        st.sampled_from(["interleaved-tool-calls", "reasoning-summary", "web-search", "image", "llama-cpp"])
    )
    lines = (HERE / f"{name}.sse").read_text(encoding="utf-8").splitlines()
    good: list[Any] = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    match data.draw(st.sampled_from(["replace", "drop", "double", "swap"])):
        case "drop":
            del good[data.draw(st.integers(0, len(good) - 1))]
        case "double":
            good.insert(data.draw(st.integers(0, len(good))), data.draw(st.sampled_from(good)))
        case "swap":
            one, other = (data.draw(st.integers(0, len(good) - 1)) for _ in range(2))
            good[one], good[other] = good[other], good[one]
        case _:
            node: Any = good
            while True:
                keys = list(node) if isinstance(node, dict) else list(range(len(node)))
                key = data.draw(st.sampled_from(keys))
                if not node[key] or not isinstance(node[key], dict | list) or data.draw(st.booleans()):
                    break
                node = node[key]
            node[key] = data.draw(ANY_JSON)
    decode(*good)
    machine = ResponseMachine(OpenAIResponsesDecoder(), content_type=None)
    check_order([*machine.feed(good), *machine.finish()])
