"""The decoder by itself; whole responses are in tests/conformance/test_wire_openai_chat.py."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import assembled, chunks_of

from unspool.errors import ProviderError, StreamError, WireError
from unspool.messages import Image, Origin, ProviderPart, Replay, TextPart, Usage
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.stream import ResponseMachine, check_order
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ReasoningDelta, TextDelta, UsageReport


def event(delta: Any = None, reason: Any = None, **members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}], **members}


def decode(*events: Any, choice: int = 0, cumulative: bool = False) -> list[Chunk]:
    """All chunks of a response, in order."""
    decoder = OpenAIChatDecoder(choice=choice, cumulative=cumulative)
    chunks = [chunk for one in events for chunk in decoder.decode(one)] + decoder.finish()
    check_order(chunks)
    return chunks


def test_blocks() -> None:
    chunks = decode(
        event({"reasoning": "r"}),
        event({"content": "a"}),
        event({"content": "b"}),
        event({"refusal": "no"}, "stop", usage={"prompt_tokens": 1}),
    )
    assert chunks == [
        BlockStart(0, "reasoning"),
        ReasoningDelta(0, "r"),
        BlockEnd(0),
        BlockStart(1, "text"),
        TextDelta(1, "a"),
        TextDelta(1, "b"),
        BlockEnd(1),
        BlockStart(2, "refusal"),
        TextDelta(2, "no"),
        BlockEnd(2),
        UsageReport(Usage(1, raw={"prompt_tokens": 1})),
        Finish("stop", "stop"),
    ]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("made_up", "stop"),
    ],
)
def test_finish_reason(raw: str, reason: str) -> None:
    assert decode(event({"content": "a"}), event({}, raw))[-1] == Finish(reason, raw)  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", ["error", "abort", "network_error", "insufficient_system_resource"])
def test_finish_reason_that_is_an_error(raw: str) -> None:
    """F38."""
    finish = decode(event({"content": "a"}), event({}, raw))[-1]
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.raw_reason) == ("error", raw)
    assert isinstance(finish.error, ProviderError)


@pytest.mark.parametrize("later", [None, "", 0, False])
def test_last_reason_counts(later: Any) -> None:
    assert decode(event({}, "length"), event({}, later))[-1] == Finish("length", "length")
    assert decode(event({}, "length"), event({}, "stop"))[-1] == Finish("stop", "stop")


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}, Usage(1, 2, 3)),
        ({"input_tokens": 1, "output_tokens": 2}, Usage(1, 2)),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 0}}, Usage(1, cached_input_tokens=0)),
        ({"prompt_cache_hit_tokens": 5}, Usage(cached_input_tokens=5)),
        ({"completion_tokens_details": {"reasoning_tokens": 4}}, Usage(reasoning_tokens=4)),
        ({"prompt_tokens": "1", "completion_tokens": None, "total_tokens": True, "prompt_tokens_details": []}, Usage()),
    ],
)
def test_usage(raw: dict[str, Any], usage: Usage) -> None:
    counts = {name: getattr(usage, name) for name in usage.__slots__ if name != "raw"}
    assert decode(event({}, "stop"), {"choices": [], "usage": raw})[-2] == UsageReport(Usage(**counts, raw=raw))


def test_usage_of_xai() -> None:
    """It counts reasoning beside the answer; with us the answer includes it."""
    raw = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 115,
        "completion_tokens_details": {"reasoning_tokens": 100},
    }
    report = decode(event({}, "stop"), {"choices": [], "usage": raw})[-2]
    assert report == UsageReport(Usage(10, 105, 115, reasoning_tokens=100, raw=raw))


def test_origin_and_metadata() -> None:
    """F25: results of Azure's filter are kept, wherever they come."""
    first = {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    second = {"id": "chatcmpl-1", "model": "gpt-4o-2024-11-20", "service_tier": "default"} | event({"content": "a"})
    filtered: dict[str, Any] = {"choices": [{"index": 0, "content_filter_results": {"hate": {"filtered": False}}}]}
    cited = event({"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a.example"}}]})
    finish = decode(first, second, filtered, cited, cited, event({}, "stop"))[-1]
    assert isinstance(finish, Finish)
    assert finish.origin == Origin("openai-chat", "gpt-4o-2024-11-20", "chatcmpl-1")
    assert finish.metadata == {
        "prompt_filter_results": [{"prompt_index": 0}],
        "service_tier": "default",
        "content_filter_results": {"hate": {"filtered": False}},
        "annotations": cited["choices"][0]["delta"]["annotations"] * 2,
    }
    assert decode(event({"content": "a"}, "stop"))[-1] == Finish("stop", "stop")


def test_reasoning_details_are_kept_for_the_next_turn() -> None:
    """F33: as one block behind the answer, also when no reasoning was shown."""
    piece = {"type": "reasoning.encrypted", "data": "gAAA", "format": "openai-responses-v1", "index": 0}
    decoder = OpenAIChatDecoder(adapter="openrouter")
    chunks = decoder.decode(event({"content": "", "reasoning_details": [piece]}))
    chunks += decoder.decode(event({"content": "Hi"}, "stop")) + decoder.finish()
    message = assembled(chunks)
    assert message.parts == (
        TextPart("Hi"),
        ProviderPart("reasoning_details", Replay("openrouter", {"reasoning_details": [piece]})),
    )


def test_images_of_an_answer() -> None:
    """OpenRouter: models that draw."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    message = assembled(decode(event({"content": "Here", "images": [image]}), event({"content": "."}, "stop")))
    assert message.parts == (TextPart("Here"), Image(b"\x89PNG\r\n\x1a\n"), TextPart("."))


@pytest.mark.parametrize("image", [5, {}, {"image_url": {"url": "ftp://x"}}, {"image_url": {"url": "data:image/png"}}])
def test_image_that_is_none(image: Any) -> None:
    finish = decode(event({"content": "a", "images": [image]}))[-1]
    assert isinstance(finish, Finish)
    assert isinstance(finish.error, WireError)


@pytest.mark.parametrize("nothing", [None, {}, [], "x", 5])
def test_no_usage(nothing: Any) -> None:
    assert [chunk.type for chunk in decode(event({}, "stop", usage=nothing, x_groq=nothing))] == ["finish"]


def test_message_beside_deltas_is_a_copy() -> None:
    """Writer and others send the whole message with each delta."""
    choice = {"delta": {"content": "a"}, "message": {"content": "a"}}
    last = {"delta": None, "message": {"content": "ab"}, "finish_reason": "stop"}
    assert assembled(decode({"choices": [choice]}, {"choices": [last]})).text == "a"


def test_choices_without_index_are_counted() -> None:
    both = {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}
    assert assembled(decode(both, choice=0)).text == "a"
    assert assembled(decode(both, choice=1)).text == "b"


@pytest.mark.parametrize(
    "bad",
    [
        5,
        "text",
        True,
        [1],
        [[]],
        {"choices": 5},
        {"choices": {"0": {}}},
        {"choices": [5]},
        {"choices": ["x"]},
        event({"content": 5}),
        event({"content": {"text": "x"}}),
        event({"tool_calls": 5}),
        event({"tool_calls": {"a": 1}}),
        event({"tool_calls": [5]}),
        event({"tool_calls": [{"function": 5}]}),
        event({"function_call": "x"}),
    ],
)
def test_what_cannot_be_meant(bad: Any) -> None:
    """The response ends, in order, and what had come in the same event is kept."""
    chunks = decode(event({"content": "kept"}, usage={"prompt_tokens": 1}), bad, event({"content": "lost"}, "stop"))
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    message = assembled(chunks)
    assert message.text == "kept"
    assert message.usage is not None


def test_what_came_in_the_same_event_is_kept() -> None:
    chunks = decode(event({"reasoning": "why", "content": "what", "tool_calls": [{"id": "a", "function": 5}]}))
    message = assembled(chunks)
    assert (message.reasoning, message.text, message.finish_reason) == ("why", "what", "error")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"delta": 5}]},
        event({"content": None}),
        event({"content": ""}),
        event({"content": 0}),
        event({"content": False}),
        event({"content": []}),
        event(
            {"content": [None, {}, {"type": "x"}, {"type": "text", "text": None}, {"type": "thinking", "thinking": 0}]}
        ),
        event({"reasoning": 5, "reasoning_content": {"x": 1}, "reasoning_details": 5, "refusal": 5}),
        event({"reasoning_details": [5, None, {"text": 5}, {"type": "reasoning.encrypted", "data": "x"}]}),
        event({"tool_calls": None}),
        event({"tool_calls": []}),
        event({"tool_calls": [None]}),
        event({}, 5),
        event({}, {}),
        {"choices": [], "prompt_filter_results": [{}]},
        {"type": "ping"},
        {"error": None, "choices": []},
        {"choices": [{"text": None}]},
        {"choices": [{"message": 5}]},
    ],
)
def test_what_is_passed_over(odd: Any) -> None:
    """F25 and its neighbours."""
    assert assembled(decode(event({"content": "a"}), odd, event({"content": "b"}, "stop"))).text == "ab"


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [{"text": 5}]},
        event({"content": 5}),
        event({"content": [5]}),
        event({"content": [["x"]]}),
        event({"content": [{"type": 5, "text": "x"}]}),
        event({"content": [{"type": "text", "text": 5}]}),
        event({"content": [{"type": "refusal", "refusal": {}}]}),
        event({"content": [{"type": "thinking", "thinking": 5}]}),
        event({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": 5}]}]}),
    ],
)
def test_what_would_lose_a_part_of_the_answer(odd: Any) -> None:
    message = assembled(decode(event({"content": "a"}), odd, event({"content": "b"}, "stop")))
    assert (message.text, message.finish_reason) == ("a", "error")


def test_cumulative() -> None:
    """F39: each kind of text by itself."""
    chunks = decode(
        event({"reasoning": "r"}),
        event({"reasoning": "rs"}),
        event({"content": "t"}),
        event({"content": "tu", "reasoning": "rs"}),
        event({"content": ""}, "stop"),
        cumulative=True,
    )
    message = assembled(chunks)
    assert (message.reasoning, message.text) == ("rs", "tu")


def test_cumulative_text_that_changes() -> None:
    finish = decode(event({"content": "Hello"}), event({"content": "Help"}), cumulative=True)[-1]
    assert isinstance(finish, Finish)
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"


def test_events_as_text() -> None:
    decoder = OpenAIChatDecoder()
    assert decoder.feed("message", "") == []
    assert decoder.feed("message", " ") == []
    assert decoder.feed("message", ": OPENROUTER PROCESSING") == []  # F5
    assert decoder.feed("ping", "{}") == []
    with pytest.raises(StreamError):
        decoder.feed("message", '{"choices":')
    assert [chunk.type for chunk in decoder.feed("message", '{"choices":[{"delta":{"content":"x"}}]}')] == [
        "block-start",
        "text-delta",
    ]
    assert [chunk.type for chunk in decoder.feed("message", " [DONE] ")] == ["block-end", "finish"]
    assert decoder.feed("message", "not json") == decoder.decode(5) == decoder.finish() == []


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ('{"error":{"message":"m"}}', "m"),
        ('{"message":"m","code":"c"}', "m (c)"),
        ("plain words", "plain words"),
        ('"text"', "text"),
        ('{"error":', '{"error":'),
        ("[" * 5_000, "[[["),
    ],
)
def test_error_event(data: str, says: str) -> None:
    """F24, F38: whatever the data is, an event that is called an error is one."""
    chunks = OpenAIChatDecoder().feed("error", data)
    assert isinstance(chunks[-1], Finish)
    assert isinstance(chunks[-1].error, ProviderError)
    assert says in chunks[-1].error.message


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "stop", "{}", "error"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "type", "name", "x"]), children, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "function_call",
    "name",
    "arguments",
    "id",
    "index",
    "finish_reason",
    "usage",
    "x_groq",
    "error",
    "reasoning",
    "reasoning_details",
    "refusal",
    "text",
    "type",
    "object",
    "prompt_tokens_details",
    "thinking",
    "reasoning_details",
    "images",
    "image_url",
    "url",
    "annotations",
    "content_filter_results",
    "id",
    "model",
]
LOOKALIKE = st.recursive(
    ANY_JSON,
    lambda children: st.dictionaries(st.sampled_from(FIELDS), children | st.lists(children, max_size=3), max_size=6),
    max_leaves=25,
)


@given(st.lists(LOOKALIKE, max_size=5), st.booleans(), st.integers(0, 1))
def test_any_value_anywhere(events: list[Any], cumulative: bool, choice: int) -> None:
    """Chunks, or a typed end; never an exception, also not one that the machine would make a typed end of."""
    machine = ResponseMachine(OpenAIChatDecoder(choice=choice, cumulative=cumulative), content_type=None)
    chunks = chunks_of(machine, [events])
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    if finish.error is not None:
        assert "could not be decoded" not in finish.error.message
        finish.error.to_wire()
    assembled(chunks).to_wire()


@given(st.data())
def test_any_value_in_place_of_another(data: st.DataObject) -> None:
    """One member of a good response, at any depth, replaced by anything."""
    good: list[Any] = [
        event(
            {
                "role": "assistant",
                "content": "a",
                "reasoning": "r",
                "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}],
            }
        ),
        event(
            {"content": [{"type": "text", "text": "b"}], "tool_calls": [{"index": 0, "function": {"arguments": "}"}}]},
            "tool_calls",
        ),
        {"choices": [], "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}},
    ]
    node: Any = good
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if not node[key] or not isinstance(node[key], dict | list) or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(ANY_JSON)
    decode(*good)
