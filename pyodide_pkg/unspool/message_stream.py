"""A call whose whole message is wanted, in the manner of a query: nothing is read out of it, tools may be called."""

from __future__ import annotations

from typing import Any

from unspool.errors import CallCancelledError, UnspoolError
from unspool.messages import Message
from unspool.model import ChunkStream
from unspool.structured.events import Cancelled, GenerationComplete, GenerationFailed, StructuredEvent
from unspool.structured.reply import Repair


class MessageStream:
    """One call of a model as a query without progress: its only event is the terminal one."""

    def __init__(self, source: ChunkStream) -> None:
        """Take over a call that has not begun."""
        self._source = source
        self._done = False
        self.repairs: list[Repair] = []

    @property
    def message(self) -> Message:
        """The message as far as it has been read."""
        return self._source.message

    @property
    def text(self) -> str:
        """Its text."""
        return self.message.text

    @property
    def partial_value(self) -> Any:
        """Of a text, the text."""
        return self.text

    async def read(self) -> list[StructuredEvent[None]] | None:
        """Wait for the end of the answer.

        Returns:
            The terminal event; None after it, and after `aclose`.
        Cancellation:
            Aborts the request.
        """
        if self._done:
            return None
        has_ended = False
        while (chunks := await self._source.read()) is not None:
            has_ended = chunks[-1].type == "finish"
        self._done = True
        if not has_ended:
            return None
        error = self._source.error
        message = self.message
        if error is None:
            return [GenerationComplete(None, message.usage, message.finish_reason)]
        self._keep_in(error)
        return [Cancelled(error) if isinstance(error, CallCancelledError) else GenerationFailed(error)]

    def _keep_in(self, error: UnspoolError) -> None:
        """Give an error what has come of the answer."""
        error.text = error.partial_value = self.text
        self._source._keep_in(error)  # pyright: ignore[reportPrivateUsage]

    def abort(self) -> None:
        """Stop the call; whoever reads gets `Cancelled`. Idempotent."""
        self._source.abort()

    async def aclose(self) -> None:
        """Leave it: nothing more is given. Idempotent."""
        self._done = True
        await self._source.aclose()
