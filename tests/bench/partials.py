"""A typed value that grows, against pydantic on everything so far after each delta: a 50 KB list of 300 models.

Ours is `QueryStream.partials()` on the chunks of an answer, the last item's name read each time. What decoding a wire
format and turning the event loop cost on top, and pydantic does not do here, has a figure of its own.
"""

from __future__ import annotations

import gc
import json
import time
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter
from tests.bench.scanner import no_collecting

from unspool.answer import AnswerMachine
from unspool.answer_stream import QueryStream
from unspool.functions import query_stream
from unspool.schema import Schema, format_value
from unspool.schema.text import Protocol
from unspool.stream.chunks import BlockStart, Finish, TextDelta
from unspool.testing import StaticResponse

PIECE_CHARS = 16
ITEMS = 300
ROUNDS = 12
AGAIN_ROUNDS = 4
TARGET = 20


class Item(BaseModel):
    name: str
    note: str
    price: float
    stock: int
    state: Literal["new", "used", "broken"]
    tags: list[str]


def items() -> list[Item]:
    return [
        Item(
            name=f"item {number}",
            note="a line of text that comes in several pieces, with “quotes”",
            price=number + 0.25,
            stock=number,
            state=("new", "used", "broken")[number % 3],
            tags=["first", "second"],
        )
        for number in range(ITEMS)
    ]


def pieces_of(text: str) -> list[str]:
    return [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]


class Chunks:
    """The chunks of an answer, one slice each, without a model, a wire or an event loop between them."""

    message = None

    def __init__(self, pieces: list[str]) -> None:
        self._batches: list[Any] = [[BlockStart(0, "text")], *([TextDelta(0, piece)] for piece in pieces)]
        self._batches.append([Finish("stop")])
        self._batches.reverse()

    async def read(self) -> Any:
        return self._batches.pop() if self._batches else None

    async def aclose(self) -> None:
        self._batches.clear()


async def read_all(stream: QueryStream[Any]) -> float:
    """Seconds for all partials of an answer, the last item's name read from each."""
    start = time.perf_counter()
    count = 0
    async for partial in stream.partials():
        if len(partial):
            count += partial[-1].name is not None
    taken = time.perf_counter() - start
    assert partial.complete and len(partial.value) == ITEMS and count > ITEMS
    return taken


def stream_of(pieces: list[str], protocol: Any, schema: Schema[Any]) -> QueryStream[Any]:
    answer = AnswerMachine(schema, protocol=protocol, max_chars=1_048_576, max_depth=64)
    source: Any = Chunks(pieces)
    return QueryStream(source, answer)


async def events_s(stream: QueryStream[Any]) -> float:
    """Seconds for the events alone."""
    start = time.perf_counter()
    while await stream.read() is not None:
        pass
    return time.perf_counter() - start


def again_s(text: str) -> float:
    """Seconds for pydantic on everything so far, after each delta."""
    adapter = TypeAdapter(list[Item])
    ends = range(PIECE_CHARS, len(text) + PIECE_CHARS, PIECE_CHARS)
    start = time.perf_counter()
    value: list[Item] = []
    for end in ends:
        value = adapter.validate_json(text[:end], experimental_allow_partial="trailing-strings")
    taken = time.perf_counter() - start
    assert len(value) == ITEMS
    return taken


def target(protocol: Protocol, ratio: float) -> dict[str, Any]:
    """What is demanded: pydantic reads no Python syntax, so that it is held against for JSON alone."""
    return {"target": f">= {TARGET} times faster", "ok": ratio >= TARGET} if protocol == "json" else {}


async def measure(realm: str) -> list[dict[str, Any]]:
    """Give this module's figures."""
    data = items()
    text = json.dumps([item.model_dump() for item in data], ensure_ascii=False, separators=(",", ":"))
    schema: Schema[list[Item]] = Schema.of(list[Item])
    source = format_value(data, "python", T=schema)
    asked_as: tuple[tuple[Protocol, str], ...] = (("json", text), ("python", source))
    times: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        for protocol, answer in asked_as:
            pieces, lm = pieces_of(answer), StaticResponse(answer, PIECE_CHARS)
            gc.collect()
            with no_collecting():
                seen = await read_all(stream_of(pieces, protocol, schema))
                events = await events_s(stream_of(pieces, protocol, schema))
                asked = await read_all(query_stream("?", schema, lm=lm, protocol=protocol))
            for name, taken in (("seen", seen), ("events", events), ("asked", asked)):
                times.setdefault(f"{name} {protocol}", []).append(taken)
        if number < AGAIN_ROUNDS:
            gc.collect()
            with no_collecting():
                times.setdefault("again", []).append(again_s(text))
    best = {name: min(taken) for name, taken in times.items()}
    figures: list[dict[str, Any]] = []
    for protocol, answer in asked_as:
        size = f"{len(answer) // 1000} KB list of {ITEMS} models, {protocol}, {PIECE_CHARS}-character deltas"
        again, taken = best["again"], best[f"seen {protocol}"]
        events, asked = best[f"events {protocol}"], best[f"asked {protocol}"]
        figures += [
            {
                "name": f"partials(), {size}",
                "realm": realm,
                "value": taken * 1e3,
                "unit": "ms",
                "against": "times faster than pydantic with experimental_allow_partial on all JSON so far",
                "ratio": again / taken,
                **target(protocol, again / taken),
            },
            {
                "name": f"events alone, {size}",
                "realm": realm,
                "value": events * 1e3,
                "unit": "ms",
                "against": "the time of partials()",
                "ratio": events / taken,
            },
            {
                "name": f"partials() of a model's stream, {size}",
                "realm": realm,
                "value": asked * 1e3,
                "unit": "ms",
                "against": "the time without wire format and loop",
                "ratio": asked / taken,
            },
        ]
    return figures
