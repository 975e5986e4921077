"""Chunks of OpenAI chat completions and of servers that imitate them. S and F numbers: ../shared/reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.calls import play, play_all
from tests.support import splits

from unspool.integrations import openai_chat
from unspool.structured.frozen import thaw


def piece(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    """One element of `tool_calls`, without what is None."""
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": id, "function": {key: said for key, said in function.items() if said is not None}}
    return {key: said for key, said in call.items() if said is not None}


def chunk(*pieces: dict[str, Any], reason: str | None = None, choice: int = 0, **delta: Any) -> dict[str, Any]:
    if pieces:
        delta["tool_calls"] = list(pieces)
    choices = [{"index": choice, "delta": delta, "finish_reason": reason}]
    return {"id": "c", "object": "chat.completion.chunk", "choices": choices}


USAGE = {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}}
END = [chunk(reason="tool_calls"), USAGE]


def test_calls() -> None:
    """S75; the calls complete at the end of the events, in the order of their starts."""
    events = [
        chunk(role="assistant", content=None),
        chunk(piece(0, "a", "f", "")),
        chunk(piece(0, arguments='{"x":')),
        chunk(piece(1, "b", "g", '{"y"')),
        chunk(piece(0, arguments="1}"), piece(1, arguments=":2}")),
        chunk(content="text"),
        *END,
    ]
    played = play_all(openai_chat, events)
    assert played.texts == [("a", '{"x":1}'), ("b", '{"y":2}')]
    assert [kind for kind, id in played.steps if id == "a"] == ["start", "update", "update", "complete"]
    assert played.diagnostics == []


def test_nothing_is_a_tool_event() -> None:
    """S105, F25: choices without a delta, or with a null one."""
    events = [
        {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": None},
        {},
        chunk(content="x", reason="length"),
        USAGE,
    ]
    assert play_all(openai_chat, events).diagnostics == [("NO_TOOL_EVENTS", None)]


def test_indexes_from_one_and_with_gaps() -> None:
    played = play_all(openai_chat, [chunk(piece(1, "a", "f", "{}")), chunk(piece(5, "b", "g", "[]")), *END])
    assert played.texts == [("a", "{}"), ("b", "[]")]


def test_no_index() -> None:
    """F26: an id begins a call, and what has none goes on with the one before."""
    events = [
        chunk(piece(id="a", name="f", arguments='{"x":')),
        chunk(piece(arguments="1}")),
        chunk(piece(id="b", name="g", arguments="{}")),
        *END,
    ]
    assert play_all(openai_chat, events).texts == [("a", '{"x":1}'), ("b", "{}")]


def test_some_with_an_index_and_some_without() -> None:
    """F26."""
    events = [
        chunk(piece(0, "a", "f", '{"x":')),
        chunk(piece(arguments="1}")),
        chunk(piece(1, "b", "g", '{"y":')),
        chunk(piece(arguments="2}")),
        chunk(piece(id="c", name="h", arguments="{}")),
        *END,
    ]
    assert play_all(openai_chat, events).texts == [("a", '{"x":1}'), ("b", '{"y":2}'), ("c", "{}")]


def test_every_index_is_zero() -> None:
    """F26: parallel calls of servers that number nothing."""
    events = [
        chunk(piece(0, "a", "f", '{"x":1}')),
        chunk(piece(0, "b", "f", '{"x":2}')),
        chunk(piece(0, "c", "g", "")),
        *END,
    ]
    assert play_all(openai_chat, events).texts == [("a", '{"x":1}'), ("b", '{"x":2}'), ("c", "{}")]


def test_id_and_name_in_every_chunk() -> None:
    """F27: set once."""
    events = [
        chunk(piece(0, "c1", "f", "")),
        chunk(piece(0, "c1", "f", '{"q":')),
        chunk(piece(0, "c1", "f", "1}")),
        *END,
    ]
    assert play_all(openai_chat, events).texts == [("c1", '{"q":1}')]


def test_the_id_changes() -> None:
    """F28: one call, the first id, one diagnostic."""
    events = [
        chunk(piece(0, "A", "f", "")),
        chunk(piece(0, "B", None, '{"q":')),
        chunk(piece(0, "C", None, "1}")),
        *END,
    ]
    played = play_all(openai_chat, events)
    assert played.texts == [("A", '{"q":1}')]
    assert played.unmatched == ["A"]


def test_no_ids() -> None:
    """Each call needs an id of its own; the same as a provider's decoder would give."""
    events = [
        chunk(piece(0, name="f", arguments='{"q":["é"]}')),
        chunk(piece(1, name="f", arguments="[]")),
        chunk(piece(2, "", "g", "{}")),
        *END,
    ]
    assert [id for id, _ in play_all(openai_chat, events).texts] == ["call_0", "call_1", "call_2"]


def test_an_id_of_two_calls() -> None:
    """Results are matched by id, so the second gets another one."""
    events = [chunk(piece(0, "f", "f", "[1]"), piece(1, "f", "f", "[2]")), chunk(piece(2, name="call_0")), *END]
    played = play_all(openai_chat, events)
    assert len({id for id, _ in played.texts}) == 3
    assert [text for _, text in played.texts] == ["[1]", "[2]", "{}"]


@pytest.mark.parametrize("arguments", [None, "", " "])
@pytest.mark.parametrize("end", [END, []], ids=["reason", "nothing"])
def test_no_arguments(arguments: str | None, end: list[Any]) -> None:
    """S65."""
    assert play_all(openai_chat, [chunk(piece(0, "a", "now", arguments)), *end]).texts == [("a", "{}")]


def test_an_id_alone_is_a_call() -> None:
    assert play_all(openai_chat, [chunk(piece(0, "a")), *END]).texts == [("a", "{}")]


def test_arguments_that_are_decoded() -> None:
    played = play_all(openai_chat, [chunk(piece(0, "a", "f", {"q": ["é", 1]})), *END])
    assert played.texts == [("a", '{"q":["é",1]}')]


def test_arguments_that_are_nothing() -> None:
    played = play_all(openai_chat, [chunk(piece(0, "a", "f", 5)), *END])
    assert played.error.code == "INTEGRATION_ERROR"


def test_the_last_pieces_come_with_the_reason() -> None:
    """F30."""
    events = [chunk(piece(0, "a", "f", '{"x":1')), chunk(piece(0, arguments="}"), content="end.", reason="tool_calls")]
    assert play_all(openai_chat, events).texts == [("a", '{"x":1}')]


def test_pieces_after_the_reason() -> None:
    """F29."""
    events = [chunk(piece(0, "a", "f", '{"x":1'), reason="tool_calls"), chunk(piece(0, arguments="}")), USAGE]
    assert play_all(openai_chat, events).texts == [("a", '{"x":1}')]


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "model_length", "content_filter"])
@pytest.mark.parametrize("arguments", [None, '{"path":"a.md","content":"abc', "{}"])
def test_a_cut_call_is_never_complete(reason: str, arguments: str | None) -> None:
    """F37: not even when what came happens to be whole."""
    events = [chunk(piece(0, "a", "f", arguments)), chunk(reason=reason), USAGE]
    played = play_all(openai_chat, events)
    assert played.texts == []
    assert (played.error.code, played.error.id) == ("INCOMPLETE_JSON", "a")
    assert reason.lower() in played.error.message


def test_a_cut_choice_leaves_the_other() -> None:
    """The calls of one choice are not those of the other."""
    events = [
        chunk(piece(0, "a", "f", "[1")),
        chunk(piece(0, "b", "f", "[2"), choice=1),
        chunk(piece(0, arguments="]")),
        chunk(content="x", choice=2, reason="length"),
        chunk(piece(0, arguments="]"), choice=1, reason="stop"),
        chunk(reason="stop"),
    ]
    assert play_all(openai_chat, events).texts == [("a", "[1]"), ("b", "[2]")]


def test_choices_without_ids() -> None:
    events = [chunk(piece(0, name="f", arguments="[1]")), chunk(piece(0, name="f", arguments="[2]"), choice=1)]
    assert play_all(openai_chat, events).texts == [("call_0", "[1]"), ("call_1", "[2]")]


@pytest.mark.parametrize(
    "event",
    [
        {"error": {"code": 502, "message": "provider_unavailable"}, "choices": []},
        {"error": {"code": "502", "message": "provider_unavailable"}, "choices": [{"delta": {}, "finish_reason": "x"}]},
        {"error": "provider_unavailable"},
        {"object": "error", "message": "provider_unavailable", "code": 40001},
        {"type": "error", "message": "provider_unavailable"},
    ],
    ids=["object", "text code", "text", "vllm", "typed"],
)
def test_error_in_the_stream(event: dict[str, Any]) -> None:
    """F38."""
    played = play_all(openai_chat, [chunk(piece(0, "a", "f", "{}")), event, chunk(reason="stop")])
    assert played.texts == []
    assert (played.error.code, played.error.message) == ("INTEGRATION_ERROR", "provider_unavailable")


def test_error_reason() -> None:
    """F38: a reason that says it."""
    played = play_all(openai_chat, [chunk(piece(0, "a", "f", "{}")), chunk(reason="error")])
    assert played.error.code == "INTEGRATION_ERROR"
    assert played.texts == []


def test_older_form() -> None:
    """`function_call`: one call without an id."""
    events = [
        chunk(function_call={"name": "f", "arguments": ""}),
        chunk(function_call={"arguments": '{"x":1}'}),
        chunk(reason="function_call"),
    ]
    assert play_all(openai_chat, events).texts == [("call_0", '{"x":1}')]


def test_a_whole_completion() -> None:
    """A server that does not stream; and one that sends a copy of the message beside each delta."""
    message = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "[1]"}}]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert play_all(openai_chat, [whole]).texts == [("a", "[1]")]
    beside = [chunk(piece(0, "a", "f", "[1")), chunk(piece(0, arguments="]"))]
    beside[1]["choices"][0]["message"] = message
    assert play_all(openai_chat, beside).texts == [("a", "[1]")]


def test_malformed_arguments() -> None:
    played = play_all(openai_chat, [chunk(piece(0, "a", "f", "{}")), chunk(piece(0, arguments="x"))])
    assert (played.error.code, played.error.id) == ("TRAILING_DATA", "a")


def test_arguments_cut_anywhere() -> None:
    text = '{"ключ":["\\u00e9\\ud83d\\ude00",-1.5e3,null],"o":{}}'
    for pieces in splits(text, 3):
        events = [chunk(piece(0, "a", "f")), *(chunk(piece(0, arguments=cut)) for cut in pieces), *END]
        assert play(openai_chat, events).texts == [("a", text)]


class View(Mapping[str, Any]):
    """An event that is not a dict, so that it is looked at in full."""

    def __init__(self, event: dict[str, Any]) -> None:
        self._event = event

    def __getitem__(self, key: str) -> Any:
        return self._event[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._event)

    def __len__(self) -> int:
        return len(self._event)


ODD_PIECES: list[dict[str, Any]] = [
    piece(0, arguments="1"),
    piece(0, arguments=""),
    piece(0, arguments={"x": 1}),
    piece(0, "a", arguments="1"),
    piece(0, "z", arguments="1"),
    piece(0, name="f", arguments="1"),
    piece(7, arguments="1"),
    piece(arguments="1"),
    {"index": True, "function": {"arguments": "1"}},
    {"index": [0], "function": {"arguments": "1"}},
    {"index": 0, "type": "function", "function": {"arguments": "1"}},
    {"index": 0, "function": None},
    {"index": 0, "function": "1"},
]


@pytest.mark.parametrize("odd", ODD_PIECES, ids=str)
@pytest.mark.parametrize(
    "around",
    [
        {},
        {"error": {"message": "no"}},
        {"choices": []},
        {"finish_reason": "length"},
        {"finishReason": "length"},
        {"index": 1},
        {"index": None},
        {"index": [0]},
        {"delta": None},
    ],
    ids=str,
)
def test_the_short_way_says_what_the_long_one_says(odd: dict[str, Any], around: dict[str, Any]) -> None:
    """Most events hold the next piece of one call and nothing else; whatever else one holds must still be seen."""
    event = chunk(odd)
    for name, value in around.items():
        (event if name in ("error", "choices") else event["choices"][0])[name] = value
    events = [chunk(piece(0, "a", "f", "[")), chunk(piece(1, "b", "g", "[2")), event, chunk(piece(0, arguments="1"))]

    def said(events: list[Any]) -> list[Any]:
        steps: list[Any] = []
        with openai_chat() as session:
            try:
                for each in events:
                    steps.append([(step.type, step.id, thaw(step.partial_value)) for step in session.push_all(each)])
            except Exception as error:
                steps.append((type(error), str(error)))
        return steps

    assert said(events) == said([View(each) for each in events])
