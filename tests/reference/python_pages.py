"""The pages of the reference for Python, written from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, is_typeddict

from tests.reference.docstring import Docstring, Entry, Section, parse
from tests.reference.names import (
    Field,
    assignment_of,
    constructor_of,
    hidden_bases,
    own_fields,
    own_methods,
    signature_of,
    value_of,
)
from tests.reference.rooms import ROOMS, Room

NOTICE = "<!-- Written by `make reference` from docstrings and signatures: change those. -->"
_TITLES = {"Args": "Arguments"}
_CODE = re.compile(r"(?<!\[)`([A-Za-z_][\w.]*)`(?!\])")


class Place(NamedTuple):
    """Where a name is described."""

    page: str
    anchor: str


def title_of(path: str) -> str:
    """The heading of a name: as a program writes it after `import unspool as us`, or with the module to import."""
    if "." not in path:
        return path
    reached = ("llms", "stream", "messages", "errors", "integrations", "testing")
    module, _, name = path.rpartition(".")
    if module.split(".")[0] in reached and module in (*reached, "stream.chunks"):
        return f"us.{path}"
    return f"unspool.{module}.{name}"


def anchor_of(title: str) -> str:
    """The anchor that pages of Markdown give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def places() -> dict[str, Place]:
    """Where each name is, by its heading and by its last word (of two with one last word, that of `us`)."""
    found: dict[str, Place] = {}
    own: dict[str, Place] = {}
    for room in ROOMS:
        seen: dict[str, int] = {}
        for path in (path for group in room.groups for path in group.paths):
            title = title_of(path)
            anchor = anchor_of(title)
            seen[anchor] = seen.get(anchor, -1) + 1
            place = Place(room.page, f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
            found[title] = found[f"us.{path}"] = place
            last = path.rpartition(".")[2]
            if last not in own or path == last:
                own[last] = place
    return own | found


def room_text(room: Room, known: dict[str, Place]) -> str:
    """Write one page.

    Args:
        room: what it holds.
        known: what `places` gives.
    """
    return _Page(room, known).text()


def index_text() -> str:
    """Write the page that lists every name."""
    known = places()
    blocks = [NOTICE, "# Reference", _INDEX_WORDS]
    for room in ROOMS:
        blocks.append(f"## [{room.title}]({room.page}.md)")
        paths = [path for group in room.groups for path in group.paths]
        rows = [
            f"| [`{title_of(path)}`]({room.page}.md#{known[title_of(path)].anchor}) | {summary_of(path)} |"
            for path in paths
        ]
        blocks.append("\n".join(["| name | what it is |", "| --- | --- |", *rows]))
    blocks.append("## [JavaScript and TypeScript](javascript.md)")
    return "\n\n".join(blocks) + "\n"


class _Page:
    """Writes one room."""

    def __init__(self, room: Room, known: dict[str, Place]) -> None:
        self._room = room
        self._known = known
        self._own = ""

    def text(self) -> str:
        room = self._room
        blocks = [NOTICE, f"# {room.title}", self._linked(room.words)]
        for group in room.groups:
            blocks.append(f"## {group.title}")
            if group.words:
                blocks.append(self._linked(group.words))
            for path in group.paths:
                self._own = path.rpartition(".")[2]
                blocks += [f"### `{title_of(path)}`", *self._entry(path)]
        return "\n\n".join(blocks) + "\n"

    def _entry(self, path: str) -> Iterator[str]:
        module, name, value = value_of(path)
        if isinstance(value, type) and value.__name__ == name:
            yield from self._class(name, value)
        elif inspect.isfunction(value):
            yield _code(signature_of(value, name=name))
            yield from self._docstring(parse(value.__doc__))
        else:
            yield from self._alias(module, name, value)

    def _alias(self, module: str, name: str, value: Any) -> Iterator[str]:
        text, words = assignment_of(module, name)
        yield _code(text)
        if words:
            yield self._linked(words)

    def _class(self, name: str, cls: type) -> Iterator[str]:
        constructor = constructor_of(cls)
        made = parse(constructor.__doc__ if constructor else None)
        is_made_by_us = made.paragraphs[:1] and made.paragraphs[0].startswith("Made by")
        bases = [base.__name__ for base in cls.__bases__ if base.__name__ in self._known or base is Exception]
        head = f"class {name}{f'({", ".join(bases)})' if bases else ''}"
        is_protocol = getattr(cls, "_is_protocol", False)
        if is_protocol:
            head = f"class {name}(Protocol)"
        if is_typeddict(cls):
            parents = [base.__name__ for base in getattr(cls, "__orig_bases__", ()) if is_typeddict(base)]
            head = f"class {name}({', '.join([*parents, 'TypedDict'][:1])})"
        can_be_made = constructor is not None and not is_made_by_us and not is_protocol and not is_typeddict(cls)
        if can_be_made:
            head += f"\n\n{signature_of(constructor, name=name, bound=True, is_class=True)}"
        yield _code(head)
        yield from self._docstring(parse(cls.__doc__))
        if made.paragraphs or made.sections:
            own = constructor.__qualname__.partition(".")[0] == cls.__name__
            if own:
                shown = made._replace(paragraphs=made.paragraphs if is_made_by_us else made.paragraphs[1:])
                yield from self._docstring(shown)
        fields = own_fields(cls)
        if fields:
            yield "\n".join(["**Attributes**", "", *(self._field(field) for field in fields)])
        methods = {member.name: member for each in (*hidden_bases(cls), cls) for member in own_methods(each)}
        for member in methods.values():
            yield f"#### `{name}.{member.name}`"
            yield _code(member.signature)
            told = member.docstring
            yield from self._docstring(told if told.paragraphs else parse(inspect.getdoc(getattr(cls, member.name))))

    def _field(self, field: Field) -> str:
        kind = f": `{field.type}`" if field.type else ""
        words = f" — {self._linked(field.words)}" if field.words else ""
        return f"- `{field.name}`{kind}{words}"

    def _docstring(self, docstring: Docstring) -> Iterator[str]:
        for paragraph in docstring.paragraphs:
            if paragraph.startswith("    "):
                yield _code(inspect.cleandoc(paragraph))
            else:
                yield self._linked(paragraph)
        for section in docstring.sections:
            yield self._section(section)

    def _section(self, section: Section) -> str:
        title = ", ".join(_TITLES.get(title, title) for title in section.titles)
        if len(section.entries) == 1 and not section.entries[0].names:
            return f"**{title}:** {self._linked(section.entries[0].text)}"
        return "\n".join([f"**{title}**", "", *self._list(section.entries, "")])

    def _list(self, entries: tuple[Entry, ...], indent: str) -> Iterator[str]:
        for entry in entries:
            names = ", ".join(f"`{name}`" for name in entry.names)
            yield f"{indent}- {self._linked(names)}{': ' if names else ''}{self._linked(entry.text)}"
            yield from self._list(entry.inner, indent + "  ")

    def _linked(self, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            word = match[1]
            place = self._known.get(word) or self._known.get(word.rpartition(".")[0])
            if place is None or word == self._own or (word.islower() and "_" not in word and word not in _FUNCTIONS):
                return match[0]
            page = "" if place.page == self._room.page else f"{place.page}.md"
            anchor = place.anchor
            if word not in self._known:  # a member of it
                anchor = anchor_of(word.removeprefix("us."))
                if not _has_heading(word):
                    anchor = place.anchor
            return f"[{match[0]}]({page}#{anchor})"

        return _CODE.sub(link, text)


_FUNCTIONS = {"query"}
"""Names that are plain words, too, and yet always meant."""
_INDEX_WORDS = (
    "Every public name, with its signature and what it takes, gives and raises. Names without a dot are those of "
    "`import unspool as us`; `us.…` is reached from there; `unspool.…` is imported by that name. Anything that is not "
    "listed here may change in any release."
)


def _has_heading(word: str) -> bool:
    head, _, name = word.removeprefix("us.").rpartition(".")
    try:
        cls = value_of(head)[2]
    except (ImportError, AttributeError):
        return False
    return isinstance(cls, type) and inspect.isroutine(vars(cls).get(name))


def _code(text: str) -> str:
    return f"```py\n{text}\n```"


def summary_of(path: str) -> str:
    """One sentence on a name, for the index."""
    module, name, value = value_of(path)
    if inspect.isfunction(value) or (isinstance(value, type) and value.__name__ == name):
        return parse(value.__doc__).summary
    text, words = assignment_of(module, name)
    return parse(words).summary or "`" + text.partition(" = ")[2].replace("|", r"\|") + "`"
