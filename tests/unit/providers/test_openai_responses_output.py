"""Which item an event is about."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.providers.openai_responses_items import CallItem, WrittenItem
from unspool.providers.openai_responses_output import Output
from unspool.stream.chunks import BlockStart, Chunk
from unspool.stream.response import MAX_BLOCKS

CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f"}
MESSAGE = {"type": "message", "id": "m"}


def output_of(*items: tuple[dict[str, Any], int | None]) -> Output:
    output = Output()
    for item, place in items:
        output.begin(item, {} if place is None else {"output_index": place}, [])
    return output


def test_place_before_id() -> None:
    output = output_of((MESSAGE, 0), (CALL, 1))
    first, second = output
    assert output.find({"output_index": 0, "item_id": "anything"}) is first
    assert output.find({"output_index": 1}) is second
    assert output.find({"output_index": 1, "item_id": "fc"}) is second
    assert output.find({"output_index": 1, "item_id": "c"}) is second  # LiteLLM's way
    assert output.find({"output_index": 2, "item_id": "m"}) is None
    with pytest.raises(WireError):
        output.find({"output_index": 1, "item_id": "other"})


def test_id_where_there_is_no_place() -> None:
    output = output_of((MESSAGE, None), ({**CALL, "id": None}, None))
    first, second = output
    assert output.find({"item_id": "m"}) is first
    assert output.find({"item_id": "c"}) is second
    assert output.find({"item_id": "other"}) is None
    assert output.find({}) is second
    second.cut([])
    assert output.find({}) is None


def test_items_that_are_announced_twice() -> None:
    output = output_of((MESSAGE, 0), (MESSAGE, 0), ({"type": "message"}, 0), (CALL, None), (CALL, None))
    assert [item.type for item in output] == ["message", "function_call"]
    assert output.calls == list(output)[1:]


@pytest.mark.parametrize(
    ("before", "item"),
    [
        (CALL, {**CALL, "id": "other"}),
        (CALL, MESSAGE),
        (MESSAGE, CALL),
    ],
)
def test_place_of_a_call_is_taken_once(before: dict[str, Any], item: dict[str, Any]) -> None:
    with pytest.raises(WireError) as caught:
        output_of((before, 0), (item, 0))
    assert caught.value.code == "PROTOCOL"


def test_place_of_text_may_be_taken_again() -> None:
    """By servers that number each item 0."""
    output = output_of((MESSAGE, 0), ({"type": "message", "id": "n"}, 0))
    assert len(output) == 2
    assert output.find({"output_index": 0}) is list(output)[1]


@pytest.mark.parametrize("item", [{}, {"type": None}, {"type": ""}, {"type": 5}, {"type": "function_call", "id": "x"}])
def test_what_is_no_item(item: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        output_of((item, 0))


def test_number_of_items_is_bounded() -> None:
    output = output_of(*(({"type": "message", "id": str(number)}, number) for number in range(MAX_BLOCKS)))
    with pytest.raises(WireError):
        output.begin(MESSAGE, {"output_index": MAX_BLOCKS}, [])


def test_kinds() -> None:
    output = Output()
    out: list[Chunk] = []
    kinds = ("message", "reasoning", "function_call", "web_search_call")
    for place, kind in enumerate(kinds):
        output.begin({"type": kind, "id": kind, "name": "f"}, {"output_index": place}, out)
    assert [chunk.kind for chunk in out if isinstance(chunk, BlockStart)] == ["tool_call", "web_search_call"]
    message, reasoning, call, search = output
    assert isinstance(message, WrittenItem)
    assert isinstance(call, CallItem)
    assert (reasoning.after, call.after, search.after) == (None, "reasoning", None)


def test_text_that_was_not_announced() -> None:
    output = Output()
    first = output.written({"item_id": "m"}, "output_text")
    assert output.written({"item_id": "m"}, "refusal") is first
    thought = output.written({}, "reasoning_text")
    assert (thought.type, thought is first) == ("reasoning", False)
    assert output.written({}, "summary_text") is thought
    with pytest.raises(WireError):
        output_of((CALL, 0)).written({"output_index": 0}, "output_text")
    with pytest.raises(WireError):
        output.call({"item_id": "m"})


def test_whole_output() -> None:
    output = output_of((CALL, 0))
    whole = {**CALL, "arguments": "{}"}
    with pytest.raises(WireError):
        output.take([whole], [], hold=True)
    output.complete(whole, {"output_index": 0}, [])
    output.take([whole], [], hold=True)
    output.take(None, [], hold=True)
    output.take([], [], hold=False)
    for wrong in ([], [MESSAGE, whole], [{**whole, "arguments": ""}], [whole, {**whole, "id": "x", "call_id": "y"}]):
        with pytest.raises(WireError):
            output.take(wrong, [], hold=True)
