"""Typed: what is known of a Python type, and the validators of its values.

In: a type. Out: its shape, its JSON Schema, and values of it made from JSON data or from the neutral values of Python
syntax. Each validator is built when the first value comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import isroutine
from typing import TYPE_CHECKING, Any, cast, get_args

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema.attrs_class import with_attrs
from unspool.schema.constructors import SLICE
from unspool.schema.family import family_schema, with_families
from unspool.schema.faults import MAX_KEPT, children_of, invalid, leaves, lone_surrogates, pydantic_problems
from unspool.schema.json_schema import lookalikes, without_hidden, without_titles
from unspool.schema.places import Places
from unspool.schema.problem import Problem
from unspool.schema.reader import ShapeReader
from unspool.schema.rebuild import Rebuild
from unspool.schema.shape import Members, Record, Shape, is_name, parts
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

_MAX_REASON_CHARS = 300
# 2**1024 has 309 digits: only an integer of that length can turn into an infinite float.
_HUGE_INTEGER = re.compile(rb"[0-9]{309}")
# Pydantic tries some five million a second natively, a fifth of that in Pyodide, and cannot be interrupted.
_MAX_ATTEMPTS = 300_000
_RESERVED = ("set", "frozenset", "UNKNOWN", "True", "False", "None")


class Typed[T]:
    """What is known of a Python type, and its validators, each built when the first value comes."""

    def __init__(
        self, adapter: TypeAdapter[T], reader: ShapeReader, shape: Shape, json_schema: Mapping[str, Any]
    ) -> None:
        """Made by `typed_of`."""
        self.adapter = adapter
        self.reader = reader
        self.shape = shape
        """What the type is made of."""
        self.json_schema = dict(json_schema)
        self._has_families = any(record.subclasses for record in reader.records.values())
        self._lookalikes = lookalikes(json_schema)

    @cached_property
    def _named(self) -> dict[str, Record | Members]:
        """The classes that a model is told of, by name, in the order they are met.

        Raises:
            ConfigError: UNSUPPORTED when two have one name (P28), or a name that means something else or nothing.
        """
        found: dict[str, Record | Members] = {}
        todo: list[Shape] = [self.shape]
        seen: set[int] = set()
        while todo:
            shape = todo.pop()
            if id(shape) in seen:
                continue
            seen.add(id(shape))
            todo.extend(reversed([*parts(shape), *(shape.subclasses if isinstance(shape, Record) else ())]))
            if isinstance(shape, Record | Members):
                other = found.setdefault(shape.name, shape)
                if other is not shape:
                    raise ConfigError(
                        "UNSUPPORTED",
                        f"Two classes have the name {shape.name} ({_where(other.cls)} and {_where(shape.cls)}): a "
                        "constructor could mean either. Rename one, or ask for JSON.",
                    )
                if shape.name in _RESERVED:
                    raise ConfigError(
                        "UNSUPPORTED", f"The class name {shape.name} has another meaning in Python syntax."
                    )
                if not is_name(shape.name):
                    raise ConfigError("UNSUPPORTED", f"The class name {shape.name!r} is none in Python syntax.")
                if isinstance(shape, Record) and shape.form != "typed-dict" and not shape.is_callable:
                    raise ConfigError(
                        "UNSUPPORTED", f"{shape.name} has a field that Python syntax has no name for: ask for JSON."
                    )
        return found

    @property
    def records(self) -> list[Record]:
        """The classes with fields that a model is told of."""
        return [shape for shape in self._named.values() if isinstance(shape, Record)]

    @cached_property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The constructors of Python syntax, each with the fields that it takes by position."""
        return {
            name: shape.slots if isinstance(shape, Record) else ("value",)
            for name, shape in self._named.items()
            if isinstance(shape, Members) or shape.is_callable
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand for values in Python syntax."""
        enums = [shape for shape in self._named.values() if isinstance(shape, Members)]
        return frozenset(("UNKNOWN", *(f"{shape.name}.{name}" for shape in enums for name in shape.all_names)))

    @cached_property
    def _python(self) -> Rebuild:
        _ = self._named
        return Rebuild(self.reader, "python")

    @cached_property
    def python_validator(self) -> SchemaValidator:
        """Validates the neutral values of Python syntax."""
        return self._python.validator()

    @cached_property
    def json_validator(self) -> SchemaValidator:
        """Validates JSON data of types for which pydantic's own strict JSON mode is not careful enough."""
        return Rebuild(self.reader, "json").validator()

    @cached_property
    def python_places(self) -> Places:
        """The places of the type, for values of Python syntax."""
        _ = self._named
        return Places(self.reader, "python", lambda value: self._refuse_attempts("it", value, 1, self._lookalikes[1]))

    @cached_property
    def json_places(self) -> Places:
        """The places of the type, for JSON data."""
        return Places(self.reader, "json", lambda value: self._refuse_attempts("it", value, *self._lookalikes))

    def validate_python(self, name: str, value: Any) -> T:
        if _nests_deeper(value):
            raise OutputValidationError("OUTPUT_TOO_LARGE", f"The answer nests deeper than {MAX_DEPTH}.")
        _ = self.python_validator  # what the type lacks is no fault of the answer
        self._refuse_attempts(name, value, *self._lookalikes)
        return self._validated(name, value, self._from_python, value, python=True)

    def _from_python(self, value: Any) -> T:
        if _nests_deeper(value, SLICE):
            value = self._python.constructors().sliced(value)
        return cast("T", self.python_validator.validate_python(value))

    def validate_json(self, name: str, value: Any) -> T:
        self._refuse_attempts(name, value, *self._lookalikes)
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise invalid(name, lone_surrogates(value)) from None
        except ValueError as error:
            raise invalid(name, [Problem((), str(error))]) from error
        if self.reader.needs_care or self._has_families:
            result = self._validated(name, value, self.json_validator.validate_python, value)
        else:
            result = self._validated(name, value, self._strict_json, text)
        if _HUGE_INTEGER.search(text):
            infinite = [
                Problem(path, "Input should be a finite number")
                for path, leaf in leaves(self.adapter.dump_python(result))
                if leaf in (float("inf"), float("-inf"))
            ]
            if infinite:
                raise invalid(name, infinite)
        return result

    def dump_json(self, value: T) -> str:
        if self._has_families:
            from unspool.schema.value_text import json_text

            return json_text(value, self)
        return self.adapter.dump_json(value, by_alias=True).decode()

    def _strict_json(self, text: bytes) -> T:
        return self.adapter.validate_json(text, strict=True)

    def _validated(self, name: str, value: Any, validate: Callable[[Any], T], given: Any, *, python: bool = False) -> T:
        from pydantic import ValidationError

        try:
            return validate(given)
        except ValidationError as error:
            count = error.error_count()
            if count <= MAX_KEPT and any(fault["type"] == "recursion_loop" for fault in error.errors()):
                raise OutputValidationError("OUTPUT_TOO_LARGE", "The answer nests too deep to be validated.") from None
            count = count if count > MAX_KEPT else 0
            raise invalid(name, pydantic_problems(error, value), count=count, python=python) from error
        except Exception as error:  # a validator of the application may raise anything: it still is a refused answer
            raise invalid(name, [Problem((), f"{type(error).__name__}: {error}")]) from error

    def _refuse_attempts(self, name: str, value: Any, objects: int, lists: int) -> None:
        if (objects > 1 or lists > 1) and _attempts(value, objects, lists) > _MAX_ATTEMPTS:
            raise OutputValidationError(
                "OUTPUT_TOO_LARGE",
                f"The answer nests too deep for {name}, which has a recursive union of types that look alike. "
                "Tell them apart by a discriminator.",
            )


def type_name(T: Any) -> str:
    """Name a class; nothing for other types."""
    return T.__name__ if isinstance(T, type) and not hasattr(T, "__args__") else ""


def typed_of(T: Any, subclasses: Sequence[type] = ()) -> Typed[Any]:
    """Look into a type.

    Raises:
        ConfigError: INVALID_OPTIONS when no answer can be asked for as this type; with the path to what is in the way.
    """
    if isroutine(T):  # pydantic would take it for the type of its arguments
        raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for as the function {T.__name__}.")
    known = with_attrs(T)
    try:
        return _typed_of(known, [with_attrs(cls) for cls in subclasses])
    except ConfigError:
        raise
    except Exception as error:  # pydantic's, or whatever the type's own hooks raise
        path, reason = _culprit(T, "", error)
        name = type_name(T) or repr(T)[:_MAX_REASON_CHARS]
        where = f"{path}: " if path else ""
        raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for as {name}: {where}{reason}") from error


def _typed_of(T: Any, subclasses: Sequence[Any]) -> Typed[Any]:
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(T)
    if not subclasses:
        reader = ShapeReader(cast("Any", adapter.core_schema))
        shape = reader.read()
        json_schema = adapter.json_schema(by_alias=True, mode="validation")
    else:
        together: TypeAdapter[Any] = TypeAdapter(_tuple_of(T, *subclasses))
        reader = ShapeReader(cast("Any", together.core_schema))
        shape = reader.read_first()
        with_families(reader, subclasses)
        json_schema = family_schema(adapter, reader)
    return Typed(adapter, reader, shape, without_titles(without_hidden(json_schema)))


def _tuple_of(*types: Any) -> Any:
    return tuple[types]  # type: ignore[valid-type]


def _culprit(T: Any, path: str, error: Exception) -> tuple[str, str]:
    """Find the innermost part of a type that pydantic refuses; gives its path, and the reason in one line."""
    from pydantic import TypeAdapter

    arguments = [arg for arg in get_args(T) if isinstance(arg, type) or get_args(arg)]
    for argument in arguments:
        try:
            TypeAdapter(argument).json_schema()
        except Exception as inner:
            return _culprit(argument, f"{path}{{}}" if T.__origin__ is dict else f"{path}[]", inner)
    return path, " ".join(str(error).split())[:_MAX_REASON_CHARS]


def _nests_deeper(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Tell whether a neutral value nests deeper than a limit; without recursion (Pyodide: fatal)."""
    level = [value]
    for _ in range(limit + 1):
        level = [child for item in level for _, child in children_of(item)]
        if not level:
            return False
    return True


def _attempts(value: Any, objects: int, lists: int) -> int:
    """Count how often pydantic would try alternatives: their number to the power of the depth, for each container."""
    count = 0
    todo: list[tuple[Any, int]] = [(value, 1)]
    while todo and count <= _MAX_ATTEMPTS:
        item, times = todo.pop()
        children = children_of(item)
        if children or isinstance(item, dict | list):
            times *= lists if isinstance(item, list) else objects if isinstance(item, dict) else 1
            count += times
            todo.extend((child, times) for _, child in children)
    return count


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
