"""Signatures that name each option."""

from __future__ import annotations

import inspect
from typing import Any, Unpack, overload

import pytest

import unspool as us
from unspool.http_model import HttpOptions
from unspool.query_options import QueryOptions
from unspool.signature import spelled_out, spells_out

MODELS = [name for name in us.llms.__all__ if name not in ("HttpModel", "FunctionModel", "Wllama")]


@pytest.mark.parametrize("name", MODELS)
def test_models_behind_http_name_every_option(name: str) -> None:
    parameters = inspect.signature(getattr(us.llms, name)).parameters
    assert set(HttpOptions.__annotations__) <= set(parameters)
    assert next(iter(parameters)) == "model"
    assert "options" not in parameters
    assert parameters["api_key"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["temperature"].annotation == "float | None"


def test_options_that_a_constructor_names_itself_are_not_named_twice() -> None:
    parameters = inspect.signature(us.llms.HttpModel).parameters
    assert set(us.CallOptions.__annotations__) <= set(parameters)
    assert parameters["timeout_s"].default == 300


def test_classes_built_on_a_model_have_theirs() -> None:
    class Mine(us.llms.FunctionModel):
        def __init__(self, size: int) -> None:
            super().__init__(lambda request: [])

    assert list(inspect.signature(Mine).parameters) == ["size"]
    assert "generate" in inspect.signature(us.llms.FunctionModel).parameters
    assert "temperature" in inspect.signature(us.testing.StaticResponse).parameters


@pytest.mark.parametrize("function", [us.query, us.query_stream, us.sample, us.complete], ids=lambda f: f.__name__)
def test_functions_name_every_option(function: Any) -> None:
    """Python 3.14 takes a `Signature` alone as the `__signature__` of a function."""
    parameters = inspect.signature(function).parameters
    assert isinstance(vars(function)["__signature__"], inspect.Signature)
    assert set(QueryOptions.__annotations__) <= set(parameters)
    assert "options" not in parameters
    assert repr(parameters["temperature"].default) == "..."


@pytest.mark.parametrize(
    ("function", "asked", "given"),
    [
        (us.query, "TypeForm[R]", "R | tuple[R, Message]"),
        (us.query_stream, "TypeForm[R]", "QueryStream[R]"),
        (us.sample, "TypeForm[R]", "list[R | UnspoolError]"),
    ],
    ids=["query", "query_stream", "sample"],
)
def test_the_type_asked_for_is_the_type_that_comes(function: Any, asked: str, given: str) -> None:
    """Overloads know it; `help` shows the signature of the function itself, which says `Any`."""
    signature = inspect.signature(function)
    assert signature.parameters["T"].annotation == asked
    assert signature.return_annotation == given


def test_overloads_that_know_no_more_change_nothing() -> None:
    @overload
    def function(one: int) -> int: ...
    @overload
    def function(one: str) -> str: ...
    def function(one: Any) -> Any:
        raise AssertionError

    assert inspect.signature(spells_out(function)) == inspect.signature(function)


def test_what_is_no_typed_dict_stays() -> None:
    def function(one: int, **rest: Any) -> None: ...

    plain = inspect.signature(function)
    assert spelled_out(plain, globals()) == plain


def test_a_name_that_stands_there_already_is_not_doubled() -> None:
    def function(temperature: int, **options: Unpack[us.CallOptions]) -> None: ...  # type: ignore[misc]

    spelled = spelled_out(inspect.signature(function).replace(), {"us.CallOptions": us.CallOptions})
    assert spelled.parameters["temperature"].annotation == "int"
    assert "seed" in spelled.parameters
