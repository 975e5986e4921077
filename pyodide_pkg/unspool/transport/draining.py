"""Draining: what is left of a body whose answer is whole, read to its end in the background.

A connection can serve another request only when its body was read to the end, and a browser reports a request that is
cancelled as failed. But the last event of an answer mostly comes before the end of the body, and some servers never
end it: nobody waits for that, and it is bounded in bytes and time.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod

from unspool.time_limit import time_limit

MAX_REST_BYTES = 65_536
"""Servers send nothing, or the usage; what goes on for longer than this is another stream."""
MAX_REST_S = 1.0
"""A connection that is made anew takes no longer."""

_drains: set[asyncio.Task[None]] = set()
"""The event loop itself holds its tasks only weakly."""


class Draining(ABC):
    """Base of the responses that come over a network."""

    @abstractmethod
    async def read(self) -> bytes | None: ...

    @abstractmethod
    async def close(self) -> None: ...

    def drain(self) -> asyncio.Task[None]:
        """Read what is left in the background, and close; what has arrived is taken within this call."""
        task = asyncio.Task(self._drain(), loop=asyncio.get_running_loop(), eager_start=True)
        if not task.done():
            _drains.add(task)
            task.add_done_callback(_drains.discard)
        return task

    async def _drain(self) -> None:
        room = MAX_REST_BYTES
        with contextlib.suppress(Exception):  # the answer is whole, however its connection ends
            try:
                async with time_limit(MAX_REST_S):
                    while room > 0 and (data := await self.read()) is not None:
                        room -= len(data)
            finally:
                await self.close()
