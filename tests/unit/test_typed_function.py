"""What a Python function says of a prompt."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import pytest

from unspool.errors import ConfigError
from unspool.templates import Template
from unspool.typed_function import check_places, made_by, read_function, signature_of, signature_of_places


async def capital(country: str, unit: str = "people") -> Annotated[dict[str, int], "largest first"]:
    """
    The capital of {{country}},
        in {{unit}}?
    """
    raise AssertionError


def test_prompt_type_and_signature() -> None:
    prompt, returns, signature = read_function(capital)
    assert prompt == "The capital of {{country}},\n    in {{unit}}?", "without the indentation of the code"
    assert returns == Annotated[dict[str, int], "largest first"], "what describes the type stays"
    assert signature == signature_of(capital) == inspect.signature(capital)


def no_words(x: int) -> int:
    raise AssertionError


def no_type(x: int):  # type: ignore[no-untyped-def]
    """{{x}}"""


def lost_type(x: int) -> Lost:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore
    """{{x}}"""


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (no_words, "no_words needs a docstring"),
        (no_type, "no_type needs a return type"),
        (lost_type, "return type of lost_type cannot be read: name 'Lost'"),
    ],
    ids=["docstring", "type", "name"],
)
def test_what_is_missing(function: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        read_function(function)
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.parametrize(
    ("prompt", "parameters"),
    [
        ("{{a}} {{b.c}} {{a}}", ["b", "a"]),
        ("{{a}}", ["self", "a"]),
        ("{{a}}", ["cls", "a"]),
        ("hi", ["self"]),
        ("", []),
    ],
)
def test_places_and_parameters_belong_together(prompt: str, parameters: list[str]) -> None:
    check_places("f", Template(prompt), parameters)


@pytest.mark.parametrize(
    ("prompt", "parameters", "told"),
    [
        (
            "{{contry}}",
            ["country"],
            r"{{contry}} in the prompt of f is no parameter (did you mean country?): make it one",
        ),
        (
            "{{zzz}}",
            ["country"],
            r"is no parameter: make it one, also if `bind` is to fill it in. As text write \{{zzz}}.",
        ),
        ("{{zzz}}", [], "is no parameter"),
        ("{{a}}", ["a", "b", "c"], "The prompt of f: The template has no place for b, c; it has a."),
        ("{{a}}", ["a", "self"], "no place for self"),
        ("{{a}} {{b | upper}}", ["a", "b"], "The prompt of f: {{b | upper}} is no place"),
    ],
)
def test_what_does_not_belong_together(prompt: str, parameters: list[str], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_places("f", Template(prompt), parameters)
    assert told in caught.value.message
    assert caught.value.code == "INVALID_OPTIONS"


def test_signatures_of_prompts_that_are_no_functions() -> None:
    assert str(signature_of_places(("a", "b"), int)) == "(*, a, b) -> int"
    assert str(signature_of_places((), str)) == "() -> str"
    assert str(signature_of_places(("a", "class"), str)) == "(**values) -> str", "no Python parameter's name"


def test_what_a_transform_makes() -> None:
    def counted(text: str) -> int:
        raise AssertionError

    assert (made_by(counted), made_by(str)) == ("int", str)
    assert made_by(max) is made_by(lambda text: text) is inspect.Signature.empty
