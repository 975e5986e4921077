"""StructuredMachine: events in the seed's order, whatever the cut; strictness and limits of the JSON protocol."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.json_texts import as_text, broken_texts, decoded, json_texts, pieces_of
from tests.support import splits, two_slices

from unspool.errors import StreamError
from unspool.structured.events import (
    FieldEnd,
    FieldInvalid,
    FieldStart,
    ObjectEnd,
    ObjectStart,
    Progress,
    StringFieldDelta,
    StructuredMachine,
)


def joined(events: list[Progress]) -> list[tuple[Any, ...]]:
    """Events as tuples, neighbouring deltas of one string joined (P105); values as they are at the time."""
    out: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, StringFieldDelta) and out and out[-1][:2] == ("stringFieldDelta", event.path):
            out[-1] = ("stringFieldDelta", event.path, out[-1][2] + event.delta)
        else:
            names = [name for name in event.__slots__ if not name.startswith("python")]
            out.append((event.type, *(getattr(event, name) for name in names)))
    return out


def events_of(pieces: list[str], **options: Any) -> tuple[list[tuple[Any, ...]], Any]:
    machine = StructuredMachine(**options)
    events: list[Progress] = []
    for piece in pieces:
        events += machine.feed(piece)
    return joined(events), machine.finish()


TEXT = '{"steps": [{"text": "a\\u00e9\\n", "done": true}, "", [], -1.5], "n.m": {"x": null}, "final": "42"}'
VALUE = {"steps": [{"text": "aé\n", "done": True}, "", [], -1.5], "n.m": {"x": None}, "final": "42"}
EVENTS: list[tuple[Any, ...]] = [
    ("objectStart", (), "object"),
    ("fieldStart", ("steps",)),
    ("objectStart", ("steps",), "array"),
    ("fieldStart", ("steps", 0)),
    ("objectStart", ("steps", 0), "object"),
    ("fieldStart", ("steps", 0, "text")),
    ("stringFieldDelta", ("steps", 0, "text"), "aé\n"),
    ("fieldEnd", ("steps", 0, "text"), "aé\n"),
    ("fieldStart", ("steps", 0, "done")),
    ("fieldEnd", ("steps", 0, "done"), True),
    ("objectEnd", ("steps", 0), "object", {"text": "aé\n", "done": True}),
    ("fieldEnd", ("steps", 0), {"text": "aé\n", "done": True}),
    ("fieldStart", ("steps", 1)),
    ("fieldEnd", ("steps", 1), ""),
    ("fieldStart", ("steps", 2)),
    ("objectStart", ("steps", 2), "array"),
    ("objectEnd", ("steps", 2), "array", []),
    ("fieldEnd", ("steps", 2), []),
    ("fieldStart", ("steps", 3)),
    ("fieldEnd", ("steps", 3), -1.5),
    ("objectEnd", ("steps",), "array", VALUE["steps"]),
    ("fieldEnd", ("steps",), VALUE["steps"]),
    ("fieldStart", ("n.m",)),
    ("objectStart", ("n.m",), "object"),
    ("fieldStart", ("n.m", "x")),
    ("fieldEnd", ("n.m", "x"), None),
    ("objectEnd", ("n.m",), "object", {"x": None}),
    ("fieldEnd", ("n.m",), {"x": None}),
    ("fieldStart", ("final",)),
    ("stringFieldDelta", ("final",), "42"),
    ("fieldEnd", ("final",), "42"),
    ("objectEnd", (), "object", VALUE),
]


def test_events_in_the_order_of_the_seed_whatever_the_cut() -> None:
    """STREAMING, event table; P85: fieldStart, objectStart, content, objectEnd, fieldEnd; the root has none."""
    for pieces in [*splits(TEXT), *two_slices(TEXT)]:
        assert events_of(pieces) == (EVENTS, VALUE)


@pytest.mark.parametrize(
    ("text", "events", "value"),
    [
        ('"abc"', [("stringFieldDelta", (), "abc")], "abc"),
        ('""', [], ""),
        ("12", [], 12),
        ("null ", [], None),
        ("[]", [("objectStart", (), "array"), ("objectEnd", (), "array", [])], []),
    ],
)
def test_any_value_may_be_the_root(text: str, events: list[Any], value: Any) -> None:
    for pieces in splits(text):
        assert events_of(pieces) == (events, value)


def test_deltas_come_at_once_and_keep_pairs_together() -> None:
    """STREAMING: escapes may cross chunks; P89."""
    machine = StructuredMachine()
    assert machine.feed('["ab') == [
        ObjectStart((), "array"),
        FieldStart((0,)),
        StringFieldDelta((0,), "ab"),
    ]
    assert machine.feed("\\ud83d") == []
    assert machine.feed("\\ude00") == [StringFieldDelta((0,), "😀")]
    assert machine.feed('"') == [FieldEnd((0,), "ab😀")]
    assert machine.feed("]") == [ObjectEnd((), "array", ["ab😀"])]
    assert machine.finish() == ["ab😀"]


def test_partial_value_grows() -> None:
    machine = StructuredMachine()
    assert machine.partial_value is None
    machine.feed('{"a": "b')
    assert machine.partial_value == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ('{"a": 1, "a": 2}', "DUPLICATE_KEY", 11),
        ("[1e999]", "NON_FINITE_NUMBER", 6),
        ("[NaN]", "INVALID_JSON", 1),
        ("```json\n{}\n```", "INVALID_JSON", 0),
        ("[1,]", "INVALID_JSON", 3),
        ("[1] // done", "TRAILING_DATA", 4),
        ("{} {}", "TRAILING_DATA", 3),
        ("[" * 65, "MAX_DEPTH_EXCEEDED", 64),
        ("", "EMPTY_INPUT", 0),
        ('{"a": [', "INCOMPLETE_JSON", 7),
    ],
)
def test_strict(text: str, code: str, at: int) -> None:
    """STREAMING: no fences, comments, trailing commas, duplicate keys, non-finite numbers or trailing content."""
    for pieces in splits(text):
        with pytest.raises(StreamError) as caught:
            events_of(pieces)
        assert (caught.value.code, caught.value.byte_offset) == (code, at)


def test_limit_on_characters() -> None:
    """Inclusive, whitespace counted, characters and not bytes."""
    assert events_of(['["éé"]   '], max_chars=9)[1] == ["éé"]
    machine = StructuredMachine(max_chars=8)
    machine.feed('["éé"]')
    with pytest.raises(StreamError) as caught:
        machine.feed("   ")
    assert caught.value.code == "MAX_BYTES_EXCEEDED"
    assert machine.partial_value == ["éé"]


def test_limit_on_depth() -> None:
    assert events_of(["[" * 64 + "]" * 64])[1]
    assert events_of(["[" * 512 + "]" * 512], max_depth=512)[1]
    with pytest.raises(StreamError):
        StructuredMachine(max_depth=3).feed("[[[[")


@pytest.mark.parametrize(
    "options", [{"max_chars": 0}, {"max_chars": 1.5}, {"max_chars": True}, {"max_depth": 0}, {"max_depth": 513}]
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(StreamError) as caught:
        StructuredMachine(**options)
    assert caught.value.code == "INVALID_OPTIONS"


def test_after_an_error_it_is_dead_and_the_partial_value_stays() -> None:
    machine = StructuredMachine()
    machine.feed('{"a": "b')
    with pytest.raises(StreamError) as first:
        machine.feed('c", x')
    for call in (lambda: machine.feed("}"), machine.finish):
        with pytest.raises(StreamError) as again:
            call()
        assert again.value is first.value
    assert machine.partial_value == {"a": "b"}
    unfinished = StructuredMachine()
    unfinished.feed("[1")
    with pytest.raises(StreamError):
        unfinished.finish()
    with pytest.raises(StreamError):
        unfinished.feed("]")


def test_lone_surrogates() -> None:
    """STREAMING: escaped ones follow JSON; raw ones cannot be text on the wire."""
    assert events_of(['["\\ud83d"]'])[1] == ["\ud83d"]
    with pytest.raises(StreamError) as caught:
        events_of(['["\ud83d"]'])
    assert caught.value.code == "INVALID_CHUNK"


@given(st.data())
def test_events_add_up_to_the_value(data: st.DataObject) -> None:
    """The same events whatever the cut; each end has its start; the pieces of strings and the values make the whole."""
    text = data.draw(json_texts())
    events, value = events_of(data.draw(pieces_of(text)))
    assert as_text(value) == decoded(text)
    assert events == events_of([text])[0]
    open_fields: list[Any] = []
    strings: dict[Any, str] = {}
    for kind, path, *rest in events:
        if kind == "fieldStart":
            open_fields.append(path)
            strings[path] = ""
        elif kind == "stringFieldDelta":
            strings[path] = strings.get(path, "") + rest[0]
        elif kind == "fieldEnd":
            assert open_fields.pop() == path
            if isinstance(rest[0], str):
                assert strings[path] == rest[0]
        elif kind == "objectEnd" and not path:
            assert rest[1] is value
    assert not open_fields


@given(st.data())
def test_bad_text_gives_the_same_fault_whatever_the_cut(data: st.DataObject) -> None:
    text = data.draw(broken_texts())

    def outcome(pieces: list[str]) -> Any:
        try:
            return events_of(pieces)
        except StreamError as error:
            return error.code, error.byte_offset

    assert outcome(data.draw(pieces_of(text))) == outcome([text]) == outcome(list(text))


def test_an_invalid_field_crosses_without_what_was_found() -> None:
    assert FieldInvalid(("a",), "wrong", object(), "type").to_wire() == {
        "type": "fieldInvalid",
        "path": ["a"],
        "message": "wrong",
        "kind": "type",
    }


def test_text_that_is_read_without_events_is_in_the_value() -> None:
    text = '{"a":[{"b":"xy"},1],"c":"z"}'
    for end in range(len(text)):
        machine = StructuredMachine()
        assert machine.feed(text[:end], tells=False) == []
        events = machine.feed(text[end:])
        told = StructuredMachine()
        told.feed(text[:end])
        assert events == told.feed(text[end:])
        assert machine.where == told.where
        assert machine.finish() == {"a": [{"b": "xy"}, 1], "c": "z"}
