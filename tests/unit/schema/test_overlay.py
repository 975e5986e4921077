"""Overlay: whatever an answer says, what was given is in the result, and what was missing is the answer's."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from unspool.errors import OutputValidationError
from unspool.schema import Schema, format_value
from unspool.schema.known import KnownValue
from unspool.schema.overlay import Overlay
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine


class Node(BaseModel):
    name: str
    size: int = Field(alias="s")
    kids: list[Node]
    more: dict[str, Node]
    pair: tuple[int, Node] | None


NODES: Schema[Any] = Schema.of(Node)


def read(text: str, schema: Schema[Any], *, python: bool) -> Any:
    limits: Any = {"max_chars": len(text), "max_depth": 64}
    machine: Any = JsonReplyMachine(**limits)
    if python:
        machine = PyReplyMachine(classes=schema.classes, names=schema.names, **limits)
    machine.feed(text)
    return machine.finish()


def filled_in(known: Any, answer: Any, schema: Schema[Any], *, python: bool) -> Any:
    overlay = Overlay(KnownValue(known, schema, python=python))
    protocol: Any = "python" if python else "json"
    neutral = read(format_value(answer, protocol), schema, python=python)
    laid = overlay.laid_over(neutral)
    return overlay.put_back(schema.validate(laid, protocol=protocol), laid)


def nodes(children: st.SearchStrategy[Node], most: int) -> st.SearchStrategy[Node]:
    return st.builds(
        lambda name, s, kids, more, pair: Node(name=name, s=s, kids=kids, more=more, pair=pair),
        st.text("ab", max_size=3),
        st.integers(0, 9),
        st.lists(children, max_size=most),
        st.dictionaries(st.sampled_from(["x", "y z"]), children, max_size=2),
        st.none() | st.tuples(st.integers(0, 9), children),
    )


def trees(most: int) -> st.SearchStrategy[Node]:
    leaf = st.builds(
        lambda name, s: Node(name=name, s=s, kids=[], more={}, pair=None), st.text("ab", max_size=3), st.integers(0, 9)
    )
    return st.recursive(leaf, lambda children: nodes(children, most), max_leaves=6)


def thinned(value: Any, keep: Any) -> Any:
    """Give a value without some of its fields, as `keep` says for each, in order."""
    match value:
        case Node():
            members = {name: thinned(getattr(value, name), keep) for name in Node.model_fields if next(keep)}
            return Node.model_construct(**members)
        case list():
            return [thinned(item, keep) for item in value]
        case tuple():
            return tuple(thinned(item, keep) for item in value)
        case dict():
            return {key: thinned(item, keep) for key, item in value.items()}
        case _:
            return value


def shifted(value: Any) -> Any:
    """Give a value of the same form, in which each text and number is another one."""
    match value:
        case Node():
            return Node.model_construct(**{name: shifted(getattr(value, name)) for name in Node.model_fields})
        case Mapping():
            return {key: shifted(item) for key, item in value.items()}
        case list():
            return [shifted(item) for item in value]
        case tuple():
            return tuple(shifted(item) for item in value)
        case str():
            return value + "!"
        case int():
            return value + 100
        case _:
            return value


def check(known: Any, result: Any, answer: Any) -> None:
    """What was given is there; what was missing is the answer's."""
    match known:
        case Node():
            for name in Node.model_fields:
                if name in known.__dict__:
                    check(getattr(known, name), getattr(result, name), getattr(answer, name))
                else:
                    assert getattr(result, name) == getattr(answer, name)
        case dict():
            assert known.keys() == result.keys()
            for key, item in known.items():
                check(item, result[key], answer[key])
        case list() | tuple():
            assert len(known) == len(result)
            for one, other, asked in zip(known, result, answer, strict=True):
                check(one, other, asked)
        case _:
            assert known == result and type(known) is type(result)


@given(trees(3), st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_an_obedient_answer_gives_the_whole(tree: Node, keep: list[bool], python: bool) -> None:
    known = thinned(tree, iter(keep * 99))
    assert filled_in(known, tree, NODES, python=python) == tree


@given(trees(1), st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_what_was_given_holds_against_any_answer(tree: Node, keep: list[bool], python: bool) -> None:
    known, answer = thinned(tree, iter(keep * 99)), shifted(tree)
    before = repr(known)
    result = filled_in(known, answer, NODES, python=python)
    check(known, result, answer)
    assert repr(known) == before


@given(trees(3), trees(3), st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_an_unlike_answer_is_refused_or_holds_what_was_given(
    tree: Node, other: Node, keep: list[bool], python: bool
) -> None:
    known = thinned(tree, iter(keep * 99))
    try:
        result = filled_in(known, other, NODES, python=python)
    except OutputValidationError as error:
        assert error.code == "OUTPUT_INVALID" and error.problems
    else:
        assert filled_in(known, result, NODES, python=python) == result


CET = datetime.timezone(datetime.timedelta(hours=1), "CET")


class Meeting(BaseModel):
    model_config = ConfigDict(extra="allow")
    at: datetime.datetime
    days: list[datetime.date]
    tags: set[str]
    place: str


@pytest.mark.parametrize("python", [True, False])
def test_text_that_becomes_something_else_stays_so_and_the_rest_is_what_was_given(python: bool) -> None:
    at = datetime.datetime(2026, 1, 1, 12, tzinfo=CET)
    known: Any = Meeting.model_construct(at=at, days=["2026-01-01"], tags={"a", "b"}, room=7)
    answer = Meeting.model_construct(at=at, days=[], tags=set(), place="here", room=8, more=9)
    result = filled_in(known, answer, Schema.of(Meeting), python=python)
    assert result.at is at, "with the name of its zone, which no text has"
    assert result.days == [datetime.date(2026, 1, 1)]
    assert (result.tags, result.place, result.room) == ({"a", "b"}, "here", 7)


def test_what_is_not_completed_is_refused() -> None:
    with pytest.raises(OutputValidationError, match="Field required"):
        answer = Meeting.model_construct(tags=set())
        filled_in(Meeting.model_construct(tags={"a"}), answer, Schema.of(Meeting), python=True)
