"""Random types and values: what `format_value` writes reads back as the value, in both protocols, at any split.

What a protocol has no form for is refused, with a code and a path (P35, P56, P67): `test_whatever_the_value` holds any
value to one of the two.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AnyUrl, BaseModel, Field, RootModel, SecretStr, create_model
from tests.support import named

from unspool.errors import ConfigError
from unspool.schema import UNKNOWN, Schema, Unknown, format_value, schema_text
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    YES = "yes"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Odd(enum.Enum):
    PAIR = (1, 2)


texts = st.text(st.characters(codec="utf-8"), max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
datetimes = st.datetimes(timezones=zones | st.none())
decimals = st.decimals(allow_nan=False, allow_infinity=False)
paths = st.lists(st.sampled_from(["a", "b c", "..", "é"]), max_size=3).map(lambda steps: pathlib.Path(*steps))
Pair = tuple[Any, st.SearchStrategy[Any]]

LEAVES: list[Pair] = [
    (int, st.integers()),
    (float, floats),
    (bool, st.booleans()),
    (str, texts),
    (None, st.none()),
    (bytes, texts.map(str.encode)),
    (dt.date, st.dates()),
    (dt.datetime, datetimes),
    (dt.time, st.times(timezones=zones | st.none())),
    (dt.timedelta, st.timedeltas()),
    (Decimal, decimals),
    (complex, st.complex_numbers(allow_nan=False, allow_infinity=False)),
    (uuid.UUID, st.uuids()),
    (ipaddress.IPv4Address, st.ip_addresses(v=4)),
    (ipaddress.IPv6Address, st.ip_addresses(v=6)),
    (ipaddress.IPv4Network, st.integers(0, 32).map(lambda bits: ipaddress.IPv4Network((0, bits)))),
    (pathlib.Path, paths),
    (AnyUrl, st.just(AnyUrl("https://example.org/a?b=c"))),
    (re.Pattern, st.just(re.compile("^a+$"))),
    (Color, st.sampled_from(Color)),
    (Level, st.sampled_from(Level)),
    (Word, st.sampled_from(Word)),
    (Right, st.sampled_from([Right.READ, Right.WRITE, Right.READ | Right.WRITE])),
    (Literal["a", 1, True, None], st.sampled_from(["a", 1, True, None])),
    (int | str | bool, st.one_of(st.integers(), texts, st.booleans())),
    (float | int, st.one_of(floats, st.integers(-(2**60), 2**60))),
    (int | Unknown, st.one_of(st.integers(), st.just(UNKNOWN))),
    (Annotated[int, Field(ge=0, le=9)], st.integers(0, 9)),
]
HASHABLE = [pair for pair in LEAVES if pair[0] not in (Color, None)]
KEYS = [
    pair
    for pair in LEAVES
    if pair[0]
    in (int, bool, str, dt.date, dt.datetime, uuid.UUID, Level, Word, ipaddress.IPv6Address, pathlib.Path, Decimal)
]


class Counter:
    """Numbers classes, so that no two of one type have the same name."""

    def __init__(self) -> None:
        self.last = 0

    def name(self) -> str:
        self.last += 1
        return f"C{self.last}"


@st.composite
def pairs(draw: st.DrawFn, depth: int = 3, counter: Counter | None = None) -> Pair:
    """A type, and values of it."""
    counter = counter or Counter()
    kinds = ["leaf"] if depth == 0 else [
        "leaf", "list", "tuple", "variadic", "set", "frozenset", "dict", "other-dict", "optional", "root",
        "model", "dataclass", "named-tuple", "typed-dict", "union",
    ]  # fmt: skip
    kind = draw(st.sampled_from(kinds))

    def inner() -> Pair:
        return draw(pairs(depth - 1, counter))

    match kind:
        case "leaf":
            return draw(st.sampled_from(LEAVES))
        case "list":
            T, values = inner()
            return list[T], st.lists(values, max_size=3)
        case "tuple":
            items = [inner() for _ in range(draw(st.integers(0, 3)))]
            wanted: Any = tuple[tuple(T for T, _ in items)] if items else tuple[()]  # type: ignore[misc]
            return wanted, st.tuples(*(values for _, values in items))
        case "variadic":
            T, values = inner()
            return tuple[T, ...], st.lists(values, max_size=3).map(tuple)
        case "set" | "frozenset":
            T, values = draw(st.sampled_from(HASHABLE))
            made: Any = st.sets(values, max_size=3) if kind == "set" else st.frozensets(values, max_size=3)
            return (set[T] if kind == "set" else frozenset[T]), made
        case "dict":
            T, values = inner()
            return dict[str, T], st.dictionaries(texts, values, max_size=3)
        case "other-dict":
            T, values = inner()
            K, keys = draw(st.sampled_from(KEYS))
            return dict[K, T], st.dictionaries(keys, values, max_size=3)
        case "root":
            T, values = inner()
            Root: Any = type(counter.name(), (RootModel[T],), {"__module__": __name__})
            return Root, values.map(Root)
        case "optional":
            T, values = inner()
            return (T | None if T is not None else None), st.one_of(values, st.none())
        case "union":
            first, second = made_class(draw, counter, inner), made_class(draw, counter, inner)
            return first[0] | second[0], st.one_of(first[1], second[1])
        case _:
            return made_class(draw, counter, inner, kind)


def made_class(draw: st.DrawFn, counter: Counter, inner: Callable[[], Pair], kind: str = "model") -> Pair:
    fields = {name: inner() for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))}
    if kind == "model":  # a field of its own tells unions of models apart in JSON
        tag = f"t{counter.last}"
        fields[tag] = (Literal[tag], st.just(tag))
    types = {name: T for name, (T, _) in fields.items()}
    values = st.fixed_dictionaries({name: strategy for name, (_, strategy) in fields.items()})
    name = counter.name()
    made: Any
    match kind:
        case "model":
            made = create_model(name, **{field: (T, ...) for field, T in types.items()})  # type: ignore[call-overload]
        case "dataclass":
            made = dataclasses.make_dataclass(name, types.items())
        case "named-tuple":
            made = NamedTuple(name, types.items())  # type: ignore[misc]
        case _:
            return TypedDict(name, types), values  # type: ignore[operator]
    return made, values.map(lambda members: made(**members))


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def read(machine: Any, parts: list[str]) -> Any:
    for part in parts:
        machine.feed(part)
    return machine.finish()


@given(pairs(), st.data())
def test_round_trip(pair: Pair, data: st.DataObject) -> None:
    wanted, strategy = pair
    schema: Schema[Any] = Schema.of(wanted)
    value = data.draw(strategy)
    for text in (format_value(value, "python", T=schema), format_value(value, "python", compact=True)):
        machine = PyReplyMachine(classes=schema.classes, names=schema.names)
        found = schema.validate(read(machine, pieces(data.draw, text)), protocol="python")
        assert found == value and type(found) is type(value), text
    text = format_value(value, "json", T=schema)
    found = schema.validate(read(JsonReplyMachine(), pieces(data.draw, text)))
    assert found == value and type(found) is type(value), text
    assert schema_text(schema, "python") == schema_text(Schema.of(wanted), "python")


def is_hashable(value: Any) -> bool:
    try:
        return hash(value) is not None
    except TypeError:
        return False


class Node(BaseModel):
    value: int | str
    kids: list[Node] = []
    named: dict[str, Node] = {}


nodes = st.recursive(
    st.builds(Node, value=st.integers() | texts),
    lambda inner: st.builds(
        Node,
        value=st.integers(),
        kids=st.lists(inner, max_size=3),
        named=st.dictionaries(texts, inner, max_size=2),
    ),
    max_leaves=12,
)


@given(nodes)
def test_recursive_round_trip(node: Node) -> None:
    schema = Schema.of(Node)
    machine = PyReplyMachine(classes=schema.classes, names=schema.names)
    assert schema.validate(read(machine, [format_value(node)]), protocol="python") == node
    assert schema.validate(read(JsonReplyMachine(), [format_value(node, "json")])) == node


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.integers(), inner, max_size=3)
        | st.sets(st.integers() | texts, max_size=3)
    ),
    max_leaves=12,
)


@given(anything)
def test_any_round_trip(value: Any) -> None:
    """Python syntax says of data what it is; JSON has no tuples and sets to tell."""
    schema: Schema[Any] = Schema.of(Any)
    machine = PyReplyMachine(classes=schema.classes, names=schema.names)
    assert schema.validate(read(machine, [format_value(value)]), protocol="python") == value


ANYTHING: list[Pair] = [
    *LEAVES,
    (float, st.floats()),
    (Decimal, st.decimals()),
    (complex, st.complex_numbers()),
    (str, st.text(max_size=3)),
    (bytes, st.binary(max_size=3)),
    (dt.datetime, st.datetimes(timezones=st.just(dt.timezone(dt.timedelta(hours=1, seconds=7))))),
    (re.Pattern, st.sampled_from([re.compile("a", re.IGNORECASE), re.compile(b"a")])),
    (SecretStr, st.just(SecretStr("s"))),
    (Odd, st.sampled_from(Odd)),
    (Fraction, st.fractions()),
]
KINDS: list[Any] = [
    Any, list[Any], dict[Any, Any], dict[str, Any], set[Any], tuple[Any, ...], frozenset[frozenset[int]],
    set[frozenset[str]], dict[frozenset[int], int], dict[tuple[int, str], int], dict[int | None, str],
    dict[int | str, int], dict[Color, int], dict[Odd, int], str | dt.date, dt.datetime | dt.date, Color | str,
    Level | int, bytes | str, int | float, Decimal | float, list[int] | set[int] | tuple[int, ...],
    Node | dict[str, Any], list[Node | int], Odd | Word | Right,
]  # fmt: skip
wild = st.recursive(
    st.one_of([values for _, values in ANYTHING]) | nodes | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(inner.filter(is_hashable), inner, max_size=2)
        | st.frozensets(inner.filter(is_hashable), max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from([*KINDS, *(T for T, _ in ANYTHING)]), wild, st.sampled_from(["python", "json"]), st.data())
def test_whatever_the_value(wanted: Any, value: Any, protocol: Any, data: st.DataObject) -> None:
    """Any value, as any type: it comes back, or a typed error says why it cannot be written."""
    schema: Schema[Any] = Schema.of(wanted)
    try:
        text = format_value(value, protocol, T=schema)
    except ConfigError as error:
        assert error.code == "INVALID_OPTIONS"
        return
    machine: Any = JsonReplyMachine()
    if protocol == "python":
        machine = PyReplyMachine(classes=schema.classes, names=schema.names)
    found = schema.validate(read(machine, pieces(data.draw, text)), protocol=protocol)
    assert found == value, text


@given(wild, st.sampled_from(["python", "json"]))
def test_whatever_the_value_without_a_type(value: Any, protocol: Any) -> None:
    """What is written is always one value of the protocol's grammar."""
    try:
        text = format_value(value, protocol)
    except ConfigError as error:
        assert error.code == "INVALID_OPTIONS"
        return
    machine: Any = JsonReplyMachine()
    if protocol == "python":
        names = [f"{cls.__name__}.{name}" for cls in (Color, Level, Word, Right, Odd) for name in cls.__members__]
        machine = PyReplyMachine(classes={"Node": ("value", "kids", "named")}, names=["UNKNOWN", *names])
    read(machine, [text])


class Chain(RootModel[Any]):
    pass


def endless() -> list[Any]:
    """Values that stand in themselves, each in its own way."""
    a_list: list[Any] = []
    a_list.append((1, a_list))
    a_dict: dict[str, Any] = {}
    a_dict["a"] = [a_dict]
    node = Node(value=1)
    node.named["a"] = node
    chain = Chain(None)
    chain.root = chain
    return [a_list, a_dict, node, chain]


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_values_without_an_end(protocol: Any) -> None:
    """Pyodide: fatal."""
    for value, where in zip(endless(), ["[0][1]", "a[0]", "named.a", "The value"], strict=True):
        with pytest.raises(ConfigError, match="contains it") as caught:
            format_value(value, protocol)
        assert caught.value.code == "INVALID_OPTIONS" and caught.value.message.startswith(where)


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_values_that_unfold(protocol: Any) -> None:
    """A hundred lists, each twice in the next, are 2**100 lists when they are written."""
    value: Any = []
    for _ in range(100):
        value = [value, value]
    with pytest.raises(ConfigError, match="made of more than"):
        format_value(value, protocol)
    chain: Any = None
    for _ in range(2000):
        chain = Chain(chain)
    with pytest.raises(ConfigError, match="nests deeper"):
        format_value(chain, protocol)


@pytest.mark.parametrize(
    "make", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}, lambda v: Node(value=1, kids=[v])], ids=named
)
@pytest.mark.parametrize("protocol", ["python", "json"])
def test_the_deepest_values(make: Callable[[Any], Any], protocol: Any) -> None:
    """What is written is as deep as what can be read; one level more is refused. Pyodide: fatal."""
    value: Any = Node(value=1) if isinstance(make(Node(value=1)), Node) else []
    wanted: Any = Node if isinstance(value, Node) else Any
    refused = None
    for _ in range(130):
        try:
            format_value(value, protocol, T=wanted if not isinstance(value, tuple) or protocol == "python" else None)
        except ConfigError as error:
            refused = error.message
            break
        value = make(value)
    assert refused is not None and "deep" in refused
