"""Asking until an answer is valid: one question in, a value and its message out, or the error of the last attempt.

In: a question. Out: what its stream ends with. Each further turn shows the model its answer and what is wrong with it;
nothing that a model wrote is ever executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from unspool.answer_hint import without_hint
from unspool.answer_stream import QueryStream
from unspool.errors import OutputValidationError, UnspoolError
from unspool.messages import AssistantMessage, Message, Usage, UserMessage
from unspool.model import LanguageModel
from unspool.signature import LEFT_OUT
from unspool.structured.events import Cancelled, GenerationComplete, GenerationFailed, ParsingFailed

_COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cached_input_tokens", "reasoning_tokens")


class Asked(Protocol):
    """A question that can be asked again."""

    protocol: Any

    def stream(self, lm: LanguageModel, turn: Sequence[Message] = ()) -> QueryStream[Any]: ...


async def answered(
    question: Asked, lm: LanguageModel, *, max_repairs: int, default: Any = LEFT_OUT
) -> tuple[Any, Message]:
    """Ask a question until its answer is valid, or no more turn is to be made.

    Args:
        question, lm, max_repairs, default: as in `query`.
    Returns:
        The value, and the message of the last answer with the usage of all.
    Raises, Cancellation: as `query`.
    """
    attempts: list[OutputValidationError] = []
    turn: list[Message] = []
    while True:
        stream = question.stream(lm, turn)
        async with stream:
            end = await stream._read_to_end()  # pyright: ignore[reportPrivateUsage]
        if isinstance(end, GenerationComplete):
            return end.result, _with_usage_of(attempts, stream.message)
        assert isinstance(end, ParsingFailed | GenerationFailed | Cancelled)
        error = end.error
        if not isinstance(end, ParsingFailed) or stream.message.tool_calls:
            raise error  # nothing was wrong with the answer, or it is still to come
        end.error.attempts = tuple(attempts)
        if error.code != "OUTPUT_INVALID":
            raise error  # it is not whole: a limit is what is wrong
        repeated = any(error.text == earlier.text for earlier in attempts)
        if len(attempts) < max_repairs and not repeated:
            attempts.append(end.error)
            turn = repair_turn(error.text, without_hint(error.message))
            continue
        if default is LEFT_OUT:
            raise error
        return default, _with_usage_of(attempts, stream.message)


def _with_usage_of(attempts: Sequence[UnspoolError], message: Message) -> Message:
    """Give the message of the last answer with the usage of all: what was not reported counts for nothing."""
    used = [found.usage for found in (*(error.partial for error in attempts), message) if found and found.usage]
    if not attempts or not used:
        return message
    counts: dict[str, Any] = {}
    for name in _COUNTS:
        reported = [count for usage in used if (count := getattr(usage, name)) is not None]
        counts[name] = sum(reported) if reported else None
    usage = Usage(**counts)
    return Message(
        message.role,
        message.parts,
        finish_reason=message.finish_reason,
        raw_finish_reason=message.raw_finish_reason,
        usage=usage,
        origin=message.origin,
        metadata=message.metadata,
    )


def repair_turn(answer: str | None, fault: str) -> list[Message]:
    """Show a model its answer, and what is wrong with it."""
    words = f"That answer cannot be used. {fault}\nAnswer the question again, in the form that was asked for."
    return [AssistantMessage(answer if answer and answer.strip() else "…"), UserMessage(words)]
