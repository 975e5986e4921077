"""Fields: how the JSON of every vendor is read. What is missing, null or of another type is not there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from unspool.errors import ConfigError, WireError
from unspool.frozen_json import INNER_DEPTH, FrozenDict, freeze, freeze_object

Fields = Mapping[str, Any]

KEPT_DEPTH = INNER_DEPTH - 4
"""Of what is kept of an event to be sent back: dialects put up to four levels around it."""

MAX_COUNT = 2**53
"""No count of tokens comes near. Neighbours of larger ones fall together in JavaScript, and the sum of two that can
just be written as text (4,300 digits) cannot."""


def fields_of(value: object) -> Fields:
    """Give an object's members; none when it is no object."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """Give a list's members; none when it is no list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def object_of(fields: Fields, name: str) -> dict[str, Any]:
    """Give an object that must be there.

    Raises:
        WireError: PROTOCOL when it is none.
    """
    value = fields.get(name)
    if not isinstance(value, dict):
        raise WireError("PROTOCOL", f"The provider sent a {name!r} that is not an object.")
    return cast("dict[str, Any]", value)


def objects_of(fields: Fields, name: str) -> Iterator[dict[str, Any]]:
    """Give the objects of a list one by one; none when it is missing or null.

    Raises:
        WireError: PROTOCOL when it is anything else: part of the answer would be lost.
    """
    value = fields.get(name)
    if not isinstance(value, list | None):
        raise WireError("PROTOCOL", f"The provider sent {name!r} that are not a list.")
    for item in cast("list[object]", value or []):
        if not isinstance(item, dict):
            raise WireError("PROTOCOL", f"The provider sent {name!r} that are not objects.")
        yield cast("dict[str, Any]", item)


def text_of(fields: Fields, name: str) -> str:
    """Give a text, or an empty one when it is missing or null.

    Raises:
        WireError: PROTOCOL when it is anything else: part of the answer would be lost.
    """
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise WireError("PROTOCOL", f"The provider sent a {name!r} that is not text.")
    return value


def text_or_none(fields: Fields, name: str) -> str | None:
    """Give a text that is not empty; None when there is none."""
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def count_of(fields: Fields, *names: str, least: int = 0) -> int | None:
    """Give the first of the members that is a whole number from `least` to 2^53; None when none is."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_COUNT:
            return value
    return None


def total(asked: int | None, answered: int | None) -> int | None:
    """Give the sum of two counts; None when one is not known."""
    return None if asked is None or answered is None else asked + answered


def index_of(event: Fields, name: str) -> int:
    """Give the number of the block that an event is about.

    Raises:
        WireError: PROTOCOL when it has none.
    """
    index = event.get(name)
    if not isinstance(index, int) or isinstance(index, bool):
        raise WireError("PROTOCOL", "The provider sent an event of a block without its index.")
    return index


def kept(value: Any) -> Any:
    """Copy what is kept of an event to be sent back.

    Raises:
        WireError: PROTOCOL when it is nested too deep for a message, or no JSON, as events that are already values may
            be.
    """
    try:
        return freeze(value, "An event of the provider", KEPT_DEPTH)
    except ConfigError as error:
        raise WireError("PROTOCOL", error.message) from error


def report_of(usage: Fields) -> FrozenDict | None:
    """Copy the provider's own report of the usage; None for one that no message can hold, which must cost no answer."""
    try:
        return freeze_object(usage, "usage", INNER_DEPTH)
    except ConfigError:
        return None
