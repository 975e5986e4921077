"""BedrockDecoder: events of one ConverseStream, or one whole answer of Converse, in; chunks out.

Source: Amazon Bedrock API reference, "ConverseStreamOutput"; the service model of botocore; recorded responses.
"""

from __future__ import annotations

from typing import Any, cast

from unspool.errors import ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.bedrock_block import ADAPTER, BedrockBlock, events_of
from unspool.providers.bedrock_failure import exception_failure
from unspool.providers.failure import error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, kept, no_object, report_of, text_or_none
from unspool.providers.kept_chars import KeptChars
from unspool.stream.chunks import BlockEnd, Chunk, Finish, UsageReport
from unspool.stream.excerpt import excerpt
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


class BedrockDecoder:
    """Decode one answer. An event is known by its name; inside a value that name is the one member."""

    __slots__ = (
        "_began",
        "_calls",
        "_ended",
        "_kept",
        "_metadata",
        "_model",
        "_next_index",
        "_open",
        "_over",
        "_raw_reason",
        "_size",
        "_stray",
        "_text_chars",
        "_usage",
    )

    def __init__(self, model: str | None = None) -> None:
        """
        Args:
            model: that was asked; answers do not say it.
        """
        self._model = model
        self._open: dict[int, BedrockBlock] = {}  # by index on the wire
        self._over: set[int] = set()
        self._next_index = 0
        self._calls: set[str] = set()
        self._text_chars = 0  # of all blocks that are over
        self._usage: Fields | None = None
        self._metadata: dict[str, Any] = {}
        self._raw_reason: str | None = None
        self._stray: str | None = None  # words of an event that is no part of an answer
        self._began = False
        self._size = 0  # of the event that is being read
        self._kept = KeptChars()
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one message of the event stream.

        Returns:
            Chunks in order, ending with `Finish` after the last event or an exception.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended:
            return []
        value: Any = strict_json.loads(data, duplicate_keys="last") if data.strip() else {}
        self._size = len(data)
        # A proxy may send the same events in another frame, without their names.
        return self._take(value if name == "message" else {name: value})

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event as the SDKs give it, `{name: …}`, or one whole answer of Converse.

        Returns:
            Chunks in order, ending with `Finish` after the last event, a whole answer, an error, and something that
            cannot be meant (WireError PROTOCOL).
        """
        self._size = 0
        return [] if self._ended else self._take(event)

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of open blocks, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when the answer
            had not come to its end, WireError (PROTOCOL) when nothing of an answer had come. Nothing when `Finish` has
            been given.
        """
        if self._ended:
            return []
        if self._raw_reason is not None:
            return self._end()
        if self._stray is not None and not self._began:
            return self._end(WireError("PROTOCOL", f"The response is no answer of Bedrock's, but says: {self._stray}"))
        return self._end(StreamTruncatedError())

    def _take(self, event: Any) -> list[Chunk]:
        out: list[Chunk] = []
        try:
            if isinstance(event, dict):
                self._read(cast("dict[str, Any]", event), out)
            elif event is not None:
                raise no_object(event)
        except (WireError, ProviderError) as error:
            out += self._end(error)
        return out

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        if "output" in event:
            self._whole(event, out)
            return
        type_ = text_or_none(event, "__type")
        detail = error_detail(event)
        if type_ is not None:
            raise exception_failure(type_, event)
        if detail is not None and not isinstance(event.get("error"), dict):
            raise stream_failure(detail)
        for name, value in event.items():
            if self._ended:
                return
            self._read_member(name, value, out)

    def _read_member(self, name: str, value: object, out: list[Chunk]) -> None:
        if name.lower().endswith(_FAULTS):
            raise exception_failure(text_or_none(fields_of(value), "code") or name, fields_of(value))
        match name:
            case "messageStart":
                self._begin(_object(name, value))
            case "contentBlockStart":
                members = _object(name, value)
                index, block = self._block(members)
                if block.kind is not None:
                    raise WireError("PROTOCOL", f"The provider began block {index} twice.")
                block.start(_object("start", members.get("start") or {}), out)
                if block.call_id is not None:
                    if block.call_id in self._calls:
                        raise WireError("PROTOCOL", f"Two blocks of the answer have the id {block.call_id[:80]!r}.")
                    self._calls.add(block.call_id)
            case "contentBlockDelta":
                members = _object(name, value)
                _, block = self._block(members)
                delta = _object("delta", members.get("delta"))
                if not _is_text(delta):
                    kept(delta)
                    self._kept.add(self._size)
                block.feed(delta, out)
            case "contentBlockStop":
                self._end_block(_index(_object(name, value)), out)
            case "messageStop":
                self._read_end(_object(name, value))
                if self._open and _REASONS.get(self._raw_reason or "", "stop") not in _CUT:
                    index = next(iter(self._open))
                    raise WireError("PROTOCOL", f"The provider ended the message while block {index} was open.")
            case "metadata":
                self._read_end(_object(name, value))
                if self._raw_reason is not None:  # the last event
                    out += self._end()
            case _:
                self._stray = self._stray or excerpt(said_in({name: value}) or name)

    def _begin(self, message: Fields) -> None:
        if self._began:
            raise WireError("PROTOCOL", "The provider began another message inside the message.")
        self._began = True

    def _block(self, holder: Fields) -> tuple[int, BedrockBlock]:
        """Give the block of an event; texts and reasoning begin with their first delta."""
        index = _index(holder)
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
        message = _object("message", _object("output", answer["output"]).get("message"))
        content: object = message.get("content")
        if not isinstance(content, list):
            raise WireError("PROTOCOL", "The provider sent a message whose content is no list.")
        self._begin(message)
        for index, block in enumerate(cast("list[object]", content)):
            start, deltas = events_of(_object("content", block))
            place = {"contentBlockIndex": index}
            self._read_member("contentBlockStart", {**place, "start": start}, out)
            for delta in deltas:
                self._read_member("contentBlockDelta", {**place, "delta": delta}, out)
            self._read_member("contentBlockStop", place, out)
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

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        self._ended = True
        # What is open was cut: what it was to become cannot be told.
        out: list[Chunk] = [BlockEnd(block.index) for block in self._open.values() if block.kind is not None]
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        raw = self._raw_reason
        reason = _REASONS.get(raw or "", "stop")
        if reason == "stop" and self._calls:
            reason = "tool_calls"
        if reason == "error" and error is None:
            error = ProviderError("PROVIDER", f"The model wrote something that cannot be read ({raw}).", retryable=True)
        if error is not None:
            reason = "error"
        router = fields_of(fields_of(self._metadata.get("trace")).get("promptRouter"))
        model = text_or_none(router, "invokedModelId") or self._model
        origin = Origin(ADAPTER, model) if model else None
        out.append(Finish(reason, raw, error, origin=origin, metadata=self._metadata or None))
        return out


def _object(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WireError("PROTOCOL", f"The provider sent an event whose `{name}` is not an object.")
    return cast("dict[str, Any]", value)


def _is_text(delta: Fields) -> bool:
    """Whether a delta is nothing but text, which the machine counts."""
    inner = fields_of(delta.get("reasoningContent"))
    return [*delta] == ["text"] or ([*delta] == ["reasoningContent"] and [*inner] == ["text"])


def _index(event: Fields) -> int:
    index = event.get("contentBlockIndex")
    if not isinstance(index, int) or isinstance(index, bool):
        raise WireError("PROTOCOL", "The provider sent an event of a block without its index.")
    return index


def _usage(raw: Fields) -> Usage:
    given = count_of(raw, "inputTokens")
    cached = count_of(raw, "cacheReadInputTokens")
    written = count_of(raw, "cacheWriteInputTokens")
    # The wire counts three kinds of input apart; ours is their sum.
    input_tokens = None if given is None else given + (cached or 0) + (written or 0)
    output_tokens = count_of(raw, "outputTokens")
    both = None if input_tokens is None or output_tokens is None else input_tokens + output_tokens
    return Usage(
        input_tokens,
        output_tokens,
        count_of(raw, "totalTokens") if both is None else both,
        cached_input_tokens=cached,
        raw=report_of(raw),
    )
