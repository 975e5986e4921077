"""OpenAIChatDecoder: events of one chat completion in, chunks out.

Reads what OpenAI, Azure, OpenRouter, Groq, DeepSeek, vLLM, llama.cpp, Ollama and their like really send, streamed or
whole. Fields that are missing, null or of an unexpected type are ignored unless ignoring them would lose part of the
answer. Source: OpenAI API reference, "The chat completion chunk object"; recorded responses.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, cast

from unspool.errors import ConfigError, ProviderError, StreamTruncatedError, UnspoolError, WireError
from unspool.messages import FinishReason, Image, Origin, ProviderPart, Replay, Usage
from unspool.providers.failure import detail_in, error_detail, said_in, stream_failure
from unspool.providers.fields import Fields, count_of, fields_of, list_of, no_object, report_of, text_of, text_or_none
from unspool.providers.openai_reasoning import FIELD as REASONING_DETAILS
from unspool.providers.openai_reasoning import ReasoningDetails
from unspool.providers.openai_tool_calls import OpenAIToolCalls, grown
from unspool.providers.text_blocks import TextBlocks, TextKind
from unspool.stream.chunks import Chunk, Finish, UsageReport
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

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
_USAGE = frozenset({"usage", "x_groq"})
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
        "_metadata",
        "_model",
        "_raw_reason",
        "_seen",
        "_stray",
        "_streamed",
        "_texts",
        "_tools",
        "_usage",
        "_whole",
    )

    def __init__(self, *, adapter: str = "openai-chat", choice: int = 0, cumulative: bool = False) -> None:
        """
        Args:
            adapter: name of the adapter, which may read what the next turn needs.
            choice: index of the choice to read, for requests with `n` above 1; the others are passed over.
            cumulative: set it for servers that send in each event the whole text so far. It cannot be guessed: the
                deltas `ha`, `haha` look the same.
        """
        self._adapter = adapter
        self._choice = choice
        self._cumulative = cumulative
        self._texts = TextBlocks()
        self._tools = OpenAIToolCalls(self._texts.number, cumulative=cumulative)
        self._seen: dict[TextKind, str] = {}
        self._raw_reason: str | None = None
        self._usage: Fields | None = None
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
        if not data or data.startswith(":"):  # F5: comments inside of data
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
                raise no_object(event)
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
        return self._end(StreamTruncatedError())

    def _end(self, error: UnspoolError | None = None) -> list[Chunk]:
        self._ended = True
        out: list[Chunk] = []
        self._texts.close(out)
        out += self._tools.finish()
        details = self._details.whole()
        if details:
            part = ProviderPart(REASONING_DETAILS, Replay(self._adapter, {REASONING_DETAILS: details}))
            self._texts.add_whole(REASONING_DETAILS, part, out)
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

    def _read_usage(self, event: dict[str, Any]) -> None:
        if not _USAGE.isdisjoint(event):
            usage = fields_of(event.get("usage")) or fields_of(fields_of(event.get("x_groq")).get("usage"))
            self._usage = usage or self._usage

    def _read_origin(self, event: dict[str, Any]) -> None:
        if self._id is None:  # each event says the same
            self._id = text_or_none(event, "id")
            self._model = text_or_none(event, "model") or self._model
            self._keep(event, _SAID_ONCE)
        if not _SAID_OF_ALL.isdisjoint(event):
            self._keep(event, _SAID_OF_ALL)

    def _keep(self, holder: dict[str, Any], names: Container[str]) -> None:
        for name, value in holder.items():
            if name in names and value not in (None, "", {}, []):
                self._metadata[name] = value

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
        self._add("text", text_of(choice, "text"), out)  # the older completions endpoint
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._raw_reason = reason

    def _read_delta(self, delta: dict[str, Any], out: list[Chunk]) -> None:
        self._add("reasoning", _reasoning(delta), out)
        content = delta.get("content")
        if isinstance(content, list):
            for part in cast("list[object]", content):
                self._add_part(part, out)
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
            self._texts.close(out)
            self._tools.feed(cast("dict[str, Any]", call), out)

    def _add_part(self, part: object, out: list[Chunk]) -> None:
        kind, text = _content_part(part)
        self._add(kind, text, out)

    def _add(self, kind: TextKind, text: str, out: list[Chunk]) -> None:
        if text and self._cumulative:
            text, self._seen[kind] = grown(self._seen.get(kind, ""), text), text
        if text:
            self._texts.add(kind, text, out)

    def _add_images(self, images: object, out: list[Chunk]) -> None:
        for item in list_of(images):
            holder = fields_of(item).get("image_url")
            try:
                image = Image(fields_of(holder).get("url", holder))
            except ConfigError as error:
                raise WireError("PROTOCOL", f"The provider sent an image that is none: {error.message}") from error
            self._texts.add_whole("image", image, out)

    def _add_annotations(self, annotations: object) -> None:
        known: list[object] = self._metadata.get("annotations", [])
        known += list_of(annotations)[: _MAX_ANNOTATIONS - len(known)]
        if known:
            self._metadata["annotations"] = known


def _reasoning(delta: dict[str, Any]) -> str:
    """Servers that use several names say the same under each: the first with text counts."""
    for field in _REASONING_FIELDS:
        text = delta.get(field)
        if text and isinstance(text, str):
            return text
    return _joined(delta[REASONING_DETAILS], ("text", "summary")) if REASONING_DETAILS in delta else ""


def _content_part(part: object) -> tuple[TextKind, str]:
    if isinstance(part, str):
        return "text", part
    members = fields_of(part)
    if part is not None and not isinstance(part, dict):
        raise WireError("PROTOCOL", "The provider sent a part of content that is neither text nor an object.")
    match text_of(members, "type"):
        case "thinking" | "reasoning":
            name = next((name for name in ("thinking", "reasoning") if members.get(name)), "text")
            if isinstance(members.get(name), list):
                pieces = list_of(members[name])
                return "reasoning", "".join(text_of(fields_of(piece), "text") for piece in pieces)
            return "reasoning", text_of(members, name)
        case "refusal":
            return "refusal", text_of(members, "refusal")
        case _:
            return "text", text_of(members, "text")


def _joined(items: object, names: Sequence[str]) -> str:
    """Join the texts of a list of objects."""
    return "".join(text_or_none(fields_of(item), name) or "" for item in list_of(items) for name in names)


def _usage(raw: Fields) -> Usage:
    cached = count_of(fields_of(raw.get("prompt_tokens_details")), "cached_tokens")
    asked = count_of(raw, "prompt_tokens", "input_tokens")
    answered = count_of(raw, "completion_tokens", "output_tokens")
    total = count_of(raw, "total_tokens")
    reasoning = count_of(fields_of(raw.get("completion_tokens_details")), "reasoning_tokens")
    if asked is not None and answered is not None and reasoning and total == asked + answered + reasoning:
        answered += reasoning  # xAI counts reasoning beside the answer
    return Usage(
        asked,
        answered,
        total,
        cached_input_tokens=count_of(raw, "prompt_cache_hit_tokens") if cached is None else cached,
        reasoning_tokens=reasoning,
        raw=report_of(raw),
    )
