"""Records of a stream of 2000 tokens: their size in JSON and in memory, and what writing and reading them costs.

Three clocks: whole milliseconds (`Date.now`), tenths (`performance.now` in a page that is not isolated), and a float
with all its digits (`time.monotonic`), whose noise cannot be packed.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from unspool.messages import Usage
from unspool.stream import BlockAssembler, RecordWriter
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, TextDelta, UsageReport
from unspool.stream.record_readers import assemble_records, first_token_time, last_chunk
from unspool.stream.records import Record, expand_records

TOKENS = 2_000
ROUNDS = 5
CLOCKS: dict[str, Callable[[float], float]] = {
    "whole milliseconds": lambda at: int(at),
    "tenths of a millisecond": lambda at: round(at, 1),
    "all digits of a float": lambda at: at,
}


def stream(clock: Callable[[float], float]) -> list[tuple[Chunk, float]]:
    """Tokens of 1 to 9 characters, some 20 ms apart, a few at a time as networks bring them."""
    rng = random.Random(4)
    at = 1_764_533_620_000.0 if clock(0.5) == 0 else 41_234.567
    timed: list[tuple[Chunk, float]] = [(BlockStart(0, "text"), clock(at))]
    for number in range(TOKENS):
        if rng.random() < 0.6:
            at += rng.expovariate(1 / 33)
        text = " " + "".join(rng.choices("etaoinshrdlu", k=rng.randint(0, 8)))
        timed.append((TextDelta(0, text if number % 40 else "\n"), clock(at)))
    ends: list[Chunk] = [BlockEnd(0), UsageReport(Usage(20, TOKENS)), Finish("stop", "stop")]
    return [*timed, *((chunk, clock(at)) for chunk in ends)]


def written(timed: list[tuple[Chunk, float]]) -> list[Record]:
    writer = RecordWriter()
    records: list[Record] = []
    for chunk, at in timed:
        records += writer.feed(chunk, at)
    return records + writer.finish()


def memory(value: Any, seen: set[int] | None = None) -> int:
    """Bytes of a value and all that it alone holds; small integers and shared texts count once."""
    seen = set() if seen is None else seen
    if id(value) in seen or value is None or isinstance(value, type):
        return 0
    seen.add(id(value))
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        return size + sum(memory(key, seen) + memory(item, seen) for key, item in value.items())
    if isinstance(value, list | tuple):
        return size + sum(memory(item, seen) for item in value)
    return size + sum(memory(getattr(value, name), seen) for name in getattr(value, "__slots__", ()) if name != "depth")


def seconds(work: Callable[[], Any]) -> float:
    """The best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def expanded_message(records: list[Record]) -> str:
    assembler = BlockAssembler()
    for chunk, _ in expand_records(records):
        assembler.feed(chunk)
    return assembler.message().text


def measure(realm: str) -> list[dict[str, Any]]:
    """The figures of this module."""
    figures: list[dict[str, Any]] = []

    def keep(name: str, value: float, unit: str, **more: Any) -> None:
        figures.append({"realm": realm, "name": f"records: {name}", "value": value, "unit": unit, **more})

    for clock_name, clock in CLOCKS.items():
        timed = stream(clock)
        records = written(timed)
        stored = json.loads(json.dumps(records))
        expanded = list(expand_records(stored))
        assert [(chunk.to_wire(), at) for chunk, at in expanded] == [(chunk.to_wire(), at) for chunk, at in timed]
        text = "".join(chunk.text for chunk, _ in timed if isinstance(chunk, TextDelta))
        beyond = (len(json.dumps(records, separators=(",", ":"))) - len(text)) / TOKENS
        steady = clock_name != "all digits of a float"
        small: dict[str, Any] = {"target": "< 6", "ok": beyond < 6} if steady else {}
        keep(f"JSON beyond the text, {clock_name}", beyond, "bytes a token", **small)
        ratio = memory(expanded) / memory(stored)
        tenth: dict[str, Any] = {"target": ">= 10", "ok": ratio >= 10} if steady else {}
        keep(
            f"memory, {clock_name}",
            memory(stored) / 1e3,
            "kB",
            against="the expanded stream (how many times its memory)",
            ratio=ratio,
            **tenth,
        )
    timed = stream(CLOCKS["tenths of a millisecond"])
    records = written(timed)
    assert assemble_records(records).message().text == expanded_message(records)
    keep("writing", seconds(lambda: written(timed)) / TOKENS * 1e6, "us a token")
    keep("expanding", seconds(lambda: list(expand_records(records))) / TOKENS * 1e6, "us a token")
    packed, plain = seconds(lambda: assemble_records(records).message()), seconds(lambda: expanded_message(records))
    keep(
        "the message of 2000 tokens",
        packed * 1e3,
        "ms",
        against="the same from the expanded stream (how many times faster)",
        ratio=plain / packed,
    )
    keep("time of the first token", seconds(lambda: first_token_time(records)) * 1e6, "us")
    keep("the last finish", seconds(lambda: last_chunk(records, Finish)) * 1e6, "us")
    return figures
