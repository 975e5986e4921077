"""What typed queries can do beyond events: values that grow, elements, judged parts, further turns."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.browser.client import Client, query
from tests.tools.provider import END, Provider, pieces

TRIPS = """
from pydantic import BaseModel, Field

class Day(BaseModel):
    city: str
    hours: int = Field(le=24)

class Trip(BaseModel):
    title: str
    days: list[Day]
"""
CONNECT = {"modules": {"trips": TRIPS}}
TRIP = {"title": "Süden 👋", "days": [{"city": "Rome", "hours": 8}, {"city": "Bari", "hours": 12}]}
TEXT = json.dumps(TRIP, ensure_ascii=False)
WRONG = TEXT.replace("12", "99")


def asked(provider: Provider, **options: object) -> dict[str, object]:
    return query(provider, schema="trips:Trip", **options)


async def test_partials_grow_to_the_result(connected: Client, provider: Provider) -> None:
    for settings in ({}, {"snapshots": "immutable"}):
        for chars in (1, 9):
            provider.say_text(TEXT, chars)
            told = await connected.call("partials", asked(provider), "title", settings)
            values = [json.loads(value) for value, *_ in told["seen"]]
            assert values[-1] == TRIP
            assert told["seen"][-1][1:] == [True, "complete", []]
            titles = [value.get("title", "") for value in values]
            assert titles == sorted(titles, key=len)
            states = [state for _, _, state, _ in told["seen"]]
            assert states == sorted(states, key=["absent", "growing", "complete"].index)


async def test_items_come_as_they_close(connected: Client, provider: Provider) -> None:
    provider.say_text(TEXT, 5)
    assert (await connected.call("items", asked(provider), "days"))["seen"] == TRIP["days"]
    provider.say(*pieces(TEXT[:-2]), asyncio.Event())
    assert (await connected.call("items", asked(provider), ["days"], {"leaveAfter": 1}))["seen"] == TRIP["days"][:1]
    request = await provider.request(1)
    async with asyncio.timeout(20):
        await request.gone.wait()
    threw = (await connected.call("items", asked(provider), "title"))["threw"]
    assert threw["code"] == "INVALID_OPTIONS"


async def test_parts_are_judged_as_they_close(connected: Client, provider: Provider) -> None:
    provider.say_text(WRONG)
    told = await connected.call("partials", asked(provider), "title")
    assert told["seen"][-1][3] == [["days", 1, "hours"]]
    assert told["threw"]["code"] == "OUTPUT_INVALID"
    provider.say(*pieces(WRONG[:-2]), asyncio.Event())  # it never ends by itself
    told = await connected.run(provider, schema="trips:Trip", check="stop")
    assert [event["type"] for event in told["events"][-2:]] == ["fieldInvalid", "parsingFailed"]
    assert [issue["path"] for issue in told["events"][-1]["error"]["issues"]] == [["days", 1, "hours"]]


async def test_a_further_turn_and_the_message(connected: Client, provider: Provider) -> None:
    provider.say_text(WRONG).say_text(TEXT)
    examples: list[Any] = [["Where?", {**TRIP, "days": []}]]
    told = await connected.call("query", asked(provider, maxRepairs=1, returnsMessage=True, examples=examples))
    assert told["value"]["value"] == TRIP
    assert told["value"]["message"]["parts"] == [{"type": "text", "text": TEXT}]
    turns = (await provider.request(1)).json["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert json.dumps(WRONG, ensure_ascii=False) in json.dumps(turns[3], ensure_ascii=False)
    assert "days[1].hours" in json.dumps(turns[4])
    provider.say_text(WRONG)
    assert await connected.call("query", asked(provider, default=TRIP)) == {"value": TRIP}


async def test_what_is_missing_is_filled_in(connected: Client, provider: Provider) -> None:
    provider.say_text(WRONG).say_text(TEXT)
    known = {"title": "Mine", "days": [{"hours": 8}, {"city": "Bari"}]}
    options = {"value": known, "protocol": "json", "maxRepairs": 1, "returnsMessage": True}
    told = await connected.call("complete", asked(provider, prompt=None, **options))
    assert told["value"]["value"] == {**TRIP, "title": "Mine"}
    assert told["value"]["message"]["parts"] == [{"type": "text", "text": TEXT}]
    assert "MISSING(str)" in json.dumps((await provider.request(0)).json["messages"][0])
    assert "days[1].hours" in json.dumps((await provider.request(1)).json["messages"][2])
    told = await connected.call("complete", asked(provider, prompt=None, value=TRIP))
    assert told == {"value": TRIP}
    assert len(provider.requests) == 2
    told = await connected.call("complete", query(provider, prompt=None, value=known))
    assert told["threw"]["code"] == "UNSUPPORTED"


async def test_lenient_reading_and_the_models_of_today(connected: Client, provider: Provider) -> None:
    provider.say_text("{'title': 'x', \"days\": [],}")
    assert await connected.call("query", asked(provider, lenient=True)) == {"value": {"title": "x", "days": []}}
    for name, path in (("cohere", "/v2/chat"), ("ollama", "/api/chat")):
        provider.say(END)
        model = {"provider": name, "model": "m", "apiKey": "k", "baseURL": provider.base_url.removesuffix("/v1")}
        await connected.call("query", asked(provider, lm=model))
        assert (await provider.request(len(provider.requests) - 1)).path == path
