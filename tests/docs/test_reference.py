"""docs/reference/ says what the package says: every public name, once, as its signature and its docstring have it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.conftest import REPO
from tests.design.public import public_names
from tests.reference.__main__ import FOLDER, WEB, javascript_pages, python_pages, stale
from tests.reference.docstring import parse
from tests.reference.names import home_of, value_of
from tests.reference.python_pages import anchor_of, title_of
from tests.reference.rooms import ROOMS

pytestmark = pytest.mark.host

PATHS = [path for room in ROOMS for group in room.groups for path in group.paths]


def test_pages_of_python_are_current() -> None:
    assert stale(python_pages()) == [], "run `make reference`"


@pytest.mark.skipif(not (WEB / "node_modules" / "typescript").is_dir(), reason="needs the packages of web/")
def test_page_of_javascript_is_current() -> None:
    assert stale(javascript_pages()) == [], "run `make reference`"


def test_no_page_is_left_over() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{room.page}.md" for room in ROOMS} | {
        "README.md",
        "javascript.md",
    }


def home(module: str, name: str) -> tuple[str, str]:
    return home_of(f"unspool.{module}".rstrip("."), name), name


def test_every_public_name_is_described_once() -> None:
    assert len(PATHS) == len(set(PATHS))
    described = [home(*path.rpartition(".")[::2]) for path in PATHS]
    assert len(described) == len(set(described))
    modules = {"errors", "integrations", "llms", "messages", "stream", "testing", "chunks"}
    missing = [
        f"{module}.{name}".lstrip(".")
        for module, name in public_names()
        if name not in modules | {"__version__"} and home(module, name) not in described
    ]
    assert not missing, "add them to tests/reference/rooms.py"


@pytest.mark.parametrize("path", PATHS)
def test_names_are_spelled_as_programs_reach_them(path: str) -> None:
    _, name, value = value_of(path)
    assert title_of(path).rpartition(".")[2] == name
    assert value is not None


def headings(page: Path) -> set[str]:
    found: set[str] = set()
    for title in re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE):
        anchor = anchor_of(re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title))
        number = 0
        while (f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_to_a_heading(page: Path) -> None:
    wrong = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8")):
        if anchor not in headings(page.parent / target if target else page):
            wrong.append(f"{target}#{anchor}")
    assert not wrong


def test_links_of_other_pages_lead_to_the_reference() -> None:
    for name, link in (("README.md", "docs/reference/README.md"), ("docs/architecture.md", "reference/README.md")):
        assert f"({link})" in (REPO / name).read_text("utf-8")


def test_codes_of_the_page_are_documented() -> None:
    """Those that JavaScript raises itself have a row in docs/workers.md or in docs/errors.md."""
    union = re.search(r"type LocalErrorCode =([^;]*);", (WEB / "src" / "errors.ts").read_text("utf-8"))
    assert union is not None
    rows = [(REPO / "docs" / name).read_text("utf-8") for name in ("workers.md", "errors.md")]
    documented = {code for page in rows for code in re.findall(r"^\| `?([A-Z_]+)`? \|", page, re.MULTILINE)}
    assert set(re.findall(r'"([A-Z_]+)"', union[1])) <= documented


def test_sections_of_a_docstring_are_read_apart() -> None:
    read = parse(
        """One sentence. Another.

        More of it.

            code()

        Args:
            first, second: as elsewhere.
            third: text that goes on
                in a second line, and:
                inner: one.
                other: two, which
                    goes on.
        Returns:
            A value,
            or none.
        Raises:
            ConfigError: INVALID_OPTIONS.
            A warning tells more.
        Raises, Cancellation: as a call.
        Source: RFC 8259.
        """
    )
    assert read.summary == "One sentence."
    assert read.paragraphs == ("One sentence. Another.", "More of it.", "    code()")
    arguments = read.section("Args")
    assert arguments is not None
    assert [entry.names for entry in arguments.entries] == [("first", "second"), ("third",)]
    third = arguments.entries[1]
    assert third.text == "text that goes on in a second line, and:"
    assert [(entry.names, entry.text) for entry in third.inner] == [
        (("inner",), "one."),
        (("other",), "two, which goes on."),
    ]
    assert [section.titles for section in read.sections[1:]] == [
        ("Returns",),
        ("Raises",),
        ("Raises", "Cancellation"),
        ("Source",),
    ]
    assert [section.words for section in read.sections[1:]] == [
        "A value, or none.",
        "ConfigError INVALID_OPTIONS. A warning tells more.",
        "as a call.",
        "RFC 8259.",
    ]
