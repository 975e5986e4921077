"""Which call a piece belongs to. The cases of whole chunks stand with openai_chat and langchain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.integrations.calls import Calls
from unspool.integrations.mappers.numbered import NumberedCalls
from unspool.structured.pool import StreamPool


def fed(pieces: Sequence[tuple[Any, ...]], *, ids_always_come: bool = False) -> tuple[list[tuple[str, str]], Calls]:
    """The ids and texts of the calls, and the session's calls."""
    pool = StreamPool()
    calls = Calls(pool, matching=True, holds_faults=False)
    numbered = NumberedCalls(calls, ids_always_come=ids_always_come)
    for index, id, name, arguments in pieces:
        numbered.feed(index, id, name, arguments)
    assert pool.active_ids == numbered.ids
    return [(id, pool.text(id)) for id in numbered.ids], calls


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([(0, None, None, ""), (0, "a", "f", "")], [("a", "")]),
        ([(0, None, "f", ""), (0, "a", None, "[")], [("call_0", "[")]),
        ([(0, None, None, ""), (1, None, "g", "")], [("call_0", "")]),
        ([(None, None, None, "[1]")], [("call_0", "[1]")]),
        ([(None, None, "f", "[]"), (None, None, "f", "[1]")], [("call_0", "[]")]),
        ([(None, None, "f", "{}"), (None, None, "f", "{}")], [("call_0", "{}"), ("call_1", "{}")]),
        ([(None, None, "f", '{"a":'), (None, None, "f", "1}")], [("call_0", '{"a":1}')]),
        ([(0, "a", "f", ""), (0, "b", "g", "")], [("a", ""), ("b", "")]),
        ([(0, "a", "f", ""), (0, None, "f", "")], [("a", "")]),
        (
            [(0, "a", "f", "["), (1, "b", "g", "["), (0, None, None, "1"), (1, None, None, "2")],
            [("a", "[1"), ("b", "[2")],
        ),
    ],
)
def test_calls(pieces: list[Any], told: list[tuple[str, str]]) -> None:
    if told == [("call_0", "[]")]:  # an array is no whole call, so the second piece goes on with it, and is at fault
        with pytest.raises(Exception, match="TRAILING_DATA"):
            fed(pieces)
    else:
        assert fed(pieces)[0] == told


def test_where_ids_always_come() -> None:
    """L5: a new id with a name is a new call, even when the one before has no arguments yet."""
    assert fed([(0, "a", "f", ""), (0, "b", "f", "[")], ids_always_come=True)[0] == [("a", ""), ("b", "[")]
    assert fed([(0, "a", "f", ""), (0, "b", "f", "[")])[0] == [("a", "[")]


def test_only_a_known_call_goes_on() -> None:
    """Whether a piece that has nothing but arguments was taken."""
    calls = Calls(StreamPool(), matching=True, holds_faults=False)
    numbered = NumberedCalls(calls, ids_always_come=False)
    numbered.feed(2, "a", "f", "[")
    assert [numbered.go_on(1, "1"), numbered.go_on(2, ""), numbered.go_on(2, "1")] == [False, False, True]
    assert calls.text("a") == "[1"


def test_nothing_is_remembered_of_what_begins_no_call() -> None:
    """However many numbers and ids a server makes up: only calls count, and the session bounds those."""
    pieces: list[tuple[Any, ...]] = [(0, "a", "f", "")]
    for number in range(1, 2000):
        pieces += [(number, None, None, ""), (0, f"b{number}", None, "")]
    told, calls = fed(pieces)
    assert told == [("a", "")]
    assert len(calls.unmatched_events) == 1


def test_an_id_that_comes_late() -> None:
    """The call has one of ours by then; the late one tells its pieces from others."""
    pieces = [(0, None, "f", "["), (0, "x", None, "1"), (None, "x", None, "]"), (1, "x", "f", "{}")]
    assert fed(pieces)[0] == [("call_0", "[1]"), ("x", "{}")]


def test_a_piece_of_no_call_is_diagnosed() -> None:
    """L2."""
    told, calls = fed([(3, None, "f", "{}")], ids_always_come=True)
    assert told == []
    assert len(calls.unmatched_events) == 1


@given(
    texts=st.lists(st.sampled_from(['{"a":1}', '{"a":"bc"}', "{}"]), min_size=1, max_size=4),
    indexed=st.booleans(),
    repeats=st.booleans(),
    data=st.data(),
)
def test_sequential_calls_come_out_whole(texts: list[str], indexed: bool, repeats: bool, data: Any) -> None:
    """F26, F27: with or without indexes, with or without repeated ids, cut anywhere."""
    pieces: list[tuple[Any, ...]] = []
    for number, text in enumerate(texts):
        cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=3)))
        for first, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(text)], strict=True)):
            named = repeats or not first
            pieces.append(
                (number if indexed else None, f"id{number}" if named else None, "f" if named else None, text[start:end])
            )
    for ids_always_come in (False, True):
        told, calls = fed(pieces, ids_always_come=ids_always_come)
        assert told == [(f"id{number}", text) for number, text in enumerate(texts)]
        assert calls.unmatched_events == []


def names(pieces: Sequence[tuple[Any, ...]], *, ids_always_come: bool = False) -> list[tuple[str, str | None]]:
    _, calls = fed(pieces, ids_always_come=ids_always_come)
    for id in calls.active_ids:
        calls.end(id)
    return [(update.id, update.name) for update in calls.updates if update.type == "complete"]


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([(0, "a", "f", ""), (0, "a", "f", "{"), (0, "a", "f", "}")], [("a", "f")]),
        ([(0, "a", None, "{"), (0, None, "f", "}")], [("a", "f")]),
        ([(0, "a", None, "{"), (0, None, None, "}")], [("a", None)]),
        ([(0, None, None, "{"), (0, "a", "f", "}")], [("call_0", "f")]),
        ([(0, "a", "get_", ""), (0, None, "weather", ""), (0, None, None, "{}")], [("a", "get_")]),
        ([(None, "a", "f", "{}"), (None, "b", "g", "{}")], [("a", "f"), ("b", "g")]),
    ],
)
@pytest.mark.parametrize("ids_always_come", [False, True])
def test_names(pieces: list[Any], told: list[tuple[str, str | None]], ids_always_come: bool) -> None:
    """F27: said again in each piece, late or never; a name is set once, and a second one is not added to it."""
    if ids_always_come and pieces[0][1] is None:
        return
    assert names(pieces, ids_always_come=ids_always_come) == told
