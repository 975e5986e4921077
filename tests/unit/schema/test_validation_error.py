"""Faults of an answer with their paths. Expected: what stands in the value under the path."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel
from tests.support import named

from unspool.errors import OutputValidationError
from unspool.schema import Schema
from unspool.schema.problem import NOTHING, Problem
from unspool.schema.validation_error import invalid, lone_surrogates, shown_json, shown_python
from unspool.structured.py_values import PyName, PyObject, PySet


class Inner(BaseModel):
    n: int


class Outer(BaseModel):
    one: Inner
    many: dict[str, list[Inner]] = {}
    pair: tuple[int, str] = (1, "")
    odd: Annotated[
        int, AfterValidator(lambda value: value if value % 2 else (_ for _ in ()).throw(ValueError("even")))
    ] = 1


def problems_of(value: Any, protocol: Any = "python") -> list[tuple[Any, ...]]:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(Outer).validate(value, protocol=protocol)
    assert caught.value.code == "OUTPUT_INVALID"
    return [(p.path, p.kind, None if p.found is NOTHING else p.found) for p in caught.value.problems]


def outer(**fields: Any) -> PyObject:
    return PyObject("Outer", {"one": PyObject("Inner", {"n": 1}), **fields})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (outer(one=PyObject("Inner", {"n": "x"})), [(("one", "n"), "type", "x")]),
        (outer(one=PyObject("Inner", {0: "x"})), [(("one",), "type", PyObject("Inner", {0: "x"}))]),
        (outer(one=PyObject("Inner", {})), [(("one", "n"), "missing-field", None)]),
        (outer(one=PyObject("Inner", {"n": 1, "m": 2})), [(("one", "m"), "unexpected-field", 2)]),
        (
            outer(one=PyObject("Inner", {0: 1, "n": 1})),
            [(("one",), "duplicate-field", PyObject("Inner", {0: 1, "n": 1}))],
        ),
        (
            outer(one=PyObject("Inner", {0: 1, 1: 2})),
            [(("one",), "too-many-positional", PyObject("Inner", {0: 1, 1: 2}))],
        ),
        (outer(one={"n": 1}), [(("one",), "type", {"n": 1})]),
        (outer(one=PyObject("Outer", {})), [(("one",), "type", PyObject("Outer", {}))]),
        (outer(many={"a b": [PyObject("Inner", {"n": None})]}), [(("many", "a b", 0, "n"), "type", None)]),
        (outer(many={1: []}), [(("many", 1), "type", 1)]),
        (outer(pair=(1,)), [(("pair", 1), "value", None)]),
        (outer(pair=[1, "a"]), [(("pair",), "type", [1, "a"])]),
        (outer(odd=2), [(("odd",), "value", 2)]),
        (outer(odd=10**400), []),
    ],
    ids=repr,
)
def test_problems_of_python_values(value: Any, expected: list[Any]) -> None:
    if expected:
        assert problems_of(value) == expected


def test_all_faults_are_listed() -> None:
    """One line each, in the order of the type."""
    found = problems_of(outer(one=PyObject("Inner", {"n": "x"}), pair=3, odd=4))
    assert [path for path, _, _ in found] == [("one", "n"), ("pair",), ("odd",)]


@pytest.mark.parametrize(
    ("wanted", "value", "expected"),
    [
        (int | list[Inner], [PyObject("Inner", {"n": "x"})], [((0, "n"), "Input should be a valid integer")]),
        (int | str, 1.5, [((), "Input should be a valid integer or a valid string")]),
        (dict[str, int] | list[int] | None, [None], [((0,), "Input should be a valid integer")]),
    ],
    ids=str,
)
def test_of_alternatives_the_one_that_was_meant(wanted: Any, value: Any, expected: Any) -> None:
    """P58."""
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(wanted).validate(value, protocol="python")
    assert [(problem.path, problem.message) for problem in caught.value.problems] == expected


def test_problems_of_json() -> None:
    assert problems_of({"one": {}, "many": {"a": [{"n": "x"}]}, "pair": [1, 2]}, "json") == [
        (("one", "n"), "missing-field", None),
        (("many", "a", 0, "n"), "type", "x"),
        (("pair", 1), "type", 2),
    ]


def test_message_shows_values_in_their_own_syntax() -> None:
    with pytest.raises(OutputValidationError, match=r"one\.n: Input should be a valid integer, got 'x'\.$"):
        Schema.of(Outer).validate(outer(one=PyObject("Inner", {"n": "x"})), protocol="python")
    with pytest.raises(OutputValidationError, match=r'one\.n: Input should be a valid integer, got "x"\.$'):
        Schema.of(Outer).validate({"one": {"n": "x"}})
    with pytest.raises(OutputValidationError, match=r"one: Input should be Inner\(…\), got Outer\(a=\(1, \{2\}\)\)\."):
        Schema.of(Outer).validate(outer(one=PyObject("Outer", {"a": (1, PySet([2]))})), protocol="python")


def test_messages_are_bounded() -> None:
    error = invalid("Answer", [Problem((i,), "wrong" * 200, "x" * 10_000) for i in range(20)])
    assert len(error.message) < 4_000
    assert error.message.endswith("and 12 more.")
    assert len(error.problems) == 20


def test_each_fault_is_told_on_one_line() -> None:
    """What a validator says may have more of them."""
    error = invalid("Answer", [Problem((), "not\n    so")])
    assert error.message == "The answer is not a valid Answer: the answer: not so."
    assert error.problems[0].message == "not\n    so"


def test_hostile_answers_have_a_bounded_error() -> None:
    with pytest.raises(OutputValidationError, match="and 19992 more") as caught:
        Schema.of(list[int]).validate(["x"] * 20_000, protocol="python")
    assert len(caught.value.problems) == 100


def test_halves_of_surrogate_pairs() -> None:
    assert [problem.path for problem in lone_surrogates(["a", {"b": "\ud800"}])] == [(1, "b")]


def test_shown() -> None:
    assert shown_json({"a": [None, True]}) == '{"a": [null, true]}'
    assert shown_python((1, PyName("UNKNOWN"))) == "(1, UNKNOWN)"
    assert shown_json("x" * 500) == '"' + "x" * 79 + "…"
    assert shown_python("\ud800") == "'\\ud800'"


@pytest.mark.parametrize(
    ("wanted", "value", "path", "found"),
    [
        (dict[int, str], {"x": "a"}, ("x",), "x"),
        (dict[date, str], {"x": "a"}, ("x",), "x"),
        (dict[str, dict[Literal["a"], str]], {"x": {"y": "a"}}, ("x", "y"), "y"),
        (dict[str, int], {"[key]": "a"}, ("[key]",), "a"),
    ],
    ids=named,
)
def test_a_key_at_fault_is_told_apart_from_its_value(wanted: Any, value: Any, path: Any, found: Any) -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(wanted).validate(value)
    [problem] = caught.value.problems
    assert (problem.path, problem.found) == (path, found)
    assert problem.message.startswith("The key: ") is ("[key]" not in path)


def test_a_key_and_its_value_are_both_told() -> None:
    with pytest.raises(OutputValidationError) as caught:
        Schema.of(dict[int, str]).validate({"1": 2}, protocol="python")
    assert [problem.found for problem in caught.value.problems] == ["1", 2]
