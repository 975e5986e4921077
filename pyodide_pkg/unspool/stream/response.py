"""ResponseMachine: the slices of one response in, chunks out, with exactly one terminal chunk. No IO, no clock.

It finds out what the body is (server-sent events, one JSON document, JSON lines, AWS's binary messages, or something
else), holds it to limits, gives it to the vendor's decoder, and turns every fault into the terminal `Finish`. It never
raises for what the other side sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from unspool.errors import (
    CallCancelledError,
    ConfigError,
    StreamError,
    StreamTruncatedError,
    TransportError,
    UnspoolError,
    WireError,
)
from unspool.foreign_error import typed
from unspool.frozen_json import INNER_DEPTH, freeze_object
from unspool.stream.chunks import DELTAS, BlockEnd, BlockStart, Chunk, Delta, Finish, ToolArgumentsDelta
from unspool.stream.event_stream import EventStreamDecoder
from unspool.stream.excerpt import excerpt
from unspool.stream.ndjson import NdjsonDecoder
from unspool.stream.nesting import is_deeper
from unspool.stream.order import ChunkOrder
from unspool.stream.sse import SseDecoder
from unspool.stream.tool_calls import ToolCallCheck
from unspool.structured import strict_json
from unspool.surrogates import joined

if TYPE_CHECKING:
    from unspool.contracts import ProviderDecoder

MAX_BODY_BYTES = 16_777_216
MAX_CHARS = 16_777_216
MAX_BLOCKS = 1_024

Framing = Literal["sse", "json", "lines", "messages", "other"]

_FIELDS = (b":", b"data", b"event", b"id", b"retry")
_LEADING = b" \t\r\n\xef\xbb\xbf"  # servers send blank lines while they think, and byte order marks
_HEAD_BYTES = 1_024
_SURROGATE = re.compile("[\ud800-\udfff]")


def framing_of(head: bytes, event_stream: bool) -> Framing | None:
    """Tell what a body is by how it begins. What servers say in `content-type` is often wrong; what they send is not.

    Args:
        head: the first bytes, without leading white space and byte order mark.
        event_stream: whether the server calls it an event stream; decides for a first line that is none of ours.
    Returns:
        None while it can still be more than one. Lines begin as one document does: their first end tells them apart.
    """
    if not head:
        return None
    if head[:1] == b"\0":  # of the size of a message, which is below 16 MiB; no text begins like this
        return "messages"
    if head[:1] in (b"{", b"["):
        return "json"
    if head[:1] == b"<":
        return "other"
    if event_stream or head.startswith(_FIELDS):
        return "sse"
    return None if any(field.startswith(head) for field in _FIELDS) else "other"


class ResponseMachine:
    """Decode one response."""

    __slots__ = (
        "_chars",
        "_content_type",
        "_decoder",
        "_frames",
        "_framing",
        "_halves",
        "_held",
        "_max_blocks",
        "_max_body_bytes",
        "_max_chars",
        "_max_event_bytes",
        "_one_line",
        "_order",
        "_tools",
    )

    def __init__(
        self,
        decoder: ProviderDecoder,
        *,
        content_type: str | None,
        max_event_bytes: int = MAX_BODY_BYTES,
        max_body_bytes: int = MAX_BODY_BYTES,
        max_chars: int = MAX_CHARS,
        max_blocks: int = MAX_BLOCKS,
    ) -> None:
        """
        Args:
            decoder: knows the vendor's events; used for this response only.
            content_type: header of the response, if there is one.
            max_event_bytes: limit for one event of a stream, however it is framed. Default 16 MiB: some hold a whole
                picture.
            max_body_bytes: limit for a body that is one JSON document. Default 16 MiB.
            max_chars: limit for all text, reasoning and tool calls together. Default 16 Mi characters.
            max_blocks: limit for the number of blocks. Default 1024.
        """
        self._decoder = decoder
        self._content_type = (content_type or "").partition(";")[0].strip().lower()
        self._max_body_bytes = max_body_bytes
        self._max_chars = max_chars
        self._max_blocks = max_blocks
        self._max_event_bytes = max_event_bytes
        self._frames: SseDecoder | NdjsonDecoder | EventStreamDecoder | None = None
        self._one_line = True  # of a JSON document so far
        self._order = ChunkOrder()
        self._tools = ToolCallCheck()
        self._framing: Framing | None = None
        self._held = bytearray()  # of the head while the framing is unknown, of a JSON document, of a foreign body
        self._chars = 0
        self._halves: dict[int, Delta] = {}  # by block: half a surrogate pair, while the other half is still to come

    @property
    def done(self) -> bool:
        """Whether the terminal chunk has been given."""
        return self._order.finished

    def feed(self, slice: bytes | Sequence[Any]) -> list[Chunk]:
        """Decode the next slice.

        Args:
            slice: bytes of the body, cut anywhere, or events that are already decoded.
        Returns:
            Chunks in order, often none. They end with `Finish` when the vendor says that the response is over, or at a
            fault: `Finish(reason="error")` with WireError (SSE_EVENT_TOO_LARGE, BODY_TOO_LARGE, PROTOCOL) or
            ProviderError. After it every call gives nothing.
        """
        out: list[Chunk] = []
        if self.done:
            return out
        try:
            if isinstance(slice, bytes):
                self._take_bytes(slice, out)
            else:
                for event in slice:
                    self._take_event(event, out)
        except Exception as error:
            self._end(typed(error, WireError, may_refuse=False), out)
        return out

    def finish(self) -> list[Chunk]:
        """Say that the body is over.

        Returns:
            What is left, ending with `Finish`: an error with STREAM_TRUNCATED when the vendor had not said that the
            response was over. Nothing when the terminal chunk has been given.
        """
        out: list[Chunk] = []
        if self.done:
            return out
        try:
            self._take_rest(out)
            if not self.done:
                self._take(self._decoder.finish(), out)
            if not self.done:
                raise WireError("PROTOCOL", "The decoder of this provider gave no terminal chunk.")
        except Exception as error:
            self._end(typed(error, WireError, may_refuse=False), out)
        return out

    def fail(self, error: UnspoolError) -> list[Chunk]:
        """End the response from outside: the connection broke, or the caller stopped the call.

        Args:
            error: why it ends.
        Returns:
            What is left, ending with `Finish`: reason "aborted" for CallCancelledError, else "error". A connection that
            breaks, or falls silent, after the vendor has given its finish reason is no error: the answer is whole.
            Nothing when the terminal chunk has been given.
        """
        out: list[Chunk] = []
        if not self.done:
            self._end(error, out)
        return out

    def _take_bytes(self, data: bytes, out: list[Chunk]) -> None:
        if self._framing is None:
            data = self._settle_framing(data)
        match self._framing:
            case "sse" | "lines" | "messages":
                frames = self._frames or self._begin(self._framing)
                for frame in frames.feed(data):
                    self._take_frame(frame.event, frame.data, out)
                if frames.error is not None and not self.done:
                    raise frames.error
            case "json":
                self._take_json(data, out)
            case "other":
                self._hold(data, _HEAD_BYTES)
                if len(self._held) >= _HEAD_BYTES:
                    raise self._foreign()
            case None:
                pass

    def _begin(self, framing: Framing) -> SseDecoder | NdjsonDecoder | EventStreamDecoder:
        limit = self._max_event_bytes
        if framing == "sse":
            self._frames = SseDecoder(max_event_bytes=limit)
        elif framing == "lines":
            self._frames = NdjsonDecoder(max_line_bytes=limit)
        else:
            self._frames = EventStreamDecoder(max_message_bytes=limit)
        return self._frames

    def _take_json(self, data: bytes, out: list[Chunk]) -> None:
        """Hold a document until it is over. One that is over with its first line is the first of many."""
        end = data.find(b"\n") if self._one_line else -1
        self._hold(data if end < 0 else data[:end], self._max_body_bytes)
        if len(self._held) > self._max_body_bytes:
            self._held.clear()
            raise WireError("BODY_TOO_LARGE", f"The response is larger than {self._max_body_bytes} bytes.")
        if end < 0:
            return
        self._one_line = False
        try:
            self._take_document(out)
        except StreamTruncatedError:
            self._take_json(data[end:], out)  # it is written over several lines
            return
        self._framing = "lines"
        if not self.done:
            self._take_bytes(data[end + 1 :], out)

    def _take_document(self, out: list[Chunk]) -> None:
        """Interpret what is held as one JSON document; it stays held when it is not whole."""
        text = self._held.decode("utf-8", "replace")
        try:
            body = strict_json.loads(text, max_bytes=len(text) * 4, duplicate_keys="last")
        except StreamError as error:
            if error.code == "INCOMPLETE_JSON":
                raise StreamTruncatedError("The response ended inside its JSON document.") from error
            raise self._not_json(error, text) from error
        self._held.clear()
        for document in cast("list[object]", body) if isinstance(body, list) else [body]:
            self._take_event(document, out)

    def _settle_framing(self, data: bytes) -> bytes:
        """Give the bytes to be read when the framing has become known; else keep them."""
        head = (bytes(self._held) + data).lstrip(_LEADING)
        self._framing = framing_of(head, self._content_type == "text/event-stream")
        if self._framing is not None:
            self._held.clear()
            return head
        self._held[:] = head  # at most four bytes: the beginning of a field name
        return b""

    def _hold(self, data: bytes, max_bytes: int) -> None:
        self._held += data[: max_bytes + 1]

    def _take_rest(self, out: list[Chunk]) -> None:
        """The body is over: interpret what is still held."""
        match self._framing:
            case "sse" | "lines" | "messages":
                # The last event may lack its blank line (`data: [DONE]` and a single line end, or none), a line its
                # end. It counts if it is whole, which JSON tells; if it is not, the body was cut inside it.
                frames = self._frames
                try:
                    rest = frames.finish(flush=True) if isinstance(frames, SseDecoder) else frames and frames.finish()
                    for frame in rest or ():
                        self._take(self._decoder.feed(frame.event, frame.data), out)
                except (StreamError, StreamTruncatedError):
                    return
            case "json":
                self._take_document(out)
            case "other":
                raise self._foreign()
            case None:
                if self._held:
                    raise self._foreign()

    def _take_frame(self, name: str, data: str, out: list[Chunk]) -> None:
        if self.done:
            return
        try:
            chunks = self._decoder.feed(name, data)
        except StreamError as error:
            raise self._not_json(error, data) from error
        self._take(chunks, out)

    def _take_event(self, event: object, out: list[Chunk]) -> None:
        if self.done:
            return
        if is_deeper(event):
            raise WireError("PROTOCOL", "The provider sent an event that is nested too deep.")
        self._take(self._decoder.decode(event), out)

    def _take(self, chunks: list[Chunk], out: list[Chunk]) -> None:
        """Check chunks of the decoder and pass them on."""
        order = self._order
        for chunk in chunks:
            if isinstance(chunk, DELTAS):
                if self._halves or not (chunk.text.isascii() or _SURROGATE.search(chunk.text) is None):
                    chunk = self._join_halves(chunk)
                if not chunk.text:
                    continue
                self._count(len(chunk.text))
            elif isinstance(chunk, BlockStart):
                if order.blocks >= self._max_blocks:
                    raise WireError("PROTOCOL", f"The answer has more than {self._max_blocks} blocks.")
                self._count(len(chunk.id or "") + len(chunk.name or ""))
                if chunk.kind == "tool_call":
                    self._tools.begin(chunk)
            elif isinstance(chunk, BlockEnd):
                self._drop_half(chunk.index, out)
            elif isinstance(chunk, Finish):
                chunk = self._checked(chunk)
            order.accept(chunk)
            if isinstance(chunk, ToolArgumentsDelta):
                self._tools.add(chunk)
            out.append(chunk)

    def _checked(self, finish: Finish) -> Finish:
        """A good end stands only if the tool calls may be executed, and a message can hold the metadata."""
        reason, error, metadata = finish.reason, finish.error, finish.metadata
        fault = self._tools.fault() if reason in ("stop", "tool_calls") else None
        try:
            metadata = metadata and freeze_object(metadata, "What the provider said of its answer", INNER_DEPTH)
        except ConfigError as refused:
            metadata = None
            fault = fault or WireError("PROTOCOL", refused.message)
        if error is None and fault is not None:
            reason, error = "error", fault
        return Finish(reason, finish.raw_reason, error, origin=finish.origin, metadata=metadata)

    def _count(self, chars: int) -> None:
        self._chars += chars
        if self._chars > self._max_chars:
            raise WireError("BODY_TOO_LARGE", f"The answer is longer than {self._max_chars} characters.")

    def _join_halves(self, chunk: Delta) -> Delta:
        """Servers that write JSON in ASCII may cut an emoji between its two `\\u` escapes: put it together again."""
        before = self._halves.pop(chunk.index, None)
        text = before.text + chunk.text if before else chunk.text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[chunk.index] = type(chunk)(chunk.index, text[-1])
            text = text[:-1]
        return type(chunk)(chunk.index, joined(text))

    def _drop_half(self, index: int, out: list[Chunk]) -> None:
        """A half whose other half never came is shown as U+FFFD."""
        half = self._halves.pop(index, None)
        if half is not None:
            shown = type(half)(index, "\ufffd")
            if isinstance(shown, ToolArgumentsDelta):
                self._tools.add(shown)
            out.append(shown)

    def _end(self, error: UnspoolError, out: list[Chunk]) -> None:
        """Give what the decoder still holds, close every block, and finish with the error."""
        raw_reason: str | None = None
        whole: Finish | None = None
        last: Finish | None = None
        try:
            for chunk in self._decoder.finish():
                if isinstance(chunk, Finish):
                    last, raw_reason = chunk, chunk.raw_reason
                    if isinstance(error, TransportError) and raw_reason is not None and chunk.error is None:
                        whole = chunk
                elif not isinstance(chunk, BlockEnd) or chunk.index in self._order.open:
                    self._take([chunk], out)
        except Exception:
            pass  # the first error is the one to tell
        for index in list(self._order.open):
            self._take([BlockEnd(index)], out)
        aborted = isinstance(error, CallCancelledError)
        finish = whole or Finish(
            "aborted" if aborted else "error",
            raw_reason,
            error,
            origin=last.origin if last else None,
            metadata=last.metadata if last else None,
        )
        self._take([finish], out)

    def _not_json(self, error: StreamError, text: str) -> WireError:
        return WireError("PROTOCOL", f"The provider sent something that is not JSON ({error.message}): {excerpt(text)}")

    def _foreign(self) -> WireError:
        kind = self._content_type or "a body of no stated type"
        head = excerpt(self._held[:_HEAD_BYTES].decode("utf-8", "replace"))
        return WireError("PROTOCOL", f"The provider answered with {kind}, not with an event stream or JSON: {head}")
