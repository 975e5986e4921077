"""The incremental streams of the page: JSON texts, pools of them, and sessions of tool calls. Text in, text out.

    {"id", "open"?, "steps"?, "close"?}  → {"answers": […]}, one for each step

`id` is the page's number for a stream, `open` makes it, `steps` are taken in order, `close` drops it. The page keeps
the values: an answer is `{"updates": […]}`, with patches in their place, or `{"error"}`. A session adds `diagnostics`,
and `open`, the ids of its open calls, when calls were dropped without an update. `abort` gives `{"value": bool}`.

    open   {"kind": "text" | "pool" | "session", "options"?}; a session has `integration`, else its events are
           `{"operations": […], "type"?}`
    steps  text: ["push", text], ["finish"]          session: ["push", event], ["finish"]
           pool: ["start", id, text?], ["push", id, text], ["finish", id, text?], ["abort", id]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from unspool import integrations
from unspool.errors import BridgeError, ConfigError, StreamError, UnspoolError
from unspool.integrations.adapter import define_adapter
from unspool.integrations.fields import record, type_of
from unspool.integrations.session import Diagnostic
from unspool.schema.subschemas import is_array, is_object
from unspool.structured import strict_json
from unspool.structured.json_stream import JsonStream
from unspool.structured.pool import StreamPool, StreamProgress, StreamUpdate
from unspool.wire import error_wire, plain, update_json

__all__ = ["PageStreams"]

MAX_OPEN = 1024
"""Most streams open at once. A page that opens more forgets to close them."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""Longest message: it may hold a text at the default limit with every character escaped."""

_TEXT_OPTIONS = {
    "maxBytes": "max_bytes",
    "maxDepth": "max_depth",
    "duplicateKeys": "duplicate_keys",
    "scalars": "scalars",
}
_POOL_OPTIONS = {**_TEXT_OPTIONS, "maxActiveStreams": "max_active_streams"}


class PageStreams:
    """The streams that one page has open."""

    def __init__(self, *, max_open: int = MAX_OPEN) -> None:
        self._streams: dict[Any, _Text | _Pool | _Session] = {}
        self._max_open = max_open

    def answer(self, text: str) -> str:
        """Take one message and give its answer; no exception leaves it."""
        try:
            return f'{{"ok":true,"value":{{"answers":[{",".join(self._answers(_read(text)))}]}}}}'
        except Exception as error:
            return json.dumps({"ok": False, "error": _error_wire(error)})

    def _answers(self, message: Mapping[str, Any]) -> list[str]:
        id = message["id"]
        opening, steps = message.get("open"), message.get("steps")
        if opening is not None:
            if len(self._streams) >= self._max_open:
                raise StreamError(
                    "MAX_ACTIVE_STREAMS_EXCEEDED", f"{self._max_open} streams are open; close some.", operation="open"
                )
            self._streams[id] = _opened(opening)
        answers: list[str] = []
        if steps:
            stream = self._streams.get(id)
            if stream is None:
                raise BridgeError("UNKNOWN_CALL", f"There is no stream {id}.")
            answers = [_answer(stream, step) for step in steps]
        if message.get("close") is True:
            closed = self._streams.pop(id, None)
            if closed is not None:
                closed.close()
        return answers


class _Text:
    """One JSON text."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._stream = JsonStream(**options)
        self.failure: UnspoolError | None = None

    def take(self, operation: str, given: Sequence[Any]) -> list[StreamUpdate]:
        match operation, given:
            case "push", [piece]:
                return [StreamProgress(None, "update", self._stream.push(piece))]
            case "finish", []:
                return [StreamProgress(None, "update", self._stream.finish())]
            case _:
                raise _unknown_step()

    def refuse(self, error: UnspoolError, given: Sequence[Any]) -> None:
        """Be over: an update cannot cross."""
        self.failure = error
        self._stream.close()

    def extra(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        self._stream.close()


class _Pool:
    """JSON texts by id. Only a text fails, never the pool."""

    failure = None

    def __init__(self, options: dict[str, Any]) -> None:
        self._pool = StreamPool(**options)

    def take(self, operation: str, given: Sequence[Any]) -> list[StreamUpdate] | bool:
        match operation, given:
            case "start", [id, *initial] if len(initial) < 2:
                return [self._pool.start(_id(id), *initial)]
            case "push", [id, piece]:
                return [self._pool.push(_id(id), piece)]
            case "finish", [id, *final] if len(final) < 2:
                return [self._pool.finish(_id(id), *final)]
            case "abort", [id]:
                return self._pool.abort(_id(id))
            case _:
                raise _unknown_step()

    def refuse(self, error: UnspoolError, given: Sequence[Any]) -> None:
        """Drop the text whose update cannot cross."""
        self._pool.abort(_id(given[0]))

    def extra(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        for id in self._pool.active_ids:
            self._pool.abort(id)


class _Session:
    """The tool calls of one response."""

    def __init__(self, integration: str | None, options: dict[str, Any]) -> None:
        if integration is None:
            factory: Any = define_adapter(_operations)
        else:
            factory = _integration(integration)
        self._adapter = integration or "custom"
        self._told: list[Diagnostic] = []
        self._session = factory(on_diagnostic=self._told.append, **options)
        self._open = 0
        self.failure: UnspoolError | None = None

    def take(self, operation: str, given: Sequence[Any]) -> list[StreamUpdate]:
        match operation, given:
            case "push", [event]:
                updates = self._session.push_all(event)
            case "finish", []:
                updates = self._session.finish()
            case _:
                raise _unknown_step()
        for update in updates:
            self._open += (update.type == "start") - (update.type == "complete")
        return updates  # type: ignore[no-any-return]

    def refuse(self, error: UnspoolError, given: Sequence[Any]) -> None:
        """Be over: an update cannot cross."""
        self.failure = error
        known = {"adapter": self._adapter, "event_type": type_of(record(given[0])) if given else None}
        for name, value in known.items():
            setattr(error, name, value)
        self._session.close()
        self._told.append(Diagnostic("STREAM_ERROR", error.message, **known, id=getattr(error, "id", None)))  # type: ignore[arg-type]

    def extra(self) -> dict[str, Any]:
        """What goes with an answer beside the updates."""
        extra: dict[str, Any] = {}
        if self._told:
            extra["diagnostics"] = [_diagnostic_wire(told) for told in self._told]
            self._told.clear()
        active = len(self._session.pool)
        if active != self._open:
            self._open = active
            extra["open"] = plain(self._session.pool.active_ids)
        return extra

    def close(self) -> None:
        self._session.close()


def _answer(stream: _Text | _Pool | _Session, step: Any) -> str:
    if not is_array(step) or not step or not isinstance(step[0], str):
        raise _unknown_step()
    operation, given = step[0], step[1:]
    try:
        if stream.failure is not None:
            raise stream.failure
        result = stream.take(operation, given)
        if isinstance(result, bool):
            return json.dumps({"value": result})
        updates = _updates_json(result, operation, stream, given)
    except Exception as error:
        return json.dumps({"error": _error_wire(error), **stream.extra()})
    extra = stream.extra()
    return f'{{"updates":{updates}}}' if not extra else f'{{"updates":{updates},{json.dumps(extra)[1:]}'


def _updates_json(
    updates: Sequence[StreamUpdate], operation: str, stream: _Text | _Pool | _Session, given: Sequence[Any]
) -> str:
    texts: list[str] = []
    for update in updates:
        try:
            texts.append(update_json(update))
        except UnspoolError as error:
            known = {"id": update.id, "operation": operation}
            for name, value in known.items():
                setattr(error, name, value)
            stream.refuse(error, given)
            raise
    return f"[{','.join(texts)}]"


def _read(text: str) -> Mapping[str, Any]:
    message = strict_json.loads(text, max_bytes=MAX_MESSAGE_BYTES, max_depth=strict_json.DEPTH_CEILING)
    if not is_object(message) or not isinstance(message.get("id"), int) or not is_array(message.get("steps", [])):
        raise BridgeError("BRIDGE_PROTOCOL", "The message drives no stream.")
    return message


def _opened(opening: Any) -> _Text | _Pool | _Session:
    kind = opening.get("kind") if is_object(opening) else None
    match kind:
        case "text":
            return _Text(_options(opening, _TEXT_OPTIONS))
        case "pool":
            return _Pool(_options(opening, _POOL_OPTIONS))
        case "session":
            return _Session(opening.get("integration"), _options(opening, _POOL_OPTIONS))
        case _:
            raise BridgeError("BRIDGE_PROTOCOL", "The message opens no stream.")


def _options(opening: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    options = opening.get("options", {})
    if not is_object(options):
        raise ConfigError("INVALID_OPTIONS", "The options must be an object.")
    for name in options:
        if name not in names:
            known = ", ".join(sorted([*names, "snapshots"]))
            raise ConfigError("INVALID_OPTIONS", f"There is no option {name!r} here; there are {known}.")
    return {names[name]: value for name, value in options.items() if value is not None}


def _integration(name: Any) -> integrations.Integration:
    known = {found.name: found for found in vars(integrations).values() if isinstance(found, integrations.Integration)}
    if not isinstance(name, str) or name not in known:
        raise ConfigError("INVALID_OPTIONS", f"There is no integration {name!r}; there are {', '.join(sorted(known))}.")
    return known[name]


def _operations(event: Mapping[str, Any]) -> Any:
    operations = event["operations"]
    if not is_array(operations):
        return operations
    return [{**item, "id": _id(item["id"])} if is_object(item) and "id" in item else item for item in operations]


def _id(id: Any) -> Any:
    """Make an id of the page's hashable: a list stands for what only the page can tell."""
    return tuple(id) if is_array(id) else id


def _unknown_step() -> BridgeError:
    return BridgeError("BRIDGE_PROTOCOL", "There is no such step.")


def _error_wire(error: Exception) -> dict[str, Any]:
    known = {"id": "id", "operation": "operation", "adapter": "adapter", "event_type": "eventType"}
    about = {ours: plain(getattr(error, name, None)) for name, ours in known.items()}
    if not isinstance(error, UnspoolError):
        # Its words may hold anything, so only its kind crosses.
        error = BridgeError("INTERNAL", f"An unexpected {type(error).__name__} inside unspool.")
    wire = error_wire(error)
    wire.update({name: value for name, value in about.items() if value is not None})
    if isinstance(error.__cause__, UnspoolError):
        wire["cause"] = error_wire(error.__cause__)
    return wire


def _diagnostic_wire(told: Diagnostic) -> dict[str, Any]:
    return {name: plain(value) for name, value in told.to_wire().items() if name != "error"}
