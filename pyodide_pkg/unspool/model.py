"""LanguageModel and the one asynchronous loop of the library.

In: a prompt. Out: chunks, one batch for each slice of the network, or the assembled `Message`. The only waits are the
opening of the response, its next slice, and its end; everything between is synchronous. Reads nothing ahead.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from unspool.blanking import blank_out
from unspool.contracts import ProviderDecoder, Request, Response, Signal
from unspool.errors import (
    CallCancelledError,
    ConfigError,
    NetworkError,
    ProviderError,
    UnspoolError,
    WireError,
)
from unspool.foreign_error import typed
from unspool.messages import Message
from unspool.options import CallOptions, Prompt, build_request, check_options
from unspool.printable import said_by
from unspool.release import Patience, close
from unspool.signals import SignalListener
from unspool.signature import SpelledOut
from unspool.stream.assembler import BlockAssembler
from unspool.stream.chunks import Chunk, Finish
from unspool.stream.response import ResponseMachine
from unspool.time_limit import time_limit
from unspool.transport.draining import Draining

if TYPE_CHECKING:
    from unspool.schema.native import Dialect

MAX_ERROR_BODY_BYTES = 65_536
"""What is read of a response with an error status; providers say less, and pages of proxies need not be whole."""
ERROR_BODY_TIMEOUT_S = 10.0
"""How long that may take: the status is known, so the caller should not wait for its words."""
SAMPLE_CONCURRENCY = 4
"""Below the six connections that browsers allow to one HTTP/1.1 origin."""


class LanguageModel(ABC):
    """A model that can be called. A subclass says how a response is opened and decoded.

    Subclasses give `_open` and `_decoder`; HTTP models also `_credential` and `_failure`.
    """

    model: str
    """The provider's name of the model."""
    schema_dialect: Dialect = "openai"
    """Which part of JSON Schema its provider holds answers to."""
    __signature__ = SpelledOut()

    def __init__(self, model: str, **defaults: Unpack[CallOptions]) -> None:
        """Name the model and the options that hold where a call says nothing.

        Args:
            model: the provider's name of the model.
            defaults: see `CallOptions`.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        if not isinstance(cast(Any, model), str) or not model:
            raise ConfigError("INVALID_OPTIONS", "The model must be named by a text that is not empty.")
        check_options(defaults)
        self.model = model
        self._defaults = defaults

    def stream(self, prompt: Prompt, *, signal: Signal | Any = None, **options: Unpack[CallOptions]) -> ChunkStream:
        """Prepare a call whose answer is read while it is written. Nothing is sent before the first read.

        Args:
            prompt: text of the user, one message, or a conversation.
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the call.
            options: see `CallOptions`; they win over the model's defaults.
        Raises:
            ConfigError: INVALID_OPTIONS. Everything later is told by the last chunk, `Finish(error=…)`.
        """
        return ChunkStream(self, build_request(self.model, prompt, self._defaults, options), signal)

    async def call(self, prompt: Prompt, *, signal: Signal | Any = None, **options: Unpack[CallOptions]) -> Message:
        """Call the model and wait for the whole answer.

        Args:
            prompt, signal, options: as in `stream`.
        Raises:
            UnspoolError: any code; `partial` holds the message as far as it came.
        Cancellation:
            Aborts the request on the network.
        """
        async with self.stream(prompt, signal=signal, **options) as stream:
            while await stream.read() is not None:
                pass
        if stream.error is not None:
            raise stream.error
        return stream.message

    async def sample(
        self, prompts: Sequence[Prompt], *, signal: Signal | Any = None, **options: Unpack[CallOptions]
    ) -> list[Message]:
        """Call the model once for each prompt, up to four at a time.

        Args:
            prompts: one prompt for each call; the same one may come several times.
            signal, options: as in `stream`, for all calls.
        Returns:
            The answers in the order of the prompts.
        Raises:
            UnspoolError: any code, of the first failure; the calls that are not over are aborted.
        Cancellation:
            Aborts every request.
        """
        if isinstance(prompts, str | Message) or not isinstance(cast(Any, prompts), Iterable):
            raise ConfigError("INVALID_OPTIONS", "sample takes a sequence of prompts; use call for one.")
        gate = asyncio.Semaphore(SAMPLE_CONCURRENCY)

        async def one(prompt: Prompt) -> Message:
            async with gate:
                return await self.call(prompt, signal=signal, **options)

        tasks = [asyncio.ensure_future(one(prompt)) for prompt in prompts]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    async def _credential(self) -> str | None:
        """Fetch what `_open` is to send as credential; it is blanked out of every error. May raise anything."""
        return None

    def _secrets(self, credential: str | None) -> tuple[str, ...]:
        """Give what is blanked out of the errors of a call, beside what looks like a credential."""
        return () if credential is None else (credential,)

    @abstractmethod
    async def _open(self, request: Request, credential: str | None) -> Response:
        """Send the request and give the response, once its headers are there. May raise anything."""

    @abstractmethod
    def _decoder(self, request: Request) -> ProviderDecoder:
        """Make the decoder of one response."""

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> UnspoolError:
        """Turn a response with an error status into an error; `body` is bounded and may be cut."""
        return ProviderError("PROVIDER", f"The provider answered with status {status}.", status=status)


class ChunkStream:
    """The answer to one call, while it is being written.

    Read it with `async for chunk in stream`, or batch by batch with `read()`. It never raises for a fault of the
    provider or of the way to it: the last chunk is `Finish`, with the error. Leave it early as you like: by
    `aclose()`, `async with`, by cancelling the task, or by dropping it; the request is then aborted on the network.
    """

    error: UnspoolError | None
    """What ended the answer, once `read` has given the last chunk; None when the answer is whole."""

    def __init__(self, model: LanguageModel, request: Request, signal: Any = None) -> None:
        """Made by `LanguageModel.stream`."""
        self.error = None
        self._over = True  # until all is there: __del__ also runs when this fails
        self._model = model
        self._request = request
        self._listener = None if signal is None else SignalListener(signal, self)
        self._assembler = BlockAssembler()
        self._machine: ResponseMachine | None = None
        self._response: Response | None = None
        self._credential: str | None = None
        self._rest: deque[Chunk] = deque()
        self._aborted = False
        self._left = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reader: asyncio.Task[Any] | None = None
        self._interrupts = 0
        self._cancelled_before = 0
        self._over = False

    @property
    def message(self) -> Message:
        """The message as far as it has been read: partial while the answer is being written, whole after its end."""
        return self._assembler.message()

    async def read(self) -> list[Chunk] | None:
        """Wait for the next chunks.

        Returns:
            The chunks of one slice of the network, in order and never empty; None after the last one, and after
            `aclose`. The last chunk of all is `Finish`; the response is closed before it is given.
        Raises:
            ConfigError: INVALID_OPTIONS when another task is already waiting, or the reading was begun in another event
                loop.
        Cancellation:
            Aborts the request; the stream is over and `message` holds what had come.
        """
        if self._reader is not None:
            raise ConfigError("INVALID_OPTIONS", "Another task is already reading this stream.")
        if self._rest:
            rest = list(self._rest)
            self._rest.clear()
            return rest
        if self._over:
            return None
        reader = asyncio.current_task()
        assert reader is not None
        if (self._loop or reader.get_loop()) is not reader.get_loop():
            raise ConfigError("INVALID_OPTIONS", "Read a stream on in the event loop in which its reading was begun.")
        self._loop = reader.get_loop()
        self._cancelled_before = reader.cancelling()
        self._reader = reader
        try:
            chunks = await self._advance()
        except asyncio.CancelledError:
            is_told = reader.cancelling() > self._cancelled_before
            if self._take_back(reader) or not is_told:  # what the model waited for was cancelled, if nobody was told
                chunks = [] if self._left else await self._end(CallCancelledError())
            else:
                if not self._over:
                    self._leave()
                with contextlib.suppress(asyncio.CancelledError):  # a second one; the request is aborted already
                    await self._release()
                raise
        except BaseException:  # the coroutine was closed, or the interpreter is leaving
            self._drop()
            raise
        finally:
            self._reader = None
            self._take_back(reader)
        return chunks or None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        if not self._rest:
            batch = await self.read()
            if batch is None:
                raise StopAsyncIteration
            self._rest.extend(batch)
        return self._rest.popleft()

    def abort(self) -> None:
        """Stop the call at once: the request is cancelled on the network within this call.

        Whoever reads on gets `Finish("aborted")` with CallCancelledError ABORTED as the last chunk. Idempotent; does
        nothing once the answer is over. This is also what a signal does.
        """
        if self._over or self._aborted:
            return
        self._aborted = True
        self._interrupt()

    async def aclose(self) -> None:
        """Leave the stream: abort the request, wait until all is released. Nothing more is given. Idempotent."""
        self._rest.clear()
        if self._over:
            return
        self._left = True
        self._interrupt()
        self._leave()
        await self._release()

    def _keep_in(self, error: UnspoolError) -> None:
        """Give an error the message so far, unless it has one, and take the credential of the call out of it."""
        if error.partial is None:
            error.partial = self.message
        for secret in self._model._secrets(self._credential):  # pyright: ignore[reportPrivateUsage]
            blank_out(error, secret)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if not self._over:
            self._drop()

    def __repr__(self) -> str:
        state = "over" if self._over else "open" if self._response is not None else "not sent"
        return f"ChunkStream({self._model!r}, {state})"

    async def _advance(self) -> list[Chunk]:
        """Give the next batch; the fault of anyone else's code becomes the terminal chunk."""
        blame: type[UnspoolError] = NetworkError
        try:
            if self._aborted or (self._listener is not None and self._listener.is_set()):
                raise CallCancelledError
            if self._response is None or self._machine is None:
                if self._listener is not None:
                    self._listener.start()
                model = self._model
                self._credential = await Patience(model._credential, model)  # pyright: ignore[reportPrivateUsage]
                self._heed()
                opening = partial(model._open, self._request, self._credential)  # pyright: ignore[reportPrivateUsage]
                self._response = await Patience(opening, model)
                self._heed()
                if not 200 <= self._response.status < 300:
                    raise await self._refusal(self._response)
                blame = WireError
                self._machine = ResponseMachine(
                    self._model._decoder(self._request),  # pyright: ignore[reportPrivateUsage]
                    content_type=self._response.headers.get("content-type"),
                )
            while True:
                blame = NetworkError
                data = await Patience(self._response.read, self._model)
                self._heed()
                blame = WireError
                chunks = self._machine.finish() if data is None else self._machine.feed(data)
                if self._machine.done:
                    return await self._finish(chunks)
                if chunks:
                    self._record(chunks)
                    return chunks
        except Exception as error:
            return await self._end(typed(error, blame))

    async def _refusal(self, response: Response) -> UnspoolError:
        body = bytearray()
        try:
            async with time_limit(ERROR_BODY_TIMEOUT_S):
                while len(body) < MAX_ERROR_BODY_BYTES:
                    data = await Patience(response.read, self._model)
                    if not isinstance(data, bytes):
                        break
                    body += data
        except CallCancelledError:
            raise
        except Exception:
            pass  # what has come of it is enough
        said = bytes(body[:MAX_ERROR_BODY_BYTES])
        try:
            return self._model._failure(response.status, response.headers, said)  # pyright: ignore[reportPrivateUsage]
        except Exception as error:  # the status stands, whatever became of the words
            return ProviderError(
                "PROVIDER",
                f"The provider answered with status {response.status}; its words could not be read ({said_by(error)}).",
                retryable=response.status >= 500,
                status=response.status,
            )

    async def _end(self, error: UnspoolError) -> list[Chunk]:
        return [] if self._over else await self._finish(self._fail(error))

    async def _finish(self, chunks: list[Chunk]) -> list[Chunk]:
        """Close the response, or let what is left of a whole answer come; only then give the terminal chunk."""
        self._over = True
        try:
            self._record(chunks)
            if self.error is None and isinstance(self._response, Draining):
                self._response.drain()
                self._response = None
        finally:
            await self._release()
        return chunks

    def _fail(self, error: UnspoolError) -> list[Chunk]:
        error.__traceback__ = None  # its frames hold this stream, which holds the error
        if self._machine is not None:
            with contextlib.suppress(Exception):  # a broken decoder has had its say
                return self._machine.fail(error)
        return [Finish("aborted" if isinstance(error, CallCancelledError) else "error", error=error)]

    def _record(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            self._assembler.feed(chunk)
        last = chunks[-1]
        if isinstance(last, Finish) and last.error is not None:
            self._keep_in(last.error)
            self.error = last.error

    def _interrupt(self) -> None:
        """Abort the response and wake the reader.

        Waking by cancelling the reader's task, as `asyncio.timeout` does, works at every wait (a key being fetched, a
        connection, a slice) and needs no task of our own.
        """
        if self._over:
            return
        self._abort_response()
        if self._reader is None:
            return
        try:
            inside = asyncio.current_task() is self._reader
        except RuntimeError:  # no loop is running here
            inside = False
        if inside:  # from a callback of our own wait; a task cannot wake itself
            self._reader.get_loop().call_soon(self._interrupt)
        else:
            self._interrupts += 1
            self._reader.cancel()

    def _heed(self) -> None:
        """Go no further when the call was aborted or its reader cancelled, and whoever was waited for ignored it."""
        if self._reader is not None and self._reader.cancelling() > self._cancelled_before:
            raise asyncio.CancelledError
        if self._aborted:
            raise CallCancelledError

    def _take_back(self, reader: asyncio.Task[Any]) -> bool:
        """Undo the cancellations that were ours; give whether there were any and no one else's is left."""
        ours, self._interrupts = self._interrupts, 0
        for _ in range(ours):
            reader.uncancel()
        return ours > 0 and reader.cancelling() <= self._cancelled_before

    def _leave(self) -> None:
        self._drop()
        self._record(self._fail(CallCancelledError()))
        self.error = None

    def _drop(self) -> None:
        self._over = True
        if self._listener is not None:
            self._listener.stop()
        self._abort_response()

    def _abort_response(self) -> None:
        if self._response is not None:
            with contextlib.suppress(Exception):  # someone else's model; leaving goes on
                self._response.abort()

    async def _release(self) -> None:
        if self._response is not None:
            await close(self._response.close, f"The closing of an answer of {self._model!r}")  # however badly
        if self._listener is not None:
            await self._listener.close()
