"""A typed function as a prompt: its docstring is the words, its parameters are the places, its return type the type.

In: a function, whose body never runs. Out: what it says, or ConfigError INVALID_OPTIONS that names the fault. No IO.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

from unspool.errors import ConfigError
from unspool.messages import Message, Part
from unspool.templates import Template

RECEIVERS = ("self", "cls")
"""First parameters of methods, which need no place."""


def check_places(name: str, prompt: Template, parameters: Sequence[str]) -> None:
    """Refuse a function whose prompt and parameters do not belong together.

    Args:
        name: that of the function.
        prompt: its docstring.
        parameters: in their order.
    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    unknown = next((place for place in prompt.variables if place not in parameters), None)
    if unknown is not None:
        from difflib import get_close_matches

        near = get_close_matches(unknown, parameters, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigError(
            "INVALID_OPTIONS",
            f"{{{{{unknown}}}}} in the prompt of {name} is no parameter{meant}: make it one, also if `bind` is "
            f"to fill it in. As text write \\{{{{{unknown}}}}}.",
        )
    strays = [parameter for parameter in parameters if parameter not in prompt.variables]
    if strays and strays[0] in RECEIVERS and strays[0] == parameters[0]:
        del strays[0]
    if strays:
        try:
            prompt.bind(**dict.fromkeys(strays))
        except ConfigError as error:
            raise ConfigError("INVALID_OPTIONS", f"The prompt of {name}: {error.message}") from error


def read_function(function: Any) -> tuple[str, Any, inspect.Signature]:
    """Give the prompt, the type and the signature of a function.

    Raises:
        ConfigError: INVALID_OPTIONS when one is missing.
    """
    text = inspect.getdoc(function)
    if not text:
        raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a docstring: it is the prompt.")
    signature = signature_of(function)
    if signature.return_annotation is inspect.Signature.empty:
        raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a return type: it is what is asked for.")
    try:
        returns = _read_type(signature.return_annotation, function)
    except Exception as error:
        raise ConfigError(
            "INVALID_OPTIONS", f"The return type of {function.__name__} cannot be read: {error}."
        ) from error
    return text, returns, signature


def shown_values(function: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Give None for a list of no pictures: an empty list does not say of what it is, and would be sent as `[]`.

    Args:
        function: whose parameters they are for.
        values: by name.
    """
    return {
        name: None if isinstance(value, list | tuple) and not value and _takes_parts(function, name) else value
        for name, value in values.items()
    }


def _takes_parts(function: Any, name: str) -> bool:
    """Tell whether a parameter is annotated with parts of messages, messages or templates, alone or inside."""
    parameter = signature_of(function).parameters.get(name)
    try:
        todo: list[Any] = [] if parameter is None else [_read_type(parameter.annotation, function)]
    except Exception:  # it may be there for type checkers alone
        return False
    while todo:
        kind = todo.pop()
        if isinstance(kind, type) and issubclass(kind, (*get_args(Part), Message, Template)):
            return True
        todo += get_args(kind)
    return False


def signature_of(function: Any) -> inspect.Signature:
    """Give the signature of a function; types of parameters may be there for type checkers alone."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def signature_of_places(places: Sequence[str], returns: Any) -> inspect.Signature:
    """Give the signature of a prompt that is no function."""
    plain = not any(map(keyword.iskeyword, places))
    kind = inspect.Parameter.KEYWORD_ONLY if plain else inspect.Parameter.VAR_KEYWORD
    names = places if plain else ("values",)
    return inspect.Signature([inspect.Parameter(name, kind) for name in names], return_annotation=returns)


def made_by(transform: Any) -> Any:
    """Give the return type of what is done to a value; `Signature.empty` where nothing says it."""
    try:
        return transform if isinstance(transform, type) else signature_of(transform).return_annotation
    except (TypeError, ValueError):  # Python knows none of some functions in C
        return inspect.Signature.empty


def _read_type(annotation: Any, function: Any) -> Any:
    """Evaluate an annotation of a function, if it is a text or holds one."""

    def holder() -> None: ...

    holder.__annotations__ = {"return": annotation}
    return get_type_hints(holder, globalns=function.__globals__, include_extras=True)["return"]
