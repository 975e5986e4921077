"""PartValidatorBuilder: validators of one level. Source: pydantic's own results for the same class."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError, ValidationInfo, field_validator

from unspool.schema import Schema
from unspool.schema.part_validator_builder import PartValidatorBuilder, copied, peeled
from unspool.structured.py_values import PyObject, PySet


class Inner(BaseModel):
    x: Annotated[int, Field(gt=0)]


class Outer(BaseModel):
    inner: Inner
    low: int
    high: int = 9
    made: list[int] = Field(default_factory=list)

    @field_validator("high")
    @classmethod
    def above(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data["low"]:
            raise ValueError("below")
        return value


def validator() -> Any:
    reader = Schema.of(Outer).for_python().reader
    return PartValidatorBuilder(reader).record(next(r for r in reader.records.values() if r.cls is Outer))


def test_parts_are_taken_as_they_are() -> None:
    wrong = Inner.model_construct(x=-1)
    made = validator().validate_python({"inner": wrong, "low": 1})
    assert made.inner is wrong
    assert (made.high, made.made) == (9, [])
    assert made.model_fields_set == {"inner", "low"}


def test_functions_that_are_told_of_other_fields_run_with_the_record() -> None:
    with pytest.raises(ValidationError, match="below"):
        validator().validate_python({"inner": Inner(x=1), "low": 5, "high": 1})


def test_missing_and_unknown_fields() -> None:
    with pytest.raises(ValidationError) as caught:
        validator().validate_python({"low": 1, "other": 1})
    assert {fault["type"] for fault in caught.value.errors()} == {"missing", "extra_forbidden"}


def test_what_runs_with_the_record_is_peeled_off() -> None:
    def told(value: int, info: ValidationInfo) -> int:
        return value

    def core(T: Any) -> Any:
        return Schema.of(T).for_python().reader.core

    untold = core(Annotated[int, AfterValidator(abs)])
    assert peeled(untold) == (untold, [])
    both = core(Annotated[int, AfterValidator(abs), AfterValidator(told)])
    left, functions = peeled(both)
    assert left["type"] == "function-after" and left["schema"]["type"] == "int"
    assert len(functions) == 1
    left, functions = peeled(core(Annotated[int, AfterValidator(told), AfterValidator(abs)]))
    assert left["type"] == "int" and len(functions) == 2


def test_copies_share_nothing_that_can_change() -> None:
    given = {"a": [1, (2, [3])], "b": PyObject("X", {"y": [4]}), "c": PySet([[5]], frozen=True)}
    made = copied(given)
    assert made == given
    made["a"][1][1].append(0)
    made["b"].fields["y"].append(0)
    made["c"].items[0].append(0)
    assert given == {"a": [1, (2, [3])], "b": PyObject("X", {"y": [4]}), "c": PySet([[5]], frozen=True)}
