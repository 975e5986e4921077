"""What a call asks for, held against what its model can do, before anything is sent. Pure.

What is not known is not refused: the provider decides.
"""

from __future__ import annotations

from unspool.contracts import ModelFacts, Request
from unspool.errors import ConfigError
from unspool.options import check_tool_choice


def settled(request: Request, facts: ModelFacts, *, stated_output: bool) -> Request:
    """Check a request and fill in what the model's facts say where it says nothing.

    Args:
        request: of this model.
        facts: what is known of the model.
        stated_output: whether the call itself gave the output limit. One that a route gives for all its models is
            lowered to what this model can give.
    Raises:
        ConfigError: INVALID_OPTIONS for a reasoning effort that the model does not have, an output limit above what
            it can give, a choice of a tool that is not there.
    """
    check_tool_choice(request)
    effort, efforts = request.reasoning_effort, facts.reasoning_efforts
    if effort is not None and efforts is not None and effort not in efforts:
        known = f"it has {', '.join(efforts)}" if efforts else "it has none"
        raise ConfigError(
            "INVALID_OPTIONS", f"The model {facts.id} does not have the reasoning effort {effort!r}; {known}."
        )
    limit, most = request.max_output_tokens, _most(facts)
    if limit is None:
        limit = facts.default_output_tokens
    elif most is not None and limit > most and stated_output:
        raise ConfigError("INVALID_OPTIONS", f"The model {facts.id} gives at most {most} tokens, not {limit}.")
    if limit is not None and most is not None:
        limit = min(limit, most)
    return request if limit == request.max_output_tokens else request.replaced(max_output_tokens=limit)


def _most(facts: ModelFacts) -> int | None:
    known = [tokens for tokens in (facts.max_output_tokens, facts.context_window) if tokens is not None]
    return min(known, default=None)
