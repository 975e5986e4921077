"""query and query_stream against a scripted wire. Outcomes: the seed's STREAMING page; F6, F8, F21, F22, F44, F51."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from pydantic import BaseModel
from tests.support import named, splits

from unspool.answer_stream import QueryStream
from unspool.completion import complete
from unspool.contracts import Request
from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    OutputValidationError,
    ProviderError,
    StreamTruncatedError,
    UnspoolError,
)
from unspool.functions import query, query_stream, sample
from unspool.lang_func import LangFunc
from unspool.llms import FunctionModel, OpenAIChat
from unspool.messages import (
    AssistantMessage,
    Message,
    RefusalPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from unspool.schema import Schema
from unspool.structured.events import (
    Cancelled,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    TextDelta,
)
from unspool.testing import HttpResponse, ScriptedTransport, StaticResponse
from unspool.whole_reply import parse


class Answer(BaseModel):
    explanation: str
    answer: int


GOOD = '{"explanation":"Six times seven","answer":42}'
RESULT = Answer(explanation="Six times seven", answer=42)
TERMINAL = (GenerationComplete, ParsingFailed, GenerationFailed, Cancelled)


def frame(data: Any) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def delta(text: str) -> bytes:
    return frame({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


def end(reason: str = "stop") -> bytes:
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    finish = frame({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return finish + frame({"choices": [], "usage": usage}) + frame(b"[DONE]")


def wire(*replies: Any) -> tuple[OpenAIChat, ScriptedTransport]:
    transport = ScriptedTransport(list(replies))
    return OpenAIChat("m", base_url="https://api.test/v1", transport=transport), transport


def body_of(transport: ScriptedTransport) -> Any:
    return json.loads(transport.requests[0].body)


async def collect(stream: QueryStream[Any]) -> list[Any]:
    events = [event async for event in stream]
    assert [isinstance(event, TERMINAL) for event in events] == [False] * (len(events) - 1) + [True]
    assert await stream.read() is None
    return events


async def test_query_gives_a_validated_value() -> None:
    lm, transport = wire([delta(GOOD[:20]), delta(GOOD[20:]), end()])
    assert await query("What is 6 x 7?", Answer, lm=lm) == RESULT
    assert len(transport.requests) == 1
    assert transport.responses[0].closed


async def test_query_gives_the_message_when_asked() -> None:
    lm, _ = wire([delta(GOOD), end()])
    value, message = await query("?", Answer, lm=lm, returns_message=True)
    assert value == RESULT
    assert message.text == GOOD
    assert message.finish_reason == "stop"
    assert message.usage is not None and message.usage.total_tokens == 8


async def test_response_is_closed_before_the_terminal_event() -> None:
    lm, transport = wire([delta(GOOD), end()])
    async for event in query_stream("?", Answer, lm=lm):
        assert transport.responses[0].closed is isinstance(event, TERMINAL)


async def test_unreadable_answer_closes_the_response_at_once() -> None:
    """Tokens that nobody wants are not paid for: the server's further slices are never read."""
    lm, transport = wire([delta('{"answer":1, I think that'), *[delta("x")] * 50, end()])
    seen = []
    async for event in query_stream("?", Answer, lm=lm):
        seen.append(event)
        if isinstance(event, ParsingFailed):
            assert transport.responses[0].aborted and transport.responses[0].closed
    assert isinstance(seen[-1], ParsingFailed)
    assert transport.responses[0].reads < 5
    assert seen[-1].error.partial is not None and seen[-1].error.partial.text == '{"answer":1, I think that'


async def test_every_cut_of_the_wire_gives_the_same() -> None:
    data = delta('{"explanation":"é😀') + delta(' \\u00e9","ans') + delta('wer":42}') + end()
    results = []
    for slices in splits(data):
        lm, _ = wire(slices)
        stream = query_stream("?", Answer, lm=lm)
        events = await collect(stream)
        assert stream.text == '{"explanation":"é😀 \\u00e9","answer":42}'
        assert stream.partial_value == {"explanation": "é😀 é", "answer": 42}
        results.append([event for event in events if type(event).__name__ not in ("TextDelta", "StringFieldDelta")])
    assert all(result == results[0] for result in results)


async def test_read_gives_one_batch_for_each_slice() -> None:
    lm, _ = wire([delta("[1,"), delta("2,") + delta("3"), delta("]"), end()])
    stream = query_stream("?", list[int], lm=lm)
    batches = []
    while (batch := await stream.read()) is not None:
        batches.append(batch)
    deltas = [[event.delta for event in batch if isinstance(event, TextDelta)] for batch in batches]
    assert deltas == [["[1,"], ["2,3"], ["]"], []]
    assert [type(event) for event in batches[-1]] == [GenerationComplete]
    assert all(batches)


async def test_iteration_and_read_share_one_place() -> None:
    stream = query_stream("?", Answer, lm=StaticResponse(GOOD))
    first = await anext(stream)
    rest = await stream.read()
    assert isinstance(first, TextDelta)
    assert rest is not None and not isinstance(rest[0], TextDelta)
    assert isinstance((await collect(stream))[-1], GenerationComplete)


async def test_prompt_says_what_is_wanted_at_the_end() -> None:
    lm, transport = wire([delta(GOOD), end()])
    await query("What is 6 x 7?", Answer, lm=lm, system="Be brief.")
    system, user = body_of(transport)["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"].startswith("What is 6 x 7?\n\n")
    assert '"explanation"' in user["content"]
    assert "response_format" not in body_of(transport)


async def test_conversations_end_with_our_words() -> None:
    lm = StaticResponse(GOOD)
    talk = [SystemMessage("s"), UserMessage("q1"), AssistantMessage("a1"), UserMessage("q2")]
    await query(talk, Answer, lm=lm)
    await query(UserMessage("q"), Answer, lm=lm)
    await query([*talk, AssistantMessage(ToolCall("c", "f", "{}")), ToolMessage(ToolResult("c", "42"))], Answer, lm=lm)
    first, second, third = [request.messages for request in lm.requests]
    assert [message.role for message in first] == ["system", "user", "assistant", "user"]
    assert first[:3] == tuple(talk[:3])
    assert first[3].text.startswith("q2\n\n") and '"answer"' in first[3].text
    assert [message.text.startswith("q\n\n") for message in second] == [True]
    assert [message.role for message in third[-2:]] == ["tool", "user"]
    assert '"answer"' in third[-1].text
    assert talk[3].text == "q2"  # the caller's messages are left alone


async def test_native_protocol_leaves_the_prompt_and_sends_a_schema() -> None:
    lm, transport = wire([delta(GOOD), end()])
    assert await query("?", Answer, lm=lm, protocol="native") == RESULT
    body = body_of(transport)
    assert body["messages"] == [{"role": "user", "content": "?"}]
    sent = body["response_format"]["json_schema"]
    assert sent["name"] == "Answer"
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["explanation", "answer"]
    assert sent["schema"]["additionalProperties"] is False


async def test_native_list_is_wrapped_on_the_wire_only() -> None:
    lm, transport = wire([delta('{"value":['), delta(GOOD), delta("]}"), end()])
    stream = query_stream("?", list[Answer], lm=lm, protocol="native")
    events = await collect(stream)
    assert events[-1].result == [RESULT]
    assert {event.path[:1] for event in events if hasattr(event, "path")} == {(), (0,)}
    assert stream.partial_value == [{"explanation": "Six times seven", "answer": 42}]
    assert body_of(transport)["response_format"]["json_schema"]["schema"]["properties"].keys() == {"value"}


async def test_native_schema_that_cannot_be_strict_is_sent_loosely() -> None:
    """F35."""
    lm, transport = wire([delta('{"a":1}'), end()])
    with pytest.warns(UserWarning, match="the root is an object with open member names"):
        assert await query("?", dict[str, int], lm=lm, protocol="native") == {"a": 1}
    assert body_of(transport)["response_format"]["json_schema"]["strict"] is False


async def test_protocols_give_the_same_events() -> None:
    """F22: prompted JSON and native output stream at the same granularity."""
    pieces = [GOOD[at : at + 5] for at in range(0, len(GOOD), 5)]
    seen = []
    for protocol in ("json", "native"):
        lm, _ = wire([*map(delta, pieces), end()])
        seen.append(await collect(query_stream("?", Answer, lm=lm, protocol=cast("Any", protocol))))
    assert seen[0] == seen[1]
    assert len(seen[0]) > 10


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        ([delta('{"explanation":"cut'), end("length")], OutputValidationError, "OUTPUT_TRUNCATED"),
        ([delta('{"explanation":"cut'), end()], OutputValidationError, "OUTPUT_INVALID"),
        ([delta('{"explanation":"cut"}'), end()], OutputValidationError, "OUTPUT_INVALID"),
        ([delta('{"explanation":"cut')], StreamTruncatedError, "STREAM_TRUNCATED"),  # F6
        ([delta('{"explanation":"cut'), end("content_filter")], ProviderError, "CONTENT_FILTERED"),
        ([delta('{"explanation":"cut'), NetworkError("gone")], NetworkError, "NETWORK"),
        ([delta('{"explanation":"cut'), frame({"error": {"message": "busy", "code": 503}})], ProviderError, None),
    ],
    ids=["length", "incomplete", "wrong", "cut", "filtered", "network", "error"],
)
async def test_query_raises_and_keeps_what_came(reply: list[Any], kind: type[UnspoolError], code: str | None) -> None:
    """F51: nothing is sent again once something was shown."""
    lm, transport = wire(reply)
    with pytest.raises(kind) as caught:
        await query("?", Answer, lm=lm)
    error = caught.value
    assert code is None or error.code == code
    assert error.text.startswith('{"explanation":"cut')
    assert error.partial_value == {"explanation": "cut"}
    assert error.partial is not None and error.partial.text == error.text
    assert len(transport.requests) == 1
    assert transport.responses[0].closed


async def test_query_refused_by_status() -> None:
    lm, _ = wire(HttpResponse(401, {"content-type": "application/json"}, b'{"error":{"message":"no key"}}'))
    with pytest.raises(ProviderError) as caught:
        await query("?", Answer, lm=lm)
    assert caught.value.code == "AUTH"
    assert caught.value.partial is not None
    assert (caught.value.text, caught.value.partial_value) == ("", None)


async def test_refusal_by_the_model() -> None:
    refusal = frame({"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": None}]})
    lm, _ = wire([refusal, end()])
    [event] = await collect(query_stream("?", Answer, lm=lm))
    assert isinstance(event, GenerationFailed) and event.error.code == "REFUSED"
    assert event.error.partial is not None and event.error.partial.refusal == "No."


async def test_state_stays_reachable_after_any_end() -> None:
    never = asyncio.Event()
    for reply in ([delta('{"answer":1,'), end("length")], [delta('{"answer":1,'), never]):
        lm, _ = wire(reply)
        stream = query_stream("?", Answer, lm=lm)
        assert await stream.read() is not None
        if never in reply:
            await stream.aclose()
        else:
            await collect(stream)
        assert stream.text == '{"answer":1,'
        assert stream.partial_value == {"answer": 1}
        assert stream.message.text == '{"answer":1,'


async def test_signal_ends_a_waiting_stream() -> None:
    lm, transport = wire([delta('{"answer":1,'), asyncio.Event()])
    signal = asyncio.Event()
    stream = query_stream("?", Answer, lm=lm, signal=signal)
    assert await stream.read() is not None
    reading = asyncio.ensure_future(stream.read())
    await asyncio.sleep(0)
    signal.set()
    [event] = cast("list[Any]", await reading)
    assert isinstance(event, Cancelled)
    assert event.error.code == "ABORTED"
    assert event.error.partial_value == {"answer": 1}
    assert event.error.partial is not None and event.error.partial.finish_reason == "aborted"
    assert transport.responses[0].aborted
    assert await stream.read() is None


async def test_signal_set_before_the_start_sends_nothing() -> None:
    lm, transport = wire()
    signal = asyncio.Event()
    signal.set()
    with pytest.raises(CallCancelledError):
        await query("?", Answer, lm=lm, signal=signal)
    assert transport.requests == []


async def test_abort_is_told_to_the_reader() -> None:
    lm, transport = wire([delta("[1"), asyncio.Event()])
    stream = query_stream("?", list[int], lm=lm)
    await stream.read()
    stream.abort()
    stream.abort()
    assert transport.responses[0].aborted  # at once
    [event] = await collect(stream)
    assert isinstance(event, Cancelled)


async def test_cancelled_task_sees_its_cancellation_once() -> None:
    """F44."""
    lm, transport = wire([delta("[1"), asyncio.Event()])
    stream = query_stream("?", list[int], lm=lm)
    await stream.read()
    reading = asyncio.ensure_future(stream.read())
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert transport.responses[0].aborted
    assert await stream.read() is None  # over, without a terminal event
    assert stream.partial_value == []


async def test_break_closes_without_a_terminal_event() -> None:
    lm, transport = wire([delta("[1,"), asyncio.Event()])
    async for _ in query_stream("?", list[int], lm=lm):
        break
    gc.collect()
    assert transport.responses[0].aborted


async def test_leaving_the_block_closes() -> None:
    lm, transport = wire([delta("[1,"), asyncio.Event()])
    async with query_stream("?", list[int], lm=lm) as stream:
        await anext(stream)
    assert transport.responses[0].closed
    assert await stream.read() is None
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_closing_ends_a_waiting_reader() -> None:
    lm, _ = wire([delta("[1,"), asyncio.Event()])
    stream = query_stream("?", list[int], lm=lm)
    await stream.read()
    reading = asyncio.ensure_future(stream.read())
    await asyncio.sleep(0)
    await stream.aclose()
    assert await reading is None


async def test_second_reader_is_refused() -> None:
    lm, _ = wire([asyncio.Event()])
    stream = query_stream("?", list[int], lm=lm)
    reading = asyncio.ensure_future(stream.read())
    await asyncio.sleep(0)
    with pytest.raises(ConfigError):
        await stream.read()
    await stream.aclose()
    assert await reading is None


async def test_nothing_is_sent_before_the_first_read() -> None:
    lm, transport = wire([delta("1"), end()])
    stream = query_stream("?", int, lm=lm)
    await asyncio.sleep(0)
    assert transport.requests == []
    assert (stream.text, stream.partial_value) == ("", None)
    await collect(stream)


async def test_plain_text_without_a_type() -> None:
    stream = query_stream("Say hello.", lm=StaticResponse("Hello", chunk_chars=3))
    events = await collect(stream)
    assert events == [TextDelta("Hel"), TextDelta("lo"), GenerationComplete("Hello", None, "stop")]


async def test_schema_is_made_once_for_many_calls() -> None:
    schema = Schema.of(Answer)
    assert await query("?", schema, lm=StaticResponse(GOOD)) == RESULT
    assert await query("?", {"type": "integer"}, lm=StaticResponse("7")) == 7


async def test_type_none_is_the_null_of_json() -> None:
    nothing: Any = query("?", None, lm=StaticResponse("null"))
    assert await nothing is None


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "yaml"},
        {"max_chars": 0},
        {"max_chars": True},
        {"max_chars": 16_777_217},
        {"max_depth": 0},
        {"max_depth": 129},
        {"max_depth": 1.5},
        {"temperature": -1},
        {"temprature": 1},
        {"output_schema": object()},
        {"signal": "stop"},
    ],
    ids=named,
)
async def test_wrong_options_are_refused_at_the_call(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        query_stream("?", Answer, lm=StaticResponse(GOOD), **options)


async def test_wrong_types_and_prompts_are_refused_at_the_call() -> None:
    with pytest.raises(ConfigError):
        query_stream("?", cast("Any", object()), lm=StaticResponse(GOOD))
    for prompt in (None, [], ["text"], 3):
        with pytest.raises(ConfigError):
            query_stream(cast("Any", prompt), Answer, lm=StaticResponse(GOOD))


async def test_what_is_no_model_is_refused_at_the_call() -> None:
    with pytest.raises(ConfigError, match=r"us\.llms\.FunctionModel"):
        query_stream("?", int, lm=lambda request: "1")  # type: ignore[call-overload]


@pytest.mark.parametrize("text", ["```json\n{}\n```", "<think>{no}</think>\n{}", "Here: {} That is all.", "\ufeff{}"])
async def test_what_stands_around_a_value_is_passed_over(text: str) -> None:
    """F19, F20: streamed or not."""
    reply = text.replace("{}", GOOD)
    assert await query("?", Answer, lm=StaticResponse(reply)) == RESULT
    assert await query("?", Answer, lm=StaticResponse(reply, chunk_chars=1)) == RESULT
    assert parse(reply, Answer, "json") == RESULT


async def test_lenient_reading_names_its_repairs() -> None:
    lm = StaticResponse("{'explanation': 'a', 'answer': 1,} ")
    with pytest.raises(OutputValidationError):
        await query("?", Answer, lm=lm)
    stream = query_stream("?", Answer, lm=lm, lenient=True)
    assert (await collect(stream))[-1].result == Answer(explanation="a", answer=1)
    assert {repair.kind for repair in stream.repairs} == {"single-quotes", "trailing-comma"}


async def test_python_protocol() -> None:
    text = "```python\nAnswer(explanation='Six', answer=0x2a)\n```"
    lm = StaticResponse(text, chunk_chars=3)
    stream = query_stream("?", Answer, lm=lm, protocol="python")
    events = await collect(stream)
    assert events[-1].result == Answer(explanation="Six", answer=42)
    assert [event.python_class for event in events if event.type == "objectStart"] == ["Answer"]
    assert "class Answer" in lm.requests[0].messages[-1].text
    assert parse(text, Answer) == Answer(explanation="Six", answer=42)
    with pytest.raises(ConfigError, match="JSON Schema"):
        query_stream("?", {"type": "object"}, lm=lm, protocol="python")


async def test_options_reach_the_model() -> None:
    lm = StaticResponse(GOOD)
    await query("?", Answer, lm=lm, temperature=0.5, max_output_tokens=9, seed=1, stop=["x"], extra={"k": 1})
    [request] = lm.requests
    assert (request.temperature, request.max_output_tokens, request.seed) == (0.5, 9, 1)
    assert (request.stop, request.extra) == (("x",), {"k": 1})


async def test_model_that_fails_is_a_terminal_event() -> None:
    def fails(request: Any) -> Any:
        yield '{"explanation":"a'
        raise RuntimeError("boom")

    [*_, event] = await collect(query_stream("?", Answer, lm=FunctionModel(fails)))
    assert isinstance(event, GenerationFailed)
    assert event.error.partial_value == {"explanation": "a"}


async def test_million_characters() -> None:
    text = json.dumps(["x" * 100] * 9_000)
    result = await query("?", list[str], lm=StaticResponse(text, chunk_chars=16_384))
    assert len(result) == 9_000
    with pytest.raises(OutputValidationError, match="longer than 1000 characters"):
        await query("?", list[str], lm=StaticResponse(text, chunk_chars=64), max_chars=1_000)


# --- asking again: F53 (bounded, attempts attached, a repeat is noticed), P75 (default), P76


class Check(BaseModel):
    passed: bool


class Replies:
    """A model that gives one reply after another."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.lm = FunctionModel(self.answer)

    def answer(self, request: Request) -> str:
        self.requests.append(request)
        return self.replies.pop(0)


WRONG, WORSE, RIGHT = '{"passed":"tru"}', '{"passed":1}', '{"passed":true}'


async def test_asks_again_with_the_faults() -> None:
    replies = Replies(WRONG, WORSE, RIGHT)
    assert await query("ok?", Check, lm=replies.lm, max_repairs=2) == Check(passed=True)
    first, second, third = (request.messages for request in replies.requests)
    assert second[:1] == first
    assert [message.role for message in third] == ["user", "assistant", "user"], "the turns do not pile up"
    assert second[1].text == WRONG
    assert "passed" in second[2].text


async def test_is_bounded_and_keeps_every_attempt() -> None:
    replies = Replies(WRONG, WORSE, '{"passed":2}', RIGHT)
    with pytest.raises(OutputValidationError) as caught:
        await query("ok?", Check, lm=replies.lm, max_repairs=2)
    assert caught.value.text == '{"passed":2}'
    assert [error.text for error in caught.value.attempts] == [WRONG, WORSE]
    assert len(replies.requests) == 3


async def test_notices_a_repeat() -> None:
    replies = Replies(WRONG, WRONG, RIGHT)
    with pytest.raises(OutputValidationError):
        await query("ok?", Check, lm=replies.lm, max_repairs=8)
    assert len(replies.requests) == 2


async def test_is_off_unless_asked_for() -> None:
    replies = Replies(WRONG, RIGHT)
    with pytest.raises(OutputValidationError):
        await query("ok?", Check, lm=replies.lm)
    assert len(replies.requests) == 1


async def test_default_stands_in_for_an_invalid_answer() -> None:
    fallback = Check(passed=False)
    assert await query("ok?", Check, lm=Replies(WRONG).lm, default=fallback) is fallback
    value, message = await query("ok?", Check, lm=Replies(WRONG).lm, default=fallback, returns_message=True)
    assert (value, message.text) == (fallback, WRONG)


@pytest.mark.parametrize("answer", ["", " \n", "No idea.", '{"passed": tr', "[]"])
async def test_default_stands_in_for_whole_answers_of_any_kind(answer: str) -> None:
    fallback = Check(passed=False)
    assert await query("ok?", Check, lm=FunctionModel(lambda _: answer), default=fallback, max_repairs=1) is fallback


@pytest.mark.parametrize("code", ["OUTPUT_TRUNCATED", "OUTPUT_TOO_LARGE", "CONTENT_FILTERED", "REFUSED"])
async def test_default_never_hides_an_answer_that_is_not_whole(code: str) -> None:
    """Nor a refusal: nothing was wrong with the answer, so that it is not asked for again either."""
    reason = {"OUTPUT_TRUNCATED": "length", "CONTENT_FILTERED": "content_filter"}.get(code, "stop")
    part: Any = RefusalPart("I would rather not.") if code == "REFUSED" else TextPart(RIGHT)
    lm = FunctionModel(lambda _: Message("assistant", [part], finish_reason=cast("Any", reason)))
    limits: dict[str, Any] = {"max_chars": 5} if code == "OUTPUT_TOO_LARGE" else {}
    options: dict[str, Any] = {"lm": lm, "default": None, "max_repairs": 2, **limits}
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: query("ok?", Check, **options),
        lambda: LangFunc("ok?", Check, **options)(),
        lambda: complete(Check.model_construct(), protocol="json", **options),
    ]
    for call in calls:
        before = len(lm.requests)
        with pytest.raises(UnspoolError) as caught:
            await call()
        assert (caught.value.code, len(lm.requests) - before) == (code, 1)


async def test_text_that_was_cut_is_given_and_its_message_tells() -> None:
    lm = FunctionModel(lambda _: Message("assistant", "Half a sen", finish_reason="length"))
    text, message = await query("Say it.", lm=lm, returns_message=True, default="")
    assert (text, message.finish_reason) == ("Half a sen", "length")


@pytest.mark.parametrize("count", [-1, 9, True, 1.5])
async def test_bounds(count: Any) -> None:
    with pytest.raises(ConfigError, match="max_repairs"):
        await query("ok?", Check, lm=Replies().lm, max_repairs=count)
    with pytest.raises(ConfigError, match="count"):
        await sample("ok?", Check, lm=Replies().lm, count=count if count != 9 else 257)


async def test_complete_fills_in_what_is_missing() -> None:
    """P39, P65: MISSING is shown, and never read."""

    class Person(BaseModel):
        name: str
        age: int

    replies = Replies("Person(name='Ana', age=41)")
    known = Person.model_construct(name="Ana")
    assert await complete(known, lm=replies.lm) == Person(name="Ana", age=41)
    assert "MISSING(int)" in replies.requests[0].messages[-1].text
    with pytest.raises(OutputValidationError):
        await complete(known, lm=Replies("Person(name='Ana', age=MISSING(int))").lm)


# --- what a newcomer tried


async def test_a_query_without_a_type_gives_text() -> None:
    assert await query("?", lm=StaticResponse("hi")) == "hi"


class Weather:
    """A model that talks and then calls a tool."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: Request) -> list[Any]:
        self.calls += 1
        function = {"name": "weather", "arguments": "{}"}
        delta = {"content": "Let me look.", "tool_calls": [{"index": 0, "id": "c", "function": function}]}
        return [{"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}]


@pytest.mark.parametrize("T", [Answer, str])
async def test_a_tool_call_is_no_answer(T: Any) -> None:
    """With words beside it or without: it is named, kept, and not asked for again; a default does not hide it."""
    model = Weather()
    with pytest.raises(OutputValidationError, match="weather") as caught:
        await query("?", T, lm=FunctionModel(model), max_repairs=2, default=RESULT)
    assert caught.value.partial is not None
    assert [call.name for call in caught.value.partial.tool_calls] == ["weather"]
    assert model.calls == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"transform": 5}, "transform"),
        ({"lenien": True}, "lenient"),
        ({"max_repairs": 1}, "only query, complete and LangFunc"),
        ({"name": "Bob"}, "us.Template"),
    ],
)
def test_options_that_are_not_there_name_those_that_are(options: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        query_stream("Hi {{name}}", int, lm=StaticResponse("1"), **options)


async def test_messages_may_be_plain_data() -> None:
    lm = StaticResponse("1")
    plain: Any = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert await query(plain, int, lm=lm) == 1
    assert lm.requests[0].messages[0] == SystemMessage("s")
    wrong: Any = [{"role": "boss", "content": "u"}]
    with pytest.raises(ConfigError, match="role"):
        await query(wrong, int, lm=lm)


async def _cities(answer: Answer) -> list[int]:
    await asyncio.sleep(0)
    return [answer.answer]


class _Later:
    """Neither a coroutine function nor what it gives a coroutine."""

    def __call__(self, answer: Answer) -> Any:
        done = asyncio.get_running_loop().create_future()
        done.set_result([answer.answer])
        return done


@pytest.mark.parametrize("transform", [_cities, _Later(), lambda answer: [answer.answer]], ids=named)
async def test_a_transform_may_be_waited_for(transform: Any) -> None:
    """P75: what is done to a value is the application's own; it runs once, after the response has been closed."""
    lm, transport = wire([delta(GOOD), end()], [delta(GOOD), end()], [delta(GOOD), end()])
    assert await query("?", Answer, lm=lm, transform=transform) == [42]
    assert await sample("?", Answer, lm=lm, count=1, transform=transform) == [[42]]
    stream = query_stream("?", Answer, lm=lm, transform=transform)
    async for partial in stream.partials():  # noqa: B007 - read below
        pass
    assert partial.value == [42]
    assert all(response.closed for response in transport.responses)


async def test_a_transform_finds_the_response_closed_and_can_be_left() -> None:
    lm, transport = wire([delta(GOOD), end()])
    begun = asyncio.Event()

    async def never(answer: Answer) -> None:
        assert transport.responses[0].closed
        begun.set()
        await asyncio.Event().wait()

    stream = query_stream("?", Answer, lm=lm, transform=never)
    task = asyncio.create_task(collect(stream))
    await begun.wait()
    with pytest.raises(ConfigError, match="already reading"):
        await stream.read()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await stream.read() is None


async def test_what_a_transform_raises() -> None:
    """A reason against the value is the answer's fault and may be repaired; a failure of another call is told so."""
    given: list[Any] = []

    async def picky(answer: Answer) -> int:
        given.append(answer)
        if len(given) == 1:
            raise ValueError("not that one")
        return answer.answer

    replies = Replies(GOOD, GOOD.replace("42", "43"))
    assert await query("?", Answer, lm=replies.lm, transform=picky, max_repairs=1) == 43
    assert "not that one" in replies.requests[1].messages[-1].text

    async def lost(answer: Answer) -> int:
        raise NetworkError("no way")

    with pytest.raises(NetworkError, match="no way") as caught:
        await query("?", Answer, lm=StaticResponse(GOOD), transform=lost, max_repairs=1)
    assert caught.value.text == GOOD
    assert caught.value.partial is not None

    def stern(answer: Answer) -> int:
        raise OutputValidationError("OUTPUT_INVALID", "as I say")

    with pytest.raises(OutputValidationError, match="as I say"):
        await query("?", Answer, lm=StaticResponse(GOOD), transform=stern)
