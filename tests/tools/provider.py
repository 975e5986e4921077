"""A provider on loopback that speaks OpenAI chat completions and says exactly what a test tells it to.

Real HTTP, cross-origin for a page, one answer a request, in the order of `say`. An answer is a list of slices; between
slices the test may hold the server at a gate, and the server notices when the client goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

Slice = bytes | asyncio.Event
"""Bytes to send, or a gate to wait at."""


@dataclass
class Received:
    """One request, and what became of its client."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client closed the connection before the answer was over."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the whole answer has been sent."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """What to send."""

    slices: Sequence[Slice]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})


def sse(*events: object) -> bytes:
    """Frame events: text as it is, anything else as JSON."""
    return b"".join(f"data: {e if isinstance(e, str) else json.dumps(e)}\n\n".encode() for e in events)


def delta(text: str) -> dict[str, Any]:
    """A chat completion chunk with a piece of the answer."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}


END = sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]")
"""What closes an answer."""


def pieces(text: str, chars: int = 16) -> list[bytes]:
    """An answer's text, one event a piece, without its end."""
    return [sse(delta(text[at : at + chars])) for at in range(0, len(text), chars)]


class Provider:
    """The running server. Made by `provider`."""

    base_url: str
    """What a caller gives as `baseURL`."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        """All but the preflights, in the order they came."""
        self._answers: deque[Answer] = deque()
        self._arrival = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def say(self, *slices: Slice, status: int = 200, headers: Mapping[str, str] | None = None) -> Self:
        """Queue the answer to one request."""
        self._answers.append(Answer(slices, status, headers or {"Content-Type": "text/event-stream"}))
        return self

    def say_text(self, text: str, chars: int = 16) -> Self:
        """Queue a whole answer that streams a text and ends well."""
        return self.say(*pieces(text, chars), END)

    async def request(self, number: int = 0) -> Received:
        """Wait for a request to arrive; the first is number 0."""
        async with self._arrival:
            await self._arrival.wait_for(lambda: len(self.requests) > number)
        return self.requests[number]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = await read_request(reader)
        origin = received.headers.get("origin", "*")
        headers = {"Access-Control-Allow-Origin": origin, "Connection": "close", "Vary": "Origin"}
        if received.method == "OPTIONS":
            asked = received.headers.get("access-control-request-headers", "*")
            headers |= {"Access-Control-Allow-Headers": asked, "Access-Control-Allow-Methods": "GET, POST"}
            writer.write(head(204, headers))
            await writer.drain()
            return
        self.requests.append(received)
        async with self._arrival:
            self._arrival.notify_all()
        answer = self._answers.popleft() if self._answers else Answer([b"no answer was queued"], 500, {})
        writer.write(head(answer.status, {**headers, **answer.headers, "Transfer-Encoding": "chunked"}))
        watching = asyncio.ensure_future(self._watch(reader, received))
        try:
            for piece in answer.slices:
                if isinstance(piece, asyncio.Event):
                    gate = asyncio.ensure_future(piece.wait())
                    await asyncio.wait({gate, watching}, return_when=asyncio.FIRST_COMPLETED)
                    gate.cancel()
                elif piece:
                    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    await writer.drain()
                if received.gone.is_set():
                    return
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            received.over.set()
        except ConnectionError:  # a write may learn it before the watch does
            received.gone.set()
        finally:
            watching.cancel()

    async def _watch(self, reader: asyncio.StreamReader, received: Received) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(4096):
                pass
        received.gone.set()


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def read_request(reader: asyncio.StreamReader) -> Received:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


@asynccontextmanager
async def provider(answers: Iterable[Answer] = ()) -> AsyncIterator[Provider]:
    """Run a server while the block runs."""
    running = Provider()
    running._answers.extend(answers)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield running
    finally:
        server.close()
        await running.close()
