"""The one asynchronous loop: what is given in which order, and what is left behind, however a stream ends."""

from __future__ import annotations

import asyncio
import gc
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from tests.support import named

from unspool.contracts import HttpRequest, Request
from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    UnspoolError,
    WireError,
)
from unspool.llms import FunctionModel, OpenAIChat
from unspool.messages import UserMessage
from unspool.model import MAX_ERROR_BODY_BYTES, SAMPLE_CONCURRENCY, ChunkStream, LanguageModel
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta
from unspool.testing import HttpResponse, ScriptedResponse, ScriptedTransport

KEY = "unspool-marker-0123456789"


def delta(text: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()


STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
ANSWER = [delta("a"), delta("b"), delta("c"), STOP, DONE]


def model(*replies: Any, **options: Any) -> tuple[OpenAIChat, ScriptedTransport]:
    transport = ScriptedTransport(replies)
    return OpenAIChat("m", api_key=options.pop("api_key", KEY), transport=transport, **options), transport


async def read_all(stream: ChunkStream) -> list[Chunk]:
    chunks: list[Chunk] = []
    while (batch := await stream.read()) is not None:
        assert batch
        chunks += batch
    return chunks


def text_of(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def the_finish(chunks: Sequence[Chunk]) -> Finish:
    assert [type(chunk) for chunk in chunks].count(Finish) == 1
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


def the_error(chunks: Sequence[Chunk]) -> UnspoolError:
    error = the_finish(chunks).error
    assert error is not None
    return error


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
async def quiet_loop() -> AsyncIterator[None]:
    """Nothing is left on the loop, and nothing is told to its exception handler: no task destroyed, none forgotten."""
    told: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: told.append(context))
    before = asyncio.all_tasks()
    yield
    await turns(3)
    left = {task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()}
    assert not left
    gc.collect()
    assert not told


# What is given


async def test_batches_are_slices() -> None:
    """F10: what arrives together is given together; a slice without a chunk gives no batch."""
    lm, _ = model([delta("a") + delta("b"), b": ping\n\n", delta("c")[:20], delta("c")[20:], STOP + DONE])
    stream = lm.stream("Hi")
    assert await stream.read() == [BlockStart(0, "text"), TextDelta(0, "a"), TextDelta(0, "b")]
    assert await stream.read() == [TextDelta(0, "c")]
    assert await stream.read() == [BlockEnd(0), Finish("stop", "stop")]
    assert await stream.read() is None
    assert await stream.read() is None


async def test_buffered_upstream_comes_as_one_batch() -> None:
    lm, _ = model([delta("x") * 500 + STOP + DONE])
    batch = await lm.stream("Hi").read()
    assert batch is not None
    assert text_of(batch) == "x" * 500
    the_finish(batch)


async def test_iteration_flattens_batches() -> None:
    lm, _ = model(list(ANSWER))
    assert text_of([chunk async for chunk in lm.stream("Hi")]) == "abc"


async def test_read_after_iteration_gives_the_rest_of_the_batch() -> None:
    lm, _ = model([delta("a") + delta("b"), STOP + DONE])
    stream = lm.stream("Hi")
    assert await anext(stream) == BlockStart(0, "text")
    assert await stream.read() == [TextDelta(0, "a"), TextDelta(0, "b")]
    await read_all(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_nothing_is_sent_before_the_first_read() -> None:
    lm, transport = model(list(ANSWER))
    stream = lm.stream("Hi")
    await turns(3)
    assert transport.requests == []
    await stream.aclose()
    assert transport.requests == []
    assert await stream.read() is None


async def test_nothing_is_read_ahead() -> None:
    lm, transport = model(list(ANSWER))
    stream = lm.stream("Hi")
    await stream.read()
    await turns(10)
    assert transport.responses[0].reads == 1
    await stream.read()
    assert transport.responses[0].reads == 2
    await stream.aclose()


async def test_the_response_is_closed_before_the_terminal_chunk() -> None:
    """Rule 3 of the design, also for the end by a status, by a fault and by a signal."""
    for reply in (list(ANSWER), [delta("a")], HttpResponse(500), [delta("a"), NetworkError("gone")]):
        lm, transport = model(reply)
        chunks = [(chunk, transport.responses[0].closed) async for chunk in lm.stream("Hi")]
        assert isinstance(chunks[-1][0], Finish)
        assert chunks[-1][1]
        assert not chunks[0][1] or isinstance(chunks[0][0], Finish)


async def test_the_body_is_not_read_beyond_the_end_of_the_answer() -> None:
    lm, transport = model([*ANSWER, asyncio.Event()])
    the_finish(await read_all(lm.stream("Hi")))
    assert transport.responses[0].reads == len(ANSWER)


async def test_the_message_grows() -> None:
    lm, _ = model(list(ANSWER))
    stream = lm.stream("Hi")
    seen = [(stream.message.text, stream.message.finish_reason)]
    while await stream.read() is not None:
        seen.append((stream.message.text, stream.message.finish_reason))
    assert seen == [("", None), ("a", None), ("ab", None), ("abc", None), ("abc", "stop")]
    assert stream.error is None


async def test_a_clean_end_without_a_terminal_event_is_no_success() -> None:
    """F6: told apart from a connection that breaks; both keep what had come."""
    lm, _ = model([delta("a")], [delta("a"), NetworkError("gone")])
    for code in ("STREAM_TRUNCATED", "NETWORK"):
        chunks = await read_all(lm.stream("Hi"))
        error = the_error(chunks)
        assert (error.code, text_of(chunks)) == (code, "a")
        assert error.partial is not None
        assert error.partial.text == "a"


async def test_no_silent_replay() -> None:
    """F51: a connection that drops after output is not sent again."""
    lm, transport = model([delta("a"), NetworkError("gone")], list(ANSWER))
    chunks = await read_all(lm.stream("Hi"))
    assert text_of(chunks) == "a"
    assert len(transport.requests) == 1


async def test_overload_in_the_stream_is_an_error_and_no_text() -> None:
    """F56, F38: an error object inside a 200 stream, before and after output."""
    overloaded = b'data: {"error":{"message":"busy","type":"overloaded_error"}}\n\n'
    lm, _ = model([overloaded], [delta("a"), overloaded])
    for text in ("", "a"):
        chunks = await read_all(lm.stream("Hi"))
        assert text_of(chunks) == text
        assert the_error(chunks).code == "OVERLOADED"
        assert the_error(chunks).retryable


# Endings, each at every turn of the loop

TURNS = 30


async def _cancel(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    task.cancel()


async def _cancel_twice(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()


async def _abort(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    stream.abort()
    stream.abort()


async def _leave(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    await stream.aclose()


async def _abort_and_cancel(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    stream.abort()
    task.cancel()


async def _cancel_and_abort(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    task.cancel()
    stream.abort()


async def _abort_and_leave(stream: ChunkStream, task: asyncio.Task[Any]) -> None:
    stream.abort()
    await stream.aclose()


Ending = Callable[[ChunkStream, "asyncio.Task[Any]"], Awaitable[None]]


@pytest.mark.parametrize(
    ("ending", "outcomes"),
    [
        (_cancel, {"cancelled"}),
        (_cancel_twice, {"cancelled"}),
        (_abort, {"aborted"}),
        (_leave, {"left"}),
        (_abort_and_cancel, {"cancelled"}),
        (_cancel_and_abort, {"cancelled"}),
        (_abort_and_leave, {"left", "aborted"}),
    ],
)
@pytest.mark.parametrize("with_signal", [False, True])
async def test_every_ending_at_every_turn(ending: Ending, outcomes: set[str], with_signal: bool) -> None:
    """F8, F44: one outcome, the request aborted, the task not cancelled twice, nothing left."""
    seen: set[str] = set()
    for turn in range(1, TURNS):  # in turn 0 the task has not begun

        async def fetch_key() -> str:
            await turns(2)
            return KEY

        lm, transport = model(list(ANSWER), api_key=fetch_key)
        stream = lm.stream("Hi", signal=asyncio.Event() if with_signal else None)
        task = asyncio.ensure_future(read_all(stream))
        await turns(turn)
        was_done = task.done()
        await ending(stream, task)
        try:
            chunks = await task
        except asyncio.CancelledError:
            outcome = "cancelled"
            assert stream.message.finish_reason in ("aborted", "stop")
        else:
            last = chunks[-1] if chunks else None
            if not isinstance(last, Finish):
                outcome = "left"
                assert stream.error is None
            elif last.error is None:
                outcome = "whole"
            else:
                outcome = "aborted"
                assert isinstance(last.error, CallCancelledError)
                assert stream.error is last.error
        if was_done:
            assert outcome == "whole"
        elif outcome != "whole":
            assert outcome in outcomes, turn
        seen.add(outcome)
        assert await stream.read() is None
        assert len(transport.responses) + transport.aborted <= 1
        for response in transport.responses:
            assert response.closed
            assert response.aborted or outcome == "whole"
        assert not task.cancelling() or outcome == "cancelled"
        await stream.aclose()
        await turns(2)
    assert seen >= {"whole"}
    assert seen & outcomes


async def test_a_signal_at_every_turn() -> None:
    seen: set[str | None] = set()
    for turn in range(TURNS):
        lm, transport = model(list(ANSWER))
        signal = asyncio.Event()
        task = asyncio.ensure_future(read_all(lm.stream("Hi", signal=signal)))
        await turns(turn)
        signal.set()
        finish = the_finish(await task)
        seen.add(finish.reason)
        assert (finish.reason == "aborted") is isinstance(finish.error, CallCancelledError)
        assert not task.cancelling()
        assert all(response.closed for response in transport.responses)
    assert seen == {"aborted", "stop"}


async def test_a_signal_that_is_set_before_means_that_nothing_is_sent() -> None:
    signal = asyncio.Event()
    signal.set()
    fetched = 0

    async def fetch_key() -> str:
        nonlocal fetched
        fetched += 1
        return KEY

    lm, transport = model(list(ANSWER), api_key=fetch_key)
    assert the_error(await read_all(lm.stream("Hi", signal=signal))).code == "ABORTED"
    with pytest.raises(CallCancelledError):
        await lm.call("Hi", signal=signal)
    assert (transport.requests, fetched) == ([], 0)


async def test_abort_before_the_first_read() -> None:
    lm, transport = model(list(ANSWER))
    stream = lm.stream("Hi")
    stream.abort()
    assert the_error(await read_all(stream)).code == "ABORTED"
    assert transport.requests == []


async def test_abort_between_two_reads_keeps_the_partial() -> None:
    lm, transport = model(list(ANSWER))
    stream = lm.stream("Hi")
    await stream.read()
    stream.abort()
    assert transport.responses[0].aborted
    error = the_error(await read_all(stream))
    assert error.partial is not None
    assert error.partial.text == "a"


async def test_abort_after_the_end_changes_nothing() -> None:
    lm, _ = model(list(ANSWER))
    stream = lm.stream("Hi")
    await read_all(stream)
    stream.abort()
    await stream.aclose()
    assert stream.message.finish_reason == "stop"
    assert stream.error is None


async def test_abort_from_inside_of_the_own_wait() -> None:
    """A callback that runs inside of `read` cannot cancel its own task; it is woken on the next turn instead."""
    stream: ChunkStream | None = None

    def on_request(request: HttpRequest) -> None:
        assert stream is not None
        stream.abort()

    transport = ScriptedTransport([HttpResponse(after=asyncio.Event())], on_request)
    stream = OpenAIChat("m", api_key=KEY, transport=transport).stream("Hi")
    assert the_error(await read_all(stream)).code == "ABORTED"
    assert transport.aborted == 1
    await turns(2)


@pytest.mark.parametrize("wait", ["headers", "body", "key"])
async def test_a_timeout_of_the_caller(wait: str) -> None:
    """F44: `asyncio.timeout` and `wait_for` around a call see their own TimeoutError, once."""

    async def never_a_key() -> str:
        await asyncio.Event().wait()
        return KEY

    reply = {
        "headers": HttpResponse(after=asyncio.Event()),
        "body": [delta("a"), asyncio.Event()],
        "key": list(ANSWER),
    }[wait]
    reply = HttpResponse(body=reply) if isinstance(reply, list) else reply
    lm, transport = model(reply, reply, api_key=never_a_key if wait == "key" else KEY)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await lm.call("Hi")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(lm.call("Hi"), 0.01)
    assert all(response.aborted and response.closed for response in transport.responses)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_break_drops_and_aborts_at_once() -> None:
    lm, transport = model([*ANSWER[:2], asyncio.Event()])
    async for _chunk in lm.stream("Hi"):
        break
    assert transport.responses[0].aborted


async def test_collected_in_a_cycle_aborts() -> None:
    lm, transport = model([*ANSWER[:2], asyncio.Event()])
    stream = lm.stream("Hi", signal=asyncio.Event())
    await stream.read()
    ring: list[Any] = [stream]
    ring.append(ring)
    del stream, ring
    gc.collect()
    assert transport.responses[0].aborted


async def test_dropped_while_being_listened_to_aborts() -> None:
    """The signal outlives the call, and must not keep it alive."""
    signal = asyncio.Event()
    lm, transport = model([*ANSWER[:2], asyncio.Event()])
    stream = lm.stream("Hi", signal=signal)
    await stream.read()
    del stream
    assert transport.responses[0].aborted


async def test_leaving_twice_and_by_context_manager() -> None:
    lm, transport = model(list(ANSWER))
    async with lm.stream("Hi") as stream:
        await stream.read()
    await stream.aclose()
    assert transport.responses[0].aborted
    assert await stream.read() is None
    assert stream.message.text == "a"
    assert stream.message.finish_reason == "aborted"
    assert stream.error is None


async def test_closing_the_coroutine_of_a_read_aborts() -> None:
    """What a loop does that is torn down in the middle."""
    lm, transport = model([*ANSWER[:1], asyncio.Event()])
    stream = lm.stream("Hi")
    await stream.read()
    reading = stream.read()
    reading.send(None)  # runs up to its first wait
    reading.close()
    assert transport.responses[0].aborted
    assert await stream.read() is None


async def test_two_readers_are_refused() -> None:
    lm, _ = model([delta("a"), asyncio.Event()])
    stream = lm.stream("Hi")
    await stream.read()
    task = asyncio.ensure_future(stream.read())
    await turns(1)
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        await stream.read()
    await stream.aclose()
    assert await task is None


# Failures of others


class Broken(LanguageModel):
    """A model whose parts fail as they are told."""

    def __init__(self, start: Any = None, read: Any = None, decoder: Any = None, close: Any = None) -> None:
        super().__init__("broken")
        self.fail = {"start": start, "read": read, "decoder": decoder, "close": close}
        self.response = ScriptedResponse(HttpResponse(body=[delta("a"), STOP + DONE]))

    async def _open(self, request: Request, credential: str | None) -> Any:
        self._raise("start")
        real_read, real_close = self.response.read, self.response.close

        async def read() -> bytes | None:
            if self.response.reads:
                self._raise("read")
            return await real_read()

        async def close() -> None:
            await real_close()
            self._raise("close")

        self.response.read = read  # type: ignore[method-assign]
        self.response.close = close  # type: ignore[method-assign]
        return self.response

    def _decoder(self, request: Request) -> Any:
        self._raise("decoder")
        return OpenAIChat("m", transport=ScriptedTransport())._decoder(request)

    def _raise(self, where: str) -> None:
        if self.fail[where] is not None:
            raise self.fail[where]


@pytest.mark.parametrize(
    ("where", "error", "code", "text"),
    [
        ("start", ValueError("x"), "NETWORK", ""),
        ("start", OSError("x"), "NETWORK", ""),
        ("start", RequestTimeoutError("x"), "TIMEOUT", ""),
        ("start", ProviderError("OVERLOADED", "x"), "OVERLOADED", ""),
        ("start", RecursionError("x"), "NETWORK", ""),
        ("read", ValueError("x"), "NETWORK", "a"),
        ("read", NetworkError("x"), "NETWORK", "a"),
        ("decoder", KeyError("x"), "PROTOCOL", ""),
    ],
)
async def test_foreign_failures_are_typed_and_keep_the_partial(
    where: str, error: Exception, code: str, text: str
) -> None:
    lm = Broken(**{where: error})
    chunks = await read_all(lm.stream("Hi"))
    said = the_error(chunks)
    assert said.code == code
    assert said.partial is not None
    assert said.partial.text == text_of(chunks) == text
    if not isinstance(error, UnspoolError):
        assert said.__cause__ is error
        assert type(error).__name__ in said.message
    if where != "start":
        assert lm.response.closed


async def test_a_response_that_closes_badly_does_not_cost_the_answer() -> None:
    message = await Broken(close=OSError("x")).call("Hi")
    assert (message.text, message.finish_reason) == ("a", "stop")


class BadDecoder:
    """A decoder with a fault in its code."""

    def __init__(self, where: str) -> None:
        self.where = where

    def feed(self, name: str, data: str) -> list[Chunk]:
        if self.where == "feed" and "b" in data:
            raise ZeroDivisionError("a fault")
        return [BlockStart(0, "text"), TextDelta(0, "a")] if '"a"' in data else []

    def decode(self, event: Any) -> list[Chunk]:
        return []

    def finish(self) -> list[Chunk]:
        if self.where == "finish":
            raise ZeroDivisionError("a fault")
        return [BlockEnd(0), Finish("stop")]


@pytest.mark.parametrize("where", ["feed", "finish"])
async def test_a_fault_in_a_decoder_keeps_what_came_in_the_same_slice(where: str) -> None:
    class Model(LanguageModel):
        async def _open(self, request: Request, credential: str | None) -> Any:
            return ScriptedResponse(HttpResponse(body=[delta("a") + delta("b")]))

        def _decoder(self, request: Request) -> Any:
            return BadDecoder(where)

    chunks = await read_all(Model("m").stream("Hi"))
    assert text_of(chunks) == "a"
    error = the_error(chunks)
    assert isinstance(error, WireError)
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert error.partial is not None
    assert error.partial.text == "a"


async def test_a_model_without_parts_cannot_be_made() -> None:
    with pytest.raises(TypeError, match=r"_decoder.*_open"):
        LanguageModel("m")  # type: ignore[abstract]


# Statuses


async def test_a_status_is_read_for_its_words() -> None:
    body = [b'{"error":{"message":"slow', b' down","type":"rate_limit_error"}}']
    lm, transport = model(HttpResponse(429, {"Retry-After": "7", "X-Request-Id": "r1"}, body))
    error = the_error(await read_all(lm.stream("Hi")))
    assert (error.code, error.status, error.retry_after_s, error.request_id) == ("RATE_LIMIT", 429, 7.0, "r1")
    assert "slow down" in error.message
    assert transport.responses[0].closed


async def test_the_body_of_a_status_is_bounded() -> None:
    lm, transport = model(HttpResponse(500, {}, [b"x" * 30_000] * 50))
    error = the_error(await read_all(lm.stream("Hi")))
    assert error.status == 500
    assert len(error.message) < 2_000
    assert transport.responses[0].reads == -(-MAX_ERROR_BODY_BYTES // 30_000)
    assert transport.responses[0].aborted


async def test_the_body_of_a_status_that_breaks_off_still_tells_the_status() -> None:
    for fault in (NetworkError("gone"), RequestTimeoutError("slow")):
        lm, _ = model(HttpResponse(503, {}, [b"busy", fault]))
        error = the_error(await read_all(lm.stream("Hi")))
        assert (error.code, error.status) == ("OVERLOADED", 503)


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
async def test_the_body_of_a_status_has_a_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.model.ERROR_BODY_TIMEOUT_S", 0.01)
    lm, transport = model(HttpResponse(503, {}, [b"busy", asyncio.Event()]))
    error = the_error(await read_all(lm.stream("Hi")))
    assert (error.code, error.status) == ("OVERLOADED", 503)
    assert transport.responses[0].closed


async def test_an_adapter_that_fails_on_a_status_still_tells_the_status() -> None:
    class Model(LanguageModel):
        async def _open(self, request: Request, credential: str | None) -> Any:
            return ScriptedResponse(HttpResponse(502, {}, b"x"))

        def _decoder(self, request: Request) -> Any:
            raise AssertionError("a response with an error status is not decoded")

        def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
            raise KeyError("x")

    error = the_error(await read_all(Model("m").stream("Hi")))
    assert (error.code, error.status, error.retryable) == ("PROVIDER", 502, True)


# Keys


def assert_no_key(error: BaseException) -> None:
    assert KEY not in "".join(traceback.format_exception(error))
    assert KEY not in repr(vars(error))


async def _no_key() -> str:
    raise LookupError("the vault is shut")


async def _empty_key() -> str:
    return ""


@pytest.mark.parametrize(
    ("api_key", "code"),
    [
        (_no_key, "MISSING_CREDENTIAL"),
        (_empty_key, "MISSING_CREDENTIAL"),
        (lambda: None, "MISSING_CREDENTIAL"),
        (lambda: 5, "MISSING_CREDENTIAL"),
        (f"{KEY}\n", "INVALID_CREDENTIAL"),
        (f"{KEY} ключ", "INVALID_CREDENTIAL"),
        ("", "INVALID_CREDENTIAL"),
    ],
)
async def test_a_key_that_cannot_be_had_or_sent(api_key: Any, code: str) -> None:
    lm, transport = model(list(ANSWER), api_key=api_key)
    error = the_error(await read_all(lm.stream("Hi")))
    assert error.code == code
    assert_no_key(error)
    assert transport.requests == []


async def test_a_key_is_fetched_for_each_request() -> None:
    keys = iter(["key-one-1", "key-two-2"])

    async def fetch_key() -> str:
        return next(keys)

    lm, transport = model(list(ANSWER), list(ANSWER), api_key=fetch_key)
    await lm.call("Hi")
    await lm.call("Hi")
    assert [request.headers.get("authorization") for request in transport.requests] == [
        "Bearer key-one-1",
        "Bearer key-two-2",
    ]


def _loud(message: str) -> Exception:
    error = NetworkError("x")
    error.__cause__ = ValueError(message)
    return error


@pytest.mark.parametrize(
    "reply",
    [
        ValueError(f"could not send {KEY}"),
        NetworkError(f"could not send {KEY}"),
        _loud(f"sent {KEY}"),
        HttpResponse(401, {}, f'{{"error":{{"message":"wrong key {KEY}","param":["{KEY}"]}}}}'.encode()),
        HttpResponse(500, {}, f"<html>{KEY}</html>".encode()),
        HttpResponse(200, {"content-type": "text/html"}, f"<html>{KEY}</html>".encode()),
        [delta("a"), f'data: {{"error":{{"message":"wrong key {KEY}","code":"{KEY}"}}}}\n\n'.encode()],
        [delta("a"), f"data: {KEY}\n\n".encode()],
        [delta("a"), ValueError(f"broke with {KEY}")],
        [delta("a"), NetworkError(f"broke with {KEY}")],
    ],
    ids=named,
)
async def test_the_key_stands_in_no_error(reply: Any) -> None:
    lm, _ = model(reply if isinstance(reply, HttpResponse | Exception) else HttpResponse(body=reply))
    stream = lm.stream("Hi")
    assert_no_key(the_error(await read_all(stream)))
    assert KEY not in repr(stream) + repr(lm)


async def test_the_key_stands_in_no_repr() -> None:
    lm = OpenAIChat("m", api_key=KEY, base_url=f"https://user:{KEY}@h/v1?key={KEY}")
    assert KEY not in repr(lm)
    assert repr(lm.stream("Hi")).startswith("ChunkStream(OpenAIChat('m'")


# call and sample


async def test_call_gives_the_message_or_raises_with_the_partial() -> None:
    lm, _ = model(list(ANSWER), [delta("a"), NetworkError("gone")])
    message = await lm.call([UserMessage("Hi")])
    assert (message.text, message.finish_reason) == ("abc", "stop")
    with pytest.raises(NetworkError) as caught:
        await lm.call("Hi")
    assert caught.value.partial is not None
    assert caught.value.partial.text == "a"


async def test_sample_keeps_the_order_and_its_limit() -> None:
    running = most = 0

    async def generate(request: Request) -> AsyncIterator[str]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        text = request.messages[0].text
        await turns(10 - int(text))
        yield text
        running -= 1

    answers = await FunctionModel(generate).sample([str(n) for n in range(10)])
    assert [message.text for message in answers] == [str(n) for n in range(10)]
    assert most == SAMPLE_CONCURRENCY


async def test_sample_stops_at_the_first_failure() -> None:
    stopped: list[str] = []

    async def generate(request: Request) -> AsyncIterator[str]:
        text = request.messages[0].text
        if text == "bad":
            raise ProviderError("OVERLOADED", "busy")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(text)
        yield text

    with pytest.raises(ProviderError, match="busy"):
        await FunctionModel(generate).sample(["a", "b", "bad", "c"])
    assert set(stopped) <= {"a", "b", "c"}
    assert len(stopped) >= 2


async def test_sample_of_nothing_and_of_a_single_prompt() -> None:
    lm, _ = model()
    assert await lm.sample([]) == []
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        await lm.sample("Hi")  # type: ignore[arg-type]


async def test_wrong_arguments_are_refused_at_once() -> None:
    lm, transport = model()
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        lm.stream("Hi", temperature=-1)
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        lm.stream("Hi", signal=object())
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        OpenAIChat("")
    with pytest.raises(ConfigError, match="INVALID_OPTIONS"):
        OpenAIChat("m", temperature=-1)
    assert transport.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        HttpResponse(401, {"x-request-id": KEY}, b"{}"),
        HttpResponse(
            401, {"content-type": "application/json"}, b'{"error":{"message":"%s %s"}}' % (b"x" * 480, KEY.encode())
        ),
        HttpResponse(401, {}, b'{"error":{"message":"bad key ' + KEY.encode()[:-3]),
        HttpResponse(200, {"content-type": KEY}, b"hello\n" * 1000),
    ],
    ids=["request id", "cut by us", "cut by the network", "content type"],
)
async def test_a_key_that_is_echoed_anywhere_is_blanked_out(reply: HttpResponse) -> None:
    lm, _ = model(reply)
    error = the_error(await read_all(lm.stream("Hi")))
    shown = f"{error} {error!r} {error.to_wire()} {''.join(traceback.format_exception(error))}".lower()
    assert KEY[:15] not in shown


async def test_a_status_stands_though_its_words_break_off() -> None:
    lm, _ = model(HttpResponse(503, None, [b"abc", ValueError("a transport of somebody's")]))
    error = the_error(await read_all(lm.stream("Hi")))
    assert (error.code, error.status, error.retryable) == ("OVERLOADED", 503, True)


@pytest.mark.parametrize("prompts", [None, 5, "Hi", UserMessage("Hi")])
async def test_sample_takes_prompts(prompts: Any) -> None:
    with pytest.raises(ConfigError):
        await model()[0].sample(prompts)


# What does not end


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
@pytest.mark.parametrize("way", ["end", "aclose", "abort", "signal", "abort while reading", "aclose while reading"])
async def test_a_model_that_does_not_close_delays_nobody(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F44: what its function waits for when it is told to stop is cancelled after a second; here, at once."""
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    ended: list[str] = []
    waiting, never, signal = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(_request: Request) -> AsyncIterator[Any]:
        try:
            yield "a"
            if way == "end":
                yield Finish("stop")
            waiting.set()
            await never.wait()
        finally:
            try:
                await never.wait()
            finally:
                ended.append(way)

    stream = FunctionModel(slow).stream("Hi", signal=signal)
    assert text_of(await stream.read() or []) == "a"
    reader = asyncio.ensure_future(read_all(stream)) if "reading" in way or way in ("end", "signal") else None
    if reader is not None and way != "end":
        await waiting.wait()
    if way == "signal":
        signal.set()
    elif "aclose" in way:
        await stream.aclose()
    elif "abort" in way:
        stream.abort()
    chunks = await (reader or read_all(stream))
    if "aclose" not in way:
        assert the_finish(chunks).reason == ("stop" if way == "end" else "aborted")
    await turns(5)
    assert ended == [way]


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
async def test_a_model_that_cannot_be_cancelled_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    let_go = asyncio.Event()

    async def stubborn(_request: Request) -> AsyncIterator[Any]:
        try:
            yield "a"
        finally:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue

    stream = FunctionModel(stubborn).stream("Hi")
    assert text_of(await stream.read() or []) == "a"
    with pytest.warns(RuntimeWarning, match="closing of .*stubborn was cancelled"):
        await stream.aclose()
        await turns(5)
    let_go.set()


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
@pytest.mark.parametrize("way", ["abort", "aclose", "signal", "cancel"])
async def test_a_model_that_ignores_cancellation_holds_no_reader(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F44: it is closed where it stands, and told of once."""
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    waiting, signal = asyncio.Event(), asyncio.Event()
    said: list[str] = []

    async def stubborn(_request: Request) -> AsyncIterator[Any]:
        try:
            yield "a"
            waiting.set()
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    said.append("no")
        finally:
            said.append("closed")

    stream = FunctionModel(stubborn).stream("Hi", signal=signal)
    reader = asyncio.ensure_future(read_all(stream))
    await waiting.wait()
    with pytest.warns(RuntimeWarning, match=r"The wait for FunctionModel\('function'\) was cancelled") as told:
        if way == "abort":
            stream.abort()
        elif way == "aclose":
            await stream.aclose()
        elif way == "signal":
            signal.set()
        else:
            reader.cancel()
        await asyncio.wait([reader])
        await turns(2)
    assert len(told) == 1
    assert said == ["no", "no", "closed"]
    assert reader.cancelling() == (1 if way == "cancel" else 0)
    if way == "cancel":
        assert reader.cancelled()
    elif way == "aclose":
        assert text_of(reader.result()) == "a"
    else:
        assert the_finish(reader.result()).reason == "aborted"
    assert stream.message.text == "a"


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
@pytest.mark.parametrize("where", ["credential", "open", "read"])
async def test_a_cancelled_reader_is_held_nowhere(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncio.timeout around a call ends, though what it cancels waits anew."""
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    ended: list[str] = []

    async def wait(*_args: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(where)

    async def reads(_request: Request) -> AsyncIterator[str]:
        await wait()
        yield "never"

    lm: LanguageModel
    if where == "credential":
        lm = OpenAIChat("m", base_url="https://api.test/v1", api_key=wait, transport=ScriptedTransport([]))
    else:
        lm = FunctionModel(wait if where == "open" else reads)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.001):
            await lm.call("Hi")
    assert ended == [where]


async def test_a_cancellation_is_not_lost_in_what_a_model_makes_of_it() -> None:
    """Neither in an error of its cleanup nor in a piece it gives instead."""
    for fails in (True, False):
        waiting = asyncio.Event()

        async def model(_request: Request, waiting: asyncio.Event = waiting, fails: bool = fails) -> AsyncIterator[str]:
            yield "a"
            waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if fails:
                    raise OSError("already closed") from None
            yield "b"

        stream = FunctionModel(model).stream("Hi")
        reader = asyncio.ensure_future(read_all(stream))
        await waiting.wait()
        reader.cancel()
        await asyncio.wait([reader])
        assert reader.cancelled()
        assert (stream.message.text, stream.message.finish_reason, stream.error) == ("a", "aborted", None)
        assert await stream.read() is None


async def test_a_limit_of_a_function_is_its_own() -> None:
    seen: list[str] = []

    async def limited(_request: Request) -> AsyncIterator[str]:
        async with asyncio.timeout(5):
            yield "a"
            try:
                async with asyncio.timeout(0):
                    await asyncio.Event().wait()
            except TimeoutError:
                seen.append("timed out")
            yield "b"

    chunks = await read_all(FunctionModel(limited).stream("Hi"))
    assert (text_of(chunks), the_finish(chunks).reason, seen) == ("ab", "stop", ["timed out"])


async def test_a_model_whose_own_work_was_cancelled_cancels_nobody() -> None:
    async def cancelled(_request: Request) -> AsyncIterator[str]:
        yield "a"
        raise asyncio.CancelledError

    chunks = await read_all(FunctionModel(cancelled).stream("Hi"))
    assert (text_of(chunks), the_finish(chunks).reason) == ("a", "aborted")


@pytest.mark.host  # the limit is a timer of JavaScript there, which a blocking loop never sees
async def test_a_response_that_does_not_close_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unspool.release.GRACE_S", 0)
    cancelled: list[bool] = []

    async def close(_self: ScriptedResponse) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    monkeypatch.setattr(ScriptedResponse, "close", close)
    lm, _ = model(ANSWER)
    assert (await lm.call("Hi")).text == "abc"
    assert cancelled == [True]
