"""JSONTestSuite: what must be accepted has the value of `json.loads`, what must be refused is refused, and the rest is
decided in the table here. Every file is read whole through the door and in every cut through the scanner.

Source: nst/JSONTestSuite, `test_parsing`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.json_texts import as_text, decoded, read
from tests.support import splits

from unspool.errors import StreamError
from unspool.structured import strict_json

EVERY_CUT = 250
"""Characters up to which a file is cut once at every place."""

UNDECIDED: dict[str, str] = {
    # Numbers: what a float cannot hold is refused; what it rounds to zero is zero; integers are exact.
    "i_number_double_huge_neg_exp": "ok",
    "i_number_huge_exp": "NON_FINITE_NUMBER",
    "i_number_neg_int_huge_exp": "NON_FINITE_NUMBER",
    "i_number_pos_double_huge_exp": "NON_FINITE_NUMBER",
    "i_number_real_neg_overflow": "NON_FINITE_NUMBER",
    "i_number_real_pos_overflow": "NON_FINITE_NUMBER",
    "i_number_real_underflow": "ok",
    "i_number_too_big_neg_int": "ok",
    "i_number_too_big_pos_int": "ok",
    "i_number_very_big_negative_int": "ok",
    # Escaped halves of surrogate pairs are kept as they come (S34).
    "i_object_key_lone_2nd_surrogate": "ok",
    "i_string_1st_surrogate_but_2nd_missing": "ok",
    "i_string_1st_valid_surrogate_2nd_invalid": "ok",
    "i_string_incomplete_surrogate_and_escape_valid": "ok",
    "i_string_incomplete_surrogate_pair": "ok",
    "i_string_incomplete_surrogates_escape_valid": "ok",
    "i_string_invalid_lonely_surrogate": "ok",
    "i_string_invalid_surrogate": "ok",
    "i_string_inverted_surrogates_U+1D11E": "ok",
    "i_string_lone_second_surrogate": "ok",
    # Bytes must be UTF-8, without a byte order mark.
    "i_string_UTF-16LE_with_BOM": "INVALID_JSON",
    "i_string_UTF-8_invalid_sequence": "INVALID_JSON",
    "i_string_UTF8_surrogate_U+D800": "INVALID_JSON",
    "i_string_invalid_utf-8": "INVALID_JSON",
    "i_string_iso_latin_1": "INVALID_JSON",
    "i_string_lone_utf8_continuation_byte": "INVALID_JSON",
    "i_string_not_in_unicode_range": "INVALID_JSON",
    "i_string_overlong_sequence_2_bytes": "INVALID_JSON",
    "i_string_overlong_sequence_6_bytes": "INVALID_JSON",
    "i_string_overlong_sequence_6_bytes_null": "INVALID_JSON",
    "i_string_truncated-utf-8": "INVALID_JSON",
    "i_string_utf16BE_no_BOM": "INVALID_JSON",
    "i_string_utf16LE_no_BOM": "INVALID_JSON",
    "i_structure_UTF-8_BOM_empty_object": "INVALID_JSON",
    # Deeper than the default limit of 128.
    "i_structure_500_nested_arrays": "MAX_DEPTH_EXCEEDED",
}


def through_the_door(data: bytes, **options: Any) -> tuple[str, Any]:
    try:
        return "ok", as_text(strict_json.loads(data, duplicate_keys="last", **options))
    except StreamError as error:
        return error.code, error.byte_offset


@pytest.fixture(scope="module")
def suite(shared_data: Path) -> dict[str, bytes]:
    return {file.stem: file.read_bytes() for file in sorted((shared_data / "json-test-suite").glob("*.json"))}


def test_suite_is_whole(suite: dict[str, bytes]) -> None:
    kinds = [name[0] for name in suite]
    assert (kinds.count("y"), kinds.count("n"), kinds.count("i")) == (95, 188, 35)
    assert {name for name in suite if name[0] == "i"} == set(UNDECIDED)


def test_what_must_be_accepted_has_the_value_of_json_loads(suite: dict[str, bytes]) -> None:
    for name, data in suite.items():
        if name[0] == "y":
            assert through_the_door(data) == ("ok", decoded(data.decode())), name


def test_what_must_be_refused_is_refused(suite: dict[str, bytes]) -> None:
    for name, data in suite.items():
        if name[0] == "n":
            code, offset = through_the_door(data)
            assert code != "ok", name
            assert 0 <= offset <= len(data), name


def test_what_is_undecided_is_decided_here(suite: dict[str, bytes]) -> None:
    for name, decision in UNDECIDED.items():
        code, value = through_the_door(suite[name])
        assert code == decision, name
        if code == "ok":
            assert value == decoded(suite[name].decode()), name


def test_500_nested_arrays_are_fine_where_the_limit_allows(suite: dict[str, bytes]) -> None:
    data = suite["i_structure_500_nested_arrays"]
    assert through_the_door(data, max_depth=500) == ("ok", decoded(data.decode()))


@pytest.mark.parametrize("options", [{}, {"snapshots": "immutable"}, {"scalars": "eager"}], ids=str)
def test_every_cut_of_every_file_gives_the_same(suite: dict[str, bytes], options: dict[str, Any]) -> None:
    """The door's value, or its fault at its place; patches replayed and growth are checked at every step."""
    grows = "scalars" not in options
    for name, data in suite.items():
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        expected = through_the_door(data)
        if len(text) > 2_000:
            ways = [[text], [text[:1], text[1:999], text[999:]]]
        elif len(text) > EVERY_CUT:
            rng = random.Random(name)
            ways = [*splits(text), *([text[:at], text[at:]] for at in rng.sample(range(len(text)), 20))]
        else:
            ways = [*splits(text), *([text[:at], text[at:]] for at in range(len(text) + 1))]
        for pieces in ways:
            assert read(pieces, grows=grows and "duplicated" not in name, **options) == expected, (name, pieces)
