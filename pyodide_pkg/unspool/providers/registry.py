"""ProviderRegistry: which providers there are, and which adapter serves each of them at this moment. No IO.

Every change is whole or not at all: a refused one leaves the state before it serving.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unspool.contracts import ModelFacts
from unspool.errors import ConfigError
from unspool.providers.route import Route


class Generation:
    """A route as it serves, until it is edited. Calls that were prepared on it keep it."""

    __slots__ = ("discovered", "number", "route")

    def __init__(self, route: Route, number: int) -> None:
        self.route = route
        self.number = number
        """Counts up over the whole registry: the later one is the newer one."""
        self.discovered: dict[str, ModelFacts] | None = None
        """The models that the endpoint listed; None before it was asked."""

    def facts(self, model: str) -> ModelFacts:
        """Say what is known of a model: by the application, else by the endpoint, else by the adapter.

        Raises:
            ConfigError: INVALID_OPTIONS when it is no name.
        """
        _check_name("model", model)
        told = next((facts for facts in self.route.models if facts.id == model), None)
        listed = (self.discovered or {}).get(model)
        return merged_facts(model, (told, listed, self.route.adapter.facts(model)))

    def models(self) -> list[ModelFacts]:
        """Give the models that the application and the endpoint name, in that order."""
        names: list[str] = [facts.id for facts in self.route.models] + list(self.discovered or ())
        return [self.facts(name) for name in dict.fromkeys(names)]


class ConfigurableProvider:
    """A provider that is known but sends nothing before it is configured."""

    __slots__ = ("active", "provider", "route")

    def __init__(self, provider: str, route: Route, active: bool) -> None:
        """Made by `Runtime`."""
        self.provider = provider
        self.route = route
        """As it serves, or as it was declared."""
        self.active = active
        """Whether it serves."""

    def __repr__(self) -> str:
        return f"ConfigurableProvider({self.provider!r}, active={self.active})"


class Registration:
    """What `register` and `declare` give: the way to undo them."""

    __slots__ = ("_providers", "_registry")

    def __init__(self, registry: ProviderRegistry, providers: Sequence[str]) -> None:
        """Made by `Runtime`."""
        self._registry: ProviderRegistry | None = registry
        self._providers = tuple(providers)

    def dispose(self) -> None:
        """Take the providers away. Idempotent; calls that were prepared go on."""
        registry, self._registry = self._registry, None
        if registry is not None:
            registry.remove(self._providers)


class ProviderRegistry:
    """The routes of one runtime."""

    def __init__(self) -> None:
        self._active: dict[str, Generation] = {}
        self._declared: dict[str, Route] = {}
        self._owned: set[str] = set()
        self._number = 0

    def register(self, routes: Sequence[Route]) -> Registration:
        """Let routes serve at once.

        Raises:
            ConfigError: DUPLICATE_ADAPTER when one of the names is taken, or given twice.
        """
        self._check(routes)
        for route in routes:
            self._activate(route)
        return self._registration(routes)

    def declare(self, routes: Sequence[Route]) -> Registration:
        """Make routes known that serve once they are configured.

        Raises:
            ConfigError: DUPLICATE_ADAPTER when one of the names is taken, or given twice.
        """
        self._check(routes)
        self._declared.update((route.provider, route) for route in routes)
        return self._registration(routes)

    def edited(self, provider: str, changes: dict[str, Any]) -> Route:
        """Give what a provider's route would be; nothing is changed.

        Raises:
            ConfigError: NO_ADAPTER when there is no such provider; INVALID_OPTIONS.
        """
        _check_name("provider", provider)
        serving = self._active.get(provider)
        route = serving.route if serving is not None else self._declared.get(provider)
        if route is None:
            raise self._unknown(provider)
        return route.replaced(**changes) if changes else route

    def activate(self, route: Route) -> None:
        """Let a known provider serve by this route: a new generation, in the place of the one before."""
        self._activate(route)

    def deactivate(self, provider: str) -> None:
        """Let a declared provider rest; its settings are forgotten. Idempotent.

        Raises:
            ConfigError: NO_ADAPTER when no such provider was declared; INVALID_OPTIONS when it is no name.
        """
        _check_name("provider", provider)
        if provider not in self._declared:
            raise self._unknown(provider)
        self._active.pop(provider, None)

    def serving(self, provider: str) -> Generation:
        """Give the generation that serves a provider now.

        Raises:
            ConfigError: NO_ADAPTER when none does; INVALID_OPTIONS when it is no name.
        """
        _check_name("provider", provider)
        generation = self._active.get(provider)
        if generation is None:
            raise self._unknown(provider)
        return generation

    def providers(self) -> list[str]:
        """Name those that serve, in the order in which they began to."""
        return list(self._active)

    def configurable(self) -> list[ConfigurableProvider]:
        """Give those that were declared, in that order."""
        found: list[ConfigurableProvider] = []
        for provider, route in self._declared.items():
            serving = self._active.get(provider)
            found.append(ConfigurableProvider(provider, serving.route if serving else route, serving is not None))
        return found

    def remove(self, providers: Iterable[str]) -> None:
        """Take providers away, active or not."""
        for provider in providers:
            self._active.pop(provider, None)
            self._declared.pop(provider, None)
            self._owned.discard(provider)

    def _activate(self, route: Route) -> None:
        self._number += 1
        self._active[route.provider] = Generation(route, self._number)

    def _registration(self, routes: Sequence[Route]) -> Registration:
        names = [route.provider for route in routes]
        self._owned.update(names)
        return Registration(self, names)

    def _check(self, routes: Sequence[Route]) -> None:
        taken = set(self._owned)
        for route in routes:
            if route.provider in taken:
                raise ConfigError("DUPLICATE_ADAPTER", f"There is already a provider {route.provider!r}.")
            taken.add(route.provider)

    def _unknown(self, provider: str) -> ConfigError:
        known = ", ".join(self._active) or "none"
        why = "is not active" if provider in self._declared else "is not registered"
        return ConfigError("NO_ADAPTER", f"The provider {provider!r} {why}; active: {known}.")


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str):
        raise ConfigError("INVALID_OPTIONS", f"The name of a {what} must be a text.")


def merged_facts(model: str, known: Iterable[ModelFacts | None]) -> ModelFacts:
    """Join what several say of a model; for each fact the first who knows it is believed."""
    sources = [facts for facts in known if facts is not None]
    members: dict[str, Any] = {
        name: next((value for facts in sources if (value := getattr(facts, name)) is not None), None)
        for name in ModelFacts.__slots__
    }
    members["id"] = model
    return ModelFacts(**members)
