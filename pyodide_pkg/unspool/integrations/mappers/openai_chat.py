"""OpenAI chat completions, and the many servers that imitate them.

Source: https://platform.openai.com/docs/api-reference/chat-streaming.
"""

from __future__ import annotations

from typing import Any

from unspool.errors import StreamError
from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, items, json_text, key, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure
from unspool.integrations.mappers.numbered import NumberedCalls

_CUTS = ("length", "max_tokens", "model_length", "content_filter", "safety", "sensitive")
_FAULTS = ("error", "abort", "network_error", "insufficient_system_resource")


class OpenAIChatMapper:
    """Calls by their index; see `NumberedCalls`.

    Nothing says that a call is over, and some servers send more of it after the finish reason: it ends with the events.
    """

    adapter = "openai-chat"
    final_text_follows = False

    def __init__(self, calls: Calls, *, no_ids: tuple[str, ...] = ("",)) -> None:
        """
        Args:
            calls: of the session.
            no_ids: what stands for an id that is absent.
        """
        self._calls = calls
        self._endings = Endings(calls)
        self._no_ids = no_ids
        self._choices: dict[Any, NumberedCalls] = {}
        self._streamed = False

    def read(self, event: Any) -> None:
        """Say what an event means."""
        # Almost all events hold nothing but the next piece of one call, in the usual form. What this leaves out is
        # looked at in full.
        if self._choices and event.__class__ is dict:
            try:
                [choice] = event["choices"]
                [piece] = choice["delta"]["tool_calls"]
                calls = self._choices[choice["index"]]
                index, function = piece["index"], piece["function"]
                arguments = function["arguments"]
            except (KeyError, TypeError, ValueError):
                return self._read(event)
            if (
                len(piece) == 2
                and len(function) == 1
                and index.__class__ is int
                and arguments.__class__ is str
                and choice.get("finish_reason") is None
                and "finishReason" not in choice
                and "error" not in event
                and calls.go_on(index, arguments)
            ):
                self._streamed = True
                return None
        return self._read(event)

    def _read(self, event: Record) -> None:
        choices = event.get("choices")
        error = event.get("error")
        if error:
            raise failure(error, "The provider broke off the response.")
        if choices is None and "error" in (event.get("object"), event.get("type")):
            raise failure(event, "The provider broke off the response.")
        for position, choice in enumerate(items(choices)):
            self._choice(record(choice), position)

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type` or the `object`."""
        return type_of(event, "object")

    def _choice(self, choice: Record, position: int) -> None:
        index = choice.get("index")
        if index.__class__ is not int:
            index = position if key(index) is None else index
        calls = self._choices.get(index) or NumberedCalls(self._calls, ids_always_come=False)
        delta = choice.get("delta")
        if delta is not None:
            self._streamed = True
        elif not self._streamed:
            delta = choice.get("message")  # a whole completion; beside deltas it is a copy of them
        fields = record(delta)
        pieces = fields.get("tool_calls") or fields.get("toolCalls")
        for piece in items(pieces):
            self._piece(record(piece), calls)
        if pieces is None and (single := first(fields, "function_call", "functionCall")) is not None:
            self._piece({"index": 0, "function": single}, calls)  # the older form: one call without an id
        if calls.ids:
            self._choices[index] = calls
        reason = choice.get("finish_reason") or choice.get("finishReason")
        if reason:
            self._end(text(reason).lower(), calls)

    def _end(self, reason: str, calls: NumberedCalls) -> None:
        if reason in _FAULTS:
            raise failure(None, f"The provider broke off the response ({reason}).")
        if reason in _CUTS:
            self._endings.cut(reason, calls.ids)

    def _piece(self, piece: Record, calls: NumberedCalls) -> None:
        function = record(piece.get("function"))
        index, id = piece.get("index"), piece.get("id")
        name, arguments = function.get("name"), function.get("arguments")
        calls.feed(
            index if isinstance(index, int) else None,
            None if id is None or id in self._no_ids else text(id) or None,
            None if name is None else text(name) or None,
            arguments if arguments.__class__ is str else arguments_text(arguments),
        )


def arguments_text(arguments: Any) -> str:
    """Give arguments as JSON text; some servers send them decoded.

    Raises:
        StreamError: INTEGRATION_ERROR when they are neither text nor an object.
    """
    if arguments is None or isinstance(arguments, str):
        return text(arguments)
    if isinstance(arguments, int | float):
        raise StreamError("INTEGRATION_ERROR", "The arguments of a call are neither text nor an object.")
    return json_text(arguments)
