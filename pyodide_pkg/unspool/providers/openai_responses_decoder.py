"""OpenAIResponsesDecoder: events of one response of the Responses API in, chunks out.

Reads what OpenAI, Azure, xAI, DeepSeek, LM Studio, llama.cpp and their like really send, streamed or whole. Events of
unknown types are passed over; fields that are missing, null or of an unexpected type are ignored unless ignoring them
would lose part of the answer. Source: OpenAI API reference, "Responses", "Streaming events"; recorded responses.
"""

from __future__ import annotations

from typing import Any, cast

from unspool.errors import ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Origin, Usage
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, list_of, no_object, report_of, text_of, text_or_none
from unspool.providers.kept_chars import KeptChars
from unspool.providers.openai_responses_items import ADAPTER, WrittenItem, written_in
from unspool.providers.openai_responses_output import Output
from unspool.stream.chunks import Chunk, Finish, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

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


class OpenAIResponsesDecoder:
    """Decode one response.

    Each part of text and each tool call is a block, ended when its item is complete. Which item an event belongs to is
    told by its `output_index`, where there is one, else by the id of the item. The raw finish reason is the status
    (`completed`), or why the response is incomplete (`max_output_tokens`).
    """

    __slots__ = (
        "_ended",
        "_final_output",
        "_kept",
        "_max_output_tokens",
        "_metadata",
        "_model",
        "_output",
        "_raw_reason",
        "_response_id",
        "_stray",
        "_usage",
    )

    def __init__(self, *, max_output_tokens: int | None = None, final_output: bool = True) -> None:
        """
        Args:
            max_output_tokens: the limit that was asked for. An answer that uses it up counts as cut, also where the
                server calls it completed, as llama.cpp's does.
            final_output: hold every tool call against the response that the closing event shows. Set it to False for
                servers that show an empty one.
        """
        self._final_output = final_output
        self._max_output_tokens = max_output_tokens
        self._output = Output()
        self._kept = KeptChars()
        self._model: str | None = None
        self._response_id: str | None = None
        self._raw_reason: str | None = None
        self._usage: Fields | None = None
        self._metadata: dict[str, Any] = {}
        self._stray: str | None = None  # words of an event that is no part of a response
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Returns:
            Chunks in order, ending with `Finish` after a closing event, an error and `[DONE]`.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended:
            return []
        data = data.strip()
        if data == "[DONE]":
            return self.finish()
        if not data or data.startswith(":"):  # F5: comments inside of data
            return []
        if name == "error":
            self._raw_reason = name
            return self._end(stream_failure(detail_in(data)))
        event: Any = strict_json.loads(data, duplicate_keys="last")
        if name and isinstance(event, dict) and "type" not in event:
            event["type"] = name
        return self._decode(cast(object, event), len(data))

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole response, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after a closing event, a whole response, an error object and something
            that cannot be meant (WireError PROTOCOL).
        """
        return [] if self._ended else self._decode(event, 0)

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of every block, usage, and `Finish` with StreamTruncatedError (STREAM_TRUNCATED), because the
            closing event has not come, or WireError (PROTOCOL) when nothing of a response had. Nothing when `Finish`
            has been given.
        """
        if self._ended:
            return []
        if self._stray is not None and not self._output:
            return self._end(WireError("PROTOCOL", f"The answer is no response, but says: {self._stray}"))
        return self._end(StreamTruncatedError())

    def _decode(self, event: object, size: int) -> list[Chunk]:
        out: list[Chunk] = []
        try:
            if isinstance(event, dict):
                end = self._read(cast("dict[str, Any]", event), size, out)
                return out + end
            if event is not None:
                raise no_object(event)
        except WireError as error:
            return out + self._end(error)
        return out

    def _read(self, event: Fields, size: int, out: list[Chunk]) -> list[Chunk]:
        """Read an event into `out`; give the end of the response, if it is one."""
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
            self._kept.add(size)
            self._output.complete(fields_of(event.get("item")), event, out)
        elif kind in _WHOLE_TEXTS:
            type, numbering, name = _WHOLE_TEXTS[kind]
            self._settle(event, type, numbering, text_of(event, name), out)
        elif kind in _WHOLE_PARTS:
            type, text = written_in(fields_of(event.get("part")))
            self._settle(event, type, "summary_index" if type == "summary_text" else "content_index", text, out)
        elif kind == "response.output_text.annotation.added":
            self._kept.add(size)
            item = self._output.find(event)
            if isinstance(item, WrittenItem):
                item.annotate(_number(event, "content_index"), fields_of(event.get("annotation")))
        elif kind in _BEGINNINGS:
            self._identify(fields_of(event.get("response")))
        elif kind in _ENDINGS:
            return self._close(fields_of(event.get("response")), _ENDINGS[kind], out)
        elif not kind.startswith("response."):
            return self._read_other(event, out)
        return []

    def _read_other(self, event: Fields, out: list[Chunk]) -> list[Chunk]:
        """A whole response, an error, or nothing of ours."""
        if event.get("object") == "response" or (event.get("status") and isinstance(event.get("output"), list)):
            return self._close(event, None, out)
        detail = error_detail(event)
        if detail is not None:
            self._raw_reason = "error" if event.get("type") == "error" else None
            return self._end(stream_failure(detail))
        if self._stray is None and event.get("type") not in ("ping", "keepalive"):
            self._stray = excerpt(said_in(event) or ", ".join(map(str, event)))
        return []

    def _settle(self, event: Fields, type: str, numbering: str, text: str, out: list[Chunk]) -> None:
        if text:
            self._output.written(event, type).settle(type, _number(event, numbering), text, out)

    def _close(self, response: Fields, status: str | None, out: list[Chunk]) -> list[Chunk]:
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
        if failed:
            detail = error_detail(response)
            if detail is not None:
                return self._end(stream_failure(detail))
            return self._end(self._broken_off())
        if status == "completed" and self._raw_reason == status:
            used = count_of(self._usage or {}, "output_tokens")
            if used is not None and self._max_output_tokens is not None and used >= self._max_output_tokens:
                return self._end(reason="length")
            return self._end(reason="tool_calls" if self._output.calls else "stop")
        if status in ("queued", "in_progress"):
            return self._end(WireError("PROTOCOL", f"The provider answered with a response that is only {status}."))
        cut = _CUTS.get(self._raw_reason)
        return self._end(reason=cut) if cut else self._end(self._broken_off())

    def _broken_off(self) -> ProviderError:
        return ProviderError(
            "PROVIDER", f"The provider broke off the answer ({excerpt(self._raw_reason or '', 80)}).", retryable=True
        )

    def _identify(self, response: Fields) -> None:
        self._response_id = text_or_none(response, "id") or self._response_id
        self._model = text_or_none(response, "model") or self._model
        self._usage = fields_of(response.get("usage")) or self._usage
        filters = list_of(response.get("content_filters"))
        if filters:
            self._metadata["content_filters"] = filters

    def _end(self, error: UnspoolError | None = None, *, reason: FinishReason = "error") -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        for item in self._output:
            item.cut(out)
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        annotations = [annotation for item in self._output for annotation in item.annotations()]
        if annotations:
            self._metadata["annotations"] = annotations
        origin = Origin(ADAPTER, self._model, self._response_id) if self._model or self._response_id else None
        out.append(Finish(reason, self._raw_reason, error, origin=origin, metadata=self._metadata or None))
        return out


def _number(event: Fields, name: str) -> int:
    return count_of(event, name) or 0


def _usage(raw: Fields) -> Usage:
    return Usage(
        count_of(raw, "input_tokens"),
        count_of(raw, "output_tokens"),
        count_of(raw, "total_tokens"),
        cached_input_tokens=count_of(fields_of(raw.get("input_tokens_details")), "cached_tokens"),
        reasoning_tokens=count_of(fields_of(raw.get("output_tokens_details")), "reasoning_tokens"),
        raw=report_of(raw),
    )
