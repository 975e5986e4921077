"""JSON values that cannot change."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from tests.message_values import JSON

from unspool.errors import ConfigError
from unspool.frozen_json import EMPTY, FrozenDict, FrozenList, freeze, freeze_object

CHANGES: list[Callable[[Any], Any]] = [
    lambda d: d.__setitem__("a", 1),
    lambda d: d.__delitem__("a"),
    lambda d: d.__ior__({"b": 1}),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("b", 1),
    lambda d: d.update(b=1),
    lambda d: d["a"].__setitem__(0, 1),
    lambda d: d["a"].__delitem__(0),
    lambda d: d["a"].__iadd__([1]),
    lambda d: d["a"].__imul__(2),
    lambda d: d["a"].append(1),
    lambda d: d["a"].clear(),
    lambda d: d["a"].extend([1]),
    lambda d: d["a"].insert(0, 1),
    lambda d: d["a"].pop(),
    lambda d: d["a"].remove(1),
    lambda d: d["a"].reverse(),
    lambda d: d["a"].sort(),
    lambda d: d["a"][1].update(x=1),
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_nothing_changes_it(change: Callable[[Any], Any]) -> None:
    frozen = freeze({"a": [1, {"b": 2}]}, "it")
    with pytest.raises(TypeError):
        change(frozen)
    assert frozen == {"a": [1, {"b": 2}]}


@given(JSON)
def test_it_equals_what_it_was_made_of(value: Any) -> None:
    frozen = freeze(value, "it")
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert freeze(frozen, "it") is frozen
    again = pickle.loads(pickle.dumps(frozen))
    assert (again, type(again)) == (frozen, type(frozen))
    assert copy.deepcopy(frozen) is frozen or not isinstance(value, dict | list)
    assert getattr(again, "depth", 0) == getattr(frozen, "depth", 0) == depth_of(value)


def depth_of(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max((depth_of(item) for item in (value.values() if isinstance(value, dict) else value)), default=0)


def test_other_containers_become_json() -> None:
    frozen = freeze(MappingProxyType({"a": (1, range(2))}), "it")
    assert frozen == {"a": [1, [0, 1]]}
    assert (type(frozen), type(frozen["a"])) == (FrozenDict, FrozenList)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (float("nan"), "nan"),
        ({"a": [float("inf")]}, "inf"),
        ({1: 2}, "int"),
        (b"x", "bytes"),
        (bytearray(), "bytearray"),
        ({"a": {1, 2}}, "set"),
        (object(), "object"),
        ([iter(())], "iterator"),
    ],
)
def test_what_has_no_json_form(value: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=f"it holds .*{says}") as caught:
        freeze(value, "it")
    assert caught.value.code == "INVALID_OPTIONS"


def test_large_integers_are_json() -> None:
    assert freeze(10**400, "it") == 10**400


def test_depth_is_limited_also_step_by_step() -> None:
    """Pyodide: fatal. What is frozen is not looked at again, but its depth is known."""
    value: Any = 0
    for _ in range(128):
        value = freeze([value], "it")
    assert value.depth == 128
    for wrap in (lambda: freeze([value], "it"), lambda: freeze({"a": value}, "it"), lambda: freeze(value, "it", 127)):
        with pytest.raises(ConfigError, match="too deep"):
            wrap()


def test_cyclic_values_are_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ConfigError, match="too deep"):
        freeze(value, "it")


def test_objects() -> None:
    assert freeze_object(None, "it") is EMPTY
    assert freeze_object({"a": 1}, "it") == {"a": 1}
    for value in ([], "x", 5):
        with pytest.raises(ConfigError, match="it must be a mapping"):
            freeze_object(value, "it")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
