"""Output items of one response of the Responses API, put together from their events and turned into blocks.

In: members of events, parsed. Out: chunks, appended to a list. Deltas are passed on as they came; what a later event
says of the whole is held against them. No IO, no clock. Source: OpenAI API reference, "Responses", "Streaming events".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from typing import Any

from unspool.errors import ConfigError, WireError
from unspool.messages import Image, ProviderPart, ReasoningPart, Replay
from unspool.providers.fields import Fields, fields_of, kept, list_of, text_of
from unspool.stream.chunks import (
    BlockEnd,
    BlockKind,
    BlockStart,
    Chunk,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    provider_kind,
)
from unspool.surrogates import joined

ADAPTER = "openai-responses"

_KINDS: dict[str, BlockKind] = {
    "output_text": "text",
    "text": "text",
    "refusal": "refusal",
    "summary_text": "reasoning",
    "reasoning_text": "reasoning",
}
"""Blocks for the types of parts; others are passed over."""
_LISTS = ("content", "summary")
_KEPT_OF_MESSAGE = ("phase",)
KEPT_OF_CALL = ("namespace", "caller")
"""Members beside the usual ones that the provider wants back."""


class OutputItem(ABC):
    """One item: what all of them have in common."""

    __slots__ = ("after", "done", "id", "position", "type")

    def __init__(self, type: str, id: str | None, position: int | None, after: str | None) -> None:
        self.type = type
        self.id = id
        self.position = position
        """The provider's `output_index`; None where it gives none."""
        self.after = after
        """Id of the reasoning item right before it, without which the provider does not take it back."""
        self.done = False

    @abstractmethod
    def end(self, item: Fields, out: list[Chunk]) -> None:
        """The item is complete, and `item` is the whole of it."""

    @abstractmethod
    def cut(self, out: list[Chunk]) -> None:
        """The response is over, and the item has not been completed."""

    def annotations(self) -> list[dict[str, Any]]:
        """Give what was noted on the item's text, such as sources."""
        return []

    def _replay(self, data: dict[str, Any]) -> Replay:
        marks = {"id": self.id, "after": self.after}
        return Replay(ADAPTER, kept({name: value for name, value in marks.items() if value is not None} | data))


class _Written:
    """One part of a message or of reasoning: a block of text."""

    __slots__ = ("annotations", "block", "type", "_chars", "_texts")

    def __init__(self, type: str, block: int) -> None:
        self.type = type
        self.block = block
        self.annotations: list[Fields] = []
        self._texts: list[str] = []
        self._chars = 0

    def add(self, text: str, out: list[Chunk]) -> None:
        self._texts.append(text)
        self._chars += len(text)
        reasons = _KINDS[self.type] == "reasoning"
        out.append(ReasoningDelta(self.block, text) if reasons else TextDelta(self.block, text))

    def settle(self, text: str, out: list[Chunk]) -> None:
        """Take the whole text, if it goes on from what has come."""
        if len(text) * 2 < self._chars:
            return  # even if all that came was halves of pairs; and looking costs what came, not what this event is
        so_far = "".join(self._texts)
        self._texts = [so_far]
        if text != so_far:
            so_far = joined(so_far)
            if len(text) > len(so_far) and joined(text).startswith(so_far):
                self.add(text[len(so_far) :], out)


class WrittenItem(OutputItem):
    """A message or reasoning: parts of text."""

    __slots__ = ("_new_block", "_parts")

    def __init__(self, *item: Any, new_block: Callable[[], int]) -> None:
        super().__init__(*item)
        self._new_block = new_block
        self._parts: dict[tuple[str, int], _Written] = {}

    def add(self, type: str, number: int, text: str, out: list[Chunk]) -> None:
        """More text of a part.

        Raises:
            WireError: PROTOCOL after the end of the item.
        """
        if not text:
            return
        self._check_open()
        self._part(type, number, out).add(text, out)

    def settle(self, type: str, number: int, text: str, out: list[Chunk]) -> None:
        """The whole text of a part; what had not come yet comes now. One that is another text is passed over."""
        if text and not self.done:
            self._part(type, number, out).settle(text, out)

    def annotate(self, number: int, annotation: Fields) -> None:
        """A note on the text of a part."""
        part = self._parts.get(("content", number))
        if part is not None:
            part.annotations.append(annotation)

    def end(self, item: Fields, out: list[Chunk]) -> None:
        if self.done:
            return
        for name in _LISTS:
            self._settle_list(name, list_of(item.get(name)), out)
        if self.type == "reasoning":
            self._end_reasoning(text_of(item, "encrypted_content"), out)
        else:
            data = {name: item[name] for name in _KEPT_OF_MESSAGE if item.get(name) is not None}
            replay = self._replay(data) if self.id else None
            out.extend(BlockEnd(part.block, replay=replay) for part in self._parts.values())
        self.done = True

    def cut(self, out: list[Chunk]) -> None:
        if not self.done:
            self.done = True
            out.extend(BlockEnd(part.block) for part in self._parts.values())

    def annotations(self) -> list[dict[str, Any]]:
        return [
            {"output_index": self.position, "content_index": number, "annotation": annotation}
            for (_, number), part in self._parts.items()
            for annotation in part.annotations
        ]

    def _end_reasoning(self, encrypted: str, out: list[Chunk]) -> None:
        hidden = {"encrypted_content": encrypted} if encrypted else {}
        last = len(self._parts) - 1
        for number, part in enumerate(self._parts.values()):
            data = {"part": part.type} | (hidden if number == last else {})
            out.append(BlockEnd(part.block, replay=self._replay(data)))
        if not self._parts and (hidden or self.id):
            block = self._new_block()
            out.append(BlockStart(block, "reasoning"))
            out.append(BlockEnd(block, part=ReasoningPart("", redacted=True, replay=self._replay(hidden))))

    def _settle_list(self, name: str, parts: list[object], out: list[Chunk]) -> None:
        """By order and not by number: servers begin to count at 0 or at 1, or number empty parts too."""
        begun = [key for key in self._parts if key[0] == name]
        for place, part in enumerate(part for part in map(fields_of, parts) if written_in(part)[1]):
            type, text = written_in(part)
            number = begun[place][1] if place < len(begun) else place
            while place >= len(begun) and (name, number) in self._parts:
                number += 1  # a number that is taken, by a part that began at another place
            self.settle(type, number, text, out)
            annotations = [*map(fields_of, list_of(part.get("annotations")))]
            if annotations:
                self._parts[name, number].annotations = annotations

    def _part(self, type: str, number: int, out: list[Chunk]) -> _Written:
        key = ("summary" if type == "summary_text" else "content", number)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Written(type, self._new_block())
            out.append(BlockStart(part.block, _KINDS[type]))
        return part

    def _check_open(self) -> None:
        if self.done:
            raise WireError("PROTOCOL", "The provider went on with an item of the answer that it had completed.")


def written_in(part: Fields) -> tuple[str, str]:
    """Give the type and the text of a content part; no text for parts of other kinds.

    Raises:
        WireError: PROTOCOL when one of them is no text.
    """
    type = text_of(part, "type")
    if type not in _KINDS:
        return "", ""
    return type, text_of(part, "refusal" if type == "refusal" else "text")


class CallItem(OutputItem):
    """A call of one of the caller's tools.

    Its identity and arguments may not change from event to event: a call that is executed must be the one meant.
    """

    __slots__ = ("_block", "_deltas", "_final", "_stated_id", "call_id", "name")

    def __init__(self, *item: Any, call_id: str, name: str, new_block: Callable[[], int]) -> None:
        super().__init__(*item)
        self._block = new_block()
        self._stated_id = call_id
        # Results are matched by the id of the call, so that a call without one needs one.
        self.call_id = call_id or self.id or f"call_{self._block}"
        self.name = name
        self._deltas: list[str] = []
        self._final: str | None = None

    def begin(self, out: list[Chunk]) -> None:
        """The call appears."""
        out.append(BlockStart(self._block, "tool_call", self.call_id, self.name))

    def add(self, arguments: str, out: list[Chunk]) -> None:
        """More of the arguments.

        Raises:
            WireError: PROTOCOL after their end.
        """
        if self._final is not None or self.done:
            raise self._changed("goes on after its end")
        if arguments:
            self._deltas.append(arguments)
            out.append(ToolArgumentsDelta(self._block, arguments))

    def settle(self, arguments: str, out: list[Chunk]) -> None:
        """The whole arguments. They are given now if no delta came.

        Raises:
            WireError: PROTOCOL when they are not what was streamed.
        """
        if self._final is None and not self._deltas:
            self.add(arguments, out)
        if self._final is None:
            self._final = joined("".join(self._deltas))
        if self._final != joined(arguments):
            raise self._changed("changed its arguments")

    def check(self, item: Fields) -> None:
        """Hold what is said of the call now against how it began.

        Raises:
            WireError: PROTOCOL when it is another call.
        """
        if item.get("type") != self.type:
            raise self._changed("is missing from its place in the whole answer")
        for name, known in (("id", self.id), ("call_id", self._stated_id), ("name", self.name)):
            value = item.get(name)
            if value and known and value != known:
                raise self._changed(f"changed its {name}")

    def end(self, item: Fields, out: list[Chunk]) -> None:
        self.check(item)
        # What was cut off may have been streamed further than it was written down.
        if item.get("arguments") is not None and not (self._deltas and item.get("status") == "incomplete"):
            self.settle(text_of(item, "arguments"), out)
        if not self.done:
            data = {name: item[name] for name in KEPT_OF_CALL if item.get(name) is not None}
            out.append(BlockEnd(self._block, replay=self._replay(data) if self.id or data else None))
            self.done = True

    def cut(self, out: list[Chunk]) -> None:
        if not self.done:
            self.done = True
            out.append(BlockEnd(self._block))

    def _changed(self, what: str) -> WireError:
        return WireError("PROTOCOL", f"The tool call {self.name[:80]!r} {what}.")


class ProviderItem(OutputItem):
    """What the provider ran itself, or anything unknown: kept whole. A generated picture becomes an image."""

    __slots__ = ("_block", "_new_block")

    def __init__(self, *item: Any, new_block: Callable[[], int]) -> None:
        super().__init__(*item)
        self._new_block = new_block
        self._block = new_block()

    def begin(self, out: list[Chunk]) -> None:
        """The item appears."""
        kind = "image" if self.type == "image_generation_call" else provider_kind(self.type, ADAPTER)
        out.append(BlockStart(self._block, kind))

    def end(self, item: Fields, out: list[Chunk]) -> None:
        if self.done:
            return
        image = _image(item, self._replay({})) if self.type == "image_generation_call" else None
        whole = image or ProviderPart(self.type, self._replay({"item": item}))
        if self.type == "image_generation_call" and image is None:
            out.append(BlockEnd(self._block))
            self._block = self._new_block()
            out.append(BlockStart(self._block, self.type))
        out.append(BlockEnd(self._block, part=whole))
        self.done = True

    def cut(self, out: list[Chunk]) -> None:
        if not self.done:
            self.done = True
            out.append(BlockEnd(self._block))


def _image(item: Fields, replay: Replay) -> Image | None:
    """Give the picture; None when there is none, or one that cannot be read."""
    try:
        data = b64decode(text_of(item, "result"), validate=True)
        return Image(data, media_type=f"image/{text_of(item, 'output_format') or 'png'}", replay=replay)
    except (Base64Error, ConfigError, ValueError):
        return None
