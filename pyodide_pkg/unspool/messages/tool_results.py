"""Calls of tools and their results in a conversation: each call has one, at once. No IO, no clock.

Vendors refuse anything else, each in other words (OpenAI: "must be followed by tool messages", Anthropic: "without
`tool_result` blocks immediately after", Gemini: "number of function response parts"), and some servers do not, but
confuse the model. So it is one rule for all, kept before a request. What is only in another order is put in this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unspool.errors import ConfigError
from unspool.messages.message import Message
from unspool.messages.parts import TextPart, ToolCall, ToolResult

_SHOWN_CALLS = 4
_SHOWN_CHARS = 80


def with_results_at_calls(messages: Sequence[Message], *, continues: bool = False) -> list[Message]:
    """Give a conversation in which the results of each answer's calls stand right behind it.

    What was said before the results came (instructions, or the user while a tool ran) moves behind them; an answer with
    calls that stands in several messages becomes one; what says nothing there is left out. All else stays as it is.

    Args:
        messages: none stands inside another.
        continues: whether the provider holds what was said before: results may then come first.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the call: one without a result before the next answer, a result without a
            call, two for one, or a result outside of the tools' messages.
    """
    out: list[Message] = []
    later: list[Message] = []
    waiting: dict[str, ToolCall] = {}
    answered: set[str] = set()
    for message in messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if waiting and all(isinstance(part, TextPart) and not part.text.strip() for part in message.parts):
            continue
        if message.role == "tool":
            for result in results:
                _take(result.call_id, waiting, answered, continues)
            out.append(message)
        elif results:
            raise _refused(
                f"The result of the tool call {_shown(results[0].call_id)} stands in a message of the role "
                f"{message.role!r}. Put it into one of its own: us.ToolMessage(us.ToolResult(id, …))."
            )
        elif message.role == "assistant":
            continues = False
            if waiting:
                if out[-1].role != "assistant" or any(other.role == "user" for other in later):
                    raise _unanswered(waiting.values())
                out[-1] = out[-1].with_parts([*out[-1].parts, *message.parts])
            else:
                out.append(message)
            _ask(message.tool_calls, waiting)
        else:
            (later if waiting else out).append(message)
        if not waiting:
            out += later
            later = []
    if waiting:
        raise _unanswered(waiting.values())
    return out


def cut_call(call: ToolCall) -> ConfigError:
    """Say that a call whose answer was cut cannot be sent."""
    return _refused(f"The tool call {_shown(call.name)} in the conversation was cut; leave it out.")


def _ask(calls: Iterable[ToolCall], waiting: dict[str, ToolCall]) -> None:
    for call in calls:
        if call.truncated:
            raise cut_call(call)
        if call.id in waiting:
            raise _refused(f"Two tool calls of one message have the id {_shown(call.id)}.")
        waiting[call.id] = call


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


def _unanswered(calls: Iterable[ToolCall]) -> ConfigError:
    waiting = list(calls)
    named = ", ".join(f"{_shown(call.id)} ({call.name[:_SHOWN_CHARS]})" for call in waiting[:_SHOWN_CALLS])
    more = f" and {len(waiting) - _SHOWN_CALLS} more" if len(waiting) > _SHOWN_CALLS else ""
    calls_have, it = ("calls", "they") if len(waiting) > 1 else ("call", "it")
    return _refused(
        f"There is no result of the tool {calls_have} {named}{more}. It must follow the call before the model speaks "
        f"again, as us.ToolMessage(us.ToolResult(id, …)); with is_error=True, where {it} never ran."
    )


def _shown(text: str) -> str:
    return repr(text[:_SHOWN_CHARS])


def _refused(words: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", words)
