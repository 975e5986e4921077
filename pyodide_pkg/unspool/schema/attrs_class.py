"""Classes of the attrs library, which pydantic does not know: their fields are read here and given to it.

In: a type. Out: the same type with a stand-in for each attrs class in it, which tells pydantic how to make one. attrs
itself is never imported: a class that it made carries what is needed. Converters and validators of the class run when
it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints


def is_attrs(cls: Any) -> bool:
    """Tell whether attrs made a class."""
    return isinstance(cls, type) and "__attrs_attrs__" in cls.__dict__


def with_attrs(T: Any) -> Any:
    """Give the type with a stand-in for each attrs class in it; other types come back as they are."""
    origin: Any = get_origin(T)
    cls: Any = T if origin is None else origin
    if is_attrs(cls) and not hasattr(cls, "__get_pydantic_core_schema__"):
        return _stand_in(cls, get_args(T))
    arguments = get_args(T)
    known = tuple(with_attrs(argument) for argument in arguments)
    if all(new is old for new, old in zip(known, arguments, strict=True)):
        return T
    if origin is Annotated:
        return Annotated[(known[0], *T.__metadata__)]
    if origin in (Union, UnionType):
        return Union[known]  # noqa: UP007
    return cls[known]


def attribute_names(cls: Any) -> dict[str, str]:
    """Tell what a class keeps the arguments of its constructor as, by their names; other classes use one name."""
    return {field.alias: field.name for field in cls.__attrs_attrs__} if is_attrs(cls) else {}


_open: set[str] = set()
"""What is being made known to pydantic just now: it may contain itself."""


def _stand_in(cls: Any, arguments: tuple[Any, ...]) -> type:
    """Make the class that pydantic is given for an attrs class; with the arguments of a generic one."""

    def core_schema_of(stand_in: Any, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        ref = f"{cls.__module__}.{cls.__qualname__}:{id(cls)}{list(arguments) if arguments else ''}"
        if ref in _open:
            return core_schema.definition_reference_schema(ref)
        _open.add(ref)
        try:
            parameters = _parameters(cls, arguments, handler)
        finally:
            _open.discard(ref)
        return core_schema.call_schema(
            core_schema.arguments_schema(parameters),
            cls,
            ref=ref,
            metadata={"unspool": "attrs", "ref": ref},
            serialization=core_schema.plain_serializer_function_ser_schema(partial(_members, cls)),
        )

    return type(cls.__name__, (), {"__get_pydantic_core_schema__": classmethod(core_schema_of)})


def _parameters(cls: Any, arguments: tuple[Any, ...], handler: Any) -> list[Any]:
    """Describe what the constructor takes."""
    from pydantic_core import core_schema

    bound = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
    hints = get_type_hints(cls, include_extras=True)
    parameters: list[Any] = []
    for field in cls.__attrs_attrs__:
        if not field.init:
            continue
        schema = handler.generate_schema(with_attrs(_filled(hints.get(field.name, Any), bound)))
        if hasattr(field.default, "factory"):  # attrs makes it itself, when it is given its word for "nothing"
            schema = core_schema.with_default_schema(schema, default_factory=_nothing)
        elif field.default is not _nothing():
            schema = core_schema.with_default_schema(schema, default=field.default)
        mode: Any = "keyword_only" if field.kw_only else "positional_or_keyword"
        parameters.append(core_schema.arguments_parameter(field.alias, schema, mode=mode))
    return parameters


def _filled(hint: Any, bound: Mapping[Any, Any]) -> Any:
    """Put the arguments of a generic class in the places of its parameters."""
    if isinstance(hint, TypeVar):
        return bound.get(hint, Any)
    open_places: tuple[Any, ...] = getattr(hint, "__parameters__", ())
    return hint[tuple(bound.get(place, Any) for place in open_places)] if open_places else hint


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
