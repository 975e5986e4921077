"""Route: how one provider is reached, and what is known of its models; RetryPolicy: when its calls may be repeated.

Plain, immutable data: no IO, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack, cast

from unspool.contracts import Adapter, ApiKey, ModelFacts, Transport
from unspool.errors import ConfigError, shown_url
from unspool.immutable import Immutable
from unspool.messages import ImagePolicy, ImagePricing
from unspool.options import CallOptions, check_count, check_options
from unspool.transport import DEFAULT_IDLE_TIMEOUT_S, DEFAULT_TIMEOUT_S

RetryMode = Literal["normal", "always"]


class RetryPolicy(Immutable):
    """When a failed call of a route may be repeated. A route only carries it: whoever runs calls obeys it."""

    __slots__ = ("initial_delay_s", "max_attempts", "max_delay_s", "mode")
    mode: RetryMode
    """"normal": failures that say they are retryable; "always": every failure but one of the caller's own making."""
    max_attempts: int
    """Attempts in all, the first included."""
    initial_delay_s: float
    """Wait before the second attempt, where the provider asks for none; it doubles from attempt to attempt."""
    max_delay_s: float
    """Longest wait, also when the provider asks for more."""

    def __init__(
        self,
        mode: RetryMode = "normal",
        *,
        max_attempts: int = 1,
        initial_delay_s: float = 1.0,
        max_delay_s: float = 60.0,
    ) -> None:
        """Set the policy.

        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        if mode not in ("normal", "always"):
            raise ConfigError("INVALID_OPTIONS", "The mode of a retry policy must be normal or always.")
        check_count("max_attempts", max_attempts)
        for name, value in (("initial_delay_s", initial_delay_s), ("max_delay_s", max_delay_s)):
            if (
                not isinstance(cast(Any, value), int | float)
                or isinstance(value, bool)
                or not 0 <= value < float("inf")
            ):
                raise ConfigError("INVALID_OPTIONS", f"{name} must be a number of seconds, 0 or more.")
        _freeze(self, mode=mode, max_attempts=max_attempts, initial_delay_s=initial_delay_s, max_delay_s=max_delay_s)

    def __repr__(self) -> str:
        return f"RetryPolicy({self.mode!r}, max_attempts={self.max_attempts})"


class Route(Immutable):
    """One provider: its name in this application, the adapter that speaks to it, its address and key."""

    __slots__ = (
        "adapter",
        "api_key",
        "base_url",
        "defaults",
        "idle_timeout_s",
        "image_policy",
        "image_pricing",
        "models",
        "provider",
        "retry",
        "timeout_s",
        "transport",
    )
    provider: str
    adapter: Adapter
    base_url: str
    api_key: ApiKey
    transport: Transport | None
    timeout_s: float | None
    idle_timeout_s: float | None
    models: tuple[ModelFacts, ...]
    """What the application says of models; it wins over what the endpoint and the adapter say."""
    image_policy: ImagePolicy | None
    image_pricing: Callable[[str], ImagePricing | None] | None
    retry: RetryPolicy
    defaults: CallOptions

    def __init__(
        self,
        provider: str,
        adapter: Adapter,
        *,
        base_url: str | None = None,
        api_key: ApiKey = None,
        transport: Transport | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        idle_timeout_s: float | None = DEFAULT_IDLE_TIMEOUT_S,
        models: Sequence[str | ModelFacts] = (),
        image_policy: ImagePolicy | None = None,
        image_pricing: Callable[[str], ImagePricing | None] | None = None,
        retry: RetryPolicy | None = None,
        **defaults: Unpack[CallOptions],
    ) -> None:
        """Describe a provider; nothing is sent.

        Args:
            provider: a name of your own for it.
            adapter: knows its wire.
            base_url: its address; the adapter's own when left out.
            api_key, transport, timeout_s, idle_timeout_s: see `HttpOptions`.
            models: models that it has, by name or with what is known of them.
            image_policy: which images are left out of a request that has too many.
            image_pricing: gives for a model what an image costs on it, in tokens; None where that is not known.
            retry: when calls may be repeated. Default: never.
            defaults: see `CallOptions`; they hold where a call says nothing. An output limit among them is lowered to
                what the model can give.
        Raises:
            ConfigError: INVALID_OPTIONS.
        """
        if not isinstance(cast(Any, provider), str) or not provider:
            raise ConfigError("INVALID_OPTIONS", "A provider must be named by a text that is not empty.")
        if not callable(getattr(adapter, "build", None)):
            raise ConfigError("INVALID_OPTIONS", "A route needs an adapter.")
        check_options(defaults)
        is_list = isinstance(cast(Any, models), Sequence) and not isinstance(models, str)
        if not is_list or not all(isinstance(one, str | ModelFacts) for one in cast(Any, models)):
            raise ConfigError("INVALID_OPTIONS", "models must be a sequence of names or ModelFacts.")
        if image_pricing is not None and not callable(image_pricing):
            raise ConfigError("INVALID_OPTIONS", "image_pricing must be a function of the name of a model.")
        if not isinstance(cast(Any, retry), RetryPolicy | None):
            raise ConfigError("INVALID_OPTIONS", "retry must be a RetryPolicy.")
        _freeze(
            self,
            provider=provider,
            adapter=adapter,
            base_url=adapter.base_url if base_url is None else base_url,
            api_key=api_key,
            transport=transport,
            timeout_s=timeout_s,
            idle_timeout_s=idle_timeout_s,
            models=tuple(ModelFacts(one) if isinstance(one, str) else one for one in models),
            image_policy=image_policy,
            image_pricing=image_pricing,
            retry=retry or RetryPolicy(),
            defaults=defaults,
        )

    def replaced(self, **changes: Any) -> Route:
        """Give a route that differs in what is named: arguments of `Route`, options of calls among them.

        Args:
            changes: what differs.
        Raises:
            ConfigError: INVALID_OPTIONS, also for a name that is none of these, and for `provider`.
        """
        if "provider" in changes:
            raise ConfigError("INVALID_OPTIONS", "A provider keeps its name; register another one.")
        members: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__ if name != "defaults"}
        # A new adapter brings its own address along.
        if "adapter" in changes and self.base_url == self.adapter.base_url:
            members["base_url"] = None
        members.update(self.defaults)
        try:
            return Route(**(members | changes))
        except TypeError as error:
            raise ConfigError("INVALID_OPTIONS", f"A route cannot be changed like this: {error}.") from error

    def __repr__(self) -> str:
        return f"Route({self.provider!r}, adapter={self.adapter.name!r}, base_url={shown_url(self.base_url)!r})"


def _freeze(target: object, **members: object) -> None:
    for name, value in members.items():
        object.__setattr__(target, name, value)
