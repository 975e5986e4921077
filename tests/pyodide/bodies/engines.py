"""What a client must make of llama.cpp's own server with a tiny random model, in every realm.

Plain asynchronous functions of the server's base URL; on CPython they run from tests/conformance/test_engines.py. The
model's words are nonsense: odd white space, broken UTF-8, integers of any size. Its stream, grammar and errors are
real.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

import unspool as us
from unspool.contracts import HttpRequest, Response
from unspool.errors import NetworkError
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
