"""Arguments with their paths become one JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import StreamError
from unspool.structured.json_stream import JsonStream
from unspool.structured.partial_arguments import PartialArguments

type Entry = tuple[str, Any, bool]


def entry(path: str, goes_on: bool = False, value: Any = None) -> Entry:
    return path, value, goes_on


def push(arguments: PartialArguments, entry: Entry) -> str:
    path, value, goes_on = entry
    return arguments.push(path, value, goes_on=goes_on)


def written(entries: list[Entry]) -> tuple[str, list[str]]:
    arguments = PartialArguments()
    pieces = [push(arguments, one) for one in entries]
    pieces.append(arguments.finish())
    return "".join(pieces), pieces


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], "{}"),
        ([entry("$.a", value="b")], '{"a":"b"}'),
        ([entry("$.a", value=20.0), entry("$.b", value=0.5)], '{"a":20,"b":0.5}'),
        ([entry("$.a", value=True), entry("$.b", value=False)], '{"a":true,"b":false}'),
        ([entry("$.a")], '{"a":null}'),
        ([entry("$.a.b.c", value=1), entry("$.a.d", value=2)], '{"a":{"b":{"c":1},"d":2}}'),
        ([entry("$.a[0].x", value=1), entry("$.a[1].x", value=2)], '{"a":[{"x":1},{"x":2}]}'),
        ([entry("$.a[0][0]", value=1), entry("$.a[0][1]", value=2)], '{"a":[[1,2]]}'),
        ([entry("$['a b']", value="c"), entry('$["d.e"]', value="f")], '{"a b":"c","d.e":"f"}'),
        ([entry(r"""$['it\'s "x" \u00e9']""", value="c")], '{"it\'s \\"x\\" é":"c"}'),
        ([entry("$.größe", value='"\n')], '{"größe":"\\"\\n"}'),
        ([entry("$.a", True, value="x"), entry("$.a", value="y")], '{"a":"xy"}'),
        ([entry("$.a", True, value="x"), entry("$.a")], '{"a":"x"}'),
        ([entry("$.a", True, value="x")], '{"a":"x"}'),
        ([entry("$.a", True, value="x"), entry("$.b", value="y")], '{"a":"x","b":"y"}'),
        ([entry("$.a", True), entry("$.a", value="y")], '{"a":"y"}'),
        ([entry("$.a", True, value="\ud83d"), entry("$.a", value="\ude00")], '{"a":"\\ud83d\\ude00"}'),
    ],
)
def test_text(entries: list[Entry], text: str) -> None:
    assert written(entries)[0] == text
    json.loads(text)


@pytest.mark.parametrize(
    "path", ["", "a", "$", "$.", "$..a", "$[", "$[x]", "$[-1]", "$.a[*]", "$['a]", "$['\\q']", "$.a b", "x.a"]
)
def test_paths_that_cannot_be_read(path: str) -> None:
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        push(PartialArguments(), entry(path, value=1))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(value: float) -> None:
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        PartialArguments().push("$.a", value, goes_on=False)


@pytest.mark.parametrize(
    "paths",
    [
        ["$.a", "$.a"],
        ["$.a.b", "$.c", "$.a.d"],
        ["$.a[0]", "$.a[2]"],
        ["$.a[1]"],
        ["$.a[0]", "$.a[0]"],
        ["$.a[0]", "$.a.b"],
        ["$.a.b", "$.a[0]"],
        ["$[0]", "$.a"],
    ],
)
def test_paths_that_lead_back(paths: list[str]) -> None:
    """Nothing that is written can be changed, so it is an error and not a loss."""
    arguments = PartialArguments()
    for path in paths[:-1]:
        push(arguments, entry(path, value=1))
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        push(arguments, entry(paths[-1], value=1))


def leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Every scalar of a document, with its path, in the order of the text."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}[{json.dumps(name)}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3)
    ),
    max_leaves=10,
)


@given(document=st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), data=st.data())
def test_any_document(document: dict[str, Any], data: Any) -> None:
    """Written leaf by leaf, texts in pieces: the same document, and a partial value after every entry."""
    entries: list[Entry] = []
    for path, value in leaves(document):
        if isinstance(value, str):
            cut = data.draw(st.integers(0, len(value)))
            entries += [entry(path, True, value=value[:cut]), entry(path, value=value[cut:])]
        elif isinstance(value, bool):
            entries.append(entry(path, value=value))
        elif value is None:
            entries.append(entry(path, value=None))
        else:
            entries.append(entry(path, value=float(value) if data.draw(st.booleans()) else value))
    text, pieces = written(entries)
    assert json.loads(text) == document
    with JsonStream() as stream:
        for piece in pieces:
            stream.push(piece)
        assert stream.finish().partial_value == document
