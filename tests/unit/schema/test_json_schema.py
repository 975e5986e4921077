"""The neutral schema, and unions that are tried anew at each level."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from unspool.schema import Schema
from unspool.schema.json_schema import lookalikes, without_hidden, without_titles


class Leaf(BaseModel):
    name: str


class Tree(BaseModel):
    label: str
    left: Tree | None = None
    kids: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]


class Zoo(BaseModel):
    best: Cat
    rest: list[Cat | Leaf] = []


class Loop(BaseModel):
    one: Loop | list[Loop] | None = None


class Pair(BaseModel):
    both: Pair | dict[str, Pair] | None = None


class Bag(BaseModel):
    both: list[Bag] | list[list[Bag]] | Leaf | None = None


@pytest.mark.parametrize(
    ("wanted", "counts"),
    [
        (Leaf, (1, 1)),
        (Tree, (1, 1)),
        (Zoo, (1, 1)),
        (Loop, (1, 1)),
        (Pair, (2, 1)),
        (Bag, (1, 2)),
        (list[Pair], (2, 1)),
    ],
    ids=str,
)
def test_lookalikes(wanted: Any, counts: tuple[int, int]) -> None:
    assert lookalikes(Schema.of(wanted).json_schema()) == counts


def test_titles_that_repeat_a_name_are_left_out() -> None:
    class Named(BaseModel):
        plain_name: int
        told: int = Field(title="Price in cents")
        title: str

    schema = Schema.of(Named).json_schema()
    assert "title" not in schema
    assert schema["properties"] == {
        "plain_name": {"type": "integer"},
        "told": {"title": "Price in cents", "type": "integer"},
        "title": {"type": "string"},
    }
    assert without_titles({"anyOf": [{"title": "kept"}], "items": {"title": "kept"}}) == {
        "anyOf": [{"title": "kept"}],
        "items": {"title": "kept"},
    }


def test_hidden_members_are_left_out() -> None:
    """P25."""

    class Account(BaseModel):
        user: str
        secret: Annotated[str, Field(json_schema_extra={"exclude_from_prompt": True})] = "s"

    assert list(Schema.of(Account).json_schema()["properties"]) == ["user"]
    assert without_hidden({"anyOf": [{"properties": {"a": {"exclude_from_prompt": True}, "b": True}}]}) == {
        "anyOf": [{"properties": {"b": True}}]
    }
