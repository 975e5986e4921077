"""Partial: what a reader sees of a value while it is written. F17, F18, F21, F22; langfx.js, docs/STREAMING.md."""

from __future__ import annotations

import dataclasses
import enum
from datetime import date
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import attrs
import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from tests.growing import grows, watched
from tests.support import splits

from unspool.errors import ConfigError
from unspool.schema import format_value


class Item(BaseModel):
    name: str
    age: int = 0


class Report(BaseModel):
    title: str
    items: list[Item] | None = None
    note: str = ""


@pytest.mark.parametrize("wanted", [Report, None])
def test_optional_list_of_models_shows_instances(wanted: Any) -> None:
    """F18: the prefix of the report, and the same shape for `list[X]`."""

    class Plain(BaseModel):
        items: list[Item]

    partial = watched(wanted or Plain, ['{"items":[{"name":"A","age":30},']).partial
    assert partial.items[0] == Item(name="A", age=30)
    assert partial.items[0].name == "A"


def test_what_has_not_arrived_is_none_and_never_raises() -> None:
    partial = watched(Report, ["{"]).partial
    assert partial.title is None
    assert partial.items is None
    with pytest.raises(AttributeError, match="no field 'titel'"):
        _ = partial.titel
    assert not hasattr(partial, "titel")


def test_before_anything_arrives_nothing_raises() -> None:
    partial = watched(Report, ["I think: "]).partial
    assert partial.value is None
    assert partial.title is None
    assert partial.state(()) == "absent"
    assert list(watched(list[int], [""]).partial) == []
    assert partial  # it is there, even when what it shows is not


def test_an_open_record_shows_what_has_come() -> None:
    seen = watched(Report, ['{"title":"Six ti'])
    assert seen.partial.title == "Six ti"
    seen.feed('mes","items":[{"name":"Ja')
    assert seen.partial.items[0].name == "Ja"
    assert seen.partial.items[0].age is None
    assert len(seen.partial.items) == 1
    assert "title" in seen.partial and "note" not in seen.partial
    assert list(seen.partial) == ["title", "items"]


@dataclasses.dataclass
class Place:
    name: str
    age: int = 0


class Spot(NamedTuple):
    name: str
    age: int = 0


@attrs.define
class Town:
    name: str
    age: int = 0


@pytest.mark.parametrize(
    "wanted", [Item, Place, Spot, Town, RootModel[Item]], ids=["model", "data", "tuple", "attrs", "root"]
)
def test_a_record_keeps_its_protocol_when_it_closes(wanted: Any) -> None:
    """It gave pydantic's pairs, or refused brackets, from the moment it closed."""
    seen = watched(wanted, [""])
    assert (list(seen.partial), len(seen.partial), seen.partial["name"]) == ([], 0, None)
    seen.feed('{"name":"a"')
    assert (list(seen.partial), len(seen.partial), seen.partial["name"]) == (["name"], 1, "a")
    assert "name" in seen.partial and "age" not in seen.partial and seen.partial["age"] is None
    for end in ("}", None):
        seen.finish() if end is None else seen.feed(end)
        assert (list(seen.partial), len(seen.partial), seen.partial["name"]) == (["name", "age"], 2, "a")
        assert "name" in seen.partial and seen.partial["age"] == 0 and "a" not in seen.partial
    for wrong in ("x", 0, "model_dump", "__class__", None):
        with pytest.raises(KeyError):
            seen.partial[wrong]


def test_extra_members_of_a_record_are_fields_of_it() -> None:
    class Loose(BaseModel):
        model_config = ConfigDict(extra="allow")
        name: str

    for end in ("", "}"):
        partial = watched(Loose, ['{"name":"a","more":1' + (end or ",")]).partial
        assert (list(partial), partial["more"]) == (["name", "more"], 1)


def test_states() -> None:
    seen = watched(Report, ['{"title":"Six","items":[{"name":"A","age":1},{"name":"J'])
    state = seen.partial.state
    assert state() == state(()) == "growing"
    assert state("title") == state(("title",)) == "complete"
    assert state("items") == "growing"
    assert state(("items", 0)) == state(("items", 0, "name")) == "complete"
    assert state(("items", 1)) == state(("items", 1, "name")) == "growing"
    assert state(("items", 1, "age")) == state(("items", 2)) == state("note") == "absent"
    for nothing in ("nothing", ("title", "x"), ("items", 0, "x"), ("items", "x"), ("items", "0")):
        with pytest.raises(ConfigError, match="INVALID_OPTIONS: There is no part in Report"):
            state(nothing)
    seen.feed('"}]}')
    assert state() == state(("items", 1, "name")) == state("items") == "complete"
    assert state(("items", 1, "age")) == "complete"  # its default
    assert state(("items", 2)) == "absent"
    seen.finish()
    assert state() == state(("items", 1, "name")) == "complete"
    assert state(("items", 2)) == "absent"


def test_names_of_its_own_are_reached_through_value() -> None:
    class Clash(BaseModel):
        value: str
        state: str
        complete: bool

    partial = watched(Clash, ['{"value":"v","state":"s","complete":tr']).partial
    assert partial.value.value == partial["value"] == "v"
    assert partial.value.state == partial["state"] == "s"
    assert partial["complete"] is None and partial.complete is False
    with pytest.raises(KeyError):
        partial["x"]


LITERAL = Literal["Bob", "Alice", "John"]


class Person(BaseModel):
    name: LITERAL


@pytest.mark.parametrize("prefix", ['"', '"A', '"Ali', '"Alice'])
def test_an_open_literal_is_withheld(prefix: str) -> None:
    """F17: no mixin, no error, no half of a choice."""
    seen = watched(Person, ['{"name":' + prefix])
    assert seen.partial.name is None
    assert seen.partial.state("name") == "growing"
    assert seen.partial.invalid == ()
    assert "name" not in seen.partial


def test_a_closed_literal_is_shown_or_reported() -> None:
    """F17: then valid, or a clear error."""
    assert watched(Person, ['{"name":"Alice"']).partial.name == "Alice"
    wrong = watched(Person, ['{"name":"Alx"'])
    assert wrong.partial.name is None
    assert wrong.partial.state("name") == "complete"
    assert [fault.path for fault in wrong.invalid] == [("name",)]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Day(BaseModel):
    on: date
    colour: Colour
    both: date | str = ""
    text: Literal["auto"] | str = ""


def test_text_that_becomes_something_else_is_withheld_until_it_has() -> None:
    seen = watched(Day, ['{"on":"2026-0'])
    assert seen.partial.on is None
    seen.feed('1-02","colour":"re')
    assert seen.partial.on == date(2026, 1, 2)
    assert seen.partial.colour is None
    seen.feed('d","both":"2026')
    assert seen.partial.colour is Colour.RED
    assert seen.partial.both is None
    seen.feed('","text":"aut')
    assert seen.partial.text == "aut"


def test_a_closed_record_is_the_real_instance_once_and_stays() -> None:
    seen = watched(Report, ['{"title":"t","items":[{"name":"A"},{"name":"B"}'])
    first = seen.partial.items[0]
    assert type(first) is Item
    seen.feed(',{"name":"C"}],"note":"')
    assert seen.partial.items[0] is first
    assert type(seen.partial.items) is list
    seen.feed('n"}')
    assert type(seen.partial.value) is Report
    assert seen.partial.value.items[0] is first


def test_a_view_that_was_kept_goes_on_showing() -> None:
    seen = watched(Report, ['{"items":[{"name":"A'])
    kept = seen.partial.items[0]
    seen.feed('da","age":3},{"na')
    assert (kept.name, kept.age) == ("Ada", 3)
    assert repr(kept) == "Item(name='Ada', age=3, …)"


def test_snapshot_is_plain_data_that_does_not_change() -> None:
    seen = watched(Report, ['{"title":"t","items":[{"name":"A","age":1},{"name":"B'])
    kept = seen.partial.snapshot()
    seen.feed('ob","age":2}]}')
    assert kept == {"title": "t", "items": [Item(name="A", age=1), {"name": "B"}]}


@dataclasses.dataclass
class Point:
    x: int
    tags: list[str] = dataclasses.field(default_factory=list)


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Plan(TypedDict, total=False):
    name: str
    points: list[Point]
    by_day: dict[int, Pair]


PLAN = '{"name":"p","points":[{"x":1,"tags":["a","b"]},{"x":2}],"by_day":{"3":[4,"q"],"5":[6]}}'


def test_dataclasses_typed_dicts_named_tuples_and_int_keys() -> None:
    pair, end = PLAN.index("[4"), PLAN.index('"5"')
    seen = watched(Plan, [PLAN[: PLAN.index(',{"x":2')]])
    assert seen.partial["points"][0] == Point(1, ["a", "b"])
    assert seen.partial["by_day"] is None
    assert "by_day" not in seen.partial
    with pytest.raises(KeyError):
        seen.partial["other"]
    seen.feed(PLAN[PLAN.index(',{"x":2') : pair])
    assert seen.partial["by_day"] == {}
    seen.feed('[4,"q')
    assert seen.partial["by_day"][3].right == "q"
    seen.feed('"],')
    assert seen.partial["by_day"][3] == Pair(4, "q")
    seen.feed(PLAN[end:])
    assert seen.partial.value == seen.finish()


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]
    toys: list[Item]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def test_a_union_is_resolved_when_its_tag_has_closed() -> None:
    seen = watched(list[Pet], ['[{"kind":"do'])
    assert seen.partial[0].kind is None
    seen.feed('g","toys":[{"name":"ball"},{"name":"bo')
    assert seen.partial[0].toys[0] == Item(name="ball")
    assert seen.partial[0].toys[1].name == "bo"
    assert seen.partial[0].kind == "dog"
    with pytest.raises(AttributeError):
        _ = seen.partial[0].lives
    seen.feed('ne"}]}]')
    assert seen.partial.value == [Dog(kind="dog", toys=[Item(name="ball"), Item(name="bone")])] == seen.finish()


def test_a_tag_that_comes_last_resolves_what_came_before() -> None:
    seen = watched(list[Pet], ['[{"toys":[{"name":"ball"}]'])
    assert seen.partial[0].toys == [{"name": "ball"}]
    seen.feed(',"kind":"wolf"')
    assert seen.partial[0].toys == [Item(name="ball")]
    seen.feed("}")
    assert seen.partial[0] == Dog(kind="wolf", toys=[Item(name="ball")])


def test_a_tag_of_no_class_is_reported_at_once() -> None:
    seen = watched(list[Pet], ['[{"kind":"cow",'])
    assert seen.faults == [
        (0, "Input tag 'cow' found using 'kind' does not match any of the expected tags: 'cat', 'dog', 'wolf'")
    ]
    seen.feed('"milk":1}]')
    assert len(seen.faults) == 1


def test_a_union_without_a_tag_is_plain_until_it_closes() -> None:
    class Left(BaseModel):
        a: int
        toys: list[Item] = []

    class Right(BaseModel):
        b: int

    seen = watched(list[Left | Right], ['[{"a":1,"toys":[{"name":"x"}]'])
    assert seen.partial[0].a == 1
    assert seen.partial[0].b is None
    assert seen.partial[0].toys == [{"name": "x"}]
    seen.feed('},{"b":"wrong"')
    assert seen.partial[0] == Left(a=1, toys=[Item(name="x")])
    assert seen.invalid == []  # it may be something else yet
    seen.feed("}")
    assert {fault.path[0] for fault in seen.invalid} == {1}


class Car(BaseModel):
    kind: Literal["car"]
    mode: Literal["slow", "fast"] = "slow"
    built: date | None = None
    notes: list[str] = []
    inner: Person | None = None


class Van(BaseModel):
    kind: Literal["van"]
    mode: str = ""
    load: int = 0


@pytest.mark.parametrize("wanted", [Annotated[Car | Van, Field(discriminator="kind")], Car | Van, Car | dict[str, Any]])
def test_no_half_of_a_choice_is_seen_before_a_union_is_decided(wanted: Any) -> None:
    """F17: text that one of the classes would withhold is withheld."""
    for text in ('"kind":"ca', '"mode":"sl', '"built":"2026-', '"inner":{"name":"Al'):
        partial = watched(list[wanted], [f"[{{{text}"]).partial
        shown = partial.snapshot()[0]
        assert shown in ({}, {"inner": {}})
    for text in ('"notes":["lo', '"load":"lo', '"other":"lo', '"other":["lo'):
        is_kept = "other" not in text or wanted == Car | dict[str, Any]
        assert ("'lo" in repr(watched(list[wanted], [f"[{{{text}"]).partial)) is is_kept
    closed = watched(list[wanted], ['[{"mode":"slow","inner":{"name":"Alice",']).partial
    assert closed.snapshot() == [{"mode": "slow", "inner": {"name": "Alice"}}]


def test_a_class_behind_several_tags_is_decided_at_once() -> None:
    """In Python syntax its constructor tells; its tag need not have come."""
    wanted = Annotated[Cat | Dog, Field(discriminator="kind")]
    assert watched(list[wanted], ["[Dog(toys=[Item('a')"], "python").partial[0].toys[0] == Item(name="a")


def test_the_constructor_tells_the_class_in_python_syntax() -> None:
    class Left(BaseModel):
        a: int
        more: list[Item] = []

    class Right(BaseModel):
        b: int

    seen = watched(list[Left | Right], ["[Left(1, [Item('x'), Item('y"], "python")
    assert seen.partial[0].a == 1
    assert seen.partial[0].more[0] == Item(name="x")
    assert seen.partial[0].more[1].name == "y"
    seen.feed("')]), Right(b=2)]")
    assert seen.partial.value == [Left(a=1, more=[Item(name="x"), Item(name="y")]), Right(b=2)] == seen.finish()


class Tree(BaseModel):
    label: str
    children: list[Tree] = []
    parent: Tree | None = None


def test_recursion() -> None:
    seen = watched(Tree, ['{"label":"a","children":[{"label":"b","children":[{"label":"c"},{"label":"d'])
    inner = seen.partial.children[0]
    assert inner.children[0] == Tree(label="c")
    assert inner.children[1].label == "d"
    assert inner.children[1].children is None


DEEP = 60


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_deep_recursion_has_no_limit_of_pydantic(protocol: str) -> None:
    opening = '{"label":"x","children":[' if protocol == "json" else "Tree('x', ["
    leaf, closing = ('{"label":"leaf"}', "]}") if protocol == "json" else ("Tree('leaf')", "])")
    seen = watched(Tree, [opening * (DEEP // 2 - 1) + leaf + closing * (DEEP // 2 - 1)], protocol)
    value = seen.partial.value
    for _ in range(DEEP // 2 - 1):
        assert type(value) is Tree
        [value] = value.children
    assert value == Tree(label="leaf")


def test_sets_and_tuples_are_lists_until_they_close() -> None:
    class Bag(BaseModel):
        names: set[str]
        place: tuple[int, Item]

    seen = watched(Bag, ['{"names":["a","b","a"'])
    assert list(seen.partial.names) == ["a", "b", "a"]
    seen.feed('],"place":[1,{"name":"x"}')
    assert seen.partial.names == {"a", "b"}
    assert seen.partial.place[1] == Item(name="x")
    seen.feed("]}")
    assert seen.partial.place == (1, Item(name="x"))
    assert seen.partial.value == seen.finish()


def test_a_json_schema_gives_plain_data() -> None:
    seen = watched({"type": "object"}, ['{"a":{"b":["x"'])
    assert seen.partial["a"]["b"] == ["x"]
    assert seen.partial.state(("a", "b", 0)) == "complete"
    assert seen.partial.state(("a", "b")) == "growing"
    assert seen.partial["a"].get("c") is None
    seen.feed("]}}")
    assert seen.partial.value == {"a": {"b": ["x"]}}


def test_text_at_the_root() -> None:
    seen = watched(str | list[str], ['"Six ti'])
    assert seen.partial.value == "Six ti"
    assert seen.partial.state(()) == "growing"
    seen.feed('mes"')
    assert seen.finish() == seen.partial.value == "Six times"


class Everything(BaseModel):
    title: str
    pets: list[Pet] = []
    tree: Tree | None = None
    plan: Plan | None = None
    day: Day | None = None
    anything: Any = None
    pair: Pair | None = None
    names: frozenset[str] = frozenset()


EVERYTHING = Everything.model_validate(
    {
        "title": 'Say "hé" 😀\n',
        "pets": [{"kind": "cat", "lives": 9}, {"kind": "dog", "toys": [{"name": "ball", "age": 1}]}],
        "tree": {"label": "a", "children": [{"label": "b", "parent": {"label": "c"}}]},
        "plan": {"name": "p", "points": [{"x": 1, "tags": ["a"]}], "by_day": {3: (4, "q")}},
        "day": {"on": "2026-01-02", "colour": "red", "both": "x", "text": "autumn"},
        "anything": [{"a": [1, 2.5, None, True, "x"]}, []],
        "pair": (1, "two"),
        "names": ["a", "b"],
    }
)


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_every_cut_grows_and_ends_in_the_result(protocol: str) -> None:
    """F22: growing partials at the granularity of the slices; nothing is taken back; the last one is the result."""
    text = EVERYTHING.model_dump_json() if protocol == "json" else format_value(EVERYTHING, "python")
    counts = []
    for slices in splits(text):
        seen = watched(Everything, slices, protocol)
        assert all(grows(*pair) for pair in pairwise(seen.shown))
        assert seen.partial.value == EVERYTHING
        assert seen.invalid == []
        assert seen.finish() == EVERYTHING
        assert seen.partial.complete and seen.partial.value == EVERYTHING
        counts.append(len(seen.shown))
    assert counts[1] > 100


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_what_is_shown_at_a_place_does_not_depend_on_the_cuts(protocol: str) -> None:
    text = EVERYTHING.model_dump_json() if protocol == "json" else format_value(EVERYTHING, "python")
    for end in range(7, len(text), 23):
        whole = watched(Everything, [text[:end]], protocol)
        chars = watched(Everything, list(text[:end]), protocol)
        assert whole.partial.snapshot() == chars.partial.snapshot()
