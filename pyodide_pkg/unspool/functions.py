"""Typed queries: a prompt and a type in, events or a validated value out.

One read of the model's stream gives one batch of events. The only waits are that read and the closing of the response;
parsing and validation are synchronous. Nothing is shown twice, and nothing that a model writes is ever executed.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from unspool.answer import AnswerMachine
from unspool.answer_stream import Check, QueryStream, Transform
from unspool.contracts import OutputSchema, Signal
from unspool.errors import ConfigError, UnspoolError
from unspool.examples import Example, example_turns
from unspool.messages import Message, TextPart, UserMessage
from unspool.model import SAMPLE_CONCURRENCY, LanguageModel
from unspool.options import CallOptions, Prompt, check_count, messages_of
from unspool.query_options import (
    AnswerOptions,
    QueryOptions,
    RepairOptions,
    check_model,
    check_names,
    check_query,
    check_repairs,
)
from unspool.repair import answered
from unspool.schema import NativeOutput, Schema, native_schema, schema_prompt
from unspool.schema.text import Protocol
from unspool.signature import LEFT_OUT, spells_out
from unspool.structured.events import MAX_CHARS, MAX_DEPTH
from unspool.templates import Template, messages_from

if TYPE_CHECKING:
    from typing_extensions import TypeForm


class Question:
    """One question, ready to be asked once or several times."""

    __slots__ = ("check", "messages", "native", "options", "protocol", "schema", "settings", "signal", "transform")

    def __init__(
        self,
        prompt: Prompt | Template,
        T: Any,
        lm: LanguageModel,
        *,
        protocol: Protocol = "json",
        lenient: bool = False,
        examples: Sequence[Example] = (),
        transform: Transform | None = None,
        signal: Signal | Any = None,
        max_chars: int = MAX_CHARS,
        max_depth: int = MAX_DEPTH,
        check: Check | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        check_model(lm)
        own = {"protocol": protocol, "max_chars": max_chars, "max_depth": max_depth, "check": check}
        check_query({**own, "transform": transform, **options})
        self.check: Check | None = check
        self.transform = transform
        self.messages = messages_of(messages_from(prompt))
        self.options = options
        self.protocol: Protocol = protocol
        self.signal = signal
        self.schema: Schema[Any] | None = None if T is str else Schema.of(T)
        self.native: NativeOutput | None = None
        self.settings: dict[str, Any] = {
            "lenient": lenient,
            "max_chars": max_chars,
            "max_depth": max_depth,
        }
        question = _question_at(self.messages)
        if self.schema is not None:
            self._ask(self.schema, lm)
        self.messages[question:question] = example_turns(
            examples, self.schema, protocol, self.native, max_chars=max_chars, max_depth=max_depth
        )

    def stream(self, lm: LanguageModel, turn: Sequence[Message] = ()) -> QueryStream[Any]:
        answer = AnswerMachine(self.schema, protocol=self.protocol, native=self.native, **self.settings)
        chunks = lm.stream([*self.messages, *turn], signal=self.signal, **self.options)
        return QueryStream(chunks, answer, check=self.check, transform=self.transform, signal=self.signal)

    def _ask(self, schema: Schema[Any], lm: LanguageModel) -> None:
        """Say what is asked for: to the model in words, or to the provider."""
        if self.options.get("output_schema") is not None:
            raise ConfigError("INVALID_OPTIONS", "A typed query makes its own output_schema; use protocol='native'.")
        if self.protocol != "native":
            self.messages = with_words(self.messages, schema_prompt(schema, self.protocol))
            return
        self.native = native = native_schema(schema, lm.schema_dialect)
        if native.reason is not None:
            warnings.warn(
                f"{schema.name} cannot be asked for strictly ({native.reason}); the answer is checked here alone.",
                stacklevel=4,
            )
        self.options["output_schema"] = OutputSchema(schema.name, native.schema, strict=native.reason is None)


@overload
def query_stream(
    prompt: Prompt | Template, *, lm: LanguageModel, transform: None = None, **options: Unpack[AnswerOptions]
) -> QueryStream[str]: ...
@overload
def query_stream[R](
    prompt: Prompt | Template,
    T: Schema[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    **options: Unpack[AnswerOptions],
) -> QueryStream[R]: ...
@overload
def query_stream[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    **options: Unpack[AnswerOptions],
) -> QueryStream[R]: ...
@overload
def query_stream[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: Callable[[R], Awaitable[S]],
    **options: Unpack[AnswerOptions],
) -> QueryStream[S]: ...
@overload
def query_stream[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: Callable[[R], S],
    **options: Unpack[AnswerOptions],
) -> QueryStream[S]: ...
@overload
def query_stream(
    prompt: Prompt | Template,
    T: Schema[Any] | Mapping[str, Any] = ...,
    *,
    lm: LanguageModel,
    **options: Unpack[QueryOptions],
) -> QueryStream[Any]: ...
@spells_out
def query_stream(
    prompt: Prompt | Template, T: Any = str, *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[Any]:
    """Ask a model for a value of a type and watch it being written. Nothing is sent before the first read.

    Args:
        prompt: text of the user, one message, a conversation, a `Template` with nothing left to fill in, or a t-string.
        T: what `Schema.of` takes; `str`, or nothing, gives the answer as plain text.
        lm: the model to ask.
        options: those of the call (see `CallOptions`; they win over the model's defaults), and:
            protocol: "json" (the default) tells the model the form of the JSON in words, after the prompt; "python"
                asks for one expression in Python's constructor syntax, which is read and never executed; "native" has
                the provider hold the answer to the schema (structured output) and leaves the prompt as it is.
            lenient: also take trailing commas, comments, single quotes and an end that is missing in JSON; each repair
                is named in `QueryStream.repairs`.
            examples: pairs of a prompt and the value that answers it, shown before the question as turns. Each is held
                to the type like an answer.
            transform: what is done to the validated value, once, plain or async; the result is what it gives. What it
                raises makes the answer an invalid one; but an UnspoolError of a call of its own is told as it is.
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the call.
            max_chars: longest answer, in characters, at most 16 Mi; default 1 Mi.
            max_depth: deepest nesting of the answer, at most 128; default 64.
            check: judge each field and record as it closes, not only the whole at the end. "report" tells by a
                `FieldInvalid` event what cannot be right any more; "stop" ends the answer with it, and the request at
                once, as OUTPUT_INVALID: no token is paid for the rest. Default: no.
    Raises:
        ConfigError: INVALID_OPTIONS or UNSUPPORTED. Everything later is told by the terminal event.
        A UserWarning tells that a provider cannot hold the answer to a type strictly (open dicts, tuples, `Any`).
    """
    return Question(prompt, T, lm, **options).stream(lm)


@overload
async def query(
    prompt: Prompt | Template,
    *,
    lm: LanguageModel,
    transform: None = None,
    returns_message: Literal[False] = False,
    **options: Unpack[RepairOptions],
) -> str: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: Schema[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    returns_message: Literal[False] = False,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    returns_message: Literal[False] = False,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    returns_message: Literal[True],
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> tuple[R, Message]: ...
@overload
async def query[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: Callable[[R], Awaitable[S]],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def query[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: Callable[[R], S],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: Callable[[R], Any],
    returns_message: Literal[True],
    default: Any = ...,
    **options: Unpack[RepairOptions],
) -> tuple[Any, Message]: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    transform: None = None,
    returns_message: bool,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R | tuple[R, Message]: ...
@overload
async def query(
    prompt: Prompt | Template,
    T: Schema[Any] | Mapping[str, Any] = ...,
    *,
    lm: LanguageModel,
    transform: Transform | None = None,
    returns_message: bool = False,
    default: Any = ...,
    **options: Unpack[RepairOptions],
) -> Any: ...
@spells_out
async def query(
    prompt: Prompt | Template,
    T: Any = str,
    *,
    lm: LanguageModel,
    returns_message: bool = False,
    default: Any = LEFT_OUT,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> Any:
    """Ask a model for a value of a type and wait for it.

    Args:
        prompt, T, lm, options: as in `query_stream`.
        returns_message: give `(value, message)` instead of the value. The message is that of the answer; its `usage` is
            the sum of all attempts.
        default: the value to give for a whole answer that is not valid (OUTPUT_INVALID: another type, no value, nothing
            at all), instead of raising. One that was cut, is too large or calls a tool is raised, as is a refusal.
        max_repairs: how often the model is asked again with the faults of its answer, at most 8. It is not asked again
            when it repeats itself. Default: never.
    Returns:
        A validated value. Text that was cut by the limit on tokens is given as far as it came, and the message's
        `finish_reason` is "length"; of any other type it raises OUTPUT_TRUNCATED.
    Raises:
        UnspoolError: any code; `partial` is the message, `text` the answer and `partial_value` the unvalidated value
            as far as they came. Of an answer that stayed invalid, `attempts` holds the errors of the earlier ones; each
            has the usage of its own attempt in `partial`.
    Cancellation:
        Aborts the request on the network.
    """
    check_names(options, "default", "max_repairs", "returns_message")
    check_repairs(max_repairs)
    result, message = await answered(Question(prompt, T, lm, **options), lm, max_repairs=max_repairs, default=default)
    return (result, message) if returns_message else result


@overload
async def sample(
    prompt: Prompt | Template,
    *,
    lm: LanguageModel,
    count: int,
    transform: None = None,
    **options: Unpack[AnswerOptions],
) -> list[str | UnspoolError]: ...
@overload
async def sample[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    count: int,
    transform: None = None,
    **options: Unpack[AnswerOptions],
) -> list[R | UnspoolError]: ...
@overload
async def sample[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    count: int,
    transform: Callable[[R], Awaitable[S]],
    **options: Unpack[AnswerOptions],
) -> list[S | UnspoolError]: ...
@overload
async def sample[R, S](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    count: int,
    transform: Callable[[R], S],
    **options: Unpack[AnswerOptions],
) -> list[S | UnspoolError]: ...
@overload
async def sample(
    prompt: Prompt | Template, T: Any = ..., *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
) -> list[Any]: ...
@spells_out
async def sample(
    prompt: Prompt | Template, T: Any = str, *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
) -> list[Any]:
    """Ask a model the same question several times, up to four at a time.

    Args:
        prompt, T, lm, options: as in `query_stream`.
        count: how often, from 1 to 256.
    Returns:
        One entry for each time: a validated value, or the UnspoolError that stands in its place.
    Raises:
        ConfigError: INVALID_OPTIONS or UNSUPPORTED.
    Cancellation:
        Aborts every request.
    """
    check_names(options, "count")
    check_count("count", count, most=256)
    asked = Question(prompt, T, lm, **options)
    gate = asyncio.Semaphore(SAMPLE_CONCURRENCY)

    async def one() -> Any:
        async with gate:
            try:
                return await asked.stream(lm).result()
            except UnspoolError as error:
                return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for _ in range(count)]
    return [task.result() for task in tasks]


def _question_at(messages: Sequence[Message]) -> int:
    """Find the last message of the user: what comes after it, such as the results of tools, belongs to it."""
    return next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), len(messages))


def with_words(messages: Sequence[Message], words: str) -> list[Message]:
    """Put our words at the end of a conversation: what stands last is what small models follow best."""
    last = messages[-1]
    if last.role != "user":
        return [*messages, UserMessage(words)]
    parts = list(last.parts)
    if parts and isinstance(parts[-1], TextPart):
        parts[-1] = TextPart(f"{parts[-1].text}\n\n{words}")
    else:
        parts.append(TextPart(words))
    return [*messages[:-1], last.with_parts(parts)]
