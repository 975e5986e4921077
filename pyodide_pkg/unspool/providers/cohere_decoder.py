"""CohereDecoder: events of one answer of Cohere's chat API, version 2, in; chunks out.

Thinking and the plan before tool calls are reasoning. Events of unknown types are passed over; pieces of a call that is
not open are refused, since arguments could end up in the wrong place.

Source: Cohere documentation, "Streaming Responses" and "Streaming for tool use" (v2); recorded responses.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from unspool.errors import ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Replay, Usage
from unspool.providers.cohere_messages import ADAPTER
from unspool.providers.cohere_models import whole_count
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.fields import (
    Fields,
    count_of,
    fields_of,
    kept,
    list_of,
    no_object,
    report_of,
    text_of,
    text_or_none,
)
from unspool.providers.kept_chars import KeptChars
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ToolArgumentsDelta, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

_REASONS: dict[str, FinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
}
"""An unknown one counts as "stop", with the raw one beside it."""
_BROKEN = ("ERROR", "TIMEOUT")

Piece = Literal["text", "thinking", "tool_plan"]


class CohereDecoder:
    """Decode one answer, streamed or whole."""

    __slots__ = (
        "_called",
        "_calls",
        "_content",
        "_ended",
        "_id",
        "_kept",
        "_metadata",
        "_piece",
        "_raw_reason",
        "_size",
        "_stray",
        "_texts",
        "_usage",
    )

    def __init__(self) -> None:
        self._texts = TextBlocks()
        self._piece: Piece | None = None  # what the open block of text or reasoning is, in the provider's words
        self._content: int | None = None  # its number on the wire
        self._calls: dict[int | None, int] = {}  # open calls: number on the wire → block
        self._called = 0
        self._usage: Fields | None = None
        self._metadata: dict[str, Any] = {}
        self._id: str | None = None
        self._raw_reason: str | None = None
        self._stray: str | None = None  # words of an event that is no part of an answer
        self._size = 0  # of the event that is being read
        self._kept = KeptChars()
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Returns:
            Chunks in order, ending with `Finish` after `message-end`, `[DONE]` or an error.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        data = data.strip()
        if self._ended or not data:
            return []
        if data == "[DONE]":
            return self.finish()
        if name == "error":
            return self._end(stream_failure(detail_in(data)))
        event = strict_json.loads(data, duplicate_keys="last")
        self._size = len(data)
        return self._take(event)

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole answer, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after the last event, a whole answer, an error, and something that
            cannot be meant (WireError PROTOCOL).
        """
        self._size = 0
        return [] if self._ended else self._take(event)

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of every block, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when the answer
            had not come to its end, WireError (PROTOCOL) when nothing of an answer had come. Nothing when `Finish` has
            been given.
        """
        if self._ended:
            return []
        if self._stray is not None and self._id is None and not len(self._texts):
            return self._end(WireError("PROTOCOL", f"The response is no answer of Cohere's, but says: {self._stray}"))
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
        message = fields_of(fields_of(event.get("delta")).get("message"))
        number = count_of(event, "index")
        match text_of(event, "type"):
            case "message-start":
                self._id = text_or_none(event, "id") or self._id
            case "content-start" | "content-delta" as kind:
                if kind == "content-start" or number != self._content:
                    self._close(out)
                    self._content = number
                self._read_content(fields_of(message.get("content")), out)
            case "content-end":
                self._close(out)
            case "tool-plan-delta":
                self._add("tool_plan", text_of(message, "tool_plan"), out)
            case "tool-call-start":
                self._begin_call(number, _call(message), out)
            case "tool-call-delta":
                self._feed_call(number, _call(message), out)
            case "tool-call-end":
                out.append(BlockEnd(self._open_call(number, "ended")))
                del self._calls[number]
            case "citation-start":
                self._cite([message.get("citations")])
            case "citation-end" | "debug":
                pass
            case "message-end":
                delta = fields_of(event.get("delta"))
                self._read_end(delta)
                out += self._end(_broken(delta))
            case _:
                self._read_other(event, out)

    def _read_other(self, event: dict[str, Any], out: list[Chunk]) -> None:
        detail = error_detail(event)
        said = event.get("message")
        if detail is not None:
            raise stream_failure(detail)
        if isinstance(said, str) and "type" not in event:
            raise stream_failure(event)  # the words of an error, with a status that is none
        if isinstance(said, dict) and "type" not in event and not len(self._texts):
            self._whole(event, cast("dict[str, Any]", said), out)
        elif self._stray is None:
            self._stray = excerpt(said_in(event) or ", ".join(map(str, event)))

    def _whole(self, event: dict[str, Any], message: dict[str, Any], out: list[Chunk]) -> None:
        self._id = text_or_none(event, "id")
        content: object = message.get("content")
        items = list_of(content)
        for item in items if isinstance(content, list) else [{"text": content}]:
            self._close(out)
            self._read_content(fields_of(item), out)
        self._add("tool_plan", text_of(message, "tool_plan"), out)
        for number, call in enumerate(list_of(message.get("tool_calls"))):
            self._begin_call(number, fields_of(call), out)
        self._cite(list_of(message.get("citations")))
        self._read_end(event)
        out += self._end(_broken(event))

    def _read_content(self, content: Fields, out: list[Chunk]) -> None:
        self._add("thinking", text_of(content, "thinking"), out)
        self._add("text", text_of(content, "text"), out)

    def _read_end(self, holder: Fields) -> None:
        self._raw_reason = text_or_none(holder, "finish_reason")
        self._usage = fields_of(holder.get("usage")) or None

    def _add(self, piece: Piece, text: str, out: list[Chunk]) -> None:
        if text:
            if piece != self._piece:
                self._close(out)
                self._piece = piece
            self._texts.add("text" if piece == "text" else "reasoning", text, out)

    def _close(self, out: list[Chunk]) -> None:
        """End the open block of text or reasoning, if there is one."""
        piece, self._piece = self._piece, None
        self._texts.close(out, Replay(ADAPTER, {"type": piece}) if piece in ("thinking", "tool_plan") else None)

    def _begin_call(self, number: int | None, call: Fields, out: list[Chunk]) -> None:
        function = fields_of(call.get("function"))
        name = text_or_none(function, "name")
        if name is None:
            raise WireError("PROTOCOL", "The provider sent a tool call without a name.")
        if number in self._calls:
            raise WireError("PROTOCOL", f"The provider began the tool call {number} while it was open.")
        self._close(out)
        block = self._calls[number] = self._texts.number()
        # Results are matched by id, so that a call without one needs one.
        out.append(BlockStart(block, "tool_call", text_or_none(call, "id") or f"call_{self._called}", name))
        self._called += 1
        self._feed_call(number, call, out)

    def _feed_call(self, number: int | None, call: Fields, out: list[Chunk]) -> None:
        block = self._open_call(number, "went on with")
        text = text_of(fields_of(call.get("function")), "arguments")
        if text:
            out.append(ToolArgumentsDelta(block, text))

    def _open_call(self, number: int | None, what: str) -> int:
        block = self._calls.get(number)
        if block is None:
            raise WireError("PROTOCOL", f"The provider {what} the tool call {number}, which is not open.")
        return block

    def _cite(self, citations: list[Any]) -> None:
        if citations:
            self._kept.add(self._size)
            known: list[Any] = self._metadata.setdefault("citations", [])
            known += (kept(citation) for citation in citations)

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._close(out)
        out += map(BlockEnd, self._calls.values())
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        raw = self._raw_reason
        reason = _REASONS.get(raw or "", "stop")
        if reason == "stop" and self._called:
            reason = "tool_calls"
        if error is not None:
            reason = "error"
        origin = Origin(ADAPTER, None, self._id) if self._id else None
        out.append(Finish(reason, raw, error, origin=origin, metadata=self._metadata or None))
        return out


def _call(message: Fields) -> Fields:
    """The one call that an event is about; some servers put it into a list."""
    calls = message.get("tool_calls")
    listed = list_of(calls)
    call = listed[0] if len(listed) == 1 else calls
    if not isinstance(call, dict):
        raise WireError("PROTOCOL", "The provider sent an event of a tool call without the call.")
    return cast("Fields", call)


def _broken(end: Fields) -> ProviderError | None:
    """The error for which an answer ended, if it did."""
    said = text_or_none(end, "error")
    reason = end.get("finish_reason")
    if said is not None:
        return stream_failure({"message": said})
    if reason in _BROKEN:
        return ProviderError("PROVIDER", f"The provider broke off the answer ({reason}).", retryable=True)
    return None


def _usage(raw: Fields) -> Usage:
    """`tokens` are all that the model read and wrote; what is billed of them is less."""
    tokens = fields_of(raw.get("tokens")) or fields_of(raw.get("billed_units"))
    asked, answered = whole_count(tokens, "input_tokens"), whole_count(tokens, "output_tokens")
    return Usage(
        asked,
        answered,
        None if asked is None or answered is None else asked + answered,
        cached_input_tokens=whole_count(raw, "cached_tokens"),
        reasoning_tokens=whole_count(tokens, "reasoning_tokens"),
        raw=report_of(raw),
    )
