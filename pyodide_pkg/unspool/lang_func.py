"""LangFunc: a prompt with a type as an asynchronous function, or as a method.

In: a template (or a typed function, whose docstring is the prompt), a type and a model. Out: a value of the type, or
the events of it being written. Nothing is kept between calls.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Self, Unpack, cast, get_type_hints, overload

from unspool.answer_stream import QueryStream
from unspool.errors import ConfigError, UnspoolError
from unspool.functions import QueryOptions, check_names, query, query_stream, sample
from unspool.messages import Message
from unspool.model import LanguageModel
from unspool.templates import Template, messages_from

TransformInput = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]
"""What is done to the rendered messages before they are sent."""

_TEXT: Any = str
_RECEIVERS = ("self", "cls")


class LangFunc[**P, R]:
    """A prompt as a function.

        @us.LangFunc
        async def capital(country: str) -> City:
            '''What is the capital of {{country}}?'''
            raise NotImplementedError

        city = await capital.using(lm=lm)("Peru")

    A call gives a validated value; `stream` gives the events of it being written.

    In the body of a class it is a method: its first parameter is the instance, and may have a place in the prompt
    (`{{self.style}}`) or none, if it is called `self` or `cls`. `@staticmethod` and `@classmethod` stand above it. Of a
    class method Python makes something that can be called and no more, and type checkers do not follow.
    """

    __slots__ = ("_is_method", "_lm", "_name", "_options", "_prompt", "_returns", "_signature", "_transform_input")

    @overload
    def __init__(
        self: LangFunc[..., str],
        prompt: str | Template,
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[QueryOptions],
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: type[S],
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[QueryOptions],
    ) -> None: ...
    @overload
    def __init__(self, prompt: Callable[P, Awaitable[R]]) -> None: ...
    @overload
    def __init__(self, prompt: Callable[P, R]) -> None: ...
    def __init__(
        self,
        prompt: Any = None,
        returns: Any = _TEXT,
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[QueryOptions],
    ) -> None:
        """Make a function of a prompt.

        Args:
            prompt: a text with places (`{{name}}`), a t-string, a `Template`; or a typed function, whose docstring is
                the prompt, whose parameters are its places and whose return type is the type. Its body never runs.
            returns: what `Schema.of` takes; `str` gives the answer as it is.
            lm: the model to ask; may also be given later, by `using`.
            transform_input: what is done to the rendered messages before they are sent, plain or async. An async one is
                for calls: a stream is made, and `render` answers, without waiting.
            options: as in `query_stream`; `transform` is what is done to the validated value.
        Raises:
            ConfigError: INVALID_OPTIONS when a function has no docstring, no return type, or a parameter that has no
                place in the prompt, or when there is no such option.
        """
        check_names(options)
        if prompt is None:
            raise ConfigError(
                "INVALID_OPTIONS", "A LangFunc needs a prompt; with options, decorate by @us.LangFunc.of(lm=…)."
            )
        if isinstance(prompt, staticmethod | classmethod):
            kind = type(cast("Any", prompt)).__name__
            raise ConfigError("INVALID_OPTIONS", f"@{kind} stands above @us.LangFunc, not below it.")
        self._name = "LangFunc"
        signature: inspect.Signature | None = None
        if inspect.isfunction(prompt):
            prompt, returns, signature = self._read(prompt)
        elif not isinstance(prompt, str | Template) and not hasattr(prompt, "interpolations"):
            hint = " The type comes second: LangFunc(prompt, T)." if isinstance(prompt, type) else ""
            raise ConfigError(
                "INVALID_OPTIONS", f"A LangFunc is made of a text, a t-string, a Template or a typed function.{hint}"
            )
        self._signature = signature
        self._is_method = signature is not None
        self._prompt = prompt if isinstance(prompt, Template) else Template(prompt)
        self._returns = returns
        self._lm = lm
        self._transform_input = transform_input
        self._options: dict[str, Any] = dict(options)
        if signature is not None:
            places = self._prompt.variables
            strays = [name for name in signature.parameters if name not in places]
            if strays and strays[0] in _RECEIVERS and strays[0] == next(iter(signature.parameters)):
                del strays[0]
            if strays:
                raise ConfigError(
                    "INVALID_OPTIONS", f"The prompt of {self._name} has no place for {', '.join(strays)}."
                )

    @staticmethod
    def of[**Q, S](
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[QueryOptions],
    ) -> Callable[[Callable[Q, Awaitable[S]]], LangFunc[Q, S]]:
        """Give a decorator that makes a function of a typed function, with a model and options.

        Args, Raises: as in the constructor.
        """

        def decorate(function: Callable[Q, Awaitable[S]]) -> LangFunc[Q, S]:
            if isinstance(function, str | Template):
                raise ConfigError(
                    "INVALID_OPTIONS", "LangFunc.of(…) decorates a typed function; of a text make LangFunc(text, T)."
                )
            return LangFunc(function).using(lm=lm, transform_input=transform_input, **options)

        return decorate

    @property
    def variables(self) -> tuple[str, ...]:
        """Names that a call must fill in."""
        return self._prompt.variables

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__[S, **Q](
        self: LangFunc[Concatenate[S, Q], R], instance: S, owner: type | None = None, /
    ) -> LangFunc[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        """Give the method of an instance: the same function with its first parameter filled in.

        A function that was made of a template, has been filled in so already, or takes nothing, is given as it is.
        """
        signature = self._signature
        if instance is None or signature is None or not (self._is_method and signature.parameters):
            return self
        first, *others = signature.parameters.values()
        method = self.using()
        method._is_method = False
        method._signature = signature.replace(parameters=others)
        if first.name in self._prompt.variables:
            method._prompt = self._prompt.bind(**{first.name: instance})
        return method

    def using(
        self,
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[QueryOptions],
    ) -> Self:
        """Give the same function with another model or other options; what is not named stays.

        Args:
            lm: the model to ask.
            transform_input, options: as in the constructor.
        Raises:
            ConfigError: INVALID_OPTIONS when there is no such option.
        """
        check_names(options)
        other = object.__new__(type(self))
        for name in LangFunc.__slots__:
            setattr(other, name, getattr(self, name))
        other._lm = lm or self._lm
        other._transform_input = transform_input or self._transform_input
        other._options = {**self._options, **options}
        return other

    def bind(self, /, **values: Any) -> LangFunc[..., R]:
        """Give the same function with these places filled in.

        Args:
            values: by the names of the places.
        Raises:
            ConfigError: INVALID_OPTIONS when a value belongs to no place.
        """
        other = cast("LangFunc[..., R]", self.using())
        other._prompt = self._prompt.bind(**values)
        if self._signature is not None:
            left = [p for name, p in self._signature.parameters.items() if name not in values]
            other._signature = self._signature.replace(parameters=left)
        return other

    def render(self, /, *args: P.args, **kwargs: P.kwargs) -> list[Message]:
        """Give the messages that a call would send, without the words on the form of the answer.

        Args:
            args, kwargs: values of the places, as a typed function takes them; of a prompt that is a text, by name.
        Raises:
            ConfigError: INVALID_OPTIONS when a value is missing or belongs to no place; UNSUPPORTED when
                `transform_input` is to be waited for.
        """
        messages = self._rendered(args, kwargs)
        if not inspect.isawaitable(messages):
            return messages
        if inspect.iscoroutine(messages):
            messages.close()
        raise ConfigError(
            "UNSUPPORTED",
            f"The transform_input of {self._name} is asynchronous: call it, instead of `stream` or `render`; or wait "
            "for what it looks up first, and stream query_stream's answer.",
        )

    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask the model and wait for the value.

        Args:
            args, kwargs: as in `render`.
        Raises:
            UnspoolError: any code, as `query` does.
        Cancellation:
            Aborts the request on the network.
        """
        messages = await self._sent(args, kwargs)
        result: R = await query(messages, self._returns, lm=self._model(), **self._asked())
        return result

    async def with_message(self, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, Message]:
        """Ask the model and wait for the value and the message that it came in, with usage and reasoning.

        Args:
            args, kwargs: as in `render`.
        Raises, Cancellation: as a call.
        """
        messages = await self._sent(args, kwargs)
        both: tuple[R, Message] = await query(
            messages, self._returns, lm=self._model(), returns_message=True, **self._asked()
        )
        return both

    def stream(self, /, *args: P.args, **kwargs: P.kwargs) -> QueryStream[R]:
        """Ask the model and watch the value being written. Nothing is sent before the first read.

        Args:
            args, kwargs: as in `render`.
        Raises:
            ConfigError: INVALID_OPTIONS or UNSUPPORTED.
        """
        stream: QueryStream[R] = query_stream(
            self.render(*args, **kwargs), self._returns, lm=self._model(), **self._asked()
        )
        return stream

    async def samples(self, count: int, /, *args: P.args, **kwargs: P.kwargs) -> list[R | UnspoolError]:
        """Ask the model several times and wait for all; as `sample`, with errors in their place.

        Args:
            count: how often, from 1 to 256.
            args, kwargs: as in `render`.
        Raises, Cancellation: as `sample`.
        Cancellation:
            Aborts every request.
        """
        messages = await self._sent(args, kwargs)
        found: list[R | UnspoolError] = await sample(
            messages, self._returns, lm=self._model(), count=count, **self._asked()
        )
        return found

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(self.variables)})"

    def _rendered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Message] | Awaitable[list[Message]]:
        values = kwargs
        if self._signature is not None:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ConfigError("INVALID_OPTIONS", f"{self._name}: {error}.") from error
            bound.apply_defaults()
            places = self._prompt.variables
            values = {name: value for name, value in bound.arguments.items() if name in places}
        elif args:
            raise ConfigError("INVALID_OPTIONS", f"{self._name} takes its values by name: {', '.join(self.variables)}.")
        messages: list[Message] = messages_from(self._prompt, **values)
        return messages if self._transform_input is None else self._transform_input(messages)

    async def _sent(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Message]:
        messages = self._rendered(args, kwargs)
        return await messages if inspect.isawaitable(messages) else messages

    def _read(self, function: Any) -> tuple[str, Any, inspect.Signature]:
        self._name = function.__name__
        text = inspect.getdoc(function)
        if not text:
            raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a docstring: it is the prompt.")
        signature = _signature_of(function)
        if signature.return_annotation is inspect.Signature.empty:
            raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a return type: it is what is asked for.")
        try:
            returns = _read_type(signature.return_annotation, function)
        except Exception as error:
            raise ConfigError(
                "INVALID_OPTIONS", f"The return type of {function.__name__} cannot be read: {error}."
            ) from error
        return text, returns, signature

    def _model(self) -> LanguageModel:
        if self._lm is None:
            raise ConfigError("INVALID_OPTIONS", f"{self._name} has no model: give it one by using(lm=…).")
        return self._lm

    def _asked(self) -> Any:
        return self._options


def _signature_of(function: Any) -> inspect.Signature:
    """Give the signature of a function; types of parameters may be there for type checkers alone."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def _read_type(annotation: Any, function: Any) -> Any:
    """Evaluate an annotation of a function, if it is a text or holds one."""

    def holder() -> None: ...

    holder.__annotations__ = {"return": annotation}
    return get_type_hints(holder, globalns=function.__globals__, include_extras=True)["return"]
