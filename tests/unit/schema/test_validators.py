"""What is done with one value. The rest is tested through `ValidatorBuilder`."""

from __future__ import annotations

import enum
from datetime import date
from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from unspool.schema import validators
from unspool.schema.shape import Field, Record, Scalar
from unspool.structured.py_values import PyName, PyObject, PySet


class Color(enum.Enum):
    RED = "red"
    BLUE = 1.5


RECORD = Record(int, "model")
RECORD.fields = tuple(Field(name, Scalar("int"), alias=name, required=True) for name in ("a", "b"))


def refused(call: Any) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        call()
    return caught.value.type


def test_arguments() -> None:
    assert validators.arguments(RECORD, False, PyObject("int", {0: 1, "b": 2})) == {"a": 1, "b": 2}
    assert validators.arguments(RECORD, True, {"b": 2}) == {"b": 2}
    assert validators.arguments(RECORD, False, validators.Made("int", 5)) == 5
    for value, kind in (
        (PyObject("str", {}), "wrong_class_type"),
        ({"a": 1}, "wrong_class_type"),
        (validators.Made("str", 5), "wrong_class_type"),
        (PyObject("int", {0: 1, 1: 2, 2: 3}), "too_many_positional"),
        (PyObject("int", {0: 1, "a": 2}), "duplicate_field"),
    ):
        assert refused(lambda value=value: validators.arguments(RECORD, False, value)) == kind


def test_which_class_is_meant() -> None:
    assert validators.name_of({"A"}, None, PyObject("A", {})) == "<A>"
    assert validators.name_of({"A"}, "<>", PyObject("B", {})) == "<>"
    assert validators.tag_of("A", {"class": "B"}) == "<B>"
    assert validators.tag_of("A", {}) == "<A>"
    assert validators.tag_of("A", 3) == "<A>"
    assert validators.tag_of("A", {"class": 1}) is None
    assert validators.untagged({"class": "B", "x": 1}) == {"x": 1}
    assert validators.untagged(3) == 3


def test_literal() -> None:
    index = validators.literals([1, True, "a", None, Color.RED])
    for value in (1, True, "a", None, Color.RED):
        assert validators.literal(index, value) is value
    assert validators.literal(index, PyName("Color.RED")) is Color.RED
    assert validators.literal(index, "red") is Color.RED
    for value in (1.0, False, "A", [1], PyName("Color.BLUE")):
        assert refused(lambda value=value: validators.literal(index, value)) == "literal_error"


def test_member() -> None:
    index = validators.members(Color)
    assert validators.member(Color, index, 1.5) is Color.BLUE
    assert validators.member(Color, index, PyObject("Color", {0: "red"})) is Color.RED
    for wrong in ("x", True, PyObject("Color", {0: "red", 1: 2}), PyName("Color.GREEN"), [1]):
        assert refused(lambda wrong=wrong: validators.member(Color, index, wrong)) == "enum"


class Level(enum.IntEnum):
    NONE = 0
    SOME = 1


class Mixed(enum.Enum):
    NOUGHT = 0
    TWO = 2.0
    EMPTY = ""
    NOTHING = None
    LIST = [1]  # noqa: RUF012 - what an Enum class may hold
    PAIR = (1, 2)


def test_members_that_are_false_or_cannot_be_hashed() -> None:
    for cls in (Level, Mixed):
        index = validators.members(cls)
        for found in cls:
            assert validators.member(cls, index, found.value) is found
    index = validators.members(Mixed)
    assert validators.member(Mixed, index, 2) is Mixed.TWO  # 2 is a float
    for wrong in (False, 0.0, [2], {}, (1,), b""):
        assert refused(lambda wrong=wrong: validators.member(Mixed, index, wrong)) == "enum"


def test_a_class_of_very_many_members_costs_no_more() -> None:
    """Twenty thousand members, right or wrong, of a class of five thousand: minutes, if each were compared."""
    many: Any = enum.Enum("Many", {f"M{i}": i for i in range(5000)})
    index = validators.members(many)
    for _ in range(20_000):
        assert validators.member(many, index, 4999) is many.M4999
        with pytest.raises(PydanticCustomError) as caught:
            validators.member(many, index, -1)
    assert len(str(caught.value)) < 400
    with pytest.raises(PydanticCustomError) as caught:
        validators.literal(validators.literals(range(5000)), -1)
    assert str(caught.value).endswith("or 39 or …")


def test_sets() -> None:
    assert validators.set_items("set", PySet([1, True])) == [1, True]
    assert refused(lambda: validators.set_items("set", PySet([1], frozen=True))) == "set_type"
    assert refused(lambda: validators.set_items("frozenset", [1])) == "frozenset_type"
    assert validators.distinct([1, True, 2]) == [1, 2]
    assert refused(lambda: validators.distinct([[1]])) == "unhashable"


def test_lazily() -> None:
    leaf = validators.LazyValidator({"type": "date"}, {})
    assert validators.as_json(leaf, "2026-11-30").year == 2026
    assert refused(lambda: validators.as_json(leaf, "2026-13-01")) == "date_parsing"
    assert validators.as_json(leaf, date(2026, 11, 30)) == date(2026, 11, 30)  # of the application's making
    assert refused(lambda: validators.as_json(leaf, PyName("x"))) == "date_type"
    assert refused(lambda: validators.as_json(leaf, float("nan"))) == "data_type"


def test_choices_of_json() -> None:
    """By their forms in JSON, each of its own type (P59)."""
    taken = [validators.JsonChoices(["a", 1, b"b", None, Rank.SECOND]).take(value) for value in ("a", 1, "b", None, 2)]
    assert taken == ["a", 1, b"b", None, Rank.SECOND]
    for wrong in ("c", True, 1.0, 3, [], {"a": 1}, "Rank.SECOND"):
        with pytest.raises(PydanticCustomError, match="Input should be 'a' or 1 or 'b' or None or 2"):
            validators.JsonChoices(["a", 1, b"b", None, Rank.SECOND]).take(wrong)


class Rank(enum.IntEnum):
    SECOND = 2


class Half(enum.Enum):
    WHOLE = 1.0
    HALF = 0.5
    PAIR = (1, "a")


def test_choices_of_json_of_a_class() -> None:
    take = validators.JsonChoices(Half, Half).take
    assert [take(value) for value in (1, 1.0, 0.5, [1, "a"])] == [Half.WHOLE, Half.WHOLE, Half.HALF, Half.PAIR]
    for wrong in (True, 10**400, [1], "WHOLE", {"a": [1]}):
        with pytest.raises(PydanticCustomError, match=r"Input should be 1\.0 or 0\.5 or \[1, 'a'\]"):
            take(wrong)
