"""Classes of the attrs library, which pydantic does not know: their fields are read here and given to it.

In: a type. Out: the same type with a hook for pydantic around each attrs class in it. attrs itself is never imported:
a class that it made carries what is needed. Converters and validators of the class run when it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints


def is_attrs(cls: Any) -> bool:
    """Tell whether attrs made a class."""
    return isinstance(cls, type) and "__attrs_attrs__" in cls.__dict__


def with_attrs(T: Any) -> Any:
    """Give the type with each attrs class in it made known to pydantic; other types come back as they are."""
    if is_attrs(T) and not hasattr(T, "__get_pydantic_core_schema__"):
        return Annotated[T, AttrsClass(T)]
    arguments = get_args(T)
    known = tuple(with_attrs(argument) for argument in arguments)
    if all(new is old for new, old in zip(known, arguments, strict=True)):
        return T
    origin: Any = get_origin(T)
    if origin is Annotated:
        return Annotated[(known[0], *T.__metadata__)]
    if origin in (Union, UnionType):
        return Union[known]  # noqa: UP007
    return origin[known]


class AttrsClass:
    """Pydantic's hook for one attrs class."""

    __slots__ = ("_cls",)

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        hints = get_type_hints(self._cls, include_extras=True)
        parameters: list[Any] = []
        for field in self._cls.__attrs_attrs__:
            if not field.init:
                continue
            schema = handler(with_attrs(hints.get(field.name, Any)))
            if hasattr(field.default, "factory"):  # attrs makes it itself, when it is given its word for "nothing"
                schema = core_schema.with_default_schema(schema, default_factory=_nothing)
            elif field.default is not _nothing():
                schema = core_schema.with_default_schema(schema, default=field.default)
            mode: Any = "keyword_only" if field.kw_only else "positional_or_keyword"
            parameters.append(core_schema.arguments_parameter(field.alias, schema, mode=mode))
        return core_schema.call_schema(
            core_schema.arguments_schema(parameters),
            self._cls,
            metadata={"unspool": "attrs"},
            serialization=core_schema.plain_serializer_function_ser_schema(partial(_members, self._cls)),
        )


def _nothing() -> Any:
    return sys.modules["attr"].NOTHING


def _members(cls: Any, value: Any) -> dict[str, Any]:
    fields = [field for field in cls.__attrs_attrs__ if field.init]
    return {field.alias: _plain(getattr(value, field.name)) for field in fields}


def _plain(value: Any) -> Any:
    """Write out attrs objects inside a value; pydantic knows the rest."""
    cls = cast("Any", type(value))
    if is_attrs(cls):
        return _members(cls, value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members: dict[Any, Any] = cast("Any", value)
        return {key: _plain(item) for key, item in members.items()}
    return value
