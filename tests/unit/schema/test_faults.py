"""Faults: what closed and cannot be right; how it is found is tested in test_partial_builder.py."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.growing import watched

from unspool.schema.faults import Faults
from unspool.schema.problem import Problem
from unspool.schema.validation_error import MAX_KEPT, pydantic_problems


def test_what_is_new_is_told_once() -> None:
    faults = Faults()
    faults.add(None, True, ("a",), [Problem(("b",), "no")])
    assert [(number, fault.path, fault.message) for number, fault in faults.new(3)] == [(3, ("a", "b"), "no")]
    assert faults.new(4) == []


def test_what_is_not_sure_is_not_told() -> None:
    faults = Faults()
    faults.add(None, False, (), [Problem((), "no")])
    assert faults.invalid == [] == faults.new(0)


def test_the_first_are_kept() -> None:
    faults = Faults()
    for number in range(MAX_KEPT + 5):
        faults.add(None, True, (number,), [Problem((), "no")])
    assert [fault.path for fault in faults.invalid] == [(number,) for number in range(MAX_KEPT)]


def test_only_pydantic_tells_of_a_fault() -> None:
    part = watched(list[int], ["[1"]).builder._root  # pyright: ignore[reportPrivateUsage]
    assert part is not None
    faults = Faults()
    faults.failed(part, True, (0,), RuntimeError("mine"), lambda error: pydantic_problems(error, "x"))
    assert (faults.invalid, part.bad, part.unsure) == ([], False, True)
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(int).validate_python("x")
    faults.failed(part, True, (0,), caught.value, lambda error: pydantic_problems(error, "x"))
    assert ([fault.path for fault in faults.invalid], part.bad) == ([(0,)], True)
