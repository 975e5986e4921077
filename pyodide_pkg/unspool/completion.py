"""complete: a value of which parts are missing in, the whole value out. What was given always holds.

In: instances of which fields were never set. Out: a validated value, in which a model has filled in the rest and
nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from unspool.answer import AnswerMachine
from unspool.answer_stream import QueryStream, Transform
from unspool.errors import ConfigError, OutputValidationError
from unspool.functions import Question, with_words
from unspool.messages import Message
from unspool.model import LanguageModel
from unspool.options import CallOptions, Prompt, messages_of
from unspool.printable import said_by
from unspool.query_options import QueryOptions, RepairOptions, check_names, check_repairs
from unspool.repair import answered
from unspool.schema import Schema
from unspool.schema.known import KnownValue
from unspool.schema.overlay import Overlay
from unspool.schema.problem import Problem, path_text
from unspool.schema.validation_error import invalid
from unspool.schema.validator_builder import ValueProtocol
from unspool.signature import LEFT_OUT, spells_out
from unspool.stream.chunks import BlockStart, TextDelta
from unspool.structured.strict_json import MAX_DEPTH
from unspool.templates import Template, messages_from

if TYPE_CHECKING:
    from typing_extensions import TypeForm

_WORDS = "Complete this: give a value in each place that says MISSING, and keep the rest as it is."
_CONTAINERS: Any = (dict, list, tuple, set, frozenset)


class Completion(Schema[Any]):
    """A schema of which parts are known: an answer is validated with these in their places."""

    def __init__(self, schema: Schema[Any], known: KnownValue) -> None:
        super().__init__(schema.name, schema.json_schema(), typed=schema.python_type, check=None)
        self._overlay = Overlay(known)

    def validate(self, value: Any, *, protocol: ValueProtocol = "json") -> Any:
        laid = self._overlay.laid_over(value)
        result = super().validate(laid, protocol=protocol)
        try:
            return self._overlay.put_back(result, laid)
        except OutputValidationError:
            raise
        except Exception as error:  # a class of the application may copy itself in its own way
            raise invalid(self.name, [Problem((), said_by(error))]) from error


@overload
async def complete[R](
    value: R,
    T: None = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: Literal[False] = False,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R: ...
@overload
async def complete[R](
    value: Any,
    T: Schema[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: Literal[False] = False,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R: ...
@overload
async def complete[R](
    value: Any,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: Literal[False] = False,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R: ...
@overload
async def complete[R](
    value: R,
    T: None = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: Literal[True],
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> tuple[R, Message | None]: ...
@overload
async def complete[R](
    value: Any,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: Literal[True],
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> tuple[R, Message | None]: ...
@overload
async def complete[R](
    value: R,
    T: None = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: bool,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R | tuple[R, Message | None]: ...
@overload
async def complete[R](
    value: Any,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: None = None,
    returns_message: bool,
    default: R = ...,
    **options: Unpack[RepairOptions],
) -> R | tuple[R, Message | None]: ...
@overload
async def complete[R, S](
    value: R,
    T: None = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: Callable[[R], Awaitable[S]],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def complete[R, S](
    value: R,
    T: None = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: Callable[[R], S],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def complete[R, S](
    value: Any,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: Callable[[R], Awaitable[S]],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def complete[R, S](
    value: Any,
    T: TypeForm[R],
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: Callable[[R], S],
    returns_message: Literal[False] = False,
    default: S = ...,
    **options: Unpack[RepairOptions],
) -> S: ...
@overload
async def complete(
    value: Any,
    T: Any = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    transform: Transform | None = None,
    returns_message: bool = False,
    default: Any = ...,
    **options: Unpack[RepairOptions],
) -> Any: ...
@spells_out
async def complete(
    value: Any,
    T: Any = None,
    *,
    lm: LanguageModel,
    prompt: Prompt | Template | None = None,
    returns_message: bool = False,
    default: Any = LEFT_OUT,
    max_repairs: int = 0,
    **options: Unpack[QueryOptions],
) -> Any:
    """Have a model fill in what is missing of a value, and nothing else.

    What was given always holds, whatever the model answers for it, and stays as it was given: validators of the type
    see it, and what they would make of it is not kept, unless it is of another kind (text that becomes a date).
    A field that has a default and was not set is not missing: it keeps the default.

    Args:
        value: a pydantic model made by `model_construct`, another instance of which some fields were not set, a dict
            that stands for one (needs `T`) and holds its members as they are to be, or a container of such. What is
            missing may be anywhere inside.
        T: its type; its class when left out.
        lm, options: as in `query_stream`, but no `check`. The default protocol is "python".
        prompt: what the model is to fill it in from, such as an e-mail: as in `query_stream`. The value comes after.
        returns_message, default, max_repairs: as in `query`.
    Returns:
        A new, validated value of the type. When nothing is missing no model is asked, and the message is None.
    Raises:
        ConfigError: INVALID_OPTIONS when the value has no parts, cannot be shown to a model, or what is known of it is
            not valid; for `check`, which would judge parts before what was given is laid over them; UNSUPPORTED for a
            JSON Schema.
        UnspoolError: as `query`. OUTPUT_INVALID also when the answer has no place for what was given: a list of another
            length, another class, or items of a list that are other ones than those that were given.
    Cancellation:
        Aborts the request on the network.
    """
    check_names(options, "default", "max_repairs", "returns_message")
    check_repairs(max_repairs)
    question, model = _asked(value, T, lm, prompt, options)
    is_asked = model is lm
    result, message = await answered(question, model, max_repairs=max_repairs * is_asked, default=default)
    return (result, message if is_asked else None) if returns_message else result


def completion_stream(
    value: Any,
    T: Any,
    lm: LanguageModel,
    turn: Sequence[Message] = (),
    *,
    prompt: Prompt | Template | None = None,
    **options: Unpack[QueryOptions],
) -> tuple[QueryStream[Any], bool]:
    """Give what `complete` waits for, as a stream.

    Its progress is that of the answer, before what is known is laid over it: there are no `partials()` of it.

    Args:
        value, T, lm, prompt, options: as in `complete`.
        turn: messages after the question.
    Returns:
        The stream, and whether it asks the model; else it is of the value itself, in which nothing is missing.
    Raises:
        ConfigError: as `complete`.
    """
    question, model = _asked(value, T, lm, prompt, options)
    stream = question.stream(model, turn)
    stream._take("events")  # pyright: ignore[reportPrivateUsage]
    return stream, model is lm


def _asked(
    value: Any, T: Any, lm: LanguageModel, prompt: Prompt | Template | None, options: QueryOptions
) -> tuple[Question, LanguageModel]:
    """Give the question, and who answers it: where nothing is missing, the value itself."""
    if options.get("check") is not None:
        raise ConfigError(
            "INVALID_OPTIONS",
            "complete takes no check: parts of an answer would be judged before what was given is laid over them. "
            "The whole is always judged.",
        )
    schema = _schema_of(value, T)
    known = KnownValue(value, schema, python=options.setdefault("protocol", "python") == "python")
    words = f"{_WORDS}\n\n{known.shown}"
    asked = words if prompt is None else with_words(messages_of(messages_from(prompt)), words)
    question = Question(asked, schema, lm, **options)
    question.schema = Completion(schema, known)
    if not known.has_parts:
        kind = type(value).__name__
        raise ConfigError("INVALID_OPTIONS", f"A {kind} has no parts that could be missing: ask for it by query(…, T).")
    if known.missing:
        if known.is_readable:
            _refuse_invalid(known, schema)
        return question, lm
    try:
        question.schema.validate(None, protocol=known.protocol)
    except OutputValidationError as error:
        raise _not_valid(error.message) from error
    from unspool.llms import FunctionModel

    question.protocol, question.native, question.options = known.protocol, None, CallOptions()
    question.settings = {"max_chars": len(known.text), "max_depth": MAX_DEPTH}
    return question, FunctionModel(lambda _request: [known.text])


def _schema_of(value: Any, T: Any) -> Schema[Any]:
    if value is None or isinstance(value, type | str | bytes | int | float):
        name = value.__name__ if isinstance(value, type) else "City"
        raise ConfigError(
            "INVALID_OPTIONS",
            f"complete fills in what a value does not have yet: give it one, such as {name}.model_construct(…).",
        )
    if T is not None:
        return Schema.of(T)
    if isinstance(value, _CONTAINERS) and not hasattr(value, "_fields"):
        kind = type(value).__name__
        raise ConfigError(
            "INVALID_OPTIONS", f"complete cannot tell what a {kind} is to hold: give its type, complete(value, T)."
        )
    return Schema.of(cast("Any", type(value)))


def _refuse_invalid(known: KnownValue, schema: Schema[Any]) -> None:
    """Judge what is known before a model is asked for the rest, each part on its own, as a stream's are."""
    machine = AnswerMachine(schema, protocol=known.protocol, max_chars=len(known.text), max_depth=MAX_DEPTH)
    builder = machine.partial_builder()
    faults = builder.feed(machine.feed([BlockStart(0, "text"), TextDelta(0, known.text)]))
    for _, fault in faults:
        if known.is_given(fault.path):
            raise _not_valid(f"{path_text(fault.path) or 'the value'}: {fault.message}.")


def _not_valid(words: str) -> ConfigError:
    return ConfigError("INVALID_OPTIONS", f"What is known cannot be completed. {words}")
