"""The JSON-safe form of what crosses to JavaScript: events and errors.

Events become JSON text without loss: integers that JavaScript cannot hold are refused, lone surrogates are escaped, NaN
is impossible. Errors become JSON text always: what has no exact form is told in words. No JavaScript object is touched.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, cast

from unspool.errors import BridgeError, OutputValidationError, UnspoolError
from unspool.messages import Message
from unspool.printable import said_by
from unspool.schema import Schema
from unspool.schema.subschemas import is_array, is_object
from unspool.schema.types import path_text
from unspool.stream.nesting import is_deeper
from unspool.structured import strict_json
from unspool.structured.events import (
    FieldEnd,
    FieldInvalid,
    FieldStart,
    GenerationComplete,
    ObjectEnd,
    ObjectStart,
    Path,
    StringFieldDelta,
    StructuredEvent,
    TextDelta,
)
from unspool.structured.pool import StreamUpdate
from unspool.structured.py_values import PyObject, PySet, to_wire

MAX_SAFE_INTEGER = 2**53 - 1
"""JavaScript's `Number.MAX_SAFE_INTEGER`: beyond it, neighbouring integers fall together."""

# Any integer beyond the limit has at least 16 digits; most batches have none, and are searched at C speed.
_MANY_DIGITS = re.compile(r"[0-9]{16}")
_WITH_PARTS = (str, dict, list, tuple, PyObject, PySet)


def event_json(
    event: StructuredEvent[Any], schema: Schema[Any] | None, before: Path = (), *, message: Message | None = None
) -> str:
    """Write an event as JSON text.

    An end has its value only where the page cannot have it by now: strings came as deltas and containers as their
    parts, and sending them again at each level would cost their size as often.

    Args:
        event: one event of a query.
        schema: what the query asked for; writes the result.
        before: path of the event before it. The steps that its own path begins with as well are only counted, `keep`:
            a model that writes one long name and thousands of members below it would otherwise have the name sent
            thousands of times.
        message: goes with the result, if given.
    Raises:
        BridgeError: UNSAFE_INTEGER, naming the member, also of a tool call, that JavaScript cannot hold; MODULE_ERROR
            when the application's own type cannot be written.
    """
    kind = event.type
    if isinstance(event, TextDelta):
        return f'{{"type":"{kind}","delta":{_quoted(event.delta)}}}'
    if isinstance(event, StringFieldDelta):
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"delta":{_quoted(event.delta)}}}'
    if isinstance(event, FieldStart):
        return f'{{"type":"{kind}",{_path_json(event.path, before)}}}'
    if isinstance(event, ObjectStart | ObjectEnd):
        what = f'"kind":"{event.kind}"'
        if event.python_class is not None:
            what += f',"pythonClass":{_quoted(event.python_class)}'
        if event.python_kind is not None:
            what += f',"pythonKind":"{event.python_kind}"'
        return f'{{"type":"{kind}",{_path_json(event.path, before)},{what}}}'
    if isinstance(event, FieldEnd):
        value = event.value
        if isinstance(value, _WITH_PARTS) and value != "":
            return f'{{"type":"{kind}",{_path_json(event.path, before)}}}'
        text = _dumps(to_wire(value))
        _refuse_unsafe(text, lambda: event.value, event.path)
        return f'{{"type":"{kind}",{_path_json(event.path, before)},"value":{text}}}'
    if isinstance(event, FieldInvalid):
        said = f'"message":{_quoted(event.message)},"kind":"{event.kind}"'
        return f'{{"type":"{kind}",{_path_json(event.path, before)},{said}}}'
    if isinstance(event, GenerationComplete):
        fields = [f'"type":"{kind}","result":{_result_json(event.result, schema)}']
        if event.usage is not None:
            fields.append(f'"usage":{_dumps(plain(event.usage.to_wire()))}')
        if event.finish_reason is not None:
            fields.append(f'"finishReason":{_dumps(event.finish_reason)}')
        if message is not None:
            _refuse_unsafe_calls(message)
            fields.append(f'"message":{_dumps(plain(message.to_wire()))}')
        return "{" + ",".join(fields) + "}"
    return _dumps({"type": kind, "error": error_wire(event.error)})


def update_json(update: StreamUpdate) -> str:
    """Write an update of an incremental stream as JSON text, with the patches instead of the value they make.

    A patch's path is written as in `event_json`: of the steps it shares with the patch before it, only their number.

    Raises:
        BridgeError: UNSAFE_INTEGER, naming the member that JavaScript cannot hold.
    """
    wire = update.to_wire()
    patches: list[str] = []
    before: Path = ()
    for patch in wire.pop("changes"):
        path: Path = tuple(patch["path"])
        fields = f'"op":"{patch["op"]}",{_path_json(path, before)}'
        before = path
        if "value" in patch:
            text = _dumps(patch["value"])
            _refuse_unsafe(text, lambda patch=patch: patch["value"], path)  # type: ignore[misc]
            fields += f',"value":{text}'
        patches.append(f"{{{fields}}}")
    return f'{{"changes":[{",".join(patches)}],{_dumps(wire)[1:]}'


def error_wire(error: UnspoolError) -> dict[str, Any]:
    """Give an error as data that JSON and JavaScript can hold."""
    wire = {name: plain(value) for name, value in error.to_wire().items()}
    if isinstance(error, OutputValidationError) and error.problems:
        wire["issues"] = [
            {"path": [*map(_plain_step, problem.path)], "message": problem.message} for problem in error.problems
        ]
    return wire


def plain(value: Any) -> Any:
    """Give data as JSON that JavaScript holds exactly; what has no such form is told in words. Not for results."""
    value = to_wire(value)
    if is_deeper(value):
        return "(nested too deep)"
    return _plain(value)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_SAFE_INTEGER else _digits(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_object(value):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return f"({type(value).__name__})"


# ASCII only: a lone surrogate survives as its escape, and JSON.parse gives back the same text. `json.dumps` with such
# options would make an encoder each time.
_dumps: Callable[[Any], str] = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def _path_json(path: Path, before: Path) -> str:
    keep = 0
    for step, known in zip(path, before, strict=False):
        if step is not known and step != known:
            break
        keep += 1
    steps = ",".join(_quoted(step) if isinstance(step, str) else str(step) for step in map(_plain_step, path[keep:]))
    return f'"keep":{keep},"path":[{steps}]' if keep else f'"path":[{steps}]'


def _plain_step(step: Any) -> str | int:
    """Give a step of a path as JavaScript can hold it: a key of a dict may be anything in Python syntax."""
    if isinstance(step, str):
        return step
    if type(step) is int:
        return step if abs(step) <= MAX_SAFE_INTEGER else _digits(step)
    return repr(step)


def _result_json(result: Any, schema: Schema[Any] | None) -> str:
    try:
        text = _dumps(result) if schema is None else schema.dump_json(result)
        _refuse_unsafe(text, lambda: strict_json.loads(text, max_bytes=len(text) * 4 + 1, duplicate_keys="last"), ())
    except BridgeError:
        raise
    except OutputValidationError:
        raise
    except Exception as error:  # a serializer of the application may raise anything
        reason = said_by(error, 300)
        raise BridgeError("MODULE_ERROR", f"The result cannot be written as JSON ({reason}).") from error
    return text


def _refuse_unsafe(text: str, value: Callable[[], Any], base: Sequence[str | int]) -> None:
    if not _MANY_DIGITS.search(text):
        return
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), value())]
    while todo:
        path, item = todo.pop()
        if is_object(item):
            todo.extend(((*path, key), member) for key, member in item.items())
        elif is_array(item):
            todo.extend(((*path, i), member) for i, member in enumerate(item))
        elif isinstance(item, int) and abs(item) > MAX_SAFE_INTEGER:
            where = path_text((*base, *path)) or "the answer"
            raise BridgeError(
                "UNSAFE_INTEGER",
                f"{where} is {_digits(item)}, which JavaScript cannot hold exactly; ask for text or a smaller number.",
            )


def _refuse_unsafe_calls(message: Message) -> None:
    """A tool is called with what the page reads out of the text of its arguments."""
    for call in message.tool_calls:
        if not call.truncated:
            _refuse_unsafe(call.arguments, lambda call=call: call.args, (call.name,))  # type: ignore[misc]


def _digits(value: int) -> str:
    # The length is taken from the bits: int to text is quadratic, and refused beyond 4,300 digits.
    if value.bit_length() > 128:
        return f"(an integer of {value.bit_length()} bits)"
    return str(value)
