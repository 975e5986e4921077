from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import ConfigError
from unspool.messages import AssistantMessage, Image, Message, MessagePart, SystemMessage, TextPart, UserMessage
from unspool.templates import Template, messages_from

CAT = Image("https://example.test/cat.png")


@dataclass
class User:
    name: str


@pytest.mark.parametrize(
    ("text", "values", "rendered"),
    [
        ("Hello {{name}}!", {"name": "Ana"}, "Hello Ana!"),
        ("{{ a }}{{b}}{{a}}", {"a": 1, "b": None}, "1None1"),
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
