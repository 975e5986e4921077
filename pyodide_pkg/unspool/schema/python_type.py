"""PythonType: what is known of a Python type, and the validators of its values.

In: a type. Out: its shape, its JSON Schema, and values of it made from JSON data or from the neutral values of Python
syntax. Each validator is built when the first value comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import isroutine
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin
from warnings import catch_warnings, filterwarnings

from unspool.errors import ConfigError, OutputValidationError
from unspool.printable import said_by
from unspool.schema.attrs_class import with_attrs
from unspool.schema.constructors import SLICE
from unspool.schema.json_schema import lookalikes, without_hidden, without_titles
from unspool.schema.open_types import refuse_open
from unspool.schema.places import MAX_ATTEMPTS, Places
from unspool.schema.problem import Problem
from unspool.schema.schema_generator import schema_generator
from unspool.schema.shape import EnumShape, Record, Shape, is_name, parts
from unspool.schema.shape_reader import ShapeReader
from unspool.schema.subclasses import refuse_abstract, schema_of_subclasses, with_subclasses
from unspool.schema.type_depth import refuse_deep, shallow
from unspool.schema.validation_error import MAX_KEPT, invalid, lone_surrogates, pydantic_problems
from unspool.schema.validator_builder import ValidatorBuilder
from unspool.schema.value_tree import children_of, leaves, nests_deeper
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

_MAX_REASON_CHARS = 300
# 2**1024 has 309 digits: only an integer of that length can turn into an infinite float.
_HUGE_INTEGER = re.compile(rb"[0-9]{309}")
_HOMES_OF_FORMS = ("typing", "typing_extensions", "types", "annotationlib")
_RESERVED = ("set", "frozenset", "UNKNOWN", "True", "False", "None")


class PythonType[T]:
    """What is known of a Python type, and its validators, each built when the first value comes."""

    def __init__(
        self, adapter: TypeAdapter[T], reader: ShapeReader, shape: Shape, json_schema: Mapping[str, Any]
    ) -> None:
        """Made by `python_type_of`."""
        self.adapter = adapter
        self.reader = reader
        self.shape = shape
        """What the type is made of."""
        self.json_schema = dict(json_schema)
        self.has_subclasses = any(record.subclasses for record in reader.records.values())
        """Whether named subclasses may stand for a class."""
        self.has_named_tuples = any(record.form == "named-tuple" for record in reader.records.values())
        """Whether there are classes that are objects in JSON, and read from lists as well."""
        objects, lists = lookalikes(json_schema)
        self._lookalikes = objects, max(objects, lists) if self.has_named_tuples else lists

    @cached_property
    def _named(self) -> dict[str, Record | EnumShape]:
        """The classes that a model is told of, by name, in the order they are met.

        Raises:
            ConfigError: UNSUPPORTED when two have one name (P28), or a name that means something else or nothing.
        """
        found: dict[str, Record | EnumShape] = {}
        todo: list[Shape] = [self.shape]
        seen: set[int] = set()
        while todo:
            shape = todo.pop()
            if id(shape) in seen:
                continue
            seen.add(id(shape))
            if isinstance(shape, Record):
                todo.extend(reversed(shape.subclasses))
                if shape.is_abstract:
                    continue
            todo.extend(reversed(parts(shape)))
            if isinstance(shape, Record | EnumShape):
                other = found.setdefault(shape.name, shape)
                if other is not shape:
                    raise ConfigError(
                        "UNSUPPORTED",
                        f"Two classes have the name {shape.name} ({_where(other.cls)} and {_where(shape.cls)}): a "
                        "constructor could mean either. Rename one, or ask for JSON.",
                    )
                _refuse_name(shape)
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
            if isinstance(shape, EnumShape) or shape.is_callable
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand for values in Python syntax."""
        enums = [shape for shape in self._named.values() if isinstance(shape, EnumShape)]
        return frozenset(("UNKNOWN", *(f"{shape.name}.{name}" for shape in enums for name in shape.all_names)))

    @cached_property
    def _python(self) -> ValidatorBuilder:
        _ = self._named
        return ValidatorBuilder(self.reader, "python")

    @cached_property
    def python_validator(self) -> SchemaValidator:
        """Validates the neutral values of Python syntax."""
        return self._python.validator()

    @cached_property
    def json_validator(self) -> SchemaValidator:
        """Validates JSON data of types for which pydantic's own strict JSON mode is not careful enough."""
        return ValidatorBuilder(self.reader, "json").validator()

    @cached_property
    def python_places(self) -> Places:
        """The places of the type, for values of Python syntax."""
        _ = self._named
        return Places(self.reader, "python", lambda value: _attempts(value, 1, self._lookalikes[1]))

    @cached_property
    def json_places(self) -> Places:
        """The places of the type, for JSON data."""
        return Places(self.reader, "json", lambda value: _attempts(value, *self._lookalikes))

    def validate_python(self, name: str, value: Any) -> T:
        """Turn a neutral value of Python syntax into a value of the type; see `Schema.validate`.

        Raises:
            OutputValidationError: OUTPUT_INVALID or OUTPUT_TOO_LARGE.
            ConfigError: UNSUPPORTED when the type has no names in Python syntax.
        """
        if nests_deeper(value):
            raise OutputValidationError("OUTPUT_TOO_LARGE", f"The answer nests deeper than {MAX_DEPTH}.")
        _ = self.python_validator  # what the type lacks is no fault of the answer
        self._refuse_attempts(name, value, *self._lookalikes)
        return self._validated(name, value, self._from_python, value, python=True)

    def _from_python(self, value: Any) -> T:
        if nests_deeper(value, SLICE):
            value = self._python.constructors().sliced(value)
        return cast("T", self.python_validator.validate_python(value))

    def validate_json(self, name: str, value: Any) -> T:
        """Turn JSON data, which does not nest deeper than 128, into a value of the type; see `Schema.validate`.

        Raises:
            OutputValidationError: OUTPUT_INVALID or OUTPUT_TOO_LARGE.
        """
        self._refuse_attempts(name, value, *self._lookalikes)
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise invalid(name, lone_surrogates(value)) from None
        except ValueError as error:
            raise invalid(name, [Problem((), str(error))]) from error
        if self.reader.is_plain:
            result = self._validated(name, value, self._strict_json, text)
        else:
            result = self._validated(name, value, self.json_validator.validate_python, value)
        if _HUGE_INTEGER.search(text):
            infinite = [
                Problem(path, "Input should be a finite number")
                for path, leaf in leaves(self.adapter.dump_python(result))
                if leaf in (float("inf"), float("-inf"))
            ]
            if infinite:
                raise invalid(name, infinite)
        return result

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
            raise invalid(name, [Problem((), said_by(error))]) from error

    def _refuse_attempts(self, name: str, value: Any, objects: int, lists: int) -> None:
        if _attempts(value, objects, lists) > MAX_ATTEMPTS:
            raise OutputValidationError(
                "OUTPUT_TOO_LARGE",
                f"The answer nests too deep for {name}, which has a recursive union of types that look alike. "
                "Tell them apart by a discriminator.",
            )


def _refuse_name(shape: Record | EnumShape) -> None:
    """Refuse a class that Python syntax has no constructor for."""
    if shape.name in _RESERVED:
        raise ConfigError("UNSUPPORTED", f"The class name {shape.name} has another meaning in Python syntax.")
    if not is_name(shape.name):
        raise ConfigError("UNSUPPORTED", f"The class name {shape.name!r} is none in Python syntax.")
    if isinstance(shape, Record) and shape.form != "typed-dict" and not shape.is_callable:
        raise ConfigError("UNSUPPORTED", f"{shape.name} has a field that Python syntax has no name for: ask for JSON.")


def type_name(T: Any) -> str:
    """Name a class; nothing for other types."""
    return T.__name__ if isinstance(T, type) and not hasattr(T, "__args__") else ""


def python_type_of(T: Any, subclasses: Sequence[type] = (), *, asked: bool = True) -> PythonType[Any]:
    """Look into a type.

    Args:
        T: the type.
        subclasses: as in `Schema.of`.
        asked: False when there are values of it already, which are only written: an answer could be more than those.
    Raises:
        ConfigError: INVALID_OPTIONS when no answer can be asked for as this type; with the path to what is in the way.
            UNSUPPORTED when it nests too deep.
    """
    if isroutine(T):  # pydantic would take it for the type of its arguments
        raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for as the function {T.__name__}.")
    if isinstance(T, str):  # pydantic would evaluate it
        raise ConfigError(
            "INVALID_OPTIONS", "No answer can be asked for as a text: give the type itself, not its name."
        )
    for part in (T, *subclasses):
        refuse_deep(part)
        if asked:
            refuse_open(part)
    try:
        return _python_type_of(with_attrs(T), subclasses, asked)
    except ConfigError:
        raise
    except Exception as error:  # pydantic's, or whatever the type's own hooks raise
        path, reason = _culprit(T, "", error)
        name = type_name(T) or repr(T)[:_MAX_REASON_CHARS]
        reason = _meant(T) or (f"{path}: {reason}" if path else reason)
        raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for as {name}: {reason}") from error


def _python_type_of(T: Any, subclasses: Sequence[Any], asked: bool) -> PythonType[Any]:
    adapter = _adapter(T)
    if not subclasses:
        reader = ShapeReader(shallow(adapter.core_schema), asked=asked)
        shape = reader.read()
        json_schema = adapter.json_schema(schema_generator=schema_generator())
    else:
        reader = ShapeReader(shallow(_adapter(_tuple_of(T, *map(with_attrs, subclasses))).core_schema))
        shape = reader.read_first()
        with_subclasses(reader, subclasses)
        json_schema = schema_of_subclasses(adapter, reader)
    if asked:
        refuse_abstract(shape, reader)
    return PythonType(adapter, reader, shape, without_titles(without_hidden(json_schema)))


def _adapter(T: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    with catch_warnings():
        filterwarnings("ignore", ".*ReadOnly", UserWarning)  # that it protects nothing does not matter here
        adapter: TypeAdapter[Any] = TypeAdapter(T)
        if not adapter.pydantic_complete:
            adapter.rebuild(raise_errors=True)  # says which name it does not find
    return adapter


def _tuple_of(*types: Any) -> Any:
    return tuple[types]  # type: ignore[valid-type]


def _culprit(T: Any, path: str, error: Exception) -> tuple[str, str]:
    """Find the innermost part of a type that pydantic refuses; gives its path, and the reason in one line."""
    arguments = [arg for arg in get_args(T) if isinstance(arg, type) or get_args(arg)]
    for argument in arguments:
        try:
            _adapter(argument).json_schema()
        except Exception as inner:
            return _culprit(argument, f"{path}{{}}" if T.__origin__ is dict else f"{path}[]", inner)
    return path, _reason(error)


def _meant(T: Any) -> str:
    """Say which type was meant by a value that is none."""
    if isinstance(T, list | tuple | set | frozenset):
        items: Sequence[Any] = list(cast("Any", T))
        types = [type_name(item) or (repr(item) if _is_type(item) else type(item).__name__) for item in items]
        inside = ", ".join(types) if isinstance(T, tuple) else " | ".join(dict.fromkeys(types))
        return f"write {type(cast('Any', T)).__name__}[{inside[:_MAX_REASON_CHARS] or '…'}]."
    return "" if _is_type(T) else f"it is a value; give the class, {type(T).__name__}."


def _is_type(T: Any) -> bool:
    return isinstance(T, type) or get_origin(T) is not None or type(T).__module__ in _HOMES_OF_FORMS


def _reason(error: Exception) -> str:
    from pydantic.errors import PydanticUndefinedAnnotation

    text = " ".join(str(error).split()).partition(" For further information visit ")[0]
    text = text.partition(" Set `arbitrary_types_allowed")[0]  # it would take instances, which no model can write
    if isinstance(error, PydanticUndefinedAnnotation):
        text += " at the top of its module; of the names inside a function only pydantic models know"
    return text[:_MAX_REASON_CHARS]


def _attempts(value: Any, objects: int, lists: int) -> int:
    """Count how often pydantic would try alternatives: their number to the power of the depth, for each container."""
    count = 0
    todo: list[tuple[Any, int]] = [(value, 1)] if objects > 1 or lists > 1 else []
    while todo and count <= MAX_ATTEMPTS:
        item, times = todo.pop()
        children = children_of(item)
        if children or isinstance(item, dict | list):
            times *= lists if isinstance(item, list) else objects if isinstance(item, dict) else 1
            count += times
            todo.extend((child, times) for _, child in children)
    return count


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
