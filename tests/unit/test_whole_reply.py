from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from unspool.answer import AnswerMachine
from unspool.errors import ConfigError, OutputValidationError
from unspool.functions import query, sample
from unspool.schema import Schema
from unspool.stream.chunks import Finish, TextDelta
from unspool.structured import _py_events, events
from unspool.structured.events import ParsingFailed
from unspool.testing import StaticResponse
from unspool.whole_reply import parse


class City(BaseModel):
    name: str


LIMA = City(name="Lima")


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        ("City(name='Lima')", "python"),
        ("Sure!\n```python\nCity('Lima')\n```\nDone.", "python"),
        ('{"name":"Lima"}', "json"),
        ('<think>hm</think>```json\n{"name":"Lima"}\n```', "json"),
        ('{"name":"Lima"}', "native"),
    ],
)
def test_a_reply_is_read(text: str, protocol: Any) -> None:
    assert parse(text, City, protocol) == LIMA


def test_python_is_the_default() -> None:
    assert parse("City(name='Lima')", City) == LIMA


def test_lenient() -> None:
    text = "{'name': 'Lima',}"
    assert parse(text, City, "json", lenient=True) == LIMA
    with pytest.raises(OutputValidationError):
        parse(text, City, "json")


def test_a_fault_keeps_what_was_read() -> None:
    with pytest.raises(OutputValidationError) as caught:
        parse('{"name":"Lima","x":', City, "json")
    assert caught.value.text == '{"name":"Lima","x":'
    assert caught.value.partial_value == {"name": "Lima"}


@pytest.mark.parametrize("limits", [{"max_chars": 4}, {"max_depth": 1}])
def test_limits(limits: Any) -> None:
    with pytest.raises(OutputValidationError, match="OUTPUT_TOO_LARGE"):
        parse('[["Lima"]]', list[list[str]], "json", **limits)


@pytest.mark.parametrize("wrong", [{"protocol": "yaml"}, {"max_chars": 0}, {"max_depth": 129}])
def test_wrong_options(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        parse("1", int, **wrong)


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_text_is_itself_as_in_a_query(protocol: Any) -> None:
    """P37."""
    assert parse('"Hi" all', str, protocol) == '"Hi" all'


@pytest.mark.parametrize("T", [Annotated[int, Field(le=3)], list[str], dict[str, int], set[str], float, Literal[1]])
def test_a_number_too_long_to_be_shown_is_refused(T: Any) -> None:
    """P47: CPython writes no integer of more than 4,300 digits, not even into the message of an error."""
    number = "0x" + "f" * 4_000
    for text in (number, f"[{number}]", f"{{{number}: 1}}", f"{{{number}}}"):
        with pytest.raises(OutputValidationError, match="out of the range"):
            parse(text, T)
    with pytest.raises(OutputValidationError):
        parse("0x" + "f" * 3_500, Annotated[int, Field(le=3)])


@pytest.mark.parametrize("protocol", ["python", "json"])
def test_the_exceptions_of_the_seed(protocol: Any) -> None:
    """P78 to P81: where langfun, the seed and the port were known to part."""
    true = "true" if protocol == "json" else "True"
    for T, text in (
        (int, true),
        (float, true),
        (dict[str, int], '{"a": 1, "a": 2}'),
        (list[Any], '[{"a": 1, "a": 2}]'),
    ):
        with pytest.raises(OutputValidationError, match="OUTPUT_INVALID"):
            parse(text, T, protocol)
    assert parse("9007199254740993", int, protocol) == 9007199254740993


MANGLED = [
    "true [1] false",
    '"a" [{"name":"Lima"}',
    "12 City(name='Li",
    "name='',\n City",
    "t='', [1",
    '{"name":"Li\\u00e9", "x": [1, 2',
    '```json\n[{"name": 1}]\n```\n```json\n{"name":"Lima"',
    "City('Lima', [1, (2,",
    "1, 2, City(",
]


@pytest.mark.parametrize("protocol", ["json", "python"])
@pytest.mark.parametrize("text", MANGLED)
def test_what_nobody_is_told_changes_nothing(text: str, protocol: Any) -> None:
    """The end is the same whether progress events are made or not, at every cut."""
    ends: set[tuple[Any, ...]] = set()
    for tells in (True, False):
        for size in (1, 5, len(text)):
            answer = AnswerMachine(Schema.of(City), protocol=protocol, max_chars=1000, max_depth=9)
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            chunks: list[Any] = [TextDelta(0, piece) for piece in pieces]
            told = [event for chunk in [*chunks, Finish("stop")] for event in answer.feed([chunk], tells=tells)]
            assert tells or {event.type for event in told[:-1]} <= {"textDelta"}
            end = told[-1]
            assert isinstance(end, ParsingFailed)
            ends.add((end.error.message, repr(end.error.partial_value)))
    assert len(ends) == 1


@pytest.mark.parametrize(("protocol", "item"), [("json", '{"name":"x"}'), ("python", "City('x')")])
async def test_hardly_an_event_is_made_that_nobody_reads(
    protocol: Any, item: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at the first of them tells whether there are any."""
    made: list[Any] = []
    for module in (events, _py_events):
        monkeypatch.setattr(module, "FieldEnd", lambda *parts: made.append(parts))
    text = f"[{', '.join([item] * 50)}]"
    cities = [City(name="x")] * 50
    assert parse(text, list[City], protocol) == cities
    lm = StaticResponse(text)
    assert await query("q", list[City], lm=lm, protocol=protocol) == cities
    assert await sample("q", list[City], lm=lm, count=1, protocol=protocol) == [cities]
    assert len(made) < 12
