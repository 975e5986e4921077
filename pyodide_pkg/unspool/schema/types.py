"""Schema: what an answer must be, made once from a Python type or from a JSON Schema.

In: a parsed, unvalidated value. Out: a value of the type, or an `OutputValidationError` that names each fault by its
path. No IO; the answer's text is never evaluated. pydantic is imported when the first Python type is seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast, overload

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema.json_checker import JsonChecker
from unspool.schema.problem import Problem, path_text
from unspool.schema.subschemas import is_object
from unspool.schema.validation_error import invalid
from unspool.stream.nesting import is_deeper
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from unspool.schema.python_type import PythonType
    from unspool.schema.validator_builder import ValueProtocol

__all__ = ["Schema", "path_text"]

_KEPT = 64
"""How many classes have their schema kept: making one takes milliseconds for each class in it."""
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class Schema[T]:
    """What an answer must be. Build one with `Schema.of`, once, and use it for any number of calls."""

    name: str
    """A short name for prompts and providers: letters, digits, `_` and `-`, at most 64 characters."""

    def __init__(
        self,
        name: str,
        json_schema: Mapping[str, Any],
        *,
        typed: PythonType[T] | None,
        check: Callable[[Any], list[Problem]] | None,
    ) -> None:
        """Made by `Schema.of`."""
        self.name = name
        self.python_type = typed
        """What is known of the Python type; None for a JSON Schema."""
        self._json_schema = dict(json_schema)
        self._check = check
        self.texts: dict[Any, str] = {}
        """Texts that were written of it (`schema_text`)."""

    @overload
    @classmethod
    def of[S](cls, T: Schema[S], *, name: str | None = None, subclasses: Sequence[type] = ()) -> Schema[S]: ...
    @overload
    @classmethod
    def of[S](cls, T: TypeForm[S], *, name: str | None = None, subclasses: Sequence[type] = ()) -> Schema[S]: ...
    @overload
    @classmethod
    def of(cls, T: Any, *, name: str | None = None, subclasses: Sequence[type] = ()) -> Schema[Any]: ...
    @classmethod
    def of(cls, T: Any, *, name: str | None = None, subclasses: Sequence[type] = ()) -> Schema[Any]:
        """Make a schema.

        Args:
            T: a pydantic model, anything `pydantic.TypeAdapter` takes (`int`, `list[Model]`, unions, TypedDict,
                dataclass, NamedTuple, Literal, Enum, …), an attrs class, a JSON Schema as a dict, or a Schema (given
                back as it is).
            name: for prompts and providers; default: the name of the class, a JSON Schema's title, or `Answer`.
            subclasses: classes that may stand wherever a base class of theirs is asked for. The model is told of them;
                in JSON a member `class` tells them apart. Others are not accepted, whatever has been imported, and
                abstract classes are not offered.
        Raises:
            ConfigError: INVALID_OPTIONS, with the path, when no schema can be made of it, such as a callable or an open
                type variable, or when a default is no value of its type; UNSUPPORTED when it nests too deep, or a JSON
                Schema uses a keyword that cannot be checked here.
        """
        if name is not None and not isinstance(cast("Any", name), str):
            raise ConfigError("INVALID_OPTIONS", "The name of a schema must be a text.")
        if subclasses and not _are_classes(subclasses):
            raise ConfigError("INVALID_OPTIONS", "subclasses must be a sequence of classes, such as [Dog, Cat].")
        if isinstance(T, Schema):
            return T  # pyright: ignore[reportUnknownVariableType]
        if is_object(T):
            return cls.of_json_schema(T, name=name)
        if name is None and not subclasses and isinstance(T, type):
            # A class that is rebuilt gets another core schema.
            return _of_class(T, id(T.__dict__.get("__pydantic_core_schema__")))
        return _of_type(T, name, subclasses)

    @classmethod
    def of_json_schema(cls, schema: Mapping[str, Any], *, name: str | None = None, check: bool = True) -> Schema[Any]:
        """Make a schema from a JSON Schema; the result is plain data.

        Args:
            schema: draft 2020-12 or draft 7, references inside it only.
            name: default: its title, or `Answer`.
            check: False when somebody else holds the value to it, such as a Standard Schema's own `validate`.
        Raises:
            ConfigError: INVALID_OPTIONS when it is not JSON; UNSUPPORTED when it uses what cannot be checked here.
        """
        if is_deeper(schema, MAX_DEPTH):
            raise ConfigError("INVALID_OPTIONS", f"The JSON Schema nests deeper than {MAX_DEPTH}.")
        try:
            json.dumps(schema, allow_nan=False)
        except (TypeError, ValueError) as error:
            has_types = any(isinstance(value, type) for value in schema.values())
            reason = "of a dict of types make a TypedDict or a model." if has_types else error
            raise ConfigError("INVALID_OPTIONS", f"The JSON Schema is not JSON: {reason}") from error
        title = schema.get("title")
        label = _clean_name(name or (title if isinstance(title, str) else ""))
        return Schema[Any](label, schema, typed=None, check=JsonChecker(schema).problems if check else None)

    def json_schema(self) -> dict[str, Any]:
        """Give the JSON Schema that an answer must match, in neutral form. Do not change it."""
        return self._json_schema

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """The constructors that a reply in Python syntax may call, each with the fields that it takes by position."""
        return self.for_python().classes

    @property
    def names(self) -> Collection[str]:
        """The names that stand for values in a reply in Python syntax: `Color.RED`, `UNKNOWN`."""
        return self.for_python().names

    def validate(self, value: Any, *, protocol: ValueProtocol = "json") -> T:
        """Turn a parsed value into a value of the type.

        Of JSON: a type is validated by pydantic in its strict JSON mode: what JSON cannot spell is read from its usual
        text form (dates, Decimal, UUID, Enum, bytes, tuples, sets), nothing is guessed: `True` and `"1"` are not
        integers, and `True` is not `Literal[1]`. Of Python syntax: the same rules, and lists, tuples and sets do not
        stand in for each other, nor a dict for a class; a class is made by the constructor of its name, with its
        arguments by keyword or by position. Validators of the application run once, on the complete value.

        Args:
            value: what a parser gave: of JSON, or (`protocol="python"`) the neutral values of
                `unspool.structured.py_values`. Not changed.
            protocol: whose values it is made of.
        Raises:
            OutputValidationError: OUTPUT_INVALID with one line for each fault, path first, and `problems`;
                OUTPUT_TOO_LARGE when it nests deeper than 128, or so deep in a recursive union of types that look alike
                that pydantic would take seconds.
            ConfigError: UNSUPPORTED when a JSON Schema, or two classes of one name, are asked for in Python syntax;
                INVALID_OPTIONS when there is no such protocol.
        """
        if protocol == "python":
            return self.for_python().validate_python(self.name, value)
        if cast("Any", protocol) != "json":
            raise ConfigError("INVALID_OPTIONS", "A value is validated by protocol 'json' or 'python'.")
        if is_deeper(value, MAX_DEPTH):
            raise OutputValidationError("OUTPUT_TOO_LARGE", f"The answer nests deeper than {MAX_DEPTH}.")
        if self.python_type is not None:
            return self.python_type.validate_json(self.name, value)
        try:
            problems = self._check(value) if self._check else []
        except RecursionError:
            raise OutputValidationError("OUTPUT_TOO_LARGE", "The answer nests too deep to be checked.") from None
        if problems:
            raise invalid(self.name, problems)
        return cast("T", value)

    def dump_json(self, value: T) -> str:
        """Write a validated value as JSON text, as its type serialises itself.

        Args:
            value: what `validate` gave.
        Returns:
            The text; where the type has named subclasses or a NamedTuple, that of `format_value`.
        Raises:
            ConfigError: INVALID_OPTIONS when it is no such value.
        """
        try:
            return self._written(value)
        except (TypeError, ValueError) as error:
            raise ConfigError("INVALID_OPTIONS", f"The value cannot be written as {self.name}: {error}") from error

    def _written(self, value: T) -> str:
        if self.python_type is None:
            return json.dumps(value, allow_nan=False, separators=(",", ":"))
        if self.python_type.has_subclasses or self.python_type.has_named_tuples:
            from unspool.schema.value_text import json_text

            return json_text(value, self.python_type)
        core: Any = self.python_type.adapter.core_schema
        # What a validator of the application makes may be of any type: of it pydantic warns.
        if core["type"] in ("model", "dataclass") and not isinstance(value, core["cls"]):
            raise TypeError(f"it is of the type {type(value).__name__}")
        return self.python_type.adapter.dump_json(value, by_alias=True).decode()

    def for_python(self) -> PythonType[T]:
        """Give what is known of the Python type.

        Raises:
            ConfigError: UNSUPPORTED for a JSON Schema.
        """
        if self.python_type is None:
            raise ConfigError(
                "UNSUPPORTED", f"{self.name} is a JSON Schema: ask for it in JSON. Python syntax is for Python types."
            )
        return self.python_type

    def __repr__(self) -> str:
        return f"Schema({self.name!r})"


def _of_type(T: Any, name: str | None, subclasses: Sequence[type]) -> Schema[Any]:
    from unspool.schema.python_type import python_type_of, type_name

    typed = python_type_of(T, subclasses)
    return Schema[Any](_clean_name(name or type_name(T)), typed.json_schema, typed=typed, check=None)


@lru_cache(maxsize=_KEPT)
def _of_class(cls: type, _version: int) -> Schema[Any]:
    return _of_type(cls, None, ())


def _are_classes(value: Any) -> bool:
    return isinstance(value, Collection) and all(isinstance(cls, type) for cls in cast("Any", value))


def _clean_name(name: str) -> str:
    return _NAME.sub("_", name)[:64].strip("_") or "Answer"
