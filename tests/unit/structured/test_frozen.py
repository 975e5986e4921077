"""Frozen objects and arrays: read like dict and list, cannot be changed, and look at storage that goes on growing."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from unspool.structured.frozen import FrozenArray, FrozenObject, freeze, thaw
from unspool.structured.json_stream import JsonStream

TEXT = '{"a": [1, [2], {"b": "xyz"}], "c": {"d": null}, "e": "text'


def snapshot(text: str) -> Any:
    return JsonStream(snapshots="immutable").push(text).partial_value


def stale(text: str, rest: str) -> Any:
    """A snapshot, looked at after its stream went on."""
    stream = JsonStream(snapshots="immutable")
    value = stream.push(text).partial_value
    stream.push(rest)
    return value


@pytest.mark.parametrize("value", [snapshot(TEXT), stale(TEXT, '!", "f": 1, "g": [2]}')], ids=["fresh", "stale"])
def test_reads_like_dict_and_list(value: Any) -> None:
    assert isinstance(value, Mapping)
    assert isinstance(value["a"], Sequence)
    assert value["a"][2]["b"] == "xyz"
    assert list(value) == ["a", "c", "e"]
    assert len(value) == 3
    assert len(value["a"]) == 3
    assert dict(value.items())["e"] == "text"
    assert value.get("g", "none") == "none"
    assert "f" not in value
    with pytest.raises(KeyError):
        value["f"]
    array = value["a"]
    assert array[-1] is array[2]
    assert array[:2] == (1, array[1])
    assert list(reversed(array)) == [array[2], array[1], 1]
    assert array.index(1) == 0
    assert array.count(1) == 1
    for index in (3, -4):
        with pytest.raises(IndexError):
            array[index]
    match value:
        case {"a": [1, [2], {"b": text}]}:
            assert text == "xyz"
        case _:
            pytest.fail("no match")


def test_open_children_stay_as_they_were() -> None:
    stream = JsonStream(snapshots="immutable")
    array = stream.push('{"a": ["x", "ab').partial_value
    nested = stream.push('c", [1').partial_value
    last = stream.push(", 2], 3]").partial_value
    assert (array["a"][1], list(array["a"])) == ("ab", ["x", "ab"])
    assert nested["a"][2] == []
    assert (nested["a"][-1], nested["a"][1]) == ([], "abc")
    assert last == {"a": ["x", "abc", [1, 2], 3]}


def test_a_stale_object_can_be_walked_while_the_stream_goes_on() -> None:
    stream = JsonStream(snapshots="immutable")
    value = stream.push('{"a": 1, "b": 2, ').partial_value
    seen = []
    for count, key in enumerate(value):
        stream.push(f'"k{count}": {count}, ')
        seen.append((key, value[key]))
    assert seen == [("a", 1), ("b", 2)]


def test_equality_is_by_value() -> None:
    value = snapshot(TEXT)
    plain = {"a": [1, [2], {"b": "xyz"}], "c": {"d": None}, "e": "text"}
    assert value == plain
    assert plain == value
    assert value == snapshot(TEXT)
    assert value["a"] == plain["a"]
    assert plain["a"] == value["a"]
    assert value != {**plain, "f": 1}
    assert value["a"] != [1]
    assert value["a"] != (1, [2], {"b": "xyz"})
    assert value != 1
    for container in (value, value["a"]):
        with pytest.raises(TypeError):
            hash(container)


def test_shows_itself() -> None:
    assert repr(snapshot('{"a": [1, "x')) == "FrozenObject({'a': [1, 'x']})"
    assert repr(snapshot("[[]")) == "FrozenArray([[]])"


def test_copies_are_the_same_object() -> None:
    value = snapshot(TEXT)
    for container in (value, value["a"]):
        assert copy.copy(container) is container
        assert copy.deepcopy(container) is container


def test_thaw_gives_a_copy_that_may_be_changed() -> None:
    value = snapshot(TEXT)
    plain = thaw(value)
    assert type(plain) is dict
    plain["a"][2]["b"] = "changed"
    plain["a"].append(None)
    assert value["a"] == [1, [2], {"b": "xyz"}]
    live = {"x": [1]}
    assert thaw(live) == live
    assert thaw(live)["x"] is not live["x"]
    assert thaw("text") == "text"
    assert list(thaw({"z": [], "a": {}, "m": 1})) == ["z", "a", "m"]


def test_freeze_freezes_all_the_way_down() -> None:
    value = freeze({"a": [{}, [1, {"b": []}]], "c": "d"})
    assert isinstance(value, FrozenObject)
    assert isinstance(value["a"], FrozenArray)
    assert isinstance(value["a"][1][1]["b"], FrozenArray)
    assert value == {"a": [{}, [1, {"b": []}]], "c": "d"}


def test_no_recursion_at_any_depth() -> None:
    """Pyodide: fatal. Freezing and thawing go in loops, as deep as a text may nest."""
    deep: Any = []
    for _ in range(512):
        deep = [deep]
    frozen = freeze(deep)  # takes the containers over
    plain = thaw(frozen)
    for _ in range(512):
        assert type(plain) is list
        assert type(frozen) is FrozenArray
        plain, frozen = plain[0], frozen[0]
    assert plain == frozen == []
