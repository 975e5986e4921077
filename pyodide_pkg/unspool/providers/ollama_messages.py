"""Conversation of ours → `messages` of Ollama's own API. Pure.

Source: https://docs.ollama.com/api/chat; the types of the `ollama` SDK.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unspool.errors import ConfigError
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
from unspool.providers.conversation import arguments_of, misplaced, result_text, with_pictures_shown, words_of
from unspool.providers.ollama_decoder import ADAPTER

_API = "Ollama's API"

type Wire = dict[str, Any]


def conversation_of(messages: Sequence[Message]) -> list[Wire]:
    """Write the conversation: a message of ours is one of the wire, but one for each result of a tool.

    Older servers know a result by the name of its tool, newer ones by the id of its call.

    Args:
        messages: without messages inside messages.
    Raises:
        ConfigError: INVALID_OPTIONS for a part in a message of the wrong role, a tool call that was cut or whose
            arguments are no JSON object; UNSUPPORTED for a part without a form here.
    """
    out: list[Wire] = []
    names: dict[str, str] = {}
    for message in with_pictures_shown(messages, ADAPTER, in_results=False):
        match message.role:
            case "assistant":
                names |= {call.id: call.name for call in message.tool_calls}
                out.append(_assistant(message))
            case "tool":
                out += [_result(part, names, message) for part in message.parts]
            case "user":
                out.append(_user(message))
            case "system":
                out.append({"role": "system", "content": words_of(message, _API)})
    return out


def _assistant(message: Message) -> Wire:
    for part in message.parts:
        if not isinstance(part, TextPart | ReasoningPart | RefusalPart | ToolCall | ProviderPart):
            raise misplaced(part, message, _API)
    wire: Wire = {"role": "assistant", "content": message.text or message.refusal}
    if message.reasoning and message.origin is not None and message.origin.adapter == ADAPTER:
        wire["thinking"] = message.reasoning
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": arguments_of(call)}}
            for call in message.tool_calls
        ]
    return wire


def _result(part: Part, names: Mapping[str, str], message: Message) -> Wire:
    if not isinstance(part, ToolResult):
        raise misplaced(part, message, _API)
    wire: Wire = {"role": "tool", "content": result_text(part, message, _API)}
    if part.call_id in names:
        wire["tool_name"] = names[part.call_id]
    return wire | {"tool_call_id": part.call_id}


def _user(message: Message) -> Wire:
    """Texts, and pictures beside them: the wire has no place for these among the words."""
    pictures: list[str] = []
    for part in message.parts:
        if isinstance(part, Image):
            if part.url is not None:
                raise ConfigError("UNSUPPORTED", "Ollama takes images as bytes, not by their address.")
            pictures.append(part.base64)
        elif not isinstance(part, TextPart):
            raise misplaced(part, message, _API)
    wire: Wire = {"role": "user", "content": message.text}
    return wire | {"images": pictures} if pictures else wire
