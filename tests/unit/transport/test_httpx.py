"""httpx on CPython: what the fault server cannot show (tests/conformance/test_http_faults.py has the rest)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import logging
import re
import socket
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx2
import pytest
from tests.support import named
from tests.tools.fault_server import FaultServer

from unspool.contracts import HttpRequest
from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    RequestTimeoutError,
    UnspoolError,
)
from unspool.llms import OpenAIChat
from unspool.transport import httpx as module
from unspool.transport.httpx import HttpxTransport

pytestmark = pytest.mark.host

KEY = "unspool-marker-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server
    assert not module._open_responses


def post(server: FaultServer, fault: str) -> tuple[HttpRequest, str]:
    run = server.new_run()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    return HttpRequest("POST", f"{server.url}/{fault}/{run}/chat/completions", headers, b"{}"), run


async def test_only_what_http_needs_is_added(server: FaultServer) -> None:
    """F9: no user agent, no telemetry; not even `accept`."""
    request, run = post(server, "ok")
    response = await HttpxTransport().open(request)
    await response.close()
    headers = server.runs[run].requests[0]["headers"]
    assert set(headers) == {"authorization", "content-type", "host", "content-length"}
    assert server.runs[run].requests[0]["body"] == "{}"


async def test_a_client_of_the_caller_is_used_and_left_open(server: FaultServer) -> None:
    async with httpx2.AsyncClient(headers={"X-Proxy": "yes"}) as client:
        transport = HttpxTransport(client)
        for _ in range(2):
            request, run = post(server, "ok")
            response = await transport.open(request)
            while await response.read() is not None:
                pass
            await response.close()
            assert server.runs[run].requests[0]["headers"]["x-proxy"] == "yes"
        request, run = post(server, "stall")
        response = await transport.open(request)
        response.abort()
        await response.close()
        assert not client.is_closed
        assert (await server.seen(run))["ended_by"] == ["client"]


async def test_a_connection_that_is_back_in_the_pool_is_left_alone(server: FaultServer) -> None:
    """After the end of the body the connection may serve another request already."""
    async with httpx2.AsyncClient() as client:
        for _ in range(3):
            response = await HttpxTransport(client).open(HttpRequest("GET", f"{server.url}/new", {}, b""))
            while await response.read() is not None:
                pass
            response.abort()
            await response.close()
    assert server.connections == 1


async def test_a_client_that_is_closed_is_a_typed_failure(server: FaultServer) -> None:
    client = httpx2.AsyncClient()
    await client.aclose()
    lm = OpenAIChat("m", base_url=server.url, transport=HttpxTransport(client))
    with pytest.raises(NetworkError, match="closed"):
        await lm.call("Hi")


async def test_a_failed_connection_says_whom_and_what_to_look_at() -> None:
    """And nothing else of the address, which may hold a key."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]  # free, once it is closed
    request = HttpRequest("GET", f"http://user:{KEY}@127.0.0.1:{port}/{KEY}?key={KEY}", {}, b"")
    with pytest.raises(NetworkError) as caught:
        await HttpxTransport().open(request)
    assert caught.value.message.startswith(f"No connection to 127.0.0.1:{port} (")
    assert "Is the server running" in caught.value.message
    assert KEY not in caught.value.message
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx2.ConnectTimeout("x"), "No connection to h:443 within 30 seconds."),
        (httpx2.ConnectError("x"), "No connection to h:443 (ConnectError: x). Is the server running"),
        (httpx2.ReadError("x"), "No response from h:443 (ReadError: x)."),
    ],
    ids=named,
)
async def test_failures_before_a_response_say_whom(error: Exception, words: str) -> None:
    def fails(_request: httpx2.Request) -> httpx2.Response:
        raise error

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(fails)) as client:
        with pytest.raises(UnspoolError) as caught:
            await HttpxTransport(client).open(HttpRequest("GET", "https://h/v1", {}, b""))
    assert caught.value.message.startswith(words)


async def test_redirects_are_not_followed_even_by_a_client_that_would(server: FaultServer) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        request, _run = post(server, "redirect")
        with pytest.raises(NetworkError, match="redirect") as caught:
            await HttpxTransport(client).open(request)
    assert not caught.value.retryable


async def test_compressed_bodies_of_a_client_that_asks_for_them(server: FaultServer) -> None:
    """Our own client asks for none, so that each event arrives when it is written."""
    handler = httpx2.MockTransport(lambda request: httpx2.Response(200, content=b"plain", request=request))
    async with httpx2.AsyncClient(transport=handler) as client:
        response = await HttpxTransport(client).open(HttpRequest("GET", "http://h", {}, b""))
        assert await response.read() == b"plain"
        assert await response.read() is None
        await response.close()


async def test_reading_after_abort_and_aborting_twice(server: FaultServer) -> None:
    request, run = post(server, "endless")
    response = await HttpxTransport().open(request)
    assert await response.read()
    response.abort()
    response.abort()
    for _ in range(2):
        with pytest.raises(CallCancelledError):
            await response.read()
    await response.close()
    await response.close()
    assert (await server.seen(run))["ended_by"] == ["client"]


async def test_abort_wakes_a_reader_in_another_task(server: FaultServer) -> None:
    request, run = post(server, "stall-at-once")
    response = await HttpxTransport().open(request)
    task = asyncio.ensure_future(response.read())
    await asyncio.sleep(0.01)
    response.abort()
    with pytest.raises(CallCancelledError):
        await task
    await response.close()
    assert (await server.seen(run))["ended_by"] == ["client"]


async def test_timeouts_of_the_transport(server: FaultServer) -> None:
    transport = HttpxTransport(timeout_s=0.05, idle_timeout_s=0.05)
    request, run = post(server, "never")
    with pytest.raises(RequestTimeoutError):
        await transport.open(request)
    assert (await server.seen(run))["ended_by"] == ["client"]
    request, run = post(server, "stall-at-once")
    response = await transport.open(request)
    with pytest.raises(RequestTimeoutError):
        await response.read()
    assert (await server.seen(run))["ended_by"] == ["client"]
    await response.close()


@pytest.mark.parametrize(
    "url", ["", "h/v1", "ftp://h/", "http://", "http://127.0.0.1:99999/", "http://[::1", "http://h\u0000/"]
)
async def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises((ConfigError, NetworkError)) as caught:
        await HttpxTransport().open(HttpRequest("POST", url, {"Authorization": KEY}, b""))
    assert KEY not in str(caught.value)


def test_each_event_loop_may_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection outlives the loop it was made on: a model is often global, and `asyncio.run` called often."""
    lm = OpenAIChat("m", api_key=KEY)

    async def call() -> str:
        async with FaultServer() as server:
            lm.base_url = f"{server.url}/ok/{server.new_run()}"
            return (await lm.call("Hi")).text

    assert [asyncio.run(call()) for _ in range(3)] == ["Hello wörld"] * 3
    assert not module._open_responses


@pytest.mark.parametrize("reads", [0, 1])
def test_a_stream_that_outlives_its_loop(reads: int) -> None:
    """Left open when `asyncio.run` returns, dropped after it: the connection is gone, and nothing complains."""

    async def leave() -> Any:
        async with FaultServer() as server:
            lm = OpenAIChat("m", api_key=KEY, base_url=f"{server.url}/stall/{server.new_run()}")
            stream = lm.stream("Hi")
            for _ in range(reads):
                await stream.read()
            return stream

    stream = asyncio.run(leave())
    stream.abort()
    del stream
    gc.collect()

    async def nothing() -> None:
        async with FaultServer() as server:
            response = await HttpxTransport().open(post(server, "ok")[0])
            await response.close()

    asyncio.run(nothing())
    assert not module._open_responses


async def test_what_is_compressed_twice_is_not_unpacked() -> None:
    """A layer makes a thousand bytes of one: 500 bytes of two layers become 200 MB."""
    bomb = gzip.compress(gzip.compress(b"a" * 10_000_000))
    coded = {"content-encoding": "gzip, gzip"}
    handler = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=coded, stream=httpx2.ByteStream(bomb)))
    async with httpx2.AsyncClient(transport=handler) as client:
        with pytest.raises(NetworkError, match="compressed more than once") as caught:
            await HttpxTransport(client).open(HttpRequest("GET", "http://h", {}, b""))
    assert not caught.value.retryable
    assert not module._open_responses


@pytest.mark.parametrize("leave", ["aclose", "read"])
def test_a_stream_that_is_left_in_another_loop(leave: str) -> None:
    """Notebooks do it: each cell its own `asyncio.run`."""

    async def begin() -> Any:
        async with FaultServer() as server:
            stream = OpenAIChat("m", api_key=KEY, base_url=f"{server.url}/stall/{server.new_run()}").stream("Hi")
            await stream.read()
            return stream

    stream = asyncio.run(begin())
    with pytest.raises(ConfigError, match="event loop") if leave == "read" else contextlib.nullcontext():
        asyncio.run(getattr(stream, leave)())
    asyncio.run(stream.aclose())
    assert asyncio.run(stream.read()) is None
    gc.collect()
    assert not module._open_responses


async def test_dropping_in_another_thread(server: FaultServer) -> None:
    """Garbage is collected wherever the collector happens to run."""
    run = server.new_run()
    stream = OpenAIChat("m", api_key=KEY, base_url=f"{server.url}/stall/{run}").stream("Hi")
    await stream.read()
    held = [stream]
    del stream
    await asyncio.to_thread(held.clear)
    assert (await server.seen(run))["ended_by"] == ["client"]
    await asyncio.sleep(0.05)


async def test_logs_show_no_key(server: FaultServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for fault in ("ok", "echo-key", "reset-in-body", "cut-before-headers"):
        lm = OpenAIChat("m", api_key=KEY, base_url=f"{server.url}/{fault}/{server.new_run()}")
        stream = lm.stream("Hi")
        while await stream.read() is not None:
            pass
    assert caplog.records
    assert KEY not in caplog.text


@contextlib.asynccontextmanager
async def answering(answer: bytes, left: asyncio.Event | None = None) -> AsyncGenerator[str]:
    """Serve these very bytes to each request, and keep the connection until the client has left it."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"(?i)content-length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                writer.write(answer)
        writer.close()
        if left is not None:
            left.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for writer in writers:
            writer.close()


@pytest.mark.parametrize("own", [True, False], ids=["own", "given"])
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 401 X\r\nx-echo: %s; %s; %s\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 X\r\n%s %s %s\r\n\r\n",
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n%s %s %s\r\n",
    ],
    ids=["header", "no-header", "no-chunk"],
)
async def test_logs_show_nothing_of_an_address_or_of_an_echo(
    caplog: pytest.LogCaptureFixture, own: bool, answer: bytes
) -> None:
    """httpx2 logs addresses at INFO; what it is made of logs headers, and lines that are no HTTP, at DEBUG."""
    caplog.set_level(logging.DEBUG)
    value = "query-marker-0123456789"
    echo = answer % (KEY.encode(), f"Bearer {KEY}".encode(), value.encode())
    async with answering(echo) as url, httpx2.AsyncClient() as client:
        url += f"?api-version=7&api-key={value}&code=hunter2"
        lm = OpenAIChat("m", api_key=KEY, base_url=url, transport=HttpxTransport(None if own else client))
        stream = lm.stream("Hi")
        while await stream.read() is not None:
            pass
    assert {"httpcore2.http11"} < {record.name for record in caplog.records}
    for secret in (KEY, value, "hunter2"):
        assert secret not in caplog.text
        assert secret not in repr([(record.msg, record.args) for record in caplog.records])
    if b"401" in answer:
        assert "/v1/chat/completions?api-version=7&[redacted]&code=[redacted]" in caplog.text


async def test_logs_of_other_requests_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = b"HTTP/1.1 401 X\r\nx-echo: %s\r\ncontent-length: 0\r\n\r\n" % KEY.encode()
    async with answering(echo) as url, httpx2.AsyncClient() as client:
        lm = OpenAIChat("m", api_key=KEY, base_url=url, transport=HttpxTransport(client))
        with pytest.raises(ProviderError):
            await lm.call("Hi")
        assert KEY not in caplog.text
        await client.get(f"{url}?q={KEY}")
    assert f"?q={KEY}" in caplog.text


async def test_a_model_that_is_collected_in_a_cycle_closes_its_connections() -> None:
    """Warnings, of sockets that were collected before they were closed, are errors here."""

    class App:
        pass

    left = asyncio.Event()
    async with answering(b"HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n", left) as url:
        app: Any = App()
        app.itself = app
        app.transport = HttpxTransport()
        response = await app.transport.open(HttpRequest("GET", url, {}, b""))
        assert await response.read() is None
        await response.close()
        del app, response
        gc.collect()
        await asyncio.wait_for(left.wait(), 5)
    gc.collect()


@pytest.mark.parametrize("fault", ["stall", "drip", "endless"])
def test_a_loop_that_ends_with_a_stream_has_nothing_to_report(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """The generators of httpx2 stand inside each other: closed all at once, each is in the next one's way."""

    async def leave() -> Any:
        async with FaultServer() as server:
            lm = OpenAIChat("m", api_key=KEY, base_url=f"{server.url}/{fault}/{server.new_run()}")
            streams = [lm.stream("Hi") for _ in range(4)]
            for stream in streams:
                await stream.read()
            return streams

    streams = asyncio.run(leave())
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    streams.clear()
    gc.collect()


async def test_the_first_step_of_a_body_may_be_cancelled(server: FaultServer) -> None:
    request, run = post(server, "stall-at-once")
    response = await HttpxTransport().open(request)
    task = asyncio.ensure_future(response.read())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await response.close()
    assert (await server.seen(run))["ended_by"] == ["client"]


def test_without_httpx_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ConfigError) as caught:
        HttpxTransport()
    assert caught.value.code == "UNSUPPORTED"
    assert "pip install httpx2" in caught.value.message


async def test_a_model_without_httpx_says_so_in_its_last_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ConfigError, match="UNSUPPORTED"):
        await OpenAIChat("m", api_key=KEY).call("Hi")
