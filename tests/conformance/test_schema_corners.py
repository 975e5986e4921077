"""Corners of Python's types and of pydantic's: what a model is told, and that both protocols read and write it.

Expected values come from the documentation of the types (PEP 589, 655, 681, 695, 705; `enum`, `dataclasses`) and from
pydantic's own reading of the same data.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, NotRequired, Required

import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    computed_field,
    model_validator,
)
from tests.growing import watched
from tests.support import named
from typing_extensions import ReadOnly, TypedDict

import unspool as us
from unspool.errors import OutputValidationError
from unspool.schema import Schema, format_value, schema_text

pytestmark = pytest.mark.filterwarnings("ignore:Item .* is using the `ReadOnly` qualifier")

type Tree = dict[str, Tree | int]
type Pair[A] = tuple[A, A]
type Linked[A] = tuple[A, Linked[A] | None]


class Box[V](BaseModel):
    held: V
    more: Box[V] | None = None


class Root(RootModel[list[int]]):
    pass


class Nested(RootModel["dict[str, Nested] | int"]):
    pass


class Many[V](RootModel[list[V]]):
    pass


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1  # noqa: PIE796


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    BOTH = 3


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Word(enum.StrEnum):
    X = "x"
    Y = enum.auto()


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    DAY = date(2020, 1, 2)
    PRICE = Decimal("1.50")
    BYTES = b"zz"
    PAIR = (1, 2)
    LIST = [3]  # noqa: RUF012
    NOTHING = None


class Loose(enum.Enum):
    A = "a"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.A if value == "A" else None


class Keys(TypedDict, total=False):
    a: Required[int]
    b: Annotated[NotRequired[str], "Said."]
    c: ReadOnly[NotRequired[Annotated[int, "Kept."]]]


class More(Keys):
    d: bool


class Row(NamedTuple):
    a: int
    b: str = "q"


@dataclasses.dataclass
class Made:
    a: int
    seed: dataclasses.InitVar[int] = 7
    b: int = dataclasses.field(default=5, init=False)
    _: dataclasses.KW_ONLY
    c: int = 3
    of_class: ClassVar[int] = 4

    def __post_init__(self, seed: int) -> None:
        self.b = seed


@dataclasses.dataclass(slots=True, frozen=True, kw_only=True)
class Frozen:
    a: int
    b: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Crate[V]:
    held: V
    rest: list[V] = dataclasses.field(default_factory=list)


class Base(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 1


class Overridden(Base):
    a: str = "x"  # type: ignore[assignment]
    b: Base


class Computed(BaseModel):
    width: int

    @computed_field
    def twice(self) -> int:
        return self.width * 2


class Excluded(BaseModel):
    a: int
    b: int = Field(exclude=True)


class Aliased(BaseModel):
    path: int = Field(validation_alias=AliasPath("x", 0))
    one: int = Field(validation_alias=AliasPath("y"))
    chosen: int = Field(validation_alias=AliasChoices("bb", "bbb"))
    later: int = Field(validation_alias=AliasChoices(AliasPath("q", 0), "dd"))
    plain: int = Field(alias="cc")
    written: int = Field(serialization_alias="ee")


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
    n: int = Field(alias="nn")


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tail: bool


class Cow(BaseModel):
    kind: Literal["cow"] = "cow"
    breed: Literal["a"] = "a"


class Ox(BaseModel):
    kind: Literal["cow"] = "cow"
    breed: Literal["b"] = "b"
    n: int


def kind_of(value: Any) -> str | None:
    if isinstance(value, dict):
        return "cat" if "lives" in value else "dog"
    return getattr(value, "kind", None)


class Finals(BaseModel):
    asked: Final[int]


class Dependent(BaseModel):
    parts: list[int] = []
    count: int = Field(default_factory=lambda data: len(data["parts"]))


class Wrapped(BaseModel):
    a: int

    @model_validator(mode="wrap")
    @classmethod
    def wrap(cls, value: Any, handler: Any) -> Any:
        return handler(value)


CALLED = Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(kind_of)]
TAGGED = Annotated[Cat | Dog, Field(discriminator="kind")]
TWICE = Annotated[Cat | Annotated[Cow | Ox, Field(discriminator="breed")], Field(discriminator="kind")]

CORNERS: list[tuple[Any, str, str, Any]] = [
    (Tree, '{"a":{"b":1}}', "{'a': {'b': 1}}", {"a": {"b": 1}}),
    (Pair[int], "[1,2]", "(1, 2)", (1, 2)),
    (Linked[int], "[1,[2,null]]", "(1, (2, None))", (1, (2, None))),
    (Box[int], '{"held":1,"more":{"held":2}}', "Box_int(1, more=Box_int(2))", Box[int](held=1, more=Box[int](held=2))),
    (Root, "[1]", "[1]", Root([1])),
    (dict[str, Root], '{"a":[1]}', "{'a': [1]}", {"a": Root([1])}),
    (Nested, '{"a":{"b":1}}', "{'a': {'b': 1}}", Nested({"a": Nested({"b": Nested(1)})})),
    (Many[int], "[1]", "[1]", Many[int]([1])),
    (Colour, "1", "Colour.CRIMSON", Colour.RED),
    (Access, "3", "Access.BOTH", Access.READ | Access.WRITE),
    (Access, "0", "Access(0)", Access(0)),
    (Bits, "3", "Bits(3)", Bits.A | Bits.B),
    (Word, '"y"', "'y'", Word.Y),
    (Level, "2", "Level.HIGH", Level.HIGH),
    (Odd, '"2020-01-02"', "Odd.DAY", Odd.DAY),
    (Odd, '"1.50"', "Odd.PRICE", Odd.PRICE),
    (Odd, '"zz"', "Odd.BYTES", Odd.BYTES),
    (Odd, "[1,2]", "Odd.PAIR", Odd.PAIR),
    (Odd, "[3]", "Odd.LIST", Odd.LIST),
    (Odd, "null", "Odd.NOTHING", Odd.NOTHING),
    (Loose, '"A"', "'A'", Loose.A),
    (Literal[Colour.RED, "a"], "1", "Colour.RED", Colour.RED),
    (Literal[b"x", 1], '"x"', "b'x'", b"x"),
    (Keys, '{"a":1,"c":2}', "{'a': 1, 'c': 2}", {"a": 1, "c": 2}),
    (More, '{"a":1,"d":true}', "{'a': 1, 'd': True}", {"a": 1, "d": True}),
    (Row, "[1]", "Row(1)", Row(1)),
    (Made, '{"a":1,"seed":2,"c":4}', "Made(1, 2, c=4)", Made(1, 2, c=4)),
    (Frozen, '{"a":1}', "Frozen(a=1)", Frozen(a=1)),
    (Crate[int], '{"held":1,"rest":[2]}', "Crate(1, [2])", Crate(1, [2])),
    (Overridden, '{"b":{}}', "Overridden(b=Base())", Overridden(b=Base())),
    (Computed, '{"width":2}', "Computed(width=2)", Computed(width=2)),
    (Excluded, '{"a":1,"b":2}', "Excluded(a=1, b=2)", Excluded(a=1, b=2)),
    (
        Aliased,
        '{"path":1,"one":2,"bb":3,"dd":4,"cc":5,"written":6}',
        "Aliased(path=1, one=2, chosen=3, later=4, plain=5, written=6)",
        Aliased.model_validate({"x": [1], "y": 2, "bbb": 3, "q": [4], "cc": 5, "written": 6}),
    ),
    (ByName, '{"n":1}', "ByName(n=1)", ByName(n=1)),
    (CALLED, '{"lives":1}', "Cat(lives=1)", Cat(lives=1)),
    (TAGGED, '{"kind":"dog","tail":true}', "Dog(tail=True)", Dog(tail=True)),
    (TWICE, '{"kind":"cow","breed":"b","n":1}', "Ox(n=1)", Ox(n=1)),
    (Finals, '{"asked":1}', "Finals(asked=1)", Finals(asked=1)),
    (Dependent, '{"parts":[1,2]}', "Dependent(parts=[1, 2])", Dependent(parts=[1, 2], count=2)),
    (Wrapped, '{"a":1}', "Wrapped(a=1)", Wrapped(a=1)),
    (collections.OrderedDict[str, Cat], '{"a":{"lives":1}}', "{'a': Cat(lives=1)}", {"a": Cat(lives=1)}),
    (collections.defaultdict[str, list[Cat]], '{"a":[{"lives":1}]}', "{'a': [Cat(lives=1)]}", {"a": [Cat(lives=1)]}),
    (collections.Counter[str], '{"a":2}', "{'a': 2}", {"a": 2}),
    (collections.deque[Cat], '[{"lives":1}]', "[Cat(lives=1)]", collections.deque([Cat(lives=1)])),
    (Annotated[Annotated[int, Field(ge=1)], Field(le=3)], "3", "3", 3),
]


@pytest.mark.parametrize(("wanted", "as_json", "as_python", "value"), CORNERS, ids=named)
def test_both_protocols_read_it(wanted: Any, as_json: str, as_python: str, value: Any) -> None:
    for text, protocol in ((as_json, "json"), (as_python, "python")):
        found = us.parse(text, wanted, protocol=protocol)  # type: ignore[arg-type]
        assert found == value and type(found) is type(us.parse(as_json, wanted, protocol="json"))


@pytest.mark.parametrize(
    ("wanted", "value"),
    [(wanted, value) for wanted, _, _, value in CORNERS if wanted is not Made],
    ids=named,
)
def test_both_protocols_write_it(wanted: Any, value: Any) -> None:
    """But for values that were made of an `InitVar`: no object knows what it was."""
    for protocol in ("python", "json"):
        text = format_value(value, protocol, T=wanted)  # type: ignore[arg-type]
        assert us.parse(text, wanted, protocol=protocol) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        (Colour, ["true", "1.0", '"RED"', "3"]),
        (Access, ["8", "true"]),
        (Word, ['"X"', "1"]),
        (Odd, ['"2020-01-03"', "[1,2,3]", "1.5", "{}"]),
        (Loose, ['"b"', "1"]),
        (Literal[Colour.RED, "a"], ["2", "true", "1.0"]),
        (Overridden, ['{"a":1,"b":{}}', '{"b":{"z":1}}']),
        (Aliased, ['{"path":"1","y":2,"bb":3,"dd":4,"cc":5,"written":6}', '{"y":2,"bb":3,"dd":4,"cc":5,"written":6}']),
        (ByName, ['{"nn":1}']),
        (TAGGED, ['{"lives":1}', '{"kind":"cow","lives":1}']),
        (collections.OrderedDict[str, Cat], ['{"a":1}', "[]"]),
        (collections.Counter[str], ['{"a":"b"}', '{"a":1.5}']),
    ],
    ids=named,
)
def test_nothing_is_guessed(wanted: Any, refused: list[str]) -> None:
    for text in refused:
        with pytest.raises(OutputValidationError):
            us.parse(text, wanted, protocol="json")


def test_classes_in_mappings_are_told_of() -> None:
    for kind in (collections.OrderedDict, dict):
        text = schema_text(kind[str, Cat], "python")
        assert text.startswith("dict[str, Cat]\n") and "class Cat:" in text


def test_recursive_names_with_arguments_are_told_apart() -> None:
    text = schema_text(tuple[Linked[int], Linked[list[str]]], "python")
    assert text.startswith("tuple[Linked_int, Linked_list_str]\n")
    assert "Linked_int = tuple[int, Linked_int | None]" in text
    assert "Linked_list_str = tuple[list[str], Linked_list_str | None]" in text


def test_descriptions_behind_qualifiers() -> None:
    text = schema_text(Keys, "python")
    assert "# Said.\n  b: NotRequired[str]" in text and "# Kept.\n  c: NotRequired[int]" in text


def test_the_json_schema_says_what_is_read() -> None:
    """An alias of an Enum class is no further value, `init=False` no argument; a tag must be there."""
    assert Schema.of(Colour).json_schema()["enum"] == [1, 2]
    assert list(Schema.of(Made).json_schema()["properties"]) == ["a", "seed", "c"]
    for T in (TAGGED, TWICE):
        definitions = Schema.of(T).json_schema()["$defs"]
        assert {name: entry["required"][0] for name, entry in definitions.items() if name in ("Cat", "Dog")} == {
            name: "kind" for name in definitions if name in ("Cat", "Dog")
        }
    assert set(Schema.of(TWICE).json_schema()["$defs"]["Ox"]["required"]) == {"kind", "breed", "n"}
    assert list(Schema.of(Aliased).json_schema()["properties"]) == ["path", "one", "bb", "dd", "cc", "written"]
    assert "required" not in Schema.of(CALLED).json_schema()["$defs"].get("Cow", {})


@pytest.mark.parametrize(("wanted", "as_json", "as_python", "value"), CORNERS, ids=named)
def test_partials_end_in_the_result(wanted: Any, as_json: str, as_python: str, value: Any) -> None:
    """F17, F18: character by character, nothing is reported as wrong, and the last partial is the value."""
    for text, protocol in ((as_json, "json"), (as_python, "python")):
        seen = watched(wanted, list(text), protocol)
        assert seen.invalid == []
        assert seen.finish() == value
        if text[0] in "{[(" or "(" in text:
            assert seen.partial.snapshot() == value, protocol
