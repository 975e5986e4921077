"""Calls and Mapper: what passes between a session and the mapper that knows its protocol.

In: what a mapper says of each event. Out: the updates of the tool calls. No IO, no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from unspool.errors import StreamError
from unspool.integrations.fields import text as text_of
from unspool.structured.pool import StreamPool, StreamUpdate, stream_key

MAX_REMEMBERED = 4096
"""How many ended ids a session knows. Beyond it, a late second end is diagnosed as unmatched instead of passed over."""

_GRAMMAR = frozenset(
    {
        *("UNEXPECTED_TOKEN", "MISMATCHED_CLOSING", "TRAILING_DATA", "INVALID_JSON", "DUPLICATE_KEY"),
        *("NON_FINITE_NUMBER", "INVALID_CHUNK"),
    }
)
"""Faults of a text that a final text makes up for."""


class Calls:
    """The tool calls of a session, as a mapper sees them. Each verb adds its updates to the batch of the event."""

    __slots__ = (
        "updates",
        "unmatched_events",
        "active",
        "_pool",
        "_matching",
        "_holds_faults",
        "_faults",
        "_ended",
        "_names",
    )

    def __init__(self, pool: StreamPool, *, matching: bool, holds_faults: bool) -> None:
        """Made by a session.

        Args:
            pool: where the calls are.
            matching: an id that is missing, or ended and not open, is a matter of diagnostics, not an error.
            holds_faults: see `Mapper.final_text_follows`.
        """
        self.updates: list[StreamUpdate] = []
        self.unmatched_events: list[tuple[str, Any]] = []
        self.active: Callable[[Any], bool] = pool.has
        """Whether a call is open."""
        self._pool = pool
        self._matching = matching
        self._holds_faults = holds_faults
        self._faults: dict[Any, StreamError] = {}
        self._ended: dict[Any, None] = {}
        self._names: dict[Any, str] = {}

    def start(self, id: Any, initial: str | None = None, *, name: Any = None) -> None:
        """Open a call.

        Args:
            id: of the call.
            initial: the beginning of its text, when there is some already.
            name: of its tool; what is not text, or empty, is none.
        Raises:
            StreamError: DUPLICATE_STREAM when it is open; see `StreamPool.start`.
        """
        if id is None and self._matching:
            self.unmatched("A call starts without an id.")
            return
        name = text_of(name) or None
        try:
            self.updates.append(self._pool.start(id, initial, name=name))
        except StreamError as error:
            if not self._can_hold(error):
                raise
            self.updates.append(self._pool.start(id, name=name))
            self._faults[stream_key(id, "start")] = error
        if name is not None:
            self._names[stream_key(id, "start")] = name

    def name(self, id: Any, name: Any) -> None:
        """Say the name of a call's tool, which has come after its start. The first name of a call is kept."""
        name = text_of(name)
        if (
            name
            and id is not None
            and self.active(id)
            and self._names.setdefault(stream_key(id, "start"), name) is name
        ):
            self._pool.rename(id, name)

    def delta(self, id: Any, text: str) -> StreamUpdate | None:
        """Add a piece to the text of an open call; gives the update it makes.

        Raises:
            StreamError: UNKNOWN_STREAM when it is not open; see `StreamPool.push`.
        """
        if id is None and self._matching:
            self.unmatched("A piece of a call has no id.")
            return None
        if self._faults and stream_key(id, "push") in self._faults:
            return None
        try:
            update = self._pool.push(id, text)
        except StreamError as error:
            if not self._can_hold(error):
                raise
            key = stream_key(id, "push")
            self._pool.start(id, name=self._names.get(key))
            self._faults[key] = error
            return None
        self.updates.append(update)
        return update

    def end(self, id: Any, final_text: str | None = None) -> None:
        """End an open call. Without any text its value is `{}`: that is how a tool without parameters is called.

        Args:
            id: of the call.
            final_text: the whole text, when the protocol repeats it; see `StreamPool.finish`. A blank one is none.
        Raises:
            StreamError: the fault of the text.
        """
        if self._matching and (id is None or not self._pool.has(id)):
            if id is None or not self.ended(id):
                self.unmatched("A call ends that is not open.", id)
            return
        if final_text is not None and not final_text.strip():
            final_text = None
        key = stream_key(id, "finish")
        name = self._names.pop(key, None)
        fault = self._faults.pop(key, None)
        if fault is not None and final_text is None:
            self._pool.abort(id)
            raise fault
        try:
            completion = self._pool.finish(id, final_text)
        except StreamError as error:
            if error.code != "EMPTY_INPUT":
                raise
            self._pool.start(id, name=name)
            completion = self._pool.finish(id, "{}")
        self._ended.pop(key, None)
        self._ended[key] = None
        if len(self._ended) > MAX_REMEMBERED:
            del self._ended[next(iter(self._ended))]
        self.updates.append(completion)

    def abort(self, id: Any) -> None:
        """Drop a call without an update; one that is not open is passed over."""
        key = stream_key(id, "abort")
        self._names.pop(key, None)
        self._faults.pop(key, None)
        self._pool.abort(id)

    def ended(self, id: Any) -> bool:
        """Whether a call of this id has ended, whether or not another is open now."""
        return stream_key(id, "finish") in self._ended

    def text(self, id: Any) -> str | None:
        """The text of an open call so far; None when it is not open, or its text is at fault and that is held back."""
        if id is None or not self._pool.has(id) or (self._faults and stream_key(id, "text") in self._faults):
            return None
        return self._pool.text(id)

    @property
    def active_ids(self) -> list[Any]:
        """The ids of the open calls in the order of their starts."""
        return self._pool.active_ids

    def unmatched(self, message: str, id: Any = None) -> None:
        """Diagnose an event about a call that is not known. The message holds no text of the event."""
        self.unmatched_events.append((message, id))

    def drop(self) -> None:
        """Drop every call, and what the batch has so far."""
        for id in self._pool.active_ids:
            self._pool.abort(id)
        self._names.clear()
        self._faults.clear()
        self.updates = []

    def _can_hold(self, error: StreamError) -> bool:
        return self._holds_faults and error.code in _GRAMMAR


class Mapper(Protocol):
    """What the events of one protocol mean. A mapper serves one session, so it may remember which call is which.

    It is made with the `Calls` of its session and tells them what each event does. Fields are read with the functions
    of `fields`, so that dicts, SDK objects and JavaScript objects look alike; `event` is a record already::

        class AnthropicMapper:
            adapter = "anthropic"
            final_text_follows = False

            def __init__(self, calls: Calls) -> None:
                self._calls = calls
                self._ids: dict[Any, Any] = {}  # the index of a block → the id of its call

            def read(self, event: Record) -> None:
                index = event.get("index")
                match event.get("type"):
                    case "content_block_delta" if index in self._ids:
                        delta = record(event.get("delta"))
                        if delta.get("type") == "input_json_delta":
                            self._calls.delta(self._ids[index], text(delta.get("partial_json")))
                    case "content_block_start":
                        block = record(event.get("content_block"))
                        if block.get("type") == "tool_use":
                            self._ids[index] = block.get("id")
                            self._calls.start(block.get("id"), name=block.get("name"))
                    case "content_block_stop" if index in self._ids:
                        self._calls.end(self._ids.pop(index))
                    case "error":
                        raise StreamError("INTEGRATION_ERROR", text(record(event.get("error")).get("message")))
                    case _:
                        pass

            def finish(self) -> None:
                pass

            def event_type(self, event: Record) -> str | None:
                return type_of(event)

    Whatever it raises ends the session, and the error is kept as it is. The updates of an event that fails are not
    given. A call that was cut (by a token limit, by an error) must not be ended: raise, or abort it. Without any text
    an ended call is `{}`.
    """

    @property
    def adapter(self) -> str:
        """Name of the integration, for errors and diagnostics."""
        ...

    @property
    def final_text_follows(self) -> bool:
        """Whether the protocol repeats the whole text at the end of each call; an attribute of the class.

        A fault in the pieces is then held back until there: a final text makes up for it, and without one the fault is
        raised.
        """
        ...

    def read(self, event: Any, /) -> None:
        """Say what an event means. Events about other things are passed over."""
        ...

    def finish(self) -> None:
        """Say what the end of the events means. Calls still open after it are ended in the order of their starts."""
        ...

    def event_type(self, event: Any, /) -> str | None:
        """Give the name of an event, for errors and diagnostics."""
        ...
