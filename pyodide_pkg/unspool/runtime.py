"""Runtime: one place that knows an application's providers, and through which every call of a model goes.

In: routes, and calls by provider and model. Out: streams with exactly one terminal chunk. A call is checked against
what is known of its model before anything is sent, frozen, and bound to the adapter that serves its provider at that
moment. The runtime repeats nothing: a route's retry policy is only kept with the call.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Sequence
from typing import Any, Unpack, cast

from unspool.contracts import ModelFacts, ProviderDecoder, Request, Response, Signal
from unspool.discovery import ModelList
from unspool.dispatch import DispatchedModel
from unspool.errors import ConfigError, UnspoolError
from unspool.http_model import HttpModel
from unspool.messages import ImagePricing
from unspool.model import ChunkStream, LanguageModel
from unspool.options import CallOptions, Prompt, build_request, merged_options
from unspool.providers.call_config import settled
from unspool.providers.registry import (
    ConfigurableProvider,
    Generation,
    ProviderRegistry,
    Registration,
    merged_facts,
)
from unspool.providers.route import RetryPolicy, Route
from unspool.stream.chunks import Chunk

__all__ = ["ConfigurableProvider", "Middleware", "PreparedCall", "Registration", "RetryPolicy", "Route", "Runtime"]


def __dir__() -> list[str]:
    return sorted(__all__)


class PreparedCall:
    """One call, checked and frozen, bound to the adapter that served its provider when it was prepared. Good once."""

    __slots__ = ("_dispatched", "_facts", "_generation", "_middleware", "_model", "_request")

    def __init__(
        self,
        generation: Generation,
        facts: ModelFacts,
        model: HttpModel,
        request: Request,
        middleware: Sequence[Middleware],
    ) -> None:
        """Made by `Runtime.prepare`."""
        self._generation = generation
        self._facts = facts
        self._model = model
        self._request = request
        self._middleware = middleware
        self._dispatched = False

    @property
    def provider(self) -> str:
        """The runtime's name of the provider."""
        return self._generation.route.provider

    @property
    def generation(self) -> int:
        """Number of the adapter generation that the call is bound to; a later one is newer."""
        return self._generation.number

    @property
    def request(self) -> Request:
        """What will be asked: defaults filled in, files and images in the form that the model takes."""
        return self._request

    @property
    def facts(self) -> ModelFacts:
        """What is known of the model."""
        return self._facts

    @property
    def retry(self) -> RetryPolicy:
        """When the call may be repeated, by its route."""
        return self._generation.route.retry

    def stream(self, *, signal: Signal | Any = None) -> ChunkStream:
        """Send the call when it is first read.

        Args:
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the call.
        Raises:
            ConfigError: INVALID_OPTIONS the second time.
        """
        if self._dispatched:
            raise ConfigError("INVALID_OPTIONS", "A prepared call can be sent once; prepare another one.")
        self._dispatched = True
        if not self._middleware:
            return ChunkStream(self._model, self._request, signal)
        return ChunkStream(DispatchedModel(self._model, self._wrapped), self._request, signal)

    def _wrapped(self, proceed: Callable[[], ChunkStream]) -> AsyncIterable[Chunk]:
        """Put the middleware around the call, the first outermost."""
        inner: Callable[[], AsyncIterable[Chunk]] = proceed
        for middleware in reversed(self._middleware):
            inner = _Step(middleware, self, inner)
        return inner()

    def __repr__(self) -> str:
        return f"PreparedCall({self.provider!r}, {self._model.model!r})"


Middleware = Callable[[PreparedCall, Callable[[], AsyncIterable[Chunk]]], AsyncIterable[Chunk]]
"""Stands around every call: it is given the call, and a function that sends it and gives its chunks. It gives back
these chunks, or an asynchronous iterable of its own around them. The request it can read, not change."""


class _Step:
    __slots__ = ("_call", "_inner", "_middleware")

    def __init__(self, middleware: Middleware, call: PreparedCall, inner: Callable[[], AsyncIterable[Chunk]]) -> None:
        self._middleware = middleware
        self._call = call
        self._inner = inner

    def __call__(self) -> AsyncIterable[Chunk]:
        return self._middleware(self._call, self._inner)


class Runtime:
    """Providers by name, their models, and calls of them.

    Routes are registered by the application. Declared ones (a settings page offers them) serve once `configure` has
    given them what they lack, and can be edited at any time: calls under way keep the adapter they began with.
    """

    def __init__(self, *routes: Route, middleware: Sequence[Middleware] = ()) -> None:
        """Make a runtime; nothing is sent.

        Args:
            routes: as for `register`.
            middleware: stands around every call, the first outermost.
        Raises:
            ConfigError: DUPLICATE_ADAPTER, INVALID_OPTIONS.
        """
        if not isinstance(cast(Any, middleware), Sequence) or not all(map(callable, middleware)):
            raise ConfigError("INVALID_OPTIONS", "middleware must be a sequence of functions.")
        self._registry = ProviderRegistry()
        self._middleware = tuple(middleware)
        self.register(*routes)

    def register(self, *routes: Route) -> Registration:
        """Let providers serve. All of them or, at an error, none.

        Args:
            routes: one for each provider.
        Returns:
            A handle whose `dispose` takes them away again.
        Raises:
            ConfigError: DUPLICATE_ADAPTER when a name is taken; INVALID_OPTIONS.
        """
        for route in _checked(routes):
            _model_of(route)
        return self._registry.register(routes)

    def declare(self, *routes: Route) -> Registration:
        """Make providers known that serve once they are configured; they may lack address and key. All or none.

        Args:
            routes: one for each provider.
        Raises:
            ConfigError: DUPLICATE_ADAPTER when a name is taken; INVALID_OPTIONS.
        """
        return self._registry.declare(_checked(routes))

    def configure(self, provider: str, **changes: Any) -> None:
        """Activate a declared provider, or edit one that serves: a new generation of it, for the calls from now on.

        Args:
            provider: its name.
            changes: arguments of `Route`, such as `base_url`, `api_key`, `models`, and options of calls.
        Raises:
            ConfigError: NO_ADAPTER when there is no such provider; INVALID_OPTIONS. Nothing was changed then.
        """
        route = self._registry.edited(provider, changes)
        _model_of(route)
        self._registry.activate(route)

    def deactivate(self, provider: str) -> None:
        """Let a declared provider rest, as it was declared. Idempotent; calls under way go on.

        Args:
            provider: its name.
        Raises:
            ConfigError: NO_ADAPTER when no such provider was declared.
        """
        self._registry.deactivate(provider)

    def list_providers(self) -> list[str]:
        """Name the providers that serve, in the order in which they were registered or activated."""
        return self._registry.providers()

    def list_configurable(self) -> list[ConfigurableProvider]:
        """Give the declared providers, active or not, in the order of their declaration."""
        return self._registry.configurable()

    async def list_models(self, provider: str, *, refresh: bool = False, signal: Any = None) -> list[ModelFacts]:
        """Give the models of a provider: those of its route, then those that its endpoint lists.

        Args:
            provider: its name.
            refresh: ask the endpoint again; it is asked once for each generation of the provider.
            signal: stops the request.
        Raises:
            UnspoolError: NO_ADAPTER, or any code of a call; what the route names is known by `resolve_model` anyway.
        Cancellation:
            Aborts the request on the network.
        """
        generation = self._registry.serving(provider)
        if generation.discovered is None or refresh:
            found = await _listed(generation.route, signal)
            generation.discovered = {facts.id: facts for facts in found}
        return generation.models()

    async def discover(self, provider: str, *, signal: Any = None, **changes: Any) -> list[ModelFacts]:
        """Ask an endpoint which models it serves, before a provider is configured with it. Nothing is kept.

        Args:
            provider: a registered or declared provider, active or not.
            signal: stops the request.
            changes: as for `configure`: such as the address and the key that a user has just typed.
        Returns:
            What the endpoint says, completed by what the adapter knows.
        Raises:
            UnspoolError: NO_ADAPTER, or any code of a call; PROTOCOL when the address answers with something else.
        Cancellation:
            Aborts the request on the network.
        """
        return await _listed(self._registry.edited(provider, changes), signal)

    def resolve_model(self, provider: str, model: str) -> ModelFacts:
        """Say what is known of a model: by the route, else by the endpoint if it was asked, else by the adapter.

        Args:
            provider, model: by name.
        Raises:
            ConfigError: NO_ADAPTER.
        """
        return self._registry.serving(provider).facts(model)

    def image_pricing(self, provider: str, model: str) -> ImagePricing | None:
        """Give the function that tells what an image costs on a model, in tokens; None where that is not known.

        Args:
            provider, model: by name.
        Raises:
            ConfigError: NO_ADAPTER.
        """
        pricing = self._registry.serving(provider).route.image_pricing
        return None if pricing is None else pricing(model)

    def prepare(self, provider: str, model: str, prompt: Prompt, **options: Unpack[CallOptions]) -> PreparedCall:
        """Check a call and bind it to the adapter that serves the provider now. Nothing is sent.

        Args:
            provider, model: by name.
            prompt: text of the user, one message, or a conversation.
            options: see `CallOptions`; they win over the route's.
        Raises:
            ConfigError: NO_ADAPTER; INVALID_OPTIONS for an option that makes no sense, or that the model does not take.
        """
        generation = self._registry.serving(provider)
        route = generation.route
        facts = generation.facts(model)
        request = build_request(model, prompt, route.defaults, options)
        request = settled(request, facts, stated_output=options.get("max_output_tokens") is not None)
        request = request.projected(image_input=facts.image_input, image_policy=route.image_policy)
        return PreparedCall(generation, facts, _model_of(route, facts), request, self._middleware)

    def stream(
        self,
        provider: str,
        model: str,
        prompt: Prompt,
        *,
        signal: Signal | Any = None,
        **options: Unpack[CallOptions],
    ) -> ChunkStream:
        """Prepare a call and stream it. Never raises for what `prepare` refuses: that, too, is told by `Finish`.

        Args:
            provider, model, prompt, options: as in `prepare`.
            signal: an `asyncio.Event` or a JavaScript AbortSignal that stops the call.
        """
        try:
            call = self.prepare(provider, model, prompt, **options)
        except UnspoolError as error:
            error.__traceback__ = None  # its frames hold the conversation
            return ChunkStream(_Refused(error), Request(str(model), ()), signal)
        return call.stream(signal=signal)

    def model(self, provider: str, model: str, **defaults: Unpack[CallOptions]) -> LanguageModel:
        """Give a model for `query` and its like whose every call goes through this runtime.

        Args:
            provider, model: by name; they need not be there yet.
            defaults: see `CallOptions`; they hold where a call says nothing.
        Raises:
            ConfigError: INVALID_OPTIONS. A provider that is not there is told by the calls.
        """
        return _RuntimeModel(self, provider, model, defaults)


class _RuntimeModel(LanguageModel):
    def __init__(self, runtime: Runtime, provider: str, model: str, defaults: CallOptions) -> None:
        super().__init__(model, **defaults)
        self._runtime = runtime
        self._provider = provider

    def stream(self, prompt: Prompt, *, signal: Signal | Any = None, **options: Unpack[CallOptions]) -> ChunkStream:
        merged = merged_options(self._defaults, options)
        return self._runtime.stream(self._provider, self.model, prompt, signal=signal, **merged)

    async def _open(self, request: Request, credential: str | None) -> Response:
        raise AssertionError("every call goes through `stream`")

    def _decoder(self, request: Request) -> ProviderDecoder:
        raise AssertionError("every call goes through `stream`")


class _Refused(LanguageModel):
    """A call that ends before it begins."""

    def __init__(self, error: UnspoolError) -> None:
        super().__init__("refused")
        self._error = error

    async def _open(self, request: Request, credential: str | None) -> Response:
        raise self._error

    def _decoder(self, request: Request) -> ProviderDecoder:
        raise self._error


def _checked(routes: tuple[Route, ...]) -> tuple[Route, ...]:
    for route in routes:
        if not isinstance(cast(Any, route), Route):
            raise ConfigError(
                "INVALID_OPTIONS",
                "A runtime takes routes, one after the other: us.Runtime(us.Route(name, adapter, …), us.Route(…)); not "
                f"{type(route).__name__}.",
            )
    return routes


def _model_of(route: Route, facts: ModelFacts | None = None, kind: type[HttpModel] = HttpModel) -> HttpModel:
    return kind(
        facts.id if facts else "any",
        adapter=route.adapter,
        api_key=route.api_key,
        base_url=route.base_url,
        transport=route.transport,
        timeout_s=route.timeout_s,
        idle_timeout_s=route.idle_timeout_s,
        image_input=facts.image_input if facts else None,
        image_policy=route.image_policy,
    )


async def _listed(route: Route, signal: Any) -> list[ModelFacts]:
    asked = _model_of(route, kind=ModelList)
    assert isinstance(asked, ModelList)
    found = await asked.fetch(signal=signal)
    return [merged_facts(facts.id, (facts, route.adapter.facts(facts.id))) for facts in found]
