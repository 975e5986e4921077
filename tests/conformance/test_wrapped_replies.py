"""Replies as models wrap them: whatever stands around a value, it is the value that another reader finds in it.

F19, F20, P41 to P45, P69, P72, P105. The other readers are `json.loads` and `ast.literal_eval`, here in tests alone.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.json_texts import json_texts, keys, pieces_of, values
from tests.python_texts import literals, of_python, plain

from unspool.errors import StreamError
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine

Machine = JsonReplyMachine | PyReplyMachine

ODD = [
    "\0",
    "\u202e",
    "\u2028",
    "\u2029",
    "\x85",
    "\ufeff",
    "é",
    "😀",
    "\r\n",
    "don't {ever} ",
    "[see]",
    "`code` ",
    "{'ever'} ",
    "{x: 1} ",
    "['a' b](c) ",
]
"""What may stand in prose: NUL, bidirectional marks, line separators, braces and quotation marks of a language."""

starts = st.sampled_from(
    [
        "",
        "\ufeff",
        " \r\n\t",
        "<think>{'a': [1]} ``` </think>",
        "\n<THINKING>\n[1, 2]\0</thinking>\r\n",
        "the user wants </think>\n",
    ]
)
prose = st.lists(
    st.sampled_from(["Sure: ", "Here is it's value, as asked:\n", "- one\n", "1. ", *ODD]), max_size=4
).map(lambda words: "So " + "".join(words) if words else "")
ends = st.sampled_from(
    ["", "\n", " Done.", "\r\nThat's {all} [of] it.", "</answer>", "\n// bye\nbye", "\n# bye\nbye\0", "'", "\n```"]
)
fences = st.sampled_from(
    ["```", "```json\n", "```JSON\r\n", "``` json5 \n", "````json\n", "```python\n", "\n~~~\n", "`````\n"]
)


def marks_of(opening: str) -> str:
    return "".join(char for char in opening if char in "`~")


@st.composite
def wrapped(draw: st.DrawFn, text: str, *, bare: bool) -> str:
    """A reply that holds a text."""
    before = draw(starts)
    if bare and draw(st.booleans()):
        if text.lstrip()[:1] not in {"[", "{"}:  # in prose a value is known by its bracket
            return before + text
        return before + draw(prose) + text + draw(ends)
    opening = draw(fences)
    if opening == "```" and text.lstrip()[:1] not in {"[", "{", "(", '"', "'"}:
        opening = "```\n"  # a word on the line of the marks is a tag
    closing = "\n" + marks_of(opening) + draw(prose) + draw(ends) if draw(st.integers(0, 4)) else "\n"
    failed = draw(st.sampled_from(["", "", "```sh\nls -l\n```\n", "```\n{'no\n```\n"]))
    return before + draw(prose) + failed + opening + text + closing


def lenient_machine() -> JsonReplyMachine:
    return JsonReplyMachine(lenient=True)


def outcome(machine: Machine, pieces: list[str]) -> Any:
    try:
        for piece in pieces:
            machine.feed(piece)
        value = machine.finish()
    except StreamError as error:
        return error.code, error.byte_offset, error.message
    return "ok", plain(value), [repr(repair) for repair in getattr(machine, "repairs", [])]


def read(make: Callable[[], Machine], reply: str, cuts: list[str]) -> Any:
    whole = outcome(make(), [reply])
    assert outcome(make(), cuts) == whole
    assert outcome(make(), list(reply)) == whole
    return whole


def _text(text: str, quote: str) -> str:
    body = json.dumps(text)[1:-1]
    return f'"{body}"' if quote == '"' else "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"


@st.composite
def lenient_texts(draw: st.DrawFn, value: Any) -> str:
    """JSON in one of the ways in which it is nearly right."""
    blanks = st.sampled_from(["", "", " ", "\n", "\r\n", "/* it's ``` ] */", "// \"}'\n", "# [ it's\n", "/**/ "])
    quote = st.sampled_from("'\"")

    def write(value: Any) -> Iterator[str]:
        yield draw(blanks)
        if isinstance(value, dict | list):
            yield "{" if isinstance(value, dict) else "["
            for i, item in enumerate(value):
                yield "," if i else ""
                if isinstance(value, dict):
                    yield draw(blanks) + _text(item, draw(quote)) + draw(blanks) + ":"
                    item = value[item]
                yield from write(item)
            yield draw(st.sampled_from(["", ","])) if value else ""
            yield draw(blanks) + ("}" if isinstance(value, dict) else "]")
        else:
            yield _text(value, draw(quote)) if isinstance(value, str) else json.dumps(value)
        yield draw(blanks)

    return "".join(write(value))


@given(st.data())
def test_strict_json_is_what_the_standard_library_reads(data: st.DataObject) -> None:
    """F19, F20, P72; lenient reading takes the same text for the same value."""
    text = data.draw(json_texts())
    reply = data.draw(wrapped(text, bare=True))
    cuts = data.draw(pieces_of(reply))
    expected = plain(json.loads(text))
    for make in (JsonReplyMachine, lenient_machine):
        whole = read(make, reply, cuts)
        assert whole[:2] == ("ok", expected), (make, whole)


@given(st.data())
def test_lenient_json_is_what_it_was_written_from(data: st.DataObject) -> None:
    """F19, P72: whatever lenient reading takes at the start of a reply is taken after prose and in fences as well."""
    value = data.draw(st.dictionaries(keys, values, min_size=1, max_size=3) | st.lists(values, min_size=2, max_size=3))
    text = data.draw(lenient_texts(value))
    reply = data.draw(wrapped(text.lstrip(), bare=text.lstrip()[:1] in ("[", "{")))
    whole = read(lenient_machine, reply, data.draw(pieces_of(reply)))
    assert whole[:2] == ("ok", plain(value)), whole


@given(st.data())
def test_python_is_what_the_standard_library_reads(data: st.DataObject) -> None:
    """P41 to P45, P70."""
    text = data.draw(literals)
    reply = data.draw(wrapped(text.strip(" "), bare=False))
    whole = read(PyReplyMachine, reply, data.draw(pieces_of(reply)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = ast.literal_eval(text.strip(" "))
        except (ValueError, SyntaxError):
            return
    assert whole[0] == "ok", whole
    machine = PyReplyMachine()
    machine.feed(reply)
    assert of_python(machine.finish()) == of_python(expected)
