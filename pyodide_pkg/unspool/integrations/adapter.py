"""define_adapter: tool calls out of events that no built-in integration knows, by one function of the caller's.

In: a function from an event to a list of operations. Out: a factory of sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any, Literal, NotRequired, Required, TypedDict, Unpack, cast

from unspool.errors import StreamError
from unspool.integrations.calls import Calls
from unspool.integrations.fields import first, is_array, items, record, type_of
from unspool.integrations.session import Session, SessionOptions


class Operation(TypedDict, total=False):
    """One step of one call.

    "start" opens a call, "delta" adds a piece of JSON text, "end" ends it, "abort" drops it without an update. An
    object with these attributes does as well as a dict.
    """

    type: Required[Literal["start", "delta", "end", "abort"]]
    id: Required[Any]
    """Any hashable value, compared strictly."""
    name: NotRequired[str | None]
    """Of "start": the tool's."""
    text: NotRequired[str]
    """The piece, of "delta"."""
    final_text: NotRequired[str | None]
    """Of "end": the whole text, when the protocol repeats it; see `StreamPool.finish`."""


class Adapter[E]:
    """Makes sessions for events that `map_event` understands. Calling it gives a session of its own each time."""

    def __init__(self, map_event: Callable[[E], Sequence[Operation | Any]]) -> None:
        """Made by `define_adapter`."""
        self._map_event = map_event

    def __call__(self, **options: Unpack[SessionOptions]) -> Session:
        """Make a session for one response.

        Args:
            options: limits and modes of its calls (see `StreamPool`), and `on_diagnostic`.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        map_event = self._map_event
        return Session(lambda calls: _OperationMapper(calls, map_event), built_in=False, **options)


def define_adapter[E](map_event: Callable[[E], Sequence[Operation | Any]]) -> Adapter[E]:
    """Make a factory of sessions for a protocol of your own.

    Args:
        map_event: gives the operations of an event, in order, as a list; an empty one for events about other things.
            Called once an event. It should keep nothing between events: sessions share it.
    Raises:
        StreamError: INVALID_OPTIONS when it cannot be called, or is asynchronous.
    """
    if not callable(cast(Any, map_event)) or iscoroutinefunction(map_event):
        raise StreamError(
            "INVALID_OPTIONS",
            "map_event must be a plain function from an event to a list of operations, not an async one.",
        )
    return Adapter(map_event)


class _OperationMapper:
    adapter = "custom"
    final_text_follows = False

    def __init__(self, calls: Calls, map_event: Callable[[Any], Any]) -> None:
        self._calls = calls
        self._map_event = map_event

    def read(self, event: Any) -> None:
        operations = self._map_event(event)
        if operations.__class__ is not list:
            operations = _listed(operations)
        calls = self._calls
        for operation in operations:
            fields = operation if operation.__class__ is dict else record(operation)
            kind = fields.get("type")
            id = fields.get("id", _ABSENT)
            if id is _ABSENT:
                raise _refused("An operation has no id.", None, kind)
            if kind == "delta":
                piece = fields.get("text")
                if not isinstance(piece, str):
                    raise _refused("The text of a delta must be text.", id, kind)
                calls.delta(id, piece)
            elif kind == "start":
                name = fields.get("name")
                if name is not None and not isinstance(name, str):
                    raise _refused("The name of a start must be text.", id, kind)
                calls.start(id, name=name)
            elif kind == "end":
                final_text = first(fields, "final_text", "finalText")
                if final_text is not None and not isinstance(final_text, str):
                    raise _refused("The final text of an end must be text.", id, kind)
                calls.end(id, final_text)
            elif kind == "abort":
                calls.abort(id)
            else:
                raise _refused("An operation is none of start, delta, end and abort.", id, kind)

    def finish(self) -> None: ...

    def event_type(self, event: Any) -> str | None:
        return "operations" if isinstance(event, list | tuple) else type_of(record(event), "kind")


_ABSENT: Any = object()


def _listed(operations: Any) -> Sequence[Any]:
    if is_array(operations):
        return items(operations)
    if hasattr(operations, "close") and hasattr(operations, "send"):
        operations.close()  # a coroutine or a generator that nobody will run
    raise StreamError("INTEGRATION_ERROR", "map_event must give a list of operations.")


def _refused(message: str, id: Any, kind: Any) -> StreamError:
    return StreamError("INTEGRATION_ERROR", message, id=id, operation=kind if isinstance(kind, str) else None)
