"""The text of a value in a protocol: the exact inverse of parsing, for examples and for completing what is half known.

In: a value. Out: a constructor expression in Python syntax, or JSON. What could not be read back (infinite floats,
halves of surrogate pairs, a list as a key, what contains itself) is refused with its path. Pure; sets are written in a
fixed order.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError
from unspool.printable import said_by
from unspool.schema.attrs_class import is_attrs
from unspool.schema.problem import path_text
from unspool.schema.python_text import annotation
from unspool.schema.shape import Record, Scalar, Shape, UnionShape, class_name, is_name
from unspool.schema.text_form import text_form
from unspool.schema.text_layout import Group, Text, laid_out
from unspool.schema.unknown import UNKNOWN, UNKNOWN_JSON
from unspool.schema.validators import TAG
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from unspool.schema.python_type import PythonType

_MAX_CONTAINERS = 250_000
"""A hundred lists, each twice in the next, are small in memory, and endless when they are written out."""


class ValueWriter:
    """Writes values; remembers what it has learned about their classes."""

    def __init__(self, typed: PythonType[Any] | None = None, *, missing: bool = False) -> None:
        """
        Args:
            typed: the type that they are of; else classes are looked at as they come.
            missing: in Python syntax, write `MISSING(int)` for fields that were never set (P39); else leave them out.
        """
        self._missing = missing
        self._records: dict[type, Record] = {}
        self._path: list[Any] = []
        self._open: set[int] = set()
        self._left = 0
        self._bytes_form = "utf8"
        self._is_json = typed is not None and _is_json(typed.shape)
        if typed is not None:
            self._records.update({record.cls: record for record in typed.reader.records.values()})

    def python(self, value: Any, *, compact: bool = False) -> str:
        """Write a value in Python syntax.

        Args:
            value: plain data, members of Enum classes, and instances of classes that a schema can be made of.
            compact: one line; else what is long has one field or item a line.
        Raises:
            ConfigError: INVALID_OPTIONS, with the path, when it could not be read back.
        """
        return laid_out(self._written(self._python, value, False), None if compact else 0)

    def json(self, value: Any, *, tagged: bool = False) -> str:
        """Write a value in JSON.

        Args:
            value: as in `python`.
            tagged: let classes that have subclasses say which they are.
        Raises:
            ConfigError: INVALID_OPTIONS, with the path, when it could not be read back.
        """
        return _dumps(self._written(self._plain, value, tagged))

    def _written[S](self, write: Callable[[Any, bool], S], value: Any, flag: bool) -> S:
        self._path.clear()
        self._open.clear()
        self._left = _MAX_CONTAINERS
        self._bytes_form = "utf8"
        try:
            return write(JsonText(value) if self._is_json and value is not None else value, flag)
        except ConfigError:
            raise
        except Exception as error:  # of a property, or of whatever else a class of the application may have
            raise self._refused(f"cannot be written: {said_by(error)}") from error

    def _refused(self, words: str) -> ConfigError:
        return ConfigError("INVALID_OPTIONS", f"{path_text(self._path) or 'The value'} {words}")

    def _inside[S](self, step: Any, write: Callable[[Any, bool], S], value: Any, flag: bool) -> S:
        """Write what stands in a value under a name, a key or a number."""
        self._path.append(step)
        written = write(value, flag)
        self._path.pop()
        return written

    def _enter(self, value: Any) -> None:
        """Begin a value that may have others inside."""
        if len(self._path) >= MAX_DEPTH or len(self._open) >= 2 * MAX_DEPTH:  # a root model is no level of the text
            raise ConfigError("INVALID_OPTIONS", f"The value nests deeper than {MAX_DEPTH}.")
        if id(value) in self._open:
            raise self._refused("is a value that contains it: that has no end.")
        self._left -= 1
        if self._left < 0:
            raise ConfigError("INVALID_OPTIONS", f"The value is made of more than {_MAX_CONTAINERS} containers.")
        self._open.add(id(value))

    def _python(self, value: Any, hashed: bool = False) -> Text:
        """Write a value; `hashed` is one that is a key, or in a set."""
        if value is UNKNOWN or value is None or isinstance(value, bool):
            return repr(value)
        if isinstance(value, Missing):
            return f"MISSING({value.annotation})" if self._missing else "None"
        if isinstance(value, Given):
            return self._python(value.value if value.shown is None else value.shown, hashed)
        if isinstance(value, JsonText):
            return self._scalar(_dumps(self._plain(value.value, False)))
        if isinstance(value, Enum):
            if value.name in type(value).__members__ and is_name(value.name):
                return f"{class_name(type(value))}.{value.name}"
            return self._python(value.value, hashed)  # flags of several names, and names that are none
        if isinstance(value, int | float | str | bytes):
            return self._scalar(value)
        self._enter(value)
        written = self._python_group(value, hashed)
        self._open.discard(id(value))
        return written

    def _python_group(self, value: Any, hashed: bool) -> Text:
        if is_root_model(value):
            return self._python(getattr(value, "root", None), hashed)
        fields = self.fields_of(value)
        if hashed and (fields is not None or isinstance(value, frozenset)):
            name = type(cast("Any", value)).__name__
            raise self._refused(f"has a key, or a member of a set, that is a {name}: Python syntax has none.")
        if fields is not None:
            record, members = fields
            for name in (record.name, *(name for name, _ in members)):
                if not is_name(name):
                    raise self._refused(f"is written in JSON alone: Python syntax has no such name as {name!r}.")
            pieces = [(f"{name}=", self._inside(name, self._python, member, False)) for name, member in members]
            return Group(f"{record.name}(", pieces, ")")
        match value:
            case list() | deque():
                return Group("[", self._python_items(cast("Any", value), False), "]")
            case tuple():
                pieces = self._python_items(cast("Any", value), hashed)
                return Group("(", pieces, ",)" if len(pieces) == 1 else ")")
            case set() | frozenset():
                members = in_order(cast("set[Any]", value), lambda item: laid_out(self._member(item), None))
                kind = "frozenset(" if isinstance(value, frozenset) else ""
                if not members:
                    return kind + ")" if kind else "set()"
                pieces = [("", self._inside(i, self._member, item, True)) for i, item in enumerate(members)]
                return Group(f"{kind}{{", pieces, "})" if kind else "}")
            case dict():
                entries: dict[Any, Any] = cast("Any", value)
                pieces = [
                    (f"{laid_out(self._python(key, True), None)}: ", self._inside(key, self._python, member, False))
                    for key, member in entries.items()
                ]
                return Group("{", pieces, "}")
            case _:
                return self._python(self._text_form(value), hashed)

    def _python_items(self, items: Iterable[Any], hashed: bool) -> list[tuple[str, Text]]:
        return [("", self._inside(i, self._python, item, hashed)) for i, item in enumerate(items)]

    def _member(self, value: Any, hashed: bool = True) -> Text:
        """Write a member of a set, which may be a constructor; what stands in a tuple there, or is a key, may not."""
        return self._python(value, hashed and self.fields_of(value) is None)

    def fields_of(self, value: Any) -> tuple[Record, list[tuple[str, Any]]] | None:
        """Give the class of a value and its members by field name; None when it is of no class with fields.

        Fields that the model is not shown are left out.
        """
        if isinstance(value, KnownRecord):
            return value.record, list(value.members.items())
        cls = cast("Any", type(value))
        record = self.record_of(cls)
        if record is None:
            return None
        from pydantic_core import MISSING

        members: list[tuple[str, Any]] = []
        # What a dataclass takes and does not keep (`InitVar`) cannot be written.
        kept = _kept_names(value) if record.form == "dataclass" else None
        for field in record.shown:
            if kept is not None and field.name not in kept:
                if field.required and not self._missing:
                    raise self._refused(f"is a {record.name}, which does not keep the {field.name} that it needs.")
                continue
            attribute = attribute_of(record, field.name)
            if record.form == "model" and attribute in cls.model_fields and cls.model_fields[attribute].deprecated:
                member = cast("dict[str, Any]", vars(value)).get(attribute, MISSING)  # its attribute warns
            else:
                member = getattr(value, attribute, MISSING)
            if member is not MISSING:
                is_json = member is not None and _is_json(field.shape)
                members.append((field.name, JsonText(member) if is_json else member))
            elif self._missing:
                members.append((field.name, Missing(annotation(field.shape))))
        if record.form == "model" and value.model_extra:
            members += value.model_extra.items()
        return record, members

    def record_of(self, cls: type) -> Record | None:
        """Give what is known of a class with fields; None for other classes."""
        if cls not in self._records:
            if not _has_fields(cls):
                return None
            from unspool.schema.python_type import python_type_of

            found = python_type_of(cls, asked=False).reader.records.values()
            self._records.update({record.cls: record for record in found if record.cls not in self._records})
        return self._records.get(cls)

    def _plain(self, value: Any, tagged: bool) -> Any:
        """Turn a value into JSON data."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Missing):
            return None
        if isinstance(value, Given):
            return self._plain(value.value, tagged)
        if isinstance(value, JsonText):
            return _dumps(self._plain(value.value, False))
        if value is UNKNOWN:
            return UNKNOWN_JSON
        if isinstance(value, Enum):
            from pydantic_core import PydanticSerializationError, to_jsonable_python

            try:
                return self._plain(to_jsonable_python(value.value), tagged)
            except PydanticSerializationError:
                name = f"{class_name(type(value))}.{value.name}"
                raise self._refused(f"is {name}, whose value JSON has no form for.") from None
        if isinstance(value, int | float | str):
            self._scalar(value)
            return value
        self._enter(value)
        plain = self._plain_group(value, tagged)
        self._open.discard(id(value))
        return plain

    def _plain_group(self, value: Any, tagged: bool) -> Any:
        if is_root_model(value):
            return self._plain(getattr(value, "root", None), tagged)
        fields = self.fields_of(value)
        if fields is not None:
            record, members = fields
            aliases = {field.name: field.alias for field in record.fields}
            outside, self._bytes_form = self._bytes_form, record.bytes_form
            plain = self._object([(aliases.get(name, name), member) for name, member in members], tagged)
            self._bytes_form = outside
            return {TAG: record.name, **plain} if tagged and self._in_family(record) else plain
        match value:
            case dict():
                entries: dict[Any, Any] = cast("Any", value)
                return self._object([(self._key(key), member) for key, member in entries.items()], tagged)
            case set() | frozenset():
                items: Any = in_order(cast("set[Any]", value), lambda item: _dumps(self._plain(item, False)))
            case list() | tuple() | deque():
                items = cast("Sequence[Any]", value)
            case _:
                return self._plain(self._text_form(value), tagged)
        return [self._inside(i, self._plain, item, tagged) for i, item in enumerate(items)]

    def _object(self, members: list[tuple[str, Any]], tagged: bool) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, member in members:
            if name in plain:
                raise self._refused(f"has two members that are both {name!r} in JSON.")
            plain[name] = self._inside(name, self._plain, member, tagged)
        return plain

    def _in_family(self, record: Record) -> bool:
        return bool(record.subclasses) or any(record in other.subclasses for other in self._records.values())

    def _key(self, key: Any) -> str:
        """Write a key of a dict: what is read from the name of a JSON member."""
        while is_root_model(key):
            key = key.root
        plain = key.value if isinstance(key, Enum) else key
        if not isinstance(plain, int | float | str) and self.fields_of(plain) is None:
            plain = None if isinstance(plain, list | tuple | set | frozenset | dict | None) else self._text_form(plain)
        if not isinstance(plain, str | int | float):
            raise self._refused(f"has a key that JSON has none for: a {class_name(cast('Any', type(key)))}.")
        if isinstance(plain, bool):
            return "true" if plain else "false"
        text = self._scalar(plain)
        return plain if isinstance(plain, str) else text

    def _scalar(self, value: int | float | str | bytes) -> str:
        """Write a number or a text; of a subclass, as what it is."""
        if isinstance(value, str):
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise self._refused("has half of a surrogate pair, which cannot be read back.")
            return str.__repr__(value)
        if isinstance(value, bytes):
            return bytes.__repr__(value)
        if isinstance(value, int):
            try:
                return int.__repr__(value)
            except ValueError:
                raise self._refused("is an integer of more than 4,300 digits, which cannot be read back.") from None
        if not math.isfinite(value):
            raise self._refused(f"is {value!r}, which cannot be read back.")
        return float.__repr__(value)

    def _text_form(self, value: Any) -> Any:
        try:
            return text_form(value, self._bytes_form)
        except ValueError as error:
            raise self._refused(f"cannot be written: {error}") from error


class Missing:
    """Stands for what was never set; where that is not said, it is written as None."""

    __slots__ = ("annotation",)

    def __init__(self, annotation: str) -> None:
        self.annotation = annotation


class Given:
    """Stands for what was given where the type takes anything."""

    __slots__ = ("shown", "value")

    def __init__(self, value: Any, shown: str | None) -> None:
        self.value = value
        self.shown = shown
        """What is shown in its place, if an answer could not say it."""


class JsonText:
    """Stands for what the type says is written as JSON inside a text."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonText) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


class KnownRecord:
    """What is known of a value of a class with fields, written as the value itself would be."""

    __slots__ = ("members", "record", "unset", "value")

    def __init__(self, record: Record, value: Any, members: dict[str, Any], unset: Collection[str]) -> None:
        self.record = record
        self.value = value
        """The instance, or the dict that stands for one."""
        self.members = members
        """By field name, with `Missing` where nothing is known."""
        self.unset = unset
        """Those that nobody has given: they have their defaults."""


def _is_json(shape: Shape) -> bool:
    """Tell whether all that a shape takes, but None, is JSON inside a text."""
    members = shape.members if isinstance(shape, UnionShape) else (shape,)
    rest = [member for member in members if not (isinstance(member, Scalar) and member.name == "None")]
    return bool(rest) and all(isinstance(member, Scalar) and member.content for member in rest)


def in_order(members: Iterable[Any], text: Callable[[Any], str]) -> list[Any]:
    """Sort the members of a set: numbers by value, then texts, then the rest by how they are written (P82)."""

    def key(item: Any) -> tuple[int, Any]:
        if isinstance(item, int | float) and not isinstance(item, Enum):
            return 0, item
        return (1, item) if isinstance(item, str) and not isinstance(item, Enum) else (2, text(item))

    return sorted(members, key=key)


def _dumps(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _kept_names(value: Any) -> set[str]:
    import dataclasses

    return {field.name for field in dataclasses.fields(value)}


def is_root_model(value: Any) -> bool:
    cls = cast("Any", type(value))
    return getattr(cls, "__pydantic_root_model__", False) is True


def _has_fields(cls: Any) -> bool:
    if hasattr(cls, "model_fields"):
        return not getattr(cls, "__pydantic_root_model__", False)
    return hasattr(cls, "__dataclass_fields__") or is_attrs(cls) or hasattr(cls, "_fields")


def attribute_of(record: Record, name: str) -> str:
    """Name the attribute of a field: attrs gives arguments without the underscore that a private one begins with."""
    if record.form != "attrs":
        return name
    fields: Any = cast("Any", record.cls).__attrs_attrs__
    return next((field.name for field in fields if field.alias == name), name)


def json_text(value: Any, typed: PythonType[Any]) -> str:
    """Write a value of a type in JSON, each class of a family with its name."""
    return ValueWriter(typed).json(value, tagged=True)
