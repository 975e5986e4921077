"""is_deeper: how deep a value is nested, found out without recursion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from unspool.structured.strict_json import MAX_DEPTH

_CONTAINERS = (dict, list, tuple)
"""A tuple, because `isinstance` makes a union anew each time."""
_SCALARS = frozenset((str, int, float, bool, type(None)))
"""Most of what there is, told apart three times faster."""


def is_deeper(value: object, max_depth: int = MAX_DEPTH) -> bool:
    """Say whether a value nests dicts, lists and tuples more than `max_depth` deep; a scalar is 0 deep.

    Pyodide: fatal. `json.dumps` and the like recurse on the C stack, and running out of it kills the interpreter for
    good, so a value that was not read from checked text is looked at here first. A cyclic value is too deep.
    """
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(max_depth + 1):
        if not level:
            return False
        # By identity: parts that are shared, or contain themselves, would multiply from level to level.
        below: dict[int, Any] = {
            id(child): child
            for node in level
            for child in cast("Iterable[object]", node.values() if isinstance(node, dict) else node)
            if type(child) not in _SCALARS and issubclass(type(child), _CONTAINERS)
        }
        level = list(below.values())
    return True
