"""LangFunc: a prompt with a type as an asynchronous function, or as a method.

In: a template (or a typed function, whose docstring is the prompt), a type and a model. Out: a value of the type, or
the events of it being written. Nothing is kept between calls.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Concatenate, Self, Unpack, cast, overload

from unspool.answer_stream import QueryStream
from unspool.errors import ConfigError, UnspoolError
from unspool.functions import query, query_stream, sample
from unspool.messages import Message
from unspool.model import LanguageModel
from unspool.options import messages_of
from unspool.query_options import CallOfFunction, FunctionOptions, TransformInput, check_function, for_every_answer
from unspool.signature import SpelledOut, spells_out
from unspool.templates import Template, messages_from
from unspool.typed_function import RECEIVERS, check_places, made_by, read_function, shown_values, signature_of_places

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from unspool.schema import Schema

_TEXT: Any = str


class _Shown(SpelledOut):
    """The signature of the class, or of one function."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        return instance._shown() if isinstance(instance, LangFunc) else super().__get__(instance, owner)  # pyright: ignore


class LangFunc[**P, R]:
    """A prompt as a function.

        @us.LangFunc
        async def capital(country: str) -> City:
            '''What is the capital of {{country}}?'''
            raise NotImplementedError

        city = await capital.using(lm=lm)("Peru")

    A call gives a validated value; `stream` gives the events of it being written.

    In the body of a class it is a method: its first parameter, `self` or `cls`, is the instance, and may have a place
    in the prompt (`{{self.style}}`) or none. `@staticmethod` and `@classmethod` stand above it. Of a class method
    Python makes something that can be called and no more, and type checkers do not follow.

    For `help`, `inspect` and `copy` it is the function that it was made of, and it is pickled by its name as well.
    """

    __signature__ = _Shown()

    @overload
    def __init__(
        self: LangFunc[..., str],
        prompt: str | Template,
        *,
        default: str = ...,
        transform: None = None,
        **options: Unpack[FunctionOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: LangFunc[..., str | None], prompt: str | Template, *, default: None, **options: Unpack[FunctionOptions]
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: Schema[S],
        *,
        default: S = ...,
        transform: None = None,
        **options: Unpack[FunctionOptions],
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: TypeForm[S],
        *,
        default: S = ...,
        transform: None = None,
        **options: Unpack[FunctionOptions],
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: Any = ...,
        *,
        default: S = ...,
        transform: Callable[[Any], Awaitable[S]],
        **options: Unpack[FunctionOptions],
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: Any = ...,
        *,
        default: S = ...,
        transform: Callable[[Any], S],
        **options: Unpack[FunctionOptions],
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
        **options: Unpack[CallOfFunction],
    ) -> None:
        """Make a function of a prompt.

        Args:
            prompt: a text with places (`{{name}}`), a t-string, a `Template`; or a typed function, whose docstring is
                the prompt, whose parameters are its places and whose return type is the type. Its body never runs.
            returns: what `Schema.of` takes; `str` gives the answer as it is.
            lm: the model to ask; may also be given later, by `using`.
            transform_input: what is done to the rendered messages before they are sent, plain or async. An async one is
                for calls: a stream is made, and `render` answers, without waiting.
            options: as in `query`; `transform` is what is done to the validated value. `max_repairs` and `default` are
                for calls and `with_message`: a stream shows one answer as it comes, and samples are as they came.
        Raises:
            ConfigError: INVALID_OPTIONS when a function has no docstring, no return type, a parameter that has no place
                in the prompt, or a place that is no parameter; or when there is no such option, or it cannot be so.
        """
        check_function(lm, transform_input, options)
        if prompt is None:
            raise ConfigError("INVALID_OPTIONS", "A LangFunc needs a prompt; with options: @us.LangFunc.of(lm=…).")
        if isinstance(prompt, staticmethod | classmethod):
            kind = type(cast("Any", prompt)).__name__
            raise ConfigError("INVALID_OPTIONS", f"@{kind} stands above @us.LangFunc, not below it.")
        self.__name__ = self.__qualname__ = "LangFunc"
        signature: inspect.Signature | None = None
        if inspect.isfunction(prompt):
            if returns is not _TEXT:
                raise ConfigError("INVALID_OPTIONS", "A typed function says itself what it returns: give no type.")
            functools.update_wrapper(self, prompt)
            prompt, returns, signature = read_function(prompt)
        elif isinstance(prompt, str | Template) or hasattr(prompt, "interpolations"):
            self.__doc__ = prompt if isinstance(prompt, str) else None
        else:
            hint = " The type comes second: LangFunc(prompt, T)." if isinstance(prompt, type) else ""
            raise ConfigError(
                "INVALID_OPTIONS", f"A LangFunc is made of a text, a t-string, a Template or a typed function.{hint}"
            )
        inspect.markcoroutinefunction(self)
        self._signature = signature
        self._is_method = signature is not None
        self._prompt = prompt if isinstance(prompt, Template) else Template(prompt)
        self._returns = returns
        self._lm = lm
        self._transform_input = transform_input
        self._options: dict[str, Any] = dict(options)
        if signature is not None:
            check_places(self.__name__, self._prompt, list(signature.parameters))

    @overload
    @staticmethod
    def of[**Q, S](
        *, transform: None = None, **options: Unpack[FunctionOptions]
    ) -> Callable[[Callable[Q, Awaitable[S]]], LangFunc[Q, S]]: ...
    @overload
    @staticmethod
    def of[**Q, S, D](
        *, default: D, transform: None = None, **options: Unpack[FunctionOptions]
    ) -> Callable[[Callable[Q, Awaitable[S]]], LangFunc[Q, S | D]]: ...
    @overload
    @staticmethod
    def of[**Q, S](
        *, default: S = ..., transform: Callable[[Any], Awaitable[S]], **options: Unpack[FunctionOptions]
    ) -> Callable[[Callable[Q, Awaitable[Any]]], LangFunc[Q, S]]: ...
    @overload
    @staticmethod
    def of[**Q, S](
        *, default: S = ..., transform: Callable[[Any], S], **options: Unpack[FunctionOptions]
    ) -> Callable[[Callable[Q, Awaitable[Any]]], LangFunc[Q, S]]: ...
    @staticmethod
    @spells_out
    def of[**Q](
        *functions: Callable[Q, Awaitable[Any]],
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[CallOfFunction],
    ) -> Callable[[Callable[Q, Awaitable[Any]]], LangFunc[Q, Any]]:
        """Give a decorator that makes a function of a typed function, with a model and options.

        Args:
            functions: none: it is `@us.LangFunc` that decorates without options.
            lm, transform_input, options: as in the constructor.
        Raises:
            ConfigError: INVALID_OPTIONS, also when the decorator is used, as in the constructor.
        """
        if functions:
            raise ConfigError("INVALID_OPTIONS", "Write @us.LangFunc or, with options, @us.LangFunc.of(lm=…).")
        check_function(lm, transform_input, options)

        def decorate(function: Callable[Q, Awaitable[Any]]) -> LangFunc[Q, Any]:
            if isinstance(function, str | Template):
                raise ConfigError(
                    "INVALID_OPTIONS", "LangFunc.of(…) decorates a typed function; of a text make LangFunc(text, T)."
                )
            made: Any = LangFunc(function)
            return cast("LangFunc[Q, Any]", made.using(lm=lm, transform_input=transform_input, **options))

        return decorate

    @property
    def variables(self) -> tuple[str, ...]:
        """Names that a call must fill in."""
        return self._prompt.variables

    def __set_name__(self, owner: type, name: str) -> None:
        if not self._is_method or self.__qualname__ != f"{owner.__qualname__}.{self.__name__}":
            return  # made elsewhere, such as the default of a field
        first = next(iter(self._signature.parameters), None) if self._signature else None
        if first is not None and first not in RECEIVERS:
            raise ConfigError(
                "INVALID_OPTIONS",
                f"The instance would be {first} of {owner.__name__}.{name}: call the first parameter of a method self, "
                "or put @staticmethod above @us.LangFunc.",
            )

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
        method = self._another()
        method._is_method = False
        method._signature = signature.replace(parameters=others)
        if first.name in self._prompt.variables:
            method._prompt = self._prompt.bind(**{first.name: instance})
        return method

    @overload
    def using(self, *, transform: None = None, **options: Unpack[FunctionOptions]) -> Self: ...
    @overload
    def using[D](
        self, *, default: D, transform: None = None, **options: Unpack[FunctionOptions]
    ) -> LangFunc[P, R | D]: ...
    @overload
    def using[S](
        self, *, default: S = ..., transform: Callable[[R], Awaitable[S]], **options: Unpack[FunctionOptions]
    ) -> LangFunc[P, S]: ...
    @overload
    def using[S](
        self, *, default: S = ..., transform: Callable[[R], S], **options: Unpack[FunctionOptions]
    ) -> LangFunc[P, S]: ...
    @spells_out
    def using(
        self,
        *,
        lm: LanguageModel | None = None,
        transform_input: TransformInput | None = None,
        **options: Unpack[CallOfFunction],
    ) -> LangFunc[P, Any]:
        """Give the same function with another model or other options; what is not named stays.

        Args:
            lm: the model to ask.
            transform_input, options: as in the constructor.
        Raises:
            ConfigError: INVALID_OPTIONS when there is no such option, or it cannot be so.
        """
        check_function(lm, transform_input, options)
        other = self._another()
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
        other = cast("LangFunc[..., R]", self._another())
        other._prompt = self._prompt.bind(**self._shown_values(values))
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
            return self._given(messages)
        for end in ("close", "cancel"):  # of a coroutine, of a task: nothing is left running
            if callable(stop := getattr(messages, end, None)):
                stop()
        raise ConfigError(
            "UNSUPPORTED",
            f"The transform_input of {self.__name__} is asynchronous: call it, instead of `stream` or `render`; or "
            "wait for what it looks up first, and stream query_stream's answer.",
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
        lm = self._model()
        messages = await self._sent(args, kwargs)
        result: R = await query(messages, self._returns, lm=lm, **self._options)
        return result

    async def with_message(self, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, Message]:
        """Ask the model and wait for the value and the message that it came in, with usage and reasoning.

        Args:
            args, kwargs: as in `render`.
        Raises, Cancellation: as a call.
        """
        lm = self._model()
        messages = await self._sent(args, kwargs)
        both: tuple[R, Message] = await query(messages, self._returns, lm=lm, returns_message=True, **self._options)
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
        lm = self._model()
        messages = await self._sent(args, kwargs)
        found: list[R | UnspoolError] = await sample(messages, self._returns, lm=lm, count=count, **self._asked())
        return found

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(self.variables)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        return self.__qualname__

    def _another(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def _rendered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Message] | Awaitable[list[Message]]:
        values = kwargs
        if self._signature is not None:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ConfigError("INVALID_OPTIONS", f"{self.__name__}: {error}.") from error
            bound.apply_defaults()
            places = self._prompt.variables
            values = self._shown_values({name: v for name, v in bound.arguments.items() if name in places})
        elif args:
            raise ConfigError(
                "INVALID_OPTIONS", f"{self.__name__} takes its values by name: {', '.join(self.variables)}."
            )
        messages: list[Message] = messages_from(self._prompt, **values)
        return messages if self._transform_input is None else self._transform_input(messages)

    def _shown_values(self, values: dict[str, Any]) -> dict[str, Any]:
        return values if self._signature is None else shown_values(cast("Any", self).__wrapped__, values)

    async def _sent(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Message]:
        messages = self._rendered(args, kwargs)
        return self._given(await messages if inspect.isawaitable(messages) else messages)

    def _given(self, messages: Any) -> list[Message]:
        try:
            return messages_of(messages)
        except ConfigError as error:
            raise ConfigError(
                "INVALID_OPTIONS", f"The transform_input of {self.__name__} must give messages. {error.message}"
            ) from error

    def _shown(self) -> inspect.Signature:
        signature = self._signature or signature_of_places(self.variables, self._returns)
        transform = self._options.get("transform")
        return signature if transform is None else signature.replace(return_annotation=made_by(transform))

    def _model(self) -> LanguageModel:
        if self._lm is None:
            raise ConfigError("INVALID_OPTIONS", f"{self.__name__} has no model: give it one by using(lm=…).")
        return self._lm

    def _asked(self) -> Any:
        return for_every_answer(self._options)
