"""What a query may be told, checked before anything is asked.

In: keyword options. Out: nothing, or ConfigError INVALID_OPTIONS that names the option.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from unspool.answer_stream import Check, Transform
from unspool.contracts import Signal
from unspool.errors import ConfigError
from unspool.examples import Example
from unspool.messages import Message
from unspool.model import LanguageModel
from unspool.options import CallOptions, check_count, check_options, no_option
from unspool.schema.text import Protocol, check_protocol
from unspool.stream.response import MAX_CHARS as MAX_CHARS_CEILING
from unspool.structured.events import MAX_CHARS, MAX_DEPTH
from unspool.whole_reply import MAX_DEPTH_CEILING

MAX_REPAIRS = 8
"""Most further turns for an answer that is not valid. Each is paid for."""
TransformInput = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]
"""What is done to the rendered messages before they are sent."""
_TAKERS = {
    "default": "query, complete and LangFunc take it",
    "max_repairs": "query, complete and LangFunc take it",
    "returns_message": "query and complete take it; a LangFunc has with_message",
}
"""Who takes the options of a value that is waited for."""
_OF_VALUES = ("default", "max_repairs")
"""What is told to calls that wait for one value, and to no others."""


class AnswerOptions(CallOptions, total=False):
    """What a query may be told of the answer; see `query_stream`."""

    protocol: Protocol
    lenient: bool
    examples: Sequence[Example]
    signal: Signal | Any
    max_chars: int
    max_depth: int
    check: Check | None


class QueryOptions(AnswerOptions, total=False):
    """What a query may be told; see `query_stream`."""

    transform: Transform | None


class RepairOptions(AnswerOptions, total=False):
    """What may be told to what waits for a valid answer; see `query`."""

    max_repairs: int


class FunctionOptions(RepairOptions, total=False):
    """What a function may be told; see `LangFunc`."""

    lm: LanguageModel | None
    transform_input: TransformInput | None


class CallOfFunction(QueryOptions, total=False):
    """What a function tells its queries; see `LangFunc`."""

    default: Any
    max_repairs: int


def check_names(options: Mapping[str, Any], *own: str) -> None:
    """Refuse what is no option of a query.

    Args:
        options: by name.
        own: what the function takes besides.
    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    known = {*QueryOptions.__annotations__, *own}
    for name in options:
        if name in known:
            continue
        if (takers := _TAKERS.get(name)) is not None:
            raise ConfigError("INVALID_OPTIONS", f"There is no option {name!r} here; only {takers}.")
        raise ConfigError(
            "INVALID_OPTIONS", f"{no_option(name, known)}; places in a prompt are filled in by us.Template."
        )


def check_model(lm: Any) -> None:
    """Refuse what is no model.

    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    if not isinstance(lm, LanguageModel):
        raise ConfigError(
            "INVALID_OPTIONS",
            "lm must be a model, such as us.llms.OpenAIChat(…); a function becomes one by us.llms.FunctionModel.",
        )


def check_query(options: Mapping[str, Any]) -> None:
    """Refuse what is no option of a query, or has a value that no query could use.

    Args:
        options: by name.
    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    check_names(options)
    check_protocol(options.get("protocol", "json"))
    check_count("max_chars", options.get("max_chars", MAX_CHARS), most=MAX_CHARS_CEILING)
    check_count("max_depth", options.get("max_depth", MAX_DEPTH), most=MAX_DEPTH_CEILING)
    if options.get("check") not in (None, "report", "stop"):
        raise ConfigError("INVALID_OPTIONS", "check must be 'report', 'stop' or None.")
    transform = options.get("transform")
    if transform is not None and not callable(transform):
        raise ConfigError("INVALID_OPTIONS", "transform must be a function of the value.")
    check_options(cast(CallOptions, {name: options[name] for name in options if name in CallOptions.__annotations__}))


def check_repairs(max_repairs: Any) -> None:
    """Refuse what is no number of further turns.

    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    check_count("max_repairs", max_repairs, least=0, most=MAX_REPAIRS)


def for_every_answer(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is told only to calls that wait for one value."""
    return {name: option for name, option in options.items() if name not in _OF_VALUES}


def check_function(lm: Any, transform_input: Any, options: Mapping[str, Any]) -> None:
    """Refuse what a function cannot be told.

    Args:
        lm, transform_input: None for none.
        options: the others, by name.
    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    if lm is not None:
        check_model(lm)
    check_names(options, "lm", "transform_input", *_OF_VALUES)
    check_repairs(options.get("max_repairs", 0))
    check_query(for_every_answer(options))
    if transform_input is not None and not callable(transform_input):
        raise ConfigError("INVALID_OPTIONS", "transform_input must be a function of the messages.")
