"""Reading back what was written: the check itself; whole families of values are in tests/conformance."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, RootModel
from tests.support import named

from unspool.errors import ConfigError
from unspool.schema import UNKNOWN, Schema, Unknown, format_value
from unspool.schema.read_back import check_read_back


class Color(enum.Enum):
    RED = "red"


class Dog(BaseModel):
    name: str
    born: dt.date | None = None


class Puppy(Dog):
    weeks: int = 1


class Hidden(BaseModel):
    name: str
    secret: Annotated[str, Field(json_schema_extra={"exclude_from_prompt": True})] = "s"


class Names(RootModel[list[str]]):
    pass


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Dog(name="a"), Dog),
        ({"a": [Dog(name="a", born=dt.date(2026, 1, 1))]}, dict[str, list[Dog]]),
        (Hidden(name="a", secret="t"), Hidden),  # what a model is not shown is not looked at
        (3, float),
        (Names(["a"]), Names),
        ([Color.RED], list[Color]),
        ({1, 2}, set[int]),
        (UNKNOWN, int | Unknown),
    ],
    ids=named,
)
@pytest.mark.parametrize("protocol", ["python", "json"])
def test_values_that_come_back(value: Any, wanted: Any, protocol: Any) -> None:
    check_read_back(format_value(value, protocol), value, Schema.of(wanted), protocol)


@pytest.mark.parametrize(
    ("value", "wanted", "protocol", "words"),
    [
        ([1, Color.RED], list[int | str | Color], "json", r"\[1\] cannot be written as .* read back as str 'red'"),
        ({"a": (1,)}, dict[str, Any], "json", "a cannot be written as .* read back as list"),
        ({"a": {1: 2}}, Any, "json", "a cannot be written as .* read back as dict"),
        (Puppy(name="a"), Dog, "python", "could not be read back: 'Puppy' is not a class"),
        (Puppy(name="a"), Dog, "json", "read back as Dog"),
        (True, int, "json", "could not be read back"),
        ({"a": 1}, Dog, "json", "could not be read back: .*name"),
        (2**60 + 1, float, "json", "read back as float"),
        (Names(["a"]), list[str], "json", "read back as list"),
        (1, Annotated[int, AfterValidator(lambda n: n + 1)], "json", "read back as int 2"),
    ],
    ids=named,
)
def test_values_that_do_not(value: Any, wanted: Any, protocol: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        format_value(value, protocol, T=wanted)
    assert caught.value.code == "INVALID_OPTIONS"


def test_text_itself() -> None:
    """Where text is asked for, `parse` takes the whole reply."""
    assert format_value("it's", "python", T=str) == format_value("it's", "json", T=str) == "it's"
    assert format_value("it's", "json", T=Schema.of(str)) == '"it\'s"'
    with pytest.raises(ConfigError):
        format_value(3, T=str)


def test_what_was_never_set_is_not_read_back() -> None:
    half = Dog.model_construct(name="a")
    del half.__dict__["born"]
    assert "MISSING" in format_value(half, "python", T=Dog, missing=True)


def test_json_schemas_as_data() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert format_value({"a": 1}, "json", T=schema) == '{"a":1}'
    with pytest.raises(ConfigError, match="a: should be integer"):
        format_value({"a": "x"}, "json", T=schema)
