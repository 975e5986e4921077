"""AnthropicDecoder: events of one message of Anthropic's Messages API in, chunks out.

Blocks come one after another: what overlaps, repeats or belongs to no block is refused, since text or arguments could
end up in the wrong place. Events and deltas of unknown types are passed over, as the API's versioning policy asks.

Source: Claude API documentation, "Streaming messages", "Handling stop reasons", "Versions"; recorded responses.
"""

from __future__ import annotations

from typing import Any

from unspool.errors import ProviderError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.anthropic_block import ADAPTER, AnthropicBlock
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import (
    Fields,
    count_of,
    fields_of,
    index_of,
    kept,
    object_of,
    objects_of,
    report_of,
    text_of,
    text_or_none,
    total,
)
from unspool.stream.chunks import BlockEnd, Chunk
from unspool.stream.excerpt import excerpt

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


class AnthropicDecoder(Decoder):
    """Decode one message, streamed or whole; also the older text completions."""

    __slots__ = ("_block", "_ids", "_last", "_next_index", "_started", "_text_chars", "_unstopped")
    _reasons = _REASONS

    def __init__(self) -> None:
        super().__init__(ADAPTER, "message of Anthropic's")
        self._block: AnthropicBlock | None = None  # the open one
        self._last = -1  # index on the wire of the last block that began
        self._unstopped: set[int] = set()  # blocks on the wire that are over, but whose stop is still to come
        self._next_index = 0
        self._ids: set[str] = set()
        self._text_chars = 0  # of all blocks that are over
        self._started = False

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        match text_of(event, "type"):
            case "message_start":
                self._begin(object_of(event, "message"))
            case "content_block_start":
                self._begin_block(index_of(event, "index"), object_of(event, "content_block"), out)
            case "content_block_delta":
                self._feed_block(index_of(event, "index"), object_of(event, "delta"), out)
            case "content_block_stop":
                index = index_of(event, "index")
                if index in self._unstopped:
                    self._unstopped.remove(index)
                else:
                    self._end_block(index, out)
            case "message_delta":
                self._read_end(object_of(event, "delta"))
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
            case _:
                if error_detail(event) is not None:
                    raise self._failure(event)
                self._pass_over(event)

    def _begin(self, message: dict[str, Any]) -> None:
        if self._last >= 0:
            raise WireError("PROTOCOL", "The provider began another message inside the message.")
        self._read_origin(message)
        self._read_end(message)

    def _read_origin(self, message: dict[str, Any]) -> None:
        self._started = True
        self._model, self._id = text_or_none(message, "model"), text_or_none(message, "id")

    def _read_end(self, holder: dict[str, Any]) -> None:
        """Reason, usage and whatever else may stand at the end of a message, in `message_start` as well."""
        self._raw_reason = text_or_none(holder, "stop_reason") or self._raw_reason
        # Counts are totals so far, and those that do not change may be missing or null.
        counts = fields_of(holder.get("usage"))
        self._usage = {**self._usage, **{name: value for name, value in counts.items() if value is not None}}
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
        self._called += block.type == "tool_use"
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
        if not isinstance(message.get("content"), list):
            raise WireError("PROTOCOL", "The provider sent a message whose content is no list.")
        self._begin({**message, "stop_reason": None})
        for index, block in enumerate(objects_of(message, "content")):
            self._begin_block(index, block, out)
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

    def _keep(self, value: object) -> None:
        kept(value)
        self._kept.add(self._size)

    def _done(self) -> list[Chunk]:
        return []  # some servers end all their streams with it

    def _is_answered(self) -> bool:
        return self._started or self._last >= 0

    def _fault(self) -> UnspoolError | None:
        is_whole = self._raw_reason is not None and self._block is None and not self._unstopped
        return None if is_whole else super()._fault()

    def _failure(self, event: object) -> ProviderError:
        error = super()._failure(event)
        error.request_id = excerpt(text_or_none(fields_of(event), "request_id") or "") or None
        return error

    def _end_blocks(self, out: list[Chunk]) -> None:
        if self._block is not None:  # cut: what it was to become cannot be told
            out.append(BlockEnd(self._block.index))

    def _counts(self, raw: Fields) -> Usage:
        given = count_of(raw, "input_tokens")
        cached = count_of(raw, "cache_read_input_tokens")
        written = count_of(raw, "cache_creation_input_tokens")
        # The wire counts three kinds of input apart; ours is their sum.
        input_tokens = None if given is None else given + (cached or 0) + (written or 0)
        output_tokens = count_of(raw, "output_tokens")
        return Usage(
            input_tokens,
            output_tokens,
            total(input_tokens, output_tokens),
            cached_input_tokens=cached,
            reasoning_tokens=count_of(fields_of(raw.get("output_tokens_details")), "thinking_tokens"),
            raw=report_of(raw),
        )

    def _reason(self) -> FinishReason:
        return "stop" if self._raw_reason in _PAUSED else super()._reason()

    def _origin(self) -> Origin | None:
        return Origin(ADAPTER, self._model, self._id) if self._started else None
