"""What a reader of a structured stream sees, and the machine that makes it out of answer text.

Events of one stream: any number of progress events, then exactly one terminal event (`GenerationComplete`,
`ParsingFailed`, `GenerationFailed` or `Cancelled`). Progress shows unvalidated values; only
`GenerationComplete.result` has been validated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from unspool.errors import CallCancelledError, OutputValidationError, StreamError, UnspoolError
from unspool.messages import FinishReason, Usage
from unspool.structured.json_stream import BYTES_CEILING, JsonStream
from unspool.structured.tree import Patch, Where
from unspool.tagged import Tagged

if TYPE_CHECKING:
    from unspool.schema.problem import ProblemKind

MAX_CHARS = 1_048_576
"""Default limit on the text of an answer, in characters: langfx.js's."""
MAX_DEPTH = 64
"""Default limit on open containers of an answer: langfx.js's."""

Path = tuple[str | int, ...]
ContainerKind = Literal["object", "array"]
PythonKind = Literal["tuple", "set"]


class TextDelta(Tagged):
    """Raw text of the answer, as it came: display only."""

    __slots__ = ("delta",)
    __match_args__ = ("delta",)
    type: ClassVar[Literal["textDelta"]] = "textDelta"

    def __init__(self, delta: str) -> None:
        self.delta = delta
        """The text of one slice of the network."""


class FieldStart(Tagged):
    """A member of an object or an element of an array begins. Not emitted for the root."""

    __slots__ = ("path",)
    __match_args__ = ("path",)
    type: ClassVar[Literal["fieldStart"]] = "fieldStart"

    def __init__(self, path: Path) -> None:
        self.path = path
        """Keys and indexes from the root; `()` is the root. So in all events."""


class ObjectStart(Tagged):
    """An object or array begins."""

    __slots__ = ("path", "kind", "python_class", "python_kind")
    __match_args__ = ("path", "kind", "python_class", "python_kind")
    type: ClassVar[Literal["objectStart"]] = "objectStart"

    def __init__(
        self,
        path: Path,
        kind: ContainerKind,
        python_class: str | None = None,
        python_kind: PythonKind | None = None,
    ) -> None:
        self.path = path
        """Where it is."""
        self.kind: ContainerKind = kind
        """Whether it is read by keys or by indexes."""
        self.python_class = python_class
        """Python protocol: the class of a constructor."""
        self.python_kind: PythonKind | None = python_kind
        """Python protocol: what an array is, other than a list."""


class StringFieldDelta(Tagged):
    """More decoded text of a string value; never of a key."""

    __slots__ = ("path", "delta")
    __match_args__ = ("path", "delta")
    type: ClassVar[Literal["stringFieldDelta"]] = "stringFieldDelta"

    def __init__(self, path: Path, delta: str) -> None:
        self.path = path
        """Where the string is."""
        self.delta = delta
        """What to add to it, escapes decoded."""


class FieldEnd(Tagged):
    """A member or element is syntactically complete; `value` is not validated. Do not change it."""

    __slots__ = ("path", "value")
    __match_args__ = ("path", "value")
    type: ClassVar[Literal["fieldEnd"]] = "fieldEnd"

    def __init__(self, path: Path, value: Any) -> None:
        self.path = path
        """Where it is."""
        self.value = value
        """What stands there, as plain data."""


class ObjectEnd(Tagged):
    """An object or array closes, before its `FieldEnd`. Do not change `value`."""

    __slots__ = ("path", "kind", "value", "python_class", "python_kind")
    __match_args__ = ("path", "kind", "value", "python_class", "python_kind")
    type: ClassVar[Literal["objectEnd"]] = "objectEnd"

    def __init__(
        self,
        path: Path,
        kind: ContainerKind,
        value: Any,
        python_class: str | None = None,
        python_kind: PythonKind | None = None,
    ) -> None:
        self.path = path
        """Where it is."""
        self.kind: ContainerKind = kind
        """As of its `ObjectStart`."""
        self.value = value
        """The container, as plain data."""
        self.python_class = python_class
        """As of its `ObjectStart`."""
        self.python_kind: PythonKind | None = python_kind
        """As of its `ObjectStart`."""


class FieldInvalid(Tagged):
    """What has just closed cannot be right, whatever follows. Only in streams that check parts (`check=`)."""

    __slots__ = ("path", "message", "found", "kind")
    __match_args__ = ("path", "message", "found", "kind")
    type: ClassVar[Literal["fieldInvalid"]] = "fieldInvalid"

    def __init__(self, path: Path, message: str, found: Any, kind: ProblemKind) -> None:
        self.path = path
        """Where it is; of a missing field, where it should be."""
        self.message = message
        """What is wrong, without the path."""
        self.found = found
        """The value at fault, as it was read; `unspool.schema.problem.NOTHING` when there is none."""
        self.kind: ProblemKind = kind
        """As of `Problem`."""

    def to_wire(self) -> dict[str, object]:
        """Give the value as JSON-safe data, without what was found."""
        return {"type": self.type, "path": list(self.path), "message": self.message, "kind": self.kind}


class GenerationComplete[T](Tagged):
    """Terminal: the answer is over and valid."""

    __slots__ = ("result", "usage", "finish_reason")
    __match_args__ = ("result", "usage", "finish_reason")
    type: ClassVar[Literal["generationComplete"]] = "generationComplete"

    def __init__(self, result: T, usage: Usage | None = None, finish_reason: FinishReason | None = None) -> None:
        self.result = result
        """The validated value."""
        self.usage = usage
        """What the answer cost, where the provider said so."""
        self.finish_reason: FinishReason | None = finish_reason
        """Why the response ended."""


class ParsingFailed(Tagged):
    """Terminal: the answer is not a value of the type asked for."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["parsingFailed"]] = "parsingFailed"

    def __init__(self, error: OutputValidationError) -> None:
        self.error = error
        """With `text`, `partial_value` and `problems`, whatever could be read."""


class GenerationFailed(Tagged):
    """Terminal: the provider or the way to it failed. `error.partial` holds what had arrived."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["generationFailed"]] = "generationFailed"

    def __init__(self, error: UnspoolError) -> None:
        self.error = error
        """Any other error of the call."""


class Cancelled(Tagged):
    """Terminal: the caller's signal stopped the call. `error.partial` holds what had arrived."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["cancelled"]] = "cancelled"

    def __init__(self, error: CallCancelledError) -> None:
        self.error = error
        """ABORTED."""


Progress = TextDelta | FieldStart | ObjectStart | StringFieldDelta | FieldEnd | ObjectEnd
type StructuredEvent[T] = Progress | FieldInvalid | GenerationComplete[T] | ParsingFailed | GenerationFailed | Cancelled
"""Any event of a typed stream."""


class StructuredMachine:
    """Answer text in, progress events out; then the complete value. Strict JSON with a value of any kind at the root.

    Source: langfx.js, docs/STREAMING.md (the event table and the strictness of the JSON protocol).
    """

    def __init__(self, *, max_chars: int = MAX_CHARS, max_depth: int = MAX_DEPTH) -> None:
        """
        Args:
            max_chars: longest text, in characters, whitespace included.
            max_depth: most open containers at once, up to 512.
        Raises:
            StreamError: INVALID_OPTIONS.
        """
        if type(max_chars) is not int or not 0 < max_chars <= BYTES_CEILING // 4:
            raise StreamError("INVALID_OPTIONS", f"max_chars must be a whole number from 1 to {BYTES_CEILING // 4}.")
        self._stream = JsonStream(max_bytes=BYTES_CEILING, max_depth=max_depth, duplicate_keys="error")
        self._room = max_chars
        self._max_chars = max_chars
        self._error: StreamError | None = None
        self._open: list[Any] = []
        self._tells = True

    @property
    def partial_value(self) -> Any:
        """The unvalidated value so far; None before it begins. Do not change it."""
        return self._stream.value

    @property
    def where(self) -> Where:
        """Where the answer so far ends, in the value."""
        return self._stream.where

    def feed(self, text: str, *, tells: bool = True) -> list[Progress]:
        """Read the next text of the answer.

        Args:
            text: any text; may cut an escape, a number or a surrogate pair in two.
            tells: whether to say what it means; `partial_value` and `where` show it as well.
        Returns:
            What it means, in document order; often empty. A number or literal is reported when it is complete.
        Raises:
            StreamError: what `JsonStream.push` raises, DUPLICATE_KEY included; MAX_BYTES_EXCEEDED when the text has
                more than `max_chars` characters.
        After an error:
            Dead: later calls raise the same error. Nothing of the text is in `partial_value`.
        """
        if self._error is not None:
            raise self._error
        if tells and not self._tells:
            self._open = self._opened()
        self._tells = tells
        try:
            self._room -= len(text)
            if self._room < 0:
                raise StreamError(
                    "MAX_BYTES_EXCEEDED", f"The answer has more than {self._max_chars} characters.", operation="push"
                )
            state = self._stream.push(text)
            return self._events(state.changes) if tells else []
        except StreamError as error:
            self._error = error
            raise

    def _opened(self) -> list[Any]:
        """Give the open containers."""
        value, where = self._stream.value, self._stream.where
        containers: list[Any] = []
        if where is not None and isinstance(value, dict | list):
            containers.append(value)
            for step in where[0]:
                containers.append(containers[-1][step])
        return containers

    def finish(self) -> Any:
        """Say that the answer is over.

        Returns:
            The complete value, not validated.
        Raises:
            StreamError: EMPTY_INPUT, INCOMPLETE_JSON, INVALID_JSON, NON_FINITE_NUMBER or INVALID_CHUNK; after an error
                of `feed` that error.
        """
        if self._error is not None:
            raise self._error
        try:
            self._stream.finish()
        except StreamError as error:
            self._error = error
            raise
        return self._stream.value

    def _events(self, patches: list[Patch]) -> list[Progress]:
        events: list[Progress] = []
        containers = self._open
        for patch in patches:
            op, path, value = patch.op, patch.path, patch.value
            if op == "append":
                events.append(StringFieldDelta(path, value))
            elif op == "set":
                if path:
                    events.append(FieldStart(path))
                kind = _KINDS.get(value.__class__)
                if kind is not None:
                    events.append(ObjectStart(path, kind))
                    containers.append(containers[-1][path[-1]] if path else self._stream.value)
            else:
                if len(containers) > len(path):
                    closed = containers.pop()
                    events.append(ObjectEnd(path, _KINDS[closed.__class__], closed))
                if path:
                    events.append(FieldEnd(path, containers[-1][path[-1]]))
        return events


_KINDS: dict[type, ContainerKind] = {dict: "object", list: "array"}
