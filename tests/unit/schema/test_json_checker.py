"""JSON Schema, assertion by assertion. Expected verdicts: JSON Schema Validation, draft 2020-12."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.errors import ConfigError
from unspool.schema.json_checker import JsonChecker, same
from unspool.schema.problem import NOTHING


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, -1, 1.0, 10**400], [1.5, True, "1", None]),
        ({"type": "number"}, [1, 1.5], [False, "1"]),
        ({"type": "boolean"}, [True], [0, 1, "true"]),
        ({"type": "null"}, [None], [0, "", False]),
        ({"type": ["string", "null"]}, ["", None], [1]),
        ({"type": "string", "nullable": True}, ["a", None], [1]),
        ({"const": 1}, [1, 1.0], [True, "1"]),
        ({"const": False}, [False], [0]),
        ({"const": {"a": [1]}}, [{"a": [1.0]}], [{"a": [True]}, {"a": [1], "b": 1}]),
        ({"enum": ["a", None, 0]}, ["a", None, 0], ["b", False]),
        ({"minimum": 1, "maximum": 3}, [1, 3, "text"], [0, 4, 0.9]),
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [2, 1.1], [1, 3]),
        ({"multipleOf": 0.1}, [0.3, 1], [0.35]),
        ({"multipleOf": 3}, [9, -3, 0], [10]),
        ({"multipleOf": 0.5}, [1e308], []),
        ({"multipleOf": 0.3}, [], [10**400]),
        ({"minLength": 1, "maxLength": 2}, ["a", "😀😀"], ["", "abc"]),
        ({"pattern": "^a"}, ["ab", 1], ["ba"]),
        ({"minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
        ({"uniqueItems": True}, [[1, True, "1"], []], [[1, 1.0], [{"a": 1}, {"a": 1}], [[], []]]),
        ({"items": {"type": "integer"}}, [[], [1]], [["a"]]),
        ({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, [[1, "a"], []], [["a"], [1, 2]]),
        ({"prefixItems": [{}], "items": False}, [[1]], [[1, 2]]),
        ({"items": [{"type": "integer"}], "additionalItems": False}, [[1]], [[1, 2], ["a"]]),
        ({"contains": {"const": 1}}, [[0, 1]], [[0], []]),
        ({"contains": {"const": 1}, "minContains": 2, "maxContains": 2}, [[1, 1]], [[1], [1, 1, 1]]),
        ({"contains": {"const": 1}, "minContains": 0}, [[]], []),
        ({"required": ["a"]}, [{"a": None}, []], [{}]),
        ({"properties": {"a": {"type": "integer"}}}, [{"a": 1}, {"b": "x"}], [{"a": "x"}]),
        ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}], [{"b": 1}]),
        ({"additionalProperties": {"type": "integer"}}, [{"x": 1}], [{"x": "1"}]),
        ({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False}, [{"x1": 1}], [{"y": 1}]),
        ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
        ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
        ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"b": 1}], [{"a": 1}]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1, "b": 1}, {}], [{"a": 1}]),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1], [0, 3]),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["a", 5], [4]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, [1, 5.5], [6, 4.5]),
        ({"not": {"type": "null"}}, [1], [None]),
        ({"if": {"const": 1}, "then": False, "else": True}, [2], [1]),
        ({"if": {"type": "string"}, "else": {"minimum": 0}}, ["a", 0], [-1]),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "null"}}}, [None], [1]),
        ({"$ref": "#/$defs/a~1b%25~0", "$defs": {"a/b%~": {"type": "null"}}}, [None], [1]),
        ({"$ref": "#here", "$defs": {"n": {"$anchor": "here", "type": "null"}}}, [None], [1]),
        ({"$ref": "#/allOf/1", "allOf": [{}, {"type": "null"}]}, [None], [1]),
        (
            {"properties": {"kids": {"items": {"$ref": "#"}}}, "required": ["id"]},
            [{"id": 1, "kids": [{"id": 2}]}],
            [{"id": 1, "kids": [{}]}],
        ),
        ({"$ref": "#"}, [1, None], []),
        ({"contains": {"$ref": "#/$defs/n"}, "$defs": {"n": {"contains": {"const": 1}}}}, [[[1]]], [[[2]]]),
        (True, [1, None], []),
        (False, [], [1, None]),
        ({"format": "email", "$comment": "annotations", "default": 1, "x-own": {}}, ["no email"], []),
    ],
    ids=str,
)
def test_assertion(schema: Any, good: list[Any], bad: list[Any]) -> None:
    checker = JsonChecker(schema)
    assert [value for value in good if checker.problems(value)] == []
    assert [value for value in bad if not checker.problems(value)] == []


@pytest.mark.parametrize(
    ("schema", "value", "path", "words"),
    [
        ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, ("a", 1), "integer"),
        ({"required": ["a"]}, {}, ("a",), "required"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ("b",), "beside a"),
        ({"additionalProperties": False}, {"x": 1}, ("x",), "not a member"),
        ({"propertyNames": {"maxLength": 1}}, {"xy": 1}, ("xy",), "name"),
        ({"uniqueItems": True}, [1, 2, 1], (2,), "twice"),
        ({"items": False}, [1], (0,), "nothing|too many"),
        ({"type": "integer", "minimum": 3}, "x", (), "integer"),
    ],
    ids=str,
)
def test_fault_names_its_path(schema: Any, value: Any, path: tuple[str | int, ...], words: str) -> None:
    [problem] = JsonChecker(schema).problems(value)
    assert problem.path == path
    assert any(word in problem.message for word in words.split("|"))


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ({"type": "integer"}, "x", "type"),
        ({"minimum": 3}, 1, "value"),
        ({"const": 3}, 1, "value"),
        ({"enum": ["a"]}, "b", "value"),
        ({"pattern": "^is required$"}, "b", "value"),
        ({"required": ["a"]}, {}, "missing-field"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "missing-field"),
        ({"additionalProperties": False}, {"x": 1}, "unexpected-field"),
    ],
    ids=str,
)
def test_fault_has_a_kind(schema: Any, value: Any, kind: str) -> None:
    """The kinds that validation of Python types gives as well (P58)."""
    assert [problem.kind for problem in JsonChecker(schema).problems(value)] == [kind]


def test_of_alternatives_the_closest_is_reported() -> None:
    """As with a tagged union: the one whose tag fits, not the first one."""
    cat = {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]}
    dog = {"properties": {"kind": {"const": "dog"}, "tail": {"type": "boolean"}}, "required": ["kind", "tail"]}
    [problem] = JsonChecker({"anyOf": [cat, dog]}).problems({"kind": "cat", "lives": "nine"})[-1:]
    assert problem.path == ("lives",)
    [whole] = JsonChecker({"anyOf": [{"type": "string"}, {"type": "null"}]}).problems(1)
    assert (whole.path, whole.message) == ((), "matches none of the alternatives")


def test_missing_member_has_no_value() -> None:
    assert JsonChecker({"required": ["a"]}).problems({})[0].found is NOTHING


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"$dynamicRef": "#x"}, "UNSUPPORTED"),
        ({"items": {"unevaluatedProperties": False}}, "UNSUPPORTED"),
        ({"unevaluatedItems": False}, "UNSUPPORTED"),
        ({"$ref": "https://example.com/schema"}, "UNSUPPORTED"),
        ({"$ref": "#/$defs/none"}, "UNSUPPORTED"),
        ({"$ref": "#/allOf/7", "allOf": []}, "UNSUPPORTED"),
        ({"$ref": "#/type/x", "type": "object"}, "UNSUPPORTED"),
        ({"$ref": "#none"}, "UNSUPPORTED"),
        ({"$defs": {"a": {"$id": "b"}}}, "UNSUPPORTED"),
        ({"dependencies": {"a": ["b"]}}, "UNSUPPORTED"),
        ({"properties": {"a": {"pattern": r"\p{L}"}}}, "UNSUPPORTED"),
        ({"patternProperties": {"(": {}}}, "UNSUPPORTED"),
        ({"type": "text"}, "INVALID_OPTIONS"),
        ({"type": ["string", 1]}, "INVALID_OPTIONS"),
        ({"enum": "a"}, "INVALID_OPTIONS"),
        ({"minimum": "1"}, "INVALID_OPTIONS"),
        ({"maxLength": True}, "INVALID_OPTIONS"),
        ({"multipleOf": 0}, "INVALID_OPTIONS"),
        ({"items": 1}, "INVALID_OPTIONS"),
        ({"allOf": {}}, "INVALID_OPTIONS"),
        ({"properties": []}, "INVALID_OPTIONS"),
        ({"required": "a"}, "INVALID_OPTIONS"),
        ([], "INVALID_OPTIONS"),
    ],
    ids=str,
)
def test_what_cannot_be_checked_is_refused_at_once(schema: Any, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        JsonChecker(schema)
    assert caught.value.code == code


def test_refused_keyword_is_found_behind_a_reference() -> None:
    with pytest.raises(ConfigError, match=r"unevaluatedItems at #/x-parts/a"):
        JsonChecker({"$ref": "#/x-parts/a", "x-parts": {"a": {"unevaluatedItems": False}}})


def test_a_million_items_take_linear_time() -> None:
    """Hostile answers: comparing every pair would take hours here."""
    assert JsonChecker({"uniqueItems": True}).problems([*range(300_000)]) == []


def test_equality_is_that_of_json_schema() -> None:
    assert same([1, {"a": 1.0}], [1.0, {"a": 1}]) and not same([True], [1])


TWICE: list[dict[str, Any]] = [
    {"properties": {"c": {"$ref": "#"}}, "patternProperties": {"^c": {"$ref": "#"}}, "type": "object"},
    {"properties": {"c": {"$ref": "#"}}, "allOf": [{"properties": {"c": {"$ref": "#"}}}], "type": "object"},
    {"allOf": [{"additionalProperties": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}], "type": "object"},
]


@pytest.mark.parametrize("schema", TWICE, ids=str)
@pytest.mark.parametrize("leaf", [{}, 5, {"c": {"c": []}}], ids=str)
def test_parts_that_check_a_value_twice_take_no_exponential_time(schema: Any, leaf: Any) -> None:
    """At 40 levels, 2**40 checks; and each fault is told once."""
    value = leaf
    for _ in range(40):
        value = {"c": value}
    found = JsonChecker(schema).problems(value)
    assert [(len(problem.path), problem.message) for problem in found] == (
        [] if leaf == {} else [(40 if leaf == 5 else 42, "should be object")]
    )


def test_a_reference_back_to_itself_makes_nothing_valid() -> None:
    """What was taken for valid while it was still being checked must not be remembered as such."""
    schema = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}], "maxItems": 1}, "b": {"$ref": "#/$defs/a"}}}
    for order in (["a", "b"], ["b", "a"]):
        checker = JsonChecker({**schema, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in order]})
        assert checker.problems([1]) == []
        assert checker.problems([1, 2])


def test_long_enumerations_and_long_lists() -> None:
    names = [f"n{i}" for i in range(20_000)]
    assert JsonChecker({"items": {"enum": names}}).problems(names) == []
    assert len(JsonChecker({"items": {"enum": names}}).problems([*names, "x", 1])) == 2
