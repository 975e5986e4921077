"""Anthropic: the raw events of messages and beta messages.

Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from __future__ import annotations

from typing import Any

from unspool.integrations.calls import Calls
from unspool.integrations.fields import Record, json_text, key, record, text, type_of
from unspool.integrations.mappers.endings import Endings
from unspool.integrations.mappers.failure import failure

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_CUTS = ("max_tokens", "model_context_window_exceeded", "refusal")


class AnthropicMapper:
    """Calls by the index of their block."""

    adapter = "anthropic"
    final_text_follows = False

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._endings = Endings(calls)
        self._blocks: dict[Any, tuple[Any, Any]] = {}
        """The index of a block → the id of its call, and the input its start brought."""

    def read(self, event: Record) -> None:
        """Say what an event means."""
        match event.get("type"):
            case "content_block_delta":
                delta = record(event.get("delta"))
                if delta.get("type") == "input_json_delta":
                    self._delta(event.get("index"), text(delta.get("partial_json")))
            case "content_block_start":
                self._endings.settle()
                block = record(event.get("content_block"))
                if block.get("type") in _CALLS:
                    self._start(key(event.get("index")), block)
            case "content_block_stop":
                started = self._blocks.pop(key(event.get("index")), None)
                if started is not None:
                    self._stop(*started)
            case "message_delta":
                reason = text(record(event.get("delta")).get("stop_reason"))
                if reason in _CUTS:
                    self._endings.cut(reason)
                elif reason:
                    self._endings.settle()
            case "message_stop":
                self._endings.settle()
            case "error":
                raise failure(event.get("error"), "The provider broke off the response.")
            case _:
                pass

    def finish(self) -> None:
        """Nothing of its own."""

    def event_type(self, event: Record) -> str | None:
        """Give the `type`."""
        return type_of(event)

    def _start(self, index: Any, block: Record) -> None:
        id = block.get("id")
        self._calls.start(id, name=block.get("name"))
        if id is None:
            self._blocks.pop(index, None)
        else:
            self._blocks[index] = (id, block.get("input"))

    def _delta(self, index: Any, piece: str) -> None:
        block = self._blocks.get(key(index))
        if block is None:
            self._calls.unmatched("A piece of a call is of no block that is open.")
        else:
            self._calls.delta(block[0], piece)

    def _stop(self, id: Any, input: Any) -> None:
        """End a call. Servers that imitate the protocol give its input with the start; else that is a placeholder."""
        if input is None or (self._calls.text(id) or "").strip():
            self._endings.end(id)
            return
        whole = json_text(input)
        self._endings.end(id, whole if whole.startswith("{") and whole != "{}" else None)
