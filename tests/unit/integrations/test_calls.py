"""What a mapper may say of calls. S numbers: ../shared/reference/streamfold.md."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import StreamError
from unspool.integrations.calls import MAX_REMEMBERED, Calls
from unspool.structured.pool import StreamCompletion, StreamPool


def calls(**options: Any) -> Calls:
    """As a built-in mapper gets them."""
    matching = options.pop("matching", True)
    holds_faults = options.pop("holds_faults", False)
    return Calls(StreamPool(**options), matching=matching, holds_faults=holds_faults)


def told(calls: Calls) -> list[tuple[str, Any]]:
    updates, calls.updates = calls.updates, []
    return [(update.type, update.id) for update in updates]


def value_of(calls: Calls) -> Any:
    update = calls.updates[-1]
    assert isinstance(update, StreamCompletion)
    return update.value


def test_each_verb_adds_to_the_batch() -> None:
    """S75, S77, S79."""
    c = calls()
    c.start("a", "[1")
    c.delta("a", "]")
    c.end("a")
    c.start("b")
    assert told(c) == [("start", "a"), ("update", "a"), ("complete", "a"), ("start", "b")]
    assert c.active_ids == ["b"]
    assert (c.active("b"), c.active("a"), c.ended("a"), c.ended("b")) == (True, False, True, False)


def test_a_missing_id_is_diagnosed() -> None:
    """S82: no error, and nothing happens."""
    c = calls()
    c.start(None)
    c.delta(None, "1")
    c.end(None)
    assert c.updates == []
    assert [id for _, id in c.unmatched_events] == [None, None, None]


def test_ending_what_is_not_open() -> None:
    """S83: nothing if it ended before, else a diagnostic; a piece of it is an error."""
    c = calls()
    c.start("a", "1")
    c.end("a")
    c.end("a", "2")
    assert c.unmatched_events == []
    c.end("b")
    assert [id for _, id in c.unmatched_events] == ["b"]
    with pytest.raises(StreamError, match="UNKNOWN_STREAM"):
        c.delta("a", "1")


def test_an_aborted_call_did_not_end() -> None:
    """S64, S83."""
    c = calls()
    c.start("a", "[")
    c.abort("a")
    c.abort("a")
    c.end("a")
    assert told(c) == [("start", "a")]
    assert len(c.unmatched_events) == 1


def test_an_id_can_be_used_again() -> None:
    """S64, S81."""
    c = calls()
    for value in (1, 2):
        c.start("a", f"[{value}]")
        c.end("a")
        assert value_of(c) == [value]
    c.start("a")
    assert c.active("a")
    assert c.ended("a")


def test_remembered_ids_are_strict_and_bounded() -> None:
    """S56; no unbounded buffer."""
    c = calls()
    for id in range(MAX_REMEMBERED + 10):
        c.start(id)
        c.end(id)
        c.updates.clear()
    assert not c.ended(9)
    assert c.ended(10)
    assert not c.ended(float(MAX_REMEMBERED))
    assert len(c._ended) == MAX_REMEMBERED


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_call_without_text_is_an_empty_object(text: str | None) -> None:
    """S65: from the bare pool it is EMPTY_INPUT."""
    c = calls()
    c.start("a")
    if text is not None:
        c.delta("a", text)
    c.end("a", text)
    assert value_of(c) == {}
    assert c.updates[-1].bytes_seen == 2
    assert not c.active("a")


def test_a_custom_session_is_strict() -> None:
    """S70: there, all of this is an error."""
    c = calls(matching=False)
    for act in (lambda: c.end("a"), lambda: c.delta(None, ""), lambda: c.end(None)):
        with pytest.raises(StreamError, match="UNKNOWN_STREAM"):
            act()
    c.start(None)
    c.end(None)
    assert told(c) == [("start", None), ("complete", None)]
    assert c.unmatched_events == []


class TestHeldFaults:
    """S62, S63: where a final text follows, what is wrong with the pieces does not matter."""

    @pytest.mark.parametrize("pieces", [['{"a":', '"b":2}'], ["}"], ["[1,", "]x", "more"], ['{"a":1}{'], ['"\ud83d"']])
    def test_a_final_text_makes_up_for_them(self, pieces: list[str]) -> None:
        c = calls(holds_faults=True)
        c.start("other", "[")
        c.start("a")
        for piece in pieces:
            c.delta("a", piece)
        assert c.active("a")
        assert c.text("a") is None
        c.end("a", '{"a":1,"b":2}')
        assert value_of(c) == {"a": 1, "b": 2}
        assert (c.updates[-1].changes[0].op, c.updates[-1].changes[0].path) == ("set", ())
        assert c.active_ids == ["other"]
        c.start("a", "[]")
        c.end("a")
        assert value_of(c) == []

    def test_in_the_initial_text(self) -> None:
        c = calls(holds_faults=True)
        c.start("a", "}")
        c.delta("a", "more")
        c.end("a", "[1]")
        assert told(c) == [("start", "a"), ("complete", "a")]

    def test_without_a_final_text_the_fault_is_told(self) -> None:
        c = calls(holds_faults=True)
        c.start("a")
        c.delta("a", '{"a":]')
        with pytest.raises(StreamError) as caught:
            c.end("a", " ")
        assert (caught.value.id, caught.value.operation, caught.value.byte_offset) == ("a", "push", 5)
        assert not c.active("a")

    def test_limits_are_not_held_back(self) -> None:
        c = calls(holds_faults=True, max_bytes=4, max_depth=2, max_active_streams=1)
        c.start("a")
        with pytest.raises(StreamError, match="MAX_BYTES_EXCEEDED"):
            c.delta("a", "[1,2,3")
        c.start("a")
        with pytest.raises(StreamError, match="MAX_ACTIVE_STREAMS_EXCEEDED"):
            c.start("b")
        with pytest.raises(StreamError, match="MAX_DEPTH_EXCEEDED"):
            c.delta("a", "[[[")
        with pytest.raises(StreamError, match="UNKNOWN_STREAM"):
            c.delta("a", "1")

    def test_abort_forgets_them(self) -> None:
        c = calls(holds_faults=True)
        c.start("a", "}")
        c.abort("a")
        c.start("a", "[1]")
        c.end("a")
        assert value_of(c) == [1]

    def test_elsewhere_a_fault_is_told_at_once(self) -> None:
        c = calls()
        c.start("a")
        with pytest.raises(StreamError, match="byte 0"):
            c.delta("a", "}")


def test_dropping_all() -> None:
    """S84."""
    c = calls(holds_faults=True)
    c.start("a", "}")
    c.start("b", "[")
    c.drop()
    assert (c.updates, c.active_ids) == ([], [])
    c.start("a", "[1]")
    c.end("a")
    assert value_of(c) == [1]


def test_the_text_so_far() -> None:
    c = calls()
    assert c.text("a") is None
    assert c.text(None) is None
    c.start("a")
    c.delta("a", "[1")
    assert c.text("a") == "[1"


def test_the_name_of_a_tool_is_on_every_update() -> None:
    """F27: the first name of a call is kept, whenever it comes."""
    c = calls()
    c.start("a", name="f")
    c.start("b")
    c.delta("b", "[")
    c.name("b", "")
    c.name("b", None)
    c.name("b", "g")
    c.name("b", "g")
    c.name("b", "h")
    c.name("a", "h")
    c.name("c", "f")  # it is not open
    c.name(None, "f")
    c.delta("b", "]")
    c.end("b")
    c.end("a")
    c.start("b", name=5)
    assert [(update.id, update.name) for update in c.updates] == [
        *(("a", "f"), ("b", None), ("b", None)),
        *(("b", "g"), ("b", "g"), ("a", "f"), ("b", None)),
    ]


@pytest.mark.parametrize("fault", ["start", "delta"])
def test_a_name_outlives_a_fault_that_the_final_text_makes_up_for(fault: str) -> None:
    c = calls(holds_faults=True)
    c.start("a", "]" if fault == "start" else None, name="f")
    if fault == "delta":
        c.delta("a", "]")
    c.end("a", "[1]")
    assert [(update.type, update.name) for update in c.updates] == [("start", "f"), ("complete", "f")]


def test_names_go_with_their_calls() -> None:
    c = calls()
    c.start("a", name="f")
    c.abort("a")
    c.start("a")
    c.name("a", "g")
    c.end("a")
    assert [update.name for update in c.updates] == ["f", None, "g"]
    c.start("a", name="f")
    c.drop()
    c.start("a")
    assert [update.name for update in c.updates] == [None]
