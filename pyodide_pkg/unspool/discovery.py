"""Discovery: asking an endpoint which models it serves. One request, with the limits and errors of any other call."""

from __future__ import annotations

from typing import Any

from unspool.contracts import ModelFacts, ProviderDecoder, Request, Response
from unspool.errors import StreamTruncatedError, WireError
from unspool.http_model import HttpModel
from unspool.model import ChunkStream
from unspool.stream.chunks import Chunk, Finish


class ModelList(HttpModel):
    """The list of models of one endpoint, asked for as a model is asked for an answer."""

    async def fetch(self, *, signal: Any = None) -> list[ModelFacts]:
        """Ask the endpoint.

        Args:
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the request.
        Raises:
            UnspoolError: as a call; WireError PROTOCOL when the answer lists no models.
        Cancellation:
            Aborts the request on the network.
        """
        decoder = _ListDecoder(self)
        self._list = decoder
        async with ChunkStream(self, Request(self.model, ()), signal) as stream:
            while await stream.read() is not None:
                pass
        if stream.error is not None:
            stream.error.partial = None
            raise stream.error
        return decoder.models

    async def _open(self, request: Request, credential: str | None) -> Response:
        return await self._send(self.adapter.models_request(api_key=credential, base_url=self.base_url))

    def _decoder(self, request: Request) -> ProviderDecoder:
        return self._list


class _ListDecoder:
    """Reads one JSON document. A bare list comes item by item."""

    def __init__(self, owner: ModelList) -> None:
        self.models: list[ModelFacts] = []
        self._adapter = owner.adapter
        self._documents: list[Any] = []
        self._over = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        raise WireError("PROTOCOL", "The endpoint answered with an event stream, not with a list of models.")

    def decode(self, event: Any) -> list[Chunk]:
        self._documents.append(event)
        return []

    def finish(self) -> list[Chunk]:
        if self._over:
            return []
        self._over = True
        if not self._documents:
            return [Finish("error", error=StreamTruncatedError("The endpoint listed no models."))]
        only = self._documents[0] if len(self._documents) == 1 else None
        items = isinstance(only, dict) and "id" in only  # a bare list of one
        try:
            self.models = self._adapter.models(self._documents if only is None or items else only)
        except WireError as error:
            return [Finish("error", error=error)]
        return [Finish("stop")]
