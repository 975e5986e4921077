from __future__ import annotations

from typing import Any

import pytest

from unspool.stream.nesting import is_deeper


def nested(depth: int, kind: type) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"k": value} if kind is dict else kind([value])
    return value


@pytest.mark.parametrize("kind", [dict, list, tuple])
@pytest.mark.parametrize(("depth", "deeper"), [(0, False), (1, False), (128, False), (129, True), (1_500, True)])
def test_depth(kind: type, depth: int, deeper: bool) -> None:
    """Far beyond the limit, too. (Much deeper values end Pyodide when they are freed.)"""
    value = nested(depth, kind)
    assert is_deeper(value) is deeper
    assert is_deeper([1, "a", None, nested(depth - 1, kind)] if depth else 1) is deeper


def test_limit() -> None:
    assert not is_deeper([[]], 2)
    assert is_deeper([[[]]], 2)


def test_shared_and_cyclic_values_cost_nothing() -> None:
    shared: Any = []
    for _ in range(100):
        shared = [shared, shared]
    assert not is_deeper(shared)
    cyclic: list[Any] = []
    cyclic += [cyclic, cyclic]
    assert is_deeper(cyclic)


@pytest.mark.parametrize("value", ["[[[", b"{{{", 1, None, {1, 2}, object()])
def test_scalars(value: object) -> None:
    assert not is_deeper(value, 0)
