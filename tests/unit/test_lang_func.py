from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from unspool.errors import ConfigError, OutputValidationError
from unspool.functions import query_stream
from unspool.lang_func import LangFunc
from unspool.messages import AssistantMessage, Image, Message, SystemMessage, UserMessage
from unspool.structured.events import GenerationComplete
from unspool.templates import Template
from unspool.testing import StaticResponse


class City(BaseModel):
    name: str


LIMA = StaticResponse('{"name":"Lima"}', chunk_chars=3)


async def _capital(country: str, style: str = "short") -> City:
    """
    What is the capital of {{country}}?
        Answer in a {{style}} way.
    """
    raise AssertionError("the body never runs")


capital: Any = LangFunc(_capital)


async def test_a_typed_function_is_a_prompt() -> None:
    assert capital.variables == ("country", "style")
    assert capital.render("Peru") == [UserMessage("What is the capital of Peru?\n    Answer in a short way.")]
    assert await capital.using(lm=LIMA)("Peru", style="long") == City(name="Lima")


async def test_the_model_sees_prompt_and_form() -> None:
    lm = StaticResponse('{"name":"Lima"}')
    await capital.using(lm=lm, system="Be brief.", temperature=0.5)("Peru")
    request = lm.requests[0]
    assert request.temperature == 0.5
    assert request.messages[0] == SystemMessage("Be brief.")
    assert request.messages[1].text.startswith("What is the capital of Peru?")
    assert '"name"' in request.messages[1].text


async def test_a_template_is_a_prompt() -> None:
    ask = LangFunc("Say {{what}}", lm=StaticResponse("hi"))
    assert await ask(what="hi") == "hi"
    assert (await ask.with_message(what="hi"))[1].text == "hi"
    assert await ask.bind(what="hi")() == "hi"
    look = LangFunc(Template("See {{picture}}", role="user"), City, lm=LIMA)
    picture = Image("https://example.test/a.png")
    assert look.render(picture=picture)[0].images == (picture,)


async def test_binding_and_using_leave_the_first_as_it_is() -> None:
    bound = capital.bind(style="odd").using(lm=LIMA)
    assert bound.variables == ("country",)
    assert bound.render("Peru")[0].text.endswith("odd way.")
    assert capital.variables == ("country", "style")
    with pytest.raises(ConfigError, match="using"):
        await capital("Peru")


async def test_stream_and_samples() -> None:
    ask = capital.using(lm=LIMA)
    events = [event async for event in ask.stream("Peru")]
    assert isinstance(events[-1], GenerationComplete)
    assert events[-1].result == City(name="Lima")
    assert await ask.samples(3, "Peru") == [City(name="Lima")] * 3
    found = await capital.using(lm=StaticResponse("nothing")).samples(2, "Peru")
    assert [type(error) for error in found] == [OutputValidationError] * 2, "errors stand in their place (P75)"


async def test_transforms() -> None:
    def shout(messages: list[Message]) -> list[Message]:
        return [*messages, UserMessage("NOW")]

    lm = StaticResponse('{"name":"Lima"}')
    ask: Any = LangFunc("Where?", City, lm=lm, transform_input=shout, transform=lambda city: city.name.upper())
    assert await ask() == "LIMA"
    assert lm.requests[0].messages[-1].text.startswith("NOW")
    events = [event async for event in ask.stream()]
    assert events[-1].result == "LIMA"

    def refuse(city: City) -> Any:
        raise ValueError("not far enough")

    with pytest.raises(OutputValidationError, match="not far enough") as caught:
        await ask.using(transform=refuse)()
    assert caught.value.partial_value == {"name": "Lima"}
    assert isinstance(caught.value.__cause__, ValueError)


async def test_decorator_with_options() -> None:
    @LangFunc.of(lm=LIMA, protocol="json")
    async def where(x: int) -> City:
        """Where is {{x}}?"""
        raise AssertionError

    assert await where(7) == City(name="Lima")
    assert repr(where) == "where(x)"


def _no_docstring(x: int) -> City:
    raise AssertionError


def _no_type(x: int):  # type: ignore[no-untyped-def]
    """{{x}}"""


def _stray(x: int, y: int) -> City:
    """{{x}}"""
    raise AssertionError


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: LangFunc(_no_docstring), "docstring"),
        (lambda: LangFunc(lm=LIMA), "LangFunc.of"),  # type: ignore[call-overload]
        (lambda: LangFunc(_no_type), "return type"),
        (lambda: LangFunc(_stray), "no place for y"),
        (lambda: capital.render(), "country"),
        (lambda: capital.render("a", other=1), "other"),
        (lambda: LangFunc("{{a}}").render(1), "by name"),
        (lambda: LangFunc("{{a}}").render(), "value for a"),
    ],
)
def test_faults_name_what_is_wrong(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


async def test_examples_are_turns_before_the_question() -> None:
    lm = StaticResponse('{"name":"Lima"}')
    stream = query_stream(
        "Peru?",
        City,
        lm=lm,
        system="S",
        examples=[("Chile?", City(name="Santiago")), (UserMessage("Cuba?"), City(name="Havana"))],
    )
    async with stream:
        await stream.read()
    said = [(message.role, message.text) for message in lm.requests[0].messages]
    assert said[:5] == [
        ("system", "S"),
        ("user", "Chile?"),
        ("assistant", '{"name":"Santiago"}'),
        ("user", "Cuba?"),
        ("assistant", '{"name":"Havana"}'),
    ]
    assert said[5][1].startswith("Peru?")
    assert lm.requests[0].messages[2] == AssistantMessage('{"name":"Santiago"}')


async def test_parameters_may_have_any_name() -> None:
    async def ask(self: str, text: str, role: str, count: int, /, lm: str, *, prompt: str, values: str) -> str:
        """{{self}} {{text}} {{role}} {{count}} {{lm}} {{prompt}} {{values}}"""
        raise AssertionError("the body never runs")

    asked = LangFunc(ask).using(lm=StaticResponse("yes"))
    assert asked.render("a", "b", "c", 1, "d", prompt="e", values="f") == [UserMessage("a b c 1 d e f")]
    assert await asked("a", "b", "c", 1, lm="d", prompt="e", values="f") == "yes"
    told: Any = LangFunc("{{self}} {{count}}", lm=StaticResponse("yes"))
    assert await told(self=1, count=2) == "yes"
    assert await told.samples(2, self=1, count=2) == ["yes", "yes"]
    assert told.bind(self=1).render(count=2) == [UserMessage("1 2")]
