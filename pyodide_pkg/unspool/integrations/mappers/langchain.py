"""LangChain: message chunks, as `astream` gives them and as LangGraph streams them.

Source: https://docs.langchain.com/oss/python/langchain/streaming.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, first, is_array, items, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.numbered import NumberedCalls

_CUTS = ("length", "max_tokens", "model_length", "content_filter", "safety")


class LangChainMapper:
    """Calls by their index; see `NumberedCalls`. Nothing says that a call is over, so calls end with the events.

    An event is a message chunk, bare or as it comes wrapped: in the pair of chunk and metadata of LangGraph, with or
    without its mode and the path of graphs; in an event of `astream_events`; in what LangChain writes down (`kwargs`).
    """

    adapter = "langchain"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._endings = Endings(calls)
        self._numbered = NumberedCalls(calls, ids_always_come=True)
        self._messages: dict[Any, list[str]] = {}
        """The id of a message → the ids of its calls."""

    def read(self, event: Record) -> None:
        """Say what an event means."""
        message = _message(event)
        begun = len(self._numbered.ids)
        for piece in items(message.get("tool_call_chunks")):
            fields = record(piece)
            index = fields.get("index")
            self._numbered.feed(
                index if isinstance(index, int) else None,
                text(fields.get("id")) or None,
                text(fields.get("name")) or None,
                text(fields.get("args")),
            )
        about = record(message.get("response_metadata"))
        reason = text(first(about, "finish_reason", "stop_reason", "stopReason", "done_reason"))
        id = text(message.get("id"))
        if len(self._numbered.ids) > begun:
            self._messages.setdefault(id, []).extend(self._numbered.ids[begun:])
        if reason.lower() in _CUTS:
            self._endings.cut(reason, self._messages.get(id, ()))

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the name of the field that counts, or the `type`."""
        message = _message(event)
        return type_of(message) if message.get("tool_call_chunks") is None else "tool_call_chunks"


def _message(event: Record) -> Record:
    for _ in range(4):
        if parts := [part for part in items(event) if not _is_name(part)]:
            event = record(parts[0])
        elif event.get("tool_call_chunks") is None and (inner := first(event, "kwargs", "data", "chunk")) is not None:
            name = text(event.get("event"))
            if name.startswith("on_") and name != "on_chat_model_stream":
                break  # what runs around a model streams the model's chunks once more
            event = record(inner)
        else:
            break
    return event


def _is_name(part: Any) -> bool:
    """Whether it says where a message comes from: a mode, or a path of graphs."""
    return part is None or isinstance(part, str) or (is_array(part) and all(isinstance(s, str) for s in items(part)))
