"""Native output: one neutral JSON Schema, in the part of the language that a provider holds its answers to.

In: a schema and a dialect. Out: a JSON Schema for the provider, and the way back from its answer. What a dialect has no
word for is told in descriptions: answers are checked here as always. Pure; the order of members is kept.

    openai     every member required, those that were optional may be null; no open objects, tuples or `Any`: what has
               them is asked for loosely, with the reason
    anthropic  no limits but minItems of 0 or 1; no open objects, tuples, `Any` or recursion: refused
    gemini     `responseJsonSchema`: single-valued `enum` for `const`, nothing beside `$ref`, recursion in optional
               members only, `propertyOrdering`
    ollama     llama.cpp's grammars, by whichever name they are asked for: nearly all, patterns only when anchored
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from unspool.errors import ConfigError
from unspool.schema.checker import JsonChecker
from unspool.schema.json_schema import WRAPPER
from unspool.schema.parts import is_array, is_object, resolve

if TYPE_CHECKING:
    from unspool.schema.types import Schema

Dialect = Literal["openai", "anthropic", "gemini", "ollama"]

_STRUCTURE = {
    "type", "enum", "const", "anyOf", "$ref", "properties", "required", "items", "additionalProperties", "description",
    "title",
}  # fmt: skip
_NUMBERS = {"minimum", "maximum"}
_EXCLUSIVE = {"exclusiveMinimum", "exclusiveMaximum"}
_SIZES = {"minItems", "maxItems"}
# What may be left to words: our own check holds it, and a provider that is not told structure by it loses nothing.
_TOLD = {
    "minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems", "format", "pattern", "multipleOf",
    "contentEncoding", "contentMediaType", *_NUMBERS, *_EXCLUSIVE, *_SIZES,
}  # fmt: skip
_DROPPED = {
    "default", "examples", "discriminator", "$defs", "definitions", "$schema", "$id", "$comment", "deprecated",
    "readOnly", "writeOnly", "exclude_from_prompt",
}  # fmt: skip
_ANY = ("object", "array", "string", "number", "boolean", "null")
_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))
# llama.cpp reads neither lookaround nor `\\d` and the like, and takes an inner `^` or `$` for itself.
_PLAIN_PATTERN = re.compile(
    r"\^(?:[^\\($^\[]|\[\^?(?:[^\]\\]|\\[^A-Za-z0-9])+\]|\\[^A-Za-z0-9]|\((?!\?))+\$", re.DOTALL
)
_MAX_REPEATS = 1000
"""llama.cpp refuses grammars that repeat a part more than some 2,000 times."""
_MAX_DEPTH = 10
_MAX_MEMBERS = 5000


class Rules:
    """What one dialect takes."""

    __slots__ = ("formats", "kept", "name", "open_objects", "what")

    def __init__(
        self,
        name: Dialect,
        what: str,
        kept: set[str],
        formats: set[str],
        *,
        open_objects: bool,
    ) -> None:
        self.name: Dialect = name
        self.what = what
        """As people call it."""
        self.kept = _STRUCTURE | kept
        self.formats = formats
        self.open_objects = open_objects
        """Whether there are objects with any members, and `Any`."""


_TIMES = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
RULES: dict[Dialect, Rules] = {
    "openai": Rules(
        "openai", "strict output", {"format", "pattern", "multipleOf", *_NUMBERS, *_EXCLUSIVE, *_SIZES}, _TIMES,
        open_objects=False,
    ),
    "anthropic": Rules(
        "anthropic", "Anthropic's structured output", {"format", "allOf"}, {*_TIMES, "uri"},
        open_objects=False,
    ),
    "gemini": Rules(
        "gemini", "Gemini's structured output", {"format", "prefixItems", *_NUMBERS, *_SIZES},
        {"date-time", "date", "time"}, open_objects=True,
    ),
    "ollama": Rules(
        "ollama", "llama.cpp's grammar",
        {"format", "pattern", "prefixItems", "allOf", "minLength", "maxLength", *_NUMBERS, *_EXCLUSIVE, *_SIZES},
        {"date-time", "date", "time", "uuid"}, open_objects=True,
    ),
}  # fmt: skip


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


class _NoFormError(Exception):
    """A part of the schema has no form in the dialect."""


def native_schema(schema: Schema[Any], dialect: Dialect) -> NativeOutput:
    """Make the schema that a provider's structured output takes (F35, F36).

    A root that is no object is wrapped into one, except for llama.cpp. For OpenAI, what has no strict form makes the
    whole schema non-strict: the provider then sees it as a wish, and `reason` says why.

    Args:
        schema: what is asked for.
        dialect: "openai", "anthropic", "gemini" or "ollama" (llama.cpp and what is built on it).
    Raises:
        ConfigError: UNSUPPORTED when the dialect cannot express it, with the path; INVALID_OPTIONS for another dialect.
    """
    rules = RULES.get(dialect)
    if rules is None:
        raise ConfigError("INVALID_OPTIONS", f"There is no dialect {dialect!r}; there are {', '.join(RULES)}.")
    root = schema.json_schema()
    top = _top(root)
    wrapped = dialect != "ollama" and (top.get("type") != "object" or "anyOf" in top or "oneOf" in top)
    form = _Form(rules, root, top, wrapped)
    try:
        body = form.build()
    except (_NoFormError, RecursionError) as cause:  # the latter for a chain of hundreds of definitions
        if dialect == "openai":
            return _loose(root, top, wrapped, str(cause) or "it nests too deep")
        if isinstance(cause, RecursionError) and dialect == "ollama":
            return NativeOutput(root, _same, wrapped=False)
        raise ConfigError(
            "UNSUPPORTED",
            f"{schema.name} cannot be asked for natively: {str(cause) or 'it nests too deep'}. Use protocol='json'.",
        ) from None

    if not form.nullable:
        return NativeOutput(body, _unwrapped if wrapped else _same, wrapped=wrapped)
    checker = JsonChecker(body)

    def unwrap(value: Any) -> Any:
        value = form.without_nulls(body, value, checker)
        return _unwrapped(value) if wrapped else value

    return NativeOutput(body, unwrap, wrapped=wrapped)


def openai_strict(schema: Schema[Any]) -> NativeOutput:
    """Make the schema that OpenAI's strict structured output takes."""
    return native_schema(schema, "openai")


def _loose(root: Mapping[str, Any], top: Mapping[str, Any], wrapped: bool, reason: str) -> NativeOutput:
    definitions: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    plain = {key: value for key, value in top.items() if key not in definitions}
    body = {**(_object({WRAPPER: plain}) if wrapped else plain), **definitions}
    return NativeOutput(body, _unwrapped if wrapped else _same, wrapped=wrapped, reason=reason)


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


class _Form:
    """Builds the form of one schema, and remembers which members became nullable on the way."""

    def __init__(self, rules: Rules, root: Mapping[str, Any], top: Mapping[str, Any], wrapped: bool) -> None:
        self._rules = rules
        self._root = root
        self._top = top
        self._wrapped = wrapped
        self._defs: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []
        self._members = 0
        self.nullable: dict[int, frozenset[str]] = {}
        """For each object schema built (by identity) the members whose null means "left out"."""

    def build(self) -> dict[str, Any]:
        body = self._convert(self._top, "", ())
        if self._wrapped:
            body = _object({WRAPPER: body})
        if self._defs:
            body["$defs"] = self._defs
        if self._rules.name == "openai":
            if self._members > _MAX_MEMBERS:
                raise _NoFormError(f"it has more than {_MAX_MEMBERS} members")
            if _depth(body) > _MAX_DEPTH:
                raise _NoFormError(f"it nests objects deeper than {_MAX_DEPTH}")
        return body

    def _fail(self, where: str, words: str) -> _NoFormError:
        return _NoFormError(f"{where or 'the root'} {words}")

    def _convert(self, node: Any, where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        rules = self._rules
        if not is_object(node) or not node.keys() - _DROPPED - {"title", "description"}:
            if rules.open_objects and node is not False:
                return _anything(node, rules.name)
            raise self._fail(where, f"may be anything, which {rules.what} cannot express")
        source = dict(node)
        if "$ref" in source:
            return self._reference(source, where, inlining)
        if "oneOf" in source and "anyOf" not in source:  # the alternatives of a tagged union exclude each other anyway
            source["anyOf"] = source.pop("oneOf")
        parts = source.get("allOf")
        if is_array(parts) and len(parts) == 1:
            del source["allOf"]
            return self._convert({**parts[0], **source}, where, inlining)
        foreign = [key for key in source if key not in rules.kept and key not in _DROPPED and key not in _TOLD]
        if foreign and rules.name != "ollama":
            raise self._fail(where, f"uses {foreign[0]}, which {rules.what} does not have")
        result = {key: value for key, value in source.items() if key in rules.kept and self._takes(key, source)}
        told = [f"{key}: {json.dumps(source[key])}" for key in source if key in _TOLD and key not in result]
        if told and rules.name != "ollama":  # a grammar does not read descriptions
            result["description"] = f"{result.get('description', '')} ({', '.join(told)})".strip()
        for key in ("anyOf", "allOf"):
            if key in result:
                result[key] = [self._convert(entry, where, inlining) for entry in result[key]]
        self._lists(source, result, where, inlining)
        if result.get("type") == "object" or "properties" in result:
            self._close(source, result, where, inlining)
        elif not result.keys() & {"type", "enum", "const", "anyOf", "allOf"} and not rules.open_objects:
            raise self._fail(where, f"may be anything, which {rules.what} cannot express")
        return self._literals(result)

    def _takes(self, key: str, source: Mapping[str, Any]) -> bool:
        """Tell whether a keyword is taken with the value that it has."""
        value = source[key]
        match self._rules.name, key:
            case _, "format":
                return value in self._rules.formats
            case "anthropic", "minItems":
                return value in (0, 1)
            case "ollama", "pattern":
                return _PLAIN_PATTERN.fullmatch(value) is not None
            case "ollama", "minLength" | "maxLength" | "minItems" | "maxItems":
                return cast("int", value) <= _MAX_REPEATS
            case _:
                return True

    def _lists(self, source: Mapping[str, Any], result: dict[str, Any], where: str, inlining: tuple[str, ...]) -> None:
        if is_array(result.get("prefixItems")):
            result["prefixItems"] = [
                self._convert(item, f"{where}[{i}]", inlining) for i, item in enumerate(result["prefixItems"])
            ]
        if is_object(result.get("items")):
            result["items"] = self._convert(result["items"], f"{where}[]", inlining)
        elif "items" in result and "prefixItems" in result:  # `false`: no more than these
            result["maxItems"] = min(len(result["prefixItems"]), result.get("maxItems", len(result["prefixItems"])))
            del result["items"]
        elif result.get("type") == "array" and "prefixItems" not in result and not self._rules.open_objects:
            raise self._fail(where, f"is a list of anything, which {self._rules.what} cannot express")

    def _literals(self, result: dict[str, Any]) -> dict[str, Any]:
        """Spell literal values as the dialect does."""
        name = self._rules.name
        if name == "ollama" or not result.keys() & {"const", "enum"}:
            return result
        if name == "anthropic":  # its own SDK leaves the type out
            return {key: value for key, value in result.items() if key != "type"}
        values: list[Any] = result.get("enum", [result.get("const")])
        beside = {key: value for key, value in result.items() if key not in ("const", "enum", "type")}
        forms: list[dict[str, Any]] = []
        if any(not isinstance(value, str | int | float | None) for value in values):
            return result
        for kind, type_name in _TYPES:
            own = [value for value in values if type(value) is kind]
            if not own:
                continue
            if name == "gemini" and kind is bool:  # it enumerates texts and numbers only
                forms.append({"type": type_name})
            elif name != "gemini" and len(own) == 1 and "const" in result:
                forms.append({"type": type_name, "const": own[0]})
            else:
                forms.append({"type": type_name, "enum": own})
        if None in values:
            forms.append({"type": "null"})
        return {**forms[0], **beside} if len(forms) == 1 else {"anyOf": forms, **beside}

    def _close(self, source: Mapping[str, Any], result: dict[str, Any], where: str, inlining: tuple[str, ...]) -> None:
        properties: Mapping[str, Any] = source.get("properties", {})
        rest = source.get("additionalProperties")
        is_open = rest not in (None, False) or ("properties" not in source and rest is None)
        if is_open and not self._rules.open_objects:
            raise self._fail(where, "is an object with open member names")
        required = set(source.get("required", ()))
        closed: dict[str, Any] = {}
        added: set[str] = set()
        self._members += len(properties)
        for name, entry in properties.items():
            here = f"{where}.{name}" if where else name
            if self._rules.name == "gemini" and name in required and self._recurs(entry):
                raise self._fail(here, "is recursive and required: Gemini takes recursion in optional members only")
            member = self._convert(entry, here, inlining)
            if self._rules.name == "openai" and name not in required and not self._accepts_null(member):
                added.add(name)
                member = {"anyOf": [member, {"type": "null"}]}
            closed[name] = member
        if is_open:
            if closed:
                result["properties"] = closed
            if is_object(rest):
                result["additionalProperties"] = self._convert(rest, f"{where}{{}}", inlining)
            return
        result.update(_object(closed))
        if self._rules.name != "openai":
            result["required"] = [name for name in closed if name in required]
        if self._rules.name == "gemini" and closed:
            result["propertyOrdering"] = list(closed)
        if added:
            self.nullable[id(result)] = frozenset(added)

    def _reference(self, source: dict[str, Any], where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        ref = source.pop("$ref")
        siblings = {key: value for key, value in source.items() if key not in _DROPPED}
        if siblings and ref not in inlining:  # nothing may stand beside a reference
            return self._convert({**resolve(self._root, ref), **siblings}, where, (*inlining, ref))
        if ref == "#" and not self._wrapped and self._rules.name == "openai":
            return {"$ref": "#"}
        return self._named(ref, where)

    def _named(self, ref: str, where: str) -> dict[str, Any]:
        name = self._names.get(ref)
        if name is None:
            name = re.sub(r"[^A-Za-z0-9_.-]+", "_", ref.rsplit("/", 1)[-1].strip("#")) or "Root"
            while name in self._defs:
                name += "_"
            self._names[ref] = name
            self._defs[name] = {}
            self._waiting.append(ref)
            self._defs[name] = self._convert(resolve(self._root, ref), where, (ref,))
            self._waiting.pop()
        elif ref in self._waiting and self._rules.name == "anthropic":
            raise self._fail(where, f"leads back to {name}: {self._rules.what} takes no recursive types")
        return {"$ref": f"#/$defs/{name}"}

    def _recurs(self, entry: Any) -> bool:
        """Tell whether a member leads back to a definition that it is part of."""
        todo, seen = [entry], set[str]()
        while todo:
            node = todo.pop()
            if is_array(node):
                todo.extend(node)
            elif is_object(node):
                ref = node.get("$ref")
                if isinstance(ref, str):
                    if ref in self._waiting or resolve(self._root, ref) is self._top:
                        return True
                    if ref not in seen:
                        seen.add(ref)
                        todo.append(resolve(self._root, ref))
                todo.extend(node.values())
        return False

    def _accepts_null(self, member: Mapping[str, Any]) -> bool:
        if "$ref" in member:
            return self._accepts_null(self._defs.get(str(member["$ref"]).removeprefix("#/$defs/"), {}))
        kinds = member.get("type")
        return (
            kinds == "null"
            or (is_array(kinds) and "null" in kinds)
            or None in cast("Sequence[Any]", member.get("enum", ()))
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


def _anything(node: Any, dialect: Dialect) -> dict[str, Any]:
    """Say that there may be anything; to llama.cpp an empty schema is an object."""
    said = {key: value for key, value in node.items() if key not in _DROPPED} if is_object(node) else {}
    return {**said, "type": list(_ANY)} if dialect == "ollama" else said


def _depth(node: Any) -> int:
    """Count how deep objects nest, references not followed."""
    deepest = 0
    todo: list[tuple[Any, int]] = [(node, 0)]
    while todo:
        part, depth = todo.pop()
        if is_array(part):
            todo.extend((item, depth) for item in part)
        elif is_object(part):
            depth += part.get("type") == "object"
            deepest = max(deepest, depth)
            todo.extend((member, depth) for member in part.values())
    return deepest
