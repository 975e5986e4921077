"""What a model is told about the answer: the text of a type in a protocol, and the words around it.

Our own wording, and the same to the byte for the same type. Pure; texts are kept with their schema.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from unspool.errors import ConfigError
from unspool.schema.json_text import json_form
from unspool.schema.types import Schema

Protocol = Literal["json", "native", "python"]

_JSON_FORM = "Answer only with JSON of this form, and with nothing else:"
_JSON_SCHEMA = "Answer only with JSON that matches this JSON Schema, and with nothing else:"
_PYTHON = """\
Answer only with one Python expression of the type below, in one ```python block, and with nothing else.
Call only the classes that are defined below, with keyword arguments, and write each value out: no variables, no
calculations, no imports, no definitions. Asked what 1 + 1 is, with a class Sum that has a field total: int, you answer:

```python
Sum(total=2)
```"""
_UNKNOWN_PYTHON = "Where the type allows it, write UNKNOWN for what you cannot know."
_UNKNOWN_JSON = 'Where the form allows it, write {"unknown": true} for what you cannot know.'


def schema_text(T: Any, protocol: Protocol = "python", *, defaults: bool = False) -> str:
    """Write a type as a model is shown it.

    Args:
        T: what `Schema.of` takes.
        protocol: "python": an annotation and class definitions; "json": the form of the answer, or the JSON Schema of
            what has no form; "native": the JSON Schema.
        defaults: in Python syntax, show short defaults, so that a model may leave out what it would repeat.
    Raises:
        ConfigError: INVALID_OPTIONS when there is no such protocol; what `Schema.of` raises; UNSUPPORTED when a JSON
            Schema, or two classes of one name, are asked for in Python syntax.
    """
    schema: Schema[Any] = Schema.of(T)
    check_protocol(protocol)
    key = (protocol, defaults)
    if key not in schema.texts:
        schema.texts[key] = _schema_text(schema, protocol, defaults)
    return schema.texts[key]


def schema_prompt(schema: Schema[Any], protocol: Protocol) -> str:
    """Write what a model must be told to answer in a protocol, to stand after the question.

    Args:
        schema: what is asked for.
        protocol: as in `schema_text`; for "native" there are no words: the provider holds the answer to the schema.
    Raises:
        ConfigError: as in `schema_text`.
    """
    if protocol == "native":
        return ""
    if protocol == "json":
        return json_prompt(schema)
    words = [_PYTHON, _UNKNOWN_PYTHON] if _may_be_unknown(schema) else [_PYTHON]
    return "\n".join([*words, "", "The type of your answer:", schema_text(schema, "python")])


def json_prompt(schema: Schema[Any]) -> str:
    """Write what a model must be told to answer with JSON of a schema: a few lines, to stand after the question.

    Args:
        schema: what is asked for.
    """
    form = schema_text(schema, "json")
    words = [_JSON_SCHEMA if form == schema_text(schema, "native") else _JSON_FORM]
    if _may_be_unknown(schema):
        words.insert(0, _UNKNOWN_JSON)
    return "\n".join([*words, form])


def _may_be_unknown(schema: Schema[Any]) -> bool:
    return schema.python_type is not None and schema.python_type.reader.may_be_unknown


def format_value(
    value: Any, protocol: Protocol = "python", *, T: Any = None, compact: bool = False, missing: bool = False
) -> str:
    """Write a value as a reply in a protocol would: parsing the text as the value's type gives the value back.

    Args:
        value: plain data, dates and the like, members of Enum classes, instances of pydantic models, dataclasses,
            NamedTuple and attrs classes.
        protocol: "python", or "json" (also "native", which is JSON).
        T: the type or `Schema` that it is of; needed in JSON where subclasses may stand for a class. The text is then
            read back, and refused when the value that comes is another one: JSON cannot tell a date from text where a
            type takes both.
        compact: in Python syntax, one line.
        missing: in Python syntax, write `MISSING(int)` for fields that were never set (of `model_construct`); such a
            text is not read back.
    Returns:
        The text; of `str` (`T=str`) the value itself, as `parse` takes it. What nests deeper than 64 is read with
        `max_depth=128`.
    Raises:
        ConfigError: INVALID_OPTIONS, with the path, when there is no such protocol, or the value could not be read
            back: infinite numbers, integers of more than 4,300 digits, halves of surrogate pairs, secrets, keys that
            the protocol has none for, what contains itself, is deeper than 128 or has no text form.
    """
    if T is str and type(value) is str:
        return value
    schema: Schema[Any] | None = None if T is None else Schema.of(T)
    text = _value_text(value, protocol, schema, compact=compact, missing=missing)
    if schema is not None and not missing:
        from unspool.schema.read_back import check_read_back

        check_read_back(text, value, schema, protocol)
    return text


def example_reply(value: Any, protocol: Protocol, *, schema: Schema[Any] | None = None) -> str:
    """Write a value as the whole reply that a model should have given: of an example, fenced in Python syntax.

    It is shown, never read: that another value may have the same text is no fault here.

    Args:
        value, protocol: as in `format_value`.
        schema: what it is a value of.
    """
    text = _value_text(value, protocol, schema)
    return f"```python\n{text}\n```" if protocol == "python" else text


def _value_text(
    value: Any, protocol: Protocol, schema: Schema[Any] | None, *, compact: bool = False, missing: bool = False
) -> str:
    from unspool.schema.value_text import ValueWriter

    check_protocol(protocol)
    typed = None if schema is None else schema.python_type
    writer = ValueWriter(typed, missing=missing)
    if protocol == "python":
        return writer.python(value, compact=compact)
    return writer.json(value, tagged=typed is not None)


def check_protocol(protocol: str) -> None:
    """Refuse what is no protocol.

    Raises:
        ConfigError: INVALID_OPTIONS.
    """
    if protocol not in ("json", "native", "python"):
        raise ConfigError(
            "INVALID_OPTIONS", f"There is no protocol {protocol!r}; there are 'python', 'json' and 'native'."
        )


def _schema_text(schema: Schema[Any], protocol: Protocol, defaults: bool) -> str:
    if protocol == "python":
        from unspool.schema.python_text import python_text

        return python_text(schema.for_python(), defaults=defaults)
    form = json_form(schema.json_schema()) if protocol == "json" else None
    return _json_schema_text(schema.json_schema()) if form is None else form


def _json_schema_text(root: Any) -> str:
    return json.dumps(root, ensure_ascii=False, separators=(",", ":"))
