"""JavaScript's patterns in Python. Expected matches: ECMA-262, and what Node answers to the same patterns."""

from __future__ import annotations

import pytest

from unspool.schema.pattern import compile_pattern


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
