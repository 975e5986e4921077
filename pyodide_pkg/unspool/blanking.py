"""blank_out: an error without a credential that a server, a library or a message in it may have repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from unspool.errors import OutputValidationError, ProviderError, UnspoolError, redact, without
from unspool.frozen_json import FrozenDict, freeze_object
from unspool.messages import Message
from unspool.messages.parts import ImmutablePart

_KEPT = frozenset({"adapter", "arguments", "finish_reason", "role", "text"})
"""Of a message: what is ours, and the answer itself, which is the model's. All else is a server's to fill."""


def blank_out(error: UnspoolError, secret: str) -> None:
    """Take a credential out of all that an error would show, its cause included."""

    def exactly(text: str) -> str:
        return without(text, secret)

    def widely(text: str) -> str:
        return redact(text, secret)

    told = exactly if isinstance(error, OutputValidationError) else widely
    error.message = told(error.message)
    error.args = (error.message,)
    error.request_id = error.request_id and exactly(error.request_id)
    if isinstance(error, ProviderError) and error.raw is not None:
        error.raw = _told(error.raw, widely)
    if error.partial is not None:  # names, ids and signatures may look like credentials, and are wanted as they are
        error.partial = _told(error.partial, exactly)
    if error.__cause__ is not None:
        import traceback

        trace = "".join(traceback.format_exception(error.__cause__))
        if exactly(trace) != trace:
            error.__cause__ = None
    error.__context__ = None


def _told(value: Any, hide: Callable[[str], str]) -> Any:
    """Give a value, or a message with all that is in it, with its texts hidden where they must be; of its own type."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Message | ImmutablePart):
        return _part_told(value, hide)
    if isinstance(value, Mapping):
        members: Mapping[Any, Any] = cast("Any", value)
        said = {_told(name, hide): _told(item, hide) for name, item in members.items()}
        return freeze_object(said, "") if isinstance(value, FrozenDict) else said
    if isinstance(value, list | tuple):
        items = [_told(item, hide) for item in cast("Sequence[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _part_told(part: Message | ImmutablePart, hide: Callable[[str], str]) -> Any:
    state = part.__getstate__()
    left = {name: item if name in _KEPT else _told(item, hide) for name, item in state.items()}
    if left == state:
        return part
    made = object.__new__(type(part))
    made.__setstate__(left)
    return made
