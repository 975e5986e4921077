"""OutputValidationError of an answer: made of what pydantic or the checker found wrong, path first.

In: their errors and the value as it was read, JSON or Python. Out: `Problem`s, and one error that tells them. No IO.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unspool.errors import OutputValidationError
from unspool.schema.problem import NOTHING, Problem, ProblemKind, path_text
from unspool.schema.value_tree import leaves, member_of

if TYPE_CHECKING:
    from pydantic import ValidationError

MAX_KEPT = 100
"""How many problems an error keeps: a hostile answer has a million."""
_MAX_SHOWN = 8
_MAX_SHOWN_CHARS = 80
_MAX_REASON_CHARS = 300

_KINDS: dict[str, ProblemKind] = {
    "missing": "missing-field",
    "missing_argument": "missing-field",
    "missing_keyword_only_argument": "missing-field",
    "extra_forbidden": "unexpected-field",
    "unexpected_field": "unexpected-field",
    "unexpected_keyword_argument": "unexpected-field",
    "too_many_positional": "too-many-positional",
    "duplicate_field": "duplicate-field",
    "unknown_class": "unknown-name",
    "wrong_class": "type",
    "none_required": "type",
}


def invalid(name: str, problems: Sequence[Problem], *, count: int = 0, python: bool = False) -> OutputValidationError:
    """Make the error of an answer.

    Args:
        name: of what was asked for.
        problems: what is wrong with it, in order.
        count: how many there are, when more than these.
        python: show values in Python syntax, not in JSON.
    """
    show = shown_python if python else shown_json
    lines: list[str] = []
    for problem in problems[:_MAX_SHOWN]:
        reason = " ".join(problem.message[:_MAX_REASON_CHARS].split())
        line = f"{path_text(problem.path) or 'the answer'}: {reason}"
        lines.append(line if problem.found is NOTHING else f"{line}, got {show(problem.found)}")
    count = max(count, len(problems))
    if count > len(lines):
        lines.append(f"and {count - len(lines)} more")
    error = OutputValidationError("OUTPUT_INVALID", f"The answer is not a valid {name}: " + "; ".join(lines) + ".")
    error.problems = tuple(problems[:MAX_KEPT])
    return error


def pydantic_problems(error: ValidationError, value: Any) -> list[Problem]:
    """Give the first of pydantic's faults, with the path in the answer: its own also names alternatives."""
    keys: list[Problem] = []
    problems: list[Problem] = []
    for fault in error.errors(include_url=False, include_context=False)[:MAX_KEPT]:
        loc, kind = fault["loc"], fault["type"]
        path: list[Any] = []
        found: Any = value
        missing, is_key = kind.startswith("missing"), False
        for i, step in enumerate(loc):
            found_below = member_of(found, step)
            if found_below is NOTHING:
                if step == "[key]" and path and i == len(loc) - 1:  # pydantic's word for the key, not its value
                    found, is_key = path[-1], True
                if not (missing and i == len(loc) - 1):
                    continue
                found = NOTHING
            else:
                found = found_below
            path.append(step)
        message = fault["msg"]
        if kind == "float_type" and type(found) is int:
            kind, message = "finite_number", "Input should be a finite number"
        if is_key:
            keys.append(Problem(tuple(path), f"The key: {message}", found, kind=_kind(kind, loc)))
            continue
        problems.append(Problem(tuple(path), message, NOTHING if missing else found, kind=_kind(kind, loc)))
    return [*keys, *_of_one_alternative(problems)]


def _of_one_alternative(problems: Sequence[Problem]) -> list[Problem]:
    """Of the alternatives of a union, keep the faults of those that the value went deepest into (P58).

    A value of a wrong type has no faults inside: where both are told, the former is of an alternative that was not
    meant. What is left of the same place becomes one.
    """
    kept: list[Problem] = []
    inside = {problem.path[:length] for problem in problems for length in range(len(problem.path))}
    for problem in problems:
        if problem.kind == "type" and problem.path in inside:
            continue
        last = kept[-1] if kept else None
        if last is not None and last.kind == problem.kind == "type" and last.path == problem.path:
            message = f"{last.message} or {problem.message.removeprefix('Input should be ')}"
            kept[-1] = Problem(last.path, message, last.found, kind="type")
        else:
            kept.append(problem)
    return kept


def _kind(kind: str, loc: Sequence[Any]) -> ProblemKind:
    if kind == "missing" and loc and isinstance(loc[-1], int):
        return "value"  # of a tuple
    if kind in _KINDS:
        return _KINDS[kind]
    return "type" if kind.endswith("_type") else "value"


def lone_surrogates(value: Any) -> list[Problem]:
    """Find texts that cannot be encoded."""
    return [
        Problem(path, "Input should be valid Unicode text, without half of a surrogate pair", leaf)
        for path, leaf in leaves(value)
        if isinstance(leaf, str) and any("\ud800" <= character <= "\udfff" for character in leaf)
    ]


def shown_json(value: Any) -> str:
    """Write a value as JSON, cut to what fits a message; only as much of it is written as is shown."""
    if isinstance(value, str):
        value = value[:_MAX_SHOWN_CHARS]
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value):
        text += piece[: _MAX_SHOWN_CHARS + 1]
        if len(text) > _MAX_SHOWN_CHARS:
            break
    return _cut(text)


def shown_python(value: Any) -> str:
    """Write a value in Python syntax, cut to what fits a message."""
    return _cut(repr(value[:_MAX_SHOWN_CHARS] if isinstance(value, str | bytes) else value))


def _cut(text: str) -> str:
    if len(text) > _MAX_SHOWN_CHARS:
        text = text[:_MAX_SHOWN_CHARS] + "…"
    return text.encode("utf-8", "backslashreplace").decode()


def is_too_deep(error: ValidationError) -> bool:
    """Tell whether pydantic refused a value for its depth."""
    return any(fault["type"] == "recursion_loop" for fault in error.errors(include_url=False, include_context=False))
