"""DispatchedModel: a call with middleware around it, whose chunks are checked like any provider's answer."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any, cast

from unspool.contracts import ProviderDecoder, Request, Response
from unspool.errors import CallCancelledError, ConfigError, StreamTruncatedError, UnspoolError, WireError
from unspool.model import ChunkStream, LanguageModel
from unspool.printable import said_by
from unspool.stream.chunks import DELTAS, BlockEnd, BlockStart, Chunk, Finish, UsageReport

_CHUNKS = (*DELTAS, BlockStart, BlockEnd, UsageReport, Finish)


class DispatchedModel(LanguageModel):
    """A model whose answers pass through functions of the application."""

    def __init__(self, model: LanguageModel, wrap: Callable[[Callable[[], ChunkStream]], AsyncIterable[Chunk]]) -> None:
        """
        Args:
            model: does the work.
            wrap: is given a function that sends the request, which may be called once, and gives the chunks to show.
        """
        super().__init__(model.model)
        self._inner = model
        self._wrap = wrap

    async def _open(self, request: Request, credential: str | None) -> Response:
        sent: list[ChunkStream] = []

        def proceed() -> ChunkStream:
            if sent:
                raise ConfigError("INVALID_OPTIONS", "A middleware can send its call once.")
            sent.append(ChunkStream(self._inner, request))
            return sent[0]

        try:
            chunks: Any = self._wrap(proceed)
            if not isinstance(chunks, AsyncIterable):
                raise ConfigError(
                    "INVALID_OPTIONS",
                    f"A middleware must give an asynchronous iterable of chunks, not {type(chunks).__name__}.",
                )
            return _Wrapped(cast("AsyncIterable[Chunk]", chunks), sent)
        except UnspoolError:
            raise
        except Exception as error:
            raise _failure(error) from error

    def _decoder(self, request: Request) -> ProviderDecoder:
        return _PassedOn()


class _Wrapped:
    """What a middleware gives, as a response; to close it closes the call inside as well."""

    status: int
    headers: Mapping[str, str]

    def __init__(self, chunks: AsyncIterable[Chunk], sent: list[ChunkStream]) -> None:
        self.status = 200
        self.headers = {}
        self._chunks: AsyncIterator[Chunk] = aiter(chunks)
        self._sent = sent
        self._aborted = False

    async def read(self) -> list[Any] | None:
        if self._aborted:
            raise CallCancelledError
        try:
            return [await anext(self._chunks)]
        except StopAsyncIteration:
            return None
        except UnspoolError:
            raise
        except Exception as error:
            raise _failure(error) from error

    def abort(self) -> None:
        self._aborted = True
        for stream in self._sent:
            stream.abort()

    async def close(self) -> None:
        self.abort()
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            with contextlib.suppress(Exception):  # the answer stands, however badly its wrapper closes
                await close()
        for stream in self._sent:
            await stream.aclose()


class _PassedOn:
    """Decodes nothing: chunks come as chunks. An end without `Finish` is no end."""

    def __init__(self) -> None:
        self._over = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        raise WireError("PROTOCOL", "A middleware gave bytes; it must give chunks.")

    def decode(self, event: Any) -> list[Chunk]:
        if not isinstance(event, _CHUNKS):
            raise WireError("PROTOCOL", f"A middleware gave {type(event).__name__}; it must give chunks.")
        self._over = self._over or isinstance(event, Finish)
        return [event]

    def finish(self) -> list[Chunk]:
        if self._over:
            return []
        self._over = True
        return [Finish("error", error=StreamTruncatedError("A middleware ended the answer without its last chunk."))]


def _failure(error: Exception) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"A middleware failed ({said_by(error)}).")
