"""Gemini: the events of the Interactions API, and the chunks of generateContent.

Source: https://ai.google.dev/api/interactions-api and https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, items, json_text, key, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure
from unspool.structured.partial_arguments import PartialArguments

_CUT_STATUSES = ("failed", "cancelled", "incomplete", "budget_exceeded")
_WRONG_CALLS = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
)


class GeminiMapper:
    """Calls by the index of their step; or each in a part of its own, whole or in parts that follow each other."""

    adapter = "gemini"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._steps: dict[Any, Any] = {}
        self._open: dict[Any, _Partial] = {}
        """The index of a candidate → the call that its next part goes on with."""
        self._count = 0

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("event_type"):
            case "step.delta":
                self._delta(key(event.get("index")), record(event.get("delta")))
            case "step.start":
                step = record(event.get("step"))
                if step.get("type") == "function_call":
                    self._start(key(event.get("index")), step)
            case "interaction.completed" | "interaction.complete":
                self._complete(text(record(event.get("interaction")).get("status")))
            case "error":
                raise failure(event.get("error"), "The interaction broke off.")
            case None:
                self._read_chunk(event)
            case _:
                pass

    def finish(self) -> None:
        """A call that was to go on is cut."""
        self._endings.cut("the events are over", [call.id for call in self._open.values()])

    def event_type(self, event: Record) -> str | None:
        """Give the `event_type`; chunks of generateContent have none."""
        return type_of(event)

    def _start(self, index: Any, step: Record) -> None:
        id = step.get("id")
        arguments = step.get("arguments")
        initial = text(arguments)
        if arguments is not None and not isinstance(arguments, str):
            initial = json_text(arguments)
        if initial == "{}":  # a placeholder
            initial = ""
        self._calls.start(id, initial or None, name=step.get("name"))
        self._steps.pop(index, None)
        if id is not None:
            self._steps[index] = id

    def _delta(self, index: Any, delta: Record) -> None:
        match delta.get("type"):
            case "arguments_delta":
                piece = delta.get("arguments")
            case "arguments":
                piece = delta.get("partial_arguments")
            case _:
                return
        if index in self._steps:
            self._calls.delta(self._steps[index], text(piece))
        else:
            self._calls.unmatched("A piece of a call is of no step that is open.")

    def _complete(self, status: str) -> None:
        ids = list(self._steps.values())
        self._steps.clear()
        if status in _CUT_STATUSES:
            self._endings.cut(status, ids)
        for id in ids:
            self._calls.end(id)

    def _read_chunk(self, chunk: Record) -> None:
        if chunk.get("error"):
            raise failure(chunk.get("error"), "The provider broke off the response.")
        feedback = record(first(chunk, "promptFeedback", "prompt_feedback"))
        blocked = text(first(feedback, "blockReason", "block_reason"))
        if blocked:
            raise failure(feedback, f"The prompt was blocked: {blocked}.")
        for position, item in enumerate(items(chunk.get("candidates"))):
            candidate = record(item)
            index = key(candidate.get("index"))
            self._read_candidate(candidate, position if index is None else index)

    def _read_candidate(self, candidate: Record, index: Any) -> None:
        for part in items(record(candidate.get("content")).get("parts")):
            call = first(record(part), "functionCall", "function_call")
            if call is not None:
                self._call(record(call), index)
        reason = text(first(candidate, "finishReason", "finish_reason"))
        if reason in _WRONG_CALLS:
            said = text(first(candidate, "finishMessage", "finish_message"))
            raise failure({"reason": reason, "message": said}, f"The model's call of a tool failed: {reason}.")
        if reason not in ("", "STOP") and index in self._open:
            self._endings.cut(reason, [self._open[index].id])

    def _call(self, call: Record, index: Any) -> None:
        id, name = text(call.get("id")), text(call.get("name"))
        goes_on = bool(first(call, "willContinue", "will_continue"))
        parts = items(first(call, "partialArgs", "partial_args"))
        whole = "" if call.get("args") is None else json_text(call.get("args"))
        open_ = self._open.get(index)
        if open_ is not None and open_.is_over(id, name, bare=not parts and goes_on):
            self._end(index)
            open_ = None
        if open_ is None:
            if not (id or name or parts or whole or goes_on):
                self._calls.unmatched("A call goes on that is not open.")
                return
            open_ = _Partial(self._fresh(id), id, name)
            if not (parts or goes_on):
                self._calls.start(open_.id, whole or None, name=name)
                self._calls.end(open_.id)
                return
            self._calls.start(open_.id, name=name)
            self._open[index] = open_
        piece = open_.arguments.write_members(whole) if goes_on and whole else ""
        piece += "".join(_written(open_.arguments, record(part)) for part in parts)
        if piece:
            self._calls.delta(open_.id, piece)
        if not goes_on:
            self._end(index, None if whole == "{}" else whole)

    def _end(self, index: Any, whole: str | None = None) -> None:
        open_ = self._open.pop(index)
        if not whole:
            self._calls.delta(open_.id, open_.arguments.finish())
        self._calls.end(open_.id, whole)

    def _fresh(self, id: str) -> str:
        """Give each call an id of its own: most responses have none, and some servers use the tool's name."""
        number = self._count
        self._count += 1
        while not id or self._calls.active(id) or self._calls.ended(id):
            id = f"call_{number}"
            number += 1
        return id


class _Partial:
    """A call whose arguments come in parts."""

    __slots__ = ("id", "arguments", "_wire_id", "_name")

    def __init__(self, id: str, wire_id: str, name: str) -> None:
        self.id = id
        self.arguments = PartialArguments()
        self._wire_id = wire_id
        self._name = name

    def is_over(self, id: str, name: str, *, bare: bool) -> bool:
        """Whether a part begins another call.

        Args:
            id: of the part; mostly it has none.
            name: of the part. One that goes on may repeat it.
            bare: it brings no arguments, as the first part of a call does.
        """
        if id and self._wire_id:
            return id != self._wire_id
        return bool(name) and (bare or name != self._name)


def _written(arguments: PartialArguments, entry: Record) -> str:
    """Take one entry of `partialArgs`; give the text that it adds."""
    path = text(first(entry, "jsonPath", "json_path"))
    goes_on = bool(first(entry, "willContinue", "will_continue"))
    value = first(entry, "stringValue", "string_value")
    if isinstance(value, str):
        return arguments.push(path, text(value), goes_on=goes_on)
    value = first(entry, "numberValue", "number_value", "boolValue", "bool_value")
    return arguments.push(path, value if isinstance(value, int | float) else None, goes_on=goes_on)
