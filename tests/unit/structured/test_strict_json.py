"""The guarded door: what it lets through, what it refuses and where, and that nothing it is given can overturn it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from tests.json_texts import as_text, broken_texts, decoded, json_texts, read

from unspool.errors import StreamError
from unspool.structured import strict_json


def refused(text: str | bytes, **options: Any) -> tuple[str, int | None]:
    with pytest.raises(StreamError) as caught:
        strict_json.loads(text, **options)
    assert caught.value.operation is None
    return caught.value.code, caught.value.byte_offset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (" [1, 2.5, -0, 1E2, true, false]\r\n", [1, 2.5, 0, 100.0, True, False]),
        ('{"a": {"b": []}}', {"a": {"b": []}}),
        (r'"\u00e9\ud83d\ude00\ud83d\n"', "é😀\ud83d\n"),
        ('"é😀"'.encode(), "é😀"),
        ("12345678901234567890123", 12345678901234567890123),
        ("1e-999", 0.0),
        ('"\x7f\u2028"', "\x7f\u2028"),
    ],
)
def test_valid_text_gives_its_value(text: str | bytes, value: object) -> None:
    assert as_text(strict_json.loads(text)) == as_text(value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ("EMPTY_INPUT", 0)),
        (" \n", ("EMPTY_INPUT", 0)),
        ("[1, 2", ("INCOMPLETE_JSON", 5)),
        ('"é', ("INCOMPLETE_JSON", 3)),
        ('{"é": x}', ("INVALID_JSON", 7)),
        ("[1] 2", ("TRAILING_DATA", 4)),
        ("]", ("UNEXPECTED_TOKEN", 0)),
        ("[1}", ("MISMATCHED_CLOSING", 2)),
        ("\ufeff1", ("INVALID_JSON", 0)),
        ("\ufeff1".encode(), ("INVALID_JSON", 0)),
        ("NaN", ("INVALID_JSON", 0)),
        ("[Infinity]", ("INVALID_JSON", 1)),
        ("[-Infinity]", ("INVALID_JSON", 2)),
        ("[1e999]", ("NON_FINITE_NUMBER", 6)),
        ("-1e999", ("NON_FINITE_NUMBER", 6)),
        ('{"a": 1, "a": 2}', ("DUPLICATE_KEY", 11)),
        ('["\ud800"]', ("INVALID_CHUNK", 2)),
        (b'["\xff"]', ("INVALID_JSON", 2)),
        (b"[x, \xff]", ("INVALID_JSON", 1)),
    ],
)
def test_bad_text_is_refused_at_its_first_fault(text: str | bytes, fault: tuple[str, int]) -> None:
    assert refused(text) == fault


def test_repeated_keys_may_be_asked_for() -> None:
    """S8: then the last one wins, at the place of the first, as `json.loads` has it."""
    text = '{"a": 1, "b": 2, "a": 3}'
    assert as_text(strict_json.loads(text, duplicate_keys="last")) == decoded(text)


def test_limits_are_inclusive() -> None:
    assert strict_json.loads("[[]]", max_depth=2) == [[]]
    assert refused("[[[]]]", max_depth=2) == ("MAX_DEPTH_EXCEEDED", 2)
    assert strict_json.loads('"é"', max_bytes=4) == "é"
    assert refused('"é"', max_bytes=3) == ("MAX_BYTES_EXCEEDED", 0)
    assert refused('"é"'.encode(), max_bytes=3) == ("MAX_BYTES_EXCEEDED", 0)
    assert refused("[]", max_depth=0) == ("INVALID_OPTIONS", None)
    assert refused("[]", max_depth=513) == ("INVALID_OPTIONS", None)


@pytest.mark.parametrize(("opening", "at"), [("[", 128), ('{"a":', 128 * 5), ('[{"a":', 64 * 6)])
@pytest.mark.parametrize("levels", [200, 3_000, 100_000])
def test_deep_nesting_is_refused_without_recursion(opening: str, at: int, levels: int) -> None:
    """Pyodide: fatal when it reaches the decoder of the standard library. Here the interpreter lives on."""
    assert refused(opening * levels) == ("MAX_DEPTH_EXCEEDED", at)


def test_the_deepest_that_may_be_allowed() -> None:
    value = strict_json.loads("[" * 512 + "]" * 512, max_depth=512)
    for _ in range(511):
        (value,) = value
    assert value == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 600 + '"' + "]" * 600,  # brackets in a string close nothing
        '"' + "[" * 600 + '", ' + "[" * 600,
        "]" * 600 + "[" * 600,
        "[1]" + "]" * 600 + "[" * 600,
        '"\\"' + "[" * 600,
        "[}" * 600,
    ],
)
def test_brackets_that_hide_or_do_not_match(text: str) -> None:
    code, _ = refused(text)
    assert code in ("MAX_DEPTH_EXCEEDED", "UNEXPECTED_TOKEN", "TRAILING_DATA", "INCOMPLETE_JSON", "MISMATCHED_CLOSING")


def test_many_brackets_that_do_not_nest_are_fine() -> None:
    text = "[" + ",".join(['{"a":[{},[]]}'] * 1000) + "]"
    assert as_text(strict_json.loads(text, max_depth=5)) == decoded(text)
    assert as_text(strict_json.loads('["' + "[{" * 500 + '"]', max_depth=1)) == as_text(["[{" * 500])


def test_huge_integers_give_a_typed_error() -> None:
    """CPython refuses to convert more than 4,300 digits, with a ValueError of its own."""
    assert strict_json.loads("9" * 4300) == int("9" * 4300)
    assert refused("9" * 4301) == ("NON_FINITE_NUMBER", 4301)
    assert refused('{"a":' + "1" * 100_000 + "}") == ("NON_FINITE_NUMBER", 100_005)


def test_a_lower_limit_of_the_interpreter_is_respected() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert refused("9" * 641) == ("NON_FINITE_NUMBER", 641)
    finally:
        sys.set_int_max_str_digits(before)


def test_nothing_else_is_let_through_that_json_loads_takes() -> None:
    with pytest.raises(StreamError):
        strict_json.loads('{"a": [1, NaN]}')
    with pytest.raises(StreamError):
        strict_json.loads('{"a": [1e400, 1]}', duplicate_keys="last")


def test_number_judges_the_text_of_one_number() -> None:
    assert strict_json.number("01") is None
    assert strict_json.number("1.") is None
    assert as_text(strict_json.number("-1.5e+2")) == "-150.0"


@given(json_texts())
def test_valid_text_is_read_as_json_loads_reads_it(text: str) -> None:
    assert as_text(strict_json.loads(text, duplicate_keys="last")) == decoded(text)
    assert as_text(strict_json.loads(text)) == decoded(text)
    assert as_text(strict_json.loads(text.encode())) == decoded(text)


@given(broken_texts())
def test_door_and_scanner_agree(text: str) -> None:
    """The same value, or the same fault at the same place."""
    for duplicate_keys in ("last", "error"):
        try:
            outcome: Any = ("ok", as_text(strict_json.loads(text, duplicate_keys=duplicate_keys)))  # type: ignore[arg-type]
        except StreamError as error:
            outcome = (error.code, error.byte_offset)
        assert outcome == read([text], grows=False, duplicate_keys=duplicate_keys)
