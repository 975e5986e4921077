"""Bedrock: the events of ConverseStream, as boto3 and the AWS SDK for JavaScript give them.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, key, record, text
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure

_FAULTS = (
    "internalServerException",
    "modelStreamErrorException",
    "validationException",
    "throttlingException",
    "serviceUnavailableException",
)
_MEMBERS = ("contentBlockDelta", "contentBlockStart", "contentBlockStop", "messageStop", *_FAULTS)
_WHOLE = ("end_turn", "tool_use", "stop_sequence")


class BedrockMapper:
    """Calls by the index of their block. An event has one member, which says what it is."""

    adapter = "bedrock"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._ids: dict[Any, Any] = {}

    def read(self, event: Record) -> None:
        """Say what an event means."""
        name = self.event_type(event)
        if name is None:
            return
        member = record(event.get(name))
        index = key(member.get("contentBlockIndex"))
        match name:
            case "contentBlockDelta":
                tool = record(member.get("delta")).get("toolUse")
                if tool is not None:
                    self._delta(index, text(record(tool).get("input")))
            case "contentBlockStart":
                self._endings.settle()
                tool = record(member.get("start")).get("toolUse")
                if tool is not None:
                    self._start(index, record(tool))
            case "contentBlockStop":
                if index in self._ids:
                    self._endings.end(self._ids.pop(index))
            case "messageStop":
                reason = text(member.get("stopReason"))
                if reason in _WHOLE:
                    self._endings.settle()
                else:
                    self._endings.cut(reason)
            case _:
                raise failure(member, f"The provider broke off the response ({name}).")

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the member."""
        return next((name for name in _MEMBERS if event.get(name) is not None), None)

    def _start(self, index: Any, tool: Record) -> None:
        id = tool.get("toolUseId")
        self._calls.start(id, name=tool.get("name"))
        self._ids.pop(index, None)
        if id is not None:
            self._ids[index] = id

    def _delta(self, index: Any, piece: str) -> None:
        if index in self._ids:
            self._calls.delta(self._ids[index], piece)
        else:
            self._calls.unmatched("A piece of a call is of no block that is open.")
