"""Mistral: the chunks of chat completions, the events of conversations, and those in the manner of OpenAI's Responses.

Each is taken bare, as it is on the wire, and in the frame (`data`) in which the SDK gives it.
Source: https://docs.mistral.ai/api.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, record, text, type_of
from unspool.integrations.mappers.failure import failure
from unspool.integrations.mappers.openai import OpenAIMapper
from unspool.integrations.mappers.openai_chat import OpenAIChatMapper, arguments_text


class MistralMapper:
    """Calls of whichever of the three a response is made of."""

    adapter = "mistral"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._chat = OpenAIChatMapper(calls, no_ids=("", "null"))  # the SDK makes "null" of an absent id
        self._responses = OpenAIMapper(calls)
        self._ids: list[Any] = []

    def read(self, event: Record) -> None:
        """Say what an event means."""
        event = _unframed(event)
        kind = text(event.get("type"))
        if kind.startswith("response."):
            self._responses.read(event)
        elif kind == "function.call.delta":
            self._delta(event)
        elif kind == "conversation.response.done":
            for id in self._ids:
                self._calls.end(id)
            self._ids.clear()
        elif kind == "conversation.response.error":
            raise failure(event, "The conversation broke off.")
        else:
            self._chat.read(event)

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type` or the `object`."""
        return type_of(_unframed(event), "object")

    def _delta(self, event: Record) -> None:
        id = first(event, "tool_call_id", "toolCallId")
        if id not in self._ids:
            self._calls.start(id, name=event.get("name"))
            if id is None:
                return
            self._ids.append(id)
        arguments = arguments_text(event.get("arguments"))
        if arguments:
            self._calls.delta(id, arguments)


def _unframed(event: Record) -> Record:
    frame = event.get("data")
    return event if frame is None else record(frame)
