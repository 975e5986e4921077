"""Subclasses that may stand for a class: rules P22 and P64."""

from __future__ import annotations

import abc
import dataclasses
from json import loads
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field
from tests.growing import Watched

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


class Note(TypedDict):
    about: Animal


class Report(BaseModel):
    star: Animal
    note: Note | None = None


def test_a_typed_dict_beside_or_around_has_no_subclasses() -> None:
    """`TypedDict` refuses `issubclass`; nothing can stand for one."""
    schema: Any = Schema.of(Report, subclasses=[Dog])
    found = schema.validate({"star": {"class": "Dog", "name": "a"}, "note": {"about": {"class": "Dog", "name": "b"}}})
    assert (type(found.star), type(found.note["about"])) == (Dog, Dog)
    dog = PyObject("Dog", {"name": "a"})
    assert Schema.of(Note, subclasses=[Dog]).validate({"about": dog}, protocol="python") == {"about": Dog(name="a")}

    class Longer(Note):
        more: int

    with pytest.raises(ConfigError, match="Longer is a subclass of no class that is asked for"):
        Schema.of(Report, subclasses=[Longer])


def test_a_class_that_an_abc_was_told_of_is_no_subclass() -> None:
    @dataclasses.dataclass
    class Base(abc.ABC):
        size: int

    @dataclasses.dataclass
    class Other:
        size: int

    Base.register(Other)
    with pytest.raises(ConfigError, match="Other is a subclass of no class that is asked for"):
        Schema.of(Base, subclasses=[Other])


class Figure(BaseModel, abc.ABC):
    """What has an area."""

    name: str = ""

    @abc.abstractmethod
    def area(self) -> float: ...


class Tile(Figure):
    edge: float

    def area(self) -> float:
        return self.edge**2


class Rounded(Figure):
    """Abstract as well."""

    corner: float = 0.0


class Disc(Rounded):
    around: list[Figure] = []

    def area(self) -> float:
        return 3 * self.corner**2


class Drawing(BaseModel):
    figures: list[Figure]
    best: Rounded | Figure | int | None = None


def test_abstract_classes_are_not_offered() -> None:
    """Choosing one could only end in "Can't instantiate abstract class"."""
    schema: Any = Schema.of(Drawing, subclasses=[Tile, Rounded, Disc])
    assert schema_text(schema) == (
        "Drawing\n\n```python\n"
        "class Tile:\n  name: str\n  edge: float\n\n"
        "class Disc:\n  name: str\n  corner: float\n  around: list[Union[Tile, Disc]]\n\n"
        "class Drawing:\n  figures: list[Union[Tile, Disc]]\n  best: Union[Disc, Tile, int, None]\n```"
    )
    assert set(schema.classes) == {"Drawing", "Tile", "Disc"}
    described = schema.json_schema()
    assert set(described["$defs"]) == {"AnyFigure", "AnyRounded", "Tile", "Disc"}
    assert described["$defs"]["AnyRounded"] == {"anyOf": [{"$ref": "#/$defs/Disc"}]}
    value: Any = {"figures": [{"class": "Tile", "edge": 2}, {"class": "Disc", "around": []}], "best": {"class": "Disc"}}
    found = schema.validate(value)
    assert found.figures == [Tile(edge=2), Disc()] and found.best == Disc()
    assert schema.validate(loads(schema.dump_json(found))) == found
    for wrong in ({"class": "Figure"}, {"class": "Rounded"}, {"edge": 2}):
        with pytest.raises(OutputValidationError, match=r"figures\[0\]: Input should be Tile\(…\) or Disc\(…\)"):
            schema.validate({"figures": [wrong]})
    made = PyObject("Drawing", {"figures": [PyObject("Tile", {"edge": 2})], "best": PyObject("Disc", {})})
    assert schema.validate(made, protocol="python") == Drawing(figures=[Tile(edge=2)], best=Disc())
    with pytest.raises(OutputValidationError, match=r"figures\[0\]"):
        schema.validate(PyObject("Drawing", {"figures": [PyObject("Figure", {})]}), protocol="python")


def test_the_only_class_that_may_stand_for_an_abstract_one() -> None:
    schema = Schema.of(list[Figure], subclasses=[Tile])
    assert schema_text(schema).startswith("list[Tile]\n")
    assert schema_text(schema, "json") == '[{"class": "Tile", "name": string (optional), "edge": number}, ...]'
    assert schema.validate([{"class": "Tile", "edge": 1}]) == [Tile(edge=1)]
    reply = '[{"class": "Tile", "edge": 1.5, "name": "x"}]'
    parts = Watched(schema, once=True)
    for character in reply:
        parts.feed(character)
    assert parts.finish() == [Tile(edge=1.5, name="x")] and not parts.invalid


@pytest.mark.parametrize(
    ("wanted", "where"),
    [
        (Figure, "it is the abstract class Figure"),
        (list[Figure], r"\[\] is the abstract class Figure"),
        (Drawing, r"figures\[\] is the abstract class Figure"),
        (dict[str, tuple[int, Rounded]], r"\{\} is the abstract class Rounded"),
    ],
)
def test_a_type_whose_only_classes_are_abstract(wanted: Any, where: str) -> None:
    for subclasses in ([], [Rounded]):
        if subclasses and wanted != list[Figure]:
            continue
        with pytest.raises(ConfigError, match=where) as caught:
            Schema.of(wanted, subclasses=subclasses)
        assert caught.value.code == "INVALID_OPTIONS"
