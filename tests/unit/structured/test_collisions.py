"""Values with equal hashes. Expected: `sys.hash_info.modulus`, by which Python takes the hashes of numbers."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from unspool.errors import OutputValidationError
from unspool.schema import Schema
from unspool.structured.collisions import MAX_COLLISIONS, collide
from unspool.structured.py_values import PySet

CHOSEN = [n * sys.hash_info.modulus for n in range(20_000)]


def test_collide() -> None:
    assert collide(CHOSEN) and collide([(n, 1) for n in CHOSEN]) and collide([Decimal(n) for n in CHOSEN])
    assert not collide(CHOSEN[: MAX_COLLISIONS + 1]) and collide(CHOSEN[: MAX_COLLISIONS + 2])
    for honest in (range(-5_000, 5_000), [1] * 5_000, [n / 3 for n in range(5_000)], list(map(str, CHOSEN)), []):
        assert not collide(honest)
    with pytest.raises(TypeError):
        collide([[]] * 1_000)


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        (set[int], CHOSEN),
        (frozenset[Decimal], [str(n) for n in CHOSEN]),
        (set[tuple[int, str]], [[n, "a"] for n in CHOSEN]),
        (set[UUID], [str(UUID(int=n)) for n in CHOSEN]),
        (set[Any], CHOSEN),
        (dict[int, int], {str(n): 1 for n in CHOSEN}),
        (dict[Decimal, int], {str(n): 1 for n in CHOSEN}),
        ({"type": "array", "uniqueItems": True}, CHOSEN),
    ],
    ids=lambda value: str(value) if not isinstance(value, list) and len(str(value)) < 100 else "chosen",
)
def test_json_with_chosen_numbers_is_refused(wanted: Any, value: Any) -> None:
    with pytest.raises(OutputValidationError, match="chosen to have equal hashes") as caught:
        Schema.of(wanted).validate(value)
    assert [problem.path for problem in caught.value.problems] == [()]


@pytest.mark.parametrize("wanted", [set[int], frozenset[int], Any], ids=str)
def test_python_sets_of_chosen_numbers_are_refused(wanted: Any) -> None:
    with pytest.raises(OutputValidationError, match="chosen to have equal hashes"):
        Schema.of(wanted).validate(PySet(CHOSEN), protocol="python")


def test_large_honest_answers_are_taken() -> None:
    numbers = [*range(20_000), *range(10)]
    assert Schema.of(set[int]).validate(numbers) == set(numbers)
    assert Schema.of(dict[int, int]).validate({str(n): n for n in numbers}) == {n: n for n in numbers}
    assert Schema.of(set[str]).validate([str(n) for n in CHOSEN]) == {str(n) for n in CHOSEN}
