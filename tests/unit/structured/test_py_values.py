"""Neutral values of Python syntax: equality, order, and the seed's spelling on the wire."""

from __future__ import annotations

import json
from typing import Any

from unspool.structured.py_stream import PyStream
from unspool.structured.py_values import PyName, PyObject, PySet, PyTuple, to_wire


def test_on_the_wire() -> None:
    """STREAMING, "Python field previews": `{pythonClass, fields}` and `{pythonSet}`, equal members dropped."""
    value = PyObject("Foo", {"a": PySet((1, True, "x", 1.0)), "b": (b"\xff", PyName("C.D")), 0: {(1, "k"): [None]}})
    assert to_wire([value]) == [
        {
            "pythonClass": "Foo",
            "fields": {
                "a": {"pythonSet": [1, "x"]},
                "b": ["\xff", {"pythonName": "C.D"}],
                "0": {"(1, 'k')": [None]},
            },
        }
    ]
    assert value.to_wire() == to_wire(value)
    assert PySet((1,)).to_wire() == {"pythonSet": [1]}
    assert PyName("UNKNOWN").to_wire() == {"pythonName": "UNKNOWN"}


def test_deep_values() -> None:
    """As deep as the scanner's limit goes, without recursion: in Pyodide too deep a recursion is fatal."""
    for text in ("Foo(" * 511 + "{1: 2}" + ")" * 511, "Foo(x=[" * 255 + "(1,)" + "])" * 255):
        values: list[Any] = []
        for _ in range(2):
            stream = PyStream(max_depth=512)
            stream.push(text)
            stream.finish()
            values.append(stream.value)
        assert values[0] == values[1]
        assert repr(values[0]) == text
        assert json.dumps(to_wire(values[0])).count("pythonClass") == text.count("Foo")


def test_equality() -> None:
    assert PyObject("A", {"x": 1}) == PyObject("A", {"x": 1})
    assert PyObject("A", {"x": 1}) != PyObject("B", {"x": 1})
    assert PyObject("A", {}) != {}
    assert PySet((1, 2)) != PySet((1, 2), frozen=True)
    assert PySet([1]) == PySet((1,))
    assert PyName("A") == PyName("A")
    assert PyName("A") != "A"
    assert len({PyName("A"), PyName("A"), "A"}) == 2


def test_members_are_the_first_of_equal_ones() -> None:
    """P56, P95; constructors cannot be compared before a schema makes them."""
    foo = PyObject("Foo", {})
    assert repr(PySet((True, 1, 0, False, foo, foo)).members) == "(True, 0, Foo(), Foo())"


def test_reprs_are_python() -> None:
    value = PyObject("Foo", {0: 1, "x": PySet(("a",)), "y": PyName("C.D")})
    assert repr(value) == "Foo(1, x={'a'}, y=C.D)"
    assert repr(PySet(())) == "set()"
    assert repr(PySet((1,), frozen=True)) == "frozenset({1})"
    assert PyTuple([1]) == [1]
