"""Subclasses that may stand for a class: rules P22 and P64."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema import Schema, format_value, native_schema, schema_text
from unspool.structured.py_values import PyObject


class Animal(BaseModel):
    name: str


class Dog(Animal):
    model_config = ConfigDict(extra="forbid")
    breed: str = "mixed"


class Puppy(Dog):
    weeks: int


class Stray(Animal):
    pass


class Zoo(BaseModel):
    star: Animal
    dogs: list[Dog] = []


@dataclasses.dataclass
class Shape:
    sides: int


@dataclasses.dataclass
class Square(Shape):
    edge: float = 1.0


FAMILY: Schema[Zoo] = Schema.of(Zoo, subclasses=[Puppy, Dog])


def test_python_constructors_pick_the_class() -> None:
    star, puppy = PyObject("Dog", {"name": "a"}), PyObject("Puppy", {"name": "b", "weeks": 3})
    zoo = FAMILY.validate(PyObject("Zoo", {"star": star, "dogs": [puppy]}), protocol="python")
    assert (type(zoo.star), type(zoo.dogs[0])) == (Dog, Puppy)
    assert set(FAMILY.classes) == {"Animal", "Dog", "Puppy", "Zoo"}


@pytest.mark.parametrize("value", [PyObject("Stray", {"name": "a"}), {"name": "a"}, PyObject("Zoo", {"star": 1})])
def test_others_are_refused(value: Any) -> None:
    """P64: never the reverse, never what was not named."""
    with pytest.raises(OutputValidationError, match=r"star: Input should be Animal\(…\) or Dog\(…\) or Puppy\(…\)"):
        FAMILY.validate(PyObject("Zoo", {"star": value}), protocol="python")
    with pytest.raises(OutputValidationError, match=r"dogs\[0\]: Input should be Dog"):
        bad = {"star": PyObject("Animal", {"name": "a"}), "dogs": [PyObject("Animal", {"name": "a"})]}
        FAMILY.validate(PyObject("Zoo", bad), protocol="python")


def test_json_has_a_member_that_names_the_class() -> None:
    zoo = FAMILY.validate(
        {"star": {"class": "Dog", "name": "a"}, "dogs": [{"class": "Puppy", "name": "b", "weeks": 1}]}
    )
    assert (type(zoo.star), type(zoo.dogs[0])) == (Dog, Puppy)
    assert type(FAMILY.validate({"star": {"name": "a"}}).star) is Animal
    text = FAMILY.dump_json(zoo)
    assert text == (
        '{"star":{"class":"Dog","name":"a","breed":"mixed"},'
        '"dogs":[{"class":"Puppy","name":"b","breed":"mixed","weeks":1}]}'
    )
    assert text == format_value(zoo, "json", T=FAMILY)
    for wrong in ({"class": "Stray", "name": "a"}, {"class": 1, "name": "a"}, {"class": "Puppy", "name": "a"}):
        with pytest.raises(OutputValidationError, match="star"):
            FAMILY.validate({"star": wrong})


def test_json_schema() -> None:
    schema = FAMILY.json_schema()
    assert schema["properties"]["star"] == {"$ref": "#/$defs/AnyAnimal"}
    assert schema["properties"]["dogs"]["items"] == {"$ref": "#/$defs/AnyDog"}
    assert schema["$defs"]["AnyAnimal"] == {
        "anyOf": [{"$ref": "#/$defs/Animal"}, {"$ref": "#/$defs/Dog"}, {"$ref": "#/$defs/Puppy"}]
    }
    assert schema["$defs"]["Puppy"]["properties"]["class"] == {"const": "Puppy", "type": "string"}
    assert schema["$defs"]["Puppy"]["required"] == ["class", "name", "weeks"]
    form = schema_text(FAMILY, "json")
    assert form.startswith('{"star": {"class": "Animal", "name": string} | Dog | Puppy, "dogs": [Dog | Puppy, ...]')
    assert native_schema(FAMILY, "openai").reason is None


class AnyAnimal(BaseModel):
    one: Animal


def test_class_with_the_name_of_a_family() -> None:
    schema = Schema.of(AnyAnimal, subclasses=[Stray]).json_schema()
    assert list(schema["$defs"]) == ["Animal", "Stray", "AnyAnimal_"]
    assert schema["properties"]["one"] == {"$ref": "#/$defs/AnyAnimal_"}


def test_dataclasses() -> None:
    schema = Schema.of(list[Shape], subclasses=[Square])
    value = [PyObject("Square", {"sides": 4, "edge": 2}), PyObject("Shape", {"sides": 3})]
    assert schema.validate(value, protocol="python") == [Square(4, 2.0), Shape(3)]
    assert schema.validate([{"class": "Square", "sides": 4}]) == [Square(4)]


def test_subclass_of_nothing_asked_for() -> None:
    with pytest.raises(ConfigError, match="Square is a subclass of no class that is asked for") as caught:
        Schema.of(Zoo, subclasses=[Square])
    assert caught.value.code == "INVALID_OPTIONS"


def test_a_member_of_that_name_is_in_the_way() -> None:
    class Base(BaseModel):
        kind: str = Field(alias="class")

    class Sub(Base):
        pass

    with pytest.raises(ConfigError, match="'class' of its own"):
        Schema.of(Base, subclasses=[Sub])
