"""What may be told to whom, in one set of words."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.query_options import (
    MAX_REPAIRS,
    check_function,
    check_model,
    check_names,
    check_query,
    check_repairs,
    for_every_answer,
)
from unspool.testing import StaticResponse


def refused(check: Any, *given: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        check(*given)
    assert caught.value.code == "INVALID_OPTIONS"
    return caught.value.message


def test_names() -> None:
    check_names({"protocol": 1, "temperature": 2, "count": 3}, "count")
    assert "did you mean temperature?" in refused(check_names, {"temp": 0})
    assert "did you mean max_repairs?" in refused(check_names, {"max_r": 0}, "max_repairs")
    assert "did you mean count?" in refused(check_names, {"counts": 1}, "count")
    assert "us.Template" in refused(check_names, {"country": "Peru"})


@pytest.mark.parametrize(
    ("name", "takers"),
    [
        ("max_repairs", "query, complete and LangFunc take it"),
        ("default", "query, complete and LangFunc take it"),
        ("returns_message", "a LangFunc has with_message"),
    ],
)
def test_what_others_take_names_them(name: str, takers: str) -> None:
    assert takers in refused(check_names, {name: 1})
    check_names({name: 1}, name)


def test_values() -> None:
    check_query({})
    check_query({"protocol": "python", "check": "stop", "transform": len, "max_chars": 1, "seed": 7})
    for name, wrong in (("protocol", "xml"), ("check", True), ("transform", 5), ("max_depth", 129), ("seed", "x")):
        assert name in refused(check_query, {name: wrong})


@pytest.mark.parametrize("count", [-1, MAX_REPAIRS + 1, 1.0, True, "2", None], ids=str)
def test_repairs(count: Any) -> None:
    check_repairs(0)
    check_repairs(MAX_REPAIRS)
    words = "The option max_repairs must be a whole number, from 0 to 8."
    assert refused(check_repairs, count) == refused(check_function, None, None, {"max_repairs": count}) == words


def test_models() -> None:
    check_model(StaticResponse("x"))
    for wrong in (None, StaticResponse, "gpt", len):
        assert "us.llms.FunctionModel" in refused(check_model, wrong)


def test_functions() -> None:
    check_function(None, None, {})
    check_function(StaticResponse("x"), lambda messages: messages, {"default": None, "max_repairs": 2, "seed": 7})
    assert "lm must be a model" in refused(check_function, 5, None, {})
    assert "transform_input" in refused(check_function, None, 5, {})
    assert "did you mean max_repairs?" in refused(check_function, None, None, {"max_repair": 2})
    assert "did you mean transform_input?" in refused(check_function, None, None, {"transform_inputs": 2})


def test_streams_and_samples_are_not_told_of_repairs() -> None:
    assert for_every_answer({"default": 1, "seed": 7, "max_repairs": 2}) == {"seed": 7}
