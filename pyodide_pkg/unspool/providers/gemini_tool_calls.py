"""GeminiToolCalls: the function calls of one candidate, whole ones and such as come in parts. No IO, no clock.

Source: https://ai.google.dev/api/caching#FunctionCall; of parts: Vertex AI, "Function calling", streaming of arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from unspool.errors import StreamError, WireError
from unspool.messages import Replay
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta
from unspool.stream.nesting import is_deeper
from unspool.structured import strict_json
from unspool.structured.partial_arguments import PartialArguments, json_text

ADAPTER = "gemini"

_NO_ID = re.compile(r"[^A-Za-z0-9_-]+")
_ID_CHARS = 24
"""Of the response's id, so that ours stays below the 40 characters that OpenAI takes, should it come there."""


class _Open:
    """A call whose arguments come in parts."""

    __slots__ = ("arguments", "block", "id", "name", "signature", "written")

    def __init__(self, block: int, id_: str | None, name: str, signature: str | None) -> None:
        self.block = block
        self.id = id_
        self.name = name
        self.signature = signature
        self.arguments = PartialArguments()
        self.written: list[str] = []

    def is_over(self, id_: str | None, name: str | None, *, bare: bool) -> bool:
        """Whether a part begins another call: by its id; else by a name, which a part that goes on may repeat.

        Args:
            id_, name: of the part, if it has any.
            bare: it brings no arguments and goes on, as the first part of a call does.
        """
        if id_ is not None and self.id is not None:
            return id_ != self.id
        return name is not None and (bare or name != self.name)


class GeminiToolCalls:
    """Gives a block for each call, in order of appearance.

    A call without an id of the provider's gets one of ours, from the id of the response and its place in it: the same
    each time, unique in a conversation, and never sent. What must be sent back is the replay state of its block.
    """

    __slots__ = ("_ids", "_new_block", "_open", "count")

    def __init__(self, new_block: Callable[[], int]) -> None:
        self.count = 0
        """Calls that have begun."""
        self._new_block = new_block
        self._ids: set[str] = set()
        self._open: _Open | None = None

    @property
    def is_cut(self) -> bool:
        """Whether a call was said to go on, and did not."""
        return self._open is not None

    def feed(self, value: object, signature: str | None, response_id: str | None, out: list[Chunk]) -> None:
        """Take one `functionCall`.

        Raises:
            WireError: PROTOCOL when it is none, has no name, goes on with a call that is not open, or its parts do not
                add up to arguments, or these have no JSON form.
        """
        if not isinstance(value, dict):
            raise WireError("PROTOCOL", "The provider sent a function call that is not an object.")
        call = cast("dict[str, Any]", value)
        name, id_ = _text(call, "name"), _text(call, "id")
        if not isinstance(call.get("args"), dict | None) or is_deeper(call):
            raise WireError("PROTOCOL", "The arguments of a function call are no object, or nested too deep.")
        if not isinstance(call.get("partialArgs"), list | None):
            raise WireError("PROTOCOL", "The partial arguments of a function call are not a list.")
        args: dict[str, Any] | None = call.get("args")
        entries: list[object] | None = call.get("partialArgs")
        whole = None if args is None else _json_text(args)
        goes_on = call.get("willContinue") is True
        if self._open is not None and self._open.is_over(id_, name, bare=not entries and goes_on):
            self._end(self._open, None, out)
        if self._open is None:
            if name is None:
                if args or entries or goes_on:
                    raise WireError("PROTOCOL", "The provider sent a function call without a name.")
                return  # the end of a call, said again
            block = self._begin(id_, name, response_id, out)
            if not (entries or goes_on):
                if whole is not None:
                    out.append(ToolArgumentsDelta(block, whole))
                out.append(BlockEnd(block, replay=self._replay(id_, signature)))
                return
            self._open = _Open(block, id_, name, signature)
        self._go_on(self._open, args, entries, signature, goes_on, out)

    def finish(self) -> list[Chunk]:
        """End the block of a call that was cut; its arguments stay as they came."""
        if self._open is None:
            return []
        return [BlockEnd(self._open.block, replay=self._replay(self._open.id, self._open.signature))]

    def _go_on(
        self,
        open_: _Open,
        args: dict[str, Any] | None,
        entries: list[object] | None,
        signature: str | None,
        goes_on: bool,
        out: list[Chunk],
    ) -> None:
        open_.signature = open_.signature or signature
        try:
            piece = "".join([_pushed(open_.arguments, entry) for entry in entries or ()])
            if args and goes_on:
                piece = open_.arguments.write_members(json_text(args)) + piece
        except StreamError as error:
            raise WireError("PROTOCOL", f"The partial arguments of a function call: {error.message}") from error
        self._write(open_, piece, out)
        if not goes_on:
            self._end(open_, args or None, out)

    def _end(self, open_: _Open, whole: dict[str, Any] | None, out: list[Chunk]) -> None:
        """End a call; `whole` are all arguments, which some servers send last."""
        if whole is not None and not open_.written:
            self._write(open_, json_text(whole), out)
        else:
            self._write(open_, open_.arguments.finish(), out)
            if whole is not None and not _says("".join(open_.written), whole):
                raise WireError("PROTOCOL", "The arguments of a function call are not what its parts add up to.")
        self._open = None
        out.append(BlockEnd(open_.block, replay=self._replay(open_.id, open_.signature)))

    def _write(self, open_: _Open, piece: str, out: list[Chunk]) -> None:
        if piece:
            open_.written.append(piece)
            out.append(ToolArgumentsDelta(open_.block, piece))

    def _begin(self, id_: str | None, name: str, response_id: str | None, out: list[Chunk]) -> int:
        number = self.count
        self.count += 1
        ours = id_
        while ours is None or (id_ is None and ours in self._ids):
            ours = "_".join(filter(None, ("call", _NO_ID.sub("", response_id or "")[:_ID_CHARS], str(number))))
            number += 1
        self._ids.add(ours)
        block = self._new_block()
        out.append(BlockStart(block, "tool_call", ours, name))
        return block

    def _replay(self, id_: str | None, signature: str | None) -> Replay | None:
        """What goes back: the provider's own id, and the signature."""
        data = {name: text for name, text in (("id", id_), ("thoughtSignature", signature)) if text is not None}
        return Replay(ADAPTER, data) if data else None


def _text(call: dict[str, Any], name: str) -> str | None:
    value = call.get(name)
    if not isinstance(value, str | None):
        raise WireError("PROTOCOL", f"The {name} of a function call is not text.")
    return value or None


def _json_text(args: dict[str, Any]) -> str:
    try:
        return json_text(args)
    except StreamError as error:  # not out of JSON, but a model in the page can give it
        raise WireError("PROTOCOL", f"The provider sent what has no JSON form: {error.message}") from error


def _pushed(arguments: PartialArguments, entry: object) -> str:
    if not isinstance(entry, dict):
        raise WireError("PROTOCOL", "A partial argument of a function call is not an object.")
    members = cast("dict[str, Any]", entry)
    path = members.get("jsonPath")
    value = members.get("stringValue", members.get("numberValue", members.get("boolValue")))
    if not isinstance(path, str) or not isinstance(value, str | int | float | None):
        raise WireError("PROTOCOL", "A partial argument of a function call has no path, or a value that is none.")
    return arguments.push(path, value, goes_on=members.get("willContinue") is True)


def _says(text: str, value: dict[str, Any]) -> bool:
    try:
        return bool(strict_json.loads(text) == value)
    except StreamError:
        return False
