"""Lookahead: what a core schema allows at one place, as far as can be told before a value has come.

In: a node of a core schema. Out: the containers that may open there, and which values of one piece are right as they
are. No IO; nothing is validated.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, cast

from unspool.schema.pydantic_nodes import MAPPINGS, Core, choices_of, metadata_of
from unspool.schema.shape import Record
from unspool.schema.shape_reader import ShapeReader

Tag = tuple[tuple[str, ...], Any]
"""The names that a member may have, and the value by which it tells the class."""

_QUICK: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "none": type(None)}
_LISTS = ("list", "set", "frozenset", "tuple")
_QUIET = ("int", "float", "bool", "none", "missing-sentinel")
"""What no text is shown for, and which takes no text for itself."""
_DETAILS = ("type", "ref", "metadata", "serialization", "strict")


class Branch:
    """One kind of container that may open at a place."""

    __slots__ = ("around", "blind", "node", "record", "tags")

    def __init__(
        self,
        node: Core,
        record: Record | None = None,
        *,
        around: Sequence[Core] = (),
        blind: bool = False,
        tags: Sequence[Tag] = (),
    ) -> None:
        self.node = node
        self.record = record
        self.around = tuple(around)
        """Nodes that make something else of the value when it is there, outermost first."""
        self.blind = blind
        """Whether something looks at the value as it was written."""
        self.tags = tuple(tags)
        """What tells it from the others, if anything does."""

    def of(self, record: Record, *tags: Tag) -> Branch:
        """Give the same with one class of the family of its own."""
        return Branch(self.node, record, around=self.around, blind=self.blind, tags=(*self.tags, *tags))

    @property
    def key(self) -> tuple[Any, ...]:
        """What two branches have in common that differ by what tells them at most."""
        return id(self.node), self.record, tuple(map(id, self.around)), self.blind

    def opens(self, listed: bool, python_kind: str | None, *, python: bool) -> bool:
        """Tell whether brackets of a kind may open it; a class by its constructor is no matter of brackets."""
        record, kind = self.record, self.node["type"]
        if record is not None:
            if python:
                return not listed and record.form == "typed-dict"
            return not listed or record.form == "named-tuple"
        if kind == "dict":
            return not listed
        if not listed or not python:
            return listed
        wanted = {"tuple": ("tuple",), "set": ("set", "frozenset")}.get(python_kind or "")
        return kind in wanted if wanted else kind not in ("tuple", "set", "frozenset")


class Lookahead:
    """What may stand at one place, told before a value has come."""

    __slots__ = (
        "_names_text",
        "_plain_text",
        "_reader",
        "_refs",
        "_types",
        "_words",
        "any_branch",
        "branches",
        "converts",
        "is_wild",
        "quick",
        "takes_containers",
        "takes_none",
        "takes_unknown",
        "words",
    )

    def __init__(self, reader: ShapeReader, node: Core, config: Core | None) -> None:
        self.branches: list[Branch] = []
        """The containers, in order."""
        self.is_wild = False
        """Whether a function of the application decides what is taken, so that nothing follows from the brackets."""
        self.any_branch: Branch | None = None
        """What anything that stands here becomes; None where not everything may."""
        self.converts = False
        """Whether a value of one piece may become something else that is no text, number or such."""
        self.takes_containers = False
        """Whether a container may stand for a value of one piece: a member of an Enum class."""
        self.takes_none = False
        self.takes_unknown = False
        self._reader = reader
        self._types: set[type] | None = set[type]()
        self._plain_text = False
        self._names_text = False
        self._refs: set[str] = set()
        self._words: set[str] = set()
        self._walk(node, (), False, (), False)
        changes_text = config is not None and any(name.startswith("str_") for name in config)
        types = cast("set[type] | None", self._types)  # on the way, all may have been left to a judgment
        self.quick = frozenset(name for name in types or () if name is not str or not changes_text)
        """The types of which any value is right as it is; text, when it is whole."""
        self.words: frozenset[str] = frozenset(() if types is None else self._words)
        """Texts that are right as they are."""

    @property
    def shows_text(self) -> bool:
        """Whether text that stands here stays text."""
        return self._plain_text and not self._names_text

    @property
    def withholds_text(self) -> bool:
        """Whether text that stands here is a choice, or becomes something else."""
        return self._names_text or (bool(self._words) and not self._plain_text)

    def _walk(self, node: Core, around: tuple[Core, ...], blind: bool, tags: tuple[Tag, ...], typed: bool) -> None:
        """
        Args:
            node: where we are.
            around: what makes something else of a value from here.
            blind: whether something on the way looks at a value as it was written.
            tags: what tells values from here from others.
            typed: whether text from here becomes something else.
        """
        kind: str = node["type"]
        reader = self._reader
        if metadata_of(node).get("unspool") == "unknown":
            self.takes_unknown = True
            self._types = None
            return
        record_node = reader.record_node(node)
        if record_node is not None:
            self.branches.append(Branch(node, reader.record_of(node), around=around, blind=blind, tags=tags))
            return
        match kind:
            case "definition-ref":
                ref: str = node["schema_ref"]
                if ref in self._refs:
                    target = reader.record_node(reader.definitions[ref])
                    if target is None:
                        return
                self._refs.add(ref)
                self._walk(reader.definitions[ref], around, blind, tags, typed)
            case "nullable":
                self._scalar("none")
                self._walk(node["schema"], around, blind, tags, typed)
            case "union":
                for choice in choices_of(node):
                    self._walk(choice, around, blind, tags, typed)
            case "tagged-union":
                names = _tag_names(node["discriminator"])
                for value, choice in node["choices"].items():
                    told = (*tags, (names, value.value if isinstance(value, Enum) else value)) if names else ()
                    self._walk(choice, around, blind, told, typed)
            case "default":
                lenient = node.get("on_error", "raise") != "raise"
                self.is_wild = self.is_wild or lenient
                self._walk(node["schema"], around, blind or lenient, tags, typed)
            case "custom-error":
                self._walk(node["schema"], around, blind, tags, typed)
            case "json-or-python":
                self._walk(node["json_schema"], around, blind, tags, True)
            case "lax-or-strict":
                self._walk(node["strict_schema"], around, blind, tags, True)
            case "function-after":
                self._types = None
                self._walk(node["schema"], (*around, node), blind, tags, typed)
            case "function-before" | "function-wrap":
                self._types = None
                self.is_wild = True
                self._walk(node["schema"], around, True, tags, typed)
            case "model":  # a root model
                self._types = None
                self._walk(node["schema"], (*around, node), blind or bool(node.get("custom_init")), tags, True)
            case "chain":
                self._types = None
                self._walk(node["steps"][0], around, True, tags, True)
            case "any":
                self.is_wild = self.is_wild or self.any_branch is not None
                self.any_branch = Branch(node, around=around, blind=blind)
                self._plain_text = True
                for name in _QUICK:
                    self._scalar(name)
            case "dict":
                self.branches.append(Branch(node, around=around, blind=blind, tags=tags))
            case _ if kind in MAPPINGS:
                self.branches.append(Branch({**node, "type": "dict"}, around=around, blind=True, tags=tags))
            case _ if kind in _LISTS:
                self.branches.append(Branch(node, around=around, blind=blind, tags=tags))
            case _ if "items_schema" in node:
                self.branches.append(Branch(node, around=around, blind=True, tags=tags))
            case "str":
                self._plain_text = True
                self._names_text = self._names_text or typed
                self.converts = self.converts or typed
                self._scalar(kind, plain=not typed and all(name in _DETAILS for name in node))
            case _ if kind in _QUICK:
                self._scalar(kind, plain=all(name in _DETAILS for name in node))
            case "literal":
                texts = [isinstance(value, str) and not isinstance(value, Enum) for value in node["expected"]]
                self._names_text = self._names_text or (any(texts) is not all(texts))
                self._members(node["expected"])
                if all(texts):
                    self._words.update(node["expected"])
                else:
                    self._types = None
                self.takes_none = self.takes_none or None in node["expected"]
            case _:
                self._types = None
                self._names_text = self._names_text or kind not in _QUIET
                self.converts = self.converts or kind not in _QUIET
                self._members(node.get("members", ()))
                self.is_wild = self.is_wild or kind == "function-plain"

    def _members(self, values: Sequence[Any]) -> None:
        """Take notice of members of Enum classes."""
        members = [value.value for value in values if isinstance(value, Enum)]
        if members:
            self._names_text = self.converts = True
        if any(isinstance(value, list | tuple | dict) for value in members):
            self.takes_containers = True

    def _scalar(self, kind: str, *, plain: bool = True) -> None:
        if kind == "none":
            self.takes_none = True
        if not plain:
            self._types = None
        elif self._types is not None:
            self._types.add(_QUICK[kind])


def _tag_names(discriminator: Any) -> tuple[str, ...]:
    """Give the names of the member that tells the choices of a union apart; none when a function does."""
    if isinstance(discriminator, str):
        return (discriminator,)
    if not isinstance(discriminator, list):
        return ()
    paths: list[Any] = cast("Any", discriminator)
    if not all(isinstance(path, list) and len(cast("Any", path)) == 1 for path in paths):
        return ()
    return tuple(str(path[0]) for path in paths)


def is_whole(text: str) -> bool:
    """Tell whether a text has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
