"""Decoder: what the decoders of all dialects have in common; each adds how it reads its events. No IO, no clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from unspool.errors import ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.failure import error_detail, event_in, said_in, stream_failure
from unspool.providers.fields import Fields, fields_of
from unspool.providers.kept_chars import KeptChars
from unspool.stream.chunks import Chunk, Finish, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json


class Decoder(ABC):
    """Decodes one answer, streamed or whole.

    A dialect reads an event in `_read`. It appends chunks, notes here what the end must say (`_raw_reason`, `_usage`,
    `_metadata`, `_model`, `_id`), adds `_end()` when the answer is over, and raises what is wrong. What comes after the
    end is passed over.
    """

    __slots__ = (
        "_adapter",
        "_called",
        "_ended",
        "_id",
        "_kept",
        "_metadata",
        "_model",
        "_name",
        "_raw_reason",
        "_size",
        "_stray",
        "_usage",
        "_what",
    )

    _reasons: ClassVar[Mapping[str, FinishReason]] = {}
    """The provider's reasons in our words; for others the answer is over."""

    def __init__(self, adapter: str, what: str) -> None:
        """
        Args:
            adapter: its name.
            what: what is decoded, in the words of an error: "answer of Cohere's".
        """
        self._adapter = adapter
        self._what = what
        self._model: str | None = None
        self._id: str | None = None
        self._name: str | None = None  # of the event that is being read, where it stands beside its data
        self._raw_reason: str | None = None
        self._usage: Fields = {}  # as last reported
        self._called = 0  # tools
        self._metadata: dict[str, Any] = {}
        self._kept = KeptChars()
        self._size = 0  # of the event that is being read, in characters; 0 for one that was given as a value
        self._stray: str | None = None  # words of an event that is no part of an answer
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one event of a stream.

        Returns:
            Chunks in order, ending with `Finish` after the last event and after an error.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended:
            return []
        data = data.strip()
        if data == "[DONE]":
            return self._done()
        if not data or data.startswith(":"):  # F5: comments inside of data
            return []
        if name == "error":
            return self._end(self._failure(event_in(data)))
        event: Any = strict_json.loads(data, duplicate_keys="last")
        if name != "message" and isinstance(event, dict):
            members = cast("dict[str, Any]", event)
            if members.get("type") is None:  # dialects name an event at either place, or at both
                members["type"] = name
        self._size = len(data)
        self._name = name
        return self._take(event)

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole answer, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after the last event, a whole answer, an error, and something that
            cannot be meant (WireError PROTOCOL, BODY_TOO_LARGE).
        """
        self._size = 0
        self._name = None
        return [] if self._ended else self._take(event)

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of what is open, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when the answer
            had not come to its end, WireError (PROTOCOL) when nothing of an answer had come. Nothing when `Finish` has
            been given.
        """
        return [] if self._ended else self._end(self._fault())

    def _take(self, event: Any) -> list[Chunk]:
        out: list[Chunk] = []
        try:
            if isinstance(event, dict):
                self._read(cast("dict[str, Any]", event), out)
            elif error_detail(event) is not None:
                raise self._failure(event)
            elif event is not None:
                kind = type(event).__name__
                raise WireError("PROTOCOL", f"The provider sent an event that is not an object: a {kind}.")
        except (WireError, ProviderError) as error:
            out += self._end(error)
        return out

    def _pass_over(self, event: Fields) -> None:
        """Note what an event says that is no part of an answer: should nothing else come, it tells why."""
        if self._stray is None:
            told = [name for name, value in event.items() if value not in (None, self._name)]  # a ping tells nothing
            self._stray = excerpt(said_in(event) or ", ".join(map(str, told))) or None

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        """Give the end of what is open, usage, and `Finish`."""
        self._ended = True
        out: list[Chunk] = []
        self._end_blocks(out)
        if self._usage:
            out.append(UsageReport(self._counts(self._usage)))
        reason = "error" if error is not None else self._reason()
        if reason == "error" and error is None:
            error = self._broken_off()
        out.append(Finish(reason, self._raw_reason, error, origin=self._origin(), metadata=self._metadata or None))
        return out

    @abstractmethod
    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        """Read one event, or one whole answer.

        Raises:
            WireError: for something that cannot be meant.
            ProviderError: for an error that it reports.
        """

    @abstractmethod
    def _is_answered(self) -> bool:
        """Whether anything of an answer has come."""

    @abstractmethod
    def _end_blocks(self, out: list[Chunk]) -> None:
        """End the blocks that are open."""

    @abstractmethod
    def _counts(self, raw: Fields) -> Usage:
        """Read the provider's report of the usage."""

    def _reason(self) -> FinishReason:
        """Give the reason in our words, where nothing went wrong."""
        reason = self._reasons.get(self._raw_reason or "", "stop")
        return "tool_calls" if reason == "stop" and self._called else reason

    def _done(self) -> list[Chunk]:
        """`[DONE]` has come."""
        return self.finish()

    def _fault(self) -> UnspoolError | None:
        """What is wrong with an answer whose body ends here."""
        if self._stray is not None and not self._is_answered():
            return WireError("PROTOCOL", f"The response is no {self._what}, but says: {self._stray}")
        return StreamTruncatedError()

    def _failure(self, event: object) -> ProviderError:
        """Give the error that an event reports."""
        return stream_failure(error_detail(event) or fields_of(event))

    def _broken_off(self) -> ProviderError:
        """Give the error for which the reason stands."""
        said = excerpt(self._raw_reason or "", 80)
        return ProviderError("PROVIDER", f"The provider broke off the answer ({said}).", retryable=True)

    def _origin(self) -> Origin | None:
        return Origin(self._adapter, self._model, self._id) if self._model or self._id else None
