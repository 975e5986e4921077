"""AnswerMachine: the chunks of one response in, the events of a typed answer out, with exactly one terminal event.

It tells the answer's text from reasoning, refusals and tool calls, parses it as it comes, and validates the value once,
at the end. It never raises for what a model sends. No IO, no clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from unspool.answer_hint import hint
from unspool.errors import CallCancelledError, OutputValidationError, ProviderError, StreamError, UnspoolError
from unspool.messages import Usage
from unspool.printable import said_by
from unspool.schema import NativeOutput, Schema
from unspool.schema.json_schema import WRAPPER
from unspool.schema.partial_builder import PartialBuilder
from unspool.schema.problem import Problem
from unspool.schema.subschemas import is_object
from unspool.schema.text import Protocol
from unspool.schema.tree_follower import TreeFollower
from unspool.schema.validation_error import invalid
from unspool.stream.chunks import BlockStart, Chunk, Finish, UsageReport
from unspool.stream.chunks import TextDelta as TextChunk
from unspool.stream.excerpt import excerpt
from unspool.structured.events import (
    Cancelled,
    FieldEnd,
    FieldInvalid,
    FieldStart,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    Progress,
    StructuredEvent,
    TextDelta,
)
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine, Repair
from unspool.surrogates import joined

_SHOWN_BYTES = 40
_SHOWN_CHARS = 300
_SHOWN_BEGIN = 80


class AnswerMachine:
    """Decodes one answer: a value of a schema, or plain text where there is none."""

    done: bool
    """Whether the terminal event has been given."""

    def __init__(
        self,
        schema: Schema[Any] | None,
        *,
        protocol: Protocol = "json",
        native: NativeOutput | None = None,
        lenient: bool = False,
        max_chars: int,
        max_depth: int,
    ) -> None:
        """Expect an answer.

        Args:
            schema: what it must be; None for plain text.
            protocol: how it is written.
            native: the form in which the provider was asked for it.
            lenient: read JSON that is nearly right as well.
            max_chars: longest text, in characters.
            max_depth: deepest nesting of the value.
        Raises:
            ConfigError: UNSUPPORTED when a JSON Schema is asked for in Python syntax.
        """
        self.done = False
        self.schema = schema
        """What it must be; None for plain text."""
        self._native = native
        self._wrapped = native is not None and native.wrapped
        self._python = protocol == "python"
        self._lenient = lenient
        self._max_depth = max_depth
        self._max_chars = max_chars
        self._values: JsonReplyMachine | PyReplyMachine | None = None
        if schema is not None:
            depth = max_depth + self._wrapped
            self._values = (
                PyReplyMachine(classes=schema.classes, names=schema.names, max_chars=max_chars, max_depth=depth)
                if self._python
                else JsonReplyMachine(lenient=lenient, max_chars=max_chars, max_depth=depth)
            )
        self._pieces: list[str] = []
        self._chars = 0
        self._kinds: dict[int, str] = {}
        self._refusal: list[str] = []
        self._tools: list[str] = []
        self._usage: Usage | None = None

    @property
    def repairs(self) -> list[Repair]:
        """What lenient reading has put right so far."""
        values = self._values
        return [] if values is None or values.refuted is not None else values.repairs

    @property
    def text(self) -> str:
        """The answer's text so far."""
        if len(self._pieces) > 1:
            self._pieces[:] = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def partial_value(self) -> Any:
        """The unvalidated value so far; None before it begins. Of plain text: the text."""
        if self._values is None:
            return self.text
        value = self._values.partial_value
        return value.get(WRAPPER) if self._wrapped and is_object(value) else value

    def follow(self, follower: TreeFollower) -> None:
        """Show the value so far to what follows it."""
        shown = None if self._values is None else self._values.shown
        if shown is None:
            follower.follow(None, ((), None))
            return
        root, where = shown
        if self._wrapped:
            if not is_object(root) or WRAPPER not in root:
                return
            root = root[WRAPPER]
            if where is not None:
                path, step = where
                where = (path[1:], step) if path[:1] == (WRAPPER,) else ((), None) if step == WRAPPER else None
        follower.follow(root, where)

    @property
    def can_be_followed(self) -> bool:
        """Whether `follow` shows what events would: where the value is strict JSON."""
        return isinstance(self._values, JsonReplyMachine) and not self._lenient

    def partial_builder(self) -> PartialBuilder:
        """Make what builds a `Partial` of this answer, from its events, or from what `follow` shows."""
        protocol: Literal["json", "python"] = "python" if self._python else "json"
        return PartialBuilder(self.schema, protocol=protocol, drops_nulls=self._native is not None)

    def refuse(self, faults: Sequence[FieldInvalid]) -> ParsingFailed:
        """End the answer before its time, because of parts that cannot be right.

        Returns:
            The terminal event.
        """
        problems = [Problem(fault.path, fault.message, fault.found, kind=fault.kind) for fault in faults]
        name = "text" if self.schema is None else self.schema.name
        failed = ParsingFailed(invalid(name, problems, python=self._python))
        self._ended(failed)
        return failed

    def turned_down(self, reason: Exception) -> StructuredEvent[Any]:
        """End an answer that was valid, and that the application could not take.

        Returns:
            The terminal event: the answer is invalid for this reason. What went wrong with another call of a model, if
            that is the reason, is no fault of the answer, and is told as it is.
        """
        if isinstance(reason, UnspoolError) and reason.partial is not None:
            return GenerationFailed(reason)
        if isinstance(reason, OutputValidationError):
            return self._ended(ParsingFailed(reason))
        if isinstance(reason, UnspoolError):
            return self._ended(GenerationFailed(reason))
        failed = _failed("OUTPUT_INVALID", f"The answer was refused: {said_by(reason)}")
        failed.error.__cause__ = reason
        return self._ended(failed)

    def stopped(self) -> StructuredEvent[Any]:
        """End an answer that was valid because its caller wants it no more.

        Returns:
            The terminal event.
        """
        return self._ended(Cancelled(CallCancelledError()))

    def feed(self, chunks: Sequence[Chunk], *, tells: bool = True) -> list[StructuredEvent[Any]]:
        """Read the chunks of one slice of the network.

        Args:
            chunks: of the slice.
            tells: whether progress events are wanted; without them a value is read faster.
        Returns:
            The slice's text as one `TextDelta`, then what it means; often empty (reasoning, usage). The terminal event
            is the last one of the answer; after it nothing more is given.
        """
        if self.done:
            return []
        only = chunks[0]
        if type(only) is TextChunk and len(chunks) == 1 and not self._refusal:  # nearly every slice
            text = only.text if self._kinds.get(only.index) != "refusal" else self._text_of(chunks)
        else:
            text = self._text_of(chunks)
        events: list[StructuredEvent[Any]] = []
        try:
            if text:
                self._pieces.append(text)
                self._chars += len(text)
                events.append(TextDelta(text))
                # What a reader sees before the limit does not depend on how the network cut the text.
                over = self._chars - self._max_chars
                values = self._values
                if values is not None:
                    progress = values.feed(text if over <= 0 else text[:-over], tells=tells or self._lenient)
                    if progress and tells:
                        events.extend(self._inner(progress))
                    if values.refuted is not None and not self._python:
                        raise values.refuted  # no token is paid for that nobody wants
                if over > 0:
                    raise StreamError("MAX_BYTES_EXCEEDED", f"More than {self._max_chars} characters.")
            last = chunks[-1]
            if type(last) is Finish:
                events.append(self._ended(self._outcome(last)))
        except StreamError as fault:
            events.append(self._ended(self._unreadable(fault)))
        return events

    def _text_of(self, chunks: Sequence[Chunk]) -> str:
        """Give the answer's own text, and take note of the rest."""
        pieces: list[str] = []
        for chunk in chunks:
            if isinstance(chunk, TextChunk):
                into = self._refusal if self._kinds.get(chunk.index) == "refusal" else pieces
                into.append(chunk.text)
            elif isinstance(chunk, BlockStart):
                self._kinds[chunk.index] = chunk.kind
                if chunk.kind == "tool_call":
                    self._tools.append(chunk.name or "?")
            elif isinstance(chunk, UsageReport):
                self._usage = chunk.usage
        return "".join(pieces)

    def _inner(self, progress: list[Progress]) -> list[Progress]:
        """Leave the wrapper object of a native answer out: readers see the value that they asked for."""
        if not self._wrapped:
            return progress
        inner: list[Progress] = []
        for event in progress:
            if isinstance(event, TextDelta) or event.path[:1] != (WRAPPER,):
                continue
            if len(event.path) == 1 and isinstance(event, FieldStart | FieldEnd):
                continue
            event.path = event.path[1:]
            inner.append(event)
        return inner

    def _ended(self, terminal: StructuredEvent[Any]) -> StructuredEvent[Any]:
        self.done = True
        if isinstance(terminal, ParsingFailed | GenerationFailed | Cancelled):
            terminal.error.text = self.text
            terminal.error.partial_value = self.partial_value
        return terminal

    def _outcome(self, finish: Finish) -> StructuredEvent[Any]:
        """Give the terminal event for a response that is over. Raises StreamError for text that is no value."""
        if isinstance(finish.error, CallCancelledError):
            return Cancelled(finish.error)
        if finish.error is not None:
            return GenerationFailed(finish.error)
        if finish.reason == "content_filter":
            return GenerationFailed(ProviderError("CONTENT_FILTERED", "The provider's filter withheld the answer."))
        if self._refusal:
            words = " ".join("".join(self._refusal)[:_SHOWN_CHARS].split())
            return GenerationFailed(ProviderError("REFUSED", f"The model declined to answer: {words}"))
        if self._tools:
            return _failed(
                "OUTPUT_INVALID",
                f"The model did not answer but asked for tools ({excerpt(', '.join(self._tools))}). To run them, use "
                "call() in place of a query, send their results, and ask again.",
            )
        if self.schema is None or self._values is None:
            return GenerationComplete(self.text, self._usage, finish.reason)
        if finish.reason == "length":
            return _failed("OUTPUT_TRUNCATED", "The answer was cut off by the limit on its length in tokens.")
        value = self._values.finish()
        try:
            if self._python:
                result: Any = self.schema.validate(value, protocol="python")
            else:
                result = self.schema.validate(self._native.unwrap(value) if self._native else value)
        except OutputValidationError as error:
            # A dict where a class is asked for: the one fault of a value that JSON explains.
            if self._python and any(is_object(problem.found) for problem in error.problems):
                self._add_hint(error)
            return ParsingFailed(error)
        except RecursionError:
            return _failed("OUTPUT_TOO_LARGE", "The answer nests too deep to be checked.")
        return GenerationComplete(result, self._usage, finish.reason)

    def _add_hint(self, error: OutputValidationError, fault: StreamError | None = None) -> None:
        """Say how the answer can be read, if it can."""
        if self.schema is None:
            return
        text, over = self._told(fault)
        error.message += hint(
            text, self.schema, python=self._python, lenient=self._lenient, over=over, max_depth=self._max_depth
        )
        error.args = (error.message,)

    def _unreadable(self, fault: StreamError) -> ParsingFailed:
        match fault.code:
            case "MAX_BYTES_EXCEEDED":
                event = _failed("OUTPUT_TOO_LARGE", f"The answer is longer than {self._max_chars} characters.")
            case "MAX_DEPTH_EXCEEDED":
                event = _failed("OUTPUT_TOO_LARGE", f"The answer nests too deep: {fault.message}")
            case "EMPTY_INPUT":
                event = _failed(
                    "OUTPUT_INVALID", f"The answer {'holds no value' if self.text.strip() else 'is empty'}."
                )
            case _:
                language = "Python syntax" if self._python else "JSON"
                if self._values is None or self._values.found:
                    words = f"The answer is not {language}: {fault.message}{self._near(fault)}"
                else:
                    what = f"value in {language} stands alone or in a fence" if self._python else "JSON was found"
                    words = f"No {what} in the answer. It begins: {self.text[:_SHOWN_BEGIN]!r}."
                event = _failed("OUTPUT_INVALID", words)
                self._add_hint(event.error, fault)
        event.error.__cause__ = fault
        return event

    def _told(self, fault: StreamError | None) -> tuple[str, bool]:
        """Give the text of which an error tells, and whether the answer ends with it.

        Of an answer that breaks its value that is no more than the character at fault: how much has come beyond it
        depends on how the network cut the text.
        """
        text = self.text
        # With pairs joined, as places are counted; halves that stand alone are as long as what stands for them.
        text = joined(text)
        if self._python or self._values is None or fault is None or fault is not self._values.refuted:
            return text, True
        known = text.encode()[: fault.byte_offset].decode("utf-8", "ignore")
        return text[: len(known) + 1], False

    def _near(self, fault: StreamError) -> str:
        """Show the text around a fault."""
        if fault.byte_offset is None:
            return ""
        text, over = self._told(fault)
        before = _SHOWN_BYTES if over else 2 * _SHOWN_BYTES
        shown = text.encode()[max(0, fault.byte_offset - before) : fault.byte_offset + _SHOWN_BYTES]
        return f" Near: {shown.decode('utf-8', 'ignore')!r}."


def _failed(code: str, message: str) -> ParsingFailed:
    return ParsingFailed(OutputValidationError(code, message))
