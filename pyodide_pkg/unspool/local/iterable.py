"""IterableResponse: any iterable, Python's or JavaScript's, as a response of decoded events.

In: an iterable. Out: slices of one event each; closing the response closes the iterable. Nothing is read ahead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import CallCancelledError, ProviderError, UnspoolError
from unspool.messages import Message
from unspool.printable import said_by
from unspool.source import Source, is_javascript
from unspool.tagged import Tagged

WANTED = (
    "texts, a message (us.AssistantMessage), its parts (us.ToolCall), us.Usage, chunks, or OpenAI chat events (dicts); "
    'a value as text, which us.format_value(value, "json") writes'
)
"""What a model gives, in the words of an error."""


class IterableResponse:
    """A response whose events come from an iterable."""

    status: int
    headers: Mapping[str, str]

    def __init__(self, iterable: Any) -> None:
        """Take an iterable of events; nothing is read yet.

        Args:
            iterable: an asynchronous or plain iterable, a JavaScript iterable or ReadableStream, or one event (a text,
                a dict, a message, a part, a chunk).
        Raises:
            ProviderError: PROVIDER when it is none of these.
        """
        self.status = 200
        self.headers = {}
        self._source = _source(iterable)
        self._aborted = False
        self._reading = False
        self._over = False

    async def read(self) -> list[Any] | None:
        """Wait for the next event.

        Raises:
            ProviderError: PROVIDER when the iterable fails; the foreign error is its cause.
            CallCancelledError: ABORTED after `abort` or `close`.
        Cancellation:
            Cancels the iterable's own wait.
        """
        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        if self._over:
            return None
        self._reading = True
        try:
            event = as_data(await self._source.next())
        except StopAsyncIteration:
            self._over = True
            return None
        except UnspoolError:
            raise
        except Exception as error:
            if self._aborted:
                raise CallCancelledError("The response was aborted.") from None
            raise failure(error) from error
        finally:
            self._reading = False
        if self._aborted:
            raise CallCancelledError("The response was aborted.")
        return [event]

    def abort(self) -> None:
        """Stop at once: the iterable is closed, or told so when it is waiting. Idempotent."""
        if self._aborted or self._over:
            return
        self._aborted = True
        if not self._reading:  # else its reader is being cancelled, and closes it
            self._source.abandon()

    async def close(self) -> None:
        """Stop, and wait until the iterable has closed. Idempotent."""
        self._aborted = True
        if not self._reading:
            with contextlib.suppress(Exception):  # the answer stands, however badly its source closes
                await self._source.close()


def failure(error: Exception) -> ProviderError:
    """Say that a model which is a function or an object of the page failed."""
    ran_out = (StopIteration, StopAsyncIteration)
    if isinstance(error, ran_out) or isinstance(error.__cause__, ran_out):  # a coroutine wraps it
        return ProviderError(
            "PROVIDER",
            "The answers of the model's function ran out (StopIteration): it is called for each request, also for "
            "second tries.",
        )
    return ProviderError("PROVIDER", f"The model failed ({said_by(error)}).")


def _source(iterable: Any) -> Source:
    if isinstance(iterable, str | Mapping | Tagged | Message):
        return Source((cast(Any, iterable),))
    try:
        if hasattr(iterable, "model_dump"):  # pydantic's can be iterated, for their fields
            raise TypeError
        return Source(iterable)
    except TypeError as error:
        if is_javascript(iterable):  # an event
            return Source((iterable,))
        raise ProviderError(
            "PROVIDER", f"A model must give {WANTED}; or an iterable of these; not {type(iterable).__name__}."
        ) from error


def as_data(value: Any) -> Any:
    """Turn a JavaScript object into Python data, by way of JSON: null is None there, and depth is bounded.

    Raises:
        StreamError: MAX_BYTES_EXCEEDED, MAX_DEPTH_EXCEEDED.
    """
    if not is_javascript(value):
        return value
    import js

    from unspool.structured import strict_json

    return strict_json.loads(js.JSON.stringify(value), duplicate_keys="last")
