"""What tests of the runtime share: routes with a scripted transport behind them, and how a call through them ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unspool.errors import UnspoolError
from unspool.messages import Image
from unspool.providers.openai_chat import OpenAIChatAdapter
from unspool.providers.route import Route
from unspool.stream.chunks import Chunk, Finish
from unspool.stream.order import check_order
from unspool.structured import strict_json
from unspool.testing import Reply, ScriptedTransport

ANSWER = (
    b'data: {"id":"r","model":"m-1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
PICTURE = Image(b"\x89PNG\r\n\x1a\n")


def route(provider: str = "p", *replies: Reply, **options: Any) -> Route:
    transport = options.pop("transport", None) or ScriptedTransport(list(replies))
    options.setdefault("base_url", "http://h/v1")
    return Route(provider, options.pop("adapter", None) or OpenAIChatAdapter(), transport=transport, **options)


def sent(transport: ScriptedTransport, at: int = 0) -> dict[str, Any]:
    value: dict[str, Any] = strict_json.loads(transport.requests[at].body)
    return value


def transport_of(described: Route) -> ScriptedTransport:
    assert isinstance(described.transport, ScriptedTransport)
    return described.transport


async def chunks_of(stream: Any) -> list[Chunk]:
    chunks = [chunk async for chunk in stream]
    check_order(chunks)
    return chunks


async def end_of(stream: Any) -> Finish:
    finish = (await chunks_of(stream))[-1]
    assert isinstance(finish, Finish)
    return finish


def code_of(act: Callable[[], Any]) -> str:
    with pytest.raises(UnspoolError) as caught:
        act()
    return caught.value.code
