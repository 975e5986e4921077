"""The ready-made models."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.support import named

from unspool import http_model, llms
from unspool.contracts import Request
from unspool.errors import ConfigError, NetworkError, ProviderError
from unspool.llms import FunctionModel, OpenAIChat
from unspool.messages import File, Image, Message, ToolCall, ToolMessage, ToolResult, Usage, UserMessage
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.stream.chunks import Finish, TextDelta, UsageReport
from unspool.testing import HttpResponse, ScriptedTransport

ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\ndata: [DONE]\n\n'
)


def body_of(transport: ScriptedTransport, at: int = 0) -> dict[str, Any]:
    from unspool.structured import strict_json

    value: dict[str, Any] = strict_json.loads(transport.requests[at].body)
    return value


async def test_openai_chat_sends_and_reads() -> None:
    transport = ScriptedTransport([ANSWER])
    lm = OpenAIChat("m", api_key="sk-0123456789", base_url="http://h/v1/", transport=transport, temperature=0)
    message = await lm.call("Hello", system="Be short.", max_output_tokens=5)
    assert (message.text, message.finish_reason, message.raw_finish_reason) == ("Hi", "stop", "stop")
    assert message.usage is not None
    assert (message.usage.input_tokens, message.usage.output_tokens, message.usage.total_tokens) == (1, 2, 3)
    request = transport.requests[0]
    assert (request.method, request.url) == ("POST", "http://h/v1/chat/completions")
    body = body_of(transport)
    assert body["model"] == "m"
    assert body["stream"] is True
    assert body["temperature"] == 0
    assert body["messages"] == [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}]


async def test_only_headers_that_are_needed() -> None:
    """F9."""
    transport = ScriptedTransport([ANSWER, ANSWER])
    await OpenAIChat("m", api_key="sk-0123456789", transport=transport).call("Hello")
    await OpenAIChat("m", base_url="http://h/v1", transport=transport).call("Hello")
    assert {name.lower() for name in transport.requests[0].headers} == {"authorization", "content-type"}
    assert {name.lower() for name in transport.requests[1].headers} == {"content-type"}


async def test_extra_members_and_defaults() -> None:
    transport = ScriptedTransport([ANSWER, ANSWER])
    lm = OpenAIChat("m", transport=transport, seed=7, extra={"top_k": 1, "x": 1})
    await lm.call("Hello", extra={"x": 2})
    assert body_of(transport)["seed"] == 7
    assert (body_of(transport)["top_k"], body_of(transport)["x"]) == (1, 2)
    await lm.call("Hello", seed=8)
    assert body_of(transport, 1)["seed"] == 8


async def test_one_transport_serves_a_model_and_is_made_late(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def make(**limits: Any) -> ScriptedTransport:
        made.append(limits)
        return ScriptedTransport([ANSWER, ANSWER])

    monkeypatch.setattr(http_model, "default_transport", make)
    lm = OpenAIChat("m", api_key="k", timeout_s=1, idle_timeout_s=2)
    assert made == []
    await lm.call("Hello")
    await lm.call("Hello")
    assert made == [{"timeout_s": 1, "idle_timeout_s": 2}]


async def test_openai_is_not_asked_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_model, "default_transport", lambda **_: ScriptedTransport())
    for _ in range(2):
        with pytest.raises(ConfigError, match="as api_key") as caught:
            await OpenAIChat("m").call("Hello")
        assert caught.value.code == "MISSING_CREDENTIAL"


async def test_what_differs_on_a_server_is_set_by_its_adapter() -> None:
    transport = ScriptedTransport([ANSWER])
    adapter = OpenAIChatAdapter(headers={"api-key": "k"}, include_usage=False)
    await OpenAIChat("m", adapter=adapter, transport=transport).call("Hello")
    assert transport.requests[0].headers["api-key"] == "k"
    assert b"stream_options" not in transport.requests[0].body


async def test_a_wrong_address_is_told_when_called() -> None:
    lm = OpenAIChat("m", base_url="h/v1", transport=ScriptedTransport())
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        await lm.call("Hello")


async def test_a_status_goes_through_the_adapter() -> None:
    transport = ScriptedTransport([HttpResponse(401, {}, b'{"error":{"message":"no"}}')])
    with pytest.raises(ProviderError) as caught:
        await OpenAIChat("m", transport=transport).call("Hello")
    assert (caught.value.code, caught.value.status) == ("AUTH", 401)


# Functions as models


def _texts(request: Request) -> Iterator[str]:
    yield from ("a", "b", request.messages[-1].text)


async def _async_texts(request: Request) -> AsyncIterator[str]:
    for text in ("a", "b", request.messages[-1].text):
        await asyncio.sleep(0)
        yield text


async def _awaited(request: Request) -> list[str]:
    return ["a", "b", request.messages[-1].text]


@pytest.mark.parametrize("generate", [_texts, _async_texts, _awaited, lambda request: ["a", "bc"], lambda _: "abc"])
async def test_a_function_is_a_model(generate: Any) -> None:
    message = await FunctionModel(generate).call("c")
    assert (message.text, message.finish_reason) == ("abc", "stop")


async def test_a_function_sees_the_request() -> None:
    seen: list[Request] = []

    def generate(request: Request) -> str:
        seen.append(request)
        return ""

    message = await FunctionModel(generate, model="mine", temperature=0.5).call("Hi", stop="x")
    assert (message.text, message.finish_reason) == ("", "stop")
    assert (seen[0].model, seen[0].temperature, seen[0].stop) == ("mine", 0.5, ("x",))


async def test_a_function_gives_messages_and_parts() -> None:
    """A script of answers: what a test of a loop of tools needs."""
    call = ToolCall("c", "weather", '{"city": "Lima"}')
    script = iter([call, Message("assistant", "Clear.", usage=Usage(9, 12)), ["It ", "is.", Usage(1, 2)]])
    lm = FunctionModel(lambda _request: next(script))
    first = await lm.call("Weather?")
    assert (first.tool_calls, first.finish_reason) == ((call,), "tool_calls")
    second = await lm.call([UserMessage("Weather?"), first, ToolMessage(ToolResult("c", "21"))])
    assert (second.text, second.usage) == ("Clear.", Usage(9, 12))
    third = await lm.call("Sure?")
    assert (third.text, third.usage) == ("It is.", Usage(1, 2))
    assert [len(request.messages) for request in lm.requests] == [1, 3, 1]


async def test_requests_are_kept_but_not_for_ever() -> None:
    lm = FunctionModel(lambda _request: "x")
    lm.max_requests = 2
    for prompt in "abc":
        await lm.call(prompt)
    assert [request.messages[0].text for request in lm.requests] == ["b", "c"]
    lm.max_requests = 0
    await lm.call("d")
    assert lm.requests == []


async def test_chunks_and_usage_from_a_function() -> None:
    def generate(_request: Request) -> Iterator[Any]:
        yield "a"
        yield UsageReport(Usage(1, 2))
        yield Finish("length")

    message = await FunctionModel(generate).call("Hi")
    assert (message.text, message.finish_reason) == ("a", "length")
    assert message.usage == Usage(1, 2)


async def test_a_function_that_fails() -> None:
    async def fails(_request: Request) -> AsyncIterator[str]:
        yield "a"
        raise MemoryError("too big")

    def refuses(_request: Request) -> str:
        raise KeyError("x")

    for generate, text in ((fails, "a"), (refuses, ""), (lambda _: 5, ""), (lambda _: b"bytes", ""), (lambda: 5, "")):
        with pytest.raises(ProviderError) as caught:
            await FunctionModel(generate).call("Hi")  # type: ignore[arg-type]
        assert caught.value.code == "PROVIDER"
        assert caught.value.partial is not None
        assert caught.value.partial.text == text


@pytest.mark.parametrize("kind", ["plain", "async", "generator", "async iterator"])
async def test_a_function_whose_answers_ran_out_says_so(kind: str) -> None:
    answers = iter(["a"])

    async def waits(_request: Request) -> str:
        return next(answers)

    def yields(_request: Request) -> Iterator[str]:
        yield next(answers)

    async def follows(_request: Request) -> str:
        async def none() -> AsyncIterator[str]:
            for answer in answers:
                yield answer

        return await anext(none())

    models: dict[str, Any] = {
        "plain": lambda _: next(answers),
        "async": waits,
        "generator": yields,
        "async iterator": follows,
    }
    lm = FunctionModel(models[kind])
    assert (await lm.call("Hi")).text == "a"
    with pytest.raises(ProviderError, match="answers of the model's function ran out") as caught:
        await lm.call("Hi")
    assert caught.value.code == "PROVIDER"


async def test_a_connection_that_breaks_inside_a_function_is_no_whole_answer() -> None:
    """Its texts have no finish reason that could have come before."""

    def breaks(_request: Request) -> Iterator[str]:
        yield "a"
        raise NetworkError("gone")

    with pytest.raises(NetworkError) as caught:
        await FunctionModel(breaks).call("Hi")
    assert caught.value.partial is not None
    assert caught.value.partial.text == "a"


async def test_leaving_early_closes_the_generator() -> None:
    closed: list[str] = []

    async def generate(_request: Request) -> AsyncIterator[str]:
        try:
            while True:
                await asyncio.sleep(0)
                yield "x"
        finally:
            await asyncio.sleep(0)
            closed.append("async")

    def plain(_request: Request) -> Iterator[str]:
        try:
            while True:
                yield "x"
        finally:
            closed.append("plain")

    for function in (generate, plain):
        async with FunctionModel(function).stream("Hi") as stream:
            async for chunk in stream:
                if isinstance(chunk, TextDelta):
                    break
    assert closed == ["async", "plain"]
    async for _chunk in FunctionModel(generate).stream("Hi"):
        break
    for _ in range(3):
        await asyncio.sleep(0)
    assert closed == ["async", "plain", "async"]


async def test_a_plain_generator_leaves_room_for_others() -> None:
    signal = asyncio.Event()
    asyncio.get_running_loop().call_soon(signal.set)
    finish = None
    async for chunk in FunctionModel(lambda _: iter(lambda: "x", None)).stream("Hi", signal=signal):
        finish = chunk
    assert isinstance(finish, Finish)
    assert finish.reason == "aborted"


def test_a_function_model_needs_a_function() -> None:
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        FunctionModel("not a function")  # type: ignore[arg-type]


def test_models_in_the_page_are_loaded_late() -> None:
    assert "Wllama" in llms.__all__
    with pytest.raises(AttributeError):
        _ = llms.NoSuchModel  # type: ignore[attr-defined]


@pytest.mark.host
def test_loading_the_models_opens_nothing() -> None:
    """Neither httpx nor pydantic is loaded before it is used."""
    import subprocess

    code = "import sys, unspool; unspool.llms.OpenAIChat('m'); print({'httpx2', 'pydantic', 'js'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": 5},
        {"base_url": b"http://h"},
        {"transport": 5},
        {"transport": object()},
        *({name: value} for name in ("timeout_s", "idle_timeout_s") for value in (0, -1, "x", float("nan"), True)),
    ],
    ids=named,
)
def test_what_cannot_be_meant_is_refused_at_once(options: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChat("m", **options)
    assert caught.value.code == "INVALID_OPTIONS"
    assert next(iter(options)).partition("_")[0] in caught.value.message


async def test_functions_get_files_as_lines_and_images_as_they_are() -> None:
    seen: list[Request] = []
    image = Image("https://example.org/a.png")

    def generate(request: Request) -> list[str]:
        seen.append(request)
        return ["ok"]

    await FunctionModel(generate).call(UserMessage(["Read", File("a.txt"), image]))
    assert seen[0].messages == (UserMessage(["Read", '\n[File "a.txt"]', image]),)
