"""Classes of attrs, when it is installed."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

attrs = pytest.importorskip("attrs")

from unspool import parse  # noqa: E402
from unspool.errors import ConfigError, OutputValidationError  # noqa: E402
from unspool.schema import Schema, format_value, schema_text  # noqa: E402
from unspool.schema.attrs_class import is_attrs, with_attrs  # noqa: E402
from unspool.structured.py_values import PyObject  # noqa: E402


@attrs.define
class Point:
    """A point."""

    x: int
    y: float = 2.0


@attrs.define
class Line:
    start: Point
    end: Annotated[Point, "the other one"]
    _tags: list[str] = attrs.Factory(list)
    length: int = attrs.field(init=False, default=0)
    name: str = attrs.field(kw_only=True, default="l")
    note: str = attrs.field(default=attrs.Factory(lambda self: f"{self.name}!", takes_self=True))

    @name.validator
    def _short(self, attribute: Any, value: str) -> None:
        if len(value) > 3:
            raise ValueError("too long")


@attrs.define
class Branch:
    name: str
    inner: list[Branch] = attrs.Factory(list)
    near: Point | None = None
    far: Point | None = None


@attrs.define
class Twig(Branch):
    leaves: int = 0


@attrs.define
class Crate[V]:
    held: V
    rest: list[V] = attrs.Factory(list)
    other: dict[str, Any] = attrs.Factory(dict)


TEXT = '''list[Line]

```python
class Point:
  """A point."""
  x: int
  y: float

class Line:
  start: Point
  # the other one
  end: Point
  tags: list[str]
  name: str
  note: str
```'''


def test_text() -> None:
    assert schema_text(list[Line], "python") == TEXT
    assert Schema.of(Line).name == "Line"


def test_values() -> None:
    start, end = PyObject("Point", {"x": 1}), PyObject("Point", {"x": 2, "y": 1})
    line = Schema.of(Line).validate(PyObject("Line", {"start": start, "end": end, "tags": ["a"]}), protocol="python")
    assert line == Line(start=Point(1), end=Point(2, 1.0), tags=["a"])
    assert line.note == "l!"
    assert Schema.of(Line).validate({"start": {"x": 1}, "end": {"x": 2}}) == Line(Point(1), Point(2))
    assert Schema.of(dict[str, Point | None]).validate({"a": {"x": 1}, "b": None}) == {"a": Point(1), "b": None}
    for wrong in ({"start": {"x": True}, "end": {"x": 2}}, {"start": {"x": 1}, "end": {"x": 2}, "name": "long"}, {}):
        with pytest.raises(OutputValidationError):
            Schema.of(Line).validate(wrong)


def test_values_are_written() -> None:
    line = Line(Point(1), Point(2), ["a"], name="n")
    assert format_value(line, "python", compact=True) == (
        "Line(start=Point(x=1, y=2.0), end=Point(x=2, y=2.0), tags=['a'], name='n', note='n!')"
    )
    assert Schema.of(Line).dump_json(line) == (
        '{"start":{"x":1,"y":2.0},"end":{"x":2,"y":2.0},"tags":["a"],"name":"n","note":"n!"}'
    )


def test_other_types_come_back_as_they_are() -> None:
    for same in (int, list[int], dict[str, int] | None, Annotated[int, "x"], tuple[int, ...], list):
        assert with_attrs(same) is same
    assert is_attrs(Point) and not is_attrs(int) and not is_attrs(3)


def test_classes_that_contain_themselves() -> None:
    branch = Branch("a", [Branch("b", near=Point(1))], far=Point(2))
    schema: Schema[Branch] = Schema.of(Branch)
    assert "inner: list[Branch]" in schema_text(schema, "python")
    inner = {"name": "b", "near": {"x": 1}}
    assert schema.validate({"name": "a", "inner": [inner], "far": {"x": 2}}) == branch
    for protocol in ("python", "json"):
        assert parse(format_value(branch, protocol, T=schema), schema, protocol=protocol) == branch  # type: ignore[arg-type]


def test_subclasses() -> None:
    """P22."""
    schema: Schema[Branch] = Schema.of(Branch, subclasses=[Twig])
    found = schema.validate({"class": "Branch", "name": "a", "inner": [{"class": "Twig", "name": "b", "leaves": 2}]})
    assert found == Branch("a", [Twig("b", leaves=2)])
    twig = PyObject("Twig", {"name": "b"})
    assert schema.validate(PyObject("Branch", {"name": "a", "inner": [twig]}), protocol="python") == Branch(
        "a", [Twig("b")]
    )


def test_generic_classes() -> None:
    assert "held: int\n  rest: list[int]" in schema_text(Crate[int], "python")
    pair: Schema[Any] = Schema.of(tuple[Crate[int], Crate[str]])
    assert pair.validate([{"held": 1, "rest": [2]}, {"held": "a"}]) == (Crate(1, [2]), Crate("a"))
    with pytest.raises(OutputValidationError, match=r"\[0\]\.held"):
        pair.validate([{"held": "a"}, {"held": "a"}])
    with pytest.raises(ConfigError, match="Two classes have the name Crate"):
        schema_text(pair, "python")
    assert Schema.of(Crate[Any]).validate({"held": [None]}) == Crate([None])


def test_a_type_is_made_known_again_after_a_failure() -> None:
    @attrs.define
    class Odd:
        x: object = attrs.field(default=None)
        y: Nowhere = None  # type: ignore[name-defined]  # noqa: F821

    for _ in range(2):
        with pytest.raises(NameError):
            TypeAdapter(with_attrs(Odd))
