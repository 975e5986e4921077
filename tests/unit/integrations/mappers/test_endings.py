"""Calls that end before it is known whether the response was cut. F37, S65."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import StreamError
from unspool.integrations.calls import Calls
from unspool.integrations.mappers.endings import Endings
from unspool.structured.pool import StreamPool


def opened(*texts: str, holds_faults: bool = False) -> tuple[Calls, Endings]:
    calls = Calls(StreamPool(), matching=True, holds_faults=holds_faults)
    for number, text in enumerate(texts):
        calls.start(number)
        calls.delta(number, text)
    calls.updates.clear()
    return calls, Endings(calls)


def ended(calls: Calls) -> list[Any]:
    return [(update.id, update.to_wire().get("text")) for update in calls.updates]


def test_a_call_with_text_ends_at_once() -> None:
    calls, endings = opened("[1]")
    endings.end(0)
    assert ended(calls) == [(0, "[1]")]


def test_a_final_text_ends_at_once() -> None:
    calls, endings = opened("")
    endings.end(0, "[2]")
    assert ended(calls) == [(0, "[2]")]


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("final_text", [None, "", " "])
def test_a_blank_call_waits(text: str, final_text: str | None) -> None:
    calls, endings = opened(text)
    endings.end(0, final_text)
    endings.end(0)
    assert calls.active_ids == [0]
    assert ended(calls) == []
    endings.settle()
    endings.settle()
    assert ended(calls) == [(0, "{}")]


def test_a_cut() -> None:
    calls, endings = opened("", "[")
    endings.end(0)
    endings.cut("length", [])
    assert ended(calls) == [(0, "{}")]
    with pytest.raises(StreamError, match="length") as caught:
        endings.cut("length")
    assert (caught.value.code, caught.value.id) == ("INCOMPLETE_JSON", 1)
    calls.abort(1)
    endings.cut("length", [0, 1])


def test_a_fault_that_is_held_back_is_raised_and_not_taken_for_blank() -> None:
    _, endings = opened("oops", holds_faults=True)
    with pytest.raises(StreamError, match="INVALID_JSON"):
        endings.end(0)


def test_unknown_ids() -> None:
    calls, endings = opened("[]")
    endings.end(7)
    endings.end(None)
    assert len(calls.unmatched_events) == 2
    endings.end(0)
    endings.end(0)
    assert len(calls.unmatched_events) == 2
