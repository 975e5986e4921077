"""Output: the items of one response of the Responses API, found by their places and ids. No IO, no clock.

In: events, parsed. Out: chunks, appended to a list. Servers differ in what they number: OpenAI's events tell the place
of their item (`output_index`), llama.cpp's only its id, and some gateways give each event another id.
"""

from __future__ import annotations

from collections.abc import Iterator

from unspool.errors import WireError
from unspool.providers.fields import Fields, fields_of, list_of, text_of, text_or_none
from unspool.providers.openai_responses_items import CallItem, OutputItem, ProviderItem, WrittenItem
from unspool.stream.chunks import Chunk
from unspool.stream.response import MAX_BLOCKS


class Output:
    """The items so far, in order of appearance."""

    __slots__ = ("_by_id", "_by_position", "_items", "_next_block")

    def __init__(self) -> None:
        self._items: list[OutputItem] = []
        self._by_position: dict[int, OutputItem] = {}
        self._by_id: dict[str, OutputItem] = {}
        self._next_block = 0

    def __iter__(self) -> Iterator[OutputItem]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def calls(self) -> list[CallItem]:
        """The tool calls."""
        return [item for item in self._items if isinstance(item, CallItem)]

    def begin(self, item: Fields, event: Fields, out: list[Chunk]) -> OutputItem:
        """Take an item that appears; one that is known already is given back.

        Raises:
            WireError: PROTOCOL for an item without type, a call without name, another item at the place of a call, and
                beyond 1024 items.
        """
        position = _position(event)
        id = text_or_none(item, "id")
        type = text_or_none(item, "type")
        if type is None:
            raise WireError("PROTOCOL", "The provider sent an item of the answer that has no type.")
        known = self._by_position.get(position) if position is not None else self._by_id.get(_key(item))
        if known is not None:
            if type == known.type and (not id or not known.id or id == known.id):
                return known
            if isinstance(known, CallItem) or type == "function_call":
                raise WireError("PROTOCOL", f"The provider sent two items at the place {position} of its answer.")
        if len(self._items) >= MAX_BLOCKS:  # here as well, because not every item begins a block
            raise WireError("PROTOCOL", f"The answer has more than {MAX_BLOCKS} items.")
        before = self._items[-1] if self._items else None
        after = before.id if before is not None and before.type == "reasoning" else None
        made: OutputItem
        if type == "function_call":
            name = text_of(item, "name")
            if not name:
                raise WireError("PROTOCOL", "The provider sent a tool call without a name.")
            call_id = text_of(item, "call_id")
            made = CallItem(type, id, position, after, call_id=call_id, name=name, new_block=self._new_block)
            made.begin(out)
            self._by_id.setdefault(made.call_id, made)
        elif type in ("message", "reasoning"):
            made = WrittenItem(type, id, position, after, new_block=self._new_block)
        else:
            made = ProviderItem(type, id, position, after, new_block=self._new_block)
            made.begin(out)
        self._items.append(made)
        if position is not None:
            self._by_position[position] = made
        if id is not None:
            self._by_id[id] = made
        return made

    def complete(self, item: Fields, event: Fields, out: list[Chunk]) -> None:
        """Take an item that is complete. One that had not begun, as with servers that do not stream it, begins here.

        Raises:
            WireError: PROTOCOL as `begin`, and for a call that has changed.
        """
        known = self.find(event, item)
        if isinstance(known, CallItem):
            known.check(item)
        elif known is None or known.type != item.get("type"):
            known = self.begin(item, event, out)
        known.end(item, out)

    def find(self, event: Fields, item: Fields | None = None) -> OutputItem | None:
        """Find the item that an event is about, or the one that it shows; where nothing is told, the last one.

        Raises:
            WireError: PROTOCOL when another id is given for the place of a call.
        """
        position = _position(event)
        id = _key(item) if item is not None else text_of(event, "item_id")
        if position is None:
            last = self._items[-1] if self._items and not self._items[-1].done else None
            return self._by_id.get(id) if id else last
        known = self._by_position.get(position)
        if isinstance(known, CallItem) and id and known.id and id not in (known.id, known.call_id):
            raise WireError("PROTOCOL", f"The id of the item at the place {position} of the answer changed.")
        return known

    def call(self, event: Fields) -> CallItem:
        """Find the call that an event is about.

        Raises:
            WireError: PROTOCOL when there is none.
        """
        item = self.find(event)
        if not isinstance(item, CallItem):
            raise WireError("PROTOCOL", "The provider sent arguments of a tool call that had not begun.")
        return item

    def written(self, event: Fields, type: str) -> WrittenItem:
        """Find the message or the reasoning that an event is about; one that was not announced begins with it.

        Raises:
            WireError: PROTOCOL when it is another kind of item.
        """
        item = self.find(event)
        owner = "reasoning" if type in ("summary_text", "reasoning_text") else "message"
        if item is None or (item.type != owner and not text_of(event, "item_id") and _position(event) is None):
            announced = {"type": owner, "id": text_of(event, "item_id") or None}
            item = self.begin(announced, event, [])
        if not isinstance(item, WrittenItem):
            raise WireError("PROTOCOL", f"The provider sent text for an item of type {item.type[:80]!r}.")
        return item

    def take(self, output: object, out: list[Chunk], *, hold: bool) -> None:
        """Take what the whole response shows and no event has brought.

        Args:
            output: the whole response's; None where it has none.
            hold: hold every call against it.
        Raises:
            WireError: PROTOCOL when a tool call was not completed, is missing, has changed, or was not streamed though
                other items were.
        """
        items = [fields_of(item) for item in list_of(output)]
        began = bool(self._items)
        calls = {call.call_id: call for call in self.calls}
        for call in calls.values():
            if not call.done:
                raise WireError("PROTOCOL", f"The tool call {call.name[:80]!r} was not completed.")
            if isinstance(output, list) and hold:
                final = _final(call, items)
                call.check(final)
                call.settle(text_of(final, "arguments"), out)
        for position, item in enumerate(items):
            known = self._by_id.get(_key(item)) or self._by_position.get(position) if began else None
            if began and item.get("type") == "function_call":
                if text_of(item, "call_id") not in calls and not isinstance(known, CallItem):
                    raise WireError("PROTOCOL", "The whole response holds a tool call that was not streamed.")
            elif known is None:
                self.begin(item, {"output_index": position}, out).end(item, out)
            elif known.type == item.get("type"):  # servers that leave items out number the others anew
                known.end(item, out)

    def _new_block(self) -> int:
        index = self._next_block
        self._next_block += 1
        return index


def _final(call: CallItem, items: list[Fields]) -> Fields:
    if call.position is not None:
        return fields_of(items[call.position] if call.position < len(items) else None)
    for item in items:
        if item.get("call_id") == call.call_id or (call.id and item.get("id") == call.id):
            return item
    return {}


def _key(item: Fields) -> str:
    return text_of(item, "id") or text_of(item, "call_id")


def _position(event: Fields) -> int | None:
    position = event.get("output_index")
    return position if isinstance(position, int) and position >= 0 else None
