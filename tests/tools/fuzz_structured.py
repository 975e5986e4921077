"""Looks for texts that JsonStream or StreamPool read wrongly: `python -m tests.tools.fuzz_structured 600 [--seed 7]`.

Round after round, for the seconds given: random texts, good and broken, small (of hypothesis, which then shrinks them)
and large (of a seeded generator), in random pieces. What must hold: the final value is that of `json.loads`; no
exception but StreamError, at the same byte however the text is cut; the patches replayed give the partial value after
every piece; frozen snapshots never change; live and immutable, complete and eager, alone and interleaved in a pool.
Every failure is printed with the text and the seed; the same seed runs the same rounds. `--atheris` lets that fuzzer,
where it is installed, guide the small texts by coverage. The exit code is 1 when anything failed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.json_texts import Outcome, as_text, broken_texts, json_texts, pieces_of, read, replay
from tests.support import cut

from unspool.errors import StreamError
from unspool.structured.frozen import thaw
from unspool.structured.pool import StreamPool

EXAMPLES = 200
MAX_FAILURES = 20
MODES: tuple[dict[str, Any], ...] = (
    {},
    {"snapshots": "immutable"},
    {"scalars": "eager"},
    {"snapshots": "immutable", "scalars": "eager"},
)
STRICTER = {"NON_FINITE_NUMBER", "INVALID_CHUNK", "MAX_DEPTH_EXCEEDED"}
"""Codes of texts that `json.loads` takes and we do not: overflowing numbers, raw halves of surrogate pairs, depth."""
BREAKS = [*'{}[],:"\\ 0123456789-+.eEtrufalsn\n\t\x01\ufeffé\ud83d\udc00NI/*', "", "1e999", "\\u12", "nul", '":']

counts: Counter[str] = Counter()


def constant_refused(name: str) -> Any:
    raise ValueError(name)


def expected(text: str) -> Outcome | None:
    """What the standard library makes of a text; None when it refuses it."""
    try:
        return "ok", as_text(json.loads(text, parse_constant=constant_refused))
    except (ValueError, RecursionError):
        return None


def check_alone(text: str, ways: Sequence[Sequence[str]]) -> Outcome:
    """Read a text in several ways and modes; `read` checks what must hold after every piece.

    Returns:
        The outcome, which is the same each time.
    """
    wanted = expected(text)
    outcome: Outcome | None = None
    for options in MODES:
        for pieces in ways:
            found = read(pieces, grows=False, **options)
            counts["readings"] += 1
            counts["pieces"] += len(pieces)
            assert outcome is None or found == outcome, f"{options}: {found}, but otherwise {outcome}"
            outcome = found
    assert outcome is not None
    if outcome[0] == "ok":
        assert outcome == wanted, f"{outcome}, but json.loads gives {wanted}"
    else:
        assert wanted is None or outcome[0] in STRICTER, f"{outcome}, but json.loads gives {wanted}"
    counts[f"outcome {outcome[0]}"] += 1
    return outcome


def check_pool(texts: Sequence[str], rng: random.Random) -> None:
    """Read texts interleaved; each must come out as it does alone, whatever becomes of the others."""
    snapshots = rng.choice(["live", "immutable"])
    scalars = rng.choice(["complete", "eager"])
    pool = StreamPool(snapshots=snapshots, scalars=scalars)  # type: ignore[arg-type]
    queues: dict[int, list[str]] = {}
    values: dict[int, Any] = {}
    outcomes = [read([text], grows=False) for text in texts]

    def fails(number: int, error: StreamError) -> None:
        counts["pool: failed"] += 1
        assert (error.code, error.byte_offset) == outcomes[number], f"{error!r}, but alone {outcomes[number]}"
        assert error.id == number
        assert not pool.has(number)
        queues.pop(number, None)

    def follow(number: int, update: Any) -> None:
        values[number] = replay(values.get(number), update.changes)
        assert as_text(values[number]) == as_text(thaw(update.partial_value))

    for number, text in enumerate(texts):
        pieces = cut(text, rng, max(rng.choice([1, 7, 40, 2000]), len(text) // 60))
        initial = pieces.pop(0) if pieces and rng.random() < 0.3 else None
        queues[number] = pieces
        try:
            follow(number, pool.start(number, initial))
        except StreamError as error:
            fails(number, error)
    while queues:
        number = rng.choice(list(queues))
        chance = rng.random()
        if chance < 0.01:
            assert pool.abort(number)
            del queues[number]
            counts["pool: aborted"] += 1
            continue
        final = texts[number] if queues[number] and chance < 0.02 else None
        try:
            if queues[number] and final is None:
                follow(number, pool.push(number, queues[number].pop(0)))
                continue
            end = pool.finish(number, final)
        except StreamError as error:
            fails(number, error)
            continue
        del queues[number]
        follow(number, end)
        wanted = expected(texts[number])
        assert outcomes[number] == wanted == ("ok", as_text(thaw(end.value)))
        assert end.text == texts[number]
        counts["pool: completed"] += 1
    assert len(pool) == 0


def large_value(rng: random.Random, room: list[int], depth: int = 0) -> Any:
    """A value of any shape; `room` holds how many more scalars it may have."""
    kind = rng.random()
    if depth > 5 or (depth and kind < 0.55) or room[0] <= 0:
        room[0] -= 1
        return rng.choice(SCALARS)(rng)
    size = rng.choice([0, 1, 3, 8, 8, 30])
    if kind < 0.8:
        return {word(rng): large_value(rng, room, depth + 1) for _ in range(size) if room[0] > 0}
    if kind < 0.86:  # alike, and so likely to be read many at once
        one = rng.choice(SCALARS)
        room[0] -= size * 4
        return [one(rng) for _ in range(size * 4)]
    return [large_value(rng, room, depth + 1) for _ in range(size) if room[0] > 0]


def word(rng: random.Random) -> str:
    return rng.choice(["id", "name", "é", "", "a b", "😀", 'q"', "k" * 40, "n\\"]) + str(rng.randint(0, 99))


def long_text(rng: random.Random) -> str:
    alphabet = rng.choice(["abc ", 'ab\\"\n', "aé😀\u2028", "\x00\x1f\t/<", "\u0590a\x7f", '{}[]:,"'])
    return "".join(rng.choices(alphabet, k=rng.choice([0, 1, 5, 5, 30, 30, 300])))


SCALARS: tuple[Callable[[random.Random], Any], ...] = (
    lambda rng: rng.randint(-9, 9),
    lambda rng: rng.randint(-(10**20), 10**20),
    lambda rng: rng.uniform(-1e6, 1e6),
    lambda rng: rng.choice([0.0, -0.0, 1e-300, 1e300, 5e-324, 1.5e2, 100.0]),
    lambda rng: rng.choice([True, False, None]),
    word,
    long_text,
)


def large_text(rng: random.Random) -> str:
    """The text of a large value in one of the ways it may be written; broken every third time."""
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,\n", "\t: ")])
    indent = rng.choice([None, None, 1, "\t"])
    value = large_value(rng, [rng.choice([5, 50, 50, 200])])
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=indent, separators=separators)
    if rng.random() < 0.3:  # a key may be repeated
        text = text.replace("name1", "name2").replace('"id', '"name')
    if rng.random() < 0.34:
        for _ in range(rng.randint(1, 3)):
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(BREAKS) + text[at + rng.randint(0, 2) :]
    return text


def large_round(name: str) -> None:
    """One large text alone, and a pool of a few."""
    rng = random.Random(name)
    text = large_text(rng)
    # Every piece costs a look at the whole value: many small pieces are for short texts.
    least = len(text) // 60
    ways = [[text], cut(text, rng, max(16, least)), cut(text, rng, max(rng.choice([2, 64, 500, 5000]), least))]
    try:
        check_alone(text, ways)
    except Exception:
        print(f"the text: {text!r}\nin pieces: {ways[1]!r}\nor: {ways[2]!r}")
        raise
    counts["large texts"] += 1
    check_pool([large_text(rng) for _ in range(rng.randint(1, 4))], rng)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[str, list[str]]:
    text = draw(json_texts() | broken_texts())
    return text, draw(pieces_of(text))


def check_small(case: tuple[str, list[str]]) -> None:
    text, pieces = case
    check_alone(text, [[text], pieces, list(text)])
    counts["small texts"] += 1


def small_test(number: int) -> Callable[[], None]:
    """A test of hypothesis that runs many small texts, and shrinks one that fails."""
    test = seed(number)(given(small_cases())(check_small))
    plain = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    )
    return plain(test)


def guided(arguments: list[str]) -> None:
    """Give the small texts to atheris, until it stops; `arguments` are libFuzzer's."""
    atheris = importlib.import_module("atheris")
    for name in ("_scan", "_read", "_pieces", "_patches", "_apply", "_grammar", "_steps", "frozen", "json_stream"):
        try:
            module = importlib.import_module(f"unspool.structured.{name}")
        except ImportError:
            continue
        for thing in vars(module).values():
            if getattr(thing, "__module__", None) == module.__name__ and hasattr(thing, "__code__"):
                atheris.instrument_func(thing)
    test: Any = given(small_cases())(check_small)
    atheris.Setup([sys.argv[0], *arguments], test.hypothesis.fuzz_one_input)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; chosen by the clock unless given")
    parser.add_argument("--atheris", action="store_true", help="be guided by coverage")
    told = parser.parse_args()
    first: int = int(time.time()) if told.seed is None else told.seed
    if told.atheris:
        guided([f"-max_total_time={told.seconds:.0f}", f"-seed={first % 2**31}", "-max_len=2000"])
        return 0
    end = time.monotonic() + told.seconds
    failures = number = 0
    while time.monotonic() < end and failures < MAX_FAILURES:
        rounds: list[tuple[str, Callable[[], None]]] = [(f"small {first + number}", small_test(first + number))]
        rounds += [(name, partial(large_round, name)) for name in (f"large {first + number}.{n}" for n in range(10))]
        for name, run in rounds:
            try:
                run()
            except Exception:
                failures += 1
                print(
                    f"FAILED: round {name!r}; again with --seed {first + number}\n{traceback.format_exc()}", flush=True
                )
        number += 1
    for name, count in sorted(counts.items()):
        print(f"{count:>12,}  {name}")
    print(f"{number} rounds from seed {first}, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
