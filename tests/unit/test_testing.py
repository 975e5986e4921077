"""The public test doubles."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

import unspool as us
from unspool.contracts import HttpRequest
from unspool.errors import CallCancelledError, ConfigError, NetworkError
from unspool.llms import OpenAIChat
from unspool.testing import HttpResponse, Reply, ScriptedTransport, StaticResponse

REQUEST = HttpRequest("POST", "http://h", {}, b"")


async def read_all(transport: ScriptedTransport) -> bytes:
    response = await transport.open(REQUEST)
    body = b""
    while isinstance(data := await response.read(), bytes):
        body += data
    return body


async def test_a_script_is_played_in_order() -> None:
    transport = ScriptedTransport([b"a", [b"b", b"c"], HttpResponse(404, {"X-Y": "z"}, b"d"), NetworkError("gone")])
    assert await read_all(transport) == b"a"
    assert await read_all(transport) == b"bc"
    assert await read_all(transport) == b"d"
    assert [response.status for response in transport.responses] == [200, 200, 404]
    assert transport.responses[0].headers == {"content-type": "text/event-stream"}
    assert transport.responses[2].headers == {"x-y": "z"}
    with pytest.raises(NetworkError):
        await transport.open(REQUEST)
    assert transport.requests == [REQUEST] * 4


async def test_a_script_that_is_over_says_so() -> None:
    with pytest.raises(ConfigError, match="no answer to request 1"):
        await ScriptedTransport().open(REQUEST)
    with pytest.raises(ConfigError):
        await OpenAIChat("m", transport=ScriptedTransport()).call("Hi")


async def test_on_request_may_answer() -> None:
    seen: list[str] = []

    def answer(request: HttpRequest) -> Reply | None:
        seen.append(request.url)
        return b"mine" if len(seen) == 1 else None

    transport = ScriptedTransport([b"script"], answer)
    assert await read_all(transport) == b"mine"
    assert await read_all(transport) == b"script"
    assert seen == ["http://h", "http://h"]


async def test_bodies_wait_and_break() -> None:
    gate = asyncio.Event()
    transport = ScriptedTransport([HttpResponse(body=[b"a", gate, b"b", NetworkError("gone")])])
    response = await transport.open(REQUEST)
    assert await response.read() == b"a"
    task = asyncio.ensure_future(response.read())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    assert await task == b"b"
    with pytest.raises(NetworkError):
        await response.read()


async def test_headers_wait() -> None:
    gate = asyncio.Event()
    transport = ScriptedTransport([HttpResponse(after=gate, body=b"x"), HttpResponse(after=asyncio.Event())])
    task = asyncio.ensure_future(transport.open(REQUEST))
    await asyncio.sleep(0)
    assert not task.done()
    gate.set()
    assert await (await task).read() == b"x"
    task = asyncio.ensure_future(transport.open(REQUEST))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert transport.aborted == 1


async def test_a_response_remembers_what_became_of_it() -> None:
    transport = ScriptedTransport([HttpResponse(body=[b"a", asyncio.Event()]), b"b"])
    response = await transport.open(REQUEST)
    await response.read()
    waiting = asyncio.ensure_future(response.read())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    response.abort()
    with pytest.raises(CallCancelledError):
        await waiting
    with pytest.raises(CallCancelledError):
        await response.read()
    assert (transport.responses[0].aborted, transport.responses[0].closed) == (True, False)
    await read_all(transport)
    await transport.responses[1].close()
    assert (transport.responses[1].aborted, transport.responses[1].closed) == (False, True)


@pytest.mark.parametrize(("chunk_chars", "batches"), [(None, 1), (1, 6), (4, 2), (99, 1)])
async def test_static_response(chunk_chars: int | None, batches: int) -> None:
    lm = StaticResponse('{"a":"', chunk_chars)
    texts: list[str] = []
    stream = lm.stream("Hi")
    while (batch := await stream.read()) is not None:
        texts += [chunk.text for chunk in batch if chunk.type == "text-delta"]
    assert "".join(texts) == '{"a":"'
    assert len(texts) == batches
    assert lm.requests[0].messages[0].text == "Hi"
    assert (await lm.call("again")).text == '{"a":"'


async def test_the_advice_for_a_value_works() -> None:
    """What the error says to do gives an answer that reads as the value."""

    class City(BaseModel):
        name: str

    with pytest.raises(ConfigError) as caught:
        StaticResponse(City(name="Lima"))  # type: ignore[arg-type]
    assert 'us.format_value(value, "json")' in caught.value.message
    lm = StaticResponse(us.format_value(City(name="Lima"), "json"))
    assert await us.query("?", City, lm=lm) == City(name="Lima")


async def test_static_response_of_nothing() -> None:
    assert (await StaticResponse("").call("Hi")).text == ""
    with pytest.raises(ConfigError):
        StaticResponse("x", 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ScriptedTransport(b"data: x"),  # type: ignore[arg-type]
        lambda: ScriptedTransport(["data: x"]),  # type: ignore[list-item]
        lambda: ScriptedTransport([["data: x"]]),  # type: ignore[list-item]
        lambda: StaticResponse({"name": "Lima"}),  # type: ignore[arg-type]
    ],
    ids=["bytes", "text", "slices of text", "a value"],
)
def test_what_is_no_script_is_refused_at_once(make: Any) -> None:
    with pytest.raises(ConfigError):
        make()
