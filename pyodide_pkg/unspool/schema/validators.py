"""What the validators of `ValidatorBuilder` do with one value: take a constructor apart, match a literal, read a date.

Each takes a neutral value and gives what pydantic shall go on with, or raises pydantic's own error for it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from unspool.errors import StreamError
from unspool.schema.unknown import UNKNOWN, UNKNOWN_JSON
from unspool.structured.collisions import MAX_COLLISIONS, collide
from unspool.structured.py_values import PyName, PyObject, PySet
from unspool.structured.strict_json import loads, number

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

    from unspool.schema.shape import Record

TAG = "class"
"""The member of a JSON object that names its class, where subclasses may stand: no field of Python's has the name."""

_MAX_SHOWN = 40
_FLOAT_DIGITS = 15
"""Of a number of up to so many digits, a 64-bit float gives them all back (`sys.float_info.dig`)."""


def refusal(kind: str, message: str) -> Exception:
    """Make the error that says why a value is refused; `kind` is in pydantic's manner."""
    from pydantic_core import PydanticCustomError

    return PydanticCustomError(cast("Any", kind), "{reason}", {"reason": message})


class Made:
    """An instance that was made before what it stands in, and the name of its constructor."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def __repr__(self) -> str:
        return f"{self.name}(…)"


class LazyValidator:
    """A validator that is built when the first value comes."""

    __slots__ = ("_config", "_core", "_validator")

    def __init__(self, core: Any, config: Any) -> None:
        self._core = core
        self._config = config
        self._validator: SchemaValidator | None = None

    @property
    def validator(self) -> SchemaValidator:
        if self._validator is None:
            from pydantic_core import SchemaValidator

            self._validator = SchemaValidator(self._core, self._config or None)
        return self._validator

    def read(self, text: str) -> Any:
        """Validate JSON text, in strict mode."""
        return self._checked(self.validator.validate_json, text)

    def take(self, value: Any) -> Any:
        """Validate a value of Python's, in strict mode: one that a validator of the application has made."""
        return self._checked(self.validator.validate_python, value)

    @staticmethod
    def _checked(validate: Callable[..., Any], given: Any) -> Any:
        from pydantic import ValidationError

        try:
            return validate(given, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise refusal(first["type"], first["msg"]) from None


def arguments(record: Record, loose: bool, value: Any) -> Mapping[str, Any]:
    """Give the arguments of a class's constructor by field name."""
    if isinstance(value, Made):
        return cast("Mapping[str, Any]", made(record, value))
    if isinstance(value, PyObject):
        if value.name != record.name:
            raise refusal("wrong_class_type", f"Input should be {record.name}(…)")
        slots, fields = record.slots, dict[str, Any]()
        for key, item in value.fields.items():
            if isinstance(key, int):
                if key >= len(slots):
                    raise refusal("too_many_positional", f"{record.name} takes {len(slots)} arguments by position")
                key = slots[key]
            if key in fields:
                raise refusal("duplicate_field", f"{key} is given twice")
            fields[key] = item
        return fields
    if isinstance(value, dict) and (loose or record.form == "typed-dict"):
        members: dict[Any, Any] = cast("Any", value)
        if all(isinstance(key, str) for key in members):
            return members
    if loose and record.form in ("model", "dataclass") and isinstance(value, record.cls):
        return cast("Mapping[str, Any]", value)  # made by a validator of the application, and taken as it is
    raise refusal("wrong_class_type", f"Input should be {record.name}(…)")


def untagged(value: Any) -> Any:
    """Give a JSON object of a class without the member that names the class."""
    if not isinstance(value, dict) or TAG not in value:
        return cast("Any", value)
    members = cast("dict[str, Any]", value)
    return {name: member for name, member in members.items() if name != TAG}


def tag_of(default: str | None, value: Any) -> str | None:
    """Tell which class of a family a JSON object names; without a name it is the default."""
    members: dict[str, Any] = cast("Any", value) if isinstance(value, dict) else {}
    name = members.get(TAG, default)
    return f"<{name}>" if isinstance(name, str) else None


def name_of(names: Collection[str], default: str | None, value: Any) -> str | None:
    """Tell which class a constructor names."""
    if isinstance(value, PyObject | Made) and value.name in names:
        return f"<{value.name}>"
    return default


def is_made(value: Any) -> str:
    """Tell whether a value is an instance already."""
    return "<made>" if isinstance(value, Made) else "<>"


def made(record: Record, value: Any) -> Any:
    """Take an instance that was made already."""
    if isinstance(value, Made) and value.name == record.name:
        return value.value
    raise refusal("wrong_class_type", f"Input should be {record.name}(…)")


def unknown(value: Any) -> Any:
    """Take `UNKNOWN`."""
    if value == PyName("UNKNOWN") or (value == UNKNOWN_JSON and isinstance(value["unknown"], bool)):
        return UNKNOWN
    raise refusal("unknown_type", "Input should be UNKNOWN")


def literals(expected: Collection[Any]) -> dict[tuple[type, Any], Any]:
    """Index literal values by type and value, members of Enum classes also by their names and values."""
    index: dict[tuple[type, Any], Any] = {}
    for value in expected:
        kind = cast("Any", type(value))
        index[kind, value] = value
        if isinstance(value, Enum):
            name = PyName(f"{type(value).__name__}.{value.name}")
            index.setdefault((PyName, name), value)
            kind = cast("Any", type(value.value))
            index.setdefault((kind, value.value), value)
    return index


def literal(index: Mapping[tuple[type, Any], Any], value: Any) -> Any:
    """Take one of some values, of the same type: `True` is not 1 (P59)."""
    try:
        kind = cast("Any", type(value))
        return index[kind, value]
    except (KeyError, TypeError):
        values = (expected for kind, expected in index if kind is not PyName and not isinstance(expected, Enum))
        raise refusal("literal_error", f"Input should be {_shown(values)}") from None


def _shown(expected: Iterable[Any]) -> str:
    """Name what was expected. There may be a message for each item of a long list: it must cost little."""
    first = [repr(value) for value in islice(expected, _MAX_SHOWN + 1)]
    return " or ".join(first if len(first) <= _MAX_SHOWN else [*first[:-1], "…"])


def members(cls: Any) -> dict[tuple[type, Any], Any]:
    """Index the members of an Enum class by type and value, as far as the values can be hashed."""
    index: dict[tuple[type, Any], Any] = {}
    for found in cls:
        with suppress(TypeError):
            kind = cast("Any", type(found.value))
            index.setdefault((kind, found.value), found)
    return index


def member(cls: Any, index: Mapping[tuple[type, Any], Any], value: Any) -> Any:
    """Take a member of an Enum class: by name (`Color.RED`), by call (`Color('red')`), or by its bare value (P60)."""
    if isinstance(value, cls):  # made by a validator of the application
        return value
    if isinstance(value, PyName):
        kind, _, name = value.name.partition(".")
        if kind == cls.__name__ and name in cls.__members__:
            return cls.__members__[name]
    else:
        if isinstance(value, PyObject) and value.name == cls.__name__ and len(value.fields) == 1:
            [value] = value.fields.values()
        kind = cast("Any", type(value))
        try:
            for key in ((kind, value), (float, value)) if kind is int else ((kind, value),):
                if key in index:
                    return index[key]
        except TypeError:  # a list or a dict
            for found in cls:
                if type(found.value) is kind and found.value == value:
                    return found
        found = _missing(cls, value)
        if found is not None:
            return found
    raise refusal("enum", f"Input should be {_shown(found.value for found in cls)}")


def _missing(cls: Any, value: Any) -> Any:
    """Ask an Enum class for the member that it makes of a value, if it does."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    found = cls._missing_(value)
    return found if isinstance(found, cls) else None


class JsonChoices:
    """Values of a Literal or of an Enum class by their forms in JSON, as the JSON Schema has them; `true` is not 1."""

    __slots__ = ("_by_text", "_cls", "_forms")

    def __init__(self, values: Iterable[Any], cls: Any = None) -> None:
        """
        Args:
            values: the values, or the members of the class.
            cls: the Enum class.
        """
        from pydantic_core import to_jsonable_python

        self._cls = cls
        self._by_text: dict[str, Any] = {}
        self._forms: list[Any] = []
        for value in values:
            form = to_jsonable_python(value)
            self._forms.append(form)
            self._by_text.setdefault(json.dumps(form, sort_keys=True), value)

    def take(self, value: Any) -> Any:
        """Take one of them."""
        try:
            text = json.dumps(value, sort_keys=True)
        except TypeError:  # made by a validator of the application
            text = ""
            if value in self._by_text.values():
                return value
        if text in self._by_text:
            return self._by_text[text]
        if self._cls is not None:
            # A float of a class may be written without its point.
            found = self._by_text.get(f"{text}.0") if type(value) is int else None
            found = _missing(self._cls, value) if found is None else found
            if found is not None:
                return found
        raise refusal("literal_error" if self._cls is None else "enum", f"Input should be {_shown(self._forms)}")

    def take_key(self, key: Any) -> Any:
        """Take one of them as the name of a member, which is text: `"1"` is 1 where no text is `1`."""
        if not isinstance(key, str) or json.dumps(key) in self._by_text:
            return self.take(key)
        with suppress(StreamError):  # a number that is too large
            found = key == "true" if key in ("true", "false") else number(key)
            return self.take(key if found is None else found)
        return self.take(key)


def set_items(kind: str, value: Any) -> list[Any]:
    """Give the items of a set as written; `frozenset(…)` is no set."""
    if isinstance(value, PySet) and (kind == "frozenset" or not value.frozen):
        return list(value.items)
    if isinstance(value, set | frozenset):  # made by a validator of the application
        return list(cast("Iterable[Any]", value))
    raise refusal(f"{kind}_type", f"Input should be a {kind}")


def json_list(value: Any) -> list[Any]:
    """Take a list of JSON; also what a validator of the application has made of one."""
    if isinstance(value, list):
        items: list[Any] = cast("Any", value)
        return items
    if isinstance(value, tuple | set | frozenset | deque):
        return list(cast("Iterable[Any]", value))
    raise refusal("list_type", "Input should be a list")


def json_tuple(value: Any) -> tuple[Any, ...]:
    """Take a list of JSON as a tuple."""
    return tuple(json_list(value))


def distinct(items: list[Any]) -> list[Any]:
    """Drop items that equal an earlier one."""
    try:
        if collide(items):
            raise refusal("hash_collisions", "Items of a set should not be chosen to have equal hashes")
        return list(dict.fromkeys(items))
    except TypeError:
        raise refusal("unhashable", "Items of a set should be hashable") from None


def as_json(leaf: LazyValidator, value: Any) -> Any:
    """Read a value in the text form that it has in JSON: a date, a UUID, a Decimal, …

    What is no JSON may have been made by a validator of the application.
    """
    try:
        text = json.dumps(value, allow_nan=False)
    except TypeError:
        return leaf.take(value)
    except ValueError:
        raise refusal("data_type", "Input should be text or a number") from None
    return leaf.read(text)


def as_decimal(leaf: LazyValidator, value: Any) -> Any:
    """Read a Decimal: text, or a number of no more digits than a float keeps."""
    if isinstance(value, float) and len(repr(value).partition("e")[0].strip("-0.").replace(".", "")) > _FLOAT_DIGITS:
        raise refusal("decimal_digits", "Input should be text, because a number of so many digits loses some")
    return as_json(leaf, value)


def json_inside(value: Any) -> Any:
    """Read the JSON that is inside a text."""
    if not isinstance(value, str):
        raise refusal("json_type", "Input should be JSON text")
    try:
        return loads(value)
    except StreamError as error:
        raise refusal("json_invalid", f"Input should be JSON text: {error.message}") from None


def as_bytes(leaf: LazyValidator, value: Any) -> Any:
    """Read bytes: a bytes literal, or the text form of JSON."""
    return leaf.validator.validate_python(value) if isinstance(value, bytes) else as_json(leaf, value)


def json_key(keys: LazyValidator, key: Any) -> Any:
    """Read the key of a JSON object as what a dict of Python has for keys."""
    try:
        text = json.dumps({key: None})
    except TypeError:  # made by a validator of the application
        [read] = keys.take({key: None})
    else:
        [read] = keys.read(text)
    return read


def keyed(keys: LazyValidator, value: Any) -> Any:
    """Take a JSON object whose keys become something else than text."""
    read: list[Any] = []
    if isinstance(value, dict) and len(cast("Any", value)) > MAX_COLLISIONS:
        for key in cast("dict[str, Any]", value):
            with suppress(ValueError):  # what is wrong with it is told where it stands
                read.append(json_key(keys, key))
    if collide(read):
        raise refusal("hash_collisions", "Keys should not be chosen to have equal hashes")
    return cast("Any", value)


def hidden(value: Any) -> Any:
    """Refuse a field that the model was not shown (P25)."""
    raise refusal("unexpected_field", "Extra inputs are not permitted")


def as_it_is(own: LazyValidator, value: Any) -> Any:
    """Validate a value of Python's as the type itself says."""
    return own.validator.validate_python(value)


def default_of(own: LazyValidator, made: Callable[..., Any], *data: Any) -> Any:
    """Make a default and validate it as the type itself says."""
    return as_it_is(own, made(*data))
