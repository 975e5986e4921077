"""StreamPool: many JSON texts at once, told apart by id.

In: pieces of text, each with the id of its stream. Out: after each piece the state of that stream; at its end the text
and the value. A stream that fails is taken out; the others do not notice. No IO, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from unspool.errors import StreamError
from unspool.structured.json_stream import JsonStream, Scalars
from unspool.structured.strict_json import DuplicateKeys, decode_read
from unspool.structured.tree import FieldState, Patch, Snapshots, StreamState
from unspool.surrogates import joined

MAX_ACTIVE_STREAMS = 256
"""Default limit on streams that are open at once: Streamfold's."""


class _Update:
    """What is known of one stream after one operation."""

    __slots__ = ("id", "name", "type", "state")

    type: Any

    def __init__(self, id: Any, type: Any, state: StreamState, name: str | None = None) -> None:
        """Made by the pool."""
        self.id = id
        """The stream's id, as it was given to `start`."""
        self.name = name
        """What the stream is called: of a call, the tool's name. None where nothing has said it, or nothing yet."""
        self.type = type
        self.state = state
        """The state of the stream's text."""

    @property
    def partial_value(self) -> Any:
        """The value so far; None before it begins. Live snapshots: one value that grows in place; do not change it."""
        return self.state.partial_value

    @property
    def changes(self) -> list[Patch]:
        """The patches of this operation, in document order."""
        return self.state.changes

    @property
    def bytes_seen(self) -> int:
        """UTF-8 bytes of the text so far, whitespace included."""
        return self.state.bytes_seen

    @property
    def depth(self) -> int:
        """Open containers."""
        return self.state.depth

    @property
    def complete(self) -> bool:
        """Whether the root value is complete. It is about the text alone: the stream may still be open."""
        return self.state.complete

    @property
    def in_string(self) -> bool:
        """Whether the text so far ends inside a key or a string value."""
        return self.state.in_string

    def to_wire(self) -> dict[str, Any]:
        """Give the update as JSON-safe data, with the patches instead of the value they make."""
        state = self.state
        name = {} if self.name is None else {"name": self.name}
        return {
            "type": self.type,
            "id": self.id,
            **name,
            "changes": [patch.to_wire() for patch in self.changes],
            "bytesSeen": state.bytes_seen,
            "depth": state.depth,
            "complete": state.complete,
            "inString": state.in_string,
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, {self.type!r}, {self.partial_value!r})"


class StreamProgress(_Update):
    """One stream began or went on."""

    __slots__ = ()

    type: Literal["start", "update"]
    """"start" opened the stream, "update" brought text."""


class StreamCompletion(_Update):
    """The end of one stream: its whole text and its value.

    It does not say that a tool has run, or that the arguments fit a schema.
    """

    __slots__ = ("text", "_value", "_before")

    type: Literal["complete"]
    """"complete": the end."""
    text: str
    """The whole text, as it was received; the final text, when one was given."""

    def __init__(
        self,
        id: Any,
        state: StreamState,
        text: str,
        *,
        name: str | None,
        shares_value: bool,
        before: StreamState | None = None,
    ) -> None:
        """Made by the pool.

        Args:
            id: of the stream.
            state: the last one.
            text: the whole text.
            name: of the stream.
            shares_value: `value` is the `partial_value`, not a copy of its own.
            before: a state whose changes come before those of the last.
        """
        super().__init__(id, "complete", state, name)
        self.text = text
        self._value: Any = state.partial_value if shares_value else _UNREAD
        self._before = before

    @property
    def value(self) -> Any:
        """The value of the text.

        Live snapshots: separate from `partial_value`, so whoever changed that has not changed this; read out of the
        text when it is first asked for. Immutable snapshots: the same frozen value as `partial_value`.
        """
        if self._value is _UNREAD:
            self._value = decode_read(self.text)
        return self._value

    @property
    def changes(self) -> list[Patch]:
        """The patches of this operation; when a final text replaced the value they begin with a `set` of the root."""
        return self.state.changes if self._before is None else self._before.changes + self.state.changes

    def to_wire(self) -> dict[str, Any]:
        """Give the completion as JSON-safe data; the value is that of `text`."""
        return {**super().to_wire(), "text": self.text}


StreamUpdate = StreamProgress | StreamCompletion
"""What one operation gives; its `type` tells which: "start" and "update" are progress, "complete" is the end."""


class StreamPool:
    """JSON texts that arrive interleaved, each under an id of its own.

    An id is any hashable value and is compared strictly: `1`, `"1"`, `1.0` and `True` are four streams. It is free
    again when its stream has ended, failed or been aborted.
    """

    def __init__(
        self,
        *,
        max_active_streams: int | None = None,
        max_bytes: int | None = None,
        max_depth: int | None = None,
        snapshots: Snapshots = "live",
        duplicate_keys: DuplicateKeys = "last",
        scalars: Scalars = "complete",
    ) -> None:
        """
        Args:
            max_active_streams: most streams open at once; default 256.
            max_bytes, max_depth, snapshots, duplicate_keys, scalars: of each stream; see `JsonStream`.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        if max_active_streams is None:
            max_active_streams = MAX_ACTIVE_STREAMS
        if type(max_active_streams) is not int or not 0 < max_active_streams <= 4_294_967_295:
            raise StreamError("INVALID_OPTIONS", "max_active_streams must be a whole number from 1 to 4294967295.")
        self._room = max_active_streams
        self._max_bytes = max_bytes
        self._max_depth = max_depth
        self._snapshots: Snapshots = snapshots
        self._duplicate_keys: DuplicateKeys = duplicate_keys
        self._scalars: Scalars = scalars
        self._entries: dict[Any, _Entry] = {}
        self._stream().close()  # a wrong option is refused here, not by the first start

    def start(self, id: Any, initial: str | None = None, *, name: str | None = None) -> StreamProgress:
        """Open a stream.

        Args:
            id: of the stream; not of one that is open.
            initial: the beginning of its text, when there is some already.
            name: what its updates are to say as `name`.
        Returns:
            The first state; with a non-empty `initial` that of its push.
        Raises:
            StreamError: INVALID_CHUNK, DUPLICATE_STREAM or MAX_ACTIVE_STREAMS_EXCEEDED; what `push` raises when
                `initial` is at fault; INVALID_OPTIONS when the id is not hashable.
        After an error:
            The pool is as it was.
        """
        if initial is not None and not isinstance(initial, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise StreamError("INVALID_CHUNK", "The initial text must be text.", id=id, operation="start")
        key = id if id.__class__ is str else stream_key(id, "start")
        if key in self._entries:
            raise StreamError("DUPLICATE_STREAM", f"The stream {id!r} is open already.", id=id, operation="start")
        if len(self._entries) >= self._room:
            raise StreamError(
                "MAX_ACTIVE_STREAMS_EXCEEDED", f"{self._room} streams are open already.", id=id, operation="start"
            )
        entry = _Entry(id, name, self._stream())
        if initial:
            try:
                state = entry.push(initial)
            except StreamError as error:
                _place(error, id, "start")
                raise
            entry.texts.append(initial)
        else:
            state = entry.stream.state
        self._entries[key] = entry
        return StreamProgress(id, "start", state, name)

    def push(self, id: Any, delta: str) -> StreamProgress:
        """Read the next piece of a stream's text.

        Args:
            id: of an open stream.
            delta: any text; may be cut anywhere.
        Returns:
            The state after it.
        Raises:
            StreamError: UNKNOWN_STREAM when no such stream is open; else what `JsonStream.push` raises.
        After an error:
            The stream is gone; the others are as they were.
        """
        key = id if id.__class__ is str else stream_key(id, "push")
        entry = self._entries.get(key)
        if entry is None:
            raise _unknown(id, "push")
        try:
            state = entry.push(delta)
        except StreamError as error:
            del self._entries[key]
            _place(error, id, "push")
            raise
        if delta:  # any number of empty pieces takes no room
            entry.keep(delta)
        return StreamProgress(id, "update", state, entry.name)

    def finish(self, id: Any, final_text: str | None = None) -> StreamCompletion:
        """End a stream.

        Args:
            id: of the stream.
            final_text: the whole text, when the sender repeats it at the end. It is what counts: where it differs from
                the pieces it is read in their place, under the same limits, and what they lack does not matter.
        Returns:
            Text, value and last state. When `final_text` replaced the pieces, the patches begin with a `set` of the
            root.
        Raises:
            StreamError: UNKNOWN_STREAM when no such stream is open; EMPTY_INPUT, INCOMPLETE_JSON, or what
                `JsonStream.push` raises.
        After an error:
            The stream is gone; the others are as they were.
        """
        key = id if id.__class__ is str else stream_key(id, "finish")
        entry = self._entries.pop(key, None)
        if entry is None:
            raise _unknown(id, "finish")
        streamed = joined("".join(entry.texts), "surrogatepass")
        given: Any = streamed if final_text is None else final_text
        text = joined(given, "surrogatepass") if isinstance(given, str) else given
        stream, before = entry.stream, None
        try:
            if text != streamed:
                stream.close()
                stream = self._stream()
                before = stream.push(text)
            state = stream.finish()
        except StreamError as error:
            _place(error, id, "finish")
            raise
        finally:
            stream.close()
        shares_value = self._snapshots == "immutable"
        return StreamCompletion(entry.id, state, text, name=entry.name, shares_value=shares_value, before=before)

    def abort(self, id: Any) -> bool:
        """Drop a stream, whatever its text; give whether it was open.

        Args:
            id: of the stream, open or not.
        """
        entry = self._entries.pop(id if id.__class__ is str else stream_key(id, "abort"), None)
        if entry is None:
            return False
        entry.stream.close()
        return True

    def has(self, id: Any) -> bool:
        """Whether a stream is open.

        Args:
            id: of the stream.
        """
        return (id if id.__class__ is str else stream_key(id, "has")) in self._entries

    @property
    def active_ids(self) -> list[Any]:
        """The ids of the open streams in the order of their starts; a copy."""
        return [entry.id for entry in self._entries.values()]

    def __len__(self) -> int:
        """How many streams are open."""
        return len(self._entries)

    def field_state(self, id: Any, path: Sequence[str | int]) -> FieldState:
        """Tell whether the value at a path of an open stream can still change.

        Args:
            id: of an open stream.
            path: as in `JsonStream.field_state`.
        Raises:
            StreamError: UNKNOWN_STREAM. A path that leads nowhere is no error.
        """
        entry = self._entries.get(id if id.__class__ is str else stream_key(id, "field_state"))
        if entry is None:
            raise _unknown(id, "field_state")
        return entry.stream.field_state(path)

    def rename(self, id: Any, name: str | None) -> None:
        """Change what the updates of an open stream say as `name`, from the next one on.

        Args:
            id: of an open stream.
            name: the new one.
        Raises:
            StreamError: UNKNOWN_STREAM.
        """
        entry = self._entries.get(id if id.__class__ is str else stream_key(id, "rename"))
        if entry is None:
            raise _unknown(id, "rename")
        entry.name = name

    def text(self, id: Any) -> str:
        """Give the text of an open stream so far, as it was received.

        Args:
            id: of an open stream.
        Raises:
            StreamError: UNKNOWN_STREAM.
        """
        entry = self._entries.get(id if id.__class__ is str else stream_key(id, "text"))
        if entry is None:
            raise _unknown(id, "text")
        return "".join(entry.texts)

    def _stream(self) -> JsonStream:
        return JsonStream(
            max_bytes=self._max_bytes,
            max_depth=self._max_depth,
            snapshots=self._snapshots,
            duplicate_keys=self._duplicate_keys,
            scalars=self._scalars,
        )


class _Entry:
    __slots__ = ("id", "name", "stream", "push", "texts", "keep")

    def __init__(self, id: Any, name: str | None, stream: JsonStream) -> None:
        self.id = id
        self.name = name
        self.stream = stream
        self.push = stream.push
        self.texts: list[str] = []
        self.keep = self.texts.append


_UNREAD: Any = object()


def stream_key(id: Any, operation: str) -> Any:
    """Give what tells an id from others: equal numbers of different types hash alike."""
    if isinstance(id, str):
        return str(id)
    try:
        hash(id)
    except TypeError:
        raise StreamError("INVALID_OPTIONS", "An id must be hashable.", operation=operation) from None
    return (id.__class__, id)


def _unknown(id: Any, operation: str) -> StreamError:
    return StreamError("UNKNOWN_STREAM", f"No stream {id!r} is open.", id=id, operation=operation)


def _place(error: StreamError, id: Any, operation: str) -> None:
    error.id = id
    error.operation = operation
