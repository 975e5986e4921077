"""assistant-ui: the chunks of `assistant-stream`.

Source: https://github.com/assistant-ui/assistant-ui, packages/assistant-stream/src/core/AssistantStreamChunk.ts.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, items, key, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure

_CUTS = ("length", "content-filter", "error")


class AssistantUiMapper:
    """Calls by the path of their part.

    The library itself starts a part with the path of what the part is in, and numbers the parts there as they come;
    elsewhere the start has the path of the part.
    """

    adapter = "assistant-ui"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._ids: dict[tuple[Any, ...], Any] = {}
        self._parts: dict[tuple[Any, ...] | None, int] = {}
        """The path of what holds parts → how many have started there."""

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "text-delta":
                path = _path(event)
                if path in self._ids:
                    self._calls.delta(self._ids[path], text(first(event, "textDelta", "text_delta")))
            case "part-start":
                self._endings.settle()
                part = record(event.get("part"))
                path = self._part_path(_path(event))
                if part.get("type") == "tool-call":
                    self._start(path, part)
            case "tool-call-args-text-finish":
                path = _path(event)
                if path in self._ids:
                    self._endings.end(self._ids.pop(path))
                else:
                    self._calls.unmatched("A call ends that is not open.")
            case "step-finish" | "message-finish":
                reason = text(first(event, "finishReason", "finish_reason"))
                if reason in _CUTS:
                    self._endings.cut(reason)
                else:
                    self._endings.settle()
            case "error":
                raise failure(event.get("error"), "The response failed.")
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)

    def _part_path(self, path: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if path is None or (path and () not in self._parts):  # what the message holds starts first
            return path
        number = self._parts.get(path, 0)
        self._parts[path] = number + 1
        return (*path, number)

    def _start(self, path: tuple[Any, ...] | None, part: Record) -> None:
        id = first(part, "toolCallId", "tool_call_id")
        if path is None:
            self._calls.unmatched("A call starts without a path.", id)
            return
        self._calls.start(id, name=first(part, "toolName", "tool_name"))
        self._ids.pop(path, None)
        if id is not None:
            self._ids[path] = id


def _path(event: Record) -> tuple[Any, ...] | None:
    path = event.get("path")
    return None if path is None else tuple(key(step) for step in items(path))
