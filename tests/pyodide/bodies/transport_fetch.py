"""What a client must make of each misbehaviour of `tests/tools/fault_server.py`, in every realm.

Plain asynchronous functions of the server's URL. `EVERYWHERE` runs on CPython too, from
tests/conformance/test_http_faults.py; `FETCH_ONLY` needs JavaScript. Field reports F6–F11, F43–F45.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any, NamedTuple

from unspool import llms
from unspool.contracts import HttpRequest
from unspool.errors import NetworkError, UnspoolError
from unspool.model import MAX_ERROR_BODY_BYTES, ChunkStream
from unspool.stream.chunks import Chunk, Finish, TextDelta
from unspool.structured import strict_json
from unspool.transport import default_transport

KEY = "unspool-marker-0123456789"
IN_PYODIDE = sys.platform == "emscripten"


class Expected(NamedTuple):
    """How an answer ends."""

    code: str | None
    text: str = ""
    status: int | None = None
    retryable: bool = True
    retry_after_s: float | None = None
    words: str = ""


FAULTS: dict[str, Expected] = {
    "ok": Expected(None, "Hello wörld"),
    "drip": Expected(None, "Hello wörld"),
    "one-slice": Expected(None, "x" * 500),
    "done-but-open": Expected(None, "Hello wörld"),
    "wrong-type": Expected(None, "Hello wörld"),
    "cut-before-headers": Expected("NETWORK"),
    "cut-in-headers": Expected("NETWORK"),
    "reset-before-headers": Expected("NETWORK"),
    "not-http": Expected("NETWORK"),
    "redirect": Expected("NETWORK", retryable=False, words="redirect"),
    "cut-in-body": Expected("NETWORK", "Hello "),
    "reset-in-body": Expected("NETWORK", "Hello "),
    "short-body": Expected("NETWORK", "Hello "),
    "clean-eof": Expected("STREAM_TRUNCATED", "Hello "),
    "html-page": Expected("PROTOCOL", retryable=False),
    "error-in-stream": Expected("OVERLOADED", "Hel", status=503),
    "deep-in-stream": Expected("PROTOCOL", "Hel", retryable=False),
    "status-400": Expected("INVALID_REQUEST", status=400, retryable=False, words="the reason for 400"),
    "status-401": Expected("AUTH", status=401, retryable=False, words="the reason for 401"),
    "status-403": Expected("AUTH", status=403, retryable=False),
    "status-404": Expected("INVALID_REQUEST", status=404, retryable=False),
    "status-413": Expected("INVALID_REQUEST", status=413, retryable=False),
    "status-429": Expected("RATE_LIMIT", status=429, retry_after_s=7.0, words="the reason for 429"),
    "status-500": Expected("PROVIDER", status=500),
    "status-503": Expected("OVERLOADED", status=503, retry_after_s=7.0),
    "status-529": Expected("OVERLOADED", status=529, retry_after_s=7.0),
    "html-error": Expected("PROVIDER", status=502),
    "huge-error": Expected("PROVIDER", status=500),
    "deep-error": Expected("PROVIDER", status=500),
    "cut-error": Expected("PROVIDER", status=500),
    "echo-key": Expected("AUTH", status=401, retryable=False, words="Incorrect API key"),
}


async def get(url: str) -> Any:
    """Fetch JSON, with the transport under test; once more when a kept connection was closed at that moment."""
    request = HttpRequest("GET", url, {}, b"")
    try:
        response = await default_transport().open(request)
    except NetworkError:
        response = await default_transport().open(request)
    body = b""
    while (data := await response.read()) is not None:
        body += bytes(data)
    await response.close()
    return strict_json.loads(body)


class Visit:
    """One run against the fault server."""

    def __init__(self, root: str, run: str, fault: str, **options: Any) -> None:
        self.root, self.run = root, run
        self.lm = llms.OpenAIChat("m", api_key=KEY, base_url=f"{root}/{fault}/{run}", **options)

    async def seen(self) -> dict[str, Any]:
        """What the server saw, once all is over."""
        return await get(f"{self.root}/seen/{self.run}")

    async def assert_left(self) -> None:
        """The server saw one request, and that its client went away."""
        seen = await self.seen()
        assert seen["over"], "the server still waits: the abort did not reach the network"
        assert len(seen["requests"]) == 1, seen
        assert seen["ended_by"] == ["client"], seen


async def visit(root: str, fault: str, **options: Any) -> Visit:
    return Visit(root, await get(f"{root}/new"), fault, **options)


async def read_all(stream: ChunkStream) -> list[Chunk]:
    chunks: list[Chunk] = []
    while (batch := await stream.read()) is not None:
        assert batch, "a batch is never empty"
        chunks += batch
    return chunks


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def the_finish(chunks: list[Chunk]) -> Finish:
    """The terminal chunk; there is exactly one, at the end."""
    assert [type(chunk) for chunk in chunks].count(Finish) == 1
    last = chunks[-1]
    assert isinstance(last, Finish)
    return last


def assert_no_key(error: BaseException | None) -> None:
    """The key stands nowhere in an error, its causes or its parts."""
    import traceback

    if error is not None:
        assert KEY not in "".join(traceback.format_exception(error))
        assert KEY not in repr(vars(error))
        if isinstance(error, UnspoolError):
            assert KEY not in repr(error.to_wire())


async def meets_fault(root: str, fault: str) -> None:
    """One fault: the right code, what came before it kept, an end in bounded time, and the key nowhere."""
    expected = FAULTS[fault]
    at = await visit(root, fault)
    stream = at.lm.stream("Hi")
    chunks = await read_all(stream)
    finish = the_finish(chunks)
    assert (finish.error.code if finish.error else None) == expected.code, finish
    assert text_of(chunks) == stream.message.text == expected.text
    assert stream.error is finish.error
    assert_no_key(finish.error)
    if finish.error is None:
        assert finish.reason == stream.message.finish_reason == "stop"
    else:
        assert finish.reason == stream.message.finish_reason == "error"
        assert finish.error.status == expected.status
        assert finish.error.retryable is expected.retryable
        assert finish.error.retry_after_s == expected.retry_after_s
        assert expected.words in finish.error.message
        assert finish.error.partial is not None
        assert finish.error.partial.text == expected.text
        assert len(finish.error.message) < 2_000
    assert await stream.read() is None
    seen = await at.seen()
    assert seen["over"]
    # Chromium sends a request again when a connection that it has used before dies without a word.
    assert len(seen["requests"]) == 1 or (IN_PYODIDE and fault.endswith("before-headers"))


async def every_fault(root: str) -> None:
    """All of `FAULTS`, one after the other."""
    for fault in FAULTS:
        try:
            await meets_fault(root, fault)
        except BaseException as error:
            error.add_note(f"fault: {fault}")
            raise


async def sends_only_needed_headers(root: str) -> None:
    """F9: content type and credential, and what HTTP and the browser add by themselves; no telemetry."""
    at = await visit(root, "ok")
    await at.lm.call("Hi")
    headers = (await at.seen())["requests"][0]["headers"]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    ours = {"authorization", "content-type", "host", "content-length", "accept", "accept-encoding", "connection"}
    if IN_PYODIDE:
        ours |= {name for name in headers if name.startswith("sec-")} | {"origin", "referer", "user-agent"}
        ours |= {"accept-language", "cache-control", "pragma", "priority"}
    assert set(headers) <= ours, sorted(set(headers) - ours)


async def aborts_before_headers(root: str) -> None:
    """F8, F44: a task that waits for the headers is cancelled."""
    at = await visit(root, "never")
    stream = at.lm.stream("Hi")
    task = asyncio.ensure_future(stream.read())
    await _until_connected(at)
    task.cancel()
    await _assert_cancelled(task)
    assert await stream.read() is None
    await at.assert_left()


async def aborts_in_body(root: str) -> None:
    """F8: one batch is read, then the waiting task is cancelled."""
    at = await visit(root, "stall")
    stream = at.lm.stream("Hi")
    chunks = await stream.read() or []
    while text_of(chunks) != "Hello ":
        chunks += await stream.read() or []
    task = asyncio.ensure_future(stream.read())
    await asyncio.sleep(0)
    task.cancel()
    task.cancel()
    await _assert_cancelled(task)
    assert stream.message.text == "Hello "
    assert stream.message.finish_reason == "aborted"
    await at.assert_left()


async def aborts_by_signal_in_body(root: str) -> None:
    """A signal ends the stream with a terminal chunk that keeps the partial."""
    at = await visit(root, "stall")
    signal = asyncio.Event()
    stream = at.lm.stream("Hi", signal=signal)
    chunks: list[Chunk] = []
    while text_of(chunks) != "Hello ":
        chunks += await stream.read() or []
    asyncio.get_running_loop().call_later(0.01, signal.set)
    chunks += await read_all(stream)
    finish = the_finish(chunks)
    assert finish.reason == "aborted"
    assert finish.error is not None
    assert finish.error.code == "ABORTED"
    assert finish.error.partial is not None
    assert finish.error.partial.text == "Hello "
    await at.assert_left()


async def aborts_by_signal_before_headers(root: str) -> None:
    at = await visit(root, "never")
    signal = asyncio.Event()
    stream = at.lm.stream("Hi", signal=signal)
    asyncio.get_running_loop().call_later(0.05, signal.set)
    finish = the_finish(await read_all(stream))
    assert finish.reason == "aborted"
    await at.assert_left()


async def aborts_on_break(root: str) -> None:
    """Leaving the loop early closes without a terminal chunk; the dropped stream aborts at once."""
    at = await visit(root, "endless")
    async for chunk in at.lm.stream("Hi"):
        if isinstance(chunk, TextDelta):
            break
    await at.assert_left()


async def aborts_on_aclose(root: str) -> None:
    at = await visit(root, "endless")
    async with at.lm.stream("Hi") as stream:
        async for chunk in stream:
            if isinstance(chunk, TextDelta):
                break
    assert await stream.read() is None
    assert stream.error is None
    await stream.aclose()
    await at.assert_left()


async def aborts_on_abort(root: str) -> None:
    """`abort` needs no await; whoever reads on sees one terminal chunk."""
    at = await visit(root, "endless")
    stream = at.lm.stream("Hi")
    chunks = await stream.read() or []
    stream.abort()
    stream.abort()
    chunks += await read_all(stream)
    assert the_finish(chunks).reason == "aborted"
    await at.assert_left()


async def aborts_on_garbage_collection(root: str) -> None:
    at = await visit(root, "stall")
    stream = at.lm.stream("Hi")
    await stream.read()
    ring: list[Any] = [stream]
    ring.append(ring)
    del stream, ring
    gc.collect()
    await at.assert_left()


async def aborts_in_error_body(root: str) -> None:
    """The caller leaves while the body of an error status is being read."""
    at = await visit(root, "stalled-error")
    task = asyncio.ensure_future(at.lm.call("Hi"))
    await _until_connected(at)
    task.cancel()
    await _assert_cancelled(task)
    await at.assert_left()


async def leaves_huge_error_body(root: str) -> None:
    """A body without end is read up to its limit, then the connection is closed."""
    assert MAX_ERROR_BODY_BYTES == 65_536
    at = await visit(root, "huge-error")
    finish = the_finish(await read_all(at.lm.stream("Hi")))
    assert finish.error is not None
    assert finish.error.status == 500
    await at.assert_left()


async def times_out_before_headers(root: str) -> None:
    """F11: a timeout is neither a network failure nor an abort."""
    at = await visit(root, "never", timeout_s=0.1)
    finish = the_finish(await read_all(at.lm.stream("Hi")))
    assert finish.reason == "error"
    assert finish.error is not None
    assert finish.error.code == "TIMEOUT"
    assert finish.error.retryable
    await at.assert_left()


async def times_out_in_body(root: str) -> None:
    """The partial survives; the time that the reader takes between two reads does not count."""
    at = await visit(root, "stall", idle_timeout_s=0.1)
    stream = at.lm.stream("Hi")
    chunks = await stream.read() or []
    await asyncio.sleep(0.2)
    chunks += await read_all(stream)
    finish = the_finish(chunks)
    assert finish.error is not None
    assert finish.error.code == "TIMEOUT"
    assert text_of(chunks) == "Hello "
    assert finish.error.partial is not None
    assert finish.error.partial.text == "Hello "
    await at.assert_left()


async def tells_refused_connection(root: str) -> None:
    """F11: nobody listens: a network failure, with a word about what browsers hide."""
    lm = llms.OpenAIChat("m", api_key=KEY, base_url="http://127.0.0.1:9/v1")
    finish = the_finish(await read_all(lm.stream("Hi")))
    assert finish.error is not None
    assert isinstance(finish.error, NetworkError)
    if IN_PYODIDE:
        for hint in ("CORS", "https", "connect-src"):
            assert hint in finish.error.message
    assert_no_key(finish.error)


async def waits_for_its_reader(root: str) -> None:
    """No chunk is read ahead: the server is slowed down by a reader that does not read."""
    at = await visit(root, "endless")
    stream = at.lm.stream("Hi")
    await stream.read()
    before = len(stream.message.text)
    await asyncio.sleep(0.05)
    assert len(stream.message.text) == before
    await stream.aclose()
    await at.assert_left()


async def leaves_no_task(root: str) -> None:
    """F44: nothing is left on the loop, however a stream ends."""
    signal = asyncio.Event()
    before = _tasks()
    for fault in ("ok", "clean-eof", "status-429", "html-page"):
        at = await visit(root, fault)
        await read_all(at.lm.stream("Hi", signal=signal))
        assert _tasks() == before, fault
    at = await visit(root, "stall")
    stream = at.lm.stream("Hi", signal=signal)
    await stream.read()
    await stream.aclose()
    assert _tasks() == before


async def concurrent_streams_do_not_mix(root: str) -> None:
    visits = [await visit(root, "drip") for _ in range(4)]
    messages = await asyncio.gather(*(at.lm.call("Hi") for at in visits))
    assert [message.text for message in messages] == ["Hello wörld"] * 4


def _tasks() -> set[asyncio.Task[Any]]:
    """All tasks but those of a fault server on this loop."""
    return {task for task in asyncio.all_tasks() if "fault_server" not in repr(task)}


async def closes_generators_of_models(root: str) -> None:
    """A model that is a Python generator is closed on the loop at hand, however its stream is left."""
    closed = 0

    async def generate(_request: Any) -> Any:
        nonlocal closed
        try:
            while True:
                await asyncio.sleep(0)
                yield "x"
        finally:
            await asyncio.sleep(0)
            closed += 1

    async with llms.FunctionModel(generate).stream("Hi") as stream:
        await stream.read()
    assert closed == 1
    async for _chunk in llms.FunctionModel(generate).stream("Hi"):
        break
    stream = llms.FunctionModel(generate).stream("Hi")
    await stream.read()
    stream.abort()
    the_finish(await read_all(stream))
    try:
        async with asyncio.timeout(0.2):
            await llms.FunctionModel(generate).call("Hi")
    except TimeoutError:
        await asyncio.sleep(0.02)
    assert closed == 4


async def _until_connected(at: Visit) -> None:
    assert await get(f"{at.root}/arrived/{at.run}")


async def _assert_cancelled(task: asyncio.Future[Any]) -> None:
    try:
        await task
    except asyncio.CancelledError:
        return
    raise AssertionError("the task was not cancelled")


EVERYWHERE = [
    sends_only_needed_headers,
    aborts_before_headers,
    aborts_in_body,
    aborts_by_signal_in_body,
    aborts_by_signal_before_headers,
    aborts_on_break,
    aborts_on_aclose,
    aborts_on_abort,
    aborts_on_garbage_collection,
    aborts_in_error_body,
    leaves_huge_error_body,
    times_out_before_headers,
    times_out_in_body,
    tells_refused_connection,
    waits_for_its_reader,
    leaves_no_task,
    concurrent_streams_do_not_mix,
    closes_generators_of_models,
]


# What follows needs JavaScript.

DELTAS = 50
FAKE_FETCH = """
(mode, deltas) => {
  // A fetch of its own: bodies that count what is done to them, and have no asynchronous iteration, as in Safari (F7).
  const log = { aborted: 0, cancelled: 0, released: 0, pending: 0, pulled: 0 };
  const encoder = new TextEncoder();
  const frame = value => encoder.encode("data: " + JSON.stringify(value) + "\\n\\n");
  const fetch = async (url, options) => {
    const signal = options.signal;
    let fail = () => {};
    signal.addEventListener("abort", () => { log.aborted += 1; fail(signal.reason); }, { once: true });
    if (mode === "blocked") throw new TypeError("Failed to fetch");
    if (mode === "never") return await new Promise((_, reject) => { fail = reject; });
    let sent = 0;
    let locked = false;
    const read = () => new Promise((resolve, reject) => {
      log.pulled += 1;
      log.pending += 1;
      const settle = (how, value) => { log.pending -= 1; fail = () => {}; how(value); };
      fail = reason => settle(reject, reason);
      if (sent < deltas) {
        sent += 1;
        const chunk = { choices: [{ index: 0, delta: { content: "x" } }] };
        queueMicrotask(() => log.pending && settle(resolve, { done: false, value: frame(chunk) }));
      } else if (mode === "breaks") {
        queueMicrotask(() => settle(reject, new TypeError("network error")));
      } else if (mode === "ends") {
        queueMicrotask(() => settle(resolve, { done: true, value: undefined }));
      }
    });
    const body = {
      getReader() {
        if (locked) throw new TypeError("locked");
        locked = true;
        return {
          read,
          cancel: async () => { log.cancelled += 1; if (signal.aborted) throw signal.reason; },
          releaseLock: () => { locked = false; log.released += 1; },
        };
      },
    };
    return { status: 200, type: "cors", headers: new Headers({ "content-type": "text/event-stream" }), body };
  };
  fetch.log = log;
  return fetch;
}
"""


class FakeFetch:
    """Puts a scripted `fetch` in the place of the real one."""

    def __init__(self, mode: str, deltas: int = DELTAS) -> None:
        import js
        from pyodide.code import run_js

        self._real = js.fetch
        self._fetch = run_js(FAKE_FETCH)(mode, deltas)
        self.log = self._fetch.log

    def __enter__(self) -> FakeFetch:
        import js

        js.fetch = self._fetch
        return self

    def __exit__(self, *_exc: object) -> None:
        import js

        js.fetch = self._real


def fake_model(**options: Any) -> llms.OpenAIChat:
    return llms.OpenAIChat("m", api_key=KEY, base_url="http://fake/v1", **options)


async def reads_without_asynchronous_iteration(root: str) -> None:
    """F7: a body with `getReader` alone; its lock is released at the end, and a clean end is no success (F6)."""
    with FakeFetch("ends") as fake:
        finish = the_finish(await read_all(fake_model().stream("Hi")))
    assert finish.error is not None
    assert finish.error.code == "STREAM_TRUNCATED"
    assert finish.error.partial is not None
    assert finish.error.partial.text == "x" * DELTAS
    assert (fake.log.released, fake.log.pending, fake.log.pulled) == (1, 0, DELTAS + 1)


async def cancels_signal_and_reader_together(root: str) -> None:
    """F8: after one chunk the task is cancelled: signal aborted, reader cancelled, no read left, all within a turn."""
    with FakeFetch("stalls", 1) as fake:
        stream = fake_model().stream("Hi")
        await stream.read()
        task = asyncio.ensure_future(stream.read())
        await asyncio.sleep(0.01)
        assert fake.log.pending == 1
        task.cancel()
        await _assert_cancelled(task)
        assert (fake.log.aborted, fake.log.cancelled, fake.log.released, fake.log.pending) == (1, 1, 1, 0)


async def tells_failures_apart(root: str) -> None:
    """F11: the same rejection of `fetch` is a failure, an abort or a timeout, by who caused it."""
    with FakeFetch("blocked"):
        finish = the_finish(await read_all(fake_model().stream("Hi")))
        assert finish.error is not None
        assert finish.error.code == "NETWORK"
        assert "Failed to fetch" in finish.error.message
    with FakeFetch("breaks") as fake:
        finish = the_finish(await read_all(fake_model().stream("Hi")))
        assert finish.error is not None
        assert finish.error.code == "NETWORK"
        assert finish.error.partial is not None
        assert finish.error.partial.text == "x" * DELTAS
        assert fake.log.released == 1
    with FakeFetch("never") as fake:
        finish = the_finish(await read_all(fake_model(timeout_s=0.02).stream("Hi")))
        assert finish.error is not None
        assert finish.error.code == "TIMEOUT"
        assert fake.log.aborted == 1
    with FakeFetch("stalls") as fake:
        finish = the_finish(await read_all(fake_model(idle_timeout_s=0.02).stream("Hi")))
        assert finish.error is not None
        assert finish.error.code == "TIMEOUT"
        assert fake.log.aborted == 1
    with FakeFetch("never") as fake:
        stream = fake_model().stream("Hi")
        asyncio.get_running_loop().call_later(0.02, stream.abort)
        finish = the_finish(await read_all(stream))
        assert finish.error is not None
        assert finish.error.code == "ABORTED"
        assert fake.log.aborted == 1


async def tells_what_cors_hides(root: str) -> None:
    """F11: in a page an answer without CORS headers is a network failure with a hint; Node has no such rule."""
    import js

    at = await visit(root, "no-cors")
    finish = the_finish(await read_all(at.lm.stream("Hi")))
    if hasattr(js, "location"):
        assert finish.error is not None
        assert finish.error.code == "NETWORK"
        assert "CORS" in finish.error.message
        assert_no_key(finish.error)
    else:
        assert finish.error is None


async def takes_an_abort_signal(root: str) -> None:
    """A JavaScript AbortSignal stops a call; its listener is taken off again, whichever way the call ends."""
    import js
    from pyodide.code import run_js

    count = run_js(
        """(signal) => {
          const log = { listeners: 0 };
          const { addEventListener, removeEventListener } = EventTarget.prototype;
          signal.addEventListener = (...rest) => { log.listeners += 1; addEventListener.apply(signal, rest); };
          signal.removeEventListener = (...rest) => { log.listeners -= 1; removeEventListener.apply(signal, rest); };
          return log;
        }"""
    )
    controller = js.AbortController.new()
    log = count(controller.signal)
    at = await visit(root, "ok")
    assert (await at.lm.call("Hi", signal=controller.signal)).text == "Hello wörld"
    assert log.listeners == 0
    at = await visit(root, "stall")
    stream = at.lm.stream("Hi", signal=controller.signal)
    await stream.read()
    assert log.listeners == 1
    asyncio.get_running_loop().call_later(0.01, controller.abort)
    finish = the_finish(await read_all(stream))
    assert finish.reason == "aborted"
    assert log.listeners == 0
    await at.assert_left()
    at = await visit(root, "ok")
    assert the_finish(await read_all(at.lm.stream("Hi", signal=controller.signal))).reason == "aborted"
    assert (await at.seen())["requests"] == []
    dropped = js.AbortController.new()
    log = count(dropped.signal)
    at = await visit(root, "stall")
    stream = at.lm.stream("Hi", signal=dropped.signal)
    await stream.read()
    del stream
    assert log.listeners == 0
    await at.assert_left()


async def takes_javascript_models(root: str) -> None:
    """Any JavaScript iterable or stream is a model; leaving early closes it."""
    from pyodide.code import run_js

    made = run_js(
        """() => {
          const log = { closed: 0, got: null };
          const text = ["a", "b", "c"];
          const chat = [...text.map(content => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
            { choices: [{ index: 0, delta: {}, finish_reason: "length" }], usage: { prompt_tokens: 1 } }];
          const generator = items => async function* (request) {
            log.got = JSON.stringify(request);
            try { for (const item of items) yield item; } finally { log.closed += 1; }
          };
          const stream = async () => new ReadableStream({
            pull(controller) { controller.enqueue("x"); }, cancel() { log.closed += 1; },
          });
          const failing = async function* () { yield "a"; throw new Error("no memory"); };
          const circular = () => { const value = {}; value.self = value; return [value]; };
          const deep = () => [JSON.parse("[".repeat(2000) + "]".repeat(2000))];
          const promise = async () => text;
          return { log, text: generator(text), chat: generator(chat), array: () => text, promise, whole: () => "abc",
            stream, failing, circular, deep };
        }"""
    )()
    for name, reason in (
        ("text", "stop"),
        ("chat", "length"),
        ("array", "stop"),
        ("promise", "stop"),
        ("whole", "stop"),
    ):
        message = await llms.FunctionModel(getattr(made, name)).call("Hi", temperature=0)
        assert (message.text, message.finish_reason) == ("abc", reason), name
    assert made.log.closed == 2
    got = strict_json.loads(made.log.got)
    assert got["messages"] == [{"role": "user", "content": "Hi"}]
    assert got["temperature"] == 0
    async for _chunk in llms.FunctionModel(made.text).stream("Hi"):
        break
    await asyncio.sleep(0.01)
    assert made.log.closed == 3
    async with llms.FunctionModel(made.stream).stream("Hi") as stream:
        await stream.read()
    await asyncio.sleep(0.01)
    assert made.log.closed == 4
    for name, code in (("failing", "PROVIDER"), ("circular", "PROVIDER"), ("deep", "PROTOCOL")):
        finish = the_finish(await read_all(llms.FunctionModel(getattr(made, name)).stream("Hi")))
        assert finish.error is not None
        assert finish.error.code in (code, "MAX_DEPTH_EXCEEDED"), (name, finish)


async def fetches_the_key_from_javascript(root: str) -> None:
    """A key may come from the page: an async function, called for each request."""
    from pyodide.code import run_js

    fetch_key = run_js(f"async () => '{KEY}'")
    at = await visit(root, "ok")
    lm = llms.OpenAIChat("m", api_key=fetch_key, base_url=at.lm.base_url)
    await lm.call("Hi")
    assert (await at.seen())["requests"][0]["headers"]["authorization"] == f"Bearer {KEY}"


async def needs_no_stack_switching(root: str) -> None:
    """F45: everything here ran where the interpreter cannot block. (Node 20, Safari.)"""
    from pyodide.ffi import can_run_sync

    if can_run_sync():
        return
    at = await visit(root, "ok")
    assert (await at.lm.call("Hi")).text == "Hello wörld"


async def is_quiet(root: str) -> None:
    """F44: `wait_for`, cancelling twice, dropping: nothing on stderr, the exception once."""
    import io
    from contextlib import redirect_stderr

    with redirect_stderr(io.StringIO()) as said:
        for fault in ("never", "stall"):
            at = await visit(root, fault)
            try:
                await asyncio.wait_for(at.lm.call("Hi"), 0.2)
            except TimeoutError:
                pass
            else:
                raise AssertionError("no TimeoutError")
            await at.assert_left()
        await aborts_in_body(root)
        await aborts_before_headers(root)
        await aborts_on_garbage_collection(root)
        await asyncio.sleep(0.02)
        gc.collect()
    assert said.getvalue() == ""


async def many_streams(count: int) -> None:
    """Streams of 50 deltas, of which a third ends, a third breaks and a third is left early."""
    for at in range(count):
        mode = ("ends", "breaks", "stalls")[at % 3]
        with FakeFetch(mode):
            stream = fake_model().stream("Hi")
            if mode == "stalls":
                for _ in range(25):
                    await stream.read()
                if at % 2:
                    await stream.aclose()
                del stream
            else:
                await read_all(stream)


async def proxies() -> tuple[int, int]:
    """How many Python objects JavaScript holds, and the other way round, once the loop is at rest."""
    import pyodide_js

    await asyncio.sleep(0.05)
    gc.collect()
    await asyncio.sleep(0.05)
    module = pyodide_js._module
    return module.pyproxy_alloc_map.size, module._hiwire_num_refs()


async def leaves_no_proxy(root: str) -> None:
    """F43: the number of proxies does not grow with the number of streams, however they end."""
    import pyodide_js

    pyodide_js._module.enable_pyproxy_allocation_tracing()
    await many_streams(6)
    before = await proxies()
    await many_streams(60)
    after = await proxies()
    assert after == before, (before, after)
    for fault in ("ok", "status-429", "cut-in-body", "stall", "redirect"):
        before = await proxies()
        at = await visit(root, fault, timeout_s=20, idle_timeout_s=0.2)
        await read_all(at.lm.stream("Hi"))
        await at.seen()
        after = await proxies()
        assert after[0] == before[0], (fault, before, after)


FETCH_ONLY = [
    reads_without_asynchronous_iteration,
    cancels_signal_and_reader_together,
    tells_failures_apart,
    tells_what_cors_hides,
    takes_an_abort_signal,
    takes_javascript_models,
    fetches_the_key_from_javascript,
    needs_no_stack_switching,
    is_quiet,
    leaves_no_proxy,
]
