"""Each call of a tool has one result, at once; where it comes a little later it is put there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool import llms
from unspool.errors import ConfigError
from unspool.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.messages.tool_results import with_results_at_calls
from unspool.model import LanguageModel
from unspool.testing import ScriptedTransport, StaticResponse

ASK = UserMessage("How is the weather?")


def calls(*ids: str) -> Message:
    return AssistantMessage(["I look. ", *(ToolCall(id, f"tool_{id}", "{}") for id in ids)])


def results(*ids: str) -> Message:
    return ToolMessage([ToolResult(id, "x") for id in ids])


GOOD: list[list[Message]] = [
    [ASK, calls("a"), results("a")],
    [ASK, calls("a", "b"), results("b", "a"), UserMessage("And?")],
    [ASK, calls("a", "b"), results("b"), results("a")],
    [ASK, calls("a"), results("a"), calls("b"), results("b"), AssistantMessage("Fine.")],
    [ASK, calls("a"), results("a"), calls("a"), results("a")],  # servers may begin to count again with each answer
    [SystemMessage("Be brief."), ASK, AssistantMessage("Hm.")],
    [ASK, Message("tool", [TextPart("x")])],  # what is wrong with it, each dialect says
]
SAID = AssistantMessage("I look it up.")
RULE = SystemMessage("Be brief.")
MOVED: dict[str, tuple[list[Message], list[Message]]] = {
    "instructions between": ([ASK, calls("a"), RULE, results("a")], [ASK, calls("a"), results("a"), RULE]),
    "the user between": (
        [ASK, calls("a"), UserMessage("Hurry."), results("a"), SAID],
        [ASK, calls("a"), results("a"), UserMessage("Hurry."), SAID],
    ),
    "the user between two": (
        [ASK, calls("a", "b"), results("b"), UserMessage("Hurry."), RULE, results("a")],
        [ASK, calls("a", "b"), results("b"), results("a"), UserMessage("Hurry."), RULE],
    ),
    "an answer in two messages": (
        [ASK, calls("a"), SAID, results("a")],
        [ASK, calls("a").with_parts([*calls("a").parts, *SAID.parts]), results("a")],
    ),
    "calls in two messages": (
        [ASK, calls("a"), RULE, calls("b"), results("a", "b"), ASK],
        [ASK, calls("a").with_parts([*calls("a").parts, *calls("b").parts]), results("a", "b"), RULE, ASK],
    ),
    "nothing between": (
        [ASK, calls("a"), AssistantMessage([]), UserMessage(" "), ToolMessage([]), results("a")],
        [ASK, calls("a"), results("a")],
    ),
}
BAD: dict[str, tuple[list[Message], tuple[str, ...]]] = {
    "at the end": ([ASK, calls("a")], ("no result", "'a' (tool_a)")),
    "not run": ([ASK, calls("a"), UserMessage("Never mind.")], ("no result", "'a'")),
    "one of two": ([ASK, calls("a", "b"), results("a")], ("no result", "'b' (tool_b)")),
    "both": ([ASK, calls("a", "b"), ASK], ("no result", "'a' (tool_a), 'b' (tool_b)")),
    "many": ([ASK, calls(*"abcdef")], ("no result", "'d' (tool_d) and 2 more")),
    "behind the next answer": ([ASK, calls("a"), ASK, SAID, results("a")], ("no result", "'a'")),
    "one of two behind it": ([ASK, calls("a", "b"), results("a"), SAID, results("b")], ("no result", "'b'")),
    "said by the user": ([ASK, calls("a"), UserMessage([ToolResult("a", "x"), "And?"])], ("'user'", "us.ToolMessage(")),
    "orphan": ([ASK, results("a")], ("answers the call 'a'",)),
    "first": ([results("a"), ASK], ("answers the call 'a'",)),
    "of another call": ([ASK, calls("a"), results("b")], ("answers the call 'b'",)),
    "twice": ([ASK, calls("a"), results("a", "a")], ("'a' has two results",)),
    "twice in two messages": ([ASK, calls("a"), results("a"), results("a")], ("'a' has two results",)),
    "twice, later": ([ASK, calls("a"), results("a"), ASK, results("a")], ("'a' has two results",)),
    "two calls of one id": ([ASK, calls("a", "a"), results("a")], ("Two tool calls", "'a'")),
    "cut": ([ASK, AssistantMessage(ToolCall("a", "f", '{"x', truncated=True))], ("'f'", "was cut")),
}
MODELS: dict[str, Callable[[ScriptedTransport], LanguageModel]] = {
    "OpenAI": lambda transport: llms.OpenAI("m", transport=transport),
    "OpenAIChat": lambda transport: llms.OpenAIChat("m", transport=transport),
    "mistral": lambda transport: llms.OpenAIChat("m", profile="mistral", transport=transport),
    "deepseek": lambda transport: llms.OpenAIChat("m", profile="deepseek", transport=transport),
    "Anthropic": lambda transport: llms.Anthropic("m", transport=transport),
    "Gemini": lambda transport: llms.Gemini("gemini-3-pro", transport=transport),
    "Bedrock": lambda transport: llms.Bedrock("m", region="us-east-1", api_key="k" * 20, transport=transport),
    "Cohere": lambda transport: llms.Cohere("m", transport=transport),
    "Ollama": lambda transport: llms.Ollama("m", transport=transport),
    "StaticResponse": lambda _transport: StaticResponse("x"),
}


@pytest.mark.parametrize("conversation", GOOD, ids=range(len(GOOD)))
def test_calls_with_their_results(conversation: list[Message]) -> None:
    assert with_results_at_calls(conversation) == conversation


@pytest.mark.parametrize("case", MOVED)
def test_results_are_put_at_their_calls(case: str) -> None:
    """Anthropic's, Gemini's and Bedrock's writers do so in any case; OpenAI's Responses API pairs by `call_id`, and
    chat completions, as Cohere, Mistral and Ollama take them, want this very order."""
    given, put = MOVED[case]
    before = list(given)
    assert with_results_at_calls(given) == put
    assert given == before
    assert with_results_at_calls(put) == put


async def test_a_chat_completion_has_them_in_the_order_that_it_must() -> None:
    """OpenAI: "An assistant message with 'tool_calls' must be followed by tool messages"."""
    transport = ScriptedTransport([b"data: [DONE]\n\n"])
    lm = llms.OpenAIChat("m", transport=transport)
    said = [ASK, AssistantMessage(ToolCall("a", "f", "{}")), RULE, AssistantMessage(ToolCall("b", "f", "{}"))]
    async with lm.stream([*said, UserMessage("Hurry."), results("b"), results("a")]) as stream:
        await stream.read()
    sent: list[dict[str, Any]] = json.loads(transport.requests[0].body)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "system", "user"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["a", "b"]
    assert [message.get("tool_call_id") for message in sent[2:4]] == ["b", "a"]


@pytest.mark.parametrize("case", BAD)
def test_what_no_vendor_takes_names_the_call(case: str) -> None:
    conversation, words = BAD[case]
    with pytest.raises(ConfigError) as caught:
        with_results_at_calls(conversation)
    assert caught.value.code == "INVALID_OPTIONS"
    for word in words:
        assert word in caught.value.message


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", MODELS)
def test_it_is_one_rule_for_all_models_and_nothing_is_sent(name: str, case: str) -> None:
    transport = ScriptedTransport()
    lm = MODELS[name](transport)
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        lm.stream(BAD[case][0])
    assert transport.requests == []


@pytest.mark.parametrize("name", MODELS)
async def test_whole_conversations_are_sent(name: str) -> None:
    """Each dialect writes them: what it then says of our script's answer is another matter."""
    transport = ScriptedTransport([b"data: [DONE]\n\n"] * (len(GOOD) + len(MOVED)))
    lm = MODELS[name](transport)
    for conversation in (*GOOD[:-1], *(case[0] for case in MOVED.values())):
        async with lm.stream(conversation) as stream:
            await stream.read()
    if not isinstance(lm, StaticResponse):
        assert len(transport.requests) == len(GOOD) - 1 + len(MOVED)
        assert sum(b"tool_a" in sent.body for sent in transport.requests) == len(transport.requests) - 1


async def test_results_alone_where_the_provider_holds_the_conversation() -> None:
    """OpenAI reference, "previous_response_id": the calls stand in what it keeps."""
    transport = ScriptedTransport([b"data: [DONE]\n\n"] * 2)
    lm = llms.OpenAI("m", transport=transport)
    for member in ("previous_response_id", "conversation"):
        async with lm.stream(results("a"), extra={"store": True, member: "x_1"}) as stream:
            await stream.read()
        sent: dict[str, Any] = json.loads(transport.requests[-1].body)
        assert [item["type"] for item in sent["input"]] == ["function_call_output"]
    with pytest.raises(ConfigError, match="'b'"):
        lm.stream([results("a"), calls("b")], extra={"previous_response_id": "x_1"})
    with pytest.raises(ConfigError, match="answers the call 'a'"):
        lm.stream([AssistantMessage("x"), results("a")], extra={"previous_response_id": "x_1"})


def test_words_of_others_are_bounded() -> None:
    with pytest.raises(ConfigError) as caught:
        with_results_at_calls([calls(*(letter * 10_000 for letter in "abcdef"))])
    assert len(caught.value.message) < 2_000


PIECES = [ASK, RULE, SAID, calls("a"), calls("b"), calls("a", "b"), results("a"), results("b")]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_a_conversation_that_passes_pairs_them(conversation: list[Message]) -> None:
    """The rule as OpenAI words it holds of what is given: behind each message with calls stand messages of results for
    just these. What keeps it already is given as it is; nothing that was said is lost or made up."""
    try:
        put = with_results_at_calls(conversation)
    except ConfigError:
        assert not _is_paired(conversation)
        return
    assert _is_paired(put)
    assert put == conversation or not _is_paired(conversation)
    assert sorted(map(repr, _said(put))) == sorted(map(repr, _said(conversation)))


def _said(conversation: list[Message]) -> list[tuple[str, object]]:
    return [(message.role, part) for message in conversation for part in message.parts]


def _is_paired(conversation: list[Message]) -> bool:
    turns: list[tuple[list[str], list[str]]] = [([], [])]
    for message in conversation:
        if message.role == "tool":
            turns[-1][1].extend(part.call_id for part in message.parts if isinstance(part, ToolResult))
        else:
            turns.append(([call.id for call in message.tool_calls], []))
    return all(sorted(asked) == sorted(told) for asked, told in turns)
