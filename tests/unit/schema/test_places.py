"""Places: what opens where, and what is judged there alone. Whole answers: test_partial_builder.py."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, RootModel, ValidationError

from unspool.schema import Schema
from unspool.schema.levels import GuessLevel, ItemsLevel, MembersLevel, UndecidedLevel, UnknownLevel
from unspool.schema.places import Guess, Place
from unspool.schema.record_level import RecordLevel


class Item(BaseModel):
    name: str


class Point(BaseModel):
    x: int


def root(T: Any, protocol: str = "json") -> Place:
    typed = Schema.of(T).for_python()
    return (typed.python_places if protocol == "python" else typed.json_places).root


@pytest.mark.parametrize(
    ("wanted", "protocol", "event", "level"),
    [
        (Item, "json", ("object", None, None), RecordLevel),
        (Item, "python", ("object", "Item", None), RecordLevel),
        (Item, "python", ("object", None, None), UnknownLevel),
        (Item, "python", ("object", "Point", None), UnknownLevel),
        (Item, "json", ("array", None, None), UnknownLevel),
        (Item | Point, "json", ("object", None, None), UnknownLevel),
        (Item | Point, "python", ("object", "Point", None), RecordLevel),
        (list[Item] | None, "json", ("array", None, None), ItemsLevel),
        (list[Item] | set[int], "json", ("array", None, None), UnknownLevel),
        (list[Item] | set[int], "python", ("array", None, "set"), ItemsLevel),
        (dict[str, int], "json", ("object", None, None), MembersLevel),
        (Any, "json", ("object", None, None), MembersLevel),
        (Any | Item, "python", ("object", "Item", None), UnknownLevel),
    ],
)
def test_what_opens(wanted: Any, protocol: str, event: Any, level: type) -> None:
    place = root(wanted, protocol)
    assert type(place.open(*event).level) is level
    assert place.open(*event) is place.open(*event)


def test_a_family_of_json_is_not_decided_at_once() -> None:
    class Sub(Item):
        more: int

    place = Schema.of(list[Item], subclasses=[Sub]).for_python().json_places.root
    inner = place.open("array", None, None).level.child(0)[1]
    assert type(inner.open("object", None, None).level) is UndecidedLevel


def test_what_is_judged_as_it_was_written() -> None:
    blind = root(Annotated[list[int], BeforeValidator(list)]).open("array", None, None)
    assert blind.whole and not blind.sure
    plain = root(list[int]).open("array", None, None)
    assert not plain.whole and plain.sure


def test_functions_and_root_models_around_a_container() -> None:
    class Numbers(RootModel[list[int]]):
        pass

    assert root(Annotated[list[int], AfterValidator(sorted)]).open("array", None, None).made([2, 1], {}) == [1, 2]
    assert root(Numbers).open("array", None, None).made([1], {}) == Numbers([1])


def test_values_of_one_piece() -> None:
    place = root(Annotated[int, Field(gt=0)])
    assert place.check(3, {}) == 3
    for wrong in (0, True, "1", 1.0):
        with pytest.raises(ValidationError):
            place.check(wrong, {})


def test_a_container_is_copied_before_it_is_judged_as_a_whole() -> None:
    def emptied(value: Any) -> Any:
        return [value.pop()]

    given = [1, 2]
    assert root(Annotated[list[int], BeforeValidator(emptied)]).check(given, {}) == [2]
    assert given == [1, 2]


class Left(BaseModel):
    mode: Literal["a", "b"]
    note: str = ""
    inner: list[Left] = []


class Right(BaseModel):
    mode: str
    note: str = ""


def test_places_in_what_is_not_known_yet() -> None:
    """F17: as reticent about text as what may stand there."""
    opened = root(Left | Right).open("object", None, None).level
    assert type(opened) is UnknownLevel
    mode, note, inner, other = (opened.child(name)[1] for name in ("mode", "note", "inner", "other"))
    assert type(mode) is Guess and not mode.shows_text and note.shows_text
    assert mode is opened.child("mode")[1]
    assert other.drops and not other.shows_text
    items = inner.open("array", None, None).level
    assert type(items) is GuessLevel and items.listed and items.made([1], {}) == [1]
    assert not items.child(0)[1].open("object", None, None).level.child("mode")[1].shows_text


def test_what_stands_around_anything() -> None:
    class Held(RootModel[Any]):
        pass

    assert root(Annotated[Any, AfterValidator(len)]).open("array", None, None).made([2, 1], {}) == 2
    assert root(Held).open("object", None, None).made({"a": 1}, {}) == Held({"a": 1})
    assert root(Held).open("array", None, None).has_root and not root(Any).open("array", None, None).has_root


def test_a_class_behind_several_tags_is_one() -> None:
    class Other(BaseModel):
        kind: Literal["c"]

    class Several(BaseModel):
        kind: Literal["a", "b"]

    place = root(Annotated[Several | Other, Field(discriminator="kind")], "python")
    assert place.open("object", "Several", None).level.title == "Several"
