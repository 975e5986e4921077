"""Conversation of ours → `messages` of chat completions. Pure.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspool.messages import (
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from unspool.providers.conversation import (
    arguments_text,
    misplaced,
    own_replay,
    result_text,
    url_piece,
    with_pictures_shown,
    words_of,
)
from unspool.providers.fields import list_of
from unspool.providers.openai_reasoning import FIELD as REASONING_DETAILS

_API = "chat completions"

type Wire = dict[str, Any]


class OpenAIChatConversation:
    """Writes conversations for one server."""

    def __init__(self, adapter: str, *, reasoning_field: str | None = None, images_in_results: bool = False) -> None:
        """
        Args:
            adapter: whose replay state goes back.
            reasoning_field, images_in_results: see `OpenAIChatAdapter`.
        """
        self._adapter = adapter
        self._reasoning_field = reasoning_field
        self._images_in_results = images_in_results

    def write(self, messages: Sequence[Message]) -> list[Wire]:
        """Write a conversation: a message of ours is one of the wire, but one for each result of a tool.

        Args:
            messages: without messages inside messages.
        Raises:
            ConfigError: INVALID_OPTIONS for a part in a message of the wrong role and a tool call that was cut;
                UNSUPPORTED for a part without a form here.
        """
        out: list[Wire] = []
        for message in with_pictures_shown(messages, self._adapter, in_results=self._images_in_results):
            match message.role:
                case "assistant":
                    out.append(self._assistant(message))
                case "tool":
                    out += [self._result(part, message) for part in message.parts]
                case "user" if message.images:
                    pieces = [url_piece(part, message, _API) for part in message.parts]
                    out.append({"role": "user", "content": pieces})
                case role:
                    out.append({"role": role, "content": words_of(message, _API)})
        return out

    def _assistant(self, message: Message) -> Wire:
        calls: list[Wire] = []
        details: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                function = {"name": part.name, "arguments": arguments_text(part)}
                calls.append({"id": part.id, "type": "function", "function": function})
            elif isinstance(part, ProviderPart):
                details += list_of((own_replay(part.replay, self._adapter) or {}).get(REASONING_DETAILS))
            elif not isinstance(part, TextPart | ReasoningPart | RefusalPart):
                raise misplaced(part, message, _API)
        wire: Wire = {"role": "assistant", "content": message.text}
        if calls:
            wire["content"] = message.text or None
            wire["tool_calls"] = calls
        if message.refusal:
            wire["refusal"] = message.refusal
        if self._reasoning_field is not None:
            wire[self._reasoning_field] = message.reasoning
        if details:
            wire[REASONING_DETAILS] = details
        return wire

    def _result(self, part: Part, message: Message) -> Wire:
        if not isinstance(part, ToolResult):
            raise misplaced(part, message, _API)
        content: str | list[Wire]
        if any(isinstance(piece, Image) for piece in part.parts):
            content = [url_piece(piece, message, _API) for piece in part.parts]
        else:
            content = result_text(part, message, _API)
        return {"role": "tool", "tool_call_id": part.call_id, "content": content}
