"""Which parts became text, whatever held them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from tests.message_values import FLAT_PARTS

from unspool.messages import Image, Part, UserMessage
from unspool.messages.written_parts import noted, written_parts
from unspool.templates import Template

CAT = Image("https://example.test/cat.png")


@dataclass
class Holder:
    inner: Any


@pytest.mark.parametrize("write", [str, repr, format, ascii, lambda value: f"{value}"])
@pytest.mark.parametrize("part", [CAT, UserMessage("x"), Template("x")], ids=lambda part: type(part).__name__)
def test_wherever_it_stands(part: Any, write: Callable[[Any], str]) -> None:
    for holder in (part, [part], {"a": part}, Holder(part), [{"a": Holder((part,))}]):
        text, found = written_parts(lambda holder=holder: write(holder))  # type: ignore[misc]
        assert text == write(holder)
        assert found[-1] == part


@given(FLAT_PARTS)
def test_every_kind_of_part(part: Part) -> None:
    text, found = written_parts(lambda: repr([part]))
    assert text == f"[{part!r}]"
    assert found[-1] is part


def test_what_stands_inside_comes_first() -> None:
    message = UserMessage([CAT])
    assert written_parts(lambda: repr(message))[1] == [CAT, message]


def test_nothing_is_noted_of_anything_else() -> None:
    assert written_parts(lambda: str([1, "Image()", None])) == ("[1, 'Image()', None]", [])
    assert noted(CAT, "text") == "text"


def test_it_ends_with_the_writing() -> None:
    def fails() -> str:
        raise ValueError(repr(CAT))

    with pytest.raises(ValueError, match="Image"):
        written_parts(fails)

    def outer() -> str:
        inner = written_parts(lambda: repr(CAT))
        assert inner[1] == [CAT]
        return inner[0]

    assert written_parts(outer)[1] == [], "the inner writing kept its own"
    assert repr(CAT).startswith("Image(")
