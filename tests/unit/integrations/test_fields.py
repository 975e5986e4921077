"""Reading events of any make. JavaScript's: tests/pyodide/test_read_structured.py."""

from __future__ import annotations

import json
from collections import UserDict
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import named

from unspool.errors import StreamError
from unspool.integrations.fields import first, is_array, items, json_text, key, record, text, type_of


class Slotted:
    """An object of an SDK."""

    __slots__ = ("id", "item", "missing")

    def __init__(self) -> None:
        self.id = "a"
        self.item = {"x": 1}


@pytest.mark.parametrize(
    "value",
    [{"id": "a", "item": {"x": 1}}, UserDict(id="a", item={"x": 1}), SimpleNamespace(id="a", item={"x": 1}), Slotted()],
    ids=lambda value: type(value).__name__,
)
def test_a_field_is_a_key_else_an_attribute(value: Any) -> None:
    """Reference, section 11.11."""
    fields = record(value)
    assert fields.get("id") == "a"
    assert record(fields.get("item")).get("x") == 1
    assert fields.get("missing") is None
    assert fields.get("missing", 5) == 5
    assert first(fields, "missing", "id") == "a"
    assert first(fields, "missing") is None


def test_a_dict_is_its_own_record() -> None:
    """Nothing is copied on the way of every event."""
    event = {"id": "a"}
    assert record(event) is event


@pytest.mark.parametrize("value", [None, "text", b"bytes", 5, 1.5, True, [1], (1,)], ids=named)
def test_what_has_no_fields_is_a_record_without_any(value: Any) -> None:
    """S87: such as the `count` of a list or the `real` of a number."""
    assert record(value).get("count") is None
    assert record(value).get("real") is None
    assert record(value).get("x", 5) == 5


def test_a_field_that_is_false_is_there() -> None:
    assert first({"index": 0, "other": 1}, "index", "other") == 0
    assert first({"text": "", "other": "x"}, "text", "other") == ""


def test_elements() -> None:
    assert items([1, 2]) == [1, 2]
    assert list(items(record([1, 2]))) == [1, 2]
    assert list(items((1,))) == [1]
    for value in (None, "text", {"a": 1}, 5, {1}):
        assert list(items(value)) == []
        assert not is_array(value)
    assert is_array([])
    assert is_array(())


def test_text_and_keys() -> None:
    class Name(str):
        def __str__(self) -> str:
            return "Name.A"

    assert text("a") == "a"
    assert text(Name("a")) == "a"
    assert type(text(Name("a"))) is str
    assert [text(value) for value in (None, 5, b"a", [])] == ["", "", "", ""]
    assert [key(value) for value in (0, "a", None, [], 1.5)] == [0, "a", None, None, None]


def test_the_type_of_an_event() -> None:
    """S86."""
    assert type_of({"type": "a", "event_type": "b"}) == "a"
    assert type_of({"type": None, "event_type": "b"}) == "b"
    assert type_of({"kind": "c"}, "kind") == "c"
    assert type_of({"kind": "c"}) is None
    assert type_of({"type": 5}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_json_text_is_what_json_reads(value: Any) -> None:
    """V5: a decoded input as text."""
    assert json.loads(json_text(value)) == value
    json_text(value).encode()


def test_json_text_is_compact_and_keeps_letters() -> None:
    assert json_text({"a": [1, "é"], "b": (2,)}) == '{"a":[1,"é"],"b":[2]}'
    assert json_text("\ud83d") == '"\\ud83d"'


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), {"a": b"x"}, {(1, 2): 3}], ids=named)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        json_text(value)


def test_depth_is_bounded() -> None:
    """Pyodide: fatal, if the encoder met it."""
    deep: Any = 1
    for _ in range(512):
        deep = [deep]
    assert json_text(deep) == "[" * 512 + "1" + "]" * 512
    with pytest.raises(StreamError, match="MAX_DEPTH_EXCEEDED"):
        json_text({"x": deep})
    endless: dict[str, Any] = {"a": 1}
    endless["b"] = [endless, endless]
    with pytest.raises(StreamError, match="MAX_DEPTH_EXCEEDED"):
        json_text(endless)
