"""Faults at every point of a good answer, in every dialect, for `FaultServer(dialect_fault)`.

`POST /<dialect>.<fault>.<at>/<run>/…`: `at` events of the answer are sent as they should be, then the fault strikes.
`<dialect>.<fault>` strikes the response as a whole; `<dialect>.refuse.<name>` answers with an error status. By itself
(`python -m tests.tools.dialect_faults`) it prints its URL, for clients in other processes.
"""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Awaitable, Callable

from tests.tools.dialects import DIALECTS, Dialect
from tests.tools.fault_server import CORS, Exchange, Fault, FaultServer, serve_process

PAGE = b"<!doctype html>\n<title>502 Bad Gateway</title>\n<h1>nginx</h1>\n"

type DialectFault = Callable[[Exchange, list[bytes], int, Dialect], Awaitable[None]]
AT_EACH: dict[str, DialectFault] = {}
"""After a number of events."""
ONCE: dict[str, DialectFault] = {}
"""To the response as a whole."""


def _into(table: dict[str, DialectFault]) -> Callable[[DialectFault], DialectFault]:
    def register(function: DialectFault) -> DialectFault:
        table[function.__name__.strip("_").replace("_", "-")] = function  # type: ignore[attr-defined]
        return function

    return register


async def _begin(
    exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect, more: bytes = b"", close: bool = True
) -> None:
    """Send the head, the events before the fault and what the fault begins with."""
    await exchange.head(type=dialect.framing.type, close=close)
    if data := b"".join(frames[:at]) + more:
        await exchange.chunk(data)


def _half(frames: list[bytes], at: int) -> bytes:
    """The next event, cut in the middle of what it says."""
    return frames[at][: -(len(frames[at]) // 3)]


@_into(AT_EACH)
async def _cut(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect)
    await exchange.end()


@_into(AT_EACH)
async def _half_event(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect, _half(frames, at))
    await exchange.end()


@_into(AT_EACH)
async def _break(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """The connection ends without the end of the body."""
    await _begin(exchange, frames, at, dialect, close=False)
    await exchange.until_read()


@_into(AT_EACH)
async def _reset(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect, _half(frames, at), close=False)
    await exchange.until_read()
    exchange.reset()


@_into(AT_EACH)
async def _garbage(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """An event that is no JSON, and then all is as if nothing had been."""
    await _begin(exchange, frames, at, dialect, dialect.framing.frame(b"{\xff\x00 garbage}") + b"".join(frames[at:]))
    await exchange.end()


@_into(AT_EACH)
async def _noise(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect, random.Random(at).randbytes(5_000))
    await exchange.end()


@_into(AT_EACH)
async def _no_object(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect, dialect.framing.frame(b'["what?"]') + b"".join(frames[at:]))
    await exchange.end()


@_into(AT_EACH)
async def _deep(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect, dialect.framing.frame(b"[" * 20_000) + b"".join(frames[at:]))
    await exchange.end()


@_into(AT_EACH)
async def _page(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """A gateway's page in the place of the rest."""
    await _begin(exchange, frames, at, dialect, PAGE)
    await exchange.end()


@_into(AT_EACH)
async def _error(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """An error of the vendor, after which it goes on."""
    await _begin(exchange, frames, at, dialect, dialect.error + b"".join(frames[at:]))
    await exchange.end()


@_into(AT_EACH)
async def _silence(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, at, dialect)
    await exchange.gone.wait()


@_into(ONCE)
async def _whole(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, len(frames), dialect)
    await exchange.end()


@_into(ONCE)
async def _drip(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.head(type=dialect.framing.type)
    for byte in b"".join(frames):
        await exchange.chunk(bytes([byte]))
        await asyncio.sleep(0)
    await exchange.end()


@_into(ONCE)
async def _wrong_type(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.head(type="text/html; charset=latin-1")
    await exchange.chunk(b"".join(frames))
    await exchange.end()


@_into(ONCE)
async def _long_length(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """Fewer bytes than were announced."""
    await _sized(exchange, b"".join(frames[: len(frames) // 2]), 999)
    await exchange.until_read()


@_into(ONCE)
async def _short_length(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """The announced length ends the body inside its last events."""
    await _sized(exchange, b"".join(frames), -len(b"".join(frames[len(frames) // 2 :])))


@_into(ONCE)
async def _wrong_chunk(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """The framing of HTTP itself breaks."""
    await _begin(exchange, frames, len(frames) // 2, dialect, close=False)
    await exchange.until_read()
    await exchange.raw(b"zz\r\nwhat?\r\n")


@_into(ONCE)
async def _compressed(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _sized(exchange, gzip.compress(b"".join(frames)), more="content-encoding: gzip\r\n")


@_into(ONCE)
async def _compressed_cut(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    data = gzip.compress(b"".join(frames))
    await _sized(exchange, data[: len(data) // 2], more="content-encoding: gzip\r\n")


@_into(ONCE)
async def _compressed_not(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """It is only said to be."""
    await _sized(exchange, b"".join(frames), more="content-encoding: gzip\r\n")


@_into(ONCE)
async def _empty(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _sized(exchange, b"")


@_into(ONCE)
async def _only_comments(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.head(type=dialect.framing.type)
    await exchange.chunk(b": waiting\n\n" * 9)
    await exchange.end()


@_into(ONCE)
async def _no_content(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.raw(f"HTTP/1.1 204 No Content\r\n{CORS}connection: close\r\n\r\n".encode())


@_into(ONCE)
async def _html(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """A page with status 200, called an event stream by whoever stands between."""
    await exchange.head(type=dialect.framing.type)
    await exchange.chunk(PAGE)
    await exchange.end()


@_into(ONCE)
async def _html_error(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.head("502 Bad Gateway", "text/html")
    await exchange.chunk(PAGE)
    await exchange.end()


@_into(ONCE)
async def _json_error(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """The words of a refusal with status 200."""
    await exchange.head(type="application/json")
    await exchange.chunk(dialect.refusals["503"].body if dialect.model != "Anthropic" else dialect.refusals["529"].body)
    await exchange.end()


@_into(ONCE)
async def _other_json(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    """Another service answers."""
    await exchange.head(type="application/json")
    await exchange.chunk(b'{"status": "ok", "version": "1.2"}')
    await exchange.end()


@_into(ONCE)
async def _cut_json(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await exchange.head(type="application/json")
    await exchange.chunk(b'{"id": "x", "content": [{"type": "text", "text": "Gr')
    await exchange.end()


@_into(ONCE)
async def _endless_event(exchange: Exchange, frames: list[bytes], at: int, dialect: Dialect) -> None:
    await _begin(exchange, frames, len(frames) // 2, dialect, dialect.framing.endless)
    while not exchange.gone.is_set():
        await exchange.chunk(b"x" * 65_536)


async def _sized(exchange: Exchange, body: bytes, extra: int = 0, more: str = "") -> None:
    """Send a body of an announced length, which is wrong by `extra`."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body) + extra}\r\n{CORS}{more}"
    await exchange.raw(f"{head}\r\n".encode() + body)


async def _refuse(exchange: Exchange, dialect: Dialect, name: str) -> None:
    refusal = dialect.refusals[name]
    await exchange.head(f"{refusal.status} Some Reason", refusal.type, refusal.headers)
    if refusal.body:
        await exchange.chunk(refusal.body)
    await exchange.end()


def dialect_fault(name: str) -> Fault | None:
    """Give what a name of a URL stands for."""
    parts = name.split(".")
    if len(parts) < 2 or parts[0] not in DIALECTS:
        return None
    dialect, fault = DIALECTS[parts[0]], parts[1]
    if fault == "refuse":
        return lambda exchange: _refuse(exchange, dialect, parts[2])
    function = AT_EACH.get(fault) or ONCE.get(fault)
    if function is None:
        return None
    frames = [step.frame for step in dialect.steps]
    return lambda exchange: function(exchange, frames, int(parts[2]) if len(parts) > 2 else 0, dialect)


if __name__ == "__main__":
    asyncio.run(serve_process(FaultServer(dialect_fault)))
