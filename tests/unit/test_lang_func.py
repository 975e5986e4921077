from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
import pydoc
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

import pytest
from pydantic import BaseModel, ConfigDict

from unspool.errors import ConfigError, OutputValidationError
from unspool.functions import query_stream
from unspool.lang_func import LangFunc
from unspool.llms import FunctionModel
from unspool.messages import AssistantMessage, Image, Message, SystemMessage, Usage, UserMessage
from unspool.structured.events import GenerationComplete, ParsingFailed
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
        (lambda: capital.using(returns_message=True), "with_message"),
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
        assert Guide.river.render("Peru") == guide.river.render("Peru") == [UserMessage("The river of Peru?")]
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

        assert Holder().now.render() == [UserMessage("Now?")]

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


@LangFunc
async def where(country: str, unit: str = "people") -> City:
    """Where is {{country}}, in {{unit}}?"""
    raise AssertionError


def name_of(city: City) -> str:
    return city.name


async def looked_up(city: City) -> list[str]:
    raise AssertionError


class TestIntrospection:
    """What `help`, notebooks, editors and frameworks ask of a function (`functools.update_wrapper`)."""

    def test_it_looks_like_its_function(self) -> None:
        assert (where.__name__, where.__qualname__, where.__module__) == ("where", "where", __name__)
        assert where.__doc__ == inspect.getdoc(where) == "Where is {{country}}, in {{unit}}?"
        assert where.__wrapped__.__name__ == "where"  # type: ignore[attr-defined]
        assert str(inspect.signature(where)) == "(country: 'str', unit: 'str' = 'people') -> 'City'"
        assert get_type_hints(where) == {"country": str, "unit": str, "return": City}
        assert inspect.unwrap(where) is where.__wrapped__  # type: ignore[attr-defined]
        assert inspect.getsource(where).startswith("@LangFunc")
        assert repr(where) == "where(country, unit)"
        assert "LangFunc" in (LangFunc.__doc__ or "")

    def test_help(self) -> None:
        def plain(words: str) -> str:
            """Python 3.14 shows annotations that are text without quotes."""
            return words.replace("'str'", "str").replace("'City'", "City")

        words = pydoc.render_doc(where, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
        assert "async where(country: str, unit: str = 'people') -> City\n    Where is {{country}}" in plain(words)
        words = pydoc.render_doc(Guide, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
        assert "async capital(self, country: str, tone: str = 'plain') -> City" in plain(words)

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of asyncio's own, in Python 3.14
    def test_it_is_a_coroutine_function(self) -> None:
        for made in (where, where.using(temperature=0), where.bind(unit="x"), Guide("s").capital, LangFunc("{{a}}")):
            assert inspect.iscoroutinefunction(made)
            assert asyncio.iscoroutinefunction(made)
        assert inspect.iscoroutinefunction(functools.partial(where, "Peru"))
        assert not inspect.iscoroutinefunction(LangFunc)

    def test_others_made_of_it(self) -> None:
        assert str(inspect.signature(where.using(temperature=0))) == str(inspect.signature(where))
        assert str(inspect.signature(where.bind(country="Peru"))) == "(unit: 'str' = 'people') -> 'City'"
        assert str(inspect.signature(functools.partial(where, "Peru"))) == "(unit: 'str' = 'people') -> 'City'"
        assert str(inspect.signature(where)).startswith("(country")
        for made in (where.using(temperature=0), where.bind(country="Peru")):
            assert (made.__name__, made.__doc__) == (where.__name__, where.__doc__)

    def test_methods(self) -> None:
        assert str(inspect.signature(Guide.capital)) == "(self, country: 'str', tone: 'str' = 'plain') -> 'City'"
        method = Guide("short").capital
        assert str(inspect.signature(method)) == "(country: 'str', tone: 'str' = 'plain') -> 'City'"
        assert str(inspect.signature(method.bind(tone="odd"))) == "(country: 'str') -> 'City'"
        assert (method.__name__, method.__qualname__) == ("capital", "Guide.capital")
        assert repr(method) == "capital(tone, country)"
        assert str(inspect.signature(Guide.river)) == "(country: 'str') -> 'str'"
        assert str(inspect.signature(Guide.lake)) == "(country: 'str') -> 'str'"

    def test_of_a_text(self) -> None:
        ask = LangFunc("{{a}} {{b}}", City)
        assert str(inspect.signature(ask)).startswith("(*, a, b) -> ")
        assert inspect.signature(ask).return_annotation is City
        assert str(inspect.signature(ask.bind(a=1))).startswith("(*, b) -> ")
        assert (ask.__name__, ask.__doc__, repr(ask)) == ("LangFunc", "{{a}} {{b}}", "LangFunc(a, b)")
        assert "(*, a, b)" in pydoc.render_doc(ask)
        assert LangFunc(Template("{{a}}")).__doc__ is None
        assert list(inspect.signature(LangFunc("{{class}}")).parameters) == ["values"], "no Python parameter's name"

    def test_a_transform_gives_the_type(self) -> None:
        def unknown(city):  # type: ignore[no-untyped-def]
            raise AssertionError

        made = [where.using(transform=transform) for transform in (name_of, looked_up, unknown, max, str)]
        found = [inspect.signature(one).return_annotation for one in made]
        assert found == ["str", "list[str]", inspect.Signature.empty, inspect.Signature.empty, str]

    def test_the_class_names_every_option(self) -> None:
        for signature in (inspect.signature(LangFunc), inspect.signature(LangFunc.of), inspect.signature(where.using)):
            names = {"lm", "transform_input", "temperature", "protocol", "transform", "max_repairs", "default"}
            assert names <= set(signature.parameters)
            assert "options" not in signature.parameters

    def test_copies_are_itself_as_of_functions(self) -> None:
        assert copy.copy(where) is where
        assert copy.deepcopy({"a": where})["a"] is where

    def test_it_is_pickled_by_name_as_functions_are(self) -> None:
        where.__module__ = __name__  # pytest imports it by a name that pickle finds
        assert pickle.loads(pickle.dumps(where)) is where
        assert pickle.loads(pickle.dumps(Guide.capital)) is Guide.capital
        for made in (where.using(temperature=0), Guide("s").capital, LangFunc("{{a}}")):
            with pytest.raises(pickle.PicklingError, match="not the same object"):
                pickle.dumps(made)

    def test_a_function_that_was_wrapped_before(self) -> None:
        def noted(function: Any) -> Any:
            @functools.wraps(function)
            async def inner(*args: Any, **kwargs: Any) -> Any:
                raise AssertionError

            inner.mark = 1  # type: ignore[attr-defined]
            return inner

        ask: Any = LangFunc(noted(where.__wrapped__))  # type: ignore[attr-defined]
        assert list(inspect.signature(ask).parameters) == ["country", "unit"]
        assert ask.render("Peru")[0].text.startswith("Where is Peru")
        assert ask.mark == 1


class TestPlacesOfAFunction:
    def test_a_place_that_is_no_parameter(self) -> None:
        def typo(country: str) -> City:
            """{{contry}} {{country}}"""
            raise AssertionError

        with pytest.raises(ConfigError, match=r"\{\{contry\}\} in the prompt of typo.*did you mean country") as caught:
            LangFunc(typo)
        assert caught.value.code == "INVALID_OPTIONS"

        def later(country: str) -> City:
            """{{country}} {{zzz.a}}"""
            raise AssertionError

        with pytest.raises(ConfigError, match=r"\{\{zzz\}\}.*no parameter: make it one") as caught:
            LangFunc.of(lm=LIMA)(cast("Any", later))

    def test_what_looks_like_a_place(self) -> None:
        def loud(country: str) -> City:
            """{{country|upper}}"""
            raise AssertionError

        with pytest.raises(ConfigError, match=r"prompt of loud: \{\{country\|upper\}\} is no place"):
            LangFunc(loud)

    def test_what_is_to_be_text(self) -> None:
        def ask(country: str) -> City:
            r"""{{country}} \{{zzz}} {{1}} {"a": {{}}}"""
            raise AssertionError

        assert LangFunc(ask).render("Peru")[0].text == 'Peru {{zzz}} {{1}} {"a": {{}}}'

    def test_a_method_without_self(self) -> None:
        with pytest.raises(ConfigError, match=r"The instance would be country of Guide.river.*staticmethod"):

            class Guide:
                @LangFunc
                async def river(country: str) -> City:  # pyright: ignore
                    """{{country}}"""
                    raise AssertionError

    def test_a_function_as_the_value_of_a_field(self) -> None:
        in_miles = where.bind(unit="x")

        @dataclass
        class Settings:
            ask: Any = where
            half: Any = in_miles

        assert Settings().ask.render("Peru")[0].text == "Where is Peru, in people?"
        assert Settings().half.render("Peru")[0].text == "Where is Peru, in x?"

    def test_none_and_images(self) -> None:
        @LangFunc
        async def look(picture: Image | list[Any] | None = None, note: str | None = None) -> City:
            """Look {{picture}}. {{note}}"""
            raise AssertionError

        cat = Image("https://example.test/cat.png")
        assert look.render() == [UserMessage("Look . ")]
        assert look.render(cat, "Ok.") == [UserMessage(["Look ", cat, ". Ok."])]
        assert look.render([cat, "a cat"]) == [UserMessage(["Look ", cat, "a cat. "])]
        assert look.bind(picture=[cat]).render() == [UserMessage(["Look ", cat, ". "])]
        for given in ({"a": cat}, iter([cat]), b"GIF8"):
            with pytest.raises(ConfigError, match=r"\{\{picture\}\}"):
                look.render(cast("Any", given))

    def test_an_instance_that_holds_an_image(self) -> None:
        class Album(BaseModel):
            model_config = ConfigDict(arbitrary_types_allowed=True, ignored_types=(LangFunc,))
            picture: Image

            @LangFunc
            async def see(self) -> City:
                """{{self.picture}}"""
                raise AssertionError

            @LangFunc
            async def lose(self) -> City:
                """{{self}}"""
                raise AssertionError

        cat = Image("https://example.test/cat.png")
        assert Album(picture=cat).see.render() == [UserMessage([cat])]
        with pytest.raises(ConfigError, match=r"Album that holds a part of a message \(Image\)"):
            Album(picture=cat).lose.render()


class TestWrongUse:
    """It is told where it is made, not at the first call."""

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"lm": 5}, "lm must be a model"),
            ({"lm": StaticResponse}, "lm must be a model"),
            ({"transform_input": 5}, "transform_input must be a function"),
            ({"transform": 5}, "transform must be a function"),
            ({"temprature": 1}, "did you mean temperature"),
            ({"temperature": "hot"}, "temperature must be a number"),
            ({"protocol": "yaml"}, "protocol"),
            ({"check": True}, "check must be"),
            ({"max_chars": 0}, "max_chars must be"),
            ({"max_repairs": 9}, "max_repairs must be a whole number, from 0 to 8"),
            ({"max_repairs": "2"}, "max_repairs must be a whole number, from 0 to 8"),
            ({"max_repair": 2}, "did you mean max_repairs"),
            ({"returns_message": True}, "a LangFunc has with_message"),
        ],
        ids=str,
    )
    def test_options(self, options: Any, told: str) -> None:
        for make in (lambda: LangFunc("a", **options), lambda: LangFunc.of(**options), lambda: where.using(**options)):
            with pytest.raises(ConfigError, match=told) as caught:
                make()
            assert caught.value.code == "INVALID_OPTIONS"

    def test_of_without_a_call(self) -> None:
        for given in (_capital, where, "text"):
            with pytest.raises(ConfigError, match=r"Write @us.LangFunc or, with options, @us.LangFunc.of\(lm=…\)"):
                LangFunc.of(given)  # type: ignore[call-overload]

    def test_a_type_for_a_typed_function(self) -> None:
        with pytest.raises(ConfigError, match="says itself what it returns"):
            LangFunc(_capital, City)  # type: ignore[call-overload]

    async def test_what_transform_input_gives(self) -> None:
        for given in (None, 5, [], ["text"]):
            wrong: Any = functools.partial(lambda given, messages: given, given)
            ask: Any = where.using(lm=LIMA, transform_input=wrong)
            for make in (ask.render, ask.stream):
                with pytest.raises(ConfigError, match="transform_input of where must give messages"):
                    make("Peru")
            with pytest.raises(ConfigError, match="transform_input of where must give messages"):
                await ask("Peru")

    async def test_no_model_is_told_before_anything_is_looked_up(self) -> None:
        ask = where.using(transform_input=lambda messages: pytest.fail("looked up"))
        for call in (ask, ask.with_message, functools.partial(ask.samples, 1)):
            with pytest.raises(ConfigError, match="no model"):
                await call("Peru")


def answering(*answers: str) -> tuple[FunctionModel, list[list[Message]]]:
    """A model that gives one answer after another, each for ten tokens, and what it was asked."""
    left = list(answers)
    asked: list[list[Message]] = []

    def answer(request: Any) -> Any:
        asked.append(list(request.messages))
        usage = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
        return [{"choices": [{"delta": {"content": left.pop(0)}, "finish_reason": "stop"}], "usage": usage}]

    return FunctionModel(answer), asked


WRONG, WORSE, RIGHT = '{"name":1}', '{"name":2}', '{"name":"Lima"}'
UNKNOWN = City(name="?")


class TestAskingAgain:
    """F53, of functions: `max_repairs` and `default` are for calls that wait for one value."""

    async def test_a_call(self) -> None:
        lm, asked = answering(WRONG, WORSE, RIGHT)
        assert await where.using(lm=lm, max_repairs=2)("Peru") == City(name="Lima")
        assert [len(messages) for messages in asked] == [1, 3, 3]
        assert asked[1][1] == AssistantMessage(WRONG) and "name: " in asked[1][2].text
        assert asked[1][0].text.startswith("Where is Peru, in people?")

    async def test_the_message_has_the_usage_of_all(self) -> None:
        lm, _ = answering(WRONG, RIGHT)
        value, message = await where.using(lm=lm, max_repairs=1).with_message("Peru")
        assert (value, message.text, message.usage) == (City(name="Lima"), RIGHT, Usage(16, 4, 20))
        lm, _ = answering(WRONG, WORSE)
        value, message = await where.using(lm=lm, max_repairs=1, default=UNKNOWN).with_message("Peru")
        assert (value, message.text, message.usage) == (UNKNOWN, WORSE, Usage(16, 4, 20))

    async def test_it_is_bounded_and_keeps_every_attempt(self) -> None:
        lm, asked = answering(WRONG, WORSE, RIGHT)
        with pytest.raises(OutputValidationError) as caught:
            await where.using(lm=lm, max_repairs=1)("Peru")
        assert (caught.value.text, [error.text for error in caught.value.attempts]) == (WORSE, [WRONG])
        assert len(asked) == 2

    async def test_in_every_place_where_options_are_told(self) -> None:
        of_text = LangFunc("Where?", City, lm=answering(WRONG, RIGHT)[0], max_repairs=1)
        assert await of_text() == City(name="Lima")

        @LangFunc.of(lm=answering(WRONG, WORSE)[0], max_repairs=1, default=UNKNOWN)
        async def look(x: int) -> City:
            """Where is {{x}}?"""
            raise AssertionError

        assert await look(7) is UNKNOWN

        class Atlas:
            @LangFunc.of(default=None)
            async def find(self, x: int) -> City:
                """Where is {{x}}?"""
                raise AssertionError

        assert await Atlas().find.using(lm=answering(WRONG)[0])(7) is None, "None is a value like any other"

    async def test_what_is_not_named_stays(self) -> None:
        ask = where.using(max_repairs=1, default=UNKNOWN)
        assert await ask.using(lm=answering(WRONG, RIGHT)[0]).bind(unit="x")("Peru") == City(name="Lima")
        assert await ask.using(lm=answering(WRONG, RIGHT)[0], max_repairs=0)("Peru") is UNKNOWN
        with pytest.raises(OutputValidationError):
            await where.using(lm=answering(WRONG, RIGHT)[0])("Peru")

    async def test_a_transform_makes_an_answer_invalid(self) -> None:
        def short(city: City) -> str:
            if len(city.name) > 4:
                raise ValueError("too long")
            return city.name

        lm, asked = answering('{"name":"Arequipa"}', RIGHT)
        assert await where.using(lm=lm, transform=short, max_repairs=1, default="?")("Peru") == "Lima"
        assert "too long" in asked[1][2].text

    async def test_a_stream_and_samples_show_answers_as_they_came(self) -> None:
        lm, asked = answering(WRONG, WRONG, WORSE)
        ask = where.using(lm=lm, max_repairs=2, default=UNKNOWN)
        events = [event async for event in ask.stream("Peru")]
        assert isinstance(events[-1], ParsingFailed)
        found = await ask.samples(2, "Peru")
        assert [type(error) for error in found] == [OutputValidationError] * 2
        assert len(asked) == 3
        assert ask.render("Peru") == where.render("Peru")


class Waiting:
    """An awaitable that is neither coroutine nor future."""

    close = None

    def __await__(self) -> Generator[Any, None, list[Message]]:
        raise AssertionError


class TestWhatIsNotWaitedFor:
    """`stream` and `render` refuse an asynchronous transform_input, and leave nothing of it running."""

    async def _never(self, messages: list[Message]) -> list[Message]:
        await asyncio.Event().wait()
        raise AssertionError

    @pytest.mark.parametrize("way", ["render", "stream"])
    @pytest.mark.parametrize("kind", ["task", "future"])
    async def test_tasks_and_futures(self, kind: str, way: str) -> None:
        made: list[asyncio.Future[list[Message]]] = []

        def look_up(messages: list[Message]) -> Any:
            loop = asyncio.get_running_loop()
            made.append(loop.create_task(self._never(messages)) if kind == "task" else loop.create_future())
            return made[0]

        with pytest.raises(ConfigError, match="asynchronous") as caught:
            getattr(where.using(lm=LIMA, transform_input=look_up), way)("Peru")
        assert caught.value.code == "UNSUPPORTED"
        await asyncio.wait(made)
        assert made[0].cancelled()

    @pytest.mark.parametrize("way", ["render", "stream"])
    async def test_coroutines_and_other_awaitables(self, way: str) -> None:
        made: list[Any] = []

        def give(messages: list[Message]) -> Any:
            made.append(self._never(messages))
            return made[-1]

        with pytest.raises(ConfigError, match="asynchronous"):
            getattr(where.using(lm=LIMA, transform_input=give), way)("Peru")
        assert inspect.getcoroutinestate(made[0]) == "CORO_CLOSED"
        with pytest.raises(ConfigError, match="asynchronous"):
            getattr(where.using(lm=LIMA, transform_input=lambda messages: Waiting()), way)("Peru")


@LangFunc
async def compare(pics: list[Image] = [], notes: list[str | Image] = [], names: list[str] = []) -> str:  # noqa: B006
    """Compare: {{pics}}{{notes}}{{names}}"""
    raise NotImplementedError


def test_a_list_of_no_pictures_is_nothing() -> None:
    """What stands in its place is what would: no `[]`, which a list of texts does show."""
    assert [message.text for message in compare.render()] == ["Compare: []"]
    assert [message.text for message in compare.bind(pics=[]).render(names=["a"])] == ["Compare: ['a']"]
    picture = Image("https://example.org/cat.png")
    assert compare.render(pics=[picture])[0].images == (picture,)


def test_types_that_are_there_for_checkers_alone_change_nothing() -> None:
    @LangFunc
    async def look(pics: Lost = []) -> str:  # type: ignore[name-defined]  # noqa: F821, B006  # pyright: ignore
        """See {{pics}}"""
        raise NotImplementedError

    assert look.render()[0].text == "See []"
