"""Shapes: names, slots and parts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from unspool.schema.shape import (
    AnyShape,
    CollectionShape,
    Field,
    MappingShape,
    Record,
    Scalar,
    TupleShape,
    UnionShape,
    class_name,
    is_name,
    parts,
)


class Box[T](BaseModel):
    item: T


@pytest.mark.parametrize(("cls", "name"), [(int, "int"), (Box[int], "Box_int"), (Box[list[int]], "Box_list_int")])
def test_class_name(cls: type, name: str) -> None:
    assert class_name(cls) == name


def test_a_name_is_one_that_python_reads_as_it_stands() -> None:
    """PEP 3131: identifiers are NFKC-normalised while they are read."""
    assert [is_name(text) for text in ("a1", "é", "class", "1a", "ﬁ", "e\u0301", "")] == [True, True, *[False] * 5]


def test_record() -> None:
    record = Record(int, "dataclass")
    number, text = Scalar("int"), Scalar("str")
    record.fields = (
        Field("a", number, alias="A", required=True),
        Field("b", text, alias="b", required=False, hidden=True),
        Field("c", text, alias="c", required=False, positional=False),
    )
    assert [field.name for field in record.shown] == ["a", "c"]
    assert record.slots == ("a",)
    assert record.is_callable
    assert parts(record) == (number, text)
    record.extra = AnyShape()
    assert parts(record) == (number, text, record.extra)
    record.fields = (Field("not a name", number, alias="x", required=True),)
    assert not record.is_callable


def test_parts() -> None:
    number, text = Scalar("int"), Scalar("str")
    shapes: list[tuple[Any, tuple[Any, ...]]] = [
        (number, ()),
        (CollectionShape("set", number), (number,)),
        (TupleShape([number, text]), (number, text)),
        (MappingShape(text, number), (text, number)),
        (UnionShape([number, text]), (number, text)),
    ]
    for shape, below in shapes:
        assert parts(shape) == below
