"""The decoder by itself; whole responses are in tests/conformance/test_wire_gemini.py."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import assembled

from unspool.errors import ProviderError, StreamError, StreamTruncatedError, WireError
from unspool.messages import Image, Origin, ProviderPart, Replay, Usage
from unspool.providers import kept_chars
from unspool.providers.gemini_decoder import GeminiDecoder
from unspool.stream import check_order
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ReasoningDelta, TextDelta, UsageReport

ORIGIN = Origin("gemini")


def event(*parts: Any, reason: Any = None, **members: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": reason}], **members}


def decode(*events: Any, candidate: int = 0) -> list[Chunk]:
    """All chunks of a response, in order."""
    decoder = GeminiDecoder(candidate=candidate)
    chunks = [chunk for one in events for chunk in decoder.decode(one)] + decoder.finish()
    check_order(chunks)
    assert decoder.decode(event({"text": "late"})) == decoder.feed("", "{}") == decoder.finish() == []
    return chunks


def finish_of(*events: Any) -> Finish:
    finish = decode(*events)[-1]
    assert isinstance(finish, Finish)
    return finish


def test_blocks() -> None:
    signature = Replay("gemini", {"thoughtSignature": "QQ=="})
    chunks = decode(
        event({"text": "r", "thought": True}),
        event({"text": "a"}),
        event({"text": "b"}, {"text": "c", "thoughtSignature": "QQ=="}),
        event({"text": "d"}, reason="STOP", usageMetadata={"promptTokenCount": 1}),
    )
    assert chunks == [
        BlockStart(0, "reasoning"),
        ReasoningDelta(0, "r"),
        BlockEnd(0),
        BlockStart(1, "text"),
        TextDelta(1, "a"),
        TextDelta(1, "b"),
        BlockEnd(1),
        BlockStart(2, "text"),
        TextDelta(2, "c"),
        BlockEnd(2, replay=signature),
        BlockStart(3, "text"),
        TextDelta(3, "d"),
        BlockEnd(3),
        UsageReport(Usage(1, raw={"promptTokenCount": 1})),
        Finish("stop", "STOP", origin=ORIGIN),
    ]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("CONTINUATION", "length"), ("SPII", "content_filter")],
)
def test_finish_reason(raw: str, reason: str) -> None:
    finish = finish_of(event({"text": "a"}, reason=raw))
    assert (finish.reason, finish.raw_reason, finish.error) == (reason, raw, None)


@pytest.mark.parametrize("later", [None, "", 0, False, []])
def test_last_reason_counts(later: Any) -> None:
    assert finish_of(event(reason="MAX_TOKENS"), event(reason=later)).reason == "length"
    assert finish_of(event(reason="STOP"), event(reason="MAX_TOKENS")).reason == "length"


def test_finish_comes_with_the_end_only() -> None:
    """What is said after STOP belongs to the answer, and calls may be made only when it is over."""
    decoder = GeminiDecoder()
    chunks = decoder.decode(event({"functionCall": {"name": "f"}}, reason="STOP"))
    assert not any(isinstance(chunk, Finish | UsageReport) for chunk in chunks)
    assert [chunk.type for chunk in decoder.finish()] == ["finish"]


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        ({"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}, (1, 2, 3, None, None)),
        ({"promptTokenCount": 1, "thoughtsTokenCount": 2}, (1, 2, None, None, 2)),
        ({"candidatesTokenCount": 1, "thoughtsTokenCount": 2}, (None, 3, None, None, 2)),
        ({"promptTokenCount": 1, "toolUsePromptTokenCount": 4}, (5, None, None, None, None)),
        ({"promptTokenCount": 9, "cachedContentTokenCount": 8}, (9, None, None, 8, None)),
        ({"promptTokenCount": "1", "candidatesTokenCount": True, "totalTokenCount": None}, (None,) * 5),
    ],
)
def test_usage(raw: dict[str, Any], counts: tuple[int | None, ...]) -> None:
    report = decode(event(reason="STOP"), {"usageMetadata": raw})[-2]
    assert report == UsageReport(Usage(*counts[:3], cached_input_tokens=counts[3], reasoning_tokens=counts[4], raw=raw))


@pytest.mark.parametrize("nothing", [None, {}, [], "x", 5])
def test_no_usage(nothing: Any) -> None:
    assert [chunk.type for chunk in decode(event(reason="STOP", usageMetadata=nothing))] == ["finish"]


def test_origin() -> None:
    finish = finish_of(
        event({"text": "a"}, modelVersion="m-1", responseId="r"), event(reason="STOP", modelVersion="m-2", responseId=5)
    )
    assert finish.origin == Origin("gemini", "m-1", "r")


def test_candidates_without_index_are_counted() -> None:
    both = {"candidates": [{"content": {"parts": [{"text": "a"}]}}, {"content": {"parts": [{"text": "b"}]}}]}
    assert assembled(decode(both, candidate=0)).text == "a"
    assert assembled(decode(both, candidate=1)).text == "b"


@pytest.mark.parametrize(
    "bad",
    [
        5,
        "text",
        True,
        [1],
        [[]],
        {"candidates": 5},
        {"candidates": {"0": {}}},
        {"candidates": [5]},
        {"candidates": [{"content": 5}]},
        {"candidates": [{"content": []}]},
        {"candidates": [{"content": {"parts": {}}}]},
        event(5),
        event({"text": 5}),
        event({"text": ["x"], "thought": True}),
        event({"functionCall": 5}),
        event({"functionCall": {"name": "f", "args": {"x": float("inf")}}}),
        event({"inlineData": {"mimeType": "image/png", "data": 5}}),
        event({"inlineData": {"mimeType": "image/png"}}),
        event({"executableCode": {"x": float("nan")}}),
    ],
)
def test_what_cannot_be_meant(bad: Any) -> None:
    chunks = decode(event({"text": "kept"}), bad)
    finish = chunks[-1]
    assert isinstance(finish, Finish)
    assert isinstance(finish.error, WireError)
    assert finish.error.code == "PROTOCOL"
    assert assembled(chunks).text == "kept"


@pytest.mark.parametrize(
    "nothing", [None, {}, {"candidates": None}, {"candidates": []}, event(), event({}), event({"text": None})]
)
def test_what_says_nothing(nothing: Any) -> None:
    assert decode(nothing, event({"text": "a"}, reason="STOP"))[:2] == [BlockStart(0, "text"), TextDelta(0, "a")]


@pytest.mark.parametrize("feedback", [{"safetyRatings": []}, {"blockReason": ""}, {"blockReason": None}, 5, [], None])
def test_prompt_that_is_not_blocked(feedback: Any) -> None:
    assert finish_of({"promptFeedback": feedback}, event(reason="STOP")).error is None


def test_blocked_prompt_wins() -> None:
    finish = finish_of({"promptFeedback": {"blockReason": "SAFETY"}}, event({"text": "a"}, reason="STOP"))
    assert isinstance(finish.error, ProviderError)
    assert finish.error.code == "CONTENT_FILTERED"


def test_words_of_another_service() -> None:
    finish = finish_of({"detail": "Not\nFound"})
    assert finish.error is not None
    assert finish.error.code == "PROTOCOL"
    assert "Not Found" in finish.error.message
    assert isinstance(finish_of({"detail": "x"}, event({"text": "a"})).error, StreamTruncatedError)


@pytest.mark.parametrize("name", ["fileData", "functionResponse", "toolCall", "toolResponse", "brandNew", "inlineData"])
def test_other_parts_are_kept(name: str) -> None:
    part = {"thought": False, name: {"mimeType": "audio/wav"}, "thoughtSignature": "QQ=="}
    chunks = decode(event({"text": "a"}, part, reason="STOP"))
    assert chunks[3:5] == [
        BlockStart(1, name),
        BlockEnd(1, part=ProviderPart(name, Replay("gemini", {"part": part}))),
    ]


@pytest.mark.parametrize("name", ["tool_call", "image", "file", "refusal", "reasoning"])
def test_parts_with_names_of_ours(name: str) -> None:
    """The words of the chunks mean something else."""
    part = {name: {}}
    kind = f"gemini:{name}"
    expected = BlockEnd(0, part=ProviderPart(kind, Replay("gemini", {"part": part})))
    assert decode(event(part, reason="STOP"))[:2] == [BlockStart(0, kind), expected]


def test_image() -> None:
    chunks = decode(event({"inlineData": {"mimeType": "image/webp", "data": "QUJD"}}, reason="STOP"))
    assert chunks[:2] == [BlockStart(0, "image"), BlockEnd(0, part=Image(b"ABC", media_type="image/webp"))]


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """TOOL_STREAMING, Gemini: so much of serialised parts in a response."""
    monkeypatch.setattr(kept_chars, "MAX_KEPT_CHARS", 100)
    part = {"executableCode": {"code": "x" * 40}}
    assert finish_of(event(part, reason="STOP")).error is None
    signed = {"text": "", "thoughtSignature": "x" * 60}
    for one, two in (
        (part, part),
        (signed, signed),
        (part, {"functionCall": {"name": "f"}, "thoughtSignature": "x" * 60}),
    ):
        finish = finish_of(event(one), event(two, reason="STOP"))
        assert finish.error is not None
        assert finish.error.code == "BODY_TOO_LARGE"


def test_metadata_is_bounded() -> None:
    events = [
        {"candidates": [{"groundingMetadata": {f"{place}-{name}": 1 for name in range(9)}}]} for place in range(99)
    ]
    finish = finish_of(*events, event(reason="STOP"))
    assert finish.metadata is not None
    assert len(finish.metadata["groundingMetadata"]) <= 64


@pytest.mark.parametrize("data", ["", " ", "[DONE]", " [DONE]\n"])
def test_events_without_meaning(data: str) -> None:
    decoder = GeminiDecoder()
    assert decoder.feed("", data) == []
    assert [chunk.type for chunk in decoder.feed("", '{"candidates":[{"finishReason":"STOP"}]}')] == []
    assert decoder.finish() == [Finish("stop", "STOP")]


@pytest.mark.parametrize("data", ["{", "nope", "{'a': 1}", "[" * 2000])
def test_what_is_not_json_raises_and_changes_nothing(data: str) -> None:
    decoder = GeminiDecoder()
    with pytest.raises(StreamError):
        decoder.feed("", data)
    assert decoder.feed("", '{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}')[-1] == TextDelta(0, "a")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def members(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), JSON, max_size=4)


PARTS = (
    members("text", "thought", "thoughtSignature", "functionCall", "inlineData", "executableCode", "image")
    | members("name", "id", "args", "partialArgs", "willContinue").map(lambda call: {"functionCall": call})
    | members("mimeType", "data").map(lambda blob: {"inlineData": blob})
)
EVENTS = members("candidates", "usageMetadata", "promptFeedback", "responseId", "modelVersion", "error") | st.builds(
    lambda parts, candidate: {"candidates": [{**candidate, "content": {"parts": parts}}]},
    st.lists(PARTS, max_size=3),
    members("finishReason", "index", "groundingMetadata", "finishMessage"),
)


@given(st.lists(EVENTS | JSON, max_size=5))
def test_anything_ends_well(events: list[Any]) -> None:
    decode(*events)
