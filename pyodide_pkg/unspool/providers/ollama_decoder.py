"""OllamaDecoder: lines of one answer of Ollama's own API in, chunks out; also of its older completions.

Source: https://docs.ollama.com/api/chat, /api/generate, /capabilities/tool-calling; recorded responses.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any, cast

from unspool.errors import ConfigError, ProviderError, WireError
from unspool.messages import FinishReason, Image, Usage
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import (
    Fields,
    count_of,
    fields_of,
    list_of,
    objects_of,
    report_of,
    text_of,
    text_or_none,
    total,
)
from unspool.providers.text_blocks import TextBlocks
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta
from unspool.stream.nesting import is_deeper

ADAPTER = "ollama-native"
"""Not that of its OpenAI API: neither must read what the other has kept."""

_REASONS: dict[str, FinishReason] = {"stop": "stop", "load": "stop", "unload": "stop", "length": "length"}
"""An unknown one counts as "stop", with the raw one beside it."""
_COUNTS = ("prompt_eval_count", "eval_count")
_SAID = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "remote_model", "remote_host")
"""What is handed on as metadata."""


class OllamaDecoder(Decoder):
    """Decode one answer. Tool calls come whole, without pieces."""

    __slots__ = ("_answered", "_texts")
    _reasons = _REASONS

    def __init__(self) -> None:
        super().__init__(ADAPTER, "answer of Ollama's")
        self._texts = TextBlocks()
        self._answered = False

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        if error_detail(event) is not None:
            raise self._failure(event)
        message = event.get("message")
        if isinstance(message, dict):
            self._read_message(cast("dict[str, Any]", message), "content", out)
        elif "response" in event or "done" in event:
            self._read_message(event, "response", out)
        else:
            self._pass_over(event)
            return
        self._answered = True
        self._model = self._model or text_or_none(event, "model")
        if event.get("done") is True:
            self._raw_reason = text_or_none(event, "done_reason")
            self._usage = {name: event[name] for name in _COUNTS if event.get(name) is not None}
            self._metadata = {name: event[name] for name in _SAID if event.get(name)}
            out += self._end()

    def _read_message(self, message: Fields, field: str, out: list[Chunk]) -> None:
        for kind, name in (("reasoning", "thinking"), ("text", field)):
            text = text_of(message, name)
            if text:
                self._texts.add("reasoning" if kind == "reasoning" else "text", text, out)
        for picture in (*list_of(message.get("images")), message.get("image")):
            if isinstance(picture, str) and picture:
                self._read_image(picture, out)
        for call in objects_of(message, "tool_calls"):
            self._read_call(call, out)

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
        id_ = text_or_none(call, "id") or f"call_{self._called}"
        self._called += 1
        out += (BlockStart(index, "tool_call", id_, name), ToolArgumentsDelta(index, given), BlockEnd(index))

    def _is_answered(self) -> bool:
        return self._answered

    def _failure(self, event: object) -> ProviderError:
        """What goes wrong once an answer has begun, goes wrong at the server: its model crashed, or memory ran out."""
        error = super()._failure(event)
        if error.code == "PROVIDER":
            error.retryable = True
            if "busy" in error.message or "overloaded" in error.message:
                error.code = "OVERLOADED"
        return error

    def _end_blocks(self, out: list[Chunk]) -> None:
        self._texts.close(out)

    def _counts(self, raw: Fields) -> Usage:
        asked, answered = (count_of(raw, name) for name in _COUNTS)
        return Usage(asked, answered, total(asked, answered), raw=report_of(raw))
