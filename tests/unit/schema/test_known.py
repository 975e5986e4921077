"""KnownValue: where something is missing, what a model is shown, and what was given (P39)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from unspool.errors import ConfigError
from unspool.schema import Schema
from unspool.schema.known import KnownValue
from unspool.schema.value_text import Missing


class Line(BaseModel):
    what: str = Field(alias="w")
    qty: int


@dataclass
class Order:
    number: str
    lines: list[Line]
    notes: dict[str, Line]


HALF: Any = Line.model_construct(w="nut")
WHOLE = Line(w="bolt", qty=4)
ORDER = Order("7", [HALF, WHOLE], {"a b": HALF})


def known(value: Any = ORDER, T: Any = Order, *, python: bool = True) -> KnownValue:
    return KnownValue(value, Schema.of(T), python=python)


@pytest.mark.parametrize("python", [True, False])
def test_says_where_something_is_missing(python: bool) -> None:
    found = known(python=python)
    assert found.missing == [("lines", 0, "qty"), ("notes", "a b", "qty")]
    assert found.has_parts
    assert known(Order("7", [], {}), python=python).missing == []


def test_is_shown_with_a_word_for_what_is_missing() -> None:
    shown = known(python=False).shown
    assert shown.count("qty=MISSING(int)") == 2 and "what='bolt'" in shown
    assert known(python=False).text.count("null") == 2, "and read as null in JSON: nothing is left out"


@pytest.mark.parametrize("python", [True, False])
def test_tells_what_was_given(python: bool) -> None:
    found = known(python=python)
    what = "what" if python else "w"
    for path in (("number",), ("lines", 0, what), ("lines", 1), ("lines", 1, "qty"), ("lines", 1, "qty", 0)):
        assert found.is_given(path), path
    for path in ((), ("lines",), ("lines", 0), ("lines", 0, "qty"), ("lines", 9), ("notes", "a b"), ("other",)):
        assert not found.is_given(path), path


def test_names_fields_as_an_answer_has_them() -> None:
    record = Schema.of(Line).for_python().records[0]
    assert known(python=False).named(record, "what")[0] == "w"
    assert known(python=True).named(record, "what")[0] == "what"
    assert known().named(record, "further") == ("further", None)


def test_values_of_one_piece_have_no_parts() -> None:
    assert not known(5, int).has_parts
    assert not known({1}, set[int]).has_parts
    assert known([], list[int]).has_parts
    assert not known().is_open(5) and known().is_open(Missing("int"))


@pytest.mark.parametrize(
    ("value", "T", "told"),
    [
        ({"what": "nut", "color": 1}, Line, r"The value has 'color', which is no field of Line"),
        ([{"color": 1}], list[Line], r"\[0\] has 'color'"),
        ({}, Line | Order, "may be one of Line, Order"),
        ([Order("1", [], {})], list[Line], r"\[0\] is of the class Order, and Line is asked for"),
    ],
)
def test_refuses_with_the_path(value: Any, T: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        known(value, T)


def test_the_value_is_not_changed() -> None:
    before = {"number": "7", "lines": [{"w": "nut"}]}
    known(before, Order)
    assert before == {"number": "7", "lines": [{"w": "nut"}]}
