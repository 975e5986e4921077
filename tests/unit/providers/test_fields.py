"""How JSON of vendors is read, whatever stands in it."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.messages import Message, MessagePart, ProviderPart, Replay
from unspool.providers.fields import (
    KEPT_DEPTH,
    count_of,
    fields_of,
    index_of,
    kept,
    list_of,
    object_of,
    objects_of,
    report_of,
    text_of,
    text_or_none,
    total,
)


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize("value", [None, 5, "x", [1], True])
def test_no_object(value: object) -> None:
    assert fields_of(value) == {}
    with pytest.raises(WireError, match="PROTOCOL"):
        object_of({"a": value}, "a")
    with pytest.raises(WireError, match="PROTOCOL"):
        list(objects_of({"a": [{}, value]}, "a"))


@pytest.mark.parametrize("value", [5, "x", {}, True])
def test_no_list(value: object) -> None:
    assert list_of(value) == []
    with pytest.raises(WireError, match="PROTOCOL"):
        list(objects_of({"a": value}, "a"))


def test_objects_that_must_be_there() -> None:
    assert (object_of({"a": {"b": 1}}, "a"), [*objects_of({"a": [{}, {"b": 1}]}, "a")]) == ({"b": 1}, [{}, {"b": 1}])
    assert not [*objects_of({}, "a"), *objects_of({"a": None}, "a"), *objects_of({"a": []}, "a")]
    with pytest.raises(WireError, match="PROTOCOL"):
        object_of({}, "a")


@pytest.mark.parametrize("value", [None, "0", True, 0.0])
def test_events_without_index(value: object) -> None:
    assert (index_of({"index": 0}, "index"), index_of({"index": -1}, "index")) == (0, -1)
    for event in ({"index": value}, {}):
        with pytest.raises(WireError, match="PROTOCOL"):
            index_of(event, "index")


def test_objects_and_lists_are_given_as_they_are() -> None:
    assert (fields_of({"a": 1}), list_of([1]), list_of({"a": 1}), list_of("x")) == ({"a": 1}, [1], [], [])


def test_texts() -> None:
    assert (text_of({"a": "x"}, "a"), text_of({}, "a"), text_of({"a": None}, "a")) == ("x", "", "")
    with pytest.raises(WireError, match="PROTOCOL"):
        text_of({"a": 1}, "a")
    assert [text_or_none({"a": value}, "a") for value in ("x", "", None, 1, ["x"])] == ["x", None, None, None, None]
    assert text_or_none({}, "a") is None


@pytest.mark.parametrize(
    "value", [None, "5", 5.0, True, -1, [5], 2**53 + 1, int("9" * 4_300)], ids=lambda v: repr(v)[:20]
)
def test_what_is_no_count(value: object) -> None:
    assert count_of({"a": value}, "a") is None
    assert count_of({"a": value, "b": 7}, "a", "b") == 7


def test_counts() -> None:
    assert (count_of({"a": 0}, "a"), count_of({"a": 0}, "a", least=1), count_of({}, "a")) == (0, None, None)


def test_what_is_kept_fits_into_a_message() -> None:
    """With what dialects put around it, and in messages inside messages."""
    part = kept(nested(KEPT_DEPTH))
    message = Message("assistant", [ProviderPart("x", Replay("a", {"b": [{"c": part}]}))])
    for _ in range(15):
        message = Message("assistant", [MessagePart(message)])
    assert Message.from_wire(message.to_wire()) == message


@pytest.mark.parametrize("value", [nested(KEPT_DEPTH + 1), {"a": float("nan")}, {"a": object()}])
def test_what_cannot_be_kept(value: Any) -> None:
    with pytest.raises(WireError, match="PROTOCOL"):
        kept(value)


@pytest.mark.parametrize("value", [nested(100), {"a": object()}])
def test_usage_that_cannot_be_kept_costs_no_answer(value: Any) -> None:
    assert report_of(value) is None
    assert report_of({"tokens": 1}) == {"tokens": 1}


def test_a_total_needs_both_counts() -> None:
    assert (total(3, 4), total(0, 0), total(None, 4), total(3, None)) == (7, 0, None, None)
