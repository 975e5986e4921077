"""What a type leaves open is refused when the schema is made: rule P29 of the reference notes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import attrs
import pytest
from pydantic import BaseModel, Field, RootModel

from unspool.errors import ConfigError
from unspool.schema import Schema, schema_text

Q = TypeVar("Q")
Bound = TypeVar("Bound", bound=int)
Listed = TypeVar("Listed", int, str)


class Box(BaseModel, Generic[Q]):  # noqa: UP046
    item: Q
    more: list[Q] = []


class New[T](BaseModel):
    item: T
    next: New[T] | None = None


class Child(Box[int]):
    other: New[str]


class Grandchild[T](Box[T]):
    also: T


@dataclasses.dataclass
class Cell(Generic[Q]):  # noqa: UP046
    item: Q
    next: Cell[Q] | None = None


@dataclasses.dataclass
class Number(Cell[int]):
    size: int = 0


class Keyed(TypedDict, Generic[Q]):  # noqa: UP046
    item: Q


class More(Keyed[int]):
    other: str


class Pair(NamedTuple, Generic[Q]):  # noqa: UP046
    item: Q


@attrs.define
class Crate(Generic[Q]):  # noqa: UP046
    item: Q


class Root(RootModel[list[Q]], Generic[Q]):  # noqa: UP046
    pass


class HoldsOpen(BaseModel):
    boxes: dict[str, list[Box]]  # type: ignore[type-arg]


class HoldsVariable(BaseModel):
    found: Annotated[list[Q], Field(min_length=1)]  # type: ignore[valid-type]


@dataclasses.dataclass
class Around(Generic[Q]):  # noqa: UP046
    inside: Box[Q]
    next: Around[Q] | None = None


class Vector(Generic[Q]):  # noqa: UP046
    """It says itself what it is."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler.generate_schema(list[int])


@dataclasses.dataclass
class HoldsCell:
    holder: HoldsOpen | None
    cell: Cell  # type: ignore[type-arg]


type Two[T] = tuple[T, T]
type OfBoxes = list[Box]  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Q, "it leaves the type variable Q open"),
        (list[Q], "it leaves the type variable Q open"),  # type: ignore[valid-type]
        (dict[str, Q | None], "it leaves the type variable Q open"),  # type: ignore[valid-type]
        (Annotated[Q, Field(description="x")], "the type variable Q"),
        (Box, r"it leaves Q of Box open: write Box\[…\]"),
        (Box[Q], "the type variable Q|Q of Box"),  # type: ignore[valid-type]
        (New, r"T of New open"),
        (list[New], r"T of New open"),
        (Grandchild, "T of Grandchild open"),
        (Cell, "Q of Cell open"),
        (Cell[Q], "the type variable Q"),  # type: ignore[valid-type]
        (Keyed, "Q of Keyed open"),
        (Pair, "Q of Pair open"),
        (Crate, "Q of Crate open"),
        (list[Crate], "Q of Crate open"),
        (Root, "Q of Root open"),
        (Two, "T of Two open"),
        (OfBoxes, "Q of Box open"),
        (HoldsOpen, "boxes leaves Q of Box open"),
        (list[HoldsOpen], r"\[\]\.boxes leaves Q of Box open"),
        (HoldsVariable, "found leaves the type variable Q open"),
        (HoldsCell, r"holder\.boxes leaves Q of Box open"),
        (tuple[int, *tuple[str, ...]], r"it unpacks a tuple \(\*tuple\[str, \.\.\.\]\)"),
        (list[tuple[int, *tuple[str, ...], bool]], "it unpacks a tuple"),
    ],
)
def test_what_is_left_open(wanted: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        Schema.of(wanted)
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Box[int], "Box_int"),
        (New[Box[str]], "New_Box_str"),
        (Child, "Child"),
        (Grandchild[str], "Grandchild_str"),
        (Cell[int], "Cell"),
        (Number, "Number"),
        (Keyed[int], "Keyed"),
        (More, "More"),
        (Pair[str], "Pair"),
        (Root[int], "list[int]"),
        (Two[Two[int]], "tuple[tuple[int, int], tuple[int, int]]"),
        (Crate[int], "Crate"),
        (Around[int], "Around"),
        (Vector, "list[int]"),
        (list[Bound], "list[int]"),  # type: ignore[valid-type]
        (list[Listed], "list[Union[int, str]]"),  # type: ignore[valid-type]
        (list, "list[Any]"),
        (dict, "dict[str, Any]"),
        (Mapping, "dict[str, Any]"),
        (Literal["Q"], "Literal['Q']"),
    ],
)
def test_what_is_filled_in(wanted: Any, text: str) -> None:
    """A variable with a bound, or with a list of types, means those."""
    assert schema_text(wanted).partition("\n")[0] == text


def test_other_refusals_come_through() -> None:
    with pytest.raises(ConfigError, match="a callable"):
        Schema.of(Callable[[int], str])
