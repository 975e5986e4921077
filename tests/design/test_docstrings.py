"""What docstrings of public names must say: every argument, the errors with codes that exist, what cancelling does.

The form is that of the style: `Args`, `Returns`, `Raises`, `After an error`, `Cancellation`, `Source`. An attribute of
the same name with words of its own tells an argument of a constructor as well; a method that a protocol asks for is
told by the protocol.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.design.test_repository import CODE, NO_CODES, codes_in_errors, errors_tree
from tests.reference.docstring import Docstring, parse
from tests.reference.names import constructor_of, own_fields, own_methods, parameters_of, value_of
from tests.reference.rooms import ROOMS

from unspool import contracts, errors

pytestmark = pytest.mark.host

ENDS = {"aclose", "close"}
"""Whoever is cancelled in one of these has left all the same."""
ELSEWHERE = re.compile(r"any code|[Aa]s (?:in|the|a|of)? ?`?\w|what `|see `|codes? of")
"""Words that send the reader to the place where the codes are."""
PROTOCOLS = {"Adapter": contracts.Adapter, "Decoder": contracts.ProviderDecoder}


class Callable(NamedTuple):
    """A public function, method or constructor."""

    path: str
    function: Any
    docstring: Docstring
    bound: bool
    told: frozenset[str]
    """Arguments that are told of elsewhere."""

    def __repr__(self) -> str:
        return self.path


def of_class(path: str, cls: type) -> Iterator[Callable]:
    constructor = constructor_of(cls)
    fields = frozenset(
        field.name
        for base in cls.__mro__
        if base.__module__.startswith("unspool")
        for field in own_fields(base)
        if field.words
    )
    if constructor is not None and constructor.__qualname__.partition(".")[0] == cls.__name__:
        docstring = parse(constructor.__doc__)
        is_made_by_us = docstring.paragraphs[:1] and docstring.paragraphs[0].startswith("Made by")
        if not is_made_by_us and not getattr(cls, "_is_protocol", False):
            yield Callable(f"{path}()", constructor, docstring, True, fields)
    protocol = next((one for end, one in PROTOCOLS.items() if cls.__name__.endswith(end)), None)
    for method in own_methods(cls):
        if protocol is not None and protocol is not cls and hasattr(protocol, method.name):
            continue
        docstring = method.docstring
        if not docstring.paragraphs:  # that of the method in its place in the base
            docstring = parse(inspect.getdoc(getattr(cls, method.name)))
        bound = not isinstance(vars(cls)[method.name], staticmethod)
        yield Callable(f"{path}.{method.name}", method.function, docstring, bound, frozenset())


def callables() -> list[Callable]:
    found: list[Callable] = []
    for path in (path for room in ROOMS for group in room.groups for path in group.paths):
        _, name, value = value_of(path)
        if isinstance(value, type) and value.__name__ == name:
            found += of_class(path, value)
        elif inspect.isfunction(value):
            found.append(Callable(path, value, parse(value.__doc__), False, frozenset()))
    return found


EVERY = callables()


def classes() -> list[str]:
    paths = [path for room in ROOMS for group in room.groups for path in group.paths]
    return [path for path in paths if isinstance(value_of(path)[2], type)]


@pytest.mark.parametrize("path", classes())
def test_classes_say_what_they_are(path: str) -> None:
    cls = value_of(path)[2]
    assert cls.__doc__ or not cls.__module__.startswith("unspool")


@pytest.mark.parametrize("one", EVERY, ids=repr)
def test_every_argument_is_told(one: Callable) -> None:
    assert one.path.endswith("()") or one.docstring.paragraphs, "has no docstring"
    arguments = one.docstring.section("Args")
    entries = arguments.entries if arguments is not None else ()
    if any(not entry.names for entry in entries):  # "as in the constructor"
        return
    told = {name.lstrip("*") for entry in entries for name in entry.names} | one.told
    names = [parameter.name for parameter in parameters_of(one.function, bound=one.bound)]
    assert [name for name in names if name not in told] == []
    if entries:
        listed = [name.lstrip("*") for entry in entries for name in entry.names]
        assert [name for name in listed if name not in names] == [], "there is no such argument"


@pytest.mark.parametrize("one", [one for one in EVERY if one.docstring.section("Raises")], ids=repr)
def test_errors_are_told_with_codes_that_exist(one: Callable) -> None:
    section = one.docstring.section("Raises")
    assert section is not None
    assert set(CODE.findall(section.words)) - NO_CODES - codes_in_errors() == set()
    ours = {name for name in vars(errors) if name.endswith("Error")}
    for entry in section.entries:
        for name in entry.names:
            assert name in ours or name in ("Exception", "ValueError", "TypeError"), f"{name} is no error"
            if name in ours:
                assert CODE.search(entry.text) or ELSEWHERE.search(entry.text), f"{name} without a code"


@pytest.mark.parametrize("one", [one for one in EVERY if inspect.iscoroutinefunction(one.function)], ids=repr)
def test_waiting_says_what_cancelling_does(one: Callable) -> None:
    if one.path.rpartition(".")[2] not in ENDS:
        assert one.docstring.section("Cancellation") is not None


def test_the_tree_of_errors_says_which_class_has_which_codes() -> None:
    """Each code stands in docs/errors.md below the class that the tree in errors.py gives it to."""
    from tests.design.source import REPO

    tree = inspect.getdoc(errors) or ""
    page = (REPO / "docs" / "errors.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    below = {
        match[1]: set(re.findall(r"^\| `([A-Z_0-9]+)` \|", section, re.MULTILINE))
        for section in sections
        if (match := re.match(r"`(\w+)`", section))
    }
    assert errors_tree().body
    for name, codes in re.findall(r"[├└]── (\w+) +((?:[A-Z_0-9]+(?:,\s[│\s]*)?)+)$", tree, re.MULTILINE):
        owner = {"NetworkError": "TransportError", "RequestTimeoutError": "TransportError"}.get(name, name)
        owner = "WireError" if owner == "StreamTruncatedError" else owner
        assert set(re.findall(r"[A-Z_0-9]{2,}", codes)) <= below[owner], name
    assert set().union(*below.values()) == codes_in_errors()
