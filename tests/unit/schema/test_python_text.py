"""The text of types in Python syntax. Expected texts: rules P1-P29 of the reference notes, written out by hand."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel
from typing_extensions import Doc

from unspool.errors import ConfigError
from unspool.schema import Schema, Unknown, schema_text


class Color(enum.Enum):
    """Of the sky."""

    RED = "red"
    BLUE = "blue"
    CRIMSON = "red"  # noqa: PIE796


class Level(enum.IntEnum):
    LOW = 1


class Item(BaseModel):
    """An item.

    Second paragraph.
    """

    name: Annotated[str, Field(description="The display name.")]
    price: Annotated[float | None, Field(description="Unit price.\n  In euros.")] = None
    raw: Annotated[int, "as measured"]
    unit: Annotated[str, Doc("kg or lb")] = "kg"


class Animal(BaseModel):
    name: str


class Dog(Animal):
    breed: str


class Puppy(Dog):
    weeks: int


class Node(BaseModel):
    value: int
    kids: list[Node] = []


class Expr(BaseModel):
    args: list[Term] = []


class Term(BaseModel):
    expr: Expr | None = None


Expr.model_rebuild()


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.0
    tags: list[str] = dataclasses.field(default_factory=list, kw_only=True)


class Pair(NamedTuple):
    x: int
    y: str = "d"


class Record(TypedDict):
    a: int
    b: NotRequired[str]


type Json = dict[str, Json] | list[Json] | int | None


class Tree(RootModel[dict[str, "Tree"] | int]):
    pass


Odd = TypedDict("Odd", {"a b": int, "class": str})


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    name: str


class Account(BaseModel):
    user: str
    secret: Annotated[str, Field(json_schema_extra={"exclude_from_prompt": True})] = "s"


class Numbers(RootModel[list[int]]):
    pass


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (int, "int"),
        (float, "float"),
        (bool, "bool"),
        (str, "str"),
        (None, "NoneType"),
        (int | None, "int | None"),
        (int | str, "Union[int, str]"),
        (int | str | bool | None, "Union[int, str, bool, None]"),
        (Literal["red", 3, None, True], "Literal['red', 3, None, True]"),
        (Any, "Any"),
        (list[int], "list[int]"),
        (list, "list[Any]"),
        (list[int | None], "list[int | None]"),
        (tuple[int, str], "tuple[int, str]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (tuple[()], "tuple[()]"),
        (dict[str, int], "dict[str, int]"),
        (dict[int, str], "dict[int, str]"),
        (dict, "dict[str, Any]"),
        (set[int], "set[int]"),
        (frozenset[str], "frozenset[str]"),
        (Sequence[int], "list[int]"),
        (deque[int], "list[int]"),
        (Annotated[int, Field(ge=0, le=10)], "int(min=0, max=10)"),
        (Annotated[float, Field(gt=0, lt=1)], "float(gt=0, lt=1)"),
        (Annotated[int, Field(multiple_of=5)], "int(multiple_of=5)"),
        (Annotated[str, Field(pattern="^it's")], 'str(regex="^it\'s")'),
        (Annotated[list[int], Field(min_length=1, max_length=3)], "# 1 to 3 items.\nlist[int]"),
        (
            list[Annotated[str, Field(min_length=1, max_length=1)]],
            "# Each item: Exactly 1 character.\nlist[str]",
        ),
        (dict[str, Annotated[list[int], Field(max_length=2)]], "# Each value: Up to 2 items.\ndict[str, list[int]]"),
        (tuple[int, Annotated[str, Field(min_length=3)]], "# Item 2: 3 characters or more.\ntuple[int, str]"),
        (Annotated[int, Field(description="A number.")], "# A number.\nint"),
        (dt.date, "str(format='date')"),
        (dt.datetime, "str(format='date-time')"),
        (dt.timedelta, "str(format='duration')"),
        (uuid.UUID, "str(format='uuid')"),
        (Decimal, "str(format='decimal')"),
        (Annotated[Decimal, Field(ge=0)], "str(format='decimal', min=0)"),
        (bytes, "bytes"),
        (AnyUrl, "str(format='uri')"),
        (Path, "str(format='path')"),
        (int | Unknown, "Union[int, UNKNOWN]"),
        (Numbers, "list[int]"),
        (Odd, "{'a b': int, 'class': str}"),
        (list[Odd], "list[{'a b': int, 'class': str}]"),
        (Literal[Color.RED], "Literal[Color.RED]"),
    ],
    ids=str,
)
def test_annotation(wanted: Any, text: str) -> None:
    assert schema_text(wanted, "python").split("\n\n```python")[0] == text


@pytest.mark.parametrize(
    ("wanted", "blocks"),
    [
        (
            Item,
            '''class Item:
  """An item.

  Second paragraph.
  """
  # The display name.
  name: str
  # Unit price.
  # In euros.
  price: float | None
  # as measured
  raw: int
  # kg or lb
  unit: str''',
        ),
        (Color, 'class Color(Enum):\n  """Of the sky."""\n  RED = \'red\'\n  BLUE = \'blue\''),
        (Level, "class Level(IntEnum):\n  LOW = 1"),
        (Node, "class Node:\n  value: int\n  kids: list[Node]"),
        (Expr, "class Expr:\n  args: list[Term]\n\nclass Term:\n  expr: Expr | None"),
        (Point, "class Point:\n  x: int\n  y: float\n  tags: list[str]"),
        (Pair, "class Pair:\n  x: int\n  y: str"),
        (Json, "Json = Union[dict[str, Json], list[Json], int, None]"),
        (list[Tree], "Tree = Union[dict[str, Tree], int]"),
        (Record, "class Record(TypedDict):\n  a: int\n  b: NotRequired[str]"),
        (Open, "class Open:\n  name: str\n  # Other keyword arguments are allowed: int"),
        (Account, "class Account:\n  user: str"),
        # P20: a base that nobody asks for is left out.
        (Dog, "class Dog:\n  name: str\n  breed: str"),
        (Dog | Animal, "class Animal:\n  name: str\n\nclass Dog(Animal):\n  name: str\n  breed: str"),
    ],
    ids=str,
)
def test_class_blocks(wanted: Any, blocks: str) -> None:
    text = schema_text(wanted, "python")
    assert text.split("\n\n```python\n", 1)[1] == f"{blocks}\n```"


def test_subclasses_are_shown_when_they_are_named() -> None:
    """P22: an import elsewhere changes no prompt."""
    assert "Puppy" not in schema_text(Animal, "python")
    text = schema_text(Schema.of(Animal, subclasses=[Puppy]), "python")
    assert text == (
        "Animal\n\n```python\nclass Animal:\n  name: str\n\n"
        "class Puppy(Animal):\n  name: str\n  breed: str\n  weeks: int\n```"
    )
    both = schema_text(Schema.of(Animal, subclasses=[Puppy, Dog]), "python")
    assert both.index("class Dog(Animal)") < both.index("class Puppy(Dog)")


def test_docstrings_that_would_end_early() -> None:
    class Odd(BaseModel):
        '''Says """x""" and "y"'''

    text = schema_text(Odd, "python")
    assert text.endswith('class Odd:\n  """Says \\"""x\\""" and "y\\""""\n  pass\n```')


def test_defaults_on_request() -> None:
    """P19."""

    class Conf(BaseModel):
        name: str = "n"
        size: int = 3
        tags: list[str] = []
        long: str = "x" * 50

    assert "= 'n'" not in schema_text(Conf, "python")
    text = schema_text(Conf, "python", defaults=True)
    assert "  name: str = 'n'\n  size: int = 3\n  tags: list[str] = ...\n  long: str = ..." in text


def test_classes_of_one_name() -> None:
    """P28."""

    def make() -> type[BaseModel]:
        class Item(BaseModel):
            x: int

        return Item

    with pytest.raises(ConfigError, match=r"Two classes have the name Item .*make.<locals>.Item") as caught:
        schema_text(tuple[Item, make()], "python")  # type: ignore[misc]
    assert caught.value.code == "UNSUPPORTED"
    assert '{"x": integer}' in schema_text(tuple[Item, make()], "json")  # type: ignore[misc]


def test_json_schema_has_no_python_text() -> None:
    with pytest.raises(ConfigError, match="is a JSON Schema") as caught:
        schema_text({"type": "integer"}, "python")
    assert caught.value.code == "UNSUPPORTED"


def test_the_same_to_the_byte() -> None:
    first = schema_text(Schema.of(tuple[Item, Expr, Color, Animal]), "python")
    assert first == schema_text(Schema.of(tuple[Item, Expr, Color, Animal]), "python")
