"""AnthropicDecoder: events of one message of Anthropic's Messages API in, chunks out.

Blocks come one after another: what overlaps, repeats or belongs to no block is refused, since text or arguments could
end up in the wrong place. Events and deltas of unknown types are passed over, as the API's versioning policy asks.

Source: Claude API documentation, "Streaming messages", "Handling stop reasons", "Versions"; recorded responses.
"""

from __future__ import annotations

from typing import Any, cast

from unspool.errors import ProviderError, StreamError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.anthropic_block import ADAPTER, AnthropicBlock
from unspool.providers.failure import error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, kept, no_object, report_of, text_of, text_or_none
from unspool.providers.kept_chars import KeptChars
from unspool.stream.chunks import BlockEnd, Chunk, Finish, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

_FLAT = ("text_delta", "thinking_delta", "input_json_delta", "signature_delta")
_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""An unknown one counts as "stop", with the raw one beside it."""
_PAUSED = ("pause_turn", "compaction")
_SAID = ("stop_sequence", "stop_details", "container", "context_management", "diagnostics")
"""What is handed on as metadata."""


class AnthropicDecoder:
    """Decode one message, streamed or whole; also the older text completions."""

    __slots__ = (
        "_block",
        "_calls",
        "_ended",
        "_ids",
        "_kept",
        "_last",
        "_metadata",
        "_next_index",
        "_origin",
        "_raw_reason",
        "_size",
        "_stray",
        "_text_chars",
        "_unstopped",
        "_usage",
    )

    def __init__(self) -> None:
        self._block: AnthropicBlock | None = None  # the open one
        self._last = -1  # index on the wire of the last block that began
        self._unstopped: set[int] = set()  # blocks on the wire that are over, but whose stop is still to come
        self._next_index = 0
        self._ids: set[str] = set()
        self._calls = 0
        self._text_chars = 0  # of all blocks that are over
        self._usage: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._origin: Origin | None = None
        self._raw_reason: str | None = None
        self._stray: str | None = None  # words of an event that is no part of a message
        self._size = 0  # of the event that is being read
        self._kept = KeptChars()
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Returns:
            Chunks in order, ending with `Finish` after `message_stop` or an error.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended:
            return []
        data = data.strip()
        if not data or data == "[DONE]":  # some servers end all their streams with it
            return []
        try:
            event = strict_json.loads(data, duplicate_keys="last")
        except StreamError:
            if name != "error":
                raise
            return self._end(stream_failure({"message": data}))
        if name == "error":
            return self._end(_reported(event, data))
        self._size = len(data)
        # An event without a name is called "message", which is no name of the vendor's events.
        return self._take(event, "" if name == "message" else name)

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole message, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after the last event, a whole message, an error, and something that
            cannot be meant (WireError PROTOCOL).
        """
        self._size = 0
        return [] if self._ended else self._take(event, "")

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of the open block, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when the
            message had not come to its end, WireError (PROTOCOL) when nothing of a message had come. Nothing when
            `Finish` has been given.
        """
        if self._ended:
            return []
        if self._raw_reason is not None and self._block is None and not self._unstopped:
            return self._end()
        if self._stray is not None and self._origin is None and self._last < 0:
            return self._end(
                WireError("PROTOCOL", f"The response is no message of Anthropic's, but says: {self._stray}")
            )
        return self._end(StreamTruncatedError())

    def _take(self, event: Any, name: str) -> list[Chunk]:
        out: list[Chunk] = []
        try:
            if isinstance(event, dict):
                self._read(cast("dict[str, Any]", event), name, out)
            elif event is not None:
                raise no_object(event)
        except (WireError, ProviderError) as error:
            out += self._end(error)
        return out

    def _read(self, event: dict[str, Any], name: str, out: list[Chunk]) -> None:
        match text_of(event, "type") or name:
            case "message_start":
                self._begin(_object(event, "message"))
            case "content_block_start":
                self._begin_block(_wire_index(event), _object(event, "content_block"), out)
            case "content_block_delta":
                self._feed_block(_wire_index(event), _object(event, "delta"), out)
            case "content_block_stop":
                index = _wire_index(event)
                if index in self._unstopped:
                    self._unstopped.remove(index)
                else:
                    self._end_block(index, out)
            case "message_delta":
                self._read_end(_object(event, "delta"))
                self._read_end(event)
            case "message_stop":
                if self._block is not None or self._unstopped:
                    index = min(self._unstopped, default=self._last)
                    raise WireError("PROTOCOL", f"The provider ended the message while block {index} was open.")
                out += self._end()
            case "message":
                self._whole(event, out)
            case "completion":
                self._completion(event, out)
            case "ping":
                pass
            case kind:
                if kind == "error" or error_detail(event) is not None:
                    raise _reported(event, ", ".join(map(str, event)))
                if self._stray is None:
                    self._stray = excerpt(said_in(event) or ", ".join(map(str, event)))

    def _begin(self, message: dict[str, Any]) -> None:
        if self._last >= 0:
            raise WireError("PROTOCOL", "The provider began another message inside the message.")
        self._read_origin(message)
        self._read_end(message)

    def _read_origin(self, message: dict[str, Any]) -> None:
        self._origin = Origin(ADAPTER, text_or_none(message, "model"), text_or_none(message, "id"))

    def _read_end(self, holder: dict[str, Any]) -> None:
        """Reason, usage and whatever else may stand at the end of a message, in `message_start` as well."""
        self._raw_reason = text_or_none(holder, "stop_reason") or self._raw_reason
        # Counts are totals so far, and those that do not change may be missing or null.
        counts = fields_of(holder.get("usage"))
        self._usage |= {name: value for name, value in counts.items() if value is not None}
        self._metadata |= {name: holder[name] for name in _SAID if holder.get(name) is not None}

    def _begin_block(self, index: int, content: dict[str, Any], out: list[Chunk]) -> None:
        if self._block is not None and index > self._last:  # llama.cpp stops all its blocks at the end of the message
            self._unstopped.add(self._last)
            self._end_block(self._last, out)
        if index <= self._last:
            raise WireError("PROTOCOL", f"The provider began block {index} after block {self._last}.")
        if self._raw_reason is not None:
            raise WireError("PROTOCOL", f"The provider began block {index} after the end of the message.")
        block = AnthropicBlock(self._next_index, content)
        if block.id is not None:
            if block.id in self._ids:
                raise WireError("PROTOCOL", f"Two blocks of the answer have the id {block.id[:80]!r}.")
            self._ids.add(block.id)
        self._last = index
        self._next_index += 1
        self._keep(content)
        self._calls += block.type == "tool_use"
        self._block = block
        out += block.start()

    def _feed_block(self, index: int, delta: dict[str, Any], out: list[Chunk]) -> None:
        block = self._open_block(index, "more of")
        if delta.get("type") not in _FLAT[:2]:
            self._keep(None if delta.get("type") in _FLAT else delta)
        out += block.feed(delta)

    def _end_block(self, index: int, out: list[Chunk]) -> None:
        block = self._open_block(index, "the end of")
        self._block = None
        out += block.finish()
        start = self._text_chars
        self._text_chars += block.text_chars
        for citation in block.citations:
            cited: list[Any] = self._metadata.setdefault("citations", [])
            cited.append({"start": start, "end": self._text_chars, "citation": citation})

    def _open_block(self, index: int, what: str) -> AnthropicBlock:
        if self._block is None or index != self._last:
            raise WireError("PROTOCOL", f"The provider sent {what} block {index}, which is not open.")
        return self._block

    def _whole(self, message: dict[str, Any], out: list[Chunk]) -> None:
        content: object = message.get("content")
        if not isinstance(content, list):
            raise WireError("PROTOCOL", "The provider sent a message whose content is no list.")
        self._begin({**message, "stop_reason": None})
        for index, block in enumerate(cast("list[object]", content)):
            if not isinstance(block, dict):
                raise WireError("PROTOCOL", "The provider sent a content block that is no object.")
            self._begin_block(index, cast("dict[str, Any]", block), out)
            self._end_block(index, out)
        self._read_end(message)
        out += self._end()

    def _completion(self, event: dict[str, Any], out: list[Chunk]) -> None:
        """The API before messages: one text in pieces, and a reason."""
        self._read_origin(event)
        if self._block is None:
            self._begin_block(0, {"type": "text", "text": ""}, out)
        self._feed_block(0, {"type": "text_delta", "text": event.get("completion")}, out)
        self._read_end({**event, "stop_sequence": event.get("stop")})
        if self._raw_reason is not None:
            self._end_block(0, out)
            out += self._end()

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        if self._block is not None:  # cut: what it was to become cannot be told
            out.append(BlockEnd(self._block.index))
        if self._usage:
            out.append(UsageReport(_usage(self._usage)))
        raw = self._raw_reason
        reason = _REASONS.get(raw or "", "stop")
        if reason == "stop" and self._calls and raw not in _PAUSED:
            reason = "tool_calls"
        if error is not None:
            reason = "error"
        out.append(Finish(reason, raw, error, origin=self._origin, metadata=self._metadata or None))
        return out

    def _keep(self, value: object) -> None:
        kept(value)
        self._kept.add(self._size)


def _reported(event: object, data: str) -> ProviderError:
    """The error that an event reports."""
    error = stream_failure(error_detail(event) or {"message": data})
    error.request_id = excerpt(text_or_none(fields_of(event), "request_id") or "") or None
    return error


def _object(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    if not isinstance(value, dict):
        raise WireError("PROTOCOL", f"The provider sent an event whose `{name}` is no object.")
    return cast("dict[str, Any]", value)


def _wire_index(event: dict[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int) or isinstance(index, bool):
        raise WireError("PROTOCOL", "The provider sent an event of a block without its index.")
    return index


def _usage(raw: Fields) -> Usage:
    given = count_of(raw, "input_tokens")
    cached = count_of(raw, "cache_read_input_tokens")
    written = count_of(raw, "cache_creation_input_tokens")
    # The wire counts three kinds of input apart; ours is their sum.
    input_tokens = None if given is None else given + (cached or 0) + (written or 0)
    output_tokens = count_of(raw, "output_tokens")
    return Usage(
        input_tokens,
        output_tokens,
        None if input_tokens is None or output_tokens is None else input_tokens + output_tokens,
        cached_input_tokens=cached,
        reasoning_tokens=count_of(fields_of(raw.get("output_tokens_details")), "thinking_tokens"),
        raw=report_of(raw),
    )
