"""RecordLevel: the names of a class's parts. What is made of them is tested in test_levels.py."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field

from unspool.schema import Schema
from unspool.schema.places import places_of
from unspool.schema.record_level import RecordLevel


class Named(BaseModel):
    plain: int
    things: int = Field(alias="theThings")
    either: int = Field(validation_alias=AliasChoices("one", "two"))
    taken: int = Field(alias="plain2")
    plain2: int = Field(alias="taken")


def level(T: Any) -> RecordLevel:
    found = places_of(Schema.of(T), "json").root.open("object", None, None).level
    assert isinstance(found, RecordLevel)
    return found


def test_a_part_by_all_its_names() -> None:
    for step, name in {
        "plain": "plain",
        "things": "things",
        "theThings": "things",
        "either": "either",
        "one": "either",
        "two": "either",
        "taken": "taken",  # its own name, though the answer calls another one so
        "plain2": "plain2",
    }.items():
        assert [found for found, _ in level(Named).meant(step)] == [name]
    wrong: list[Any] = ["other", 0, None, []]
    for step in wrong:
        assert level(Named).meant(step) == []


def test_fields_with_more_than_one_name() -> None:
    assert level(Named).spellings() == [["things", "theThings"], ["either", "one", "two"]]


def test_any_name_where_the_class_leaves_it_open() -> None:
    class Deep(BaseModel):
        deep: int = Field(validation_alias=AliasPath("a", "b"))

    class Loose(BaseModel):
        model_config = ConfigDict(extra="allow")

    for wanted in (Deep, Loose):
        assert [name for name, _ in level(wanted).meant("a")] == ["a"]


def test_a_field_that_is_kept_out_of_the_prompt_is_no_part() -> None:
    class Hidden(BaseModel):
        shown: int
        kept: int = Field(0, json_schema_extra={"exclude_from_prompt": True})

    assert level(Hidden).meant("kept") == []
