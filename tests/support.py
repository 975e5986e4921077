"""What tests of streams share: one input cut in many ways.

A stream test takes `splits(data)` and demands the same result from each way of cutting.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol


def named(value: object) -> str:
    """Name a test by a value: the same in every process, which addresses and the order of sets are not."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


class Feeds[In, Out](Protocol):
    """A machine of the sans-IO core."""

    def feed(self, data: In, /) -> Iterable[Out]: ...

    def finish(self) -> Iterable[Out]: ...


ROUNDS = 2 if sys.platform == "emscripten" else 4
"""Inside Pyodide, where all takes several times as long, the coarse cuts are enough: the fine ones ran outside."""


def splits[T: (bytes, str)](data: T, seed: int = 0, rounds: int = ROUNDS) -> Iterator[list[T]]:
    """Cut an input in different ways: whole, one at a time, then at seeded places.

    Args:
        data: bytes or text; may be empty (then the ways are no slice at all and one empty slice).
        seed: of the seeded cuts; the same seed gives the same cuts everywhere.
        rounds: how many seeded cuts, from coarse to fine. Some slices are empty on purpose.
    Returns:
        Lists of slices which joined give `data`.
    """
    yield [data]
    yield [data[i : i + 1] for i in range(len(data))]
    # A generator of its own, seeded by text: the order of tests and PYTHONHASHSEED do not matter.
    rng = random.Random(f"{seed}:{len(data)}")
    for round_ in range(rounds):
        longest = max(1, len(data) >> (2 * round_ + 1))
        yield cut(data, rng, longest)


def cut[T: (bytes, str)](data: T, rng: random.Random, longest: int) -> list[T]:
    """Cut once, into slices of 0 to `longest`, an empty one now and then."""
    slices: list[T] = []
    at = 0
    while at < len(data):
        size = 0 if rng.random() < 0.05 else rng.randint(1, longest)
        slices.append(data[at : at + size])
        at += size
    return slices


def two_slices[T: (bytes, str)](data: T) -> Iterator[list[T]]:
    """Cut once at every place, both ends included. For short inputs: frames, single tokens."""
    for at in range(len(data) + 1):
        yield [data[:at], data[at:]]


def feed_all[In, Out](machine: Feeds[In, Out], slices: Sequence[In]) -> list[Out]:
    """Feed every slice to a machine, finish it, and give everything that came out."""
    out: list[Out] = []
    for piece in slices:
        out.extend(machine.feed(piece))
    out.extend(machine.finish())
    return out
