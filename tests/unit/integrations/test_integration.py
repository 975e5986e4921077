"""Integrations by name."""

from __future__ import annotations

import pytest

import unspool as us
from unspool import integrations
from unspool.errors import StreamError
from unspool.integrations.integration import Integration

NAMES = [name for name in integrations.__all__ if name != "Integration"]


@pytest.mark.parametrize("name", NAMES)
def test_every_integration_makes_sessions_of_its_own(name: str) -> None:
    """S78, S87: without an SDK; options are the pool's."""
    integration = getattr(us.integrations, name)
    assert isinstance(integration, Integration)
    assert integration.name in repr(integration)
    one, other = integration(max_bytes=5, on_diagnostic=print), integration()
    assert one.pool is not other.pool
    assert one.push_all({"type": "something else"}) == []
    with pytest.raises(StreamError, match="INVALID_OPTIONS"):
        integration(max_depth=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_one_in_errors(name: str) -> None:
    """S85."""
    integration = getattr(us.integrations, name)
    session = integration()
    session.close()
    with pytest.raises(StreamError, match="STREAM_DISPOSED") as caught:
        session.finish()
    assert caught.value.adapter == integration.name
