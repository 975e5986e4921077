"""An HTTP server on loopback that misbehaves on purpose, and remembers what it saw.

`POST /<fault>/<run>/chat/completions` answers as the fault says; `GET /new` gives a fresh run; `GET /arrived/<run>`
waits for a request; `GET /seen/<run>` waits until every connection of the run is over, and tells who ended it. Raw
sockets, so that bytes are cut where we want. Runs inside a test (`async with FaultServer()`), or by itself (`python
tests/tools/fault_server.py` prints its URL, and stops when its standard input closes) for clients in other processes:
Pyodide in Node, browsers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Self

HEAD_LIMIT = 65_536
SEEN_TIMEOUT_S = 20.0
CORS = (
    "access-control-allow-origin: *\r\naccess-control-allow-headers: authorization, content-type, x-api-key, "
    "x-goog-api-key, anthropic-version, anthropic-dangerous-direct-browser-access\r\n"
    "access-control-expose-headers: retry-after, retry-after-ms, x-request-id, x-amzn-requestid, x-amzn-errortype\r\n"
)
TEXT = ("Hel", "lo ", "wör", "ld")


def delta(text: str) -> bytes:
    """One chunk of an OpenAI chat stream."""
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


STOP = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
DONE = b"data: [DONE]\n\n"
WHOLE = b"".join(map(delta, TEXT)) + STOP + DONE


class Exchange:
    """One request and what is sent back."""

    def __init__(self, headers: dict[str, str], writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self.headers = headers
        self.gone = gone
        self._writer = writer

    async def head(
        self, status: str = "200 OK", type: str = "text/event-stream", more: str = "", close: bool = True
    ) -> None:
        """Send a head whose body is chunked.

        The server ends the connection after each fault. `close` announces it, or the client might use it again; Node
        takes a reset of an announced end for the end of the body.
        """
        more += "connection: close\r\n" if close else ""
        await self.raw(
            f"HTTP/1.1 {status}\r\ncontent-type: {type}\r\ntransfer-encoding: chunked\r\n{CORS}{more}\r\n".encode()
        )

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def until_read(self) -> None:
        """Give the client time: a stream that breaks throws away what its reader has not taken yet."""
        await asyncio.sleep(0.05)

    def reset(self) -> None:
        """Break the connection so hard that the client gets an error instead of an end."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


Fault = Callable[[Exchange], Awaitable[None]]
FAULTS: dict[str, Fault] = {}


def fault(function: Fault) -> Fault:
    FAULTS[function.__name__.replace("_", "-")] = function  # type: ignore[attr-defined]
    return function


@fault
async def ok(exchange: Exchange) -> None:
    await exchange.head()
    for text in TEXT:
        await exchange.chunk(delta(text))
    await exchange.chunk(STOP + DONE)
    await exchange.end()


@fault
async def no_cors(exchange: Exchange) -> None:
    """A good answer that a page of another origin may not see."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(WHOLE)}\r\n"
    await exchange.raw(f"{head}connection: close\r\n\r\n".encode() + WHOLE)


@fault
async def done_but_open(exchange: Exchange) -> None:
    """The answer is over, but the server forgets to end the body."""
    await exchange.head()
    await exchange.chunk(WHOLE)
    await exchange.gone.wait()


@fault
async def never(exchange: Exchange) -> None:
    await exchange.gone.wait()


@fault
async def cut_before_headers(exchange: Exchange) -> None:
    pass


@fault
async def cut_in_headers(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 OK\r\ncontent-ty")


@fault
async def reset_before_headers(exchange: Exchange) -> None:
    exchange.reset()


@fault
async def not_http(exchange: Exchange) -> None:
    await exchange.raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")


@fault
async def cut_in_body(exchange: Exchange) -> None:
    await exchange.head(close=False)
    await exchange.chunk(delta("Hel") + delta("lo "))
    await exchange.until_read()
    await exchange.raw(b"40\r\ndata: {")


@fault
async def reset_in_body(exchange: Exchange) -> None:
    await exchange.head(close=False)
    await exchange.chunk(delta("Hel") + delta("lo "))
    await exchange.until_read()
    exchange.reset()


@fault
async def short_body(exchange: Exchange) -> None:
    body = delta("Hel") + delta("lo ")
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body) + 99}\r\n{CORS}\r\n"
    await exchange.raw(head.encode() + body)
    await exchange.until_read()


@fault
async def clean_eof(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.chunk(delta("Hel") + delta("lo "))
    await exchange.end()


@fault
async def stall(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.chunk(delta("Hel") + delta("lo "))
    await exchange.gone.wait()


@fault
async def stall_at_once(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.gone.wait()


@fault
async def drip(exchange: Exchange) -> None:
    await exchange.head()
    for at in range(len(WHOLE)):
        await exchange.chunk(WHOLE[at : at + 1])
        await asyncio.sleep(0)
    await exchange.end()


@fault
async def endless(exchange: Exchange) -> None:
    await exchange.head()
    while not exchange.gone.is_set():
        await exchange.chunk(delta("more "))
        await asyncio.sleep(0.002)


@fault
async def one_slice(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.chunk(delta("x") * 500 + STOP + DONE)
    await exchange.end()


@fault
async def html_page(exchange: Exchange) -> None:
    await exchange.head(type="text/html")
    await exchange.chunk(b"<!doctype html><title>Sign in to the hotel network</title>")
    await exchange.end()


@fault
async def wrong_type(exchange: Exchange) -> None:
    await exchange.head(type="application/octet-stream")
    await exchange.chunk(WHOLE)
    await exchange.end()


@fault
async def error_in_stream(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.chunk(delta("Hel"))
    said = f"overloaded; you sent {exchange.headers.get('authorization', '')}"
    await exchange.chunk(event({"error": {"message": said, "type": "overloaded_error", "code": 503}}))
    await exchange.end()


@fault
async def deep_in_stream(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.chunk(delta("Hel") + b"data: " + b"[" * 100_000 + b"\n\n")
    await exchange.end()


@fault
async def deep_error(exchange: Exchange) -> None:
    await exchange.head("500 Internal Server Error", "application/json")
    await exchange.chunk(b'{"error":' + b"[" * 60_000)
    await exchange.end()


@fault
async def huge_error(exchange: Exchange) -> None:
    await exchange.head("500 Internal Server Error", "text/plain")
    while not exchange.gone.is_set():
        await exchange.chunk(b"x" * 16_384)


@fault
async def stalled_error(exchange: Exchange) -> None:
    await exchange.head("503 Service Unavailable", "text/plain")
    await exchange.chunk(b"busy, because")
    await exchange.gone.wait()


@fault
async def html_error(exchange: Exchange) -> None:
    await exchange.head("502 Bad Gateway", "text/html")
    await exchange.chunk(b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>")
    await exchange.end()


@fault
async def cut_error(exchange: Exchange) -> None:
    await exchange.head("500 Internal Server Error", "application/json")
    await exchange.raw(b'40\r\n{"error":{"message":"half a sen')


@fault
async def redirect(exchange: Exchange) -> None:
    await exchange.head("307 Temporary Redirect", "text/plain", "location: /elsewhere\r\n")
    await exchange.end()


@fault
async def echo_key(exchange: Exchange) -> None:
    await exchange.head("401 Unauthorized", "application/json", "x-request-id: req_7\r\n")
    said = f"Incorrect API key provided: {exchange.headers.get('authorization', '')}"
    body = {"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}}
    await exchange.chunk(json.dumps(body).encode())
    await exchange.end()


async def _status(exchange: Exchange, status: int) -> None:
    more = "retry-after: 7\r\nx-request-id: req_7\r\n" if status in (429, 503, 529) else ""
    await exchange.head(f"{status} Some Reason", "application/json", more)
    await exchange.chunk(json.dumps({"error": {"message": f"the reason for {status}", "type": "t"}}).encode())
    await exchange.end()


class Run:
    """What the server saw of one run."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.open = 0
        self.ended_by: list[str] = []
        self.changed = asyncio.Event()

    async def wait_until(self, is_so: Callable[[Run], bool]) -> bool:
        """Wait for something, with a limit."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SEEN_TIMEOUT_S):
                while not is_so(self):
                    self.changed.clear()
                    await self.changed.wait()
        return is_so(self)


def _has_requests(run: Run) -> bool:
    return bool(run.requests)


def _is_over(run: Run) -> bool:
    return not run.open


class FaultServer:
    """The server; `url` is its root."""

    url: str

    def __init__(self, find: Callable[[str], Fault | None] = FAULTS.get) -> None:
        """
        Args:
            find: gives what a name stands for, beside `status-NNN`.
        """
        self.runs: dict[str, Run] = {}
        self._find = find
        self._server: asyncio.Server | None = None
        self.connections = 0
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def new_run(self) -> str:
        run = str(len(self.runs) + 1)
        self.runs[run] = Run()
        return run

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections += 1
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            method, path, headers = await _read_head(reader)
            if not method:
                return
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if method == "OPTIONS":
                await _answer(writer, b"", "204 No Content")
                continue
            _, name, *rest = path.split("/")
            if name == "new":
                await _answer(writer, json.dumps(self.new_run()).encode())
            elif name == "arrived":
                await _answer(writer, json.dumps(await self.runs[rest[0]].wait_until(_has_requests)).encode())
            elif name == "seen":
                await _answer(writer, json.dumps(await self.seen(rest[0])).encode())
            else:
                await self._misbehave(name, rest[0], Exchange(headers, writer, asyncio.Event()), reader, path, body)
                return

    async def seen(self, run: str) -> dict[str, Any]:
        """What became of a run, once it is over."""
        record = self.runs[run]
        over = await record.wait_until(_is_over)
        return {"requests": record.requests, "over": over, "ended_by": record.ended_by}

    async def _misbehave(
        self, name: str, run: str, exchange: Exchange, reader: asyncio.StreamReader, path: str, body: bytes
    ) -> None:
        record = self.runs[run]
        record.open += 1
        record.requests.append({"path": path, "headers": exchange.headers, "body": body.decode()})
        record.changed.set()
        watch = asyncio.create_task(_watch(reader, exchange.gone))
        try:
            status = re.fullmatch(r"status-(\d{3})", name)
            fault = self._find(name)
            assert status or fault, name
            await (_status(exchange, int(status[1])) if status else fault(exchange))  # type: ignore[misc]
            record.ended_by.append("client" if exchange.gone.is_set() else "server")
        except ConnectionError:
            record.ended_by.append("client")
        finally:
            watch.cancel()
            record.open -= 1
            record.changed.set()


async def _watch(reader: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Notice that the client has left, also while we have nothing to send."""
    with contextlib.suppress(ConnectionError):
        while await reader.read(1024):
            pass
    gone.set()


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return "", "", {}
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    return method, path, {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _answer(writer: asyncio.StreamWriter, body: bytes, status: str = "200 OK") -> None:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{CORS}\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def serve_process(server: FaultServer) -> None:
    """Be a server for other processes, until standard input ends."""
    async with server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve_process(FaultServer()))
