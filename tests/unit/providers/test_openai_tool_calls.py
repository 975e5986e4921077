from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import WireError
from unspool.providers.openai_tool_calls import OpenAIToolCalls, grown
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta


def delta(id: str | None = None, name: str | None = None, args: Any = None, index: int | None = None) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": args}}


class Calls:
    """The calls of one response, and what was noted."""

    def __init__(self, cumulative: bool = False) -> None:
        self.blocks = 0
        self.calls = OpenAIToolCalls(self.block, cumulative=cumulative)

    def block(self) -> int:
        self.blocks += 1
        return self.blocks + 9

    def feed(self, *deltas: dict[str, Any]) -> list[Chunk]:
        out: list[Chunk] = []
        for one in deltas:
            self.calls.feed(one, out)
        return out + self.calls.finish()


def outcome(chunks: list[Chunk]) -> list[tuple[str | None, str | None, str]]:
    found: dict[int, list[Any]] = {}
    for chunk in chunks:
        if isinstance(chunk, BlockStart):
            found[chunk.index] = [chunk.id, chunk.name, ""]
        elif isinstance(chunk, ToolArgumentsDelta):
            found[chunk.index][2] += chunk.text
    return [(id_, name, text) for id_, name, text in found.values()]


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        # F26
        (
            [delta("a", "f", '{"x":'), delta(args="1}"), delta("b", "g", "{}")],
            [("a", "f", '{"x":1}'), ("b", "g", "{}")],
        ),
        (
            [delta("a", "f", "{", 0), delta(args="}"), delta("b", "g", "{"), delta("b", None, "}")],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        (
            [delta("a", "f", "{"), delta("b", "g", "{"), delta("a", None, "}"), delta("b", None, "}")],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        # F27
        ([delta("c", "f", "", 0), delta("c", "f", '{"q":', 0), delta("c", "f", "1}", 0)], [("c", "f", '{"q":1}')]),
        (
            [delta(None, "f", '{"q":', 0), delta(None, "f", "1}", 0), delta(None, "f", "", 0)],
            [("call_0", "f", '{"q":1}')],
        ),
        ([delta("c", "f", "{}", 0), delta("c", "f", "", 0)], [("c", "f", "{}")]),
        ([delta(None, "f", '{"q":{}', 0), delta(None, "f", "}", 0)], [("call_0", "f", '{"q":{}}')]),
        # F28
        ([delta("A", "f", "", 0), delta("B", None, '{"q":1}', 0)], [("A", "f", '{"q":1}')]),
        ([delta("A", "f", '{"q":', 0), delta("B", "f", "1}", 0)], [("A", "f", '{"q":1}')]),
        # each call numbered 0, or none numbered, and whole at once
        ([delta("a", "f", "{}", 0), delta("b", "f", "{}", 0)], [("a", "f", "{}"), ("b", "f", "{}")]),
        ([delta(None, "f", "{}"), delta(None, "f", "{}")], [("call_0", "f", "{}"), ("call_1", "f", "{}")]),
        ([delta(None, "f", {"x": 1}), delta(None, "g", {})], [("call_0", "f", '{"x":1}'), ("call_1", "g", "{}")]),
        ([delta("a", "f", "", 0), delta("b", "g", "", 0)], [("a", "f", ""), ("b", "g", "")]),
        # numbers with gaps, out of order
        (
            [delta("b", "g", "{", 7), delta("a", "f", "{", 2), delta(args="}", index=7), delta(args="}", index=2)],
            [("b", "g", "{}"), ("a", "f", "{}")],
        ),
        # the id alone, the name later
        ([delta("a", None, None, 0), delta(None, "f", "{}", 0)], [("a", "f", "{}")]),
        ([delta(None, None, None, 0), delta("a", "f", "{}", 0)], [("a", "f", "{}")]),
        ([delta("a", "", "", 0)], [("a", None, "")]),
        ([delta(args="{}")], [("call_0", None, "{}")]),
        ([{}], [("call_0", None, "")]),
    ],
)
def test_which_call_is_meant(deltas: list[dict[str, Any]], expected: list[tuple[str | None, str | None, str]]) -> None:
    calls = Calls()
    chunks = calls.feed(*deltas)
    assert outcome(chunks) == expected
    assert len(calls.calls) == len(expected)
    ends = [chunk.index for chunk in chunks if isinstance(chunk, BlockEnd)]
    assert sorted(ends) == [10 + i for i in range(len(expected))]


def test_changed_id_is_noted() -> None:
    """F28."""
    calls = Calls()
    calls.feed(delta("A", "f", "", 0), delta("B", None, "{}", 0))


def test_arguments_come_at_once() -> None:
    """A block begins with its first delta that says anything, not at the end."""
    calls = Calls()
    out: list[Chunk] = []
    calls.calls.feed(delta("a", "f", "", 0), out)
    assert out == [BlockStart(10, "tool_call", "a", "f")]
    calls.calls.feed(delta(None, None, "{", 0), out)
    assert out[1:] == [ToolArgumentsDelta(10, "{")]


def test_cumulative_arguments() -> None:
    """F39."""
    chunks = Calls(cumulative=True).feed(
        delta("a", "f", '{"x"', 0), delta("a", "f", '{"x":1}', 0), delta("a", "f", '{"x":1}', 0)
    )
    assert outcome(chunks) == [("a", "f", '{"x":1}')]


@pytest.mark.parametrize(
    "bad",
    [
        {"function": "f"},
        {"function": [1]},
        {"function": {"name": 5}},
        {"function": {"name": {"x": 1}}},
        {"function": {"name": "f", "arguments": 5}},
        {"function": {"name": "f", "arguments": True}},
    ],
)
def test_what_cannot_be_meant(bad: dict[str, Any]) -> None:
    with pytest.raises(WireError) as caught:
        Calls().feed(bad)
    assert caught.value.code == "PROTOCOL"


def test_arguments_nested_too_deep() -> None:
    """Pyodide: fatal without the guard."""
    deep: Any = {}
    for _ in range(1_500):
        deep = {"x": deep}
    with pytest.raises(WireError):
        Calls().feed(delta("a", "f", deep))


def test_grown() -> None:
    assert grown("", "He") == "He"
    assert grown("He", "Hello") == "llo"
    with pytest.raises(WireError):
        grown("Hello", "Help")


@pytest.mark.parametrize(
    "deltas",
    [
        [delta(index=i) for i in range(100_000)],
        [delta(id=str(i)) for i in range(100_000)],
        [delta(name="f", args="{}") for _ in range(100_000)],
    ],
    ids=["numbered", "with ids", "without either"],
)
def test_calls_without_end_are_refused(deltas: list[dict[str, Any]]) -> None:
    """Also those of which nothing is seen yet: compared with each other they would take hours."""
    calls = Calls()
    with pytest.raises(WireError, match="more than 1024 tool calls"):
        calls.feed(*deltas)
    assert sum(isinstance(chunk, BlockStart) for chunk in calls.calls.finish()) <= 1024


def test_a_name_said_with_each_piece_costs_no_more_than_the_pieces() -> None:
    """Each piece ends in what could be the end of the arguments; read anew each time they would take minutes."""
    pieces = ['{"a":"', *["x" * 200 + "}"] * 20_000, '"}']
    calls = Calls()
    [(_, name, text)] = outcome(
        calls.feed(*[delta(name="f", args=piece, id=f"i{i}", index=0) for i, piece in enumerate(pieces)])
    )
    assert (name, text) == ("f", "".join(pieces))
