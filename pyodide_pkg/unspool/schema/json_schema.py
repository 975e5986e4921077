"""JSON Schema as data: the neutral form, and the form that OpenAI's strict structured output accepts.

In: a JSON Schema. Out: another one, built anew, and the function that leads an answer to it back to the schema asked
for. Pure. Source: OpenAI's guide "Structured model outputs", section "Supported schemas".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from unspool.schema.checker import JsonChecker
from unspool.schema.parts import LISTS, MAPS, SINGLES, is_array, is_object, resolve, subschemas

if TYPE_CHECKING:
    from unspool.schema.types import Schema

WRAPPER = "value"
"""The one member of the object that is put around an answer whose root is no object."""

_KEPT = {
    "type", "enum", "const", "anyOf", "$ref", "properties", "required", "items", "additionalProperties", "description",
    "title", "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems",
}  # fmt: skip
_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
# Keywords whose rule still holds when the answer is checked here, so that the provider may be told in words only.
_TOLD = ("minLength", "maxLength", "uniqueItems", "format", "minProperties", "maxProperties")
_DROPPED = {
    "default", "examples", "discriminator", "$defs", "definitions", "$schema", "$id", "$comment", "deprecated",
}  # fmt: skip


def without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the titles that only repeat a name, as pydantic writes them: they cost tokens and tell nothing."""

    def strip(node: Any, name: str | None) -> Any:
        if not is_object(node):
            return node
        clean = dict(node)
        if name is not None and clean.get("title") in (name, name.title().replace("_", " ")):
            del clean["title"]
        for keyword in MAPS:
            entries = clean.get(keyword)
            if is_object(entries):
                clean[keyword] = {key: strip(entry, key) for key, entry in entries.items()}
        for keyword in LISTS:
            entries = clean.get(keyword)
            if is_array(entries):
                clean[keyword] = [strip(entry, None) for entry in entries]
        for keyword in SINGLES:
            if keyword in clean:
                clean[keyword] = strip(clean[keyword], None)
        return clean

    title = schema.get("title")
    return cast("dict[str, Any]", strip(schema, title if isinstance(title, str) else None))


class NativeOutput:
    """What a provider is asked for, and the way back from its answer to the schema asked for."""

    __slots__ = ("reason", "schema", "unwrap", "wrapped")

    def __init__(
        self, schema: Mapping[str, Any], unwrap: Callable[[Any], Any], *, wrapped: bool, reason: str | None = None
    ) -> None:
        self.schema = schema
        """The JSON Schema for the provider."""
        self.unwrap = unwrap
        """Turns a complete answer into a value for `Schema.validate`; what does not fit comes back unchanged."""
        self.wrapped = wrapped
        """Whether the answer stands in the member `value` of an object."""
        self.reason = reason
        """Why the provider cannot be asked to hold the answer strictly; None when it can."""


class _NotStrictError(Exception):
    """A part of the schema has no strict form."""


def openai_strict(schema: Schema[Any]) -> NativeOutput:
    """Make the schema that OpenAI's strict structured output takes (F35).

    Every member is required, those that were optional may be null instead, no object is open, nothing has a default,
    and a root that is no object is wrapped. What has no strict form (an open dict, a tuple, `Any`) makes the whole
    schema non-strict: the provider then sees the schema as a wish, and the answer is checked here as always.

    Args:
        schema: what is asked for.
    """
    root = schema.json_schema()
    top = _top(root)
    wrapped = top.get("type") != "object" or "anyOf" in top or "oneOf" in top
    strict = _Strict(root, top, wrapped)
    try:
        body = strict.build()
    except (_NotStrictError, RecursionError) as cause:  # the latter for a chain of hundreds of definitions
        definitions: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
        plain = {key: value for key, value in top.items() if key not in definitions}
        body = {**(_object({WRAPPER: plain}) if wrapped else plain), **definitions}
        return NativeOutput(body, _unwrapped if wrapped else _same, wrapped=wrapped, reason=str(cause))

    checker = JsonChecker(body)

    def unwrap(value: Any) -> Any:
        if strict.nullable:
            value = strict.without_nulls(body, value, checker)
        return _unwrapped(value) if wrapped else value

    return NativeOutput(body, unwrap, wrapped=wrapped)


def _same(value: Any) -> Any:
    return value


def _unwrapped(value: Any) -> Any:
    return value[WRAPPER] if is_object(value) and WRAPPER in value else value


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _top(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the schema of the answer itself: a recursive model's root is only a reference to its definition."""
    top = root
    for _ in range(len(root.get("$defs", ())) + 1):
        if "$ref" not in top:
            break
        top = cast("Mapping[str, Any]", resolve(root, top["$ref"]))
    return top


class _Strict:
    """Builds the strict form of one schema and remembers which members became nullable on the way."""

    def __init__(self, root: Mapping[str, Any], top: Mapping[str, Any], wrapped: bool) -> None:
        self._root = root
        self._top = top
        self._wrapped = wrapped
        self._defs: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self.nullable: dict[int, frozenset[str]] = {}
        """For each object schema built (by identity) the members whose null means "left out"."""

    def build(self) -> dict[str, Any]:
        body = self._convert(self._top, "", ())
        if self._wrapped:
            body = _object({WRAPPER: body})
        if self._defs:
            body["$defs"] = self._defs
        return body

    def _convert(self, node: Any, where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        if not is_object(node) or not node:
            raise _NotStrictError(f"{where or 'the root'} may be anything, which strict output cannot express")
        source = dict(node)
        if "$ref" in source:
            return self._reference(source, where, inlining)
        if "oneOf" in source and "anyOf" not in source:  # the alternatives of a tagged union exclude each other anyway
            source["anyOf"] = source.pop("oneOf")
        parts = source.get("allOf")
        if is_array(parts) and len(parts) == 1:
            del source["allOf"]
            return self._convert({**parts[0], **source}, where, inlining)
        foreign = [key for key in source if key not in _KEPT and key not in _DROPPED and key not in _TOLD]
        if foreign:
            raise _NotStrictError(f"{where or 'the root'} uses {foreign[0]}, which strict output does not have")
        result = {key: value for key, value in source.items() if key in _KEPT}
        if result.get("format") not in _FORMATS:
            result.pop("format", None)
        told = [f"{key}: {json.dumps(source[key])}" for key in _TOLD if key in source and key not in result]
        if told:
            result["description"] = f"{result.get('description', '')} ({', '.join(told)})".strip()
        if "anyOf" in result:
            result["anyOf"] = [self._convert(entry, where, inlining) for entry in result["anyOf"]]
        if "items" in result:
            result["items"] = self._convert(result["items"], f"{where}[]", inlining)
        elif result.get("type") == "array":
            raise _NotStrictError(f"{where or 'the root'} is a list of anything, which strict output cannot express")
        if result.get("type") == "object" or "properties" in result:
            self._close(source, result, where, inlining)
        elif not result.keys() & {"type", "enum", "const", "anyOf"}:
            raise _NotStrictError(f"{where or 'the root'} may be anything, which strict output cannot express")
        return result

    def _close(self, source: Mapping[str, Any], result: dict[str, Any], where: str, inlining: tuple[str, ...]) -> None:
        properties: Mapping[str, Any] = source.get("properties", {})
        rest = source.get("additionalProperties")
        if rest not in (None, False) or ("properties" not in source and rest is None):
            raise _NotStrictError(f"{where or 'the root'} is an object with open member names")
        required = set(source.get("required", ()))
        closed: dict[str, Any] = {}
        added: set[str] = set()
        for name, entry in properties.items():
            member = self._convert(entry, f"{where}.{name}" if where else name, inlining)
            if name not in required and not self._accepts_null(member):
                added.add(name)
                member = {"anyOf": [member, {"type": "null"}]}
            closed[name] = member
        result.update(_object(closed))
        if added:
            self.nullable[id(result)] = frozenset(added)

    def _reference(self, source: dict[str, Any], where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        ref = source.pop("$ref")
        siblings = {key: value for key, value in source.items() if key not in _DROPPED}
        if siblings and ref not in inlining:  # strict output allows nothing beside a reference
            return self._convert({**resolve(self._root, ref), **siblings}, where, (*inlining, ref))
        return {"$ref": "#"} if ref == "#" and not self._wrapped else self._named(ref, where)

    def _named(self, ref: str, where: str) -> dict[str, Any]:
        name = self._names.get(ref)
        if name is None:
            name = ref.rsplit("/", 1)[-1].strip("#") or "Root"
            while name in self._defs:
                name += "_"
            self._names[ref] = name
            self._defs[name] = {}
            self._defs[name] = self._convert(resolve(self._root, ref), where, (ref,))
        return {"$ref": f"#/$defs/{name}"}

    def _accepts_null(self, member: Mapping[str, Any]) -> bool:
        if "$ref" in member:
            return self._accepts_null(self._defs.get(str(member["$ref"]).removeprefix("#/$defs/"), {}))
        kinds = member.get("type")
        return (
            kinds == "null"
            or (is_array(kinds) and "null" in kinds)
            or None in member.get("enum", ())
            or any(self._accepts_null(entry) for entry in member.get("anyOf", ()))
        )

    def without_nulls(self, node: Mapping[str, Any], value: Any, checker: JsonChecker) -> Any:
        """Build the value anew without the members whose null only says "left out"."""
        if "$ref" in node:
            return self.without_nulls(checker.at(node["$ref"]), value, checker)
        if "anyOf" in node:
            for entry in node["anyOf"]:
                if checker.accepts(entry, value):
                    return self.without_nulls(entry, value, checker)
            return value
        if is_array(value) and "items" in node:
            return [self.without_nulls(node["items"], item, checker) for item in value]
        if is_object(value) and "properties" in node:
            dropped = self.nullable.get(id(node), frozenset())
            properties = node["properties"]
            return {
                name: self.without_nulls(properties[name], member, checker) if name in properties else member
                for name, member in value.items()
                if member is not None or name not in dropped
            }
        return value


def lookalikes(root: Mapping[str, Any]) -> tuple[int, int]:
    """Count the alternatives that a recursive union tries anew at each level: objects, and lists.

    Of alternatives that are told apart by no discriminator, pydantic reads each to its end. Where two of them contain
    the union again, the time doubles with each level of the value.

    Returns:
        The largest number of such alternatives that are objects, and that are lists; at least 1 each.
    """
    behind = _behind(root)
    recursive = {ref for ref, refs in behind.items() if ref in refs}
    repeating = {ref for ref, refs in behind.items() if refs & recursive}
    most = [1, 1]
    todo: list[Any] = [root] if recursive else []
    while todo:
        node = todo.pop()
        if not is_object(node):
            continue
        todo.extend(entry for _, entry in subschemas(node))
        counts = [0, 0]
        for entry in node.get("anyOf", ()):
            if _references(entry) & repeating:
                target = resolve(root, entry["$ref"]) if "$ref" in entry else entry
                kinds = ("object", "array")
                if target.get("type") in kinds:
                    counts[kinds.index(target["type"])] += 1
        most = [max(pair) for pair in zip(most, counts, strict=True)]
    return most[0], most[1]


def _behind(root: Mapping[str, Any]) -> dict[str, set[str]]:
    """Give for each reference the references that are reached through it."""
    direct: dict[str, set[str]] = {}
    todo = list(_references(root))
    while todo:
        ref = todo.pop()
        if ref not in direct:
            direct[ref] = _references(resolve(root, ref))
            todo.extend(direct[ref])
    behind: dict[str, set[str]] = {}
    for ref in direct:
        reached: set[str] = set()
        ways = list(direct[ref])
        while ways:
            way = ways.pop()
            if way not in reached:
                reached.add(way)
                ways.extend(direct[way])
        behind[ref] = reached
    return behind


def _references(node: Any) -> set[str]:
    """Give the references in a part of a schema."""
    found: set[str] = set()
    todo = [node]
    while todo:
        part = todo.pop()
        if is_object(part):
            todo.extend(entry for _, entry in subschemas(part))
            if isinstance(part.get("$ref"), str):
                found.add(part["$ref"])
    return found
