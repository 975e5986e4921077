"""Schema: what an answer must be, made once from a Python type or from a JSON Schema.

In: a parsed, unvalidated value. Out: a value of the type, or an `OutputValidationError` that names each fault by its
path. No IO; the answer's text is never evaluated. pydantic is imported when the first Python type is seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isroutine
from typing import TYPE_CHECKING, Any, cast, overload

from unspool.errors import ConfigError, OutputValidationError
from unspool.schema.checker import NOTHING, JsonChecker, Path, Problem
from unspool.schema.json_schema import lookalikes, without_titles
from unspool.schema.parts import is_array, is_object
from unspool.stream.nesting import is_deeper
from unspool.structured.strict_json import MAX_DEPTH

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from typing_extensions import TypeForm

_MAX_PROBLEMS = 8
_MAX_SHOWN_CHARS = 80
_MAX_REASON_CHARS = 300
# 2**1024 has 309 digits: only an integer of that length can turn into an infinite float.
_HUGE_INTEGER = re.compile(rb"[0-9]{309}")
# Pydantic tries some five million a second natively, a fifth of that in Pyodide, and cannot be interrupted.
_MAX_ATTEMPTS = 300_000
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_WORD = re.compile(r"[^\W\d]\w*")


def path_text(path: Sequence[str | int]) -> str:
    """Spell a path for people: `items[0].price`; members that are no plain word are quoted: `["a b"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _WORD.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


class Schema[T]:
    """What an answer must be. Build one with `Schema.of`, once, and use it for any number of calls."""

    __slots__ = ("_adapter", "_check", "_json_schema", "_lookalikes", "name")

    name: str
    """A short name for prompts and providers: letters, digits, `_` and `-`, at most 64 characters."""

    def __init__(
        self,
        name: str,
        json_schema: Mapping[str, Any],
        *,
        adapter: TypeAdapter[T] | None,
        check: Callable[[Any], list[Problem]] | None,
    ) -> None:
        self.name = name
        self._json_schema = dict(json_schema)
        self._adapter = adapter
        self._check = check
        self._lookalikes = (1, 1) if adapter is None else lookalikes(json_schema)

    @overload
    @classmethod
    def of[S](cls, T: Schema[S], *, name: str | None = None) -> Schema[S]: ...
    @overload
    @classmethod
    def of[S](cls, T: TypeForm[S], *, name: str | None = None) -> Schema[S]: ...
    @overload
    @classmethod
    def of(cls, T: Any, *, name: str | None = None) -> Schema[Any]: ...
    @classmethod
    def of(cls, T: Any, *, name: str | None = None) -> Schema[Any]:
        """Make a schema.

        Args:
            T: a pydantic model, anything `pydantic.TypeAdapter` takes (`int`, `list[Model]`, unions, TypedDict,
                dataclass, Literal, Enum, …), a JSON Schema as a dict, or a Schema (given back as it is).
            name: for prompts and providers; default: the name of the class, a JSON Schema's title, or `Answer`.
        Raises:
            ConfigError: INVALID_OPTIONS when no schema can be made of it; UNSUPPORTED when a JSON Schema uses a keyword
                that cannot be checked here.
        """
        if isinstance(T, Schema):
            return T  # pyright: ignore[reportUnknownVariableType]
        if is_object(T):
            return cls.of_json_schema(T, name=name)
        return _of_type(T, name)

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
            raise ConfigError("INVALID_OPTIONS", f"The JSON Schema is not JSON: {error}") from error
        title = schema.get("title")
        label = _clean_name(name or (title if isinstance(title, str) else ""))
        return Schema[Any](label, schema, adapter=None, check=JsonChecker(schema).problems if check else None)

    def json_schema(self) -> dict[str, Any]:
        """Give the JSON Schema that an answer must match, in neutral form. Do not change it."""
        return self._json_schema

    def validate(self, value: Any) -> T:
        """Turn a parsed JSON value into a value of the type.

        A type is validated by pydantic in its strict JSON mode: what JSON cannot spell is read from its usual text form
        (dates, Decimal, UUID, Enum, bytes, tuples, sets), nothing is guessed: `True` and `"1"` are not integers. The
        value is written out as JSON again, bounded in depth, because that mode exists for text only.

        Args:
            value: what a JSON parser gave. Not changed.
        Raises:
            OutputValidationError: OUTPUT_INVALID with one line for each fault, path first; OUTPUT_TOO_LARGE when it
                nests deeper than 128, or so deep in a recursive union without discriminator that pydantic would take
                seconds.
        """
        if is_deeper(value, MAX_DEPTH):
            raise OutputValidationError("OUTPUT_TOO_LARGE", f"The answer nests deeper than {MAX_DEPTH}.")
        if self._adapter is None:
            try:
                problems = self._check(value) if self._check else []
            except RecursionError:
                raise OutputValidationError("OUTPUT_TOO_LARGE", "The answer nests too deep to be checked.") from None
            if problems:
                raise self._invalid(problems)
            return cast("T", value)
        return self._validate_by_type(self._adapter, value)

    def dump_json(self, value: T) -> str:
        """Write a validated value as JSON text, in the shape that the JSON Schema describes."""
        if self._adapter is None:
            return json.dumps(value, allow_nan=False, separators=(",", ":"))
        return self._adapter.dump_json(value, by_alias=True).decode()

    def _validate_by_type(self, adapter: TypeAdapter[T], value: Any) -> T:
        from pydantic import ValidationError

        if _attempts(value, *self._lookalikes) > _MAX_ATTEMPTS:
            raise OutputValidationError(
                "OUTPUT_TOO_LARGE",
                f"The answer nests too deep for {self.name}, which has a recursive union of types that look alike. "
                "Tell them apart by a discriminator.",
            )
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise self._invalid(list(_lone_surrogates(value))) from None
        except ValueError as error:
            raise self._invalid([((), str(error), NOTHING)]) from error
        try:
            result = adapter.validate_json(text, strict=True)
        except ValidationError as error:
            raise self._invalid(list(_pydantic_problems(error, value)), error.error_count()) from error
        except Exception as error:  # a validator of the application may raise anything: it still is a refused answer
            raise self._invalid([((), f"{type(error).__name__}: {error}", NOTHING)]) from error
        if _HUGE_INTEGER.search(text):
            infinite = [
                (path, "Input should be a finite number", NOTHING)
                for path, leaf in _leaves(adapter.dump_python(result))
                if leaf in (float("inf"), float("-inf"))
            ]
            if infinite:
                raise self._invalid(infinite)
        return result

    def _invalid(self, problems: list[Problem], count: int | None = None) -> OutputValidationError:
        count = count or len(problems)
        lines: list[str] = []
        for path, reason, found in problems[:_MAX_PROBLEMS]:
            line = f"{path_text(path) or 'the answer'}: {reason[:_MAX_REASON_CHARS]}"
            lines.append(line if found is NOTHING else f"{line}, got {_shown(found)}")
        if count > len(lines):
            lines.append(f"and {count - len(lines)} more")
        return OutputValidationError(
            "OUTPUT_INVALID", f"The answer is not a valid {self.name}: " + "; ".join(lines) + "."
        )

    def __repr__(self) -> str:
        return f"Schema({self.name!r})"


def _of_type(T: Any, name: str | None) -> Schema[Any]:
    from pydantic import TypeAdapter

    if isroutine(T):  # pydantic would take it for the type of its arguments
        raise ConfigError("INVALID_OPTIONS", f"No answer can be asked for as the function {T.__name__}.")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(T)
        json_schema = adapter.json_schema(by_alias=True, mode="validation")
    except Exception as error:  # pydantic's, or whatever the type's own hooks raise
        reason = " ".join(str(error).split())[:_MAX_REASON_CHARS]
        raise ConfigError(
            "INVALID_OPTIONS", f"No answer can be asked for as {_type_name(T) or T!r}: {reason}"
        ) from error
    if _is_lazy(adapter.core_schema):
        raise ConfigError(
            "INVALID_OPTIONS",
            f"{_type_name(T) or T!r} holds an Iterable or Generator, which would be validated only when it is read; "
            "ask for a list.",
        )
    label = _clean_name(name or _type_name(T))
    return Schema[Any](label, without_titles(json_schema), adapter=adapter, check=None)


def _is_lazy(core_schema: Any) -> bool:
    """Tell whether pydantic would give an iterator in place of a validated value."""
    todo: list[Any] = [core_schema]
    while todo:
        part = todo.pop()
        if is_object(part):
            if part.get("type") == "generator":
                return True
            todo.extend(part.values())
        elif isinstance(part, list | tuple):
            todo.extend(cast("Sequence[Any]", part))
    return False


def _type_name(T: Any) -> str:
    return T.__name__ if isinstance(T, type) and not hasattr(T, "__args__") else ""


def _clean_name(name: str) -> str:
    return _NAME.sub("_", name)[:64].strip("_") or "Answer"


def _attempts(value: Any, objects: int, lists: int) -> int:
    """Count how often pydantic would try alternatives: their number to the power of the depth, for each container."""
    if objects < 2 and lists < 2:
        return 0
    count = 0
    todo: list[tuple[Any, int]] = [(value, 1)]
    while todo and count <= _MAX_ATTEMPTS:
        item, times = todo.pop()
        if is_object(item):
            times *= objects
            todo.extend((member, times) for member in item.values())
        elif is_array(item):
            times *= lists
            todo.extend((member, times) for member in item)
        else:
            continue
        count += times
    return count


def _leaves(value: Any) -> Iterator[tuple[Path, Any]]:
    """Walk a value without recursion and give each key (as a leaf of its member) and each scalar with its path."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if is_object(item):
            for key in item:
                yield (*path, key), key
            stack.extend(((*path, key), member) for key, member in reversed([*item.items()]))
        elif isinstance(item, list | tuple | set | frozenset):
            children = cast("Sequence[Any]", item)
            stack.extend(((*path, i), child) for i, child in reversed([*enumerate(children)]))
        else:
            yield path, item


def _lone_surrogates(value: Any) -> Iterator[Problem]:
    for path, leaf in _leaves(value):
        if isinstance(leaf, str) and any("\ud800" <= character <= "\udfff" for character in leaf):
            yield path, "Input should be valid Unicode text, without half of a surrogate pair", leaf


def _pydantic_problems(error: ValidationError, value: Any) -> Iterator[Problem]:
    """Give pydantic's faults with the path in the answer: its own path also names union members and validators."""
    for fault in error.errors(include_url=False, include_context=False)[:_MAX_PROBLEMS]:
        path: list[str | int] = []
        found: Any = value
        for step in fault["loc"]:
            steps: Any = found if is_object(found) else range(len(found)) if is_array(found) else ()
            if step in steps:
                found = cast("Any", found)[step]
            elif fault["type"] == "missing" and step == fault["loc"][-1]:
                found = NOTHING
            else:
                continue
            path.append(step)
        yield tuple(path), fault["msg"], NOTHING if fault["type"] == "missing" else fault["input"]


def _shown(value: Any) -> str:
    """Write a value as JSON, cut to what fits a message; only as much of it is written as is shown."""
    if isinstance(value, str):
        value = value[:_MAX_SHOWN_CHARS]
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(value):
        text += piece[: _MAX_SHOWN_CHARS + 1]
        if len(text) > _MAX_SHOWN_CHARS:
            text = text[:_MAX_SHOWN_CHARS] + "…"
            break
    return text.encode("utf-8", "backslashreplace").decode()
