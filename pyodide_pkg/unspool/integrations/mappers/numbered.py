"""NumberedCalls: calls whose pieces servers number, name and identify in their own ways, or leave so."""

from __future__ import annotations

from collections.abc import Mapping

from unspool.integrations.calls import Calls
from unspool.structured.pool import StreamUpdate


class _Call:
    __slots__ = ("id", "wire_id", "name", "renamed", "last")

    def __init__(self, id: str, wire_id: str | None, name: str | None) -> None:
        self.id = id
        self.wire_id = wire_id
        self.name = name
        self.renamed = False
        self.last: StreamUpdate | None = None

    def is_whole(self) -> bool:
        """Whether the arguments so far are one complete object."""
        return self.last is not None and self.last.complete and isinstance(self.last.partial_value, Mapping)


class NumberedCalls:
    """The calls of one choice of one response.

    Which call does a piece belong to? Its index tells, where there is one; else its id; else it goes on with the call
    before. A call whose arguments are complete is not gone on with: a server that numbers each call 0, or none, begins
    another one by naming it.
    """

    def __init__(self, calls: Calls, *, ids_always_come: bool) -> None:
        """
        Args:
            calls: of the session.
            ids_always_come: a call without an id is a matter of diagnostics, and a new id that comes with a name is
                a new call. Otherwise a call without an id gets one, and an id that changes inside a call means nothing.
        """
        self._calls = calls
        self._ids_always_come = ids_always_come
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._last: _Call | None = None
        self.ids: list[str] = []
        """Of the calls, in the order in which they began."""

    def feed(self, index: int | None, id: str | None, name: str | None, arguments: str) -> None:
        """Take one piece.

        Args:
            index: the server's number for the call; None where it gives none.
            id: of the call; None where the piece has none.
            name: of the tool; None where the piece has none.
            arguments: their next piece; may be empty.
        Raises:
            StreamError: the fault of the arguments.
        """
        call = self._last if index is None else self._by_index.get(index)
        if call is None or id is not None or name is not None:  # most pieces are just more of the same
            call = self._find(index, id, name, arguments)
            if call is None:
                return
        self._last = call
        if arguments:
            call.last = self._calls.delta(call.id, arguments)

    def go_on(self, index: int, arguments: str) -> bool:
        """Take a piece that has nothing but arguments, if the server's number for the call is known; gives whether."""
        call = self._by_index.get(index)
        if call is None or not arguments:
            return False
        self._last = call
        call.last = self._calls.delta(call.id, arguments)
        return True

    def _find(self, index: int | None, id: str | None, name: str | None, arguments: str) -> _Call | None:
        if index is not None:
            call = self._by_index.get(index)
        elif id is not None:
            call = self._by_id.get(id)
        else:
            call = self._last
        if call is None or self._is_another(call, id, name, arguments):
            call = self._begin(index, id, name, arguments)
        elif id is not None and id != call.wire_id:
            if call.wire_id is None:
                call.wire_id = id
                self._by_id[id] = call
            elif not call.renamed:
                call.renamed = True
                self._calls.unmatched("The id of a call changed while it was received; the first one is kept.", call.id)
        if call is not None and call.name is None and name is not None:
            call.name = name
            self._calls.name(call.id, name)
        return call

    def _is_another(self, call: _Call, id: str | None, name: str | None, arguments: str) -> bool:
        if id is not None and id == call.wire_id:
            return False
        if self._ids_always_come and id is not None and (name is not None or call.is_whole()):
            return True
        if name is None or (id is None and not arguments):
            return False  # more of it, or the name said again
        return (call.name is not None and name != call.name) or call.is_whole()

    def _begin(self, index: int | None, wire_id: str | None, name: str | None, arguments: str) -> _Call | None:
        if wire_id is None and (self._ids_always_come or not (name or arguments)):
            if arguments:
                self._calls.unmatched("A piece of a call is of no call that is open.")
            return None
        id, number = wire_id, len(self.ids)
        while id is None or self._calls.active(id) or self._calls.ended(id):
            id = f"call_{number}"  # results are matched by id, so each call needs one of its own
            number += 1
        self._calls.start(id, name=name)
        self.ids.append(id)
        call = _Call(id, wire_id, name)
        if index is not None:
            self._by_index[index] = call
        if wire_id is not None:
            self._by_id[wire_id] = call
        return call
