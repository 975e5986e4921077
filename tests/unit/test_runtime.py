"""Calls through a runtime: bound when they are prepared, good once, with one terminal chunk whatever happens."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from tests.routes import ANSWER, chunks_of, code_of, end_of, route, sent, transport_of

import unspool as us
from unspool.contracts import ModelFacts
from unspool.errors import ConfigError, NetworkError
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.runtime import RetryPolicy, Route, Runtime
from unspool.stream.chunks import Finish
from unspool.testing import HttpResponse, ScriptedTransport


async def test_a_registered_provider_answers() -> None:
    used = route("openai", ANSWER, api_key="sk-0123456789", temperature=0)
    runtime = Runtime(used)
    stream = runtime.stream("openai", "m", "Hello", system="Be short.")
    finish = await end_of(stream)
    assert (finish.reason, stream.message.text) == ("stop", "Hi")
    assert stream.message.origin is not None
    assert (stream.message.origin.model, stream.message.origin.response_id) == ("m-1", "r")
    body = sent(transport_of(used))
    assert (body["model"], body["temperature"]) == ("m", 0)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert transport_of(used).requests[0].headers["authorization"] == "Bearer sk-0123456789"


async def test_a_prepared_call_is_bound_and_good_once() -> None:
    policy = RetryPolicy("always", max_attempts=3)
    old, new = route("p", ANSWER, retry=policy, models=[ModelFacts("m", max_output_tokens=100)]), ScriptedTransport([])
    runtime = Runtime(old)
    call = runtime.prepare("p", "m", "Hi")
    assert (call.provider, call.request.model, call.retry, call.facts.max_output_tokens) == ("p", "m", policy, 100)
    runtime.configure("p", transport=new, base_url="http://elsewhere/v1")
    assert (await end_of(call.stream())).reason == "stop"
    assert transport_of(old).requests[0].url == "http://h/v1/chat/completions"
    with pytest.raises(ConfigError) as caught:
        call.stream()
    assert caught.value.code == "INVALID_OPTIONS"
    for name in ("request", "facts", "retry", "provider"):
        with pytest.raises(AttributeError):
            setattr(call, name, None)


@pytest.mark.parametrize("provider", ["", "nobody", "P"])
async def test_a_provider_that_is_not_there(provider: str) -> None:
    runtime = Runtime(route("p"))
    assert code_of(lambda: runtime.prepare(provider, "m", "Hi")) == "NO_ADAPTER"
    chunks = await chunks_of(runtime.stream(provider, "m", "Hi"))
    assert len(chunks) == 1
    assert isinstance(chunks[0], Finish) and chunks[0].error is not None
    assert (chunks[0].reason, chunks[0].error.code) == ("error", "NO_ADAPTER")


@pytest.mark.parametrize("name", [None, 5, [], {}, b"p"], ids=repr)
async def test_names_that_are_no_texts(name: Any) -> None:
    """Pages hand on what a form gave them."""
    runtime = Runtime(route("p"))
    given: list[tuple[Any, Any]] = [(name, "m"), ("p", name)]
    for names in given:
        assert code_of(partial(runtime.prepare, *names, "Hi")) == "INVALID_OPTIONS"
        assert code_of(partial(runtime.resolve_model, *names)) == "INVALID_OPTIONS"
        finish = await end_of(runtime.stream(*names, "Hi"))
        assert finish.error is not None and finish.error.code == "INVALID_OPTIONS"
    assert code_of(lambda: runtime.configure(name)) == "INVALID_OPTIONS"
    assert code_of(lambda: runtime.deactivate(name)) == "INVALID_OPTIONS"


async def test_what_goes_wrong_is_told_by_the_last_chunk() -> None:
    runtime = Runtime(
        route("p", HttpResponse(529, {}, b"{}"), [ANSWER[:-60]], NetworkError("gone")),
        Route("openai", OpenAIChatAdapter()),
    )
    codes: list[str] = []
    for provider in ("p", "p", "p", "openai"):
        finish = await end_of(runtime.stream(provider, "m", "Hi"))
        assert finish.error is not None and finish.reason == "error"
        codes.append(finish.error.code)
    assert codes == ["OVERLOADED", "STREAM_TRUNCATED", "NETWORK", "MISSING_CREDENTIAL"]


async def test_a_call_is_stopped_by_its_signal() -> None:
    signal = asyncio.Event()
    used = route("p", [ANSWER[:80], asyncio.Event()])  # type: ignore[list-item]
    stream = Runtime(used).stream("p", "m", "Hi", signal=signal)
    asyncio.get_running_loop().call_soon(signal.set)
    assert (await end_of(stream)).reason == "aborted"


async def test_queries_go_through_the_runtime() -> None:
    body = b'data: {"choices":[{"index":0,"delta":{"content":"42"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    used = route("p", body, body, temperature=1)
    runtime = Runtime(used)
    lm = runtime.model("p", "m", temperature=0, extra={"a": 1})
    assert await us.query("6 x 7?", int, lm=lm) == 42
    await lm.call("6 x 7?", extra={"b": 2}, seed=7)
    assert (sent(transport_of(used))["temperature"], sent(transport_of(used))["a"]) == (0, 1)
    assert [sent(transport_of(used), 1)[name] for name in ("a", "b", "seed")] == [1, 2, 7]
    with pytest.raises(ConfigError) as caught:
        await runtime.model("q", "m").call("Hi")
    assert caught.value.code == "NO_ADAPTER"
