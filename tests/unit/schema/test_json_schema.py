"""Neutral schema and strict form. Rules: OpenAI's guide "Structured model outputs", section "Supported schemas"."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from unspool.schema import Schema, openai_strict
from unspool.schema.json_schema import lookalikes, without_titles

FORBIDDEN = {
    "default",
    "oneOf",
    "allOf",
    "not",
    "if",
    "patternProperties",
    "prefixItems",
    "uniqueItems",
    "discriminator",
}


class Leaf(BaseModel):
    """A leaf."""

    name: str = Field(min_length=2, description="its name")
    note: str | None = None
    is_admin: bool = False


class Tree(BaseModel):
    label: str
    left: Tree | None = None
    kids: list[Tree] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tail: bool = True


class Zoo(BaseModel):
    best: Annotated[Cat | Dog, Field(discriminator="kind")]
    rest: list[Cat | Dog] = []
    leaf: Leaf = Field(description="the one")


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for member in node.values():
            yield from objects(member)
    elif isinstance(node, list):
        for item in node:
            yield from objects(item)


def assert_strict(schema: Any) -> None:
    assert schema["type"] == "object"
    assert "anyOf" not in schema
    names = {name for node in objects(schema) for name in node.get("properties", {})}
    for node in objects(schema):
        assert not FORBIDDEN & (node.keys() - names), node
        if "properties" in node and isinstance(node.get("properties"), dict) and "type" in node:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        if "$ref" in node:
            assert list(node) == ["$ref"]


@pytest.mark.parametrize(
    "wanted", [Leaf, Tree, Zoo, list[Leaf], Leaf | None, int, Literal["a"], Cat | Dog, list[int]], ids=str
)
def test_strict_form_follows_the_rules(wanted: Any) -> None:
    native = openai_strict(Schema.of(wanted))
    assert native.reason is None
    assert_strict(native.schema)


def test_optional_members_become_nullable_and_defaults_come_back() -> None:
    """F35's three members, the open dict apart."""
    schema = Schema.of(Leaf)
    native = openai_strict(schema)
    assert native.schema["properties"] == {
        "name": {"description": "its name (minLength: 2)", "type": "string"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "is_admin": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    }
    assert native.schema["required"] == ["name", "note", "is_admin"]
    value = native.unwrap({"name": "ab", "note": None, "is_admin": None})
    assert value == {"name": "ab", "note": None}  # null means something for note, and "left out" for is_admin
    assert schema.validate(value) == Leaf(name="ab", note=None, is_admin=False)


def test_nulls_are_dropped_in_every_corner() -> None:
    schema = Schema.of(Zoo)
    value = openai_strict(schema).unwrap(
        {
            "best": {"kind": "dog", "tail": None},
            "rest": [{"kind": "cat", "lives": None}, {"kind": "dog", "tail": False}],
            "leaf": {"name": "ab", "note": "n", "is_admin": None},
        }
    )
    assert value == {
        "best": {"kind": "dog"},
        "rest": [{"kind": "cat"}, {"kind": "dog", "tail": False}],
        "leaf": {"name": "ab", "note": "n"},
    }
    assert schema.validate(value).best == Dog(kind="dog")


def test_recursion_is_kept_as_references() -> None:
    schema = Schema.of(Tree)
    native = openai_strict(schema)
    assert not native.wrapped
    assert native.schema["properties"]["kids"]["anyOf"][0] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    value = native.unwrap({"label": "a", "left": {"label": "b", "left": None, "kids": None}, "kids": None})
    assert schema.validate(value) == Tree(label="a", left=Tree(label="b"))


@pytest.mark.parametrize("wanted", [list[Leaf], int, Literal["a", "b"], Leaf | None, Cat | Dog], ids=str)
def test_root_that_is_no_object_is_wrapped(wanted: Any) -> None:
    native = openai_strict(Schema.of(wanted))
    assert native.wrapped
    assert list(native.schema["properties"]) == ["value"]
    assert native.unwrap({"value": [1]}) == [1]
    assert native.unwrap("something else") == "something else"


def test_wrapped_values_lose_their_nulls_too() -> None:
    schema = Schema.of(list[Leaf])
    value = openai_strict(schema).unwrap({"value": [{"name": "ab", "note": None, "is_admin": None}]})
    assert schema.validate(value) == [Leaf(name="ab")]


class Tags(BaseModel):
    tags: dict[str, str]


class Loose(BaseModel):
    data: Any


class Fixed(BaseModel):
    pair: tuple[int, str]


class Bare(BaseModel):
    items: list[Any]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Tags, "tags is an object with open member names"),
        (Loose, "data may be anything"),
        (Fixed, "pair uses prefixItems"),
        (Bare, "items[] may be anything"),
        (dict[str, int], "the root is an object with open member names"),
        ({"type": "object", "properties": {"a": {"allOf": [{}, {}]}}}, "a uses allOf"),
        ({"type": "array"}, "the root is a list of anything"),
        ({}, "the root may be anything"),
        (True and {"type": "object"}, "the root is an object with open member names"),
    ],
    ids=str,
)
def test_what_has_no_strict_form_is_asked_for_loosely(wanted: Any, reason: str) -> None:
    """F35: no error, and the reason is told."""
    schema = Schema.of(wanted)
    native = openai_strict(schema)
    assert native.reason is not None and native.reason.startswith(reason)
    assert native.schema["type"] == "object"


def test_loose_form_keeps_definitions_in_reach() -> None:
    schema = Schema.of(list[Tags] | dict[str, Tree])
    native = openai_strict(schema)
    assert native.wrapped
    assert set(native.schema["$defs"]) == {"Tags", "Tree"}
    assert native.unwrap({"value": []}) == []


def test_reference_beside_other_keywords_is_written_out() -> None:
    leaf = openai_strict(Schema.of(Zoo)).schema["properties"]["leaf"]
    assert leaf["description"] == "the one"
    assert list(leaf["properties"]) == ["name", "note", "is_admin"]


def test_recursive_reference_beside_other_keywords_ends() -> None:
    class Chain(BaseModel):
        next: Chain | None = Field(default=None, description="the next one")
        last: Annotated[Chain, Field(description="self")] | None = None

    Chain.model_rebuild()
    assert_strict(openai_strict(Schema.of(Chain)).schema)


def test_root_reference_to_itself() -> None:
    schema = {
        "type": "object",
        "properties": {"kid": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["kid"],
    }
    native = openai_strict(Schema.of(schema))
    assert native.schema["properties"]["kid"]["anyOf"][0] == {"$ref": "#"}
    wrapped = openai_strict(Schema.of({"type": "array", "items": {"$ref": "#"}}))
    assert_strict(wrapped.schema)
    assert wrapped.unwrap({"value": [[], [[]]]}) == [[], [[]]]


def test_source_schema_is_not_changed() -> None:
    schema = Schema.of(Zoo)
    before = repr(schema.json_schema())
    openai_strict(schema)
    assert repr(schema.json_schema()) == before


def test_unsupported_rules_are_told_in_words() -> None:
    class Amount(BaseModel):
        names: Annotated[list[str], Field(description="who")] = []
        unique: set[int]
        price: Annotated[Decimal, Field(gt=0)]

    native = openai_strict(Schema.of(Amount))
    assert native.reason is None
    assert native.schema["properties"]["unique"]["description"] == "(uniqueItems: true)"


names = st.sampled_from(["a", "b", "c", "value"])
leaves = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"type": "boolean"}])


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.dictionaries(names, inner, min_size=1, max_size=3)
    objects_of = members.flatmap(
        lambda properties: st.sets(st.sampled_from(sorted(properties))).map(
            lambda required: {"type": "object", "properties": properties, "required": sorted(required)}
        )
    )
    return objects_of | inner.map(lambda item: {"type": "array", "items": item})


def strict_answer(node: Any) -> st.SearchStrategy[Any]:
    """Answers that a provider could give to a strict schema."""
    if "anyOf" in node:
        return st.one_of([strict_answer(entry) for entry in node["anyOf"]])
    match node["type"]:
        case "object":
            return st.fixed_dictionaries({name: strict_answer(entry) for name, entry in node["properties"].items()})
        case "array":
            return st.lists(strict_answer(node["items"]), max_size=3)
        case "integer":
            return st.integers()
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return st.text(max_size=3)


@given(st.recursive(leaves, grown, max_leaves=8), st.data())
def test_every_strict_answer_leads_back_to_the_schema_asked_for(asked: Any, data: st.DataObject) -> None:
    schema = Schema.of(asked)
    native = openai_strict(schema)
    assert native.reason is None
    assert_strict(native.schema)
    answer = data.draw(strict_answer(native.schema))
    schema.validate(native.unwrap(answer))


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
