"""Open types: what a type leaves open, or means otherwise than pydantic reads it, is refused when the schema is made.

In: a type, or the annotation of a field. Pydantic takes a type variable that nobody has filled in for `Any`, and the
items that are unpacked in a tuple for one item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import InitVar
from types import get_original_bases
from typing import Annotated, Any, Literal, TypeAliasType, TypeVar, Unpack, cast, get_args, get_origin

from unspool.errors import ConfigError


def refuse_open(T: Any, path: str = "", *, filled: frozenset[Any] = frozenset()) -> None:
    """Refuse a type variable that is left open, and an unpacked tuple.

    A variable with a bound, a list of types or a default has that meaning.

    Args:
        T: the type.
        path: where it stands.
        filled: what is filled in elsewhere: in a field, the variables of its class (`variables_of`).
    Raises:
        ConfigError: INVALID_OPTIONS, with the path.
    """
    todo: list[Any] = [T]
    named: set[Any] = set()  # a named type may contain itself
    while todo:
        part = todo.pop()
        if isinstance(part, TypeVar):
            if part not in filled and _is_open(part):
                raise _refused(path, f"leaves the type variable {part.__name__} open")
        elif getattr(part, "__unpacked__", False) or get_origin(part) is Unpack:
            raise _refused(path, f"unpacks a tuple ({part}), which pydantic does not read: ask for a list beside it")
        elif get_args(part):
            todo.extend(_inside(part))
        elif isinstance(part, InitVar):
            todo.append(cast("Any", part).type)
        else:
            left = [variable for variable in _parameters(part) if variable not in filled and _is_open(variable)]
            if left:
                names = ", ".join(variable.__name__ for variable in left)
                name = part.__name__
                raise _refused(path, f"leaves {names} of {name} open: write {name}[…]")
            if isinstance(part, TypeAliasType) and part not in named:
                named.add(part)
                with suppress(NameError):  # pydantic will say so
                    filled |= frozenset(part.__type_params__)
                    todo.append(part.__value__)


def _inside(part: Any) -> Iterator[Any]:
    origin = get_origin(part)
    if origin is Literal:
        return
    yield from get_args(part)[:1] if origin is Annotated else get_args(part)


def _parameters(part: Any) -> Collection[Any]:
    """Give the variables of a class or of a named type, in so far as nobody has filled them in."""
    if not isinstance(part, type | TypeAliasType):
        return ()
    pydantic: Any = part.__dict__.get("__pydantic_generic_metadata__") if isinstance(part, type) else None
    if not pydantic and hasattr(part, "__get_pydantic_core_schema__"):  # it says itself what it is
        return ()
    found = pydantic["parameters"] if pydantic else getattr(part, "__parameters__", ())
    return cast("Collection[Any]", found) if isinstance(found, tuple) else ()


def variables_of(cls: Any) -> frozenset[Any]:
    """Give the variables of a class and of all its bases; a TypedDict has them as original bases only."""
    found: set[Any] = set()
    todo: list[Any] = [cls]
    while todo:
        part = get_origin(todo[-1]) or todo[-1]
        todo.pop()
        if isinstance(part, type) and part is not object:
            found.update(_parameters(part))
            todo.extend({*part.__bases__, *get_original_bases(part)})
    return frozenset(found)


def _is_open(parameter: Any) -> bool:
    if not isinstance(parameter, TypeVar):
        return False
    has_default = getattr(parameter, "has_default", None)
    return not (parameter.__bound__ or parameter.__constraints__ or (has_default is not None and has_default()))


def _refused(path: str, words: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"No answer can be asked for: {path.lstrip('.') or 'it'} {words}.")
