"""Native output: one neutral JSON Schema, in the part of the language that a provider holds its answers to.

In: a schema and a dialect. Out: a JSON Schema for the provider, and the way back from its answer. What a dialect has no
word for is told in descriptions: answers are checked here as always. Pure; the order of members is kept.

    openai     every member required, those that were optional may be null; no open objects or `Any`: what has them is
               asked for loosely, with the reason
    anthropic  no limits but minItems of 0 or 1; no open objects, `Any` or recursion: refused
    gemini     `responseJsonSchema`: single-valued `enum` for `const`, nothing beside `$ref`, recursion in optional
               members only, `propertyOrdering`
    cohere     no limits, patterns, open objects or `Any`; an object without required members gets them all as required
               ones that may be null
    ollama     llama.cpp's grammars, by whichever name they are asked for: nearly all, patterns only when anchored

Where there are no tuples, the items are of any of the kinds that stand in it, as many as it has, and the order is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError
from unspool.schema.assertions import ASSERTIONS, NUMBERS, OF_TYPE, WORDS, asserts, in_one_spelling, without_annotations
from unspool.schema.dialects import LIMITS, RULES, TOLD, Dialect, Rules
from unspool.schema.json_checker import JsonChecker
from unspool.schema.json_schema import WRAPPER
from unspool.schema.subschemas import MAPS, is_array, is_object, resolve, subschemas

if TYPE_CHECKING:
    from unspool.schema.types import Schema

__all__ = ["Dialect", "NativeOutput", "native_schema", "openai_strict"]

_ANY = ("object", "array", "string", "number", "boolean", "null")
_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))
_MAX_INLINED = 1000
"""Members that stand where their class is used with words of its own, or where keys are enumerated: a class or a dict
used so at every level doubles there."""


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
        dialect: "openai", "anthropic", "gemini", "cohere" or "ollama" (llama.cpp and what is built on it).
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
    except (_NoFormError, RecursionError) as cause:
        reason = "it nests too deep" if isinstance(cause, RecursionError) else str(cause)  # hundreds of definitions
        if dialect == "openai":
            return _loose(root, top, wrapped, reason)
        if isinstance(cause, RecursionError) and dialect == "ollama":
            return NativeOutput(root, _same, wrapped=False)
        raise ConfigError(
            "UNSUPPORTED", f"{schema.name} cannot be asked for natively: {reason}. Use protocol='json'."
        ) from None

    if not form.nullable:
        return NativeOutput(body, _unwrapped if wrapped else _same, wrapped=wrapped)
    checker = JsonChecker(body)

    def unwrap(value: Any) -> Any:
        value = form.without_nulls(body, value, checker)
        return _unwrapped(value) if wrapped else value

    return NativeOutput(body, unwrap, wrapped=wrapped)


def openai_strict(schema: Schema[Any]) -> NativeOutput:
    """Make the schema that OpenAI's strict structured output takes.

    Args:
        schema: what is asked for.
    Returns, Raises:
        As `native_schema`.
    """
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
        self._tuples: dict[int, list[dict[str, Any]]] = {}
        """For each list schema built of a tuple (by identity) the schemas of its items, the last for all behind."""

    def build(self) -> dict[str, Any]:
        body = self._convert(self._top, "", ())
        if self._wrapped:
            body = _object({WRAPPER: body})
        if self._defs:
            body["$defs"] = self._defs
        fault = self._rules.fault(body)
        if fault is not None:
            raise _NoFormError(fault)
        return body

    def _fail(self, where: str, words: str) -> _NoFormError:
        return _NoFormError(f"{where or 'the root'} {words}")

    def _convert(self, node: Any, where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        rules = self._rules
        if not is_object(node) or not asserts(node):
            if rules.open_objects and node is not False:
                return _anything(node, rules.name)
            raise self._fail(where, f"may be anything, which {rules.what} cannot express")
        if "$ref" in node:
            return self._reference(node, where, inlining)
        source = in_one_spelling(node, self._root, max_names=_MAX_INLINED - self._members)
        names = source.get("propertyNames", {})
        if not is_object(names) or names.get("type", "string") != "string":
            raise self._fail(where, "has keys that are no texts, and JSON has no others")
        parts = source.get("allOf")
        if is_array(parts) and len(parts) == 1:
            del source["allOf"]
            return self._convert(self._merged(parts[0], source, where), where, inlining)
        kinds = source.get("type")
        if is_array(kinds) and (len(kinds) == 1 or OF_TYPE.keys() & kinds):
            return self._convert(_by_type(source, kinds), where, inlining)
        foreign = [key for key in source if key not in rules.kept and key not in TOLD]
        if foreign and rules.name != "ollama":
            raise self._fail(where, f"uses {foreign[0]}, which {rules.what} does not have")
        items = None if not source.get("prefixItems") or rules.takes_tuple(source) else _positions(source)
        of_text = LIMITS if source.get("type") == "string" else ()  # limits of a Decimal
        result = {key: value for key, value in source.items() if rules.takes(key, value) and key not in of_text}
        if items is not None:
            result.pop("prefixItems", None)
        told = [
            f"{key}: {self._told(key, source[key])}"
            for key in source
            if key in TOLD and key not in result and source[key] != NUMBERS
        ]
        if told:
            result["description"] = f"{result.get('description', '')} ({', '.join(told)})".strip()
        for key in ("anyOf", "allOf"):
            if key in result:
                result[key] = [self._convert(entry, where, inlining) for entry in result[key]]
        if rules.name == "anthropic" and any("$ref" in entry for entry in result.get("allOf", ())):
            raise self._fail(where, f"uses allOf with $ref, which {rules.what} does not have")
        if items is None:
            self._lists(result, where, inlining)
        else:
            self._tuple(items, result, where, inlining)
        if result.get("type") == "object" or "properties" in result:
            self._close(source, result, where, inlining)
        elif not result.keys() & {"type", "enum", "const", "anyOf", "allOf"}:
            if not rules.open_objects:
                raise self._fail(where, f"may be anything, which {rules.what} cannot express")
            return {**_anything({}, rules.name), **result}
        return self._literals(result, where)

    def _told(self, key: str, value: Any) -> str:
        if is_object(value) and "$ref" in value:  # what only stands in words is not among the definitions that are sent
            value = resolve(self._root, value["$ref"])
        return json.dumps(without_annotations({key: value})[key])

    def _lists(self, result: dict[str, Any], where: str, inlining: tuple[str, ...]) -> None:
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

    def _tuple(self, items: list[Any], result: dict[str, Any], where: str, inlining: tuple[str, ...]) -> None:
        """Let a list have items of the kinds that a tuple has; which one stands where is checked here."""
        kinds = [item for i, item in enumerate(items) if item not in items[:i]]
        forms = [self._convert(item, f"{where}[{items.index(item)}]", inlining) for item in kinds]
        result["items"] = forms[0] if len(forms) == 1 else {"anyOf": forms}
        self._tuples[id(result)] = [forms[kinds.index(item)] for item in items]

    def _literals(self, result: dict[str, Any], where: str) -> dict[str, Any]:
        """Spell literal values as the dialect does."""
        name = self._rules.name
        if name == "ollama" or not result.keys() & {"const", "enum"}:
            return result
        values: list[Any] = result.get("enum", [result.get("const")])
        if not values or any(not isinstance(value, str | int | float | None) for value in values):
            words = "a list or an object as a literal value" if values else "no value at all"
            raise self._fail(where, f"takes {words}, which {self._rules.what} cannot express")
        if name == "anthropic":  # its own SDK leaves the type out
            return {key: value for key, value in result.items() if key != "type"}
        beside = {key: value for key, value in result.items() if key not in ("const", "enum", "type")}
        forms: list[dict[str, Any]] = []
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
        properties: dict[str, Any] = source.get("properties", {})
        rest = source.get("additionalProperties")
        is_open = rest not in (None, False) or ("properties" not in source and rest is None)
        if is_open and not self._rules.open_objects:
            raise self._fail(where, "is an object with open member names")
        required = dict.fromkeys(source.get("required", ()))
        properties = {**properties, **{name: {} for name in required if name not in properties}}
        everyone = self._rules.name == "openai" or (self._rules.name == "cohere" and not required)
        if self._rules.name == "cohere" and not properties:
            raise self._fail(where, "is an object without members")
        closed: dict[str, Any] = {}
        added: set[str] = set()
        self._members += len(properties)
        for name, entry in properties.items():
            here = f"{where}.{name}" if where else name
            if self._rules.name == "gemini" and name in required and self._recurs(entry, inlining):
                raise self._fail(here, "is recursive and required: Gemini takes recursion in optional members only")
            member = self._convert(entry, here, inlining)
            if everyone and name not in required and not self._accepts_null(member):
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
        if not everyone:
            result["required"] = [name for name in closed if name in required]
        if self._rules.name == "gemini" and closed:
            result["propertyOrdering"] = list(closed)
        if added:
            self.nullable[id(result)] = frozenset(added)

    def _reference(self, node: Mapping[str, Any], where: str, inlining: tuple[str, ...]) -> dict[str, Any]:
        ref: str = node["$ref"]
        siblings = {key: value for key, value in node.items() if key != "$ref" and (key in ASSERTIONS or key in WORDS)}
        if siblings and ref not in inlining and self._members < _MAX_INLINED:  # nothing may stand beside a reference
            merged = self._merged(resolve(self._root, ref), siblings, where)
            return self._convert(merged, where, (*inlining, ref))
        if ref == "#" and not self._wrapped and self._rules.name == "openai":
            return {"$ref": "#"}
        return self._named(ref, where)

    def _merged(self, target: Mapping[str, Any], beside: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Join two schemas that a value must both match; of words, the second's own stand."""
        clash = [key for key in beside if key in ASSERTIONS and key in target and beside[key] != target[key]]
        if clash and self._rules.name != "ollama":
            raise self._fail(where, f"has two kinds of {clash[0]}, which {self._rules.what} cannot join")
        return {**target, **beside}

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

    def _recurs(self, entry: Any, inlining: tuple[str, ...]) -> bool:
        """Tell whether a member leads back to the definition that it is part of, by members that are all required."""
        home = resolve(self._root, inlining[-1]) if inlining else self._top
        todo, seen = [entry], set[str]()
        while todo:
            node = todo.pop()
            if is_array(node):
                todo.extend(node)
            elif is_object(node):
                ref = node.get("$ref")
                if isinstance(ref, str):
                    if resolve(self._root, ref) is home:
                        return True
                    if ref not in seen:
                        seen.add(ref)
                        todo.append(resolve(self._root, ref))
                required = node.get("required", ())
                for (keyword, *names), part in subschemas(node):
                    if keyword not in MAPS or (keyword == "properties" and names[0] in required):
                        todo.append(part)
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
        if is_array(value) and id(node) in self._tuples:
            forms = self._tuples[id(node)]
            return [self.without_nulls(forms[min(i, len(forms) - 1)], item, checker) for i, item in enumerate(value)]
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
    said = {key: node[key] for key in ("title", "description") if key in node} if is_object(node) else {}
    return {**said, "type": list(_ANY)} if dialect == "ollama" else said


def _positions(source: dict[str, Any]) -> list[Any]:
    """Give what stands at each place of a tuple, the last for all behind, and leave the size and the order behind.

    The order is told only where not all are alike.
    """
    items: list[Any] = [*source["prefixItems"]]
    rest, most = source.pop("items", True), source.get("maxItems")
    if rest is False:
        most = source["maxItems"] = min(len(items), len(items) if most is None else most)
    if most is None or most > len(items):
        items.append(rest)
    if all(item == items[0] for item in items[1:]):
        del source["prefixItems"]
    return items


def _by_type(source: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """Spell a list of types as alternatives, each with the keywords that are about it."""
    words = {key: source[key] for key in ("title", "description") if key in source}
    forms: list[dict[str, Any]] = []
    for kind in kinds:
        others = set[str]().union(*(keys for other, keys in OF_TYPE.items() if other != kind), words)
        forms.append({**{key: value for key, value in source.items() if key not in others}, "type": kind})
    return {**forms[0], **words} if len(forms) == 1 else {"anyOf": forms, **words}
