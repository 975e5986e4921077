"""Types in, shapes out. Expected shapes are written out by hand."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Generator, Iterable
from typing import Annotated, Any, Literal, NewType, Optional, Union

import pytest
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ImportString,
    Json,
    PlainValidator,
    SecretStr,
    TypeAdapter,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from tests.support import named

from unspool.errors import ConfigError
from unspool.schema import Schema
from unspool.schema.python_text import annotation
from unspool.schema.shape import Record
from unspool.schema.shape_reader import ShapeReader

type AliasShape = list[int]
UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"


def shape_of(wanted: Any) -> Any:
    return ShapeReader(TypeAdapter(wanted).core_schema).read()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (AliasShape, "list[int]"),
        (UserId, "int"),
        (Optional[int], "int | None"),  # noqa: UP045
        (Union[int, Union[str, None]], "Union[int, str, None]"),  # noqa: UP007
        (int | Annotated[str | None, Field(min_length=1)], "Union[int, str, None]"),
        (Annotated[int, AfterValidator(abs)], "int"),
        (Annotated[int, BeforeValidator(int)], "int"),
        (Annotated[Any, PlainValidator(int), WithJsonSchema({"type": "integer"})], "int"),
        (Annotated[Any, PlainValidator(int), WithJsonSchema({"type": "array"})], "list[Any]"),
        (Annotated[Any, PlainValidator(int), WithJsonSchema({"enum": ["a", 1]})], "Literal['a', 1]"),
        (Annotated[Any, PlainValidator(int), WithJsonSchema({"anyOf": []})], "Any"),
        (Json[int], "str(format='json')"),
        (SecretStr, "str(format='password')"),
        (tuple[int, ...] | None, "tuple[int, ...] | None"),
        (type(None), "NoneType"),
    ],
    ids=str,
)
def test_ways_to_write_a_type(wanted: Any, text: str) -> None:
    assert annotation(shape_of(wanted)) == text


@pytest.mark.parametrize(
    ("wanted", "where"),
    [
        (Callable[[int], int], "it is a callable"),
        (dict[str, list[Callable[[], None]]], r"\{\}\[\] is a callable"),
        (type[int], "it is a class itself"),
        (Iterable[int], "it is an Iterable"),
        (tuple[int, Generator[int, None, None]], r"\[1\] is an Iterable"),
        (dict[str, ImportString], r"\{\} is imported by what a model writes"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_for(wanted: Any, where: str) -> None:
    """P29: at construction, with the path."""
    with pytest.raises(ConfigError, match=where) as caught:
        Schema.of(wanted)
    assert caught.value.code == "INVALID_OPTIONS"


def test_path_through_classes() -> None:
    with pytest.raises(ConfigError, match=r"inner\[\]\.hook is a callable"):
        Schema.of(Outer)
    with pytest.raises(ConfigError, match=r"\{\}\[\]: .*Plain"):
        Schema.of(dict[str, list[Plain]])


class Inner(BaseModel):
    hook: Callable[[], None]


@dataclasses.dataclass
class Outer:
    inner: list[Inner | None]


class Plain:
    def __init__(self, x: int) -> None:
        self.x = x


def test_fields() -> None:
    class Model(BaseModel):
        """Doc."""

        model_config = ConfigDict(use_attribute_docstrings=True)
        plain: int
        aliased: int = Field(alias="from")
        chosen: int = Field(validation_alias=AliasChoices("a", "b"))
        pathed: int = Field(1, validation_alias=AliasPath("c", 0))
        optional: str | None = None
        made: list[int] = Field(default_factory=list)
        """Made anew."""

        @model_validator(mode="before")
        @classmethod
        def before(cls, value: Any) -> Any:
            return value

    record = shape_of(Model)
    assert isinstance(record, Record)
    assert (record.name, record.form, record.doc, record.extra) == ("Model", "model", "Doc.", None)
    assert [(f.name, f.alias, f.required) for f in record.fields] == [
        ("plain", "plain", True),
        ("aliased", "from", True),
        ("chosen", "a", True),
        ("pathed", "pathed", False),
        ("optional", "optional", False),
        ("made", "made", False),
    ]
    assert record.fields[4].default is None
    assert record.fields[5].description == "Made anew."


def test_hidden_field_needs_a_default() -> None:
    """P25."""

    class Model(BaseModel):
        secret: Annotated[int, Field(json_schema_extra={"exclude_from_prompt": True})]

    with pytest.raises(ConfigError, match="secret is kept out of the prompt") as caught:
        Schema.of(Model)
    assert caught.value.code == "INVALID_OPTIONS"


def test_docstrings_that_nobody_wrote() -> None:
    """P17: generated and inherited ones are left out."""

    class Parent(BaseModel):
        """Of the parent."""

    class Child(Parent):
        x: int

    @dataclasses.dataclass
    class Generated:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)

    assert shape_of(Child).doc == ""
    assert shape_of(Generated).doc == ""
    assert shape_of(Parent).doc == "Of the parent."


class Filled(BaseModel):
    @model_validator(mode="before")
    @classmethod
    def filled(cls, data: Any) -> Any:
        return data


@pytest.mark.parametrize(
    ("wanted", "care"),
    [
        (int, False),
        (Literal["a"], False),
        (Literal[1], True),
        (Color, False),
        (list[Literal[True]], True),
        (Annotated[int, AfterValidator(abs)], False),
        (Annotated[int, BeforeValidator(abs)], True),
        (list[Annotated[int, WrapValidator(lambda value, handler: handler(value))]], True),
        (Filled, True),
        (list[Filled | int], True),
    ],
    ids=named,
)
def test_needs_care(wanted: Any, care: bool) -> None:
    reader = ShapeReader(TypeAdapter(wanted).core_schema)  # type: ignore[arg-type]
    reader.read()
    assert reader.needs_care == care


def test_generic_models_and_recursion() -> None:
    class Box[T](BaseModel):
        item: T
        more: list[Box[T]] = []

    record = shape_of(Box[int])
    assert record.name == "Box_int"
    assert record.fields[1].shape.items is record
