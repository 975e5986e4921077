"""A typed value that grows, against pydantic on everything so far after each delta: a 50 KB list of 300 models.

Ours is `query_stream(…).partials()` from chunks of a model that does not wait, the last item's name read each time.
"""

from __future__ import annotations

import json
import time
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from unspool.answer import AnswerMachine
from unspool.functions import query_stream
from unspool.schema import Schema, format_value
from unspool.stream.chunks import BlockStart, Finish, TextDelta
from unspool.testing import StaticResponse

PIECE_CHARS = 16
ITEMS = 300
ROUNDS = 5
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


async def watched_s(text: str, protocol: Any) -> float:
    """Seconds for all partials of an answer."""
    stream = query_stream("?", list[Item], lm=StaticResponse(text, PIECE_CHARS), protocol=protocol)
    start = time.perf_counter()
    count = 0
    async for partial in stream.partials():
        if len(partial):
            count += partial[-1].name is not None
    taken = time.perf_counter() - start
    assert partial.complete and len(partial.value) == ITEMS and count > ITEMS
    return taken


def machine_s(pieces: list[str], protocol: Any, *, builds: bool) -> float:
    """Seconds of the synchronous part: from chunks to events, and to partials if `builds`; without the last chunk."""
    answer = AnswerMachine(Schema.of(list[Item]), protocol=protocol, max_chars=1_048_576, max_depth=64)
    builder = answer.partial_builder()
    answer.feed([BlockStart(0, "text")])
    start = time.perf_counter()
    for piece in pieces:
        events = answer.feed([TextDelta(0, piece)])
        if builds:
            builder.feed(events)
    taken = time.perf_counter() - start
    answer.feed([Finish("stop")])
    return taken


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


async def measure(realm: str) -> list[dict[str, Any]]:
    """Give this module's figures."""
    data = items()
    text = json.dumps([item.model_dump() for item in data], ensure_ascii=False, separators=(",", ":"))
    source = format_value(data, "python", T=list[Item])
    again = min(again_s(text) for _ in range(2))
    figures: list[dict[str, Any]] = []
    for protocol, answer in (("json", text), ("python", source)):
        size = f"{len(answer) // 1000} KB list of {ITEMS} models, {protocol}, {PIECE_CHARS}-character deltas"
        taken = min([await watched_s(answer, protocol) for _ in range(ROUNDS)])
        pieces = pieces_of(answer)
        built = min(machine_s(pieces, protocol, builds=True) for _ in range(ROUNDS))
        alone = min(machine_s(pieces, protocol, builds=False) for _ in range(ROUNDS))
        figures.append(
            {
                "name": f"partials(), {size}",
                "realm": realm,
                "value": taken * 1e3,
                "unit": "ms",
                "against": "times faster than pydantic with experimental_allow_partial on all JSON so far",
                "ratio": again / taken,
                "target": f">= {TARGET} times faster",
                "ok": again / taken >= TARGET,
            }
        )
        figures.append(
            {
                "name": f"partials without events and loop, {size}",
                "realm": realm,
                "value": (built - alone) * 1e3,
                "unit": "ms",
                "against": "the time of the events alone",
                "ratio": (built - alone) / alone,
            }
        )
    return figures
