"""The features of `langfun_probes.json`, run through our schemas: what langfun did, what was proposed, what we do.

Each feature's classes are made in a module of their own, as they were for langfun.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from unspool.errors import ConfigError, OutputValidationError, StreamError
from unspool.schema import UNKNOWN, Schema, schema_text
from unspool.structured.reply import PyReplyMachine

FILE = "langfun_probes.json"
SYNTAX = {"INVALID_PYTHON", "INCOMPLETE_PYTHON", "TRAILING_DATA", "UNEXPECTED_TOKEN", "MISMATCHED_CLOSING"}
KINDS = {
    "EMPTY_INPUT": "empty",
    "UNKNOWN_NAME": "unknown-name",
    "DUPLICATE_KEY": "duplicate-key",
    "DUPLICATE_FIELD": "duplicate-field",
    "TOO_MANY_POSITIONAL": "too-many-positional",
    "INVALID_VALUE": "value",
    "NON_FINITE_NUMBER": "value",
    "MAX_DEPTH_EXCEEDED": "limit",
    "MAX_BYTES_EXCEEDED": "limit",
}
"""The codes of the scanner, in the words of the file."""

NO_CLASS = "a class of which only `__init__` is known is no schema: make it a dataclass (P26)"
OURS: dict[str, str] = {f"plain-class-py-0{i}": NO_CLASS for i in range(1, 5)}
"""Where we do not do what the file proposes for a probe, and why."""


class Outcome:
    """What became of one reply, or of a type."""

    def __init__(self, outcome: str, *, value: Any = None, kinds: frozenset[str] = frozenset(), said: str = "") -> None:
        self.outcome = outcome
        """`value`, `reject` or `no-schema`."""
        self.value = value
        self.kinds = kinds
        self.said = said

    def agrees(self, other: Mapping[str, Any]) -> bool:
        """Whether it is the outcome of a column of the file: the same value, or a refusal, whatever the reason."""
        if self.outcome != other["outcome"]:
            return False
        return self.outcome != "value" or same(self.value, other["value"])

    def __repr__(self) -> str:
        return f"{self.outcome} {self.value if self.outcome == 'value' else self.said}"


class Feature:
    """One feature of the file: a type, its text, and replies."""

    def __init__(self, data: Mapping[str, Any], preludes: Mapping[str, str]) -> None:
        self.data = data
        self.name: str = data["name"]
        self.in_matrix = data["group"] == "matrix"
        self._prelude = preludes["definition"]
        self.schema: Schema[Any] | None = None
        self.refusal = ""
        try:
            self.schema = self._build()
            self.text = schema_text(self.schema, "python")
        except ConfigError as error:
            self.schema, self.text, self.refusal = None, "", error.message

    def _build(self) -> Schema[Any]:
        module = types.ModuleType("shapes")
        before = sys.modules.get("shapes")
        sys.modules["shapes"] = module
        try:
            exec(self._prelude, module.__dict__)
            exec(self.data["definition"], module.__dict__)
            subclasses = [getattr(module, name) for name in self.data.get("subclasses") or ()]
            return Schema.of(module.__dict__["SCHEMA"], subclasses=subclasses)
        finally:
            sys.modules.pop("shapes")
            if before is not None:
                sys.modules["shapes"] = before

    @property
    def built_by_langfun(self) -> bool:
        return bool(self.data["langfun_construction"]["outcome"] == "ok")

    @property
    def langfun_text(self) -> str | None:
        return self.data.get("langfun_schema_text", {}).get("python", {}).get("text")

    @property
    def proposed_text(self) -> str | None:
        return self.data["port_schema_text"].get("text")

    def outcome(self, reply: str) -> Outcome:
        """Read a reply as this type."""
        if self.schema is None:
            return Outcome("no-schema", said=self.refusal)
        try:
            machine = PyReplyMachine(classes=self.schema.classes, names=self.schema.names)
            machine.feed(reply)
            return Outcome("value", value=encoded(self.schema.validate(machine.finish(), protocol="python")))
        except StreamError as error:
            kind = "syntax" if error.code in SYNTAX else KINDS.get(error.code, error.code)
            return Outcome("reject", kinds=frozenset((kind,)), said=str(error))
        except OutputValidationError as error:
            kinds = frozenset(str(problem.kind) for problem in error.problems) or {error.code}
            return Outcome("reject", kinds=frozenset(kinds), said=str(error))

    def probes(self) -> Iterator[tuple[Mapping[str, Any], Outcome]]:
        """Give each probe of the Python protocol with what we make of it."""
        for probe in self.data["probes"]:
            yield probe, self.outcome(probe["response"])


def features_of(folder: Path) -> list[Feature]:
    """Read the file."""
    data = json.loads((folder / FILE).read_text("utf-8"))
    return [Feature(feature, data["meta"]["preludes"]) for feature in data["features"]]


def encoded(value: Any) -> Any:
    """Write a value as the file does."""
    cls = type(value)
    if value is UNKNOWN:
        return {"$marker": "UNKNOWN"}
    if isinstance(value, Enum):
        return {"$enum": f"{cls.__name__}.{value.name}"}
    names = _field_names(value)
    if names is not None:
        return {"$obj": cls.__name__, "fields": {name: encoded(getattr(value, name)) for name in names}}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return {"$int": str(value)}
    if isinstance(value, dict):
        return {"$dict": [[encoded(key), encoded(member)] for key, member in value.items()]}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    for kind, mark in ((tuple, "$tuple"), (set, "$set"), (frozenset, "$frozenset")):
        if isinstance(value, kind):
            return {mark: [encoded(item) for item in value]}
    assert value is None or isinstance(value, bool | int | float | str), value
    return value


def _field_names(value: Any) -> list[str] | None:
    if hasattr(type(value), "model_fields"):
        return [*type(value).model_fields, *(value.model_extra or ())]
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(value._fields) if hasattr(value, "_fields") else None


def same(left: Any, right: Any) -> bool:
    """Compare two encoded values: 1, 1.0 and true are three; members of sets and dicts have no order."""
    return _canonical(left) == _canonical(right)


def _canonical(value: Any) -> tuple[Any, ...]:
    if isinstance(value, dict):
        if value.keys() & {"$set", "$frozenset", "$dict"}:
            [(mark, items)] = value.items()
            return mark, frozenset(map(_canonical, items))
        return tuple((key, _canonical(member)) for key, member in sorted(value.items()))
    if isinstance(value, list):
        return tuple(map(_canonical, value))
    return type(value).__name__, repr(value)
