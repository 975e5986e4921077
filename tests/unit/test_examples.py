"""Examples of a query (few-shot): turns before the question, each held to the type like an answer."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints
from tests.support import named

from unspool.errors import ConfigError, OutputValidationError
from unspool.examples import example_turns
from unspool.functions import query, query_stream
from unspool.lang_func import LangFunc
from unspool.messages import AssistantMessage, SystemMessage, ToolCall, ToolMessage, ToolResult, UserMessage
from unspool.schema import Schema, format_value
from unspool.templates import Template
from unspool.testing import StaticResponse
from unspool.whole_reply import parse


class Stop(BaseModel):
    place: str
    minutes: Annotated[int, Field(ge=0)]


class Trip(BaseModel):
    name: str
    stops: list[Stop] = []


LIMA = Trip(name="Lima", stops=[Stop(place="Port", minutes=5)])


def turns(examples: Any, T: Any = Trip, protocol: Any = "json", **limits: int) -> list[Any]:
    schema = None if T is str else Schema.of(T)
    return example_turns(examples, schema, protocol, None, **{"max_chars": 10_000, "max_depth": 8, **limits})


@pytest.mark.parametrize("protocol", ["json", "python", "native"])
def test_an_answer_is_written_in_the_protocol_and_reads_back(protocol: Any) -> None:
    question, answer = turns([("Where?", LIMA)], protocol=protocol)
    assert (question, answer.role) == (UserMessage("Where?"), "assistant")
    assert parse(answer.text, Trip, protocol) == LIMA


def test_a_question_is_any_prompt() -> None:
    found = turns([(Template("To {{x}}?", x="Peru"), LIMA), [[UserMessage("a"), AssistantMessage("b")], LIMA]])
    assert [message.text for message in found][:3:2] == ["To Peru?", "a"]
    assert len(found) == 5


@pytest.mark.parametrize("examples", ["ab", 5, [1], [("a",)], [("a", LIMA, 1)], {"a": LIMA}, None], ids=named)
def test_examples_are_pairs(examples: Any) -> None:
    with pytest.raises(ConfigError, match="must be pairs") as caught:
        query_stream("q", Trip, lm=StaticResponse("{}"), examples=examples)
    assert caught.value.code == "INVALID_OPTIONS"


BAD = Trip.model_construct(name="Lima", stops=[LIMA.stops[0], Stop.model_construct(place="Pier", minutes=-1)])


@pytest.mark.parametrize(
    ("T", "value", "told"),
    [
        (Trip, BAD, r"stops\[1\].minutes: Input should be greater than or equal to 0, got -1"),
        (Trip, {"name": 5}, "name: Input should be a valid string, got 5"),
        (Trip, Trip.model_construct(stops=[]), "name: "),
        (Trip, "Lima", "Trip"),
        (list[Trip], [LIMA, BAD], r"\[1\].stops\[1\].minutes"),
        (list[Trip], LIMA, "array|list"),
        (int | None, "5", "integer"),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": "x"}, "a: should be"),
        (Trip, Trip(name="\ud800"), "surrogate"),
        (Any, [[[[[[[[[1]]]]]]]]], "deep"),
        (Any, "a" * 20_000, "longer than 10000"),
        (Any, object(), "cannot be written"),
        (str, 5, "text, not int"),
    ],
    ids=named,
)
def test_what_is_no_value_is_refused_with_its_number_and_path(T: Any, value: Any, told: str) -> None:
    for protocol in (
        "json",
        "native",
        *(["python"] if not isinstance(T, dict) and not isinstance(value, dict) else []),
    ):
        good = "x" if T is str else None
        before = [] if good is None else [("good", good)]
        with pytest.raises(ConfigError, match=told) as caught:
            turns([*before, ("bad", value)], T, protocol)
        assert caught.value.code == "INVALID_OPTIONS"
        assert f"examples[{len(before)}]" in caught.value.message


def test_a_question_that_is_none_is_refused_with_its_number() -> None:
    for question, told in ((5, "prompt"), (Template("{{x}}"), "value for x"), ([], "prompt")):
        with pytest.raises(ConfigError, match=told) as caught:
            turns([("good", LIMA), (question, LIMA)])
        assert "examples[1]" in caught.value.message


def test_python_syntax_has_no_dict_for_a_class() -> None:
    with pytest.raises(ConfigError, match=r"examples\[0\]"):
        turns([("q", {"name": "Lima"})], Trip, "python")


def test_what_is_wrong_stands_in_the_cause() -> None:
    with pytest.raises(ConfigError) as caught:
        turns([("q", BAD)])
    cause = caught.value.__cause__
    assert isinstance(cause, OutputValidationError)
    assert [problem.path for problem in cause.problems] == [("stops", 1, "minutes")]


async def test_it_is_refused_before_anything_is_sent() -> None:
    lm = StaticResponse("{}")
    examples: Any = [("a", LIMA), ("b", {"name": "x", "stops": [{"place": "y"}]})]
    for make in (
        lambda: query_stream("q", Trip, lm=lm, examples=examples),
        lambda: LangFunc("q", Trip, lm=lm, examples=examples).stream(),
    ):
        with pytest.raises(ConfigError, match=r"examples\[1\].*stops\[0\].minutes"):
            make()
    with pytest.raises(ConfigError):
        await query("q", Trip, lm=lm, examples=examples)
    assert lm.requests == []


async def test_a_wrapped_answer_is_shown_wrapped() -> None:
    """The form that the provider holds the answer to is the one that the model must see."""
    lm = StaticResponse('{"value":[1]}')
    assert await query("q", list[int], lm=lm, protocol="native", examples=[("a", [2, 3])]) == [1]
    shown = [message.text for message in lm.requests[0].messages]
    assert [json.loads(shown[1])] == [{"value": [2, 3]}]


async def test_they_stand_before_the_question_and_what_belongs_to_it() -> None:
    lm = StaticResponse("1")
    call = AssistantMessage([ToolCall("c", "look", "{}")])
    talk = [SystemMessage("s"), UserMessage("old"), AssistantMessage("…"), UserMessage("q"), call]
    await query([*talk, ToolMessage(ToolResult("c", "42"))], int, lm=lm, examples=[("e", 7)])
    said = [message.role for message in lm.requests[0].messages]
    assert said == ["system", "user", "assistant", "user", "assistant", "user", "assistant", "tool", "user"]
    assert lm.requests[0].messages[3:5] == (UserMessage("e"), AssistantMessage("7"))
    assert lm.requests[0].messages[5].text == "q"


async def test_a_conversation_without_a_user() -> None:
    lm = StaticResponse("1")
    await query(SystemMessage("s"), int, lm=lm, examples=[("e", 7)])
    assert [message.text for message in lm.requests[0].messages][:3] == ["s", "e", "7"]
    assert lm.requests[0].messages[-1].role == "user"


def _cents(written: Any) -> int:
    return int(str(written).replace(",", "").removesuffix(" EUR")) * 100


class Price(BaseModel):
    amount: Annotated[int, BeforeValidator(_cents)]


class Bill(BaseModel):
    prices: list[Price]
    day: date | None = None


@pytest.mark.parametrize("protocol", ["json", "python", "native"])
@pytest.mark.parametrize(
    ("T", "value", "where"),
    [
        (Price, Price(amount="1"), "amount"),  # type: ignore[arg-type]
        (Bill, Bill(prices=[Price(amount="1")]), r"prices\[0\].amount"),  # type: ignore[arg-type]
        (list[Price], [Price(amount="1")], r"\[0\].amount"),  # type: ignore[arg-type]
        (dict[str, Price], {"a": Price(amount="1")}, "a.amount"),  # type: ignore[arg-type]
    ],
    ids=["root", "inside", "list", "dict"],
)
def test_a_value_that_would_be_read_back_as_another_is_refused(T: Any, value: Any, where: str, protocol: Any) -> None:
    """It would teach the model to write 100 for 1; `format_value` with a type refuses it in the same words."""
    with pytest.raises(ConfigError, match=rf"examples\[0\].*{where} cannot be written.*10000.*plain data") as caught:
        turns([("q", value)], T, protocol)
    assert caught.value.code == "INVALID_OPTIONS"
    with pytest.raises(ConfigError, match=rf"{where} cannot be written.*10000"):
        format_value(value, protocol, T=T)


@pytest.mark.parametrize(
    ("T", "value"),
    [
        (Price, {"amount": "1 EUR"}),
        (list[Price], [{"amount": "1 EUR"}, {"amount": 1}]),
        (Bill, {"prices": [{"amount": "2"}], "day": "2026-01-02"}),
        (dict[int, str], {"1": "a"}),
        (tuple[date, ...], ["2026-01-02"]),
        (set[int], [1, 2]),
        (Annotated[str, StringConstraints(strip_whitespace=True)], " a"),
    ],
    ids=["class", "list", "inside", "keys", "dates", "set", "text"],
)
def test_plain_data_is_the_reply_as_it_is(T: Any, value: Any) -> None:
    assert json.loads(turns([("q", value)], T)[1].text) == value
