"""JSON values that cannot change: what requests, messages and options are made of once they have been accepted.

`dict` and `list` underneath, so that `json` writes them at C speed and they equal plain ones. No IO, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from types import NoneType
from typing import Any, NoReturn

from unspool.errors import ConfigError

MAX_DEPTH = 128
INNER_DEPTH = 64
"""For JSON inside a message: with 16 messages inside each other around it, `strict_json` reads the whole again."""


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} cannot be changed; build a new one.")


class FrozenDict(dict[str, Any]):
    """A JSON object that cannot change. Made by `freeze`."""

    __slots__ = ("depth",)
    depth: int
    """Containers that stand inside each other, itself included."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze_object, (dict(self), "")


class FrozenList(list[Any]):
    """A JSON array that cannot change. Made by `freeze`."""

    __slots__ = ("depth",)
    depth: int
    """Containers that stand inside each other, itself included."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (list(self), "")


# Tuples, because unions are made anew each time, and take longer: a request of a few tools has a hundred values.
_FROZEN = (FrozenDict, FrozenList)
_AS_THEY_ARE = (str, int, NoneType)
_BYTES = (bytes, bytearray, memoryview)


def freeze(value: Any, what: str, depth: int = MAX_DEPTH) -> Any:
    """Copy a value into one that cannot change; what is frozen already is given back as it is.

    Args:
        value: mappings with texts as keys, sequences, texts, finite numbers, booleans and None.
        what: its name, for the error.
        depth: containers that may stand inside each other.
    Raises:
        ConfigError: INVALID_OPTIONS when it has no JSON form, or is nested too deep.
    """
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise ConfigError("INVALID_OPTIONS", f"{what} holds a number that JSON cannot write: {value}.")
        return value
    known = isinstance(value, _FROZEN)
    if depth < (value.depth if known else 1):
        raise ConfigError("INVALID_OPTIONS", f"{what} is nested too deep for JSON.")
    if known:
        return value
    given: Any = value  # of no narrower type
    frozen: FrozenDict | FrozenList
    if isinstance(value, (dict, Mapping)):
        members: dict[str, Any] = {}
        for key, member in given.items():
            if not isinstance(key, str):
                raise ConfigError("INVALID_OPTIONS", f"{what} holds a key that is no text: {type(key).__name__}.")
            members[key] = member if type(member) is str else freeze(member, what, depth - 1)
        frozen, inner = FrozenDict(members), [*members.values()]
    elif isinstance(value, (list, Sequence)) and not isinstance(value, _BYTES):
        frozen = FrozenList([item if type(item) is str else freeze(item, what, depth - 1) for item in given])
        inner = frozen
    else:
        raise ConfigError("INVALID_OPTIONS", f"{what} holds something that has no JSON form: {type(given).__name__}.")
    deepest = 0
    for member in inner:
        if isinstance(member, _FROZEN) and member.depth > deepest:
            deepest = member.depth
    frozen.depth = deepest + 1
    return frozen


def freeze_object(value: Mapping[str, Any] | None, what: str, depth: int = MAX_DEPTH) -> FrozenDict:
    """Copy a mapping into one that cannot change; None is an empty one.

    Raises:
        ConfigError: INVALID_OPTIONS when it is no mapping or has no JSON form.
    """
    if value is None:
        return EMPTY
    frozen = freeze(value, what, depth)
    if not isinstance(frozen, FrozenDict):
        raise ConfigError("INVALID_OPTIONS", f"{what} must be a mapping.")
    return frozen


EMPTY: FrozenDict = freeze({}, "nothing")
