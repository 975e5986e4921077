"""Sessions of built-in integrations. S numbers: ../shared/reference/streamfold.md. Custom ones: test_adapter.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from unspool.errors import StreamError
from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, record, text, type_of
from unspool.integrations.session import Diagnostic, Session


class ParcelMapper:
    """A protocol of these tests: parcels with a number on them, all sealed by one event."""

    adapter = "parcels"
    final_text_follows = True

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._ids: dict[Any, Any] = {}

    def read(self, event: Record) -> None:
        match event.get("type"):
            case "open":
                label = record(event.get("label"))
                self._ids[event.get("number")] = label.get("id")
                self._calls.start(label.get("id"))
            case "fill" if event.get("number") in self._ids:
                self._calls.delta(self._ids[event.get("number")], text(event.get("with")))
            case "fill":
                self._calls.unmatched("A parcel that is not open is filled.", event.get("number"))
            case "seal":
                for id in reversed(self._ids.values()):
                    self._calls.end(id, event.get("whole"))
                if event.get("then") == "fail":
                    raise StreamError("INTEGRATION_ERROR", "The truck is gone.")
            case "done":
                self._calls.end(event.get("id"))
            case _:
                pass

    def finish(self) -> None:
        if "last" in self._ids:
            self._calls.end(self._ids["last"])

    def event_type(self, event: Record) -> str | None:
        return type_of(event)


def session(**options: Any) -> Session:
    return Session(ParcelMapper, built_in=True, **options)


def opened(number: Any, id: Any) -> dict[str, Any]:
    return {"type": "open", "number": number, "label": {"id": id}}


def fill(number: Any, with_: str) -> dict[str, Any]:
    return {"type": "fill", "number": number, "with": with_}


def test_all_updates_of_an_event_in_order() -> None:
    """S79, S77."""
    s = session()
    assert [(u.type, u.id) for u in s.push_all(opened(1, "a"))] == [("start", "a")]
    s.push_all(opened(2, "b"))
    assert [(u.type, u.id) for u in s.push_all(fill(1, "[1]"))] == [("update", "a")]
    s.push_all(fill(2, "[2]"))
    assert [(u.type, u.id, u.value) for u in s.push_all({"type": "seal"})] == [  # type: ignore[attr-defined]
        ("complete", "b", [2]),
        ("complete", "a", [1]),
    ]
    assert s.finish() == []


@pytest.mark.parametrize(
    "event", [{}, {"type": "text", "text": "hi"}, None, "text", 5, [], [1], object(), {"type": None}]
)
def test_other_events_are_passed_over(event: Any) -> None:
    """S87: without filtering, whatever they are."""
    seen: list[Diagnostic] = []
    s = session(on_diagnostic=seen.append)
    assert s.push_all(event) == []
    assert seen == []
    s.finish()
    assert [d.code for d in seen] == ["NO_TOOL_EVENTS"]
    assert seen[0].adapter == "parcels"


def test_objects_are_events_too() -> None:
    """Section 11.11: a field is a key, else an attribute."""
    s = session()
    event = SimpleNamespace(type="open", number=1, label=SimpleNamespace(id="a"))
    assert [(u.type, u.id) for u in s.push_all(event)] == [("start", "a")]


def test_finish_lets_the_mapper_go_first() -> None:
    """S80: its own order, then what is left in the order of starts. Differs: no history, only what was open."""
    s = session()
    for number, id in ((1, "a"), (2, "b"), ("last", "c")):
        s.push_all(opened(number, id))
        s.push_all(fill(number, "1 "))
    s.push_all({"type": "done", "id": "b"})
    assert [u.id for u in s.finish()] == ["c", "a"]
    assert s.finish() == []


def test_unmatched_events_are_diagnosed() -> None:
    """S82, S83, S106: with adapter, event type and id, and nothing of the event."""
    seen: list[Diagnostic] = []
    s = session(on_diagnostic=seen.append)
    s.push_all(opened(1, None))
    s.push_all(fill(9, "secret"))
    s.push_all({"type": "done", "id": "never"})
    assert [(d.code, d.adapter, d.event_type, d.id) for d in seen] == [
        ("UNMATCHED_TOOL_EVENT", "parcels", "open", None),
        ("UNMATCHED_TOOL_EVENT", "parcels", "fill", 9),
        ("UNMATCHED_TOOL_EVENT", "parcels", "done", "never"),
    ]
    assert "secret" not in "".join(map(repr, seen))
    assert seen[1].to_wire() == {
        "code": "UNMATCHED_TOOL_EVENT",
        "message": "A parcel that is not open is filled.",
        "adapter": "parcels",
        "eventType": "fill",
        "id": 9,
    }


def test_a_failure_is_terminal_and_takes_the_batch_along() -> None:
    """S84, S85, S107: all calls are dropped, one diagnostic, the same error ever after."""
    seen: list[Diagnostic] = []
    s = session(on_diagnostic=seen.append)
    s.push_all(opened(1, "a"))
    s.push_all(fill(1, "1 "))
    s.push_all(opened(2, "b"))
    s.push_all(fill(2, "2 "))
    with pytest.raises(StreamError) as caught:
        s.push_all({"type": "seal", "then": "fail"})
    error = caught.value
    assert (error.code, error.adapter, error.event_type) == ("INTEGRATION_ERROR", "parcels", "seal")
    assert s.pool.active_ids == []
    for act in (lambda: s.push_all(opened(3, "c")), s.finish):
        with pytest.raises(StreamError) as again:
            act()
        assert again.value is error
    assert [(d.code, d.message, d.error) for d in seen] == [("STREAM_ERROR", "The truck is gone.", error)]
    assert seen[0].to_wire()["error"] == error.to_wire()


def test_a_fault_that_no_final_text_follows_has_its_context() -> None:
    """S43, S63: told where it is known for certain."""
    s = session()
    s.push_all(opened(1, "a"))
    assert s.push_all(fill(1, "[}")) == []
    assert s.push_all(fill(1, "more")) == []
    with pytest.raises(StreamError) as caught:
        s.push_all({"type": "seal"})
    error = caught.value
    assert (error.code, error.id, error.byte_offset) == ("MISMATCHED_CLOSING", "a", 1)
    assert (error.operation, error.adapter, error.event_type) == ("push", "parcels", "seal")
    s = session()
    s.push_all(opened(1, "a"))
    s.push_all(fill(1, "[}"))
    with pytest.raises(StreamError, match="MISMATCHED_CLOSING"):
        s.finish()


def test_a_final_text_makes_up_for_faulty_pieces() -> None:
    """S62, S63, O5."""
    s = session(snapshots="immutable")
    s.push_all(opened(1, "a"))
    s.push_all(fill(1, "[}"))
    (done,) = s.push_all({"type": "seal", "whole": "[1]"})
    assert done.value is done.partial_value  # type: ignore[attr-defined]
    assert done.value == [1]  # type: ignore[attr-defined]


def test_the_pool_can_be_looked_at() -> None:
    """S55: field states of a call that is open."""
    s = session()
    s.push_all(opened(1, "a"))
    s.push_all(fill(1, '{"x":1,"y":"'))
    assert s.pool.active_ids == ["a"]
    assert [s.pool.field_state("a", [key]) for key in "xy"] == ["complete", "partial"]


def test_a_failing_event_type_does_not_hide_the_failure() -> None:
    """S104: nor does an event whose reading fails."""

    class Bad:
        def __getattr__(self, name: str) -> Any:
            raise ZeroDivisionError(name)

    s = session()
    with pytest.raises(ZeroDivisionError) as caught:
        s.push_all(Bad())
    assert caught.value.code == "INTEGRATION_ERROR"  # type: ignore[attr-defined]
    assert getattr(caught.value, "event_type", None) is None


def test_calls_end_once_in_the_order_they_are_told() -> None:
    """S81, S83: a second end of a call is passed over."""
    s = session()
    s.push_all(opened(1, "a"))
    assert [u.id for u in s.push_all({"type": "seal"})] == ["a"]
    assert s.push_all({"type": "seal"}) == []
    assert s.finish() == []
