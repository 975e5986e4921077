"""PartialBuilder: the progress events of one answer in, of either protocol; what has arrived of it out.

Views of what is open, real instances of what has closed, each judged once, and `FieldInvalid` for what cannot be right
any more. What a delta costs does not depend on what came before it. The complete value is validated elsewhere. No IO.

Source: F17, F18, F21, F22; langfx.js, docs/STREAMING.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unspool.errors import OutputValidationError
from unspool.schema.faults import Faults
from unspool.schema.levels import GuessLevel, UndecidedLevel
from unspool.schema.lookahead import is_whole
from unspool.schema.places import MAX_ATTEMPTS, Place, places_of
from unspool.schema.problem import Problem
from unspool.schema.validation_error import pydantic_problems
from unspool.schema.views import ABSENT, REPEATED, Part, PartState, state_inside
from unspool.schema.watched_list import WatchedList
from unspool.structured.events import (
    FieldEnd,
    FieldInvalid,
    FieldStart,
    ObjectEnd,
    ObjectStart,
    Path,
    StringFieldDelta,
    TextDelta,
)
from unspool.structured.py_values import PySet

if TYPE_CHECKING:
    from unspool.schema.types import Schema
    from unspool.schema.validator_builder import ValueProtocol


_MAX_HEIGHT = 4
"""Containers inside each other that are judged as they were written, each with all that is in it: what is around more
of them waits for the end.
"""


class PartialBuilder:
    """Makes the `Partial` of one answer."""

    def __init__(
        self, schema: Schema[Any] | None, *, protocol: ValueProtocol = "json", drops_nulls: bool = False
    ) -> None:
        """
        Args:
            schema: what the answer must be; None for plain text.
            protocol: how it is written.
            drops_nulls: whether null stands for a field that was left out, where it is no value of the field.
        """
        self._faults = Faults()
        self.invalid = self._faults.invalid
        """What cannot be right, so far: the first of it, as errors have it."""
        self.value: Any = None
        """What has arrived."""
        self.complete = False
        self.has_changed = False
        """Whether the last events showed anything."""
        self.schema = schema
        self._result: Any = ABSENT
        """The answer as it is valid, whatever the application has made of it."""
        self._places = places_of(schema, protocol)
        self._drops_nulls = drops_nulls
        self._root: Part | None = None
        self._part: Part | None = None
        """The innermost open container."""
        self._place: Place = self._places.root
        """Of the part that is open in it."""
        self._is_over = False
        self._attempts = 0
        """How many alternatives pydantic may have tried."""
        self._stops = False
        self._watched: WatchedList | None = None

    def shown(self) -> Any:
        """Give what can be read; before anything has arrived, what stands for nothing."""
        if self.value is not None or self.complete:
            return self.value
        root = self._places.root
        opening = root.open("object", None, None)
        return Part(None, root, opening if opening.level.names else root.open("array", None, None), False).opened()

    def state(self, path: Sequence[Any]) -> PartState:
        """Tell how far a part has come, by its path in the value."""
        root = self._root
        if not (self.complete or self._is_over):
            if root is not None:
                return "absent" if path and root.is_hidden else root.state(path)
            return "absent" if path or self.value is None else "growing"
        return state_inside(self.value if self._result is ABSENT else self._result, path)

    def watch(self, path: Sequence[Any]) -> None:
        """Keep the list at a path in view, for `items`."""
        self._watched = WatchedList(path)

    def items(self, *, is_over: bool) -> list[Any]:
        """Take the items of the watched list that have closed and are valid, and have not been taken.

        Args:
            is_over: whether the answer is, and is not valid.
        """
        assert self._watched is not None
        return self._watched.taken(gives_up=is_over or bool(self.invalid))

    def stop_at_fault(self) -> None:
        """Look at nothing behind the first event that tells of a fault: the answer ends there."""
        self._stops = True

    def accept(self, result: Any) -> None:
        """Take the answer, which is over and valid."""
        self._result = result
        if self._watched is not None:
            self._watched.result = result

    def finish(self, result: Any) -> None:
        """Say that the value is complete, and what it is: what the application has made of the answer."""
        self.value = result
        self.complete = self.has_changed = True

    def feed(self, events: Sequence[Any]) -> list[tuple[int, FieldInvalid]]:
        """Read progress events; others are passed over.

        Returns:
            What was found to be invalid, each with the number of the event that closed it.
        """
        found: list[tuple[int, FieldInvalid]] = []
        self.has_changed = False
        if self._stops and self.invalid:
            return found
        for number, event in enumerate(events):
            kind = event.__class__
            if kind is StringFieldDelta:
                self.grow(event.delta)
            elif kind is FieldStart:
                self.start(event.path[-1])
            elif kind is FieldEnd:
                self.end(event.path, event.value)
                found += self._faults.new(number)
            elif kind is ObjectStart:
                self.open(event.kind, event.python_class, event.python_kind)
            elif kind is ObjectEnd:
                self.close(event.path, event.value)
                found += self._faults.new(number)
            elif kind is TextDelta and self.schema is None:
                self.grow(event.delta)
            if found and self._stops:
                break
        return found

    def grow(self, delta: str) -> None:
        """More of a text comes."""
        if not self._place.shows_text:
            return
        self.has_changed = True
        part = self._part
        if part is None:
            text: Any = self.value
            self.value = None
            self.value = delta if text is None else text + delta
            return
        shown, key = part.shown, part.key
        if not part.is_list:
            text = shown.get(key)
            if text is None:
                shown[key] = delta
                return
        elif key == len(shown):
            shown.append(delta)
            return
        else:
            text = shown[key]
        shown[key] = None  # a string grows in place only while nothing else holds it
        text += delta
        shown[key] = text

    def start(self, step: Any) -> None:
        """A part of the innermost container starts."""
        self.has_changed = True
        part = self._part
        assert part is not None
        level = part.opening.level
        if part.is_hidden and part.place.takes_unknown and not part.shown:
            if step == "unknown":
                part.opening = part.place.unknown(listed=False)
                level = part.opening.level
            elif not (part.place.conceals or part.opening.is_hidden):
                self._reveal(part)
        part.key, self._place = level.child(step)
        if not part.is_list and (part.key in part.shown or part.key in part.withheld):
            self._repeats(part)

    def _reveal(self, part: Part) -> None:
        """Show a container after all: it is none of the words for what is not known."""
        part.is_hidden = False
        if part.parent is None:
            self.value = part.opened()
        elif not part.place.drops:
            part.parent.show(part.parent.key, part.opened())

    def _repeats(self, part: Part) -> None:
        """The part that starts has come already, by another spelling: only the whole tells which of them it is."""
        part.unsure = True
        part.key, self._place = REPEATED, self._places.ignored

    def end(self, path: Path, value: Any) -> None:
        """The part that has started ends; nothing when it was a container, which has its own end."""
        part, place = self._part, self._place
        if part is None or part.key is ABSENT:
            return
        self.has_changed = True
        kind, key = value.__class__, part.key
        if (kind in place.quick and (kind is not str or value.isascii() or is_whole(value))) or (
            kind is str and value in place.words
        ):
            part.show(key, value)
        else:
            value = self._judge(part, key, place, path, value)
        part.key = ABSENT
        if part.is_undecided and key is not REPEATED:
            part.aside[path[-1]] = value
            level = part.opening.level
            if isinstance(level, UndecidedLevel) and path[-1] in level.expected:
                self._decide(part, level, path[:-1])

    def take(self, parts: Iterable[tuple[Any, Any]], path: Path) -> None:
        """Parts of the innermost container, which is at a path of JSON, start and end; the first may have started."""
        part = self._part
        assert part is not None
        self.has_changed = True
        shown, is_list, is_simple = part.shown, part.is_list, not (part.is_undecided or part.place.takes_unknown)
        for step, value in parts:
            kind = value.__class__
            if part.key is not ABSENT:
                place = self._place
            elif is_simple:
                part.key, self._place = part.opening.level.child(step)
                if not is_list and (part.key in shown or part.key in part.withheld):
                    self._repeats(part)
                place = self._place
            else:
                self.start(step)
                place = self._place
            if kind is dict or kind is list:
                inner = (*path, step)
                self.open("object" if kind is dict else "array")
                within: Any = value.items() if kind is dict else enumerate(value)
                self.take(within, inner)
                self.close(inner, value)
            elif is_simple and (
                (kind in place.quick and (kind is not str or value.isascii() or is_whole(value)))
                or (kind is str and value in place.words)
            ):
                if is_list:
                    part.show(part.key, value)
                else:
                    shown[part.key] = value
                part.key = ABSENT
            else:
                self.end((*path, step), value)

    def _judge(self, part: Part, key: Any, place: Place, path: Path, value: Any) -> Any:
        """Judge a part of one piece, or one that was read before it was known what it is; give what it is."""
        if place.refusal is not None:
            self._faults.add(part, part.sure and part.opening.sure, path, [Problem((), place.refusal, value)])
        elif place.drops or (value is None and self._drops_nulls and place.is_optional and not place.takes_none):
            return value
        elif place.held:
            part.unsure = True
            self._leave(part, key, place, value)
        else:
            is_whole = isinstance(value, dict | list)
            try:
                made = (self._whole if is_whole else Place.check)(place, value, _context(path))
                (part.conceal if place.conceals else part.show)(key, made)
                return made
            except Exception as error:  # an application's validator may raise anything
                sure = part.sure and part.opening.sure and not place.weak
                self._faults.failed(part, sure, path, error, lambda fault: pydantic_problems(fault, value))
                part.unsure = part.unsure or place.weak
                self._leave(part, key, place, value)
        return value

    def _leave(self, part: Part, key: Any, place: Place, value: Any) -> None:
        """Leave a part as it was seen while it was open, since there is no value of it."""
        if place.shows_text and isinstance(value, str):
            part.show(key, value)
        part.withhold(key)

    def open(self, kind: str, python_class: str | None = None, python_kind: str | None = None) -> None:
        """A container opens: the part that has started, or the whole."""
        self.has_changed = True
        parent, place = self._part, self._place
        opening = place.open(kind, python_class, python_kind)
        sure = parent is None or (parent.sure and parent.opening.sure)
        part = Part(parent, place, opening, sure and not (place.held or place.weak or place.drops))
        part.is_hidden = place.conceals or opening.is_hidden or (place.takes_unknown and not part.is_list)
        if parent is None:
            self._root = part
            self.value = None if part.is_hidden else part.opened()
        else:
            parent.child = part
            if not (place.drops or part.is_hidden):
                parent.show(parent.key, part.opened())
        self._part = part
        if self._watched is not None and part.is_list:
            self._watched.look_at(part)

    def close(self, path: Path, raw: Any) -> None:
        """The innermost container closes."""
        self.has_changed = True
        part = self._part
        assert part is not None
        parent = self._part = part.parent
        value = self._made(part, parent, path, raw)
        if parent is None:
            self._is_over = True
            self._root = None
            self.value = self.value if value is ABSENT else value
            return
        key = parent.key
        if not part.place.drops:
            if value is not ABSENT:
                (parent.conceal if part.place.conceals else parent.show)(key, value)
            elif parent.is_list or part.is_hidden:
                parent.withhold(key)
        if parent.is_undecided and key is not REPEATED:
            is_json = self._places.protocol == "json"
            parent.aside[path[-1]] = raw if is_json else parent.get(key) if value is ABSENT else value
        parent.child = part.parent = None
        parent.key = ABSENT

    def _made(self, part: Part, parent: Part | None, path: Path, raw: Any) -> Any:
        """Make the value of a container that has closed; ABSENT when there is none, or it is not known yet."""
        place, opening = part.place, part.opening
        if place.refusal is not None:
            assert parent is not None
            self._faults.add(parent, parent.sure and parent.opening.sure, path, [Problem((), place.refusal, raw)])
            return ABSENT
        if place.drops:
            return ABSENT
        if parent is not None and (place.held or place.weak):
            parent.unsure = True
        if place.held:
            return ABSENT
        if isinstance(opening.level, GuessLevel) and (part.aside or part.unsure):
            assert parent is not None  # the rest of it is shown when it is known what it is
            parent.unsure = parent.unsure or isinstance(parent.opening.level, GuessLevel)
            return ABSENT
        whole = opening.whole or part.unsure or (isinstance(raw, PySet) and raw.frozen)
        if part.is_refused or (part.bad and not whole):
            self._faults.add(parent, False, path, ())
            return ABSENT
        context = _context(path)
        height = part.height + whole
        waits = height > _MAX_HEIGHT
        if parent is not None:
            parent.height = max(parent.height, height - waits)
            parent.unsure = parent.unsure or waits
        if waits:
            return ABSENT
        parts = {**part.shown, **part.aside} if part.aside else part.shown
        try:
            return self._whole(place, raw, context) if whole else opening.made(parts, context)
        except Exception as error:
            sure = part.sure and not (whole and self._drops_nulls)
            self._faults.failed(
                parent,
                sure,
                path,
                error,
                lambda fault: pydantic_problems(fault, raw) if whole else opening.level.problems(fault, raw),
            )
            return ABSENT

    def _whole(self, place: Place, raw: Any, context: Mapping[str, Any]) -> Any:
        """Judge a container as it was written."""
        if self._attempts <= MAX_ATTEMPTS:
            self._attempts += self._places.attempts(raw)
        if self._attempts > MAX_ATTEMPTS:
            raise OutputValidationError("OUTPUT_TOO_LARGE", "Too many alternatives have been tried.")
        return place.check(raw, context)

    def _decide(self, part: Part, level: UndecidedLevel, path: Path) -> None:
        """Find out what a container is, now that a member has come that tells."""
        told = {name: part.aside[name] for name in level.expected if name in part.aside}
        decided = level.decided(told)
        if decided is None:
            return
        if isinstance(decided, str):
            self._faults.add(part, part.sure, path, [Problem((), decided)])
            part.is_refused = True
            part.opening = part.place.unknown(listed=False)
            return
        before, shown, is_json = part.aside, part.shown, self._places.protocol == "json"
        part.opening, part.shown, part.aside, part.withheld, part.is_undecided = decided, {}, {}, frozenset(), False
        part.unsure = part.unsure or not is_json  # constructors in it have been called already
        for step, value in before.items():
            key, place = decided.level.child(step)
            if key in part.shown or key in part.withheld:
                part.unsure = True
                continue
            seen = shown.get(key, ABSENT) if is_json else value
            if not (place.drops or place.conceals or seen is ABSENT):
                part.show(key, seen)
            if is_json:
                self._judge(part, key, place, (*path, step), value)


def _context(path: Path) -> dict[str, Any]:
    """Tell validators of the application that they see a part (F21)."""
    return {"partial": True, "path": path}
