"""JavaScript's patterns in Python. Expected matches: ECMA-262, and what Node answers to the same patterns."""

from __future__ import annotations

import pytest

from unspool.schema.pattern import MAX_BACKTRACKED_CHARS, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\d+$", "12", True),
        (r"^\d+$", "١٢", False),  # Arabic-Indic digits are \d in Python only
        (r"^\d+$", "12\n", False),  # `$` is the very end
        (r"^\w+$", "é", False),
        (r"^\s$", "\u00a0", True),
        (r"^\s$", "\ufeff", True),
        (r"^\S$", "\u2003", False),
        (r"^[\s]$", "\u2028", True),
        (r"^(?<year>\d{4})-(?<month>\d\d)$", "2026-11", True),
        (r"(?<=a)b", "ab", True),
        (r"(?<!a)b", "ab", False),
        (r"^[[]$", "[", True),
        (r"^[a[]$", "a", True),
        (r"^[^]$", "\n", True),
        (r"^[]$", "", False),
        (r"^[$]$", "$", True),
        (r"^\$$", "$", True),
        (r"^[\]$]$", "$", True),
        (r"^\u{1F600}$", "😀", True),
        (r"^\u0041\x42$", "AB", True),
        (r"^a\/b$", "a/b", True),
        (r"^[+--]$", ",", True),
        ("b", "abc", True),  # not anchored
    ],
)
def test_pattern_matches_as_in_javascript(pattern: str, text: str, matches: bool) -> None:
    assert bool(compile_pattern(pattern).search(text)) is matches


@pytest.mark.parametrize("pattern", [r"\p{L}", r"\P{Lu}", r"\cA", r"(?<a>x)\k<a>", "(", "[a", r"\u{110000}", "a{2,1}"])
def test_pattern_that_python_cannot_say_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "a*a*a*a*a*b$", r"\s+$", r"^(\w+\s?)*$"])
def test_hostile_text_takes_linear_time(pattern: str) -> None:
    """Backtracking would take years, or hours."""
    compiled = compile_pattern(pattern)
    for letter in "a ":
        assert not compiled.search(letter * 300_000 + "!")


def test_lone_surrogates_are_searched() -> None:
    assert compile_pattern("^a").search("a\ud800")
    assert not compile_pattern("^b").search("a\ud800")


def test_what_needs_backtracking_is_given_no_long_text() -> None:
    compiled = compile_pattern("(?=a)a$")
    assert compiled.search("x" * (MAX_BACKTRACKED_CHARS - 1) + "a")
    assert not compiled.search("x" * MAX_BACKTRACKED_CHARS + "a")


@pytest.mark.parametrize(
    "pattern",
    [r"^[\d\-]+$", r"^[^\s]+$", r"^[\S]+$", r"\bfoo\b", r"^[a&&b]+$", r"^\W$", r"^.$", "a{", r"\0", "^(?:ab?)+c{2,3}$"],
)
def test_both_engines_agree(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    linear, backtracking = compiled._linear, compiled._backtracking
    for text in (
        "",
        "1-2",
        "a b",
        "\u00a0",
        "\u0085",
        "foo",
        "a&",
        "\u00e9",
        "\n",
        "\u2028",
        "abcc",
        "\0",
        "\ufeff",
        "a{",
    ):
        expected = backtracking.search(text) is not None
        assert compiled.search(text) is expected, text
        assert linear is None or linear.isinstance_python(text) is expected, text
