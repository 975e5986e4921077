"""The layout of texts in Python syntax."""

from __future__ import annotations

from typing import Any

from unspool.schema import format_value
from unspool.schema.text_layout import Group, laid_out


def test_a_long_value_has_a_line_for_each_of_its_levels() -> None:
    deep: Any = ["x" * 70]
    for _ in range(100):
        deep = [deep]
    text = format_value(deep)
    assert text.count("\n") == 202 and text.count("x" * 70) == 1
    assert format_value(deep, compact=True) == "[" * 101 + f"'{'x' * 70}'" + "]" * 101


def test_a_call_has_a_line_for_each_part_and_short_brackets_one() -> None:
    inner = Group("[", [("", "1"), ("", "2")], "]")
    call = Group("Box(", [("items=", inner), ("name=", "'n'")], ")")
    assert laid_out(call, 0) == "Box(\n  items=[1, 2],\n  name='n',\n)"
    assert laid_out(call, None) == "Box(items=[1, 2], name='n')"
    assert laid_out(Group("Box(", [], ")"), 0) == "Box()"
    assert laid_out(Group("(", [("", "x" * 61)], ",)"), 0) == f"(\n  {'x' * 61},\n)"
