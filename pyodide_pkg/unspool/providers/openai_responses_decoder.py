"""OpenAIResponsesDecoder: events of one response of the Responses API in, chunks out.

Reads what OpenAI, Azure, xAI, DeepSeek, LM Studio, llama.cpp and their like really send, streamed or whole. Events of
unknown types are passed over; fields that are missing, null or of an unexpected type are ignored unless ignoring them
would lose part of the answer. Source: OpenAI API reference, "Responses", "Streaming events"; recorded responses.
"""

from __future__ import annotations

from typing import Any

from unspool.errors import ProviderError, WireError
from unspool.messages import FinishReason, Usage
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import Fields, count_of, fields_of, list_of, report_of, text_of, text_or_none
from unspool.providers.openai_responses_items import ADAPTER, WrittenItem, written_in
from unspool.providers.openai_responses_output import Output
from unspool.stream.chunks import Chunk

_DELTAS = {
    "response.output_text.delta": ("output_text", "content_index"),
    "response.refusal.delta": ("refusal", "content_index"),
    "response.reasoning_summary_text.delta": ("summary_text", "summary_index"),
    "response.reasoning_text.delta": ("reasoning_text", "content_index"),
}
"""Type of the part that an event goes on with, and what numbers it."""
_WHOLE_TEXTS = {
    "response.output_text.done": ("output_text", "content_index", "text"),
    "response.refusal.done": ("refusal", "content_index", "refusal"),
    "response.reasoning_summary_text.done": ("summary_text", "summary_index", "text"),
    "response.reasoning_text.done": ("reasoning_text", "content_index", "text"),
}
_WHOLE_PARTS = ("response.content_part.done", "response.reasoning_part.done", "response.reasoning_summary_part.done")
_BEGINNINGS = ("response.created", "response.queued", "response.in_progress")
_ENDINGS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The status that an event stands for, where the response in it tells none."""
_CUTS: dict[str, FinishReason] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "length": "length",
    "content_filter": "content_filter",
}


class OpenAIResponsesDecoder(Decoder):
    """Decode one response.

    Each part of text and each tool call is a block, ended when its item is complete. Which item an event belongs to is
    told by its `output_index`, where there is one, else by the id of the item. The raw finish reason is the status
    (`completed`), or why the response is incomplete (`max_output_tokens`).
    """

    __slots__ = ("_final_output", "_max_output_tokens", "_output")

    def __init__(self, *, max_output_tokens: int | None = None, final_output: bool = True) -> None:
        """
        Args:
            max_output_tokens: the limit that was asked for. An answer that uses it up counts as cut, also where the
                server calls it completed, as llama.cpp's does.
            final_output: hold every tool call against the response that the closing event shows. Set it to False for
                servers that show an empty one.
        """
        super().__init__(ADAPTER, "response of this API")
        self._final_output = final_output
        self._max_output_tokens = max_output_tokens
        self._output = Output()

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        kind = text_of(event, "type")
        if kind in _DELTAS:
            type, numbering = _DELTAS[kind]
            text = text_of(event, "delta")
            self._output.written(event, type).add(type, _number(event, numbering), text, out)
        elif kind == "response.function_call_arguments.delta":
            self._output.call(event).add(text_of(event, "delta"), out)
        elif kind == "response.function_call_arguments.done":
            self._output.call(event).settle(text_of(event, "arguments"), out)
        elif kind == "response.output_item.added":
            self._output.begin(fields_of(event.get("item")), event, out)
        elif kind == "response.output_item.done":
            self._kept.add(self._size)
            self._output.complete(fields_of(event.get("item")), event, out)
        elif kind in _WHOLE_TEXTS:
            type, numbering, name = _WHOLE_TEXTS[kind]
            self._settle(event, type, numbering, text_of(event, name), out)
        elif kind in _WHOLE_PARTS:
            type, text = written_in(fields_of(event.get("part")))
            self._settle(event, type, "summary_index" if type == "summary_text" else "content_index", text, out)
        elif kind == "response.output_text.annotation.added":
            self._kept.add(self._size)
            item = self._output.find(event)
            if isinstance(item, WrittenItem):
                item.annotate(_number(event, "content_index"), fields_of(event.get("annotation")))
        elif kind in _BEGINNINGS:
            self._identify(fields_of(event.get("response")))
        elif kind in _ENDINGS:
            self._close(fields_of(event.get("response")), _ENDINGS[kind], out)
        elif not kind.startswith("response."):
            self._read_other(event, out)

    def _read_other(self, event: Fields, out: list[Chunk]) -> None:
        """A whole response, an error, or nothing of ours."""
        if event.get("object") == "response" or (event.get("status") and isinstance(event.get("output"), list)):
            self._close(event, None, out)
        elif event.get("type") == "error":
            raise self._failure(event)
        elif error_detail(event) is not None:
            raise super()._failure(event)
        elif event.get("type") not in ("ping", "keepalive"):
            self._pass_over(event)

    def _settle(self, event: Fields, type: str, numbering: str, text: str, out: list[Chunk]) -> None:
        if text:
            self._output.written(event, type).settle(type, _number(event, numbering), text, out)

    def _close(self, response: Fields, status: str | None, out: list[Chunk]) -> None:
        """The response is over: `response` shows it as a whole. No `status`: it is all there is."""
        streamed = status is not None
        stated = response.get("status")
        if not isinstance(stated, str) or (streamed and stated in ("", "queued", "in_progress")):
            stated = None  # servers that show the response as it was at the beginning
        status = stated or status or "completed"
        self._identify(response)
        self._raw_reason = text_or_none(fields_of(response.get("incomplete_details")), "reason") or status
        failed = status in ("failed", "cancelled") or bool(response.get("error"))
        whole = not failed and status != "incomplete"
        shown = isinstance(response.get("output"), list)
        if whole and not self._output and not shown:
            raise WireError("PROTOCOL", "The provider said that the response is complete, but showed nothing of it.")
        if whole or not self._output:
            self._output.take(response.get("output"), out, hold=self._final_output)
        if failed and error_detail(response) is not None:
            raise self._failure(response)
        if status in ("queued", "in_progress"):
            raise WireError("PROTOCOL", f"The provider answered with a response that is only {status}.")
        is_good = self._raw_reason in _CUTS or self._raw_reason == status == "completed"
        out += self._end(None if is_good and not failed else self._broken_off())

    def _identify(self, response: Fields) -> None:
        self._id = text_or_none(response, "id") or self._id
        self._model = text_or_none(response, "model") or self._model
        self._usage = fields_of(response.get("usage")) or self._usage
        filters = list_of(response.get("content_filters"))
        if filters:
            self._metadata["content_filters"] = filters

    def _is_answered(self) -> bool:
        return len(self._output) > 0

    def _failure(self, event: object) -> ProviderError:
        self._raw_reason = self._raw_reason or "error"  # the name of the event that ends the response
        return super()._failure(event)

    def _end_blocks(self, out: list[Chunk]) -> None:
        for item in self._output:
            item.cut(out)
        annotations = [annotation for item in self._output for annotation in item.annotations()]
        if annotations:
            self._metadata["annotations"] = annotations

    def _counts(self, raw: Fields) -> Usage:
        return Usage(
            count_of(raw, "input_tokens"),
            count_of(raw, "output_tokens"),
            count_of(raw, "total_tokens"),
            cached_input_tokens=count_of(fields_of(raw.get("input_tokens_details")), "cached_tokens"),
            reasoning_tokens=count_of(fields_of(raw.get("output_tokens_details")), "reasoning_tokens"),
            raw=report_of(raw),
        )

    def _reason(self) -> FinishReason:
        cut = _CUTS.get(self._raw_reason or "")
        if cut is not None:
            return cut
        used = count_of(self._usage, "output_tokens")
        if used is not None and self._max_output_tokens is not None and used >= self._max_output_tokens:
            return "length"
        return "tool_calls" if self._output.calls else "stop"


def _number(event: Fields, name: str) -> int:
    return count_of(event, name) or 0
