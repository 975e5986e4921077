"""PyStream, behaviour by behaviour: P numbers of reference/python-protocol.md; S and F numbers as of JsonStream."""

from __future__ import annotations

import ast
import sys
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.json_texts import pieces_of
from tests.python_texts import FIELDS, broken, literals, of_python, plain, read, replies
from tests.support import splits, two_slices

from unspool.errors import StreamError
from unspool.structured.frozen import FrozenArray, FrozenObject
from unspool.structured.py_stream import PyStream
from unspool.structured.py_values import PyName, PyObject, PySet, PyTuple

MODULUS = sys.hash_info.modulus
CLASSES = {"Foo": ("x", "y"), "Box": ("item",), "Color": ("value",)}
ONE = PyObject("Foo", {"x": 1})
NAMES = ("Color.RED", "UNKNOWN")


def value_of(text: str, **options: Any) -> Any:
    stream = PyStream(**options)
    stream.push(text)
    stream.finish()
    return stream.value


def fault_of(text: str, **options: Any) -> tuple[str, int | None]:
    """The fault of a text, the same for every cut."""
    found = {read(pieces, grows=False, **options) for pieces in [*splits(text, rounds=2), *two_slices(text)]}
    assert len(found) == 1, found
    return found.pop()


def patches(*texts: str, **options: Any) -> list[list[tuple[Any, ...]]]:
    """The changes of each push as plain tuples, then those of `finish`."""
    stream = PyStream(**options)
    states = [*map(stream.push, texts), stream.finish()]
    return [
        [(p.op, p.path) if p.op == "complete" else (p.op, p.path, p.value) for p in state.changes] for state in states
    ]


_TOKENS = [
    *("0", "1", "00", "1_0", "0x1E", "0xe0", "0b1", "0o7", "1.", ".5", "1e5", "1E-2", "1j", "-", "+", "- ", "e", "_"),
    *("'a'", '"b"', "'", '"', "'''", "r'\\'", "b'x'", "b'é'", "rb'\\n'", "u'x'", "f'x'", "bR'x'", "'\\400'", "\\x41"),
    *("\n", "\t", " ", "#c\n", "[", "]", "(", ")", "{", "}", ",", ":", "True", "None", "x", "not ", "...", "*", "**"),
    *("[1]", "(1,)", "{1: 2}", "{1}", "set()", " if ", "lambda:", ".", "~", "@", "\0"),
]
_LONG = [
    *(
        "9" * 61,
        "9" * 4_300,
        "9" * 4_401,
        "0x" + "f" * 3_571,
        "0x" + "f" * 3_572,
        "-" + " " * 70 + "1",
        "e-",
        "E+1",
        ".",
    ),
    *("a" * 61, "a" * 255, "a" * 257, "é" * 256, "é" * 300, "a" * 255 + "\u093e" * 3, "अ" + "\u093e" * 100, "x²", "℘"),
    *("नाम", "ภาษา", "ﬁ", "Foo(", "Größe(", "Gro\u0308ße(", "x=", "नाम=", "Color.RED", "Color.", "“x”", "。", "set("),
    *(
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "=",
        " ",
        "\n",
        "\\\n",
        "#c\n",
        "'a'",
        '"b" ' * 3,
        "'''",
        "b'\\400'",
        "'",
    ),
    *("rb'\\400é'", "'\\ud83d'", "'\\ude00'", "\\ud83d", "\\ude00", "\ud83d", "\ude00", "1", "None", "x: न | a = "),
]


class TestValue:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("Foo(x=1, y='a')", PyObject("Foo", {"x": 1, "y": "a"})),
            ("Foo(1, y=[2])", PyObject("Foo", {"x": 1, "y": [2]})),
            ("Foo( 1 , 'a' , )", PyObject("Foo", {"x": 1, "y": "a"})),
            ("Foo(\n  x=[Foo(1)],  # inner\n  y=(Foo()),\n)", PyObject("Foo", {"x": [ONE], "y": PyObject("Foo", {})})),
            ("Foo(x = 1,\r\n y\t=\n2)", PyObject("Foo", {"x": 1, "y": 2})),
            ("Box(Color.RED)", PyObject("Box", {"item": PyName("Color.RED")})),
            ("Box(Color('red'))", PyObject("Box", {"item": PyObject("Color", {"value": "red"})})),
            ("[UNKNOWN, Color . RED]", [PyName("UNKNOWN"), PyName("Color.RED")]),
            ("{1, 'a', True, 1.0}", PySet((1, "a", True, 1.0))),
            ("{'a'}", PySet(("a",))),
            ("{Foo()}", PySet((PyObject("Foo", {}),))),
            ("set()", PySet(())),
            ("set([1, (2,)])", PySet((1, (2,)))),
            ("set((1, 2),)", PySet((1, 2))),
            ("frozenset({1})", PySet((1,), frozen=True)),
            ("[set({1}), frozenset()]", [PySet((1,)), PySet((), frozen=True)]),
            ("{}", {}),
            ("{(1, 'a'): 2, 3: (4,), Color.RED: None}", {(1, "a"): 2, 3: (4,), PyName("Color.RED"): None}),
            ("((1))", 1),
            ("(('a', 'b'))", ("a", "b")),
            ("('a'\n 'b')", "ab"),
            ("{('k'): (1)}", {"k": 1}),
            ("()", ()),
            ("[(), ((),)]", [(), ((),)]),
            ("x = 5", 5),
            ("output: list[Foo] | None = [\n1]\n", [1]),
            ("\n# note\n  'a';  # done\n", "a"),
            ("1, 'a'", (1, "a")),
            ("Foo(), [1],", (PyObject("Foo", {}), [1])),
            ("\ufeff[1]", [1]),
            ("r'\\ud83d'", "\\ud83d"),
            ("'<\\ud83d\\ude00>'", "<😀>"),
            ("'\\ud83d' '\\ude00'", "😀"),
            ("'''a\r\nb\rc'''", "a\nb\nc"),
            ("'\\400'", "\u0100"),
            ("'tab\there'", "tab\there"),
            ("[0x1E, 0xe0, 1e-2]", [30, 224, 0.01]),
            ("'\\ud83d\\\n\\ude00'", "😀"),
            ("x: नाम | None = 1", 1),
            ("x: dict[str, tuple[()]] = 1", 1),
        ],
    )  # fmt: skip
    def test_any_cut_gives_the_same_value_and_patches_that_make_it(self, text: str, value: Any) -> None:
        """P44 to P50, P56, P68, P70: whole, by characters, at seeded places, cut once anywhere."""
        grows = not isinstance(value, tuple) or text[0] == "("  # without brackets it replaces its first item
        for options in ({}, {"snapshots": "immutable"}):
            for pieces in [*splits(text), *two_slices(text)]:
                assert read(pieces, grows=grows, classes=CLASSES, names=NAMES, **options) == ("ok", plain(value))

    @given(st.data())
    def test_literals_mean_what_they_mean_in_python(self, data: st.DataObject) -> None:
        """P47, P48: every spelling, against the interpreter's own reader."""
        text = data.draw(literals)
        with warnings.catch_warnings(action="ignore"):
            expected = of_python(ast.literal_eval(text))
        assert of_python(value_of(text)) == expected
        assert read(data.draw(pieces_of(text))) == ("ok", plain(value_of(text)))

    @given(st.data())
    def test_constructors_at_any_cut(self, data: st.DataObject) -> None:
        text = data.draw(replies)
        whole = read([text], classes=FIELDS, names=NAMES)
        assert whole[0] == "ok"
        assert read(list(text), classes=FIELDS, names=NAMES) == whole
        assert read(data.draw(pieces_of(text)), classes=FIELDS, names=NAMES, snapshots="immutable") == whole

    @given(st.data())
    def test_broken_constructors_at_any_cut(self, data: st.DataObject) -> None:
        text = data.draw(broken(replies))
        whole = read([text], grows=False, classes=FIELDS, names=NAMES)
        assert read(list(text), grows=False, classes=FIELDS, names=NAMES) == whole
        assert read(data.draw(pieces_of(text)), grows=False, classes=FIELDS, names=NAMES) == whole

    @given(st.data())
    def test_texts_at_fault(self, data: st.DataObject) -> None:
        """P105: fault and place do not depend on the cut; what is read, the interpreter reads to the same value."""
        text = data.draw(broken())
        whole = read([text], grows=False)
        assert read(list(text), grows=False) == whole
        assert read(data.draw(pieces_of(text)), grows=False) == whole
        assert read(data.draw(pieces_of(text)), grows=False, snapshots="immutable")[0] == whole[0]
        try:
            with warnings.catch_warnings(action="ignore"):
                expected = of_python(ast.literal_eval(text.strip()))
        except (SyntaxError, ValueError, TypeError):
            return
        if whole[0] == "ok":
            assert of_python(value_of(text)) == expected
        else:
            # Stricter than Python on purpose: P57, P68, P71; a list in a set is refused by literal_eval as well.
            assert whole[0] in ("DUPLICATE_KEY", "INVALID_VALUE", "NON_FINITE_NUMBER")

    @given(st.lists(st.sampled_from(_TOKENS), max_size=7).map("".join))
    def test_what_is_read_python_reads_alike(self, text: str) -> None:
        """P47, P48: of any tokens in any order, nothing is read that is no literal, and none as another value."""
        if read([text], grows=False, classes={}, names=())[0] == "ok":
            with warnings.catch_warnings(action="ignore"):
                assert of_python(value_of(text)) == of_python(ast.literal_eval(f"({text}\n)"))

    @given(st.lists(st.sampled_from(_LONG), max_size=6).map("".join), st.data())
    def test_long_tokens_at_any_cut(self, text: str, data: st.DataObject) -> None:
        """P105: of what is kept to be read again, at the limits of names and numbers, in other scripts."""
        options: Any = data.draw(st.sampled_from([{}, {"classes": FIELDS, "names": NAMES}]))
        whole = read([text], grows=False, **options)
        assert read(data.draw(pieces_of(text)), grows=False, **options) == whole
        assert read(data.draw(pieces_of(text)), grows=False, snapshots="immutable", **options) == whole

    def test_without_classes_positions_are_numbers(self) -> None:
        assert value_of("Any(1, [2], z=3)") == PyObject("Any", {0: 1, 1: [2], "z": 3})
        assert patches("Any(1, z='a')")[0][1:4] == [
            ("set", (0,), 1),
            ("complete", (0,)),
            ("set", ("z",), ""),
        ]

    @pytest.mark.parametrize("name", ["नाम", "ภาษา", "名前", "größe", "gro\u0308ße", "ﬁeld", "ｆｉｅｌｄ", "℘"])
    def test_names_of_other_scripts_are_those_that_python_reads(self, name: str) -> None:
        """Language Reference, "Identifiers and keywords": in the normal form NFKC."""
        known = ast.parse(name).body[0].value.id  # type: ignore[attr-defined]
        options: Any = {"classes": {known: (known, "x")}, "names": (f"{known}.{known}",)}
        for text in (
            f"{name}({name}={name}.{name}, x=1)",
            f"{name}( {name} , x=1)".replace(f" {name} ", f"{name} . {name}"),
        ):
            want = plain(PyObject(known, {known: PyName(f"{known}.{known}"), "x": 1}))
            for pieces in splits(text):
                assert read(pieces, **options) == ("ok", want)
        assert fault_of(f"{name}({known}=1, {name}=2)", **options)[0] == "DUPLICATE_FIELD"

    def test_an_integer_that_is_read_can_be_written(self) -> None:
        """P47: error messages and JSON write it in decimal, of which CPython takes 4,300 digits."""
        most = hex(10**4300 - 1)
        assert value_of(most) == value_of("9" * 4300) == 10**4300 - 1
        assert repr(value_of(f"-{most}")) == "-" + "9" * 4300

    def test_members_of_a_set_are_kept_as_written(self) -> None:
        """P56: each is to be judged before equal ones are dropped, the first of which stays."""
        value = value_of("{True, 1, 'a', 1.0, 'a'}")
        assert value.items == (True, 1, "a", 1.0, "a")
        assert plain(list(value.members)) == plain([True, "a"])


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "code", "at"),
        [
            ("", "EMPTY_INPUT", 0),
            (" \n# nothing\n", "EMPTY_INPUT", 0),
            ("Foo(x=1", "INCOMPLETE_PYTHON", 7),
            ("Foo(x=Tr", "INCOMPLETE_PYTHON", 8),
            ("['abc", "INCOMPLETE_PYTHON", 5),
            ("'''abc''", "INCOMPLETE_PYTHON", 8),
            ("x =", "INCOMPLETE_PYTHON", 3),
            ("x: int", "INCOMPLETE_PYTHON", 6),
            ("42\n43", "TRAILING_DATA", 3),
            ("Foo()\nprint('x')", "TRAILING_DATA", 6),
            ("Foo() is it", "TRAILING_DATA", 6),
            ("'a'.upper()", "TRAILING_DATA", 3),
            ("['a'.upper()]", "INVALID_PYTHON", 4),
            ("[Foo().x]", "INVALID_PYTHON", 6),
            ("[1 + 1]", "INVALID_PYTHON", 3),
            ("[1 2]", "INVALID_PYTHON", 3),
            ("--5", "INVALID_PYTHON", 0),
            ("007", "INVALID_PYTHON", 0),
            ("[1_000_]", "INVALID_PYTHON", 1),
            ("1j", "INVALID_PYTHON", 0),
            ("...", "INVALID_PYTHON", 0),
            ("[*x]", "INVALID_PYTHON", 1),
            ("Foo(**x)", "INVALID_PYTHON", 4),
            ("Foo(x=1, 2)", "INVALID_PYTHON", 9),
            ("Foo(x: 1)", "INVALID_PYTHON", 5),
            ("f'{1}'", "INVALID_PYTHON", 0),
            ("t'a'", "INVALID_PYTHON", 0),
            ("b'é'", "INVALID_PYTHON", 2),
            ("b'a\\400'", "INVALID_PYTHON", 3),
            ("'a' b'b'", "INVALID_PYTHON", 4),
            ("'a\nb'", "INVALID_PYTHON", 2),
            ("'é\\xg'", "INVALID_PYTHON", 3),
            ("'\\N{NO SUCH NAME}'", "INVALID_PYTHON", 1),
            ("'a\0'", "INVALID_PYTHON", 2),
            ("1#\0", "INVALID_PYTHON", 2),
            ("(lambda: 3)()", "INVALID_PYTHON", 7),
            ("a = b = 1", "INVALID_PYTHON", 6),
            ("shapes.Box()", "INVALID_PYTHON", 10),
            ("Color.RED.value", "INVALID_PYTHON", 9),
            ("Color['RED']", "INVALID_PYTHON", 5),
            ("x == 1", "INVALID_PYTHON", 3),
            ("(1 if x else 2)", "INVALID_PYTHON", 3),
            ("{'a': 1, 'b'}", "INVALID_PYTHON", 12),
            ("{1, 2: 3}", "INVALID_PYTHON", 5),
            ("set(1)", "INVALID_PYTHON", 5),
            ("[1)", "MISMATCHED_CLOSING", 2),
            ("Foo()]", "TRAILING_DATA", 5),
            (")", "UNEXPECTED_TOKEN", 0),
            ("Nope(x=1)", "UNKNOWN_NAME", 0),
            ("[1, null]", "UNKNOWN_NAME", 4),
            ("Color.GREEN", "UNKNOWN_NAME", 0),
            ("foo()", "UNKNOWN_NAME", 0),
            ("Foo", "UNKNOWN_NAME", 0),
            ("Foo(x=1, x=2)", "DUPLICATE_FIELD", 9),
            ("Foo(1, x=2)", "DUPLICATE_FIELD", 7),
            ("Foo(1, 2, 3)", "TOO_MANY_POSITIONAL", 10),
            ("{'a': 1, 'a': 2}", "DUPLICATE_KEY", 12),
            ("{'a': 1, 'a' '': 2}", "DUPLICATE_KEY", 15),
            ("{1: 1, True: 2}", "DUPLICATE_KEY", 11),
            ("{[1]}", "INVALID_VALUE", 1),
            ("{(1, [2])}", "INVALID_VALUE", 8),
            ("{Foo(): 1}", "INVALID_VALUE", 6),
            ("set([[1]])", "INVALID_VALUE", 9),
            ("'\\ud83d'", "INVALID_VALUE", 8),
            ("'\\ud83dx'", "INVALID_VALUE", 7),
            ("'é\\ude00'", "INVALID_VALUE", 3),
            ("'\\ud83d\\\n1'", "INVALID_VALUE", 9),
            ("[rb'\\400é']", "INVALID_PYTHON", 8),
            ("[0x1E-2]", "INVALID_PYTHON", 5),
            ("0x1E+2", "TRAILING_DATA", 4),
            ("lambda: 1", "INVALID_PYTHON", 6),
            ("(x := 1)", "INVALID_PYTHON", 3),
            ("x := 1", "INVALID_PYTHON", 3),
            ("x:=1", "INVALID_PYTHON", 2),
            ("x : \t= 1", "INVALID_PYTHON", 5),
            ("x: f(a=1)", "INVALID_PYTHON", 6),
            ("x: list[int = 1", "INVALID_PYTHON", 12),
            ("[x for x in y]", "INVALID_PYTHON", 3),
            ("[not x]", "INVALID_PYTHON", 5),
            ("[x²]", "INVALID_PYTHON", 2),
            ("“a”", "INVALID_PYTHON", 0),
            ("Foo(“x”=1)", "INVALID_PYTHON", 4),
            ("[" + "a" * 257 + "(1)]", "INVALID_PYTHON", 1),
            ("[0x" + "f" * 3572 + "]", "NON_FINITE_NUMBER", 1),
            ("1e999", "NON_FINITE_NUMBER", 0),
            ("[" + "9" * 4301 + "]", "NON_FINITE_NUMBER", 1),
            ("'\ud83d'", "INVALID_CHUNK", 1),
        ],
    )
    def test_the_first_fault_is_placed_whatever_the_cut(self, text: str, code: str, at: int) -> None:
        """P44 to P48, P50, P57, P68, P71."""
        ways = [[text], [text[:at], text[at:]], *([list(text)] if len(text) < 1000 else [])]
        for pieces in ways:
            found = read(pieces, grows=False, classes=CLASSES, names=NAMES)
            if code == "TRAILING_DATA" and "(" in text[at - 2 :]:
                assert found[0] == code
            assert found == (code, at)

    def test_after_an_error_it_is_dead_and_the_value_stays(self) -> None:
        """S14."""
        stream = PyStream()
        stream.push("[(1, 2), {'k': 'v")
        with pytest.raises(StreamError) as first:
            stream.push("w', 'n': {1, (2, 3)}, 'm': nope(4)} ?")
        assert stream.value == [(1, 2), {"k": "v"}]
        for call in (lambda: stream.push("]"), stream.finish, lambda: stream.state):
            with pytest.raises(StreamError) as again:
                call()
            assert again.value is first.value

    @pytest.mark.parametrize("options", [{"max_bytes": 0}, {"max_depth": 513}, {"max_depth": True}, {"snapshots": "x"}])
    def test_wrong_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(StreamError) as caught:
            PyStream(**options)
        assert caught.value.code == "INVALID_OPTIONS"

    def test_no_text(self) -> None:
        for wrong in (b"1", None, 1):
            with pytest.raises(StreamError) as caught:
                PyStream().push(wrong)  # type: ignore[arg-type]
            assert caught.value.code == "INVALID_CHUNK"

    def test_closed(self) -> None:
        with PyStream() as stream:
            stream.push("[1")
        assert stream.value == []
        with pytest.raises(StreamError) as caught:
            stream.push("]")
        assert caught.value.code == "STREAM_DISPOSED"
        stream.close()


class TestShown:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("Fo", None),
            ("Foo(", PyObject("Foo", {})),
            ("Foo(x", PyObject("Foo", {})),
            ("Foo(x=", PyObject("Foo", {})),
            ("Foo(x='", PyObject("Foo", {})),
            ("Foo(x='a", PyObject("Foo", {"x": "a"})),
            ("Foo(x='a\\u00", PyObject("Foo", {"x": "a"})),
            ("Foo(x=12", PyObject("Foo", {})),
            ("Foo(x=12,", PyObject("Foo", {"x": 12})),
            ("Foo(x=None)", PyObject("Foo", {"x": None})),
            ("[", []),
            ("[(", []),
            ("[('a'", []),
            ("[('a',", [PyTuple(["a"])]),
            ("[('a', 'b", [PyTuple(["a", "b"])]),
            ("[('a', 'b')", [("a", "b")]),
            ("[{", []),
            ("[{'a'", []),
            ("[{'a':", [{}]),
            ("[{'a': 'x", [{"a": "x"}]),
            ("[{'a',", [PySet(["a"])]),
            ("[set([1", []),
            ("'a' 'b", "ab"),
            ("'''a''", "a"),
        ],
    )
    def test_what_is_known_is_shown(self, text: str, value: Any) -> None:
        """P88 to P94: strings while they are open, scalars when they are complete, no bracket before it is decided."""
        assert plain(PyStream().push(text).partial_value) == plain(value)
        assert isinstance(PyStream().push("(1, ").partial_value, list)

    def test_patches(self) -> None:
        assert patches("Foo(x='a", "b', y=(1", ", 2)", ")") == [
            [("set", (), PyObject("Foo", {})), ("set", ("x",), ""), ("append", ("x",), "a")],
            [("append", ("x",), "b"), ("complete", ("x",))],
            [
                ("set", ("y",), PyTuple()),
                ("set", ("y", 0), 1),
                ("complete", ("y", 0)),
                ("set", ("y", 1), 2),
                ("complete", ("y", 1)),
            ],
            [("complete", ("y",))],
            [("complete", ())],
        ]

    def test_state(self) -> None:
        stream = PyStream()
        state = stream.push("[é('a")
        assert (state.bytes_seen, state.depth, state.complete, state.in_string) == (6, 2, False, True)
        assert state.to_wire()["partialValue"] == [{"pythonClass": "é", "fields": {"0": "a"}}]
        assert stream.push("')]").to_wire()["changes"] == [
            {"op": "complete", "path": [0, 0]},
            {"op": "complete", "path": [0]},
        ]
        assert stream.finish().complete
        assert stream.finish().changes == []
        assert stream.state.bytes_seen == 9

    def test_root_text_grows_and_states_keep_what_they_saw(self) -> None:
        stream = PyStream()
        states = [stream.push(piece) for piece in ("'a", "b", "c'")]
        assert [state.partial_value for state in states] == ["a", "ab", "abc"]

    def test_field_state(self) -> None:
        """S28: what can still change is the chain of open containers."""
        stream = PyStream()
        stream.push("Foo(a=1, b=['x', {'k': 'y")
        for path, state in (
            ((), "partial"),
            (("a",), "complete"),
            (("b",), "partial"),
            (("b", 0), "complete"),
            (("b", 1), "partial"),
            (("b", 1, "k"), "partial"),
            (("nowhere",), "partial"),
        ):
            assert stream.field_state(path) == state
        stream.push("'}])")
        stream.finish()
        assert stream.field_state(("nowhere",)) == "complete"

    def test_immutable_snapshots_share_what_has_not_changed(self) -> None:
        """S48, S49."""
        stream = PyStream(snapshots="immutable")
        first = stream.push("[[1, 2], Foo(a='x").partial_value
        second = stream.push("y', b={'k': [3]}), ('t', 'u")
        value = second.partial_value
        assert isinstance(value, FrozenArray)
        assert value[0] is first[0]
        assert plain(first) == plain([[1, 2], PyObject("Foo", {"a": "x"})])
        assert isinstance(value[1].fields, FrozenObject)
        third = stream.push("')]").partial_value
        assert third[1] is value[1]
        assert third[2] == ("t", "u")


class TestHostile:
    """P69 and the issue: a typed error, in linear time."""

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("[" * 100_000, "MAX_DEPTH_EXCEEDED"),
            ("(" * 100_000, "MAX_DEPTH_EXCEEDED"),
            ("{" * 100_000, "INVALID_VALUE"),
            ("a(" * 100_000, "MAX_DEPTH_EXCEEDED"),
            ("set(" * 100_000, "MAX_DEPTH_EXCEEDED"),
            ("[" + "," * 1_000_000, "INVALID_PYTHON"),
            ("-" * 1_000_000, "INVALID_PYTHON"),
            ("1+" * 500_000, "TRAILING_DATA"),
            ("not " * 100_000, "INVALID_PYTHON"),
            ("a" * 1_000_000, "INVALID_PYTHON"),
            ("9" * 1_000_000, "NON_FINITE_NUMBER"),
            ("'" + "a" * 1_000_000, "INCOMPLETE_PYTHON"),
            ("'" + "\\x4" * 300_000, "INVALID_PYTHON"),
            ('"a" ' * 250_000 + "?", "TRAILING_DATA"),
            ("'''" + "''a" * 300_000, "INCOMPLETE_PYTHON"),
            ("'\\N{" + "A" * 1_000_000, "INVALID_PYTHON"),
            ("[1" + " " * 1_000_000, "INCOMPLETE_PYTHON"),
            ("[x" + " " * 1_000_000, "INCOMPLETE_PYTHON"),
            ("[-" + " " * 1_000_000, "INVALID_PYTHON"),
            ("[#" + "c" * 1_000_000, "INCOMPLETE_PYTHON"),
            ("#\n" * 500_000, "EMPTY_INPUT"),
            ("\\\n" * 500_000, "EMPTY_INPUT"),
            ("x: " + "a" * 1_000_000, "INCOMPLETE_PYTHON"),
            ("{" + "1:2," * 250_000, "DUPLICATE_KEY"),
            ("(1," * 100_000, "MAX_DEPTH_EXCEEDED"),
            ("{" * 1_000_000, "INVALID_VALUE"),
            ("," * 1_000_000, "INVALID_PYTHON"),
            ("[" + "#\n" * 500_000, "INCOMPLETE_PYTHON"),
            ("0x" + "f" * 1_000_000, "NON_FINITE_NUMBER"),
            ("1_" * 500_000, "NON_FINITE_NUMBER"),
            ("1e" + "9" * 1_000_000, "NON_FINITE_NUMBER"),
            ("." * 1_000_000, "NON_FINITE_NUMBER"),
            ("[b'" + "\\xff" * 250_000 + "é']", "INVALID_PYTHON"),
            ("[rb'" + "\\400" * 250_000 + "é']", "INVALID_PYTHON"),
            ("rb" * 500_000 + "f''", "INVALID_PYTHON"),
            ("rb''" * 250_000 + "f", "TRAILING_DATA"),
            ("[rbrbf'']", "INVALID_PYTHON"),
            ("\0" * 1_000_000, "INVALID_PYTHON"),
            ("'" + "\\ud83d" * 150_000, "INVALID_VALUE"),
            ("a" + "\u093e" * 1_000_000, "INVALID_PYTHON"),
            ("名" * 1_000_000, "INVALID_PYTHON"),
            ("a.b." * 250_000, "INVALID_PYTHON"),
            ("a=" * 500_000, "INVALID_PYTHON"),
            ("[a:=" * 250_000, "INVALID_PYTHON"),
            ("[lambda:" * 120_000, "INVALID_PYTHON"),
            ("[x for x in " * 80_000, "INVALID_PYTHON"),
            ("f'{" * 300_000, "INVALID_PYTHON"),
            ("[" + "**" * 500_000, "INVALID_PYTHON"),
        ],
        ids=lambda value: repr(value[:8]),
    )
    def test_typed_errors(self, text: str, code: str) -> None:
        for size in (len(text), 4096):
            stream = PyStream()
            with pytest.raises(StreamError) as caught:
                for at in range(0, len(text), size):
                    stream.push(text[at : at + size])
                stream.finish()
            assert caught.value.code == code

    @pytest.mark.parametrize(
        "text",
        [
            "[" + "(1,)," * 100_000 + "]",
            "(" * 60 + "1," * 100_000 + ")" * 60,
            "{" + "'a'," * 300_000 + "}",
            "'" + "a" * 1_000_000 + "'",
            "'a' " * 250_000,
            "[" + "'a'#\n" * 150_000 + "]",
            "b'a' " * 200_000,
            "[" + ("9" * 4_299 + ",") * 200 + "]",
            "#c\n" * 300_000 + "1",
            "1" + "\n#c" * 300_000,
            "[" + "1," * 500_000 + "]",
            "A(" + "1," * 300_000 + ")",
        ],
        ids=[
            *("tuples", "groups", "set", "text", "literals", "literals and comments", "bytes", "numbers"),
            *("comments before", "comments after", "list", "call"),
        ],
    )
    def test_much_is_read(self, text: str) -> None:
        stream = PyStream()
        for at in range(0, len(text), 4096):
            stream.push(text[at : at + 4096])
        stream.finish()

    def test_literals_in_one_slice_are_one_change(self) -> None:
        """However many: each change costs a reader more than the literal cost the text."""
        made = patches("['" + "' 'a" * 1000 + "'", " 'b'" * 1000, "]")
        assert made[0] == [("set", (), []), ("set", (0,), ""), ("append", (0,), "a" * 1000)]
        assert made[1] == [("append", (0,), "b" * 1000)]
        stream = PyStream()
        stream.push("['a' ")
        with pytest.raises(StreamError):
            stream.push("'b' " * 1000 + "?")
        assert stream.value == ["a"], "a piece at fault leaves nothing behind"

    @pytest.mark.parametrize("size", [1, 16])
    @pytest.mark.parametrize("number", ["9" * 4_300, "-0x" + "f" * 3_500, "1." + "0_0" * 1_000])
    def test_a_long_number_in_small_pieces(self, number: str, size: int) -> None:
        text = f"[{number}, {number}]"
        stream = PyStream()
        for at in range(0, len(text), size):
            stream.push(text[at : at + size])
        assert stream.finish().partial_value == ast.literal_eval(text)

    def test_a_limit_on_bytes(self) -> None:
        """Inclusive; the piece is refused whole."""
        assert value_of("['é']", max_bytes=6) == ["é"]
        stream = PyStream(max_bytes=5)
        stream.push("['a")
        with pytest.raises(StreamError) as caught:
            stream.push("bcd")
        assert (caught.value.code, caught.value.byte_offset, stream.value) == ("MAX_BYTES_EXCEEDED", 3, ["a"])

    def test_a_limit_on_depth_counts_every_bracket(self) -> None:
        """P69."""
        assert value_of("[(Foo({1: [2]}))]", max_depth=5)
        for text in ("[[[[", "[(((", "[a(a(a(", "[{1:{1:{", "[set([(1"):
            with pytest.raises(StreamError) as caught:
                PyStream(max_depth=3).push(text)
            assert caught.value.code == "MAX_DEPTH_EXCEEDED"


class TestFlood:
    """Numbers chosen to fall together in a hash table, which takes the square of their count."""

    @pytest.mark.parametrize(
        "text",
        [
            "{" + ",".join(f"{i * MODULUS}:1" for i in range(200)) + "}",
            "{'a': 1, " + ",".join(f"({i * MODULUS}, 'x'): {{}}" for i in range(200)) + "}",
            "{" + ",".join(str(i * MODULUS) for i in range(200)) + "}",
            "set([" + ",".join(f"({i * MODULUS},)" for i in range(200)) + "])",
            "frozenset((" + ",".join(f"{i * MODULUS}" for i in range(200)) + "))",
        ],
        ids=["keys", "tuples", "members", "set of a list", "frozenset of a tuple"],
    )
    def test_numbers_of_equal_hashes_are_refused(self, text: str) -> None:
        with pytest.raises(StreamError, match="INVALID_VALUE") as caught:
            value_of(text)
        for size in (1_000, 4_096):
            stream = PyStream()
            with pytest.raises(StreamError) as again:
                for at in range(0, len(text), size):
                    stream.push(text[at : at + size])
                stream.finish()
            assert again.value.byte_offset == caught.value.byte_offset

    def test_keys_are_refused_as_they_come(self) -> None:
        stream = PyStream()
        with pytest.raises(StreamError) as caught:
            stream.push("{" + ",".join(f"{i * MODULUS}:1" for i in range(20_000)))
        assert (caught.value.byte_offset or 0) < 3_000

    def test_what_has_no_hash_is_told_first(self) -> None:
        with pytest.raises(StreamError, match="cannot be a list"):
            value_of("set([" + "[1]," * 200 + "])")

    def test_an_open_set_shows_its_members(self) -> None:
        stream = PyStream()
        stream.push("{1, 1, (2, 3,")
        assert stream.value.members == (1, [2, 3])
        stream = PyStream()
        stream.push("{" + ",".join(str(i * MODULUS) for i in range(20_000)))
        assert len(stream.value.members) >= 19_999

    def test_many_honest_ones_are_not(self) -> None:
        assert len(value_of("{" + ",".join(f"'k{i}':1" for i in range(20_000)) + "}")) == 20_000
        assert len(value_of("{" + ",".join(f"'k{i}'" for i in range(20_000)) + "}").items) == 20_000
        assert len(value_of("{" + ",".join(f"{i}:1" for i in range(20_000)) + "}")) == 20_000
        assert len(value_of("{" + ",".join(f"{i}.5" for i in range(20_000)) + "}").items) == 20_000
        assert len(value_of("set([" + ",".join(f"({i}, -1)" for i in range(20_000)) + "])").items) == 20_000
