"""Assertions: the keywords of JSON Schema that hold a value to something, each rule spelled in one way. Pure.

All other keywords are annotations, also those that no draft knows: `x-order`, `widget`. They hold nothing.
Source: JSON Schema Core, draft 2020-12, section 6.5; Validation, draft 2020-12.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspool.schema.subschemas import LISTS, MAPS, SINGLES, is_array, is_object, resolve

WORDS = frozenset({"title", "description"})
"""Annotations that a model is shown."""
ASSERTIONS = frozenset({
    "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired", "dependentSchemas", "dependencies", "allOf", "anyOf", "oneOf",
    "not", "if", "then", "else", "items", "prefixItems", "additionalItems", "contains", "properties",
    "patternProperties", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "$ref",
    "$dynamicRef", "$recursiveRef", "nullable", "format", "contentEncoding", "contentMediaType", "contentSchema",
})  # fmt: skip
"""With `nullable` of OpenAPI, and what the drafts only recommend to hold: formats and contents of texts."""
OF_TYPE = {
    "object": {
        "properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames",
        "patternProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    },
    "array": {
        "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains",
        "maxContains", "unevaluatedItems",
    },
}  # fmt: skip
"""Assertions about values of one type only."""
INTEGERS = "^-?[0-9]+$"
"""The pattern of integers as names of members."""
NUMBERS = r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
"""The pattern of numbers as names of members, and in texts."""
DECIMAL = "decimal"
"""The format of texts that are decimal numbers; limits of numbers may stand beside it."""


def asserts(node: Mapping[str, Any]) -> bool:
    """Tell whether a schema holds a value to anything."""
    return not ASSERTIONS.isdisjoint(node)


def without_annotations(schema: Any) -> Any:
    """Give a schema with nothing but its assertions and its words, inside as well."""
    if not is_object(schema):
        return schema
    clean: dict[str, Any] = {key: value for key, value in schema.items() if key in ASSERTIONS or key in WORDS}
    for key, value in clean.items():
        if key in MAPS and is_object(value):
            clean[key] = {name: without_annotations(entry) for name, entry in value.items()}
        elif (key in LISTS or key in SINGLES) and is_array(value):
            clean[key] = [without_annotations(entry) for entry in value]
        elif key in SINGLES or key == "contentSchema":
            clean[key] = without_annotations(value)
    return clean


def in_one_spelling(node: Mapping[str, Any], root: Mapping[str, Any], *, max_names: int) -> dict[str, Any]:
    """Spell a schema in the way of draft 2020-12, without changing it.

    Args:
        node: a part of `root`.
        root: what its references lead into.
        max_names: up to how many enumerated names become members; inside each other they multiply.
    Returns:
        The same rules, without annotations: `oneOf` as `anyOf`, because alternatives exclude each other by their tags;
        lists of `items` as `prefixItems`; `nullable` as a type; members whose names are enumerated as `properties`; and
        beside patterns of names what any of them may hold as `additionalProperties`. What is said of other types than
        its own is left out.
    """
    source = {key: value for key, value in node.items() if key in ASSERTIONS or key in WORDS}
    if "oneOf" in source and "anyOf" not in source:
        source["anyOf"] = source.pop("oneOf")
    if is_array(source.get("items")):
        source["prefixItems"] = source["items"]
        source["items"] = source.pop("additionalItems", True)
    kinds = source.get("type")
    if source.pop("nullable", False) is True and kinds is not None:
        source["type"] = [*dict.fromkeys([*(kinds if is_array(kinds) else [kinds]), "null"])]
    if source.get("maxItems") == 0 and not source.keys() & {"items", "prefixItems"}:
        source["items"] = {"type": "null"}  # whatever they are: dialects ask for something
    kinds = source.get("type", ("object", "array"))
    for kind, keywords in OF_TYPE.items():
        if kind not in kinds:
            source = {key: value for key, value in source.items() if key not in keywords}
    if "object" in kinds and "type" in source:
        _name_members(source, root, max_names)
    return source


def _name_members(source: dict[str, Any], root: Mapping[str, Any], max_names: int) -> None:
    patterns, rest = source.get("patternProperties"), source.get("additionalProperties", True)
    names = source.get("propertyNames")
    if is_object(names) and "$ref" in names:
        names = source["propertyNames"] = resolve(root, names["$ref"])
    if is_object(patterns) and patterns:
        if len(patterns) == 1 and rest is False and "properties" not in source:
            beside: Mapping[str, Any] = names if is_object(names) else {}
            [(pattern, rest)] = patterns.items()
            if "pattern" not in beside:
                del source["patternProperties"]
                names = source["propertyNames"] = {"pattern": pattern, **beside}
        elif rest is False or (is_object(rest) and rest):
            values = [entry for i, entry in enumerate(patterns.values()) if entry not in [*patterns.values()][:i]]
            values += [rest] if is_object(rest) and rest not in values else []
            rest = values[0] if len(values) == 1 else {"anyOf": values}
        source["additionalProperties"] = rest
    if is_object(names) and "properties" not in source and rest is not False and "patternProperties" not in source:
        listed = [names["const"]] if "const" in names else names.get("enum")
        if is_array(listed) and len(listed) <= max_names:
            required = source.get("required", ())
            listed = [name for name in listed if isinstance(name, str)]
            source["properties"] = dict.fromkeys(listed, rest)
            source["additionalProperties"] = False
            source["required"] = [name for name in listed if name in required]
            del source["propertyNames"]
