"""Examples of a query: questions with the values that answer them, shown to the model as turns before the question.

In: what the application gave, and what is asked for. Out: messages, with each answer in the form asked for; it has been
read as an answer of the model would be, so that no model is shown what would be refused. No IO.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from unspool.errors import ConfigError, OutputValidationError
from unspool.messages import AssistantMessage, Message
from unspool.options import Prompt, messages_of
from unspool.schema import NativeOutput, Schema, example_reply
from unspool.schema.json_schema import WRAPPER
from unspool.schema.text import Protocol
from unspool.templates import Template, messages_from
from unspool.whole_reply import parse

Example = tuple["Prompt | Template", Any]
"""A question and the value that answers it."""


def example_turns(
    examples: Sequence[Example],
    schema: Schema[Any] | None,
    protocol: Protocol,
    native: NativeOutput | None,
    *,
    max_chars: int,
    max_depth: int,
) -> list[Message]:
    """Give examples as turns of a conversation.

    Args:
        examples: pairs of a prompt and the value that answers it.
        schema: what the values must be; None: text.
        protocol: in which the answers are written.
        native: the form in which the provider is asked for the answer.
        max_chars, max_depth: as of an answer.
    Raises:
        ConfigError: INVALID_OPTIONS, naming the example by its number and what is wrong in it by its path.
    """
    given: Any = examples
    if not isinstance(given, list | tuple) or not all(_is_pair(example) for example in cast("Any", given)):
        raise ConfigError("INVALID_OPTIONS", "examples must be pairs: (a prompt, the value that answers it).")
    turns: list[Message] = []
    for number, (question, value) in enumerate(examples):
        try:
            turns += messages_of(messages_from(question))
            if schema is None:
                reply = _text(value)
            else:
                reply = example_reply(value, protocol, schema=schema)
                found = parse(reply, schema, protocol, max_chars=max_chars, max_depth=max_depth)
                _check_same(value, found, schema)
        except (ConfigError, OutputValidationError) as error:
            raise ConfigError("INVALID_OPTIONS", f"examples[{number}] cannot be shown: {error.message}") from error
        if native is not None and native.wrapped:
            reply = f'{{"{WRAPPER}":{reply}}}'
        turns.append(AssistantMessage(reply))
    return turns


def _check_same(value: Any, found: Any, schema: Schema[Any]) -> None:
    """Refuse a value that a validator has changed already: its text would mean another one."""
    if schema.python_type is None:
        return
    from unspool.schema.read_back import check_same

    try:
        check_same(value, found, schema, is_reply=True)
    except ConfigError as error:
        raise ConfigError(
            "INVALID_OPTIONS",
            f"{error.message} Give what the model is to write, as plain data (protocol='json' or 'native').",
        ) from error


def _is_pair(example: Any) -> bool:
    return isinstance(example, list | tuple) and len(cast("Any", example)) == 2


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError("INVALID_OPTIONS", f"The answer must be a text, not {type(value).__name__}.")
    return value
