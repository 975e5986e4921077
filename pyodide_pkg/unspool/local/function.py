"""What a function model gives: texts, messages and their parts, OpenAI chat chunks, or chunks, decoded like any
provider's events.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from unspool.contracts import Request
from unspool.errors import UnspoolError, WireError
from unspool.local.iterable import WANTED, IterableResponse, failure
from unspool.messages import (
    FinishReason,
    Image,
    Message,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCall,
    Usage,
)
from unspool.providers.openai_chat import OpenAIChatAdapter, OpenAIChatDecoder
from unspool.source import is_javascript
from unspool.stream.chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgumentsDelta,
    UsageReport,
)

_TEXTS, _CHUNKS = "texts, messages or dicts", "chunks"
_PARTS = (TextPart, ReasoningPart, RefusalPart, ToolCall, Image, ProviderPart)


async def open_function(generate: Callable[[Any], Any], request: Request) -> IterableResponse:
    """Call the function of a function model.

    Args:
        generate: Python's gets the request; JavaScript's gets the body of an OpenAI chat request, as an object.
        request: the call.
    Raises:
        ProviderError: PROVIDER when the function fails, or gives nothing that can be iterated.
    """
    try:
        given = generate(_chat_body(request) if is_javascript(generate) else request)
        if inspect.isawaitable(given) and not hasattr(given, "__aiter__"):
            given = await given
        return IterableResponse(given)
    except UnspoolError:
        raise
    except Exception as error:
        raise failure(error) from error


def _chat_body(request: Request) -> Any:
    import js

    body = OpenAIChatAdapter().build(request, api_key=None, base_url="http://localhost").body
    return js.JSON.parse(body.decode())


class PieceDecoder:
    """Decodes the pieces of one answer. When the iterable ends, so does the answer, unless dicts say otherwise."""

    __slots__ = ("_chat", "_events", "_has_calls", "_is_cut", "_kind", "_message", "_open", "_usage")

    def __init__(self) -> None:
        self._chat = _Parts()
        self._kind: str | None = None
        self._events = False  # of a chat, which say themselves when the answer is over
        self._open: list[int] = []
        self._has_calls = False
        self._is_cut = False
        self._message: Message | None = None
        self._usage: UsageReport | None = None

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event of an OpenAI chat stream."""
        self._events = True
        return self._chat.feed(name, data)

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one piece.

        Raises:
            WireError: PROTOCOL when it is nothing that an answer is made of, or when chunks of blocks are mixed with
                others.
            ConfigError: INVALID_OPTIONS for a dict with a role that is no message.
        """
        if isinstance(event, str):
            self._expect(_TEXTS)
            return self._chat.decode(_delta(event))
        if isinstance(event, Mapping):
            return self._read(cast("Mapping[str, Any]", event))
        if isinstance(event, Message):
            return self._said(event)
        if isinstance(event, _PARTS):
            return self._part(event)
        if isinstance(event, Usage | UsageReport):
            self._usage = UsageReport(event) if isinstance(event, Usage) else event
            return []
        if isinstance(event, Finish):
            return self._end(event)
        if isinstance(event, BlockStart | BlockEnd | TextDelta | ReasoningDelta | ToolArgumentsDelta):
            self._expect(_CHUNKS)
            if isinstance(event, BlockStart):
                self._open.append(event.index)
                self._has_calls = self._has_calls or event.kind == "tool_call"
            elif isinstance(event, BlockEnd) and event.index in self._open:
                self._open.remove(event.index)
            return [event]
        raise WireError("PROTOCOL", f"A model gave {type(event).__name__}; it must give {WANTED}.")

    def finish(self) -> list[Chunk]:
        """The iterable is over: give what is left, ending with `Finish`."""
        return self._end(None)

    def _read(self, event: Mapping[str, Any]) -> list[Chunk]:
        if "role" in event and "choices" not in event:
            from unspool.messages.from_json import message_of  # here, because few models answer so

            return self._said(message_of(event, "the answer"))
        self._expect(_TEXTS)
        self._events = True
        return self._chat.decode(dict(event))

    def _said(self, message: Message) -> list[Chunk]:
        if message.role != "assistant":
            raise WireError("PROTOCOL", f"A model gave a {message.role} message; it answers by an assistant's.")
        if message.finish_reason in ("error", "aborted"):
            raise WireError("PROTOCOL", "A model gave a message that failed; it fails by raising an error.")
        self._expect(_TEXTS)
        self._message = message
        if message.usage is not None:
            self._usage = UsageReport(message.usage)
        return [chunk for part in message.parts for chunk in self._part(part)]

    def _part(self, part: Part) -> list[Chunk]:
        if not isinstance(part, _PARTS):
            raise WireError("PROTOCOL", f"A model gave a part of type {part.type!r}, which no answer has.")
        self._expect(_TEXTS)
        if isinstance(part, ToolCall):
            self._has_calls = True
            self._is_cut = self._is_cut or part.truncated
        return self._chat.part(part)

    def _expect(self, kind: str) -> None:
        if self._kind not in (None, kind):
            raise WireError("PROTOCOL", f"A model gave {self._kind} and then {kind}; one answer has only one of them.")
        self._kind = kind

    def _end(self, given: Finish | None) -> list[Chunk]:
        reason: FinishReason = "length" if self._is_cut else "tool_calls" if self._has_calls else "stop"
        finish: Chunk = Finish(reason)
        out: list[Chunk]
        out = [*map(BlockEnd, self._open), finish] if self._kind == _CHUNKS else self._chat.finish()
        if not out:  # the terminal chunk has been given
            return out
        said = self._message
        if given is not None:
            finish = given
        elif self._events:
            finish = out[-1]
        elif said is not None:
            reason = said.finish_reason or reason
            finish = Finish(reason, said.raw_finish_reason, origin=said.origin, metadata=said.metadata or None)
        body = out[:-1]
        if self._usage is not None:
            body = [chunk for chunk in body if not isinstance(chunk, UsageReport)] + [self._usage]
        return [*body, finish]


class _Parts(OpenAIChatDecoder):
    """A chat, with whole parts of a message between its events."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self._what = "event of an OpenAI chat, nor a message (a value is given as text: us.format_value)"

    def part(self, part: Part) -> list[Chunk]:
        """Give a part as a block of its own."""
        out: list[Chunk] = []
        self._texts.close(out)
        if isinstance(part, ToolCall):
            index = self._texts.number()
            out += (BlockStart(index, "tool_call", part.id, part.name), ToolArgumentsDelta(index, part.arguments))
            out.append(BlockEnd(index, replay=part.replay))
        elif isinstance(part, TextPart | RefusalPart) or (isinstance(part, ReasoningPart) and not part.redacted):
            self._texts.add(part.type, part.text, out)
            self._texts.close(out, part.replay)
        else:
            self._texts.add_whole(part.kind if isinstance(part, ProviderPart) else part.type, part, out)
        return out


def _delta(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}
