"""What a reader of a structured stream sees, and the machine that makes it out of answer text.

Events of one stream: any number of progress events, then exactly one terminal event (`GenerationComplete`,
`ParsingFailed`, `GenerationFailed` or `Cancelled`). Progress shows unvalidated values; only
`GenerationComplete.result` has been validated.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from unspool.errors import CallCancelledError, OutputValidationError, UnspoolError
from unspool.messages import FinishReason, Usage
from unspool.tagged import Tagged

Path = tuple[str | int, ...]
ContainerKind = Literal["object", "array"]


class TextDelta(Tagged):
    """Raw text of the answer, as it came: display only."""

    __slots__ = ("delta",)
    __match_args__ = ("delta",)
    type: ClassVar[Literal["textDelta"]] = "textDelta"

    def __init__(self, delta: str) -> None:
        self.delta = delta


class FieldStart(Tagged):
    """A member of an object or an element of an array begins. Not emitted for the root."""

    __slots__ = ("path",)
    __match_args__ = ("path",)
    type: ClassVar[Literal["fieldStart"]] = "fieldStart"

    def __init__(self, path: Path) -> None:
        self.path = path


class ObjectStart(Tagged):
    """An object or array begins."""

    __slots__ = ("path", "kind")
    __match_args__ = ("path", "kind")
    type: ClassVar[Literal["objectStart"]] = "objectStart"

    def __init__(self, path: Path, kind: ContainerKind) -> None:
        self.path = path
        self.kind: ContainerKind = kind


class StringFieldDelta(Tagged):
    """More decoded text of a string value; never of a key."""

    __slots__ = ("path", "delta")
    __match_args__ = ("path", "delta")
    type: ClassVar[Literal["stringFieldDelta"]] = "stringFieldDelta"

    def __init__(self, path: Path, delta: str) -> None:
        self.path = path
        self.delta = delta


class FieldEnd(Tagged):
    """A member or element is syntactically complete; `value` is not validated. Do not change it."""

    __slots__ = ("path", "value")
    __match_args__ = ("path", "value")
    type: ClassVar[Literal["fieldEnd"]] = "fieldEnd"

    def __init__(self, path: Path, value: Any) -> None:
        self.path = path
        self.value = value


class ObjectEnd(Tagged):
    """An object or array closes, before its `FieldEnd`. Do not change `value`."""

    __slots__ = ("path", "kind", "value")
    __match_args__ = ("path", "kind", "value")
    type: ClassVar[Literal["objectEnd"]] = "objectEnd"

    def __init__(self, path: Path, kind: ContainerKind, value: Any) -> None:
        self.path = path
        self.kind: ContainerKind = kind
        self.value = value


class GenerationComplete[T](Tagged):
    """Terminal: the answer is over and valid."""

    __slots__ = ("result", "usage", "finish_reason")
    __match_args__ = ("result", "usage", "finish_reason")
    type: ClassVar[Literal["generationComplete"]] = "generationComplete"

    def __init__(self, result: T, usage: Usage | None = None, finish_reason: FinishReason | None = None) -> None:
        self.result = result
        self.usage = usage
        self.finish_reason: FinishReason | None = finish_reason


class ParsingFailed(Tagged):
    """Terminal: the answer is not a value of the type asked for."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["parsingFailed"]] = "parsingFailed"

    def __init__(self, error: OutputValidationError) -> None:
        self.error = error


class GenerationFailed(Tagged):
    """Terminal: the provider or the way to it failed. `error.partial` holds what had arrived."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["generationFailed"]] = "generationFailed"

    def __init__(self, error: UnspoolError) -> None:
        self.error = error


class Cancelled(Tagged):
    """Terminal: the caller's signal stopped the call. `error.partial` holds what had arrived."""

    __slots__ = ("error",)
    __match_args__ = ("error",)
    type: ClassVar[Literal["cancelled"]] = "cancelled"

    def __init__(self, error: CallCancelledError) -> None:
        self.error = error


Progress = TextDelta | FieldStart | ObjectStart | StringFieldDelta | FieldEnd | ObjectEnd
type StructuredEvent[T] = Progress | GenerationComplete[T] | ParsingFailed | GenerationFailed | Cancelled
