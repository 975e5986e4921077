"""Places: what may stand at each place of a type, so that a value can be judged part by part while it is written.

In: the core schema of a type and the kind of a value that begins. Out: the `Level` it opens, whose parts have places of
their own; and validators that judge a part alone, once. Made as values come to stand there, and kept with the type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unspool.schema.levels import (
    GuessLevel,
    ItemsLevel,
    Level,
    MembersLevel,
    TupleLevel,
    UndecidedLevel,
    UnknownLevel,
)
from unspool.schema.lookahead import Branch, Lookahead
from unspool.schema.part_validator_builder import PartValidator, validator_around
from unspool.schema.record_level import RecordLevel
from unspool.schema.shape import Record
from unspool.schema.validators import TAG

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

    from unspool.schema.pydantic_nodes import Core
    from unspool.schema.shape_reader import ShapeReader
    from unspool.schema.types import Schema
    from unspool.schema.validator_builder import ValueProtocol

Context = Mapping[str, Any]
"""What validators of the application are told (`info.context`)."""

_ANY: Core = {"type": "any"}

# Pydantic tries some five million a second natively, a fifth of that in Pyodide, and cannot be interrupted.
MAX_ATTEMPTS = 300_000
"""How many alternatives may be tried over one answer."""


class Opening:
    """An open container at a place: its level, and what becomes of it when it closes."""

    __slots__ = ("_around", "_config", "_finish", "has_root", "is_hidden", "level", "sure", "whole")

    def __init__(
        self, level: Level, *, around: Sequence[Core] = (), config: Core | None = None, blind: bool = False
    ) -> None:
        self.level = level
        self.whole = blind or level.whole
        """Whether it is judged as it was written, at its place, and not by its parts."""
        self.sure = level.sure and not blind
        """Whether a fault of a part is one of the whole."""
        self._around = around
        self._config = config
        self._finish: SchemaValidator | None = None
        self.is_hidden = False
        """Whether it may become something that has no such parts."""
        self.has_root = any(node["type"] == "model" for node in around)
        """Whether it becomes a root model, or more than one."""

    def made(self, parts: Any, context: Context) -> Any:
        """Give the value, made of its parts, each of which has been judged.

        Raises:
            ValidationError: pydantic's. What the application's validators raise comes through.
        """
        value = self.level.made(parts, context)
        if self._around:
            if self._finish is None:
                self._finish = validator_around(self._around, self._config)
            value = self._finish.validate_python(value, context=context)
        return value


class Place:
    """What may stand at one place of a type."""

    __slots__ = (
        "_config",
        "_node",
        "_openings",
        "_places",
        "_lookahead",
        "_validator",
        "conceals",
        "converts",
        "drops",
        "held",
        "is_optional",
        "quick",
        "refusal",
        "shows_text",
        "takes_none",
        "takes_unknown",
        "weak",
        "withholds_text",
        "words",
    )

    def __init__(
        self,
        places: Places,
        node: Core,
        config: Core | None = None,
        *,
        is_optional: bool = False,
        held: bool = False,
        weak: bool = False,
        drops: bool = False,
        conceals: bool = False,
        refusal: str | None = None,
    ) -> None:
        self._places = places
        self._node = node
        self._config = config
        self._lookahead = Lookahead(places.reader, node, config)
        self._openings: dict[tuple[Any, ...], Opening] = {}
        self._validator: PartValidator | None = None
        nothing: frozenset[Any] = frozenset()
        self.quick: frozenset[type] = nothing if drops or conceals else self._lookahead.quick
        """The types of which any value is right as it is; text, when it is whole."""
        self.words: frozenset[str] = nothing if drops or conceals else self._lookahead.words
        """Texts that are right as they are."""
        self.shows_text = self._lookahead.shows_text and not (drops or conceals)
        """Whether text may be shown while it comes: not if it will become something else, such as a date (F17)."""
        self.withholds_text = self._lookahead.withholds_text
        """Whether text is known to be a choice, or to become something else."""
        self.converts = self._lookahead.converts or self._lookahead.takes_unknown or conceals
        """Whether what stands here may become something else that is not read like it."""
        self.takes_none = self._lookahead.takes_none
        self.takes_unknown = self._lookahead.takes_unknown
        self.is_optional = is_optional
        """Whether it may be left out."""
        self.held = held
        """Whether it cannot be judged before the record that it belongs to."""
        self.weak = weak
        """Whether another spelling of the same part wins over this one, should it come."""
        self.drops = drops
        """Whether what stands here is ignored."""
        self.conceals = conceals
        """Whether what stands here is kept and not shown."""
        self.refusal = refusal
        """Why nothing may stand here."""

    def check(self, value: Any, context: Context) -> Any:
        """Judge a value of one piece, or a container as it was written; neither is changed.

        Returns:
            A value of the type.
        Raises:
            ValidationError: pydantic's. What the application's validators raise comes through.
        """
        if self._node is _ANY and self._places.protocol == "json":
            return value
        if self._validator is None:
            self._validator = PartValidator(self._places.reader, self._places.protocol, self._node, self._config)
        return self._validator.validate(value, context)

    def open(self, kind: str, python_class: str | None, python_kind: str | None) -> Opening:
        """Give what a container of a kind is here; kinds are those of `ObjectStart`."""
        key = (kind, python_class, python_kind)
        opening = self._openings.get(key)
        if opening is None:
            opening = self._openings[key] = self._opened(kind, python_class, python_kind)
            opening.is_hidden = opening.is_hidden or self._lookahead.takes_containers
        return opening

    @property
    def is_wild(self) -> bool:
        """Whether the application decides what stands here, so that the type does not tell."""
        return self._lookahead.is_wild

    @property
    def has_branches(self) -> bool:
        """Whether the type tells which containers may stand here."""
        return bool(self._lookahead.branches)

    @property
    def has_root(self) -> bool:
        """Whether a container that stands here may become a root model."""
        return any(node["type"] == "model" for branch in self._lookahead.branches for node in branch.around)

    def unknown(self, *, listed: bool) -> Opening:
        """Give a container of which nothing is known before it closes."""
        return Opening(UnknownLevel(self._places, listed=listed))

    def _opened(self, kind: str, python_class: str | None, python_kind: str | None) -> Opening:
        survey, places = self._lookahead, self._places
        anything = survey.any_branch
        listed = kind == "array"
        found: list[Branch] = []
        if python_class is not None:
            found = [
                branch.of(record)
                for branch in survey.branches
                if branch.record is not None
                for record in branch.record.family
                if record.name == python_class
            ]
            if anything is not None:
                found += [anything.of(record) for record in places.records_named(python_class)]
        else:
            python = places.protocol == "python"
            found = [branch for branch in survey.branches if branch.opens(listed, python_kind, python=python)]
            if not python:
                found = [member for branch in found for member in _family(branch)]
            if anything is not None:
                node: Core = {"type": _CONTAINERS[kind, python_kind]}
                found.append(Branch(node, around=anything.around, blind=anything.blind))
        if len({branch.key for branch in found}) == 1:  # one class may be behind several tags
            branch = found[0]
            return Opening(
                self._level(branch), around=branch.around, config=self._config, blind=branch.blind or survey.is_wild
            )
        records = [branch.record for branch in found if branch.record is not None]
        names = self._names(found) if records and len(records) == len(found) else None
        by_attribute = all(record.form != "typed-dict" for record in records)
        if names is not None and not listed and not survey.is_wild and all(branch.tags for branch in found):
            openings = [
                (
                    branch.tags,
                    Opening(self._level(branch), around=branch.around, config=self._config, blind=branch.blind),
                )
                for branch in found
            ]
            return Opening(UndecidedLevel(places, openings, names, by_attribute=by_attribute))
        levels = [self._level(branch) for branch in found]
        return Opening(UnknownLevel(places, levels, listed=listed, names=names, by_attribute=by_attribute))

    def _names(self, branches: Sequence[Branch]) -> frozenset[str]:
        return frozenset(name for branch in branches for name in self._level(branch).names or ())

    def _level(self, branch: Branch) -> Level:
        places, node = self._places, branch.node
        if branch.record is not None:
            return places.record_level(branch.record)
        match node["type"]:
            case "dict":
                return MembersLevel(places, node, self._config)
            case "tuple":
                return TupleLevel(places, node, self._config)
            case _:
                return ItemsLevel(places, node, self._config)


class Guess(Place):
    """One of several places; which of them, is not known before the container around closes."""

    __slots__ = ("_candidates",)

    def __init__(self, places: Places, candidates: Sequence[Place]) -> None:
        super().__init__(places, _ANY, conceals=any(place.converts for place in candidates))
        self._candidates = candidates
        self.shows_text = not (self.conceals or any(place.withholds_text for place in candidates))
        self.withholds_text = not self.shows_text

    def _opened(self, kind: str, python_class: str | None, python_kind: str | None) -> Opening:
        opening = super()._opened(kind, python_class, python_kind)
        if python_class is not None:
            return opening
        openings = [place.open(kind, python_class, python_kind) for place in self._candidates]
        opening.is_hidden = any(each.is_hidden for each in openings)
        levels = [each.level for each in openings]
        known = [level for level in levels if not (isinstance(level, UnknownLevel) and level.is_blank)]
        opening.level = GuessLevel(self._places, opening.level, known or levels)
        return opening


class Places:
    """The places of one type, for the values of one protocol."""

    def __init__(self, reader: ShapeReader, protocol: ValueProtocol, attempts: Callable[[Any], int]) -> None:
        """
        Args:
            reader: it has read the type.
            protocol: whose values stand there.
            attempts: counts how often pydantic would try the alternatives of a value that could take it too long.
        """
        self.reader = reader
        self.protocol: ValueProtocol = protocol
        self.attempts = attempts
        self._records: dict[Record, RecordLevel] = {}
        self._at: dict[tuple[int, int], Place] = {}
        self._guesses: dict[tuple[int, ...], Guess] = {}
        self.any = Place(self, _ANY)
        """Where anything may stand."""
        self.ignored = Place(self, _ANY, drops=True)
        """Where anything may stand and is of no interest."""
        self.late = Place(self, _ANY, held=True)
        """Where only the whole can tell what may stand."""
        self.root = self.at(reader.core, None)

    def at(self, node: Core | None, config: Core | None) -> Place:
        """Give the place of a node of the type's core schema."""
        if node is None:
            return self.any
        key = (id(node), id(config))
        place = self._at.get(key)
        if place is None:
            place = self._at[key] = Place(self, node, config)
        return place

    def guess(self, candidates: Sequence[Place]) -> Place:
        """Give the place of what stands at one of several, or anywhere."""
        known = {id(place): place for place in candidates if not place.drops and place is not self.any}
        if not known:
            return self.any
        key = tuple(known)
        guess = self._guesses.get(key)
        if guess is None:
            guess = self._guesses[key] = Guess(self, tuple(known.values()))
        return guess

    def refused(self, reason: str) -> Place:
        """Give a place where nothing may stand."""
        return Place(self, _ANY, drops=True, refusal=reason)

    def record_level(self, record: Record) -> RecordLevel:
        """Give the level of a class."""
        level = self._records.get(record)
        if level is None:
            level = self._records[record] = RecordLevel(self, record)
        return level

    def records_named(self, name: str) -> list[Record]:
        return [record for record in self.reader.records.values() if record.name == name][:1]


_CONTAINERS: dict[tuple[str, str | None], str] = {
    ("object", None): "dict",
    ("array", None): "list",
    ("array", "tuple"): "tuple-any",
    ("array", "set"): "set",
}


def _family(branch: Branch) -> list[Branch]:
    """Give a class and its subclasses, which JSON tells apart by a member."""
    record = branch.record
    if record is None or not record.subclasses:
        return [branch]
    return [branch.of(member, ((TAG,), member.name)) for member in record.family]


def places_of(schema: Schema[Any] | None, protocol: ValueProtocol) -> Places:
    """Give the places of what an answer must be, or of text."""
    if schema is None or schema.python_type is None:
        from unspool.schema.shape_reader import ShapeReader

        return Places(ShapeReader({"type": "any"}), "json", lambda value: 0)
    return schema.python_type.python_places if protocol == "python" else schema.python_type.json_places
