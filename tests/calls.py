"""What tests of integrations share: events in every shape they come in, and what a session makes of them."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from unspool.integrations.session import Diagnostic, Session, SessionFactory

DECODED = {"input", "args", "arguments"}
"""Fields whose value is data of the user, which SDKs leave as it is."""


class Played:
    """What a session made of a list of events."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, Any]] = []
        """Type and id of each update, in order."""
        self.texts: list[tuple[Any, str]] = []
        """Id and text of each completion."""
        self.values: list[tuple[Any, Any]] = []
        self.names: list[tuple[Any, str | None]] = []
        """Id and name of each completion."""
        self.late_names: list[Any] = []
        """Ids of calls whose name came after their start."""
        self.partials: list[Any] = []
        """The value that each update showed."""
        self.error: Any = None
        self.diagnostics: list[tuple[str, Any]] = []
        """Code and id of each."""

    @property
    def unmatched(self) -> list[Any]:
        """The ids of the events about calls that are not known."""
        return [id for code, id in self.diagnostics if code == "UNMATCHED_TOOL_EVENT"]

    def told(self) -> Any:
        """Everything, to compare."""
        error = self.error and (type(self.error), getattr(self.error, "code", None), str(self.error))
        return self.steps, self.texts, self.values, self.names, self.late_names, self.partials, error, self.diagnostics


def play(integration: SessionFactory, events: Sequence[Any], *, shape: Any = None, **options: Any) -> Played:
    """Push events one by one, finish, and check what holds for every session."""
    shape = shape or (lambda event: event)
    played = Played()
    diagnostics: list[Diagnostic] = []
    session = integration(on_diagnostic=diagnostics.append, **options)
    built: dict[Any, Any] = {}
    names: dict[Any, str | None] = {}
    with session:
        try:
            for event in events:
                _take(session.push_all(shape(event)), built, names, played)
            _take(session.finish(), built, names, played)
        except Exception as error:
            played.error = error
            _check_failed(session, error)
    assert len(session.pool) == 0
    played.diagnostics = [(told.code, told.id) for told in diagnostics]
    assert [told.error for told in diagnostics if told.code == "STREAM_ERROR"] == [played.error] * bool(played.error)
    return played


def play_all(integration: SessionFactory, events: Sequence[Any], *, snake: bool = False, **options: Any) -> Played:
    """Play events as dicts, objects and JavaScript objects, in both snapshot modes, and demand the same each time.

    Args:
        integration: what is tested.
        events: decoded, as dicts.
        snake: the SDK's objects have names in snake_case for the wire's in camelCase.
    """
    played = play(integration, copy.deepcopy(events), **options)
    for shape in shapes(snake):
        for snapshots in ("live", "immutable"):
            again = play(integration, events, shape=shape, **{**options, "snapshots": snapshots})
            assert again.told() == played.told()
    return played


def shapes(snake: bool = False) -> Iterator[Callable[[Any], Any]]:
    """The ways to make an event: of a copy of the dict, an object, a JavaScript object."""
    yield copy.deepcopy
    yield as_object
    if snake:
        yield lambda event: as_object(event, rename=snake_case)
        yield lambda event: renamed(event, snake_case)
    if sys.platform == "emscripten":
        yield as_javascript


def as_object(value: Any, *, rename: Callable[[str], str] = str) -> Any:
    """Make objects with attributes of dicts, as SDKs do."""
    if isinstance(value, dict):
        return SimpleNamespace(
            **{
                rename(name): copy.deepcopy(item) if name in DECODED else as_object(item, rename=rename)
                for name, item in value.items()
            }
        )
    if isinstance(value, list | tuple):
        return type(value)(as_object(item, rename=rename) for item in value)
    return value


def as_javascript(value: Any) -> Any:
    """Make the JavaScript object that the event is on the page."""
    import js
    from pyodide.ffi import to_js

    return to_js(value, dict_converter=js.Object.fromEntries)


def renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """Rename the fields of an event, but not those of the user's data."""
    if isinstance(value, dict):
        return {
            rename(name): copy.deepcopy(item) if name in DECODED else renamed(item, rename)
            for name, item in value.items()
        }
    return [renamed(item, rename) for item in value] if isinstance(value, list) else value


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def _take(updates: Sequence[Any], built: dict[Any, Any], names: dict[Any, str | None], played: Played) -> None:
    for update in updates:
        played.steps.append((update.type, update.id))
        played.partials.append(copy.deepcopy(update.partial_value))
        if update.type == "start":
            assert update.id not in built
            built[update.id] = None
            names[update.id] = update.name
        if names[update.id] is None and update.name is not None:
            played.late_names.append(update.id)
            names[update.id] = update.name
        assert update.name == names[update.id]  # F27: set once
        assert update.to_wire().get("name") == update.name
        for patch in update.changes:
            built[update.id] = _applied(built[update.id], patch)
        if update.type == "complete":
            played.texts.append((update.id, update.text))
            played.values.append((update.id, update.value))
            played.names.append((update.id, names.pop(update.id)))
            assert built.pop(update.id) == update.value == update.partial_value  # S24, S63


def _applied(value: Any, patch: Any) -> Any:
    if patch.op == "complete":
        return value
    if not patch.path:
        return value + patch.value if patch.op == "append" else copy.copy(patch.value)
    holder = value
    for step in patch.path[:-1]:
        holder = holder[step]
    last = patch.path[-1]
    if patch.op == "append":
        holder[last] += patch.value
    elif isinstance(holder, list):
        assert last == len(holder)
        holder.append(copy.copy(patch.value))
    else:
        holder[last] = copy.copy(patch.value)
    return value


def _check_failed(session: Session, error: Exception) -> None:
    """S84: a failure ends the session."""
    assert len(session.pool) == 0
    for act in (lambda: session.push_all({}), session.finish):
        try:
            act()
        except Exception as again:
            assert again is error
        else:
            raise AssertionError("a failed session goes on")
