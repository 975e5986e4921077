"""OpenAIChatDecoder: events of one chat completion in, chunks out.

Reads what OpenAI, Azure, OpenRouter, Groq, DeepSeek, vLLM, llama.cpp, Ollama and their like really send, streamed or
whole. Fields that are missing, null or of an unexpected type are ignored unless ignoring them would lose part of the
answer. Source: OpenAI API reference, "The chat completion chunk object"; recorded responses.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, cast

from unspool.errors import ConfigError, ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.frozen_json import freeze
from unspool.messages import FinishReason, Image, Origin, Usage
from unspool.messages.parts import ProviderPart, Replay
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.openai_reasoning import FIELD as REASONING_DETAILS
from unspool.providers.openai_reasoning import ReasoningDetails
from unspool.providers.openai_tool_calls import OpenAIToolCalls, grown
from unspool.stream.chunks import (
    BlockEnd,
    BlockKind,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    UsageReport,
)
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

_MAX_DIAGNOSTICS = 16
_MAX_ANNOTATIONS = 1_024
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "error": "error",
    "abort": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
}
"""Raw reasons in lower case; an unknown one counts as "stop", with the raw one beside it."""
_RARE = frozenset({REASONING_DETAILS, "images", "annotations"})
_SAID_OF_ALL = frozenset({"prompt_filter_results", "content_filter_results", "citations", "search_results"})
_SAID_OF_CHOICE = frozenset({"content_filter_results", "content_filter_result"})
_SAID_ONCE = ("service_tier", "system_fingerprint", "provider")
"""What servers say of an answer beside it: kept as metadata, each as last said."""


class OpenAIChatDecoder:
    """Decode one chat completion.

    Reasoning, text and refusal follow each other as blocks of their own; tool calls stay open until the end, since
    servers may go on with any of them. Reasoning details that the next turn needs follow as one block of their own.
    Usage is reported once, at the end.
    """

    __slots__ = (
        "_adapter",
        "_answered",
        "_choice",
        "_cumulative",
        "_details",
        "_ended",
        "_id",
        "_index",
        "_kind",
        "_metadata",
        "_model",
        "_next_index",
        "_raw_reason",
        "_seen",
        "_stray",
        "_streamed",
        "_tools",
        "_usage",
        "_whole",
        "diagnostics",
    )

    diagnostics: list[str]
    """Oddities that were passed over, each said once; at most 16."""

    def __init__(self, *, adapter: str = "openai-chat", choice: int = 0, cumulative: bool = False) -> None:
        """
        Args:
            adapter: name of the adapter, which may read what the next turn needs.
            choice: index of the choice to read, for requests with `n` above 1; the others are passed over.
            cumulative: set it for servers that send in each event the whole text so far. It cannot be guessed: the
                deltas `ha`, `haha` look the same.
        """
        self.diagnostics = []
        self._adapter = adapter
        self._choice = choice
        self._cumulative = cumulative
        self._tools = OpenAIToolCalls(self._new_block, self._note, cumulative=cumulative)
        self._kind: BlockKind | None = None  # of the open block of text, reasoning or refusal, which is `_index`
        self._index = 0
        self._next_index = 0
        self._seen: dict[BlockKind, str] = {}
        self._raw_reason: str | None = None
        self._usage: dict[str, Any] | None = None
        self._details = ReasoningDetails()
        self._metadata: dict[str, Any] = {}
        self._model: str | None = None
        self._id: str | None = None
        self._stray: str | None = None  # words of an event that is no part of a completion
        self._answered = False
        self._streamed = False
        self._whole = False
        self._ended = False

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event.

        Returns:
            Chunks in order, ending with `Finish` after `[DONE]` or an error object.
        Raises:
            StreamError: the code of the fault, when the data is not JSON; nothing was changed.
        """
        if self._ended:
            return []
        data = data.strip()
        if data == "[DONE]":
            self._whole = True
            return self._end()
        if not data or data.startswith(":"):
            if data:
                self._note(f"an event whose data is a comment: {excerpt(data, 80)}")
            return []
        if name == "error":
            return self._end(stream_failure(detail_in(data)))
        return self.decode(strict_json.loads(data, duplicate_keys="last"))

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole completion, that is already a value.

        Returns:
            Chunks in order, ending with `Finish` after an error object and after something that cannot be meant
            (WireError PROTOCOL).
        """
        out: list[Chunk] = []
        if self._ended:
            return out
        detail = error_detail(event)
        try:
            if isinstance(event, dict):
                members = cast("dict[str, Any]", event)
                self._read_usage(members)
                self._read_origin(members)
                choices = members.get("choices")
                if choices is None:
                    if self._stray is None:
                        self._stray = excerpt(said_in(members) or ", ".join(map(str, members)))
                else:
                    self._read_choices(choices, out)
            elif event is not None and detail is None:
                raise WireError(
                    "PROTOCOL", f"The provider sent an event that is not an object: a {type(event).__name__}."
                )
        except WireError as error:
            return out + self._end(error)
        return out + self._end(stream_failure(detail)) if detail is not None else out

    def finish(self) -> list[Chunk]:
        """The body is over.

        Returns:
            The end of every block, usage, and `Finish`: with StreamTruncatedError (STREAM_TRUNCATED) when neither a
            finish reason nor `[DONE]` had come, WireError (PROTOCOL) when nothing of a completion had. Nothing when
            `Finish` has been given.
        """
        if self._ended:
            return []
        if self._raw_reason is not None or self._whole:
            return self._end()
        if self._stray is not None and not self._answered:
            return self._end(WireError("PROTOCOL", f"The response is no chat completion, but says: {self._stray}"))
        return self._end(StreamTruncatedError("The response ended before the provider said that it was complete."))

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._close_text(out)
        out += self._tools.finish()
        details = self._details.whole()
        if details:
            index = self._new_block()
            part = ProviderPart(REASONING_DETAILS, Replay(self._adapter, {REASONING_DETAILS: details}))
            out += (BlockStart(index, REASONING_DETAILS), BlockEnd(index, part=part))
        if self._usage is not None:
            out.append(UsageReport(_usage(self._usage)))
        raw = self._raw_reason
        reason = _REASONS.get((raw or "stop").lower(), "stop")
        if reason == "stop" and len(self._tools):
            reason = "tool_calls"  # a forced call, and servers that give no reason
        if reason == "error" and error is None:
            error = ProviderError("PROVIDER", f"The provider broke off the answer ({raw}).", retryable=True)
        origin = Origin(self._adapter, self._model, self._id) if self._model or self._id else None
        if error is not None:
            reason = "error"
        out.append(Finish(reason, raw, error, origin=origin, metadata=self._metadata or None))
        return out

    def _note(self, text: str) -> None:
        if text not in self.diagnostics and len(self.diagnostics) < _MAX_DIAGNOSTICS:
            self.diagnostics.append(text)

    def _new_block(self) -> int:
        index = self._next_index
        self._next_index += 1
        return index

    def _read_usage(self, event: dict[str, Any]) -> None:
        groq = event.get("x_groq")
        for holder in (event, groq):
            usage = cast("dict[str, Any]", holder).get("usage") if isinstance(holder, dict) else None
            if isinstance(usage, dict) and usage:
                self._usage = cast("dict[str, Any]", usage)
                return

    def _read_origin(self, event: dict[str, Any]) -> None:
        if self._id is None:  # each event says the same
            id_, model = event.get("id"), event.get("model")
            self._id = id_ if isinstance(id_, str) and id_ else None
            self._model = model if isinstance(model, str) and model else self._model
            self._keep(event, _SAID_ONCE)
        if not _SAID_OF_ALL.isdisjoint(event):
            self._keep(event, _SAID_OF_ALL)

    def _keep(self, holder: dict[str, Any], names: Container[str]) -> None:
        for name, value in holder.items():
            if name in names and value not in (None, "", {}, []):
                self._metadata[name] = _frozen(value, name)

    def _read_choices(self, choices: object, out: list[Chunk]) -> None:
        if not isinstance(choices, list):
            raise WireError("PROTOCOL", "The provider sent `choices` that are not a list.")
        for position, choice in enumerate(cast("list[object]", choices)):
            if choice is None:
                continue
            if not isinstance(choice, dict):
                raise WireError("PROTOCOL", "The provider sent a choice that is not an object.")
            members = cast("dict[str, Any]", choice)
            index = members.get("index")
            if (index if isinstance(index, int) else position) == self._choice:
                self._read_choice(members, out)

    def _read_choice(self, choice: dict[str, Any], out: list[Chunk]) -> None:
        self._answered = True
        delta = choice.get("delta")
        message = choice.get("message")
        if isinstance(delta, dict):
            self._streamed = True
            self._read_delta(cast("dict[str, Any]", delta), out)
        elif isinstance(message, dict) and not self._streamed:
            # A whole completion: the server does not stream. Beside deltas it is a copy of them.
            self._whole = True
            self._read_delta(cast("dict[str, Any]", message), out)
        if not _SAID_OF_CHOICE.isdisjoint(choice):
            self._keep(choice, _SAID_OF_CHOICE)
        text = choice.get("text")
        if isinstance(text, str):  # the older completions endpoint
            self._add("text", text, out)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._raw_reason = reason

    def _read_delta(self, delta: dict[str, Any], out: list[Chunk]) -> None:
        self._add("reasoning", _reasoning(delta), out)
        content = delta.get("content")
        if isinstance(content, list):
            for part in cast("list[object]", content):
                kind, text = _content_part(part)
                self._add(kind, text, out)
        elif isinstance(content, str):
            self._add("text", content, out)
        elif content:
            raise WireError("PROTOCOL", "The provider sent content that is neither text nor a list of parts.")
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._add("refusal", refusal, out)
        if not _RARE.isdisjoint(delta):
            self._details.add(delta.get(REASONING_DETAILS))
            self._add_images(delta.get("images"), out)
            self._add_annotations(delta.get("annotations"))
        calls: object = delta.get("tool_calls")
        if calls is None:
            single: object = delta.get("function_call")  # the older form: one call without id
            calls = [{"index": 0, "function": single}] if single else []
        if not isinstance(calls, list):
            raise WireError("PROTOCOL", "The provider sent `tool_calls` that are not a list.")
        for call in cast("list[object]", calls):
            if call is None:
                continue
            if not isinstance(call, dict):
                raise WireError("PROTOCOL", "The provider sent a tool call that is not an object.")
            self._close_text(out)
            self._tools.feed(cast("dict[str, Any]", call), out)

    def _add(self, kind: BlockKind, text: str, out: list[Chunk]) -> None:
        if not text:
            return
        if self._cumulative:
            text, self._seen[kind] = grown(self._seen.get(kind, ""), text), text
            if not text:
                return
        if self._kind != kind:
            self._close_text(out)
            self._kind = kind
            self._index = self._new_block()
            out.append(BlockStart(self._index, kind))
        out.append(ReasoningDelta(self._index, text) if kind == "reasoning" else TextDelta(self._index, text))

    def _add_images(self, images: object, out: list[Chunk]) -> None:
        for item in cast("list[object]", images) if isinstance(images, list) else ():
            holder = cast("dict[str, Any]", item).get("image_url") if isinstance(item, dict) else None
            url = cast("dict[str, Any]", holder).get("url") if isinstance(holder, dict) else holder
            try:
                image = Image(cast(str, url))
            except ConfigError as error:
                raise WireError("PROTOCOL", f"The provider sent an image that is none: {error.message}") from error
            self._close_text(out)
            index = self._new_block()
            out += (BlockStart(index, "image"), BlockEnd(index, part=image))

    def _add_annotations(self, annotations: object) -> None:
        if isinstance(annotations, list) and annotations:
            annotations = cast("list[object]", annotations)
            known: list[object] = self._metadata.setdefault("annotations", [])
            known += _frozen(annotations[: _MAX_ANNOTATIONS - len(known)], "annotations")

    def _close_text(self, out: list[Chunk]) -> None:
        if self._kind is not None:
            self._kind = None
            out.append(BlockEnd(self._index))


def _frozen(value: object, name: str) -> Any:
    try:
        return freeze(value, name)
    except ConfigError as error:  # events that never were JSON: a model in the page
        raise WireError("PROTOCOL", f"The provider sent something without JSON form: {error.message}") from error


def _reasoning(delta: dict[str, Any]) -> str:
    """Servers that use several names say the same under each: the first with text counts."""
    for field in _REASONING_FIELDS:
        text = delta.get(field)
        if isinstance(text, str) and text:
            return text
    return _joined(delta.get(REASONING_DETAILS), ("text", "summary"))


def _content_part(part: object) -> tuple[BlockKind, str]:
    if isinstance(part, str):
        return "text", part
    if not isinstance(part, dict):
        return "text", ""
    members = cast("dict[str, Any]", part)
    match members.get("type"):
        case "thinking" | "reasoning":
            inner = members.get("thinking") or members.get("reasoning") or members.get("text")
            return "reasoning", inner if isinstance(inner, str) else _joined(inner, ("text",))
        case "refusal":
            text = members.get("refusal")
            return "refusal", text if isinstance(text, str) else ""
        case _:
            text = members.get("text")
            return "text", text if isinstance(text, str) else ""


def _joined(items: object, fields: Sequence[str]) -> str:
    """Join the texts of a list of objects."""
    if not isinstance(items, list):
        return ""
    texts = (
        cast("dict[str, Any]", item).get(field)
        for item in cast("list[object]", items)
        if isinstance(item, dict)
        for field in fields
    )
    return "".join(text for text in texts if isinstance(text, str))


def _usage(raw: dict[str, Any]) -> Usage:
    cached = _count(raw.get("prompt_tokens_details"), "cached_tokens")
    asked = _count(raw, "prompt_tokens", "input_tokens")
    answered = _count(raw, "completion_tokens", "output_tokens")
    total = _count(raw, "total_tokens")
    reasoning = _count(raw.get("completion_tokens_details"), "reasoning_tokens")
    if asked is not None and answered is not None and reasoning and total == asked + answered + reasoning:
        answered += reasoning  # xAI counts reasoning beside the answer
    return Usage(
        asked,
        answered,
        total,
        cached_input_tokens=_count(raw, "prompt_cache_hit_tokens") if cached is None else cached,
        reasoning_tokens=reasoning,
        raw=raw,
    )


def _count(holder: object, *names: str) -> int | None:
    if isinstance(holder, dict):
        for name in names:
            value = cast("dict[str, Any]", holder).get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None
