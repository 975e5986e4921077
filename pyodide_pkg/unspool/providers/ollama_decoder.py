"""OllamaDecoder: lines of one answer of Ollama's own API in, chunks out; also of its older completions.

Source: https://docs.ollama.com/api/chat, /api/generate, /capabilities/tool-calling; recorded responses.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any, cast

from unspool.errors import ConfigError, ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Image, Origin, Usage
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, list_of, no_object, report_of, text_of, text_or_none
from unspool.providers.kept_chars import KeptChars
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, Finish, ToolArgumentsDelta, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.stream.nesting import is_deeper
from unspool.structured import strict_json

ADAPTER = "ollama-native"
"""Not that of its OpenAI API: neither must read what the other has kept."""

_REASONS: dict[str, FinishReason] = {"stop": "stop", "load": "stop", "unload": "stop", "length": "length"}
"""An unknown one counts as "stop", with the raw one beside it."""
_COUNTS = ("prompt_eval_count", "eval_count")
_SAID = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "remote_model", "remote_host")
"""What is handed on as metadata."""


class OllamaDecoder:
    """Decode one answer. Tool calls come whole, without pieces."""

    __slots__ = (
        "_answered",
        "_calls",
        "_ended",
        "_kept",
        "_metadata",
        "_model",
        "_raw_reason",
        "_stray",
        "_texts",
        "_usage",
    )

    def __init__(self) -> None:
        self._texts = TextBlocks()
        self._calls = 0
        self._kept = KeptChars()
        self._usage: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._model: str | None = None
        self._raw_reason: str | None = None
        self._stray: str | None = None  # words of a line that is no part of an answer
        self._answered = False
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one line.

        Returns:
            Chunks in order, ending with `Finish` after the last line or an error.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended or not data.strip():
            return []
        if name == "error":
            return self._end(_failure(detail_in(data)))
        return self.decode(strict_json.loads(data, duplicate_keys="last"))

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one line, or one whole answer, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after the last one, an error, and something that cannot be meant
            (WireError PROTOCOL).
        """
        out: list[Chunk] = []
        if self._ended:
            return out
        try:
            if isinstance(event, dict):
                self._read(cast("dict[str, Any]", event), out)
            elif event is not None:
                raise no_object(event)
        except (WireError, ProviderError) as error:
            out += self._end(error)
        return out

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of the open block, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when the last
            line had not come, WireError (PROTOCOL) when nothing of an answer had. Nothing when `Finish` has been given.
        """
        if self._ended:
            return []
        if self._stray is not None and not self._answered:
            return self._end(WireError("PROTOCOL", f"The response is no answer of Ollama's, but says: {self._stray}"))
        return self._end(StreamTruncatedError())

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        detail = error_detail(event)
        if detail is not None:
            raise _failure(detail)
        message = event.get("message")
        if isinstance(message, dict):
            self._read_message(cast("dict[str, Any]", message), "content", out)
        elif "response" in event or "done" in event:
            self._read_message(event, "response", out)
        else:
            self._stray = self._stray or excerpt(said_in(event) or ", ".join(map(str, event)))
            return
        self._answered = True
        self._model = self._model or text_or_none(event, "model")
        if event.get("done") is True:
            self._raw_reason = text_or_none(event, "done_reason")
            self._usage = {name: event[name] for name in _COUNTS if event.get(name) is not None}
            self._metadata = {name: event[name] for name in _SAID if event.get(name)}
            out += self._end(whole=True)

    def _read_message(self, message: Fields, field: str, out: list[Chunk]) -> None:
        for kind, name in (("reasoning", "thinking"), ("text", field)):
            text = text_of(message, name)
            if text:
                self._texts.add("reasoning" if kind == "reasoning" else "text", text, out)
        for picture in (*list_of(message.get("images")), message.get("image")):
            if isinstance(picture, str) and picture:
                self._read_image(picture, out)
        if not isinstance(message.get("tool_calls"), list | None):
            raise WireError("PROTOCOL", "The provider sent `tool_calls` that are not a list.")
        for call in list_of(message.get("tool_calls")):
            self._read_call(fields_of(call), out)

    def _read_image(self, picture: str, out: list[Chunk]) -> None:
        self._kept.add(len(picture))
        try:
            image = Image(b64decode(picture, validate=True))
        except (ConfigError, ValueError) as error:
            raise WireError("PROTOCOL", f"The provider sent an image that is none: {error}") from error
        self._texts.add_whole("image", image, out)

    def _read_call(self, call: Fields, out: list[Chunk]) -> None:
        function = fields_of(call.get("function"))
        name = text_or_none(function, "name")
        if name is None:
            raise WireError("PROTOCOL", "The provider sent a tool call without a name.")
        given = function.get("arguments")
        if is_deeper(given):
            raise WireError("PROTOCOL", "The arguments of a tool call are nested too deep.")
        if not isinstance(given, str):
            given = json.dumps(given or {}, ensure_ascii=False, separators=(",", ":"))
        self._texts.close(out)
        index = self._texts.number()
        # Results are matched by id, so that a call without one needs one.
        id_ = text_or_none(call, "id") or f"call_{self._calls}"
        self._calls += 1
        out += (BlockStart(index, "tool_call", id_, name), ToolArgumentsDelta(index, given), BlockEnd(index))

    def _end(self, error: UnspoolError | None = None, *, whole: bool = False) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._texts.close(out)
        if self._usage:
            out.append(UsageReport(_usage(self._usage)))
        raw = self._raw_reason
        reason: FinishReason = _REASONS.get(raw or "", "stop") if whole else "error"
        if reason == "stop" and self._calls:
            reason = "tool_calls"
        origin = Origin(ADAPTER, self._model) if self._model else None
        out.append(Finish(reason, raw, error, origin=origin, metadata=self._metadata or None))
        return out


def _failure(detail: Fields) -> ProviderError:
    """What goes wrong once an answer has begun, goes wrong at the server: its model crashed, or memory ran out."""
    error = stream_failure(detail)
    if error.code == "PROVIDER":
        error.retryable = True
        if "busy" in error.message or "overloaded" in error.message:
            error.code = "OVERLOADED"
    return error


def _usage(raw: Fields) -> Usage:
    asked, answered = (count_of(raw, name) for name in _COUNTS)
    total = None if asked is None or answered is None else asked + answered
    return Usage(asked, answered, total, raw=report_of(raw))
