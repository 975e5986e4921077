"""Adapters of `define_adapter`. S numbers: ../shared/reference/streamfold.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support import splits

from unspool.errors import ProviderError, StreamError
from unspool.integrations.adapter import define_adapter
from unspool.integrations.session import Diagnostic, Session

operations = define_adapter(lambda event: event)


def start(id: Any) -> dict[str, Any]:
    return {"type": "start", "id": id}


def delta(id: Any, text: Any) -> dict[str, Any]:
    return {"type": "delta", "id": id, "text": text}


def end(id: Any, **more: Any) -> dict[str, Any]:
    return {"type": "end", "id": id, **more}


def abort(id: Any) -> dict[str, Any]:
    return {"type": "abort", "id": id}


def refused(code: str, act: Callable[..., Any], *arguments: Any) -> StreamError:
    with pytest.raises(StreamError) as caught:
        act(*arguments)
    assert caught.value.code == code
    return caught.value


def test_the_seeds_example() -> None:
    """S66, S68, S75, S77: a protocol of one's own in one function."""

    def map_event(event: dict[str, Any]) -> list[dict[str, Any]]:
        match event["kind"]:
            case "begin":
                return [start(event["id"])]
            case "piece":
                return [delta(event["id"], event["text"])]
            case "done":
                return [end(event["id"])]
            case _:
                return []

    session = define_adapter(map_event)(max_active_streams=8)
    seen: list[Any] = []
    for event in (
        {"kind": "begin", "id": "weather"},
        {"kind": "ping"},
        {"kind": "piece", "id": "weather", "text": '{"city":"San'},
        {"kind": "piece", "id": "weather", "text": ' Francisco"}'},
        {"kind": "done", "id": "weather"},
    ):
        for update in session.push_all(event):
            seen.append((update.type, update.id, update.bytes_seen))
    assert seen == [
        ("start", "weather", 0),
        ("update", "weather", 12),
        ("update", "weather", 24),
        ("complete", "weather", 24),
    ]
    assert session.finish() == []


@pytest.mark.parametrize("thing", [None, 5, "map", [], {}])
def test_a_mapper_must_be_callable(thing: Any) -> None:
    """S66: at once."""
    refused("INVALID_OPTIONS", define_adapter, thing)


def test_options_are_the_pools_and_refused_when_wrong() -> None:
    """S66, S41."""
    refused("INVALID_OPTIONS", lambda: operations(max_bytes=0))
    session = operations(max_bytes=4, snapshots="immutable", max_depth=1, duplicate_keys="error", scalars="eager")
    session.push_all([start("a"), delta("a", "[1")])
    error = refused("MAX_BYTES_EXCEEDED", session.push_all, [delta("a", "234")])
    assert (error.id, error.operation, error.adapter) == ("a", "push", "custom")


def test_sessions_are_independent() -> None:
    """S66."""
    one, other = operations(), operations()
    one.push_all([start(1), delta(1, "[1]")])
    other.push_all([start(1), delta(1, "[2]")])
    assert [one.push_all([end(1)])[0].value, other.push_all([end(1)])[0].value] == [[1], [2]]  # type: ignore[attr-defined]
    one.close()
    assert other.push_all([start(1)])


def _generator() -> Iterator[Any]:
    yield start("a")


async def _coroutine() -> list[Any]:
    return []


@pytest.mark.parametrize(
    "make", [lambda: None, lambda: start("a"), lambda: "start", lambda: 5, _generator, _coroutine, lambda: {1}]
)
def test_a_mapper_must_give_a_list(make: Callable[[], Any]) -> None:
    """S67: synchronous, and a list."""
    session = define_adapter(lambda _event: make())()
    error = refused("INTEGRATION_ERROR", session.push_all, {"type": "x"})
    assert (error.adapter, error.event_type) == ("custom", "x")


def test_operations_may_be_a_tuple_and_objects() -> None:
    """S67: any record will do."""
    session = operations()
    updates = session.push_all(
        (SimpleNamespace(type="start", id=1), SimpleNamespace(type="delta", id=1, text="2"), SimpleNamespace(**end(1)))
    )
    assert [u.type for u in updates] == ["start", "update", "complete"]


def test_an_id_may_be_anything_but_absent() -> None:
    """S67, S56."""
    session = operations()
    updates = session.push_all([start(None), start(0), start(False), delta(None, "1"), end(None), delta(False, "2")])
    assert [(u.type, u.id) for u in updates][3:] == [("update", None), ("complete", None), ("update", False)]
    assert session.pool.active_ids == [0, False]


@pytest.mark.parametrize(
    ("operation", "id", "name"),
    [
        ({"type": "start"}, None, "start"),
        (SimpleNamespace(type="end"), None, "end"),
        (start([]), None, "start"),
        ({"type": "begin", "id": "a"}, "a", "begin"),
        ({"type": 5, "id": "a"}, "a", None),
        ({"id": "a"}, "a", None),
        (delta("a", None), "a", "delta"),
        (delta("a", 5), "a", "delta"),
        (delta("a", b"1"), "a", "delta"),
        ({"type": "delta", "id": "a"}, "a", "delta"),
        (end("a", final_text=5), "a", "end"),
        (None, None, None),
        ("start", None, None),
        ([], None, None),
    ],
    ids=repr,
)
def test_wrong_operations_end_the_session(operation: Any, id: Any, name: Any) -> None:
    """S69: with the id and the name of the operation, and nothing of its text."""
    session = operations()
    session.push_all([start("a")])
    with pytest.raises(StreamError) as caught:
        session.push_all([start("b"), operation])
    error = caught.value
    assert error.code in ("INTEGRATION_ERROR", "INVALID_OPTIONS")
    assert (error.id, error.operation, error.adapter, error.event_type) == (id, name, "custom", "operations")
    assert len(session.pool) == 0
    with pytest.raises(StreamError) as again:
        session.finish()
    assert again.value is error


def test_nothing_is_started_by_itself() -> None:
    """S70."""
    for wrong, code, operation in (
        ([delta("a", "1")], "UNKNOWN_STREAM", "push"),
        ([end("a")], "UNKNOWN_STREAM", "finish"),
        ([start("a"), start("a")], "DUPLICATE_STREAM", "start"),
        ([start("a"), delta("a", "1"), end("a"), end("a")], "UNKNOWN_STREAM", "finish"),
        ([start("a"), abort("a"), delta("a", "1")], "UNKNOWN_STREAM", "push"),
    ):
        error = refused(code, operations().push_all, wrong)
        assert (error.id, error.operation) == ("a", operation)


def test_ids_are_free_after_end_and_abort() -> None:
    """S70, S68: aborting what is not open does nothing."""
    session = operations()
    assert session.push_all([abort("a"), start("a"), delta("a", "[1"), abort("a"), abort("a")])[-1].type == "update"
    for value in (1, 2):
        updates = session.push_all([start("a"), delta("a", f"[{value}]"), end("a")])
        assert updates[-1].value == [value]  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_a_call_without_text_is_an_empty_object(text: str) -> None:
    """S65: a tool without parameters; in a session, not in a bare pool."""
    session = operations()
    (done,) = session.push_all([start("a"), delta("a", text), end("a")])[2:]
    assert (done.text, done.value, done.partial_value, done.bytes_seen) == ("{}", {}, {}, 2)  # type: ignore[attr-defined]
    assert [(p.op, p.path, p.value) for p in done.changes] == [("set", (), {}), ("complete", (), None)]
    session.push_all([start("b"), delta("b", text)])
    (done,) = session.finish()
    assert (done.id, done.value) == ("b", {})  # type: ignore[attr-defined]


def test_a_final_text_counts() -> None:
    """S62, S63: of an adapter of one's own as well; a blank one is none."""
    session = operations()
    done = session.push_all([start("a"), delta("a", '{"x":'), end("a", final_text='{"x":2}')])[-1]
    assert (done.text, done.value, done.changes[0].path) == ('{"x":2}', {"x": 2}, ())  # type: ignore[attr-defined]
    done = session.push_all([start("a"), delta("a", "[1]"), end("a", finalText=" ")])[-1]
    assert (done.text, done.value) == ("[1]", [1])  # type: ignore[attr-defined]
    done = session.push_all([start("a"), end("a", finalText="[2]")])[-1]
    assert done.value == [2]  # type: ignore[attr-defined]


def test_finish_completes_what_is_open_once() -> None:
    """S71: in start order; then nothing, and no event is taken any more."""
    session = operations()
    session.push_all([start("b"), start("a"), start("c"), delta("a", "1"), delta("b", "2"), delta("c", "3"), end("c")])
    assert [(u.type, u.id, u.value) for u in session.finish()] == [("complete", "b", 2), ("complete", "a", 1)]  # type: ignore[attr-defined]
    assert session.finish() == []
    error = refused("INTEGRATION_ERROR", session.push_all, [])
    assert "finished" in error.message
    assert error.adapter == "custom"


def test_finish_fails_on_a_cut_call() -> None:
    """S72: and gives no part of the batch; an error at the end has no event type (S74)."""
    session = operations()
    session.push_all([start("a"), delta("a", "[1]"), start("b"), delta("b", "[1")])
    error = refused("INCOMPLETE_JSON", session.finish)
    assert (error.id, error.operation, error.adapter, error.event_type) == ("b", "finish", "custom", None)
    with pytest.raises(StreamError) as again:
        session.push_all([])
    assert again.value is error


class Refuses(Exception):
    """An error that takes no attributes."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


class Codes(Exception):
    """An error of an SDK."""

    code = "rate_limit"
    adapter = None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("x"), "INTEGRATION_ERROR"),
        (Codes("x"), "rate_limit"),
        (ProviderError("OVERLOADED", "x"), "OVERLOADED"),
        (Refuses("x"), None),
    ],
)
def test_an_error_of_the_mapper_is_kept_as_it_is(error: Exception, code: str | None) -> None:
    """S72, S42, S44, S85: the same object, with metadata on it where it takes any, now and ever after."""

    def map_event(event: Any) -> list[Any]:
        if event == "bad":
            raise error
        return [start("a")]

    diagnostics: list[Diagnostic] = []
    session = define_adapter(map_event)(on_diagnostic=diagnostics.append)
    session.push_all("good")
    for _ in range(2):
        with pytest.raises(type(error)) as caught:
            session.push_all("bad")
        assert caught.value is error
    with pytest.raises(type(error)) as caught:
        session.finish()
    assert caught.value is error
    assert getattr(error, "code", None) == code
    assert getattr(error, "adapter", None) == ("custom" if code else None)
    assert len(session.pool) == 0
    assert [(d.code, d.error) for d in diagnostics] == [("STREAM_ERROR", error)]


def test_what_is_no_failure_of_the_stream_closes_the_session() -> None:
    """S72: an interrupt passes, and is not raised again later."""

    def map_event(event: Any) -> list[Any]:
        if event:
            raise KeyboardInterrupt
        return [start("a")]

    diagnostics: list[Diagnostic] = []
    session = define_adapter(map_event)(on_diagnostic=diagnostics.append)
    session.push_all(0)
    with pytest.raises(KeyboardInterrupt):
        session.push_all(1)
    refused("STREAM_DISPOSED", session.push_all, 0)
    assert len(session.pool) == 0
    assert diagnostics == []


def test_a_batch_is_given_whole_or_not_at_all() -> None:
    """S72, S84: the updates before the failure are not given; live values already out are not rolled back."""
    session = operations()
    live = session.push_all([start("a"), delta("a", '{"x":[1')])[-1].partial_value
    refused("MISMATCHED_CLOSING", session.push_all, [delta("a", ",2,3"), start("b"), delta("a", "}")])
    assert live["x"][:1] in ([], [1])
    assert session.pool.active_ids == []


def test_closing() -> None:
    """S73."""
    session = operations()
    session.push_all([start("a"), delta("a", '{"unfinished')])
    session.close()
    session.close()
    for act in (lambda: session.push_all([]), session.finish):
        assert refused("STREAM_DISPOSED", act).adapter == "custom"
    with operations() as session:
        session.push_all([start("a")])
    refused("STREAM_DISPOSED", session.finish)
    failed = operations()
    error = refused("UNKNOWN_STREAM", failed.push_all, [end("a")])
    failed.close()
    with pytest.raises(StreamError) as again:
        failed.push_all([])
    assert again.value is error
    finished = operations()
    finished.finish()
    finished.close()
    refused("STREAM_DISPOSED", finished.finish)


def test_a_mapper_that_closes_its_session_opens_nothing_any_more() -> None:
    """S100."""
    sessions: list[Session] = []

    def map_event(_event: Any) -> list[Any]:
        sessions[0].close()
        return [start("a")]

    sessions.append(define_adapter(map_event)())
    refused("STREAM_DISPOSED", sessions[0].push_all, {})
    assert len(sessions[0].pool) == 0


@pytest.mark.parametrize(
    ("event", "event_type"),
    [
        ({"type": "a", "event_type": "b", "kind": "c"}, "a"),
        ({"event_type": "b", "kind": "c"}, "b"),
        ({"type": 5, "kind": "c"}, "c"),
        (SimpleNamespace(kind="c"), "c"),
        ([{"type": "bad", "id": 1}], "operations"),
        ({"kind": None}, None),
        ("text", None),
        (None, None),
    ],
    ids=repr,
)
def test_the_type_of_an_event(event: Any, event_type: str | None) -> None:
    """S74."""
    session = define_adapter(lambda _event: [{"type": "bad", "id": 1}])()
    assert refused("INTEGRATION_ERROR", session.push_all, event).event_type == event_type


def test_live_and_immutable_snapshots() -> None:
    """S48, S49, S52: live updates of one batch are one value; immutable ones stay."""
    live = operations().push_all([start("a"), delta("a", '{"x":[1,'), delta("a", "2,")])
    assert live[1].partial_value is live[2].partial_value
    frozen = operations(snapshots="immutable").push_all([start("a"), delta("a", '{"x":[1,'), delta("a", "2,")])
    assert [frozen[1].partial_value, frozen[2].partial_value] == [{"x": [1]}, {"x": [1, 2]}]


@pytest.mark.parametrize("pieces", list(splits('{"text":"é\\n","list":[1,2.5,null]}', seed=3)), ids=len)
def test_any_split_gives_the_same(pieces: list[str]) -> None:
    """S75."""
    session = operations()
    updates = session.push_all([start("a"), *(delta("a", piece) for piece in pieces), end("a")])
    assert [u.type for u in updates] == ["start", *["update"] * len(pieces), "complete"]
    assert updates[-1].value == {"text": "é\n", "list": [1, 2.5, None]}  # type: ignore[attr-defined]


class TestDiagnostics:
    """S103-S107."""

    def test_none_for_unused_and_failed_sessions(self) -> None:
        """S105."""
        seen: list[Diagnostic] = []
        operations(on_diagnostic=seen.append).finish()
        assert seen == []

    def test_no_tool_events_once(self) -> None:
        """S105."""
        seen: list[Diagnostic] = []
        session = define_adapter(lambda _event: [])(on_diagnostic=seen.append)
        session.push_all({"type": "text", "text": "secret"})
        session.finish()
        session.finish()
        (diagnostic,) = seen
        assert (diagnostic.code, diagnostic.adapter) == ("NO_TOOL_EVENTS", "custom")
        assert (diagnostic.event_type, diagnostic.id, diagnostic.error) == (None, None, None)
        assert "secret" not in repr(diagnostic)

    def test_a_call_is_a_tool_event_even_when_aborted(self) -> None:
        """S105."""
        seen: list[Diagnostic] = []
        session = operations(on_diagnostic=seen.append)
        session.push_all([start("a"), abort("a")])
        session.finish()
        assert seen == []

    def test_stream_error_once_without_payload(self) -> None:
        """S103, S107: the error itself, ids and messages; no event, no argument text."""
        seen: list[Diagnostic] = []
        session = operations(on_diagnostic=seen.append)
        session.push_all([start("a"), delta("a", '{"password":"hunter2"')])
        error = refused("MISMATCHED_CLOSING", session.push_all, [delta("a", ',"more":"hunter2"]')])
        for _ in range(2):
            with pytest.raises(StreamError):
                session.finish()
        (diagnostic,) = seen
        assert (diagnostic.code, diagnostic.id, diagnostic.event_type) == ("STREAM_ERROR", "a", "operations")
        assert diagnostic.error is error
        assert "hunter2" not in str(diagnostic.to_wire()) + repr(diagnostic)

    def test_what_a_foreign_error_says_is_not_repeated(self) -> None:
        """S103: it may quote the event."""
        seen: list[Diagnostic] = []

        def map_event(event: Any) -> list[Any]:
            raise KeyError(event["secret"])

        session = define_adapter(map_event)(on_diagnostic=seen.append)
        with pytest.raises(KeyError):
            session.push_all({"secret": "hunter2"})
        assert "hunter2" not in str(seen[0].to_wire()) + repr(seen[0])

    def test_a_callback_that_fails_changes_nothing(self) -> None:
        """S104."""

        def fails(_diagnostic: Diagnostic) -> None:
            raise ZeroDivisionError

        session = define_adapter(lambda _event: [])(on_diagnostic=fails)
        session.push_all({})
        assert session.finish() == []
        session = operations(on_diagnostic=fails)
        refused("UNKNOWN_STREAM", session.push_all, [end("a")])


def test_a_start_may_name_the_tool() -> None:
    session = operations()
    updates = session.push_all([{**start("a"), "name": "f"}, {**start("b"), "name": None}, delta("a", "[]")])
    assert [update.name for update in [*updates, *session.finish()]] == ["f", None, "f", "f", None]
    error = refused("INTEGRATION_ERROR", operations().push_all, [{**start("a"), "name": 5}])
    assert (error.id, error.operation) == ("a", "start")
