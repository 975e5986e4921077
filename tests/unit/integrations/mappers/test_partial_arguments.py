"""Arguments with their paths become one JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import StreamError
from unspool.integrations.mappers.partial_arguments import PartialArguments
from unspool.structured.json_stream import JsonStream


def entry(path: str, goes_on: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if goes_on else {})}


def written(entries: list[dict[str, Any]]) -> tuple[str, list[str]]:
    arguments = PartialArguments()
    pieces = [arguments.feed(one) for one in entries]
    pieces.append(arguments.finish())
    return "".join(pieces), pieces


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([], "{}"),
        ([entry("$.a", stringValue="b")], '{"a":"b"}'),
        ([entry("$.a", numberValue=20.0), entry("$.b", numberValue=0.5)], '{"a":20,"b":0.5}'),
        ([entry("$.a", boolValue=True), entry("$.b", boolValue=False)], '{"a":true,"b":false}'),
        ([entry("$.a", nullValue="NULL_VALUE")], '{"a":null}'),
        ([entry("$.a", nullValue=None)], '{"a":null}'),
        ([entry("$.a.b.c", numberValue=1), entry("$.a.d", numberValue=2)], '{"a":{"b":{"c":1},"d":2}}'),
        ([entry("$.a[0].x", numberValue=1), entry("$.a[1].x", numberValue=2)], '{"a":[{"x":1},{"x":2}]}'),
        ([entry("$.a[0][0]", numberValue=1), entry("$.a[0][1]", numberValue=2)], '{"a":[[1,2]]}'),
        ([entry("$['a b']", stringValue="c"), entry('$["d.e"]', stringValue="f")], '{"a b":"c","d.e":"f"}'),
        ([entry(r"""$['it\'s "x" \u00e9']""", stringValue="c")], '{"it\'s \\"x\\" é":"c"}'),
        ([entry("$.größe", stringValue='"\n')], '{"größe":"\\"\\n"}'),
        ([entry("$.a", True, stringValue="x"), entry("$.a", stringValue="y")], '{"a":"xy"}'),
        ([entry("$.a", True, stringValue="x"), entry("$.a")], '{"a":"x"}'),
        ([entry("$.a", True, stringValue="x")], '{"a":"x"}'),
        ([entry("$.a", True, stringValue="x"), entry("$.b", stringValue="y")], '{"a":"x","b":"y"}'),
        ([entry("$.a", True), entry("$.a", stringValue="y")], '{"a":"y"}'),
        ([entry("$.a", True, stringValue="\ud83d"), entry("$.a", stringValue="\ude00")], '{"a":"\\ud83d\\ude00"}'),
        ([{"json_path": "$.a", "string_value": "x", "will_continue": True}, entry("$.a")], '{"a":"x"}'),
    ],
)
def test_text(entries: list[dict[str, Any]], text: str) -> None:
    assert written(entries)[0] == text
    json.loads(text)


@pytest.mark.parametrize(
    "path", ["", "a", "$", "$.", "$..a", "$[", "$[x]", "$[-1]", "$.a[*]", "$['a]", "$['\\q']", "$.a b", "x.a"]
)
def test_paths_that_cannot_be_read(path: str) -> None:
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        PartialArguments().feed(entry(path, numberValue=1))


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
        arguments.feed(entry(path, numberValue=1))
    with pytest.raises(StreamError, match="INTEGRATION_ERROR"):
        arguments.feed(entry(paths[-1], numberValue=1))


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
    entries: list[dict[str, Any]] = []
    for path, value in leaves(document):
        if isinstance(value, str):
            cut = data.draw(st.integers(0, len(value)))
            entries += [entry(path, True, stringValue=value[:cut]), entry(path, stringValue=value[cut:])]
        elif isinstance(value, bool):
            entries.append(entry(path, boolValue=value))
        elif value is None:
            entries.append(entry(path, nullValue=None))
        else:
            entries.append(entry(path, numberValue=float(value) if data.draw(st.booleans()) else value))
    text, pieces = written(entries)
    assert json.loads(text) == document
    with JsonStream() as stream:
        for piece in pieces:
            stream.push(piece)
        assert stream.finish().partial_value == document
