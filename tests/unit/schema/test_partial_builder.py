"""PartialBuilder: closed parts judged once and alone, with early faults. F17, F18, F21. The whole has the last word."""

from __future__ import annotations

import dataclasses
import enum
import gc
import json
import uuid
from collections import deque
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Required, TypedDict

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    RootModel,
    SecretStr,
    StringConstraints,
    Tag,
    ValidationInfo,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from tests.growing import grows, watched
from tests.support import splits

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema import UNKNOWN, Schema, Unknown, format_value
from unspool.schema.views import Part


class Item(BaseModel):
    name: str
    age: int = 0


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list)


@pydantic_dataclass
class Checked:
    small: Annotated[int, Field(lt=10)]


class Pair(NamedTuple):
    left: int
    right: Item | None = None


class Node(TypedDict, total=False):
    name: Required[str]
    children: list[Node]


class Aliased(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    first: str = Field(alias="firstName")
    second: int = Field(0, validation_alias=AliasChoices("two", "zwei"))


class Deep(BaseModel):
    inner: int = Field(validation_alias=AliasPath("a", 0))
    plain: list[Item] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Item]
    name: str


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Items(RootModel[list[Item]]):
    pass


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog", "wolf"]
    toys: list[Item] = []


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Bird(BaseModel):
    kind: Literal["bird"]
    size: Annotated[int, Field(gt=0)]


Nested = Annotated[Annotated[Cat | Dog, Field(discriminator="kind")] | Bird, Field(discriminator="kind")]


def told(value: Any) -> str:
    return "cat" if (value.get("lives") if isinstance(value, dict) else getattr(value, "lives", None)) else "dog"


Called = Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(told)]


class Split(BaseModel):
    words: Annotated[list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)]
    items: list[Item] = []


class Before(BaseModel):
    items: list[Item]
    count: int = 0

    @model_validator(mode="before")
    @classmethod
    def counted(cls, data: Any) -> Any:
        data = data if isinstance(data, dict) else dict(data)
        data.setdefault("count", len(data["items"]))  # changes what it is given
        return data


class After(BaseModel):
    low: int
    high: int
    names: list[Annotated[str, AfterValidator(str.title)]] = []

    @model_validator(mode="after")
    def ordered(self) -> After:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Crossed(BaseModel):
    start: int
    end: int
    items: list[Item] = []

    @field_validator("end")
    @classmethod
    def later(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data["start"]:
            raise ValueError("end is before start")
        return value


class Stripped(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, str_max_length=5)
    name: str
    code: Annotated[str, StringConstraints(to_upper=True)] = ""


class Slow(BaseModel):
    made: Annotated[int, WrapValidator(lambda value, handler: handler(value) + 1)]
    plain: Annotated[str, PlainValidator(lambda value: value * 2)] = ""


class Doubtful(BaseModel):
    item: Item | Unknown
    count: int | Unknown = 0


class Initial(BaseModel):
    name: str

    def __init__(self, **data: Any) -> None:
        super().__init__(**{**data, "name": data["name"].lower()})


CASES: list[tuple[Any, Any]] = [
    (int, 5),
    (str, "Say “hi”"),
    (list[int], [1, 2, 3]),
    (list[float], [1, 2.5, 3]),
    (list[list[Item]], [[{"name": "a"}], [], [{"name": "b"}, {"name": "c"}]]),
    (dict[str, list[Item]], {"a": [{"name": "x"}], "b": []}),
    (dict[int, Item], {"1": {"name": "x"}, "2": {"name": "y"}}),
    (dict[Colour, int], {"red": 1, "blue": 2}),
    (dict[date, list[str]], {"2026-01-02": ["a"]}),
    (dict, {"a": [1, {"b": None}]}),
    (list, [1, "a", [2]]),
    (Any, {"a": [1, {"b": None}], "é": "ü"}),
    (set[int], [1, 2, 2, 3]),
    (frozenset[Colour], ["red", "blue", "red"]),
    (tuple[int, ...], [1, 2, 3]),
    (tuple[int, Item, str], [1, {"name": "x"}, "y"]),
    (deque[Item], [{"name": "a"}, {"name": "b"}]),
    (Point, {"x": 1, "y": 2, "tags": ["a", "b"]}),
    (Checked, {"small": 3}),
    (Pair, [1, {"name": "x"}]),
    (list[Pair | None], [[1], None, [2, {"name": "z"}]]),
    (Node, {"name": "a", "children": [{"name": "b", "children": []}, {"name": "c"}]}),
    (Aliased, {"firstName": "a", "zwei": 3}),
    (Aliased, {"first": "a", "two": 3}),
    (Deep, {"a": [3], "plain": [{"name": "x"}]}),
    (Open, {"name": "a", "more": {"name": "b"}, "less": {"name": "c", "age": 1}}),
    (Item, {"name": "a", "ignored": [{"deep": 1}], "age": 3}),
    (Items, [{"name": "a"}]),
    (dict[str, Items], {"x": [{"name": "a"}]}),
    (list[Pet], [{"kind": "cat", "lives": 9}, {"toys": [{"name": "b"}], "kind": "wolf"}]),
    (list[Nested], [{"kind": "bird", "size": 1}, {"kind": "cat", "lives": 9}, {"toys": [], "kind": "dog"}]),
    (list[Called], [{"kind": "cat", "lives": 9}, {"kind": "dog", "toys": [{"name": "b"}]}]),
    (list[Item | int | None], [1, None, {"name": "a"}]),
    (list[Item | Point], [{"name": "a"}, {"x": 1, "y": 0.5}]),
    (list[list[int] | list[str]], [[1], ["a"], []]),
    (list[dict[str, int] | Item], [{"a": 1}, {"name": "a", "age": 2}]),
    (Split, {"words": "a b", "items": [{"name": "x"}]}),
    (Before, {"items": [{"name": "x"}, {"name": "y"}]}),
    (After, {"low": 1, "high": 2, "names": ["ada", "bob"]}),
    (list[Crossed], [{"start": 1, "end": 2, "items": [{"name": "x"}]}, {"end": 3, "start": 1}]),
    (Stripped, {"name": " abc ", "code": "ab"}),
    (Slow, {"made": 1, "plain": "x"}),
    (Doubtful, {"item": {"unknown": True}, "count": {"unknown": True}}),
    (Doubtful, {"item": {"name": "x"}, "count": 3}),
    (Initial, {"name": "ADA"}),
    (list[Decimal], ["1.50", 2]),
    (list[Path | None], ["a/b", None]),
    (list[uuid.UUID], [str(uuid.UUID(int=5))]),
    (list[SecretStr], ["s"]),
    (list[bytes], ["abc"]),
    (list[Number], [1, 2]),
    (list[Literal[1, "a", None]], [1, "a", None]),
    (create_model("Made", when=(date | None, None), how=(Literal["x"], "x")), {"when": "2026-01-02"}),
]


@pytest.mark.parametrize(("wanted", "data"), CASES, ids=lambda value: str(value)[:40])
def test_what_closed_is_what_the_whole_will_be(wanted: Any, data: Any) -> None:
    """At every cut, growing; and after the last bracket, before the whole is validated, the same value."""
    text = json.dumps(data, ensure_ascii=False)
    for slices in splits(text, rounds=2):
        seen = watched(wanted, slices)
        assert all(grows(*pair) for pair in pairwise(seen.shown)) or wanted in CHANGED
        closed = seen.partial.value
        result = seen.finish()
        assert seen.invalid == []
        if isinstance(data, dict | list):
            assert repr(closed) == repr(result)
            assert seen.partial.state() == "complete"
        assert seen.partial.value is result


CHANGED = (Stripped, Slow, Initial, After, Doubtful, list[Decimal])
"""Validators that make other text of what was shown."""

LITERALS: list[tuple[Any, str]] = [
    (list[Item], "[Item('a'), Item(name='b', age=3)]"),
    (dict[str, Item], "{'a': Item('b'), 'c': Item('d', 2)}"),
    (dict[int, Item], "{1: Item('b')}"),
    (list[Colour], "[Colour.RED, Colour('blue'), 'red']"),
    (set[int], "{1, 2, 3}"),
    (frozenset[int], "frozenset({1, 2})"),
    (tuple[int, Item], "(1, Item('a'))"),
    (list[tuple[int, ...]], "[(1, 2), (), (3,)]"),
    (Point, "Point(1, 2, tags=['a'])"),
    (Pair, "Pair(1, Item('x'))"),
    (Node, "{'name': 'a', 'children': [{'name': 'b'}]}"),
    (Node, "Node(name='a', children=[Node(name='b')])"),
    (Aliased, "Aliased(first='a', second=2)"),
    (Open, "Open(name='a', more=Item('x'))"),
    (list[Pet], "[Cat('cat', 9), Dog(kind='wolf', toys=[Item('a')])]"),
    (list[Item | Point | int], "[Item('a'), 3, Point(1)]"),
    (list[Any], "[1, {'a': (2, {3})}, None]"),
    (Doubtful, "Doubtful(UNKNOWN, UNKNOWN)"),
    (Before, "Before(items=[Item('x')])"),
    (list[Crossed], "[Crossed(1, 2, [Item('x')]), Crossed(end=3, start=1)]"),
    (list[bytes], "[b'abc', 'def']"),
    (list[Decimal], "['1.5', 2]"),
    (Items, "[Item('a')]"),
]


@pytest.mark.parametrize(("wanted", "text"), LITERALS, ids=lambda value: str(value)[:40])
def test_the_same_in_python_syntax(wanted: Any, text: str) -> None:
    for slices in splits(text, rounds=2):
        seen = watched(wanted, slices, "python")
        assert all(grows(*pair) for pair in pairwise(seen.shown)) or wanted in CHANGED
        closed = seen.partial.value
        result = seen.finish()
        assert seen.invalid == []
        assert repr(closed) == repr(result)


class Base(BaseModel):
    name: str


class Sub(Base):
    more: list[Item] = []


@pytest.mark.parametrize(
    ("protocol", "start", "rest"),
    [
        ("json", '[{"class":"Sub","name":"a","more":[{"name":"x"},', '{"name":"y"}]},{"class":"Base","name":"b"}]'),
        ("python", "[Sub('a', [Item('x'), ", "Item('y')]), Base('b')]"),
    ],
)
def test_a_family_is_told_by_class_or_constructor(protocol: Any, start: str, rest: str) -> None:
    schema = Schema.of(list[Base], subclasses=[Sub])
    seen = watched(schema, [start], protocol)
    assert seen.partial[0].more[0] == Item(name="x")
    seen.feed(rest)
    assert seen.partial.value == [Sub(name="a", more=[Item(name="x"), Item(name="y")]), Base(name="b")] == seen.finish()


def test_a_constructor_inside_any_is_made() -> None:
    class Holder(BaseModel):
        item: Item
        other: Any

    seen = watched(Holder, ["Holder(item=Item('a'), other=[Item('b'), {'c': Item('d')}, Item('e'"], "python")
    assert seen.partial.other[0] == Item(name="b")
    assert seen.partial.other[1] == {"c": Item(name="d")}
    assert seen.partial.other[2].name == "e"


# Faults


FAULTS: list[tuple[Any, str, str, tuple[Any, ...]]] = [
    (Item, '{"name":"a","age":"x"', "json", ("age",)),
    (Item, '{"name":1,', "json", ("name",)),
    (Item, '{"age":1}', "json", ("name",)),
    (Item, '{"name":["a"]', "json", ("name",)),
    (list[Item], '[{"name":"a"},[1]', "json", (1,)),
    (list[Item], '[{"name":"a"},3,', "json", (1,)),
    (list[Item], '{"a":1}', "json", ()),
    (Closed, '{"other":[1]', "json", ("other",)),
    (Closed, '{"other":1,', "json", ("other",)),
    (Checked, '{"small":30,', "json", ("small",)),
    (Aliased, '{"two":1}', "json", ("firstName",)),
    (Aliased, '{"firstName":1,', "json", ("firstName",)),
    (Annotated[list[int], Field(max_length=1)], "[1,2]", "json", ()),
    (dict[int, int], '{"a":1,', "json", ("a",)),
    (dict[str, Item], '{"a":{"name":1,', "json", ("a", "name")),
    (tuple[int, int], "[1,2,3]", "json", ()),
    (Pair, '["x",', "json", (0,)),
    (After, '{"low":3,"high":2}', "json", ()),
    (list[Crossed], '[{"start":3,"end":2}', "json", (0, "end")),
    (list[Pet], '[{"kind":"cow",', "json", (0,)),
    (list[Pet], '[{"kind":"cat","lives":"x"', "json", (0, "lives")),
    (list[Pet], '[{"lives":"x","kind":"cat"', "json", (0, "lives")),
    (Open, '{"more":{"name":1,', "json", ("more", "name")),
    (Item, "Item(name=1,", "python", ("name",)),
    (Item, "Item('a', None)", "python", ("age",)),
    (list[Item], "[{'name': 'a'}", "python", (0,)),
    (list[Colour], "[Colour('green')", "python", (0,)),
    (set[int], "[1]", "python", ()),
    (Stripped, '{"name":"abcdefgh"', "json", ("name",)),
]


@pytest.mark.parametrize(("wanted", "text", "protocol", "path"), FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_is_told_the_moment_it_is_sure(wanted: Any, text: str, protocol: Any, path: Any) -> None:
    for slices in splits(text, rounds=1):
        seen = watched(wanted, slices[:-1], protocol)
        seen.feed(slices[-1] if slices else "")
        assert [fault.path for fault in seen.invalid] == [path]
        assert seen.partial.invalid == tuple(seen.invalid)
    before = watched(wanted, [text[:-1]] if text[-1] not in ",)" else [text[:-2]], protocol)
    assert before.invalid == []


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Split, '{"words":"a b c","items":[]}'),
        (Before, '{"items":[{"name":"a"}]}'),
        (list[Item | Point], '[{"name":"a"}]'),
        (list[Annotated[list[int], BeforeValidator(lambda value: [1])]], '[["x"]]'),
    ],
)
def test_no_fault_is_told_of_what_may_yet_be_right(wanted: Any, text: str) -> None:
    seen = watched(wanted, [text])
    seen.finish()
    assert seen.invalid == []


class Fixing(BaseModel):
    items: list[Item]

    @model_validator(mode="before")
    @classmethod
    def fixed(cls, data: Any) -> Any:
        return {"items": [{"name": str(item["name"])} for item in data["items"]]}


def test_below_a_validator_that_sees_the_answer_first_nothing_is_sure() -> None:
    seen = watched(Fixing, ['{"items":[{"name":1},{"name":"b"}'])
    assert seen.invalid == []
    assert seen.partial.items[1] == Item(name="b")
    seen.feed("]}")
    assert seen.partial.value == Fixing(items=[{"name": "1"}, {"name": "b"}])  # type: ignore[list-item]
    assert seen.invalid == []


def test_the_answer_is_not_changed_by_validators_of_parts() -> None:
    seen = watched(Before, ['{"items":[{"name":"x"}]}'])
    assert seen.machine.partial_value == {"items": [{"name": "x"}]}


def test_the_faults_are_those_of_the_whole() -> None:
    text = '[{"name":1,"age":"x"},{"name":"a"},{"age":2},[]]'
    seen = watched(list[Item], list(text))
    with pytest.raises(OutputValidationError) as caught:
        seen.finish()
    assert [fault.path for fault in seen.invalid] == [problem.path for problem in caught.value.problems]
    assert [fault.kind for fault in seen.invalid] == [problem.kind for problem in caught.value.problems]
    assert seen.partial[1] == Item(name="a")
    assert seen.partial[0].name is None and seen.partial[3] == []


# F21: validators and partials


def test_validators_learn_that_they_see_a_part_and_run_once_on_each() -> None:
    """F21: `info.context` says so, with the path; exactly one final call without it."""
    calls: list[Any] = []

    class Told(BaseModel):
        text: str
        foo: str = ""

        @field_validator("text")
        @classmethod
        def checked(cls, value: str, info: ValidationInfo) -> str:
            calls.append(("text", value, info.context))
            return value

        @model_validator(mode="after")
        def whole(self, info: ValidationInfo) -> Told:
            partial = bool((info.context or {}).get("partial"))
            calls.append(("model", partial))
            if not self.foo and not partial:
                raise ValueError("foo is missing")
            return self

    seen = watched(list[Told], list('[{"text":"abc","foo":"f"}'), once=True)
    context = {"partial": True, "path": (0,)}
    assert calls == [("text", "abc", context), ("model", True)]
    seen.feed("]").finish()
    assert calls[2:] == [("text", "abc", None), ("model", False)]


def test_nothing_is_validated_again_at_each_level() -> None:
    calls: list[str] = []

    def seen_once(value: str) -> str:
        calls.append(value)
        return value

    class Leaf(BaseModel):
        name: Annotated[str, AfterValidator(seen_once)]

    class Branch(BaseModel):
        leaves: list[Leaf]
        branches: list[Branch] = []

    text = '{"leaves":[{"name":"a"},{"name":"b"}],"branches":[{"leaves":[{"name":"c"}],"branches":[]}]}'
    watched(Branch, list(text), once=True)
    assert calls == ["a", "b", "c"]


def test_what_validators_raise_is_no_fault_until_the_end() -> None:
    def broken(value: str) -> str:
        raise RuntimeError(value)

    seen = watched(list[Annotated[str, AfterValidator(broken)]], ['["a","b"]'])
    assert seen.invalid == []
    assert list(seen.partial) == ["a", "b"]
    with pytest.raises(OutputValidationError):
        seen.finish()


def test_null_stands_for_a_field_left_out_where_the_provider_was_told_so() -> None:
    """OpenAI's strict mode has every field required, so that what has a default comes as null."""
    seen = watched(Item, ['{"name":"a","age":null}'], drops_nulls=True)
    assert seen.invalid == []
    assert seen.partial.value == Item(name="a")
    assert watched(Item, ['{"name":"a","age":null}']).faults[0][0] == "age"


def test_unions_that_would_take_pydantic_too_long_are_left_to_the_end() -> None:
    class One(BaseModel):
        inner: One | Two | None = None

    class Two(BaseModel):
        inner: One | Two | None = None

    globals_ = {"One": One, "Two": Two}
    One.model_rebuild(_types_namespace=globals_)
    Two.model_rebuild(_types_namespace=globals_)
    text = '{"inner":' * 30 + "null" + "}" * 30
    seen = watched(list[One | Two], [f"[{text}]"])
    assert seen.invalid == []


def test_what_has_closed_is_not_kept() -> None:
    """Nor left to the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        seen = watched(list[Item], ["[" + '{"name":"a"},' * 50], once=True)
        assert len(seen.partial) == 50
        assert sum(type(thing) is Part for thing in gc.get_objects()) == 1
        seen.feed('{"name":"b"}]')
        assert sum(type(thing) is Part for thing in gc.get_objects()) == 0
        assert seen.partial.state((50, "name")) == "complete"
    finally:
        gc.enable()


# Spellings, tags and validators that leave something open


@pytest.mark.parametrize(
    ("data", "result"),
    [
        ({"firstName": "a", "second": "x", "two": 3}, Aliased(first="a", second=3)),
        ({"firstName": "a", "zwei": "x", "two": 3}, Aliased(first="a", second=3)),
        ({"firstName": "a", "two": 3, "zwei": "x"}, Aliased(first="a", second=3)),
        ({"firstName": "a", "two": 3, "second": [1]}, Aliased(first="a", second=3)),
        ({"first": 1, "firstName": "a"}, Aliased(first="a")),
        ({"first": "b", "firstName": "a"}, Aliased(first="a")),
        ({"firstName": "a", "first": "b"}, Aliased(first="a")),
        ({"first": "b", "zwei": 4}, Aliased(first="b", second=4)),
    ],
    ids=str,
)
def test_a_field_that_is_spelled_twice_is_what_its_first_alias_says(data: Any, result: Aliased) -> None:
    """Whatever came before it, and nothing is told of the spelling that does not count."""
    for slices in splits(json.dumps([data]), rounds=1):
        seen = watched(list[Aliased], slices)
        assert seen.invalid == []
        assert seen.partial.value == [result] == seen.finish()


def test_a_wrong_value_of_a_weaker_spelling_is_told_when_the_record_closes() -> None:
    seen = watched(Aliased, ['{"firstName":"a","zwei":"x"'])
    assert seen.invalid == []
    seen.feed("}")
    assert [fault.path for fault in seen.invalid] == [("zwei",)]


def test_fields_that_share_a_spelling_are_judged_together() -> None:
    class Shared(BaseModel):
        model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
        one: int = Field(alias="n")
        two: int = Field(validation_alias=AliasChoices("n", "m"))

    for slices in splits('{"n":1}', rounds=1):
        seen = watched(Shared, slices)
        assert seen.invalid == []
        assert repr(seen.partial.value) == repr(seen.finish())


def test_of_equal_keys_the_first_is_shown_until_the_last_has_won() -> None:
    seen = watched(dict[int, str], ['{"1":"a","01":"lon'])
    assert seen.partial.value == {1: "a"} and seen.partial.state((1,)) == "complete"
    seen.feed('g","2":"c"}')
    assert seen.partial.value == {1: "long", 2: "c"} == seen.finish()


def test_a_spelling_that_came_twice_before_the_tag() -> None:
    class One(BaseModel):
        kind: Literal["one"]
        n: int = Field(validation_alias=AliasChoices("a", "b"))

    wanted = Annotated[One | Cat, Field(discriminator="kind")]
    for data in ({"a": 7, "b": 3, "kind": "one"}, {"b": 3, "a": 7, "kind": "one"}, {"b": "x", "kind": "one", "a": 7}):
        seen = watched(wanted, list(json.dumps(data)))
        assert seen.invalid == []
        assert seen.partial.value == One(kind="one", a=7) == seen.finish()  # type: ignore[call-arg]


@pytest.mark.parametrize("error", [KeyError, RecursionError, StopIteration, StopAsyncIteration, OSError, MemoryError])
def test_what_validators_of_keys_raise_waits_for_the_end(error: type[Exception]) -> None:
    def broken(key: str) -> str:
        if key == "b":
            raise error
        return key

    seen = watched(dict[Annotated[str, AfterValidator(broken)], int], list('{"a":1,"b":2,"c":3}'))
    assert seen.invalid == []
    assert seen.partial.value["a"] == 1 and seen.partial.state(("c",)) == "complete"
    with pytest.raises(OutputValidationError):
        seen.finish()


@pytest.mark.parametrize(
    ("wanted", "data"),
    [
        (list[Annotated[Any, AfterValidator(lambda value: ("made", value))]], [[1], {"a": [2]}, "b"]),
        (list[RootModel[Any]], [[1], {"a": [2]}, "b"]),
        (list[Annotated[Any, BeforeValidator(lambda value: 7)]], [[1], {"a": [2]}, 1]),
        (list[Annotated[Any, AfterValidator(str)] | int], [[1], 2]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_stands_around_anything(wanted: Any, data: Any) -> None:
    seen = watched(wanted, list(json.dumps(data)))
    closed = repr(seen.partial.value)
    assert closed == repr(seen.finish()) and seen.invalid == []


def read_day(text: Any) -> Any:
    day, month, year = text.split("/") if isinstance(text, str) and "/" in text else (0, 0, 0)
    return date(int(year), int(month), int(day)) if day else text


class Calendar(BaseModel):
    day: date
    days: list[Annotated[date, BeforeValidator(read_day)]] = []
    price: Decimal = Decimal(0)
    colours: set[Colour] = set()

    @field_validator("day", mode="wrap")
    @classmethod
    def read(cls, value: Any, handler: Any) -> date:
        made: date = handler(read_day(value))
        return made

    @model_validator(mode="before")
    @classmethod
    def filled(cls, data: Any) -> Any:
        return {"colours": {Colour.RED}, **data} if isinstance(data, dict) else data


@pytest.mark.parametrize("day", ["2026-02-01", "01/02/2026"])
def test_validators_that_see_the_text_may_make_what_they_like_of_it(day: str) -> None:
    data = {"day": day, "days": [day, "2026-02-01"], "price": "1.50"}
    expected = Calendar(day=date(2026, 2, 1), days=[date(2026, 2, 1)] * 2, price=Decimal("1.50"), colours={Colour.RED})
    for wanted, written in ((Calendar, data), (list[Calendar], [data])):
        for slices in splits(json.dumps(written), rounds=1):
            seen = watched(wanted, slices)
            assert seen.invalid == []
            assert seen.partial.value in (expected, [expected]) and seen.partial.value == seen.finish()
    assert watched(list[Calendar], ['[{"day":"never"}]']).faults[0][:2] == (0, "day")


class Car(TypedDict):
    kind: Literal["car", "bus"]
    item: Item
    colour: Colour


class Bike(TypedDict):
    kind: Literal["bike"]
    items: list[Item]


def test_a_tag_behind_constructors() -> None:
    """What they made is not judged as if it were the text of it."""
    wanted = list[Annotated[Car | Bike, Field(discriminator="kind")]]
    text = "[{'item': Item('a'), 'colour': Colour.RED, 'kind': 'bus'}, {'kind': 'bike', 'items': [Item('b')]}]"
    for slices in splits(text, rounds=2):
        seen = watched(wanted, slices, "python")
        assert seen.invalid == []
        assert repr(seen.partial.value) == repr(seen.finish())
    assert watched(wanted, ["[{'kind': 'bike', 'items': [Item(3)"], "python").faults[0][:4] == (0, "items", 0, "name")


# Limits


def test_the_first_faults_are_kept_as_errors_keep_them() -> None:
    for text in ("[" + "1," * 1000, "[" + "{}," * 1000):
        assert len(watched(list[Item], [text], once=True).invalid) == 100
    [fault] = watched(list[Pet], ['[{"kind":"' + "x" * 10_000 + '",']).invalid
    assert len(fault.message) < 500


def test_what_is_judged_as_it_was_written_is_judged_a_few_times_at_most() -> None:
    """However deep it stands in other such containers: else each level would judge all below it once more."""
    judged: list[str] = []

    def noted(name: str) -> str:
        judged.append(name)
        return name

    class Nested(BaseModel):
        name: Annotated[str, AfterValidator(noted)] = ""
        inner: list[Nested] = []

        @model_validator(mode="before")
        @classmethod
        def seen(cls, data: Any) -> Any:
            return data

    text = '{"inner":[' * 30 + '{"name":"x"}' + "]}" * 30
    seen = watched(Nested, [text], once=True)
    assert 3 <= len(judged) <= 6
    assert seen.invalid == [] and seen.partial.state() == "complete"
    assert seen.partial.inner[0].inner[0].inner
    result = seen.finish()
    assert seen.partial.value is result and seen.partial.inner[0] == result.inner[0]


def test_alternatives_are_tried_so_often_over_the_whole_answer() -> None:
    class One(BaseModel):
        inner: One | Two | None = None

    class Two(BaseModel):
        inner: One | Two | None = None

    names = {"One": One, "Two": Two}
    One.model_rebuild(_types_namespace=names)
    Two.model_rebuild(_types_namespace=names)
    item = '{"inner":' * 12 + "null" + "}" * 12
    seen = watched(list[One | Two], ["[" + ",".join([item] * 60)], once=True)
    known = [type(part) is One for part in seen.partial.value]
    assert known[0] and not known[-1] and known == sorted(known, reverse=True)


# Only what the value will have is shown


class Loud(BaseModel):
    by_alias: str = Field(alias="byAlias")


class Late(BaseModel):
    day: date = Field(alias="byAlias")


class Grid(enum.Enum):
    PAIR = (1, 2)
    NONE = None


@dataclasses.dataclass
class Told:
    a: int
    seed: dataclasses.InitVar[int]
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, seed: int) -> None:
        self.total = self.a + seed


@attrs.frozen(kw_only=True)
class Private:
    _tags: list[str]
    long: str = attrs.field(alias="short", default="")


@pytest.mark.parametrize(
    ("wanted", "text", "shown"),
    [
        (list[Item | Loud], '[{"zz":[1],"other":"x","name":"y', {"name": "y"}),
        (list[Item | dict[int, str]], '[{"1":"x', {}),
        (list[Loud | Checked], '[{"byAlias":"x', {"by_alias": "x"}),
        (list[Loud | Late], '[{"byAlias":"2026-01-02"', {}),
        (list[Item | Pair], '[{"left":1,', {"left": 1}),
        (list[Told], '[{"seed":2,"a":1', {}),
        (list[Told], '[{"seed":2,"a":1,', {"a": 1}),
        (list[Private], '[{"tags":["x"],"short":"y', {"_tags": ["x"], "long": "y"}),
        (list[Item | Unknown], "[{", None),
        (list[Item | Unknown], '[{"unknown":tr', None),
        (list[Item | Unknown], '[{"name":"y', {"name": "y"}),
        (list[Grid], "[[1,", None),
        (list[Grid | list[int]], "[[1,", None),
    ],
    ids=str,
)
def test_nothing_is_shown_that_the_value_will_not_have(wanted: Any, text: str, shown: Any) -> None:
    for slices in splits(text, rounds=1):
        seen = watched(wanted, slices)
        assert seen.partial.snapshot() == ([] if shown is None else [shown])


@pytest.mark.parametrize("data", [{"class": "Sub", "name": "x", "loud": True}, {"name": "x", "class": "Sub"}], ids=str)
def test_the_member_that_names_a_class_is_no_part_of_it(data: Any) -> None:
    schema = Schema.of(list[Base], subclasses=[Sub])
    seen = watched(schema, list(json.dumps([data])))
    assert all("class" not in repr(shown) for shown in seen.shown)
    assert all(grows(*pair) for pair in pairwise([*seen.shown, seen.finish()]))


def test_what_is_needed_to_make_a_value_is_no_part_of_it() -> None:
    for protocol, text in (("json", '[{"seed":2,"a":1},{"seed":'), ("python", "[Told(seed=2,a=1),Told(seed=")):
        seen = watched(list[Told], list(text), protocol)
        assert seen.partial[0].total == 3
        assert seen.partial.state((1, "seed")) == "absent" == seen.partial.state((0, "seed"))
        with pytest.raises(AttributeError):
            _ = seen.partial[1].seed


def test_an_attrs_class_is_read_by_the_names_that_it_keeps() -> None:
    for protocol, text in (
        ("json", '[{"tags":["a","b"],"short":"s"},{"tags":["c",'),
        ("python", "[Private(tags=['a','b'],short='s'),Private(tags=['c',"),
    ):
        seen = watched(list[Private], list(text), protocol)
        assert [part._tags for part in seen.partial] == [["a", "b"], ["c"]]
        assert [part.long for part in seen.partial] == ["s", None]
        for part in seen.partial:
            with pytest.raises(AttributeError):
                _ = part.tags
    bad = watched(list[Private], ['[{"tags":["a"],"short":1}]'])
    assert [fault[:2] for fault in bad.faults] == [(0, "short")]
    assert [fault.path for fault in watched(Private, ['{"short":"x"}']).invalid] == [("tags",)]


def test_a_choice_that_is_hidden_is_told_of_by_its_tag() -> None:
    """What cannot be shown before the tag has come is judged, and shown, when it has."""

    class Dated(BaseModel):
        kind: Literal["dated"]
        day: date

    wanted = list[Annotated[Dated | Cat, Field(discriminator="kind")]]
    seen = watched(wanted, list('[{"day":"2026-01-02",'))
    assert seen.partial.snapshot() == [{}] and seen.partial.state((0, "day")) == "complete"
    seen.feed('"kind":"dated"')
    assert seen.partial[0].day == date(2026, 1, 2)
    assert watched(wanted, list('[{"day":"never","kind":"dated"')).faults[0][:2] == (0, "day")


# Property


OUTERMOST = 3
NAMES = ["alpha", "beta", "gamma", "delta"]
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "one", "red", "2026-01-02", "x"]),
    lambda more: st.lists(more, max_size=2) | st.dictionaries(st.sampled_from(NAMES), more, max_size=2),
    max_leaves=3,
)


@st.composite
def typed_values(draw: st.DrawFn, depth: int = OUTERMOST) -> tuple[Any, Any]:
    """A type, and a value of it as JSON data."""
    kinds = ["int", "str", "float", "bool", "literal", "enum", "date", "any", "grid", "family"]
    if depth:
        kinds += ["list", "optional", "dict", "model", "dataclass", "typed-dict", "union", "tuple", "set"] * 2
        kinds += ["unknown", "alternatives", "tagged"] * 2
    if depth == OUTERMOST:  # pydantic knows no attrs class inside of another
        kinds += ["attrs"] * 2
    kind = draw(st.sampled_from(kinds))
    inner = typed_values(depth - 1)
    match kind:
        case "int":
            return int, draw(st.integers(-(10**20), 10**20))
        case "str":
            return str, draw(WORDS)
        case "float":
            return float, draw(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000))
        case "bool":
            return bool, draw(st.booleans())
        case "literal":
            return Literal["one", "two", 3], draw(st.sampled_from(["one", "two", 3]))
        case "enum":
            return Colour, draw(st.sampled_from(["red", "blue"]))
        case "date":
            return date, draw(st.dates()).isoformat()
        case "grid":
            return Grid, draw(st.sampled_from([[1, 2], None]))
        case "family":
            members = draw(st.sampled_from([{"class": "Base"}, {"class": "Sub", "more": []}]))
            keys = draw(st.permutations([*members, "name"]))
            return Base, {key: members.get(key, "rex") for key in keys}
        case "unknown":
            item, value = draw(inner)
            return item | Unknown, draw(st.sampled_from([value, {"unknown": True}]))
        case "alternatives" | "tagged":
            item, value = draw(inner)
            tag: Any = Literal["one"]
            one = create_model("One", kind=(tag, ...), part=(item, Field(alias="a-part")), more=(int, 0))
            two = create_model("Two", kind=(Literal["two"], ...), other=(int, ...))
            members = {"kind": "one", "a-part": value, "zz": draw(WRONG)}
            union: Any = one | two
            if kind == "tagged":
                union = Annotated[union, Field(discriminator="kind")]
            return list[union], [{key: members[key] for key in draw(st.permutations(list(members)))}]
        case "attrs":
            fields = {name: draw(inner) for name in NAMES[: draw(st.integers(1, 3))]}
            kept = {f"{draw(st.sampled_from(['', '_']))}{name}": item for name, (item, _) in fields.items()}
            made = attrs.make_class("Kept", {name: attrs.field(type=item) for name, item in kept.items()})
            return made, {name: value for name, (_, value) in fields.items()}
        case "any":
            return Any, draw(
                st.recursive(
                    st.none() | st.booleans() | st.integers() | WORDS,
                    lambda more: st.lists(more, max_size=2) | st.dictionaries(WORDS, more, max_size=2),
                    max_leaves=4,
                )
            )
        case "list" | "tuple" | "set":
            item, value = draw(inner)
            if kind == "tuple":
                return tuple[item, int], [value, draw(st.integers())]
            if kind == "set":
                return set[str], draw(st.lists(WORDS, max_size=3))
            return list[item], [value] * draw(st.integers(0, 3))
        case "optional":
            item, value = draw(inner)
            return item | None, draw(st.sampled_from([value, None]))
        case "dict":
            item, value = draw(inner)
            return dict[str, item], dict.fromkeys(draw(st.lists(WORDS, max_size=2)), value)
        case "union":
            item, value = draw(inner)
            return list[item | int], [value, 1]
        case _:
            fields = {name: draw(inner) for name in NAMES[: draw(st.integers(1, 3))]}
            data = {name: value for name, (_, value) in fields.items()}
            types = {name: item for name, (item, _) in fields.items()}
            if kind == "model":
                return create_model("Made", **{name: (item, ...) for name, item in types.items()}), data  # type: ignore[call-overload]
            if kind == "dataclass":
                return dataclasses.make_dataclass("Data", list(types.items())), data
            return TypedDict("Typed", types), data  # type: ignore[operator]


def with_family(wanted: Any) -> Schema[Any]:
    """Name the subclass where the type has its class."""
    try:
        return Schema.of(wanted, subclasses=[Sub])
    except ConfigError:  # it has not
        return Schema.of(wanted)


@given(typed_values(), st.data())
def test_partials_of_random_types_grow_and_end_in_the_result(typed: tuple[Any, Any], data: st.DataObject) -> None:
    wanted, value = with_family(typed[0]), typed[1]
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    slices = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    seen, chars = watched(wanted, slices), watched(wanted, list(text))
    for shown in (seen.shown, chars.shown):
        assert all(grows(*pair) for pair in pairwise(shown))
    closed = seen.partial.snapshot()
    assert repr(closed) == repr(chars.partial.snapshot())
    try:
        result = seen.finish()
    except OutputValidationError:  # two members of a union that both take it, and such
        return
    assert grows(closed, result)
    assert seen.invalid == [] == chars.invalid
    if isinstance(value, dict | list):
        assert repr(closed) == repr(result)


@given(typed_values())
def test_the_same_in_python_syntax_for_random_types(typed: tuple[Any, Any]) -> None:
    wanted, value = typed
    schema: Schema[Any] = with_family(wanted)
    made = schema.validate(value)
    try:
        text = format_value(made, "python", T=schema)
        expected = watched(schema, [text], "python").finish()
    except Exception:  # classes of one name, text that has no spelling
        return
    seen = watched(schema, list(text), "python")
    assert all(grows(*pair) for pair in pairwise(seen.shown))
    assert seen.invalid == []
    if isinstance(value, dict | list) and not isinstance(made, enum.Enum | Unknown):
        assert repr(seen.partial.snapshot()) == repr(expected)


def test_unknown_is_shown_as_the_marker() -> None:
    assert watched(Doubtful, ['{"item":{"unknown":true},']).partial.item is UNKNOWN


def odd(value: Any) -> Any:
    if value in (1, "x"):
        raise ValueError("odd")
    if value in (2, "one"):
        raise KeyError(value)
    return value


AROUND = [
    lambda inner: inner,
    lambda inner: Annotated[inner, AfterValidator(odd)],
    lambda inner: Annotated[inner, BeforeValidator(odd)],
    lambda inner: Annotated[inner, WrapValidator(lambda value, handler: handler(odd(value)))],
    lambda inner: RootModel[inner],
]


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A value with some parts of it wrong, or left out, or in another order."""
    if draw(st.integers(0, 9)) == 0:
        return draw(WRONG)
    if isinstance(value, list):
        return [draw(changed(item)) for item in value]
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: draw(changed(value[key])) for key in keys if draw(st.integers(0, 9))}
    return value


@given(typed_values(OUTERMOST - 1), st.sampled_from(AROUND), st.data())
def test_no_fault_is_told_of_what_turns_out_right(typed: tuple[Any, Any], around: Any, data: st.DataObject) -> None:
    """Whatever validators stand around it. What is told depends on no cut."""
    wanted, value = typed
    text = json.dumps(data.draw(changed(value)))
    if data.draw(st.booleans()):
        wanted = create_model("Around", field=(around(wanted), ...), more=(int, 0))
        text = f'{{"field": {text}, "more": {data.draw(st.sampled_from(["1", "null"]))}}}'
    else:
        wanted, text = list[around(wanted)], f"[{text}]"  # type: ignore[misc]
    seen, chars = watched(wanted, [text]), watched(wanted, list(text))
    assert seen.invalid == chars.invalid
    assert repr(seen.partial) == repr(chars.partial)
    try:
        seen.finish()
    except OutputValidationError as error:
        assert not (seen.invalid and error.code != "OUTPUT_INVALID")
    else:
        assert seen.invalid == []
