"""What tests of Python syntax share: values written in many spellings, and reading while checking what must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from unspool.errors import StreamError
from unspool.structured.py_stream import PyStream
from unspool.structured.py_values import PyName, PyObject, PySet
from unspool.structured.tree import Patch

NOTHING: Any = object()
"""The value before it begins."""


def plain(value: Any) -> Any:
    """A neutral value as what compares: types told apart, order kept; a tuple that is open is still a tuple."""
    if isinstance(value, PyObject):
        return ("object", value.name, [(key, plain(item)) for key, item in value.fields.items()])
    if isinstance(value, PySet):
        return ("set", [plain(item) for item in value.items])
    if isinstance(value, str):
        return f"text {value}"
    if isinstance(value, bytes | PyName):
        return repr(value)
    if isinstance(value, Mapping):
        return ("dict", [(plain(key), plain(item)) for key, item in value.items()])
    if isinstance(value, tuple):
        return ("tuple", [plain(item) for item in value])
    if isinstance(value, Sequence):
        return ("list", [plain(item) for item in value])
    return repr(value)


def of_python(value: Any) -> Any:
    """A value of `ast.literal_eval` in the same form; sets by their members."""
    if isinstance(value, set | frozenset):
        return ("set", sorted(map(repr, map(of_python, value))))
    if isinstance(value, dict):
        return ("dict", [(of_python(key), of_python(item)) for key, item in value.items()])
    if isinstance(value, tuple | list):
        return (type(value).__name__, [of_python(item) for item in value])
    if isinstance(value, PySet):
        return ("set", sorted(map(repr, map(of_python, value.members))))
    return repr(value)


def replay(value: Any, patches: Iterable[Patch]) -> Any:
    """Apply patches as their reader would; gives the value, whose tuples stay lists."""
    for patch in patches:
        if patch.op == "complete":
            continue
        new = _own(patch.value)
        if not patch.path:
            value = value + new if patch.op == "append" else new
            continue
        *outer, slot = patch.path
        container = _inside(value)
        for segment in outer:
            container = _inside(container[segment])
        if patch.op == "append":
            container[slot] += new
        elif isinstance(container, list) and slot == len(container):
            container.append(new)
        else:
            container[slot] = new
    return value


def _inside(value: Any) -> Any:
    return value.fields if isinstance(value, PyObject) else value.items if isinstance(value, PySet) else value


def _own(value: Any) -> Any:
    if isinstance(value, PyObject):
        return PyObject(value.name, {key: _own(item) for key, item in value.fields.items()})
    if isinstance(value, PySet):
        return PySet([_own(item) for item in value.items], value.frozen)
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    return [_own(item) for item in value] if isinstance(value, list | tuple) else value


def as_lists(value: Any) -> Any:
    """A plain form in which a tuple is a list."""
    if isinstance(value, tuple) and value and value[0] == "tuple":
        return as_lists(("list", *value[1:]))
    return type(value)(map(as_lists, value)) if isinstance(value, tuple | list) else value


def extends(new: Any, old: Any) -> bool:
    """Whether a partial value, in plain form, continues an earlier one (F16)."""
    if old == "None" and new != "None":
        return True
    if isinstance(old, str):
        return isinstance(new, str) and (new == old or (old.startswith("text ") and new.startswith(old)))
    if isinstance(old, tuple):
        return isinstance(new, tuple) and len(new) == len(old) and all(map(extends, new, old))
    return len(new) >= len(old) and all(map(extends, new, old))


def read(pieces: Sequence[str], *, grows: bool = True, **options: Any) -> tuple[str, Any]:
    """Read a text in pieces, and check after each that the patches replayed give the value, and that it has grown.

    Returns:
        ("ok", the value in plain form) or (code, byte offset).
    """
    stream = PyStream(**options)
    replayed: Any = None
    snapshots: list[tuple[Any, Any]] = []
    try:
        for piece in [*pieces, None]:
            before = plain(stream.value)
            try:
                state = stream.finish() if piece is None else stream.push(piece)
            except StreamError:
                assert plain(stream.value) == before  # a failing piece leaves nothing behind
                raise
            replayed = replay(replayed, state.changes)
            value = plain(state.partial_value)
            assert as_lists(value) == as_lists(plain(replayed))
            if grows:
                assert extends(as_lists(value), as_lists(before)), (value, before)
            if options.get("snapshots") == "immutable":
                snapshots.append((state.partial_value, value))
        assert stream.field_state(()) == "complete"
    except StreamError as error:
        assert error.operation in ("push", "finish")
        return error.code, error.byte_offset
    finally:
        for snapshot, form in snapshots:  # earlier values never change
            assert plain(snapshot) == form
    return "ok", plain(stream.value)


_scalars = st.sampled_from(
    [
        "0",
        "00",
        "-7",
        "+3",
        "1_000",
        "0x1F",
        "0b101",
        "0o17",
        "1.5",
        ".5",
        "5.",
        "1e3",
        "1_0.5e-1_0",
        "-0.0",
        "9007199254740993",
        "True",
        "False",
        "None",
    ]
)
_strings = st.one_of(
    st.text(max_size=12).map(repr).filter(lambda text: "\\ud" not in text and "\0" not in text),
    st.sampled_from(
        [
            "''",
            '""',
            "''''''",
            '"it\'s"',
            "'''a\n'b' \"\"c'''",
            '"""x "y" z"""',
            r"r'\d\'' ",
            r"'\101\60x\0\a\v'",
            r"'\N{BULLET}\u00e9\U0001F600\x41'",
            r"'\d\q'",
            "'a\\\nb'",
            "u'q'",
            "'a' \"b\"",
            "'p' r'\\q' ''",
            "b'z\\x00'",
            "rb'\\d' b'x'",
        ]
    ),
)
_space = st.sampled_from(["", "", "", " ", "\n", "\t", " # it's\n", "\\\n", "\r\n"])


@st.composite
def _sequence(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    items = [draw(_space) + item + draw(_space) for item in draw(st.lists(inner, max_size=4))]
    start, end = draw(st.sampled_from(["[]", "()"]))
    comma = draw(st.sampled_from(["", ","])) if items else ""
    return start + ",".join(items) + comma + end


_keys = st.sampled_from(["'k{}'", '"k{}"', "'k' '{}'", "'''k{}'''", "{}", "({})", "({},)"])


@st.composite
def _mapping(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    members = [
        draw(_space) + draw(_keys).format(i)
        + draw(_space) + ":" + draw(_space) + item + draw(_space)
        for i, item in enumerate(draw(st.lists(inner, max_size=4)))
    ]  # fmt: skip
    comma = draw(st.sampled_from(["", ","])) if members else ""
    return "{" + ",".join(members) + comma + "}"


_sets = st.lists(st.sampled_from(["1", "'a'", "(1, 2)", "True", "1.0", "b'c'", "('x')"]), min_size=1, max_size=4).map(
    lambda items: "{" + ", ".join(items) + "}"
)

literals = st.recursive(
    _scalars | _strings, lambda inner: _sequence(inner) | _mapping(inner) | _sets | st.just("set()"), max_leaves=12
)
"""Texts that `ast.literal_eval` reads, in every spelling that the grammar knows."""


@st.composite
def _call(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    by_place = draw(st.lists(inner, max_size=2))
    names = ["x", "y", "z"][len(by_place) :]
    by_name = [f"{name}{draw(_space)}={draw(_space)}{draw(inner)}" for name in names if draw(st.booleans())]
    arguments = [draw(_space) + argument + draw(_space) for argument in [*by_place, *by_name]]
    comma = draw(st.sampled_from(["", ","])) if arguments else ""
    return f"{draw(st.sampled_from(['Foo', 'Größe']))}({','.join(arguments)}{comma})"


FIELDS = {"Foo": ("x", "y", "z"), "Größe": ("x", "y", "z")}
"""The classes of `replies`."""

replies = st.recursive(
    _scalars | _strings | st.just("Color.RED"),
    lambda inner: _sequence(inner) | _mapping(inner) | _sets | _call(inner) | inner.map("({})".format),
    max_leaves=12,
)
"""Texts with constructors and names as well."""

_JUNK = [
    *"{}[]():,'\"\\ \n0123456789-+.eE_xrubTNf#=;`~@*aA\r\t",
    "",
    "'''",
    '"""',
    "\\u",
    "\\x",
    "\ud83d",
    "\0",
    "None",
]


@st.composite
def broken(draw: st.DrawFn, texts: st.SearchStrategy[str] = literals) -> str:
    """A text with some characters put in, left out or replaced; it may still be valid."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + draw(st.sampled_from([*_JUNK, "set(", "Foo(", "x=", "é"]))
            + text[at + draw(st.integers(0, 2)) :]
        )
    return text
