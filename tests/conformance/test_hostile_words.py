"""Whatever a model, a server or a validator says, what an error tells of it can be printed, in one line."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.unit.test_printable import hides

import unspool as us
from unspool.answer import AnswerMachine
from unspool.errors import OutputValidationError, UnspoolError
from unspool.foreign_error import typed
from unspool.schema.problem import Problem, path_text
from unspool.structured.json_stream import JsonStream
from unspool.structured.pool import StreamPool
from unspool.structured.py_stream import PyStream
from unspool.wire import error_wire

HOSTILE = "a\ud800b\x1b[31mc\x9bd\ne\rf\x00g\u202eh\u2066i\u2028j\x7fk\u200fl"
ESCAPED = json.dumps(HOSTILE)


def clean(text: str, *, lines: bool = False) -> None:
    text.encode()
    assert not any(hides(character) for character in text if not (lines and character == "\n")), text


def clean_error(error: UnspoolError) -> None:
    for text in (str(error), repr(error), error.message, str(pickle.loads(pickle.dumps(error)))):
        clean(text)
    clean(error_wire(error)["message"])
    if isinstance(error, OutputValidationError):
        clean(repr(error.problems))
        for problem in error.problems:
            clean(problem.message, lines=True)
            clean(path_text(problem.path))


class Strict(BaseModel, extra="forbid"):
    x: int = 0


class Judged(BaseModel):
    x: str

    @field_validator("x")
    @classmethod
    def judge(cls, value: str) -> str:
        raise ValueError(f"{value} is not good")


ANSWERS: list[tuple[str, Any, dict[str, Any]]] = [
    (f"{{{ESCAPED}: 1}}", Strict, {"protocol": "json"}),
    (f"{{{ESCAPED}: 1}}", dict[str, int], {"protocol": "json"}),
    (f'{{"x": {ESCAPED}}}', Strict, {"protocol": "json"}),
    (f'{{"x": {ESCAPED}}}', Judged, {"protocol": "json"}),
    (ESCAPED.replace("\\ud800", ""), Judged, {"protocol": "json"}),
    (json.dumps({"x": HOSTILE.replace("\ud800", "")}), Judged, {"protocol": "json"}),
    (f"{{{ESCAPED}: {{{ESCAPED}: 1}}}}", {"type": "object", "additionalProperties": False}, {"protocol": "json"}),
    (f"{{{ESCAPED}: 1, {ESCAPED}: 2}}", dict[str, int], {"protocol": "json"}),
    (f"{{{ESCAPED}: 1, {ESCAPED}: 2}}", dict[str, int], {"protocol": "json", "lenient": True}),
    (f"{{{ESCAPED}: tru}}", dict[str, int], {"protocol": "json"}),
    (HOSTILE, Strict, {"protocol": "json"}),
    (f'{{"x": {HOSTILE}}}', Strict, {"protocol": "json"}),
    (f'{{"x": {HOSTILE}}}', Strict, {"protocol": "json", "lenient": True}),
    (f'{{"x": 1}} {HOSTILE}', Strict, {}),
    (f"Strict(x={HOSTILE!r})", Strict, {}),
    (f"Strict(x={HOSTILE.replace(chr(0xD800), '')!r})", Strict, {}),
    (f"{{{HOSTILE.replace(chr(0xD800), '')!r}: 'x'}}", dict[str, int], {}),
    (f"{{{HOSTILE.replace(chr(0xD800), '')!r}: 1}}" * 2, dict[str, int], {}),
    (f"Strict({HOSTILE}=1)", Strict, {}),
    (HOSTILE, Strict, {}),
]


@pytest.mark.parametrize("case", range(len(ANSWERS)))
def test_an_answer(case: int) -> None:
    text, wanted, options = ANSWERS[case]
    with pytest.raises(OutputValidationError) as raised:
        us.parse(text, wanted, **options)
    clean_error(raised.value)
    if isinstance(cause := raised.value.__cause__, UnspoolError):
        clean_error(cause)


async def test_parts_that_are_checked() -> None:
    """Parts are told before the end, in the same words."""
    told: list[us.FieldInvalid] = []
    text = json.dumps([{"x": HOSTILE.replace("\ud800", "")}])
    async for event in us.query_stream("?", list[Judged], lm=us.testing.StaticResponse(text), check="report"):
        if isinstance(event, us.FieldInvalid):
            told.append(event)
            clean(event.message, lines=True)
            clean(repr(event))
        elif isinstance(event, us.ParsingFailed):
            clean_error(event.error)
    assert told


async def test_a_partial_value_with_other_fields() -> None:
    class Open(BaseModel, extra="allow"):
        x: int = 0

    text = json.dumps({"x": 1, HOSTILE.replace("\ud800", ""): [1], "y": [2]})
    seen = 0
    async for partial in us.query_stream("?", Open, lm=us.testing.StaticResponse(text, chunk_chars=5)).partials():
        clean(repr(partial))
        seen += 1
    assert seen


STREAMS: dict[str, Callable[[], Any]] = {
    "json": lambda: JsonStream(duplicate_keys="error"),
    "python": lambda: PyStream(classes={"Foo": ("x",)}),
}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize(
    "text", [f"{{{ESCAPED}: 1, {ESCAPED}: 2}}", f"[{HOSTILE}]", "[\u202e]", "[\x1b]", "{'\u202e': 1"], ids=ascii
)
def test_a_stream(kind: str, text: str) -> None:
    stream = STREAMS[kind]()
    with pytest.raises(us.StreamError) as raised:
        stream.push(text)
        stream.finish()
    clean_error(raised.value)


def test_a_pool() -> None:
    pool = StreamPool()
    pool.start(HOSTILE)
    clean(repr(pool.push(HOSTILE, f"{{{ESCAPED}: [")))
    for use in (lambda: pool.start(HOSTILE), lambda: pool.push(HOSTILE, HOSTILE), lambda: pool.push(HOSTILE, "x")):
        with pytest.raises(us.StreamError) as raised:
            use()
        clean_error(raised.value)


def test_an_application() -> None:
    terminal = AnswerMachine(None, max_chars=9, max_depth=9).turned_down(ValueError(HOSTILE))
    assert isinstance(terminal, us.ParsingFailed)
    clean_error(terminal.error)
    clean(repr(us.GenerationComplete(Strict.model_construct(**{HOSTILE: 1}), None, "stop")))
    clean_error(typed(ValueError(HOSTILE), us.NetworkError))
    clean_error(typed(ValueError(HOSTILE), us.WireError))
    clean(repr(Problem((HOSTILE, 1), HOSTILE)))


SERVER = [
    {"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}},
    {"error": HOSTILE},
    {"detail": [{"msg": HOSTILE}]},
    {"error": {"message": HOSTILE, "status": 429}},
]


@pytest.mark.parametrize("body", SERVER, ids=ascii)
def test_a_server(body: dict[str, Any]) -> None:
    from unspool.providers.failure import detail_in, http_failure, stream_failure

    words = json.dumps(body)
    for text in (words, HOSTILE):
        error = http_failure(400, {"x-request-id": HOSTILE}, text.encode("utf-8", "surrogatepass"))
        clean_error(error)
        clean(error.request_id or "")
        clean_error(stream_failure(detail_in(text)))


def event(delta: dict[str, Any], reason: str | None = None) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}]})}\n\n"


@pytest.mark.parametrize(
    "body",
    [
        event({"refusal": HOSTILE}) + event({}, "stop"),
        event({"content": "{}"}) + f"data: {json.dumps(SERVER[0])}\n\n",
        event({"content": "{}"}) + "data: [1\x1b]\n\n",
        event({"content": f'{{"x": {ESCAPED}}}'}) + event({}, "stop"),
        event({"tool_calls": [{"index": 0, "id": HOSTILE, "function": {"name": HOSTILE, "arguments": "[\x1b"}}]})
        + event({}, "tool_calls"),
        event({"tool_calls": [{"index": 0, "id": HOSTILE, "function": {"name": HOSTILE, "arguments": "{}"}}]})
        + event({}, "tool_calls"),
    ],
    ids=["refusal", "error", "no-json", "answer", "arguments", "tool"],
)
async def test_a_provider(body: str) -> None:
    transport = us.testing.ScriptedTransport([body.encode("utf-8", "surrogatepass")])
    lm = us.llms.OpenAIChat(model="m", api_key="k" * 20, transport=transport)
    with pytest.raises(UnspoolError) as raised:
        await us.query("?", Strict, lm=lm)
    clean_error(raised.value)
    if raised.value.partial is not None:
        clean(repr(raised.value.partial))
