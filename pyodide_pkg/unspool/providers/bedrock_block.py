"""BedrockBlock: one content block of ConverseStream that is being received → chunks. No IO, no clock."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, cast

from unspool.errors import ConfigError, StreamError, WireError
from unspool.messages import Image, Part, ProviderPart, ReasoningPart, Replay
from unspool.providers.failure import stream_failure
from unspool.providers.fields import KEPT_DEPTH, Fields, fields_of, list_of, text_of, text_or_none
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

ADAPTER = "bedrock"

_KINDS = {"text": "text", "reasoningContent": "reasoning", "image": "image"}


class BedrockBlock:
    """Gives the chunks of one block, and keeps of it what the provider wants back in the next turn.

    What kind of block it is, its start says; texts and reasoning have none, and their first delta says it.
    """

    __slots__ = ("_bytes", "_call", "_head", "_items", "_pieces", "_said", "citations", "index", "kind", "text_chars")

    def __init__(self, index: int) -> None:
        """
        Args:
            index: of the block in the chunks.
        """
        self.index = index
        self.kind: str | None = None
        """As the provider calls it; None until it is known."""
        self.citations: list[object] = []
        """What the text rests on."""
        self.text_chars = 0
        """Characters of text so far."""
        self._head: dict[str, Any] = {}
        self._call = False
        self._said = False  # whether any reasoning was shown
        self._pieces: list[str] = []  # of a signature, of a call's input
        self._bytes: list[bytes] = []  # of hidden reasoning, of a picture
        self._items: list[object] = []  # of a result

    @property
    def call_id(self) -> str | None:
        """Id of the call, for blocks that are one for the caller to execute."""
        return text_or_none(self._head, "toolUseId") if self._call else None

    def start(self, start: Fields, out: list[Chunk]) -> None:
        """Begin the block by its start.

        Raises:
            WireError: PROTOCOL for a tool call without id or name.
        """
        for kind, head in start.items():
            if isinstance(head, dict):
                self._begin(kind, cast("dict[str, Any]", head), out)
                return

    def feed(self, delta: Fields, out: list[Chunk]) -> None:
        """Take one delta.

        Raises:
            WireError: PROTOCOL when it belongs to another kind of block, or is of a type that cannot be meant.
            ProviderError: for a picture that the provider says it could not make.
        """
        for kind, value in delta.items():
            if value is None:
                continue
            owner = "text" if kind == "citation" else kind
            if self.kind is None:
                self._begin(owner, {}, out)
            if owner != self.kind:
                kinds = f"{excerpt(kind, 80)!r} in a block of {excerpt(self.kind or '', 80)!r}"
                raise WireError("PROTOCOL", f"The provider sent {kinds}.")
            self._add(kind, value, delta, out)

    def finish(self, out: list[Chunk]) -> None:
        """The block is over and whole; it begins here when nothing of it came.

        Raises:
            WireError: PROTOCOL for a picture that is none.
        """
        if self.kind is None:
            self._begin("text", {}, out)
        out.append(self._end())

    def _begin(self, kind: str, head: dict[str, Any], out: list[Chunk]) -> None:
        word, name = text_or_none(head, "type") or kind, text_or_none(head, "name")
        if kind == "toolUse" and not head.get("type"):
            id_ = text_or_none(head, "toolUseId")
            if id_ is None or name is None:
                raise WireError("PROTOCOL", "The provider sent a tool call without id or name.")
            self._call = True
            out.append(BlockStart(self.index, "tool_call", id_, name))
        else:
            out.append(BlockStart(self.index, _KINDS.get(kind) or provider_kind(word, ADAPTER), name=name))
        self.kind = kind
        self._head = head

    def _add(self, kind: str, value: object, delta: Fields, out: list[Chunk]) -> None:
        inner = fields_of(value)
        match kind:
            case "text":
                text = text_of(delta, kind)
                self.text_chars += len(text)
                out += [TextDelta(self.index, text)] if text else ()
            case "citation":
                self.citations.append(value)
            case "reasoningContent":
                text = text_of(inner, "text")
                out += [ReasoningDelta(self.index, text)] if text else ()
                self._said = self._said or bool(text)
                self._keep_text(text_of(inner, "signature"))
                self._keep_bytes(text_of(inner, "redactedContent"))
            case "toolUse":
                text = text_of(inner, "input")
                self._keep_text(text)
                out += [ToolArgumentsDelta(self.index, text)] if text and self._call else ()
            case "toolResult":
                self._items += list_of(value)
            case "image":
                if inner.get("error") is not None:
                    raise stream_failure(fields_of(inner["error"]))
                self._keep_bytes(text_of(fields_of(inner.get("source")), "bytes"))
            case _:
                pass

    def _keep_text(self, text: str) -> None:
        self._pieces += [text] if text else ()

    def _keep_bytes(self, text: str) -> None:
        try:
            self._bytes += [b64decode(text, validate=True)] if text else ()
        except ValueError as error:
            raise WireError("PROTOCOL", "The provider sent bytes that are no base64.") from error

    def _end(self) -> BlockEnd:
        rest: dict[str, Any] = {}
        if self.kind == "text" and self.citations:
            rest["citations"] = self.citations
        elif self.kind == "reasoningContent":
            if signature := "".join(self._pieces):
                rest["signature"] = signature
            if hidden := b"".join(self._bytes):
                rest["redactedContent"] = b64encode(hidden).decode()
        replay = Replay(ADAPTER, rest) if rest else None
        if "redactedContent" in rest and not self._said:
            return BlockEnd(self.index, part=ReasoningPart("", redacted=True, replay=replay))
        if replay is not None or self.kind in ("text", "reasoningContent") or self._call:
            return BlockEnd(self.index, replay=replay)
        return BlockEnd(self.index, part=self._part())

    def _part(self) -> Part | None:
        kind = self.kind or ""
        block = dict(self._head)
        if kind == "image":
            try:
                return Image(b"".join(self._bytes), media_type=f"image/{text_or_none(block, 'format') or 'png'}")
            except ConfigError as error:
                raise WireError("PROTOCOL", f"The provider sent an image that is none: {error.message}") from error
        if kind == "toolUse":
            try:
                text = "".join(self._pieces)
                block["input"] = (
                    strict_json.loads(text, max_depth=KEPT_DEPTH, duplicate_keys="last") if text.strip() else {}
                )
            except StreamError:
                return None  # sent back it would be refused, so that the block is left out of the message
        elif kind == "toolResult":
            block["content"] = self._items
        return ProviderPart(text_or_none(block, "type") or kind, Replay(ADAPTER, {kind: block}))


def events_of(block: Mapping[str, Any]) -> tuple[Fields, list[Fields]]:
    """Give a block of a whole response as the start and the deltas that would have made it."""
    for kind, value in block.items():
        inner = fields_of(value)
        match kind:
            case "citationsContent":
                texts = [{"text": text_of(fields_of(piece), "text")} for piece in list_of(inner.get("content"))]
                return {}, [*texts, *({"citation": one} for one in list_of(inner.get("citations")))]
            case "reasoningContent":
                shown = fields_of(inner.get("reasoningText"))
                parts = {**shown, "redactedContent": inner.get("redactedContent")}
                return {}, [{kind: {name: part}} for name, part in parts.items() if part is not None]
            case "toolUse":
                head = {name: member for name, member in inner.items() if name != "input"}
                given = inner.get("input")
                text = json.dumps(given, ensure_ascii=False, separators=(",", ":")) if given else ""
                return {kind: head}, [{kind: {"input": text}}]
            case "toolResult":
                return {kind: {**inner, "content": None}}, [{kind: inner.get("content")}]
            case "image":
                return {kind: {"format": inner.get("format")}}, [{kind: {"source": inner.get("source")}}]
            case "text":
                return {}, [block]
            case _ if isinstance(value, dict):
                return {kind: value}, []
            case _:
                pass
    return {}, []
