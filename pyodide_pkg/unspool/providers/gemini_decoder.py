"""GeminiDecoder: events of one `streamGenerateContent` response, or one whole `generateContent` one, in, chunks out.

Nothing but the end of the body ends an answer: finish reasons are repeated, and usage may follow them.
Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse; recorded responses.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Literal, cast, get_args

from unspool.errors import ConfigError, StreamError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import Image, Origin, ProviderPart, Replay, Usage
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.gemini_failure import REASONS, block_failure, reason_failure, refined
from unspool.providers.gemini_tool_calls import GeminiToolCalls
from unspool.stream.chunks import BlockEnd, BlockKind, BlockStart, Chunk, Finish, ReasoningDelta, TextDelta, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.stream.nesting import is_deeper
from unspool.structured import strict_json
from unspool.structured.partial_arguments import json_text

ADAPTER = "gemini"
MAX_PARTS_CHARS = 16_777_216
"""Of all parts that are not made of deltas, as JSON, and of signatures: as much as of text."""

_KINDS = get_args(BlockKind)
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
        "_held_chars",
        "_index",
        "_kind",
        "_metadata",
        "_model",
        "_next_index",
        "_raw_reason",
        "_response_id",
        "_said",
        "_stray",
        "_usage",
    )

    def __init__(self, *, candidate: int = 0) -> None:
        """
        Args:
            candidate: index of the candidate to read, for requests with a `candidateCount`; the others are passed over.
        """
        self._candidate = candidate
        self._calls = GeminiToolCalls(self._new_block, ADAPTER)
        self._kind: Literal["text", "reasoning"] | None = None  # of the open block, which is `_index`
        self._index = 0
        self._next_index = 0
        self._raw_reason: str | None = None
        self._said = ""
        self._blocked: dict[str, Any] | None = None
        self._usage: dict[str, Any] | None = None
        self._model: str | None = None
        self._response_id: str | None = None
        self._metadata: dict[str, Any] = {}
        self._held_chars = 0
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
                raise WireError(
                    "PROTOCOL", f"The provider sent an event that is not an object: a {type(event).__name__}."
                )
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
            return StreamTruncatedError("The response ended before the provider said that it was complete.")
        if self._calls.is_cut and REASONS.get(self._raw_reason) == "stop":
            return StreamTruncatedError("The response ended inside a function call that was to go on.")
        return reason_failure(self._raw_reason, self._said)

    @property
    def _is_answered(self) -> bool:
        return self._next_index > 0 or self._usage is not None or self._response_id is not None

    def _end(self, error: UnspoolError | None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._close(out)
        out += self._calls.finish()
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        reason = "error" if error is not None else REASONS[self._raw_reason or "STOP"]
        if reason == "stop" and self._calls.count:
            reason = "tool_calls"
        origin = Origin(ADAPTER, self._model, self._response_id) if self._is_answered else None
        out.append(Finish(reason, self._raw_reason, error, origin=origin, metadata=self._metadata or None))
        return out

    def _new_block(self) -> int:
        index = self._next_index
        self._next_index += 1
        return index

    def _read(self, response: dict[str, Any], out: list[Chunk]) -> None:
        usage = response.get("usageMetadata")
        if usage and isinstance(usage, dict):
            self._usage = cast("dict[str, Any]", usage)
        self._model = self._model or _text_or_none(response.get("modelVersion"))
        self._response_id = self._response_id or _text_or_none(response.get("responseId"))
        feedback = response.get("promptFeedback")
        if feedback and isinstance(feedback, dict):
            members = cast("dict[str, Any]", feedback)
            self._metadata["promptFeedback"] = members
            if members.get("blockReason"):
                self._blocked = members
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
        self._raw_reason = _text_or_none(candidate.get("finishReason")) or self._raw_reason
        self._said = _text_or_none(candidate.get("finishMessage")) or self._said
        for name in _METADATA:
            value = candidate.get(name)
            if value:
                before = self._metadata.get(name)
                if isinstance(before, dict) and isinstance(value, dict):  # the sources first, what they support later
                    merged: dict[str, Any] = {**before, **value}
                    value = merged if len(merged) <= _MAX_MEMBERS else cast("dict[str, Any]", value)
                self._metadata[name] = value

    def _read_part(self, part: dict[str, Any], out: list[Chunk]) -> None:
        signature = _text_or_none(part.get("thoughtSignature"))
        self._hold(signature or "")
        text = part.get("text")
        is_thought = part.get("thought") is True
        call = part.get("functionCall")
        if call is not None:
            self._close(out)
            self._calls.feed(call, signature, self._response_id, out)
            return
        kind = None if isinstance(text, str) else next((name for name in part if name not in _BESIDE), None)
        if kind is not None:
            self._close(out)
            self._add_whole(kind, part, is_thought, signature, out)
        elif isinstance(text, str | None):
            self._add_text("reasoning" if is_thought else "text", text or "", signature, out)
        else:
            raise WireError("PROTOCOL", "The provider sent a part whose text is none.")

    def _add_text(self, kind: Literal["text", "reasoning"], text: str, signature: str | None, out: list[Chunk]) -> None:
        if not text and signature is None:
            return
        if self._kind != kind or signature is not None:
            self._close(out)
            self._kind = kind
            self._index = self._new_block()
            out.append(BlockStart(self._index, kind))
        if text:
            out.append(ReasoningDelta(self._index, text) if kind == "reasoning" else TextDelta(self._index, text))
        if signature is not None:
            self._kind = None
            out.append(BlockEnd(self._index, replay=Replay(ADAPTER, {"thoughtSignature": signature})))

    def _add_whole(
        self, kind: str, part: dict[str, Any], is_thought: bool, signature: str | None, out: list[Chunk]
    ) -> None:
        """An image; and what only Gemini understands, kept as it came."""
        if is_deeper(part):
            raise WireError("PROTOCOL", "The provider sent a part that is nested too deep.")
        self._hold(json_text(part))
        image = None if kind != "inlineData" or is_thought else _image(part[kind], signature)
        index = self._new_block()
        if image is not None:
            out += (BlockStart(index, "image"), BlockEnd(index, part=image))
            return
        kind = f"{ADAPTER}:{kind}" if kind in _KINDS else kind  # ours mean something else
        out += (BlockStart(index, kind), BlockEnd(index, part=ProviderPart(kind, Replay(ADAPTER, {"part": part}))))

    def _hold(self, text: str) -> None:
        """Count what is kept beside text and arguments, which are counted for all providers."""
        self._held_chars += len(text)
        if self._held_chars > MAX_PARTS_CHARS:
            raise WireError("BODY_TOO_LARGE", f"The parts of the answer are longer than {MAX_PARTS_CHARS} characters.")

    def _close(self, out: list[Chunk]) -> None:
        if self._kind is not None:
            self._kind = None
            out.append(BlockEnd(self._index))


def _image(blob: object, signature: str | None) -> Image | None:
    """Give inline data as an image; None when it is none: sound, or a document."""
    members = cast("dict[str, Any]", blob) if isinstance(blob, dict) else {}
    media_type, data = members.get("mimeType"), members.get("data")
    if not isinstance(media_type, str) or not media_type.startswith("image/"):
        return None
    replay = None if signature is None else Replay(ADAPTER, {"thoughtSignature": signature})
    try:
        return Image(
            b64decode(data if isinstance(data, str) else "", validate=True), media_type=media_type, replay=replay
        )
    except (ConfigError, ValueError) as error:
        raise WireError("PROTOCOL", "The provider sent an image that is not base64.") from error


def _items(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise WireError("PROTOCOL", f"The provider sent `{name}` that are not a list.")
    return cast("list[object]", value)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _usage(raw: dict[str, Any]) -> Usage:
    """Tokens of tools that the provider ran went in; thoughts came out. Google counts both apart."""
    thoughts = _count(raw, "thoughtsTokenCount")
    return Usage(
        _sum(_count(raw, "promptTokenCount"), _count(raw, "toolUsePromptTokenCount")),
        _sum(_count(raw, "candidatesTokenCount"), thoughts),
        _count(raw, "totalTokenCount"),
        cached_input_tokens=_count(raw, "cachedContentTokenCount"),
        reasoning_tokens=thoughts,
        raw=raw,
    )


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(raw: dict[str, Any], name: str) -> int | None:
    value = raw.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
