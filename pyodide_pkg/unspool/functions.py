"""Typed queries: a prompt and a type in, events or a validated value out.

One read of the model's stream gives one batch of events. The only waits are that read and the closing of the response;
parsing and validation are synchronous. Nothing is retried or repaired, and nothing is shown twice.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, cast, overload

from unspool.answer import AnswerMachine
from unspool.contracts import OutputSchema, Signal
from unspool.errors import ConfigError
from unspool.messages import Message, TextPart, UserMessage
from unspool.model import ChunkStream, LanguageModel
from unspool.options import CallOptions, Prompt, check_count, messages_of
from unspool.schema import NativeOutput, Schema, json_prompt, openai_strict
from unspool.stream.response import MAX_CHARS as MAX_CHARS_CEILING
from unspool.structured.events import (
    MAX_CHARS,
    MAX_DEPTH,
    Cancelled,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    StructuredEvent,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

Protocol = Literal["json", "native"]

MAX_DEPTH_CEILING = 128
"""What `Schema.validate` takes: beyond it the native frames of recursive models could end a Pyodide interpreter."""

_TEXT: Any = object()


class QueryStream[T]:
    """The events of one query, while the answer is being written.

    Read it with `async for event in stream`, or batch by batch with `read()`. Events: any number of progress events,
    then exactly one terminal event; before that is given, the response has been closed. It never raises for a fault of
    the answer, the provider or the way to it. Leave it early as you like: by `aclose()`, `async with`, by cancelling
    the task, or by dropping it (a `break` drops a stream that no variable holds); the request is then aborted on the
    network and there is no terminal event.
    """

    def __init__(self, source: ChunkStream, answer: AnswerMachine) -> None:
        """Made by `query_stream`."""
        self._source = source
        self._answer = answer
        self._rest: deque[StructuredEvent[T]] = deque()

    @property
    def text(self) -> str:
        """The answer as text, as far as it has been read; also after the end, whatever it was. Costs its length."""
        return self._answer.text

    @property
    def partial_value(self) -> Any:
        """The value as far as it has been read, not validated; None before it begins. Do not change it.

        It grows in place while the stream is read, and stays after the end, whatever it was. Of a text query: the text.
        """
        return self._answer.partial_value

    @property
    def message(self) -> Message:
        """The model's message as far as it has been read, with reasoning, usage and finish reason."""
        return self._source.message

    async def read(self) -> list[StructuredEvent[T]] | None:
        """Wait for the next events.

        Returns:
            The events of one slice of the network, in order and never empty: the slice's text as a `TextDelta`, then
            what it means. None after the terminal event, and after `aclose`.
        Raises:
            ConfigError: INVALID_OPTIONS when another task is already waiting.
        Cancellation:
            Aborts the request; the stream is over, without a terminal event.
        """
        if self._rest:
            rest = list(self._rest)
            self._rest.clear()
            return rest
        events: list[StructuredEvent[T]] = []
        while not events:
            batch = None if self._answer.done else await self._source.read()
            if batch is None:
                return None
            events = self._answer.feed(batch)
        if self._answer.done:
            # Before the reader learns of the end, so that no token is paid for that nobody wants.
            await self._source.aclose()
            if isinstance(events[-1], ParsingFailed | GenerationFailed | Cancelled):
                error = events[-1].error
                error.partial = error.partial or self.message
        return events

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StructuredEvent[T]:
        if not self._rest:
            batch = await self.read()
            if batch is None:
                raise StopAsyncIteration
            self._rest.extend(batch)
        return self._rest.popleft()

    def abort(self) -> None:
        """Stop the call at once: the request is cancelled on the network within this call.

        Whoever reads on gets `Cancelled` as the terminal event. Idempotent; does nothing once the answer is over.
        """
        self._source.abort()

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Nothing more is given. Idempotent."""
        self._rest.clear()
        await self._source.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"QueryStream({self._source!r})"


class QueryOptions(CallOptions, total=False):
    """What a query may be told; see `query_stream`."""

    protocol: Protocol
    signal: Signal | Any
    max_chars: int
    max_depth: int


@overload
def query_stream(prompt: Prompt, *, lm: LanguageModel, **options: Unpack[QueryOptions]) -> QueryStream[str]: ...
@overload
def query_stream[R](
    prompt: Prompt, T: Schema[R], *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[R]: ...
@overload
def query_stream[R](
    prompt: Prompt, T: TypeForm[R], *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[R]: ...
@overload
def query_stream(
    prompt: Prompt, T: Mapping[str, Any], *, lm: LanguageModel, **options: Unpack[QueryOptions]
) -> QueryStream[Any]: ...
def query_stream(
    prompt: Prompt,
    T: Any = _TEXT,
    *,
    lm: LanguageModel,
    protocol: Protocol = "json",
    signal: Signal | Any = None,
    max_chars: int = MAX_CHARS,
    max_depth: int = MAX_DEPTH,
    **options: Unpack[CallOptions],
) -> QueryStream[Any]:
    """Ask a model for a value of a type and watch it being written. Nothing is sent before the first read.

    Args:
        prompt: text of the user, one message, or a conversation.
        T: what `Schema.of` takes; without it the answer is plain text.
        lm: the model to ask.
        protocol: "json" tells the model the JSON Schema in words, after the prompt; "native" has the provider hold the
            answer to it (structured output) and leaves the prompt as it is.
        signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the call.
        max_chars: longest answer, in characters, at most 16 Mi.
        max_depth: deepest nesting of the answer, at most 128.
        options: see `CallOptions`; they win over the model's defaults.
    Raises:
        ConfigError: INVALID_OPTIONS or UNSUPPORTED. Everything later is told by the terminal event.
        A UserWarning tells that a provider cannot hold the answer to a type strictly (open dicts, tuples, `Any`).
    """
    if not isinstance(cast(Any, lm), LanguageModel):
        raise ConfigError(
            "INVALID_OPTIONS",
            "lm must be a model, such as us.llms.OpenAIChat(…); a function becomes one by us.llms.FunctionModel(…).",
        )
    if protocol not in ("json", "native"):
        raise ConfigError("INVALID_OPTIONS", f"There is no protocol {protocol!r}; there are 'json' and 'native'.")
    check_count("max_chars", max_chars, most=MAX_CHARS_CEILING)
    check_count("max_depth", max_depth, most=MAX_DEPTH_CEILING)
    if not isinstance(cast(Any, lm), LanguageModel):
        raise ConfigError("INVALID_OPTIONS", "lm must be a language model, such as one of unspool.llms.")
    if T is _TEXT:
        answer = AnswerMachine(None, max_chars=max_chars, max_depth=max_depth)
        return QueryStream(lm.stream(prompt, signal=signal, **options), answer)
    schema: Schema[Any] = Schema.of(T)
    native: NativeOutput | None = None
    if options.get("output_schema") is not None:
        raise ConfigError("INVALID_OPTIONS", "A typed query makes its own output_schema; use protocol='native'.")
    if protocol == "native":
        native = openai_strict(schema)
        if native.reason is not None:
            warnings.warn(
                f"{schema.name} cannot be asked for strictly ({native.reason}); the answer is checked here alone.",
                stacklevel=2,
            )
        options["output_schema"] = OutputSchema(schema.name, native.schema, strict=native.reason is None)
    else:
        prompt = _with_words(prompt, json_prompt(schema))
    answer = AnswerMachine(schema, native=native, max_chars=max_chars, max_depth=max_depth)
    return QueryStream(lm.stream(prompt, signal=signal, **options), answer)


@overload
async def query[R](
    prompt: Prompt,
    T: Schema[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[False] = False,
    **options: Unpack[QueryOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt,
    T: Schema[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[True],
    **options: Unpack[QueryOptions],
) -> tuple[R, Message]: ...
@overload
async def query[R](
    prompt: Prompt,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[False] = False,
    **options: Unpack[QueryOptions],
) -> R: ...
@overload
async def query[R](
    prompt: Prompt,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    returns_message: Literal[True],
    **options: Unpack[QueryOptions],
) -> tuple[R, Message]: ...
@overload
async def query(
    prompt: Prompt,
    T: Mapping[str, Any],
    *,
    lm: LanguageModel,
    returns_message: bool = False,
    **options: Unpack[QueryOptions],
) -> Any: ...
async def query(
    prompt: Prompt,
    T: Any,
    *,
    lm: LanguageModel,
    protocol: Protocol = "json",
    returns_message: bool = False,
    signal: Signal | Any = None,
    max_chars: int = MAX_CHARS,
    max_depth: int = MAX_DEPTH,
    **options: Unpack[CallOptions],
) -> Any:
    """Ask a model for a value of a type and wait for it.

    Args:
        prompt, T, lm, protocol, signal, max_chars, max_depth, options: as in `query_stream`.
        returns_message: give `(value, message)` instead of the value.
    Returns:
        A validated value.
    Raises:
        UnspoolError: any code; `partial` is the message, `text` the answer and `partial_value` the unvalidated value
            as far as they came.
    Cancellation:
        Aborts the request on the network.
    """
    stream = query_stream(
        prompt, T, lm=lm, protocol=protocol, signal=signal, max_chars=max_chars, max_depth=max_depth, **options
    )
    async with stream:
        async for event in stream:
            if isinstance(event, GenerationComplete):
                return (event.result, stream.message) if returns_message else event.result
            if isinstance(event, ParsingFailed | GenerationFailed | Cancelled):
                raise event.error
    raise AssertionError("a query stream ended without a terminal event")


def _with_words(prompt: Prompt, words: str) -> list[Message]:
    """Put our words at the end of the conversation: what stands last is what small models follow best."""
    messages = messages_of(prompt)
    last = messages[-1]
    if last.role != "user":
        return [*messages, UserMessage(words)]
    parts = list(last.parts)
    if parts and isinstance(parts[-1], TextPart):
        parts[-1] = TextPart(f"{parts[-1].text}\n\n{words}")
    else:
        parts.append(TextPart(words))
    return [*messages[:-1], Message("user", parts, metadata=last.metadata)]
