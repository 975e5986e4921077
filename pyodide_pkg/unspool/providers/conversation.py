"""Conversation: what every dialect asks of the messages that it writes. Pure.

Parts stand in messages of the right role, calls are whole, pictures stand where they can be shown, and replay state
goes to the adapter that made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspool.errors import ConfigError, StreamError
from unspool.messages import (
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from unspool.messages.tool_results import cut_call
from unspool.providers.fields import Fields

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_WORDS = TextPart | ReasoningPart | RefusalPart | ToolCall | ToolResult | ProviderPart


def own_replay(replay: Replay | None, adapter: str) -> Fields | None:
    """Give the state that an adapter made itself; None where there is none, or another one's."""
    return replay.data if replay is not None and replay.adapter == adapter else None


def with_pictures_shown(messages: Sequence[Message], adapter: str, *, in_results: bool = True) -> list[Message]:
    """Move pictures from where a dialect has no place for them into messages of the user.

    These stand behind the results of the answer's calls, because results must follow their calls at once.

    Args:
        messages: without messages inside messages.
        adapter: whose own pictures stay in its answers, because it can write them there.
        in_results: whether results of tools can hold pictures, which then stay there as well.
    """
    out: list[Message] = []
    shown: list[Message] = []
    for message in messages:
        if message.role != "tool":
            out += shown
            shown = []
        if message.role == "assistant" and message.images:
            foreign = [picture for picture in message.images if own_replay(picture.replay, adapter) is None]
            if foreign:
                shown.append(UserMessage(["Images of your answer above:", *foreign]))
            message = message.with_parts([part for part in message.parts if part not in foreign])
        elif message.role == "tool" and not in_results:
            message = message.with_parts([_without_pictures(part, shown) for part in message.parts])
        out.append(message)
    return out + shown


def _without_pictures(part: Part, shown: list[Message]) -> Part:
    pictures = [piece for piece in part.parts if isinstance(piece, Image)] if isinstance(part, ToolResult) else ()
    if not pictures or not isinstance(part, ToolResult):
        return part
    shown.append(UserMessage([f"Images of the tool result {part.call_id}:", *pictures]))
    rest = [piece for piece in part.parts if not isinstance(piece, Image)]
    return ToolResult(part.call_id, rest if part.text else [*rest, "The result is shown below."], part.is_error)


def words_of(message: Message, api: str) -> str:
    """Give the text of a message that can hold nothing else.

    Raises:
        ConfigError: as `misplaced`.
    """
    for part in message.parts:
        if not isinstance(part, TextPart):
            raise misplaced(part, message, api)
    return message.text


def result_text(result: ToolResult, message: Message, api: str) -> str:
    """Give what a tool answered, where nothing but text has a place.

    Raises:
        ConfigError: as `misplaced`.
    """
    for piece in result.parts:
        if not isinstance(piece, TextPart):
            raise misplaced(piece, message, api)
    return result.text


def url_piece(part: Part, message: Message, api: str) -> dict[str, Any]:
    """Give a text or a picture as a piece of content in OpenAI's words, which others have taken over.

    Raises:
        ConfigError: as `misplaced`, for any other part.
    """
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if not isinstance(part, Image):
        raise misplaced(part, message, api)
    image: dict[str, Any] = {"url": part.data_url}
    if part.detail is not None:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def image_type(image: Image, api: str) -> str:
    """Give the media type of a picture's bytes, for dialects that take four of them.

    Raises:
        ConfigError: UNSUPPORTED for any other.
    """
    told = (image.media_type or "").lower().replace("image/jpg", "image/jpeg")
    if told not in _IMAGE_TYPES:
        raise ConfigError("UNSUPPORTED", f"{api} takes images as JPEG, PNG, GIF and WebP, not as {image.media_type}.")
    return told


def arguments_text(call: ToolCall) -> str:
    """Give the arguments of a call as JSON text, as they were streamed; blank ones are `{}`.

    Raises:
        ConfigError: INVALID_OPTIONS for a call that was cut.
    """
    if call.truncated:
        raise cut_call(call)
    return call.arguments if call.arguments.strip() else "{}"


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Give the arguments of a call as an object.

    Raises:
        ConfigError: INVALID_OPTIONS for a call that was cut, or whose arguments are no JSON object.
    """
    arguments_text(call)
    try:
        return call.args
    except StreamError as error:
        raise ConfigError(
            "INVALID_OPTIONS", f"The arguments of the tool call {call.name!r} are no JSON object: {error.message}"
        ) from error


def misplaced(part: Part, message: Message, api: str) -> ConfigError:
    """The error for a part that cannot stand where it stands.

    Returns:
        INVALID_OPTIONS for what no message of this role can hold; UNSUPPORTED for pictures and files, for which only
        this API has no form there.
    """
    if isinstance(part, _WORDS):
        return ConfigError("INVALID_OPTIONS", f"A {message.role} message cannot hold a part of type {part.type!r}.")
    return ConfigError(
        "UNSUPPORTED", f"There is no form in {api} for a part of type {part.type!r} in a {message.role} message."
    )
