"""Tool calls: what pools, sessions and managed reading cost beyond the reading of the JSON itself; and other readers.

51 KB of arguments in pieces of 16 characters, the live value read after each. Each way of reading stops every 512
pieces for the others to take their turn; a figure is the sum of the best time that each stretch was seen to take. The
other packages are those of requirements/peers.txt (`make build/peers/.ready`); without one its figures are left out.
What each of them lacks is said in docs/performance.md.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bench.scanner import CALL_BYTES, cut, no_collecting, tool_call

from unspool import integrations
from unspool.integrations.adapter import Operation, define_adapter
from unspool.integrations.read import read_structured
from unspool.integrations.session import Session
from unspool.structured.json_stream import JsonStream
from unspool.structured.pool import StreamPool

PEERS = Path(__file__).resolve().parents[2] / "build" / "peers"
CALLS = 8
PIECE_CHARS = 16
STRETCH = 512
ROUNDS = 15
SAMPLES = 24
"""How many pieces are measured of a reader that reads everything again at each."""


Reading = Iterator[Any] | AsyncIterator[Any]
"""Reads on at each step; what comes last is the value."""


def stretches[T](pieces: Sequence[T]) -> Iterator[Sequence[T]]:
    return (pieces[at : at + STRETCH] for at in range(0, len(pieces), STRETCH))


def raw(pieces: Sequence[str]) -> Iterator[Any]:
    """The reading alone."""
    stream = JsonStream()
    value: Any = None
    for stretch in stretches(pieces):
        for piece in stretch:
            value = stream.push(piece).partial_value
        yield
    stream.finish()
    stream.close()
    yield value


def pooled(pieces: Sequence[str]) -> Iterator[Any]:
    """One call in a pool."""
    pool = StreamPool()
    pool.start("call_0")
    value: Any = None
    for stretch in stretches(pieces):
        for piece in stretch:
            value = pool.push("call_0", piece).partial_value
        yield
    pool.finish("call_0")
    yield value


def interleaved(pieces: Sequence[tuple[str, str]], ids: list[str]) -> Iterator[Any]:
    """Many calls in a pool, a piece of each in turn."""
    pool = StreamPool()
    for id in ids:
        pool.start(id)
    values: dict[str, Any] = {}
    for stretch in stretches(pieces):
        for id, piece in stretch:
            values[id] = pool.push(id, piece).partial_value
        yield
    for id in ids:
        pool.finish(id)
    yield list(values.values())


def in_turn(texts: list[str]) -> list[tuple[str, str]]:
    """Give the pieces of several calls in turn, each with the id of its call."""
    queues = [(f"call_{number}", cut(text, PIECE_CHARS)) for number, text in enumerate(texts)]
    longest = max(len(pieces) for _, pieces in queues)
    return [(id, pieces[turn]) for turn in range(longest) for id, pieces in queues if turn < len(pieces)]


def pushed(session: Session, events: Sequence[Any]) -> Iterator[Any]:
    """The events of one call, pushed to a session."""
    value: Any = None
    for stretch in stretches(events):
        for event in stretch:
            for update in session.push_all(event):
                value = update.partial_value
        yield
    for update in session.finish():
        value = update.partial_value
    session.close()
    yield value


async def managed(events: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    """The events of one call, read by `read_structured`."""
    value: Any = None
    count = 0
    async for update in read_structured(events, integration=integrations.openai):
        value = update.partial_value
        count += 1
        if count % STRETCH == 0:
            yield
    yield value


async def streamed(events: list[Any]) -> AsyncIterator[Any]:
    """The events as an SDK gives them."""
    for event in events:
        yield event


def responses_events(pieces: list[str]) -> list[dict[str, Any]]:
    """A call in the events of OpenAI Responses."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "save", "status": "in_progress"}
    place = {"item_id": "fc_1", "output_index": 0}
    kind = "response.function_call_arguments"
    text = "".join(pieces)
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"arguments": ""}},
        *({"type": f"{kind}.delta", "sequence_number": at, **place, "delta": it} for at, it in enumerate(pieces)),
        {"type": f"{kind}.done", **place, "arguments": text},
        {"type": "response.output_item.done", "item": item | {"arguments": text, "status": "completed"}},
        {"type": "response.completed", "response": {}},
    ]


def chat_events(pieces: list[str]) -> list[dict[str, Any]]:
    """A call in the events of OpenAI chat completions."""

    def event(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}

    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "save", "arguments": ""}}
    return [
        event({"role": "assistant", "tool_calls": [first]}),
        *(event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces),
        event({}, "tool_calls"),
    ]


def own_events(pieces: list[str]) -> list[dict[str, Any]]:
    """A call in the events that `map_event` knows."""
    return [{"kind": "begin"}, *({"kind": "piece", "text": piece} for piece in pieces), {"kind": "done"}]


def map_event(event: dict[str, Any]) -> list[Operation]:
    kind = event["kind"]
    if kind == "piece":
        return [{"type": "delta", "id": "a", "text": event["text"]}]
    return [{"type": "start" if kind == "begin" else "end", "id": "a"}]


async def value_of(reading: Reading) -> Any:
    """Read to the end."""
    steps = [step async for step in reading] if isinstance(reading, AsyncIterator) else list(reading)
    return steps[-1]


async def seconds(ways: dict[str, Callable[[], Reading]]) -> dict[str, float]:
    """Seconds of each way of reading."""
    best: dict[str, list[float]] = {name: [] for name in ways}
    with no_collecting():
        for _ in range(ROUNDS):
            gc.collect()
            readings = {name: way() for name, way in ways.items()}
            place = 0
            while readings:
                for name, reading in list(readings.items()):
                    start = time.perf_counter()
                    try:
                        await anext(reading) if isinstance(reading, AsyncIterator) else next(reading)
                    except (StopIteration, StopAsyncIteration):
                        del readings[name]
                        continue
                    took = time.perf_counter() - start
                    times = best[name]
                    if place == len(times):
                        times.append(took)
                    times[place] = min(times[place], took)
                place += 1
    return {name: sum(times) for name, times in best.items()}


async def measure(realm: str) -> list[dict[str, Any]]:
    """Give this module's figures."""
    texts = [tool_call(CALL_BYTES // CALLS)] * CALLS
    whole = f'{{"calls":[{",".join(texts)}]}}'
    pieces, turns = cut(whole, PIECE_CHARS), in_turn(texts)
    ids = [f"call_{number}" for number in range(CALLS)]
    responses, chat, own = responses_events(pieces), chat_events(pieces), own_events(pieces)
    adapter = define_adapter(map_event)
    ways: dict[str, Callable[[], Reading]] = {
        "raw": lambda: raw(pieces),
        "pooled": lambda: pooled(pieces),
        "interleaved": lambda: interleaved(turns, ids),
        "responses": lambda: pushed(integrations.openai(), responses),
        "chat": lambda: pushed(integrations.openai_chat(), chat),
        "own": lambda: pushed(adapter(), own),
        "managed": lambda: managed(streamed(responses)),
        "managed list": lambda: managed(responses),
    }
    expected = json.loads(whole)
    for name, way in ways.items():
        assert await value_of(way()) == (expected["calls"] if name == "interleaved" else expected), name
    took = await seconds(ways)

    def figure(name: str, key: str, against: str, base: str, most: float | None = None) -> dict[str, Any]:
        ratio = took[key] / took[base]
        target = {} if most is None else {"target": f"<= {most} times", "ok": ratio <= most}
        return {
            "name": f"calls: {name}, {len(whole.encode()) // 1000} KB in {PIECE_CHARS}-character pieces",
            "realm": realm,
            "value": took[key] * 1e3,
            "unit": "ms",
            "against": f"the time of {against}",
            "ratio": ratio,
            **target,
        }

    pushes = "raw pushes to a JsonStream"
    return [
        figure("one call in a pool", "pooled", pushes, "raw"),
        figure("eight interleaved calls in a pool", "interleaved", "one call of the same total", "pooled", 1.2),
        figure("events through an adapter of one's own", "own", pushes, "raw"),
        figure("OpenAI chat events through a session", "chat", pushes, "raw", 1.5),
        figure("OpenAI Responses events through a session", "responses", pushes, "raw", 1.5),
        figure("an asynchronous iterable of them through read_structured", "managed", pushes, "raw"),
        figure("a list of them through read_structured, which lets others run between", "managed list", pushes, "raw"),
        *[peer async for peer in peer_figures(realm, pieces)],
    ]


async def peer_figures(realm: str, pieces: list[str]) -> AsyncIterator[dict[str, Any]]:
    """What other packages take for the same text, beside a `JsonStream` in the same minute."""
    if PEERS.is_dir() and str(PEERS) not in sys.path:
        sys.path.append(str(PEERS))
    expected = json.loads("".join(pieces))
    for peer in (ijson_fastest, ijson_python, json_stream_pulled, partial_json_parser_again):
        try:
            name, way, scale = peer(pieces)
            assert await value_of(way()) == expected, f"{name} gives another value"
        except ImportError as missing:
            print(f"bench: no figure of {peer.__name__}: {missing}", file=sys.stderr)
            continue
        took = await seconds({"peer": way, "raw": lambda: raw(pieces)})
        yield {
            "name": f"calls: {name}",
            "realm": realm,
            "value": took["peer"] * scale * 1e3,
            "unit": "ms",
            "against": "the time of a JsonStream",
            "ratio": took["peer"] * scale / took["raw"],
        }


Peer = tuple[str, Callable[[], Iterator[Any]], float]
"""Its name, its way of reading, and how many times that must be taken for the whole text."""


def ijson_fastest(pieces: list[str]) -> Peer:
    """The backend that ijson picks itself; that in Python has a figure of its own."""
    ijson = importlib.import_module("ijson")
    if ijson.backend_name == "python":
        raise ImportError("its backends in C are not here")
    return _ijson(ijson.get_backend(ijson.backend_name), pieces)


def ijson_python(pieces: list[str]) -> Peer:
    return _ijson(importlib.import_module("ijson.backends.python"), pieces)


def _ijson(backend: Any, pieces: list[str]) -> Peer:
    ijson = importlib.import_module("ijson")
    chunks = [piece.encode() for piece in pieces]

    def read() -> Iterator[Any]:
        events = ijson.sendable_list()
        parser = backend.basic_parse_coro(events, use_float=True)
        builder = ijson.ObjectBuilder()
        for stretch in stretches(chunks):
            for chunk in stretch:
                parser.send(chunk)
                for event, value in events:
                    builder.event(event, value)
                del events[:]
            yield
        parser.close()
        yield builder.value

    return f"ijson ({backend.backend_name}) with its ObjectBuilder: live containers, whole strings", read, 1


def json_stream_pulled(pieces: list[str]) -> Peer:
    json_stream = importlib.import_module("json_stream")
    written = "Rust" if json_stream.loader.default_tokenizer.__module__ == "builtins" else "Python"

    def read() -> Iterator[Any]:
        yield json_stream.to_standard_types(json_stream.load(iter(pieces)))

    return f"json-stream (tokenizer in {written}): pulled from end to end, no live value", read, 1


def partial_json_parser_again(pieces: list[str]) -> Peer:
    parser = importlib.import_module("partial_json_parser")
    text = "".join(pieces)
    every = len(pieces) / SAMPLES
    ends = [min(len(text), int((sample + 0.5) * every) * PIECE_CHARS) for sample in range(SAMPLES)]

    def read() -> Iterator[Any]:
        for end in ends:
            parser.loads(text[:end])
            yield
        yield parser.loads(text)

    name = f"partial-json-parser: everything again at each piece ({SAMPLES} of {len(pieces)} measured)"
    return name, read, len(pieces) / (SAMPLES + 1)
