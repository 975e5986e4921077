"""Reply machines: the value in a reply, whatever is around it, streamed as unstreamed (F19, F20, P41 to P43, P72)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.json_texts import as_text, json_texts, pieces_of
from tests.python_texts import FIELDS, broken, literals, plain, replies
from tests.support import splits, two_slices

from unspool.errors import StreamError
from unspool.structured.events import (
    FieldEnd,
    FieldStart,
    ObjectEnd,
    ObjectStart,
    Progress,
    StringFieldDelta,
    StructuredMachine,
)
from unspool.structured.py_values import PyObject, PySet
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine, Repair

Machine = JsonReplyMachine | PyReplyMachine


class LenientMachine(JsonReplyMachine):
    def __init__(self) -> None:
        super().__init__(lenient=True)


def joined(events: list[Progress]) -> list[tuple[Any, ...]]:
    """Events as tuples, neighbouring deltas of one string joined (P105)."""
    out: list[tuple[Any, ...]] = []
    for event in events:
        if isinstance(event, StringFieldDelta) and out and out[-1][:2] == ("stringFieldDelta", event.path):
            out[-1] = (*out[-1][:2], out[-1][2] + event.delta)
        else:
            out.append(
                (
                    event.type,
                    *(
                        plain(getattr(event, name)) if name == "value" else getattr(event, name)
                        for name in event.__slots__
                    ),
                )
            )
    return out  # fmt: skip


def outcome(machine: Machine, pieces: list[str]) -> tuple[Any, ...]:
    """Events, then ("ok", value) or (code, offset)."""
    events: list[Progress] = []
    for piece in pieces:
        events += machine.feed(piece)
    try:
        value = machine.finish()
    except StreamError as error:
        return joined(events), error.code, error.byte_offset
    assert machine.partial_value is value or machine.partial_value == value
    return joined(events), "ok", plain(value)


def read_json(text: str, **options: Any) -> tuple[Any, ...]:
    """The outcome of a reply, the same for every cut."""
    whole = outcome(JsonReplyMachine(**options), [text])
    for pieces in [*splits(text), *two_slices(text)]:
        assert outcome(JsonReplyMachine(**options), pieces) == whole
    return whole


def read_python(text: str, **options: Any) -> tuple[Any, ...]:
    whole = outcome(PyReplyMachine(**options), [text])
    for pieces in [*splits(text), *two_slices(text)]:
        assert outcome(PyReplyMachine(**options), pieces) == whole
    return whole


FACTS = '{"facts": ["uses ```json fences", "```\\n```"], "n": [1, {"x": null}]}'

JSON_REPLIES = {
    "bare": FACTS,
    "spaces": f" \n{FACTS}\n ",
    "mark": f"\ufeff{FACTS}",
    "fence": f"```json\n{FACTS}\n```",
    "no-tag": f"```\n{FACTS}\n```",
    "upper-case": f"```JSON\r\n{FACTS}\r\n```\r\n",
    "one-line": f"```json {FACTS}```",
    "no-newline": f"```{FACTS}```",
    "unclosed": f"```json\n{FACTS}\n",
    "four-marks": f"````json\n{FACTS}\n````",
    "tildes": f"~~~json\n{FACTS}\n~~~",
    "prose": f"Sure, it's easy! Here you go:\n\n```json\n{FACTS}\n```\nHope that helps {{really}}.",
    "in-a-list": f"1. ```json\n   {FACTS}\n   ```",
    "thinking": f"<think>Maybe ```json [1] ``` or {{</think>\n\n{FACTS}",
    "thinking-and-fence": f"<think>hm</think>```json\n{FACTS}\n```",
    "end-of-thinking": f"the user wants ```facts```</think>\n{FACTS}",
    "prose-around": f"Here is the JSON: {FACTS} Hope that helps!",
    "prose-with-brackets": f"The [usual] answer:\n{FACTS}\n\nDone.",
    "second-fence": f"```sh\nls\n```\nThen:\n```json\n{FACTS}\n```",
    "two-fences": f'```json\n{FACTS}\n```\n```json\n{{"other": 1}}\n```',
    "closing-tag": f"{FACTS}</answer>",
    "only-closed": f"{FACTS}\n```",
}


class TestJson:
    @pytest.mark.parametrize("name", JSON_REPLIES)
    def test_value_and_events_are_those_of_the_bare_value(self, name: str) -> None:
        """F19, F20, P72: streamed at any cut as unstreamed, strings untouched, nothing before a fence is decided."""
        events, state, value = read_json(JSON_REPLIES[name])
        assert (state, value) == ("ok", plain(json.loads(FACTS)))
        machine = StructuredMachine()
        assert events == joined(machine.feed(FACTS))

    def test_the_fence_of_the_report(self) -> None:
        """F20: the deltas of the report."""
        machine = JsonReplyMachine()
        told = [machine.feed(delta) for delta in ("``", "`js", 'on\n{"a"', ":1}\n``", "`")]
        assert told[:2] == [[], []]
        assert told[2] == [ObjectStart((), "object")]
        assert told[3] == [FieldStart(("a",)), FieldEnd(("a",), 1), ObjectEnd((), "object", {"a": 1})]
        assert machine.finish() == {"a": 1}

    @pytest.mark.parametrize(
        ("text", "code", "at"),
        [
            ("", "EMPTY_INPUT", 0),
            ("I cannot answer that.", "INVALID_JSON", 0),
            ("```json\n```", "EMPTY_INPUT", 8),
            ("```json", "EMPTY_INPUT", 7),
            ("<think>never ends {}", "EMPTY_INPUT", 0),
            ('{"a": 1} {"a": 2}', "TRAILING_DATA", 9),
            ('{"a": tru, "b": [1]}', "INVALID_JSON", 9),
            ('{"a": bad, "b": [1, 2]', "INVALID_JSON", 6),
            ("12 apples", "TRAILING_DATA", 3),
            ('é: ```json\n{"é": 1,}\n```', "INVALID_JSON", 21),
            ('```json\n{"a": 1}\nnot this\n```', "TRAILING_DATA", 17),
            ('```json\n{"a": [1\n```', "INCOMPLETE_JSON", 17),
            ("[1, 1e999]", "NON_FINITE_NUMBER", 9),
            ('{"a": 1, "a": 2}', "DUPLICATE_KEY", 11),
            ("[" * 65, "MAX_DEPTH_EXCEEDED", 64),
            ('Sure: {"a": 1,}', "INVALID_JSON", 14),
            ('```sh\nls\n```\nSo: {"a": 1,}', "INVALID_JSON", 25),
            ('So: {"a": 1,}\n```json\n{"a": 2,}\n```', "INVALID_JSON", 30),
        ],
    )
    def test_what_is_no_json_is_reported_with_its_place(self, text: str, code: str, at: int) -> None:
        """F19: text that is not JSON is left alone. Offsets count in the whole reply."""
        assert read_json(text)[1:] == (code, at)

    @given(st.data())
    def test_any_json_in_a_fence(self, data: st.DataObject) -> None:
        text = data.draw(json_texts())
        before = data.draw(st.sampled_from(["", "Here:\n", "<think>[1] ```</think>\n", "- [x] it's {done}\n"]))
        reply = f"{before}```json\n{text}\n```\nDone."
        machine = JsonReplyMachine()
        for piece in data.draw(pieces_of(reply)):
            machine.feed(piece)
        assert as_text(machine.finish()) == as_text(json.loads(text))

    @given(st.data())
    def test_any_reply_is_read_alike_at_any_cut(self, data: st.DataObject) -> None:
        parts = st.sampled_from(
            [
                "```",
                "json\n",
                "```json\n",
                "\n",
                "~~~",
                '{"a": ',
                "[1, 2]",
                "}",
                '"x',
                '"',
                "text ",
                "<think>",
                "</think>",
            ]
        )
        text = "".join(data.draw(st.lists(parts, max_size=12)))
        for lenient in (False, True):
            whole = outcome(JsonReplyMachine(lenient=lenient), [text])
            assert outcome(JsonReplyMachine(lenient=lenient), list(text)) == whole
            assert outcome(JsonReplyMachine(lenient=lenient), data.draw(pieces_of(text))) == whole

    @pytest.mark.parametrize(
        ("make", "text", "found"),
        [
            (JsonReplyMachine, "Sure: it is so.", False),
            (JsonReplyMachine, "```sh\nls\n```", False),
            (JsonReplyMachine, "null and void", False),
            (JsonReplyMachine, "Foo(x=1)", False),
            (JsonReplyMachine, 'Sure: {"a": 1,}', True),
            (lambda: JsonReplyMachine(lenient=True), "Sure: it is so.", False),
            (lambda: JsonReplyMachine(lenient=True), "Sure", False),
            (lambda: JsonReplyMachine(lenient=True), "Sure: {'a': tru}", True),
            (lambda: PyReplyMachine(names=()), "Well, I cannot.", False),
            (lambda: PyReplyMachine(names=()), "Sure: Foo(x=1)", False),
            (lambda: PyReplyMachine(names=()), "Red", True),
            (lambda: PyReplyMachine(classes={}), "Foo(x=1)", True),
        ],
    )
    def test_prose_is_not_taken_for_a_faulty_value(self, make: Any, text: str, found: bool) -> None:
        """F19: what is told is that there is no value, not which character of a sentence is no JSON."""
        for slices in splits(text):
            machine = make()
            for piece in slices:
                machine.feed(piece)
            with pytest.raises(StreamError) as caught:
                machine.finish()
            assert machine.found is found
            assert caught.value.message.endswith("was found in the reply.") is not found
            assert str(caught.value).endswith(caught.value.message)


AROUND: dict[str, tuple[str, str]] = {
    "prose": ("Sure: ", ""),
    "prose around": ("It's the user's (don't ask): ", "\nThat's {all} [of] it, isn't it?"),
    "thinking": ("<think>{'a': [1]} ```</think>\n", " Done."),
    "thinking and prose": ("<think>{'a': 1}</think>So:\r\n", ""),
    "fence": ("It's:\n```json\n", "\n```\nIt's {that}."),
    "fence of another kind": ("Here:\r\n~~~~\r\n", "\r\n~~~~"),
    "failed fence": ("```sh\nls {'a'}\n```\n```\n", "\n```"),
    "braces": ("don't {ever} [see] {'quoted'} ['so' on](x) {x: 1} [#1] of it: ", ""),
}
NEARLY: dict[str, tuple[str, Any]] = {
    "single quotes": ("{'what': 'nut'}", {"what": "nut"}),
    "comment": ('{/*c*/"what": "nut"}', {"what": "nut"}),
    "line comments": ("[// it's ] one\n1, # }\n2]", [1, 2]),
    "trailing commas": ('{"a": [1, 2,],}', {"a": [1, 2]}),
    "all": ("{ /* it's */ 'a': ['it\\'s', \"b\", {'c': null,},], # ```\n}", {"a": ["it's", "b", {"c": None}]}),
    "empty": ("{}", {}),
    "fence in text": ("{'a': '```\\n```'}", {"a": "```\n```"}),
}


class TestLenientAnywhere:
    """F19: what lenient reading takes at the start of a reply it takes wherever a value may begin."""

    @pytest.mark.parametrize("place", AROUND)
    @pytest.mark.parametrize("name", NEARLY)
    def test_around_it(self, name: str, place: str) -> None:
        (before, after), (text, value) = AROUND[place], NEARLY[name]
        assert read_json(before + text + after, lenient=True)[1:] == ("ok", plain(value))

    @pytest.mark.parametrize("place", AROUND)
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("{'what': 'nut'", {"what": "nut"}),
            ("{'what': 'nu", {"what": "nu"}),
            ("{'what': ['nut', 'x", {"what": ["nut", "x"]}),
            ("{'what': 'nut', 'so", {"what": "nut"}),
            ("['a', ", ["a"]),
            ("[{'a': 1}, // it's\n{", [{"a": 1}, {}]),
        ],
    )
    def test_unclosed(self, text: str, value: Any, place: str) -> None:
        assert read_json(AROUND[place][0] + text, lenient=True)[1:] == ("ok", plain(value))

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('Use {\'x} for it: {"a": 1}', {"a": 1}),
            ("The set {'a', 'b'} gives {'a': 1}", {"a": 1}),
            ("So ['it' is {'a': 2}] then: {'a': 1}", {"a": 1}),
            ("So {'it' is {'a': 2}} then: {'a': 1}", {"a": 1}),
            ("Issue [#12](x)\nsays {'a': 1}", {"a": 1}),
            ("So {'x: ```json\n{'a': 1}\n```", {"a": 1}),
            ("{'a': 1} it's \ud83d", {"a": 1}),
            ("{'a': 1}\n# so\0 it is", {"a": 1}),
            ("{'a': 1} /", {"a": 1}),
        ],
    )
    def test_brackets_of_the_prose(self, text: str, value: Any) -> None:
        assert read_json(text, lenient=True)[1:] == ("ok", plain(value))

    @pytest.mark.parametrize(
        ("text", "code", "at"),
        [
            ("Sure: {'a': tru, 'b': {'c': 1}}", "UNKNOWN_NAME", 12),
            ('Sure: {"a" 1, "b": {"c": 1}} {"d": 1}', "INVALID_JSON", 11),
            ("Sure: {'a' 1, 'b': {}, 'c': {'d': 1}}", "INVALID_JSON", 11),
            ("Sure: ['a' {'b': 1}]", "INVALID_JSON", 11),
            ("So we've {'", "INCOMPLETE_JSON", 11),
            ("So we've {", "INVALID_JSON", 3),
            ("So we've ['t and so on", "INCOMPLETE_JSON", 22),
            ("{'a': 1} {'b': 2}", "TRAILING_DATA", 9),
            ("So {'a': 1}, {'b': 2}", "TRAILING_DATA", 11),
        ],
    )
    def test_nothing_inside_a_broken_value_is_taken_for_it(self, text: str, code: str, at: int) -> None:
        assert read_json(text, lenient=True)[1:] == (code, at)


class TestLenient:
    @pytest.mark.parametrize(
        ("text", "value", "repairs"),
        [
            ('{"a": [1, 2,], "b": "x",}', {"a": [1, 2], "b": "x"}, [("trailing-comma", 12), ("trailing-comma", 24)]),
            ("{'a': 'it\\'s', \"b\": 1}", {"a": "it's", "b": 1}, [("single-quotes", 1), ("single-quotes", 6)]),
            ('{"a": 1 // one\n}', {"a": 1}, [("comment", 8)]),
            ('/* é */ {"a": /* // */\n/**/ 1}', {"a": 1}, [("comment", 0), ("comment", 15), ("comment", 24)]),
            ('{"a": 1} # done', {"a": 1}, [("comment", 9)]),
            ('{"a": [1, "b', {"a": [1, "b"]}, [("unclosed", 12)]),
            ('{"a": [1, 2', {"a": [1, 2]}, [("unclosed", 11)]),
            ('{"a": 1, "b": tr', {"a": 1}, [("unclosed", 16)]),
            ('{"a": 1, "b": true', {"a": 1, "b": True}, [("unclosed", 18)]),
            ('{"a": 1, "b":', {"a": 1}, [("unclosed", 13)]),
            ('{"a": 1, "b', {"a": 1}, [("unclosed", 11)]),
            ('{"a": "x\\u00', {"a": "x"}, [("unclosed", 12)]),
            ('Here: ```json\n{"a": 1,}\n```', {"a": 1}, [("trailing-comma", 22)]),
            ('{"a": "x\n', {"a": "x"}, [("unclosed", 9)]),
            ('{"a": 1, "b\n', {"a": 1}, [("unclosed", 12)]),
            ('{"a": "\\/\\ud83d\\ude00\\b"}', {"a": "/😀\b"}, []),
        ],
    )
    def test_repairs(self, text: str, value: Any, repairs: list[tuple[str, int]]) -> None:
        _, state, found = read_json(text, lenient=True)
        assert (state, found) == ("ok", plain(value))
        machine = JsonReplyMachine(lenient=True)
        machine.feed(text)
        machine.finish()
        assert machine.repairs == [Repair(*repair) for repair in repairs]
        if repairs and "done" not in text:
            with pytest.raises(StreamError):
                read_value(JsonReplyMachine(), text)

    @pytest.mark.parametrize("marks", ["```", "~~~~"])
    @pytest.mark.parametrize("after", ["", "\n", "\nThat is it. {'c': 2}"])
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a": 1', {"a": 1}),
            ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}),
            ('{"a": 1,', {"a": 1}),
            ('{"a": 1, "b":', {"a": 1}),
            ('{"a": 1, "b"', {"a": 1}),
            ('{"a": 1, "b', {"a": 1}),
            ('{"a": 1, "b": tr', {"a": 1}),
            ('{"a": 1, "b": true', {"a": 1, "b": True}),
            ('{"a": "x', {"a": "x"}),
            ('{"a": "x  \n  ', {"a": "x  "}),
            ('["x", "y', ["x", "y"]),
            ('"é', "é"),
            ("[{", [{}]),
        ],
    )
    def test_an_end_that_is_missing_in_a_fence(self, text: str, value: Any, after: str, marks: str) -> None:
        """F19: it is put right as at the end of the reply, where the marks stand that close the fence."""
        reply = f"So:\n{marks}json\n{text}\n{marks}{after}"
        at = len(reply.removesuffix(f"{marks}{after}").encode())
        for pieces in (*splits(reply), *two_slices(reply)):
            machine = JsonReplyMachine(lenient=True)
            for piece in pieces:
                machine.feed(piece)
            assert machine.finish() == value
            assert machine.repairs == [Repair("unclosed", at)]

    @pytest.mark.parametrize("text", ['```json\n{"a": "x\n``', '```json\n{"a": "x"\n`', '```json\n{"a": "x"}\n``'])
    def test_marks_that_are_cut(self, text: str) -> None:
        assert read_json(text, lenient=True)[1:] == ("ok", plain({"a": "x"}))

    @pytest.mark.parametrize(
        ("text", "code", "at"),
        [
            ('```json\n{"a": "x\ny"}\n```', "INVALID_JSON", 16),
            ('```json\n{"a": "x' + "\n" * 200 + "```", "INVALID_JSON", 16),
            ('{"a": "x\n``', "INVALID_JSON", 8),
            ('```json\n{"a": 1 `b\n```', "INVALID_JSON", 16),
            ("```\n{\n```\n", "INCOMPLETE_JSON", 6),
            ("```\n{'no\n```\n", "INCOMPLETE_JSON", 9),
            ('```\n"\n```\n', "INCOMPLETE_JSON", 6),
        ],
        ids=ascii,
    )
    def test_what_is_no_end(self, text: str, code: str, at: int) -> None:
        assert read_json(text, lenient=True)[1:] == (code, at)

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{a: 1}", "INVALID_JSON"),
            ("[1 2]", "INVALID_JSON"),
            ("[,]", "INVALID_JSON"),
            ("[True]", "UNKNOWN_NAME"),
            ("(1, 2)", "INVALID_JSON"),
            ("{1: 2}", "INVALID_JSON"),
            ("[0x1F]", "INVALID_JSON"),
            ("[1_0]", "INVALID_JSON"),
            ("'a' 'b'", "TRAILING_DATA"),
            ("[NaN]", "UNKNOWN_NAME"),
            ("[f(1)]", "INVALID_JSON"),
            ("[1}", "MISMATCHED_CLOSING"),
            ('{"a": 1, "a": 2}', "DUPLICATE_KEY"),
            ("", "EMPTY_INPUT"),
        ],
    )
    def test_no_more_than_that(self, text: str, code: str) -> None:
        assert read_json(text, lenient=True)[1] == code

    @given(st.data())
    def test_strict_json_is_read_alike(self, data: st.DataObject) -> None:
        text = data.draw(json_texts())
        machine = JsonReplyMachine(lenient=True)
        for piece in data.draw(pieces_of(text)):
            machine.feed(piece)
        assert as_text(machine.finish()) == as_text(json.loads(text))
        assert machine.repairs == []


def read_value(machine: Machine, text: str) -> Any:
    machine.feed(text)
    return machine.finish()


ANSWER = PyObject("Answer", {"x": 1, "s": "has ``` inside"})
CODE = "Answer(x=1, s='''has ``` inside''')"
PYTHON_REPLIES = {
    "bare": CODE,
    "assigned": f"\ufeff\n  output: Answer = {CODE};  # it's done\n\n",
    "fence": f"```python\n# note: ```\n{CODE}\n```",
    "one-line": f"```{CODE}```",
    "blanks": f"``` python \r\n{CODE}\r\n```",
    "c++": f"```c++\n{CODE}\n```",
    "unclosed": f"```python\n{CODE}",
    "four-marks": f"````python\noutput = {CODE}\n````",
    "tildes": f"Here:\n~~~py\n{CODE}\n~~~\n",
    "prose": f"Sure, it's easy:\n\n```python\n{CODE}\n```\nREQUEST:\n  next",
    "in-a-list": f"1. ```python\n   {CODE}\n   ```",
    "thinking": f"<think>maybe ```</think>\n```python\n{CODE}\n```",
    "second-fence": f"```text\nI'll (try\n```\n```python\n{CODE}\n```",
    "two-fences": f"```python\n{CODE}\n```\n```python\nAnswer(x=2)\n```",
    "inline-code": f"The class `Answer` fits:\n```python\n{CODE}\n```",
}


class TestPython:
    @pytest.mark.parametrize("name", PYTHON_REPLIES)
    def test_value_and_events_are_those_of_the_bare_value(self, name: str) -> None:
        """P41 to P44, P104."""
        events, state, value = read_python(PYTHON_REPLIES[name], classes={"Answer": ("x", "s")})
        assert (state, value) == ("ok", plain(ANSWER))
        machine = PyReplyMachine()
        assert events == joined(machine.feed(CODE))
        assert events[0] == ("objectStart", (), "object", "Answer", None)

    def test_what_follows_a_fence_is_not_looked_at(self) -> None:
        """P43: not even for whether it is text."""
        for machine in (JsonReplyMachine, PyReplyMachine):
            for pieces in splits("```\n[1]\n``` \ud83d0"):
                assert outcome(machine(), pieces)[1:] == ("ok", plain([1]))

    def test_a_tuple_without_brackets_in_a_fence(self) -> None:
        """P45, P104: it is read, and not shown."""
        for text in ("```1,```", "```\n1, 'a'\n```", "```py\nx = 1, 'a',\n```\nDone."):
            events, state, value = read_python(text)
            assert (events, state) == ([], "ok")
            assert value == plain((1,) if text == "```1,```" else (1, "a"))

    def test_a_slice_of_many_literals_is_few_events(self) -> None:
        """P105: neighbouring deltas of one string say no more than one; 1 MB of literals is not 250,000 events."""
        machine = PyReplyMachine()
        assert len(machine.feed("['x', " + '"a" ' * 200_000)) == 6
        assert machine.feed('"b" ' * 3) == [StringFieldDelta((1,), "bbb")]
        whole = "a" * 200_000 + "bbbcde"
        assert machine.feed("'c' 'd' '' 'e', 'f']")[:2] == [StringFieldDelta((1,), "cde"), FieldEnd((1,), whole)]
        assert machine.finish() == ["x", whole, "f"]
        assert len(PyReplyMachine().feed('"a" ' * 1000 + "?")) == 1, "what comes before a fault is joined as well"

    def test_kinds_of_containers(self) -> None:
        """STREAMING, "Python field previews": tuples and sets are arrays with a pythonKind."""
        machine = PyReplyMachine()
        events = machine.feed("[(1,), {'a'}, set(), [], {}, Foo()]")
        starts = [event.to_wire() for event in events if isinstance(event, ObjectStart)]
        assert [{name: item for name, item in wire.items() if name.startswith("python")} for wire in starts] == [
            {},
            {"pythonKind": "tuple"},
            {"pythonKind": "set"},
            {"pythonKind": "set"},
            {},
            {},
            {"pythonClass": "Foo"},
        ]
        ends = [event for event in events if isinstance(event, ObjectEnd)]
        assert ends[1] == ObjectEnd((1,), "array", PySet(("a",)), None, "set")

    def test_previews_stop_and_the_last_word_is_the_end(self) -> None:
        """P97: what was shown stays, the reply is read to its end."""
        machine = PyReplyMachine()
        events = machine.feed("['a', 1 + 1]\n```python\n['b']\n```")
        assert FieldEnd((0,), "a") in events
        assert machine.partial_value == ["a"]
        assert machine.finish() == ["b"]
        assert machine.partial_value == ["b"]

    @pytest.mark.parametrize(
        ("text", "code", "at"),
        [
            ("", "EMPTY_INPUT", 0),
            ("I cannot answer that.", "INVALID_PYTHON", 2),
            ("```python\n```", "EMPTY_INPUT", 10),
            ("Answer(x=1)\n```", "EMPTY_INPUT", 15),
            ("Answer(x=1\n```sh\nls -l\n```", "INVALID_PYTHON", 11),
            ("Well, I will:\n```\nAnswer(x=\n```", "INVALID_PYTHON", 28),
            ("`Answer(x=1)`", "INVALID_PYTHON", 0),
            ("The answer is Answer(x=1)", "INVALID_PYTHON", 4),
            ("Answer(x=1) is the answer", "TRAILING_DATA", 12),
            ("> ```python\n> Answer(x=1)\n> ```", "INVALID_PYTHON", 12),
            ("é ```python\nAnswer(x=\n```", "INVALID_PYTHON", 23),
            ("é ```\nAnswer(y=é)\n```\n```\n[1 2]\n```", "UNKNOWN_NAME", 16),
            ("Answer(x=1)\x00", "TRAILING_DATA", 11),
        ],
    )
    def test_the_fault_of_the_first_fence_is_told(self, text: str, code: str, at: int) -> None:
        """P41, P43, P74. Offsets count in the whole reply."""
        assert read_python(text, classes={"Answer": ("x", "y")}, names=())[1:] == (code, at)

    @given(st.data())
    def test_events_at_any_cut(self, data: st.DataObject) -> None:
        """P105, of valid and of broken replies."""
        text = data.draw(replies | broken(replies))
        whole = outcome(PyReplyMachine(classes=FIELDS), [text])
        assert outcome(PyReplyMachine(classes=FIELDS), list(text)) == whole
        assert outcome(PyReplyMachine(classes=FIELDS), data.draw(pieces_of(text))) == whole

    @given(st.data())
    def test_json_data_has_the_same_events_in_either_syntax(self, data: st.DataObject) -> None:
        """P106: one vocabulary. Only half of a surrogate pair is text in JSON alone (P68)."""
        text = data.draw(json_texts())
        value = json.loads(text)
        assume(not any("\ud800" <= char <= "\udfff" for char in json.dumps(value, ensure_ascii=False)))
        *in_json, _, first = outcome(JsonReplyMachine(), [text])
        *in_python, _, second = outcome(PyReplyMachine(), data.draw(pieces_of(repr(value))))
        assert (in_python, second) == (in_json, first)

    @given(st.data())
    def test_any_literal_in_a_fence(self, data: st.DataObject) -> None:
        text = data.draw(literals)
        whole = read_value(PyReplyMachine(), text)
        machine = PyReplyMachine()
        for piece in data.draw(pieces_of(f"It's:\n```python\nx = {text}\n```\nDone.")):
            machine.feed(piece)
        assert plain(machine.finish()) == plain(whole)

    @given(st.data())
    def test_any_reply_is_read_alike_at_any_cut(self, data: st.DataObject) -> None:
        """P105."""
        parts = [
            "```",
            "py\n",
            "```python\n",
            "\n",
            "~~~",
            "Foo(x=",
            "(1, 2)",
            ")",
            "'x",
            "'",
            "'''",
            "text ",
            "</think>",
        ]
        text = "".join(data.draw(st.lists(st.sampled_from(parts) | broken(), max_size=8)))
        whole = outcome(PyReplyMachine(), [text])
        assert outcome(PyReplyMachine(), list(text)) == whole
        assert outcome(PyReplyMachine(), data.draw(pieces_of(text))) == whole


class TestLimits:
    @pytest.mark.parametrize("machine_of", [PyReplyMachine, JsonReplyMachine])
    def test_characters(self, machine_of: Any) -> None:
        """P99: all of the reply counts, inclusive, characters and not bytes."""
        machine = machine_of(max_chars=9)
        machine.feed("```\n[1]\né")
        machine.feed("")
        with pytest.raises(StreamError) as caught:
            machine.feed("x")
        assert caught.value.code == "MAX_BYTES_EXCEEDED"
        assert machine.partial_value == [1]
        for call in (lambda: machine.feed(""), machine.finish):
            with pytest.raises(StreamError) as again:
                call()
            assert again.value is caught.value

    @pytest.mark.parametrize("machine_of", [PyReplyMachine, JsonReplyMachine])
    @pytest.mark.parametrize("options", [{"max_chars": 0}, {"max_chars": True}, {"max_depth": 0}, {"max_depth": 513}])
    def test_wrong_options(self, machine_of: Any, options: dict[str, Any]) -> None:
        with pytest.raises(StreamError) as caught:
            machine_of(**options)
        assert caught.value.code == "INVALID_OPTIONS"

    @pytest.mark.parametrize(
        "text",
        [
            "```x\n" * 200_000,
            "```" * 300_000,
            "`" * 1_000_000,
            "~~~\n" * 250_000,
            "<think>" * 140_000,
            "</think>[" * 110_000,
            "[" * 1_000_000,
            "```\n[''' " * 110_000,
            "text\n" * 200_000,
            "```" + " " * 1_000_000,
            "<think></think>" * 69_000 + "?",
            "<think>" + "</think" * 140_000,
            "{" + "``" * 500_000,
            "```\n?\n" * 64 + '"' * 1_000_000,
            "a.b," * 250_000 + "x y",
            "\ufeff" * 1_000_000,
            "[" * 60 + "'a' " * 200_000,
            "So " + "{'x} " * 200_000,
            "So " + "['a' b] " * 120_000,
            "So {'x " + "{}" * 490_000,
            "So [" + "," * 1_000_000,
            "So {" + "/**/" * 250_000,
            "So {'" + "x" * 1_000_000,
        ],
        ids=lambda text: repr(text[:8]),
    )
    @pytest.mark.parametrize("machine_of", [PyReplyMachine, JsonReplyMachine, LenientMachine])
    def test_hostile_replies_end_in_a_typed_error(self, machine_of: Any, text: str) -> None:
        """P69: whatever is said in a reply, in linear time."""
        for size in (len(text), 1024):
            machine = machine_of()
            for at in range(0, len(text), size):
                machine.feed(text[at : at + size])
            with pytest.raises(StreamError):
                machine.finish()


class TestCuts:
    """F19, F20: what a reply is does not depend on how the network cut it, however odd it is."""

    @pytest.mark.parametrize(
        "text",
        [
            " \ufeff[1]",
            "\ufeff\n\ufeff [1]",
            "<think>İİİ</think>[1]",
            "<THINK>İ K</Think> [1]",
            "<thinK>x</thinK>[1]",
            "`" * 64 + "\n[1]\n" + "`" * 64,
            "`" * 65 + "\n[1]\n" + "`" * 65,
            "x " + "`" * 70 + "json\n[1]\n" + "`" * 70,
            "~" * 66 + "\n[1]",
            "x\n" + " " * 39 + "~~~\n[1]",
            "x\n" + " " * 70 + "~~~\n[1]",
            "x [" + " " * 30 + "1]",
            "x [" + " " * 70 + "1]",
            "x [" + "\n" * 39 + "true]",
            "```" + " " * 39 + "json\n[1]",
            "```" + " " * 90 + "json\n[1]",
            "```json" + " " * 39 + "[1]",
            "```json" + " " * 50 + "[1]",
            "```" + "a" * 40 + "\n[1]",
            "```" + "a" * 41 + "\n[1]",
            "```x\n```" + " " * 90 + "y\n```[1]",
            '```"``\\',
            '```json\n{"a": "`` \\',
            'true\t\r: {"a"',
            "K\t \nnul",
            "# x\0y\n[1]",
            "// x\0y\n[1]",
        ],
        ids=repr,
    )
    def test_replies_of_odd_lengths(self, text: str) -> None:
        read_json(text)
        read_json(text, lenient=True)
        read_python(text)

    @given(st.data())
    def test_odd_replies_at_any_cut(self, data: st.DataObject) -> None:
        marks = [
            "`",
            "```",
            "```json\n",
            "```py ",
            "`" * 63,
            "~~~",
            "\n",
            "\r",
            " ",
            "\t",
            " " * 39,
            " " * 41,
            "\ufeff",
        ]
        marks += [
            "<think>",
            "</think>",
            "<THINK>",
            "</thought>",
            "<thi",
            "İ",
            "\0",
            "\ud83d",
            "\\",
            "#",
            "//",
            "/*",
            "*/",
        ]
        marks += [
            '{"a": ',
            "[1, 2]",
            "{}",
            "]",
            "}",
            ")",
            '"x',
            "'",
            "true",
            "nul",
            "text ",
            "Foo(x=",
            "x = ",
            "'''",
            ",",
            "{'a': ",
            "['",
            "{/*",
            "[#",
        ]
        text = "".join(data.draw(st.lists(st.sampled_from(marks), max_size=12)))
        cuts = data.draw(pieces_of(text))
        for make in (JsonReplyMachine, lambda: JsonReplyMachine(lenient=True), lambda: PyReplyMachine(classes=FIELDS)):
            whole = outcome(make(), [text])
            assert outcome(make(), list(text)) == whole
            assert outcome(make(), cuts) == whole

    @pytest.mark.parametrize("before", ["that is it: ", "no, 3 of them: ", "1. ", "- ", "null and void. ", "-1 "])
    def test_prose_that_begins_like_a_scalar(self, before: str) -> None:
        """The first bracket in prose that may begin JSON."""
        assert read_json(before + '{"a": 1}')[1:] == ("ok", plain({"a": 1}))


class TestRefuted:
    """A reply that began with its value and broke it need not be waited for."""

    @pytest.mark.parametrize(
        ("text", "at"),
        [
            ('{"a": 1, "b": tru, ```json\n{"a": 1}\n```', 17),
            ('{"a": 1, "b": tru, ```json\n{"a": tru\n```', 17),
            ("[1, [2]] ]", 9),
            ('\ufeff {"a": [1, 1e999]}', 19),
        ],
    )
    def test_the_first_fault_is_told_whatever_follows(self, text: str, at: int) -> None:
        for slices in splits(text):
            machine = JsonReplyMachine()
            for piece in slices:
                machine.feed(piece)
            assert machine.refuted is not None
            assert machine.refuted.byte_offset == at

    @pytest.mark.parametrize(
        "text",
        ['"quoted" text', '"a", "b"', "[", "12 apples", "```\n[1, x]\n```", "x [1, y]", "[x", '{"a": x', "", "[1]"],
    )
    def test_what_may_still_hold_a_value(self, text: str) -> None:
        for slices in splits(text):
            machine = JsonReplyMachine()
            for piece in slices:
                machine.feed(piece)
            assert machine.refuted is None


def test_a_machine_that_tells_nothing_shows_the_same() -> None:
    text = 'So: {"a": 1 no. ```json\n{"a": {"b": "x"}}\n```'
    for slices in splits(text):
        silent, told = JsonReplyMachine(), JsonReplyMachine()
        for piece in slices:
            assert silent.feed(piece, tells=False) == []
            told.feed(piece)
            assert silent.partial_value == told.partial_value
            assert silent.shown == told.shown
            assert (silent.refuted is None) is (told.refuted is None)
        assert silent.finish() == told.finish() == {"a": {"b": "x"}}


@pytest.mark.parametrize("text", ["1e999", "0x" + "f" * 4_000, "{[1]}"])
def test_a_value_that_cannot_be_held_is_no_prose(text: str) -> None:
    machine = PyReplyMachine()
    machine.feed(text)
    with pytest.raises(StreamError, match=r"NON_FINITE_NUMBER: A number|INVALID_VALUE: A key"):
        machine.finish()
