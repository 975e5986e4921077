"""Asking again: F53 (bounded, attempts attached), what all attempts cost, and how a model is shown its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from unspool.completion import complete
from unspool.errors import OutputValidationError
from unspool.functions import query
from unspool.lang_func import LangFunc
from unspool.llms import FunctionModel, OpenAIChat
from unspool.messages import Usage
from unspool.repair import repair_turn
from unspool.testing import ScriptedTransport


class Check(BaseModel):
    passed: bool


WRONG, WORSE, RIGHT = '{"passed":"tru"}', '{"passed":1}', '{"passed":true}'


def model(*replies: tuple[str, Mapping[str, Any] | None]) -> FunctionModel:
    """A model that gives one reply after another, each with its usage."""
    left = list(replies)

    def answer(_request: object) -> Any:
        text, usage = left.pop(0)
        chunk: dict[str, Any] = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
        return [chunk if usage is None else {**chunk, "usage": usage}]

    return FunctionModel(answer)


def used(sent: int, got: int, cached: int | None = None) -> dict[str, Any]:
    usage: dict[str, Any] = {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
    return usage if cached is None else {**usage, "prompt_tokens_details": {"cached_tokens": cached}}


async def test_the_message_says_what_all_attempts_cost() -> None:
    lm = model((WRONG, used(10, 5)), (WORSE, used(20, 6, cached=8)), (RIGHT, used(30, 7, cached=16)))
    value, message = await query("ok?", Check, lm=lm, max_repairs=2, returns_message=True)
    assert value == Check(passed=True)
    assert message.usage == Usage(60, 18, 78, cached_input_tokens=24)
    assert (message.text, message.finish_reason) == (RIGHT, "stop")


async def test_one_attempt_keeps_the_usage_as_it_was() -> None:
    _, message = await query("ok?", Check, lm=model((RIGHT, used(1, 2))), max_repairs=2, returns_message=True)
    assert message.usage is not None and message.usage.raw == used(1, 2)


@pytest.mark.parametrize(
    ("replies", "usage"),
    [
        ([(WRONG, None), (RIGHT, used(3, 4))], Usage(3, 4, 7)),
        ([(WRONG, used(3, 4)), (RIGHT, None)], Usage(3, 4, 7)),
        ([(WRONG, None), (RIGHT, None)], None),
    ],
)
async def test_what_was_not_reported_counts_for_nothing(replies: Any, usage: Usage | None) -> None:
    _, message = await query("ok?", Check, lm=model(*replies), max_repairs=1, returns_message=True)
    assert message.usage == usage


async def test_each_failed_attempt_has_its_own_usage() -> None:
    lm = model((WRONG, used(10, 5)), (WORSE, used(20, 6)))
    with pytest.raises(OutputValidationError) as caught:
        await query("ok?", Check, lm=lm, max_repairs=1)
    [first] = caught.value.attempts
    costs = [
        error.partial.usage.total_tokens for error in (first, caught.value) if error.partial and error.partial.usage
    ]
    assert costs == [15, 26]


async def test_a_default_comes_with_the_usage_of_all() -> None:
    lm = model((WRONG, used(10, 5)), (WORSE, used(20, 6)))
    value, message = await query("ok?", Check, lm=lm, max_repairs=1, default=None, returns_message=True)
    assert value is None and message.usage == Usage(30, 11, 41)


async def test_complete_counts_all_attempts() -> None:
    lm = model(("Check(passed=1)", used(10, 5)), ("Check(passed=True)", used(20, 6)))
    _, message = await complete(Check.model_construct(), lm=lm, max_repairs=1, returns_message=True)
    assert message is not None and message.usage == Usage(30, 11, 41)


async def test_a_function_gives_the_message_with_its_usage() -> None:
    function = LangFunc("ok?", Check, lm=model((RIGHT, used(10, 5))))
    value, message = await function.with_message()
    assert value == Check(passed=True) and message.usage is not None and message.usage.total_tokens == 15


@pytest.mark.parametrize("answer", [None, "", " \n\t", "\u3000"])
def test_a_blank_answer_has_a_stand_in(answer: str | None) -> None:
    """Providers refuse an empty message of the assistant."""
    shown, asked = repair_turn(answer, "The answer is empty.")
    assert (shown.role, shown.text) == ("assistant", "…")
    assert asked.role == "user" and "The answer is empty." in asked.text


def test_an_answer_is_shown_as_it_was() -> None:
    shown, _ = repair_turn(" 1 ", "?")
    assert shown.text == " 1 "


async def test_a_model_is_not_told_what_it_cannot_choose() -> None:
    sent: list[str] = []
    left = ['{"passed": true}', "Check(passed=True)"]

    def answer(request: Any) -> Any:
        sent.append(request.messages[-1].text)
        return left.pop(0)

    assert await query("ok?", Check, lm=FunctionModel(answer), protocol="python", max_repairs=1) == Check(passed=True)
    assert "That answer cannot be used." in sent[1]
    assert "protocol=" not in sent[1]


async def test_a_blank_answer_can_be_repaired() -> None:
    lm = model((" \n", None), (RIGHT, None))
    assert await query("ok?", Check, lm=lm, max_repairs=1) == Check(passed=True)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (RIGHT, True),
        (f"```json\n{RIGHT}\n```", True),
        ('{"passed": true}', True),
        ("Check(passed=1)", False),
        ("Check(passed={'a': 1})", False),
        ('Check(passed={"a": 1 + 1})', False),
        ("[1]", False),
        ("", False),
    ],
)
async def test_json_in_place_of_python_says_how_to_ask(text: str, is_told: bool) -> None:
    with pytest.raises(OutputValidationError) as caught:
        await query("ok?", Check, lm=model((text, None)), protocol="python")
    assert ('protocol="json"' in caught.value.message) is is_told
    assert str(caught.value).endswith(caught.value.message)


async def test_the_model_is_told_in_the_words_of_the_type() -> None:
    """Words of the application and of the model's own answer are no credentials; the key of the call is one."""
    key = "PlainMarker_0123456789"
    reply = json.dumps(f"sess-0123456789abcdef {key}")
    body: Any = [{"choices": [{"index": 0, "delta": {"content": reply}, "finish_reason": "stop"}]}]
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in body) + "data: [DONE]\n\n"
    transport = ScriptedTransport([events.encode()] * 2)
    lm = OpenAIChat("m", base_url="https://api.test/v1", api_key=key, transport=transport)
    with pytest.raises(OutputValidationError) as caught:
        await query("Which?", Literal["basic dXNlcabcdef0123456789==", "key-0123456789abcdef"], lm=lm, max_repairs=1)
    told = caught.value.message
    turn = json.loads(transport.requests[1].body)["messages"][-1]["content"]
    for words in (told, turn):
        for word in ("basic dXNlcabcdef0123456789==", "key-0123456789abcdef", "sess-0123456789abcdef"):
            assert word in words
        assert (key in words, "[redacted]" in words) == (False, True)
