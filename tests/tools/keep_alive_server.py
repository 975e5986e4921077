"""An HTTP server on loopback that keeps its connections, counts them, and ends its bodies in its own time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self

from tests.tools.fault_server import CORS, WHOLE


class KeepAliveServer:
    """`POST /<way>/chat/completions` gives a whole answer; the way says how its body ends.

    `whole`: in the same write. `later`: in a write of its own, when `may_end` is set. `never`. `more`: it goes on and
    on. `long`: with 100 KB behind the last event. `half`: never, and the answer is not whole.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.requests: list[str] = []
        """The head of each."""
        self.may_end = asyncio.Event()
        self.gone: asyncio.Queue[str] = asyncio.Queue()
        """The ways of connections that are over, as they end."""

    @property
    def url(self) -> str:
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._server.close()
        self._server.close_clients()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        way = ""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.requests.append(head)
                lengths = [line for line in head.lower().splitlines() if line.startswith("content-length:")]
                if lengths:
                    await reader.readexactly(int(lengths[0].partition(":")[2]))
                if head.startswith("OPTIONS"):
                    writer.write(f"HTTP/1.1 204 No Content\r\n{CORS}\r\n".encode())
                    continue
                way = head.split("/")[1]
                await self._answer(way, reader, writer)
        self.gone.put_nowait(way)
        writer.close()

    async def _answer(self, way: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nset-cookie: a=b\r\n{CORS}"
        first += "transfer-encoding: chunked\r\n\r\n"
        answer = WHOLE[: WHOLE.index(b"\n\n") + 2] if way == "half" else WHOLE
        body = first.encode() + b"%x\r\n%b\r\n" % (len(answer), answer)
        end = b"0\r\n\r\n"
        if way == "long":
            end = b"%x\r\n%b\r\n" % (100_000, b":" * 99_998 + b"\n\n") + end
        if way in ("whole", "long"):
            body, end = body + end, b""
        writer.write(body)
        await writer.drain()
        if way == "later":
            await self.may_end.wait()
            self.may_end.clear()
        while way == "more":
            writer.write(b"3\r\n:\n\n\r\n" * 500)
            await writer.drain()
        if way in ("never", "half"):
            await reader.read()
        writer.write(end)
        await writer.drain()
