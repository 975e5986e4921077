"""Signatures that name each option, for `help()` and for the completion of notebooks, which ask the running program.

Editors read `**options: Unpack[HttpOptions]` themselves. Those of classes are worked out when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from inspect import Signature


class _LeftOut:
    def __repr__(self) -> str:
        return "..."


LEFT_OUT: Any = _LeftOut()
"""The default of what may be left out, where no value says so."""


class SpelledOut:
    """As the `__signature__` of a class: that of its constructor, with the options in the place of `**options`."""

    def __get__(self, instance: object, owner: type) -> Signature:
        from inspect import signature

        made = spelled_out(signature(owner.__init__), owner.__init__.__globals__)  # type: ignore[misc]
        return made.replace(parameters=list(made.parameters.values())[1:])


def spells_out[F: Callable[..., Any]](function: F) -> F:
    """Give a function its own signature, spelled out. Of a function Python takes nothing that is worked out later.

    What it calls `Any` itself is told as in those of its overloads that take any type (`TypeForm[R]`).
    """
    from inspect import signature
    from typing import get_overloads

    spelled = spelled_out(signature(function), function.__globals__)
    told: dict[str, str] = {}
    results: dict[str, None] = {}
    for overload in get_overloads(function):
        names: dict[str, Any] = overload.__annotations__
        # One with a transform gives what that gives: no overload knows its type from the type asked for. One of which
        # nobody knows whether it gives the message says what others say.
        if (
            names.get("transform", "None") == "None"
            and names.get("returns_message") != "bool"
            and any(str(kind).startswith("TypeForm[") for kind in names.values())
        ):
            told = {**names, **told}
            results[names["return"]] = None
    parameters = [
        parameter.replace(annotation=told[name]) if parameter.annotation == "Any" and name in told else parameter
        for name, parameter in spelled.parameters.items()
    ]
    result = " | ".join(results) or spelled.return_annotation
    cast("Any", function).__signature__ = spelled.replace(parameters=parameters, return_annotation=result)
    return function


def spelled_out(plain: Signature, names: dict[str, Any]) -> Signature:
    """Put the members of a TypedDict in the place of the `**options` that unpack it.

    Args:
        plain: a signature whose annotations are text.
        names: the globals of its function.
    """
    from inspect import Parameter

    parameters: list[Parameter] = []
    for parameter in plain.parameters.values():
        unpacked = str(parameter.annotation)
        options = names.get(unpacked[len("Unpack[") : -1]) if unpacked.startswith("Unpack[") else None
        if options is None:
            parameters.append(parameter)
            continue
        for name, kind in options.__annotations__.items():
            if name not in plain.parameters:
                text = getattr(kind, "__forward_arg__", kind)
                parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=LEFT_OUT, annotation=text))
    return plain.replace(parameters=parameters)
