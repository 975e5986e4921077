"""GeminiDecoder: events of one `streamGenerateContent` response, or one whole `generateContent` one, in, chunks out.

Nothing but the end of the body ends an answer: finish reasons are repeated, and usage may follow them.
Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse; recorded responses.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any, cast

from unspool.errors import ConfigError, ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Image, Origin, ProviderPart, Replay, Usage
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import Fields, count_of, fields_of, kept, object_of, objects_of, report_of, text_or_none
from unspool.providers.gemini_failure import REASONS, block_failure, reason_failure, refined
from unspool.providers.gemini_tool_calls import ADAPTER, GeminiToolCalls
from unspool.providers.text_blocks import TextBlocks, TextKind
from unspool.stream.chunks import Chunk, provider_kind
from unspool.structured.partial_arguments import json_text

_MAX_MEMBERS = 64
_BESIDE = ("text", "thought", "thoughtSignature", "partMetadata", "mediaResolution", "videoMetadata")
"""Members of a part that do not say what it is."""
_OF_RESPONSE = ("candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId")
_METADATA = (
    "citationMetadata",
    "groundingMetadata",
    "urlContextMetadata",
    "safetyRatings",
    "finishMessage",
    "continuationToken",
)
"""Members of a candidate that a message keeps as metadata."""


class GeminiDecoder(Decoder):
    """Decode one response.

    Text and thoughts follow each other as blocks of their own. A part with a signature is a block by itself, even an
    empty one: Google wants it back as a part of its own, at its place.
    """

    __slots__ = ("_blocked", "_calls", "_candidate", "_said", "_texts")

    def __init__(self, *, candidate: int = 0) -> None:
        """
        Args:
            candidate: index of the candidate to read, for requests with a `candidateCount`; the others are passed over.
        """
        super().__init__(ADAPTER, "answer of Gemini's")
        self._candidate = candidate
        self._texts = TextBlocks()
        self._calls = GeminiToolCalls(self._texts.number)
        self._said = ""
        self._blocked: Fields | None = None

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        self._usage = fields_of(event.get("usageMetadata")) or self._usage
        self._model = self._model or text_or_none(event, "modelVersion")
        self._id = self._id or text_or_none(event, "responseId")
        feedback = fields_of(event.get("promptFeedback"))
        if feedback:
            self._metadata["promptFeedback"] = feedback
            if feedback.get("blockReason"):
                self._blocked = feedback
        if event and not any(name in event for name in _OF_RESPONSE):
            self._pass_over(event)
        for place, candidate in enumerate(objects_of(event, "candidates")):
            index = candidate.get("index")
            if (index if isinstance(index, int) else place) == self._candidate:
                self._read_candidate(candidate, out)
        if error_detail(event) is not None:
            raise self._failure(event)

    def _read_candidate(self, candidate: dict[str, Any], out: list[Chunk]) -> None:
        if candidate.get("content") is not None:
            for part in objects_of(object_of(candidate, "content"), "parts"):
                self._read_part(part, out)
        self._raw_reason = text_or_none(candidate, "finishReason") or self._raw_reason
        self._said = text_or_none(candidate, "finishMessage") or self._said
        for name in _METADATA:
            value = candidate.get(name)
            if value:
                before = self._metadata.get(name)
                if isinstance(before, dict) and isinstance(value, dict):  # the sources first, what they support later
                    merged: dict[str, Any] = {**before, **value}
                    value = merged if len(merged) <= _MAX_MEMBERS else cast("dict[str, Any]", value)
                self._metadata[name] = value

    def _read_part(self, part: dict[str, Any], out: list[Chunk]) -> None:
        signature = text_or_none(part, "thoughtSignature")
        self._kept.add(len(signature or ""))
        text = part.get("text")
        is_thought = part.get("thought") is True
        call = part.get("functionCall")
        if call is not None:
            self._texts.close(out)
            self._calls.feed(call, signature, self._id, out)
            return
        kind = None if isinstance(text, str) else next((name for name in part if name not in _BESIDE), None)
        if kind is not None:
            self._add_whole(kind, part, is_thought, signature, out)
        elif isinstance(text, str | None):
            self._add_text("reasoning" if is_thought else "text", text or "", signature, out)
        else:
            raise WireError("PROTOCOL", "The provider sent a part whose text is none.")

    def _add_text(self, kind: TextKind, text: str, signature: str | None, out: list[Chunk]) -> None:
        if signature is not None:
            self._texts.close(out)
            self._texts.add(kind, text, out)
            self._texts.close(out, Replay(ADAPTER, {"thoughtSignature": signature}))
        elif text:
            self._texts.add(kind, text, out)

    def _add_whole(
        self, kind: str, part: dict[str, Any], is_thought: bool, signature: str | None, out: list[Chunk]
    ) -> None:
        """An image; and what only Gemini understands, kept as it came."""
        part = kept(part)
        self._kept.add(len(json_text(part)))
        image = None if kind != "inlineData" or is_thought else _image(part[kind], signature)
        if image is not None:
            self._texts.add_whole("image", image, out)
            return
        kind = provider_kind(kind, ADAPTER)
        self._texts.add_whole(kind, ProviderPart(kind, Replay(ADAPTER, {"part": part})), out)

    def _done(self) -> list[Chunk]:
        return []  # gateways send what OpenAI's clients wait for

    def _is_answered(self) -> bool:
        return len(self._texts) > 0 or bool(self._usage) or self._id is not None

    def _fault(self) -> UnspoolError | None:
        if self._blocked is not None:
            return block_failure(self._blocked)
        if self._raw_reason is None:
            return super()._fault()
        if self._calls.is_cut and REASONS.get(self._raw_reason) == "stop":
            return StreamTruncatedError("The response ended inside a function call that was to go on.")
        return reason_failure(self._raw_reason, self._said)

    def _failure(self, event: object) -> ProviderError:
        return refined(super()._failure(event))

    def _end_blocks(self, out: list[Chunk]) -> None:
        self._texts.close(out)
        out += self._calls.finish()

    def _counts(self, raw: Fields) -> Usage:
        """Tokens of tools that the provider ran went in; thoughts came out. Google counts both apart."""
        thoughts = count_of(raw, "thoughtsTokenCount")
        return Usage(
            _sum(count_of(raw, "promptTokenCount"), count_of(raw, "toolUsePromptTokenCount")),
            _sum(count_of(raw, "candidatesTokenCount"), thoughts),
            count_of(raw, "totalTokenCount"),
            cached_input_tokens=count_of(raw, "cachedContentTokenCount"),
            reasoning_tokens=thoughts,
            raw=report_of(raw),
        )

    def _reason(self) -> FinishReason:
        reason = REASONS[self._raw_reason or "STOP"]
        return "tool_calls" if reason == "stop" and self._calls.count else reason

    def _origin(self) -> Origin | None:
        return Origin(ADAPTER, self._model, self._id) if self._is_answered() else None


def _image(blob: object, signature: str | None) -> Image | None:
    """Give inline data as an image; None when it is none: sound, or a document."""
    fields = fields_of(blob)
    media_type = text_or_none(fields, "mimeType") or ""
    if not media_type.startswith("image/"):
        return None
    replay = None if signature is None else Replay(ADAPTER, {"thoughtSignature": signature})
    try:
        data = b64decode(text_or_none(fields, "data") or "", validate=True)
        return Image(data, media_type=media_type, replay=replay)
    except (ConfigError, ValueError) as error:
        raise WireError("PROTOCOL", "The provider sent an image that is not base64.") from error


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
