"""Conversation of ours → `system` and `messages` of the Anthropic Messages API. Pure.

Roles must alternate there: neighbours of one role become one turn, and results of tools belong to the user's.

Source: Claude API reference, "Create a Message"; "Handle tool calls".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
from unspool.providers.anthropic_block import ADAPTER
from unspool.providers.conversation import (
    arguments_of,
    image_type,
    misplaced,
    own_replay,
    with_pictures_shown,
    words_of,
)

_API = "Anthropic's API"
_NO_ID = re.compile(r"[^A-Za-z0-9_-]")

type Block = dict[str, Any]
type Turn = dict[str, Any]


def conversation_of(messages: Sequence[Message], *, signed_only: bool) -> tuple[str | None, list[Turn]]:
    """Write the conversation.

    Args:
        messages: without messages inside messages.
        signed_only: leave thinking without a signature out, which Anthropic itself refuses and some servers want.
    Returns:
        The system prompt, if there is one, and the turns.
    Raises:
        ConfigError: INVALID_OPTIONS for a conversation without content, a part in a message of the wrong role, a tool
            call that was cut or whose arguments are no JSON object; UNSUPPORTED for a part without a form here.
    """
    system: list[str] = []
    turns: list[tuple[str, list[Block]]] = []
    for message in with_pictures_shown(messages, ADAPTER):
        match message.role:
            case "system":
                system.append(words_of(message, _API))
                continue
            case "assistant":
                blocks = _filled(block for part in message.parts for block in _said(part, message, signed_only))
            case "tool":
                blocks = [_result(part, message) for part in message.parts]
            case _:
                blocks = _shown(message.parts, message)
        role = "assistant" if message.role == "assistant" else "user"
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    if not turns:
        raise ConfigError("INVALID_OPTIONS", "The request has no messages with content.")
    return "\n\n".join(text for text in system if text.strip()) or None, [_turn(*turn) for turn in turns]


def _turn(role: str, blocks: list[Block]) -> Turn:
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return {"role": role, "content": blocks[0]["text"]}
    if role == "user":  # the API wants results before all else
        blocks = sorted(blocks, key=lambda block: block["type"] != "tool_result")
    return {"role": role, "content": blocks}


def _said(part: Part, message: Message, signed_only: bool) -> Iterable[Block]:
    """What the assistant said: each part as the block that it came as."""
    own: Block = dict(own_replay(getattr(part, "replay", None), ADAPTER) or {})
    if isinstance(part, TextPart | RefusalPart):
        return [{**own, "type": "text", "text": part.text}]
    if isinstance(part, ReasoningPart):
        if own.get("type") == "thinking":
            return [] if signed_only and not own.get("signature") else [{**own, "thinking": part.text}]
        return _whole(own)
    if isinstance(part, ToolCall):
        return [{**own, "type": "tool_use", "id": _id(part.id), "name": part.name, "input": arguments_of(part)}]
    if isinstance(part, ProviderPart):
        return _whole(own)
    raise misplaced(part, message, _API)


def _whole(own: Block) -> list[Block]:
    """A block that came whole. Histories may come from anywhere: what is none of the provider's is left out."""
    return [own] if isinstance(own.get("type"), str) and own["type"] != "text" else []


def _result(part: Part, message: Message) -> Block:
    if not isinstance(part, ToolResult):
        raise misplaced(part, message, _API)
    block: Block = {"type": "tool_result", "tool_use_id": _id(part.call_id)}
    content = _shown(part.parts, message)
    if all(shown.keys() == {"type", "text"} for shown in content):
        text = "".join(shown["text"] for shown in content)
        if text or part.is_error:
            block["content"] = text or "The tool failed."  # an error without content is refused
    else:
        block["content"] = content
    if part.is_error:
        block["is_error"] = True
    return block


def _shown(parts: Sequence[Part], message: Message) -> list[Block]:
    """Texts and images for the model to read; texts beside each other are one."""
    blocks: list[Block] = []
    for part in parts:
        if isinstance(part, TextPart):
            if blocks and blocks[-1]["type"] == "text":
                blocks[-1]["text"] += part.text
            else:
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, Image):
            blocks.append({"type": "image", "source": _source(part)})
        else:
            raise misplaced(part, message, _API)
    return _filled(blocks)


def _filled(blocks: Iterable[Block]) -> list[Block]:
    """Leave out what the API refuses: empty texts, and blank ones in a message without any other text."""
    kept = [block for block in blocks if block["type"] != "text" or block["text"]]
    blank = not any(block["type"] == "text" and block["text"].strip() for block in kept)
    return [block for block in kept if block["type"] != "text"] if blank else kept


def _source(image: Image) -> Block:
    if image.url is not None:
        return {"type": "url", "url": image.url}
    return {"type": "base64", "media_type": image_type(image, _API), "data": image.base64}


def _id(id: str) -> str:
    """Ids of other providers may hold characters that are refused here; different ids stay different."""
    return _NO_ID.sub(lambda match: f"_{ord(match[0]):x}_", id)
