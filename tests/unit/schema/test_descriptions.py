"""What is said about classes and fields: rules P17 and P18."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple, NotRequired, Required

import pytest
from pydantic import BaseModel, Field
from typing_extensions import Doc, ReadOnly, TypedDict

from unspool.schema.descriptions import Descriptions, docstring_of
from unspool.schema.shape import Form, Record


class Model(BaseModel):
    """Of the model.

    More.
    """

    plain: int
    text: Annotated[int, 3, "as text"]
    doc: Annotated[int, Doc("as Doc")]
    field: Annotated[int, Field(description="as Field"), "not this"]


@dataclasses.dataclass
class Data:
    text: Annotated[int, "as text"]


class Tuple(NamedTuple):
    text: Annotated[int, "as text"]


class Members(TypedDict):
    text: Annotated[int, Doc("as Doc")]


class Qualified(TypedDict):
    a: NotRequired[Annotated[int, "as text"]]
    b: ReadOnly[Required[Annotated[int, "first", "as text"]]]
    c: Annotated[NotRequired[Annotated[int, "inner"]], "as text"]


type Named = Annotated[int, "as text"]


@dataclasses.dataclass
class Aliased:
    a: Named
    b: dataclasses.InitVar[Annotated[int, "as text"]]
    c: Annotated[Named, "as text"]


class AliasedModel(BaseModel):
    a: Named
    b: Annotated[Named | None, Doc("first"), Doc("as text")]


class Lost(NamedTuple):
    text: Nowhere  # type: ignore[name-defined]  # noqa: F821


def said(cls: type, form: Form, name: str, node: Any = None) -> str:
    return Descriptions(Record(cls, form)).of(name, [node or {}])


def test_descriptions() -> None:
    assert [said(Model, "model", name) for name in ("plain", "text", "doc", "other")] == ["", "as text", "as Doc", ""]
    told = {"metadata": {"pydantic_js_updates": {"description": "as Field"}}}
    assert said(Model, "model", "field", told) == "as Field"
    assert said(Data, "dataclass", "text") == "as text"
    assert said(Tuple, "named-tuple", "text") == "as text"
    assert said(Members, "typed-dict", "text") == "as Doc"


@pytest.mark.parametrize(
    ("cls", "form", "names"),
    [(Qualified, "typed-dict", "abc"), (Aliased, "dataclass", "abc"), (AliasedModel, "model", "ab")],
)
def test_behind_qualifiers_and_names(cls: type, form: Form, names: str) -> None:
    """PEP 655, PEP 695, PEP 705; PEP 727: of several, the last counts."""
    assert {said(cls, form, name) for name in names} == {"as text"}


def test_names_that_only_pydantic_could_resolve() -> None:
    assert said(Lost, "named-tuple", "text") == ""


@pytest.mark.parametrize(
    ("cls", "form", "text"),
    [
        (Model, "model", "Of the model.\n\nMore."),
        (Data, "dataclass", ""),
        (Tuple, "named-tuple", ""),
        (Members, "typed-dict", ""),
    ],
)
def test_docstrings(cls: type, form: Form, text: str) -> None:
    """Cleaned; those that dataclasses and NamedTuple make up are left out."""
    assert docstring_of(cls, form) == text


def test_docstring_that_only_begins_like_a_signature() -> None:
    @dataclasses.dataclass
    class Point:
        """Point(s) of a line."""

        x: int

    assert docstring_of(Point, "dataclass") == "Point(s) of a line."
