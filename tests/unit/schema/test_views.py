"""Views: what an open container shows. How they fill is tested in test_partial.py."""

from __future__ import annotations

import copy
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel
from tests.growing import watched

from unspool.schema.views import ABSENT, inside, snapshot


class Item(BaseModel):
    name: str
    tags: list[str] = []


class Typed(TypedDict, total=False):
    name: str
    tags: list[str]


def test_a_record_view() -> None:
    view = watched(Item, ['{"name":"a","tags":["x"']).partial.value
    assert view.name == view["name"] == "a"
    assert list(view) == ["name", "tags"]
    assert "name" in view and "age" not in view
    assert dir(view) == ["name", "tags"]
    assert repr(view) == "Item(name='a', tags=['x', …], …)"
    assert view  # a record is there, however little of it has arrived
    with pytest.raises(KeyError):
        view["age"]
    with pytest.raises(AttributeError):
        view.name = "b"


def test_a_mapping_view() -> None:
    view = watched(Typed, ['{"name":"a"']).partial.value
    assert view == {"name": "a"} and dict(view) == {"name": "a"} and len(view) == 1
    assert view["tags"] is None and view.get("tags", 5) is None
    assert "tags" not in view and [] not in view
    assert repr(view) == "{'name': 'a', …}"
    with pytest.raises(KeyError):
        view["age"]
    with pytest.raises(TypeError):
        view["name"] = "b"


def test_a_list_view() -> None:
    view = watched(list[str], ['["a","b"']).partial.value
    assert view == ["a", "b"] and view == ("a", "b") and view != ["a"] and view != 5
    assert (view[0], view[-1], view[:1], len(view), list(reversed(view))) == ("a", "b", ["a"], 2, ["b", "a"])
    assert view.index("b") == 1 and "a" in view
    assert repr(view) == "['a', 'b', …]"
    assert view == watched(list[str], ['["a","b"']).partial.value
    with pytest.raises(IndexError):
        view[2]
    with pytest.raises(TypeError):
        hash(view)


@pytest.mark.parametrize("wanted", [Item, Typed])
def test_views_can_be_probed(wanted: Any) -> None:
    """Notebooks, debuggers and `copy` ask for all kinds of names."""
    view = watched(wanted, ['{"name":"a"']).partial.value
    assert not hasattr(view, "_repr_html_")
    assert copy.copy(view)["name"] == "a"


def test_snapshot_copies_views_all_the_way_down() -> None:
    view = watched(list[Item], ['[{"name":"a"},{"name":"b","tags":["x"']).partial.value
    kept = snapshot(view)
    assert kept == [Item(name="a"), {"name": "b", "tags": ["x"]}]
    assert kept[0] is view[0]
    assert snapshot(5) == 5


def test_paths_into_what_is_closed() -> None:
    value = {"a": [Item(name="x", tags=["y"])]}
    assert inside(value, ("a", 0, "tags", 0)) == "y"
    for path in (("b",), ("a", 1), ("a", "x"), ("a", 0, "age"), ("a", 0, "name", 0, 0), ("a", 0, 0)):
        assert inside(value, path) is ABSENT


def test_a_record_that_closed_and_is_not_valid_stays_a_view() -> None:
    seen = watched(list[Item], ['[{"name":1,"tags":["x"]},'])
    assert seen.partial[0].tags == ["x"]
    assert seen.partial[0].name is None
    assert seen.partial.state((0, "tags")) == "complete"
    assert seen.partial.state((0, "name")) == seen.partial.state((0, "other")) == "absent"
