"""Session: the tool calls of one response, out of decoded events.

In: events, one at a time. Out: the updates of the calls they are about, in order. A mapper knows one protocol and says
what an event means; the session keeps the calls, and a failure ends them all at once. No IO, no clock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, NoReturn, Protocol, Self, TypedDict, Unpack

from unspool.errors import StreamError, UnspoolError
from unspool.integrations.calls import Calls, Mapper
from unspool.integrations.fields import record
from unspool.structured.json_stream import Scalars
from unspool.structured.pool import StreamPool, StreamUpdate
from unspool.structured.strict_json import DuplicateKeys
from unspool.structured.tree import Snapshots


class StreamLimits(TypedDict, total=False):
    """Limits and modes of a session's calls; see `StreamPool`."""

    max_active_streams: int | None
    max_bytes: int | None
    max_depth: int | None
    snapshots: Snapshots
    duplicate_keys: DuplicateKeys
    scalars: Scalars


class SessionOptions(StreamLimits, total=False):
    """What a session may be told."""

    on_diagnostic: Callable[[Diagnostic], object] | None
    """Called with each `Diagnostic`. What it raises is ignored."""


class Diagnostic:
    """A hint for whoever debugs a stream. It holds no event and no argument text, but ids and error messages."""

    __slots__ = ("code", "message", "adapter", "event_type", "id", "error")

    def __init__(
        self,
        code: Literal["NO_TOOL_EVENTS", "UNMATCHED_TOOL_EVENT", "STREAM_ERROR"],
        message: str,
        adapter: str,
        *,
        event_type: str | None = None,
        id: object = None,
        error: BaseException | None = None,
    ) -> None:
        """Made by a session."""
        self.code = code
        """NO_TOOL_EVENTS: the events ended without any call, which is right for an answer of text alone.
        UNMATCHED_TOOL_EVENT: an event about a call that is not known. STREAM_ERROR: the session has failed."""
        self.message = message
        self.adapter = adapter
        """Name of the integration; "custom" for adapters made by `define_adapter`."""
        self.event_type = event_type
        self.id = id
        self.error = error
        """The error itself, of STREAM_ERROR."""

    def to_wire(self) -> dict[str, object]:
        """Give the diagnostic as JSON-safe data, without a foreign error."""
        wire: dict[str, object] = {"code": self.code, "message": self.message, "adapter": self.adapter}
        if self.event_type is not None:
            wire["eventType"] = self.event_type
        if self.id is not None:
            wire["id"] = self.id
        if isinstance(self.error, UnspoolError):
            wire["error"] = self.error.to_wire()
        return wire

    def __repr__(self) -> str:
        return f"Diagnostic({self.code!r}, {self.message!r}, {self.adapter!r})"


class Session:
    """The tool calls of one response. Push every event, then finish; close it when done, however it ended.

    A failure of the mapper, of a call's text or of a limit ends the session: all its calls are dropped, the updates of
    that event are not given, and every later `push_all` and `finish` raises the same error.
    """

    def __init__(
        self,
        mapper: Callable[[Calls], Mapper],
        *,
        built_in: bool,
        on_diagnostic: Callable[[Diagnostic], object] | None = None,
        **limits: Unpack[StreamLimits],
    ) -> None:
        """Made by an integration, or by an adapter of `define_adapter`."""
        strays = sorted(set(limits) - StreamLimits.__optional_keys__)
        if strays:
            there_are = ", ".join(sorted(SessionOptions.__optional_keys__))
            raise StreamError("INVALID_OPTIONS", f"There is no option {strays[0]!r}; there are {there_are}.")
        self.pool = StreamPool(**limits)
        """The open calls, to be looked at: `active_ids`, `field_state`."""
        self._built_in = built_in
        self._on_diagnostic = on_diagnostic
        holds_faults = getattr(mapper, "final_text_follows", False)
        self._calls = Calls(self.pool, matching=built_in, holds_faults=holds_faults)
        self._mapper = mapper(self._calls)
        self._read = self._mapper.read
        self._stage: Literal["open", "finished", "failed", "closed"] = "open"
        self._failure: Exception | None = None
        self._in_vain = False
        self._shown = False

    def push_all(self, event: Any) -> list[StreamUpdate]:
        """Read the next event.

        Args:
            event: one decoded event, as the SDK or the protocol gives it.
        Returns:
            Every update it caused, in order; empty for events about other things.
        Raises:
            StreamError: the fault of a call's text or of the event, with `id`, `adapter` and `event_type` where known;
                INTEGRATION_ERROR after `finish`; STREAM_DISPOSED after `close`.
            Exception: the mapper's own, as it is, with `code` INTEGRATION_ERROR where it has none.
        After an error:
            Dead; later calls raise the same error.
        """
        if self._stage != "open":
            self._refuse()
        calls = self._calls
        updates: list[StreamUpdate] = []
        calls.updates = updates
        try:
            self._read(event if event.__class__ is dict or not self._built_in else record(event))
        except Exception as error:
            self._fail(error, event)
            raise
        except BaseException:
            self.close()
            raise
        if calls.unmatched_events:
            self._report_unmatched(event)
        if self._stage != "open":  # the mapper itself has stopped the reading
            calls.drop()
            self._refuse()
        if updates:
            self._shown = True
        else:
            self._in_vain = True
        return updates

    def finish(self) -> list[StreamUpdate]:
        """Say that the events are over: the calls still open are ended, in the order of their starts.

        Returns:
            Their completions, and not those of calls that ended before; empty when it is called again.
        Raises:
            StreamError: as `push_all`; INCOMPLETE_JSON when a call was cut.
        After an error:
            Dead; later calls raise the same error.
        """
        if self._stage == "finished":
            return []
        if self._stage != "open":
            self._refuse()
        calls = self._calls
        updates: list[StreamUpdate] = []
        calls.updates = updates
        try:
            self._mapper.finish()
            for id in calls.active_ids:
                calls.end(id)
        except Exception as error:
            self._fail(error, None)
            raise
        except BaseException:
            self.close()
            raise
        self._stage = "finished"
        if calls.unmatched_events:
            self._report_unmatched(None)
        if self._in_vain and not self._shown and not updates:
            self._report("NO_TOOL_EVENTS", "The events are over, and no tool call was among them.")
        return updates

    def close(self) -> None:
        """Drop the calls that are open, whatever their text. Idempotent."""
        if self._stage != "failed":
            self._stage = "closed"
        self._calls.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _refuse(self) -> NoReturn:
        if self._failure is not None:
            raise self._failure
        adapter = self._mapper.adapter
        if self._stage == "closed":
            raise StreamError("STREAM_DISPOSED", "The session was closed.", adapter=adapter)
        raise StreamError("INTEGRATION_ERROR", "The session is finished.", adapter=adapter)

    def _fail(self, error: Exception, event: Any) -> None:
        self._stage = "failed"
        self._failure = error
        self._calls.drop()
        event_type = self._event_type(event)
        known = {"code": "INTEGRATION_ERROR", "adapter": self._mapper.adapter, "event_type": event_type}
        for name, value in known.items():
            with contextlib.suppress(Exception):  # an error that takes no attribute is raised as it is
                if getattr(error, name, None) is None:
                    setattr(error, name, value)
        self._report_unmatched(event)
        # What a foreign error says may quote the event.
        said = error.message if isinstance(error, UnspoolError) else f"The mapper failed with {type(error).__name__}."
        self._report("STREAM_ERROR", said, event_type=event_type, id=getattr(error, "id", None), error=error)

    def _event_type(self, event: Any) -> str | None:
        if event is None:
            return None
        with contextlib.suppress(Exception):  # it is on the way to an error already
            return self._mapper.event_type(record(event) if self._built_in else event)
        return None

    def _report_unmatched(self, event: Any) -> None:
        events, self._calls.unmatched_events = self._calls.unmatched_events, []
        for message, id in events:
            self._report("UNMATCHED_TOOL_EVENT", message, event_type=self._event_type(event), id=id)

    def _report(
        self,
        code: Literal["NO_TOOL_EVENTS", "UNMATCHED_TOOL_EVENT", "STREAM_ERROR"],
        message: str,
        *,
        event_type: str | None = None,
        id: Any = None,
        error: Exception | None = None,
    ) -> None:
        if self._on_diagnostic is not None:
            diagnostic = Diagnostic(code, message, self._mapper.adapter, event_type=event_type, id=id, error=error)
            with contextlib.suppress(Exception):  # someone else's logging
                self._on_diagnostic(diagnostic)


class SessionFactory(Protocol):
    """What makes a fresh session for each response: a built-in integration, or what `define_adapter` gives."""

    def __call__(self, **options: Unpack[SessionOptions]) -> Session: ...
