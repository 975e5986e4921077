"""KnownValue: what is known of a value of which parts are missing.

In: instances of which fields were never set, or dicts that stand for such, and their type. Out: what is known as a
tree, as text for a model, and as it would be read from an answer; and the places where something is missing. Nothing
that goes in is changed. No IO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from unspool.errors import ConfigError, StreamError
from unspool.schema.problem import NOTHING, Path, path_text
from unspool.schema.shape import (
    AliasShape,
    AnyShape,
    CollectionShape,
    Field,
    LiteralShape,
    MappingShape,
    Record,
    Shape,
    TupleShape,
    UnionShape,
    class_name,
)
from unspool.schema.types import Schema
from unspool.schema.validator_builder import ValueProtocol
from unspool.schema.value_text import Given, KnownRecord, Missing, ValueWriter, is_root_model
from unspool.schema.value_tree import member_of
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine
from unspool.structured.strict_json import MAX_DEPTH

_ANY = AnyShape()
_PLAIN = (type(None), bool, int, float, str)


class KnownValue:
    """What is known of a value of a type."""

    missing: list[Path]
    """Where something is missing, in order."""

    def __init__(self, value: Any, schema: Schema[Any], *, python: bool) -> None:
        """
        Args:
            value: instances of which fields were never set (of a model: `model_construct`), and dicts in their place.
            schema: what it is to be a value of.
            python: whether the answer is written in Python syntax, not in JSON.
        Raises:
            ConfigError: INVALID_OPTIONS, with the path, for what cannot be written in that syntax or cannot be told;
                UNSUPPORTED for a JSON Schema.
        """
        typed = schema.for_python()
        self.name = schema.name
        self.python = python
        self.protocol: ValueProtocol = "python" if python else "json"
        self._writer = ValueWriter(typed, missing=True)
        self.missing = []
        self._open: set[int] = set()  # containers in which something is missing
        self._schema = schema
        self.is_readable = True
        """Whether `text` says all that is known."""
        writer = ValueWriter(typed)
        _ = writer.python(value) if python else writer.json(value)  # what contains itself, or has no end, ends here
        self.tree = self._read(value, typed.shape, ())
        """The value, with `KnownRecord` for each instance of a class with fields, and `Missing`."""
        self.text = writer.python(self.tree) if python else writer.json(self.tree, tagged=True)
        try:
            neutral = self._read_back(self.text)
        except StreamError as error:  # a class that the type says nothing of, where it takes anything
            raise ConfigError(
                "INVALID_OPTIONS", f"What is known of {schema.name} could not be read back: {error.message}"
            ) from error
        self.neutral = neutral
        """The same as it would be read from an answer; None where something is missing."""

    @property
    def has_parts(self) -> bool:
        """Whether it is of a kind of which something can be missing."""
        return isinstance(self.tree, KnownRecord | Missing | dict | list | tuple)

    @property
    def shown(self) -> str:
        """The value in Python syntax, with `MISSING(int)` where something is missing."""
        return self._writer.python(self.tree)

    # What is known

    def _read_back(self, text: str) -> Any:
        """Read a text as an answer is read. Raises StreamError."""
        names: Any = {"classes": self._schema.classes, "names": self._schema.names} if self.python else {}
        machine = (PyReplyMachine if self.python else JsonReplyMachine)(
            max_chars=len(text), max_depth=MAX_DEPTH, **names
        )
        machine.feed(text)
        return machine.finish()

    def _unreadable(self, value: Any) -> str | None:
        """Give the text of a value that no answer could have, such as one of a class that the type does not name."""
        if not self.python:
            return None
        text = ValueWriter().python(value, compact=True)
        try:
            self._read_back(text)
        except StreamError:
            self.is_readable = False
            return text
        return None

    def _read(self, value: Any, shape: Shape, path: Path) -> Any:
        """Give a value with each instance of a class with fields, and each dict that stands for one, as KnownRecord."""
        before = len(self.missing)
        tree = self._part(value, shape, path)
        if type(value) not in _PLAIN and isinstance(shape, AnyShape) and shape.written == "Any":
            if len(self.missing) == before:
                return Given(value, self._unreadable(value))  # no text of it says what it is
            if not self.python and isinstance(tree, KnownRecord):
                name = tree.record.name
                raise _refused(
                    path,
                    f"is of the class {name} where the type says Any, which JSON cannot tell: ask in Python syntax",
                )
        return tree

    def _part(self, value: Any, shape: Shape, path: Path) -> Any:
        while is_root_model(value):
            root = getattr(value, "root", NOTHING)
            if root is NOTHING:
                self.missing.append(path)
                return Missing(class_name(cast("Any", type(value))))
            value = root
        if value is None or isinstance(value, str | int | float):
            return value
        shapes = list(_alternatives(shape))
        records = [record for found in shapes if isinstance(found, Record) for record in found.family]
        if _is_dict(value) and records and not any(isinstance(s, MappingShape | AnyShape) for s in shapes):
            return self._record_of_dict(value, records, path)
        fields = self._writer.fields_of(value)
        if fields is not None:
            record, members = fields
            takes_any = any(isinstance(found, AnyShape) for found in shapes)
            if records and not takes_any and all(record.cls is not other.cls for other in records):
                names = " or ".join(other.name for other in records)
                raise _refused(
                    path, f"is of the class {record.name}, and {names} is asked for; see Schema.of(…, subclasses=…)"
                )
            return self._record(record, value, dict(members), path)
        return self._container(value, shapes, path)

    def _container(self, value: Any, shapes: Sequence[Shape], path: Path) -> Any:
        before = len(self.missing)
        if _is_dict(value):
            inner = _one([found.values for found in shapes if isinstance(found, MappingShape)])
            tree: Any = {key: self._read(item, inner, (*path, key)) for key, item in value.items()}
        elif isinstance(value, list | tuple | set | frozenset):
            inner = _one([found.items for found in shapes if isinstance(found, CollectionShape)])
            fixed = next((found.items for found in shapes if isinstance(found, TupleShape)), ())
            tree = [
                self._read(item, fixed[i] if i < len(fixed) else inner, (*path, i))
                for i, item in enumerate(cast("Any", value))
            ]
        else:
            return value
        is_open = len(self.missing) > before
        if isinstance(value, set | frozenset):
            if is_open:
                raise _refused(path, "is a set, whose members cannot be told apart: give them whole")
            return cast("Any", value)
        tree = tuple(tree) if isinstance(value, tuple) else tree
        if is_open:
            self._open.add(id(tree))
        return tree

    def _record(self, record: Record, value: Any, members: dict[str, Any], path: Path) -> KnownRecord:
        before = len(self.missing)
        shapes: dict[str, Shape] = {field.name: field.shape for field in record.fields}
        known: dict[str, Any] = {}
        for name, member in members.items():
            if isinstance(member, Missing):
                self.missing.append((*path, name))
                known[name] = member
            else:
                known[name] = self._read(member, shapes.get(name, _ANY), (*path, name))
        set_by_user = getattr(value, "model_fields_set", None)
        optional = [field.name for field in record.fields if not field.required]
        unset = [name for name in optional if set_by_user is not None and name not in set_by_user]
        tree = KnownRecord(record, value, known, unset)
        if len(self.missing) > before:
            self._open.add(id(tree))
        return tree

    def _record_of_dict(self, value: dict[Any, Any], records: list[Record], path: Path) -> KnownRecord:
        """Take a dict as what is known of one of some classes: the one that has such fields."""
        found = [(record, members) for record in records if (members := _by_name(record, value)) is not None]
        if len(found) != 1:
            names = ", ".join(record.name for record in records)
            if found or len(records) > 1:
                raise _refused(path, f"may be one of {names}: give an instance of the one that is meant")
            known = {name for field in records[0].fields for name in (field.name, field.alias)}
            strange = ", ".join(repr(key) for key in value if key not in known)
            raise _refused(path, f"has {strange}, which is no field of {names}")
        [(record, members)] = found
        from unspool.schema.python_text import annotation

        for field in record.shown:
            if field.required and field.name not in members:
                members[field.name] = Missing(annotation(field.shape))
        return self._record(record, value, members, path)

    # What an answer makes of it

    def is_open(self, tree: Any) -> bool:
        """Tell whether something is missing in a part of `tree`."""
        return isinstance(tree, Missing) or id(tree) in self._open

    def named(self, record: Record, name: str) -> tuple[str, Field | None]:
        """Give the name that a field has in an answer, and the field; of a further member of a record its own name."""
        field = next((field for field in record.fields if field.name == name), None)
        return (name if field is None else self.key(field)), field

    def key(self, field: Field) -> str:
        """Give the name that a field has in an answer."""
        return field.name if self.python else field.alias

    def is_given(self, path: Sequence[Any]) -> bool:
        """Tell whether all that stands at a path of an answer was given.

        Args:
            path: as faults of an answer have it.
        """
        tree = self.tree
        for step in path:
            if isinstance(tree, KnownRecord):
                name = next((f.name for f in tree.record.fields if step == self.key(f)), step)
                if name in tree.unset:
                    return False
                tree = tree.members.get(name, NOTHING)
            elif self.is_open(tree):
                tree = member_of(tree, step)
            else:
                break
            if tree is NOTHING:
                return False
        return not self.is_open(tree)


def _alternatives(shape: Shape) -> Iterator[Shape]:
    """Give the shapes that a value of a shape may have."""
    seen: list[Shape] = []
    todo = [shape]
    while todo:
        found = todo.pop(0)
        if any(found is other for other in seen):
            continue
        seen.append(found)
        if isinstance(found, UnionShape):
            todo[:0] = found.members
        elif isinstance(found, AliasShape):
            todo.insert(0, found.shape)
        else:
            yield found


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _one(shapes: Sequence[Shape]) -> Shape:
    return _ANY if not shapes else shapes[0] if len(shapes) == 1 else UnionShape(shapes)


def _by_name(record: Record, value: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Give the members of a dict by the names of the fields of a class; None when it cannot be one of the class."""
    fields = {field.alias: field for field in record.fields} | {field.name: field for field in record.fields}
    members: dict[str, Any] = {}
    for key, item in value.items():
        field = fields.get(key)
        if field is None and record.extra is None:
            return None
        if field is not None and isinstance(field.shape, LiteralShape) and item not in field.shape.values:
            return None
        members[key if field is None else field.name] = item
    return members


def _refused(path: Path, words: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"{path_text(path) or 'The value'} {words}.")
