"""The contract of custom adapters as nine cases, for any test framework or none.

In: an adapter, and a function that writes its protocol. Out: named async functions that raise AssertionError.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from unspool.errors import StreamError
from unspool.integrations.adapter import Operation
from unspool.integrations.read import read_structured
from unspool.integrations.session import Session, SessionFactory
from unspool.structured.frozen import FrozenArray, FrozenObject, thaw
from unspool.structured.pool import StreamCompletion, StreamUpdate

Encode = Callable[[Sequence[Operation]], Iterable[Any]]


class ContractTest(NamedTuple):
    """One case of the contract."""

    name: str
    run: Callable[[], Awaitable[None]]
    """Runs it; AssertionError when the adapter does not keep the contract."""


def adapter_contract_tests(*, adapter: SessionFactory, encode: Encode) -> list[ContractTest]:
    """Make the tests that every adapter of `define_adapter` should pass.

    Args:
        adapter: the adapter.
        encode: writes operations as events of the adapter's protocol. It may split one over several events or put
            several into one. Write it apart from the adapter's own function: what both share hides what is wrong in it.
    Returns:
        The cases; each makes sessions of its own and closes them.
    Raises:
        StreamError: INVALID_OPTIONS.
    """
    if not callable(cast(Any, adapter)) or not callable(cast(Any, encode)):
        raise StreamError("INVALID_OPTIONS", "adapter must be what us.define_adapter gives, and encode a function.")
    kit = _Kit(adapter, encode)
    cases: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("interleaved calls keep their order, ids and values", kit.interleaves),
        ("an early snapshot never changes, at any level", kit.keeps_snapshots),
        ("the end of the events completes what is open, once", kit.completes_at_the_end),
        ("an aborted call leaves its id free, and so does an ended one", kit.reuses_ids),
        ("malformed JSON ends the session", kit.refuses_malformed_json),
        ("unknown and duplicate calls are refused", kit.refuses_unknown_and_duplicate_calls),
        ("sessions do not mix, and closing is final", kit.isolates_sessions),
        ("limits reach the calls", kit.passes_limits_on),
        ("leaving a managed reading early closes source and session", kit.closes_early),
    ]
    return [ContractTest(name, _asserting(run)) for name, run in cases]


def _asserting(run: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def case() -> None:
        try:
            await run()
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"a good sequence of operations fails: {error!r}") from error

    return case


def _start(id: Any) -> Operation:
    return {"type": "start", "id": id}


def _delta(id: Any, text: str) -> Operation:
    return {"type": "delta", "id": id, "text": text}


def _end(id: Any) -> Operation:
    return {"type": "end", "id": id}


def _abort(id: Any) -> Operation:
    return {"type": "abort", "id": id}


class _Kit:
    def __init__(self, adapter: SessionFactory, encode: Encode) -> None:
        self._adapter = adapter
        self._encode = encode

    async def interleaves(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            updates = self._push(session, _start("a"), _delta("a", '{"city":"San'), _start("b"), _delta("b", "[1,"))
            wanted = [("start", "a"), ("update", "a"), ("start", "b"), ("update", "b")]
            _equal([(u.type, u.id) for u in updates], wanted)
            _equal(thaw(updates[1].partial_value), {"city": "San"})
            updates = self._push(session, _delta("a", ' Francisco"}'), _delta("b", "2]"), _end("b"), _end("a"))
            wanted = [("update", "a"), ("update", "b"), ("complete", "b"), ("complete", "a")]
            _equal([(u.type, u.id) for u in updates], wanted)
            _equal([_value(u) for u in updates[2:]], [[1, 2], {"city": "San Francisco"}])
            _equal([_completion(u).text for u in updates[2:]], ["[1,2]", '{"city":"San Francisco"}'])
            _equal(session.finish(), [])

    async def keeps_snapshots(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            early = _last(self._push(session, _start("a"), _delta("a", '{"rows":[{"x":"1'))).partial_value
            _equal(thaw(early), {"rows": [{"x": "1"}]})
            self._push(session, _delta("a", '2"},{"x":"3"}],"more":true}'), _end("a"))
            _equal(thaw(early), {"rows": [{"x": "1"}]})
            for level in (early, early["rows"], early["rows"][0]):
                _check(isinstance(level, FrozenObject | FrozenArray), f"a {type(level).__name__} is not frozen")

    async def completes_at_the_end(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            ended = self._push(session, _start("a"), _delta("a", "1 "), _end("a"), _start("b"), _delta("b", '{"x":2}'))
            _equal([u.id for u in ended if u.type == "complete"], ["a"])
            pending = session.finish()
            _equal([(u.type, u.id, _value(u)) for u in pending], [("complete", "b", {"x": 2})])
            _equal(session.finish(), [])

    async def reuses_ids(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            updates = self._push(session, _start("a"), _delta("a", '{"half":'), _abort("a"))
            for text in ("[1]", "[2]"):
                updates += self._push(session, _start("a"), _delta("a", text), _end("a"))
            updates += session.finish()
            _equal([_value(u) for u in updates if u.type == "complete"], [[1], [2]])

    async def refuses_malformed_json(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            error = self._refusal(session, _start("a"), _delta("a", '{"x":[1}'))
            _equal(error.code, "MISMATCHED_CLOSING")
            _check(self._refusal(session, _start("b")) is error, "a failed session takes events again")
            try:
                session.finish()
            except StreamError as again:
                _check(again is error, "a failed session fails differently at its end")
            else:
                raise AssertionError("a failed session can be finished")

    async def refuses_unknown_and_duplicate_calls(self) -> None:
        with self._adapter(snapshots="immutable") as session:
            _equal(self._refusal(session, _delta("a", "1")).code, "UNKNOWN_STREAM")
        with self._adapter(snapshots="immutable") as session:
            _equal(self._refusal(session, _start("a"), _start("a")).code, "DUPLICATE_STREAM")

    async def isolates_sessions(self) -> None:
        with self._adapter(snapshots="immutable") as one, self._adapter(snapshots="immutable") as other:
            self._push(one, _start("a"), _delta("a", '{"of":"one"'))
            self._push(other, _start("a"), _delta("a", '{"of":"other"'))
            _equal(_value(_last(self._push(one, _delta("a", "}"), _end("a")))), {"of": "one"})
            one.close()
            one.close()
            _equal(self._refusal(one, _start("b")).code, "STREAM_DISPOSED")
            _equal(_value(_last(self._push(other, _delta("a", "}"), _end("a")))), {"of": "other"})

    async def passes_limits_on(self) -> None:
        with self._adapter(max_active_streams=1) as session:
            _equal(self._refusal(session, _start("a"), _start("b")).code, "MAX_ACTIVE_STREAMS_EXCEEDED")
        with self._adapter(max_bytes=4) as session:
            _equal(self._refusal(session, _start("a"), _delta("a", "[1,2]")).code, "MAX_BYTES_EXCEEDED")

    async def closes_early(self) -> None:
        sessions: list[Session] = []
        closed: list[bool] = []

        def adapter(**options: Any) -> Session:
            sessions.append(self._adapter(**options))
            return sessions[-1]

        def events() -> Iterator[Any]:
            try:
                yield from self._encode([_start("a"), _delta("a", '{"x":'), _delta("a", "1}"), _end("a")])
            finally:
                closed.append(True)

        async with read_structured(events(), adapter=adapter) as reader:
            first = await reader.read() or []
            _equal([(update.type, update.id) for update in first[:1]], [("start", "a")])
            _equal(closed, [])
        _equal(closed, [True])
        _equal(len(sessions), 1)
        _equal(self._refusal(sessions[0], _start("b")).code, "STREAM_DISPOSED")

    def _push(self, session: Session, *operations: Operation) -> list[StreamUpdate]:
        return [update for event in self._encode(operations) for update in session.push_all(event)]

    def _refusal(self, session: Session, *operations: Operation) -> StreamError:
        try:
            self._push(session, *operations)
        except StreamError as error:
            return error
        raise AssertionError(f"nothing was refused of {[operation['type'] for operation in operations]}")


def _last(updates: list[StreamUpdate]) -> StreamUpdate:
    _check(bool(updates), "there are no updates")
    return updates[-1]


def _completion(update: StreamUpdate) -> StreamCompletion:
    if not isinstance(update, StreamCompletion):
        raise AssertionError(f"{update!r} is no completion")
    return update


def _value(update: StreamUpdate) -> Any:
    return thaw(_completion(update).value)


def _equal(given: object, wanted: object) -> None:
    _check(given == wanted, f"{given!r} should be {wanted!r}")


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
