"""Typed queries: a prompt and a type in, events or a validated value out.

One read of the model's stream gives one batch of events. The only waits are that read and the closing of the response;
parsing and validation are synchronous. Nothing is shown twice, and nothing that a model writes is ever executed.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from unspool.answer import AnswerMachine
from unspool.answer_stream import Check, QueryStream, Transform
from unspool.contracts import OutputSchema, Signal
from unspool.errors import ConfigError, OutputValidationError, UnspoolError
from unspool.examples import Example, example_turns
from unspool.messages import AssistantMessage, Message, TextPart, UserMessage
from unspool.model import SAMPLE_CONCURRENCY, LanguageModel
from unspool.options import CallOptions, Prompt, check_count, messages_of, no_option
from unspool.schema import NativeOutput, Schema, format_value, native_schema, schema_prompt
from unspool.schema.text import Protocol, check_protocol
from unspool.signature import LEFT_OUT, spells_out
from unspool.stream.response import MAX_CHARS as MAX_CHARS_CEILING
from unspool.structured.events import (
    MAX_CHARS,
    MAX_DEPTH,
    Cancelled,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
)
from unspool.templates import Template, messages_from
from unspool.whole_reply import MAX_DEPTH_CEILING

if TYPE_CHECKING:
    from typing_extensions import TypeForm

MAX_REPAIRS = 8


class QueryOptions(CallOptions, total=False):
    """What a query may be told; see `query_stream`."""

    protocol: Protocol
    lenient: bool
    examples: Sequence[Example]
    transform: Transform | None
    signal: Signal | Any
    max_chars: int
    max_depth: int
    check: Check | None


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
        if not isinstance(cast(Any, lm), LanguageModel):
            raise ConfigError(
                "INVALID_OPTIONS",
                "lm must be a model, such as us.llms.OpenAIChat(…); a function becomes one by us.llms.FunctionModel.",
            )
        check_names(options)
        check_protocol(protocol)
        check_count("max_chars", max_chars, most=MAX_CHARS_CEILING)
        check_count("max_depth", max_depth, most=MAX_DEPTH_CEILING)
        if cast("Any", check) not in (None, "report", "stop"):
            raise ConfigError("INVALID_OPTIONS", "check must be 'report', 'stop' or None.")
        if transform is not None and not callable(cast("Any", transform)):
            raise ConfigError("INVALID_OPTIONS", "transform must be a function of the value.")
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
            self.messages = _with_words(self.messages, schema_prompt(schema, self.protocol))
            return
        self.native = native = native_schema(schema, lm.schema_dialect)
        if native.reason is not None:
            warnings.warn(
                f"{schema.name} cannot be asked for strictly ({native.reason}); the answer is checked here alone.",
                stacklevel=4,
            )
        self.options["output_schema"] = OutputSchema(schema.name, native.schema, strict=native.reason is None)


def check_names(options: Mapping[str, Any], *own: str) -> None:
    """Refuse what is no option of a query.

    Args:
        options: by name.
        own: what the function takes besides.
    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    known = QueryOptions.__annotations__
    for name in options:
        if name in ("max_repairs", "default", "returns_message"):
            raise ConfigError("INVALID_OPTIONS", f"There is no option {name!r} here; only query takes it.")
        if name not in known:
            raise ConfigError(
                "INVALID_OPTIONS",
                f"{no_option(name, (*known, *own))}; places in a prompt are filled in by us.Template.",
            )


@overload
def query_stream(
    prompt: Prompt | Template, *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[str]: ...
@overload
def query_stream[R](
    prompt: Prompt | Template, T: Schema[R], *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[R]: ...
@overload
def query_stream[R](
    prompt: Prompt | Template, T: TypeForm[R], *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[R]: ...
@overload
def query_stream(
    prompt: Prompt | Template, T: Mapping[str, Any], *, lm: LanguageModel, **options: Unpack[QueryOptions]
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
    returns_message: Literal[False] = False,
    **options: Unpack[QueryOptions],
) -> str: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: Schema[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[False] = False,
    default: R = ...,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: Schema[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[True],
    default: R = ...,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> tuple[R, Message]: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[False] = False,
    default: R = ...,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt | Template,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[True],
    default: R = ...,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> tuple[R, Message]: ...
@overload
async def query(
    prompt: Prompt | Template,
    T: Mapping[str, Any],
    *,
    lm: LanguageModel,
    returns_message: bool = False,
    default: Any = ...,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
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
        returns_message: give `(value, message)` instead of the value.
        default: the value to give when the answer is not valid, instead of raising; not when the model called a tool.
        max_repairs: how often the model is asked again with the faults of its answer, at most 8. It is not asked again
            when it repeats itself. Default: never.
    Returns:
        A validated value.
    Raises:
        UnspoolError: any code; `partial` is the message, `text` the answer and `partial_value` the unvalidated value
            as far as they came. Of an answer that stayed invalid, `attempts` holds the errors of the earlier ones.
    Cancellation:
        Aborts the request on the network.
    """
    check_names(options, "default", "max_repairs", "returns_message")
    check_count("max_repairs", max_repairs, least=0, most=MAX_REPAIRS)
    asked = Question(prompt, T, lm, **options)
    attempts: list[OutputValidationError] = []
    turn: list[Message] = []
    while True:
        stream = asked.stream(lm, turn)
        end = await _end_of(stream)
        if isinstance(end, GenerationComplete):
            result = end.result
        else:
            error = end.error
            if not isinstance(end, ParsingFailed) or stream.message.tool_calls:
                raise error  # nothing was wrong with the answer, or it is still to come
            repeated = any(error.text == earlier.text for earlier in attempts)
            end.error.attempts = tuple(attempts)
            attempts.append(end.error)
            if error.code == "OUTPUT_INVALID" and len(attempts) <= max_repairs and not repeated:
                turn = repair_turn(error.text, error.message)
                continue
            if default is LEFT_OUT:
                raise error
            result = default
        return (result, stream.message) if returns_message else result


@overload
async def sample(
    prompt: Prompt | Template, *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
) -> list[str | UnspoolError]: ...
@overload
async def sample[R](
    prompt: Prompt | Template, T: TypeForm[R], *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
) -> list[R | UnspoolError]: ...
@overload
async def sample(
    prompt: Prompt | Template, T: Any, *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
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
                return await _result_of(asked.stream(lm))
            except UnspoolError as error:
                return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for _ in range(count)]
    return [task.result() for task in tasks]


@spells_out
async def complete[R](value: R, T: Any = None, *, lm: LanguageModel, **options: Unpack[QueryOptions]) -> R:
    """Have a model fill in what is missing of a value.

    Args:
        value: a pydantic model made by `model_construct`, of which some fields, here or deeper, were not set.
        T: its type; its class when left out.
        lm, options: as in `query_stream`. The default protocol is "python", which has a word for what is missing.
    Returns:
        A validated value of the type.
    Raises:
        ConfigError: INVALID_OPTIONS when the value has no parts, or cannot be shown to a model.
        UnspoolError: as `query`.
    Cancellation:
        Aborts the request on the network.
    """
    check_names(options)
    if value is None or isinstance(value, type | str | int | float):
        name = value.__name__ if isinstance(value, type) else "City"
        raise ConfigError(
            "INVALID_OPTIONS",
            f"complete fills in what a value does not have yet: give it one, such as {name}.model_construct(…).",
        )
    schema: Schema[Any] = Schema.of(type(value) if T is None else T)
    shown = format_value(value, "python", T=schema, missing=True)
    words = f"Complete this: give a value in each place that says MISSING, and keep the rest as it is.\n\n{shown}"
    options.setdefault("protocol", "python")
    completed: R = await query(words, schema, lm=lm, **options)
    return completed


type _End = GenerationComplete[Any] | ParsingFailed | GenerationFailed | Cancelled


async def _end_of(stream: QueryStream[Any]) -> _End:
    async with stream:
        async for event in stream:
            if isinstance(event, GenerationComplete | ParsingFailed | GenerationFailed | Cancelled):
                return event
    raise AssertionError("a query stream ended without a terminal event")


async def _result_of(stream: QueryStream[Any]) -> Any:
    end = await _end_of(stream)
    if isinstance(end, GenerationComplete):
        return end.result
    raise end.error


def repair_turn(answer: str | None, fault: str) -> list[Message]:
    """Show a model its answer, and what is wrong with it."""
    words = f"That answer cannot be used. {fault}\nAnswer the question again, in the form that was asked for."
    return [AssistantMessage(answer if answer and answer.strip() else "…"), UserMessage(words)]


def _question_at(messages: Sequence[Message]) -> int:
    """Find the last message of the user: what comes after it, such as the results of tools, belongs to it."""
    return next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), len(messages))


def _with_words(messages: Sequence[Message], words: str) -> list[Message]:
    """Put our words at the end of the conversation: what stands last is what small models follow best."""
    last = messages[-1]
    if last.role != "user":
        return [*messages, UserMessage(words)]
    parts = list(last.parts)
    if parts and isinstance(parts[-1], TextPart):
        parts[-1] = TextPart(f"{parts[-1].text}\n\n{words}")
    else:
        parts.append(TextPart(words))
    return [*messages[:-1], last.with_parts(parts)]
