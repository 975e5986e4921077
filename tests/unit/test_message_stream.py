"""A call for its whole message, without the bridge; through it: tests/unit/test_bridge.py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from unspool.errors import ProviderError, WireError
from unspool.llms import FunctionModel, OpenAIChat
from unspool.message_stream import MessageStream
from unspool.structured.events import Cancelled, GenerationComplete, GenerationFailed
from unspool.testing import ScriptedTransport

CALL = {"index": 0, "id": "c1", "function": {"name": "weather", "arguments": '{"city": "Lima"}'}}
ASKS = [
    {"choices": [{"delta": {"content": "Let me see."}}]},
    {"choices": [{"delta": {"tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
]


def stream(model: Any) -> MessageStream:
    return MessageStream(FunctionModel(model).stream("?"))


async def test_a_call_of_a_tool_is_no_fault() -> None:
    call = stream(lambda _request: ASKS)
    events = await call.read()
    assert events is not None
    [end] = events
    assert isinstance(end, GenerationComplete)
    assert (end.result, end.finish_reason) == (None, "tool_calls")
    assert (call.text, call.partial_value) == ("Let me see.", "Let me see.")
    assert [(tool.id, tool.name, tool.args) for tool in call.message.tool_calls] == [
        ("c1", "weather", {"city": "Lima"})
    ]
    assert await call.read() is None
    assert call.repairs == []


async def test_a_failure_keeps_what_had_come() -> None:
    async def model(_request: Any) -> AsyncIterator[str]:
        yield "Half"
        raise ProviderError("OVERLOADED", "gone")

    events = await stream(model).read()
    assert events is not None
    [end] = events
    assert isinstance(end, GenerationFailed)
    assert (end.error.code, end.error.text) == ("OVERLOADED", "Half")
    assert end.error.partial is not None
    assert end.error.partial.text == "Half"


@pytest.mark.parametrize("leaves", [False, True])
async def test_it_is_stopped_while_it_waits(leaves: bool) -> None:
    begun, gone = asyncio.Event(), asyncio.Event()

    async def model(_request: Any) -> AsyncIterator[str]:
        try:
            yield "Half"
            begun.set()
            await asyncio.Event().wait()
        finally:
            gone.set()

    call = stream(model)
    reading = asyncio.ensure_future(call.read())
    await begun.wait()
    if leaves:
        await call.aclose()
        await call.aclose()
        assert await reading is None
    else:
        call.abort()
        events = await reading
        assert events is not None
        assert isinstance(events[0], Cancelled)
        assert events[0].error.text == "Half"
    assert await call.read() is None
    await gone.wait()


async def test_no_error_made_of_the_answer_holds_the_key() -> None:
    """As of numbers that a page cannot hold: what a server says of an answer may be the key that it was sent."""
    key = "key-of-the-caller-0123456789"
    event = b'data: {"id": "%s", "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n'
    transport = ScriptedTransport([event % key.encode() + b"data: [DONE]\n\n"])
    lm = OpenAIChat("m", base_url="https://api.test/v1", api_key=key, transport=transport)
    call = MessageStream(lm.stream("?"))
    await call.read()
    error = WireError("UNSAFE_INTEGER", f"Not {key}")
    call._keep_in(error)
    assert error.partial is not None and error.partial.origin is not None
    assert (error.text, error.partial_value, error.partial.text) == ("Hi", "Hi", "Hi")
    assert error.partial.origin.response_id == "[redacted]"
    assert key not in repr(error.to_wire())
