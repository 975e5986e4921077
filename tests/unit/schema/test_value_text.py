"""The text of values: rules P35 and P82 of the reference notes. Reading it back is tested in tests/conformance."""

from __future__ import annotations

import abc
import dataclasses
import datetime as dt
import enum
import uuid
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, Json, RootModel, SecretStr
from tests.support import named

from unspool import parse
from unspool.errors import ConfigError
from unspool.schema import UNKNOWN, format_value
from unspool.schema.value_text import in_order


class Color(enum.Enum):
    RED = "red"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Size(enum.IntEnum):
    BIG = 3


class Item(BaseModel):
    name: str
    from_: int = Field(default=0, alias="from")
    secret: Annotated[str, Field(json_schema_extra={"exclude_from_prompt": True})] = "s"


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Pair(NamedTuple):
    x: int
    y: str


class Numbers(RootModel[list[int]]):
    pass


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "python", "json"),
    [
        (None, "None", "null"),
        (True, "True", "true"),
        (10**30, "1" + "0" * 30, "1" + "0" * 30),
        (-0.0, "-0.0", "-0.0"),
        ("it's\n\x00😀", '"it\'s\\n\\x00😀"', '"it\'s\\n\\u0000😀"'),
        ([1, "a"], "[1, 'a']", '[1,"a"]'),
        ((1,), "(1,)", "[1]"),
        ((), "()", "[]"),
        (set(), "set()", "[]"),
        (frozenset(), "frozenset()", "[]"),
        (frozenset({1}), "frozenset({1})", "[1]"),
        ({"b", "a", 10, -1, None, 2.5}, "{-1, 2.5, 10, 'a', 'b', None}", '[-1,2.5,10,"a","b",null]'),
        ({}, "{}", "{}"),
        ({1: "a", "b": [2]}, "{1: 'a', 'b': [2]}", '{"1":"a","b":[2]}'),
        (Color.RED, "Color.RED", '"red"'),
        (Right.READ, "Right.READ", "1"),
        (Right.READ | Right.WRITE, "3", "3"),
        (Size.BIG, "Size.BIG", "3"),
        (b"\xff", r"b'\xff'", None),
        (dt.date(2026, 11, 30), "'2026-11-30'", '"2026-11-30"'),
        (dt.timedelta(hours=1), "'PT1H'", '"PT1H"'),
        (Decimal("1.50"), "'1.50'", '"1.50"'),
        (uuid.UUID(int=1), "'00000000-0000-0000-0000-000000000001'", '"00000000-0000-0000-0000-000000000001"'),
        (AnyUrl("http://a/b"), "'http://a/b'", '"http://a/b"'),
        (UNKNOWN, "UNKNOWN", '{"unknown":true}'),
        (Item.model_validate({"name": "n", "from": 2}), "Item(name='n', from_=2)", '{"name":"n","from":2}'),
        (Open(a=1, b=[2]), "Open(a=1, b=[2])", '{"a":1,"b":[2]}'),  # type: ignore[call-arg]
        (Pair(1, "a"), "Pair(x=1, y='a')", '{"x":1,"y":"a"}'),
        (Point(1), "Point(x=1)", '{"x":1}'),
        (Numbers([1]), "[1]", "[1]"),
        (
            [Point(1), {"k": (Pair(1, "a"),)}],
            "[Point(x=1), {'k': (Pair(x=1, y='a'),)}]",
            '[{"x":1},{"k":[{"x":1,"y":"a"}]}]',
        ),
    ],
    ids=named,
)
def test_values(value: Any, python: str, json: str | None) -> None:
    assert format_value(value, "python", compact=True) == python
    if json is not None:
        assert format_value(value, "json") == json
        assert format_value(value, "native") == json


def test_long_values_have_a_line_for_each_part() -> None:
    long = {
        "points": [Point(1), Point(2)],
        "point": Point(1),
        "words": ["w" * 30, "v" * 30],
        "few": [1, 2, 3],
        "pair": ("x" * 60,),
    }
    assert format_value(long, "python") == (
        "{\n"
        "  'points': [Point(x=1), Point(x=2)],\n"
        "  'point': Point(\n"
        "    x=1,\n"
        "  ),\n"
        "  'words': [\n"
        f"    '{'w' * 30}',\n"
        f"    '{'v' * 30}',\n"
        "  ],\n"
        "  'few': [1, 2, 3],\n"
        "  'pair': (\n"
        f"    '{'x' * 60}',\n"
        "  ),\n"
        "}"
    )


def test_numbers_and_texts_of_subclasses_are_written_as_what_they_are() -> None:
    class Loud(str):
        def __repr__(self) -> str:
            return "LOUD"

    assert format_value(Loud("a")) == "'a'"


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), [float("-inf")], "\ud800", object(), lambda: 1, int, SecretStr("a")],
    ids=named,
)
@pytest.mark.parametrize("protocol", ["python", "json"])
def test_what_could_not_be_read_back(value: Any, protocol: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        format_value(value, protocol)
    assert caught.value.code == "INVALID_OPTIONS"


def test_values_that_nest_too_deep() -> None:
    """Pyodide: fatal."""
    value: Any = []
    for _ in range(200):
        value = [value]
    for protocol in ("python", "json"):
        with pytest.raises(ConfigError, match="nests deeper"):
            format_value(value, protocol)  # type: ignore[arg-type]


def test_fields_that_were_never_set() -> None:
    """P39: what a model shall complete."""
    half = Item.model_construct(name="n")
    del half.__dict__["from_"]
    assert format_value(half, "python", missing=True, compact=True) == "Item(name='n', from_=MISSING(int))"
    assert format_value(half, "python", compact=True) == "Item(name='n')"


def test_what_a_dataclass_does_not_keep() -> None:
    @dataclasses.dataclass
    class Made:
        x: int
        y: dataclasses.InitVar[int] = 0

    assert format_value(Made(1, 2), compact=True) == "Made(x=1)"

    @dataclasses.dataclass
    class Needs:
        x: int
        y: dataclasses.InitVar[int]

    for protocol in ("python", "json"):
        with pytest.raises(ConfigError, match=r"\[0\] is a Needs, which does not keep the y that it needs"):
            format_value([Needs(1, 2)], protocol)  # type: ignore[arg-type]


def test_in_order() -> None:
    assert in_order({3, "b", 1.5, True, "a", None, (1,)}, repr) == [True, 1.5, 3, "a", "b", (1,), None]


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_integers_of_more_digits_than_can_be_read(protocol: Any) -> None:
    """P47: CPython converts 4,300 decimal digits."""
    assert format_value(-(10**4299), protocol) == f"-1{'0' * 4299}"
    with pytest.raises(ConfigError, match="digits"):
        format_value({"n": [10**4300]}, protocol)


def test_names_that_python_syntax_has_not() -> None:
    """They can be written in JSON alone."""

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")

    odd: Any = type(BaseModel)("class", (BaseModel,), {"__annotations__": {"x": int}, "__module__": __name__})
    for value in (Open(**{"x y": 1}), Open(**{"class": 1}), odd(x=1)):
        with pytest.raises(ConfigError, match="no such name") as caught:
            format_value([value])
        assert caught.value.code == "INVALID_OPTIONS"
    assert format_value(Open(**{"x y": 1}), "json") == '{"x y":1}'
    assert format_value({"x y": 1, "class": 2}, compact=True) == "{'x y': 1, 'class': 2}"


@pytest.mark.parametrize(
    ("value", "python", "json"),
    [
        ({(1, 2): 3}, None, "a key that JSON has none for: a tuple"),
        ({None: 3}, None, "a key that JSON has none for: a NoneType"),
        ({UNKNOWN: 3}, None, "a key that JSON has none for: a Unknown"),
        ({frozenset({1}): 3}, "has a key, or a member of a set, that is a frozenset", "a frozenset"),
        ({"a": [{Pair(1, "a"): 3}]}, r"a\[0\] has a key, .* that is a Pair", r"a\[0\] has a key .* a Pair"),
        ({frozenset({1})}, "that is a frozenset", None),
        ({1: "a", "1": "b"}, None, "two members that are both '1'"),
        (Open(a=1, b=float("nan")), "b is nan", "b is nan"),  # type: ignore[call-arg]
        ({"a": "\ud800"}, "a has half of a surrogate pair", "a has half"),
        ([Decimal("NaN")], r"\[0\] cannot be written", r"\[0\] cannot be written"),
    ],
    ids=named,
)
def test_why_and_where_it_cannot_be_written(value: Any, python: str | None, json: str | None) -> None:
    for protocol, words in (("python", python), ("json", json)):
        if words is None:
            format_value(value, protocol)  # type: ignore[arg-type]
            continue
        with pytest.raises(ConfigError, match=words) as caught:
            format_value(value, protocol)  # type: ignore[arg-type]
        assert caught.value.code == "INVALID_OPTIONS"


def test_members_of_enum_classes_that_json_has_no_form_for() -> None:
    class Odd(enum.Enum):
        PAIR = (1, 2)
        THING = object()

    assert format_value(list(Odd)) == "[Odd.PAIR, Odd.THING]"
    assert format_value(Odd.PAIR, "json") == "[1,2]"
    with pytest.raises(ConfigError, match=r"\[0\] is Odd.THING, whose value JSON has no form for"):
        format_value([Odd.THING], "json")
    spaced: Any = enum.Enum("spaced", {"a b": 1})
    assert format_value(spaced["a b"]) == "1"


def test_fields_that_pydantic_calls_missing() -> None:
    from pydantic_core import MISSING

    class Half(BaseModel):
        a: int
        b: int | MISSING = MISSING  # type: ignore[valid-type]

    assert format_value(Half(a=1), compact=True) == "Half(a=1)"
    assert format_value(Half(a=1), "json") == '{"a":1}'


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    x: int
    pair: tuple[int, ...] = ()


def test_sets_of_instances() -> None:
    """Read and written in both protocols; not as keys, and not inside a tuple, which Python syntax has not."""
    wanted = set[Frozen]
    value = {Frozen(x=2), Frozen(x=1, pair=(3,))}
    text = format_value(value, T=wanted, compact=True)
    assert text == "{Frozen(x=1, pair=(3,)), Frozen(x=2, pair=())}"
    assert parse(text, wanted) == value
    assert format_value(value, "json", T=wanted) == '[{"x":1,"pair":[3]},{"x":2,"pair":[]}]'
    for other in ({Frozen(x=1): 1}, {(Frozen(x=1),)}):
        with pytest.raises(ConfigError, match="that is a Frozen: Python syntax has none"):
            format_value(other)


class Held(BaseModel):
    content: Json[dict[str, int]]
    anything: Json[Any] | None = None


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_json_inside_text(protocol: Any) -> None:
    held = Held.model_validate({"content": '{"a": 1}', "anything": "[null]"})
    text = format_value(held, protocol, compact=True)
    assert text == (
        """Held(content='{"a":1}', anything='[null]')"""
        if protocol == "python"
        else r"""{"content":"{\"a\":1}","anything":"[null]"}"""
    )
    assert parse(text, Held, protocol) == held
    assert format_value(held, protocol, T=Held, compact=True) == text
    assert format_value([1], protocol, T=Json[list[int]]) == ("'[1]'" if protocol == "python" else '"[1]"')
    with pytest.raises(ConfigError, match="could not be read back"):
        format_value([3], protocol, T=list[Json[int]])


class Encoded(BaseModel):
    model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")
    data: bytes
    more: list[bytes] = []
    plain: Plain | None = None


class Plain(BaseModel):
    data: bytes


def test_bytes_as_their_class_reads_them() -> None:
    """Without the type as well: else another value would come back in silence."""
    value = Encoded(data=b"\xff\x00", more=[b"abcd"], plain=Plain(data=b"abcd"))
    text = format_value(value, "json")
    assert text == '{"data":"_wA=","more":["YWJjZA=="],"plain":{"data":"abcd"}}'
    assert parse(text, Encoded, "json") == value
    assert format_value(value, "json", T=Encoded) == text
    assert parse(format_value(value, T=Encoded), Encoded) == value


def test_what_code_of_the_application_raises() -> None:
    class Broken(BaseModel):
        x: int

        def __getattribute__(self, name: str) -> Any:
            if name == "x":
                raise RuntimeError("gone")
            return super().__getattribute__(name)

    for protocol in ("python", "json"):
        with pytest.raises(ConfigError, match=r"\[0\] cannot be written: RuntimeError: gone"):
            format_value([Broken(x=1)], protocol)  # type: ignore[arg-type]


@dataclasses.dataclass
class Cell[V]:
    item: V
    number: int = "x"  # type: ignore[assignment]


class Figure(BaseModel, abc.ABC):
    @abc.abstractmethod
    def area(self) -> int: ...


class Tile(Figure):
    edge: int
    other: Figure | None = None

    def area(self) -> int:
        return self.edge**2


def test_what_nobody_could_ask_for_is_written() -> None:
    """An open type variable, a default that does not fit, an abstract class: of values that are there, no matter."""
    assert format_value(Cell([1], 2), compact=True) == "Cell(item=[1], number=2)"
    assert format_value(Cell([1]), "json") == '{"item":[1],"number":"x"}'
    assert format_value(Tile(edge=1, other=Tile(edge=2)), "json") == '{"edge":1,"other":{"edge":2,"other":null}}'


def test_a_deprecated_field_is_written_without_a_warning() -> None:
    class Old(BaseModel):
        a: int = Field(1, deprecated=True)

    assert format_value(Old(a=2), "json", T=Old) == '{"a":2}'
    assert format_value(Old(a=2), T=Old, compact=True) == "Old(a=2)"
