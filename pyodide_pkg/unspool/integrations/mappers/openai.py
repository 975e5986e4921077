"""OpenAI: the events of the Responses API.

Source: https://platform.openai.com/docs/api-reference/responses-streaming.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure


class OpenAIMapper:
    """Calls by the id of their item, not by their `call_id`: only the item's is in every event."""

    adapter = "openai"
    final_text_follows = True

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._implied: set[Any] = set()
        """Ids of calls that were begun by a piece, before their item was added."""

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "response.function_call_arguments.delta":
                # Most events are these, so no call too many.
                id, piece = event.get("item_id"), event.get("delta")
                if piece.__class__ is not str:
                    piece = text(piece)
                if self._calls.active(id):
                    self._calls.delta(id, piece)
                else:
                    self._delta(_item_id(event), piece)
            case "response.function_call_arguments.done":
                self._done(_item_id(event), text(event.get("arguments")), event.get("name"))
            case "response.output_item.added":
                self._endings.settle()
                item = record(event.get("item"))
                if item.get("type") == "function_call":
                    self._add(item.get("id"), item.get("name"))
            case "response.output_item.done":
                if record(event.get("item")).get("status") != "incomplete":
                    self._endings.settle()
            case "response.completed":
                self._endings.settle()
            case "response.failed":
                raise failure(record(event.get("response")).get("error"), "The response failed.")
            case "response.incomplete":
                details = record(event.get("response")).get("incomplete_details")
                reason = text(record(details).get("reason"))
                if reason != "steered":
                    raise failure(details, f"The response is incomplete: {reason or 'no reason was given'}.")
            case "error":
                raise failure(event.get("error") or event, "The provider broke off the response.")
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)

    def _add(self, id: Any, name: Any) -> None:
        if self._calls.active(id) and id in self._implied:
            self._calls.name(id, name)
        else:
            self._calls.start(id, name=name)

    def _delta(self, id: Any, piece: str) -> None:
        if id is not None and not self._calls.active(id):
            if self._calls.ended(id):
                self._calls.unmatched("A piece of a call comes after its end.", id)
                return
            self._implied.add(id)
            self._calls.start(id)
        self._calls.delta(id, piece)

    def _done(self, id: Any, arguments: str, name: Any) -> None:
        if id is not None and not self._calls.active(id) and not self._calls.ended(id):
            self._calls.start(id, arguments or None, name=name)
        self._calls.name(id, name)
        self._implied.discard(id)
        self._endings.end(id, arguments)


def _item_id(event: Record) -> Any:
    return first(event, "item_id", "itemId")
