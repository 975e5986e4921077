"""Views: what an open container shows. How they fill is tested in test_partial.py."""

from __future__ import annotations

import copy
import enum
import pickle
from collections import deque
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, RootModel
from tests.growing import watched

from unspool.errors import ConfigError
from unspool.schema.views import ABSENT, inside, snapshot


class Item(BaseModel):
    name: str
    tags: list[str] = []


class Typed(TypedDict, total=False):
    name: str
    tags: list[str]


def test_a_record_view() -> None:
    view = watched(Item, ['{"name":"a","tags":["x"']).partial.value
    assert view.name == "a"
    assert dir(view) == ["name", "tags"]
    assert repr(view) == "Item(name='a', tags=['x', …], …)"
    assert view  # a record is there, however little of it has arrived
    with pytest.raises(AttributeError):
        view.name = "b"


def test_a_record_refuses_what_its_instance_will_not_do() -> None:
    """Brackets that work while a record is open would fail when it closes: the mistake shows at once."""
    view = watched(list[Item], ['[{"name":"a"']).partial[0]
    for wrong in (lambda: view["name"], lambda: "name" in view, lambda: list(view)):
        with pytest.raises(TypeError, match=r"Item is read by its attributes, such as \.name"):
            wrong()
    with pytest.raises(TypeError):
        len(view)


def test_a_view_has_no_methods_to_copy_it() -> None:
    for view in (watched(Item, ['{"name":"a"']).partial, watched(Item, ['{"name":"a"']).partial.value):
        with pytest.raises(AttributeError, match="snapshot"):
            view.model_dump()


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
    assert seen.partial.state((0, "name")) == "complete"
    assert seen.partial.state((0, "tags", 1)) == "absent"


def test_a_copy_is_plain_data_that_does_not_grow() -> None:
    seen = watched(Item, ['{"name":"a","tags":["x"'])
    whole = {"name": "a", "tags": ["x"]}
    for thing, plain in ((seen.partial, whole), (seen.partial.value, whole), (seen.partial.tags, ["x"])):
        for made in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
            assert made == plain and type(made) is type(plain)
    kept = copy.deepcopy(seen.partial)
    seen.feed(',"y"]}')
    assert kept == whole
    assert copy.deepcopy(seen.partial) == Item(name="a", tags=["x", "y"])


class Numbers(RootModel[list[int]]):
    pass


class Named(RootModel[dict[str, int]]):
    pass


class Boxed(RootModel[Item]):
    pass


class Held(BaseModel):
    numbers: Numbers
    named: Named = Named({})
    boxed: Boxed | None = None


def test_a_root_model_is_read_alike_while_open_and_when_closed() -> None:
    for slices in (['{"numbers":[1,2,'], ['{"numbers":[1,2],"named":{"a":3,'], ['{"numbers":[1,2],"named":{"a":3},']):
        partial = watched(Held, slices).partial
        assert partial.numbers.root[1] == 2
        assert partial.state(("numbers", 1)) == partial.state(("numbers", "root", 1)) == "complete"
        if partial.named is not None:
            assert partial.named.root["a"] == 3 and partial.state(("named", "a")) != "absent"
    open_box = watched(Held, ['{"numbers":[],"boxed":{"name":"a"']).partial
    assert open_box.boxed.root.name == open_box.boxed.name == "a"
    for closed in (False, True):
        partial = watched(Numbers, ["[1,2]" if closed else "[1,2,"]).partial
        assert (partial[0], len(partial), list(partial), 2 in partial, partial.root[0]) == (1, 2, [1, 2], True, 1)
        assert partial.state((0,)) == "complete"
        assert watched(Boxed, ['{"name":"a"}' if closed else '{"name":"a"']).partial.name == "a"


@pytest.mark.parametrize("wanted", [Item, Typed, list[str]])
def test_only_root_models_have_a_root(wanted: Any) -> None:
    view = watched(wanted, ["[" if wanted is list[str] else "{"]).partial.value
    with pytest.raises(AttributeError):
        _ = view.root


class Colour(enum.Enum):
    RED = "red"


def test_states_by_keys_of_all_kinds() -> None:
    seen = watched(dict[Colour, list[int]], ['{"red":[1'])
    assert seen.partial.state((Colour.RED,)) == seen.partial.state(("red",)) == "growing"
    assert seen.partial.state((Colour.RED, 0)) == "absent"
    seen.feed(",")
    assert seen.partial.state((Colour.RED, 0)) == "complete"
    for path in (([],), ({}, 0), (None,), (Colour,), ("blue",)):
        assert seen.partial.state(path) == "absent"
    assert watched(set[int], ["[1,2]"]).partial.state((1,)) == "complete"
    assert watched(deque[int], ["[1,2]"]).partial.state((1,)) == "complete"
    assert inside({"a": 1}, ([],)) is inside([1], (1,)) is inside(b"a", (0,)) is inside(1, (None,)) is ABSENT


def test_what_a_closed_instance_does_is_no_part_of_it() -> None:
    class Odd(BaseModel):
        name: str

        @property
        def broken(self) -> str:
            raise RuntimeError(self.name)

    partial = watched(Odd, ['{"name":"a"}']).partial
    assert watched(Odd, ['{"name":"a"}']).builder.state(("broken",)) == "absent"
    for name in ("broken", "model_dump"):
        with pytest.raises(ConfigError, match="no part in Odd"):
            partial.state(name)
