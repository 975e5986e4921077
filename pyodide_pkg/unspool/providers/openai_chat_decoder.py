"""OpenAIChatDecoder: events of one chat completion in, chunks out.

Reads what OpenAI, Azure, OpenRouter, Groq, DeepSeek, vLLM, llama.cpp, Ollama and their like really send, streamed or
whole. Fields that are missing, null or of an unexpected type are ignored unless ignoring them would lose part of the
answer. Source: OpenAI API reference, "The chat completion chunk object"; recorded responses.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, cast

from unspool.errors import ConfigError, UnspoolError, WireError
from unspool.messages import FinishReason, Image, ProviderPart, Replay, Usage
from unspool.providers.decoder import Decoder
from unspool.providers.failure import error_detail
from unspool.providers.fields import Fields, count_of, fields_of, list_of, report_of, text_of, text_or_none
from unspool.providers.openai_reasoning import FIELD as REASONING_DETAILS
from unspool.providers.openai_reasoning import ReasoningDetails
from unspool.providers.openai_tool_calls import OpenAIToolCalls, grown
from unspool.providers.text_blocks import TextBlocks, TextKind
from unspool.stream.chunks import Chunk

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


class OpenAIChatDecoder(Decoder):
    """Decode one chat completion.

    Reasoning, text and refusal follow each other as blocks of their own; tool calls stay open until the end, since
    servers may go on with any of them. Reasoning details that the next turn needs follow as one block of their own.
    Usage is reported once, at the end.
    """

    __slots__ = ("_answered", "_choice", "_cumulative", "_details", "_seen", "_streamed", "_texts", "_tools", "_whole")

    def __init__(self, *, adapter: str = "openai-chat", choice: int = 0, cumulative: bool = False) -> None:
        """
        Args:
            adapter: name of the adapter, which may read what the next turn needs.
            choice: index of the choice to read, for requests with `n` above 1; the others are passed over.
            cumulative: set it for servers that send in each event the whole text so far. It cannot be guessed: the
                deltas `ha`, `haha` look the same.
        """
        super().__init__(adapter, "chat completion")
        self._choice = choice
        self._cumulative = cumulative
        self._texts = TextBlocks()
        self._tools = OpenAIToolCalls(self._texts.number, cumulative=cumulative)
        self._seen: dict[TextKind, str] = {}
        self._details = ReasoningDetails()
        self._answered = False
        self._streamed = False
        self._whole = False

    def _read(self, event: dict[str, Any], out: list[Chunk]) -> None:
        if not _USAGE.isdisjoint(event):
            usage = fields_of(event.get("usage")) or fields_of(fields_of(event.get("x_groq")).get("usage"))
            self._usage = usage or self._usage
        if self._id is None:  # each event says the same
            self._id = text_or_none(event, "id")
            self._model = text_or_none(event, "model") or self._model
            self._keep(event, _SAID_ONCE)
        if not _SAID_OF_ALL.isdisjoint(event):
            self._keep(event, _SAID_OF_ALL)
        choices = event.get("choices")
        if choices is None:
            self._pass_over(event)
        else:
            self._read_choices(choices, out)
        if error_detail(event) is not None:
            raise self._failure(event)

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

    def _done(self) -> list[Chunk]:
        self._whole = True
        return self._end()

    def _is_answered(self) -> bool:
        return self._answered

    def _fault(self) -> UnspoolError | None:
        return None if self._whole or self._raw_reason is not None else super()._fault()

    def _end_blocks(self, out: list[Chunk]) -> None:
        self._texts.close(out)
        out += self._tools.finish()
        details = self._details.whole()
        if details:
            part = ProviderPart(REASONING_DETAILS, Replay(self._adapter, {REASONING_DETAILS: details}))
            self._texts.add_whole(REASONING_DETAILS, part, out)

    def _counts(self, raw: Fields) -> Usage:
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

    def _reason(self) -> FinishReason:
        reason = _REASONS.get((self._raw_reason or "").lower(), "stop")
        # A forced call, and servers that give no reason.
        return "tool_calls" if reason == "stop" and len(self._tools) else reason


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
