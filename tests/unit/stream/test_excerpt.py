from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.stream.excerpt import excerpt


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  a\n\tb\0\x1b[31m c  ", "a b [31m c"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "…"),
        ("a < b", "a < b"),
        ("<html><head><TITLE lang=en>502 Bad\nGateway</TITLE></head><body>x</body>", "502 Bad Gateway"),
        ("<script>var a = '<b>';</script><h1>No</h1><p>way</p>", "No way"),
        ("<style>h1 {", ""),
        ("<h1>cut <a href=", "cut"),
        ("<<<<", ""),
        ("\u202eevil\u200b", "evil"),
    ],
)
def test_excerpt(text: str, expected: str) -> None:
    assert excerpt(text) == expected


@given(st.text() | st.text(alphabet="<>/scriptyle tm\n"))
def test_one_bounded_line(text: str) -> None:
    line = excerpt(text, 20)
    assert len(line) <= 21
    assert line.isprintable()


def test_only_the_beginning_is_looked_at() -> None:
    assert excerpt(" " * 4_096 + "late") == ""
