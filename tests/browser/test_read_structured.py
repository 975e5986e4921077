"""Tool calls out of events on the page, the same with Python in a worker and with Python in the page.

S numbers: ../shared/reference.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Page
from tests.browser.client import Client

TEXT = json.dumps({"city": "Zürich 👩‍🚀", "days": [1, 2.5, {"sun": None}]}, ensure_ascii=False)
VALUE = json.loads(TEXT)
OPENAI = {"integration": "openai"}


def events_of(*calls: tuple[str, str], chars: int = 5) -> list[dict[str, Any]]:
    """The events of OpenAI's Responses for calls, interleaved."""
    started = [{"type": "response.output_item.added", "item": {"type": "function_call", "id": id}} for id, _ in calls]
    cut = [(at, id, text[at : at + chars]) for id, text in calls for at in range(0, len(text), chars)]
    pieces = [
        {"type": "response.function_call_arguments.delta", "item_id": id, "delta": piece}
        for _, id, piece in sorted(cut, key=lambda piece: piece[0])
    ]
    ended = [{"type": "response.function_call_arguments.done", "item_id": id, "arguments": text} for id, text in calls]
    return [*started, *pieces, *ended]


@pytest.mark.parametrize("snapshots", ["live", "immutable"])
async def test_values_grow_on_the_page(connected: Client, snapshots: str) -> None:
    events = events_of(("a", TEXT), ("b", "[[],[0]]"))
    told = await connected.call("readCalls", events, {**OPENAI, "limits": {"snapshots": snapshots}})
    assert "threw" not in told, told
    completed = {update["id"]: update for update in told["updates"] if update["type"] == "complete"}
    assert {id: update["value"] for id, update in completed.items()} == {"a": VALUE, "b": [[], [0]]}
    assert {id: update["partialValue"] for id, update in completed.items()} == {"a": VALUE, "b": [[], [0]]}
    cities = [
        update["partialValue"]["city"]
        for update in told["updates"]
        if update["id"] == "a" and "city" in (update.get("partialValue") or {})
    ]
    assert all(later.startswith(earlier) for earlier, later in pairwise(cities))
    assert len(set(cities)) > 2
    assert (told["pulled"], told["locked"]) == (len(events), False)


async def test_one_event_at_a_time_and_leaving_early(connected: Client) -> None:
    """S92, S95."""
    told = await connected.call("readCalls", events_of(("a", TEXT)), OPENAI, {"leaveAfter": 3})
    assert "threw" not in told, told
    assert (len(told["updates"]), told["pulled"], told["cancelled"], told["locked"]) == (3, 3, True, False)


async def test_aborting(connected: Client) -> None:
    """S99, S100."""
    told = await connected.call("readCalls", events_of(("a", TEXT)), OPENAI, {"abortAfter": 2})
    assert told["threw"] == {"code": "THE REASON"}
    assert (len(told["updates"]), told["pulled"], told["cancelled"], told["locked"]) == (2, 2, True, False)


@pytest.mark.parametrize(
    ("text", "code"),
    [("[1}", "MISMATCHED_CLOSING"), ("[9007199254740993]", "UNSAFE_INTEGER"), ("[" * 600, "MAX_DEPTH_EXCEEDED")],
    ids=["bracket", "integer", "depth"],
)
async def test_a_fault_ends_the_reading(connected: Client, text: str, code: str) -> None:
    events = events_of(("a", text))
    events.insert(1, {"type": "response.output_text.delta", "delta": "["})
    told = await connected.call("readCalls", events, OPENAI)
    assert (told["threw"]["code"], told["threw"]["adapter"], told["threw"]["id"]) == (code, "openai", "a")
    assert not told["locked"]
    again = await connected.call("readCalls", events_of(("a", TEXT)), OPENAI)
    assert again["updates"][-1]["value"] == VALUE


async def test_no_proxy_is_left(connected: Client) -> None:
    """F43."""
    await connected.call("readCalls", events_of(("a", TEXT)), OPENAI)
    before = await connected.proxies()
    for after in ({}, {"leaveAfter": 2}, {"abortAfter": 2}):
        await connected.call("readCalls", events_of(("a", TEXT)), OPENAI, after)
    assert await connected.proxies() == before


async def test_the_death_of_the_worker(page: Page) -> None:
    client = Client(page)
    assert "versions" in await client.start("worker")
    told = await client.call("readCalls", events_of(("a", TEXT)), OPENAI, {"killAfter": 2})
    assert told["threw"]["code"] == "WORKER_DIED"
    assert (len(told["updates"]), told["cancelled"], told["locked"]) == (2, True, False)
