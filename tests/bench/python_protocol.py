"""The Python scanner against the JSON scanner: the same data in either syntax, in every size of delta.

What is read is the tool call of `scanner`: as a Python literal, and with a constructor for each of its objects.
"""

from __future__ import annotations

import json
from typing import Any

from tests.bench.scanner import Figures, Reader, compared, cut, live, tool_call, warm_up

from unspool.structured.py_stream import PyStream
from unspool.structured.reply import PyReplyMachine


def spelled(value: Any, name: str = "") -> str:
    """JSON data in Python syntax.

    Args:
        name: of the class whose constructor stands for an object; empty: a dict does.
    """
    if isinstance(value, list):
        return "[" + ", ".join(spelled(item, name) for item in value) + "]"
    if isinstance(value, dict):
        if name:
            return f"{name}(" + ", ".join(f"{key}={spelled(item, name)}" for key, item in value.items()) + ")"
        return "{" + ", ".join(f"{key!r}: {spelled(item)}" for key, item in value.items()) + "}"
    return repr(value)


def of_python(**options: Any) -> Reader:
    """Ours, the value read after every delta."""
    push = PyStream(**options).push

    def read(deltas: Any) -> None:
        for delta in deltas:
            push(delta).partial_value  # noqa: B018

    return read


def immutable() -> Reader:
    return of_python(snapshots="immutable")


def with_patches() -> Reader:
    push = PyStream().push

    def read(deltas: Any) -> None:
        for delta in deltas:
            state = push(delta)
            state.partial_value  # noqa: B018
            state.changes  # noqa: B018

    return read


def events() -> Reader:
    feed = PyReplyMachine(max_chars=16_000_000).feed

    def read(deltas: Any) -> None:
        for delta in deltas:
            feed(delta)

    return read


def measure(realm: str) -> list[dict[str, Any]]:
    """Measure on this interpreter.

    Args:
        realm: where that is.
    Returns:
        Figures as mappings, with the fields of `figure.Figure`.
    """
    warm_up_python()
    figures = Figures(realm)
    text = tool_call()
    data = json.loads(text)
    literal, calls = spelled(data), spelled(data, "Section")
    of_json, of_literal, of_calls, patched, frozen, told = compared(
        (live, text, 16),
        (of_python, literal, 16),
        (of_python, calls, 16),
        (with_patches, literal, 16),
        (immutable, literal, 16),
        (events, calls, 16),
    )
    figures.most("Python scanner, 16-character deltas", of_literal * 1e3, "JSON scanner", of_literal / of_json, 2)
    figures.most("the same with constructors", of_calls * 1e3, "JSON scanner", of_calls / of_json, 2)
    for name, value in (
        ("Python scanner with patches", patched),
        ("Python scanner, immutable snapshots", frozen),
        ("events of the Python protocol", told),
    ):
        figures.add(name, value * 1e3, against="Python scanner", ratio=round(value / of_literal, 2))
    for size in (1, 64, 1024):
        of_json, of_literal = compared((live, text, size), (of_python, literal, size))
        figures.add(
            f"Python scanner, {size}-character deltas",
            of_literal * 1e3,
            against="JSON scanner",
            ratio=round(of_literal / of_json, 2),
        )
    return figures.all


def warm_up_python() -> None:
    warm_up()
    text = spelled(json.loads(tool_call()))
    for _ in range(8):
        for make in (of_python, with_patches, immutable, events):
            make()(cut(text, 16))
