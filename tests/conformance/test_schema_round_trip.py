"""Random types and values: what `format_value` writes reads back as the value, in both protocols, at any split."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from unspool.schema import UNKNOWN, Schema, Unknown, format_value, schema_text
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


texts = st.text(st.characters(codec="utf-8"), max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False)
Pair = tuple[Any, st.SearchStrategy[Any]]

LEAVES: list[Pair] = [
    (int, st.integers()),
    (float, floats),
    (bool, st.booleans()),
    (str, texts),
    (None, st.none()),
    (bytes, texts.map(str.encode)),
    (dt.date, st.dates()),
    (dt.datetime, st.datetimes(timezones=st.just(dt.UTC))),
    (dt.timedelta, st.timedeltas(dt.timedelta(days=-900), dt.timedelta(days=900))),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000)),
    (uuid.UUID, st.uuids()),
    (Color, st.sampled_from(Color)),
    (Level, st.sampled_from(Level)),
    (Literal["a", 1, True, None], st.sampled_from(["a", 1, True, None])),
    (int | str | bool, st.one_of(st.integers(), texts, st.booleans())),
    (float | int, st.one_of(floats, st.integers(-(2**60), 2**60))),
    (int | Unknown, st.one_of(st.integers(), st.just(UNKNOWN))),
    (Annotated[int, Field(ge=0, le=9)], st.integers(0, 9)),
]
HASHABLE = [pair for pair in LEAVES if pair[0] not in (Color, None)]


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
        "leaf", "list", "tuple", "variadic", "set", "frozenset", "dict", "int-dict", "optional",
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
        case "int-dict":
            T, values = inner()
            return dict[int, T], st.dictionaries(st.integers(), values, max_size=3)
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
    for text in (format_value(value, "python"), format_value(value, "python", compact=True)):
        machine = PyReplyMachine(classes=schema.classes, names=schema.names)
        found = schema.validate(read(machine, pieces(data.draw, text)), protocol="python")
        assert found == value and type(found) is type(value), text
    text = format_value(value, "json", T=schema)
    found = schema.validate(read(JsonReplyMachine(), pieces(data.draw, text)))
    assert found == value and type(found) is type(value), text
    assert schema_text(schema, "python") == schema_text(Schema.of(wanted), "python")


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
