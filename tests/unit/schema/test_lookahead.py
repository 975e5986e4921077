"""Lookahead: what a type allows at one place, before a value has come. F17 for the text that is withheld."""

from __future__ import annotations

import enum
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, StringConstraints

from unspool.schema import Schema, Unknown
from unspool.schema.lookahead import Lookahead


class Item(BaseModel):
    name: str


class Other(BaseModel):
    kind: Literal["other"]


class Colour(enum.Enum):
    RED = "red"


def survey(T: Any, config: Any = None) -> Lookahead:
    reader = Schema.of(T).for_python().reader
    return Lookahead(reader, reader.core, config)


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (str, True),
        (str | None, True),
        (str | int, True),
        (Literal["auto"] | str, True),
        (Any, True),
        (Annotated[str, StringConstraints(max_length=3)], True),
        (Annotated[str, AfterValidator(str.strip)], True),
        (str | list[int], True),
        (int, False),
        (Literal["a", "b"], False),
        (Literal["a", 1] | str, False),
        (Colour, False),
        (Colour | str, False),
        (date, False),
        (date | str, False),
        (Decimal, False),
        (bytes, False),
        (Path, False),
        (SecretStr, False),
        (Item, False),
    ],
)
def test_text_is_shown_where_it_stays_text(wanted: Any, shown: bool) -> None:
    assert survey(wanted).shows_text is shown


@pytest.mark.parametrize(
    ("wanted", "quick"),
    [
        (str, {str}),
        (str | None, {str, type(None)}),
        (int | float, {int, float}),
        (Any, {str, int, float, bool, type(None)}),
        (list[int] | int, {int}),
        (Annotated[str, StringConstraints(max_length=3)], set()),
        (Annotated[int, Field(gt=0)], set()),
        (Annotated[int, AfterValidator(abs)], set()),
        (str | date, set()),
        (Literal["a"] | str, {str}),
        (Literal["a"] | date, set()),
        (float | Decimal, set()),
        (Item, set()),
    ],
)
def test_types_that_need_no_judging(wanted: Any, quick: set[type]) -> None:
    assert survey(wanted).quick == quick


def test_words_that_need_no_judging() -> None:
    assert survey(Literal["a", "b"] | int).words == {"a", "b"}
    assert survey(Literal["a", 1]).words == survey(Literal["a"] | date).words == set()


def test_text_that_the_class_changes_is_judged() -> None:
    assert survey(str | int, {"str_strip_whitespace": True}).quick == {int}


def test_containers() -> None:
    found = survey(list[int] | dict[str, int] | Item | None)
    assert [branch.node["type"] for branch in found.branches] == ["list", "dict", "model"]
    assert [branch.opens(False, None, python=False) for branch in found.branches] == [False, True, True]
    assert [branch.opens(True, None, python=True) for branch in found.branches] == [True, False, False]
    assert found.takes_none and not found.is_wild and not found.takes_unknown


@pytest.mark.parametrize(("python_kind", "opened"), [(None, [0]), ("tuple", [1]), ("set", [2, 3])])
def test_brackets_of_python_tell_lists_tuples_and_sets(python_kind: Any, opened: list[int]) -> None:
    found = survey(list[int] | tuple[int, int] | set[int] | frozenset[int])
    assert [i for i, branch in enumerate(found.branches) if branch.opens(True, python_kind, python=True)] == opened


def test_tags_of_a_union() -> None:
    found = survey(list[Item] | Annotated[Other | Item2, Field(discriminator="kind")])
    assert [branch.tags for branch in found.branches] == [(), ((("kind",), "other"),), ((("kind",), "item"),)]


class Item2(BaseModel):
    kind: Literal["item"]


def test_functions_on_the_way() -> None:
    before = survey(Annotated[list[int], BeforeValidator(list)])
    assert before.is_wild and before.branches[0].blind
    after = survey(Annotated[list[int], AfterValidator(sorted)])
    assert not after.is_wild and not after.branches[0].blind and len(after.branches[0].around) == 1


def test_unknown() -> None:
    assert survey(int | Unknown).takes_unknown
