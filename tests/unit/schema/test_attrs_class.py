"""Classes of attrs, when it is installed."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

attrs = pytest.importorskip("attrs")

from unspool.errors import OutputValidationError  # noqa: E402
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
