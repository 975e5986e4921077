"""Schema.of and validation. Expected outcomes: the rules P52-P71 of the reference notes, and design section 5."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Generator, Iterable
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, field_validator
from tests.support import named

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema import Schema, format_value, json_prompt, openai_strict, schema_text
from unspool.schema.json_checker import JsonChecker
from unspool.schema.types import path_text


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1


class Item(BaseModel):
    name: str
    price: float = 0.0


class Order(BaseModel):
    id: int
    items: list[Item] | None = None


class Node(BaseModel):
    kids: list[Node] = []


class Point(NamedTuple):
    x: int
    y: int


class Movie(TypedDict):
    title: str
    year: int


@dataclasses.dataclass
class Pair:
    left: int
    right: str = "r"


class Aliased(BaseModel):
    from_: int = Field(alias="from")


@pytest.mark.parametrize(
    ("wanted", "value", "result"),
    [
        (int, 1, 1),
        (int, 10**30, 10**30),
        (float, 1, 1.0),
        (str, "😀", "😀"),
        (bool, True, True),
        (None, None, None),
        (int | None, None, None),
        (int | str, "1", "1"),
        (float | int, 1, 1),
        (Any, {"a": [1, None]}, {"a": [1, None]}),
        (list[int], [1, 2], [1, 2]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2, 3], (1, 2, 3)),
        (set[int], [1, 1, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (Literal["a", "b"], "b", "b"),
        (Color, "red", Color.RED),
        (Size, 1, Size.SMALL),
        (bytes, "abc", b"abc"),
        (Decimal, "1.50", Decimal("1.50")),
        (Decimal, 1.5, Decimal("1.5")),
        (dt.date, "2026-11-30", dt.date(2026, 11, 30)),
        (dt.datetime, "2026-11-30T01:02:03Z", dt.datetime(2026, 11, 30, 1, 2, 3, tzinfo=dt.UTC)),
        (dt.timedelta, "PT1H", dt.timedelta(hours=1)),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (Movie, {"title": "M", "year": 1931}, {"title": "M", "year": 1931}),
        (Point, {"x": 1, "y": 2}, Point(1, 2)),
        (Pair, {"left": 1}, Pair(1, "r")),
        (Order, {"id": 1, "items": [{"name": "a"}]}, Order(id=1, items=[Item(name="a")])),
        (Aliased, {"from": 1}, Aliased.model_validate({"from": 1})),
        (Annotated[int, Field(ge=1)], 1, 1),
    ],
    ids=named,
)
def test_json_value_becomes_a_value_of_the_type(wanted: Any, value: Any, result: Any) -> None:
    """F46's types among them: what JSON cannot spell is read from its usual text form."""
    found = Schema.of(wanted).validate(value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        (int, True),  # P53
        (float, False),
        (Decimal, True),
        (dt.timedelta, True),
        (int, "1"),  # P52: strings never become numbers
        (int, 1.0),  # P52: float to int never
        (float, "1.5"),
        (bool, 1),
        (bool, "yes"),
        (str, 1),
        (str, None),
        (Color, "RED"),  # P60: a member name is not its value
        (Literal["a"], "A"),
        (tuple[int, str], [1]),
        (list[int], {"0": 1}),
        (float, 10**400),  # P52: too large for a float
        (list[float], [1.0, -(10**309)]),
        (dt.datetime, 0),
        (Order, {"id": 1, "items": [{"price": 1}]}),
        (Annotated[int, Field(ge=1)], 0),
        (list[int | str], [True]),
    ],
    ids=named,
)
def test_nothing_is_guessed(wanted: Any, value: Any) -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(wanted).validate(value)
    assert caught.value.code == "OUTPUT_INVALID"


def test_cut_literal_is_an_error_and_not_a_match() -> None:
    """F17, at the end of the stream: `"Alx"` is no prefix game, it is wrong."""
    schema = Schema.of(Literal["Bob", "Alice", "John"])
    assert schema.validate("Alice") == "Alice"
    for text in ("", "A", "Ali", "Alx"):
        with pytest.raises(OutputValidationError, match=re.escape(json.dumps(text))):
            schema.validate(text)


@pytest.mark.parametrize(
    ("wanted", "value", "lines"),
    [
        (Order, {"id": "x"}, ['id: Input should be a valid integer, got "x"']),
        (Order, {"items": []}, ["id: Field required"]),
        (Order, {"id": 1, "items": [{"name": 1}]}, ["items[0].name: Input should be a valid string, got 1"]),
        (dict[str, int], {"a b": None}, ['["a b"]: Input should be a valid integer, got null']),
        (int, [1], ["the answer: Input should be a valid integer, got [1]"]),
        (Order, {"id": 1, "items": 5}, ["items: Input should be a valid array, got 5"]),
    ],
    ids=named,
)
def test_faults_name_path_and_text(wanted: Any, value: Any, lines: list[str]) -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(wanted).validate(value)
    for line in lines:
        assert line in caught.value.message
    assert caught.value.__cause__ is not None


def test_union_members_are_not_part_of_the_path() -> None:
    class A(BaseModel):
        kind: Literal["a"]
        n: int

    class B(BaseModel):
        kind: Literal["b"]

    with pytest.raises(OutputValidationError, match=r"\[0\]\.n: Input should be a valid integer"):
        Schema.of(list[Annotated[A | B, Field(discriminator="kind")]]).validate([{"kind": "a", "n": "x"}])


def test_many_and_long_faults_are_cut_short() -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(list[int]).validate(["x" * 100_000] * 50)
    assert len(caught.value.message) < 2_000
    assert "and 42 more" in caught.value.message


def test_foreign_exception_of_a_validator_is_a_refused_answer() -> None:
    class Strange(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def check(cls, value: int) -> int:
            raise RuntimeError("database is down")

    with pytest.raises(OutputValidationError, match="RuntimeError: database is down") as caught:
        Schema.of(Strange).validate({"n": 1})
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_validators_run_once() -> None:
    """F21."""
    calls: list[int] = []

    class Counted(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def check(cls, value: int) -> int:
            calls.append(value)
            return value

    Schema.of(Counted).validate({"n": 1})
    assert calls == [1]


def test_half_of_a_surrogate_pair_is_refused_with_its_path() -> None:
    """P68: it cannot be encoded, and no type of text holds it."""
    with pytest.raises(OutputValidationError, match=r"items\[1\]\.name: .*surrogate"):
        Schema.of(Order).validate({"id": 1, "items": [{"name": "a"}, {"name": "\ud800x"}]})
    with pytest.raises(OutputValidationError, match="surrogate"):
        Schema.of(dict[str, int]).validate({"\udc00": 1})


@pytest.mark.parametrize("wanted", [Node, Any, list[Any], {"items": {"$ref": "#"}}], ids=named)
def test_depth_is_bounded(wanted: Any) -> None:
    """Pyodide: running out of stack is fatal, so both sides of the limit are tried."""
    schema = Schema.of(wanted)

    def nested(depth: int) -> Any:
        value: Any = {"kids": []} if wanted is Node else []
        for _ in range(depth // 2 - 1 if wanted is Node else depth - 1):
            value = {"kids": [value]} if wanted is Node else [value]
        return value

    schema.validate(nested(128))
    with pytest.raises(OutputValidationError) as caught:
        schema.validate(nested(130))
    assert caught.value.code == "OUTPUT_TOO_LARGE"


class Plus(BaseModel):
    kind: Literal["+"]
    args: list[Plus | Minus | int] = []


class Minus(BaseModel):
    kind: Literal["-"]
    args: list[Plus | Minus | int] = []


class TaggedPlus(BaseModel):
    kind: Literal["+"]
    args: list[Annotated[TaggedPlus | TaggedMinus, Field(discriminator="kind")] | int] = []


class TaggedMinus(BaseModel):
    kind: Literal["-"]
    args: list[Annotated[TaggedPlus | TaggedMinus, Field(discriminator="kind")] | int] = []


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (Plus, "OUTPUT_TOO_LARGE"),
        (TaggedPlus, None),
        # Alternatives of a JSON Schema are checked here, each once.
        (Schema.of(Plus).json_schema(), None),
    ],
    ids=["alike", "tagged", "json schema"],
)
def test_recursive_unions_take_no_exponential_time(wanted: Any, code: str | None) -> None:
    """A hostile answer of 60 levels would be tried 2**60 times: the page would hang for ever."""
    value: Any = 1
    for _ in range(60):
        value = {"kind": "+", "args": [value]}
    schema = Schema.of(wanted)
    if code is None:
        schema.validate(value)
    else:
        with pytest.raises(OutputValidationError, match="discriminator") as caught:
            schema.validate(value)
        assert caught.value.code == code
    flat = {"kind": "+", "args": [{"kind": "-", "args": [*range(1_000)]}] * 20}
    schema.validate(flat)


def test_wrong_leaf_deep_in_alternatives_is_found() -> None:
    value: Any = "x"
    for _ in range(30):
        value = {"kind": "+", "args": [value]}
    with pytest.raises(OutputValidationError, match=r"args\[0\]: matches none of the alternatives, got \"x\""):
        Schema.of(Schema.of(Plus).json_schema()).validate(value)


def test_check_that_runs_out_of_frames_is_a_refused_answer() -> None:
    entry: Any = {"$ref": "#/$defs/n"}
    for _ in range(8):
        entry = {"allOf": [entry]}
    schema = Schema.of({"$ref": "#/$defs/n", "$defs": {"n": {"additionalProperties": entry}}})
    value: Any = {}
    for _ in range(100):
        value = {"a": value}
    with pytest.raises(OutputValidationError) as caught:
        schema.validate(value)
    assert caught.value.code == "OUTPUT_TOO_LARGE"


def test_value_is_not_changed() -> None:
    value = {"id": 1, "items": [{"name": "a"}]}
    Schema.of(Order).validate(value)
    assert value == {"id": 1, "items": [{"name": "a"}]}


def test_user_model_keeps_its_own_rules() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        n: int

    class Closed(BaseModel):
        model_config = ConfigDict(extra="forbid")
        n: int

    assert Schema.of(Open).validate({"n": 1, "m": 2}).model_extra == {"m": 2}  # type: ignore[attr-defined]
    with pytest.raises(OutputValidationError, match="m: Extra inputs are not permitted"):
        Schema.of(Closed).validate({"n": 1, "m": 2})


def test_name() -> None:
    assert Schema.of(Order).name == "Order"
    assert Schema.of(list[int]).name == "Answer"
    assert Schema.of(int | None).name == "Answer"
    assert Schema.of(Order, name="An order!").name == "An_order"
    assert Schema.of({"title": "Großer Titel"}).name == "Gro_er_Titel"
    assert len(Schema.of(int, name="x" * 100).name) == 64


def test_schema_of_a_schema_is_itself() -> None:
    schema = Schema.of(Order)
    assert Schema.of(schema) is schema


def test_schema_of_a_class_is_kept() -> None:
    assert Schema.of(Order) is Schema.of(Order)
    assert Schema.of(Order, name="Other") is not Schema.of(Order)


def test_schema_of_a_class_that_is_rebuilt_is_made_anew() -> None:
    class Growing(BaseModel):
        n: int

    before = Schema.of(Growing)
    Growing.model_fields["n"].metadata.append(Ge(5))
    Growing.model_rebuild(force=True)
    assert Schema.of(Growing) is not before
    with pytest.raises(OutputValidationError):
        Schema.of(Growing).validate({"n": 1})


@pytest.mark.parametrize(
    "wanted",
    [Callable[[int], int], list[Callable[[], None]], object(), len, json.dumps, "Nowhere", list["Nowhere"], 3],  # type: ignore[name-defined]  # noqa: F821
    ids=named,
)
def test_what_cannot_be_asked_for_is_refused_at_once(wanted: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Schema.of(wanted)
    assert caught.value.code == "INVALID_OPTIONS"
    assert "\n" not in caught.value.message


class Hooked:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise ValueError("a hook's own\nfault")


class Streamed(BaseModel):
    items: Iterable[int]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Hooked, "a hook's own fault"),
        ("list[int]", "not its name"),  # pydantic would evaluate it
        (list["Nowhere"], "'Nowhere' is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (Annotated[str, Field(pattern="(")], "regex"),
        (Annotated[str, Field(pattern="(?=a)b")], "look-around"),
        (Iterable[int], "ask for a list"),  # pydantic gives an iterator, which validates when somebody reads it
        (Generator[int, None, None], "ask for a list"),
        (list[Streamed] | None, "ask for a list"),
    ],
    ids=named,
)
def test_whatever_a_type_lacks_is_told_in_our_words(wanted: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        Schema.of(wanted)
    assert caught.value.code == "INVALID_OPTIONS"
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("depth", [130, 1_000])
def test_json_schema_that_nests_too_deep(depth: int) -> None:
    """Pyodide: fatal, if it were written as JSON."""
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"items": schema}
    with pytest.raises(ConfigError, match="nests deeper"):
        Schema.of(schema)


@pytest.mark.parametrize("length", [100, 2_000])
def test_long_chain_of_references(length: int) -> None:
    """However long: it can be asked for, in one form or the other."""
    chain = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
    schema = Schema.of({"$ref": "#/$defs/d0", "$defs": {**chain, f"d{length}": {"type": "integer"}}})
    assert "integer" in json_prompt(schema)
    assert openai_strict(schema).schema
    boxes = {f"d{i}": {"properties": {"x": {"$ref": f"#/$defs/d{i + 1}"}}, "type": "object"} for i in range(length)}
    schema = Schema.of({"$ref": "#/$defs/d0", "$defs": {**boxes, f"d{length}": {"type": "integer"}}})
    assert "integer" in json_prompt(schema)
    assert openai_strict(schema).schema


def test_json_schema_gives_plain_data() -> None:
    schema = Schema.of({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    value = {"n": 1, "more": "\ud800"}
    assert schema.validate(value) is value
    with pytest.raises(OutputValidationError, match='n: should be integer, got "x"') as caught:
        schema.validate({"n": "x"})
    assert caught.value.code == "OUTPUT_INVALID"


def test_json_schema_that_is_checked_elsewhere() -> None:
    """A Standard Schema's own `validate` has the last word, so its JSON Schema may use anything."""
    schema = Schema.of_json_schema({"unevaluatedProperties": False, "pattern": r"\p{L}"}, check=False)
    assert schema.validate({"any": 1}) == {"any": 1}


def test_json_schema_that_is_not_json() -> None:
    for wrong in ({"default": float("nan")}, {"enum": [object()]}):
        with pytest.raises(ConfigError) as caught:
            Schema.of(wrong)
        assert caught.value.code == "INVALID_OPTIONS"


def test_dump_json_follows_the_schema() -> None:
    assert Schema.of(Aliased).dump_json(Aliased.model_validate({"from": 1})) == '{"from":1}'
    assert json.loads(Schema.of(set[int]).dump_json({1})) == [1]
    assert Schema.of({"type": "string"}).dump_json("\ud800") == '"\\ud800"'


@pytest.mark.parametrize(
    ("path", "text"),
    [((), ""), (("a",), "a"), (("a", 0, "b"), "a[0].b"), ((0,), "[0]"), (("a b", "ü"), '["a b"].ü'), (("",), '[""]')],
)
def test_path_text(path: tuple[str | int, ...], text: str) -> None:
    assert path_text(path) == text


@pytest.mark.host
def test_json_schemas_need_no_pydantic() -> None:
    """Pages that send JSON Schemas should not wait for its import (design, section 2)."""
    code = (
        "import sys; from unspool.schema import Schema;"
        "Schema.of({'type': 'integer'}).validate(1); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


class Step(NamedTuple):
    x: int
    y: str = "d"
    after: list[Step] | None = None


def test_a_named_tuple_has_one_form_in_json() -> None:
    """What is shown, written and dumped are the same object; pydantic's list of items is read as well."""
    schema = Schema.of(Step)
    step = Step(1, "q", [Step(2)])
    assert schema_text(schema, "json") == (
        'Step\nStep: {"x": integer, "y": string (optional), "after": [Step, ...] | null (optional)}'
    )
    text = '{"x":1,"y":"q","after":[{"x":2,"y":"d","after":null}]}'
    assert format_value(step, "json", T=schema) == text
    assert schema.dump_json(step) == text
    assert JsonChecker(schema.json_schema()).problems(json.loads(text)) == []
    for answer in (json.loads(text), {"x": 1, "y": "q", "after": [{"x": 2}]}, [1, "q", [[2]]], [1, "q", [{"x": 2}]]):
        assert schema.validate(answer) == step
