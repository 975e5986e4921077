"""TreeFollower: the same value from the tree as from the events; every test of answers in JSON compares both."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel
from tests.growing import watched
from tests.support import splits

from unspool.schema import Schema
from unspool.schema.partial_builder import PartialBuilder
from unspool.schema.tree_follower import TreeFollower
from unspool.structured.json_stream import JsonStream
from unspool.structured.reply import JsonReplyMachine


class Item(BaseModel):
    name: str
    tags: list[str] = []
    inner: Item | None = None


VALUE = [
    {"name": 'a \u00e9 "q"', "tags": ["x", "", "y"], "inner": {"name": "b", "tags": [], "inner": {"name": "c"}}},
    {"name": "", "inner": None},
    {"tags": [], "name": "d"},
]
TEXT = json.dumps(VALUE)


def followed(slices: list[str]) -> tuple[PartialBuilder, JsonStream]:
    builder = PartialBuilder(Schema.of(list[Item]))
    follower = TreeFollower(builder)
    stream = JsonStream()
    for piece in slices:
        stream.push(piece)
        follower.follow(stream.value, stream.where)
    return builder, stream


def test_every_cut_ends_in_the_value() -> None:
    for slices in splits(TEXT):
        builder, stream = followed(slices)
        assert builder.value == Schema.of(list[Item]).validate(stream.value)
        assert builder.invalid == []


def test_each_part_is_looked_at_once() -> None:
    class Counting(PartialBuilder):
        opened = scalars = 0

        def open(self, *kinds: Any) -> None:
            self.opened += 1
            super().open(*kinds)

        def take(self, parts: Any, path: Any) -> None:
            given = list(parts)
            self.scalars += sum(not isinstance(value, dict | list) for _, value in given)
            super().take(given, path)

    for slices in splits(TEXT):
        builder = Counting(Schema.of(list[Item]))
        follower, stream = TreeFollower(builder), JsonStream()
        for piece in slices:
            stream.push(piece)
            follower.follow(stream.value, stream.where)
        assert (builder.opened, builder.scalars) == (TEXT.count("{") + TEXT.count("["), 9)


def test_nothing_new_is_no_change() -> None:
    builder = PartialBuilder(Schema.of(list[Item]))
    follower, stream = TreeFollower(builder), JsonStream()
    changes = []
    for piece in ["[", " ", '{"na', 'me":', '"', "a", '"', " ", "}", "]", " "]:
        stream.push(piece)
        follower.follow(stream.value, stream.where)
        changes.append(builder.has_changed)
    assert changes == [True, False, True, False, True, True, True, False, True, True, False]


def test_a_text_at_the_root() -> None:
    builder = PartialBuilder(Schema.of(str))
    follower, stream = TreeFollower(builder), JsonStream()
    for piece in ['"a', "b", 'c"']:
        stream.push(piece)
        follower.follow(stream.value, stream.where)
    assert builder.value == "abc"


@pytest.mark.parametrize("rest", ["x", "1}", '"a":1}', "]"])
def test_a_fault_in_the_text_leaves_what_came_before_it(rest: str) -> None:
    """The scanner reads the good part of a slice again, into another tree."""
    start = '[{"name":"a","tags":["x"],"inner":{"name":"b'
    for slices in splits(start + '"' + rest, rounds=1):
        machine = JsonReplyMachine()
        builder = PartialBuilder(Schema.of(list[Item]))
        follower = TreeFollower(builder)
        for piece in slices:
            machine.feed(piece, tells=False)
            if machine.shown is not None:
                follower.follow(*machine.shown)
        assert builder.value[0].inner.name == "b"
        assert builder.value[0].tags == ["x"]


def test_another_value_of_the_reply_does_not_disturb() -> None:
    text = 'First: {"name": 1 no! Then:\n```json\n[{"name": "a"}]\n```'
    seen = watched(list[Item], [text])
    assert seen.finish() == [Item(name="a")]
    assert seen.partial.value == [Item(name="a")]
