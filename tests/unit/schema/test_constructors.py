"""Instances from the inside out. Deep values: the same result as shallow ones, however deep pydantic would follow."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from unspool.errors import OutputValidationError
from unspool.schema import UNKNOWN, Schema
from unspool.schema.constructors import SLICE, Constructors, fold
from unspool.structured.py_values import PyName, PyObject, PySet


class Chain(BaseModel):
    next: Chain | None = None
    n: int = 0
    seen: int = 0

    @model_validator(mode="after")
    def count(self) -> Chain:
        object.__setattr__(self, "seen", self.seen + 1)
        return self


def chain(length: int, **last: Any) -> PyObject:
    value = PyObject("Chain", last)
    for _ in range(length - 1):
        value = PyObject("Chain", {"next": value})
    return value


@pytest.mark.parametrize("length", [1, SLICE, SLICE + 1, 2 * SLICE, 2 * SLICE + 1, 127])
def test_deep_values(length: int) -> None:
    found: Any = Schema.of(Chain).validate(chain(length, n=7), protocol="python")
    links: list[Chain] = []
    while found is not None:
        links.append(found)
        found = found.next
    assert len(links) == length
    assert links[-1].n == 7
    assert {link.seen for link in links} == {1}


@pytest.mark.parametrize("length", [1, SLICE + 2, 127])
def test_fault_deep_inside_has_its_path(length: int) -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(Chain).validate(chain(length, n="x"), protocol="python")
    [problem] = caught.value.problems
    assert problem.path == (*["next"] * (length - 1), "n")
    assert (problem.kind, problem.found) == ("type", "x")


def test_too_deep() -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(Chain).validate(chain(200), protocol="python")
    assert caught.value.code == "OUTPUT_TOO_LARGE"


def test_value_is_not_changed() -> None:
    value = chain(60, n=1)
    Schema.of(Chain).validate(value, protocol="python")
    assert value == chain(60, n=1)


def test_anything_may_nest_as_deep_as_the_limit() -> None:
    value: Any = PyObject("Chain", {})
    for _ in range(126):
        value = [value]
    found: Any = Schema.of(tuple[Any, Chain]).validate((value, PyObject("Chain", {})), protocol="python")[0]
    while isinstance(found, list):
        [found] = found
    assert found == Chain()


def test_data() -> None:
    maker = Constructors(lambda name: None, {PyName("UNKNOWN"): UNKNOWN}, instances=())
    value = {"a": [1, (2.5, None)], PyName("UNKNOWN"): PySet([1, True, "x"]), "f": PySet([(1, 2)], frozen=True)}
    assert maker.data(value) == {"a": [1, (2.5, None)], UNKNOWN: {1, "x"}, "f": frozenset({(1, 2)})}
    for wrong, path in ((PyObject("A", {}), ()), ([0, b"x"], (1,)), ({"k": PyName("A.B")}, ("k",)), (PySet([[]]), ())):
        with pytest.raises(ValidationError) as caught:
            maker.data(wrong)
        assert caught.value.errors()[0]["loc"] == path


def test_fold_goes_from_the_inside_out() -> None:
    value = PyObject("A", {"x": [1, PyObject("B", {0: PyName("b")})]})
    order: list[Any] = []
    fold(value, lambda node, path, inside, children: order.append((path, inside, len(children))))
    assert order == [(("x", 1, 0), 2, 0), (("x", 1), 1, 1), (("x",), 1, 2), ((), 0, 1)]
