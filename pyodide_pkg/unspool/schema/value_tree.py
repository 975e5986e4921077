"""A value as a tree: its children with their steps, its leaves, its depth. Without recursion (Pyodide: fatal).

In: JSON data, or a neutral value of Python syntax (`structured.py_values`). Pure; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from unspool.schema.problem import NOTHING, Path
from unspool.schema.subschemas import is_object
from unspool.structured.py_values import PyObject, PySet
from unspool.structured.strict_json import MAX_DEPTH

_SCALARS = frozenset((type(None), bool, int, float, str))


def member_of(value: Any, step: Any) -> Any:
    """Give what stands in a value under a name, a key or a number; `NOTHING` when nothing does."""
    match value:
        case PyObject():
            members: Any = value.fields
        case PySet():
            members = value.items
        case _:
            members = value
    if isinstance(members, Mapping):
        mapping: Mapping[Any, Any] = cast("Any", members)
        return mapping.get(step, NOTHING)
    if isinstance(members, list | tuple) and isinstance(step, int):
        items = cast("Sequence[Any]", members)
        return items[step] if 0 <= step < len(items) else NOTHING
    return NOTHING


def children_of(value: Any) -> list[tuple[Any, Any]]:
    """Give the values directly inside a value, each with its step of the path."""
    match value:
        case PyObject():
            return list(value.fields.items())
        case PySet():
            return list(enumerate(value.items))
        case dict():
            members: dict[Any, Any] = cast("Any", value)
            return list(members.items())
        case list() | tuple() | set() | frozenset():
            return list(enumerate(cast("Sequence[Any]", value)))
        case _:
            return []


def leaves(value: Any) -> Iterator[tuple[Path, Any]]:
    """Walk a value without recursion and give each key (as a leaf of its member) and each scalar with its path."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        children = children_of(item)
        if is_object(item):
            for key, _ in children:
                yield (*path, key), key
        if children:
            stack.extend(((*path, step), child) for step, child in reversed(children))
        else:
            yield path, item


def fold(value: Any, make: Callable[[Any, Path, int, list[Any]], Any]) -> Any:
    """Walk a neutral value from the inside out, without recursion. Scalars inside it stay as they are.

    Args:
        value: the value.
        make: (node, path, number of constructors around it, what was made of its children) → what is made of it.
    """
    frames: list[tuple[Any, Path, int, Iterator[tuple[Any, Any]], list[Any]]] = [
        (value, (), 0, iter(children_of(value)), [])
    ]
    while True:
        node, path, inside, children, made = frames[-1]
        following = next(children, None)
        if following is not None:
            step, child = following
            if child.__class__ in _SCALARS:
                made.append(child)
                continue
            deeper = inside + isinstance(node, PyObject)
            frames.append((child, (*path, step), deeper, iter(children_of(child)), []))
            continue
        frames.pop()
        result = make(node, path, inside, made)
        if not frames:
            return result
        frames[-1][4].append(result)


def nests_deeper(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Tell whether a neutral value nests deeper than a limit; without recursion (Pyodide: fatal)."""
    level = [value]
    for _ in range(limit + 1):
        level = [child for item in level for _, child in children_of(item)]
        if not level:
            return False
    return True
