"""What a typed query costs beyond its parts: events, the way to JavaScript, the words for the model, validation.

The model is `StaticResponse`, which gives 53 KB in pieces of 16 characters, so nothing here waits.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from unspool.answer import AnswerMachine
from unspool.bridge import Bridge
from unspool.functions import query_stream
from unspool.schema import Schema, openai_strict, schema_prompt
from unspool.stream.chunks import BlockStart, Finish, TextDelta
from unspool.testing import StaticResponse

PIECE_CHARS = 16
ITEMS = 340
CLASSES = 30
ROUNDS = 3


class Item(BaseModel):
    name: str
    note: str
    price: float
    tags: list[str]


class Report(BaseModel):
    title: str
    items: list[Item]


def answer() -> str:
    items = [
        {
            "name": f"item {number}",
            "note": "a line of text that is long enough to come in several pieces, with “quotes”",
            "price": number * 1.25,
            "tags": ["first", "second"],
        }
        for number in range(ITEMS)
    ]
    return json.dumps({"title": "Report", "items": items}, ensure_ascii=False)


def classes(count: int = CLASSES) -> type[BaseModel]:
    """A model of many classes, six members each, each class used by the one before."""
    made: type[BaseModel] | None = None
    for number in reversed(range(count)):
        members: dict[str, Any] = {
            "__annotations__": {
                "name": str,
                "size": int,
                "ratio": float,
                "tags": list[str],
                "note": str | None,
                **({"next": made | None, "others": list[made]} if made is not None else {}),
            },
            "__module__": __name__,
            "name": Field(description=f"the name of part {number}"),
            "note": None,
        }
        made = type(f"Part{number}", (BaseModel,), members)
    assert made is not None
    return made


def best_s(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The best of some rounds: what the work costs when nothing else does."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


async def read_all(text: str) -> tuple[int, float]:
    """Read a query to its end; give how many events came and the seconds it took."""
    stream = query_stream("?", Report, lm=StaticResponse(text, PIECE_CHARS))
    count = 0
    start = time.perf_counter()
    while (batch := await stream.read()) is not None:
        count += len(batch)
    return count, time.perf_counter() - start


async def pull_all(text: str) -> tuple[int, float]:
    """The same through the bridge, as JSON text; also how many bytes crossed."""
    bridge = Bridge()
    lm = {"provider": "scripted", "text": text, "chunkChars": PIECE_CHARS}
    schema = {"jsonSchema": Schema.of(Report).json_schema()}
    opened = json.loads(await bridge.open(json.dumps({"prompt": "?", "schema": schema, "lm": lm})))
    call = json.dumps({"id": opened["value"]["id"]})
    sizes = 0
    start = time.perf_counter()
    while True:
        batch = await bridge.pull(call)
        sizes += len(batch)
        if batch.endswith('"done":true}}'):
            return sizes, time.perf_counter() - start


def machine_alone(pieces: list[str]) -> int:
    machine = AnswerMachine(Schema.of(Report), max_chars=1_048_576, max_depth=64)
    count = len(machine.feed([BlockStart(0, "text")]))
    for piece in pieces:
        count += len(machine.feed([TextDelta(0, piece)]))
    return count + len(machine.feed([Finish("stop")]))


async def measure(realm: str) -> list[dict[str, Any]]:
    """Give this module's figures."""
    text = answer()
    pieces = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
    runs = [await read_all(text) for _ in range(ROUNDS)]
    events, streamed_s = min(runs, key=lambda run: run[1])
    alone_s = best_s(lambda: machine_alone(pieces))
    crossings = [await pull_all(text) for _ in range(ROUNDS)]
    sizes, crossed_s = min(crossings, key=lambda run: run[1])

    schema, value = Schema.of(Report), json.loads(text)
    adapter, data = TypeAdapter(Report), text.encode()
    checked_s = best_s(lambda: schema.validate(value))
    plain_s = best_s(lambda: adapter.validate_json(data))

    big = classes()
    made_s = best_s(lambda: Schema.of(big, name="Big"))  # with a name of its own, it is not one that was kept
    given_s = best_s(lambda: TypeAdapter(big).json_schema())
    wide = Schema.of(big)

    def first_words_s(protocol: Literal["json", "python"]) -> float:
        """What the words cost that are written of a type for the first time."""
        fresh = [Schema.of(big, name=f"{protocol}{number}") for number in range(ROUNDS)]
        return best_s(lambda: schema_prompt(fresh.pop(), protocol))

    form_s, text_s = first_words_s("json"), first_words_s("python")
    schema_prompt(wide, "python")
    kept_s = best_s(lambda: schema_prompt(wide, "python"))
    strict_s = best_s(lambda: openai_strict(wide))

    def figure(name: str, value: float, unit: str, **rest: Any) -> dict[str, Any]:
        return {"name": name, "realm": realm, "value": value, "unit": unit, **rest}

    size = f"{len(data) // 1000} KB in {PIECE_CHARS}-character pieces"
    return [
        figure(
            f"query_stream, {size}: an event",
            streamed_s / events * 1e6,
            "µs",
            against="the time of the answer machine alone",
            ratio=streamed_s / alone_s,
        ),
        figure(f"query_stream, {size}: all {events} events", streamed_s * 1e3, "ms"),
        figure(
            f"bridge, {size}: all {events} events as JSON text",
            crossed_s * 1e3,
            "ms",
            against="the time of the same query in Python",
            ratio=crossed_s / streamed_s,
        ),
        figure(
            f"bridge, {size}: JSON text for JavaScript",
            sizes / 1e3,
            "KB",
            against="the answer",
            ratio=sizes / len(data),
        ),
        figure(
            f"validation of {len(data) // 1000} KB, once at the end",
            checked_s * 1e3,
            "ms",
            against="the time of pydantic on the text itself",
            ratio=checked_s / plain_s,
        ),
        figure(
            f"schema of {CLASSES} classes",
            made_s * 1e3,
            "ms",
            against="the time of pydantic's own JSON Schema",
            ratio=made_s / given_s,
        ),
        figure(f"first JSON prompt of {CLASSES} classes", form_s * 1e3, "ms", target="< 20 ms", ok=form_s < 0.020),
        figure(
            f"first Python prompt of {CLASSES} classes",
            text_s * 1e3,
            "ms",
            target="< 20 ms",
            ok=text_s < 0.020,
        ),
        figure(f"Python prompt of {CLASSES} classes, kept", kept_s * 1e3, "ms"),
        figure(f"strict schema of {CLASSES} classes", strict_s * 1e3, "ms"),
    ]
