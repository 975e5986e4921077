"""CohereDecoder: events of one answer of Cohere's chat API, version 2, in; chunks out.

Thinking and the plan before tool calls are reasoning. Events of unknown types are passed over; pieces of a call that is
not open are refused, since arguments could end up in the wrong place.

Source: Cohere documentation, "Streaming Responses" and "Streaming for tool use" (v2); recorded responses.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from unspool.errors import WireError
from unspool.messages import FinishReason, Replay, Usage
from unspool.providers.cohere_messages import ADAPTER
from unspool.providers.cohere_models import whole_count
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, kept, list_of, report_of, text_of, text_or_none
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta

_REASONS: dict[str, FinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
    "ERROR": "error",
    "TIMEOUT": "error",
}
"""An unknown one counts as "stop", with the raw one beside it."""

Piece = Literal["text", "thinking", "tool_plan"]


class CohereDecoder(Decoder):
    """Decode one answer, streamed or whole."""

    __slots__ = ("_calls", "_content", "_piece", "_texts")
    _reasons = _REASONS

    def __init__(self) -> None:
        super().__init__(ADAPTER, "answer of Cohere's")
        self._texts = TextBlocks()
        self._piece: Piece | None = None  # what the open block of text or reasoning is, in the provider's words
        self._content: int | None = None  # its number on the wire
        self._calls: dict[int | None, int] = {}  # open calls: number on the wire → block

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
                self._read_end(fields_of(event.get("delta")), out)
            case _:
                self._read_other(event, out)

    def _read_other(self, event: dict[str, Any], out: list[Chunk]) -> None:
        said = event.get("message")
        # Words alone are an error, too, with a status that is none.
        if error_detail(event) is not None or (isinstance(said, str) and "type" not in event):
            raise self._failure(event)
        if isinstance(said, dict) and "type" not in event and not len(self._texts):
            self._whole(event, cast("dict[str, Any]", said), out)
        else:
            self._pass_over(event)

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
        self._read_end(event, out)

    def _read_content(self, content: Fields, out: list[Chunk]) -> None:
        self._add("thinking", text_of(content, "thinking"), out)
        self._add("text", text_of(content, "text"), out)

    def _read_end(self, holder: Fields, out: list[Chunk]) -> None:
        self._raw_reason = text_or_none(holder, "finish_reason")
        self._usage = fields_of(holder.get("usage"))
        said = text_or_none(holder, "error")
        out += self._end(None if said is None else stream_failure({"message": said}))

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

    def _is_answered(self) -> bool:
        return self._id is not None or len(self._texts) > 0

    def _end_blocks(self, out: list[Chunk]) -> None:
        self._close(out)
        out += map(BlockEnd, self._calls.values())

    def _counts(self, raw: Fields) -> Usage:
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


def _call(message: Fields) -> Fields:
    """The one call that an event is about; some servers put it into a list."""
    calls = message.get("tool_calls")
    listed = list_of(calls)
    call = listed[0] if len(listed) == 1 else calls
    if not isinstance(call, dict):
        raise WireError("PROTOCOL", "The provider sent an event of a tool call without the call.")
    return cast("Fields", call)
