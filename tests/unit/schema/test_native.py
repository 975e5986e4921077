"""Native output, dialect by dialect.

Rules: OpenAI's guide "Structured model outputs", section "Supported schemas"; Claude's "Structured outputs", section
"JSON Schema limitations"; Cohere's "Structured Outputs", section "Parameter types support"; Gemini's
`responseJsonSchema`; llama.cpp's grammars/README.md; F35, F36.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from unspool.errors import ConfigError
from unspool.schema import Dialect, Schema, native_schema, openai_strict

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


class Bare(BaseModel):
    items: list[Any]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Tags, "tags is an object with open member names"),
        (Loose, "data may be anything"),
        (dict[int, Tags], "the root is an object with open member names"),
        (dict[tuple[int, int], str], "the root has keys that are no texts"),
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


class Shape(BaseModel):
    kind: Literal["circle"]
    size: Annotated[int, Field(ge=1, le=9)]
    code: Annotated[str, Field(pattern="^[a-z]+$", min_length=2)]
    name: str | None = None


class Line(BaseModel):
    kind: Literal["line"]
    points: tuple[int, int]


class Drawing(BaseModel):
    shapes: list[Annotated[Shape | Line, Field(discriminator="kind")]]
    first: Shape = Field(description="the first one")
    flags: Literal[1, "a", None] = 1


class Needy(BaseModel):
    more: list[Needy]


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
@pytest.mark.parametrize("wanted", [Leaf, Zoo, list[Leaf], Leaf | None, Cat | Dog, int, Literal["a", "b"]], ids=str)
def test_what_all_dialects_take(wanted: Any, dialect: Dialect) -> None:
    native = native_schema(Schema.of(wanted), dialect)
    assert native.reason is None
    is_object = wanted in (Leaf, Zoo)
    assert native.wrapped == (not is_object and dialect != "ollama")
    if native.wrapped:
        assert native.unwrap({"value": 3}) == 3
    for node in objects(native.schema):
        assert not {"oneOf", "discriminator", "default", "exclude_from_prompt"} & node.keys()
        if node.get("type") == "object" and "properties" in node:
            assert node["additionalProperties"] is False


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_members_keep_their_order(dialect: Dialect) -> None:
    class Ordered(BaseModel):
        zebra: int
        apple: int = 3
        mango: str

    schema = native_schema(Schema.of(Ordered), dialect).schema
    assert list(schema["properties"]) == ["zebra", "apple", "mango"]
    assert schema.get("propertyOrdering") == (["zebra", "apple", "mango"] if dialect == "gemini" else None)
    assert schema["required"] == (["zebra", "apple", "mango"] if dialect == "openai" else ["zebra", "mango"])


def test_gemini_has_no_const_and_lone_references() -> None:
    """F36: tagged unions, `Optional[str]`, a reference with members beside it."""
    native = native_schema(Schema.of(Drawing), "gemini")
    for node in objects(native.schema):
        names = node.keys()
        assert "const" not in names
        assert not isinstance(node.get("type"), list)
        if "$ref" in names:
            assert names == {"$ref"}
    properties = native.schema["properties"]
    assert properties["shapes"]["items"] == {"anyOf": [{"$ref": "#/$defs/Shape"}, {"$ref": "#/$defs/Line"}]}
    assert native.schema["$defs"]["Shape"]["properties"]["kind"] == {"type": "string", "enum": ["circle"]}
    assert native.schema["$defs"]["Shape"]["properties"]["name"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert native.schema["$defs"]["Line"]["properties"]["points"]["prefixItems"] == [{"type": "integer"}] * 2
    assert properties["first"]["description"] == "the first one"
    assert properties["flags"]["anyOf"] == [
        {"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}, {"type": "null"}
    ]  # fmt: skip
    assert native.schema["$defs"]["Shape"]["properties"]["code"] == {
        "type": "string",
        "description": '(minLength: 2, pattern: "^[a-z]+$")',
    }


def test_gemini_recursion_is_for_optional_members() -> None:
    """Its documentation: cyclic references stand within properties that are not required; nullable is not enough."""
    assert native_schema(Schema.of(Tree), "gemini").schema["properties"]["left"]["anyOf"][0] == {"$ref": "#/$defs/Tree"}
    with pytest.raises(ConfigError, match="more is recursive and required") as caught:
        native_schema(Schema.of(Needy), "gemini")
    assert caught.value.code == "UNSUPPORTED"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Tree, "leads back to Tree"),
        (dict[str, int], "open member names"),
        (dict[Annotated[str, Field(pattern="^a")], int], "open member names"),
        (Any, "may be anything"),
        (list[Any], "may be anything"),
    ],
    ids=str,
)
def test_anthropic_refuses_what_it_cannot_hold(wanted: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        native_schema(Schema.of(wanted), "anthropic")
    assert caught.value.code == "UNSUPPORTED"
    assert "protocol='json'" in caught.value.message


def test_anthropic_is_told_limits_in_words() -> None:
    schema = native_schema(Schema.of(Shape), "anthropic").schema
    assert schema["properties"] == {
        "kind": {"const": "circle"},
        "size": {"type": "integer", "description": "(maximum: 9, minimum: 1)"},
        "code": {"type": "string", "description": '(minLength: 2, pattern: "^[a-z]+$")'},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }


class Optionals(BaseModel):
    """Every member may be left out."""

    a: int = 3
    b: str | None = None


def test_cohere_is_told_limits_in_words() -> None:
    """Ranges, lengths and patterns are none of its schema features; `const`, `anyOf` and `$defs` are."""
    schema = native_schema(Schema.of(Shape), "cohere").schema
    assert schema["properties"] == {
        "kind": {"type": "string", "const": "circle"},
        "size": {"type": "integer", "description": "(maximum: 9, minimum: 1)"},
        "code": {"type": "string", "description": '(minLength: 2, pattern: "^[a-z]+$")'},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    assert native_schema(Schema.of(Tree), "cohere").schema["$defs"]["Tree"]["required"] == ["label"]


def test_cohere_wants_a_required_member_in_every_object() -> None:
    native = native_schema(Schema.of(Optionals), "cohere")
    assert native.schema["required"] == ["a", "b"]
    assert native.schema["properties"]["a"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert native.unwrap({"a": None, "b": None}) == {"b": None}
    assert Schema.of(Optionals).validate(native.unwrap({"a": None, "b": "x"})) == Optionals(b="x")


class Empty(BaseModel):
    pass


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Empty, "without members"),
        (dict[str, int], "open member names|without members"),
        (Any, "may be anything"),
        (list[Any], "may be anything"),
        (tuple[int, Any], r"value\[1\]|\[1\] may be anything"),
    ],
    ids=str,
)
def test_cohere_refuses_what_it_cannot_hold(wanted: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        native_schema(Schema.of(wanted), "cohere")
    assert caught.value.code == "UNSUPPORTED"


def test_ollama_keeps_nearly_all() -> None:
    native = native_schema(Schema.of(Drawing), "ollama")
    shape = native.schema["$defs"]["Shape"]["properties"]
    assert shape["code"] == {"type": "string", "pattern": "^[a-z]+$", "minLength": 2}
    assert shape["kind"] == {"type": "string", "const": "circle"}
    patterns = {
        "^a$": True, r"^\.[^\]^$]{2,}$": True, "^(a|b)+$": True,
        "a": False, "^a": False, r"^\d+$": False, "^(?=a)a$": False, "^a$|^b$": False, "^$": False,
    }  # fmt: skip
    for pattern, kept in patterns.items():
        found = native_schema(Schema.of({"type": "string", "pattern": pattern}), "ollama").schema
        assert ("pattern" in found) == kept, pattern
    assert "maxLength" not in native_schema(Schema.of({"type": "string", "maxLength": 100_000}), "ollama").schema


def test_ollama_is_told_anything_by_types() -> None:
    """llama.cpp takes an empty schema for an object, and follows no reference to the root."""
    anything = ["object", "array", "string", "number", "boolean", "null"]
    assert native_schema(Schema.of(Any), "ollama").schema == {"type": anything}
    assert native_schema(Schema.of(list[Any]), "ollama").schema["items"] == {"type": anything}
    assert native_schema(Schema.of(list[Any]), "gemini").schema["properties"]["value"]["items"] == {}
    root = {"type": "object", "properties": {"kid": {"$ref": "#"}}, "required": []}
    assert native_schema(Schema.of(root), "ollama").schema["properties"]["kid"] == {"$ref": "#/$defs/Root"}
    pair = {"type": "array", "prefixItems": [{"type": "null"}], "items": False}
    assert native_schema(Schema.of(pair), "ollama").schema == {
        "type": "array", "prefixItems": [{"type": "null"}], "maxItems": 1
    }  # fmt: skip


def test_literals_of_several_types_stand_apart() -> None:
    """A `type` must stand beside literal values, and each value must be of it."""

    class Flagged(BaseModel):
        flags: Literal[1, "a", None]

    schema = native_schema(Schema.of(Flagged), "openai").schema["properties"]["flags"]
    assert schema["anyOf"] == [
        {"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}, {"type": "null"}
    ]  # fmt: skip


def test_openai_limits_make_it_loose() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(11):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"]}
    assert native_schema(Schema.of(deep), "openai").reason == "it nests objects deeper than 10"
    wide = {"type": "object", "properties": {f"m{i}": {"type": "null"} for i in range(5001)}}
    assert native_schema(Schema.of(wide), "openai").reason == "it has more than 5000 members"


def test_dialect_that_there_is_not() -> None:
    with pytest.raises(ConfigError, match="no dialect 'bedrock'") as caught:
        native_schema(Schema.of(int), "bedrock")  # type: ignore[arg-type]
    assert caught.value.code == "INVALID_OPTIONS"


HELD: tuple[Dialect, ...] = ("openai", "anthropic", "gemini")


def refused(wanted: Any, dialect: Dialect) -> str:
    """Why a schema has no strict form in a dialect."""
    try:
        reason = native_schema(Schema.of(wanted), dialect).reason
    except ConfigError as error:
        assert error.code == "UNSUPPORTED"
        return error.message
    assert reason is not None
    return reason


@pytest.mark.parametrize("dialect", HELD)
@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"enum": ["a", [1]]}, "takes a list or an object as a literal value"),
        ({"const": {"a": 1}}, "takes a list or an object as a literal value"),
        ({"enum": []}, "takes no value at all"),
    ],
    ids=str,
)
def test_literal_values_that_are_no_scalars(wanted: Any, words: str, dialect: Dialect) -> None:
    """Claude: "complex types within enums"; Gemini: enums of texts and numbers."""
    where = {"type": "object", "properties": {"a": wanted}, "required": ["a"], "additionalProperties": False}
    assert f"a {words}" in refused(where, dialect)
    assert native_schema(Schema.of(wanted), "ollama").schema == wanted


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "ollama"])
def test_lists_of_types_with_objects_become_alternatives(dialect: Dialect) -> None:
    mixed = {
        "description": "a node",
        "type": ["object", "array", "null"],
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
        "items": {"type": "string"},
    }
    schema = Schema.of({"type": "object", "properties": {"n": mixed}, "required": ["n"], "additionalProperties": False})
    native = native_schema(schema, dialect)
    assert native.reason is None
    found = native.schema["properties"]["n"]
    assert found["description"] == "a node"
    assert [entry["type"] for entry in found["anyOf"]] == ["object", "array", "null"]
    assert found["anyOf"][1:] == [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    one = Schema.of({"type": ["object"], "properties": {}, "additionalProperties": False})
    assert native_schema(one, "openai").schema["properties"]["value"]["type"] == "object"
    texts = Schema.of({"type": ["string", "null"]})
    assert native_schema(texts, "ollama").schema == {"type": ["string", "null"]}


def test_members_that_are_required_and_not_described() -> None:
    wanted = {"type": "object", "properties": {}, "required": ["a"], "additionalProperties": False}
    assert "a may be anything" in refused(wanted, "openai")
    assert native_schema(Schema.of(wanted), "gemini").schema["properties"] == {"a": {}}


def test_references_with_rules_of_their_own() -> None:
    """Both must hold: what has no word for that is refused, not bent."""
    wanted = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n", "maximum": 5}},
        "required": ["a"],
        "$defs": {"n": {"type": "integer", "maximum": 9}},
    }
    assert "a has two kinds of maximum" in refused(wanted, "openai")
    wanted["properties"]["a"] = {"$ref": "#/$defs/n", "minimum": 5, "description": "words"}  # type: ignore[index]
    found = native_schema(Schema.of(wanted), "openai").schema["properties"]["a"]
    assert found == {"type": "integer", "maximum": 9, "minimum": 5, "description": "words"}


def test_classes_with_words_at_every_level_do_not_double() -> None:
    """Twenty classes, each used twice with a description: a million copies when each is written out."""
    made: Any = type("Last", (BaseModel,), {"__annotations__": {"a": int}, "__module__": __name__})
    for i in range(20):
        said = Annotated[made, Field(description="words")]
        made = type(f"C{i}", (BaseModel,), {"__annotations__": {"a": said, "b": said}, "__module__": __name__})
    for dialect in HELD:
        assert len(str(native_schema(Schema.of(made), dialect).schema)) < 1_000_000


def test_gemini_recursion_through_optional_members() -> None:
    """A required member may lead back by one that may be left out: the way is not endless."""

    class Meta(BaseModel):
        owner: Page | None = None

    class Page(BaseModel):
        meta: Meta

    Meta.model_rebuild(_types_namespace={"Page": Page})
    assert native_schema(Schema.of(Page), "gemini").schema["properties"]["meta"]


def test_patterns_that_no_automaton_has_are_told() -> None:
    for pattern, kept in {"^a+$": True, "(?:a|b)": True, r"(?=a)": False, r"(a)\1": False, r"\bword": False}.items():
        found = native_schema(Schema.of({"type": "string", "pattern": pattern}), "openai").schema
        assert ("pattern" in found["properties"]["value"]) == kept, pattern
        assert ("description" in found["properties"]["value"]) != kept


def test_anthropic_all_of_with_references() -> None:
    wanted = {
        "type": "object",
        "properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}, {"type": "integer"}]}},
        "required": ["a"],
        "$defs": {"n": {"type": "integer"}},
    }
    assert "a uses allOf with $ref" in refused(wanted, "anthropic")


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_unknown_keywords_are_annotations(dialect: Dialect) -> None:
    """JSON Schema Core, draft 2020-12, 6.5."""
    said = {"x-order": 3, "widget": {"$ref": "nowhere"}, "markdownDescription": "m", "$comment": "c", "examples": [1]}
    wanted = {
        "type": "object",
        "properties": {"a": {"type": "integer", **said}, "b": {"$ref": "#/$defs/n", **said}},
        "required": ["a", "b"],
        "additionalProperties": False,
        "$defs": {"n": {"type": "null", **said}},
        **said,
    }
    native = native_schema(Schema.of(wanted), dialect)
    assert native.reason is None
    assert native.schema["properties"] == {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/n"}}
    assert native.schema["$defs"] == {"n": {"type": "null"}}


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"not": {"const": 3}}, 'not: {"const": 3}'),
        ({"if": {"minimum": 3}, "then": {"multipleOf": 2}}, 'if: {"minimum": 3}, then: {"multipleOf": 2}'),
        ({"format": "int32"}, 'format: "int32"'),
        ({"not": {"$ref": "#/$defs/n"}}, 'not: {"enum": [4]}'),
    ],
    ids=str,
)
def test_rules_without_a_word_are_told(rule: Any, told: str, dialect: Dialect) -> None:
    member = {"type": "integer", "description": "a number", **rule}
    wanted = {"type": "object", "properties": {"a": member}, "required": ["a"], "$defs": {"n": {"enum": [4]}}}
    found = native_schema(Schema.of(wanted), dialect).schema["properties"]["a"]
    assert found == {"type": "integer", "description": f"a number ({told})"}


def test_llama_cpp_is_told_what_its_grammar_does_not_hold() -> None:
    class Numbers(BaseModel):
        a: Annotated[int, Field(multiple_of=5)]
        b: dict[Annotated[str, Field(pattern="^x")], int]

    assert native_schema(Schema.of(Numbers), "ollama").schema["properties"] == {
        "a": {"type": "integer", "description": "(multipleOf: 5)"},
        "b": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": '(propertyNames: {"pattern": "^x"})',
        },
    }


class Pair(NamedTuple):
    x: int
    y: str = "d"


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "cohere"])
def test_tuples_are_lists_of_their_kinds(dialect: Dialect) -> None:
    """None of these has tuples: the size is held where it can be, and the order is told."""
    sizes = {"minItems": 2, "maxItems": 2} if dialect == "openai" else {}
    told = "" if dialect == "openai" else "maxItems: 2, minItems: 2"
    order = 'prefixItems: [{"type": "integer"}, {"type": "string"}]'
    native = native_schema(Schema.of(tuple[int, str]), dialect)
    assert native.reason is None
    assert native.schema["properties"]["value"] == {
        "type": "array",
        **sizes,
        "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "description": f"({', '.join(filter(None, (told, order)))})",
    }
    alike = native_schema(Schema.of(tuple[int, int]), dialect).schema["properties"]["value"]
    assert alike == {
        "type": "array", **sizes, "items": {"type": "integer"}, **({"description": f"({told})"} if told else {}),
    }  # fmt: skip


def test_each_place_of_a_tuple_loses_its_own_nulls() -> None:
    """`null` is a value of the one's name, and "left out" of the other's."""

    class Mine(BaseModel):
        name: str | None

    class Yours(BaseModel):
        name: str = "y"

    for T in (tuple[Mine, Yours], tuple[Yours, Mine], tuple[Yours, Mine, Yours]):
        schema: Schema[Any] = Schema.of(T)
        native = openai_strict(schema)
        value = schema.validate(native.unwrap({"value": [{"name": None}] * len(T.__args__)}))
        assert [item.name for item in value] == [None if cls is Mine else "y" for cls in T.__args__]


def test_llama_cpp_sees_only_items_where_both_are_there() -> None:
    """json-schema-to-grammar reads `items`, then not `prefixItems`: the first item would be held to the wrong rule."""
    wanted = {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}}
    assert native_schema(Schema.of(wanted), "ollama").schema == {
        "type": "array",
        "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "description": '(prefixItems: [{"type": "integer"}])',
    }
    assert native_schema(Schema.of(tuple[int, str]), "ollama").schema["prefixItems"] == [
        {"type": "integer"}, {"type": "string"}
    ]  # fmt: skip


def test_draft_7_lists_of_items() -> None:
    wanted = {"type": "array", "items": [{"type": "integer"}], "additionalItems": False}
    found = native_schema(Schema.of(wanted), "gemini").schema["properties"]["value"]
    assert found == {"type": "array", "prefixItems": [{"type": "integer"}], "maxItems": 1}


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_enumerated_keys_are_members(dialect: Dialect) -> None:
    schema = Schema.of(dict[Literal["a", "b"], int])
    native = native_schema(schema, dialect)
    assert native.reason is None
    found = native.schema if dialect == "ollama" or not native.wrapped else native.schema["properties"]["value"]
    assert list(found["properties"]) == ["a", "b"]
    assert found["additionalProperties"] is False
    assert schema.validate(native.unwrap({"a": 1, "b": None} if dialect in ("openai", "cohere") else {"a": 1})) == {
        "a": 1
    }


def test_enumerated_keys_at_every_level_do_not_multiply() -> None:
    keys: Any = Literal[tuple(f"k{i}" for i in range(60))]
    wanted: Any = int
    for _ in range(4):
        wanted = dict[keys, wanted]
    assert len(str(native_schema(Schema.of(wanted), "gemini").schema)) < 300_000
    assert "open member names" in refused(wanted, "openai")


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_named_tuples_are_objects(dialect: Dialect) -> None:
    schema = Schema.of(Pair)
    native = native_schema(schema, dialect)
    assert native.reason is None
    assert not native.wrapped
    assert list(native.schema["properties"]) == ["x", "y"]
    assert native.schema["required"] == (["x", "y"] if dialect == "openai" else ["x"])
    answer = {"x": 1, "y": None} if dialect == "openai" else {"x": 1}
    assert schema.validate(native.unwrap(answer)) == Pair(1)


def test_patterns_of_names_beside_members() -> None:
    wanted = {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "string"}, "^y-": {"type": "null"}},
        "additionalProperties": False,
    }
    found = native_schema(Schema.of(wanted), "gemini").schema
    assert found["additionalProperties"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert found["description"].startswith("(patternProperties: {")
    assert "open member names" in refused(wanted, "openai")


def test_open_api_nullable() -> None:
    wanted = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}, "required": ["a"]}
    assert native_schema(Schema.of(wanted), "openai").schema["properties"]["a"] == {"type": ["string", "null"]}


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "gemini", "cohere", "ollama"])
def test_a_decimal_is_asked_for_as_text_and_its_limits_are_told(dialect: Any) -> None:
    class Item(BaseModel):
        price: Annotated[Decimal, Field(gt=0, decimal_places=2)]

    price = native_schema(Schema.of(Item), dialect).schema["properties"]["price"]
    assert price["type"] == "string"
    assert "exclusiveMinimum" not in price
    assert "exclusiveMinimum: 0" in price["description"]
