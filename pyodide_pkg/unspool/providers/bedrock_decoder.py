"""BedrockDecoder: events of one ConverseStream, or one whole answer of Converse, in; chunks out.

Source: Amazon Bedrock API reference, "ConverseStreamOutput"; the service model of botocore; recorded responses.
"""

from __future__ import annotations

from typing import Any

from unspool.errors import ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.bedrock_block import ADAPTER, BedrockBlock, events_of
from unspool.providers.bedrock_failure import exception_failure
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
    text_or_none,
    total,
)
from unspool.stream.chunks import BlockEnd, Chunk
from unspool.stream.response import MAX_BLOCKS
from unspool.structured import strict_json

_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
"""An unknown one counts as "stop", with the raw one beside it."""
_CUT = ("length", "content_filter", "error")
"""Reasons that may come in the middle of a block."""
_SAID = ("additionalModelResponseFields", "metrics", "performanceConfig", "serviceTier", "trace")
"""What is handed on as metadata."""
_FAULTS = ("exception", "error")


class BedrockDecoder(Decoder):
    """Decode one answer. An event is known by its name; inside a value that name is the one member."""

    __slots__ = ("_began", "_calls", "_next_index", "_open", "_over", "_text_chars")
    _reasons = _REASONS

    def __init__(self, model: str | None = None) -> None:
        """
        Args:
            model: that was asked; answers do not say it.
        """
        super().__init__(ADAPTER, "answer of Bedrock's")
        self._model = model
        self._open: dict[int, BedrockBlock] = {}  # by index on the wire
        self._over: set[int] = set()
        self._next_index = 0
        self._calls: set[str] = set()
        self._text_chars = 0  # of all blocks that are over
        self._began = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one message of the event stream, whose name is what it is; see `Decoder.feed`."""
        if self._ended:
            return []
        value: Any = strict_json.loads(data, duplicate_keys="last") if data.strip() else {}
        self._size = len(data)
        # A proxy may send the same events in another frame, without their names.
        return self._take(value if name == "message" else {name: value})

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        if "output" in event:
            self._whole(event, out)
            return
        type_ = text_or_none(event, "__type")
        detail = error_detail(event)
        if type_ is not None:
            raise exception_failure(type_, event)
        if detail is not None and not isinstance(event.get("error"), dict):
            raise self._failure(event)
        for name in event:
            if self._ended:
                return
            self._read_member(event, name, out)

    def _read_member(self, event: Fields, name: str, out: list[Chunk]) -> None:
        if name.lower().endswith(_FAULTS):
            fault = fields_of(event[name])
            raise exception_failure(text_or_none(fault, "code") or name, fault)
        match name:
            case "messageStart":
                self._begin(object_of(event, name))
            case "contentBlockStart":
                members = object_of(event, name)
                index, block = self._block(members)
                if block.kind is not None:
                    raise WireError("PROTOCOL", f"The provider began block {index} twice.")
                block.start(object_of(members, "start") if members.get("start") else {}, out)
                if block.call_id is not None:
                    if block.call_id in self._calls:
                        raise WireError("PROTOCOL", f"Two blocks of the answer have the id {block.call_id[:80]!r}.")
                    self._calls.add(block.call_id)
                    self._called += 1
            case "contentBlockDelta":
                members = object_of(event, name)
                _, block = self._block(members)
                delta = object_of(members, "delta")
                if not _is_text(delta):
                    kept(delta)
                    self._kept.add(self._size)
                block.feed(delta, out)
            case "contentBlockStop":
                self._end_block(index_of(object_of(event, name), "contentBlockIndex"), out)
            case "messageStop":
                self._read_end(object_of(event, name))
                if self._open and _REASONS.get(self._raw_reason or "", "stop") not in _CUT:
                    index = next(iter(self._open))
                    raise WireError("PROTOCOL", f"The provider ended the message while block {index} was open.")
            case "metadata":
                self._read_end(object_of(event, name))
                if self._raw_reason is not None:  # the last event
                    out += self._end()
            case _:
                self._pass_over({name: event[name]})

    def _begin(self, message: Fields) -> None:
        if self._began:
            raise WireError("PROTOCOL", "The provider began another message inside the message.")
        self._began = True

    def _block(self, holder: Fields) -> tuple[int, BedrockBlock]:
        """Give the block of an event; texts and reasoning begin with their first delta."""
        index = index_of(holder, "contentBlockIndex")
        if self._raw_reason is not None or index in self._over:
            raise WireError("PROTOCOL", f"The provider sent more of block {index}, which is over.")
        self._began = True
        if index not in self._open:
            self._count_block()
            self._open[index] = BedrockBlock(self._next_index)
            self._next_index += 1
        return index, self._open[index]

    def _count_block(self) -> None:
        if len(self._over) + len(self._open) >= MAX_BLOCKS:  # here as well, because some begin with nothing to show
            raise WireError("PROTOCOL", f"The answer has more than {MAX_BLOCKS} blocks.")

    def _end_block(self, index: int, out: list[Chunk]) -> None:
        if index in self._over:
            raise WireError("PROTOCOL", f"The provider ended block {index} twice.")
        block = self._open.get(index)
        if block is None:  # nothing was in it
            self._count_block()
            self._over.add(index)
            return
        block.finish(out)
        del self._open[index]
        self._over.add(index)
        start = self._text_chars
        self._text_chars += block.text_chars
        for citation in block.citations:
            cited: list[Any] = self._metadata.setdefault("citations", [])
            cited.append({"start": start, "end": self._text_chars, "citation": citation})

    def _whole(self, answer: dict[str, Any], out: list[Chunk]) -> None:
        message = object_of(object_of(answer, "output"), "message")
        if not isinstance(message.get("content"), list):
            raise WireError("PROTOCOL", "The provider sent a message whose content is no list.")
        self._begin(message)
        for index, block in enumerate(objects_of(message, "content")):
            start, deltas = events_of(block)
            place = {"contentBlockIndex": index}
            self._read_member({"contentBlockStart": {**place, "start": start}}, "contentBlockStart", out)
            for delta in deltas:
                self._read_member({"contentBlockDelta": {**place, "delta": delta}}, "contentBlockDelta", out)
            self._read_member({"contentBlockStop": place}, "contentBlockStop", out)
        self._read_end(answer)
        if self._raw_reason is None:
            raise StreamTruncatedError
        out += self._end()

    def _read_end(self, holder: Fields) -> None:
        """Reason, usage and whatever else stands at the end of an answer."""
        self._began = True
        self._raw_reason = text_or_none(holder, "stopReason") or self._raw_reason
        self._usage = fields_of(holder.get("usage")) or self._usage
        self._metadata |= {name: holder[name] for name in _SAID if holder.get(name) not in (None, {})}

    def _is_answered(self) -> bool:
        return self._began

    def _fault(self) -> UnspoolError | None:
        return None if self._raw_reason is not None else super()._fault()

    def _broken_off(self) -> ProviderError:
        said = f"The model wrote something that cannot be read ({self._raw_reason})."
        return ProviderError("PROVIDER", said, retryable=True)

    def _end_blocks(self, out: list[Chunk]) -> None:
        # They were cut: what they were to become cannot be told.
        out += (BlockEnd(block.index) for block in self._open.values() if block.kind is not None)

    def _counts(self, raw: Fields) -> Usage:
        given = count_of(raw, "inputTokens")
        cached = count_of(raw, "cacheReadInputTokens")
        written = count_of(raw, "cacheWriteInputTokens")
        # The wire counts three kinds of input apart; ours is their sum.
        input_tokens = None if given is None else given + (cached or 0) + (written or 0)
        output_tokens = count_of(raw, "outputTokens")
        both = total(input_tokens, output_tokens)
        return Usage(
            input_tokens,
            output_tokens,
            count_of(raw, "totalTokens") if both is None else both,
            cached_input_tokens=cached,
            raw=report_of(raw),
        )

    def _origin(self) -> Origin | None:
        router = fields_of(fields_of(self._metadata.get("trace")).get("promptRouter"))
        model = text_or_none(router, "invokedModelId") or self._model
        return Origin(ADAPTER, model) if model else None


def _is_text(delta: Fields) -> bool:
    """Whether a delta is nothing but text, which the machine counts."""
    inner = fields_of(delta.get("reasoningContent"))
    return [*delta] == ["text"] or ([*delta] == ["reasoningContent"] and [*inner] == ["text"])
