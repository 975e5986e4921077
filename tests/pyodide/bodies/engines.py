"""What a client must make of llama.cpp's own server with a tiny random model, in every realm.

Plain asynchronous functions of the server's base URL; on CPython they run from tests/conformance/test_engines.py. The
model's words are nonsense: odd white space, broken UTF-8, integers of any size. Its stream, grammar and errors are
real. `EVERYWHERE` speaks chat completions; `EACH` and `WITH_TOOLS` take the name of a model class as well, and speak
all three APIs of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

import unspool as us
from unspool.contracts import HttpRequest, Response
from unspool.errors import NetworkError
from unspool.http_model import HttpModel
from unspool.messages import ToolMessage, ToolResult, UserMessage
from unspool.model import ChunkStream
from unspool.providers.openai_responses import OpenAIResponsesAdapter
from unspool.stream import check_order
from unspool.stream.chunks import BlockStart, Chunk, Finish, ToolArgumentsDelta
from unspool.stream.chunks import TextDelta as TextChunk
from unspool.structured import strict_json
from unspool.structured.events import GenerationComplete, GenerationFailed, StringFieldDelta, TextDelta
from unspool.transport import default_transport


class Answer(BaseModel):
    kind: Literal["city", "river", "lake"]
    sure: bool
    marks: list[Annotated[int, Field(ge=0, le=999)]] = Field(max_length=3)


class Named(BaseModel):
    name: Annotated[str, Field(pattern=r"^.{1,8}$")]
    n: int


class PatientTransport:
    """Asks twice: Node may use a connection that the server has closed. Browsers ask again by themselves."""

    def __init__(self) -> None:
        self._inner = default_transport()

    async def open(self, request: HttpRequest) -> Response:
        try:
            return await self._inner.open(request)
        except NetworkError:
            return await self._inner.open(request)


def model(base_url: str) -> us.llms.OpenAIChat:
    transport = PatientTransport()
    return us.llms.OpenAIChat("tiny", base_url=base_url, transport=transport, max_output_tokens=200, seed=1)


async def a_typed_query(base_url: str) -> None:
    answer, message = await us.query("Where?", Answer, lm=model(base_url), protocol="native", returns_message=True)
    assert isinstance(answer, Answer)
    assert message.finish_reason == "stop"
    assert message.usage is not None
    assert message.usage.input_tokens
    assert message.usage.output_tokens


async def events_add_up(base_url: str) -> None:
    """Whatever the seed: deltas join to the text, and the value is what the text says."""
    ends = set()
    for seed in range(10):
        async with us.query_stream("Where?", Named, lm=model(base_url), protocol="native", seed=seed) as stream:
            events = [event async for event in stream]
        ends.add(type(events[-1]))
        text = "".join(event.delta for event in events if isinstance(event, TextDelta))
        assert text == stream.text
        name = "".join(event.delta for event in events if isinstance(event, StringFieldDelta))
        match events[-1]:
            case GenerationComplete(result):
                assert isinstance(result, Named)
                assert result.name == name
            case GenerationFailed(error):  # llama.cpp's own parser gives up on some nonsense, inside a 200 stream
                assert error.code == "PROVIDER"
                assert error.partial is not None
                assert error.partial.text == text
            case other:
                assert other.error.code in ("OUTPUT_TRUNCATED", "OUTPUT_INVALID")
    assert GenerationComplete in ends


async def integers_keep_their_digits(base_url: str) -> None:
    big = Annotated[int, Field(ge=10**17, le=10**17 + 9)]
    value = await us.query("How many?", big, lm=model(base_url), protocol="native")
    assert 10**17 <= value <= 10**17 + 9


async def broken_utf8_is_text(base_url: str) -> None:
    for seed in range(4):
        message = await model(base_url).call("Say", max_output_tokens=60, seed=seed)
        assert message.finish_reason in ("length", "stop")
        message.text.encode()  # no lone surrogate


async def a_prompt_that_is_too_long(base_url: str) -> None:
    error = await failure(us.query("word " * 3000, Answer, lm=model(base_url), protocol="native"))
    assert (error.code, error.status) == ("CONTEXT_WINDOW_EXCEEDED", 400)
    await a_typed_query(base_url)


async def a_request_that_is_wrong(base_url: str) -> None:
    wrong = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "nonsense"}}}}
    error = await failure(model(base_url).call("Where?", extra=wrong))
    assert (error.code, error.status) == ("INVALID_REQUEST", 400)
    assert "nonsense" in error.message


async def an_answer_that_is_cut(base_url: str) -> None:
    error = await failure(us.query("Where?", Answer, lm=model(base_url), protocol="native", max_output_tokens=4))
    assert error.code == "OUTPUT_TRUNCATED"


async def leaving_in_the_middle(base_url: str) -> None:
    """The server has two slots: were the answers that were left still running, the last ones could not begin."""
    for _ in range(5):
        async with model(base_url).stream("Say", max_output_tokens=900) as stream:
            assert await stream.read() is not None
    await a_typed_query(base_url)


async def a_signal_in_the_middle(base_url: str) -> None:
    signal = asyncio.Event()
    stream = us.query_stream("Say", lm=model(base_url), max_output_tokens=900, signal=signal)
    events: list[Any] = []
    async for event in stream:
        events.append(event)
        signal.set()
    assert events[-1].type == "cancelled"
    assert events[-1].error.code == "ABORTED"


async def two_at_once(base_url: str) -> None:
    await asyncio.gather(a_typed_query(base_url), a_typed_query(base_url))


DIALECTS = ("OpenAIChat", "OpenAI", "Anthropic")
"""Models whose APIs the server speaks."""
TOOLS = [
    {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {
            "type": "object",
            "properties": {"kind": {"enum": ["city", "lake"]}, "sure": {"type": "boolean"}},
            "required": ["kind", "sure"],
            "additionalProperties": False,
        },
    }
]


def speaks(base_url: str, dialect: str, **options: Any) -> HttpModel:
    if dialect == "OpenAI":
        options["adapter"] = OpenAIResponsesAdapter(schema_field="response_format")
    options = {"max_output_tokens": 200, "transport": PatientTransport(), **options}
    model: HttpModel = getattr(us.llms, dialect)("tiny", base_url=base_url, **options)
    return model


async def read_all(stream: ChunkStream, chunks: Sequence[Chunk] = ()) -> list[Chunk]:
    """Read to the end, after what has been read."""
    read = [*chunks, *[chunk async for chunk in stream]]
    check_order(read)
    return read


async def it_writes(base_url: str, dialect: str) -> None:
    """Text in many pieces up to the limit, usage, and where it came from."""
    told = 0
    for seed in range(6):
        stream = speaks(base_url, dialect, max_output_tokens=60).stream("Say", extra={"ignore_eos": True, "seed": seed})
        chunks = await read_all(stream)
        message = stream.message
        deltas = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
        assert "".join(deltas) == message.text
        assert message.usage is not None
        # `/v1/messages` passes over `ignore_eos`, and leaves out `message_start` when the first token is no character.
        ends = ("length", "stop") if dialect == "Anthropic" else ("length",)
        assert message.finish_reason in ends, stream.error
        assert (message.usage.output_tokens or 0) == 60 or message.finish_reason == "stop"
        told += bool(message.origin and message.origin.response_id and message.usage.input_tokens and len(deltas) > 10)
    assert told > 1


async def it_holds_to_a_schema(base_url: str, dialect: str) -> None:
    lm = speaks(base_url, dialect)
    asking = us.query("Where?", Answer, lm=lm, protocol="native", max_output_tokens=400)
    if dialect == "Anthropic":  # the server takes `output_config`, and passes over it
        assert (await failure(asking)).code in ("OUTPUT_INVALID", "OUTPUT_TRUNCATED")
    else:
        assert isinstance(await asking, Answer)


async def it_tells_of_a_long_prompt(base_url: str, dialect: str) -> None:
    error = await failure(speaks(base_url, dialect).call("word " * 3000))
    assert (error.code, error.status, error.retryable) == ("CONTEXT_WINDOW_EXCEEDED", 400, False)
    assert "2048" in error.message


async def it_tells_of_a_wrong_request(base_url: str, dialect: str) -> None:
    worst = {"OpenAIChat": {"messages": 7}, "OpenAI": {"input": 7}, "Anthropic": {"max_tokens": "many"}}
    for wrong in ({"temperature": "hot"}, worst[dialect]):
        error = await failure(speaks(base_url, dialect).call("Where?", extra=wrong))
        assert (error.code, error.status) == ("INVALID_REQUEST", 400), error
        assert next(iter(wrong)) in error.message


async def it_stops(base_url: str, dialect: str) -> None:
    """Leaving early and a signal: the server itself tells that it had more to write and writes no more."""
    lm = speaks(base_url, dialect, max_output_tokens=1_900)
    async with lm.stream("Say") as stream:
        assert await stream.read() is not None
    await stopped(base_url)
    signal = asyncio.Event()
    stream = lm.stream("Say", signal=signal)
    chunks = await stream.read() or []
    signal.set()
    finish = (await read_all(stream, chunks))[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "aborted"
    await stopped(base_url)


async def stopped(base_url: str) -> None:
    """Wait until the server is at rest; its last answer was cut."""
    slots: list[Any] = []
    for _ in range(500):
        slots = await get(base_url.removesuffix("/v1") + "/slots")
        if not any(slot["is_processing"] for slot in slots):
            break
    last = max(slots, key=lambda slot: slot.get("id_task") or -1)
    assert not last["is_processing"], "the server still writes"
    for token in last.get("next_token", ()):  # a slot that is at rest may have forgotten it
        assert token["has_next_token"], "the server wrote to the end"
    assert last["n_prompt_tokens"] < 1_900


async def get(url: str) -> Any:
    response = await PatientTransport().open(HttpRequest("GET", url, {}, b""))
    body = b""
    while (data := await response.read()) is not None:
        body += bytes(data)
    await response.close()
    return strict_json.loads(body)


async def it_calls_a_tool(base_url: str, dialect: str) -> None:
    """A call while it is written, its arguments whole at the end, and its result back to the server."""
    lm = speaks(base_url, dialect)
    for choice in ("required", "auto"):
        for _ in range(20):  # a model of random weights may stop, or go on to the limit, before it calls
            stream = lm.stream("Where?", tools=TOOLS, tool_choice=choice)
            chunks = await read_all(stream)
            if stream.message.finish_reason == "tool_calls":
                break
        message = stream.message
        assert (message.finish_reason, stream.error) == ("tool_calls", None)
        # A model of random weights may go on to a second call.
        start = next(chunk for chunk in chunks if isinstance(chunk, BlockStart) and chunk.kind == "tool_call")
        call = message.tool_calls[0]
        assert (call.name, call.truncated) == ("weather", False)
        assert (start.name, start.id) == (call.name, call.id)
        deltas = [
            chunk.text for chunk in chunks if isinstance(chunk, ToolArgumentsDelta) and chunk.index == start.index
        ]
        assert "".join(deltas) == call.arguments
        assert len(deltas) > 3
        assert set(call.args) == {"kind", "sure"}
        results = [ToolResult(call.id, "Rain.") for call in message.tool_calls]
        again = await lm.call([UserMessage("Where?"), message, ToolMessage(results)], tools=TOOLS)
        assert {call.name for call in again.tool_calls} <= {"weather"}
        assert again.usage is not None
        assert message.usage is not None
        assert (again.usage.input_tokens or 0) > (message.usage.input_tokens or 0) + len("Rain.")


async def a_cut_call_is_marked(base_url: str, dialect: str) -> None:
    """F37: cut by the limit inside its arguments."""
    message = await speaks(base_url, dialect).call("Where?", tools=TOOLS, max_output_tokens=45)
    assert message.finish_reason == "length"
    assert [(call.name, call.truncated) for call in message.tool_calls] == [("weather", True)]


async def failure(waiting: Any) -> us.UnspoolError:
    try:
        value = await waiting
    except us.UnspoolError as error:
        return error
    raise AssertionError(f"it gave {value!r}")


EVERYWHERE = [
    a_typed_query,
    events_add_up,
    integers_keep_their_digits,
    broken_utf8_is_text,
    a_prompt_that_is_too_long,
    a_request_that_is_wrong,
    an_answer_that_is_cut,
    leaving_in_the_middle,
    a_signal_in_the_middle,
    two_at_once,
]

EACH = [
    it_writes,
    it_holds_to_a_schema,
    it_tells_of_a_long_prompt,
    it_tells_of_a_wrong_request,
]
WITH_TOOLS = [it_calls_a_tool, a_cut_call_is_marked, it_stops]
"""For the model that knows how to call one, and nothing else: without tools it never ends by itself."""
