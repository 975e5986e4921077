"""What is known of a Python type."""

from __future__ import annotations

import enum
import json
from typing import Any, Literal, NamedTuple, NotRequired

import pytest
from pydantic import BaseModel, create_model
from typing_extensions import ReadOnly, TypedDict

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema import Schema
from unspool.schema.python_type import python_type_of, type_name
from unspool.structured.py_values import PyObject


class Color(enum.Enum):
    RED = 1
    CRIMSON = 1  # noqa: PIE796


class Point(BaseModel):
    x: int
    color: Color = Color.RED


class Loop(BaseModel):
    items: list[Loop] | list[list[Loop]] | int = 0


def test_what_a_parser_is_told() -> None:
    """P46: only what is shown."""
    schema = Schema.of(list[Point])
    assert schema.classes == {"Point": ("x", "color"), "Color": ("value",)}
    assert set(schema.names) == {"Color.RED", "Color.CRIMSON", "UNKNOWN"}
    assert Schema.of(Literal[Color.RED]).classes == {"Color": ("value",)}


def test_names_that_mean_something_else() -> None:
    wrong: Any = type(BaseModel)("UNKNOWN", (BaseModel,), {"__annotations__": {"x": int}, "__module__": __name__})
    with pytest.raises(ConfigError, match="has another meaning") as caught:
        Schema.of(wrong).validate(PyObject("UNKNOWN", {}), protocol="python")
    assert caught.value.code == "UNSUPPORTED"
    assert Schema.of(wrong).validate({"x": 1}).x == 1


def test_json_schema_has_no_python_values() -> None:
    schema = Schema.of({"type": "integer"})
    for call in (lambda: schema.classes, lambda: schema.names, lambda: schema.validate(1, protocol="python")):
        with pytest.raises(ConfigError) as caught:
            call()
        assert caught.value.code == "UNSUPPORTED"


def test_recursive_lists_that_look_alike_take_no_exponential_time() -> None:
    """As in JSON; classes are told by their constructors, so only lists can be taken for each other."""
    value: Any = 1
    for _ in range(40):
        value = PyObject("Loop", {"items": [[value]]})
    with pytest.raises(OutputValidationError, match="nests too deep for Loop") as caught:
        Schema.of(Loop).validate(value, protocol="python")
    assert caught.value.code == "OUTPUT_TOO_LARGE"


class Left(TypedDict):
    kid: NotRequired[Left | Right | int]


class Right(TypedDict):
    kid: NotRequired[Left | Right | int]


@pytest.mark.parametrize("name", ["class", "lambda", "1x", ""])
def test_class_names_that_are_none_in_python_syntax(name: str) -> None:
    wrong: Any = type(BaseModel)(name, (BaseModel,), {"__annotations__": {"x": int}, "__module__": __name__})
    with pytest.raises(ConfigError, match="is none in Python syntax") as caught:
        _ = Schema.of(list[wrong]).classes
    assert caught.value.code == "UNSUPPORTED"
    assert Schema.of(list[wrong]).validate([{"x": 1}]) == [wrong(x=1)]


@pytest.mark.parametrize("name", ["class", "x y", "1a", ""])
def test_fields_that_python_syntax_has_no_name_for(name: str) -> None:
    """Of a model they cannot be asked for; a TypedDict is written as a dict."""
    wrong: Any = create_model("Wrong", **{name: (int, ...)})  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="ask for JSON") as caught:
        _ = Schema.of(wrong).classes
    assert caught.value.code == "UNSUPPORTED"
    assert getattr(Schema.of(wrong).validate({name: 1}), name) == 1
    keyed: Any = TypedDict("keyed", {name: int})  # type: ignore[misc]
    assert Schema.of(keyed).validate({name: 1}, protocol="python") == {name: 1}


def test_recursive_dicts_that_look_alike_take_no_exponential_time() -> None:
    value: Any = "x"
    for _ in range(40):
        value = {"kid": value}
    for protocol in ("python", "json"):
        with pytest.raises(OutputValidationError) as caught:
            Schema.of(Left).validate(value, protocol=protocol)  # type: ignore[arg-type]
        assert caught.value.code == "OUTPUT_TOO_LARGE"
    named: Any = PyObject("Left", {})
    for _ in range(40):
        named = PyObject("Right", {"kid": named})
    with pytest.raises(OutputValidationError, match=r"Left\(…\)"):
        Schema.of(Left).validate(named, protocol="python")
    assert Schema.of(Left | Right).validate(named, protocol="python")["kid"]


def test_validators_are_built_when_they_are_needed() -> None:
    typed = python_type_of(Point)
    assert "python_validator" not in typed.__dict__
    typed.validate_python("Point", PyObject("Point", {"x": 1}))
    assert "python_validator" in typed.__dict__
    assert typed.validate_json("Point", {"x": 1, "color": 1}) == Point(x=1)
    with pytest.raises(OutputValidationError):
        typed.validate_json("Point", {"x": 1, "color": True})


def test_type_name() -> None:
    assert type_name(Point) == "Point"
    assert type_name(list[int]) == ""


def test_warnings_of_pydantic_that_say_nothing_about_an_answer() -> None:
    """Where warnings are errors, they would be refusals."""

    class Keyed(TypedDict):
        a: ReadOnly[int]

    class Model(BaseModel):
        a: Any = object()

    assert Schema.of(Keyed).validate({"a": 1}) == {"a": 1}
    assert "default" not in Schema.of(Model).json_schema()["properties"]["a"]


class Plus(NamedTuple):
    of: Plus | Minus | int


class Minus(NamedTuple):
    by: Plus | Minus | int


@pytest.mark.parametrize(
    "answer", ['{"of":' * 40 + "1" + "}" * 40, "[" * 40 + "1" + "]" * 40], ids=["objects", "lists"]
)
def test_named_tuples_that_look_alike_are_not_tried_for_ever(answer: str) -> None:
    """They are asked for as objects, and read from lists as well: both double at each level."""
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(Plus | Minus).validate(json.loads(answer))
    assert caught.value.code == "OUTPUT_TOO_LARGE"
