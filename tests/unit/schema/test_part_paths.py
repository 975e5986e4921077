"""PartPaths, and what `state` and `items` make of them: a field by both its names, and no path that leads nowhere."""

from __future__ import annotations

import enum
from datetime import date
from typing import Annotated, Any, Literal, TypedDict, cast

import attrs
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, PlainValidator, RootModel
from tests.growing import STATES, watched
from tests.support import named, splits

from unspool.errors import ConfigError
from unspool.schema import Schema
from unspool.schema.part_paths import PartPaths, other_names


class Item(BaseModel):
    name: str = Field(alias="theName")
    on: date | None = None


class Box(BaseModel):
    things: list[Item] = Field(alias="theThings")
    other: dict[str, list[Item]] = {}
    pair: tuple[int, list[int]] | None = None


TEXT = '{"theThings":[{"theName":"a"},{"theName":"b"}],"other":{"1":[{"theName":"c"}]},"pair":[1,[2]]}'


def test_both_names_of_a_field_tell_the_same_for_the_whole_life() -> None:
    """By the name in the answer it went back to absent when the record closed."""
    pairs = [
        (("things",), ("theThings",)),
        (("things", 0, "name"), ("theThings", 0, "theName")),
        (("other", "1", 0, "name"), ("other", "1", 0, "theName")),
    ]
    for slices in splits(TEXT, rounds=3):
        seen = watched(Box, [])
        before = dict.fromkeys(pairs, "absent")
        for text in slices:
            seen.feed(text)
            for pair, known in before.items():
                by_attribute, by_alias = map(seen.partial.state, pair)
                assert by_attribute == by_alias == seen.partial.state(".".join(map(str, pair[1])))
                assert STATES.index(by_alias) >= STATES.index(known)
                before[pair] = by_alias
        seen.finish()
        assert all(seen.partial.state(path) == "complete" for pair in pairs for path in pair)


def test_the_path_of_a_fault_is_a_path() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")
        things: list[Item] = Field(alias="theThings")

    for text in ('{"theThings":[{"theName":1}]}', '{"theThings":[],"nope":1}', '{"theThings":1}'):
        partial = watched(Strict, [text]).partial
        assert [partial.state(fault.path) for fault in partial.invalid] == ["complete"]


@pytest.mark.parametrize(
    ("path", "near"),
    cast(
        "list[Any]",
        [
            ("thing", "things"),
            (("things", 0, "nam"), "name"),
            ("things.0.nam", "name"),
            (("nope",), None),
            (("things", "0"), None),
            (("things", "x"), None),
            (("things", 0, "name", 0), None),
            (("pair", "x"), None),
            ((0,), None),
            (([],), None),
            (5, None),
            (None, None),
        ],
    ),
    ids=named,
)
def test_a_path_that_the_type_cannot_have_is_refused(path: Any, near: str | None) -> None:
    for text in ("", "{", TEXT):
        with pytest.raises(ConfigError) as caught:
            watched(Box, [text]).partial.state(path)
        assert caught.value.code == "INVALID_OPTIONS"
        assert near is None or f"did you mean {near!r}?" in caught.value.message


class Colour(enum.Enum):
    RED = "red"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, alias="nine")


class Dog(BaseModel):
    kind: Literal["dog"]
    toys: list[str] = Field([], validation_alias=AliasChoices("theToys", "playthings"))


class Inner(TypedDict, total=False):
    names: list[str]


class Numbers(RootModel[list[int]]):
    pass


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    anything: Any = None
    made: Annotated[Any, PlainValidator(lambda value: value)] = None
    deep: int = Field(0, validation_alias=AliasPath("a", "b"))
    inner: Inner = {}
    days: dict[date, int] = {}
    colours: dict[Colour, int] = {}
    numbered: dict[int, int] = {}
    numbers: Numbers = Numbers([])
    pets: list[Cat | Dog] = []
    tagged: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []


@pytest.mark.parametrize(
    "path",
    ["extra.x", "anything.0.x", "made.x", "inner.names.0", "pets.0.toys", "tagged.0.nine", "tagged.0.playthings.0"],
)
def test_open_parts_and_unions_may_have_what_one_of_them_has(path: str) -> None:
    assert watched(Open, ["{"]).partial.state(path) == "absent"


def test_keys_and_numbers_as_the_answer_has_them() -> None:
    text = (
        '{"days":{"2026-01-02":1},"colours":{"red":1},"numbered":{"3":1},"numbers":[7],'
        '"pets":[{"kind":"dog","playthings":["x"]}],"tagged":[{"kind":"cat","nine":3}]}'
    )
    paths: list[Any] = [
        ("days", "2026-01-02"),
        ("days", date(2026, 1, 2)),
        ("colours", "red"),
        ("colours", Colour.RED),
        ("numbered", "3"),
        ("numbered", 3),
        "numbered.3",
        ("numbers", 0),
        "numbers.root.0",
        ("pets", 0, "playthings", 0),
        ("pets", 0, "toys", 0),
        ("tagged", 0, "nine"),
        ("tagged", 0, "lives"),
    ]
    for end in (text[:-1], text):
        partial = watched(Open, [end]).partial
        assert {str(path): partial.state(path) for path in paths} == {str(path): "complete" for path in paths}


def test_what_the_answer_has_made_of_it_changes_no_state() -> None:
    seen = watched(Box, [TEXT])
    seen.builder.accept(seen.partial.value)
    seen.builder.finish(5)
    assert seen.partial.value == 5
    assert seen.partial.state("theThings.0.name") == "complete"


@attrs.define
class Kept:
    _tags: list[str] = attrs.field(factory=list[str])


def test_lists_by_both_names() -> None:
    for path in ("things", "theThings", ("theThings",)):
        assert PartPaths(Schema.of(Box)).list_at(path) == ("things",)
    for path in ("tags", "_tags"):
        assert PartPaths(Schema.of(Kept)).list_at(path) == ("_tags",)
        assert watched(Kept, ['{"tags":["a"]}']).partial.state(path) == "complete"
    assert PartPaths(Schema.of(Box)).list_at("pair.1") == ("pair", 1)
    for path in ("pair.2", "pair.0", "other", "things.0.on"):
        with pytest.raises(ConfigError, match="no list in Box"):
            PartPaths(Schema.of(Box)).list_at(path)
    with pytest.raises(ConfigError, match="did you mean 'things'"):
        PartPaths(Schema.of(Box)).list_at("thing")


def test_a_list_in_a_type_that_contains_itself() -> None:
    assert PartPaths(Schema.of(Tree)).list_at("children.0.children") == ("children", 0, "children")


class Tree(BaseModel):
    children: list[Tree] = []


def test_all_names_of_fields_that_have_several() -> None:
    expected = {"things": ["theThings"], "theThings": ["things"], "name": ["theName"], "theName": ["name"]}
    assert other_names(Schema.of(Box)) == expected
    assert other_names(Schema.of(Kept)) == {"tags": ["_tags"], "_tags": ["tags"]}
    assert other_names(None) == other_names(Schema.of({"type": "object"})) == other_names(Schema.of(list[int])) == {}


def test_text_has_no_parts() -> None:
    assert PartPaths(None).meant(()) == [()]
    with pytest.raises(ConfigError, match="no part in text"):
        PartPaths(None).meant("x")
