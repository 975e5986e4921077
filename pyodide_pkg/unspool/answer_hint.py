"""Hints: how a model's answer that could not be read could have been. The text in, a sentence for the developer out.

A hint is not for the model, which cannot choose how it is read: `without_hint` takes it off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from unspool.errors import ConfigError, StreamError
from unspool.schema import Schema
from unspool.schema.subschemas import is_object
from unspool.structured.py_values import PyObject
from unspool.structured.reply import JsonReplyMachine, PyReplyMachine

_IS_JSON: Final = ' It is JSON: a model that writes this is better asked by protocol="json".'
_IS_PYTHON: Final = ' It is Python syntax: a model that writes this is better asked by protocol="python".'
_IS_NEARLY_JSON: Final = " It is nearly JSON: with lenient=True it can be read."
_GOES_ON: Final = {"'": ("'", "':0"), "/": ("/",)}
"""By the last character of a text that is cut: what shows that it began a text, a key, or a comment."""


def hint(text: str, schema: Schema[Any], *, python: bool, lenient: bool, over: bool, max_depth: int) -> str:
    """Find another way in which an answer can be read.

    Args:
        text: the answer.
        schema: what it should have been.
        python, lenient: how it could not be read.
        over: whether this is all of it. Else it ends with the character at fault.
        max_depth: deepest nesting of the value.
    Returns:
        A sentence, or nothing.
    """
    limits: Any = {"max_chars": len(text) + 9, "max_depth": max_depth}
    if python:
        return _IS_JSON if _reads(JsonReplyMachine(**limits), text, is_object) else ""
    if _is_constructor(text, schema, limits):
        return _IS_PYTHON
    for rest in () if lenient else ("",) if over else ("", *_GOES_ON.get(text[-1:], ())):
        machine = JsonReplyMachine(lenient=True, **limits)
        if _reads(machine, text + rest, lambda value: isinstance(value, dict | list)) and (
            # Any text can be read leniently up to where it was cut.
            over or any(repair.kind != "unclosed" for repair in machine.repairs)
        ):
            return _IS_NEARLY_JSON
    return ""


def without_hint(message: str) -> str:
    """Give the message of an error as a model is to see it."""
    for words in (_IS_JSON, _IS_PYTHON, _IS_NEARLY_JSON):
        message = message.removesuffix(words)
    return message


def _reads(machine: JsonReplyMachine | PyReplyMachine, text: str, is_it: Callable[[Any], bool]) -> bool:
    """Whether the text holds such a value, or a list that begins with one, and not inside something else."""
    try:
        machine.feed(text)
        value = machine.finish()
    except StreamError:
        return False
    if machine.lead.rstrip()[-1:] in {"(", "=", ","}:
        return False
    return is_it(value) or (value.__class__ is list and len(value) > 0 and is_it(value[0]))


def _is_constructor(text: str, schema: Schema[Any], limits: Any) -> bool:
    if schema.python_type is None:
        return False
    try:
        machine = PyReplyMachine(classes=schema.classes, names=schema.names, **limits)
    except ConfigError:  # the type cannot be asked for in Python syntax
        return False
    return _reads(machine, text, lambda value: isinstance(value, PyObject))
