"""What a prompt asks for in words, read back; the schemas are what pydantic says of the same types."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.support import named

from unspool.cli.scripted_form import asked_in_words, written_python
from unspool.schema import Schema, schema_prompt

pytestmark = pytest.mark.host


class Mood(Enum):
    GOOD = "good"


class Stop(BaseModel):
    """A stop (one of many): short."""

    place: str = Field(description="Where: the town (not the street).")
    nights: int = Field(ge=1, le=5, default=1)
    tags: list[str] = Field(max_length=3)
    kind: Literal["a|b", "c"] | None


def asked(T: Any, protocol: Any) -> dict[str, Any]:
    found = asked_in_words("Question?\n\n" + schema_prompt(Schema.of(T), protocol))
    assert found is not None
    schema, is_python = found
    assert is_python is (protocol == "python")
    assert isinstance(schema.pop("$defs"), dict)
    return schema


def test_a_form() -> None:
    assert asked(Stop, "json") == {
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "nights": {"type": "integer", "minimum": 1, "maximum": 5},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "kind": {"anyOf": [{"const": "a|b"}, {"const": "c"}, {"type": "null"}]},
        },
        "required": ["place", "tags", "kind"],
    }


def test_annotations() -> None:
    rows = {"type": "array", "row": "[]", "uniqueItems": False, "items": {"type": "integer"}}
    assert asked(list[int], "python") == rows
    assert asked(dict[str, list[int]], "python") == {"type": "object", "additionalProperties": rows}
    assert asked(Stop, "python") == {"$ref": "#/$defs/Stop"}
    assert asked(Mood | None, "python") == {"anyOf": [{"$ref": "#/$defs/Mood"}, {"type": "null"}]}


@pytest.mark.parametrize("protocol", ["json", "python"])
def test_only_the_last_words_count(protocol: Any) -> None:
    before = schema_prompt(Schema.of(Stop), protocol)
    found = asked_in_words("\n".join([before, "…", schema_prompt(Schema.of(bool), protocol), "More words."]))
    assert found is not None
    assert found[0]["type"] == "boolean"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Hello",
        "JSON of this form, and with nothing else:\n{",
        "JSON of this form, and with nothing else:\n{a: b}",
        "JSON of this form, and with nothing else:\nstring (",
        "JSON of this form, and with nothing else:\n",
        "JSON of this form, and with nothing else:\n" + "[" * 5000,
        "JSON that matches this JSON Schema, and with nothing else:\n{",
        "JSON that matches this JSON Schema, and with nothing else:\n5",
        "The type of your answer:\nlist[",
        "The type of your answer:\nint(",
        "The type of your answer:\nLiteral[",
        "The type of your answer:\nNotRequired[]",
        "The type of your answer:\nUnheard",
        "The type of your answer:\n" + "list[" * 5000,
    ],
    ids=named,
)
def test_other_words_ask_for_nothing(words: str) -> None:
    assert asked_in_words(words) is None


@pytest.mark.parametrize(
    ("value", "schema", "text"),
    [
        ([], {"row": "{}"}, "set()"),
        ([1], {"row": "()", "prefixItems": [{}]}, "(1,)"),
        ({"a": "b\n"}, {"call": "A"}, "A(a='b\\n')"),
        ({"a": None}, {}, "{'a': None}"),
        (None, {"anyOf": [{"call": "A"}, {"type": "null"}]}, "None"),
        ("Mood.GOOD", {"enum": ["Mood.GOOD"], "written": True}, "Mood.GOOD"),
        ("good", {"enum": ["'bad'"], "written": True}, "'good'"),
    ],
    ids=named,
)
def test_values_in_python_syntax(value: Any, schema: Any, text: str) -> None:
    assert written_python(value, schema) == text
