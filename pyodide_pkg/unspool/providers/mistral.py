"""MistralAdapter: chat completions as Mistral speaks them. Pure.

It is the wire of `OpenAIChatAdapter` in address, request, stream, tool calls, usage and lists of models, so that it is
one with that, and the profile "mistral". What no setting of a profile covers is here: content in chunks, of which
thinking and references go back in the order in which they came; ids of tool calls, of nine letters and digits; no
user's message right behind a tool's; an assistant's message at the end, which the model goes on with; no members that
the API does not know, since it refuses them.

Source: Mistral documentation, "Chat Completions", "Reasoning", "Citations and References", "Function calling",
"Predefined outputs"; types of its SDK; recorded responses and errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from unspool.contracts import Request
from unspool.messages import Message, ProviderPart, ReasoningPart, RefusalPart, Replay, TextPart
from unspool.providers.conversation import own_replay
from unspool.providers.fields import fields_of, kept, text_or_none
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.openai_chat_decoder import OpenAIChatDecoder
from unspool.providers.openai_chat_messages import OpenAIChatConversation
from unspool.providers.openai_models import unknown_facts
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, provider_kind

ADAPTER = "mistral"

_ID = re.compile(r"[A-Za-z0-9]{9}")
_READ = ("text", "thinking", "image_url", None)
_AND_THEN = {"role": "assistant", "content": "OK."}
"""Stands between a tool's result and a user's message, which the API takes behind an assistant's only."""

type Wire = dict[str, Any]


class MistralAdapter(OpenAIChatAdapter):
    """Nothing is known of models by their names, which Mistral lets mean other models each year; its list tells."""

    def __init__(self) -> None:
        super().__init__(
            name=ADAPTER,
            base_url="https://api.mistral.ai/v1",
            max_tokens_field="max_tokens",
            include_usage=False,  # it comes unasked
            seed_field="random_seed",
            facts=unknown_facts,
        )
        self._conversation = MistralConversation(ADAPTER, images_in_results=True)

    def decoder(self, request: Request) -> MistralDecoder:
        """Make the decoder for the answer to this request."""
        return MistralDecoder()


class MistralConversation(OpenAIChatConversation):
    """Writes conversations in the order, and with the ids, that Mistral takes."""

    def write(self, messages: Sequence[Message]) -> list[Wire]:
        """Write a conversation; see `OpenAIChatConversation.write`."""
        out: list[Wire] = []
        for wire in super().write(messages):
            role = wire["role"]
            if role == "assistant" and not wire["content"] and "tool_calls" not in wire:
                continue  # an empty one is refused
            if role == "user" and out and out[-1]["role"] == "tool":
                out.append(_AND_THEN)
            for call in wire.get("tool_calls", ()):
                call["id"] = _call_id(call["id"])
            if role == "tool":
                wire["tool_call_id"] = _call_id(wire["tool_call_id"])
            out.append(wire)
        if out and out[-1]["role"] == "assistant" and "tool_calls" not in out[-1]:
            out[-1] = {**out[-1], "prefix": True}
        return out

    def _assistant(self, message: Message) -> Wire:
        wire = super()._assistant(message)
        wire.pop("refusal", None)
        chunks = [chunk for part in message.parts for chunk in _chunks(part)]
        if all(chunk["type"] == "text" for chunk in chunks):
            text = "".join(chunk["text"] for chunk in chunks)
            wire["content"] = text or None if "tool_calls" in wire else text
        else:
            wire["content"] = chunks
        return wire


class MistralDecoder(OpenAIChatDecoder):
    """Decode one chat completion of Mistral's, and keep of its chunks what goes back."""

    __slots__ = ("_signature", "_thinking")

    def __init__(self) -> None:
        super().__init__(adapter=ADAPTER)
        self._thinking = -1  # the last block of thinking
        self._signature: str | None = None

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event; see `OpenAIChatDecoder.feed`."""
        return self._bound(super().feed(name, data))

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one event, or one whole completion, that is already a value; see `OpenAIChatDecoder.decode`."""
        return self._bound(super().decode(event))

    def finish(self) -> list[Chunk]:
        """The body is over; see `OpenAIChatDecoder.finish`."""
        return self._bound(super().finish())

    def _add_part(self, part: object, out: list[Chunk]) -> None:
        before = len(out)
        members = fields_of(part)
        kind = members.get("type")
        if kind == "image_url":
            self._add_images([members], out)
        elif isinstance(kind, str) and kind not in _READ:  # references, files, documents
            data = kept(members)
            self._kept.add(len(json.dumps(data)))
            word = provider_kind(kind, ADAPTER)
            self._texts.add_whole(word, ProviderPart(word, Replay(ADAPTER, data)), out)
        else:
            super()._add_part(part, out)
        self._bound(out[before:])
        signature = text_or_none(members, "signature")
        if kind == "thinking" and signature is not None:
            self._kept.add(len(signature))
            self._signature = signature

    def _bound(self, chunks: list[Chunk]) -> list[Chunk]:
        """Let blocks of thinking end with what makes them Mistral's own."""
        for chunk in chunks:
            if isinstance(chunk, BlockStart) and chunk.kind == "reasoning" and chunk.index > self._thinking:
                self._thinking, self._signature = chunk.index, None
            elif isinstance(chunk, BlockEnd) and chunk.index == self._thinking and chunk.replay is None:
                signed = {} if self._signature is None else {"signature": self._signature}
                chunk.replay = Replay(ADAPTER, {"type": "thinking", **signed})
        return chunks


def _chunks(part: object) -> list[Wire]:
    own: Wire = dict(own_replay(getattr(part, "replay", None), ADAPTER) or {})
    if isinstance(part, TextPart | RefusalPart):
        return [{"type": "text", "text": part.text}] if part.text else []
    if isinstance(part, ReasoningPart) and own.get("type") == "thinking":
        return [{**own, "thinking": [{"type": "text", "text": part.text}], "closed": True}]
    return [own] if isinstance(part, ProviderPart) and isinstance(own.get("type"), str) else []


def _call_id(id: str) -> str:
    """Ids of other providers in the form that is taken here, the same each time and different for different ones."""
    from hashlib import sha256  # here, because few conversations need it

    return id if _ID.fullmatch(id) else sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:9]
