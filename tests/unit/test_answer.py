"""Chunks in, events out. Event order and terminal outcomes: the seed's STREAMING page; F17, F19-F22."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.support import splits

from unspool.answer import AnswerMachine
from unspool.errors import CallCancelledError, OutputValidationError, ProviderError, StreamError
from unspool.messages import Usage
from unspool.schema import Schema, openai_strict
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    ToolArgumentsDelta,
    UsageReport,
)
from unspool.stream.chunks import TextDelta as TextChunk
from unspool.structured.events import (
    Cancelled,
    FieldEnd,
    FieldStart,
    GenerationComplete,
    GenerationFailed,
    ObjectEnd,
    ObjectStart,
    ParsingFailed,
    StringFieldDelta,
    TextDelta,
)


class Answer(BaseModel):
    explanation: str
    answer: int


TERMINAL = (GenerationComplete, ParsingFailed, GenerationFailed, Cancelled)
STOP = Finish("stop")


def machine(
    wanted: Any = Answer, *, protocol: str = "json", max_chars: int = 1_000, max_depth: int = 8
) -> AnswerMachine:
    schema = None if wanted is None else Schema.of(wanted)
    native = openai_strict(schema) if schema is not None and protocol == "native" else None
    return AnswerMachine(schema, native=native, max_chars=max_chars, max_depth=max_depth)


def batches(slices: Iterable[str], end: list[Chunk]) -> list[list[Chunk]]:
    deltas = [TextChunk(0, piece) for piece in slices]
    return [[BlockStart(0, "text")], *([delta] for delta in deltas), [BlockEnd(0), *end]]


def run(target: AnswerMachine, slices: Iterable[str], end: list[Chunk] | None = None) -> list[Any]:
    events = [event for batch in batches(slices, end or [STOP]) for event in target.feed(batch)]
    assert [isinstance(event, TERMINAL) for event in events] == [False] * (len(events) - 1) + [True]
    assert target.done
    assert target.feed([STOP]) == []
    return events


def joined(events: list[Any]) -> list[Any]:
    """Without raw text, and with neighbouring string deltas as one: what must not depend on the cuts."""
    out: list[Any] = []
    for event in events:
        if isinstance(event, TextDelta):
            continue
        last = out[-1] if out else None
        if isinstance(event, StringFieldDelta) and isinstance(last, StringFieldDelta) and last.path == event.path:
            out[-1] = StringFieldDelta(event.path, last.delta + event.delta)
        else:
            out.append(event)
    return out


def test_events_of_the_seed_example() -> None:
    events = run(machine(), ['{"explanation":"Six times', ' seven","answer":4', "2}"])
    assert events == [
        TextDelta('{"explanation":"Six times'),
        ObjectStart((), "object"),
        FieldStart(("explanation",)),
        StringFieldDelta(("explanation",), "Six times"),
        TextDelta(' seven","answer":4'),
        StringFieldDelta(("explanation",), " seven"),
        FieldEnd(("explanation",), "Six times seven"),
        TextDelta("2}"),
        FieldStart(("answer",)),
        FieldEnd(("answer",), 42),
        ObjectEnd((), "object", {"explanation": "Six times seven", "answer": 42}),
        GenerationComplete(Answer(explanation="Six times seven", answer=42), None, "stop"),
    ]


GOOD = '{"explanation":"é😀 \\u00e9 \\ud83d\\ude00 \\"q\\" \\\\", "answer" : -12 }\n'


def test_every_cut_gives_the_same() -> None:
    whole = joined(run(machine(), [GOOD]))
    for slices in splits(GOOD):
        target = machine()
        events = run(target, slices)
        assert joined(events) == whole
        assert "".join(event.delta for event in events if isinstance(event, TextDelta)) == GOOD
        assert target.text == GOOD
        assert target.partial_value == {"explanation": 'é😀 é 😀 "q" \\', "answer": -12}


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        ('{"explanation":"ab","answer":1,,', {"explanation": "ab", "answer": 1}),
        ('{"explanation":"ab\\x', {"explanation": "ab"}),
        ('{"answer":1,"answer":2}', {"answer": 1}),
        ('{"answer":1e999}', {}),
        ('{"answer":NaN}', {}),
        ('{"answer":[1,tru3]}', {"answer": [1]}),
        ("The answer is 42.", None),
        ('{"answer":1]', {}),  # the number was not proved complete
    ],
)
def test_every_cut_of_a_bad_answer_gives_the_same(text: str, partial: Any) -> None:
    results = []
    for slices in splits(text):
        target = machine()
        events = joined(run(target, slices))
        error = events[-1].error
        assert isinstance(events[-1], ParsingFailed)
        assert error.code == "OUTPUT_INVALID"
        assert isinstance(error.__cause__, StreamError)
        assert error.partial_value == target.partial_value
        results.append((events[:-1], error.partial_value, error.__cause__.code, error.__cause__.byte_offset))
    assert all(result == results[0] for result in results)
    assert results[0][1] == partial


def test_fault_shows_the_text_around_it() -> None:
    [*_, event] = run(machine(), ['{"explanation":"' + "x" * 100 + '", oops: 1}'])
    assert event.error.message.endswith(f""" Near: '{"x" * 77}", o'.""")  # not what comes after it: that may be cut
    assert len(event.error.message) < 300


def test_text_after_the_fault_is_kept_but_not_read() -> None:
    target = machine()
    events = run(target, ['{"answer":1,,', '"answer":1}'])
    assert isinstance(events[-1], ParsingFailed)
    assert target.text == '{"answer":1,,'  # the stream is over with the slice that holds the fault


def test_limits() -> None:
    for slices in splits('{"explanation":"' + "x" * 100 + '"}'):
        target = machine(max_chars=50)
        *progress, last = joined(run(target, slices))
        assert last.error.code == "OUTPUT_TOO_LARGE"
        assert target.partial_value == {"explanation": "x" * 34}  # 50 characters, 16 of them before the text
        assert progress[-1] == StringFieldDelta(("explanation",), "x" * 34)
    for slices in splits("[" * 9):
        [*_, last] = run(machine(list[Any], max_depth=8), slices)
        assert last.error.code == "OUTPUT_TOO_LARGE"
    [*_, last] = run(machine(list[Any], max_depth=8), ["[" * 8 + "]" * 8])
    assert isinstance(last, GenerationComplete)


@pytest.mark.parametrize(
    ("wanted", "text", "result"),
    [
        (int, " 42 ", 42),
        (str, '"a\\nb"', "a\nb"),
        (bool, "true", True),
        (None | int, "null", None),
        (list[int], "[1,2]", [1, 2]),
        (list[Answer], "[]", []),
        (Literal["Bob", "Alice"], '"Alice"', "Alice"),  # F17
        ({"type": "integer"}, "7", 7),
    ],
    ids=str,
)
def test_roots_of_every_kind(wanted: Any, text: str, result: Any) -> None:
    for slices in splits(text):
        [*_, last] = run(machine(wanted), slices)
        assert last == GenerationComplete(result, None, "stop")


def test_cut_literal_is_withheld_until_its_string_closes() -> None:
    """F17: prefixes of a Literal are progress, never errors; a wrong one is an error at the end."""
    target = machine(Literal["Bob", "Alice"])
    seen = [event for batch in batches(['"', "A", "li"], [])[:-1] for event in target.feed(batch)]
    assert not [event for event in seen if isinstance(event, TERMINAL)]
    [*_, last] = run(machine(Literal["Bob", "Alice"]), ['"Alx"'])
    assert last.error.code == "OUTPUT_INVALID"
    assert '"Alx"' in last.error.message


def test_value_that_does_not_fit_is_told_once_and_at_the_end() -> None:
    """F21: complete parts may already be wrong; the verdict comes with the end."""
    events = run(machine(), ['{"explanation":1,', '"answer":true}'])
    assert FieldEnd(("explanation",), 1) in events
    error = events[-1].error
    assert isinstance(events[-1], ParsingFailed)
    assert "explanation: " in error.message and "answer: " in error.message
    assert error.partial_value == {"explanation": 1, "answer": True}
    assert error.text == '{"explanation":1,"answer":true}'


def test_usage_comes_with_the_result() -> None:
    [*_, last] = run(machine(int), ["1"], [UsageReport(Usage(1, 2, 3)), STOP])
    assert last == GenerationComplete(1, Usage(1, 2, 3), "stop")


def test_reasoning_is_not_part_of_the_answer() -> None:
    target = machine(int)
    assert target.feed([BlockStart(0, "reasoning"), ReasoningDelta(0, "{[")]) == []
    assert target.feed([BlockEnd(0), BlockStart(1, "text"), TextChunk(1, "4")]) == [TextDelta("4")]
    [*_, last] = target.feed([TextChunk(1, "2"), BlockEnd(1), STOP])
    assert last == GenerationComplete(42, None, "stop")


def test_text_blocks_are_read_as_one() -> None:
    target = machine(list[int])
    target.feed([BlockStart(0, "text"), TextChunk(0, "[1,"), BlockEnd(0), BlockStart(1, "text"), TextChunk(1, "2]")])
    assert target.feed([BlockEnd(1), STOP]) == [GenerationComplete([1, 2], None, "stop")]


@pytest.mark.parametrize("text", ['{"explanation":"cut he', "", '{"explanation":"whole","answer":1}'])
def test_answer_cut_by_the_token_limit(text: str) -> None:
    """Never a result, even when what came happens to be whole: of `12` nobody knows whether it was to be `123`."""
    [*_, last] = run(machine(), [text] if text else [], [Finish("length", "max_tokens")])
    assert isinstance(last, ParsingFailed)
    assert last.error.code == "OUTPUT_TRUNCATED"
    assert last.error.text == text
    if text:
        assert last.error.partial_value["explanation"] in ("cut he", "whole")


def test_empty_answer() -> None:
    for text in ("", " \n"):
        [*_, last] = run(machine(), [text] if text else [])
        assert isinstance(last, ParsingFailed)
        assert (last.error.code, last.error.message) == ("OUTPUT_INVALID", "The answer is empty.")


def test_incomplete_answer_after_a_clean_end() -> None:
    [*_, last] = run(machine(), ['{"explanation":"a'])
    assert last.error.code == "OUTPUT_INVALID"
    assert last.error.__cause__.code == "INCOMPLETE_JSON"
    assert last.error.partial_value == {"explanation": "a"}


def test_filter_and_refusal_are_the_providers() -> None:
    [*_, last] = run(machine(), ['{"explanation":"a'], [Finish("content_filter")])
    assert isinstance(last, GenerationFailed)
    assert isinstance(last.error, ProviderError) and last.error.code == "CONTENT_FILTERED"
    assert last.error.partial_value == {"explanation": "a"}

    target = machine()
    target.feed([BlockStart(0, "refusal"), TextChunk(0, "I cannot ")])
    [last] = target.feed([TextChunk(0, "help."), BlockEnd(0), STOP])
    assert last.error.code == "REFUSED"
    assert "I cannot help." in last.error.message
    assert target.text == ""


def test_tool_calls_instead_of_an_answer() -> None:
    target = machine()
    target.feed([BlockStart(0, "tool_call", "c1", "search"), ToolArgumentsDelta(0, "{}"), BlockEnd(0)])
    [last] = target.feed([Finish("tool_calls")])
    assert isinstance(last, ParsingFailed)
    assert last.error.code == "OUTPUT_INVALID"
    assert "asked for tools (search)" in last.error.message


def test_names_of_tools_do_not_flood_the_message() -> None:
    target = machine()
    target.feed([BlockStart(0, "tool_call", "c1", "x" * 100_000), BlockEnd(0)])
    [last] = target.feed([Finish("tool_calls")])
    assert isinstance(last, ParsingFailed)
    assert len(last.error.message) < 500


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ProviderError("OVERLOADED", "busy"), GenerationFailed), (CallCancelledError(), Cancelled)],
    ids=str,
)
def test_faults_of_the_response_keep_what_came(error: Any, kind: type) -> None:
    reason: Any = "aborted" if kind is Cancelled else "error"
    [*_, last] = run(machine(), ['{"explanation":"a'], [Finish(reason, error=error)])
    assert type(last) is kind
    assert last.error is error
    assert last.error.text == '{"explanation":"a'
    assert last.error.partial_value == {"explanation": "a"}


def test_plain_text() -> None:
    target = machine(None)
    assert run(target, ["Hel", "lo {"]) == [
        TextDelta("Hel"),
        TextDelta("lo {"),
        GenerationComplete("Hello {", None, "stop"),
    ]
    assert target.partial_value == "Hello {"
    [*_, last] = run(machine(None), ["cut"], [Finish("length")])
    assert last == GenerationComplete("cut", None, "length")
    [*_, last] = run(machine(None, max_chars=3), ["abcd"])
    assert last.error.code == "OUTPUT_TOO_LARGE"


@pytest.mark.parametrize("wanted", [list[Answer], int, Answer | None], ids=str)
def test_native_wrapper_is_not_seen(wanted: Any) -> None:
    """Readers see the value they asked for, however the provider wants it said (F22: the same events in every mode)."""
    bare = {list[Answer]: '[{"explanation":"a","answer":1}]', int: "7"}.get(wanted, "null")
    expected = joined(run(machine(wanted), [bare]))
    for slices in splits(f'{{"value": {bare}}}'):
        target = machine(wanted, protocol="native")
        assert joined(run(target, slices)) == expected
        assert target.partial_value == machine_value(wanted, bare)


def machine_value(wanted: Any, text: str) -> Any:
    target = machine(wanted)
    run(target, [text])
    return target.partial_value


def test_native_wrapper_that_is_missing_is_a_fault() -> None:
    [*_, last] = run(machine(list[int], protocol="native"), ['{"other": [1]}'])
    assert isinstance(last, ParsingFailed)
    assert isinstance(last.error, OutputValidationError)


def test_wrapper_costs_no_depth() -> None:
    [*_, last] = run(machine(list[Any], protocol="native", max_depth=2), ['{"value": [[]]}'])
    assert isinstance(last, GenerationComplete)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        '{"explanation": "x", "answer": tru} ```json\n{"explanation": "x", "answer": 1}\n```',
        '{"explanation": "x", "answer": tru} ```json\n{"explanation": tru}\n```',
        '"x, "}',
        '"quoted" ```json\n{"explanation": "x", "answer": 1}\n```',
        "[[]]```//",
        "[1, 2] ] /* c */ ```\n[1,]\n```",
    ],
)
def test_an_answer_that_breaks_its_value_ends_alike_at_every_cut(text: str, lenient: bool) -> None:
    """F19: the rest is not read, so nothing in it may tell; neither which fault is told, nor what was repaired."""

    def outcome(slices: list[str]) -> Any:
        target = AnswerMachine(Schema.of(Answer), lenient=lenient, max_chars=1000, max_depth=8)
        events = run(target, slices)
        last = events[-1]
        told = last.error.message if isinstance(last, ParsingFailed) else last.result
        return joined(events)[:-1], told, [repr(repair) for repair in target.repairs], target.partial_value

    whole = outcome([text])
    for slices in splits(text):
        assert outcome(slices) == whole


values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values, st.integers(1, 7), st.booleans())
def test_any_value_arrives_whole(value: Any, size: int, ascii_only: bool) -> None:
    import json

    text = json.dumps(value, ensure_ascii=ascii_only)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    [*_, last] = run(machine({}, max_chars=100_000, max_depth=64), pieces)
    assert isinstance(last, GenerationComplete)
    assert json.dumps(last.result) == json.dumps(value)


@given(st.text(alphabet='{}[]",:\\u0129aetrufnl -+.\ud800\n', max_size=30), st.randoms(use_true_random=False))
def test_no_text_breaks_the_promise(text: str, random: Any) -> None:
    at = sorted(random.randint(0, len(text)) for _ in range(3))
    cuts = [text[start:stop] for start, stop in zip([0, *at], [*at, len(text)], strict=True)]
    whole = joined(run(machine({}), [text] if text else []))
    assert joined(run(machine({}), [piece for piece in cuts if piece]))[:-1] == whole[:-1]
