"""AnthropicBlock: one content block that is being received → chunks. No IO, no clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import StreamError, WireError
from unspool.messages import ProviderPart, ReasoningPart, Replay
from unspool.providers.fields import KEPT_DEPTH, list_of, text_of, text_or_none
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    provider_kind,
)
from unspool.stream.excerpt import excerpt
from unspool.structured import strict_json

ADAPTER = "anthropic"

_KINDS = {"text": "text", "thinking": "reasoning", "redacted_thinking": "reasoning", "tool_use": "tool_call"}
_DELTAS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "thinking")}
"""Delta → the block that it belongs to, and the member that holds its text, there and in the block's start."""


class AnthropicBlock:
    """Gives the chunks of one block, and keeps of it what the provider wants back in the next turn."""

    __slots__ = ("_grown", "_input", "_members", "_pieces", "_texts", "index", "type")

    def __init__(self, index: int, content: Mapping[str, Any]) -> None:
        """
        Args:
            index: of the block in the chunks.
            content: `content_block` of its start, or the whole block.
        Raises:
            WireError: PROTOCOL when it has no type, or is a tool call without id or name.
        """
        type_ = content.get("type")
        if not isinstance(type_, str) or not type_:
            raise WireError("PROTOCOL", "The provider sent a content block without a type.")
        if type_ == "tool_use" and not all(isinstance(content.get(name), str) for name in ("id", "name")):
            raise WireError("PROTOCOL", "The provider sent a tool call without id or name.")
        self.index = index
        self.type = type_
        self._members = dict(content)
        self._grown: dict[str, list[Any]] = {}  # members that come in pieces: texts, or lists
        self._input = content.get("input")
        self._pieces: list[str] = []  # of the input
        self._texts = 0

    @property
    def id(self) -> str | None:
        """Id of the call, for blocks that are one."""
        return text_or_none(self._members, "id")

    @property
    def citations(self) -> list[object]:
        """What the text rests on."""
        return list_of(self._members.get("citations"))

    @property
    def text_chars(self) -> int:
        """Characters of text so far."""
        return self._texts if self.type == "text" else 0

    def start(self) -> list[Chunk]:
        """Begin the block, with the text that its start holds already.

        Raises:
            WireError: PROTOCOL when that is no text.
        """
        kind = _KINDS.get(self.type) or provider_kind(self.type, ADAPTER)
        out: list[Chunk] = [BlockStart(self.index, kind, self.id, text_or_none(self._members, "name"))]
        for owner, member in _DELTAS.values():
            if owner == self.type:
                self._add(text_of(self._members, member), out)
                self._members.pop(member, None)
        return out

    def feed(self, delta: dict[str, Any]) -> list[Chunk]:
        """Take one delta.

        Raises:
            WireError: PROTOCOL when it belongs to another kind of block, or holds no text where there must be some.
        """
        out: list[Chunk] = []
        kind = text_of(delta, "type")
        if kind in _DELTAS:
            owner, member = _DELTAS[kind]
            if owner != self.type:
                raise self._foreign(kind)
            self._add(text_of(delta, member), out)
        elif kind == "input_json_delta":
            if self.type in ("text", "thinking", "redacted_thinking"):
                raise self._foreign(kind)
            text = text_of(delta, "partial_json")
            self._pieces.append(text)
            if self.type == "tool_use" and text:
                out.append(ToolArgumentsDelta(self.index, text))
        elif kind == "signature_delta":  # F23: in pieces
            self._grow("signature", text_of(delta, "signature"))
        elif kind == "citations_delta":
            self._grow("citations", [delta.get("citation")])
        elif self.type not in _KINDS:
            self._merge(delta)
        return out

    def finish(self) -> list[Chunk]:
        """The block is over and whole."""
        for name, pieces in self._grown.items():
            is_text = isinstance(pieces[0], str)
            self._members[name] = "".join(pieces) if is_text else [item for piece in pieces for item in piece]
        match self.type:
            case "text":
                rest = {name: value for name, value in self._members.items() if value not in (None, "", [])}
                return [BlockEnd(self.index, replay=self._replay(rest) if len(rest) > 1 else None)]
            case "thinking":
                rest = {name: value for name, value in self._members.items() if value not in (None, "")}
                return [BlockEnd(self.index, replay=self._replay(rest))]
            case "redacted_thinking":
                part = ReasoningPart("", redacted=True, replay=self._replay(self._members))
                return [BlockEnd(self.index, part=part)]
            case "tool_use":
                return self._call()
            case _:
                return [BlockEnd(self.index, part=self._provider_part())]

    def _call(self) -> list[Chunk]:
        out: list[Chunk] = []
        if self._input and not any(self._pieces):  # servers that do not stream it send it whole
            text = self._input if isinstance(self._input, str) else json.dumps(self._input, ensure_ascii=False)
            out.append(ToolArgumentsDelta(self.index, text))
        rest = {
            name: value
            for name, value in self._members.items()
            if name not in ("id", "name", "input") and value not in (None, "")
        }
        out.append(BlockEnd(self.index, replay=self._replay(rest) if len(rest) > 1 else None))
        return out

    def _provider_part(self) -> ProviderPart | None:
        text = "".join(self._pieces)
        if text.strip():
            try:
                self._members["input"] = strict_json.loads(text, max_depth=KEPT_DEPTH, duplicate_keys="last")
            except StreamError:
                return None  # sent back it would be refused, so that the block is left out of the message
        return ProviderPart(self.type, self._replay(self._members))

    def _add(self, text: str, out: list[Chunk]) -> None:
        if text:
            self._texts += len(text)
            out.append(TextDelta(self.index, text) if self.type == "text" else ReasoningDelta(self.index, text))

    def _merge(self, delta: dict[str, Any]) -> None:
        """Deltas of the provider's own blocks, such as `compaction_delta`: texts and lists grow."""
        for name, value in delta.items():
            if name == "type" or value is None:
                continue
            if isinstance(value, str | list):
                self._grow(name, cast("str | list[object]", value))
            else:
                self._grown.pop(name, None)
                self._members[name] = value

    def _grow(self, name: str, more: str | list[object]) -> None:
        """Go on with a member. It is joined at the end: to do so each time would cost the square of the pieces."""
        pieces = self._grown.setdefault(name, [self._members.get(name)])
        if type(pieces[0]) is not type(more):
            pieces.clear()
        pieces.append(more)

    def _replay(self, data: Mapping[str, Any]) -> Replay:
        return Replay(ADAPTER, data)

    def _foreign(self, kind: str) -> WireError:
        return WireError("PROTOCOL", f"The provider sent a {kind} in a block of type {excerpt(self.type, 80)!r}.")
