"""Values as trees. Expected: read off the values by eye."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.schema.problem import NOTHING
from unspool.schema.value_tree import children_of, fold, leaves, member_of, nests_deeper
from unspool.structured.py_values import PyName, PyObject, PySet

VALUE = PyObject("A", {"x": [1, {"k": PySet([2])}], "y": PyName("Color.RED")})


def test_leaves() -> None:
    assert list(leaves(VALUE)) == [
        (("x", 0), 1),
        (("x", 1, "k"), "k"),
        (("x", 1, "k", 0), 2),
        (("y",), PyName("Color.RED")),
    ]


def test_members() -> None:
    assert member_of(VALUE, "x") == [1, {"k": PySet([2])}]
    assert member_of([1], 1) is NOTHING and member_of({"a": 1}, "b") is NOTHING and member_of(3, "a") is NOTHING
    assert member_of(PySet([5]), 0) == 5
    assert children_of("text") == []


def test_fold_goes_from_the_inside_out() -> None:
    seen: list[tuple[Any, int]] = []

    def make(node: Any, path: Any, inside: int, children: list[Any]) -> Any:
        seen.append((path, inside))
        return len(children)

    assert fold(VALUE, make) == 2
    assert seen == [(("x", 1, "k"), 1), (("x", 1), 1), (("x",), 1), (("y",), 1), ((), 0)]


@pytest.mark.parametrize(("depth", "deeper"), [(3, False), (4, True), (5, True)])
def test_depth(depth: int, deeper: bool) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert nests_deeper(value, 3) is deeper


def test_no_recursion() -> None:
    value: Any = 1
    for _ in range(2_000):
        value = [value]
    assert nests_deeper(value)
    assert fold(value, lambda node, path, inside, children: 1) == 1
