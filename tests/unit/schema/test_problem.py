"""Paths and problems."""

from __future__ import annotations

from typing import Any

import pytest

from unspool.schema.problem import NOTHING, Problem, path_text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a", 0, "b"), "a[0].b"),
        (("a b", "ü"), '["a b"].ü'),
        ((1.5,), "[1.5]"),
        (((1, 2), "x"), "[(1, 2)].x"),
    ],
)
def test_path_text(path: tuple[Any, ...], text: str) -> None:
    """P84: keys of a dict that are no text stand as they are."""
    assert path_text(path) == text


def test_problem() -> None:
    problem = Problem(("a", 0), "should be text", 3, kind="type")
    assert (problem.path, problem.message, problem.found, problem.kind) == (("a", 0), "should be text", 3, "type")
    assert repr(problem) == "Problem(a[0]: should be text)"
    assert Problem((), "x").found is NOTHING
