from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from pydantic import BaseModel, ConfigDict

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
        (lambda: LangFunc("a", temprature=1), "temprature"),  # type: ignore[call-overload]
        (lambda: capital.using(max_repairs=1), "only query"),
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


class Guide:
    def __init__(self, style: str) -> None:
        self.style = style

    @LangFunc
    async def capital(self, country: str, tone: str = "plain") -> City:
        """In {{self.style}} style, {{tone}}: the capital of {{country}}?"""
        raise AssertionError("the body never runs")

    @LangFunc.of(lm=LIMA, protocol="json")
    async def largest(self, country: str) -> City:
        """The largest city of {{country}}?"""
        raise AssertionError

    @staticmethod
    @LangFunc
    async def river(country: str) -> str:
        """The river of {{country}}?"""
        raise AssertionError

    @classmethod
    @LangFunc.of(lm=StaticResponse("Titicaca"))
    async def lake(cls, country: str) -> str:
        """The lake of {{country}}?"""
        raise AssertionError

    ask = LangFunc("Say {{what}}", lm=StaticResponse("hi"))


class Proud(Guide):
    @LangFunc
    async def capital(self, country: str) -> City:  # type: ignore[override]
        """Proudly: {{country}}?"""
        raise AssertionError


class TestMethods:
    async def test_self_is_the_instance(self) -> None:
        guide, other = Guide("short"), Guide("long")
        assert guide.capital.render("Peru")[0].text == "In short style, plain: the capital of Peru?"
        assert other.capital.render("Peru", tone="odd")[0].text == "In long style, odd: the capital of Peru?"
        assert await guide.capital.using(lm=LIMA)(country="Peru") == City(name="Lima")
        assert await guide.largest("Peru") == City(name="Lima")
        events = [event async for event in guide.largest.stream("Peru")]
        assert isinstance(events[-1], GenerationComplete)
        assert guide.capital.variables == ("tone", "country")
        guide.style = "new"
        assert "new" in guide.capital.render("Peru")[0].text

    def test_of_the_class_it_is_a_function(self) -> None:
        assert Guide.capital.render(Guide("odd"), "Peru")[0].text.startswith("In odd style")
        assert Guide.largest.render(Guide("odd"), "Peru")[0].text == "The largest city of Peru?"
        with pytest.raises(ConfigError, match="country"):
            Guide.capital.render("Peru")  # type: ignore[call-arg, arg-type]  # pyright: ignore

    def test_filled_in_it_is_not_filled_in_again(self) -> None:
        class Holder:
            saved = Guide("first").capital
            made = saved.using(temperature=0.5)

        assert Holder().saved.render("Peru")[0].text.startswith("In first style")
        assert Holder().made.render("Peru")[0].text.startswith("In first style")

    async def test_other_kinds_of_methods(self) -> None:
        guide: Any = Guide("short")
        assert Guide.river.render("Peru") == guide.river.render("Peru") == [UserMessage("The river of Peru?")]  # type: ignore[attr-defined]
        assert await guide.lake("Peru") == "Titicaca"
        assert await cast("Any", Guide).lake(country="Peru") == "Titicaca"
        assert await guide.ask(what="hi") == "hi"
        assert guide.ask.render(what="x") == [UserMessage("Say x")]

    def test_subclasses(self) -> None:
        proud = Proud("short")
        assert proud.capital.render("Peru")[0].text == "Proudly: Peru?"
        assert super(Proud, proud).capital.render("Peru")[0].text.startswith("In short style")

    def test_bound_places_and_a_function_without_parameters(self) -> None:
        assert Guide("s").capital.bind(tone="odd").render("Peru")[0].text == "In s style, odd: the capital of Peru?"

        async def nothing() -> str:
            """Now?"""
            raise AssertionError

        class Holder:
            now = LangFunc(nothing)

        assert Holder().now.render() == [UserMessage("Now?")]  # type: ignore[misc]

    @pytest.mark.parametrize("kind", [staticmethod, classmethod])
    def test_the_wrong_order_is_told(self, kind: Any) -> None:
        with pytest.raises(ConfigError, match="stands above"):
            LangFunc(kind(_capital))


def test_types_of_parameters_are_not_read() -> None:
    """They may be there for type checkers alone."""

    async def look(page: NotImported) -> City:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore
        """{{page}}"""
        raise AssertionError

    assert LangFunc(look).render("x") == [UserMessage("x")]

    async def lost(page: str) -> NotImported:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore
        """{{page}}"""

    with pytest.raises(ConfigError, match=r"return type of lost.*NotImported"):
        LangFunc(lost)


class TestAsyncTransforms:
    """What is looked up for a prompt, or with a value, may have to be waited for."""

    async def _add(self, messages: list[Message]) -> list[Message]:
        await asyncio.sleep(0)
        return [*messages, UserMessage("found")]

    async def test_of_what_is_sent(self) -> None:
        lm = StaticResponse('{"name":"Lima"}')
        ask = LangFunc("Where?", City, lm=lm, transform_input=self._add)
        assert await ask() == City(name="Lima")
        assert (await ask.with_message())[0] == City(name="Lima")
        assert await ask.samples(1) == [City(name="Lima")]
        assert [request.messages[-1].text.startswith("found") for request in lm.requests] == [True] * 3

    async def test_a_stream_is_made_without_waiting(self) -> None:
        ask = LangFunc("Where?", City, lm=LIMA, transform_input=self._add)
        for make in (ask.stream, ask.render):
            with pytest.raises(ConfigError, match="asynchronous") as caught:
                make()
            assert caught.value.code == "UNSUPPORTED"

    async def test_of_decorated_functions(self) -> None:
        lm = StaticResponse('{"name":"Lima"}')

        async def name_of(city: City) -> str:
            return city.name

        @LangFunc.of(lm=lm, transform_input=self._add, transform=name_of)
        async def where(x: int) -> City:
            """Where is {{x}}?"""
            raise AssertionError

        found: Any = await where(7)
        assert found == "Lima"
        assert lm.requests[0].messages[-1].text.startswith("found")
        plain = where.using(transform_input=lambda messages: messages[:1])
        assert plain.render(7) == [UserMessage("Where is 7?")]


def test_a_method_of_a_pydantic_model() -> None:
    class Guide(BaseModel):
        model_config = ConfigDict(ignored_types=(LangFunc,))
        style: str

        @LangFunc
        async def capital(self, country: str) -> City:
            """{{self.style}}: {{country}}?"""
            raise AssertionError

    assert Guide(style="short").capital.render("Peru") == [UserMessage("short: Peru?")]
