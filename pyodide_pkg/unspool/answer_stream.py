"""QueryStream: the events of one query, while the answer is being written."""

from __future__ import annotations

from collections import deque
from typing import Any, Self

from unspool.answer import AnswerMachine
from unspool.messages import Message
from unspool.model import ChunkStream
from unspool.structured.events import Cancelled, GenerationFailed, ParsingFailed, StructuredEvent
from unspool.structured.reply import Repair


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
    def repairs(self) -> list[Repair]:
        """What lenient reading has put right so far, each with its kind and its place in the text."""
        return self._answer.repairs

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
