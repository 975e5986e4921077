"""The real `openai` SDK inside Pyodide: its requests go through the `fetch` of the realm."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.tools import sdk_stream

from unspool import integrations
from unspool.integrations.read import read_structured


async def read_streams(cases: str) -> str:
    """Read streams one after another, and tell what came of each; both as JSON. See `sdk_stream.run`."""
    told = [await asyncio.wait_for(sdk_stream.run(case), 60) for case in json.loads(cases)]
    return json.dumps(told, default=str)


async def watches_a_call_grow(url: str) -> None:
    """Partial values of a chat completion, while it streams."""
    shown: list[Any] = []
    events = await sdk_stream.openai_chat(url)
    async for update in read_structured(events, integration=integrations.openai_chat):
        shown.append((update.type, update.id, str(update.partial_value)))
    assert shown[:3] == [("start", "call_1", "None"), ("update", "call_1", "{'city': 'San'}"), shown[2]]
    assert shown[-1] == ("complete", "call_1", "{'city': 'San Francisco', 'days': 2}"), shown


async def leaves_early(url: str) -> None:
    """The SDK's stream is closed with the reader."""
    events = await sdk_stream.openai_responses(url)
    async with read_structured(events, integration=integrations.openai) as reader:
        async for update in reader:
            if update.partial_value:
                break
    assert events.response.is_closed


async def raises_what_the_sdk_raises(url: str) -> None:
    try:
        await sdk_stream.openai_chat(url)
    except Exception as error:
        assert (type(error).__module__, type(error).__name__) == ("openai", "NotFoundError")
    else:
        raise AssertionError("no error")
