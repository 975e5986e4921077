"""Messages of a conversation as input items of the Responses API. Pure.

What an answer of this API was made of goes back as the same items in the same order, with their ids and the encrypted
reasoning. The API refuses half of that: reasoning without the item that it led to, and the other way round. So
reasoning that has lost its follower is left out, and an answer of which reasoning is missing is told without ids.
Source: OpenAI API reference, "Create a model response"; guide "Reasoning models".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from unspool.providers.conversation import arguments_text, misplaced, own_replay, with_pictures_shown, words_of
from unspool.providers.fields import Fields, fields_of, text_or_none
from unspool.providers.openai_responses_items import ADAPTER, KEPT_OF_CALL

_API = "the Responses API"


def conversation_of(messages: Sequence[Message], *, stored: bool) -> tuple[str | None, list[dict[str, Any]]]:
    """Give instructions and input items.

    Args:
        messages: not empty. System messages that lead become the instructions, later ones stay where they are.
        stored: whether the provider keeps responses, so that an id alone brings an item back.
    Raises:
        ConfigError: INVALID_OPTIONS for a part in a message of the wrong role and for a tool call that was cut;
            UNSUPPORTED for a part that this wire has no form for.
    """
    leading = next((place for place, message in enumerate(messages) if message.role != "system"), 0)
    instructions = "\n\n".join(words_of(message, _API) for message in messages[:leading])
    rest = with_pictures_shown(messages[leading:], ADAPTER)
    items = [item for message in rest for item in _items(message, stored)]
    return instructions or None, items


def _items(message: Message, stored: bool) -> Iterable[dict[str, Any]]:
    match message.role:
        case "system":
            return [{"role": "system", "content": words_of(message, _API)}]
        case "user":
            return [{"role": "user", "content": _shown(message, message.parts)}]
        case "assistant":
            return _assistant(message, stored)
        case "tool":
            return [_result(message, part) for part in message.parts]


def _shown(message: Message, parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    """Words as one text; with pictures a list."""
    if all(isinstance(part, TextPart) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, TextPart):
            content.append({"type": "input_text", "text": part.text})
        elif isinstance(part, Image):
            content.append({"type": "input_image", "image_url": part.data_url, "detail": part.detail or "auto"})
        else:
            raise misplaced(part, message, _API)
    return content


def _result(message: Message, part: Part) -> dict[str, Any]:
    if not isinstance(part, ToolResult):
        raise misplaced(part, message, _API)
    return {"type": "function_call_output", "call_id": part.call_id, "output": _shown(message, part.parts)}


_MADE_OF_PARTS = (None, "message", "reasoning", "function_call")
"""What no part of the provider's stands for. Histories may come from anywhere: such a one is left out."""


class _Item:
    """An item of an answer, with what ties it to the item before."""

    __slots__ = ("after", "id", "own", "wire")

    def __init__(self, replay: Fields | None, wire: dict[str, Any]) -> None:
        self.own = replay is not None
        self.id = text_or_none(replay or {}, "id")
        self.after = text_or_none(replay or {}, "after")
        self.wire: dict[str, Any] = ({"id": self.id} if self.id else {}) | wire

    @property
    def reasons(self) -> bool:
        return self.wire.get("type") == "reasoning"


def _assistant(message: Message, stored: bool) -> list[dict[str, Any]]:
    items: list[_Item] = []
    for part in message.parts:
        last = items[-1] if items else None
        replay = own_replay(getattr(part, "replay", None), ADAPTER)
        match part:
            case ReasoningPart():
                _add_reasoning(part, replay, last, items)
            case TextPart() | RefusalPart():
                _add_words(part, replay or {}, last, items)
            case ToolCall():
                items.append(_call(part, replay))
            case ProviderPart():
                item = fields_of((replay or {}).get("item"))
                if text_or_none(item, "type") not in _MADE_OF_PARTS:
                    items.append(_Item(replay, dict(item)))
            case Image() if replay is not None:
                wire = {"type": "image_generation_call", "result": part.base64, "status": "completed"}
                items.append(_Item(replay, wire))
            case _:
                raise misplaced(part, message, _API)
    kept = _with_followers(items, stored)
    if _is_whole(kept):
        return [item.wire for item in kept]
    return [wire for item in kept for wire in _plain(item)]


def _add_reasoning(part: ReasoningPart, replay: Fields | None, last: _Item | None, items: list[_Item]) -> None:
    if replay is None:
        return
    if last is None or not last.reasons or last.id is None or last.id != text_or_none(replay, "id"):
        last = _Item(replay, {"type": "reasoning", "summary": []})
        items.append(last)
    if replay.get("part") == "summary_text":
        last.wire["summary"].append({"type": "summary_text", "text": part.text})
    elif part.text:
        last.wire.setdefault("content", []).append({"type": "reasoning_text", "text": part.text})
    encrypted = text_or_none(replay, "encrypted_content")
    if encrypted:
        last.wire["encrypted_content"] = encrypted


def _add_words(part: TextPart | RefusalPart, replay: Fields, last: _Item | None, items: list[_Item]) -> None:
    id = text_or_none(replay, "id")
    is_message = last is not None and last.wire.get("type") in (None, "message")
    if id is None:
        if last is not None and is_message and last.id is None:
            last.wire["content"] += part.text
        elif part.text:
            items.append(_Item(None, {"role": "assistant", "content": part.text}))
        return
    if last is None or not is_message or last.id != id:
        wire: dict[str, Any] = {"type": "message", "role": "assistant", "status": "completed", "content": []}
        phase = text_or_none(replay, "phase")
        last = _Item(replay, wire | ({"phase": phase} if phase else {}))
        items.append(last)
    if isinstance(part, RefusalPart):
        last.wire["content"].append({"type": "refusal", "refusal": part.text})
    else:
        last.wire["content"].append({"type": "output_text", "text": part.text, "annotations": []})


def _call(part: ToolCall, replay: Fields | None) -> _Item:
    wire: dict[str, Any] = {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": arguments_text(part),
    }
    wire.update((name, value) for name, value in (replay or {}).items() if name in KEPT_OF_CALL)
    return _Item(replay, wire)


def _with_followers(items: list[_Item], stored: bool) -> list[_Item]:
    """Leave out reasoning that nothing follows which it led to, or that holds nothing to go on from."""
    kept: list[_Item] = []
    for item in reversed(items):
        if item.reasons:
            follower = kept[-1] if kept else None
            holds = stored or bool(item.wire.get("encrypted_content") or item.wire.get("content"))
            if follower is None or not follower.own or follower.after != item.id or not holds:
                continue
        kept.append(item)
    return kept[::-1]


def _is_whole(items: list[_Item]) -> bool:
    """Whether each item that came after reasoning comes after it now."""
    before: _Item | None = None
    for item in items:
        if item.after is not None and (before is None or not before.reasons or before.id != item.after):
            return False
        before = item
    return True


def _plain(item: _Item) -> list[dict[str, Any]]:
    """The item without ids; nothing for one that is none without."""
    if not item.own:
        return [item.wire]
    match item.wire.get("type"):
        case "message":
            words = "".join(part.get("text") or part.get("refusal") or "" for part in item.wire["content"])
            return [{"role": "assistant", "content": words}] if words else []
        case "function_call":
            return [{name: value for name, value in item.wire.items() if name != "id"}]
        case _:
            return []
