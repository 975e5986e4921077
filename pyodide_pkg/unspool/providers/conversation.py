"""Conversation: what every dialect asks of the messages that it writes. Pure.

Parts stand in messages of the right role, calls are whole, and replay state goes to the adapter that made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from unspool.errors import ConfigError, StreamError
from unspool.messages import (
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
from unspool.providers.fields import Fields

_WORDS = TextPart | ReasoningPart | RefusalPart | ToolCall | ToolResult | ProviderPart


def own_replay(replay: Replay | None, adapter: str) -> Fields | None:
    """Give the state that an adapter made itself; None where there is none, or another one's."""
    return replay.data if replay is not None and replay.adapter == adapter else None


def with_pictures_shown(messages: Sequence[Message], adapter: str) -> list[Message]:
    """Move pictures that another adapter's model made out of its answers, for dialects that take none there.

    A user message shows them: behind the results of the answer's calls, because those must follow the calls at once.
    """
    out: list[Message] = []
    shown: list[Part] = []
    for message in messages:
        if shown and message.role != "tool":
            out.append(UserMessage(["Images of your answer above:", *shown]))
            shown = []
        if message.role == "assistant" and message.images:
            foreign = [picture for picture in message.images if own_replay(picture.replay, adapter) is None]
            shown += foreign
            message = message.with_parts([part for part in message.parts if part not in foreign])
        out.append(message)
    if shown:
        out.append(UserMessage(["Images of your answer above:", *shown]))
    return out


def arguments_text(call: ToolCall) -> str:
    """Give the arguments of a call as JSON text, as they were streamed; blank ones are `{}`.

    Raises:
        ConfigError: INVALID_OPTIONS for a call that was cut.
    """
    if call.truncated:
        raise ConfigError("INVALID_OPTIONS", f"The tool call {call.name!r} in the conversation was cut; leave it out.")
    return call.arguments if call.arguments.strip() else "{}"


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Give the arguments of a call as an object.

    Raises:
        ConfigError: INVALID_OPTIONS for a call that was cut, or whose arguments are no JSON object.
    """
    arguments_text(call)
    try:
        value = call.args
    except StreamError as error:
        raise ConfigError(
            "INVALID_OPTIONS", f"The arguments of the tool call {call.name!r} are not JSON: {error.message}"
        ) from error
    if not isinstance(value, dict):
        raise ConfigError("INVALID_OPTIONS", f"The arguments of the tool call {call.name!r} are no JSON object.")
    return cast("dict[str, Any]", value)


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
