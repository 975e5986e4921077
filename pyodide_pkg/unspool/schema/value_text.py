"""The text of a value in a protocol: the exact inverse of parsing, for examples and for completing what is half known.

In: a value. Out: a constructor expression in Python syntax, or JSON. What could not be read back (infinite floats,
halves of surrogate pairs) is refused. Pure; sets are written in a fixed order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import ConfigError
from unspool.schema.attrs_class import is_attrs
from unspool.schema.markers import UNKNOWN, UNKNOWN_JSON
from unspool.schema.python_text import annotation
from unspool.schema.shape import Record, class_name, is_name
from unspool.schema.taking import TAG
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from unspool.schema.typed import Typed

_INDENT = "  "
_WIDTH = 60
"""A value that fits in so many characters stands in one line."""


class ValueWriter:
    """Writes values; remembers what it has learned about their classes."""

    def __init__(self, typed: Typed[Any] | None = None, *, missing: bool = False) -> None:
        """
        Args:
            typed: the type that they are of; else classes are looked at as they come.
            missing: in Python syntax, write `MISSING(int)` for fields that were never set (P39); else leave them out.
        """
        self._missing = missing
        self._records: dict[type, Record] = {}
        if typed is not None:
            self._records.update({record.cls: record for record in typed.reader.records.values()})

    def python(self, value: Any, *, compact: bool = False) -> str:
        """Write a value in Python syntax.

        Args:
            value: plain data, members of Enum classes, and instances of classes that a schema can be made of.
            compact: one line; else what is long has one field or item a line.
        Raises:
            ConfigError: INVALID_OPTIONS when it could not be read back.
        """
        return self._python(value, None if compact else 0, 0)

    def json(self, value: Any, *, tagged: bool = False) -> str:
        """Write a value in JSON.

        Args:
            value: as in `python`.
            tagged: let classes that have subclasses say which they are.
        Raises:
            ConfigError: INVALID_OPTIONS when it could not be read back.
        """
        plain = self._plain(value, tagged, 0)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def _python(self, value: Any, column: int | None, depth: int) -> str:
        """Write a value; `column` is how far it is indented when it takes several lines, None for one line only."""
        if depth > MAX_DEPTH:
            raise ConfigError("INVALID_OPTIONS", f"The value nests deeper than {MAX_DEPTH}.")
        if value is UNKNOWN or value is None or isinstance(value, bool):
            return repr(value)
        if _is_root_model(value):
            return self._python(value.root, column, depth)
        if isinstance(value, _Missing):
            return f"MISSING({value.annotation})"
        if isinstance(value, Enum):
            if value.name in type(value).__members__:
                return f"{class_name(type(value))}.{value.name}"
            return self._python(value.value, column, depth)  # flags of several names
        fields = self.fields_of(value)
        if fields is not None:
            record, members = fields
            for name in (record.name, *(name for name, _ in members)):
                if not is_name(name):
                    raise ConfigError(
                        "INVALID_OPTIONS", f"Python syntax has no such name as {name!r}: write it in JSON."
                    )
            pieces = [(f"{name}=", member) for name, member in members]
            return self._joined(f"{record.name}(", pieces, ")", column, depth)
        match value:
            case int() | float() | str() | bytes():
                return _scalar(value)
            case list() | tuple():
                items: Sequence[Any] = cast("Any", value)
                pieces = [("", item) for item in items]
                if isinstance(value, list):
                    return self._joined("[", pieces, "]", column, depth)
                return self._joined("(", pieces, ",)" if len(pieces) == 1 else ")", column, depth)
            case set() | frozenset():
                members = in_order(cast("set[Any]", value), lambda item: self._python(item, None, depth))
                if not members:
                    return "set()"
                return self._joined("{", [("", item) for item in members], "}", column, depth)
            case dict():
                entries: dict[Any, Any] = cast("Any", value)
                pieces = [(f"{self._python(key, None, depth + 1)}: ", member) for key, member in entries.items()]
                return self._joined("{", pieces, "}", column, depth)
            case _:
                return self._python(_text_form(value), column, depth)

    def _joined(self, opening: str, pieces: list[tuple[str, Any]], closing: str, column: int | None, depth: int) -> str:
        short = [f"{label}{self._python(item, None, depth + 1)}" for label, item in pieces]
        line = f"{opening}{', '.join(short)}{closing}"
        if column is None or not pieces or (len(line) <= _WIDTH and opening in "[({"):
            return line
        inner = column + 1
        pad = _INDENT * inner
        closing = closing.removeprefix(",")
        long = [f"{pad}{label}{self._python(item, inner, depth + 1)}," for label, item in pieces]
        return "\n".join([opening, *long, f"{_INDENT * column}{closing}"])

    def fields_of(self, value: Any) -> tuple[Record, list[tuple[str, Any]]] | None:
        """Give the class of a value and its members by field name; None when it is of no class with fields.

        Fields that the model is not shown are left out.
        """
        cls = cast("Any", type(value))
        record = self.record_of(cls)
        if record is None:
            return None
        members: list[tuple[str, Any]] = []
        # What a dataclass takes and does not keep (`InitVar`) cannot be written.
        kept = _kept_names(value) if record.form == "dataclass" else None
        for field in record.shown:
            if kept is not None and field.name not in kept:
                continue
            attribute = _attribute(record, field.name)
            if hasattr(value, attribute):
                members.append((field.name, getattr(value, attribute)))
            elif self._missing:
                members.append((field.name, _Missing(annotation(field.shape))))
        if record.form == "model" and value.model_extra:
            members += value.model_extra.items()
        return record, members

    def record_of(self, cls: type) -> Record | None:
        """Give what is known of a class with fields; None for other classes."""
        if cls not in self._records:
            if not _has_fields(cls):
                return None
            from unspool.schema.typed import typed_of

            found = typed_of(cls).reader.records.values()
            self._records.update({record.cls: record for record in found if record.cls not in self._records})
        return self._records.get(cls)

    def _plain(self, value: Any, tagged: bool, depth: int) -> Any:
        """Turn a value into JSON data."""
        if depth > MAX_DEPTH:
            raise ConfigError("INVALID_OPTIONS", f"The value nests deeper than {MAX_DEPTH}.")
        if value is None or isinstance(value, bool):
            return value
        if value is UNKNOWN:
            return UNKNOWN_JSON
        if _is_root_model(value):
            return self._plain(value.root, tagged, depth)
        if isinstance(value, Enum):
            return self._plain(value.value, tagged, depth)
        fields = self.fields_of(value)
        if fields is not None:
            record, members = fields
            aliases = {field.name: field.alias for field in record.fields}
            plain = {aliases.get(name, name): self._plain(member, tagged, depth + 1) for name, member in members}
            return {TAG: record.name, **plain} if tagged and self._in_family(record) else plain
        match value:
            case int() | float() | str():
                _scalar(value)
                return value
            case dict():
                entries: dict[Any, Any] = cast("Any", value)
                return {self._key(key): self._plain(member, tagged, depth + 1) for key, member in entries.items()}
            case set() | frozenset():
                members = in_order(cast("set[Any]", value), lambda item: self._python(item, None, depth))
                return [self._plain(item, tagged, depth + 1) for item in members]
            case list() | tuple():
                return [self._plain(item, tagged, depth + 1) for item in cast("list[Any]", value)]
            case _:
                return self._plain(_text_form(value), tagged, depth)

    def _in_family(self, record: Record) -> bool:
        return bool(record.subclasses) or any(record in other.subclasses for other in self._records.values())

    def _key(self, key: Any) -> str:
        plain = self._plain(key, False, 0)
        return plain if isinstance(plain, str) else json.dumps(plain)


class _Missing:
    """Stands for a field that was never set."""

    __slots__ = ("annotation",)

    def __init__(self, annotation: str) -> None:
        self.annotation = annotation


def in_order(members: Iterable[Any], text: Callable[[Any], str]) -> list[Any]:
    """Sort the members of a set: numbers by value, then texts, then the rest by how they are written (P82)."""

    def key(item: Any) -> tuple[int, Any]:
        if isinstance(item, int | float) and not isinstance(item, Enum):
            return 0, item
        return (1, item) if isinstance(item, str) and not isinstance(item, Enum) else (2, text(item))

    return sorted(members, key=key)


def _scalar(value: int | float | str | bytes) -> str:
    """Write a number or a text; of a subclass, as what it is."""
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ConfigError("INVALID_OPTIONS", "A text with half of a surrogate pair cannot be read back.")
        return str.__repr__(value)
    if isinstance(value, bytes):
        return bytes.__repr__(value)
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:
            raise ConfigError("INVALID_OPTIONS", "An integer of more than 4,300 digits cannot be read back.") from None
    if not math.isfinite(value):
        raise ConfigError("INVALID_OPTIONS", f"{value!r} cannot be read back.")
    return float.__repr__(value)


def _text_form(value: Any) -> Any:
    """Give the form that JSON has for a date, a UUID, a Decimal and the like."""
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if hasattr(value, "get_secret_value"):
        raise ConfigError("INVALID_OPTIONS", "A secret is not written: a model would read it.")
    try:
        plain = to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError) as error:
        raise ConfigError("INVALID_OPTIONS", f"{type(value).__name__} cannot be written: {error}") from error
    if type(plain) is type(value):
        raise ConfigError("INVALID_OPTIONS", f"{type(value).__name__} cannot be written.")
    return plain


def _kept_names(value: Any) -> set[str]:
    import dataclasses

    return {field.name for field in dataclasses.fields(value)}


def _is_root_model(value: Any) -> bool:
    cls = cast("Any", type(value))
    return getattr(cls, "__pydantic_root_model__", False) is True


def _has_fields(cls: Any) -> bool:
    if hasattr(cls, "model_fields"):
        return not getattr(cls, "__pydantic_root_model__", False)
    return hasattr(cls, "__dataclass_fields__") or is_attrs(cls) or hasattr(cls, "_fields")


def _attribute(record: Record, name: str) -> str:
    """Name the attribute of a field: attrs gives arguments without the underscore that a private one begins with."""
    if record.form != "attrs":
        return name
    fields: Any = cast("Any", record.cls).__attrs_attrs__
    return next((field.name for field in fields if field.alias == name), name)


def json_text(value: Any, typed: Typed[Any]) -> str:
    """Write a value of a type in JSON, each class of a family with its name."""
    return ValueWriter(typed).json(value, tagged=True)
