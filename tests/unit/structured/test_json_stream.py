"""JsonStream, behaviour by behaviour: S numbers of reference/streamfold.md, F numbers of reference/field-reports.md."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.json_texts import (
    NOTHING,
    as_text,
    broken_texts,
    decoded,
    extends,
    json_texts,
    pieces_of,
    read,
    replay,
)
from tests.support import splits, two_slices

from unspool.errors import StreamError
from unspool.structured._apply import apply
from unspool.structured._grammar import BEGINNING, utf8_size, walk
from unspool.structured._patches import patches_of_changes
from unspool.structured.json_stream import JsonStream
from unspool.structured.tree import Patch

MODES: list[dict[str, Any]] = [
    {},
    {"scalars": "eager"},
    {"snapshots": "immutable"},
    {"duplicate_keys": "error"},
    {"snapshots": "immutable", "scalars": "eager"},
]


def fault_of(stream: JsonStream, piece: Any) -> StreamError:
    with pytest.raises(StreamError) as caught:
        stream.push(piece)
    return caught.value


def shown(text: str, **options: Any) -> Any:
    """The partial value of a text that stops there."""
    return JsonStream(**options).push(text).partial_value


def patches(*texts: str, **options: Any) -> list[list[tuple[Any, ...]]]:
    """The changes of each push as plain tuples, then those of `finish`."""
    stream = JsonStream(**options)
    states = [*map(stream.push, texts), stream.finish()]
    return [
        [(p.op, p.path) if p.op == "complete" else (p.op, p.path, p.value) for p in state.changes] for state in states
    ]


class TestValue:
    @pytest.mark.parametrize("options", MODES)
    @pytest.mark.parametrize(
        "text",
        [
            ' {"a": [1, "x", {"b": true}], "c": null} ',
            '{"s":"plain, \\"quoted\\", \\\\, \\u00e9\\ud83d\\ude00 \\n","t":"é✓😀"}',
            '{"a":1.2,"b":-3.0e+5,"c":1234567}',
            '[[], {}, "", [[{"x": {}}]], {"": []}]',
            '{\n  "a": [\n    1,\n    -2.5e-3\n  ],\n  "k\\"ey\\u0041": false\n}\n',
            '"root string with \\u20ac"',
            "-12.5e+3",
            "true",
            "[true,false,null,true , false , null]",
            "[0,-0,1e5,1E-5,1.25 ,\t3]",
            '{"":0,"":1}',
            '{"a":{"b":1},"a":{"c":2}}',
            '["\\ud83d","\\ude00","\\ud83dx","\\ud83d\\ud83d\\ude00"]',
        ],
    )
    def test_any_cut_gives_the_same_value_and_patches_that_make_it(self, text: str, options: dict[str, Any]) -> None:
        """S6, S24, S32: each text whole, one character at a time, at seeded places and cut once everywhere."""
        repeats = text in ('{"":0,"":1}', '{"a":{"b":1},"a":{"c":2}}')
        eager = options.get("scalars") == "eager"
        if repeats and options.get("duplicate_keys") == "error":
            expected: Any = ("DUPLICATE_KEY", text.rindex('"a"') + 2 if "a" in text else 7)
        else:
            expected = ("ok", decoded(text))
        for pieces in [*splits(text), *two_slices(text)]:
            assert read(pieces, grows=not (repeats or eager), **options) == expected

    @pytest.mark.parametrize("options", MODES)
    @pytest.mark.parametrize("at", [0, 1, 40])
    def test_whole_members_and_elements_in_long_pieces(self, at: int, options: dict[str, Any]) -> None:
        """What is in a long piece as a whole is read in one go; what is cut at either end of it is not."""
        deep: Any = {"k": [1.5, "a, b", {"x": ["]", {}, [[[[["deep"]]]]]]}], "é": None}
        document = {"first": [deep, {}, [], "", True, -2e3], "second": {"a": deep, "b": '\\"{', "c": [deep] * 2}}
        for indent in (None, 1):
            text = json.dumps(document, ensure_ascii=False, indent=indent)
            for size in (50, 97, 150, 400):
                pieces = [text[:at], *(text[n : n + size] for n in range(at, len(text), size))]
                assert read(pieces, grows=options.get("scalars") != "eager", **options) == ("ok", decoded(text))

    def test_value_is_absent_until_it_begins(self) -> None:
        """S4."""
        stream = JsonStream()
        assert stream.value is None
        for piece in ("", " \n", ""):
            state = stream.push(piece)
            assert state.partial_value is None
            assert state.changes == []
        assert (state.bytes_seen, state.depth, state.complete, state.in_string) == (2, 0, False, False)
        assert stream.push("[").partial_value == []

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a', {}),
            ('{"a"', {}),
            ('{"a":', {}),
            ('{"a": ', {}),
            ('{"a":"', {"a": ""}),
            ('{"a":"x', {"a": "x"}),
            ('{"a":"x\\', {"a": "x"}),
            ('{"a":"x\\u00e', {"a": "x"}),
            ('{"a":{', {"a": {}}),
            ('{"a":[', {"a": []}),
            ("[1", []),
            ("[1,", [1]),
            ("[1 ", [1]),
            ("[tru", []),
            ("[true", [True]),
            ("[-", []),
            ("[1e", []),
            ('["', [""]),
        ],
    )
    def test_what_is_shown_of_a_text_that_stops(self, text: str, value: object) -> None:
        """S5 and design section 5: scalars only when proved complete; containers and strings at once; no bare key."""
        assert shown(text) == value
        stream = JsonStream()
        for char in text:
            state = stream.push(char)
        assert state.partial_value == value

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("t", True),
            ("f", False),
            ("[n", [None]),
            ("-", None),
            ("12.", 12),
            ("1e", 1),
            ("1e+", 1),
            ("12.5e+3", 12500.0),
            ("01", 0),
            ('{"a":1', {"a": 1}),
        ],
    )
    def test_eager_scalars_show_what_they_are_so_far(self, text: str, value: object) -> None:
        """S5: a literal on its first letter; of a number the longest beginning that is one."""
        assert as_text(shown(text, scalars="eager")) == as_text(value)

    def test_eager_number_does_not_read_itself_again_and_again(self) -> None:
        """Beyond some length it is shown only when it ends; the work stays in proportion to the text."""
        stream = JsonStream(scalars="eager")
        stream.push("[0.")
        for _ in range(2_000):
            stream.push("12345")
        assert stream.push("]").partial_value == [float("0." + "12345" * 2_000)]

    def test_keys_are_plain_data(self) -> None:
        """S17."""
        text = '{"__class__": 1, "__proto__": {"constructor": 2}, "__init__": []}'
        assert read(list(text)) == ("ok", decoded(text))

    def test_last_of_repeated_keys_wins(self) -> None:
        """S8: a fresh `set` that replaces the value, and its marks go."""
        stream = JsonStream()
        stream.push('{"a": [1], "b": 2, ')
        assert stream.field_state(["a", 0]) == "complete"
        state = stream.push('"a": {')
        assert state.changes == [Patch("set", ("a",), {})]
        assert list(state.partial_value.items()) == [("a", {}), ("b", 2)]
        assert stream.field_state(["a"]) == "partial"
        assert stream.field_state(["a", 0]) == "partial"
        assert stream.push("}}").partial_value == {"a": {}, "b": 2}

    def test_repeated_key_after_a_long_time_in_any_cut(self) -> None:
        text = '{"k": {"x": [1, {"y": "z"}]}, "m": "n", "k": "new", "o": [1, 2], "m": {"p": "q", "p": 1}}'
        for options in ({}, {"snapshots": "immutable"}):
            for pieces in [*splits(text, rounds=6), *two_slices(text)]:
                assert read(pieces, grows=False, **options) == ("ok", decoded(text))


class TestState:
    def test_complete_is_about_the_root(self) -> None:
        """S9."""
        stream = JsonStream()
        assert not stream.push('{"a": {}').complete
        assert stream.push("}").complete
        number = JsonStream()
        assert not number.push("12").complete
        assert number.push(" ").complete

    def test_depth_and_in_string(self) -> None:
        """S10."""
        stream = JsonStream()
        seen = [
            (state.depth, state.in_string)
            for state in map(stream.push, ['{"', "a", '"', ":[", '"', "x\\", 'n"', "]", "}"])
        ]
        assert seen == [
            (1, True), (1, True), (1, False), (2, False), (2, True), (2, True), (2, False), (1, False), (0, False)
        ]  # fmt: skip

    def test_in_string_is_known_wherever_the_text_was_cut(self) -> None:
        text = '{"k\\"e" : "v\\\\", "n": [1, "x"], "k2":null}'
        inside = [False]
        for place, char in enumerate(text):
            escaped = text[:place].endswith("\\") and not text[:place].endswith("\\\\")
            inside.append(inside[-1] ^ (char == '"' and not escaped))
        for start in range(len(text)):
            stream = JsonStream()
            stream.push(text[:start])
            for end in range(start + 1, len(text) + 1):
                assert stream.push(text[end - 1 : end]).in_string == inside[end]

    def test_bytes_are_utf8(self) -> None:
        """S10, S32."""
        stream = JsonStream()
        assert stream.push('"é').bytes_seen == 3
        assert stream.push("😀 ").bytes_seen == 8
        assert stream.state.bytes_seen == 8
        assert stream.state.changes == []

    def test_nothing_but_blanks_after_the_end(self) -> None:
        """S11."""
        stream = JsonStream()
        stream.push("[]")
        assert stream.push(" \t\r\n").complete
        assert fault_of(stream, "x").code == "TRAILING_DATA"

    def test_finish_ends_a_root_number(self) -> None:
        """S12: its value, its completion; a second time nothing, and blanks are still taken."""
        stream = JsonStream()
        assert stream.push("12").partial_value is None
        state = stream.finish()
        assert state.changes == [Patch("set", (), 12), Patch("complete", ())]
        assert (state.partial_value, state.complete) == (12, True)
        again = stream.finish()
        assert (again.changes, again.partial_value, again.complete) == ([], 12, True)
        assert stream.push(" ").partial_value == 12
        assert fault_of(stream, "1").code == "TRAILING_DATA"

    def test_finish_keeps_value_state_and_queries(self) -> None:
        """S12 [api]."""
        stream = JsonStream()
        stream.push('{"a": "x"}')
        stream.finish()
        assert stream.value == {"a": "x"}
        assert stream.state.complete
        assert stream.field_state(["a"]) == stream.field_state(["nowhere", 3]) == "complete"

    def test_finish_releases_the_text(self) -> None:
        """S12 [api]: nothing of it is kept beyond the value, however it came."""
        text = '{"a": "' + "x" * 5_000 + '", "b": [' + "1, " * 5_000 + '"\\u00e9"]}'
        for pieces in ([text], [text[:6_000], text[6_000:]]):
            stream = JsonStream()
            for piece in pieces:
                stream.push(piece)
            stream.finish()
            held = vars(stream)
            assert all(len(item) < 50 for item in held.values() if isinstance(item, str | list))

    def test_states_stay_true_while_the_stream_goes_on(self) -> None:
        text = '{"a": [1, {"b": "cde"}], "f": "ghi\\n", "j": true}'
        stream = JsonStream()
        states = [stream.push(text[at : at + 3]) for at in range(0, len(text), 3)]
        value: Any = NOTHING
        for count, state in enumerate(states, 1):
            value = replay(value, state.changes)
            assert state.changes == state.changes
            assert state.bytes_seen == min(3 * count, len(text))
        assert value == stream.value
        assert [state.complete for state in states] == [False] * (len(states) - 1) + [True]

    def test_live_states_show_one_value(self) -> None:
        """S48, S52."""
        stream = JsonStream()
        first = stream.push('{"a": [1')
        last = stream.push(", 2]}")
        assert first.partial_value is last.partial_value is stream.value
        assert first.partial_value == {"a": [1, 2]}

    def test_root_string_states_keep_their_own_text(self) -> None:
        stream = JsonStream()
        states = [stream.push(piece) for piece in ('"ab', "cd", 'ef"')]
        assert [state.partial_value for state in states] == ["ab", "abcd", "abcdef"]
        assert stream.value == stream.state.partial_value == "abcdef"


class TestPatches:
    def test_sets_are_empty_and_then_filled(self) -> None:
        """S18, S19, S20, S23."""
        assert patches('{"a": ["x", "", {}], "b": 1}') == [
            [
                ("set", (), {}),
                ("set", ("a",), []),
                ("set", ("a", 0), ""),
                ("append", ("a", 0), "x"),
                ("complete", ("a", 0)),
                ("set", ("a", 1), ""),
                ("complete", ("a", 1)),
                ("set", ("a", 2), {}),
                ("complete", ("a", 2)),
                ("complete", ("a",)),
                ("set", ("b",), 1),
                ("complete", ("b",)),
                ("complete", ()),
            ],
            [],
        ]

    def test_one_append_a_push_and_none_without_text(self) -> None:
        """S20."""
        assert patches('["a\\n', "\\", "u00", "e9", "b", '"]') == [
            [("set", (), []), ("set", (0,), ""), ("append", (0,), "a\n")],
            [],
            [],
            [("append", (0,), "é")],
            [("append", (0,), "b")],
            [("complete", (0,)), ("complete", ())],
            [],
        ]

    def test_numbers_and_literals_come_whole(self) -> None:
        """Design section 5; S21 within one push."""
        assert patches("[1", "2", ".5", ",t", "rue", "]") == [
            [("set", (), [])],
            [],
            [],
            [("set", (0,), 12.5), ("complete", (0,))],
            [("set", (1,), True), ("complete", (1,))],
            [("complete", ())],
            [],
        ]

    def test_eager_numbers_grow_and_literals_come_at_once(self) -> None:
        """S21: one `set` a push, and one more only if the last text was not shown; S22."""
        assert patches("[1", ".", "0", "e2", ", n", "ul", "l]", scalars="eager") == [
            [("set", (), []), ("set", (0,), 1)],
            [],
            [("set", (0,), 1.0)],
            [("set", (0,), 100.0)],
            [("complete", (0,)), ("set", (1,), None), ("complete", (1,))],
            [],
            [("complete", ())],
            [],
        ]
        assert patches("12 ", scalars="eager") == [[("set", (), 12), ("complete", ())], []]

    def test_containers_in_patches_stay_empty(self) -> None:
        """S25, S26."""
        for snapshots in ("live", "immutable"):
            stream = JsonStream(snapshots=snapshots)  # type: ignore[arg-type]
            state = stream.push('{"a": [')
            made = state.changes
            stream.push("1, 2]}")
            assert [patch.value for patch in made] == [{}, []]
            made.append(Patch("complete", ()))

    @pytest.mark.parametrize("seed", range(3))
    def test_changes_are_those_of_the_walk(self, seed: int) -> None:
        """Patches made from the text afterwards equal those that the careful walk makes while it reads."""
        text = '{"a":["b\\u00e9",{"c":"d e","f":12.5,"g":true},[1,2,3],{}],"h":{"i":"\\ud83d\\ude00"},"j":null} '
        rng = random.Random(seed)
        pieces = [text]
        while len(pieces) < 12:
            at = rng.randrange(len(pieces))
            cut = rng.randint(0, len(pieces[at]))
            pieces[at : at + 1] = [pieces[at][:cut], pieces[at][cut:]]
        stream = JsonStream()
        assert [stream.push(piece).changes for piece in pieces] == list(walked(pieces))


def walked(pieces: list[str]) -> Iterator[list[Patch]]:
    """The patches of each piece as the walk alone makes them."""
    at, seen, root = BEGINNING, 0, []  # type: ignore[var-annotated]
    for piece in pieces:
        changes, at = walk(at, piece, seen, max_depth=128, unique_keys=False, eager=False)
        apply(changes, root, False)
        seen += utf8_size(piece)
        yield patches_of_changes(changes)


class TestFieldStates:
    def test_ancestors_and_unknown_paths(self) -> None:
        """S27, S28."""
        stream = JsonStream()
        assert stream.field_state([]) == "partial"
        stream.push('{"a": [1, {"b": "x')
        for path in ([], ["a"], ["a", 1], ["a", 1, "b"], ["nowhere"], ["a", 5], ["a", 1, "b", "c"], ["a", "x"]):
            assert stream.field_state(path) == "partial", path
        assert stream.field_state(["a", 0]) == "complete"
        assert stream.field_state(["a", 0, "deeper"]) == "complete"
        stream.push('"')
        assert stream.field_state(["a", 1, "b"]) == stream.field_state(["a", 1, "b", "c"]) == "complete"
        assert stream.field_state(["a", 1]) == stream.field_state(["a", 1, "other"]) == "partial"
        stream.push("}]}")
        assert stream.field_state(["whatever", 3]) == "complete"

    def test_segments_compare_by_their_text(self) -> None:
        """S29."""
        stream = JsonStream()
        stream.push('{"a": [1, "x')
        assert stream.field_state(["a", "0"]) == stream.field_state(["a", 0]) == "complete"
        for odd in ("00", "-1", "+0", "0.0", " 0", "٠", "9" * 30, -1):
            assert stream.field_state(["a", odd]) == "partial", odd
        stream.push('"], "7": 1, ')
        assert stream.field_state([7]) == "complete"

    def test_scalars_are_partial_until_complete(self) -> None:
        """S31; F17: the text of an enum is not to be believed before its quote closes."""
        stream = JsonStream()
        stream.push('{"name": "Al')
        assert stream.field_state(["name"]) == "partial"
        stream.push('ice"')
        assert stream.field_state(["name"]) == "complete"
        stream.push(', "n": 12')
        assert stream.field_state(["n"]) == "partial"
        stream.push(" ")
        assert stream.field_state(["n"]) == "complete"

    def test_eager_scalars(self) -> None:
        """S31."""
        stream = JsonStream(scalars="eager")
        stream.push("[t")
        assert stream.field_state([0]) == "complete"
        stream.push("rue, 1")
        assert stream.field_state([1]) == "partial"
        root = JsonStream(scalars="eager")
        root.push("n")
        assert root.field_state([]) == "complete"

    def test_marks_follow_the_patches(self) -> None:
        """S28, S30: at every step, what was marked complete and not set again, or lies under it, is complete."""
        text = '{"a": [1, {"b": "x", "b": [2]}], "a": "y", "c": {"d": {}, "e": null}}'
        paths: list[tuple[str | int, ...]] = [
            (), ("a",), ("a", 0), ("a", 1), ("a", 1, "b"), ("a", 1, "b", 0), ("c",), ("c", "d"), ("c", "d", "x"), ("z",)
        ]  # fmt: skip
        for pieces in splits(text):
            stream = JsonStream()
            marks: set[tuple[str | int, ...]] = set()
            for piece in pieces:
                for patch in stream.push(piece).changes:
                    if patch.op == "complete":
                        marks.add(patch.path)
                    elif patch.op == "set":
                        marks = {mark for mark in marks if mark[: len(patch.path)] != patch.path}
                for path in paths:
                    expected = any(path[:size] in marks for size in range(len(path) + 1))
                    assert (stream.field_state(path) == "complete") == expected, (pieces, path)


class TestUnicode:
    def test_raw_halves_of_a_pair_are_joined(self) -> None:
        """S33: text out of JavaScript may be cut between them."""
        for pieces in (
            ['["\ud83d', '\ude00"]'],
            ['["\ud83d\ude00"]'],
            ['["\ud83d', "", '\ude00"]'],
            ['["', "\ud83d", "\ude00", '"]'],
        ):
            assert read(pieces) == ("ok", as_text(["😀"]))

    def test_held_half_is_not_counted(self) -> None:
        """S10, S33."""
        stream = JsonStream()
        assert stream.push('"\ud83d').bytes_seen == 1
        assert stream.push("\ude00").bytes_seen == 5

    @pytest.mark.parametrize(
        ("pieces", "at"),
        [
            (['["\ud83dx"]'], 2),
            (['["\ude00"]'], 2),
            (['["é', "\ud83d", "x"], 4),
            (['["', "\ud83d"], 2),
            (["\ud83d"], 0),
            (["[", "1", "\ude00"], 2),
        ],
    )
    def test_lone_raw_halves_are_refused(self, pieces: list[str], at: int) -> None:
        """S33: never replaced; still held at the end, too."""
        assert read(pieces) == ("INVALID_CHUNK", at)

    def test_fault_before_a_lone_half_comes_first(self) -> None:
        """S46."""
        assert read(["[x\ud83dy"]) == read(list("[x\ud83dy")) == ("INVALID_JSON", 1)

    def test_escaped_halves_are_kept_and_wait_for_each_other(self) -> None:
        """S34, S35: the first half is held back until its pair, or something else, arrives."""
        assert patches('["\\ud83d', "\\ude0", '0"]')[:3] == [
            [("set", (), []), ("set", (0,), "")],
            [],
            [("append", (0,), "😀"), ("complete", (0,)), ("complete", ())],
        ]
        assert patches('["a\\ud83d', "b", '"]')[:2] == [
            [("set", (), []), ("set", (0,), ""), ("append", (0,), "a")],
            [("append", (0,), "\ud83db")],
        ]
        assert shown('["\\ud83d"') == ["\ud83d"]
        assert shown('["\\ud83d\\ud83d') == ["\ud83d"]
        assert shown('["\\\\ud83d') == ["\\ud83d"]
        assert shown('["\\ude00') == ["\ude00"]

    def test_form_feed_is_not_space(self) -> None:
        """S7."""
        for text in ("[\f1]", "\f1", "1\f", "[1\u00a0]", "[1,\u2028 2]"):
            assert read([text])[0] in ("INVALID_JSON", "TRAILING_DATA")

    def test_text_that_does_not_print_is_text(self) -> None:
        text = '{"a": "soft\u00adhyphen, \u200djoiner, \u2028, \x7f, \ue000", "b\u00ad": "\u00ad", "c": ["\u200b"]}'
        for pieces in splits(text, rounds=6):
            assert read(pieces) == ("ok", decoded(text))


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("]", ("UNEXPECTED_TOKEN", 0)),
            (" ,", ("UNEXPECTED_TOKEN", 1)),
            (":", ("UNEXPECTED_TOKEN", 0)),
            ("[}", ("MISMATCHED_CLOSING", 1)),
            ('{"a":]', ("MISMATCHED_CLOSING", 5)),
            ('{"a":1]', ("MISMATCHED_CLOSING", 6)),
            ("[1,}", ("MISMATCHED_CLOSING", 3)),
            ("[]]", ("TRAILING_DATA", 2)),
            ("{} {", ("TRAILING_DATA", 3)),
            ("truex", ("TRAILING_DATA", 4)),
            ("", ("EMPTY_INPUT", 0)),
            (" \n\t", ("EMPTY_INPUT", 0)),
            ('["é', ("INCOMPLETE_JSON", 4)),
            ('{"a":1,', ("INCOMPLETE_JSON", 7)),
            ('{"a":tru', ("INCOMPLETE_JSON", 8)),
            ("[12", ("INCOMPLETE_JSON", 3)),
            ('"abc\\', ("INCOMPLETE_JSON", 5)),
            ("tru", ("INVALID_JSON", 3)),
            ("1.", ("INVALID_JSON", 2)),
            ("01", ("INVALID_JSON", 2)),
            ("-", ("INVALID_JSON", 1)),
            ("[01]", ("INVALID_JSON", 3)),
            ("[-]", ("INVALID_JSON", 2)),
            ("[1.2.3,4]", ("INVALID_JSON", 6)),
            ("[1-2 ]", ("INVALID_JSON", 4)),
            ("[+1]", ("INVALID_JSON", 1)),
            ("[.5]", ("INVALID_JSON", 1)),
            ("[trux]", ("INVALID_JSON", 4)),
            ("[1 2]", ("INVALID_JSON", 3)),
            ("[1 true]", ("INVALID_JSON", 3)),
            ("[,1]", ("INVALID_JSON", 1)),
            ("[1,]", ("INVALID_JSON", 3)),
            ("[1,,2]", ("INVALID_JSON", 3)),
            ("[1, 2, , -3.5, 4]", ("INVALID_JSON", 7)),
            ("[[],1,,-2.5]", ("INVALID_JSON", 6)),
            ("[1,2 3,4]", ("INVALID_JSON", 5)),
            ("[1, -]", ("INVALID_JSON", 5)),
            ("{,}", ("INVALID_JSON", 1)),
            ('{"a"}', ("INVALID_JSON", 4)),
            ('{"a":}', ("INVALID_JSON", 5)),
            ('{"a" 1}', ("INVALID_JSON", 5)),
            ('{"a"7}', ("INVALID_JSON", 4)),
            ('{"a"::1}', ("INVALID_JSON", 5)),
            ('{"a":1,}', ("INVALID_JSON", 7)),
            ('{"a":1 "b":2}', ("INVALID_JSON", 7)),
            ('{"a":1,"b":x}', ("INVALID_JSON", 11)),
            ("{a:1}", ("INVALID_JSON", 1)),
            ("{'a':1}", ("INVALID_JSON", 1)),
            ("{1:1}", ("INVALID_JSON", 1)),
            ("[1,//\n2]", ("INVALID_JSON", 3)),
            ('["a\nb"]', ("INVALID_JSON", 3)),
            ('["\\x"]', ("INVALID_JSON", 3)),
            ('["\\u00zz"]', ("INVALID_JSON", 6)),
            ('{"a\tb":1}', ("INVALID_JSON", 3)),
            ('{"\\q":1}', ("INVALID_JSON", 3)),
            ("\ufeff[]", ("INVALID_JSON", 0)),
            ("[NaN]", ("INVALID_JSON", 1)),
            ("[-Infinity]", ("INVALID_JSON", 2)),
            ("[1e999]", ("NON_FINITE_NUMBER", 6)),
            ("[1, 2, -1e999, 3]", ("NON_FINITE_NUMBER", 13)),
            ('{"é":"é","b":1e400}', ("NON_FINITE_NUMBER", 20)),
            ("9" * 5000, ("NON_FINITE_NUMBER", 5000)),
            ("[" + "9" * 5000 + ", 1]", ("NON_FINITE_NUMBER", 5001)),
            ('{"a":x}}}', ("INVALID_JSON", 5)),
        ],
    )
    def test_first_fault_in_byte_order_whatever_the_cut(self, text: str, fault: tuple[str, int]) -> None:
        """S42, S45, S46."""
        ways = (
            [*splits(text), *two_slices(text)]
            if len(text) < 60
            else [[text], [text[at : at + 99] for at in range(0, len(text), 99)]]
        )
        for pieces in ways:
            for options in MODES:
                assert read(pieces, grows=False, **options) == fault, (pieces, options)

    @pytest.mark.parametrize(
        ("rest", "code", "at"),
        [
            (", 2]}", "INVALID_JSON", 0),
            ("]}", "INVALID_JSON", 0),
            ("[ , 2], 3]}", "INVALID_JSON", 2),
            ("[2}, 3]}", "MISMATCHED_CLOSING", 2),
            ('"x\n", 3]}', "INVALID_JSON", 2),
            ("1e999, 3]}", "NON_FINITE_NUMBER", 5),
            ('{"b" 1}, 3]}', "INVALID_JSON", 5),
            ('{"b": 1, }, 3]}', "INVALID_JSON", 9),
            ("[[[[[[1, ]]]]]], 3]}", "INVALID_JSON", 9),
            ("2 3, 4]}", "INVALID_JSON", 2),
            ("tru, 3]}", "INVALID_JSON", 3),
            ('"a" "b", 3]}', "INVALID_JSON", 4),
            ("3], , 4}", "INVALID_JSON", 4),
        ],
    )
    def test_faults_after_much_that_is_good(self, rest: str, code: str, at: int) -> None:
        good = '{"a": [' + "1, " * 60
        for pieces in ([good + rest], [good, rest], [good[:60], good[60:] + rest], list(good + rest)):
            assert read(pieces) == (code, len(good) + at)

    def test_repeated_key_is_a_fault_when_asked_for(self) -> None:
        """At the quote that proves it."""
        for text in ('{"é":1, "b":{}, "é":2}', '{"é":1, "b":{}, "\\u00e9":2}', '{"é":1, "b":{}, "é'):
            at = len(text[: text.rindex('"')].encode()) if text.endswith("}") else None
            for pieces in [*splits(text), *two_slices(text)]:
                code, offset = read(pieces, duplicate_keys="error")
                if at is None:
                    assert code == "INCOMPLETE_JSON"
                else:
                    assert (code, offset) == ("DUPLICATE_KEY", at)

    def test_repeated_key_is_found_before_its_value(self) -> None:
        stream = JsonStream(duplicate_keys="error")
        stream.push('{"a":1,"a')
        assert fault_of(stream, '"').byte_offset == 9

    def test_failures_are_terminal(self) -> None:
        """S13: the same error object from then on; value and queries stay as they were before the piece."""
        stream = JsonStream()
        stream.push('{"a": [1, ')
        error = fault_of(stream, '2], "b": x')
        assert error.operation == "push"
        for again in (lambda: stream.push("1"), stream.finish, lambda: stream.state):
            with pytest.raises(StreamError) as caught:
                again()
            assert caught.value is error
        assert stream.value == {"a": [1]}
        assert stream.field_state(["a", 0]) == "complete"
        assert stream.field_state(["a"]) == "partial"

    @pytest.mark.parametrize("options", MODES)
    def test_failing_piece_is_all_or_nothing(self, options: dict[str, Any]) -> None:
        """S14: whatever it had changed before its fault, at any depth."""
        text = '{"a": [1, {"b": "xyz", "c": [[2]]}], "d": {"e": "f", "g": {}}, "h": [{}, "i'
        for cut in range(len(text)):
            stream = JsonStream(**options)
            stream.push(text[:cut])
            before = as_text(stream.value)
            for rest in (text[cut:] + "\x00", text[cut:] + '"' + "]" * 3 + " ?"):
                fresh = JsonStream(**options)
                fresh.push(text[:cut])
                fault_of(fresh, rest)
                assert as_text(fresh.value) == before

    @pytest.mark.parametrize("piece", [None, 5, b"[", b"", ["["], {"a": 1}, 1.5, bytearray(b"x")])
    def test_pieces_must_be_text(self, piece: object) -> None:
        """S16."""
        for options in MODES:
            for begun in ("", '{"a": "x', '{"a": 1, "b'):
                stream = JsonStream(**options)
                stream.push(begun)
                value = as_text(stream.value)
                error = fault_of(stream, piece)
                assert (error.code, error.operation, error.byte_offset) == ("INVALID_CHUNK", "push", None)
                assert fault_of(stream, "x") is error
                assert as_text(stream.value) == value

    def test_messages_name_kind_and_place(self) -> None:
        """S47."""
        assert "5" in fault_of(JsonStream(max_depth=5), "[" * 6).message
        assert "at byte 1" in fault_of(JsonStream(), "[x").message

    def test_close(self) -> None:
        """S15."""
        stream = JsonStream()
        stream.push('["a')
        fault_of(stream, "\n")
        stream.close()
        stream.close()
        for operation, call in (
            ("push", lambda: stream.push("]")),
            ("finish", stream.finish),
            ("state", lambda: stream.state),
        ):
            with pytest.raises(StreamError) as caught:
                call()
            assert (caught.value.code, caught.value.operation) == ("STREAM_DISPOSED", operation)
        assert stream.value == ["a"]
        assert stream.field_state([0]) == "partial"

    def test_context_manager_closes(self) -> None:
        with JsonStream() as stream:
            stream.push("[1, 2")
        assert fault_of(stream, "]").code == "STREAM_DISPOSED"
        assert stream.value == [1]


class TestLimits:
    def test_bytes(self) -> None:
        """S39: every byte counts; exactly the limit is fine; a piece that passes it is refused whole."""
        stream = JsonStream(max_bytes=6)
        stream.push(' ["é')
        assert fault_of(stream, '"]').code == "MAX_BYTES_EXCEEDED"
        assert stream.value == ["é"]
        assert JsonStream(max_bytes=7).push(' ["é"]').complete
        error = fault_of(JsonStream(max_bytes=3), "[x, 1]")
        assert (error.code, error.byte_offset) == ("MAX_BYTES_EXCEEDED", 0)
        one_by_one = JsonStream(max_bytes=3)
        for char in '["a':
            one_by_one.push(char)
        assert fault_of(one_by_one, "b").byte_offset == 3
        assert JsonStream(max_bytes=3).push('"\ud83d').bytes_seen == 1

    def test_depth(self) -> None:
        """S40: at the bracket that is one too many."""
        for text, at in (('{"a":[{', 6), ("[[1],[[2", 6), ('[{"x":[', 6)):
            for pieces in splits(text):
                assert read(pieces, max_depth=2) == ("MAX_DEPTH_EXCEEDED", at)
        assert read(["[[1], [[]], {}]"], max_depth=3)[0] == "ok"

    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"b":'])
    def test_deep_nesting_never_recurses(self, opening: str) -> None:
        """Pyodide: fatal if it did. In one piece and in many, refused and allowed, read, frozen, compared and shown."""
        for levels in (3_000, 100_000):
            assert read([opening * levels])[0] == "MAX_DEPTH_EXCEEDED"
        pieces = [opening] * 600
        assert read(pieces, grows=False, max_depth=512)[0] == "MAX_DEPTH_EXCEEDED"
        closing = {"[": "]", '{"a":': "}", '[{"b":': "}]"}[opening]
        levels = 512 // len(closing)
        text = opening * levels + "1" + closing * levels
        for snapshots in ("live", "immutable"):
            whole = JsonStream(max_depth=512, snapshots=snapshots)  # type: ignore[arg-type]
            whole.push(text)
            cut = JsonStream(max_depth=512, snapshots=snapshots)  # type: ignore[arg-type]
            for at in range(0, len(text), 7):
                cut.push(text[at : at + 7])
            assert whole.value == cut.value
            assert repr(whole.value).count("1") == 1
            assert whole.finish().complete

    @pytest.mark.parametrize(
        "options",
        [
            {"max_bytes": 0},
            {"max_bytes": -1},
            {"max_bytes": 1.5},
            {"max_bytes": "5"},
            {"max_bytes": True},
            {"max_bytes": 2**32},
            {"max_depth": 0},
            {"max_depth": 513},
            {"max_depth": False},
            {"snapshots": "frozen"},
            {"snapshots": None},
            {"duplicate_keys": "first"},
            {"scalars": None},
        ],
    )
    def test_wrong_options(self, options: dict[str, Any]) -> None:
        """S37, S38; a depth above 512 is refused (Pyodide: fatal somewhere beyond 1,000)."""
        with pytest.raises(StreamError) as caught:
            JsonStream(**options)
        assert caught.value.code == "INVALID_OPTIONS"
        assert next(iter(options)) in caught.value.message

    def test_defaults(self) -> None:
        """S36."""
        JsonStream(max_bytes=None, max_depth=None, snapshots="live")
        assert read(["[" * 128 + "]" * 128])[0] == "ok"
        assert read(["[" * 129])[0] == "MAX_DEPTH_EXCEEDED"
        stream = JsonStream()
        stream.push('"' + "x" * (16 * 1024 * 1024 - 1))
        assert fault_of(stream, '"').code == "MAX_BYTES_EXCEEDED"

    def test_long_tokens_in_small_pieces(self) -> None:
        """Nothing long is read again with each piece: keys, numbers, blanks, escapes and strings of any length."""
        size = 20_000
        for text in (
            '{"' + "k" * size + '": 1}',
            '{"' + "\\n" * size + '": 1}',
            "[0." + "1" * size + "]",
            "[" + " " * size + "1" + " " * size + "]",
            '{"a"' + "\n" * size + ":" + "\t" * size + "[]}",
            '["' + "x" * size + '"]',
            '["' + "\\u00e9" * (size // 6) + '"]',
            '"' + "é" * size + '"',
        ):
            stream = JsonStream()
            for at in range(0, len(text), 3):
                stream.push(text[at : at + 3])
            stream.finish()
            assert as_text(stream.value) == decoded(text)


class TestImmutable:
    def test_earlier_values_never_change(self) -> None:
        """S48: the seed's own example."""
        stream = JsonStream(snapshots="immutable")
        first = stream.push('{"city":"San').partial_value
        second = stream.push(' Francisco"}').partial_value
        assert first == {"city": "San"}
        assert second == {"city": "San Francisco"}
        assert stream.finish().partial_value is second is stream.value

    def test_branches_that_do_not_change_keep_their_identity(self) -> None:
        """S49."""
        stream = JsonStream(snapshots="immutable")
        first = stream.push('{"a": {"x": [1]}, "b": {"y": "z').partial_value
        second = stream.push('z", "c": [').partial_value
        third = stream.push("{}]").partial_value
        assert first["a"] is second["a"] is third["a"]
        assert first["a"]["x"] is third["a"]["x"]
        assert first is not second
        assert first["b"] is not second["b"]
        assert (first["b"], second["b"], third["b"]) == (
            {"y": "z"}, {"y": "zz", "c": []}, {"y": "zz", "c": [{}]}
        )  # fmt: skip

    def test_completion_alone_changes_no_identity(self) -> None:
        """S51."""
        stream = JsonStream(snapshots="immutable")
        value = stream.push('{"a": [{"b": "x').partial_value
        for piece in ("", '"', "}", " ", "]", "}", "\n"):
            state = stream.push(piece)
            assert state.partial_value is value
            assert all(patch.op == "complete" for patch in state.changes)
        assert stream.finish().partial_value is value
        number = JsonStream(snapshots="immutable").push("[1, 2").partial_value
        assert number == [1]

    def test_one_new_container_for_each_that_changed(self) -> None:
        """S50: however many patches touch it in one piece, and its elements are not copied at all."""
        stream = JsonStream(snapshots="immutable")
        before = stream.push('[[1], ["a", "b').partial_value
        after = stream.push('c", "d", "e"], {"f": 1, "g": 2}, "h').partial_value
        assert after[0] is before[0]
        assert after == [[1], ["a", "bc", "d", "e"], {"f": 1, "g": 2}, "h"]
        assert before == [[1], ["a", "b"]]

    def test_frozen_all_the_way_down(self) -> None:
        """S48, S54."""
        stream = JsonStream(snapshots="immutable")
        value = stream.push('{"a": [{"b": 1}, "x').partial_value
        for container, key in ((value, "a"), (value["a"], 0), (value["a"][0], "b")):
            with pytest.raises(TypeError):
                container[key] = 2
            with pytest.raises(TypeError):
                del container[key]
            assert not hasattr(container, "clear")
            assert not hasattr(container, "append")

    def test_repeated_keys_leave_earlier_snapshots_alone(self) -> None:
        stream = JsonStream(snapshots="immutable")
        pieces = ['{"a": {"x": 1}, "b": ', '2, "a": [', '3], "b', '": "s', 't", "c": {', '"d": 1, "d": "', 'e"}}']
        seen = [stream.push(piece).partial_value for piece in pieces]
        assert seen == [
            {"a": {"x": 1}},
            {"a": [], "b": 2},
            {"a": [3], "b": 2},
            {"a": [3], "b": "s"},
            {"a": [3], "b": "st", "c": {}},
            {"a": [3], "b": "st", "c": {"d": ""}},
            {"a": [3], "b": "st", "c": {"d": "e"}},
        ]
        assert list(seen[-1]) == ["a", "b", "c"]

    def test_snapshots_after_an_error(self) -> None:
        stream = JsonStream(snapshots="immutable")
        value = stream.push('{"a": [1, ["x').partial_value
        fault_of(stream, '"], 2], "b": ?')
        assert stream.value is value
        assert value == {"a": [1, ["x"]]}


class TestFieldReports:
    def test_f12_prefix_ends_inside_an_escape(self) -> None:
        text = '{"a":"text \\u00e9 \\u2705 still"}'
        for size in range(1, len(text) + 1):
            assert isinstance(shown(text[:size]), dict)
        assert shown('{"a":"text \\u00e') == {"a": "text "}
        assert read(list(text)) == ("ok", decoded(text))

    def test_f13_trailing_backslash_keeps_the_string(self) -> None:
        assert shown('{"key": "str\\') == shown('{"key": "str\\u') == {"key": "str"}

    def test_f14_unfinished_numbers(self) -> None:
        text = '{"a":1.2,"b":-3.0e+5,"c":1234567}'
        known = [{}, {"a": 1.2}, {"a": 1.2, "b": -300000.0}, {"a": 1.2, "b": -300000.0, "c": 1234567}]
        for size in range(1, len(text) + 1):
            assert shown(text[:size]) == known[text[:size].count(",") + text[:size].count("}")]

    def test_f16_snapshots_only_grow(self) -> None:
        text = '{"a":[{"b":"c\\u00e9"},[],{"d":[true,null,-1.5e3]}],"e":{"f":"\\ud83d\\ude00"}}'
        for options in ({}, {"snapshots": "immutable"}):
            before: Any = NOTHING
            for size in range(1, len(text) + 1):
                value = JsonStream().push(text[:size]).partial_value
                assert value is not None
                assert extends(value, before)
                before = value
            assert read(list(text), **options) == ("ok", decoded(text))

    def test_f17_literal_cut_in_the_middle(self) -> None:
        stream = JsonStream()
        for piece in ('{"who": "', "Al", "ice"):
            stream.push(piece)
            assert stream.field_state(["who"]) == "partial"
        stream.push('"')
        assert stream.field_state(["who"]) == "complete"


@given(st.data())
def test_random_documents_in_random_pieces(data: st.DataObject) -> None:
    """The final value is that of `json.loads`; patches, growth and snapshots are checked after every piece."""
    text = data.draw(json_texts())
    pieces = data.draw(pieces_of(text))
    for options in ({}, {"snapshots": "immutable"}, {"duplicate_keys": "error"}):
        assert read(pieces, **options) == ("ok", decoded(text))
    assert read(pieces, grows=False, scalars="eager") == ("ok", decoded(text))


@given(st.data())
def test_random_faults_in_random_pieces(data: st.DataObject) -> None:
    """No exception but StreamError; the same fault at the same byte in every mode and whatever the cut."""
    text = data.draw(broken_texts())
    pieces = data.draw(pieces_of(text))
    for options in ({}, {"snapshots": "immutable"}, {"duplicate_keys": "error"}, {"max_depth": 2}):
        whole = read([text], grows=False, **options)
        assert read(pieces, grows=False, **options) == read(list(text), grows=False, **options) == whole
    assert read(pieces, grows=False, scalars="eager") == read([text], grows=False)


def test_where_tells_where_the_text_ends() -> None:
    stream = JsonStream()
    seen = [stream.where]
    for piece in ['{"a', '":', '[1,"', "x", '"', ',{"b":', "tru", "e", "}", "]}"]:
        stream.push(piece)
        seen.append(stream.where)
    text: Any = (("a",), 1)
    assert seen == [
        ((), None),
        ((), None),
        ((), None),
        text,
        text,
        (("a",), None),
        (("a", 2), None),
        (("a", 2), None),
        (("a", 2), None),
        (("a",), None),
        None,
    ]
