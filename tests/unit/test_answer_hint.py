"""Hints: how an answer that could not be read could have been. Nothing of them is for the model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from tests.support import named

from unspool.answer_hint import hint, without_hint
from unspool.errors import OutputValidationError
from unspool.functions import query_stream
from unspool.schema import Schema
from unspool.structured.events import ParsingFailed
from unspool.testing import StaticResponse
from unspool.whole_reply import parse


class City(BaseModel):
    name: str


CONSTRUCTOR = 'City(name="Oslo")'
LENIENT, JSON, PYTHON = "lenient=True", 'protocol="json"', 'protocol="python"'


def fault_of(text: str, T: Any, **options: Any) -> OutputValidationError:
    with pytest.raises(OutputValidationError) as caught:
        parse(text, T, **options)
    assert caught.value.code == "OUTPUT_INVALID"
    assert str(caught.value).endswith(caught.value.message)
    return caught.value


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (CONSTRUCTOR, {"protocol": "json"}, PYTHON),
        (f"Sure:\n```python\n{CONSTRUCTOR}\n```", {"protocol": "json"}, PYTHON),
        (f"[{CONSTRUCTOR}]", {"protocol": "json"}, PYTHON),
        (CONSTRUCTOR, {"protocol": "json", "lenient": True}, PYTHON),
        ("{'name': 'Oslo'}", {"protocol": "json"}, LENIENT),
        ("Sure: {'name': 'Oslo'}", {"protocol": "json"}, LENIENT),
        ('Sure: {"name": "Oslo",}', {"protocol": "json"}, LENIENT),
        ('{"name": "Os', {"protocol": "json"}, LENIENT),
        ('{"name": "Oslo"}', {}, JSON),
        ('It is: {"name": "Oslo"}', {}, JSON),
        ('[{"name": "Oslo", "big": null}]', {}, JSON),
        ('{"name": "Oslo", "big": true}', {}, JSON),
        ("It is Oslo.", {"protocol": "json"}, ""),
        ("It's Oslo.", {}, ""),
        ("It's Oslo.", {"protocol": "json", "lenient": True}, ""),
        ("[1, x]", {"protocol": "json"}, ""),
        ("Town(name=1)", {"protocol": "json"}, ""),
        ('{"name": 1}', {"protocol": "json"}, ""),
        ("City(name=1)", {}, ""),
        ('City(name={"a": 1 + 1})', {}, ""),
        ('It is City(name={"a": 1})', {}, ""),
        ("'Oslo", {"protocol": "json"}, ""),
    ],
)
def test_what_is_told(text: str, options: dict[str, Any], told: str) -> None:
    message = fault_of(text, City, **options).message
    assert [words for words in (LENIENT, JSON, PYTHON) if words in message] == ([told] if told else [])
    assert not any(words in without_hint(message) for words in (LENIENT, JSON, PYTHON))


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("Sure: it is so.", {"protocol": "json"}, "No JSON was found in the answer. It begins: 'Sure: it is so.'."),
        ("Sure: it is so.", {"protocol": "json", "lenient": True}, "No JSON was found in the answer."),
        ("Sure: it is so.", {}, "No value in Python syntax stands alone or in a fence in the answer."),
        (f"Sure: {CONSTRUCTOR}", {}, "No value in Python syntax stands alone or in a fence in the answer."),
        ('Sure: {"name": "Oslo" "x"}', {"protocol": "json"}, "The answer is not JSON: Unexpected '\"' at byte 22."),
        ("Sure: {'name': Oslo}", {"protocol": "json", "lenient": True}, "'Oslo' is not a name that may be used"),
        ("Town(name=1)", {}, "'Town' is not a class that may be used"),
        ("City(name='Oslo') it is", {}, "There is more text after the value at byte 18."),
        (" ", {"protocol": "json"}, "The answer is empty."),
        ("```json\n```", {"protocol": "json"}, "The answer holds no value."),
    ],
)
def test_what_is_wrong(text: str, options: dict[str, Any], words: str) -> None:
    assert words in fault_of(text, City, **options).message


def test_a_dict_that_may_be_one_is_no_json() -> None:
    assert JSON not in fault_of('{"a": "x"}', dict[str, int]).message
    assert JSON not in fault_of("City(name={'a': 1})", City).message


def test_types_that_cannot_be_asked_for_in_python() -> None:
    class Other(BaseModel):
        at: int

    Other.__name__ = "City"
    for T in ({"type": "object", "properties": {"name": {"type": "string"}}}, City | Other):
        assert PYTHON not in fault_of(CONSTRUCTOR, T, protocol="json").message


@pytest.mark.parametrize(
    ("over", "text", "is_told"), [(False, "[1, x", False), (True, "[1, x", True), (False, "[1,]", True)], ids=named
)
def test_a_text_that_goes_on(over: bool, text: str, is_told: bool) -> None:
    found = hint(text, Schema.of(list[int]), python=False, lenient=False, over=over, max_depth=9)
    assert (LENIENT in found) is is_told


async def test_streams_tell_as_well() -> None:
    lm = StaticResponse(CONSTRUCTOR)
    events = [event async for event in query_stream("?", City, lm=lm, protocol="json")]
    last = events[-1]
    assert isinstance(last, ParsingFailed)
    assert PYTHON in last.error.message
