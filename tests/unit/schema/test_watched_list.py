"""WatchedList: which items of a list are taken, and when. Of whole answers: test_partial_stream.py."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from tests.growing import watched

from unspool.schema.watched_list import WatchedList


class Report(BaseModel):
    items: list[int]


class Reports(BaseModel):
    reports: list[Report]


def list_of(wanted: Any, text: str, *path: Any) -> WatchedList:
    """Watch the list of an answer of which a text has come."""
    found = WatchedList(path)
    part = watched(wanted, [text]).builder._root  # pyright: ignore[reportPrivateUsage]
    while part is not None:
        if part.is_list:
            found.look_at(part)
        part = part.child
    return found


def test_items_are_taken_once() -> None:
    found = list_of(list[int], "[1,2,3")
    assert found.taken(gives_up=False) == [1, 2]
    assert found.taken(gives_up=False) == []


def test_only_the_list_at_the_path_is_looked_at() -> None:
    text = '{"reports":[{"items":[1]},{"items":[2,'
    assert list_of(Reports, text, "reports", 1, "items").taken(gives_up=False) == [2]
    assert list_of(Reports, text, "reports", 0, "items").taken(gives_up=False) == []


def test_what_is_not_known_to_be_valid_is_waited_for_or_given_up() -> None:
    found = list_of(list[int], '[1,"x",3,')
    assert found.taken(gives_up=False) == [1]
    assert found.taken(gives_up=True) == [3]


def test_the_valid_answer_tells_the_rest() -> None:
    found = list_of(list[int], '[1,"x",3,')
    found.result = [1, 2, 3, 4]
    assert found.taken(gives_up=False) == [1, 2, 3, 4]
    assert found.taken(gives_up=False) == []
    for result, items in (({"a": (5, 6)}, [5, 6]), ({"a": "no"}, []), ({"a": None}, []), ({"a": {7}}, [7]), ({}, [])):
        found = WatchedList(("a",))
        found.result = result
        assert found.taken(gives_up=False) == items
        assert found.taken(gives_up=False) == []
