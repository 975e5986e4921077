"""Conversation of ours → `system` and `messages` of Bedrock's Converse. Pure.

Roles must alternate there, so neighbours of one role become one turn, and results of tools belong to the user's.

Source: Amazon Bedrock API reference, "Converse", "ContentBlock"; the service model of botocore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
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
from unspool.providers.bedrock_block import ADAPTER
from unspool.providers.conversation import (
    arguments_of,
    image_type,
    misplaced,
    own_replay,
    with_pictures_shown,
    words_of,
)

_API = "Bedrock's Converse"
_NO_ID = re.compile(r"[^A-Za-z0-9_-]")
_ID_CHARS = 64

type Block = dict[str, Any]


def conversation_of(messages: Sequence[Message]) -> tuple[list[Block], list[dict[str, Any]]]:
    """Write the conversation.

    Args:
        messages: without messages inside messages.
    Returns:
        The system prompts, and the turns.
    Raises:
        ConfigError: INVALID_OPTIONS for a conversation without content, a part in a message of the wrong role, a tool
            call that was cut or whose arguments are no JSON object; UNSUPPORTED for a part without a form here.
    """
    system: list[Block] = []
    turns: list[dict[str, Any]] = []
    for message in with_pictures_shown(messages, ADAPTER):
        match message.role:
            case "system":
                system += _text(words_of(message, _API))
                continue
            case "assistant":
                blocks = [block for part in message.parts for block in _said(part, message)]
            case "tool":
                blocks = [_result(part, message) for part in message.parts]
            case _:
                blocks = _shown(message.parts, message)
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if not turns:
        raise ConfigError("INVALID_OPTIONS", "The request has no messages with content.")
    for turn in turns:
        if turn["role"] == "user":  # results stand before all else
            turn["content"] = sorted(turn["content"], key=_is_no_result)
    return system, turns


def _is_no_result(block: Block) -> bool:
    return "toolResult" not in block


def _text(text: str) -> list[Block]:
    """Blank texts are refused."""
    return [{"text": text}] if text.strip() else []


def _said(part: Part, message: Message) -> Iterable[Block]:
    """What the assistant said: each part as the block that it came as."""
    own = own_replay(getattr(part, "replay", None), ADAPTER) or {}
    if isinstance(part, TextPart | RefusalPart):
        if own.get("citations") and part.text.strip():
            return [{"citationsContent": {"content": [{"text": part.text}], "citations": own["citations"]}}]
        return _text(part.text)
    if isinstance(part, ReasoningPart):
        blocks: list[Block] = []
        if "signature" in own:
            shown = {"text": part.text, "signature": own["signature"]}
            blocks.append({"reasoningContent": {"reasoningText": shown}})
        if "redactedContent" in own:
            blocks.append({"reasoningContent": {"redactedContent": own["redactedContent"]}})
        return blocks
    if isinstance(part, ToolCall):
        return [{"toolUse": {"toolUseId": _id(part.id), "name": part.name, "input": arguments_of(part)}}]
    if isinstance(part, ProviderPart):
        return [dict(own)] if own else []
    raise misplaced(part, message, _API)


def _result(part: Part, message: Message) -> Block:
    if not isinstance(part, ToolResult):
        raise misplaced(part, message, _API)
    content = _shown(part.parts, message) or [{"text": "The tool failed." if part.is_error else "(nothing)"}]
    result: Block = {"toolUseId": _id(part.call_id), "content": content}
    if part.is_error:  # only Claude and Nova know the field, so that it is not sent for success
        result["status"] = "error"
    return {"toolResult": result}


def _shown(parts: Sequence[Part], message: Message) -> list[Block]:
    """Texts and images for the model to read; texts beside each other are one."""
    blocks: list[Block] = []
    text = ""
    for part in parts:
        if isinstance(part, TextPart):
            text += part.text
            continue
        if not isinstance(part, Image):
            raise misplaced(part, message, _API)
        blocks += [*_text(text), _image(part)]
        text = ""
    return [*blocks, *_text(text)]


def _image(image: Image) -> Block:
    if image.url is not None:
        raise ConfigError("UNSUPPORTED", "Bedrock takes images as bytes, not by their address.")
    kind = image_type(image, _API).removeprefix("image/")
    return {"image": {"format": kind, "source": {"bytes": image.base64}}}


def _id(id: str) -> str:
    """Ids of other providers may be longer, and hold characters that are refused; different ids stay different."""
    told = _NO_ID.sub(lambda match: f"_{ord(match[0]):x}_", id)
    return told if 0 < len(told) <= _ID_CHARS else f"call_{sha256(told.encode()).hexdigest()[:32]}"
