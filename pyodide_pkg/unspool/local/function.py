"""What a function model gives: pieces of text, chunks, or OpenAI chat chunks, decoded like any provider's events."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from unspool.contracts import Request
from unspool.errors import UnspoolError, WireError
from unspool.local.iterable import IterableResponse, failure
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

    __slots__ = ("_chat", "_has_calls", "_kind", "_only_text", "_open", "_usage")

    def __init__(self) -> None:
        self._chat = OpenAIChatDecoder()
        self._kind: str | None = None
        self._only_text = True
        self._open: list[int] = []
        self._has_calls = False
        self._usage: UsageReport | None = None

    def feed(self, name: str, data: str) -> list[Chunk]:
        """Decode one server-sent event of an OpenAI chat stream."""
        self._only_text = False
        return self._chat.feed(name, data)

    def decode(self, event: Any) -> list[Chunk]:
        """Decode one piece.

        Raises:
            WireError: PROTOCOL when it is neither text, a chunk nor a dict, or when chunks of blocks are mixed with
                others.
        """
        if isinstance(event, str):
            self._expect("text and dicts")
            return self._chat.decode(_delta(event))
        if isinstance(event, Mapping):
            self._expect("text and dicts")
            self._only_text = False
            return self._chat.decode(dict(cast("Mapping[str, Any]", event)))
        if isinstance(event, UsageReport):
            self._usage = event
            return []
        if isinstance(event, Finish):
            return self._end(event)
        if isinstance(event, BlockStart | BlockEnd | TextDelta | ReasoningDelta | ToolArgumentsDelta):
            self._expect("chunks")
            if isinstance(event, BlockStart):
                self._open.append(event.index)
                self._has_calls = self._has_calls or event.kind == "tool_call"
            elif isinstance(event, BlockEnd) and event.index in self._open:
                self._open.remove(event.index)
            return [event]
        raise WireError("PROTOCOL", f"A model gave {type(event).__name__}; it must give texts, chunks or dicts.")

    def finish(self) -> list[Chunk]:
        """The iterable is over: give what is left, ending with `Finish`."""
        return self._end(None)

    def _expect(self, kind: str) -> None:
        if self._kind not in (None, kind):
            raise WireError("PROTOCOL", f"A model gave {self._kind} and then {kind}; one answer has only one of them.")
        self._kind = kind

    def _end(self, given: Finish | None) -> list[Chunk]:
        out: list[Chunk]
        if self._kind == "chunks":
            out = [*map(BlockEnd, self._open), Finish("tool_calls" if self._has_calls else "stop")]
        else:
            out = self._chat.finish()
        if not out:  # the terminal chunk has been given
            return out
        # Texts have no finish reason of a vendor, so the decoder of chat chunks takes them for cut.
        finish = given or (Finish("stop") if self._only_text and self._kind != "chunks" else out[-1])
        body = out[:-1]
        if self._usage is not None:
            body = [chunk for chunk in body if not isinstance(chunk, UsageReport)] + [self._usage]
        return [*body, finish]


def _delta(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}
