"""Dialects: the part of JSON Schema that each provider holds its answers to, and its limits. Pure data.

Source: OpenAI, "Structured model outputs", section "Supported schemas"; Claude, "Structured outputs", sections "JSON
Schema limitations" and "Schema complexity limits"; Gemini, `responseJsonSchema`; Cohere, "Structured Outputs";
llama.cpp, grammars/README.md and common/json-schema-to-grammar.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast

from unspool.schema.subschemas import is_array, is_object

Dialect = Literal["openai", "anthropic", "gemini", "cohere", "ollama"]

_STRUCTURE = {
    "type", "enum", "const", "anyOf", "$ref", "properties", "required", "items", "additionalProperties", "description",
    "title",
}  # fmt: skip
_NUMBERS = {"minimum", "maximum"}
_EXCLUSIVE = {"exclusiveMinimum", "exclusiveMaximum"}
LIMITS = {"multipleOf", *_NUMBERS, *_EXCLUSIVE}
_SIZES = {"minItems", "maxItems"}
TOLD = {
    "minLength", "maxLength", "minProperties", "maxProperties", "uniqueItems", "format", "pattern", "multipleOf",
    "contentEncoding", "contentMediaType", "contentSchema", "propertyNames", "patternProperties", "prefixItems",
    "contains", "minContains", "maxContains", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
    "dependencies", "unevaluatedItems", "unevaluatedProperties", *_NUMBERS, *_EXCLUSIVE, *_SIZES,
}  # fmt: skip
"""What may be left to words: our own check holds it, and a provider that is not told structure by it loses nothing."""
# llama.cpp reads neither lookaround nor `\\d` and the like, and takes an inner `^` or `$` for itself.
_PLAIN_PATTERN = re.compile(
    r"\^(?:[^\\($^\[]|\[\^?(?:[^\]\\]|\\[^A-Za-z0-9])+\]|\\[^A-Za-z0-9]|\((?!\?))+\$", re.DOTALL
)
_MAX_REPEATS = 1000
"""llama.cpp refuses grammars that repeat a part more than some 2,000 times."""
# What lookaround and references need is in no provider's automaton.
_IRREGULAR = re.compile(r"\(\?(?!:)|\\[1-9bBk]")
_LARGEST = 2**53


class Rules:
    """What one dialect takes."""

    __slots__ = ("_limits", "formats", "kept", "name", "open_objects", "what")

    def __init__(
        self,
        name: Dialect,
        what: str,
        kept: set[str],
        formats: set[str],
        *,
        open_objects: bool,
        limits: tuple[tuple[str, int, str], ...] = (),
    ) -> None:
        self.name: Dialect = name
        self.what = what
        """As people call it."""
        self.kept = _STRUCTURE | kept
        self.formats = formats
        self.open_objects = open_objects
        """Whether there are objects with any members, and `Any`."""
        self._limits = limits

    def takes(self, key: str, value: Any) -> bool:
        """Tell whether a keyword is taken with the value that it has."""
        match self.name, key:
            case _, _ if key not in self.kept:
                return False
            case _, "format":
                return value in self.formats
            case "openai", "pattern":
                return _IRREGULAR.search(value) is None
            case "anthropic", "minItems":
                return value in (0, 1)
            case "ollama", "pattern":
                return _PLAIN_PATTERN.fullmatch(value) is not None and not _repeats_much(value)
            case "ollama", "minLength" | "maxLength" | "minItems" | "maxItems":
                return cast("int", value) <= _MAX_REPEATS
            case "ollama", "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
                return isinstance(value, int) and abs(value) < _LARGEST
            case _:
                return True

    def takes_tuple(self, source: Mapping[str, Any]) -> bool:
        """Tell whether a tuple is taken as it is; beside `items`, llama.cpp does not see what comes first."""
        return "prefixItems" in self.kept and not (self.name == "ollama" and source.get("items", False) is not False)

    def fault(self, schema: Mapping[str, Any]) -> str | None:
        """Say which limit a schema passes; None when it keeps them all."""
        if not self._limits:
            return None
        sizes = _sizes(schema)
        return next((words for name, most, words in self._limits if sizes[name] > most), None)


_TIMES = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
RULES: dict[Dialect, Rules] = {
    "openai": Rules(
        "openai", "strict output", {"format", "pattern", "multipleOf", *_NUMBERS, *_EXCLUSIVE, *_SIZES}, _TIMES,
        open_objects=False,
        limits=(
            ("members", 5000, "it has more than 5000 members"),
            ("depth", 10, "it nests objects deeper than 10"),
            ("values", 1000, "it enumerates more than 1000 values"),
            ("long_enum", 15_000, "it enumerates more than 250 texts of 15000 characters together"),
            ("chars", 120_000, "its names and values have more than 120000 characters"),
        ),
    ),
    "anthropic": Rules(
        "anthropic", "Anthropic's structured output", {"format", "allOf", "minItems"}, {*_TIMES, "uri"},
        open_objects=False,
        limits=(
            ("optional", 24, "it has more than 24 members that may be left out"),
            ("unions", 16, "it has more than 16 members of several types"),
        ),
    ),
    "gemini": Rules(
        "gemini", "Gemini's structured output", {"format", "prefixItems", *_NUMBERS, *_SIZES},
        {"date-time", "date", "time"}, open_objects=True,
    ),
    "cohere": Rules(
        "cohere", "Cohere's structured output", {"format"}, {"date-time", "date", "time", "uuid"},
        open_objects=False,
    ),
    "ollama": Rules(
        "ollama", "llama.cpp's grammar",
        {"format", "pattern", "prefixItems", "allOf", "minLength", "maxLength", *_NUMBERS, *_EXCLUSIVE, *_SIZES},
        {"date-time", "date", "time", "uuid"}, open_objects=True,
    ),
}  # fmt: skip


def _repeats_much(pattern: str) -> bool:
    return any(int(number) > _MAX_REPEATS for number in re.findall(r"\d+", pattern) if len(number) > 3)


def _sizes(schema: Mapping[str, Any]) -> dict[str, int]:
    """Count what providers limit; objects nest as they are written, references not followed."""
    sizes: dict[str, int] = dict.fromkeys(("members", "depth", "values", "long_enum", "chars", "optional", "unions"), 0)
    todo: list[tuple[Any, int]] = [(schema, 0)]
    while todo:
        part, depth = todo.pop()
        if is_array(part):
            todo.extend((item, depth) for item in part)
            continue
        if not is_object(part):
            continue
        properties, values = part.get("properties"), part.get("enum")
        if part.get("type") == "object" and is_object(properties):
            sizes["members"] += len(properties)
            sizes["chars"] += sum(map(len, properties))
            sizes["optional"] += len(properties) - len(part.get("required", ()))
        depth += part.get("type") == "object"
        sizes["depth"] = max(sizes["depth"], depth)
        sizes["unions"] += is_array(part.get("anyOf")) or is_array(part.get("type"))
        if is_array(values):
            texts = sum(len(value) for value in values if isinstance(value, str))
            sizes["values"] += len(values)
            sizes["chars"] += texts
            sizes["long_enum"] = max(sizes["long_enum"], texts if len(values) > 250 else 0)
        sizes["chars"] += len(part["const"]) if isinstance(part.get("const"), str) else 0
        sizes["chars"] += sum(map(len, part["$defs"])) if is_object(part.get("$defs")) else 0
        todo.extend((member, depth) for member in part.values())
    return sizes
