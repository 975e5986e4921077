"""GeminiDecoder: events of one `streamGenerateContent` response, or one whole `generateContent` one, in, chunks out.

Nothing but the end of the body ends an answer: finish reasons are repeated, and usage may follow them.
Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse; recorded responses.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any, cast

from unspool.errors import ConfigError, StreamError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import Image, Origin, ProviderPart, Replay, Usage
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, kept, no_object, report_of, text_or_none
from unspool.providers.gemini_failure import REASONS, block_failure, reason_failure, refined
from unspool.providers.gemini_tool_calls import ADAPTER, GeminiToolCalls
from unspool.providers.kept_chars import KeptChars
from unspool.providers.text_blocks import TextBlocks, TextKind
from unspool.stream.chunks import Chunk, Finish, UsageReport, provider_kind
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json
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


class GeminiDecoder:
    """Decode one response.

    Text and thoughts follow each other as blocks of their own. A part with a signature is a block by itself, even an
    empty one: Google wants it back as a part of its own, at its place.
    """

    __slots__ = (
        "_blocked",
        "_calls",
        "_candidate",
        "_ended",
        "_kept",
        "_metadata",
        "_model",
        "_raw_reason",
        "_response_id",
        "_said",
        "_stray",
        "_texts",
        "_usage",
    )

    def __init__(self, *, candidate: int = 0) -> None:
        """
        Args:
            candidate: index of the candidate to read, for requests with a `candidateCount`; the others are passed over.
        """
        self._candidate = candidate
        self._texts = TextBlocks()
        self._calls = GeminiToolCalls(self._texts.number)
        self._raw_reason: str | None = None
        self._said = ""
        self._blocked: Fields | None = None
        self._usage: Fields | None = None
        self._model: str | None = None
        self._response_id: str | None = None
        self._metadata: dict[str, Any] = {}
        self._kept = KeptChars()
        self._stray: str | None = None  # words of an event that is no part of a response
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Returns:
            Chunks in order, ending with `Finish` after an error object.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        data = data.strip()
        if self._ended or not data or data == "[DONE]":  # gateways send what OpenAI's clients wait for
            return []
        if name == "error":
            return self._end(refined(stream_failure(detail_in(data))))
        return self.decode(strict_json.loads(data, duplicate_keys="last"))

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole response, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after an error object and after something that cannot be meant
            (WireError PROTOCOL, BODY_TOO_LARGE).
        """
        out: list[Chunk] = []
        if self._ended:
            return out
        detail = error_detail(event)
        try:
            if isinstance(event, dict):
                self._read(cast("dict[str, Any]", event), out)
            elif event is not None and detail is None:
                raise no_object(event)
        except WireError as error:
            return out + self._end(error)
        except StreamError as error:
            return out + self._end(WireError("PROTOCOL", f"The provider sent what has no JSON form: {error.message}"))
        return out + self._end(refined(stream_failure(detail))) if detail is not None else out

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of every block, usage, and `Finish`: with ProviderError when the prompt was blocked or the reason is
            none of an answer, StreamTruncatedError when no reason had come or a call was to go on, WireError (PROTOCOL)
            when nothing of a response had. Nothing when `Finish` has been given.
        """
        return [] if self._ended else self._end(self._fault())

    def _fault(self) -> UnspoolError | None:
        if self._blocked is not None:
            return block_failure(self._blocked)
        if self._raw_reason is None:
            if self._stray is not None and not self._is_answered:
                return WireError("PROTOCOL", f"The response is none of Gemini's, but says: {self._stray}")
            return StreamTruncatedError()
        if self._calls.is_cut and REASONS.get(self._raw_reason) == "stop":
            return StreamTruncatedError("The response ended inside a function call that was to go on.")
        return reason_failure(self._raw_reason, self._said)

    @property
    def _is_answered(self) -> bool:
        return len(self._texts) > 0 or self._usage is not None or self._response_id is not None

    def _end(self, error: UnspoolError | None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._texts.close(out)
        out += self._calls.finish()
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        reason = "error" if error is not None else REASONS[self._raw_reason or "STOP"]
        if reason == "stop" and self._calls.count:
            reason = "tool_calls"
        origin = Origin(ADAPTER, self._model, self._response_id) if self._is_answered else None
        out.append(Finish(reason, self._raw_reason, error, origin=origin, metadata=self._metadata or None))
        return out

    def _read(self, response: dict[str, Any], out: list[Chunk]) -> None:
        self._usage = fields_of(response.get("usageMetadata")) or self._usage
        self._model = self._model or text_or_none(response, "modelVersion")
        self._response_id = self._response_id or text_or_none(response, "responseId")
        feedback = fields_of(response.get("promptFeedback"))
        if feedback:
            self._metadata["promptFeedback"] = feedback
            if feedback.get("blockReason"):
                self._blocked = feedback
        if self._stray is None and response and not any(name in response for name in _OF_RESPONSE):
            self._stray = excerpt(said_in(response) or ", ".join(map(str, response)))
        for place, item in enumerate(_items(response.get("candidates"), "candidates")):
            if not isinstance(item, dict):
                raise WireError("PROTOCOL", "The provider sent a candidate that is not an object.")
            candidate = cast("dict[str, Any]", item)
            index = candidate.get("index")
            if (index if isinstance(index, int) else place) == self._candidate:
                self._read_candidate(candidate, out)

    def _read_candidate(self, candidate: dict[str, Any], out: list[Chunk]) -> None:
        content = candidate.get("content")
        if not isinstance(content, dict | None):
            raise WireError("PROTOCOL", "The provider sent content that is not an object.")
        for part in _items(cast("dict[str, Any]", content or {}).get("parts"), "parts"):
            if not isinstance(part, dict):
                raise WireError("PROTOCOL", "The provider sent a part that is not an object.")
            self._read_part(cast("dict[str, Any]", part), out)
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
            self._calls.feed(call, signature, self._response_id, out)
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


def _items(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise WireError("PROTOCOL", f"The provider sent `{name}` that are not a list.")
    return cast("list[object]", value)


def _usage(raw: Fields) -> Usage:
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


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
