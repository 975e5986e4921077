"""What dialects take and how much of it; sources as in the module, and F35, F36."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.schema import Dialect, Schema, native_schema
from unspool.schema.dialects import RULES


def closed(properties: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }


def nested(depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        node = closed({"a": node})
    return node


TEXT: dict[str, Any] = {"type": "string"}
LIMITS: list[tuple[Dialect, dict[str, Any], dict[str, Any], str]] = [
    ("openai", nested(10), nested(11), "nests objects deeper than 10"),
    (
        "openai",
        closed({f"m{i}": TEXT for i in range(5000)}),
        closed({f"m{i}": TEXT for i in range(5001)}),
        "more than 5000 members",
    ),
    (
        "openai",
        closed({"a": {"enum": [*range(1000)]}}),
        closed({"a": {"enum": [*range(500)]}, "b": {"enum": [*range(501)]}}),
        "enumerates more than 1000 values",
    ),
    (
        "openai",
        closed({"a": {"enum": [f"{i:>100}" for i in range(250)]}}),
        closed({"a": {"enum": [f"{i:>60}" for i in range(251)]}}),
        "more than 250 texts",
    ),
    ("openai", closed({"a" * 119_000: TEXT}), closed({"a" * 120_001: TEXT}), "more than 120000 characters"),
    (
        "anthropic",
        closed({f"m{i}": TEXT for i in range(24)}, required=False),
        closed({f"m{i}": TEXT for i in range(25)}, required=False),
        "more than 24 members that may be left out",
    ),
    (
        "anthropic",
        closed({f"m{i}": {"type": ["string", "null"]} for i in range(16)}),
        closed({f"m{i}": {"anyOf": [TEXT, {"type": "null"}]} for i in range(17)}),
        "more than 16 members of several types",
    ),
]


@pytest.mark.parametrize(("dialect", "most", "more", "words"), LIMITS, ids=[case[3] for case in LIMITS])
def test_limits_are_inclusive_and_told(dialect: Dialect, most: Any, more: Any, words: str) -> None:
    assert native_schema(Schema.of(most), dialect).reason is None
    if dialect == "openai":  # asked for loosely
        assert words in str(native_schema(Schema.of(more), dialect).reason)
        return
    with pytest.raises(ConfigError, match=words) as caught:
        native_schema(Schema.of(more), dialect)
    assert caught.value.code == "UNSUPPORTED" and "protocol='json'" in caught.value.message


@pytest.mark.parametrize(
    ("dialect", "key", "taken", "not_taken"),
    [
        ("openai", "format", ["date-time", "uuid", "ipv6"], ["uri", "binary"]),
        ("openai", "pattern", ["^a$", "(?:a)"], ["(?<=a)b", r"(a)\1"]),
        ("openai", "multipleOf", [3], []),
        ("openai", "minLength", [], [1]),
        ("anthropic", "format", ["uri", "email"], ["decimal"]),
        ("anthropic", "minItems", [0, 1], [2]),
        ("anthropic", "maximum", [], [9]),
        ("gemini", "minItems", [5], []),
        ("gemini", "format", ["date"], ["uuid"]),
        ("gemini", "exclusiveMinimum", [], [0]),
        ("cohere", "format", ["uuid"], ["email"]),
        ("ollama", "minimum", [0, -(2**52)], [0.5, 2**53]),
        ("ollama", "maxLength", [1000], [1001]),
        ("ollama", "pattern", ["^[a-z]{3}$"], ["a", "^a{5000}$", r"^\d$"]),
    ],
)
def test_keywords_and_their_values(dialect: Dialect, key: str, taken: list[Any], not_taken: list[Any]) -> None:
    rules = RULES[dialect]
    assert [rules.takes(key, value) for value in (*taken, *not_taken)] == [True] * len(taken) + [False] * len(not_taken)
