"""Defaults that do not fit are found when the schema is made: rule P63 of the reference notes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, cast

import attrs
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    PlainValidator,
    RootModel,
    create_model,
    field_validator,
    model_validator,
)
from tests.support import named

from unspool.errors import ConfigError
from unspool.schema import UNKNOWN, Schema, Unknown


class Color(enum.Enum):
    RED = "red"


class Inner(BaseModel):
    x: int = 0


class Other(BaseModel):
    x: int = 0


class Keyed(TypedDict):
    a: int


class Pair(NamedTuple):
    x: int = 0


class Node(BaseModel):
    next: Node | None = None
    kids: list[Node] = []


class Numbers(RootModel[list[int]]):
    pass


type Tree = list[Tree] | int


@pytest.mark.parametrize(
    ("wanted", "default"),
    [
        (int, "x"),
        (int, None),
        (str, 5),
        (str, None),
        (list[int], [1, "x"]),
        (list[int], None),
        (dict[str, int], {"a": "b"}),
        (tuple[int, str], (1,)),
        (set[int], {"x"}),
        (int | None, "x"),
        (Literal["a", "b"], "c"),
        (Color, "blue"),
        (dt.date, "soon"),
        (Annotated[int, Field(ge=3)], 1),
        (Annotated[str, Field(max_length=2)], "long"),
        (Inner, Other()),
        (Inner, {"x": 1}),
        (Inner | None, 3),
        (list[Inner], [Other()]),
        (Pair, (1, 2, 3)),
        (Numbers, [1]),
        (Node, 1),
        (int | Unknown, "x"),
        (bool, "perhaps"),
    ],
    ids=named,
)
def test_defaults_that_do_not_fit(wanted: Any, default: Any) -> None:
    model = create_model("Model", **cast("Any", {"a": (wanted, default)}))
    with pytest.raises(
        ConfigError, match=r"The default of \[\]\.a is no value of its type: Input|The default of"
    ) as caught:
        Schema.of(list[model])  # type: ignore[valid-type]
    assert caught.value.code == "INVALID_OPTIONS" and "[].a" in caught.value.message


@pytest.mark.parametrize(
    ("wanted", "default"),
    [
        (int, 1),
        (float, 1),
        (int | None, None),
        (Any, None),
        (list[int], []),
        (list[int], [1]),
        (dict[str, list[int]], {"a": [1]}),
        (tuple[int, ...], ()),
        (frozenset[int], frozenset()),
        (Color, Color.RED),
        (Literal[Color.RED], Color.RED),
        (dt.date, dt.date(2026, 11, 30)),
        (Decimal, 0),
        (Decimal, Decimal(1)),
        (Path, Path("a")),
        (HttpUrl, "http://a/b"),
        (bytes, b"a"),
        (Inner, Inner()),
        (Inner | None, None),
        (list[Inner | Other], [Inner(), Other()]),
        (Keyed, {"a": 1}),
        (Pair, Pair()),
        (Numbers, Numbers([1])),
        (Node, Node()),
        (Tree, [1]),
        (int | Unknown, UNKNOWN),
        (Annotated[str, AfterValidator(int)], 3),
        (Annotated[int, BeforeValidator(int)], "x"),
        (Annotated[int, PlainValidator(int)], "x"),
        (list[Annotated[int, PlainValidator(int)]], ["x"]),
    ],
    ids=named,
)
def test_defaults_that_fit(wanted: Any, default: Any) -> None:
    """What pydantic would take when it is not strict; functions of the application may mean any."""
    Schema.of(create_model("Model", **cast("Any", {"a": (wanted, default)})))


def test_every_kind_of_class() -> None:
    @dataclasses.dataclass
    class Data:
        a: int = "x"  # type: ignore[assignment]

    class Tuple(NamedTuple):
        a: int = "x"  # type: ignore[assignment]

    @attrs.define
    class Attrs:
        a: int = "x"  # type: ignore[assignment]

    for cls in (Data, Tuple, Attrs):
        with pytest.raises(ConfigError, match="The default of a is no value of its type: Input should be a valid int"):
            Schema.of(cls)


def test_a_hidden_field_has_to_have_a_good_default_too() -> None:
    class Model(BaseModel):
        a: int = Field("x", json_schema_extra={"exclude_from_prompt": True})  # type: ignore[assignment]

    with pytest.raises(ConfigError, match="The default of a"):
        Schema.of(Model)


def test_what_is_left_to_pydantic_and_to_the_application() -> None:
    def never() -> int:
        raise AssertionError("a factory runs when an answer comes")

    class Validated(BaseModel):
        model_config = ConfigDict(validate_default=True)
        a: dt.date = "2026-11-30"  # type: ignore[assignment]

    class One(BaseModel):
        a: dt.date = Field("2026-11-30", validate_default=True)  # type: ignore[assignment]
        b: int = Field(default_factory=never)

    class Filled(BaseModel):
        a: list[int] = None  # type: ignore[assignment]

        @model_validator(mode="after")
        def fill(self) -> Filled:
            self.a = self.a or []
            return self

    class OneField(BaseModel):
        a: int = "x"  # type: ignore[assignment]

        @field_validator("a")
        @classmethod
        def check(cls, value: int) -> int:
            return value

    class Finished(BaseModel):
        a: list[int] = None  # type: ignore[assignment]

        def model_post_init(self, context: Any) -> None:
            self.a = self.a or []

    @dataclasses.dataclass
    class Data:
        a: list[int] = None  # type: ignore[assignment]

        def __post_init__(self) -> None:
            self.a = self.a or []

    @attrs.define
    class Converted:
        a: int = attrs.field(default="1", converter=int)

    made: list[Callable[[], Any]] = [Filled, Finished, Data, Converted]
    for cls in (Validated, One, OneField, *made):
        Schema.of(cls)
    assert Schema.of(Filled).validate({}).a == []
