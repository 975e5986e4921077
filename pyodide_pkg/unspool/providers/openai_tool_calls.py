"""Tool calls of one chat completion, put together from deltas that servers number, name and cut in their own ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from unspool.errors import StreamError, WireError
from unspool.stream.chunks import BlockEnd, BlockStart, Chunk, ToolArgumentsDelta
from unspool.stream.nesting import is_deeper
from unspool.stream.response import MAX_BLOCKS
from unspool.structured.json_stream import JsonStream


class OpenAIToolCall:
    """One call that is being received."""

    __slots__ = ("_arguments", "_unread", "block", "id", "index", "name", "seen")

    def __init__(self, index: int | None, id: str | None) -> None:
        self.index = index
        """The server's number for it; None where it gives none."""
        self.id = id
        self.name: str | None = None
        self.block: int | None = None
        """Index of its block; None until there is something to begin it with."""
        self.seen = ""
        """Cumulative servers: the arguments as last sent."""
        self._unread: list[str] = []
        self._arguments: JsonStream | None = None

    def add(self, arguments: str) -> None:
        """Take more of the arguments' text."""
        self._unread.append(arguments)

    def is_whole(self) -> bool:
        """Whether the arguments are one complete JSON object. Asking often costs no more than reading them once."""
        self._arguments = self._arguments or JsonStream()
        text = "".join(self._unread)
        self._unread.clear()
        try:
            return self._arguments.push(text).complete
        except StreamError:
            return False


class OpenAIToolCalls:
    """The calls of one choice, in order of first appearance.

    Which call does a delta belong to? Its `index` tells, where there is one; else its `id`; else it goes on with the
    call before. A call whose arguments are complete is not gone on with: a server that numbers each call 0, or none,
    begins another one by naming it.
    """

    __slots__ = ("_by_id", "_by_index", "_calls", "_cumulative", "_new_block")

    def __init__(self, new_block: Callable[[], int], *, cumulative: bool) -> None:
        self._calls: list[OpenAIToolCall] = []
        self._by_index: dict[int, OpenAIToolCall] = {}
        self._by_id: dict[str, OpenAIToolCall] = {}
        self._new_block = new_block
        self._cumulative = cumulative

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, delta: dict[str, Any], out: list[Chunk]) -> None:
        """Take one element of `delta.tool_calls`.

        Raises:
            WireError: PROTOCOL when `function`, its name or its arguments are of a type that cannot be meant, and
                beyond 1024 calls.
        """
        function = delta.get("function")
        if function is None:
            function = {}
        if not isinstance(function, dict):
            raise WireError("PROTOCOL", "A tool call of the provider has a `function` that is not an object.")
        members = cast("dict[str, Any]", function)
        name = members.get("name") or None
        if name is not None and not isinstance(name, str):
            raise WireError("PROTOCOL", "A tool call of the provider has a name that is not text.")
        arguments = _arguments_text(members.get("arguments"))
        id_ = delta.get("id") or None
        index = delta.get("index")
        call = self._find(
            index if isinstance(index, int) else None, id_ if isinstance(id_, str) else None, name, arguments
        )
        call.name = call.name or name
        if self._cumulative and arguments:
            arguments, call.seen = grown(call.seen, arguments), arguments
        if arguments or call.name:
            self._begin(call, out)
        if arguments:
            assert call.block is not None
            call.add(arguments)
            out.append(ToolArgumentsDelta(call.block, arguments))

    def finish(self) -> list[Chunk]:
        """End the block of every call; a call of which only the id came begins here."""
        out: list[Chunk] = []
        for call in self._calls:
            self._begin(call, out)
            assert call.block is not None
            out.append(BlockEnd(call.block))
        return out

    def _begin(self, call: OpenAIToolCall, out: list[Chunk]) -> None:
        if call.block is None:
            call.block = self._new_block()
            # Results are matched by id, so that a call without one needs one.
            call.id = call.id or f"call_{self._calls.index(call)}"
            out.append(BlockStart(call.block, "tool_call", call.id, call.name))

    def _find(self, index: int | None, id_: str | None, name: str | None, arguments: str) -> OpenAIToolCall:
        call = self._candidate(index, id_)
        if call is None or self._is_another(call, id_, name, arguments):
            return self._new_call(index, id_)
        if call.block is None and call.id is None and id_ is not None:  # an id that changes later does not count
            call.id = id_
            self._by_id[id_] = call
        return call

    def _new_call(self, index: int | None, id_: str | None) -> OpenAIToolCall:
        if len(self._calls) >= MAX_BLOCKS:  # here as well, because a call that is only numbered begins no block
            raise WireError("PROTOCOL", f"The answer has more than {MAX_BLOCKS} tool calls.")
        call = OpenAIToolCall(index, id_)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if id_ is not None:
            self._by_id[id_] = call
        return call

    def _candidate(self, index: int | None, id_: str | None) -> OpenAIToolCall | None:
        if index is not None:
            return self._by_index.get(index)
        if id_ is not None:
            return self._by_id.get(id_)
        return self._calls[-1] if self._calls else None

    def _is_another(self, call: OpenAIToolCall, id_: str | None, name: str | None, arguments: str) -> bool:
        if name is None or (id_ is not None and id_ == call.id):
            return False
        if id_ is None and not arguments:
            return False  # the name said again
        return (call.name is not None and name != call.name) or call.is_whole()


def _arguments_text(arguments: object) -> str:
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict | list):
        if is_deeper(cast("object", arguments)):
            raise WireError("PROTOCOL", "The arguments of a tool call are nested too deep.")
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    raise WireError("PROTOCOL", "The arguments of a tool call are neither text nor an object.")


def grown(before: str, now: str) -> str:
    """Give what a cumulative server has added since its last event.

    Raises:
        WireError: PROTOCOL when the text so far was changed.
    """
    if not now.startswith(before):
        raise WireError("PROTOCOL", "The provider was said to send the text so far in each event, but it changed it.")
    return now[len(before) :]
