"""ToolCallCheck: whether the tool calls of a response that ended well may be executed. No IO, no clock."""

from __future__ import annotations

from unspool.errors import StreamError, WireError
from unspool.stream.chunks import BlockStart, ToolArgumentsDelta
from unspool.structured import strict_json

MAX_ARGUMENTS_CHARS = 1_048_576
"""Limit for the arguments of one call."""
MAX_DEPTH = 64


class ToolCallCheck:
    """Collects the arguments of the calls of one response."""

    __slots__ = ("_calls", "_ids")

    def __init__(self) -> None:
        self._calls: dict[int, tuple[str, list[str], list[int]]] = {}
        self._ids: set[str] = set()

    def begin(self, start: BlockStart) -> None:
        """A call begins.

        Raises:
            WireError: PROTOCOL when another call has its id: results could not be told apart.
        """
        if start.id:
            if start.id in self._ids:
                raise WireError("PROTOCOL", f"Two tool calls of the answer have the id {start.id[:80]!r}.")
            self._ids.add(start.id)
        self._calls[start.index] = (start.name or "", [], [0])

    def add(self, delta: ToolArgumentsDelta) -> None:
        """More arguments.

        Raises:
            WireError: BODY_TOO_LARGE.
        """
        _, pieces, size = self._calls[delta.index]
        size[0] += len(delta.text)
        if size[0] > MAX_ARGUMENTS_CHARS:
            raise WireError(
                "BODY_TOO_LARGE", f"The arguments of a tool call are longer than {MAX_ARGUMENTS_CHARS} characters."
            )
        pieces.append(delta.text)

    def fault(self) -> WireError | None:
        """Say what is wrong with the arguments of the first call that is at fault; None when all may be executed.

        Arguments must be one JSON object, nested at most 64 deep, without a key given twice; blank text stands for
        `{}`. Whether they fit the tool is the caller's to check.
        """
        for name, pieces, _ in self._calls.values():
            text = "".join(pieces)
            if not text.strip():
                continue
            try:
                value = strict_json.loads(text, max_depth=MAX_DEPTH, max_bytes=MAX_ARGUMENTS_CHARS * 4)
                reason = None if isinstance(value, dict) else "they are no object"
            except StreamError as error:
                reason = error.message
            if reason is not None:
                return WireError(
                    "TOOL_ARGUMENTS_INVALID",
                    f"The model wrote arguments for the tool {name[:80]!r} that cannot be used: {reason}",
                )
        return None
