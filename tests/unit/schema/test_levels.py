"""Levels: the parts of an open container, and what is made of them. Whole answers: test_partial_builder.py."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, ValidationError, model_validator

from unspool.schema import Schema
from unspool.schema.levels import Level, UndecidedLevel


class Item(BaseModel):
    first: str = Field(alias="firstName")
    second: int = 0
    hidden: Annotated[int, Field(json_schema_extra={"exclude_from_prompt": True})] = 0


class Pair(NamedTuple):
    left: int
    right: str


def level(T: Any, protocol: str = "json", *event: Any) -> Level:
    typed = Schema.of(T).for_python()
    places = typed.python_places if protocol == "python" else typed.json_places
    return places.root.open(*(event or ("object", T.__name__ if protocol == "python" else None, None))).level


def test_fields_by_alias_in_json_and_by_name_or_place_in_python() -> None:
    json, python = level(Item), level(Item, "python")
    assert json.child("firstName")[0] == python.child("first")[0] == python.child(0)[0] == "first"
    assert json.child("first")[1].drops
    assert python.child("firstName")[1].refusal == python.child("hidden")[1].refusal
    assert json.child("hidden")[1].refusal == "Extra inputs are not permitted"
    assert json.names == {"first", "second"} and json.title == "Item"


def test_a_record_is_made_of_its_parts() -> None:
    assert level(Item).made({"first": "a"}, {}) == Item(firstName="a")
    with pytest.raises(ValidationError) as caught:
        level(Item).made({"second": 1}, {})
    [problem] = level(Item).problems(caught.value, {"second": 1})
    assert problem.path == ("firstName",) and problem.kind == "missing-field"


def test_the_items_of_a_named_tuple_are_its_fields() -> None:
    array = level(Pair, "json", "array", None, None)
    assert (array.child(0)[0], array.child(1)[0]) == ("left", "right")
    assert array.child(2)[1].refusal
    assert array.made({"left": 1, "right": "a"}, {}) == Pair(1, "a")


def test_extra_members() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    class Closed(BaseModel):
        model_config = ConfigDict(extra="forbid")

    assert level(Open).child("x")[1].refusal is None and not level(Open).child("x")[1].drops
    assert level(Closed).child("x")[1].refusal
    assert level(Open).made({"x": 1}, {}).x == 1


def test_what_is_judged_as_a_whole() -> None:
    class Path(BaseModel):
        a: int = Field(validation_alias=AliasPath("x", 0))

    class Choices(BaseModel):
        a: int = Field(validation_alias=AliasChoices("x", "y"))

    class Before(BaseModel):
        @model_validator(mode="before")
        @classmethod
        def seen(cls, data: Any) -> Any:
            return data

    class After(BaseModel):
        @model_validator(mode="after")
        def seen(self) -> After:
            return self

    assert level(Path).whole and level(Path).sure
    assert level(Before).whole and not level(Before).sure
    assert not level(After).whole and not level(Choices).whole
    assert level(Choices).child("y")[0] == "a"
    assert level(Choices).child("y")[1].weak and not level(Choices).child("x")[1].weak


def test_lists_sets_tuples_and_mappings() -> None:
    array = ("json", "array", None, None)
    assert level(list[int], *array).made([1], {}) == [1]
    assert level(set[int], *array).made([1, 1], {}) == {1}
    assert level(frozenset[int], *array).made([1], {}) == frozenset({1})
    assert level(tuple[int, str], *array).made([1, "a"], {}) == (1, "a")
    assert level(tuple[int, ...], *array).made([1, 2, 3], {}) == (1, 2, 3)
    mapping = level(dict[int, str], "json", "object", None, None)
    assert mapping.child("3")[0] == 3
    assert mapping.child("x")[1].refusal
    assert mapping.foreseen("x")[1] is mapping.child("3")[1]
    for wanted in (
        Annotated[list[int], Field(min_length=2)],
        Annotated[set[int], Field(min_length=2)],
        tuple[int, str],
    ):
        with pytest.raises(ValidationError):
            level(wanted, *array).made([1], {})
    sized = level(Annotated[dict[str, int], Field(min_length=2)], "json", "object", None, None)
    assert sized.made({"a": 1, "b": 2}, {}) == {"a": 1, "b": 2}
    with pytest.raises(ValidationError):
        sized.made({"a": 1}, {})


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]


def test_a_union_is_decided_by_its_tag() -> None:
    found = level(Annotated[Cat | Dog, Field(discriminator="kind")], "json", "object", None, None)
    assert isinstance(found, UndecidedLevel) and found.expected == {"kind"}
    assert found.decided({}) is None
    decided = found.decided({"kind": "wolf"})
    assert decided is not None and not isinstance(decided, str) and decided.level.title == "Dog"
    assert "'cow'" in str(found.decided({"kind": "cow"}))
    assert isinstance(found.decided({"kind": 1}), str)
    assert len(str(found.decided({"kind": "x" * 10_000}))) < 500
