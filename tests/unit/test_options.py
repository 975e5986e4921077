"""Options of a call: merging, and refusing what makes no sense before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.contracts import OutputSchema, Request
from unspool.errors import ConfigError
from unspool.messages import AssistantMessage, Message, SystemMessage, UserMessage
from unspool.options import (
    CallOptions,
    build_request,
    check_count,
    check_options,
    check_tool_choice,
    merged_options,
    messages_of,
)


def test_a_prompt_is_text_a_message_or_a_conversation() -> None:
    conversation = [UserMessage("a"), AssistantMessage("b"), UserMessage("c")]
    assert build_request("m", "a", {}, {}).messages == (UserMessage("a"),)
    assert build_request("m", UserMessage("a"), {}, {}).messages == (UserMessage("a"),)
    assert build_request("m", conversation, {}, {}).messages == tuple(conversation)
    assert build_request("m", tuple(conversation), {}, {}).messages == tuple(conversation)


@pytest.mark.parametrize("prompt", [None, 5, b"x", [], ["a"], [UserMessage("a"), "b"], {"role": "user"}, object()])
def test_other_prompts_are_refused(prompt: Any) -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        build_request("m", prompt, {}, {})


def test_a_conversation_may_be_of_dicts() -> None:
    conversation: list[Message | dict[str, str]] = [
        UserMessage("a"),
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    assert build_request("m", conversation, {}, {}).messages == (
        UserMessage("a"),
        AssistantMessage("b"),
        UserMessage("c"),
    )


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ({"role": "bot", "content": "x"}, "prompt[1].role"),
        ({"role": "user", "content": 5}, "prompt[1].content must be"),
        ({"role": "user", "content": ["x"]}, "prompt[1].content[0]"),
        ({"role": "user"}, "prompt[1] must be a message with content"),
    ],
)
def test_a_dict_that_is_no_message_is_named(message: dict[str, Any], where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build_request("m", [UserMessage("a"), message], {}, {})
    assert where in caught.value.message


def test_system_comes_first() -> None:
    request = build_request("m", [SystemMessage("b"), UserMessage("c")], {}, {"system": "a"})
    assert [message.text for message in request.messages] == ["a", "b", "c"]
    assert build_request("m", "x", {"system": "a"}, {"system": ""}).messages == (UserMessage("x"),)


def test_a_call_wins_over_the_model_and_none_means_not_set() -> None:
    defaults: CallOptions = {"temperature": 0.5, "seed": 1, "stop": "x", "extra": {"a": 1, "b": 1}}
    options: CallOptions = {"temperature": 0, "seed": None, "extra": {"b": 2}}
    request = build_request("m", "Hi", defaults, options)
    assert request.temperature == 0
    assert request.seed == 1
    assert request.stop == ("x",)
    assert request.extra == {"a": 1, "b": 2}
    assert defaults["extra"] == {"a": 1, "b": 1}
    assert merged_options(defaults, options) == {"temperature": 0, "seed": 1, "stop": "x", "extra": {"a": 1, "b": 2}}


def test_everything_reaches_the_request() -> None:
    schema = OutputSchema("n", {"type": "object"})
    tools = [{"name": "t", "parameters": {}}]
    request = build_request(
        "m", "Hi", {}, {"max_output_tokens": 5, "stop": ["a", "b"], "tools": tools, "output_schema": schema}
    )
    assert request.model == "m"
    assert request.max_output_tokens == 5
    assert request.stop == ("a", "b")
    assert request.tools == tools
    assert request.output_schema is schema


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("temperature", "0"),
        ("temperature", True),
        ("max_output_tokens", 0),
        ("max_output_tokens", 1.5),
        ("max_output_tokens", True),
        ("seed", "1"),
        ("seed", False),
        ("stop", 5),
        ("stop", ["a", 5]),
        ("system", UserMessage("x")),
        ("tools", {"name": "t"}),
        ("tools", [{"parameters": {}}]),
        ("tools", [{"name": ""}]),
        ("tools", ["t"]),
        ("output_schema", {"type": "object"}),
        ("extra", [1]),
        ("max_tokens", 5),
    ],
)
def test_nonsense_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        build_request("m", "Hi", {}, {name: value})  # type: ignore[misc]
    assert caught.value.code == "INVALID_OPTIONS"
    assert name in caught.value.message
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        check_options({name: value})  # type: ignore[misc]


def test_a_message_is_not_taken_for_a_conversation() -> None:
    assert isinstance(build_request("m", UserMessage(["a", "b"]), {}, {}).messages[0], Message)


def test_a_conversation_is_a_list_of_its_own() -> None:
    conversation = [UserMessage("a")]
    given = messages_of(conversation)
    given.append(UserMessage("b"))
    assert conversation == [UserMessage("a")]


@pytest.mark.parametrize(
    ("value", "least", "most", "is_good"),
    [
        (1, 1, None, True),
        (0, 0, None, True),
        (128, 1, 128, True),
        (0, 1, None, False),
        (15, 16, None, False),
        (129, 1, 128, False),
        (True, 1, None, False),
        (1.0, 1, None, False),
        ("1", 1, None, False),
        (None, 1, None, False),
    ],
)
def test_counts(value: object, least: int, most: int | None, is_good: bool) -> None:
    if is_good:
        check_count("n", value, least, most)
        return
    with pytest.raises(ConfigError, match="INVALID_OPTIONS: The option n must be a whole number"):
        check_count("n", value, least, most)


@pytest.mark.parametrize(
    ("tools", "choice"), [([], "required"), ([], "f"), ([{"name": "f"}], "g"), ([{"name": "f"}], "F")]
)
def test_a_tool_that_is_not_there(tools: list[dict[str, object]], choice: str) -> None:
    """docs/tools.md; whatever the model, and whether the call or its defaults say so."""
    with pytest.raises(ConfigError, match="INVALID_OPTIONS: tool_choice demands"):
        build_request("m", "Hi", {}, {"tools": tools, "tool_choice": choice})
    with pytest.raises(ConfigError, match="INVALID_OPTIONS: tool_choice demands"):
        build_request("m", "Hi", {"tools": tools}, {"tool_choice": choice})
    assert build_request("m", "Hi", {}, {"tools": [{"name": choice}], "tool_choice": choice}).tool_choice == choice
    assert build_request("m", "Hi", {}, {"tools": tools, "tool_choice": "none"}).tool_choice == "none"


@pytest.mark.parametrize(
    ("tools", "choice", "checked"),
    [
        ([], None, None),
        ([], "auto", None),
        ([], "none", None),
        ([{"name": "f"}], None, None),
        ([{"name": "f"}], "auto", "auto"),
        ([{"name": "f"}], "none", "none"),
        ([{"name": "f"}], "required", "required"),
        ([{"name": "f"}, {"name": "g"}], "g", "g"),
    ],
)
def test_tool_choice(tools: list[Any], choice: str | None, checked: str | None) -> None:
    assert check_tool_choice(Request("m", [UserMessage("Hi")], tools=tools, tool_choice=choice)) == checked


@pytest.mark.parametrize(("tools", "choice"), [([], "required"), ([], "f"), ([{"name": "f"}], "F")])
def test_tool_that_is_not_there(tools: list[Any], choice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_tool_choice(Request("m", [UserMessage("Hi")], tools=tools, tool_choice=choice))
    assert caught.value.code == "INVALID_OPTIONS"
