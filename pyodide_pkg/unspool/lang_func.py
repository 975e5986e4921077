"""LangFunc: a prompt with a type as an asynchronous function.

In: a template (or a typed function, whose docstring is the prompt), a type and a model. Out: a value of the type, or
the events of it being written. Nothing is kept between calls.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Self, Unpack, cast, get_type_hints, overload

from unspool.answer_stream import QueryStream
from unspool.errors import ConfigError, UnspoolError
from unspool.functions import QueryOptions, query, query_stream, sample
from unspool.messages import Message
from unspool.model import LanguageModel
from unspool.templates import Template, messages_from

_TEXT: Any = str


class LangFunc[**P, R]:
    """A prompt as a function.

        @us.LangFunc
        async def capital(country: str) -> City:
            '''What is the capital of {{country}}?'''
            raise NotImplementedError

        city = await capital.using(lm=lm)("Peru")

    A call gives a validated value; `stream` gives the events of it being written.
    """

    __slots__ = ("_lm", "_name", "_options", "_prompt", "_returns", "_signature", "_transform_input")

    @overload
    def __init__(
        self: LangFunc[..., str],
        prompt: str | Template,
        *,
        lm: LanguageModel | None = None,
        **options: Unpack[QueryOptions],
    ) -> None: ...
    @overload
    def __init__[S](
        self: LangFunc[..., S],
        prompt: str | Template,
        returns: type[S],
        *,
        lm: LanguageModel | None = None,
        transform_input: Callable[[list[Message]], list[Message]] | None = None,
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
        transform_input: Callable[[list[Message]], list[Message]] | None = None,
        **options: Unpack[QueryOptions],
    ) -> None:
        """Make a function of a prompt.

        Args:
            prompt: a text with places (`{{name}}`), a t-string, a `Template`; or a typed function, whose docstring is
                the prompt, whose parameters are its places and whose return type is the type. Its body never runs.
            returns: what `Schema.of` takes; `str` gives the answer as it is.
            lm: the model to ask; may also be given later, by `using`.
            transform_input: what is done to the rendered messages before they are sent.
            options: as in `query_stream`; `transform` is what is done to the validated value.
        Raises:
            ConfigError: INVALID_OPTIONS when a function has no docstring, no return type, or a parameter that has no
                place in the prompt.
        """
        if prompt is None:
            raise ConfigError(
                "INVALID_OPTIONS", "A LangFunc needs a prompt; with options, decorate by @us.LangFunc.of(lm=…)."
            )
        self._name = "LangFunc"
        signature: inspect.Signature | None = None
        if inspect.isfunction(prompt):
            prompt, returns, signature = self._read(prompt)
        self._signature = signature
        self._prompt = prompt if isinstance(prompt, Template) else Template(prompt)
        self._returns = returns
        self._lm = lm
        self._transform_input = transform_input
        self._options: dict[str, Any] = dict(options)
        if signature is not None:
            places = self._prompt.variables
            strays = [name for name in signature.parameters if name not in places]
            if strays:
                raise ConfigError(
                    "INVALID_OPTIONS", f"The prompt of {self._name} has no place for {', '.join(strays)}."
                )

    @staticmethod
    def of[**Q, S](
        *, lm: LanguageModel | None = None, **options: Unpack[QueryOptions]
    ) -> Callable[[Callable[Q, Awaitable[S]]], LangFunc[Q, S]]:
        """Give a decorator that makes a function of a typed function, with a model and options.

        Args, Raises: as in the constructor.
        """

        def decorate(function: Callable[Q, Awaitable[S]]) -> LangFunc[Q, S]:
            return LangFunc(function).using(lm=lm, **options)

        return decorate

    @property
    def variables(self) -> tuple[str, ...]:
        """Names that a call must fill in."""
        return self._prompt.variables

    def using(self, *, lm: LanguageModel | None = None, **options: Unpack[QueryOptions]) -> Self:
        """Give the same function with another model or other options; what is not named stays."""
        other = object.__new__(type(self))
        for name in LangFunc.__slots__:
            setattr(other, name, getattr(self, name))
        other._lm = lm or self._lm
        other._options = {**self._options, **options}
        return other

    def bind(self, /, **values: Any) -> LangFunc[..., R]:
        """Give the same function with these places filled in.

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

        Raises:
            ConfigError: INVALID_OPTIONS when a value is missing or belongs to no place.
        """
        values: dict[str, Any] = dict(kwargs)
        if self._signature is not None:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ConfigError("INVALID_OPTIONS", f"{self._name}: {error}.") from error
            bound.apply_defaults()
            values = dict(bound.arguments)
        elif args:
            raise ConfigError("INVALID_OPTIONS", f"{self._name} takes its values by name: {', '.join(self.variables)}.")
        messages: list[Message] = messages_from(self._prompt, **values)
        return messages if self._transform_input is None else self._transform_input(messages)

    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask the model and wait for the value.

        Raises:
            UnspoolError: any code, as `query` does.
        Cancellation:
            Aborts the request on the network.
        """
        result: R = await query(self.render(*args, **kwargs), self._returns, lm=self._model(), **self._asked())
        return result

    async def with_message(self, /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, Message]:
        """Ask the model and wait for the value and the message that it came in, with usage and reasoning.

        Raises, Cancellation: as a call.
        """
        messages = self.render(*args, **kwargs)
        both: tuple[R, Message] = await query(
            messages, self._returns, lm=self._model(), returns_message=True, **self._asked()
        )
        return both

    def stream(self, /, *args: P.args, **kwargs: P.kwargs) -> QueryStream[R]:
        """Ask the model and watch the value being written. Nothing is sent before the first read.

        Raises:
            ConfigError: INVALID_OPTIONS or UNSUPPORTED.
        """
        stream: QueryStream[R] = query_stream(
            self.render(*args, **kwargs), self._returns, lm=self._model(), **self._asked()
        )
        return stream

    async def samples(self, count: int, /, *args: P.args, **kwargs: P.kwargs) -> list[R | UnspoolError]:
        """Ask the model several times and wait for all; as `sample`, with errors in their place."""
        found: list[R | UnspoolError] = await sample(
            self.render(*args, **kwargs), self._returns, lm=self._model(), count=count, **self._asked()
        )
        return found

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(self.variables)})"

    def _read(self, function: Any) -> tuple[str, Any, inspect.Signature]:
        self._name = function.__name__
        text = inspect.getdoc(function)
        if not text:
            raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a docstring: it is the prompt.")
        try:
            returns = get_type_hints(function, include_extras=True).get("return", inspect.Signature.empty)
        except Exception as error:
            raise ConfigError(
                "INVALID_OPTIONS", f"The types of {function.__name__} cannot be read: {error}."
            ) from error
        if returns is inspect.Signature.empty:
            raise ConfigError("INVALID_OPTIONS", f"{function.__name__} needs a return type: it is what is asked for.")
        return text, returns, inspect.signature(function)

    def _model(self) -> LanguageModel:
        if self._lm is None:
            raise ConfigError("INVALID_OPTIONS", f"{self._name} has no model: give it one by using(lm=…).")
        return self._lm

    def _asked(self) -> Any:
        return self._options
