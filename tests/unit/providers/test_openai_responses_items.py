"""Items by themselves: what each kind does with a whole that differs from what was streamed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from unspool.errors import WireError
from unspool.messages import ReasoningPart
from unspool.providers.openai_responses_items import (
    CallItem,
    ProviderItem,
    WrittenItem,
    written_in,
)
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ReasoningDelta, TextDelta, ToolArgumentsDelta


def blocks() -> Callable[[], int]:
    numbers = count()
    return lambda: next(numbers)


def written(type: str = "message", id: str | None = "m_1", after: str | None = None) -> WrittenItem:
    return WrittenItem(type, id, 0, after, new_block=blocks())


def call(call_id: str = "c", id: str | None = "fc_1") -> CallItem:
    return CallItem("function_call", id, 0, None, call_id=call_id, name="f", new_block=blocks())


def test_whole_texts_are_held_against_deltas() -> None:
    item = written()
    out: list[Chunk] = []
    item.add("output_text", 0, "ab", out)
    item.settle("output_text", 0, "ab", out)
    item.settle("output_text", 0, "abc", out)
    item.settle("output_text", 0, "", out)
    item.settle("output_text", 0, "ab", out)
    assert [chunk.text for chunk in out if isinstance(chunk, TextDelta)] == ["ab", "c"]


def test_parts_are_matched_in_order() -> None:
    """A server numbers the only part 1; empty parts are no parts."""
    item = written()
    out: list[Chunk] = []
    item.add("output_text", 1, "a", out)
    item.end({"content": [{"type": "output_text", "text": ""}, {"type": "output_text", "text": "ab"}, 5]}, out)
    assert [chunk.text for chunk in out if isinstance(chunk, TextDelta)] == ["a", "b"]
    assert [chunk for chunk in out if isinstance(chunk, BlockStart)] == [BlockStart(0, "text")]
    item.end({}, out)
    item.cut(out)
    assert len([chunk for chunk in out if isinstance(chunk, BlockEnd)]) == 1


def test_parts_that_were_not_streamed() -> None:
    item = written()
    out: list[Chunk] = []
    item.add("output_text", 1, "one", out)
    both = [{"type": "output_text", "text": "one"}, {"type": "refusal", "refusal": "two", "annotations": []}]
    item.end({"content": both}, out)
    assert [chunk.kind for chunk in out if isinstance(chunk, BlockStart)] == ["text", "refusal"]
    assert [chunk.text for chunk in out if isinstance(chunk, TextDelta)] == ["one", "two"]


def test_reasoning_keeps_its_parts_apart() -> None:
    item = written("reasoning", "rs_1", after="rs_0")
    out: list[Chunk] = []
    item.add("summary_text", 0, "s", out)
    item.add("reasoning_text", 0, "r", out)
    item.end({"encrypted_content": "gAAAA"}, out)
    assert [chunk.text for chunk in out if isinstance(chunk, ReasoningDelta)] == ["s", "r"]
    kept = [chunk.replay.data for chunk in out if isinstance(chunk, BlockEnd) and chunk.replay]
    assert kept == [
        {"id": "rs_1", "after": "rs_0", "part": "summary_text"},
        {"id": "rs_1", "after": "rs_0", "part": "reasoning_text", "encrypted_content": "gAAAA"},
    ]


@pytest.mark.parametrize(
    ("id", "encrypted", "shown"), [("rs_1", None, True), (None, "gAAAA", True), (None, None, False)]
)
def test_hidden_reasoning(id: str | None, encrypted: str | None, shown: bool) -> None:
    item = written("reasoning", id)
    out: list[Chunk] = []
    item.end({"encrypted_content": encrypted, "summary": []}, out)
    parts = [chunk.part for chunk in out if isinstance(chunk, BlockEnd)]
    assert [isinstance(part, ReasoningPart) and part.redacted for part in parts] == [True] * shown


def test_message_without_id_is_not_sent_back_as_an_item() -> None:
    item = written(id=None)
    out: list[Chunk] = []
    item.add("output_text", 0, "a", out)
    item.end({"phase": "final_answer"}, out)
    assert out[-1] == BlockEnd(0)


def test_arguments() -> None:
    item = call()
    out: list[Chunk] = []
    item.begin(out)
    item.add("", out)
    item.add('{"x":', out)
    item.add("1}", out)
    item.settle('{"x":1}', out)
    item.end({"type": "function_call", "arguments": '{"x":1}', "namespace": "n", "caller": None}, out)
    item.cut(out)
    assert [chunk.text for chunk in out if isinstance(chunk, ToolArgumentsDelta)] == ['{"x":', "1}"]
    assert isinstance(out[-1], BlockEnd)
    assert out[-1].replay is not None
    assert out[-1].replay.data == {"id": "fc_1", "namespace": "n"}


def test_empty_arguments_stay_empty() -> None:
    """What an event calls whole may not grow later."""
    item = call()
    item.settle("", [])
    with pytest.raises(WireError):
        item.settle("{}", [])


def test_call_that_was_cut_may_be_written_down_shorter() -> None:
    item = call()
    out: list[Chunk] = []
    item.add('{"x":1', out)
    item.end({"type": "function_call", "arguments": '{"x":', "status": "incomplete"}, out)
    assert [chunk.text for chunk in out if isinstance(chunk, ToolArgumentsDelta)] == ['{"x":1']


@pytest.mark.parametrize(
    "item",
    [
        {"type": "message"},
        {"type": "function_call", "id": "fc_2"},
        {"type": "function_call", "call_id": "d"},
        {"type": "function_call", "name": "g"},
    ],
)
def test_another_call(item: dict[str, Any]) -> None:
    with pytest.raises(WireError) as caught:
        call().check(item)
    assert caught.value.code == "PROTOCOL"
    call().check({"type": "function_call", "id": None, "name": ""})


@pytest.mark.parametrize("type", ["web_search_call", "tool_call", "text", "image"])
def test_kinds_of_ours_are_not_taken(type: str) -> None:
    item = ProviderItem(type, "x", 0, None, new_block=blocks())
    out: list[Chunk] = []
    item.begin(out)
    item.end({"type": type, "data": 1}, out)
    item.end({"type": type}, out)
    [start, end] = out
    assert isinstance(start, BlockStart)
    assert start.kind == (type if type == "web_search_call" else f"openai-responses:{type}")
    assert isinstance(end, BlockEnd)
    assert end.part is not None
    assert end.part.to_wire()["kind"] == type


@pytest.mark.parametrize("result", [None, "", "not base64", "AAA="])
@pytest.mark.parametrize("format", [None, "png"])
def test_picture_that_cannot_be_read(result: str | None, format: str | None) -> None:
    """Nothing is lost: the item is kept as it came."""
    item = ProviderItem("image_generation_call", "ig", 0, None, new_block=blocks())
    out: list[Chunk] = []
    item.begin(out)
    item.end({"type": "image_generation_call", "result": result, "output_format": format}, out)
    kinds = [chunk.kind for chunk in out if isinstance(chunk, BlockStart)]
    readable = result == "AAA="  # two bytes, of a type that is stated or taken for granted
    assert kinds == ["image"] if readable else ["image", "image_generation_call"]


def test_reading_members() -> None:
    assert written_in({"type": "refusal", "refusal": "no"}) == ("refusal", "no")
    assert written_in({"type": "x", "text": 5}) == ("", "")
    for part in ({"type": ["x"]}, {"type": "output_text", "text": 5}):
        with pytest.raises(WireError, match="PROTOCOL"):
            written_in(part)


def test_whole_texts_said_again_cost_their_size() -> None:
    """Each event that states a whole text is held against what has come: were that read each time, it takes minutes."""
    item = written()
    out: list[Chunk] = []
    for _ in range(20_000):
        item.add("output_text", 0, "é" * 400, out)
        item.settle("output_text", 0, "x", out)
    assert sum(len(chunk.text) for chunk in out if isinstance(chunk, TextDelta)) == 8_000_000


def test_whole_text_of_halves_goes_on() -> None:
    """The whole text has characters where the deltas had their halves."""
    item = written()
    out: list[Chunk] = []
    for half in "\ud83d\ude00" * 3:
        item.add("output_text", 0, half, out)
    item.settle("output_text", 0, "\U0001f600" * 3 + "!", out)
    assert isinstance(out[-1], TextDelta) and out[-1].text == "!"
