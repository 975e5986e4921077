"""JsonChecker: holds a parsed JSON value to a JSON Schema given as data (JavaScript callers have no Python type).

In: a schema once, then values. Out: the faults, each with its path. Covers the assertions of draft 2020-12 and the
draft-7 spellings that generators still emit; `format` and `content*` are annotations. What cannot be checked is refused
when the checker is made, never skipped in silence. A small one of our own: the maintained validators need compiled
wheels (rpds) or generate code, neither of which a page should have to load.

Source: JSON Schema Core and Validation, draft 2020-12.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

from unspool.errors import ConfigError
from unspool.schema.pattern import Pattern, compile_pattern
from unspool.schema.problem import Path, Problem
from unspool.schema.subschemas import LISTS, MAPS, is_array, is_object, resolve, subschemas
from unspool.structured.collisions import collide

_MAX_HOPS = 8
_UNSUPPORTED = ("$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties")
_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": lambda value: is_number(value),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_BOUNDS: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("minimum", lambda value, bound: value >= bound, "at least"),
    ("maximum", lambda value, bound: value <= bound, "at most"),
    ("exclusiveMinimum", lambda value, bound: value > bound, "greater than"),
    ("exclusiveMaximum", lambda value, bound: value < bound, "less than"),
)
_SIZES = (
    (str, "minLength", "maxLength", "character"),
    (list, "minItems", "maxItems", "item"),
    (dict, "minProperties", "maxProperties", "member"),
)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Tell whether a JSON value is a number; `True` and `False` are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(left: Any, right: Any) -> bool:
    """Compare two JSON values as JSON Schema does: `1` equals `1.0`, and neither equals `true`."""
    return bool(_key(left) == _key(right))


class JsonChecker:
    """Holds values to one JSON Schema."""

    __slots__ = ("_active", "_allowed", "_chosen", "_cut", "_faults", "_patterns", "_root", "_valid", "_verdicts")

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:
        """Read the schema.

        Raises:
            ConfigError: UNSUPPORTED when it uses a keyword, a reference or a pattern that cannot be checked here;
                INVALID_OPTIONS when it is no schema at all.
        """
        self._root = schema
        self._patterns: dict[str, Pattern] = {}
        self._allowed: dict[int, frozenset[Any]] = {}
        self._active: set[tuple[int, Path]] = set()
        self._cut = 0
        # Verdicts on (part of the schema, part of the value), by identity: alternatives that contain themselves would
        # otherwise be tried anew at each level, which takes time exponential in the depth of a hostile answer.
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._chosen: dict[tuple[int, int], int | None] = {}
        # The same for parts of the schema that hold a value to each other twice (`properties` and `patternProperties`):
        # what was found valid, and a fault of what was not.
        self._valid: set[tuple[int, int]] = set()
        self._faults: dict[tuple[int, Path], Problem] = {}
        self._inspect(schema)

    def problems(self, value: Any) -> list[Problem]:
        """Give what is wrong with a value, each fault once, in schema order; empty when it is valid."""
        self._forget()
        found = {(problem.path, problem.message): problem for problem in self._check(self._root, value, ())}
        return list(found.values())

    def accepts(self, schema: Any, value: Any) -> bool:
        """Tell whether a part of this schema accepts a value; stops at the first fault."""
        self._forget()
        return self._fits(schema, value, ())

    def at(self, ref: str) -> Any:
        """Give the part of this schema that a reference names."""
        return resolve(self._root, ref)

    def _forget(self) -> None:
        self._active.clear()
        self._verdicts.clear()
        self._chosen.clear()
        self._valid.clear()
        self._faults.clear()

    def _fits(self, schema: Any, value: Any, path: Path) -> bool:
        key = (id(schema), id(value))
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = next(self._check(schema, value, path), None) is None
        return verdict

    def _inspect(self, root: Any) -> None:
        todo: list[tuple[str, Any]] = [("#", root)]
        seen: set[int] = set()
        while todo:
            where, node = todo.pop()
            if isinstance(node, bool):
                continue
            if not is_object(node):
                raise ConfigError("INVALID_OPTIONS", f"The JSON Schema holds no schema at {where}.")
            schema = node
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            _inspect_keywords(schema, where)
            ref = schema.get("$ref")
            if ref is not None:
                try:
                    todo.append((str(ref), resolve(root, str(ref))))
                except KeyError:
                    raise ConfigError(
                        "UNSUPPORTED", f"The JSON Schema refers to {ref!r} at {where}, which is not inside it."
                    ) from None
            if "enum" in schema:
                self._allowed[id(schema)] = frozenset(map(_key, schema["enum"]))
            for pattern in (schema.get("pattern"), *schema.get("patternProperties", ())):
                if isinstance(pattern, str):
                    self._patterns[pattern] = _compiled(pattern, where)
            todo.extend(("/".join((where, *steps)), entry) for steps, entry in subschemas(schema))

    def _check(self, schema: Any, value: Any, path: Path) -> Iterator[Problem]:
        if isinstance(schema, bool):
            if not schema:
                yield Problem(path, "nothing is allowed here", value)
            return
        key = (id(schema), path)
        if key in self._active:  # a reference that leads back to itself adds nothing
            self._cut += 1
            return
        if key in self._faults:
            yield self._faults[key]
            return
        part = (id(schema), id(value))
        if part in self._valid:
            return
        self._active.add(key)
        try:
            cut, fault = self._cut, None
            checks = [self._check_value(schema, value, path), self._check_combined(schema, value, path)]
            if is_object(value):
                checks.insert(1, self._check_object(schema, value, path))
            elif is_array(value):
                checks.insert(1, self._check_array(schema, value, path))
            for check in checks:
                for fault in check:
                    yield fault
            if isinstance(value, dict | list):
                if fault is not None:
                    self._faults[key] = fault
                elif cut == self._cut:  # else it may be valid only because of what is still being checked
                    self._valid.add(part)
        finally:
            self._active.discard(key)

    def _check_value(self, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Problem]:
        kinds = schema.get("type")
        if kinds is not None:
            names: list[str] = [kinds] if isinstance(kinds, str) else kinds
            if not any(_TYPES[name](value) for name in names) and not (
                value is None and schema.get("nullable") is True
            ):
                yield Problem(path, f"should be {' or '.join(names)}", value, kind="type")
                return  # its other faults would only repeat this one
        if "const" in schema and not same(value, schema["const"]):
            yield Problem(path, f"should be {_json(schema['const'])}", value)
        if "enum" in schema and _key(value) not in self._allowed[id(schema)]:
            yield Problem(path, f"should be one of {_json(schema['enum'])}", value)
        if is_number(value):
            for keyword, holds, words in _BOUNDS:
                if keyword in schema and not holds(value, schema[keyword]):
                    yield Problem(path, f"should be {words} {schema[keyword]}", value)
            if "multipleOf" in schema and not _is_multiple(value, schema["multipleOf"]):
                yield Problem(path, f"should be a multiple of {schema['multipleOf']}", value)
        for kind, least, most, unit in _SIZES:
            if isinstance(value, kind):
                size = len(cast("Sequence[Any]", value))
                if least in schema and size < schema[least]:
                    yield Problem(path, f"should have at least {schema[least]} {unit}(s)", value)
                if most in schema and size > schema[most]:
                    yield Problem(path, f"should have at most {schema[most]} {unit}(s)", value)
        if isinstance(value, str) and "pattern" in schema and not self._patterns[schema["pattern"]].search(value):
            yield Problem(path, f"should match {schema['pattern']}", value)

    def _check_object(self, schema: Mapping[str, Any], value: Mapping[str, Any], path: Path) -> Iterator[Problem]:
        for name in schema.get("required", ()):
            if name not in value:
                yield Problem((*path, name), "is required", kind="missing-field")
        properties: Mapping[str, Any] = schema.get("properties", {})
        patterns: Mapping[str, Any] = schema.get("patternProperties", {})
        for name, member in value.items():
            here = (*path, name)
            matched = False
            if name in properties:
                matched = True
                yield from self._check(properties[name], member, here)
            for pattern, entry in patterns.items():
                if self._patterns[pattern].search(name):
                    matched = True
                    yield from self._check(entry, member, here)
            if not matched and "additionalProperties" in schema:
                if schema["additionalProperties"] is False:
                    yield Problem(here, "is not a member of the schema", member, kind="unexpected-field")
                else:
                    yield from self._check(schema["additionalProperties"], member, here)
            if "propertyNames" in schema:
                for problem in self._check(schema["propertyNames"], name, here):
                    yield Problem(here, f"its name {problem.message}", name)
            for needed in _needed(schema, name):
                if needed not in value:
                    yield Problem((*path, needed), f"is required beside {name}", kind="missing-field")
        for name, entry in schema.get("dependentSchemas", {}).items():
            if name in value:
                yield from self._check(entry, value, path)

    def _check_array(self, schema: Mapping[str, Any], value: list[Any], path: Path) -> Iterator[Problem]:
        items = schema.get("items")
        prefix: Sequence[Any] = items if is_array(items) else schema.get("prefixItems", ())
        rest = schema.get("additionalItems") if is_array(items) else items
        for i, item in enumerate(value):
            if i < len(prefix):
                yield from self._check(prefix[i], item, (*path, i))
            elif rest is False:
                yield Problem((*path, i), "is one item too many", item)
            elif rest is not None:
                yield from self._check(rest, item, (*path, i))
        if "contains" in schema:
            found = sum(self._fits(schema["contains"], item, (*path, i)) for i, item in enumerate(value))
            if found < schema.get("minContains", 1):
                yield Problem(path, "lacks an item that the schema asks for", value)
            if found > schema.get("maxContains", math.inf):
                yield Problem(path, "has too many items of one kind", value)
        if schema.get("uniqueItems") is True:
            keys, seen = [_key(item) for item in value], set[Any]()
            if collide(keys):
                yield Problem(path, "has items that were chosen to have equal hashes", value)
                return
            for i, (key, item) in enumerate(zip(keys, value, strict=True)):
                if key in seen:
                    yield Problem((*path, i), "is there twice", item)
                seen.add(key)

    def _check_combined(self, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Problem]:
        if "$ref" in schema:
            yield from self._check(self.at(schema["$ref"]), value, path)
        for entry in schema.get("allOf", ()):
            yield from self._check(entry, value, path)
        if "anyOf" in schema:
            yield from self._check_any(schema["anyOf"], value, path)
        if "oneOf" in schema:
            matches = sum(self._fits(entry, value, path) for entry in schema["oneOf"])
            if matches > 1:
                yield Problem(path, f"matches {matches} alternatives at once", value)
            elif not matches:
                yield from self._check_any(schema["oneOf"], value, path)
        if "not" in schema and self._fits(schema["not"], value, path):
            yield Problem(path, "is what the schema excludes", value)
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], value, path) else "else"
            if branch in schema:
                yield from self._check(schema[branch], value, path)

    def _check_any(self, entries: Sequence[Any], value: Any, path: Path) -> Iterator[Problem]:
        """Hold a value to alternatives; when none fits, report the faults of the one that was meant."""
        key = (id(entries), id(value))
        if key not in self._chosen:
            self._chosen[key] = self._choose(entries, value, path)
        chosen = self._chosen[key]
        if chosen is None:
            yield Problem(path, "matches none of the alternatives", value)
        elif chosen >= 0:
            yield from self._check(entries[chosen], value, path)

    def _choose(self, entries: Sequence[Any], value: Any, path: Path) -> int | None:
        """Give -1 when an alternative fits, else the one whose tag fits or whose first fault lies deepest, if any."""
        best: tuple[bool, int] = (False, len(path))
        chosen: int | None = None
        for i, entry in enumerate(entries):
            fault = next(self._check(entry, value, path), None)
            if fault is None:
                return -1
            rank = (self._has_tag(entry, value), len(fault.path))
            if rank > best:
                best, chosen = rank, i
        return chosen

    def _has_tag(self, schema: Any, value: Any) -> bool:
        """Tell whether an object has the constant members of an alternative, such as `{"kind": {"const": "cat"}}`."""
        for _ in range(_MAX_HOPS):
            if not is_object(schema) or "$ref" not in schema:
                break
            schema = self.at(schema["$ref"])
        properties = schema.get("properties") if is_object(schema) else None
        if not is_object(properties) or not is_object(value):
            return False
        tags = {name: entry["const"] for name, entry in properties.items() if is_object(entry) and "const" in entry}
        return bool(tags) and all(name in value and same(value[name], tag) for name, tag in tags.items())


def _key(value: Any) -> Any:
    """Give a hashable that is equal for equal JSON values: comparing all items then costs no more than reading them."""
    if is_array(value):
        return ("array", *map(_key, value))
    if is_object(value):
        return frozenset((name, _key(member)) for name, member in value.items())
    return (value,) if isinstance(value, bool) else value if not is_number(value) else ("number", value)


def _needed(schema: Mapping[str, Any], name: str) -> Sequence[str]:
    needed: Sequence[str] = schema.get("dependentRequired", {}).get(name, ())
    return needed


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        quotient = value / step
    except OverflowError:  # an integer beyond the floats
        return False
    if not math.isfinite(quotient):
        return math.fmod(value, step) == 0
    # Within rounding, because 0.3 is a multiple of 0.1 to everybody but IEEE 754.
    return abs(quotient - round(quotient)) <= 1e-9 * max(1.0, abs(quotient))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _inspect_keywords(schema: Mapping[str, Any], where: str) -> None:
    """Refuse what could not be checked, and shapes that would fail in the middle of a check."""
    for keyword in _UNSUPPORTED:
        if keyword in schema:
            raise ConfigError("UNSUPPORTED", f"The JSON Schema uses {keyword} at {where}; it cannot be checked here.")
    if isinstance(schema.get("dependencies"), Mapping) or (where != "#" and "$id" in schema):
        raise ConfigError(
            "UNSUPPORTED", f"The JSON Schema uses $id or dependencies at {where}; write it for draft 2020-12."
        )
    kinds = schema.get("type")
    names: list[Any] = kinds if is_array(kinds) else [] if kinds is None else [kinds]
    shapes: dict[str, tuple[type, ...]] = {
        "type": (str, list),
        "enum": (list,),
        "required": (list,),
        "pattern": (str,),
        "$ref": (str,),
        **dict.fromkeys(MAPS, (Mapping,)),
        **dict.fromkeys(LISTS, (list,)),
        "dependentRequired": (Mapping,),
    }
    wrong = [
        keyword for keyword, shape in shapes.items() if keyword in schema and not isinstance(schema[keyword], shape)
    ]
    limits = [name for name, _, _ in _BOUNDS] + [name for _, low, high, _ in _SIZES for name in (low, high)]
    wrong += [
        name for name in (*limits, "multipleOf", "minContains", "maxContains") if not is_number(schema.get(name, 0))
    ]
    if schema.get("multipleOf", 1) == 0:
        wrong.append("multipleOf")
    wrong += [f"type {name!r}" for name in names if name not in _TYPES]
    if wrong:
        raise ConfigError("INVALID_OPTIONS", f"The JSON Schema has a malformed {wrong[0]} at {where}.")


def _compiled(pattern: str, where: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except ValueError as error:
        raise ConfigError(
            "UNSUPPORTED", f"The JSON Schema has a pattern at {where} that cannot be checked here: {error}."
        ) from error
