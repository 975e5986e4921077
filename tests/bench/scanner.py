"""The JSON scanner against the other ways: how long a tool call in deltas takes, in every size of delta.

Live values are read after every delta. Each figure is the best of several rounds, and what is compared is measured in
the same round, one after the other, so that a busy machine slows both.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from unspool.structured.events import StructuredMachine
from unspool.structured.json_stream import JsonStream

CALL_BYTES = 53 * 1024
SEED = 7
ROUNDS = 9
SECONDS = 1.5
"""How long a comparison is repeated, so that one round at least is not disturbed."""
WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "as",
    "with",
    "was",
    "on",
    "be",
    "by",
    "at",
    "this",
    "have",
    "from",
    "or",
    "had",
    "not",
    "are",
    "but",
    "what",
    "all",
    "were",
    "when",
    "we",
    "there",
    "can",
    "an",
    "your",
    "which",
    "their",
    "said",
    "if",
    "do",
    "will",
    "each",
    "about",
    "how",
    "up",
    "out",
    "them",
    "then",
    "she",
    "many",
    "some",
    "so",
    "these",
    "would",
    "other",
    "into",
    "has",
    "more",
    "her",
    "two",
    "like",
    "him",
    "see",
    "time",
    "could",
    "no",
    "make",
    "than",
    "first",
    "been",
    "its",
    "who",
    "now",
    "people",
    "my",
    "made",
    "over",
    "did",
    "down",
    "only",
    "way",
    "find",
    "use",
    "may",
    "water",
    "long",
    "little",
    "very",
    "after",
    "words",
    "called",
    "just",
    "where",
    "most",
    "know",
]

# One token of JSON: what a scanner driven by a regex would match at least once a delta.
_TOKEN = re.compile(
    r'[ \t\n\r]*+(?:"((?:[^"\\\x00-\x1f]++|\\.)*+)("?)|(-?[0-9][-+.0-9eE]*+)|(true|false|null)|([\[\]{}:,])'
    r'|[^"\\\x00-\x1f]*+)'
)


def sentence(rng: Random, low: int, high: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high))).capitalize() + "."


def prose(rng: Random, chars: int) -> str:
    """Text with what text has: line breaks, quotes, backslashes, tabs, accents, an emoji."""
    parts: list[str] = []
    while sum(map(len, parts)) < chars:
        part = sentence(rng, 5, 14)
        roll = rng.random()
        if roll < 0.15:
            part += "\n"
        elif roll < 0.25:
            part = f'"{part}"'
        elif roll < 0.30:
            part += " C:\\temp\\x\t"
        elif roll < 0.37:
            part += " café – Übergröße ✓"
        elif roll < 0.40:
            part += " 😀"
        parts.append(part)
    return " ".join(parts)


def section(rng: Random, number: int) -> dict[str, Any]:
    """One section of the report that the call writes: nested objects, arrays, numbers, escapes, about 600 bytes."""
    return {
        "id": number,
        "heading": sentence(rng, 3, 7),
        "body": prose(rng, rng.choice([120, 240, 480])),
        "score": round(rng.random() * 100, 2),
        "draft": rng.random() < 0.5,
        "reviewer": None if rng.random() < 0.3 else rng.choice(WORDS),
        "tags": [rng.choice(WORDS) for _ in range(rng.randint(2, 5))],
        "points": [
            {"x": rng.randint(0, 999), "y": round(rng.uniform(-50, 50), 3), "label": rng.choice(WORDS)}
            for _ in range(rng.randint(1, 4))
        ],
        "series": [rng.randint(-1000, 1000) for _ in range(rng.randint(3, 8))],
    }


def tool_call(size: int = CALL_BYTES) -> str:
    """The arguments of one tool call, as a model writes them; the same text everywhere."""
    rng = Random(SEED)
    first = [json.dumps(section(rng, number), ensure_ascii=False) for number in range(1, 101)]
    sections: list[str] = []
    total = len('{"title": "Report", "sections": []}')
    while True:
        text = first[len(sections) % len(first)]
        total += len(text.encode()) + 2
        if total > size:
            return f'{{"title": "Report", "sections": [{", ".join(sections)}]}}'
        sections.append(text)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def floor(deltas: Sequence[str]) -> None:
    """The least that a scanner driven by a regex can do: one match and two list appends a delta."""
    match = _TOKEN.match
    texts: list[str] = []
    ends: list[int] = []
    add_text, add_end = texts.append, ends.append
    for delta in deltas:
        found = match(delta)
        assert found is not None
        add_text(found[0])
        add_end(found.end())


def scan(deltas: Sequence[str], **options: Any) -> Any:
    """Read a text in deltas, and its value after each."""
    stream = JsonStream(**options)
    push = stream.push
    for delta in deltas:
        value = push(delta).partial_value
    stream.finish()
    return value


def scan_with_patches(deltas: Sequence[str]) -> None:
    stream = JsonStream()
    for delta in deltas:
        state = stream.push(delta)
        state.partial_value  # noqa: B018
        state.changes  # noqa: B018


def events(deltas: Sequence[str]) -> None:
    machine = StructuredMachine(max_chars=16_000_000)
    for delta in deltas:
        machine.feed(delta)
    machine.finish()


def reparse(deltas: Sequence[str]) -> None:
    """What there is without us: parse everything so far again after each delta."""
    from pydantic_core import from_json

    text = ""
    for delta in deltas:
        text += delta
        from_json(text, allow_partial="trailing-strings")


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(*runs: Callable[[], Any], rounds: int = ROUNDS, seconds: float = SECONDS) -> list[float]:
    """Seconds of each run, the best of some rounds: at least so many, and for at least so long."""
    found = [float("inf")] * len(runs)
    start = time.perf_counter()
    while rounds > 0 or time.perf_counter() - start < seconds:
        rounds -= 1
        gc.collect()
        for index, run in enumerate(runs):
            found[index] = min(found[index], timed(run))
    return found


def measure(realm: str) -> list[dict[str, Any]]:
    """Measure on this interpreter.

    Args:
        realm: where that is.
    Returns:
        Figures as mappings, with the fields of `figure.Figure`.
    """
    figures: list[dict[str, Any]] = []

    def add(
        name: str,
        seconds: float,
        against: str = "",
        ratio: float | None = None,
        limit: float | None = None,
        *,
        least: bool = False,
    ) -> None:
        figure: dict[str, Any] = {"name": name, "realm": realm, "value": round(seconds * 1e3, 3), "unit": "ms"}
        if ratio is not None:
            figure |= {"against": against, "ratio": round(ratio, 3)}
        if limit is not None and ratio is not None:
            figure["target"] = f">= {limit:g} times faster" if least else f"<= {limit:g} times"
            figure["ok"] = ratio >= limit if least else ratio <= limit
        figures.append(figure)

    text = tool_call()
    assert scan(cut(text, 16)) == scan(cut(text, 16), snapshots="immutable") == json.loads(text)
    deltas = {size: cut(text, size) for size in (1, 16, 64, 1024)}

    floor_16, live, patched, told = best(
        lambda: floor(deltas[16]),
        lambda: scan(deltas[16]),
        lambda: scan_with_patches(deltas[16]),
        lambda: events(deltas[16]),
    )
    again = timed(lambda: reparse(deltas[16]))
    add("floor, 53 KB in 16-character deltas", floor_16)
    add("re-parse by pydantic_core, 53 KB in 16-character deltas", again)
    add("scanner, 53 KB in 16-character deltas", live, "re-parse by pydantic_core", again / live, 60, least=True)
    add("scanner against the floor, 16-character deltas", live, "floor", live / floor_16, 2)
    add("scanner with patches, 16-character deltas", patched, "without patches", patched / live)
    add("events of typed queries, 16-character deltas", told, "scanner", told / live)

    floor_1, live_1 = best(lambda: floor(deltas[1]), lambda: scan(deltas[1]))
    add("scanner, 1-character deltas", live_1, "floor of 1-character deltas", live_1 / floor_1, 1.3)
    for size, limit in ((64, 1.3), (1024, 1.0)):
        floor_16, live_size = best(lambda: floor(deltas[16]), lambda size=size: scan(deltas[size]))  # type: ignore[misc]
        add(f"scanner, {size}-character deltas", live_size, "floor of 16-character deltas", live_size / floor_16, limit)
    loads, whole = best(lambda: json.loads(text), lambda: scan([text]))
    add("scanner, whole text in one push", whole, "json.loads", whole / loads, 10)

    live, frozen = best(lambda: scan(deltas[16]), lambda: scan(deltas[16], snapshots="immutable"))
    add("immutable snapshots, 16-character deltas", frozen, "live", frozen / live, 2.5)
    flat = cut(json.dumps(list(range(20_000))), 16)
    live, frozen = best(lambda: scan(flat), lambda: scan(flat, snapshots="immutable"))
    add("immutable snapshots of a flat array of 20,000 numbers", frozen, "live", frozen / live, 3)

    figures += sizes(realm, text)
    figures += memory(realm)
    return figures


def sizes(realm: str, text: str) -> list[dict[str, Any]]:
    """Time in proportion to length: doublings, and bytes of long texts against bytes of the short one."""
    figures: list[dict[str, Any]] = []
    halves = [cut(tool_call(size), 16) for size in (500_000, 1_000_000, 2_000_000)]
    short, *long = best(
        lambda: scan(cut(text, 16)), *(lambda deltas=deltas: scan(deltas) for deltas in halves), rounds=4
    )  # type: ignore[misc]
    for before, after, name in ((long[0], long[1], "0.5 to 1 MB"), (long[1], long[2], "1 to 2 MB")):
        ratio = after / before
        figures.append(
            {
                "name": f"scanner, {name} in 16-character deltas",
                "realm": realm,
                "value": round(after * 1e3, 3),
                "unit": "ms",
                "against": "half the length",
                "ratio": round(ratio, 3),
                "target": "<= 2.3 times",
                "ok": ratio <= 2.3,
            }
        )
    eight = cut(tool_call(8_000_000), 16)
    short = min(short, *best(lambda: scan(cut(text, 16))))
    for name, seconds, size in (
        ("1 MB", long[1], 1_000_000),
        ("8 MB", best(lambda: scan(eight), rounds=2, seconds=0)[0], 8_000_000),
    ):
        ratio = (seconds / size) / (short / len(text.encode()))
        figures.append(
            {
                "name": f"scanner, {name}, a byte of it",
                "realm": realm,
                "value": round(seconds / size * 1e9, 2),
                "unit": "ns",
                "against": "a byte of 53 KB",
                "ratio": round(ratio, 3),
                "target": "<= 1.25 times",
                "ok": ratio <= 1.25,
            }
        )
    return figures


def memory(realm: str) -> list[dict[str, Any]]:
    """What a finished stream holds beyond the value of a 1 MB text: everything it reaches that the value does not."""
    text = tool_call(1_000_000)
    stream = JsonStream()
    for delta in cut(text, 16):
        stream.push(delta)
    stream.finish()
    value = stream.value
    # The code, its constants and the modules are not the stream's own.
    shared = reached([JsonStream, StructuredMachine, sys.modules])
    own = reached([stream], without={*reached([value]), *shared})
    held = sum(own.values())
    ratio = held / len(text.encode())
    return [
        {
            "name": "memory of a finished stream beyond the value, 1 MB",
            "realm": realm,
            "value": float(held),
            "unit": "bytes",
            "against": "the value's text",
            "ratio": round(ratio, 5),
            "target": "< 5 %",
            "ok": ratio < 0.05,
        }
    ]


def reached(roots: list[Any], without: Any = ()) -> dict[int, int]:
    """Identity and size of every object that the roots reach, in loops."""
    found: dict[int, int] = {}
    pending = list(roots)
    while pending:
        item = pending.pop()
        if id(item) in found or id(item) in without:
            continue
        found[id(item)] = sys.getsizeof(item)
        pending += gc.get_referents(item)
    return found
