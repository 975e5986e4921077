"""AG-UI: events of `ag_ui.core`, of `@ag-ui/core`, or decoded from the wire.

Source: https://docs.ag-ui.com/concepts/events.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, text, type_of
from unspool.integrations.mappers.failure import failure


class AgUiMapper:
    """Calls by their id, one event for each step."""

    adapter = "ag-ui"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "TOOL_CALL_ARGS":
                self._calls.delta(_id(event), text(event.get("delta")))
            case "TOOL_CALL_START":
                self._calls.start(_id(event), name=first(event, "toolCallName", "tool_call_name"))
            case "TOOL_CALL_END":
                self._calls.end(_id(event))
            case "RUN_ERROR":
                raise failure(event, "The run failed.")
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)


def _id(event: Record) -> Any:
    return first(event, "toolCallId", "tool_call_id")
