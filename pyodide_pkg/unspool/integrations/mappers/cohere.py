"""Cohere: the events of the chat stream, version 2.

Source: https://docs.cohere.com/v2/docs/streaming.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, items, key, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure

_WHOLE = ("COMPLETE", "STOP_SEQUENCE", "TOOL_CALL")


class CohereMapper:
    """Calls by their index."""

    adapter = "cohere"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._ids: dict[Any, Any] = {}

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "tool-call-delta":
                self._delta(key(event.get("index")), _arguments(_call(event)))
            case "tool-call-start":
                self._endings.settle()
                self._start(key(event.get("index")), _call(event))
            case "tool-call-end":
                index = key(event.get("index"))
                if index in self._ids:
                    self._endings.end(self._ids.pop(index))
                else:
                    self._calls.unmatched("A call ends that is not open.")
            case "message-end":
                self._end(record(event.get("delta")))
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)

    def _start(self, index: Any, call: Record) -> None:
        id = call.get("id")
        self._calls.start(id, _arguments(call) or None, name=record(call.get("function")).get("name"))
        self._ids.pop(index, None)
        if id is not None:
            self._ids[index] = id

    def _delta(self, index: Any, piece: str) -> None:
        if index in self._ids:
            self._calls.delta(self._ids[index], piece)
        else:
            self._calls.unmatched("A piece of a call is of no call that is open.")

    def _end(self, delta: Record) -> None:
        error = delta.get("error")
        reason = text(first(delta, "finish_reason", "finishReason"))
        if error or reason == "ERROR":
            raise failure(error, "The provider broke off the response.")
        if reason in _WHOLE:
            self._endings.settle()
        elif reason:
            self._endings.cut(reason)


def _call(event: Record) -> Record:
    """The one call an event is about: a record, where the name promises a list."""
    calls = first(record(record(event.get("delta")).get("message")), "tool_calls", "toolCalls")
    listed = items(calls)
    return record(listed[0] if listed else calls)


def _arguments(call: Record) -> str:
    return text(record(call.get("function")).get("arguments"))
