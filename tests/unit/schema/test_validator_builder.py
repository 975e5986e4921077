"""Values of Python syntax become values of a type. Expected outcomes: rules P50-P67 of the reference notes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from decimal import Decimal
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    EmailStr,
    Field,
    Json,
    RootModel,
    Strict,
    Tag,
    TypeAdapter,
    create_model,
    field_validator,
    model_validator,
)
from tests.growing import Watched
from tests.support import named

from unspool.errors import OutputValidationError
from unspool.schema import Schema, format_value, schema_text
from unspool.schema.validator_builder import compiled
from unspool.structured.py_values import PyName, PyObject, PySet


def make(name: str, /, **fields: Any) -> PyObject:
    return PyObject(name, fields)


class Color(enum.Enum):
    RED = "red"
    BLUE = 2

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.RED if value == "crimson" else None


class Level(enum.IntEnum):
    LOW = 1


class Foo(BaseModel):
    x: int


class Twin(BaseModel):
    x: int


class Bar(BaseModel):
    y: str = "d"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.0
    tags: list[str] = dataclasses.field(default_factory=list, kw_only=True)


class Pair(NamedTuple):
    x: int
    y: str = "d"


class Rec(TypedDict):
    a: int
    b: NotRequired[str]


class Rec2(TypedDict):
    a: int


class Node(BaseModel):
    value: int
    kids: list[Node] = []


type Json_ = dict[str, Json_] | list[Json_] | int | None


class Numbers(RootModel[list[int]]):
    pass


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    name: str


class OpenTo(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
Tagged = Annotated[
    Annotated[Foo, Tag("f")] | Annotated[int, Tag("i")], Discriminator(lambda v: "i" if isinstance(v, int) else "f")
]


class Exact(BaseModel):
    model_config = ConfigDict(strict=True)
    point: Point
    day: dt.date


UUID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("wanted", "value", "result"),
    [
        (int, 10**40, 10**40),
        (float, 1, 1.0),
        (bool, True, True),
        (None, None, None),
        (int | None, None, None),
        # P58: the exact type wins, whatever the order.
        (float | int, 1, 1),
        (int | float, 1.0, 1.0),
        (Literal[1] | float, 1, 1),
        (Literal["a", 1, True, None], True, True),
        (list[int], [1, 2], [1, 2]),
        (tuple[int, str], (1, "a"), (1, "a")),
        (tuple[int, ...], (), ()),
        (set[int], PySet([2, 1, 2]), {1, 2}),
        (set[Any], PySet([True, 1]), {True}),
        (frozenset[str], PySet(["a"]), frozenset({"a"})),
        (frozenset[str], PySet(["a"], frozen=True), frozenset({"a"})),
        (dict[int, str], {1: "a"}, {1: "a"}),
        (dict[tuple[int, int], int], {(1, 2): 3}, {(1, 2): 3}),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (Sequence[int], [1], [1]),
        (deque[int], [1], deque([1])),
        (Color, PyName("Color.RED"), Color.RED),
        (Color, make("Color", value="red"), Color.RED),
        (Color, PyObject("Color", {0: 2}), Color.BLUE),
        (Color, "red", Color.RED),
        (Color, "crimson", Color.RED),
        (Level, PyName("Level.LOW"), Level.LOW),
        (Literal[Color.RED], PyName("Color.RED"), Color.RED),
        (Literal[Color.RED], "red", Color.RED),
        (bytes, b"\xff", b"\xff"),
        (bytes, "abc", b"abc"),
        (dt.date, "2026-11-30", dt.date(2026, 11, 30)),
        (dt.timedelta, "PT1H", dt.timedelta(hours=1)),
        (Decimal, "1.50", Decimal("1.50")),
        (Decimal, 1.5, Decimal("1.5")),
        (uuid.UUID, str(UUID), UUID),
        (AnyUrl, "http://a/b", AnyUrl("http://a/b")),
        (Path, "a/b", Path("a/b")),
        (Json[list[int]], "[1]", [1]),
        (dict[uuid.UUID, int], {str(UUID): 1}, {UUID: 1}),
        (Foo, make("Foo", x=1), Foo(x=1)),
        (Foo, PyObject("Foo", {0: 1}), Foo(x=1)),
        (Foo | Twin, make("Twin", x=1), Twin(x=1)),
        (Twin | Foo | int, make("Foo", x=1), Foo(x=1)),
        (list[Foo | None], [make("Foo", x=1), None], [Foo(x=1), None]),
        (Point, PyObject("Point", {0: 1, 1: 2}), Point(1, 2.0)),
        (Point, make("Point", x=1, tags=["a"]), Point(1, tags=["a"])),
        (Pair, make("Pair", x=1), Pair(1)),
        (Rec, {"a": 1}, {"a": 1}),
        (Rec, make("Rec", a=1, b="x"), {"a": 1, "b": "x"}),
        (Rec | Rec2, make("Rec2", a=1), {"a": 1}),
        (Rec | list[int], {"a": 1}, {"a": 1}),
        (Node, make("Node", value=1, kids=[make("Node", value=2)]), Node(value=1, kids=[Node(value=2)])),
        (Numbers, [1, 2], Numbers([1, 2])),
        (Json_, {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (Pet, make("Cat", kind="cat", lives=9), Cat(kind="cat", lives=9)),
        (list[Tagged], [make("Foo", x=1), 5], [Foo(x=1), 5]),
        (
            Exact,
            make("Exact", point=make("Point", x=1), day="2026-11-30"),
            Exact(point=Point(1), day=dt.date(2026, 11, 30)),
        ),
        (Any, [1, {"k": (1, PySet([2]))}, "a", None, 2.5], [1, {"k": (1, {2})}, "a", None, 2.5]),
        (tuple[Any, Foo], (make("Foo", x=1), make("Foo", x=2)), (Foo(x=1), Foo(x=2))),
        (tuple[Any, Rec], (make("Rec", a=1), {"a": 2}), ({"a": 1}, {"a": 2})),
    ],
    ids=named,
)
def test_value_of_python_syntax(wanted: Any, value: Any, result: Any) -> None:
    found = Schema.of(wanted).validate(value, protocol="python")
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("wanted", "value", "kind"),
    [
        (int, True, "type"),  # P53
        (float, True, "type"),
        (bool, 1, "type"),
        (int, 1.0, "type"),  # P52
        (int, "1", "type"),
        (float, 10**400, "value"),
        (str, b"x", "type"),
        (str, None, "type"),
        (None, 0, "type"),
        (list[int], (1,), "type"),  # P55
        (tuple[int, ...], [1], "type"),
        (tuple[int, str], (1,), "value"),
        (tuple[int, str], (1, "a", 2), "value"),
        (set[int], [1], "type"),
        (set[int], PySet([1, True]), "type"),  # P56
        (set[int], PySet([1], frozen=True), "type"),
        (set[int], {}, "type"),
        (dict[str, int], {1: 2}, "type"),
        (dict[int, str], {True: "a"}, "type"),  # P11
        (dict[int, str], {"1": "a"}, "type"),
        (Literal["red", 3], 3.0, "value"),  # P59
        (Literal["a", 1], True, "value"),
        (Literal["a"], ["a"], "value"),
        (Literal["a"], "A", "value"),
        (Color, "RED", "value"),  # P60
        (Color, PyName("Level.LOW"), "value"),
        (Color, PyName("Color.GREEN"), "value"),
        (Color, make("Color", value="green"), "value"),
        (Level, True, "value"),
        (Level, 1.0, "value"),
        (dt.date, 0, "type"),
        (dt.date, make("date", x=1), "type"),
        (Foo, {"x": 1}, "type"),  # P51
        (Foo, make("Twin", x=1), "type"),
        (Foo, make("Foo", x=1, y=2), "unexpected-field"),
        (Foo, make("Foo"), "missing-field"),
        (Foo, PyObject("Foo", {0: 1, 1: 2}), "too-many-positional"),
        (Foo, PyObject("Foo", {0: 1, "x": 2}), "duplicate-field"),
        (dict[str, int], make("Foo", x=1), "type"),
        (Point, {"x": 1}, "type"),
        (Point, make("Point", x="a"), "type"),  # P26
        (Point, make("Point", x=1, z=1), "unexpected-field"),
        (Point, PyObject("Point", {0: 1, 1: 2.0, 2: ["t"]}), "too-many-positional"),
        (Pair, (1, "a"), "type"),
        (Pair, make("Pair", x=1, z=2), "unexpected-field"),
        (tuple[int, str], make("Pair", x=1, y="a"), "type"),
        (Rec, {"a": 1, "c": 2}, "unexpected-field"),
        (Rec, {"b": "x"}, "missing-field"),
        (Rec, {1: 1}, "type"),
        (Rec, make("Rec2", a=1), "type"),
        (Foo | Bar, make("Baz"), "type"),
        (Foo | Bar, {"x": 1}, "type"),
        (Open, make("Open", name="n", a="x"), "type"),
        (Pet, make("Cat", kind="dog", lives=1), "value"),
        (Any, b"x", "type"),  # P67
        (Any, make("Foo", x=1), "unknown-name"),
        (list[Any], [PyName("Color.RED")], "type"),
    ],
    ids=named,
)
def test_nothing_is_guessed(wanted: Any, value: Any, kind: str) -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(wanted).validate(value, protocol="python")
    assert caught.value.code == "OUTPUT_INVALID"
    assert kind in {problem.kind for problem in caught.value.problems}


def test_the_error_of_the_class_that_was_meant() -> None:
    """P58: of the alternatives, only the one that was named."""
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(Foo | Bar | int).validate(make("Bar", y=1), protocol="python")
    [problem] = caught.value.problems
    assert (problem.path, problem.kind) == (("y",), "type")


def test_extra_fields() -> None:
    """P24."""
    found = Schema.of(Open).validate(make("Open", name="n", a=1), protocol="python")
    assert found.model_extra == {"a": 1}
    found = Schema.of(OpenTo).validate(make("OpenTo", name="n", a=(1, PySet([2]))), protocol="python")
    assert found.model_extra == {"a": (1, {2})}


def test_hidden_fields() -> None:
    """P25: what the model was not shown it may not set; in both protocols."""

    class Acc(BaseModel):
        user: str
        secret: Annotated[str, Field(json_schema_extra={"exclude_from_prompt": True})] = "s"
        last: int = 0

    schema = Schema.of(Acc)
    assert schema.validate(make("Acc", user="u"), protocol="python").secret == "s"
    assert schema.validate({"user": "u"}).secret == "s"
    assert schema.classes == {"Acc": ("user", "last")}
    for value, protocol in ((make("Acc", user="u", secret="t"), "python"), ({"user": "u", "secret": "t"}, "json")):
        with pytest.raises(OutputValidationError) as caught:
            schema.validate(value, protocol=protocol)  # type: ignore[arg-type]
        assert [(p.path, p.kind) for p in caught.value.problems] == [(("secret",), "unexpected-field")]


def test_aliases_are_for_json() -> None:
    class Model(BaseModel):
        from_: int = Field(alias="from")

    schema = Schema.of(Model)
    assert schema.validate(make("Model", from_=1), protocol="python").from_ == 1
    assert schema.validate({"from": 1}).from_ == 1
    with pytest.raises(OutputValidationError):
        schema.validate({"from_": 1})


def test_validators_of_the_application_run_once() -> None:
    """F21, at every level (P77)."""
    calls: list[str] = []

    def note(name: str) -> Any:
        def noted(value: Any) -> Any:
            calls.append(name)
            return value

        return noted

    class Inner(BaseModel):
        n: Annotated[int, BeforeValidator(note("before")), AfterValidator(note("after"))]

        @field_validator("n")
        @classmethod
        def field(cls, value: int) -> int:
            calls.append("field")
            return value

        @model_validator(mode="after")
        def model(self) -> Inner:
            calls.append("model")
            return self

    class Outer(BaseModel):
        inner: Annotated[Inner, AfterValidator(note("outer"))]
        any: Any = None

    value = make("Outer", inner=make("Inner", n=1), any=[make("Inner", n=2)])
    Schema.of(Outer).validate(value, protocol="python")
    inner = ["before", "after", "field", "model"]
    assert calls == [*inner, "outer", *inner]


def test_validator_before_a_model_sees_its_arguments() -> None:
    seen: list[Any] = []

    class Model(BaseModel):
        x: int
        y: list[int] = []

        @model_validator(mode="before")
        @classmethod
        def before(cls, value: Any) -> Any:
            seen.append(value)
            return {**value, "y": [value["x"]]}

    assert Schema.of(Model).validate(PyObject("Model", {0: 3}), protocol="python") == Model(x=3)
    assert seen[0] == {"x": 3}


def test_validator_that_makes_dicts_of_what_it_is_given() -> None:
    class Model(BaseModel):
        foo: Annotated[Foo, BeforeValidator(lambda value: {"x": value} if isinstance(value, int) else value)]

    schema = Schema.of(Model)
    assert schema.validate(make("Model", foo=3), protocol="python") == Model(foo=3)  # type: ignore[arg-type]
    assert schema.validate(make("Model", foo=make("Foo", x=3)), protocol="python") == Model(foo=3)  # type: ignore[arg-type]


def test_defaults_are_made_anew_and_validated_where_the_type_says_so() -> None:
    """P63."""

    class Model(BaseModel):
        model_config = ConfigDict(validate_default=True)
        day: dt.date = "2026-11-30"  # type: ignore[assignment]
        tags: list[str] = []
        length: int = Field(default_factory=lambda data: len(data["tags"]))

    schema = Schema.of(Model)
    first, second = (schema.validate(make("Model"), protocol="python") for _ in range(2))
    assert first == Model()
    assert first.tags is not second.tags


@pytest.mark.parametrize(
    ("wanted", "good", "result", "bad"),
    [
        (Literal[1, "a"], 1, 1, True),
        (list[Literal[1]], [1], [1], [1.0]),
        (Level, 1, Level.LOW, True),
        (dict[int, Literal[0]], {"1": 0}, {1: 0}, {"x": 0}),
        (dict[dt.date, Literal[0]], {"2026-11-30": 0}, {dt.date(2026, 11, 30): 0}, {"1": 0}),
        (tuple[Literal[1], str], [1, "a"], (1, "a"), [1]),
        (set[Literal[1, 2]], [2, 1, 2], {1, 2}, [True]),
        (tuple[Literal[1], Point], [1, {"x": 1}], (1, Point(1)), [1, {"x": "1"}]),
        (tuple[Literal[1], Pair], [1, {"x": 1}], (1, Pair(1)), [1, {"y": "a"}]),
        (tuple[Literal[1], Rec], [1, {"a": 1}], (1, {"a": 1}), [1, {"a": None}]),
        (tuple[Literal[1], Pet], [1, {"kind": "dog"}], (1, Dog(kind="dog")), [1, {"kind": "cow"}]),
        (tuple[Literal[1], Foo | int], [1, 2], (1, 2), [1, "2"]),
        (tuple[Literal[1], Any], [1, {"a": [None]}], (1, {"a": [None]}), [1]),
        (tuple[Literal[1], bytes], [1, "a"], (1, b"a"), [1, 2]),
        (tuple[Literal[1], deque[int]], [1, [2]], (1, deque([2])), [1, {}]),
        (tuple[Literal[Color.BLUE], Color], [2, "red"], (Color.BLUE, Color.RED), ["red", 2]),
    ],
    ids=named,
)
def test_json_that_needs_care(wanted: Any, good: Any, result: Any, bad: Any) -> None:
    """P59: pydantic's own strict JSON mode takes `true` and `1.0` for 1."""
    schema = Schema.of(wanted)
    found = schema.validate(good)
    assert found == result and type(found) is type(result)
    with pytest.raises(OutputValidationError):
        schema.validate(bad)


class Booking(BaseModel):
    when: dt.date
    price: Decimal = Decimal(0)
    days: set[dt.date] = set()
    pair: tuple[int, ...] = ()
    color: Color = Color.RED
    by_day: dict[dt.date, int] = {}
    foo: Foo | None = None

    @model_validator(mode="before")
    @classmethod
    def filled(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("price") == "made":
            day = dt.date(2026, 11, 30)
            made = {"when": day, "price": Decimal(1), "days": {day}, "pair": (1, 2), "by_day": {day: 1}}
            return {**data, **made, "color": Color.BLUE, "foo": Foo(x=1)}
        return data


def test_below_a_validator_that_sees_the_data_first_both_forms_are_taken() -> None:
    """The text form of JSON, and what the validator has made of it."""
    day = dt.date(2026, 11, 30)
    for schema, protocol, wrap in (
        (Booking, "json", dict),
        (Booking, "python", lambda value: make("Booking", **value)),
    ):
        written: Any = {"when": "2026-11-30", "price": "1.5"}
        found = Schema.of(schema).validate(wrap(written), protocol=protocol)  # type: ignore[arg-type]
        assert (found.when, found.price) == (day, Decimal("1.5"))
        found = Schema.of(schema).validate(wrap({"when": "?", "price": "made"}), protocol=protocol)  # type: ignore[arg-type]
        assert (found.when, found.days, found.pair, found.color) == (day, {day}, (1, 2), Color.BLUE)
        assert (found.by_day, found.foo) == ({day: 1}, Foo(x=1))
        with pytest.raises(OutputValidationError, match="when"):
            Schema.of(schema).validate(wrap({"when": "never"}), protocol=protocol)  # type: ignore[arg-type]


def test_members_of_an_enum_class_tell_the_classes_of_a_union_apart() -> None:
    """In JSON by their values."""

    class Red(BaseModel):
        kind: Literal[Color.RED]

    class Blue(BaseModel):
        kind: Literal[Color.BLUE]

    wanted: Any = Annotated[Red | Blue, Field(discriminator="kind")]
    assert Schema.of(wanted).validate({"kind": "red"}) == Red(kind=Color.RED)
    assert Schema.of(list[wanted]).validate([{"kind": 2}]) == [Blue(kind=Color.BLUE)]
    with pytest.raises(OutputValidationError):
        Schema.of(wanted).validate({"kind": "blue"})


def test_email_addresses_need_their_library() -> None:
    """A type that pydantic itself cannot make is a fault of the schema, not of the answer."""
    pytest.importorskip("email_validator")
    assert Schema.of(EmailStr).validate("a@example.com", protocol="python") == "a@example.com"


def test_classes_keep_their_own_validators() -> None:
    """Rebuilding a core schema must not leave a trace on the application's classes."""
    Schema.of(Foo).validate(make("Foo", x=1), protocol="python")
    assert Foo.__pydantic_complete__ is True
    assert Foo.model_validate({"x": "1"}) == Foo(x=1)
    core: Any = {"type": "model", "cls": Foo, "schema": {"type": "model-fields", "fields": {}}}
    assert compiled({"type": "list", "items_schema": core}, [Foo]).validate_python([{"x": 1}])[0].__dict__ == {}
    assert Foo.__pydantic_complete__ is True


class Inner(BaseModel):
    days: set[dt.date]


@dataclasses.dataclass
class Holder:
    numbers: frozenset[int]


class Keyed(TypedDict):
    numbers: set[int]


STRICT: list[tuple[Any, Any, Any]] = [
    (set[str], ["a"], PySet(["a"])),
    (frozenset[int], [1], PySet([1])),
    (AbstractSet[int], [1], PySet([1])),
    (deque[int], [1], [1]),
    (OrderedDict[str, int], {"a": 1}, {"a": 1}),
    (defaultdict[str, int], {"a": 1}, {"a": 1}),
    (Counter[str], {"a": 1}, {"a": 1}),
    (list[set[int]], [[1]], [PySet([1])]),
    (dict[int, set[int]], {"1": [1]}, {1: PySet([1])}),
    (dict[dt.date, frozenset[uuid.UUID]], {"2026-11-30": [str(UUID)]}, {"2026-11-30": PySet([str(UUID)])}),
    (set[str] | int, ["a"], PySet(["a"])),
    (tuple[int, frozenset[int]], [1, [2]], (1, PySet([2]))),
    (tuple[int, ...], [1], (1,)),
    (set[tuple[int, str]], [[1, "a"]], PySet([(1, "a")])),
    (set[frozenset[int]], [[1]], PySet([PySet([1], frozen=True)])),
    (deque[set[int]], [[1]], [PySet([1])]),
    (Inner, {"days": ["2026-11-30"]}, make("Inner", days=PySet(["2026-11-30"]))),
    (Holder, {"numbers": [1]}, make("Holder", numbers=PySet([1]))),
    (Keyed, {"numbers": [1]}, {"numbers": PySet([1])}),
    (RootModel[set[int]], [1], PySet([1])),
    (Sequence[int], [1], [1]),
    (Mapping[str, set[int]], {"a": [1]}, {"a": PySet([1])}),
    (bytes, "a", b"a"),
    (Decimal, "1.5", "1.5"),
    (float, 1, 1),
    (uuid.UUID, str(UUID), str(UUID)),
    (dt.timedelta, "P1D", "P1D"),
    (Path, "/a", "/a"),
    (complex, "1+2j", "1+2j"),
    (Color, "red", PyName("Color.RED")),
    (Level, 1, PyName("Level.LOW")),
    (AnyUrl, "http://a/", "http://a/"),
    (Pair, [1], make("Pair", x=1)),
]


SAID: dict[str, Any] = {"config": None, "Field": Field(strict=True), "Strict": Strict()}


def strict_cases() -> Iterator[Any]:
    """Give each case in each spelling that pydantic knows for it."""
    for spelling, said in SAID.items():
        for wanted, written, python in STRICT:
            with suppress(RuntimeError, TypeError):
                T: Any = wanted if said is None else Annotated[wanted, said]
                TypeAdapter(T)
                yield pytest.param(said is None, T, written, python, id=f"{spelling}-{named(wanted)}")


@pytest.mark.parametrize(("everywhere", "wanted", "written", "python"), list(strict_cases()))
def test_strict_types_take_what_pydantic_reads_from_json(
    everywhere: bool, wanted: Any, written: Any, python: Any
) -> None:
    """In JSON a set is a list, and in Python syntax it is none of Python's own yet; expected is `validate_json`.

    A set of numbers beside it makes ours, not pydantic's own validator, read the JSON.
    """
    config = ConfigDict(strict=True) if everywhere else None
    fields: Any = {"x": (wanted, ...), "care": (set[int] | Literal[1], 1)}
    model = create_model("Model", __config__=config, **fields)
    expected = model.model_validate_json(dumps({"x": written}))
    schema = Schema.of(model)
    assert schema.validate({"x": written}) == expected  # type: ignore[comparison-overlap]
    found: Any = schema.validate(make("Model", x=python), protocol="python")
    assert found == expected and type(found.x) is type(expected.x)  # type: ignore[attr-defined]
    parts = Watched(schema).feed(dumps({"x": written}))
    assert parts.finish() == expected


class Mixed(enum.Enum):
    ONE = 1
    HALF = 0.5
    TEXT = "2"
    YES = True


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


@pytest.mark.parametrize(
    ("wanted", "names", "keys"),
    [
        (dict[Literal[1, 2], int], ["1", "2"], [1, 2]),
        (dict[Literal[1, "1"], int], ["1"], ["1"]),
        (dict[Literal[True, "x", 0.5], int], ["true", "x", "0.5"], [True, "x", 0.5]),
        (dict[Level, int], ["1"], [Level.LOW]),
        (dict[Mixed, int], ["1", "0.5", "2"], [Mixed.ONE, Mixed.HALF, Mixed.TEXT]),
        (dict[Literal[Level.LOW], int], ["1"], [Level.LOW]),
        (dict[Access, int], ["1", "3"], [Access.READ, Access.READ | Access.WRITE]),
    ],
    ids=named,
)
def test_keys_of_json_that_are_choices(wanted: Any, names: list[str], keys: list[Any]) -> None:
    """Names of members are text: pydantic takes no number for them that a Literal, or a plain Enum class, has."""
    schema: Any = Schema.of(wanted)
    found = schema.validate(dict.fromkeys(names, 3))
    assert list(found) == keys and list(map(type, found)) == list(map(type, keys))
    assert format_value(found, "json", T=schema) == dumps(dict.fromkeys(names, 3), separators=(",", ":"))
    parts = Watched(schema).feed(dumps(dict.fromkeys(names, 3)))
    assert parts.finish() == found and not parts.invalid
    for wrong in ("7x", "01", "1.0", "True", "null", "1e400"):
        with pytest.raises(OutputValidationError):
            schema.validate({wrong: 3})


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": NaN}', "[" * 200, "x", '{"a": true}', '{"a": "1"}', "[1]", '{"a": 1e999}', ""]
)
def test_json_inside_text_is_read_by_the_guarded_door(text: str) -> None:
    """As strictly as the answer itself, in both protocols."""
    wanted: Any = Json[dict[str, int]]
    for protocol in ("json", "python"):
        assert Schema.of(wanted).validate('{"a": 1}', protocol=protocol) == {"a": 1}  # type: ignore[arg-type]
        with pytest.raises(OutputValidationError):
            Schema.of(wanted).validate(text, protocol=protocol)  # type: ignore[arg-type]
        with pytest.raises(OutputValidationError, match="Input should be JSON text"):
            Schema.of(Json[Any]).validate({"a": 1}, protocol=protocol)  # type: ignore[arg-type]


def test_json_inside_text_holds_values_of_json() -> None:
    schema: Any = Schema.of(Json[tuple[dt.date, Foo | None]])
    for protocol in ("json", "python"):
        found = schema.validate('["2026-11-30", {"x": 1}]', protocol=protocol)
        assert found == (dt.date(2026, 11, 30), Foo(x=1))
    assert schema_text(schema) == (
        "# JSON text of this form: [string (date), {\"x\": integer} | null]\nstr(format='json')"
    )


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_a_decimal_keeps_its_digits_or_is_refused(protocol: Any) -> None:
    """A 64-bit float keeps 15 digits of any number (`sys.float_info.dig`); integers and text keep all."""
    for wanted in (Decimal, Decimal | None, Decimal | str, Annotated[Decimal, Field(gt=0)], list[Decimal]):
        for given, expected in (
            ("12345678901234567890.123", None),
            (123456789012.345, "123456789012.345"),
            (10**30, None),
        ):
            value: Any = [given] if wanted == list[Decimal] else given
            found = Schema.of(wanted).validate(value, protocol=protocol)
            assert (found[0] if isinstance(found, list) else found) == Decimal(expected or given)
        lossy: Any = 12345678901234567890.123
        with pytest.raises(OutputValidationError, match="Input should be text"):
            Schema.of(wanted).validate([lossy] if wanted == list[Decimal] else lossy, protocol=protocol)


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_numbers_beside_a_decimal_are_numbers(protocol: Any) -> None:
    for wanted, value in ((Decimal | int, 5), (Decimal | float, 0.5), (Decimal | str | int, 10**20)):
        found = Schema.of(wanted).validate(value, protocol=protocol)
        assert (type(found), found) == (type(value), value)
    assert Schema.of(Decimal | str | int).validate("1.10", protocol=protocol) == Decimal("1.10")


def test_what_the_application_makes_for_a_decimal_is_not_judged() -> None:
    third = Annotated[Decimal, BeforeValidator(lambda value: value / 3)]
    assert Schema.of(third).validate(1) == Decimal(repr(1 / 3))
