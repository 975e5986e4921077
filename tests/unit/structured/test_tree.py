"""The records a scanner hands out."""

from __future__ import annotations

import pytest

from unspool.structured.json_stream import JsonStream
from unspool.structured.tree import Patch, StreamState


def test_a_patch_is_equal_by_its_parts() -> None:
    assert Patch("set", ("a", 0), 1) == Patch("set", ("a", 0), 1)
    for other in (
        Patch("set", ("a", 0), True),
        Patch("set", ("a", 0), 1.0),
        Patch("set", ("a",), 1),
        Patch("append", ("a", 0), 1),
    ):
        assert Patch("set", ("a", 0), 1) != other
    assert Patch("complete", ()) != ("complete", ())
    with pytest.raises(TypeError):
        hash(Patch("complete", ()))


def test_a_patch_can_be_matched() -> None:
    match Patch("append", ("a", 1), "text"):
        case Patch("append", (*outer, slot), text):
            assert (outer, slot, text) == (["a"], 1, "text")
        case _:
            pytest.fail("no match")


def test_a_patch_on_the_wire() -> None:
    """S18: three shapes."""
    assert Patch("set", (), None).to_wire() == {"op": "set", "path": [], "value": None}
    assert Patch("append", ("a", 0), "x").to_wire() == {"op": "append", "path": ["a", 0], "value": "x"}
    assert Patch("complete", ("a",)).to_wire() == {"op": "complete", "path": ["a"]}


def test_a_patch_shows_itself() -> None:
    assert repr(Patch("set", ("a",), {})) == "Patch('set', ('a',), {})"


def test_a_state_shows_itself_and_goes_on_the_wire() -> None:
    """S3: the six fields of the record."""
    state = JsonStream().push('{"a": [1, "x')
    assert repr(state) == (
        "StreamState(partial_value={'a': [1, 'x']}, bytes_seen=12, depth=2, complete=False, in_string=True)"
    )
    assert state.to_wire() == {
        "partialValue": {"a": [1, "x"]},
        "changes": [patch.to_wire() for patch in state.changes],
        "bytesSeen": 12,
        "depth": 2,
        "complete": False,
        "inString": True,
    }


def test_an_absent_value_is_not_on_the_wire_but_null_is() -> None:
    """S4."""
    assert "partialValue" not in JsonStream().push(" ").to_wire()
    assert JsonStream().push("null ").to_wire()["partialValue"] is None


def test_frozen_values_go_on_the_wire_as_plain_ones() -> None:
    wire = JsonStream(snapshots="immutable").push('{"a": [{}').to_wire()
    value = wire["partialValue"]
    assert type(value) is dict
    assert type(value["a"]) is list
    assert type(value["a"][0]) is dict


def test_a_state_of_a_root_string_is_a_state() -> None:
    state = JsonStream().push('"abc')
    assert isinstance(state, StreamState)
    assert state.partial_value == "abc"
    assert "'abc'" in repr(state)
    assert state.to_wire()["partialValue"] == "abc"
