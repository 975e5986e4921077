"""Vercel AI: the parts of `fullStream`, and the chunks of a UI message stream.

Source: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol and the types `TextStreamPart` and `UIMessageChunk` of `ai`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from unspool.errors import StreamError
from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, json_text, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure
from unspool.structured import strict_json

_CUTS = ("length", "content-filter", "error")


class VercelAiMapper:
    """Calls by their id.

    In a step, the end of a call's pieces is not its end: its final input follows, which may differ from them.
    """

    adapter = "vercel-ai"
    final_text_follows = True

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._in_step = False

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "tool-input-delta":
                self._calls.delta(_id(event), text(first(event, "delta", "inputTextDelta", "input_text_delta")))
            case "tool-input-start":
                self._endings.settle()
                self._calls.start(_id(event), name=_name(event))
            case "tool-input-end":
                self._stop(_id(event))
            case "tool-call" | "tool-input-available":
                if event.get("invalid") is True:
                    raise failure(event.get("error"), "The model called a tool in a way that is not valid.")
                self._input(_id(event), event.get("input"), _name(event))
            case "start-step":
                self._endings.settle()
                self._in_step = True
            case "finish-step":
                self._in_step = False
                self._finish_step(text(first(event, "finishReason", "finish_reason")))
            case "finish":
                reason = text(first(event, "finishReason", "finish_reason"))
                if reason in _CUTS:
                    self._endings.cut(reason)
                self._endings.settle()
            case "error" | "tool-input-error":
                said = first(event, "error", "errorText", "error_text")
                raise failure(said, "The response failed.")
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)

    def _stop(self, id: Any) -> None:
        if not self._in_step:
            self._endings.end(id)
        elif id is None or not (self._calls.active(id) or self._calls.ended(id)):
            self._calls.unmatched("A call ends that is not open.", id)

    def _input(self, id: Any, input: Any, name: Any) -> None:
        final_text = None if input is None else json_text(input)
        if id is not None and not self._calls.active(id) and not self._calls.ended(id):
            self._calls.start(id, final_text, name=name)
        elif final_text is not None and _says(self._calls.text(id), final_text):
            final_text = None
        self._calls.name(id, name)
        self._calls.end(id, final_text)

    def _finish_step(self, reason: str) -> None:
        if reason in _CUTS:
            self._endings.cut(reason)
        for id in self._calls.active_ids:
            self._endings.end(id)
        if reason:  # a UI message stream gives it only at its end
            self._endings.settle()


def _id(event: Record) -> Any:
    return first(event, "id", "toolCallId", "tool_call_id")


def _name(event: Record) -> Any:
    return first(event, "toolName", "tool_name")


def _says(streamed: str | None, final_text: str) -> bool:
    """Whether the streamed text is the same input as the final one, if perhaps written differently."""
    if streamed is None:
        return False
    try:
        one, other = (strict_json.loads(part, duplicate_keys="last") for part in (streamed, final_text))
    except StreamError:
        return False
    return _is_same(one, other)


def _is_same(one: Any, other: Any) -> bool:
    """Compare JSON values; to Python, True is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        mine, theirs = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        return mine.keys() == theirs.keys() and all(_is_same(mine[name], theirs[name]) for name in mine)
    if isinstance(one, list) and isinstance(other, list):
        ours, others = cast("Sequence[Any]", one), cast("Sequence[Any]", other)
        return len(ours) == len(others) and all(map(_is_same, ours, others))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
