"""Calls of tools and their results in a conversation: each call has one, at once. No IO, no clock.

Vendors refuse anything else, each in other words (OpenAI: "must be followed by tool messages", Anthropic: "without
`tool_result` blocks immediately after", Gemini: "number of function response parts"), and some servers do not, but
confuse the model. So it is one rule for all, kept before a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unspool.errors import ConfigError
from unspool.messages.message import Message
from unspool.messages.parts import ToolCall, ToolResult

_SHOWN_CALLS = 4
_SHOWN_CHARS = 80


def check_tool_results(messages: Sequence[Message], *, continues: bool = False) -> None:
    """Refuse a conversation with a call that no result follows, a result without a call, or two for one.

    Args:
        messages: none stands inside another.
        continues: whether the provider holds what was said before: results may then come first.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the call.
    """
    waiting: dict[str, ToolCall] = {}
    answered: set[str] = set()
    for message in messages:
        if message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    _take(part.call_id, waiting, answered, continues)
            continue
        _refuse_waiting(waiting.values())
        if message.role != "assistant":
            continue
        continues = False
        for call in message.tool_calls:
            if call.truncated:
                raise cut_call(call)
            if call.id in waiting:
                raise _refused(f"Two tool calls of one message have the id {_shown(call.id)}.")
            waiting[call.id] = call
    _refuse_waiting(waiting.values())


def cut_call(call: ToolCall) -> ConfigError:
    """Say that a call whose answer was cut cannot be sent."""
    return _refused(f"The tool call {_shown(call.name)} in the conversation was cut; leave it out.")


def _take(call_id: str, waiting: dict[str, ToolCall], answered: set[str], continues: bool) -> None:
    if waiting.pop(call_id, None) is None:
        if call_id in answered:
            raise _refused(f"The tool call {_shown(call_id)} has two results.")
        if not continues:
            raise _refused(
                f"A tool result answers the call {_shown(call_id)}, which does not stand in the assistant's message "
                "before it. Was the beginning of the conversation cut off between them?"
            )
    answered.add(call_id)


def _refuse_waiting(calls: Iterable[ToolCall]) -> None:
    waiting = list(calls)
    if waiting:
        named = ", ".join(f"{_shown(call.id)} ({call.name[:_SHOWN_CHARS]})" for call in waiting[:_SHOWN_CALLS])
        more = f" and {len(waiting) - _SHOWN_CALLS} more" if len(waiting) > _SHOWN_CALLS else ""
        calls_have, it = ("calls", "they") if len(waiting) > 1 else ("call", "it")
        raise _refused(
            f"There is no result of the tool {calls_have} {named}{more}. It must follow the call before anything else "
            f"is said, as us.ToolMessage(us.ToolResult(id, …)); with is_error=True, where {it} never ran."
        )


def _shown(text: str) -> str:
    return repr(text[:_SHOWN_CHARS])


def _refused(words: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", words)
