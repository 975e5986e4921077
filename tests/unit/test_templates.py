from __future__ import annotations

import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from tests.support import named

from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    MessagePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from unspool.templates import Template, messages_from

CAT = Image("https://example.test/cat.png")
DOG = Image("https://example.test/dog.png")
NOTES = File("notes.txt")


@dataclass
class User:
    name: str


@pytest.mark.parametrize(
    ("text", "values", "rendered"),
    [
        ("Hello {{name}}!", {"name": "Ana"}, "Hello Ana!"),
        ("{{ a }}{{b}}{{a}}", {"a": 1, "b": None}, "11"),
        ("{{user.name}} {{rows[1].name}} {{table.key}}", None, "Ana Bo 5"),
        (
            '{"a": 1} {{1}} {{a b}} {{}} {name} {{"a": {"b": 1}}}',
            {},
            '{"a": 1} {{1}} {{a b}} {{}} {name} {{"a": {"b": 1}}}',
        ),
        (r"\{{name}} is {{name}}", {"name": "x"}, "{{name}} is x"),
        ("", {}, ""),
        ("{{größe}}", {"größe": "ß"}, "ß"),
    ],
)
def test_text(text: str, values: dict[str, Any] | None, rendered: str) -> None:
    if values is None:
        values = {"user": User("Ana"), "rows": [User("-"), User("Bo")], "table": {"key": 5}}
    assert Template(text).render(**values).text == rendered


@given(st.text(), st.text())
def test_what_is_filled_in_is_never_read_as_a_template(before: str, value: str) -> None:
    """Literal braces survive, whoever wrote them."""
    before = before.replace("{{", "{")
    assert Template(before + " {{v}}", v=value).render().text == f"{before} {value}"
    assert Template("{{v}}", v="{{other}} {{v}}").render().text == "{{other}} {{v}}"


def test_images_and_messages_keep_their_place() -> None:
    message = Template("See {{picture}} and {{notes}}.", picture=CAT, notes=UserMessage(["this ", CAT])).render()
    assert message == UserMessage(["See ", CAT, " and this ", CAT, "."])
    assert Template("{{pictures}}", pictures=[CAT, CAT]).render().parts == (CAT, CAT)


def test_other_roles_stay_messages_of_their_own() -> None:
    """`test_querying`: system sections are told apart, wherever they stand."""
    rules = SystemMessage("Be kind {{always}}.")
    message = Template("{{rules}}Question", rules=rules).render()
    assert message.parts == (MessagePart(rules), TextPart("Question"))
    assert messages_from(Template("Q {{shot}} go on", shot=AssistantMessage("A"))) == [
        UserMessage("Q "),
        AssistantMessage("A"),
        UserMessage(" go on"),
    ]


def test_composition_and_partial_binding() -> None:
    inner = Template("{{greeting}}, {{name}}")
    outer = Template("<{{inner}}>", inner=inner)
    assert outer.variables == ("inner", "greeting", "name")[1:]
    half = outer.bind(greeting="Hi")
    assert half.variables == ("name",)
    assert half.render(name="Bo").text == "<Hi, Bo>"
    assert outer.variables == ("greeting", "name"), "binding gives a new template"
    assert Template("{{t}}!").render(t=Template("{{x}}"), x=1).text == "1!"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Template("{{a}} {{b}}").render(a=1), "b"),
        (lambda: Template("{{a}}").render(a=1, c=2), "c"),
        (lambda: Template("{{a}}", c=2), "c"),
        (lambda: Template("{{a.b}}").render(a=User("x")), "'b'"),
        (lambda: Template("{{a.__class__}}").render(a=1), "__class__"),
        (lambda: Template("{{a[3]}}").render(a=[]), "3"),
        (lambda: Template(7), "t-string"),
        (lambda: Template("x", role="boss"), "boss|role"),  # type: ignore[arg-type]
    ],
)
def test_faults_name_what_is_wrong(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        make()
    assert caught.value.code == "INVALID_OPTIONS"


def test_prompts_without_templates_pass_unchanged() -> None:
    for prompt in ("{{a}}", UserMessage("x"), [UserMessage("x")]):
        assert messages_from(prompt) is prompt
    assert messages_from([Template("{{a}}"), UserMessage("x")], a=1) == [UserMessage("1"), UserMessage("x")]


def test_repr_shows_the_text() -> None:
    assert repr(Template("a {{b.c[0]}}")) == "Template('a {{b.c[0]}}')"


@pytest.mark.skipif(sys.version_info < (3, 14), reason="t-strings are part of Python 3.14")
def test_t_strings() -> None:
    scope: dict[str, Any] = {"name": "Ana", "n": 3.14159, "cat": CAT, "Template": Template}
    made = eval("Template(t\"Hi {name!r}, {n:.2f} {cat} {{x}} {Template('{{later}}')}\")", scope)
    assert isinstance(made, Template)
    assert made.variables == ("later",)
    message: Message = made.render(later="{y}")
    assert message.parts == (TextPart("Hi 'Ana', 3.14 "), CAT, TextPart(" {x} {y}"))
    assert messages_from(eval('t"{cat}"', scope)) == [UserMessage([CAT])]


@pytest.mark.parametrize("name", ["self", "text", "role", "values", "prompt", "cls", "class", "format_spec"])
def test_a_place_may_have_any_name(name: str) -> None:
    template = Template(f"<{{{{{name}}}}}>")
    assert template.variables == (name,)
    assert template.render(**{name: 1}).text == "<1>"
    assert template.bind(**{name: 2}).render().text == "<2>"
    [message] = messages_from(template, **{name: 3})
    assert message.text == "<3>"


def test_templates_inside_each_other() -> None:
    """A place may be filled in with a template that has the same place; Pyodide would end for good."""
    endless = Template("again {{a}}")
    for template in (Template("{{a}}", a=endless), Template("{{b}}{{a}}", a=endless, b=Template("{{a}}"))):
        with pytest.raises(ConfigError, match="More than 32") as caught:
            template.render()
        assert caught.value.code == "INVALID_OPTIONS"
    nested = Template("{{x}}")
    for _ in range(32):
        nested = Template("{{a}}", a=nested)
    assert nested.variables == ("x",)
    assert nested.render(x=1).text == "1"
    with pytest.raises(ConfigError, match="More than 32"):
        Template("{{a}}", a=nested)


def test_a_template_that_stands_in_many_places() -> None:
    """2 ** 30 places, and one variable."""
    shared = Template("{{x}}")
    for _ in range(30):
        shared = Template("{{a}}{{b}}", a=shared, b=shared)
    assert shared.variables == ("x",)


def t_string(*pieces: str | tuple[Any, ...]) -> Any:
    """What Python 3.14 makes of a t-string: (value, conversion, format)."""
    strings, holes = [""], []
    for piece in pieces:
        if isinstance(piece, str):
            strings[-1] += piece
        else:
            value, conversion, spec = (*piece, None, "")[:3] if len(piece) == 1 else piece
            holes.append(SimpleNamespace(value=value, expression="x", conversion=conversion, format_spec=spec))
            strings.append("")
    return SimpleNamespace(strings=tuple(strings), interpolations=tuple(holes))


def shown(value: Any, text: str = "<{{x}}>") -> list[Any]:
    """The parts of a rendered template, texts as they are."""
    parts = Template(text, x=value).render().parts
    return [part.text if isinstance(part, TextPart) else part for part in parts]


class Pair(NamedTuple):
    picture: Image
    words: str


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ([CAT, "a cat"], ["<", CAT, "a cat>"]),
        (["a cat: ", CAT, NOTES, " and ", DOG], ["<a cat: ", CAT, NOTES, " and ", DOG, ">"]),
        ((CAT, "a cat"), ["<", CAT, "a cat>"]),
        ([[CAT]], ["<", CAT, ">"]),
        ([["one: ", CAT], ("two: ", [DOG])], ["<one: ", CAT, "two: ", DOG, ">"]),
        ([CAT, ["a", "b"]], ["<", CAT, "ab>"]),
        ([CAT, 1, None, {"a": 1}], ["<", CAT, "1{'a': 1}>"]),
        (Pair(CAT, "a cat"), ["<", CAT, "a cat>"]),
        ([UserMessage(["this ", CAT]), "!"], ["<this ", CAT, "!>"]),
        ([CAT, Template("of {{who}}", who="Ana")], ["<", CAT, "of Ana>"]),
        ([CAT, t_string("of ", (DOG,))], ["<", CAT, "of ", DOG, ">"]),
        ([ReasoningPart("hm"), ToolResult("1", CAT)], ["<", ReasoningPart("hm"), ToolResult("1", CAT), ">"]),
        ([], ["<[]>"]),
        (["a", "b"], ["<['a', 'b']>"]),
        ([["a"], 1], ["<[['a'], 1]>"]),
    ],
    ids=named,
)
def test_a_list_that_holds_parts_stands_in_its_place(value: Any, parts: list[Any]) -> None:
    """Lists of other things are text, as Python writes them."""
    assert shown(value) == parts


def test_messages_of_other_roles_in_a_list() -> None:
    rules = SystemMessage("Be kind.")
    message = Template("{{x}}", x=["a", rules, [AssistantMessage("b")]]).render()
    assert message.parts == (TextPart("a"), MessagePart(rules), MessagePart(AssistantMessage("b")))


@dataclass
class Card:
    picture: Any


class Model(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    picture: Any


class Silent(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    picture: Any = Field(repr=False)
    name: str = "Ana"


class Named:
    """Its words are its own: nothing is lost that was to be shown."""

    def __init__(self) -> None:
        self.picture = CAT

    def __str__(self) -> str:
        return "a card"


class Plain:
    picture = CAT

    def method(self) -> str:
        raise AssertionError


@pytest.mark.parametrize("part", [CAT, NOTES, UserMessage("x"), TextPart("x"), ToolCall("1", "f", "{}"), Template("x")])
@pytest.mark.parametrize(
    "put",
    [
        lambda part: {"a": part},
        lambda part: {"a": [{"b": (part,)}]},
        lambda part: {"a": part}.values(),
        lambda part: deque([part]),
        lambda part: Card(part),
        lambda part: [Card(part)],
        lambda part: [CAT, Card([part])],
        lambda part: Model(picture=part),
        lambda part: Model(picture=[Card({"a": part})]),
        lambda part: SimpleNamespace(picture=part),
        lambda part: ValueError(part),
    ],
    ids=["dict", "deep", "view", "deque", "dataclass", "list", "mixed", "model", "model-deep", "namespace", "error"],
)
def test_no_part_is_sent_as_its_repr(put: Callable[[Any], Any], part: Any) -> None:
    value = put(part)
    with pytest.raises(ConfigError, match=r"\{\{x\}\}.*holds a part of a message.*lost") as caught:
        Template("<{{x}}>").render(x=value)
    assert caught.value.code == "INVALID_OPTIONS"
    assert type(part).__name__ in caught.value.message
    assert "{{x.picture}}" in caught.value.message


def test_what_is_not_shown_is_not_missed() -> None:
    assert shown(Silent(picture=CAT)) == ["<name='Ana'>"]
    assert shown(Named()) == ["<a card>"]
    assert shown([Named(), CAT]) == ["<a card", CAT, ">"]
    assert shown(Usage(1, 2, 3))[0].startswith("<Usage(input_tokens=1")
    assert repr(CAT) == "Image('https://example.test/cat.png', media_type=None)"


async def _given() -> str:
    raise AssertionError


async def _each() -> AsyncIterator[Image]:
    yield CAT


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"\x89PNG", "is bytes: give us.Image"),
        (bytearray(b"x"), "is bytes"),
        (memoryview(b"x"), "is bytes"),
        ((image for image in [CAT]), "is a generator, which can be read only once: give a list"),
        (iter([CAT, "a"]), "is a list_iterator, which"),
        (map(str, [1]), "is a map, which"),
        (_each(), "is a async_generator, which"),
        (Plain(), "is a Plain, which has no text"),
        (Plain().method, "is a function: give what it returns"),
        (len, "is a function"),
        (Plain, "is a class: give an instance"),
        (int, "is a class"),
        ([CAT, b"x"], "is bytes"),
        ([CAT, iter([DOG])], "is a list_iterator"),
    ],
    ids=named,
)
def test_what_has_no_text_is_refused(value: Any, told: str) -> None:
    """Python would write an address in memory, or bytes as a program spells them."""
    with pytest.raises(ConfigError, match=told) as caught:
        Template("{{x}}").render(x=value)
    assert caught.value.code == "INVALID_OPTIONS"


def test_a_coroutine_is_closed() -> None:
    """Python warns of one that is never awaited, and warnings are errors here."""
    with pytest.raises(ConfigError, match="await it first"):
        Template("{{x}}").render(x=_given())


class Tone(StrEnum):
    DRY = "dry"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (False, "False"),
        (1.5, "1.5"),
        (Decimal("1.50"), "1.50"),
        (PurePosixPath("a/b"), "a/b"),
        (Tone.DRY, "dry"),
        ({1}, "{1}"),
        (range(3), "range(0, 3)"),
        (None, ""),
        ("", ""),
        ([None], "[None]"),
        (User("Ana"), "User(name='Ana')"),
        (Model(picture=1), "picture=1"),
        (ValueError("x"), "x"),
    ],
    ids=named,
)
def test_other_values_are_written_as_str_writes_them(value: Any, text: str) -> None:
    """`None` is nothing: a place that is not filled does not say so to a model."""
    assert "".join(shown(value)) == f"<{text}>"


def test_none_inside_a_value() -> None:
    assert Template("<{{x.name}}{{y[0]}}>", x=User(None), y=[None]).render().text == "<>"  # type: ignore[arg-type]


class TestTStrings:
    """They come with Python 3.14; what is read of them is what PEP 750 says."""

    def test_formats(self) -> None:
        given = t_string("<", (3.14159, None, ".2f"), (None,), ("a", "r", ""), (None, "s", ""), ([1], "r", ""), ">")
        assert Template(given).render().text == "<3.14'a'None[1]>"

    @pytest.mark.parametrize("value", [CAT, UserMessage("a"), Template("a"), [CAT, "a"]], ids=named)
    @pytest.mark.parametrize("how", [("r", ""), ("s", ""), ("a", "")])
    def test_parts_have_no_format(self, value: Any, how: tuple[Any, str]) -> None:
        with pytest.raises(ConfigError, match=r"\{x\}.*leave conversion and format out"):
            Template(t_string((value, *how))).render()

    @pytest.mark.parametrize("value", [CAT, [CAT], "a", 1, {"a": CAT}], ids=named)
    def test_a_format_that_does_not_fit(self, value: Any) -> None:
        with pytest.raises(ConfigError, match=r"for \{x\} in the template") as caught:
            messages_from(t_string((value, None, "!!")))
        assert caught.value.code == "INVALID_OPTIONS"

    def test_one_inside_another(self) -> None:
        inner = t_string("see ", (CAT,))
        assert Template(t_string("<", (inner,), ">")).render() == UserMessage(["<see ", CAT, ">"])
        assert Template("<{{x}}>", x=inner).render() == UserMessage(["<see ", CAT, ">"])
        assert Template("<{{x}}>", role="system", x=inner).render() == SystemMessage(["<see ", CAT, ">"])

    def test_in_a_conversation(self) -> None:
        given = [SystemMessage("s"), t_string("see ", (CAT,))]
        assert messages_from(given) == [SystemMessage("s"), UserMessage(["see ", CAT])]

    @pytest.mark.parametrize("value", [[CAT, "a"], {"a": 1}, CAT, None], ids=named)
    def test_places_of_a_text_and_of_a_t_string_agree(self, value: Any) -> None:
        assert Template(t_string("<", (value,), ">")).render() == Template("<{{x}}>", x=value).render()


JINJA = ["{{x|upper}}", "{{ x | upper }}", "{{x()}}", "{{x['a']}}", "{{x[-1]}}", "{{x + 1}}", "{{x:.2f}}"]


@pytest.mark.parametrize("braces", JINJA)
def test_braces_that_look_like_a_place_of_the_template(braces: str) -> None:
    """They are text, unless they begin with the name of a place or of a value: then they were meant as one."""
    assert Template(f"a {braces}").render().text == f"a {braces}"
    for make in (
        lambda: Template(f"{{{{x}}}} {braces}"),
        lambda: Template(f"a {braces}", x=1),
        lambda: Template(f"a {braces}").bind(x=1),
        lambda: Template(f"a {braces}").render(x=1),
    ):
        with pytest.raises(ConfigError, match="is no place") as caught:
            make()
        assert braces in caught.value.message
        assert f"\\{braces}" in caught.value.message
    assert Template(f"{{{{x}}}} \\{braces}", x=1).render().text == f"1 {braces}"


@pytest.mark.parametrize(
    "text",
    [
        '{{"x": 1}}',
        r"\frac{{\bf x}}{{x}^2}",
        "{% for x in y %}",
        "{{#if x}}",
        "{{y|upper}}",
        "{{1 + x}}",
        "{{ {x} }}",
        "{{x",
        "x}}",
        "{{",
        "{{{{",
        '{{x: {"a": 1}}}',
    ],
)
def test_other_braces_are_text_beside_a_place(text: str) -> None:
    assert Template(text + " {{x}}", x=1).render().text == text + " 1"


def test_lists_inside_each_other() -> None:
    """Pyodide would end for good."""
    endless: list[Any] = [CAT]
    endless.append(endless)
    deep: Any = [CAT]
    for _ in range(40):
        deep = [deep, Template("{{a}}", a=deep)]
    for value in (endless, deep):
        with pytest.raises(ConfigError, match="More than 32"):
            Template("{{x}}").render(x=value)


@given(st.recursive(st.sampled_from(["a", "b", CAT, DOG, 1]), lambda inner: st.lists(inner, max_size=4), max_leaves=12))
def test_rendering_twice_gives_the_same_and_no_part_is_lost(value: Any) -> None:
    def flat(item: Any) -> list[Any]:
        return [leaf for each in item for leaf in flat(each)] if isinstance(item, list) else [item]

    template = Template("{{x}}", x=value)
    first = template.render()
    assert template.render() == first
    leaves = flat(value)
    images = [leaf for leaf in leaves if isinstance(leaf, Image)]
    assert list(first.images) == images
    if images:
        assert first.text == "".join(str(leaf) for leaf in leaves if not isinstance(leaf, Image))
