"""The JSON scanner against the other ways: how long a tool call in deltas takes, in every size of delta.

Live values are read after every delta. Each text is read in stretches of 8,192 characters, what is compared by turns;
a figure is the sum of the best time that each stretch was seen to take. So a machine that is busy now and then does not
show.
"""

from __future__ import annotations

import gc
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

from unspool.structured.events import StructuredMachine
from unspool.structured.json_stream import JsonStream

CALL_BYTES = 53 * 1024
SEED = 7
STRETCH = 8192
"""Characters that are timed at once; a multiple of every size of delta. For less, a browser's clock is too coarse."""
ROUNDS = 5
SECONDS = 2.0
"""How long a comparison is repeated at least, so that each stretch is undisturbed once."""
WORDS = tuple(
    word
    for line in (
        "the of and to in is that for it as with was on be by at this have from or had not are but what all were",
        "when we there can an your which their said if do will each about how up out them then she many some so",
        "these would other into has more her two like him see time could no make than first been its who now",
        "people my made over did down only way find use may water long little very after words called just",
    )
    for word in line.split()
)

# One token of JSON, with a group for each kind: what a scanner driven by a regex would match at least once a delta.
_TOKEN = re.compile(
    r'[ \t\n\r]*+(?:"((?:[^"\\\x00-\x1f]++|\\.)*+)("?)|(-?[0-9][-+.0-9eE]*+)|(true|false|null)|([\[\]{}:,])'
    r'|[^"\\\x00-\x1f]*+)'
)
# Plain text alone: less than any scanner can do with.
_TEXT = re.compile(r'[^"\\\x00-\x1f]*+')


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


Reader = Callable[[Sequence[str]], None]
"""Reads the next stretch of a text, given in deltas."""


def _one_match(pattern: re.Pattern[str]) -> Reader:
    match = pattern.match
    texts: list[str] = []
    ends: list[int] = []
    add_text, add_end = texts.append, ends.append

    def read(deltas: Sequence[str]) -> None:
        for delta in deltas:
            found: Any = match(delta)
            add_text(found[0])
            add_end(found.end())

    return read


def floor() -> Reader:
    """The least that a scanner driven by a regex can do: one match of a token and two list appends a delta."""
    return _one_match(_TOKEN)


def floor_of_text() -> Reader:
    """The same with a regex that knows plain text alone."""
    return _one_match(_TEXT)


def floor_of_all_tokens() -> Reader:
    """The same with a match of every token in the delta, in one call: what such a scanner really has to match."""
    find = _TOKEN.findall
    tokens: list[Any] = []
    sizes: list[int] = []
    add_tokens, add_size = tokens.append, sizes.append

    def read(deltas: Sequence[str]) -> None:
        for delta in deltas:
            add_tokens(find(delta))
            add_size(len(delta))

    return read


def live(**options: Any) -> Reader:
    """Ours, the value read after every delta."""
    push = JsonStream(**options).push

    def read(deltas: Sequence[str]) -> None:
        for delta in deltas:
            push(delta).partial_value  # noqa: B018

    return read


def immutable() -> Reader:
    return live(snapshots="immutable")


def with_patches() -> Reader:
    push = JsonStream().push

    def read(deltas: Sequence[str]) -> None:
        for delta in deltas:
            state = push(delta)
            state.partial_value  # noqa: B018
            state.changes  # noqa: B018

    return read


def events() -> Reader:
    feed = StructuredMachine(max_chars=16_000_000).feed

    def read(deltas: Sequence[str]) -> None:
        for delta in deltas:
            feed(delta)

    return read


def reparse() -> Reader:
    """What there is without us: parse everything so far again after each delta."""
    from pydantic_core import from_json

    text = ""

    def read(deltas: Sequence[str]) -> None:
        nonlocal text
        for delta in deltas:
            text += delta
            from_json(text, allow_partial="trailing-strings")

    return read


@contextmanager
def no_collecting() -> Generator[None]:
    """Keep the garbage collector out: it takes milliseconds, from whoever's turn it is, the same one each round."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def compared(
    *ways: tuple[Callable[[], Reader], str, int], rounds: int = ROUNDS, seconds: float = SECONDS
) -> list[float]:
    """Seconds of each way.

    Args:
        ways: what makes a reader, the text it reads, and the size of its deltas.
        rounds: how often each is read at least.
        seconds: for how long at least.
    """
    texts = [[cut(stretch, size) for stretch in cut(text, STRETCH)] for _, text, size in ways]
    found = [[float("inf")] * len(stretches) for stretches in texts]
    start = time.perf_counter()
    with no_collecting():
        while rounds > 0 or time.perf_counter() - start < seconds:
            rounds -= 1
            gc.collect()
            readers = [make() for make, _, _ in ways]
            for place in range(max(map(len, texts))):
                for reader, stretches, times in zip(readers, texts, found, strict=True):
                    if place < len(stretches):
                        begun = time.perf_counter()
                        reader(stretches[place])
                        times[place] = min(times[place], time.perf_counter() - begun)
    return [sum(times) for times in found]


class Figures:
    """The figures of one realm."""

    def __init__(self, realm: str) -> None:
        self.realm = realm
        self.all: list[dict[str, Any]] = []

    def add(self, name: str, value: float, unit: str = "ms", **more: Any) -> None:
        self.all.append({"name": name, "realm": self.realm, "value": round(value, 3), "unit": unit, **more})

    def most(self, name: str, value: float, against: str, ratio: float, limit: float, unit: str = "ms") -> None:
        """A figure that may be so many times another at most."""
        told = f"<= {limit:g} times"
        self.add(name, value, unit, against=against, ratio=round(ratio, 3), target=told, ok=ratio <= limit)


def warm_up() -> None:
    """Have WebAssembly's compiler see what is hot. To be called again and again before anything is measured.

    A browser runs WebAssembly in a quick translation at first and optimises what is hot; but the interpreter's loop
    goes on in the translation in which it was entered, so what is measured must be a call of its own.
    """
    text = tool_call()
    start = time.perf_counter()
    while time.perf_counter() - start < 1:
        for make in (floor, live, immutable, with_patches):
            make()(cut(text, 16))


def measure(realm: str) -> list[dict[str, Any]]:
    """Measure on this interpreter.

    Args:
        realm: where that is.
    Returns:
        Figures as mappings, with the fields of `figure.Figure`.
    """
    figures = Figures(realm)
    text = tool_call()
    deltas(figures, text)
    snapshots(figures, text)
    lengths(figures)
    memory(figures)
    return figures.all


def deltas(figures: Figures, text: str) -> None:
    """One text in every size of delta."""
    bottom, least, tokens, ours, patched, told = compared(
        (floor, text, 16),
        (floor_of_text, text, 16),
        (floor_of_all_tokens, text, 16),
        (live, text, 16),
        (with_patches, text, 16),
        (events, text, 16),
    )
    (again,) = compared((reparse, text, 16), rounds=1, seconds=0)
    figures.add("floor, 53 KB in 16-character deltas", bottom * 1e3)
    figures.add("floor with a regex of plain text alone", least * 1e3, against="floor", ratio=round(least / bottom, 2))
    figures.add("floor with a match of every token", tokens * 1e3, against="floor", ratio=round(tokens / bottom, 2))
    figures.add("re-parse by pydantic_core, 53 KB in 16-character deltas", again * 1e3)
    figures.add(
        "scanner, 53 KB in 16-character deltas",
        ours * 1e3,
        against="re-parse by pydantic_core",
        ratio=round(again / ours, 1),
        target=">= 60 times faster",
        ok=again / ours >= 60,
    )
    figures.most("scanner, 16-character deltas", ours * 1e3, "floor", ours / bottom, 2)
    figures.add(
        "scanner, 16-character deltas, beside every token",
        ours * 1e3,
        against="floor with a match of every token",
        ratio=round(ours / tokens, 2),
    )
    figures.add(
        "scanner with patches, 16-character deltas", patched * 1e3, against="without", ratio=round(patched / ours, 2)
    )
    figures.add("events of the JSON protocol", told * 1e3, against="scanner", ratio=round(told / ours, 2))
    bottom, ours = compared((floor, text, 1), (live, text, 1))
    figures.most("scanner, 1-character deltas", ours * 1e3, "floor of 1-character deltas", ours / bottom, 1.3)
    for size, limit in ((64, 1.3), (1024, 1.0)):
        bottom, ours = compared((floor, text, 16), (live, text, size))
        figures.most(f"scanner, {size}-character deltas", ours * 1e3, "floor", ours / bottom, limit)
    whole = loads = float("inf")
    for _ in range(200):
        loads = min(loads, timed(lambda: json.loads(text)))
        whole = min(whole, timed(lambda: live()([text])))
    figures.most("scanner, whole text in one push", whole * 1e3, "json.loads", whole / loads, 10)


def snapshots(figures: Figures, text: str) -> None:
    ours, frozen = compared((live, text, 16), (immutable, text, 16))
    figures.most("immutable snapshots, 16-character deltas", frozen * 1e3, "live", frozen / ours, 2.5)
    flat = json.dumps(list(range(20_000)))
    ours, frozen = compared((live, flat, 16), (immutable, flat, 16))
    figures.most("immutable snapshots of a flat array of 20,000 numbers", frozen * 1e3, "live", frozen / ours, 3)


def lengths(figures: Figures) -> None:
    """Time in proportion to length: one character of a long text against one of a short text."""
    for short, long, name in ((500_000, 1_000_000, "0.5 to 1 MB"), (1_000_000, 2_000_000, "1 to 2 MB")):
        one, other = by_turns(short, long)
        figures.most(f"scanner, from {name}", long * other * 1e3, "half the length", 2 * other / one, 2.3)
    for long, name in ((1_000_000, "1 MB"), (8_000_000, "8 MB")):
        one, other = by_turns(CALL_BYTES, long)
        figures.most(f"scanner, a byte of {name}", other * 1e9, "a byte of 53 KB", other / one, 1.25, "ns")


def by_turns(short: int, long: int) -> tuple[float, float]:
    """Seconds for a character of two texts, read a stretch of each by turns, the short text again and again.

    A long text cannot be read often enough for the best times to tell: a stretch counts with its usual time.
    """
    one, other = ([cut(stretch, 16) for stretch in cut(tool_call(size), STRETCH)][:-1] for size in (short, long))
    times: tuple[list[float], list[float]] = ([], [])
    reader = live()
    while len(times[0]) < 400:
        again = live()
        gc.collect()
        for place, stretch in enumerate(other):
            if place % len(one) == 0:
                reader = live()
            times[0].append(timed(lambda: reader(one[place % len(one)])))  # noqa: B023
            times[1].append(timed(lambda: again(stretch)))  # noqa: B023
    return statistics.median(times[0]) / STRETCH, statistics.median(times[1]) / STRETCH


def memory(figures: Figures) -> None:
    """What a finished stream holds beyond the value of a 1 MB text: all that it reaches and the value does not."""
    text = tool_call(1_000_000)
    stream = JsonStream()
    for delta in cut(text, 16):
        stream.push(delta)
    stream.finish()
    # The classes, their code and the modules are not the stream's own.
    shared = reached([JsonStream, StructuredMachine, sys.modules])
    held = sum(reached([stream], without={*reached([stream.value]), *shared}).values())
    ratio = held / len(text.encode())
    figures.add(
        "memory of a finished stream beyond the value, 1 MB",
        held,
        "bytes",
        against="the value's text",
        ratio=round(ratio, 5),
        target="< 5 %",
        ok=ratio < 0.05,
    )


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


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
