"""What a fault says does not depend on where the network cut the text: docs/streaming.md, rule 5 of the events.

Streamfold reports a fault that can depend on chunking (docs/parity.md, section 3): here it never does, in no word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.json_texts import json_texts, pieces_of
from tests.python_texts import broken
from tests.support import splits

from unspool.answer import AnswerMachine
from unspool.errors import StreamError
from unspool.schema import NativeOutput, Schema, openai_strict
from unspool.schema.text import Protocol
from unspool.stream.chunks import BlockEnd, BlockStart, Finish, TextDelta
from unspool.structured.events import GenerationComplete, ParsingFailed
from unspool.structured.json_stream import JsonStream
from unspool.structured.pool import StreamPool
from unspool.structured.py_stream import PyStream


class Color(Enum):
    RED = "r"


class Foo(BaseModel):
    x: int | str | list[Any] | dict[str, Any]
    color: Color | None = None


WAYS: dict[str, tuple[Protocol, bool]] = {
    "json": ("json", False),
    "lenient": ("json", True),
    "native": ("native", False),
    "python": ("python", False),
}
SCHEMA = Schema.of(Foo | list[Foo] | None)


def told(way: str, pieces: Sequence[str]) -> Any:
    """What is left of an answer when it has ended."""
    protocol, lenient = WAYS[way]
    native: NativeOutput | None = openai_strict(SCHEMA) if protocol == "native" else None
    machine = AnswerMachine(SCHEMA, protocol=protocol, native=native, lenient=lenient, max_chars=10_000, max_depth=16)
    events: list[Any] = machine.feed([BlockStart(0, "text")])
    for piece in pieces:
        if piece:
            events += machine.feed([TextDelta(0, piece)])
    events += machine.feed([BlockEnd(0), Finish("stop")])
    last = events[-1]
    if isinstance(last, GenerationComplete):
        return last.result
    assert isinstance(last, ParsingFailed)
    error = last.error
    cause = error.__cause__
    at = cause.byte_offset if isinstance(cause, StreamError) else None
    return error.code, at, error.message, repr(error.problems), repr(error.partial_value), repr(machine.repairs)


AFTER = ' "é😀 and so on" ]}, "more": [1, 2, 3], \'x\': y) ```' * 3
TEXTS = [
    '{"x": 1, "color": tru}',
    '{"x": 1, "y": n=ll}',
    '{"x": [1, 2,], "color": null}',
    '{"x": 1, // so\n "color": null}',
    '{"x": 1, /* so */ "color": null}',
    '{"x": 1, # so\n "color": null}',
    '{"x": 1, "color": \'r\'}',
    '{"x": 1, \'color\': "r"}',
    '{"x": 1, \'color\': "r", @}',
    '{"x": 1, "x": 2}',
    '{"x": 1, "é😀": 01}',
    '{"x": 1, "y": "😀" 😀}',
    '{"x": "\ud83d"}',
    '{"x": 1, "y": "\ud83d and more"}',
    '{"x": 1, "y": "a\nb"}',
    '{"x": 1, "y": "\\x"}',
    '{"x": 1, "y": 1e999}',
    '{"x": 1, "y": ]}',
    '[{"x": 1}, Foo(x=1)]',
    "[1, Foo(x=1)]",
    'value {"x": 1, "y": tru}',
    '```json\n{"x": 1, "y": tru}\n```',
    "Foo(x=1, y=tru)",
    "Foo(x=1, x=2)",
    "Foo(x=1 + 1)",
    "Foo(x='\\ud83d')",
    "Foo(x=Other(1))",
    "Foo(x=[1, 2}",
    "```python\nFoo(x=1, color=Color.BLUE)\n```",
    "Sure, it is so.",
    "",
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("after", ["", AFTER], ids=["alone", "goes on"])
def test_an_answer_at_fault(way: str, after: str) -> None:
    for text in TEXTS:
        text = f'{{"value": {text}' if way == "native" else text
        text += after
        whole = told(way, [text])
        for pieces in splits(text):
            assert told(way, pieces) == whole, text


@pytest.mark.parametrize("way", WAYS)
@given(data=st.data())
def test_any_answer_at_fault(way: str, data: st.DataObject) -> None:
    text = data.draw(broken() if way == "python" else broken(json_texts()))
    if way == "native":
        text = f'{{"value": {text}}}'
    text = data.draw(st.sampled_from(["{}", "Sure: {}", "```\n{}\n```", "{} it is.", "{} {{'a': 1,}}"])).format(text)
    whole = told(way, [text])
    assert told(way, list(text)) == whole
    assert told(way, data.draw(pieces_of(text))) == whole


class InPool:
    """One stream of a pool, with the methods of a stream."""

    def __init__(self) -> None:
        self.pool = StreamPool()
        self.pool.start("a")

    def push(self, piece: str) -> object:
        return self.pool.push("a", piece)

    def finish(self) -> object:
        return self.pool.finish("a")


def fault(stream: Any, pieces: Sequence[str]) -> tuple[str, int | None, str] | None:
    try:
        for piece in pieces:
            stream.push(piece)
        stream.finish()
    except StreamError as error:
        return error.code, error.byte_offset, error.message
    return None


STREAMS: dict[str, Callable[[], Any]] = {
    "json": JsonStream,
    "eager": lambda: JsonStream(scalars="eager"),
    "immutable": lambda: JsonStream(snapshots="immutable"),
    "pool": InPool,
    "python": lambda: PyStream(classes={"Foo": ("x", "color")}),
}


@pytest.mark.parametrize("kind", STREAMS)
@given(data=st.data())
def test_a_stream_at_fault(kind: str, data: st.DataObject) -> None:
    """Its value is that before the piece at fault, which depends on the cuts as documented; what is said does not."""
    text = data.draw(broken() if kind == "python" else broken(json_texts()))
    whole = fault(STREAMS[kind](), [text])
    assert fault(STREAMS[kind](), list(text)) == whole
    assert fault(STREAMS[kind](), data.draw(pieces_of(text))) == whole


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_at_a_known_fault(kind: str) -> None:
    for text in TEXTS:
        whole = fault(STREAMS[kind](), [text])
        for pieces in splits(text):
            assert fault(STREAMS[kind](), pieces) == whole, text
