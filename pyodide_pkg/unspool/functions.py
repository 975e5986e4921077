"""Typed queries: a prompt and a type in, events or a validated value out.

One read of the model's stream gives one batch of events. The only waits are that read and the closing of the response;
parsing and validation are synchronous. Nothing is shown twice, and nothing that a model writes is ever executed.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from unspool.answer import AnswerMachine
from unspool.answer_stream import Check, QueryStream
from unspool.contracts import OutputSchema, Signal
from unspool.errors import ConfigError, OutputValidationError, UnspoolError
from unspool.messages import AssistantMessage, Message, TextPart, UserMessage
from unspool.model import SAMPLE_CONCURRENCY, LanguageModel
from unspool.options import CallOptions, Prompt, check_count, messages_of
from unspool.schema import NativeOutput, Schema, example_reply, format_value, native_schema, schema_prompt
from unspool.schema.text import Protocol, check_protocol
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

Example = tuple["Prompt | Template", Any]
"""A question and the value that answers it."""

MAX_REPAIRS = 8

_TEXT: Any = object()
_NO_DEFAULT: Any = object()


class QueryOptions(CallOptions, total=False):
    """What a query may be told; see `query_stream`."""

    protocol: Protocol
    lenient: bool
    examples: Sequence[Example]
    transform: Callable[[Any], Any] | None
    signal: Signal | Any
    max_chars: int
    max_depth: int
    check: Check | None


class _Query:
    """One question, ready to be asked once or several times."""

    __slots__ = ("check", "messages", "native", "options", "protocol", "schema", "settings", "signal")

    def __init__(
        self,
        prompt: Prompt | Template,
        T: Any,
        lm: LanguageModel,
        *,
        protocol: Protocol = "json",
        lenient: bool = False,
        examples: Sequence[Example] = (),
        transform: Callable[[Any], Any] | None = None,
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
        for name in options:
            if name not in CallOptions.__annotations__:
                raise ConfigError("INVALID_OPTIONS", f"There is no option {name!r} here; {_advice(name)}.")
        check_protocol(protocol)
        check_count("max_chars", max_chars, most=MAX_CHARS_CEILING)
        check_count("max_depth", max_depth, most=MAX_DEPTH_CEILING)
        if cast("Any", check) not in (None, "report", "stop"):
            raise ConfigError("INVALID_OPTIONS", "check must be 'report', 'stop' or None.")
        if transform is not None and (not callable(cast("Any", transform)) or iscoroutinefunction(transform)):
            raise ConfigError("INVALID_OPTIONS", "transform must be a plain function of the value, not an async one.")
        self.check: Check | None = check
        self.messages = messages_of(messages_from(prompt))
        self.options = options
        self.protocol: Protocol = protocol
        self.signal = signal
        self.schema: Schema[Any] | None = None if T is _TEXT or T is str else Schema.of(T)
        self.native: NativeOutput | None = None
        self.settings: dict[str, Any] = {
            "lenient": lenient,
            "transform": transform,
            "max_chars": max_chars,
            "max_depth": max_depth,
        }
        self.messages[-1:-1] = self._shots(examples)
        if self.schema is None:
            return
        if options.get("output_schema") is not None:
            raise ConfigError("INVALID_OPTIONS", "A typed query makes its own output_schema; use protocol='native'.")
        if protocol == "native":
            self._ask_natively(lm)
        else:
            self.messages = _with_words(self.messages, schema_prompt(self.schema, protocol))

    def stream(self, lm: LanguageModel, turn: Sequence[Message] = ()) -> QueryStream[Any]:
        answer = AnswerMachine(self.schema, protocol=self.protocol, native=self.native, **self.settings)
        chunks = lm.stream([*self.messages, *turn], signal=self.signal, **self.options)
        return QueryStream(chunks, answer, check=self.check)

    def _shots(self, examples: Sequence[Example]) -> list[Message]:
        """Give examples as turns of the conversation that have been answered in the form asked for."""
        shots: list[Message] = []
        given: Any = examples
        if not isinstance(given, list | tuple) or not all(_is_pair(example) for example in cast("Any", given)):
            raise ConfigError("INVALID_OPTIONS", "examples must be pairs: (a prompt, the value that answers it).")
        for question, value in examples:
            shots += messages_of(messages_from(question))
            reply = str(value) if self.schema is None else example_reply(value, self.protocol, schema=self.schema)
            shots.append(AssistantMessage(reply))
        return shots

    def _ask_natively(self, lm: LanguageModel) -> None:
        assert self.schema is not None
        self.native = native_schema(self.schema, lm.schema_dialect)
        if self.native.reason is not None:
            warnings.warn(
                f"{self.schema.name} cannot be asked for strictly ({self.native.reason}); the answer is checked here "
                "alone.",
                stacklevel=4,
            )
        self.options["output_schema"] = OutputSchema(
            self.schema.name, self.native.schema, strict=self.native.reason is None
        )


def _is_pair(example: Any) -> bool:
    return isinstance(example, list | tuple) and len(cast("Any", example)) == 2


def _advice(name: str) -> str:
    if name in ("max_repairs", "default", "returns_message"):
        return "only query takes it"
    return (
        f"there are {', '.join(sorted(QueryOptions.__annotations__))}; places in a prompt are filled in by us.Template"
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
def query_stream(
    prompt: Prompt | Template, T: Any = _TEXT, *, lm: LanguageModel, **options: Unpack[QueryOptions]
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
            examples: pairs of a prompt and the value that answers it, shown before the question as turns.
            transform: what is done to the validated value; the result is what it gives. What it raises makes the answer
                an invalid one.
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
    return _Query(prompt, T, lm, **options).stream(lm)


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
async def query(
    prompt: Prompt | Template,
    T: Any = _TEXT,
    *,
    lm: LanguageModel,
    returns_message: bool = False,
    default: Any = _NO_DEFAULT,
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
    check_count("max_repairs", max_repairs, least=0, most=MAX_REPAIRS)
    asked = _Query(prompt, T, lm, **options)
    attempts: list[OutputValidationError] = []
    turn: list[Message] = []
    while True:
        stream = asked.stream(lm, turn)
        try:
            result = await _result_of(stream)
        except OutputValidationError as error:
            if stream.message.tool_calls:
                raise  # nothing was wrong with the answer: it is still to come
            repeated = any(error.text == earlier.text for earlier in attempts)
            error.attempts = tuple(attempts)
            attempts.append(error)
            if error.code == "OUTPUT_INVALID" and len(attempts) <= max_repairs and not repeated:
                turn = [AssistantMessage(error.text or "…"), UserMessage(_repair_words(error))]
                continue
            if default is _NO_DEFAULT:
                raise
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
async def sample(
    prompt: Prompt | Template, T: Any = _TEXT, *, lm: LanguageModel, count: int, **options: Unpack[QueryOptions]
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
    check_count("count", count, most=256)
    asked = _Query(prompt, T, lm, **options)
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


async def complete[R](value: R, T: Any = None, *, lm: LanguageModel, **options: Unpack[QueryOptions]) -> R:
    """Have a model fill in what is missing of a value.

    Args:
        value: a pydantic model made by `model_construct`, of which some fields, here or deeper, were not set.
        T: its type; its class when left out.
        lm, options: as in `query_stream`. The default protocol is "python", which has a word for what is missing.
    Returns:
        A validated value of the type.
    Raises:
        ConfigError: INVALID_OPTIONS when the value cannot be shown to a model.
        UnspoolError: as `query`.
    Cancellation:
        Aborts the request on the network.
    """
    schema: Schema[Any] = Schema.of(type(value) if T is None else T)
    shown = format_value(value, "python", T=schema, missing=True)
    words = f"Complete this: give a value in each place that says MISSING, and keep the rest as it is.\n\n{shown}"
    options.setdefault("protocol", "python")
    completed: R = await query(words, schema, lm=lm, **options)
    return completed


async def _result_of(stream: QueryStream[Any]) -> Any:
    async with stream:
        async for event in stream:
            if isinstance(event, GenerationComplete):
                return event.result
            if isinstance(event, ParsingFailed | GenerationFailed | Cancelled):
                raise event.error
    raise AssertionError("a query stream ended without a terminal event")


def _repair_words(error: OutputValidationError) -> str:
    return f"That answer cannot be used. {error.message}\nAnswer the question again, in the form that was asked for."


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
