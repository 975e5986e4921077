"""Conversation of ours → `messages` of Cohere's chat API, version 2. Pure.

Source: Cohere API reference, "Chat with Streaming" (v2); documentation, "Basic usage of tool use", "Image Inputs".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspool.errors import ConfigError
from unspool.messages import (
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

ADAPTER = "cohere"

_API = "Cohere's API"

type Wire = dict[str, Any]


def conversation_of(messages: Sequence[Message], *, note: str = "") -> list[Wire]:
    """Write the conversation.

    System messages become one, which the API wants first.

    Args:
        messages: without messages inside messages.
        note: is added to the system message.
    Raises:
        ConfigError: INVALID_OPTIONS for a conversation without content, a part in a message of the wrong role, a tool
            call that was cut; UNSUPPORTED for a part without a form here.
    """
    system: list[str] = []
    out: list[Wire] = []
    for message in with_pictures_shown(messages, ADAPTER, in_results=False):
        match message.role:
            case "system":
                system.append(words_of(message, _API))
            case "assistant":
                said = _assistant(message)
                if len(said) > 1:
                    out.append(said)
            case "tool":
                out += [_result(part, message) for part in message.parts]
            case _:
                pieces = [url_piece(part, message, _API) for part in message.parts]
                out.append({"role": message.role, "content": pieces if message.images else message.text})
    if not out:
        raise ConfigError("INVALID_OPTIONS", "The request has no messages with content.")
    words = "\n\n".join(text for text in (*system, note) if text.strip())
    return [{"role": "system", "content": words}, *out] if words else out


def _assistant(message: Message) -> Wire:
    """What the assistant said. Beside calls the API refuses text in the content: the plan is its place."""
    content: list[Wire] = []
    plan: list[str] = []
    calls: list[Wire] = []
    text = ""
    for part in message.parts:
        if isinstance(part, TextPart | RefusalPart):
            text += part.text
        elif isinstance(part, ReasoningPart):
            kind = (own_replay(part.replay, ADAPTER) or {}).get("type")
            if kind == "thinking" and part.text:
                content.append({"type": "thinking", "thinking": part.text})
            elif kind == "tool_plan":
                plan.append(part.text)
        elif isinstance(part, ToolCall):
            function = {"name": part.name, "arguments": arguments_text(part)}
            calls.append({"id": part.id, "type": "function", "function": function})
        elif not isinstance(part, ProviderPart):
            raise misplaced(part, message, _API)
    wire: Wire = {"role": "assistant"}
    if calls:
        wire["tool_calls"] = calls
        if words := "\n\n".join(said for said in (*plan, text) if said.strip()):
            wire["tool_plan"] = words
    elif text and content:
        content.append({"type": "text", "text": text})
    elif text:
        wire["content"] = text
    if content:
        wire["content"] = content
    return wire


def _result(part: Part, message: Message) -> Wire:
    if not isinstance(part, ToolResult):
        raise misplaced(part, message, _API)
    return {"role": "tool", "tool_call_id": part.call_id, "content": result_text(part, message, _API)}
